//! RFR: tasks are tracks, polls are slices, wakes are flows.

use crate::common::rfr::{self as build, Chunk, Parent, Sequence, Value as Built, Writer};
use crate::common::{mutations, prefixes};
use crate::pulled::{Value, fields};
use std::collections::{HashMap, HashSet};
use traceglass::event::rfr::{Lane, NameSlot, Registry, RegistrySlot, Timeline};
use traceglass::event::{EventKind, Item, Room, Source, TrackKind, Window};
use traceglass::rfr::{CallsiteTable, Callsites, Site};
use traceglass::{ErrorKind, Result};

/// Room that grows.
pub struct Growing<T>(pub Vec<T>, pub T);

impl<T: Clone> Room<T> for Growing<T> {
    fn slots(&self) -> &[T] {
        &self.0
    }

    fn slots_mut(&mut self) -> &mut [T] {
        &mut self.0
    }

    fn grow(&mut self, needed: usize) -> bool {
        self.0.resize(needed.max(2 * self.0.len()), self.1.clone());
        true
    }
}

/// A line for each item: what a viewer would say.
pub fn lines(files: &[&[u8]], callsites: Option<&[u8]>, window: Window) -> Vec<String> {
    let mut registry = Registry::new(Growing(Vec::new(), RegistrySlot::EMPTY));
    let mut entries = [Site::EMPTY; 16];
    let mut timeline =
        Timeline::new(&mut registry, Growing(Vec::new(), NameSlot::EMPTY), Growing(Vec::new(), Lane::EMPTY));
    if let Some(callsites) = callsites {
        let callsites = Callsites::parse(callsites).unwrap();
        timeline.set_callsites(CallsiteTable::build(&callsites, &mut entries).unwrap());
    }
    timeline.set_window(window);
    for (input, file) in files.iter().enumerate() {
        timeline.add(input, file).unwrap();
    }
    let mut lines = Vec::new();
    while let Some(item) = timeline.next_item().unwrap() {
        lines.push(line(&item));
    }
    assert!(timeline.next_item().unwrap().is_none());
    lines
}

fn line(item: &Item<'_>) -> String {
    let (mut line, told) = match item {
        Item::Track(track) => {
            let parent = track.parent().map_or("-".into(), |parent| parent.number().to_string());
            let number = track.id().number();
            (format!("{number} < {parent}: {} {}", track.kind().name(), track.label()), fields(track))
        }
        Item::Event(event) => {
            let time =
                event.time().map_or("?".into(), |time| (time.ns() % 1_000_000_000 / 1_000).to_string());
            let mut line = format!("@{time} {} {}", event.track().number(), event.kind().name());
            if event.is_inferred() {
                line.push('*');
            }
            line.push_str(&format!(" {}", event.name()));
            if let Some(flow) = event.starts() {
                line.push_str(&format!(" +{}.{}", flow.track().number(), flow.number()));
            }
            for flow in event.ends() {
                line.push_str(&format!(" -{}.{}", flow.track().number(), flow.number()));
            }
            if let EventKind::Gap(gap) = event.kind() {
                line.push_str(&format!(" {}+{} {}", gap.offset(), gap.len(), gap.cause().kind().code()));
            }
            (line, fields(event))
        }
        Item::Ended(track) => return format!("{} ends", track.number()),
        _ => unreachable!(),
    };
    for field in told.unwrap() {
        let value = match field.value() {
            Value::Unsigned(value) => value.to_string(),
            Value::Text(text) => format!("{text:?}").replace("Text", ""),
            other => format!("{other:?}"),
        };
        match (field.name(), field.value()) {
            (Some(name), Value::Struct) => line.push_str(&format!(" {name}={{")),
            (Some(name), _) => line.push_str(&format!(" {name}={value}")),
            (None, Value::End) => line.push_str(" }"),
            (None, _) => line.push_str(&format!(" {value}")),
        }
    }
    line
}

/// Without what fields say.
pub fn short(lines: &[String]) -> Vec<&str> {
    let fields = [" seq_id=", " iid=", " task_iid=", " name=", " callsite_id="];
    let first = |line: &str| fields.iter().filter_map(|field| line.find(field)).min();
    lines.iter().map(|line| line.split_at(first(line).unwrap_or(line.len())).0).collect()
}

