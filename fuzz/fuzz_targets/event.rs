//! Events of any format, by detection: every track is announced before its events, places lie in the input, nothing is
//! lost of what the format's own reader delivers, and there is no more work than bytes.
//!
//! Of CTF, the input is the metadata up to its first 0xff, and then a stream.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::collections::HashSet;
use std::ops::Range;
use traceglass::Format;
use traceglass::ctf::data::MergeSlot;
use traceglass::ctf::schema::Node;
use traceglass::event::{EventKind, Item, Rooms, Source, Trace, ctf};
use traceglass::record::{Class, Head, Listener, Record, Slot, Text, Wants};
use traceglass::rfr::{Chunk, Site};
use traceglass::rtc::recover::Records;
use traceglass::rtc::{NameSlot, Step, StreamSlot};
use traceglass::zstd::Workspace;
use traceglass_fuzz::lies_in_one;

/// Listens to all that is told: groups and lists are closed, and bytes are borrowed from the inputs or from what was
/// lent.
struct Checked<'p> {
    places: &'p [Range<*const u8>],
    open: u32,
}

impl Listener for Checked<'_> {
    fn begin(&mut self, _: &Head, class: &dyn Class) -> Wants {
        let _ = class.name().to_string();
        Wants::ALL
    }

    fn abandon(&mut self) {
        self.open = 0;
    }

    fn group(&mut self, _: Slot) {
        self.open += 1;
    }

    fn end_group(&mut self) {
        self.open = self.open.checked_sub(1).expect("an end of nothing");
    }

    fn list(&mut self, _: Slot, _: Option<u64>) {
        self.open += 1;
    }

    fn end_list(&mut self) {
        self.end_group();
    }

    fn text(&mut self, _: Slot, value: Text<'_>) {
        let _ = value.to_string();
    }

    fn bytes(&mut self, _: Slot, value: &[u8]) {
        lies_in_one(value, self.places);
    }
}

/// Reads all that a record says.
fn fields(record: &impl Record, places: &[Range<*const u8>]) {
    let mut checked = Checked { places, open: 0 };
    let _ = record.tell(&mut checked);
    assert_eq!(checked.open, 0);
}

/// The numbers of records and gaps.
fn records_of(data: &[u8], format: Format) -> Option<(u64, u64)> {
    match format {
        Format::Rtc => {
            let mut buffer = vec![0; 2 * data.len()];
            let mut records = Records::new(data, [StreamSlot::EMPTY; 64], &mut buffer);
            let (mut count, mut gaps) = (0, 0);
            loop {
                match records.next_step() {
                    Step::Record(_) => count += 1,
                    Step::Gap(_) => gaps += 1,
                    _ => return Some((count, gaps)),
                }
            }
        }
        Format::Rfr => {
            let chunk = Chunk::parse(data).ok()?;
            let mut count = 0;
            for sequence in chunk.sequences() {
                let sequence = sequence.ok()?;
                for object in sequence.objects() {
                    object.ok()?;
                }
                for record in sequence.records().ok()? {
                    record.ok()?;
                    count += 1;
                }
            }
            Some((count, 0))
        }
        _ => None,
    }
}

fuzz_target!(|data: &[u8]| {
    // No byte of UTF-8 is 0xff.
    let at = data.iter().position(|byte| *byte == 0xff).unwrap_or(data.len());
    let (front, rest) = data.split_at(at);
    let is_ctf = matches!(Format::detect(front), Some(Format::Ctf1 | Format::Ctf2));
    let all = if is_ctf { vec![front, rest] } else { vec![data] };
    let inputs = &all[..];
    let Some(format) = Format::detect(inputs[0]) else { return };

    let mut registry = Vec::new();
    let mut names = Vec::new();
    let mut lanes = Vec::new();
    let mut callsites = [Site::EMPTY; 64];
    let (mut schema, mut nodes) = (None, vec![Node::EMPTY; 512]);
    let mut merge = [MergeSlot::EMPTY];
    let mut streams = [ctf::StreamSlot::EMPTY];
    let (mut slots, mut stream_names) = ([StreamSlot::EMPTY; 64], [NameSlot::EMPTY; 64]);
    let mut buffer = vec![0; 2 * data.len()];
    let mut decoded = vec![0; 1 << 16];
    let places = [data, &buffer, &decoded].map(<[u8]>::as_ptr_range);
    let mut workspace = Workspace::new();
    let mut tracks = Vec::new();
    let mut chunks = Vec::new();
    let rooms = Rooms::new()
        .rfr(&mut registry, &mut names, &mut lanes, &mut callsites)
        .ctf(&mut schema, &mut nodes, &mut merge, &mut streams)
        .rtc(&mut slots, &mut stream_names, &mut buffer)
        .rdf(&mut decoded, &mut workspace, &mut tracks, &mut chunks);
    let Ok(mut trace) = Trace::open(inputs, rooms) else { return };
    let mut known = HashSet::new();
    let (mut events, mut gaps, mut failed) = (0_u64, 0_u64, false);
    // Decompressed data and overlaps are bounded, too.
    let most = 8 * (data.len() as u64 + (1 << 16)) + (1 << 20);
    loop {
        match trace.next_item() {
            Ok(Some(Item::Track(track))) => {
                assert!(track.parent().is_none_or(|parent| known.contains(&parent)));
                known.insert(track.id());
                let _ = track.label().to_string();
                fields(&track, &places);
            }
            Ok(Some(Item::Event(event))) => {
                assert!(known.contains(&event.track()), "on a track that was not announced");
                let size = inputs[event.input()].len() as u64;
                assert!(event.offset() <= size && event.end_offset() <= size, "outside of the input");
                fields(&event, &places);
                match event.kind() {
                    EventKind::Gap(gap) if event.time().is_none() => {
                        assert!(gap.end() <= size);
                        gaps += 1;
                    }
                    _ if event.is_inferred() => {}
                    _ => events += 1,
                }
            }
            Ok(Some(Item::Ended(track))) => assert!(known.remove(&track), "no track that there was has ended"),
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(_) => {
                failed = true;
                break;
            }
        }
        assert!(events + gaps + known.len() as u64 <= most, "more events than bytes");
    }
    assert!(trace.next_item().is_ok_and(|item| item.is_none()));
    if let (Some((records, lost)), false) = (records_of(data, format), failed) {
        // A record that cannot be read is a gap with or without a time.
        assert_eq!(events + gaps, records + lost, "{format:?}");
    }
});
