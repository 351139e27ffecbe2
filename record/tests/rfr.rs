//! Streams of RFR, read back by the library.

use std::collections::VecDeque;
use traceglass::rfr::{RecordData, RecordKind, StreamData, Streaming};
use traceglass_record::rfr::{Happened, NAME_MAX, Stream};
use traceglass_record::sink::Sink;

/// Takes as many bytes as there is room for, which comes and goes.
struct Uneven<'b> {
    taken: &'b mut Vec<u8>,
    room: VecDeque<usize>,
}

impl Sink for Uneven<'_> {
    fn put(&mut self, bytes: &[u8]) -> usize {
        let len = self.room.pop_front().unwrap_or(usize::MAX).min(bytes.len());
        self.taken.extend(&bytes[..len]);
        len
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// The records that a reader finds, spelled like those that were written.
fn read(bytes: &[u8]) -> Vec<(u64, String)> {
    let streaming = Streaming::parse(bytes).unwrap();
    let mut found = Vec::new();
    for record in streaming.records() {
        let record = record.unwrap();
        let text = match record.data() {
            StreamData::Task(task) => {
                assert_eq!((task.task_id(), task.callsite_id(), task.context()), (task.iid(), 0, None));
                format!("task {} {:?}", task.iid(), task.name())
            }
            StreamData::Record(RecordData::NewTask { iid }) => format!("new {iid}"),
            StreamData::Record(RecordData::TaskPollStart { iid }) => format!("start {iid}"),
            StreamData::Record(RecordData::TaskPollEnd { iid }) => format!("end {iid}"),
            StreamData::Record(RecordData::TaskDrop { iid }) => format!("drop {iid}"),
            StreamData::Record(data) if data.kind() == RecordKind::WakerWakeByRef => {
                let waker = data.waker().unwrap();
                format!("wake {} {:?}", waker.task_iid(), waker.context())
            }
            other => panic!("{other:?}"),
        };
        found.push((record.unix_micros().unwrap(), text));
    }
    found
}

/// Whatever a sink takes at a time, records are whole or counted.
#[test]
fn records_are_whole_or_lost() {
    let mut random = Random(0x5eed_0060);
    let (mut written, mut lost) = (0, 0);
    let rounds = if cfg!(miri) { 6 } else { 400_u64 };
    for round in 0..rounds {
        let mut taken = Vec::new();
        let count = random.below(200);
        let room = (0..count).map(|_| random.below(12) as usize).collect();
        let mut stream = Stream::new(Uneven { taken: &mut taken, room });
        let mut expected = Vec::new();
        let names =
            ["", "radio", "the one that reads the sensors, filters, averages and then sends it all – é"];
        for _ in 0..random.below(60) {
            let most = u64::MAX >> random.below(64);
            let micros = random.below(most);
            let iid = random.below(u64::MAX) >> random.below(64);
            let name = names[random.below(3) as usize];
            let (what, text) = match random.below(7) {
                0 => {
                    let end = (0..=NAME_MAX).rev().find(|&end| name.is_char_boundary(end)).unwrap();
                    (Happened::Task { iid, name }, format!("task {iid} {:?}", &name[..end]))
                }
                1 => (Happened::NewTask(iid), format!("new {iid}")),
                2 => (Happened::PollStart(iid), format!("start {iid}")),
                3 => (Happened::PollEnd(iid), format!("end {iid}")),
                4 => (Happened::Drop(iid), format!("drop {iid}")),
                kind => {
                    let by = (kind == 5).then_some(iid / 2);
                    (Happened::Wake { iid, by }, format!("wake {iid} {by:?}"))
                }
            };
            let before = stream.lost();
            if stream.record(micros, what) {
                expected.push((micros, text));
            } else {
                assert_eq!(stream.lost(), before + 1);
                lost += 1;
            }
        }
        while !stream.flush() {}
        drop(stream);
        assert_eq!(read(&taken), expected, "round {round}");
        written += expected.len() as u64;
    }
    assert!(written > 10 * rounds && lost > 2 * rounds, "{written} {lost}");
}