#[test]
fn polls_are_slices_and_wakes_are_flows() {
    let chunk = Chunk::new(100)
        .sequence(
            Sequence::new(1)
                .task(10, 7, "first", None)
                .task(11, 8, "", Some(10))
                .about(1, 5, 10) // NewTask
                .about(2, 6, 10) // TaskPollStart
                .about(3, 5, 11)
                .waker(4, 11, 10, None) // WakerClone
                .about(9, 7, 10), // TaskPollEnd
        )
        .sequence(
            Sequence::new(2)
                .task(11, 8, "", Some(10))
                .about(5, 6, 11)
                .waker(6, 10, 10, Some(11)) // WakerWakeByRef
                .waker(7, 9, 10, Some(11)) // WakerWake
                .about(8, 7, 11)
                .about(10, 6, 10)
                .about(11, 7, 10)
                .about(12, 8, 10), // TaskDrop
        );
    let fields = [("file", Built::Str("src/main.rs")), ("line", Built::U64(12)), ("target", Built::Str("t"))];
    let callsites = build::callsites(&[build::callsite(8, 20, 2, &fields, &[])]);
    let lines = lines(&[&chunk.bytes()], Some(&callsites), Window::ALL);
    assert_eq!(
        short(&lines),
        [
            "0 < -: recording RFR recording",
            "1 < 0: thread sequence 1",
            "2 < 0: task first",
            "3 < 0: task task 11",
            "4 < 0: thread sequence 2",
            "@1 1 instant NewTask +2.0",
            "@2 2 begin poll -2.0",
            "@3 2 instant NewTask +3.0",
            "@4 1 instant WakerClone",
            "@5 3 begin poll -3.0",
            "@6 3 instant WakerWakeByRef +2.1",
            "@7 3 instant WakerWake +2.2",
            "@8 3 end poll",
            "@9 2 end poll",
            "@10 2 begin poll -2.1 -2.2",
            "@11 2 end poll",
            "@12 2 instant TaskDrop",
        ]
    );
    assert_eq!(
        lines[3],
        "3 < 0: task task 11 iid=11 task_name=(\"\") callsite_id=(\"0x8\") task_id=11 task_kind=(\"Task\") context=10 \
         context_task=(\"first\") target=(\"t\") location=(\"src/main.rs:12\") level=(\"debug\")"
    );
    assert_eq!(
        lines[10],
        "@6 3 instant WakerWakeByRef +2.1 seq_id=2 task_iid=10 task=(\"first\") task_id=10 context=11 micros=100000006"
    );
}

#[test]
fn at_the_same_time_a_poll_begins_last() {
    // It ends in the sequence that comes later in the file, and a wake comes from there, too.
    let chunk = Chunk::new(0)
        .sequence(Sequence::new(1).task(1, 0, "a", None).about(5, 6, 1).about(5, 7, 1))
        .sequence(Sequence::new(2).about(2, 6, 1).waker(5, 9, 1, None).about(5, 7, 1));
    assert_eq!(
        short(&lines(&[&chunk.bytes()], None, Window::ALL))[4..],
        [
            "@2 2 begin poll",
            "@5 3 instant WakerWake +2.0",
            "@5 2 end poll",
            "@5 2 begin poll -2.0",
            "@5 2 end poll",
        ]
    );
}

#[test]
fn lost_ends_are_inferred_and_lost_beginnings_are_instants() {
    let chunk = Chunk::new(0).sequence(
        Sequence::new(1).about(1, 7, 9).about(2, 6, 9).about(3, 6, 9).about(4, 7, 9).about(5, 7, 9),
    );
    assert_eq!(
        short(&lines(&[&chunk.bytes()], None, Window::ALL))[2..],
        [
            "2 < 0: task task 9",
            "@1 2 instant TaskPollEnd",
            "@2 2 begin poll",
            "@3 2 end* poll",
            "@3 2 begin poll",
            "@4 2 end poll",
            "@5 2 instant TaskPollEnd",
        ]
    );
}

