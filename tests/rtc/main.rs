//! RTC as deployed: every rule, damage everywhere, at any alignment.
#![cfg(feature = "rtc")]

#[path = "../common/mod.rs"]
mod common;

mod checks;
mod damage;
mod hostile;
mod judge;
mod meta;
mod seek;
mod values;
mod walk;
mod writer;

use common::rtc::{Crc, Options, Writer, deployed, int};
use common::{at_alignments, lies_in, mutations, prefixes};
use std::collections::{BTreeMap, HashSet};
use traceglass::rtc::recover::{Found, Frames, GapReason, Records};
use traceglass::rtc::{self, CrcStatus, Meta, Step, StreamSlot, StreamTable, Time};
use traceglass::{Error, ErrorKind, Finding, Severity};

/// A gap, and what sort of loss it was.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gap(traceglass::Gap, GapReason);

impl Gap {
    fn offset(&self) -> u64 {
        self.0.offset()
    }
    fn len(&self) -> u64 {
        self.0.len()
    }
    fn end(&self) -> u64 {
        self.0.end()
    }
    fn cause(&self) -> Error {
        self.0.cause()
    }
    fn reason(&self) -> GapReason {
        self.1
    }
}

/// Reads all, and reports what is wrong; gives how many frames there were.
fn check<const N: usize>(data: &[u8], mut report: impl FnMut(Finding)) -> u64 {
    rtc::check(&mut Frames::new(data, [StreamSlot::EMPTY; N]), &mut report)
        .map_or(0, |summary| summary.frames)
}

/// What a walk gives.
#[derive(Default)]
struct Seen {
    /// Offset, id and end of each frame.
    frames: Vec<(u64, u64, u64)>,
    /// By session and id: the records that were seen from their beginning to their end.
    records: BTreeMap<(u64, u64), Vec<Vec<u8>>>,
    gaps: Vec<Gap>,
    verdicts: Vec<CrcStatus>,
}

/// Framess all of it, and checks on the way what holds for any input.
fn walk<const N: usize>(data: &[u8]) -> Seen {
    let mut walk = Frames::new(data, [StreamSlot::EMPTY; N]);
    let mut seen = Seen::default();
    let mut open: BTreeMap<(u64, u64), Vec<u8>> = BTreeMap::new();
    let mut at = 0;
    loop {
        while let Some(item) = walk.next() {
            let frame = match item {
                Ok(frame) => frame,
                Err(error) => {
                    assert!(error.offset() <= data.len() as u64, "{error}");
                    assert!(walk.next().is_none() && walk.next().is_none(), "after {error}");
                    break;
                }
            };
            assert_eq!(frame.offset(), at, "frames and gaps tile the input");
            assert!(lies_in(frame.payload(), data));
            at = frame.end();
            seen.frames.push((frame.offset(), frame.id(), frame.end()));
            if frame.id() == rtc::id::MARKER {
                assert_eq!(walk.crc_status::<1>(), CrcStatus::Missing, "that of the unit before is over");
            }
            if frame.id() == rtc::id::CRC {
                seen.verdicts.push(walk.crc_status::<1>());
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
        let Some(gap) = walk.recover() else { break };
        assert_eq!(gap.offset(), at, "frames and gaps tile the input");
        at = gap.end();
        open.clear();
        seen.gaps.push(Gap(gap, walk.gap_reason().unwrap()));
        assert!(seen.gaps.len() <= data.len() + 1);
    }
    assert_eq!(at, data.len() as u64, "frames and gaps tile the input");
    assert!(walk.recover().is_none() && walk.next().is_none());
    assert_eq!(steps::<N>(data, false), steps::<N>(data, true));
    seen
}

/// Where all frames and gaps begin, and the records that end with frames: when they were, and how long they are.
type Steps = Vec<(u64, Option<(Option<Time>, u64)>)>;

/// The steps of records: of all one by one, or with the frames first that were read ahead.
fn steps<const N: usize>(data: &[u8], ahead: bool) -> Steps {
    let mut buffer = vec![0; 1 << 14];
    let mut records = Records::new(data, [StreamSlot::EMPTY; N], &mut buffer);
    let mut all = Vec::new();
    loop {
        if ahead {
            while let Some((frame, is_complete)) = records.take_user() {
                let record = records.record(frame).filter(|_| is_complete);
                assert!(frame.is_user() && record.is_some() == is_complete);
                all.push((frame.offset(), record.map(|record| (record.time(), record.len()))));
            }
            let (at, record) = match records.advance() {
                Found::Frame(frame) => (frame.offset(), None),
                Found::Record(frame) => {
                    let record = records.record(frame).unwrap();
                    (frame.offset(), Some((record.time(), record.len())))
                }
                Found::Gap(gap) => (gap.offset(), None),
                _ => return all,
            };
            all.push((at, record));
            continue;
        }
        all.push(match records.next_frame_or_record() {
            Step::Frame(frame) => (frame.offset(), None),
            Step::Record(record) => (record.frame().offset(), Some((record.time(), record.len()))),
            Step::Gap(gap) => (gap.offset(), None),
            _ => return all,
        });
    }
}

fn findings(data: &[u8]) -> Vec<Finding> {
    let mut found = Vec::new();
    check::<64>(data, |finding| found.push(finding));
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
