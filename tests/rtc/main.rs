//! RTC as deployed: every rule, damage everywhere, at any alignment.
#![cfg(feature = "rtc")]

#[path = "../common/mod.rs"]
mod common;

mod checks;
mod damage;
mod hostile;
mod meta;
mod seek;
mod values;
mod walk;

use common::rtc::{Crc, Options, Writer, deployed, int};
use common::{at_alignments, lies_in, mutations, prefixes};
use std::collections::{BTreeMap, HashSet};
use traceglass::rtc::{self, Clocks, Gap, Meta, Reason, Streams, Verdict, Walk};
use traceglass::{ErrorKind, Finding, Severity};

/// What a walk gives.
#[derive(Default)]
struct Seen {
    /// Offset, id and end of each frame.
    frames: Vec<(u64, u64, u64)>,
    /// By session and id: the records that were seen from their beginning to their end.
    records: BTreeMap<(u64, u64), Vec<Vec<u8>>>,
    gaps: Vec<Gap>,
    verdicts: Vec<Verdict>,
}

/// Walks all of it, and checks on the way what holds for any input.
fn walk<const N: usize>(data: &[u8]) -> Seen {
    let mut walk = Walk::<N>::new(data);
    let mut seen = Seen::default();
    let mut open: BTreeMap<(u64, u64), Vec<u8>> = BTreeMap::new();
    let mut at = 0;
    loop {
        while let Some(item) = walk.next_frame() {
            let frame = match item {
                Ok(frame) => frame,
                Err(error) => {
                    assert!(error.offset() <= data.len() as u64, "{error}");
                    assert!(walk.next_frame().is_none() && walk.next_frame().is_none(), "after {error}");
                    break;
                }
            };
            assert_eq!(frame.offset(), at, "frames and gaps tile the input");
            assert!(lies_in(frame.payload(), data));
            at = frame.end();
            seen.frames.push((frame.offset(), frame.id(), frame.end()));
            if frame.id() == rtc::id::MARKER {
                assert_eq!(walk.verdict::<1>(), Verdict::Missing, "that of the unit before is over");
            }
            if frame.id() == rtc::id::CRC {
                seen.verdicts.push(walk.verdict::<1>());
            }
            if frame.is_user() {
                let key = (walk.session(), frame.id());
                if !frame.continues() {
                    open.insert(key, Vec::new());
                }
                let Some(record) = open.get_mut(&key) else { continue };
                record.extend(frame.payload());
                if !frame.more() {
                    let record = open.remove(&key).unwrap();
                    seen.records.entry(key).or_default().push(record);
                }
            }
        }
        let Some(gap) = walk.resync() else { break };
        assert_eq!(gap.offset(), at, "frames and gaps tile the input");
        at = gap.end();
        open.clear();
        seen.gaps.push(gap);
        assert!(seen.gaps.len() <= data.len() + 1);
    }
    assert_eq!(at, data.len() as u64, "frames and gaps tile the input");
    assert!(walk.resync().is_none() && walk.next_frame().is_none());
    seen
}

fn findings(data: &[u8]) -> Vec<Finding> {
    let mut found = Vec::new();
    Walk::<64>::new(data).check(|finding| found.push(finding));
    found
}

/// Three streams of all sorts, and what was written to each.
fn file(options: Options, len: usize) -> (Vec<u8>, BTreeMap<u64, Vec<Vec<u8>>>) {
    let mut writer = Writer::new(options);
    let text = writer.stream(r#""name":"text","format":"utf-8""#);
    let fixed = writer.stream(r#""name":"fixed","length":100,"format":"raw""#);
    let small = writer.stream(r#""name":"small","length":4,"format":"uint32""#);
    let mut late = None;
    let mut written: BTreeMap<u64, Vec<Vec<u8>>> = BTreeMap::new();
    let mut n = 0_u32;
    while writer.out.len() < len {
        n += 1;
        let mut write = |writer: &mut Writer, id, data: Vec<u8>| {
            writer.write(id, &data);
            written.entry(id).or_default().push(data);
        };
        write(&mut writer, text, format!("line {n}").repeat(1 + n as usize % 5).into_bytes());
        write(&mut writer, fixed, (0..100).map(|i| (n + i) as u8).collect());
        write(&mut writer, small, n.to_le_bytes().to_vec());
        if n.is_multiple_of(11) {
            write(&mut writer, text, vec![b'x'; 1000 + n as usize % 2500]);
        }
        if n == 30 {
            late = Some(writer.stream(r#""name":"late","length":3"#));
        }
        if let Some(late) = late {
            write(&mut writer, late, vec![n as u8; 3]);
        }
    }
    (writer.stop(), written)
}

fn small_file() -> (Vec<u8>, BTreeMap<u64, Vec<Vec<u8>>>) {
    file(Options::sizes(4096, 2048), 14_000)
}
