//! A metadata stream as it was written, then damaged at one place: packets and fragments that the damage does not touch
//! are delivered as they were.
#![no_main]

#[allow(dead_code)]
#[path = "../../tests/common/ctf.rs"]
mod build;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use std::ops::Range;
use traceglass::ctf::metadata::{Form, Language, MetadataStream, Packet, ParseOptions};
use traceglass::{Error, Severity};
use traceglass_fuzz::ctf::in_parts;
use traceglass_fuzz::damage::{Damage, Damaged};
use traceglass_fuzz::{found, located_in, walk};

#[derive(Arbitrary, Debug)]
struct Recipe {
    fragments: Vec<Fragment>,
    form: Form_,
    big: bool,
    /// Sizes of contents.
    sizes: Vec<u8>,
    padding: u8,
    damage: Damage,
}

#[derive(Arbitrary, Debug)]
enum Form_ {
    Plain,
    Old,
    New { more_header: u8 },
}

#[derive(Arbitrary, Debug)]
enum Fragment {
    Preamble,
    Clock { name: String, frequency: u64 },
    Trace { name: String, value: String },
    Other { name: String, numbers: Vec<i32> },
}

/// A packet that was written.
struct Written {
    at: Range<usize>,
    header: Range<usize>,
    content: Range<usize>,
}

fuzz_target!(|recipe: Recipe| {
    let texts: Vec<String> = recipe.fragments.iter().take(8).map(Fragment::text).collect();
    let text: String = texts.iter().map(|text| format!("\x1e{text}\n")).collect();
    let (whole, packets) = recipe.write(text.as_bytes());
    if whole.is_empty() {
        return;
    }
    read_back(&whole, &packets, &texts, text.as_bytes());
    let mut marks: Vec<usize> = packets
        .iter()
        .flat_map(|packet| [0, 4, 24, 28, 32, 35, 40].map(|field| packet.at.start + field))
        .collect();
    marks.extend(packets.iter().map(|packet| packet.content.start));
    marks.extend(separators(&whole).take(16));
    marks.push(whole.len());
    let damaged = recipe.damage.apply(&whole, &marks);
    if packets.is_empty() {
        fragments_survive(&whole, &damaged);
    } else {
        packets_survive(&whole, &damaged, &packets);
    }
});

