//! Jumps to records of which several stand at one offset.

use super::super::lanes::{BUCKETS, Cell, First, Lane, Lanes};
use super::super::rows::Place;
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
        cells[bucket].first = Some(First { input: 0, offset, ns });
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
