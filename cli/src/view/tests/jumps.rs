//! Jumps to records of which several stand at one offset.

use super::super::lanes::{BUCKETS, Cell, First, Lane, Lanes};
use super::super::rows::{self, Place};
use super::*;
use crate::trace::{Level, Node, Plain};
use traceglass::event::Time;

/// The first record of a compressed chunk stands at the chunk's offset, not after it.
#[test]
fn the_offset_of_a_compressed_chunk_leads_to_its_first_record() {
    session(&sample("sample.rdf"), (110, 32), |session| {
        // Chunks of zstd; records of other chunks stand before them.
        for (keys, text) in [(":0x33\n", "size=156"), (":0xe9\n", "size=70000"), (":0xff\n", "size=300")] {
            session.keys(keys);
            let record = session.state.record(session.browse).unwrap();
            assert!(record.text.starts_with(text), "{keys}: {record:?}");
        }
        // The record after the first one is another one.
        session.keys(":0x33\nj");
        let next = session.state.record(session.browse).unwrap();
        assert!(next.place > Place::at(0, 0x33) && next.level == Level::Gap, "{next:?}");
    });
}

/// A file with a chunk of three records at one offset, and two records after it: their offsets, numbers and times.
struct Compressed([FileEntry; 1], AtomicUsize);

const RECORDS: [(u64, u64, i128); 6] =
    [(100, 0, 10), (100, 1, 20), (100, 2, 30), (200, 0, 40), (300, 0, 50), (400, 0, 60)];

impl Browse for Compressed {
    fn format(&self) -> Format {
        Format::Rdf
    }

    fn files(&self) -> &[FileEntry] {
        &self.0
    }

    fn data(&self, _file: usize) -> Result<&[u8], String> {
        Ok(&[])
    }

    fn walk(&self, _file: usize, _from: u64, _depth: Depth, each: Each<'_>) {
        let about = Plain { name: "record", text: String::new(), field: None };
        for (offset, sub, ns) in RECORDS {
            self.1.fetch_add(1, Ordering::Relaxed);
            let time = Some(Time::since_origin(ns));
            if !each(&Node { level: Level::Record, offset, sub, end: offset + 100, time, about: &about }) {
                return;
            }
        }
    }

    fn index(&self, _file: usize, _going: &dyn Fn(u64) -> bool) {}
}

/// Of the records at one offset, the timeline leads to the one of its event.
#[test]
fn the_timeline_leads_to_a_record_of_a_compressed_chunk() {
    let files = [FileEntry { path: "compressed".into(), size: 500, times: None }];
    let compressed = Compressed(files, AtomicUsize::new(0));
    let mut cells = vec![Cell::default(); BUCKETS];
    for (bucket, offset, ns) in [(1, 100, 15), (3, 100, 30), (4, 200, 45)] {
        cells[bucket].first = Some(First { input: 0, offset, end: offset + 100, ns });
    }
    let lane = Lane { name: "queue".to_owned(), kind: "queue", cells, ..Lane::default() };
    let mut state = State::new(0);
    state.lanes = Lanes { width: 10, span: Some((0, 60)), lanes: vec![lane], done: true, ..Lanes::default() };
    // Of an event that no record there is as late as, the offset; what follows is not looked at.
    for (sub, offset, nodes) in [(1, 100, 2), (2, 100, 3), (0, 200, 5)] {
        compressed.1.store(0, Ordering::Relaxed);
        let mut effects = Vec::new();
        state.timeline_key(Key::Char('l'), 1, &compressed, &mut effects);
        assert_eq!(state.place, Place { file: 0, offset, sub });
        assert_eq!((effects.len(), compressed.1.load(Ordering::Relaxed)), (0, nodes));
    }
}

/// A record of two frames, with one of another stream between them, stands at its last frame. The timeline, which knows
/// where it begins, leads there, and the bytes of the first frame say whose they are.
#[test]
fn a_record_of_several_frames_is_gone_to() {
    let path = std::env::temp_dir().join(format!("traceglass-view-pieces-{}.rtc", std::process::id()));
    let mut writer = rtc::Writer::new(rtc::Options::sizes(1 << 20, 1 << 16));
    let [text, other] = ["text", "other"].map(|name| writer.stream(&format!(r#""name":"{name}""#)));
    writer.write_more(text, b"begin", true);
    writer.write(other, b"between");
    writer.write(text, b"end");
    let data = writer.stop();
    fs::write(&path, &data).unwrap();
    let (mut buffer, mut found) = (vec![0; 4096], Vec::new());
    let mut records = traceglass::rtc::recover::Records::new(&data, Vec::new(), &mut buffer);
    loop {
        match records.next_step() {
            traceglass::rtc::Step::Record(record) => {
                let frame = record.frame();
                found.push((record.offset(), record.payload_offset(), frame.offset(), frame.end()));
            }
            traceglass::rtc::Step::End => break,
            _ => {}
        }
    }
    let [(between, ..), (offset, payload, last, end)] = found[..] else { panic!("{found:?}") };
    assert!(offset < between && between < last);
    session(&path, (160, 32), |session| {
        let mut budget = Budget::FRAME;
        let place = rows::record_at(session.browse, Place::at(0, offset), end, 0, &mut budget);
        assert_eq!(place, Place::at(0, last));
        session.keys(&format!("b:{payload}\n"));
        let screen = session.draw();
        assert!(screen.contains("payload = text: the record ends in a later frame"), "{screen}");
        session.keys(&format!(":{}\n", end - 1));
        let screen = session.draw();
        assert!(screen.contains("payload = text: the end of a record"), "{screen}");
    });
    fs::remove_file(path).unwrap();
}
