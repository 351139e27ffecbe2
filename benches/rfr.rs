//! RFR: every record of a recording, against postcard with borrowed structs and against a bare walk over its integers.
//!
//!     cargo bench --bench rfr -- [--records N] [--rounds N]
//!
//! All ways take turns in one run; the figures are CPU time a record, the best of the rounds. The recording is
//! generated: chunks of a million records in four sequences, mostly polls and wakes, one in a hundred an event with text.

#[path = "../tests/common/rfr.rs"]
#[allow(dead_code)]
mod builder;

use builder::{Parent, Sequence, Value};
use serde::Deserialize;
use std::hint::black_box;
use std::time::{Duration, Instant};
use traceglass::rfr::{
    Chunk, Directory, DirectoryEntry, Event, Item, Merge, MergeSlot, ObjectTable, Record, TableEntry,
};

/// Records in a chunk.
const CHUNK: u64 = 1_000_000;
/// Tasks that take turns.
const TASKS: u64 = 1 << 20;

fn main() {
    let option = |name: &str, default: u64| {
        let mut args = std::env::args().skip_while(|arg| arg != name);
        args.nth(1).map_or(default, |value| value.parse().expect("a number"))
    };
    let (records, rounds) = (option("--records", 4 * CHUNK), option("--rounds", 5));
    let chunks: Vec<Input> = (0..records.div_ceil(CHUNK)).map(Input::new).collect();
    let bytes: usize = chunks.iter().map(|input| input.data.len()).sum();
    let count = chunks.len() as u64 * CHUNK;
    println!("{count} records, {bytes} bytes, {:.1} a record\n", bytes as f64 / count as f64);

    type Way = fn(&Input) -> u64;
    let ways: [(&str, Way); 9] = [
        ("decode", decode),
        ("decode, by sequence", decode_by_sequence),
        ("decode, flat", decode_flat),
        ("skip", skip),
        ("directory", directory),
        ("merge", merge),
        ("decode and resolve", resolve),
        ("postcard, borrowed", postcard_borrowed),
        ("bare walk", bare_walk),
    ];
    let mut best = [Duration::MAX; 9];
    let mut sums = [0_u64; 9];
    for _ in 0..rounds {
        for (place, (_, way)) in ways.iter().enumerate() {
            let start = now();
            sums[place] = chunks.iter().fold(0, |sum, input| sum.wrapping_add(way(black_box(input))));
            best[place] = best[place].min(now().saturating_sub(start));
        }
    }
    // Decoding in any way gives the same fields; passing by gives the same number.
    for place in [1, 2, 5, 6, 7] {
        assert_eq!(sums[place], sums[0], "{}", ways[place].0);
    }
    assert_eq!([sums[3], sums[4], sums[8]], [count; 3]);

    let nanos = best.map(|time| time.as_nanos() as f64 / count as f64);
    println!("{:<22} {:>9}  {:>14}  {:>12}", "", "ns/record", "× of postcard", "of bare walk");
    for ((name, _), time) in ways.iter().zip(nanos) {
        println!("{name:<22} {time:>9.2}  {:>14.2}  {:>12.2}", nanos[7] / time, time / nanos[8]);
    }
}

/// CPU time of this thread so far; time on the clock where the system does not tell.
fn now() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let cpu = std::fs::read_to_string("/proc/thread-self/schedstat").ok().and_then(|text| {
        let nanoseconds = text.split(' ').next()?.parse().ok()?;
        Some(Duration::from_nanos(nanoseconds))
    });
    cpu.unwrap_or_else(|| start.elapsed())
}

fn chunk(number: u64) -> Vec<u8> {
    let mut seed = number + 1;
    let mut random = move |most: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % most
    };
    let mut chunk = builder::Chunk::new(1_700_000_000 + number);
    for seq_id in 1..=4 {
        let mut sequence = Sequence::new(seq_id);
        for iid in 0..1_000 {
            sequence = sequence.task(iid * (TASKS / 1_000), 0x5555_5555_5555, "worker", Some(1));
        }
        let (mut time, mut polled) = (0, None);
        for _ in 0..CHUNK / 4 {
            time += random(8);
            let iid = random(1_000) * (TASKS / 1_000);
            sequence = match (random(100), polled.take()) {
                (0, _) => {
                    let values = [Value::Str("value sent"), Value::Bool(true), Value::U64(iid)];
                    let fields = [("op", Value::Str("poll_recv"))];
                    let event = builder::event(0x5555_5555_5678, Parent::Explicit(iid), &values, &fields);
                    sequence.record(time, 4, &event)
                }
                (1, _) => sequence.about(time, 5, iid),
                (2, _) => sequence.about(time, 8, iid),
                (3..27, _) => sequence.waker(
                    time,
                    9 + random(4) as u32,
                    iid,
                    (!iid.is_multiple_of(4)).then_some(iid / 2),
                ),
                (_, Some(iid)) => sequence.about(time, 7, iid),
                (_, None) => {
                    polled = Some(iid);
                    sequence.about(time, 6, iid)
                }
            };
        }
        chunk = chunk.sequence(sequence);
    }
    chunk.bytes()
}