#[test]
fn spans_and_events_have_names_and_fields() {
    let site = build::callsite(5, 30, 2, &[("name", Built::Str("request"))], &["id", "ok"]);
    let logged = build::event(5, Parent::Explicit(1), &[Built::I64(-1)], &[("why", Built::F64(0.5))]);
    let chunk = Chunk::new(0).sequence(
        Sequence::new(3)
            .object(0, &build::span(1, 5, Parent::Root, &[Built::U64(4), Built::Bool(true)], &[]))
            .object(0, &build::span(2, 6, Parent::Explicit(1), &[Built::U64(4)], &[]))
            .about(1, 0, 1)
            .about(2, 1, 1)
            .record(3, 4, &logged)
            .record(4, 4, &build::event(9, Parent::Current, &[], &[]))
            .about(5, 2, 1)
            .about(6, 3, 1),
    );
    assert_eq!(
        lines(&[&chunk.bytes()], Some(&build::callsites(&[site])), Window::ALL)[2..],
        [
            "2 < 0: span request iid=1 span=(\"request\") callsite_id=(\"0x5\") parent=(\"Root\") level=(\"info\") \
             split_field_values={ id=4 ok=Bool(true) } dynamic_fields={ }",
            "3 < 2: span span 2 iid=2 callsite_id=(\"0x6\") parent=1 parent_span=(\"request\") \
             split_field_values={ value 0=4 } dynamic_fields={ }",
            "@1 2 instant SpanNew seq_id=3 iid=1 span=(\"request\") split_field_values={ id=4 ok=Bool(true) } \
             dynamic_fields={ } micros=1",
            "@2 2 begin enter seq_id=3 iid=1 span=(\"request\") micros=2",
            "@3 2 instant request seq_id=3 name=(\"request\") callsite_id=(\"0x5\") parent=1 \
             parent_span=(\"request\") level=(\"info\") split_field_values={ id=Signed(-1) } \
             dynamic_fields={ why=Float(0.5) } micros=3",
            "@4 1 instant Event seq_id=3 callsite_id=(\"0x9\") parent=(\"Current\") split_field_values={ } \
             dynamic_fields={ } micros=4",
            "@5 2 end enter seq_id=3 iid=1 span=(\"request\") micros=5",
            "@6 2 instant SpanClose seq_id=3 iid=1 span=(\"request\") micros=6",
        ]
    );
}

#[test]
fn streams_name_what_they_tell_of_themselves() {
    let stream = build::sample_stream();
    let lines = lines(&[&stream], None, Window::ALL);
    assert_eq!(
        lines[1],
        "1 < 0: task ping iid=4 task_name=(\"ping\") callsite_id=(\"0x55d000001000\") task_id=4 \
         task_kind=(\"Task\") location=(\"src/main.rs:12\") level=(\"trace\")"
    );
    let count = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
    assert_eq!((count("begin poll"), count("end poll"), count("WakerWakeByRef +1.")), (3, 3, 3));
    assert_eq!(lines.iter().filter(|line| line.contains("begin poll -1.0 ")).count(), 1);
    assert!(lines.last().unwrap().starts_with("@0 1 instant TaskDrop"));
}

#[test]
fn a_window_leaves_out_what_is_not_in_it() {
    let chunk = |base| Chunk::new(base).sequence(Sequence::new(base).about(0, 8, base).about(10, 8, base));
    let files = [chunk(1).bytes(), chunk(2).bytes(), chunk(3).bytes()];
    let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    let second = 1_000_000_000;
    let found = lines(&files, None, Window::new(Some(2 * second), Some(3 * second)));
    // Chunks that lie outside are not opened: their sequences are not met.
    assert_eq!(
        short(&found)[1..],
        ["1 < 0: thread sequence 2", "2 < 0: task task 2", "@0 2 instant TaskDrop", "@10 2 instant TaskDrop"]
    );
    let found = lines(&files, None, Window::new(Some(second + 1), Some(second + 10_001)));
    assert_eq!(short(&found)[2..], ["2 < 0: task task 1", "@10 2 instant TaskDrop"]);
}

#[test]
fn chunks_are_ordered_by_time_and_not_by_input() {
    let chunk = |base| Chunk::new(base).sequence(Sequence::new(1).about(base, 8, 1));
    let files = [chunk(3).bytes(), chunk(1).bytes(), chunk(2).bytes()];
    let found = lines(&[&files[0], &files[1], &files[2]], None, Window::ALL);
    assert_eq!(
        short(&found)[3..],
        ["@1 2 instant TaskDrop", "@2 2 instant TaskDrop", "@3 2 instant TaskDrop"]
    );
}

