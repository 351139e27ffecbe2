//! RFR: chunks in four sequences, mostly polls and wakes, one record in a hundred an event with text.

#[path = "../../tests/common/rfr.rs"]
pub mod builder;

use builder::{Parent, Sequence, Value};
use traceglass::rfr::{
    Chunk, Directory, DirectoryEntry, Event, Item, Merge, MergeSlot, NameSlot, Names, Record, RecordData,
    RegistrySlot, Waker,
};

/// Tasks that take turns.
const TASKS: u64 = 1 << 20;

/// A chunk of a second.
pub fn chunk(number: u64, records: u64) -> Vec<u8> {
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
        for _ in 0..records / 4 {
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
    record.micros().wrapping_mul(31).wrapping_add(record.kind() as u64).wrapping_add(rest)
}

#[inline(never)]
fn digest_event(event: &Event<'_>) -> u64 {
    let mut sum = event.callsite_id();
    for value in event.split_field_values() {
        sum = sum.wrapping_add(value.as_u64().unwrap_or(0));
        sum = sum.wrapping_add(value.as_str().map_or(0, |text| text.len() as u64));
    }
    for field in event.dynamic_fields() {
        sum = sum.wrapping_add(field.name().len() as u64);
        sum = sum.wrapping_add(field.value().as_str().map_or(0, |text| text.len() as u64));
    }
    sum
}

/// A chunk, and where its sequences are: as a list that was made before for what is compared to decode record by record.
pub struct Input {
    pub data: Vec<u8>,
    pub entries: Vec<DirectoryEntry>,
}

impl Input {
    /// A number of records, a chunk for each million.
    pub fn recording(records: u64) -> Vec<Self> {
        const MOST: u64 = 1_000_000;
        (0..records.div_ceil(MOST)).map(|number| Self::new(number, records.min(MOST))).collect()
    }

    fn new(number: u64, records: u64) -> Self {
        Self::of(chunk(number, records))
    }

    /// The chunk that is `data`.
    pub fn of(data: Vec<u8>) -> Self {
        let mut entries = vec![DirectoryEntry::EMPTY; 4];
        Directory::build(&Chunk::parse(&data).unwrap(), &mut entries).unwrap();
        Self { data, entries }
    }
}

/// The sum of all fields of all records.
pub fn decode(input: &Input) -> u64 {
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

/// As a consumer would who wants the variant.
pub fn decode_matching(input: &Input) -> u64 {
    let mut sum = 0_u64;
    let chunk = Chunk::parse(&input.data).unwrap();
    for entry in &input.entries {
        let mut records = entry.sequence(&chunk).records().unwrap();
        while let Some(record) = records.next_record().unwrap() {
            let of_waker = |waker: Waker| waker.task_iid().wrapping_add(waker.context().unwrap_or(0));
            let (kind, rest) = match record.data() {
                RecordData::SpanNew { iid } => (0, iid),
                RecordData::SpanEnter { iid } => (1, iid),
                RecordData::SpanExit { iid } => (2, iid),
                RecordData::SpanClose { iid } => (3, iid),
                RecordData::Event(event) => (4, digest_event(&event)),
                RecordData::NewTask { iid } => (5, iid),
                RecordData::TaskPollStart { iid } => (6, iid),
                RecordData::TaskPollEnd { iid } => (7, iid),
                RecordData::TaskDrop { iid } => (8, iid),
                RecordData::WakerWake(waker) => (9, of_waker(waker)),
                RecordData::WakerWakeByRef(waker) => (10, of_waker(waker)),
                RecordData::WakerClone(waker) => (11, of_waker(waker)),
                RecordData::WakerDrop(waker) => (12, of_waker(waker)),
                _ => unreachable!(),
            };
            sum = sum.wrapping_add(record.micros().wrapping_mul(31).wrapping_add(kind).wrapping_add(rest));
        }
    }
    sum
}

pub fn decode_by_sequence(Input { data, .. }: &Input) -> u64 {
    let mut sum = 0_u64;
    for sequence in Chunk::parse(data).unwrap().sequences() {
        let mut records = sequence.unwrap().records().unwrap();
        while let Some(record) = records.next_record().unwrap() {
            sum = sum.wrapping_add(digest(&record));
        }
    }
    sum
}

pub fn decode_flat(Input { data, .. }: &Input) -> u64 {
    let mut sum = 0_u64;
    for item in Chunk::parse(data).unwrap().items() {
        if let Item::Record(record) = item.unwrap() {
            sum = sum.wrapping_add(digest(&record));
        }
    }
    sum
}

/// The number of records, skipped one by one.
pub fn skip(Input { data, .. }: &Input) -> u64 {
    let mut count = 0;
    let mut sequences = Chunk::parse(data).unwrap().sequences();
    while let Some(sequence) = sequences.next_sequence().unwrap() {
        // Finding the next sequence passes this one's records by.
        count += sequence.records().unwrap().claimed();
    }
    count
}

pub fn directory(Input { data, .. }: &Input) -> u64 {
    let chunk = Chunk::parse(data).unwrap();
    let mut entries = [DirectoryEntry::EMPTY; 4];
    let directory = Directory::build(&chunk, &mut entries).unwrap();
    directory.entries().iter().map(DirectoryEntry::record_count).sum()
}

pub fn merge(Input { data, .. }: &Input) -> u64 {
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
        sum = sum.wrapping_add(digest(&merged.record()));
    }
    sum
}

pub fn resolve(Input { data, .. }: &Input) -> u64 {
    let chunk = Chunk::parse(data).unwrap();
    let mut names = Names::new([RegistrySlot::EMPTY; 1_000], [NameSlot::EMPTY; 1_000]);
    let (mut sum, mut found) = (0_u64, 0);
    for sequence in chunk.sequences() {
        let sequence = sequence.unwrap();
        names.clear();
        for object in sequence.objects() {
            names.meet(&object.unwrap()).unwrap();
        }
        for record in sequence.records().unwrap() {
            let record = record.unwrap();
            names.follow(&record.data());
            found += u64::from(record.iid().is_some_and(|iid| names.get(iid).is_some()));
            sum = sum.wrapping_add(digest(&record));
        }
    }
    assert!(found > 0);
    sum
}