/// Uses every field.
#[inline(always)]
fn digest(record: &Record<'_>) -> u64 {
    let rest = match record.event() {
        Some(event) => digest_event(&event),
        None => record.iid().unwrap_or(0).wrapping_add(record.context().unwrap_or(0)),
    };
    record.timestamp().wrapping_mul(31).wrapping_add(record.kind() as u64).wrapping_add(rest)
}

#[inline(never)]
fn digest_event(event: &Event<'_>) -> u64 {
    let mut sum = event.callsite_id();
    for value in event.split_field_values() {
        sum = sum.wrapping_add(value.as_u64().unwrap_or(0));
        sum = sum.wrapping_add(value.as_str().map_or(0, |text| text.len() as u64));
    }
    for field in event.dynamic_fields() {
        sum = sum.wrapping_add(field.name.len() as u64);
        sum = sum.wrapping_add(field.value.as_str().map_or(0, |text| text.len() as u64));
    }
    sum
}

/// A chunk, and where its sequences are: as a list that was made before for what is compared to decode record by record.
struct Input {
    data: Vec<u8>,
    entries: Vec<DirectoryEntry>,
}

impl Input {
    fn new(number: u64) -> Self {
        let data = chunk(number);
        let mut entries = vec![DirectoryEntry::EMPTY; 4];
        Directory::build(&Chunk::parse(&data).unwrap(), &mut entries).unwrap();
        Self { data, entries }
    }
}

fn decode(input: &Input) -> u64 {
    let mut sum = 0_u64;
    let chunk = Chunk::parse(&input.data).unwrap();
    for entry in &input.entries {
        let mut records = entry.sequence(&chunk).records().unwrap();
        while let Some(record) = records.next_record().unwrap() {
            sum = sum.wrapping_add(digest(&record));
        }
    }
    sum
}

fn decode_by_sequence(Input { data, .. }: &Input) -> u64 {
    let mut sum = 0_u64;
    for sequence in Chunk::parse(data).unwrap().sequences() {
        let mut records = sequence.unwrap().records().unwrap();
        while let Some(record) = records.next_record().unwrap() {
            sum = sum.wrapping_add(digest(&record));
        }
    }
    sum
}

fn decode_flat(Input { data, .. }: &Input) -> u64 {
    let mut sum = 0_u64;
    for item in Chunk::parse(data).unwrap().items() {
        if let Item::Record(record) = item.unwrap() {
            sum = sum.wrapping_add(digest(&record));
        }
    }
    sum
}

fn skip(Input { data, .. }: &Input) -> u64 {
    let mut count = 0;
    let mut sequences = Chunk::parse(data).unwrap().sequences();
    while let Some(sequence) = sequences.next_sequence().unwrap() {
        // Finding the next sequence passes this one's records by.
        count += sequence.records().unwrap().claimed();
    }
    count
}

fn directory(Input { data, .. }: &Input) -> u64 {
    let chunk = Chunk::parse(data).unwrap();
    let mut entries = [DirectoryEntry::EMPTY; 4];
    let directory = Directory::build(&chunk, &mut entries).unwrap();
    directory.entries().iter().map(DirectoryEntry::record_count).sum()
}

fn merge(Input { data, .. }: &Input) -> u64 {
    let chunk = Chunk::parse(data).unwrap();
    let mut entries = [DirectoryEntry::EMPTY; 4];
    let directory = Directory::build(&chunk, &mut entries).unwrap();
    let mut slots = [const { MergeSlot::EMPTY }; 4];
    let mut merge = Merge::new(&mut slots);
    for place in 0..4 {
        merge.add(&chunk.header(), directory.sequence(place).unwrap().records().unwrap()).unwrap();
    }
    let mut sum = 0_u64;
    while let Some(merged) = merge.next_record().unwrap() {
        sum = sum.wrapping_add(digest(&merged.record));
    }
    sum
}

fn resolve(Input { data, .. }: &Input) -> u64 {
    let chunk = Chunk::parse(data).unwrap();
    let mut entries = [TableEntry::EMPTY; 1_000];
    let (mut sum, mut found) = (0_u64, 0);
    for sequence in chunk.sequences() {
        let sequence = sequence.unwrap();
        let objects = ObjectTable::build(&chunk, sequence.objects(), &mut entries).unwrap();
        for record in sequence.records().unwrap() {
            let record = record.unwrap();
            let object = record.iid().and_then(|iid| objects.get(iid));
            found += u64::from(object.is_some());
            sum = sum.wrapping_add(digest(&record));
        }
    }
    assert!(found > 0);
    sum
}

#[derive(Deserialize)]
struct PostcardRecord<'a> {
    timestamp: u64,
    #[serde(borrow)]
    data: PostcardData<'a>,
}

