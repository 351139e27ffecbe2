//! Streams that grow: files, and captures that come through a pipe.

use super::{Compiled, Stream};
use crate::output::Out;
use crate::trace::{Cursor, Reading};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use traceglass::ctf::data::wire::{Capture, Scan, ScanMark, WireSlot, is_bare, is_capture};
use traceglass::ctf::data::{Packet, Packets};
use traceglass::ctf::schema::Schema;

/// The part of a file that was printed.
pub enum Followed {
    Stream(End),
    Capture(Box<Growing>),
}

/// The part of a stream that was printed: its last packet, with number and end.
#[derive(Clone, Copy, Default)]
pub struct End {
    offset: u64,
    number: u64,
    end: u64,
    /// True if it cannot be followed.
    is_lost: bool,
}

/// The part of a capture that was printed.
pub struct Growing {
    mark: ScanMark,
    /// All that was found in it, in the order of its bytes.
    slots: Vec<WireSlot>,
    /// The offsets of those that were not printed.
    waiting: BTreeSet<u64>,
}

pub type Known = HashMap<PathBuf, Followed>;

pub fn take_known(cursor: &mut Cursor) -> Known {
    cursor
        .kept
        .take()
        .and_then(|kept| kept.downcast::<Known>().ok())
        .map_or_else(Known::default, |known| *known)
}

/// The news of a file.
pub enum News<'c> {
    /// Packets of a stream, and the one before them.
    Stream(Packets<'c, 'c>, Option<Box<Packet<'c, 'c>>>),
    Capture(Captured),
}

/// The news of a capture: packets of its tracks, and gaps in the order of its bytes.
#[derive(Default)]
pub struct Captured {
    pub tracks: Vec<Track>,
    pub gaps: Vec<WireSlot>,
}

/// Packets of a track, and the one before them.
pub struct Track {
    pub session: u32,
    pub slots: Vec<WireSlot>,
    before: Option<WireSlot>,
}

impl Track {
    /// The packet before those that have come.
    pub fn before<'p>(&'p self, data: &'p [u8], schema: &'p Schema<'p, 'p>) -> Option<Packet<'p, 'p>> {
        let before = std::slice::from_ref(self.before.as_ref()?);
        Packets::of_track(data, schema, before).next_packet().ok().flatten()
    }
}

/// The news of a file since it was looked at last; of one that `has_ended` all that is left.
pub fn news<'c>(
    stream: &'c Stream,
    trace: &'c Compiled<'c>,
    known: &mut Known,
    has_ended: bool,
    out: &mut Out,
) -> News<'c> {
    let known = known.entry(stream.path.clone()).or_insert_with(|| Followed::Stream(End::default()));
    if let Followed::Stream(end) = known
        && is_captured(stream, trace, *end)
    {
        let mark = ScanMark::after(trace.reading.skip.unwrap_or(0));
        let mut growing = Growing { mark, slots: Vec::new(), waiting: BTreeSet::new() };
        // Leaves out what was printed while it looked like a single stream.
        growing.find(stream.data.data(), trace, has_ended);
        growing.waiting.retain(|offset| *offset >= end.end);
        *known = Followed::Capture(Box::new(growing));
    }
    match known {
        Followed::Stream(end) => {
            let (packets, before) = whole(stream, trace, end, has_ended, out);
            News::Stream(packets, before.map(Box::new))
        }
        Followed::Capture(growing) => {
            growing.find(stream.data.data(), trace, has_ended);
            News::Capture(growing.captured(stream.data.data(), has_ended))
        }
    }
}

/// True if a file that was read as one stream so far is a capture.
fn is_captured(stream: &Stream, trace: &Compiled<'_>, end: End) -> bool {
    let Reading { wire, no_wire, skip, .. } = trace.reading;
    let rest = usize::try_from(end.offset).ok().and_then(|offset| stream.data.data().get(offset..));
    wire || skip.is_some_and(|skip| skip > 0)
        || (!no_wire && (is_bare(&trace.schema) || is_capture(rest.unwrap_or_default(), &trace.schema)))
}

impl Growing {
    /// Finds what more bytes do not change.
    fn find(&mut self, data: &[u8], trace: &Compiled<'_>, has_ended: bool) {
        let scan = Scan::from_mark(data, &trace.schema, self.mark.clone());
        let mut scan = if has_ended { scan } else { scan.growing() };
        for slot in scan.by_ref() {
            self.waiting.insert(slot.offset());
            self.slots.push(slot);
        }
        self.mark = scan.mark();
    }

    /// The part that was not printed yet and does not change any more.
    fn captured(&mut self, data: &[u8], has_ended: bool) -> Captured {
        let mut captured = Captured::default();
        if self.waiting.is_empty() {
            return captured;
        }
        let capture = Capture::of_growing(data, self.slots.clone());
        let waiting = &mut self.waiting;
        let is_fresh = |slot: &WireSlot| waiting.contains(&slot.offset()) && (slot.is_settled() || has_ended);
        for track in capture.tracks() {
            let slots: Vec<_> = track.iter().filter(|slot| is_fresh(slot)).copied().collect();
            let Some(first) = slots.first() else { continue };
            let before = track.iter().take_while(|slot| slot.offset() != first.offset()).last().copied();
            captured.tracks.push(Track { session: first.session(), slots, before });
        }
        let fresh: Vec<_> = capture.slots().iter().filter(|slot| is_fresh(slot)).collect();
        captured.gaps = fresh.iter().filter(|slot| slot.is_damage()).map(|slot| **slot).collect();
        captured.gaps.sort_by_key(WireSlot::offset);
        for slot in fresh {
            waiting.remove(&slot.offset());
        }
        captured
    }
}

/// The packets of a stream that grows which are whole and were not printed before, and the one before them.
fn whole<'c>(
    stream: &'c Stream,
    trace: &'c Compiled<'c>,
    known: &mut End,
    has_ended: bool,
    out: &mut Out,
) -> (Packets<'c, 'c>, Option<Packet<'c, 'c>>) {
    let data = stream.data.data();
    let none = (Packets::new(&[], &trace.schema), None);
    if known.is_lost {
        return none;
    }
    let mut packets = Packets::new(data, &trace.schema);
    let mut before = None;
    if known.end > 0 {
        packets = Packets::from_packet(data, &trace.schema, known.offset, known.number);
        before = packets.next_packet().ok().flatten();
        if before.as_ref().is_none_or(|last| last.end_offset() != known.end) {
            known.is_lost = true;
            out.warn(&stream.path, "cannot be followed: its packets do not say how long they are");
            return none;
        }
    }
    let (first, number) = (packets.offset(), known.number.saturating_add(u64::from(known.end > 0)));
    let mut end = first;
    loop {
        match packets.next_packet() {
            // The end of a pipe is read like the end of a file.
            _ if has_ended => {
                end = data.len() as u64;
                break;
            }
            Ok(Some(packet)) if !packet.is_cut() => {
                end = packet.end_offset();
                *known = End { offset: packet.offset(), number: packet.number(), end, is_lost: false };
            }
            Err(error) if !error.is_truncation() => {
                // Whoever reads it reports what is wrong.
                known.is_lost = true;
                end = data.len() as u64;
                break;
            }
            _ => break,
        }
    }
    let data = usize::try_from(end).ok().and_then(|end| data.get(..end)).unwrap_or(data);
    (Packets::from_packet(data, &trace.schema, first, number), before)
}
