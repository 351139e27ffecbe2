//! dial9: a batch of polls, and walks over it.

#[path = "../../tests/common/dial9.rs"]
#[allow(dead_code)] // The tests use more.
pub mod builder;

use builder::{OPTIONAL, POLL_START, POOLED_STACK, POOLED_STRING, U8, U32, VARINT, Writer};
use traceglass::dial9::{
    ClassSlot, Frames, Input, LayoutSlot, OrderRooms, PoolPlace, PoolSlot, Records, Run, SchemaSlot, Storage,
    TypeSlot,
};
use traceglass::event::Source as _;
use traceglass::event::dial9::{KindSlot, Moment, Rooms, Timeline, TrackSlot};
use traceglass::record::{Class, Head, Listener, Slot, Text, Wants};

/// So many polls, half of them of tasks with larger numbers.
pub fn polls(count: u64) -> Vec<u8> {
    let writer = Writer::new().header().schema(2, "PollStartEvent", &POLL_START);
    let writer = writer.schema(3, "PollEndEvent", &[("worker_id", VARINT)]);
    let writer = writer.strings(&[(0, "src/main.rs:1:1"), (1, "src/b.rs:3:4")]).reset(5_000_000_000);
    let poll = |writer: Writer, number: u64| {
        let start = writer.event(2, 1_000).varint(number % 4).raw(&[1]).varint(100 + number % 300);
        start.u32((number % 2) as u32).event(3, 5_000).varint(number % 4)
    };
    (0..count).fold(writer, poll).0
}

/// So many events in the proportions of a service that is traced in full: polls, parks, wakes, spans, dumps of tasks.
pub fn mixed(count: u64) -> Vec<u8> {
    let worker = ("worker_id", VARINT);
    let start = [worker, POLL_START[1], POLL_START[2], POLL_START[3], ("scheduling_delay_ns", VARINT)];
    let park = [worker, ("local_queue", U8), ("cpu_time_ns", VARINT), ("tid", U32)];
    let unpark = [park[0], park[1], park[2], ("sched_wait_ns", VARINT | OPTIONAL), park[3]];
    let wake = [("waker_task_id", VARINT), ("woken_task_id", VARINT), ("target_worker", U8)];
    let text = POOLED_STRING | OPTIONAL;
    let enter = [
        ("dial9.tokio.task_id", VARINT | OPTIONAL),
        ("span_id", VARINT),
        ("parent_span_id", VARINT | OPTIONAL),
        ("span_name", POOLED_STRING),
        ("name", text),
        ("request_id", text),
    ];
    let exit = [enter[0], enter[1], enter[3], enter[4], enter[5]];
    let writer = Writer::new().header().schema(1, "PollStartEvent", &start);
    let writer = writer.schema(2, "PollEndEvent", &[worker]).schema(3, "WorkerParkEvent", &park);
    let writer = writer.schema(4, "WorkerUnparkEvent", &unpark).schema(5, "WakeEventEvent", &wake);
    let writer = writer.schema(6, "SpanEnter:a::b:src/a.rs:63", &enter);
    let writer =
        writer.schema(7, "SpanExit:a::b:src/a.rs:63", &exit).schema(8, "SpanCloseEvent", &enter[1..2]);
    let writer = writer.schema(9, "TaskDumpEvent", &[("task_id", VARINT), ("callchain", POOLED_STACK)]);
    let writer = writer.schema(10, "TaskTerminateEvent", &[("task_id", VARINT)]);
    let names = ["src/main.rs:418:25", "src/main.rs:286:24", "record_metric", "queue_depth"];
    let writer = writer.strings(&[(0, names[0]), (1, names[1]), (2, names[2]), (3, names[3])]);
    let stack: Vec<u64> = (0..13).map(|frame| 0xaaaa_b854_9878 + frame * 0x1234).collect();
    let mut writer = writer.stacks(&[(0, &stack)]).reset(5_000_000_000);
    for number in 0..count {
        let (worker, task, round) = (number / 40 % 4, 5 + number % 120, number / 40);
        writer = match number % 40 {
            // Eleven polls, five times parked, two wakes, two spans; others now and then.
            0 | 2 | 6 | 8 | 12 | 14 | 18 | 22 | 26 | 30 | 34 => {
                let event = writer.event(1, 1_000).varint(worker).raw(&[3]).varint(task);
                event.u32((number % 2) as u32).varint(700 * (number % 300))
            }
            1 | 3 | 7 | 9 | 13 | 15 | 19 | 23 | 27 | 31 | 35 => writer.event(2, 5_000).varint(worker),
            4 | 10 | 16 | 20 | 24 => {
                let event = writer.event(3, 900).varint(worker).raw(&[0]).varint(2_900_000 + number * 50);
                event.u32(39)
            }
            5 | 11 | 17 | 21 | 25 => {
                let event = writer.event(4, 90_000).varint(worker).raw(&[0]).varint(2_900_000 + number * 50);
                if round % 10 == 0 { event.raw(&[1]).varint(11_666) } else { event.raw(&[0]) }.u32(39)
            }
            28 | 29 => writer.event(5, 300).varint(task).varint(task + 1).raw(&[worker as u8]),
            32 | 36 => {
                let event =
                    writer.event(6, 400).raw(&[1]).varint(task).varint(990_792_192_899_416_088 + round);
                event.raw(&[0]).u32(2).raw(&[1]).u32(3).raw(&[1]).u32(3)
            }
            33 | 37 => {
                let event =
                    writer.event(7, 400).raw(&[1]).varint(task).varint(990_792_192_899_416_088 + round);
                event.u32(2).raw(&[1]).u32(3).raw(&[0])
            }
            38 => writer.event(9, 60).varint(task).u32(0),
            _ if round % 3 == 0 => writer.event(10, 100).varint(task),
            _ => writer.event(8, 100).varint(990_792_192_899_416_088 + round),
        };
    }
    writer.0
}

