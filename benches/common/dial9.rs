//! dial9: a batch of polls, and walks over it.

#[path = "../../tests/common/dial9.rs"]
#[allow(dead_code)] // The tests use more.
pub mod builder;

use builder::{POLL_START, VARINT, Writer};
use traceglass::dial9::{ClassSlot, Frames, PoolSlot, Records, SchemaSlot, Storage};
use traceglass::event::Source as _;
use traceglass::event::dial9::{Input, KindSlot, Moment, PoolPlace, Rooms, Timeline, TrackSlot};
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

/// Events without their fields.
pub fn events(data: &[u8]) -> u64 {
    let mut schemas = [SchemaSlot::EMPTY; 8];
    let mut frames = Frames::new(data, Storage::new(&mut schemas));
    let mut sum = 0_u64;
    while let Some(event) = frames.next_event().unwrap() {
        sum = sum.wrapping_add(event.time().unwrap_or(0));
    }
    sum
}

/// Adds up what it hears.
#[derive(Default)]
struct Sum(u64);

impl Listener for Sum {
    fn begin(&mut self, head: &Head, _: &dyn Class) -> Wants {
        self.0 = self.0.wrapping_add(head.offset);
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
    let (mut schemas, mut strings) = ([SchemaSlot::EMPTY; 8], [PoolSlot::EMPTY; 8]);
    let mut classes = [ClassSlot::EMPTY; 8];
    let storage = Storage::new(&mut schemas).strings(&mut strings).classes(&mut classes);
    let (mut records, mut sum) = (Records::new(data, storage), Sum::default());
    while records.tell_next(&mut sum).unwrap() {}
    sum.0
}

/// Tracks and slices in the order of time.
pub fn timeline(data: &[u8]) -> u64 {
    let mut room = vec![Moment::EMPTY; data.len() / 8];
    let mut moments = &mut room[..];
    let (mut schemas, mut classes) = ([SchemaSlot::EMPTY; 8], [ClassSlot::EMPTY; 8]);
    let (mut kinds, mut pools) = ([KindSlot::EMPTY; 8], [PoolPlace::EMPTY; 8]);
    let (mut inputs, mut tracks) = ([Input::EMPTY; 1], [TrackSlot::EMPTY; 512]);
    let mut timeline = Timeline::new(Rooms {
        schemas: &mut schemas,
        classes: &mut classes,
        kinds: &mut kinds,
        moments: &mut moments,
        pools: &mut pools,
        inputs: &mut inputs,
        tracks: &mut tracks,
    });
    timeline.add(0, data).unwrap();
    let mut items = 0;
    while timeline.next_item().unwrap().is_some() {
        items += 1;
    }
    items
}
