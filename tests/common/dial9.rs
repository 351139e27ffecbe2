//! Builds dial9 traces, frame by frame.

/// Bytes to be written to.
#[derive(Clone, Default, Debug)]
pub struct Writer(pub Vec<u8>);

/// The numbers of field types.
pub const I64: u8 = 1;
pub const F64: u8 = 2;
pub const BOOL: u8 = 3;
pub const STRING: u8 = 4;
pub const BYTES: u8 = 5;
pub const POOLED_STACK: u8 = 6;
pub const POOLED_STRING: u8 = 7;
pub const STACK: u8 = 8;
pub const VARINT: u8 = 9;
pub const STRING_MAP: u8 = 10;
pub const U8: u8 = 11;
pub const U16: u8 = 12;
pub const U32: u8 = 13;
pub const LIST: u8 = 14;
pub const MAP: u8 = 15;
/// Added to a type: there may be no value.
pub const OPTIONAL: u8 = 0x80;

impl Writer {
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes as they are.
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    pub fn u16(self, value: u16) -> Self {
        self.raw(&value.to_le_bytes())
    }

    pub fn u32(self, value: u32) -> Self {
        self.raw(&value.to_le_bytes())
    }

    pub fn u64(self, value: u64) -> Self {
        self.raw(&value.to_le_bytes())
    }

    pub fn varint(mut self, mut value: u64) -> Self {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
        self
    }

    /// Text with a length of 16 bits.
    pub fn short(self, text: &str) -> Self {
        self.u16(text.len() as u16).raw(text.as_bytes())
    }

    /// Text or bytes with a length of 32 bits.
    pub fn text(self, text: impl AsRef<[u8]>) -> Self {
        self.u32(text.as_ref().len() as u32).raw(text.as_ref())
    }

    /// Addresses with their number.
    pub fn stack(self, addresses: &[u64]) -> Self {
        addresses.iter().fold(self.u32(addresses.len() as u32), |writer, &address| writer.u64(address))
    }

    /// The header of a batch.
    pub fn header(self) -> Self {
        self.raw(b"TRC\0\x01")
    }

    /// The schema of events with a time.
    pub fn schema(self, id: u16, name: &str, fields: &[(&str, u8)]) -> Self {
        self.schema_timed(id, name, 1, fields)
    }

    pub fn schema_timed(self, id: u16, name: &str, timed: u8, fields: &[(&str, u8)]) -> Self {
        let start = self.raw(&[1]).u16(id).short(name).raw(&[timed]).u16(fields.len() as u16);
        fields.iter().fold(start, |writer, (name, kind)| writer.short(name).raw(&[*kind]))
    }

    /// The start of an event; its values follow.
    pub fn event(self, id: u16, delta: u32) -> Self {
        self.raw(&[2]).u16(id).raw(&delta.to_le_bytes()[..3])
    }

    /// The start of an event without a time.
    pub fn untimed(self, id: u16) -> Self {
        self.raw(&[2]).u16(id)
    }

    pub fn strings(self, entries: &[(u32, &str)]) -> Self {
        let start = self.raw(&[3]).u32(entries.len() as u32);
        entries.iter().fold(start, |writer, (id, text)| writer.u32(*id).text(text))
    }

    pub fn stacks(self, entries: &[(u32, &[u64])]) -> Self {
        let start = self.raw(&[4]).u32(entries.len() as u32);
        entries.iter().fold(start, |writer, (id, stack)| writer.u32(*id).stack(stack))
    }

    pub fn reset(self, time: u64) -> Self {
        self.raw(&[5]).u64(time)
    }

    /// Fields by their places, with keys and values.
    pub fn annotations(self, id: u64, entries: &[(u16, &str, &str)]) -> Self {
        let start = self.raw(&[6]).varint(id).u16(entries.len() as u16);
        entries.iter().fold(start, |writer, (field, key, value)| writer.u16(*field).short(key).text(value))
    }
}

/// The fields of the schema `All`: each type once, and once optional.
pub fn all_fields() -> Vec<(String, u8)> {
    (1..=15).flat_map(|kind| [(format!("f{kind}"), kind), (format!("o{kind}"), kind | OPTIONAL)]).collect()
}