/// Events without their fields.
pub fn events(data: &[u8]) -> u64 {
    let mut schemas = [SchemaSlot::EMPTY; 8];
    let mut frames = Frames::new(data, Storage::new(&mut schemas));
    let mut sum = 0_u64;
    while let Some(event) = frames.next_event().unwrap() {
        sum = sum.wrapping_add(event.nanoseconds().unwrap_or(0));
    }
    sum
}

/// Adds up what it hears.
#[derive(Default)]
struct Sum(u64);

impl Listener for Sum {
    fn begin(&mut self, head: &Head, _: &dyn Class) -> Wants {
        self.0 = self.0.wrapping_add(head.time.map_or(0, |time| time.ns() as u64));
        Wants::ALL
    }

    #[inline(always)]
    fn unsigned(&mut self, _: Slot, value: u64) {
        self.0 = self.0.wrapping_add(value);
    }

    #[inline(always)]
    fn text(&mut self, _: Slot, text: Text<'_>) {
        if let Text::Utf8(text) = text {
            self.0 = self.0.wrapping_add(text.len() as u64);
        }
    }
}

/// Events with all their fields, text resolved.
pub fn told(data: &[u8]) -> u64 {
    let (mut schemas, mut classes) = ([SchemaSlot::EMPTY; 64], [ClassSlot::EMPTY; 64]);
    let (mut strings, mut stacks) = ([PoolSlot::EMPTY; 256], [PoolSlot::EMPTY; 128]);
    let storage = Storage::new(&mut schemas).strings(&mut strings).stacks(&mut stacks).classes(&mut classes);
    let (mut records, mut sum) = (Records::new(data, storage), Sum::default());
    records.tell_all(&mut sum).unwrap();
    sum.0
}