#[derive(Deserialize)]
enum PostcardData<'a> {
    SpanNew(u64),
    SpanEnter(u64),
    SpanExit(u64),
    SpanClose(u64),
    #[serde(borrow)]
    Event(PostcardEvent<'a>),
    NewTask(u64),
    TaskPollStart(u64),
    TaskPollEnd(u64),
    TaskDrop(u64),
    WakerWake(PostcardWaker),
    WakerWakeByRef(PostcardWaker),
    WakerClone(PostcardWaker),
    WakerDrop(PostcardWaker),
}

#[derive(Deserialize)]
struct PostcardWaker {
    task_iid: u64,
    context: Option<u64>,
}

#[derive(Deserialize)]
#[allow(dead_code)]
enum PostcardParent {
    Current,
    Root,
    Explicit(u64),
}

#[derive(Deserialize)]
struct PostcardEvent<'a> {
    callsite_id: u64,
    #[allow(dead_code)]
    parent: PostcardParent,
    #[serde(borrow)]
    values: Vec<PostcardValue<'a>>,
    #[serde(borrow)]
    fields: Vec<(&'a str, PostcardValue<'a>)>,
}

#[derive(Deserialize)]
#[allow(dead_code)]
enum PostcardValue<'a> {
    F64(f64),
    I64(i64),
    U64(u64),
    I128(i128),
    U128(u128),
    Bool(bool),
    Str(&'a str),
}

impl PostcardValue<'_> {
    fn digest(&self) -> u64 {
        match self {
            Self::U64(value) => *value,
            Self::Str(text) => text.len() as u64,
            _ => 0,
        }
    }
}

impl PostcardRecord<'_> {
    fn digest(&self) -> u64 {
        use PostcardData::*;
        let (kind, rest) = match &self.data {
            SpanNew(iid) => (0, *iid),
            SpanEnter(iid) => (1, *iid),
            SpanExit(iid) => (2, *iid),
            SpanClose(iid) => (3, *iid),
            Event(event) => {
                let sum = event
                    .values
                    .iter()
                    .fold(event.callsite_id, |sum, value| sum.wrapping_add(value.digest()));
                let fields =
                    event.fields.iter().map(|(name, value)| (name.len() as u64).wrapping_add(value.digest()));
                (4, fields.fold(sum, u64::wrapping_add))
            }
            NewTask(iid) => (5, *iid),
            TaskPollStart(iid) => (6, *iid),
            TaskPollEnd(iid) => (7, *iid),
            TaskDrop(iid) => (8, *iid),
            WakerWake(waker) => (9, waker.digest()),
            WakerWakeByRef(waker) => (10, waker.digest()),
            WakerClone(waker) => (11, waker.digest()),
            WakerDrop(waker) => (12, waker.digest()),
        };
        self.timestamp.wrapping_mul(31).wrapping_add(kind).wrapping_add(rest)
    }
}

impl PostcardWaker {
    fn digest(&self) -> u64 {
        self.task_iid.wrapping_add(self.context.unwrap_or(0))
    }
}

/// Each record by itself.
fn postcard_borrowed(Input { data, entries }: &Input) -> u64 {
    let mut sum = 0_u64;
    for entry in entries {
        let mut rest = &data[entry.records_offset() as usize..];
        for _ in 0..entry.record_count() {
            let (record, behind) = postcard::take_from_bytes::<PostcardRecord<'_>>(rest).unwrap();
            sum = sum.wrapping_add(record.digest());
            rest = behind;
        }
    }
    sum
}

/// The length of each integer, and nothing else.
fn bare_walk(Input { data, .. }: &Input) -> u64 {
    let mut walk = Walk { data, at: 0 };
    walk.text();
    walk.ints(5);
    let (mut records, sequences) = (0, walk.int());
    for _ in 0..sequences {
        walk.ints(3);
        for _ in 0..walk.int() {
            // Tasks, all of them.
            walk.ints(4);
            walk.text();
            walk.int();
            walk.option();
        }
        let count = walk.int();
        for _ in 0..count {
            walk.int();
            match walk.int() {
                4 => walk.event(),
                9.. => {
                    walk.int();
                    walk.option();
                }
                _ => walk.ints(1),
            }
        }
        records += count;
    }
    records
}

struct Walk<'a> {
    data: &'a [u8],
    at: usize,
}

impl Walk<'_> {
    #[inline(always)]
    fn int(&mut self) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.data[self.at];
            self.at += 1;
            value |= u64::from(byte & 0x7f) << (shift & 63);
            if byte < 0x80 {
                return value;
            }
            shift += 7;
        }
    }

    #[inline(always)]
    fn ints(&mut self, count: u64) {
        for _ in 0..count {
            self.int();
        }
    }

    #[inline(always)]
    fn text(&mut self) {
        self.at += self.int() as usize;
    }

    #[inline(always)]
    fn option(&mut self) {
        if self.int() == 1 {
            self.int();
        }
    }

    fn value(&mut self) {
        match self.int() {
            0 => self.at += 8,
            6 => self.text(),
            _ => self.ints(1),
        }
    }

    fn event(&mut self) {
        self.int();
        if self.int() == 2 {
            self.int();
        }
        for _ in 0..self.int() {
            self.value();
        }
        for _ in 0..self.int() {
            self.text();
            self.value();
        }
    }
}