impl Fragment {
    fn text(&self) -> String {
        let json = |text: &str| {
            // Kept short, so that an input holds many.
            let text: String = text.chars().take(40).collect();
            serde_json::to_string(&text).unwrap()
        };
        match self {
            Self::Preamble => r#"{"type": "preamble", "version": 2}"#.into(),
            Self::Clock { name, frequency } => {
                let (name, frequency) = (json(name), frequency.max(&1));
                format!(r#"{{"type": "clock-class", "name": {name}, "frequency": {frequency}}}"#)
            }
            Self::Trace { name, value } => {
                format!(r#"{{"type": "trace-class", "environment": {{{}: {}}}}}"#, json(name), json(value))
            }
            Self::Other { name, numbers } => {
                let numbers = &numbers[..numbers.len().min(10)];
                format!(r#"{{"type": {}, "x": {numbers:?}}}"#, json(name))
            }
        }
    }
}

impl Recipe {
    fn write(&self, text: &[u8]) -> (Vec<u8>, Vec<Written>) {
        if matches!(self.form, Form_::Plain) {
            return (text.to_vec(), Vec::new());
        }
        let mut sizes = self.sizes.iter().map(|&size| usize::from(size)).take(20);
        let (mut file, mut packets, mut rest) = (Vec::new(), Vec::new(), text);
        loop {
            // The last packet takes what is left.
            let size = sizes.next().unwrap_or(rest.len()).min(rest.len());
            let (content, after) = rest.split_at(size);
            rest = after;
            let mut packet = match self.form {
                Form_::New { more_header } => {
                    let header_len = 44 + usize::from(more_header % 8);
                    build::Packet { header_len, ..build::Packet::v2(content) }
                }
                _ => build::Packet::v1(content),
            };
            packet.padding = vec![0; usize::from(self.padding % 32)];
            let start = file.len();
            let content_at = start + packet.header_len;
            let content = content_at..content_at + size;
            file.extend(packet.big(self.big).write());
            packets.push(Written { at: start..file.len(), header: start..content_at, content });
            if rest.is_empty() {
                return (file, packets);
            }
        }
    }
}

fn separators(data: &[u8]) -> impl Iterator<Item = usize> {
    data.iter().enumerate().filter(|(_, byte)| **byte == 0x1e).map(|(at, _)| at)
}

/// A packet's offset, its end, and its content.
fn describe<'a>(packet: &Packet<'a>) -> (usize, usize, &'a [u8]) {
    let end = packet.offset() + u64::from(packet.header().total_bytes());
    (packet.offset() as usize, end as usize, packet.content())
}

/// Offset and text of each fragment.
fn fragments(stream: &MetadataStream<'_>, data: &[u8]) -> (Vec<(u64, Vec<u8>)>, Option<Error>) {
    let mut all = Vec::new();
    let error = walk(stream.fragments(), data.len() as u64 + 1, data, |fragment| {
        all.push((fragment.offset(), fragment.text().pieces().flatten().copied().collect()));
        Some(fragment.offset())
    });
    (all, error)
}

fn read_back(whole: &[u8], packets: &[Written], texts: &[String], text: &[u8]) {
    let stream = MetadataStream::parse(whole).unwrap();
    assert_eq!(stream.form() == Form::Plain, packets.is_empty());
    let found_packets: Vec<_> = stream.packets().map(Result::unwrap).collect();
    assert_eq!(found_packets.len(), packets.len());
    for (packet, one) in found_packets.iter().zip(packets) {
        assert_eq!(describe(packet), (one.at.start, one.at.end, &whole[one.content.clone()]));
    }
    assert_eq!(stream.text().unwrap().copy_to(&mut vec![0; text.len()]).unwrap(), text);
    assert_eq!(in_parts(whole, ParseOptions::STRICT, 7).unwrap(), text);
    let (fragments, error) = fragments(&stream, whole);
    assert_eq!((fragments.len(), error), (texts.len(), None));
    assert!(fragments.iter().zip(texts).all(|((_, found), text)| found.trim_ascii_end() == text.as_bytes()));
    assert!(stream.fragments().all(|fragment| fragment.unwrap().check().is_ok()));
    stream
        .check(&mut |finding| {
            found(&finding);
            assert_eq!(finding.severity(), Severity::Warning, "{finding}");
        })
        .unwrap();
}

/// In one piece: a fragment is what stands between two separators that are as they were.
fn fragments_survive(whole: &[u8], damaged: &Damaged) {
    let data = &damaged.data[..];
    let Ok(stream) = MetadataStream::parse(data) else {
        // Only the first bytes tell the form.
        return assert!(damaged.start < 4 || data.is_empty());
    };
    if stream.form() != Form::Plain {
        return assert!(damaged.start < 4);
    }
    let (now, error) = fragments(&stream, data);
    assert_eq!(error, None);
    let (before, _) = fragments(&MetadataStream::parse(whole).unwrap(), whole);
    let mut places = separators(whole).chain([whole.len()]).skip(1);
    for (offset, text) in before {
        let end = places.next().unwrap();
        let start = offset as usize - 1;
        // After the damage, the separator in front of a fragment must be left; before the damage, the one at its end.
        let is_before = end < damaged.start || end == whole.len() && damaged.is_none();
        if is_before || start >= damaged.old_end {
            let moved = damaged.moved(start).unwrap() as u64 + 1;
            assert!(now.contains(&(moved, text)), "the fragment at {offset:#x} is lost");
        }
    }
    stream.check(&mut |finding| located_in(&finding.cause(), data)).unwrap();
}

fn packets_survive(whole: &[u8], damaged: &Damaged, packets: &[Written]) {
    let data = &damaged.data[..];
    let stream = match MetadataStream::parse(data) {
        Ok(stream) => stream,
        Err(error) => {
            located_in(&error, data);
            // Only the first header closes a stream.
            return assert!(damaged.start < packets[0].header.end, "{error}");
        }
    };
    if !damaged.keeps(&packets[0].header) || data.len() < packets[0].header.end {
        return;
    }
    let mut iterator = stream.packets();
    let mut delivered = Vec::new();
    let error = walk(&mut iterator, data.len() as u64 / 37 + 1, data, |packet| {
        delivered.push(describe(packet));
        Some(packet.offset())
    });
    let original = |packet: &Written| {
        let start = damaged.moved(packet.at.start)?;
        Some((start, start + packet.at.len(), &whole[packet.content.clone()]))
    };
    // Packets before the damage, as they were; padding does not matter.
    let before = packets.iter().take_while(|packet| packet.content.end <= damaged.start).count();
    assert!(delivered.len() >= before);
    assert!(packets[..before].iter().zip(&delivered).all(|(one, found)| original(one) == Some(*found)));
    if let Some(error) = error {
        // Nothing before is blamed.
        let blamed = packets.get(before).map_or(whole.len(), |packet| packet.at.start);
        assert!(error.offset() as usize >= blamed.min(data.len()), "{error}");
    }
    let headers = packets.iter().all(|packet| damaged.keeps(&packet.header));
    if headers && damaged.is_in_place() {
        // All packets, with whatever their content is now.
        assert_eq!(error, None);
        assert_eq!(delivered.len(), packets.len());
        for (packet, one) in delivered.iter().zip(packets) {
            assert_eq!(*packet, (one.at.start, one.at.end, &data[one.content.clone()]));
        }
    }
    fragments_in_packets_survive(whole, damaged, packets, &stream, headers && damaged.is_in_place());

    // After the damage, every whole packet is delivered unless a damaged one claims its place, and none that was never
    // written.
    let mut failed = error.map(|_| iterator.offset());
    while let Some(at) = failed {
        let Some(gap) = iterator.recover() else { break };
        let next = gap.end();
        assert_eq!(gap.offset(), at);
        assert!(next > at && next < data.len() as u64);
        assert_eq!(iterator.offset(), next);
        failed = None;
        loop {
            match iterator.next_packet() {
                Ok(Some(packet)) => delivered.push(describe(&packet)),
                Ok(None) => break,
                Err(error) => {
                    located_in(&error, data);
                    failed = Some(iterator.offset());
                    break;
                }
            }
        }
    }
    let after: Vec<_> =
        packets.iter().filter(|packet| packet.at.start >= damaged.old_end).filter_map(original).collect();
    let claimed = delivered.iter().filter(|packet| packet.0 < damaged.new_end).map(|packet| packet.1);
    let claimed = claimed.max().unwrap_or(0);
    for packet in &after {
        assert!(delivered.contains(packet) || packet.0 < claimed, "the packet at {:#x} is lost", packet.0);
    }
    for packet in delivered.iter().filter(|packet| packet.0 >= damaged.new_end) {
        assert!(after.contains(packet), "the packet at {:#x} was never written", packet.0);
    }
}

/// Fragments that end before the first packet that was damaged; and, if only contents were, all that are not touched.
fn fragments_in_packets_survive(
    whole: &[u8],
    damaged: &Damaged,
    packets: &[Written],
    stream: &MetadataStream<'_>,
    only_contents: bool,
) {
    if stream.language() == Language::Tsdl {
        // If its first 0x1E cannot be read, a text in packets of version 1.8 is no JSON.
        let first = packets.iter().find(|packet| !packet.content.is_empty());
        return assert!(first.is_none_or(|first| damaged.start < first.content.end));
    }
    let (now, _) = fragments(stream, &damaged.data);
    let (before, _) = fragments(&MetadataStream::parse(whole).unwrap(), whole);
    let content: Vec<usize> = packets.iter().flat_map(|packet| packet.content.clone()).collect();
    let mut ends = content.iter().copied().filter(|&at| whole[at] == 0x1e).skip(1);
    let intact = packets.iter().take_while(|packet| packet.content.end <= damaged.start);
    let intact = intact.last().map_or(0, |packet| packet.content.end);
    for (offset, text) in before {
        let end = ends.next();
        let ends_before = |limit: usize| end.is_some_and(|end| end < limit);
        let start = content.iter().rposition(|&at| at < offset as usize).map_or(0, |place| content[place]);
        let is_after = only_contents && start >= damaged.old_end;
        if ends_before(intact) || only_contents && ends_before(damaged.start) || is_after {
            assert!(now.contains(&(offset, text)), "the fragment at {offset:#x} is lost");
        }
    }
}