/// A value of each type, and what it is written as.
pub fn value_of(kind: u8) -> Writer {
    let writer = Writer::new();
    match kind {
        I64 => writer.u64(-7_i64 as u64),
        F64 => writer.u64(1.5_f64.to_bits()),
        BOOL => writer.raw(&[1]),
        STRING => writer.text("größe"),
        BYTES => writer.text([0, 0xff]),
        POOLED_STACK => writer.u32(1),
        POOLED_STRING => writer.u32(0),
        STACK => writer.stack(&[0x1000, u64::MAX]),
        VARINT => writer.varint(300),
        STRING_MAP => writer.u32(2).text("k").text("v").text("k").text(""),
        U8 => writer.raw(&[200]),
        U16 => writer.u16(60_000),
        U32 => writer.u32(4_000_000_000),
        // A list of a varint and a list of a truth value.
        LIST => writer.u32(2).raw(&[VARINT]).varint(5).raw(&[LIST]).u32(1).raw(&[BOOL, 0]),
        // From 1 to text.
        MAP => writer.u32(1).raw(&[U8, 1, STRING]).text("one"),
        other => panic!("no type {other}"),
    }
}

/// Two batches with every kind of frame, every type, and what tokio says of a task.
pub fn sample() -> Vec<u8> {
    let fields = all_fields();
    let fields: Vec<(&str, u8)> = fields.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
    let (mut all, mut none) = (Writer::new(), Writer::new());
    for kind in 1..=15 {
        all = all.raw(&value_of(kind).0).raw(&[1]).raw(&value_of(kind).0);
        none = none.raw(&value_of(kind).0).raw(&[0]);
    }
    Writer::new()
        .header()
        .schema(1, "All", &fields)
        .annotations(1, &[(24, "unit", "ns"), (24, "kind", "gauge")])
        .strings(&[(0, "src/main.rs:7:16"), (1, "")])
        .stacks(&[(0, &[]), (1, &[0x10, 0x20])])
        .reset(1_000_000)
        .event(1, 5)
        .raw(&all.0)
        .event(1, 10)
        .raw(&none.0)
        .schema_timed(300, "NoTime", 0, &[("n", VARINT)])
        .untimed(300)
        .varint(9)
        .header()
        .schema(2, "PollStartEvent", &POLL_START)
        .schema(3, "PollEndEvent", &[("worker_id", VARINT)])
        .strings(&[(0, "src/other.rs:1:2")])
        .reset(2_000_000)
        .event(2, 0)
        .varint(1)
        .raw(&[3])
        .varint(77)
        .u32(0)
        .event(3, 5_000)
        .varint(1)
        .0
}

/// The fields of the start of a poll.
pub const POLL_START: [(&str, u8); 4] =
    [("worker_id", VARINT), ("local_queue", U8), ("task_id", VARINT), ("spawn_loc", POOLED_STRING)];

/// Times from the start of the recording, of events in one batch; times go back by a reset.
struct Batch {
    writer: Writer,
    time: u64,
}

impl Batch {
    fn new(writer: Writer) -> Self {
        Self { writer: writer.header(), time: 0 }
    }

    /// An event with these values.
    fn event(mut self, id: u16, time: u64, values: Writer) -> Self {
        let delta = match time.checked_sub(self.time).filter(|delta| *delta < 1 << 24) {
            Some(delta) => delta as u32,
            None => {
                self.writer = self.writer.reset(time);
                0
            }
        };
        self.time = time;
        self.writer = self.writer.event(id, delta).raw(&values.0);
        self
    }

    fn schema(mut self, id: u16, name: &str, fields: &[(&str, u8)]) -> Self {
        self.writer = self.writer.schema(id, name, fields);
        self
    }

    fn strings(mut self, entries: &[(u32, &str)]) -> Self {
        self.writer = self.writer.strings(entries);
        self
    }
}

/// The start of the recording on the writer's clock.
const START: u64 = 4_182_000_000_000;

fn ints<const N: usize>(values: [u64; N]) -> Writer {
    values.into_iter().fold(Writer::new(), |writer, value| writer.varint(value))
}