#[test]
fn damage_is_an_event_and_the_rest_is_read() {
    // A text that is not UTF-8 in the second record.
    let bad = Writer::new().ints([5]).int(1).int(1).int(6).int(1).raw(b"\xff").int(0);
    let chunk =
        Chunk::new(0).sequence(Sequence::new(1).about(1, 8, 1).record(2, 4, &bad).about(3, 8, 1)).bytes();
    let found = lines(&[&chunk], None, Window::ALL);
    let at = chunk.windows(2).position(|bytes| bytes == [2, 4]).unwrap();
    assert_eq!(
        short(&found)[3..],
        [
            "@1 2 instant TaskDrop",
            &format!("@1 1 gap RFR field value {at}+9 not-utf8"),
            "@3 2 instant TaskDrop",
        ]
    );
    // Cut within the last record: found when the chunk is opened, and reported once.
    let cut = &chunk[..chunk.len() - 1];
    let found = lines(&[cut], None, Window::ALL);
    let gaps: Vec<_> = found.iter().filter(|line| line.contains(" gap ")).collect();
    assert_eq!(gaps.len(), 2);
    assert!(gaps[0].starts_with(&format!("@0 0 gap RFR record {}+0 unexpected-end", cut.len())), "{gaps:?}");
    assert_eq!(found.iter().filter(|line| line.contains("TaskDrop")).count(), 1);
}

/// Reads everything in room of fixed size; returns how many tracks and events there were.
fn read(files: &[&[u8]], slots: usize, lanes: usize) -> Result<(usize, usize)> {
    let mut slots = vec![RegistrySlot::EMPTY; slots];
    let mut lanes = vec![Lane::EMPTY; lanes];
    let names = Growing(Vec::new(), NameSlot::EMPTY);
    let mut registry = Registry::new(&mut slots[..]);
    let mut timeline = Timeline::new(&mut registry, names, &mut lanes[..]);
    for (input, file) in files.iter().enumerate() {
        match timeline.add(input, file) {
            Err(error) if matches!(error.kind(), ErrorKind::CapacityExceeded { .. }) => return Err(error),
            _ => {}
        }
    }
    let (mut count, mut ended) = ((0, 0), HashSet::new());
    loop {
        match timeline.next_item() {
            Ok(Some(Item::Track(track))) => {
                assert!(track.parent().is_none_or(|parent| parent < track.id()));
                assert!(fields(&track).is_ok());
                count.0 += 1;
            }
            Ok(Some(Item::Event(event))) => {
                assert!(event.offset() <= files[event.input()].len() as u64);
                assert!(fields(&event).is_ok());
                assert!(!ended.contains(&event.track()));
                if let EventKind::Gap(gap) = event.kind() {
                    assert!(gap.end() <= files[event.input()].len() as u64);
                }
                count.1 += 1;
            }
            Ok(Some(Item::Ended(track))) => assert!(ended.insert(track), "{track} ends twice"),
            Ok(Some(_)) => unreachable!(),
            Ok(None) => return Ok(count),
            Err(error) => {
                assert!(timeline.next_item().unwrap().is_none(), "after an error, nothing");
                return Err(error);
            }
        }
        assert!(count.0 + count.1 <= 4 * files.iter().map(|file| file.len()).sum::<usize>() + 4);
    }
}

#[test]
fn full_room_is_an_error_that_says_how_much_is_needed() {
    let chunk = build::all_variants().bytes();
    let (mut slots, mut lanes) = (0, 0);
    let mut asked = 0;
    let count = loop {
        match read(&[&chunk], slots, lanes) {
            Ok(count) => break count,
            Err(error) => {
                let ErrorKind::CapacityExceeded { needed, .. } = error.kind() else { panic!("{error}") };
                match error.element().name() {
                    "event lanes" => lanes = needed as usize,
                    _ => slots = needed as usize,
                }
                asked += 1;
            }
        }
    };
    assert_eq!((lanes, asked), (3, slots + lanes));
    assert_eq!(count, read(&[&chunk], 100, 100).unwrap());
}

#[test]
fn any_prefix_and_any_damage_ends() {
    let chunk = build::all_variants().bytes();
    let stream = build::sample_stream();
    for file in [&chunk, &stream] {
        let mut most = 0;
        for prefix in prefixes(file) {
            let (_, events) = read(&[prefix], 100, 100).unwrap();
            assert!(events + 1 >= most, "{} bytes", prefix.len());
            most = most.max(events);
        }
        mutations(file, |_, mutant| {
            read(&[mutant, file], 200, 100).unwrap();
        });
    }
}

