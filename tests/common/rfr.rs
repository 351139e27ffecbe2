//! Builds RFR files: postcard's wire format, field by field.

/// Bytes to be written to.
#[derive(Clone, Default, Debug)]
pub struct Writer(pub Vec<u8>);

impl Writer {
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes as they are.
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    /// An integer of any width, or a kind.
    pub fn int(mut self, mut value: u128) -> Self {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
        self
    }

    /// Several integers of 64 bits.
    pub fn ints<const N: usize>(self, values: [u64; N]) -> Self {
        values.into_iter().fold(self, |writer, value| writer.int(value.into()))
    }

    /// A signed integer: zigzag.
    pub fn signed(self, value: i128) -> Self {
        self.int(((value << 1) ^ (value >> 127)) as u128)
    }

    pub fn string(self, text: &str) -> Self {
        self.int(text.len() as u128).raw(text.as_bytes())
    }

    /// A list: its length, and its elements by what comes in `elements`.
    pub fn list(self, count: usize, elements: &Self) -> Self {
        self.int(count as u128).raw(&elements.0)
    }

    /// An optional id.
    pub fn option(self, id: Option<u64>) -> Self {
        match id {
            None => self.raw(&[0]),
            Some(id) => self.raw(&[1]).int(id.into()),
        }
    }

