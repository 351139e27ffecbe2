//! dial9: workers, tasks, wakes and counters, in the order of time.

use crate::common::dial9::{F64, I64, OPTIONAL, POOLED_STRING, STRING, VARINT, Writer, recording, sample};
use crate::common::random::Random;
use std::collections::HashMap;
use traceglass::dial9::{
    ClassSlot, Frames, Input, LayoutSlot, OrderRooms, PoolPlace, Run, SchemaSlot, Storage, TypeSlot,
};
use traceglass::event::dial9::{KindSlot, Moment, Rooms, Timeline, TrackSlot};
use traceglass::event::{EventKind, Item, Number, Room, Source, TrackKind, Window};
use traceglass::{ErrorKind, Result};

/// A room that grows, up to a size.
struct Growing<T>(Vec<T>, T, usize);

impl<T: Clone> Room<T> for Growing<T> {
    fn slots(&self) -> &[T] {
        &self.0
    }
    fn slots_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
    fn grow(&mut self, needed: usize) -> bool {
        if needed <= self.2 {
            self.0.resize(needed, self.1.clone());
        }
        needed <= self.2
    }
}

/// The lines of a timeline; `most` is how many slots each room has at most.
fn lines_of(inputs: &[&[u8]], window: Window, most: [usize; ROOMS]) -> Result<Vec<String>> {
    let [schemas, classes, layouts, runs, types, pools, inputs_most, kinds, moments, tracks] = most;
    let mut schemas = Growing(Vec::new(), SchemaSlot::EMPTY, schemas);
    let mut classes = Growing(Vec::new(), ClassSlot::EMPTY, classes);
    let mut layouts = Growing(Vec::new(), LayoutSlot::EMPTY, layouts);
    let mut runs = Growing(Vec::new(), Run::EMPTY, runs);
    let mut types = Growing(Vec::new(), TypeSlot::EMPTY, types);
    let mut pools = Growing(Vec::new(), PoolPlace::EMPTY, pools);
    let mut lent = Growing(Vec::new(), Input::EMPTY, inputs_most);
    let mut kinds = Growing(Vec::new(), KindSlot::EMPTY, kinds);
    let mut moments = Growing(Vec::new(), Moment::EMPTY, moments);
    let mut tracks = Growing(Vec::new(), TrackSlot::EMPTY, tracks);
    let order = OrderRooms {
        schemas: &mut schemas,
        classes: &mut classes,
        layouts: &mut layouts,
        runs: &mut runs,
        types: &mut types,
        pools: &mut pools,
        inputs: &mut lent,
    };
    let mut timeline =
        Timeline::new(Rooms { order, kinds: &mut kinds, moments: &mut moments, tracks: &mut tracks });
    for (number, input) in inputs.iter().enumerate() {
        timeline.add(number, input)?;
    }
    timeline.set_window(window);
    let (mut lines, mut names, mut open) = (Vec::new(), HashMap::new(), HashMap::new());
    let mut spans = Vec::new();
    while let Some(item) = timeline.next_item()? {
        match item {
            Item::Track(track) => {
                assert!(track.parent().is_none_or(|parent| names.contains_key(&parent)));
                let kind = track.kind();
                spans.extend((kind == TrackKind::Span).then_some(track.id()));
                assert!(matches!(kind, TrackKind::Recording) == track.parent().is_none());
                let label = track.label().to_string();
                if let Some(task) = label.strip_prefix("spans of ") {
                    assert_eq!(names[&track.parent().unwrap()], task);
                }
                assert!(names.insert(track.id(), label).is_none());
            }
            Item::Event(event) => {
                let track = &names[&event.track()];
                let depth: &mut i32 = open.entry(event.track()).or_default();
                let what = match event.kind() {
                    EventKind::Begin => {
                        *depth += 1;
                        "begin".to_owned()
                    }
                    EventKind::End => {
                        *depth -= 1;
                        "end".to_owned()
                    }
                    EventKind::Instant => "at".to_owned(),
                    EventKind::Counter(Number::Integer(value)) => format!("= {value}"),
                    EventKind::Gap(gap) => format!("gap {}", gap.len()),
                    other => panic!("{other:?}"),
                };
                assert!(
                    (0..=if track.starts_with("span") { i32::MAX } else { 1 }).contains(depth),
                    "{track}"
                );
                let time = event.time().map_or("-".to_owned(), |time| time.ns().to_string());
                let flows = event.starts().map_or(0, |_| 1) * 100 + event.ends().count();
                let fields: Vec<String> = crate::pulled::fields(&event)
                    .unwrap()
                    .iter()
                    .map(|field| format!("{:?}", field.value()))
                    .collect();
                let inferred = if event.is_inferred() { " inferred" } else { "" };
                assert_eq!(event.is_inferred(), event.len() == 0 && fields.is_empty());
                lines.push(format!(
                    "{time} {track} {what} {} {flows}{inferred} {}",
                    event.name(),
                    fields.len()
                ));
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(timeline.next_item()?.is_none());
    assert!(spans.iter().all(|track| open.contains_key(track)), "no track of spans is empty");
    assert!(open.values().all(|depth| *depth == 0), "all that began has ended");
    Ok(lines)
}

/// The number of rooms.
const ROOMS: usize = 10;

const ENOUGH: [usize; ROOMS] = [usize::MAX; ROOMS];

fn lines(inputs: &[&[u8]]) -> Vec<String> {
    lines_of(inputs, Window::ALL, ENOUGH).unwrap()
}

#[test]
fn a_recording_becomes_workers_tasks_and_wakes() {
    let data = recording();
    let lines = lines(&[&data]);
    let start = 4_182_000_000_000_u64;
    let has = |line: String| assert!(lines.contains(&line), "{line} is not in {lines:#?}");
    has(format!("{start} ClockSyncEvent at ClockSyncEvent 0 1"));
    has(format!("{} task 20 begin task src/main.rs:10:5 0 4", start + 10_000));
    has(format!("{} worker 0 begin src/main.rs:10:5 0 4", start + 20_000));
    // It wakes task 21, whose first poll began before: its next one is where the wake leads.
    has(format!("{} worker 0 at wake 100 3", start + 25_000));
    has(format!("{} worker 1 begin src/db.rs:33:9 1 4", start + 30_000));
    has(format!("{} worker 0 end PollEndEvent 0 1", start + 60_000));
    has(format!("{} worker 0 begin parked 0 4", start + 61_000));
    // Wakes that no worker issued are on the track of the task.
    has(format!("{} task 20 at wake 100 3", start + 960_100));
    let counters: Vec<&String> = lines.iter().filter(|line| line.contains("= ")).collect();
    assert_eq!(counters.len(), 2);
    assert!(counters[0].contains("global_queue_depth = 3") && counters[1].contains("alive_tasks = 2"));
    // The sample is of the thread in which worker 1 parks later: it is not known yet.
    assert!(lines.iter().any(|line| line.contains("thread 101 at CpuSampleEvent 0")), "{lines:#?}");
    // Task 21 never ended, worker 1 stays parked.
    let inferred: Vec<&String> = lines.iter().filter(|line| line.contains("inferred")).collect();
    assert_eq!(inferred.len(), 2);
    // In the order of time, and as many as there are events with the ends that were not said, and one more counter.
    let times: Vec<u64> = lines.iter().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
    assert!(times.is_sorted());
    assert_eq!(lines.len(), 97 + 2 + 1);
}

#[test]
fn segments_are_one_timeline_and_pools_are_those_of_their_batches() {
    let poll = |text, time| {
        let fields = [("worker_id", VARINT), ("task_id", VARINT), ("spawn_loc", 7)];
        let start = Writer::new().header().schema(1, "PollStartEvent", &fields).strings(&[(0, text)]);
        let again = start.reset(time).event(1, 0).raw(&[1, 5]).u32(0).strings(&[(0, "later")]);
        again.event(1, 5).raw(&[1, 5]).u32(0).event(1, 5).raw(&[1, 5]).u32(9).0
    };
    let (first, second) = (poll("one", 2_000), poll("two", 1_000));
    assert_eq!(
        lines(&[&first, &second]),
        [
            "1000 worker 1 begin two 0 3",
            "1005 worker 1 end  0 inferred 0",
            "1005 worker 1 begin later 0 3",
            "1010 worker 1 end  0 inferred 0",
            "1010 worker 1 begin PollStartEvent 0 3",
            "2000 worker 1 end  0 inferred 0",
            "2000 worker 1 begin one 0 3",
            "2005 worker 1 end  0 inferred 0",
            "2005 worker 1 begin later 0 3",
            "2010 worker 1 end  0 inferred 0",
            "2010 worker 1 begin PollStartEvent 0 3",
            "2010 worker 1 end  0 inferred 0",
        ]
    );
    let window = Window::new(Some(1_005), Some(1_010));
    let some = lines_of(&[&first, &second], window, ENOUGH).unwrap();
    assert_eq!(some[0], "1005 worker 1 begin later 0 3");
}

#[test]
fn damage_is_an_item_and_what_is_read_remains() {
    let whole = lines(&[&recording()]);
    let data = [&b"TRC\0\x01\xee"[..], &recording()].concat();
    let some = lines(&[&data]);
    assert_eq!(some[0], "- dial9 recording gap 1 dial9 frame 0 0");
    assert_eq!(some[1..], whole);
    // Every event of a damaged file is there.
    crate::common::mutations(&sample(), |_, mutant| {
        let mut schemas = Growing(Vec::new(), SchemaSlot::EMPTY, usize::MAX);
        let mut frames = Frames::new(mutant, Storage::new(&mut schemas));
        let (mut events, mut gaps) = (0, 0);
        loop {
            match frames.next_event() {
                // Symbols are at no time.
                Ok(Some(event)) => events += usize::from(event.name() != "SymbolTableEntry"),
                Ok(None) => break,
                Err(_) => gaps += usize::from(frames.recover().is_some()),
            }
        }
        let lines = lines(&[mutant]);
        let count = |part| lines.iter().filter(|line| line.contains(part)).count();
        assert_eq!((lines.len() - count(" gap ") - count("inferred"), count(" gap ")), (events, gaps));
    });
}

#[test]
fn rooms_that_are_too_small_say_how_much_is_needed() {
    // A span that one event tells of takes a moment.
    let fields = [("dial9.span.duration_ns", VARINT)];
    let span = Writer::new().header().schema(5, "metrique:Request", &fields).reset(5_000);
    let data = [recording(), span.event(5, 0).varint(1_000).0].concat();
    for room in 0..ROOMS {
        let mut most = ENOUGH;
        most[room] = 0;
        let mut tries = 0;
        while let Err(error) = lines_of(&[&data], Window::ALL, most) {
            let ErrorKind::CapacityExceeded { capacity, needed } = error.kind() else { panic!("{error}") };
            assert!(capacity <= most[room] as u64 && needed > most[room] as u64, "{error}");
            most[room] = needed as usize;
            tries += 1;
            assert!(tries < 200);
        }
        assert!(tries > 0);
    }
}

/// What a span's event says: whether it is entered, which span it is, and in which task.
type Said = (bool, u64, Option<u64>);

/// The lines that events of spans give, by stacks; the event at place `n` is at `1000 + n`.
fn lines_of_spans(events: &[Said]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut lanes: HashMap<String, Vec<u64>> = HashMap::new();
    let mut time = 1000;
    for (enters, span, task) in events {
        let lane = task.map_or(format!("span {span}"), |task| format!("spans of task {task}"));
        // A task that is absent is no field.
        let fields = if task.is_some() { 3 } else { 2 };
        let entered = lanes.iter().find(|(_, stack)| stack.contains(span)).map(|(lane, _)| lane.clone());
        match (enters, entered) {
            (true, None) => {
                lanes.entry(lane.clone()).or_default().push(*span);
                lines.push(format!("{time} {lane} begin s{span} 0 {fields}"));
            }
            (false, Some(lane)) => {
                let stack = lanes.get_mut(&lane).unwrap();
                while stack.pop().unwrap() != *span {
                    lines.push(format!("{time} {lane} end  0 inferred 0"));
                }
                lines.push(format!("{time} {lane} end s{span} 0 {fields}"));
            }
            _ => lines.push(format!("{time} {lane} at s{span} 0 {fields}")),
        }
        time += 1;
    }
    let mut open: Vec<String> = lanes
        .iter()
        .flat_map(|(lane, stack)| stack.iter().map(move |_| format!("{} {lane} end  0 inferred 0", time - 1)))
        .collect();
    open.sort();
    lines.extend(open);
    lines
}

#[test]
fn spans_are_slices_of_their_tasks_one_within_the_other() {
    let fields = [("span_id", VARINT), ("dial9.tokio.task_id", VARINT | OPTIONAL), ("span_name", STRING)];
    let mut random = Random(0x7370_616e);
    for round in 0..300 {
        let (spans, tasks) = (1 + round % 7, 1 + round % 3);
        let events: Vec<Said> = (0..random.next() % 40)
            .map(|_| {
                let task = (random.next() % (tasks + 1)).checked_sub(1);
                (random.next().is_multiple_of(2), random.next() % spans, task)
            })
            .collect();
        let start = Writer::new().header().schema(1, "SpanEnter:a::b:src/a.rs:1", &fields);
        let start = start.schema(2, "SpanExit:a::b:src/a.rs:1", &fields).reset(999);
        let written = events.iter().fold(start, |writer, (enters, span, task)| {
            let event = writer.event(if *enters { 1 } else { 2 }, 1).varint(*span);
            let event = task.map_or(event.clone().raw(&[0]), |task| event.raw(&[1]).varint(task));
            event.text(format!("s{span}"))
        });
        let mut lines = lines(&[&written.0]);
        let inferred = lines.iter().rev().take_while(|line| line.ends_with("inferred 0")).count();
        let at = lines.len() - inferred;
        // What is open in the end is closed in the order of the slots.
        lines[at..].sort();
        assert_eq!(lines, lines_of_spans(&events), "{events:?}");
    }
}

#[test]
#[cfg(feature = "alloc")]
fn fields_that_annotations_call_numbers_are_counters() {
    let fields =
        [("name", STRING), ("rss", VARINT), ("load", F64), ("faults", I64 | OPTIONAL), ("id", VARINT)];
    let said = [
        (1, "kind", "gauge"),
        (1, "unit", "bytes"),
        (2, "kind", "updown-counter"),
        (3, "kind", "counter"),
        (4, "unit", "ns"),
        (4, "kind", "id"),
        // No field is there.
        (64, "kind", "gauge"),
        (900, "kind", "gauge"),
        (900, "unit", "ns"),
    ];
    let event = |writer: Writer, present: &[u8]| {
        let writer = writer.event(3, 10).text("x").varint(4096).u64(1.5_f64.to_bits()).raw(present);
        writer.varint(7)
    };
    let data = Writer::new().header().schema(3, "Usage", &fields).annotations(3, &said).reset(1000);
    let absent = event(data, &[0]);
    let data = event(absent, &[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).0;
    let told = units_of(&data);
    assert_eq!(
        told,
        [
            "recording dial9 recording",
            "stream Usage",
            "counter rss B",
            "= Integer(4096)",
            "counter load",
            "= Float(1.5)",
            "= Integer(4096)",
            "= Float(1.5)",
            "counter faults",
            "= Integer(-1)",
        ]
    );
}

#[test]
fn an_event_without_any_of_its_numbers_has_happened() {
    let data = Writer::new().header().schema(3, "Usage", &[("rss", VARINT | OPTIONAL)]);
    let data = data.annotations(3, &[(0, "kind", "gauge")]).event(3, 10).raw(&[0]).event(3, 10).raw(&[1, 5]);
    assert_eq!(lines(&[&data.0])[0], "10 Usage at Usage 0 0");
}

/// The tracks of a recording with their units, and its numbers.
#[cfg(feature = "alloc")]
fn units_of(data: &[u8]) -> Vec<String> {
    let mut storage = traceglass::event::dial9::Storage::default();
    let mut timeline = Timeline::new(storage.rooms());
    timeline.add(0, data).unwrap();
    let mut told = Vec::new();
    while let Some(item) = timeline.next_item().unwrap() {
        match item {
            Item::Track(track) => {
                let unit = match track.kind() {
                    TrackKind::Counter { unit: Some(unit) } => format!(" {unit}"),
                    _ => String::new(),
                };
                told.push(format!("{} {}{unit}", track.kind().name(), track.label()));
            }
            Item::Event(event) => match event.kind() {
                EventKind::Counter(number) => told.push(format!("= {number:?}")),
                other => told.push(format!("{other:?}")),
            },
            other => panic!("{other:?}"),
        }
    }
    told
}

/// A runtime is one track in all batches, whatever tracks there were before it; each name has its own.
#[test]
#[cfg(feature = "alloc")]
fn runtimes_are_told_apart_by_their_names() {
    let fields = [("runtime_name", POOLED_STRING), ("alive_tasks", VARINT)];
    let batch = |writer: Writer, names: [&str; 2]| {
        let writer = writer.header().schema(1, "PollEndEvent", &[("worker_id", VARINT)]);
        let writer =
            writer.schema(2, "RuntimeMetricsEvent", &fields).strings(&[(0, names[0]), (1, names[1])]);
        let writer = writer.reset(1_000).event(1, 0).varint(3).event(1, 1).varint(4);
        [0, 1, 0, 7, 1].into_iter().fold(writer, |writer, name| writer.event(2, 5).u32(name).varint(9))
    };
    let data = batch(batch(Writer::new(), ["main", "io"]), ["io", "mai"]).0;
    let told = units_of(&data);
    let streams: Vec<&String> = told.iter().filter(|line| line.starts_with("stream")).collect();
    assert_eq!(streams, ["stream main", "stream io", "stream mai", "stream runtime"]);
    assert_eq!(told.iter().filter(|line| *line == "counter alive_tasks").count(), 4);
    assert_eq!(told.iter().filter(|line| line.starts_with('=')).count(), 10);
}

/// A span that one event tells of is a slice, on a track on which no other is open; without its begin it has happened.
#[test]
fn spans_of_one_event_are_slices_on_tracks_of_their_class() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for round in 0..200 {
        // Half of them say how long they were, in microseconds, half since when.
        let says_start = round % 2 == 0;
        let role = if says_start { "span.start" } else { "span.duration" };
        let fields = [("what", VARINT), ("since", VARINT | OPTIONAL), ("name", STRING)];
        let header = || {
            let writer = Writer::new().header().schema(5, "metrique:Request", &fields);
            let unit = if says_start { "ns" } else { "us" };
            writer
                .annotations(5, &[(1, "dial9.role", role), (1, "unit", unit), (2, "dial9.role", "span.name")])
        };
        let mut writer = header();
        let mut expected = Vec::new();
        let mut instants = 0;
        for _ in 0..random.next() % 12 {
            if random.next().is_multiple_of(5) {
                writer = writer.raw(&header().0);
            }
            let (end, length) = (9_000 + random.next() % 9_000, random.next() % 6 * 1_000);
            writer = writer.reset(end).event(5, 0).varint(1);
            if random.next().is_multiple_of(6) {
                // It does not say.
                writer = writer.raw(&[0]);
                instants += 1;
            } else {
                writer = writer.raw(&[1]).varint(if says_start { end - length } else { length / 1_000 });
                expected.push((end - length, end));
            }
            writer = writer.text("GET");
        }
        let lines = lines(&[&writer.0]);
        let of = |what: &str| -> Vec<u64> {
            let found = lines.iter().filter(|line| line.contains(&format!("metrique:Request {what} GET 0 ")));
            found.map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect()
        };
        let sorted = |mut times: Vec<u64>| {
            times.sort_unstable();
            times
        };
        assert_eq!(of("begin"), sorted(expected.iter().map(|(start, _)| *start).collect()), "{lines:#?}");
        assert_eq!(of("end"), sorted(expected.iter().map(|(_, end)| *end).collect()), "{lines:#?}");
        assert_eq!(of("at").len(), instants);
        assert_eq!(lines.len(), 2 * expected.len() + instants);
    }
    // One that began before the window has happened in it; one that ends after it is open at the end.
    let fields = [("dial9.span.duration_ns", VARINT)];
    let one = Writer::new().header().schema(5, "metrique:Request", &fields).reset(5_000);
    let one = one.event(5, 0).varint(1_000).event(5, 100).varint(50);
    let window = |from, to| lines_of(&[&one.0], Window::new(from, to), ENOUGH).unwrap();
    assert_eq!(
        window(Some(4_500), None),
        [
            "5000 metrique:Request at metrique:Request 0 1",
            "5050 metrique:Request begin metrique:Request 0 1",
            "5100 metrique:Request end metrique:Request 0 1"
        ]
    );
    assert_eq!(
        window(None, Some(5_060)),
        [
            "4000 metrique:Request begin metrique:Request 0 1",
            "5000 metrique:Request end metrique:Request 0 1",
            "5050 metrique:Request begin metrique:Request 0 1",
            "5100 metrique:Request end  0 inferred 0"
        ]
    );
}

/// Tracks of a class are as many as spans are open at a time: one that ended leaves its track to the next.
#[test]
fn tracks_of_a_class_are_used_again() {
    let fields = [("dial9.span.duration_ns", VARINT)];
    let mut writer = Writer::new().header().schema(5, "metrique:Request", &fields);
    for number in 0..300_u64 {
        // Three at a time.
        writer = writer.reset(10_000 + number * 100).event(5, 0).varint(250);
    }
    let mut storage = traceglass::event::dial9::Storage::default();
    let mut timeline = Timeline::new(storage.rooms());
    timeline.add(0, &writer.0).unwrap();
    let (mut tracks, mut open) = (0, HashMap::new());
    while let Some(item) = timeline.next_item().unwrap() {
        match item {
            Item::Track(track) => tracks += usize::from(track.kind() == TrackKind::Span),
            Item::Event(event) => {
                let depth: &mut i32 = open.entry(event.track()).or_default();
                *depth += if event.kind() == EventKind::Begin { 1 } else { -1 };
                assert!((0..=1).contains(depth));
            }
            _ => {}
        }
    }
    assert_eq!((tracks, open.len()), (3, 3));
}

/// A worker that wakes up polls nothing: the end of a poll that is open then was lost.
#[test]
fn a_poll_ends_where_its_worker_wakes_up() {
    let worker = [("worker_id", VARINT)];
    let poll = [("worker_id", VARINT), ("task_id", VARINT)];
    let data = Writer::new()
        .header()
        .schema(1, "PollStartEvent", &poll)
        .schema(2, "PollEndEvent", &worker)
        .schema(3, "WorkerUnparkEvent", &worker);
    let data = data.reset(100).event(1, 0).raw(&[7, 9]).event(3, 5).raw(&[7]).event(2, 5).raw(&[7]);
    assert_eq!(
        lines(&[&data.0]),
        [
            "100 worker 7 begin PollStartEvent 0 2",
            "105 worker 7 end  0 inferred 0",
            "105 worker 7 at WorkerUnparkEvent 0 1",
            "110 worker 7 at PollEndEvent 0 1"
        ]
    );
}

/// Each worker, task and thread is told apart, whatever is noted of where it was found last.
#[test]
fn tracks_are_told_apart_however_alike_their_numbers_are() {
    let poll = [("worker_id", VARINT), ("task_id", VARINT)];
    let mut writer = Writer::new()
        .header()
        .schema(1, "PollStartEvent", &poll)
        .schema(2, "PollEndEvent", &poll[..1])
        .reset(1_000);
    let mut expected = Vec::new();
    for round in 0..3_u64 {
        for number in [0, 16, 32, 64, 128, 1 << 40] {
            let task = number + 7 + round * 32;
            writer = writer.event(1, 5).varint(number).varint(task).event(2, 5).varint(number);
            expected.push(format!("worker {number} begin"));
            expected.push(format!("worker {number} end"));
        }
    }
    let lines = lines(&[&writer.0]);
    let found: Vec<String> =
        lines.iter().map(|line| line.split(' ').skip(1).take(3).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(found, expected);
}

/// Of fields with one name the first counts, and a field may stand anywhere.
#[test]
fn fields_are_found_wherever_they_stand() {
    let twice = [("worker_id", VARINT), ("worker_id", VARINT), ("task_id", VARINT)];
    let names: Vec<String> = (0..20).map(|number| format!("f{number}")).collect();
    let mut late: Vec<(&str, u8)> = names.iter().map(|name| (name.as_str(), VARINT)).collect();
    late.extend([("worker_id", VARINT), ("task_id", VARINT | OPTIONAL)]);
    let data = Writer::new().header().schema(1, "PollStartEvent", &twice).schema(2, "PollStartEvent", &late);
    let data = data.reset(100).event(1, 0).raw(&[3, 4, 5]).event(2, 1).raw(&[0; 20]).raw(&[6, 1, 5]);
    assert_eq!(
        lines(&[&data.0])[..2],
        ["100 worker 3 begin PollStartEvent 0 3", "101 worker 6 begin PollStartEvent 0 22"]
    );
}

/// What is open on a worker ends where something else begins, a wake leads to one poll alone, and a sample is on the
/// track of the worker that parked in its thread.
#[test]
fn workers_have_one_thing_open_and_wakes_lead_to_one_poll() {
    let data = Writer::new()
        .header()
        .schema(1, "PollStartEvent", &[("worker_id", VARINT), ("task_id", VARINT)])
        .schema(2, "WorkerParkEvent", &[("worker_id", VARINT), ("tid", VARINT)])
        .schema(3, "WakeEventEvent", &[("woken_task_id", VARINT), ("target_worker", VARINT)])
        .schema(4, "CpuSampleEvent", &[("tid", VARINT)])
        .schema_timed(5, "NoTime", 0, &[("n", VARINT)]);
    let data = data.reset(100).event(3, 0).raw(&[9, 1]).event(2, 10).raw(&[1, 44]).event(4, 10).raw(&[44]);
    let data = data.event(1, 10).raw(&[1, 9]).event(1, 10).raw(&[1, 9]).untimed(5).raw(&[0]);
    assert_eq!(
        lines(&[&data.0]),
        [
            "100 worker 1 at wake 100 2",
            "110 worker 1 begin parked 0 2",
            "120 worker 1 at CpuSampleEvent 0 1",
            "130 worker 1 end  0 inferred 0",
            "130 worker 1 begin PollStartEvent 1 2",
            "140 worker 1 end  0 inferred 0",
            "140 worker 1 begin PollStartEvent 0 2",
            "- NoTime at NoTime 0 1",
            "140 worker 1 end  0 inferred 0",
        ]
    );
}

/// Lengths have units; a span that would begin after its end has happened; tracks that are free are all used again.
#[test]
fn spans_of_one_event_have_units_and_free_tracks() {
    let roles = |role, unit| {
        let writer = Writer::new().header().schema(5, "Job", &[("since", VARINT)]);
        writer.annotations(5, &[(0, "dial9.role", role), (0, "unit", unit)]).reset(50_000_000)
    };
    let first = |data: Writer| lines(&[&data.0])[0].clone();
    for (unit, begin) in
        [("ns", 49_999_999), ("us", 49_999_000), ("ms", 49_000_000), ("fortnights", 49_999_999)]
    {
        let data = roles("span.duration", unit).event(5, 0).varint(1);
        assert_eq!(first(data), format!("{begin} Job begin Job 0 1"));
    }
    for (role, unit, value) in [("span.start", "ns", 50_000_001), ("span.duration", "s", 1)] {
        let data = roles(role, unit).event(5, 0).varint(value);
        assert_eq!(lines(&[&data.0]), ["50000000 Job at Job 0 1"]);
    }
    // Three at a time, all of which end before the next three begin.
    let mut writer = roles("span.duration", "ns");
    for round in 0..5_u64 {
        for number in 0..3 {
            writer = writer.reset(60_000_000 + round * 1_000 + number).event(5, 0).varint(100);
        }
    }
    let mut storage = traceglass::event::dial9::Storage::default();
    let mut timeline = Timeline::new(storage.rooms());
    timeline.add(0, &writer.0).unwrap();
    let mut tracks = 0;
    while let Some(item) = timeline.next_item().unwrap() {
        tracks += usize::from(matches!(item, Item::Track(track) if track.kind() == TrackKind::Span));
    }
    assert_eq!(tracks, 3);
}

/// No two fields of all classes have one slot: what listeners keep by slots is never another class's.
#[test]
fn slots_of_fields_are_their_own_in_all_segments() {
    use traceglass::record::{Class, Head, Listener, Record as _, Step, Wants};
    #[derive(Default)]
    struct Slots(HashMap<u32, (u32, String)>);
    impl Listener for Slots {
        fn begin(&mut self, _: &Head, class: &dyn Class) -> Wants {
            class.fields(&mut |step| {
                if let Step::Field(info) = step {
                    let name = info.name.map(|name| name.to_string()).unwrap_or_default();
                    let of = (class.id().0, name);
                    assert_eq!(*self.0.entry(info.slot.0).or_insert_with(|| of.clone()), of);
                }
            });
            Wants::ALL
        }
    }
    let segments = [sample(), recording()];
    let mut storage = traceglass::event::dial9::Storage::default();
    let mut timeline = Timeline::new(storage.rooms());
    for (number, segment) in segments.iter().enumerate() {
        timeline.add(number, segment).unwrap();
    }
    let mut slots = Slots::default();
    while let Some(item) = timeline.next_item().unwrap() {
        if let Item::Event(event) = item {
            event.tell(&mut slots).unwrap();
        }
    }
    assert!(slots.0.len() > 60, "{}", slots.0.len());
}

/// Events at one time stay in the order of the input.
#[test]
fn events_at_one_time_are_in_the_order_of_the_input() {
    let mut writer = Writer::new();
    for batch in 0..4_u16 {
        writer = writer.header();
        for number in 0..40 {
            writer = writer.schema(number, &format!("E{batch}-{number}"), &[]);
        }
        writer = writer.reset(7);
        for number in 0..40 {
            writer = writer.event(number, 0);
        }
    }
    let found: Vec<String> =
        lines(&[&writer.0]).iter().map(|line| line.split(' ').nth(3).unwrap().to_owned()).collect();
    let expected: Vec<String> =
        (0..4).flat_map(|batch| (0..40).map(move |number| format!("E{batch}-{number}"))).collect();
    assert_eq!(found, expected);
}