/// A span that is known by its id alone at first, and whose parent comes later: tracks are a tree all the same.
#[test]
fn no_span_is_below_a_later_one() {
    let span = |iid, parent| build::span(iid, 5, parent, &[], &[]);
    let logged = build::event(9, Parent::Explicit(2), &[], &[]);
    let stream = build::stream(&[
        (1, 1, 3, logged),
        (1, 2, 2, span(3, Parent::Explicit(2))),
        (1, 3, 2, span(2, Parent::Explicit(3))),
        (1, 4, 2, span(4, Parent::Explicit(2))),
        (1, 5, 2, span(5, Parent::Explicit(5))),
        // Another one with the same id is no child of the one before.
        (1, 6, 2, build::span(5, 6, Parent::Explicit(5), &[], &[])),
    ]);
    let found = lines(&[&stream], None, Window::ALL);
    let spans: Vec<_> = found.iter().filter(|line| line.contains(": span ")).collect();
    let heads: Vec<_> = spans.iter().map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(heads, ["1 < 0", "2 < 1", "1 < 0", "3 < 1", "4 < 0", "5 < 0"], "{found:#?}");
}

/// The sample in all its files: sums by the event model and by the records themselves are the same.
#[test]
fn the_sample_has_the_sums_of_its_records() {
    let sample = build::sample();
    let files: Vec<&[u8]> =
        sample.iter().filter(|(name, _)| name.contains("chunk")).map(|(_, data)| &data[..]).collect();
    let mut registry = Registry::new([RegistrySlot::EMPTY; 16]);
    let mut timeline = Timeline::new(&mut registry, [NameSlot::EMPTY; 16], [const { Lane::EMPTY }; 8]);
    for (input, file) in files.iter().enumerate() {
        timeline.add(input, file).unwrap();
    }
    let (mut open, mut polls, mut polled) = (HashMap::new(), 0, 0);
    let (mut tasks, mut starts, mut ends, mut last) = (Vec::new(), 0, 0, 0);
    while let Some(item) = timeline.next_item().unwrap() {
        let event = match item {
            Item::Track(track) if track.kind() == TrackKind::Task => {
                tasks.push(track.label().to_string());
                continue;
            }
            Item::Event(event) => event,
            _ => continue,
        };
        let ns = event.time().unwrap().ns();
        assert!(ns >= last);
        last = ns;
        starts += usize::from(event.starts().is_some());
        ends += event.ends().count();
        match event.kind() {
            EventKind::Begin => assert_eq!(open.insert(event.track(), ns), None),
            EventKind::End => {
                polls += 1;
                polled += ns - open.remove(&event.track()).unwrap();
            }
            _ => {}
        }
    }
    assert_eq!(tasks, ["ping", "pong", "read config"]);
    // 40 polls of 50 to 89 µs in each second, and one of 450 ms; 3 spawns and 80 wakes, of which the last is lost.
    assert_eq!((polls, polled), (81, 2 * (40 * 50 + 39 * 20) * 1_000 + 450_000_000));
    assert_eq!((starts, ends), (83, 82));
}

/// A callsite is read again with each event that names it: one of more than 4 KiB is not.
#[test]
fn callsites_that_cost_too_much_are_not_looked_up() {
    for (len, name) in [(4_000, "request"), (5_000, "Event")] {
        let long = "f".repeat(len);
        let fields = [("name", Built::Str("request")), ("file", Built::Str(&long))];
        let site = build::callsite(5, 30, 1, &fields, &[]);
        let event = build::event(5, Parent::Root, &[], &[]);
        let chunk = Chunk::new(1).sequence(Sequence::new(2).record(1, 4, &event)).bytes();
        let of_chunk = lines(&[&chunk], Some(&build::callsites(std::slice::from_ref(&site))), Window::ALL);
        let of_stream = lines(&[&build::stream(&[(1, 0, 1, site), (1, 1, 3, event)])], None, Window::ALL);
        for lines in [of_chunk, of_stream] {
            let last = lines.last().unwrap();
            assert!(last.contains(&format!("instant {name} ")), "{last}");
            assert!(last.contains("callsite_id=(\"0x5\")") && last.contains("level=(\"info\")"), "{last}");
            // It comes again with each record, so that no more than its start is given.
            assert_eq!(last.contains(&format!("location=(\"{}…\")", "f".repeat(256))), name == "request");
            assert!(!last.contains(&long));
        }
    }
}