/// A recording as a service's recorder writes it: what it says of itself, and a batch of each of two workers. A task
/// blocks for 30 ms; another one is woken, and not polled again.
pub fn recording() -> Vec<u8> {
    let clock = [("realtime_ns", VARINT)];
    let synced = |writer: Writer| {
        let batch = Batch::new(writer).schema(1, "ClockSyncEvent", &clock);
        batch.event(1, START, ints([1_795_411_761_000_000_000]))
    };
    let entries = Writer::new()
        .u32(2)
        .text("dial9.dial9-tokio-telemetry.version")
        .text("0.5.7")
        .text("runtime.main")
        .text("0,1");
    let metadata = synced(synced(Writer::new()).writer)
        .schema(2, "SegmentMetadataEvent", &[("entries", STRING_MAP)])
        .event(2, START + 1_000, entries);
    let worker = |writer: Writer| {
        Batch::new(writer)
            .schema(3, "PollStartEvent", &POLL_START)
            .schema(4, "PollEndEvent", &[("worker_id", VARINT)])
            .schema(5, "WorkerParkEvent", &PARK)
            .schema(6, "WorkerUnparkEvent", &PARK)
            .schema(7, "WakeEventEvent", &WAKE)
            .schema(8, "TaskSpawnEvent", &SPAWN)
            .schema(9, "TaskTerminateEvent", &[("task_id", VARINT)])
            .schema(300, "RuntimeMetricsEvent", &METRICS)
            .schema(301, "CpuSampleEvent", &SAMPLE)
    };
    let park = |id: u64, cpu: u64| ints([id]).raw(&[0]).varint(cpu).u32(100 + id as u32);
    let poll = |id: u64, task: u64, place: u32| ints([id]).raw(&[1]).varint(task).u32(place);
    let mut first = worker(metadata.writer).strings(&[(0, "src/main.rs:10:5"), (1, "src/db.rs:33:9")]);
    first.writer = first.writer.annotations(300, &[(1, "kind", "gauge"), (2, "kind", "gauge")]);
    first = first.event(8, START + 10_000, ints([20]).u32(0).raw(&[1, 1]).varint(0)).event(
        8,
        START + 11_000,
        ints([21]).u32(1).raw(&[1, 0]),
    );
    let mut time = START + 20_000;
    for round in 0..12_u64 {
        let length = if round == 7 { 30_000_000 } else { 40_000 + round * 1_000 };
        first = first
            .event(3, time, poll(0, 20, 0))
            .event(7, time + 5_000, ints([20, 21]).raw(&[0]))
            .event(4, time + length, ints([0]))
            .event(5, time + length + 1_000, park(0, time - START))
            .event(6, time + length + 900_000, park(0, time - START + 1_000))
            .event(7, time + length + 900_100, ints([0, 20]).raw(&[255]));
        time += length + 1_000_000;
    }
    first = first.event(300, time, Writer::new().u32(0).u32(3).u32(2)).event(9, time + 5_000, ints([20]));
    let mut second = worker(first.writer).strings(&[(0, "src/db.rs:33:9"), (1, "worker-1")]);
    second.writer = second.writer.stacks(&[(0, &[0x5555_0000_1000, 0x5555_0000_2000])]);
    let mut time = START + 30_000;
    for _ in 0..8 {
        second = second.event(3, time, poll(1, 21, 0)).event(4, time + 150_000, ints([1]));
        time += 1_100_000;
    }
    // The sample was taken during the last poll.
    let sample = ints([255]).u32(101).raw(&[0, 1]).u32(1).u32(0).raw(&[1, 3]);
    second = second.event(301, time - 1_050_000, sample);
    second.event(5, time, park(1, 9_000)).writer.0
}

const PARK: [(&str, u8); 4] =
    [("worker_id", VARINT), ("local_queue", U8), ("cpu_time_ns", VARINT), ("tid", U32)];
const WAKE: [(&str, u8); 3] = [("waker_task_id", VARINT), ("woken_task_id", VARINT), ("target_worker", U8)];
const SPAWN: [(&str, u8); 4] = [
    ("task_id", VARINT),
    ("spawn_loc", POOLED_STRING),
    ("instrumented", BOOL),
    ("worker_id", VARINT | OPTIONAL),
];
const METRICS: [(&str, u8); 3] =
    [("runtime_name", POOLED_STRING), ("global_queue_depth", U32), ("alive_tasks", U32)];
const SAMPLE: [(&str, u8); 6] = [
    ("worker_id", VARINT),
    ("tid", U32),
    ("source", U8),
    ("thread_name", POOLED_STRING | OPTIONAL),
    ("callchain", POOLED_STACK),
    ("cpu", VARINT | OPTIONAL),
];