/// The sum of [`told`], by hand and without a check: the bare walk that the format allows.
pub fn bare_walk(data: &[u8]) -> u64 {
    let mut walk = Walk { data, at: 0 };
    let (mut base, mut sum) = (0_u64, 0_u64);
    let mut types: Vec<Vec<u8>> = Vec::new();
    let (mut strings, mut stacks): (Vec<usize>, Vec<u64>) = (Vec::new(), Vec::new());
    while walk.at < data.len() {
        match walk.byte() {
            b'T' => {
                walk.at += 4;
                (base, types, strings, stacks) = (0, Vec::new(), Vec::new(), Vec::new());
            }
            1 => {
                let id = usize::from(walk.short());
                let name = walk.short();
                walk.at += usize::from(name) + 1;
                let fields = (0..walk.short()).map(|_| {
                    let name = walk.short();
                    walk.at += usize::from(name);
                    walk.byte()
                });
                let fields = fields.collect();
                types.resize(types.len().max(id + 1), Vec::new());
                types[id] = fields;
            }
            2 => {
                let fields = &types[usize::from(walk.short())];
                base += u64::from(u32::from_le_bytes(walk.array())) & 0xff_ffff;
                walk.at -= 1;
                sum = sum.wrapping_add(base);
                for &field in fields {
                    if field & OPTIONAL != 0 && walk.byte() == 0 {
                        continue;
                    }
                    sum = sum.wrapping_add(match field & !OPTIONAL {
                        VARINT => walk.varint(),
                        POOLED_STRING => strings[walk.int() as usize] as u64,
                        POOLED_STACK => stacks[walk.int() as usize],
                        U8 => walk.byte().into(),
                        U32 => walk.int().into(),
                        other => panic!("no type {other}"),
                    });
                }
            }
            3 => {
                for _ in 0..walk.int() {
                    assert_eq!(walk.int() as usize, strings.len());
                    strings.push(walk.int() as usize);
                    walk.at += strings[strings.len() - 1];
                }
            }
            4 => {
                for _ in 0..walk.int() {
                    assert_eq!(walk.int() as usize, stacks.len());
                    let addresses = (0..walk.int()).map(|_| u64::from_le_bytes(walk.array()));
                    stacks.push(addresses.fold(0_u64, u64::wrapping_add));
                }
            }
            5 => base = u64::from_le_bytes(walk.array()),
            other => panic!("no frame {other}"),
        }
    }
    sum
}

/// A place in a trace.
struct Walk<'a> {
    data: &'a [u8],
    at: usize,
}

impl Walk<'_> {
    #[inline(always)]
    fn array<const N: usize>(&mut self) -> [u8; N] {
        let found = self.data[self.at..][..N].try_into().unwrap();
        self.at += N;
        found
    }

    #[inline(always)]
    fn byte(&mut self) -> u8 {
        self.at += 1;
        self.data[self.at - 1]
    }

    #[inline(always)]
    fn short(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    #[inline(always)]
    fn int(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    #[inline(always)]
    fn varint(&mut self) -> u64 {
        let (mut value, mut shift) = (0_u64, 0_u32);
        loop {
            let byte = self.byte();
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
            shift += 7;
        }
    }
}

/// Tracks and slices in the order of time.
pub fn timeline(data: &[u8]) -> u64 {
    let (mut schemas, mut classes) = ([SchemaSlot::EMPTY; 8], [ClassSlot::EMPTY; 8]);
    let (mut layouts, mut types) = ([LayoutSlot::EMPTY; 8], [TypeSlot::EMPTY; 8]);
    let (mut runs, mut pools, mut inputs) = ([Run::EMPTY; 8], [PoolPlace::EMPTY; 8], [Input::EMPTY; 1]);
    let (mut kinds, mut moments, mut tracks) =
        ([KindSlot::EMPTY; 8], [Moment::EMPTY; 8], [TrackSlot::EMPTY; 512]);
    let order = OrderRooms {
        schemas: &mut schemas,
        classes: &mut classes,
        layouts: &mut layouts,
        runs: &mut runs,
        types: &mut types,
        pools: &mut pools,
        inputs: &mut inputs,
    };
    let mut timeline =
        Timeline::new(Rooms { order, kinds: &mut kinds, moments: &mut moments, tracks: &mut tracks });
    timeline.add(0, data).unwrap();
    let mut items = 0;
    while timeline.next_item().unwrap().is_some() {
        items += 1;
    }
    items
}