    /// Field values.
    pub fn values(self, values: &[Value<'_>]) -> Self {
        values.iter().fold(self.int(values.len() as u128), |writer, &value| writer.value(value))
    }

    /// Fields with their names.
    pub fn fields(self, fields: &[(&str, Value<'_>)]) -> Self {
        let writer = self.int(fields.len() as u128);
        fields.iter().fold(writer, |writer, &(name, value)| writer.string(name).value(value))
    }

    /// Names.
    pub fn names(self, names: &[&str]) -> Self {
        names.iter().fold(self.int(names.len() as u128), |writer, name| writer.string(name))
    }

    pub fn value(self, value: Value<'_>) -> Self {
        match value {
            Value::F64(value) => self.int(0).raw(&value.to_le_bytes()),
            Value::I64(value) => self.int(1).signed(value.into()),
            Value::U64(value) => self.int(2).int(value.into()),
            Value::I128(value) => self.int(3).signed(value),
            Value::U128(value) => self.int(4).int(value),
            Value::Bool(value) => self.int(5).raw(&[value.into()]),
            Value::Str(value) => self.int(6).string(value),
        }
    }

    pub fn parent(self, parent: Parent) -> Self {
        match parent {
            Parent::Current => self.int(0),
            Parent::Root => self.int(1),
            Parent::Explicit(iid) => self.int(2).int(iid.into()),
        }
    }
}

/// A value of a field.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    F64(f64),
    I64(i64),
    U64(u64),
    I128(i128),
    U128(u128),
    Bool(bool),
    Str(&'a str),
}

/// The parent of a span or an event.
#[derive(Clone, Copy, Debug)]
pub enum Parent {
    Current,
    Root,
    Explicit(u64),
}

/// A callsite, without its identifier in front of the file.
pub fn callsite(id: u64, level: u8, kind: u32, fields: &[(&str, Value<'_>)], names: &[&str]) -> Writer {
    Writer::new().ints([id]).raw(&[level]).int(kind.into()).fields(fields).names(names)
}

/// A span, without the kind of object in front.
pub fn span(
    iid: u64,
    callsite: u64,
    parent: Parent,
    values: &[Value<'_>],
    fields: &[(&str, Value<'_>)],
) -> Writer {
    Writer::new().ints([iid, callsite]).parent(parent).values(values).fields(fields)
}

/// A task, without the kind of object in front. `kind` is 0 to 3, or the text of kind 4.
pub fn task(
    iid: u64,
    callsite: u64,
    id: u64,
    name: &str,
    kind: Result<u32, &str>,
    context: Option<u64>,
) -> Writer {
    let writer = Writer::new().ints([iid, callsite, id]).string(name);
    let writer = match kind {
        Ok(kind) => writer.int(kind.into()),
        Err(text) => writer.int(4).string(text),
    };
    writer.option(context)
}

/// An event, without its kind.
pub fn event(callsite: u64, parent: Parent, values: &[Value<'_>], fields: &[(&str, Value<'_>)]) -> Writer {
    Writer::new().ints([callsite]).parent(parent).values(values).fields(fields)
}

/// A sequence of a chunk.
#[derive(Clone, Default, Debug)]
pub struct Sequence {
    seq_id: u64,
    times: Option<(u64, u64)>,
    objects: Writer,
    object_count: usize,
    records: Writer,
    record_count: usize,
    /// The times of the first and the last record.
    written: Option<(u64, u64)>,
}

impl Sequence {
    pub fn new(seq_id: u64) -> Self {
        Self { seq_id, ..Self::default() }
    }

    /// Times to be stated in the header, other than those of the first and the last record.
    pub fn times(self, earliest: u64, latest: u64) -> Self {
        Self { times: Some((earliest, latest)), ..self }
    }

    /// An object: 0 for a span, 1 for a task.
    pub fn object(mut self, kind: u32, object: &Writer) -> Self {
        self.objects = self.objects.int(kind.into()).raw(&object.0);
        self.object_count += 1;
        self
    }

    /// A task that was spawned by `context`.
    pub fn task(self, iid: u64, callsite_id: u64, name: &str, context: Option<u64>) -> Self {
        self.object(1, &task(iid, callsite_id, iid, name, Ok(0), context))
    }

    /// A record of any kind.
    pub fn record(mut self, timestamp: u64, kind: u32, data: &Writer) -> Self {
        self.records = self.records.int(timestamp.into()).int(kind.into()).raw(&data.0);
        self.record_count += 1;
        self.written = Some((self.written.map_or(timestamp, |(first, _)| first), timestamp));
        self
    }

    /// A record about a span or a task.
    pub fn about(mut self, timestamp: u64, kind: u8, iid: u64) -> Self {
        // In place: benches write millions of them.
        self.push(timestamp, kind, iid);
        self
    }

    /// As [`Self::about`].
    pub fn push(&mut self, timestamp: u64, kind: u8, iid: u64) {
        let records = std::mem::take(&mut self.records);
        self.records = records.ints([timestamp]).raw(&[kind]).ints([iid]);
        self.record_count += 1;
        self.written = Some((self.written.map_or(timestamp, |(first, _)| first), timestamp));
    }

    /// A record about a waker.
    pub fn waker(self, timestamp: u64, kind: u32, task: u64, context: Option<u64>) -> Self {
        self.record(timestamp, kind, &Writer::new().ints([task]).option(context))
    }

    fn write(&self, writer: Writer, interval: (u64, u64)) -> Writer {
        let (earliest, latest) = self.times.or(self.written).unwrap_or((interval.1, interval.0));
        writer
            .ints([self.seq_id, earliest, latest])
            .list(self.object_count, &self.objects)
            .list(self.record_count, &self.records)
    }
}

/// A chunk file.
#[derive(Clone, Debug)]
pub struct Chunk {
    pub identifier: &'static str,
    pub base_time: u64,
    pub start: u64,
    pub end: u64,
    /// Times to be stated in the header, other than those of the sequences.
    pub times: Option<(u64, u64)>,
    pub sequences: Vec<Sequence>,
}

impl Chunk {
    /// The chunk of a second.
    pub fn new(base_time: u64) -> Self {
        let sequences = Vec::new();
        Self { identifier: "rfr-c/0.0.2", base_time, start: 0, end: 1_000_000, times: None, sequences }
    }

    pub fn sequence(mut self, sequence: Sequence) -> Self {
        self.sequences.push(sequence);
        self
    }

    pub fn bytes(&self) -> Vec<u8> {
        let written = self.sequences.iter().filter_map(|sequence| sequence.written);
        let range = written.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)));
        let (earliest, latest) = self.times.or(range).unwrap_or((self.end, self.start));
        let writer = Writer::new()
            .string(self.identifier)
            .ints([self.base_time, self.start, self.end, earliest, latest])
            .ints([self.sequences.len() as u64]);
        let interval = (self.start, self.end);
        self.sequences.iter().fold(writer, |writer, sequence| sequence.write(writer, interval)).0
    }
}

/// `meta.rfr`.
pub fn meta(secs: u64, micros: u32, formats: &[&str]) -> Vec<u8> {
    Writer::new().string("rfr-cm/0.0.1").ints([secs, micros.into()]).names(formats).0
}

/// `callsites.rfr`.
pub fn callsites(callsites: &[Writer]) -> Vec<u8> {
    let writer = Writer::new().string("rfr-cc/0.0.1");
    callsites.iter().fold(writer, |writer, callsite| writer.raw(&callsite.0)).0
}

/// A streaming file of records: seconds, microseconds, kind, data.
pub fn stream(records: &[(u64, u32, u32, Writer)]) -> Vec<u8> {
    let writer = Writer::new().string("rfr-s/0.0.2");
    let record = |writer: Writer, (secs, micros, kind, data): &(u64, u32, u32, Writer)| {
        writer.ints([*secs, u64::from(*micros), u64::from(*kind)]).raw(&data.0)
    };
    records.iter().fold(writer, record).0
}

/// The data of a waker's record.
pub fn waker(task: u64, context: Option<u64>) -> Writer {
    Writer::new().ints([task]).option(context)
}

/// Every kind of object, record, value and parent, in two sequences.
pub fn all_variants() -> Chunk {
    let values = [
        Value::F64(-1.5),
        Value::I64(i64::MIN),
        Value::U64(u64::MAX),
        Value::I128(i128::MIN),
        Value::U128(u128::MAX),
        Value::Bool(true),
        Value::Str("näme"),
    ];
    let fields = values.map(|value| ("field", value));
    let callsite = 0x5555_5555_5555;
    let mut first = Sequence::new(1)
        .object(0, &span(1, callsite, Parent::Current, &values, &fields))
        .object(0, &span(2, callsite, Parent::Explicit(1), &[], &[]))
        .object(1, &task(u64::MAX, 7, 1 << 40, "", Ok(0), None));
    for (kind, iid) in [(Ok(1), 20), (Ok(2), 21), (Ok(3), 22), (Err("odd"), 23)] {
        first = first.object(1, &task(iid, 7, iid, "main", kind, Some(u64::MAX)));
    }
    for (kind, timestamp) in (0..4_u8).chain(5..9).zip(10..) {
        first = first.about(timestamp, kind, 1 << (u32::from(kind) * 7));
    }
    for (kind, timestamp) in (9..13).zip(100_000..) {
        first = first.waker(timestamp, kind, 20, None).waker(timestamp, kind, u64::MAX, Some(u64::MAX));
    }
    let second = Sequence::new(2)
        .record(5, 4, &event(callsite, Parent::Root, &values, &fields))
        .record(6, 4, &event(callsite, Parent::Explicit(u64::MAX), &[], &[]))
        .record(7, 4, &event(callsite, Parent::Current, &[], &fields[..1]));
    Chunk::new(1_700_000_000).sequence(first).sequence(second).sequence(Sequence::new(3))
}

/// A small recording: the files of its directory. Two chunks of a second, two tasks that wake each other and a third
/// that blocks.
pub fn sample() -> Vec<(&'static str, Vec<u8>)> {
    const BASE: u64 = 1_795_225_314; // 2026-11-21 01:41:54 UTC
    const SPAWN: u64 = 0x55d0_0000_1000;
    let place = |id, line| {
        let fields = [
            ("name", Value::Str("runtime.spawn")),
            ("target", Value::Str("tokio::task")),
            ("file", Value::Str("src/main.rs")),
            ("line", Value::U64(line)),
        ];
        callsite(id, 10, 2, &fields, &["kind", "task.name"])
    };
    let polls = |mut sequence: Sequence, from: u64, tasks: [u64; 2]| {
        for round in 0..40 {
            let start = from + round * 20_000;
            let [now, other] = if round % 2 == 0 { tasks } else { [tasks[1], tasks[0]] };
            sequence.push(start, 6, now); // TaskPollStart
            sequence = sequence.waker(start + 30, 10, other, Some(now)); // WakerWakeByRef
            sequence.push(start + 50 + round, 7, now); // TaskPollEnd
        }
        sequence
    };
    let first = Sequence::new(1)
        .task(4, SPAWN, "ping", None)
        .task(5, SPAWN + 16, "pong", Some(4))
        .about(1_000, 5, 4) // NewTask
        .about(1_200, 5, 5);
    let blocking = Sequence::new(2)
        .object(1, &task(6, SPAWN + 32, 6, "read config", Ok(2), None))
        .about(900, 5, 6)
        .about(950, 6, 6)
        .about(450_950, 7, 6)
        .about(451_000, 8, 6); // TaskDrop
    let second = Sequence::new(1).task(4, SPAWN, "ping", None).task(5, SPAWN + 16, "pong", Some(4));
    let formats = ["rfr-c/0.0.2"];
    vec![
        ("sample.rfr/meta.rfr", meta(BASE, 234_266, &formats)),
        (
            "sample.rfr/callsites.rfr",
            callsites(&[place(SPAWN, 12), place(SPAWN + 16, 17), place(SPAWN + 32, 23)]),
        ),
        (
            "sample.rfr/2026-11/21-01/chunk-41-54.rfr",
            Chunk::new(BASE).sequence(polls(first, 2_000, [4, 5])).sequence(blocking).bytes(),
        ),
        (
            "sample.rfr/2026-11/21-01/chunk-41-55.rfr",
            Chunk::new(BASE + 1).sequence(polls(second, 500, [5, 4])).bytes(),
        ),
    ]
}

/// A small streaming file: one task that is polled, with what it refers to in front.
pub fn sample_stream() -> Vec<u8> {
    const BASE: u64 = 1_795_225_314; // 2026-11-21 01:41:54 UTC
    const SPAWN: u64 = 0x55d0_0000_1000;
    let fields = [("file", Value::Str("src/main.rs")), ("line", Value::U64(12))];
    let about = || Writer::new().ints([4]);
    let mut records = vec![
        (BASE, 1_000, 1, callsite(SPAWN, 10, 2, &fields, &[])),
        (BASE, 1_000, 4, task(4, SPAWN, 4, "ping", Ok(0), None)),
        (BASE, 1_000, 9, about()), // NewTask
    ];
    for round in 0..3 {
        let start = 2_000 + round * 20_000;
        records.push((BASE, start, 10, about())); // TaskPollStart
        records.push((BASE, start + 30, 14, waker(4, Some(4)))); // WakerWakeByRef
        records.push((BASE, start + 50, 11, about())); // TaskPollEnd
    }
    records.push((BASE + 1, 0, 12, about())); // TaskDrop
    stream(&records)
}
