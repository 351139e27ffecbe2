//! RFR: tasks are tracks, polls are slices, wakes are flows.

use crate::common::random::Random;
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
fn lines(files: &[&[u8]], callsites: Option<&[u8]>, window: Window) -> Vec<String> {
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
fn short(lines: &[String]) -> Vec<&str> {
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

/// The same iid, one life after the other: in chunks, within a chunk, and with nothing that tells them apart.
#[test]
fn an_iid_that_recurs_is_another_task() {
    let other = |id| build::task(7, 1, id, "other", Ok(0), None);
    let first = Chunk::new(0).sequence(
        Sequence::new(1).task(7, 1, "old", None).about(1, 5, 7).about(2, 8, 7).waker(3, 12, 7, None),
    );
    let second = Chunk::new(1)
        .sequence(Sequence::new(1).object(1, &other(8)).about(1, 5, 7).about(2, 6, 7))
        .sequence(Sequence::new(2).object(1, &other(9)).about(3, 7, 7).about(4, 8, 7).about(5, 5, 7));
    let third = Chunk::new(2).sequence(Sequence::new(2).object(1, &other(9)).about(1, 6, 7).about(2, 5, 7));
    let files = [first.bytes(), second.bytes(), third.bytes()];
    assert_eq!(
        short(&lines(&[&files[0], &files[1], &files[2]], None, Window::ALL)),
        [
            "0 < -: recording RFR recording",
            "1 < 0: thread sequence 1",
            "2 < 0: task old",
            "@1 1 instant NewTask +2.0",
            "@2 2 instant TaskDrop",
            "@3 1 instant WakerDrop",
            "3 < 0: task other",
            "2 ends",
            "4 < 0: thread sequence 2",
            "5 < 0: task other",
            "@1 1 instant NewTask +3.0",
            "@2 3 begin poll -3.0",
            "@3 3 end poll",
            "@4 3 instant TaskDrop",
            "@5 4 instant NewTask +5.0",
            "3 ends",
            "@1 5 begin poll -5.0",
            "6 < 0: task task 7",
            "5 ends",
            "@2 4 instant NewTask +6.0",
        ]
    );
}

/// The task that spawned another one has often no object: it is announced, and the new task keeps its name.
#[test]
fn a_task_of_an_unknown_spawner_has_its_name() {
    let task = build::task(7, 1, 9, "worker", Ok(0), Some(99));
    let sequence =
        Sequence::new(1).object(1, &task).about(1, 5, 7).about(2, 6, 7).about(3, 7, 7).about(4, 8, 7);
    let chunk = Chunk::new(1).sequence(sequence).bytes();
    let about = |micros, kind| (1, micros, kind, Writer::new().ints([7]));
    let stream = build::stream(&[(1, 0, 4, task), about(1, 9), about(2, 10), about(3, 11), about(4, 12)]);
    for (file, thread) in [(&chunk, "1"), (&stream, "0")] {
        let found = lines(&[file], None, Window::ALL);
        let found = short(&found);
        let rest = found.iter().position(|line| line.ends_with("task worker")).unwrap();
        let [worker, spawner] = if thread == "1" { [2, 3] } else { [1, 2] };
        assert_eq!(
            found[rest..],
            [
                format!("{worker} < 0: task worker"),
                format!("{spawner} < 0: task task 99"),
                format!("@1 {spawner} instant NewTask +{worker}.0"),
                format!("@2 {worker} begin poll -{worker}.0"),
                format!("@3 {worker} end poll"),
                format!("@4 {worker} instant TaskDrop"),
            ]
        );
    }
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

/// A registry that forgets, beside one that never does: no task gets a second track while it may still be met.
#[test]
fn what_may_be_met_again_is_kept() {
    let mut random = Random(0x5eed_0005);
    let mut registry = Registry::new(Growing(Vec::new(), RegistrySlot::EMPTY));
    let mut announced: HashMap<u64, String> = HashMap::new();
    let mut names: HashSet<String> = HashSet::new();
    let mut alive: Vec<u64> = Vec::new();
    // Each with the chunk in which it was last met.
    let mut dropped: Vec<(u64, u64)> = Vec::new();
    let mut met_late = 0;
    for second in 0..300_u64 {
        let mut sequence = Sequence::new(1);
        let mut expected = Vec::new();
        for time in 0..40 {
            let (kind, iid) = match random.next() % 10 {
                0..=3 => {
                    let iid = random.next() >> (random.next() % 40);
                    sequence = sequence.task(iid, 1, &format!("t{iid}"), None);
                    alive.push(iid);
                    (5, iid)
                }
                4..=6 if !alive.is_empty() => {
                    let at = random.next() as usize % alive.len();
                    let iid = alive.swap_remove(at);
                    dropped.push((iid, second));
                    (8, iid)
                }
                7 | 8 if !dropped.is_empty() => {
                    // A waker of it is dropped: it may be that of a task that is no more.
                    let at = random.next() as usize % dropped.len();
                    let (iid, last) = &mut dropped[at];
                    met_late += u64::from(second - *last == 2);
                    *last = second;
                    (12, *iid)
                }
                _ => continue,
            };
            sequence = match kind {
                12 => sequence.waker(time, 12, iid, None),
                kind => sequence.about(time, kind, iid),
            };
            expected.push((kind, iid));
        }
        dropped.retain(|&(_, last)| second - last < 2);
        let chunk = Chunk::new(second).sequence(sequence).bytes();
        let mut timeline = Timeline::new(&mut registry, [NameSlot::EMPTY; 1024], [const { Lane::EMPTY }; 2]);
        timeline.add(0, &chunk).unwrap();
        let mut found = Vec::new();
        while let Some(item) = timeline.next_item().unwrap() {
            match item {
                Item::Track(track) => {
                    let name = track.label().to_string();
                    assert!(!name.starts_with("task "), "chunk {second} forgot {name}");
                    assert!(names.insert(name.clone()), "{name} comes twice");
                    announced.insert(track.id().number(), name);
                }
                Item::Event(event) => {
                    // Wakers and births are on the thread's track, and have the id as a field.
                    let mut fields = fields(&event).unwrap().into_iter();
                    let is_id = |name: &str| matches!(name, "iid" | "task_iid");
                    let field = fields.find(|field| field.name().is_some_and(is_id));
                    let field = field.map(|field| field.value());
                    // A birth leads to the task's track.
                    let track = event.starts().map_or(event.track(), |flow| flow.track());
                    let kind = match event.name().to_string().as_str() {
                        "NewTask" => 5,
                        "TaskDrop" => 8,
                        "WakerDrop" => 12,
                        other => panic!("{other}"),
                    };
                    let of_track = announced.get(&track.number()).and_then(|name| name.strip_prefix('t'));
                    let of_track = of_track.and_then(|iid| iid.parse::<u128>().ok());
                    let iid = match field {
                        Some(Value::Unsigned(iid)) => iid,
                        _ => of_track.unwrap(),
                    };
                    if kind != 12 {
                        assert_eq!(of_track, Some(iid), "chunk {second}");
                    }
                    found.push((kind, iid));
                }
                Item::Ended(track) => assert!(announced.remove(&track.number()).is_some(), "chunk {second}"),
                _ => unreachable!(),
            }
        }
        let expected: Vec<_> = expected.into_iter().map(|(kind, iid)| (kind, u128::from(iid))).collect();
        assert_eq!(found, expected, "chunk {second}");
    }
    assert!(met_late > 20, "{met_late}");
    // The objects that live, those that were dropped lately, and up to as many again.
    let most = 2 * (alive.len() + dropped.len() + 3 * 20).max(64) as u64;
    assert!(registry.count() < most, "{} of {most}", registry.count());
    // The recording has a track, too, and is no object.
    assert_eq!(registry.count(), announced.len() as u64 - 1);
}

/// All that was dropped long ago goes at once, whatever takes whose place.
#[test]
fn nothing_stale_is_left() {
    let mut random = Random(0x5eed_0006);
    let mut registry = Registry::new(Growing(Vec::new(), RegistrySlot::EMPTY));
    for (second, count) in [(0_u64, 60), (1, 0), (2, 5), (3, 0)] {
        let mut sequence = Sequence::new(1);
        for time in 0..count {
            let iid = random.next();
            sequence = sequence.task(iid, 1, "", None);
            // Every tenth lives on.
            sequence = sequence.about(time, if time % 10 == 0 { 5 } else { 8 }, iid);
        }
        let chunk = Chunk::new(second).sequence(sequence).bytes();
        let mut timeline = Timeline::new(&mut registry, [NameSlot::EMPTY; 128], [const { Lane::EMPTY }; 2]);
        timeline.add(0, &chunk).unwrap();
        while timeline.next_item().unwrap().is_some() {}
    }
    // The objects that live, those of a chunk not long ago, and a sequence.
    assert_eq!(registry.count(), 6 + 5 + 1);
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

/// A thousand tasks that live one after the other fit in room for few.
#[test]
fn what_was_dropped_is_forgotten() {
    let chunks: Vec<Vec<u8>> = (0..400)
        .map(|second: u64| {
            let mut sequence = Sequence::new(1);
            for task in second * 10..second * 10 + 10 {
                sequence = sequence.task(task, 1, "", None).about(task, 5, task).about(task, 8, task);
            }
            Chunk::new(second).sequence(sequence).bytes()
        })
        .collect();
    let mut registry = Registry::new([RegistrySlot::EMPTY; 128]);
    let (mut tracks, mut events, mut ended) = (0, 0, 0);
    for chunk in &chunks {
        let mut timeline = Timeline::new(&mut registry, [NameSlot::EMPTY; 64], [const { Lane::EMPTY }; 2]);
        timeline.add(0, chunk).unwrap();
        while let Some(item) = timeline.next_item().unwrap() {
            match item {
                Item::Track(_) => tracks += 1,
                Item::Ended(_) => ended += 1,
                _ => events += 1,
            }
        }
    }
    assert_eq!((tracks, events), (1 + 1 + 4000, 8000));
    assert!(registry.count() < 128);
    assert_eq!(tracks - ended, registry.count() + 1);
}

/// The same in a stream.
#[test]
fn what_was_dropped_in_a_stream_is_forgotten() {
    let of = |iid: u64| build::task(iid, 1, iid, "", Ok(0), None);
    let items: Vec<_> =
        (0..40_000).flat_map(|iid| [(1, 1, 4, of(iid)), (1, 2, 12, Writer::new().ints([iid]))]).collect();
    let stream = build::stream(&items);
    let mut registry = Registry::new(Growing(Vec::new(), RegistrySlot::EMPTY));
    let mut timeline =
        Timeline::new(&mut registry, Growing(Vec::new(), NameSlot::EMPTY), [const { Lane::EMPTY }; 2]);
    timeline.add(0, &stream).unwrap();
    let mut alive = HashSet::new();
    let mut most = 0;
    while let Some(item) = timeline.next_item().unwrap() {
        match item {
            Item::Track(track) => assert!(alive.insert(track.id())),
            Item::Ended(track) => assert!(alive.remove(&track)),
            Item::Event(event) => assert!(alive.contains(&event.track())),
            _ => unreachable!(),
        }
        most = most.max(alive.len());
    }
    assert!(most < 10_000, "{most}");
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
