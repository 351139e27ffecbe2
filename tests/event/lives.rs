//! RFR: a task lasts from one beginning to the next, and is forgotten after its end.

use crate::common::random::Random;
use crate::common::rfr::{self as build, Chunk, Sequence, Writer};
use crate::pulled::{Value, fields};
use crate::rfr::{Growing, lines, short};
use std::collections::{HashMap, HashSet};
use traceglass::event::rfr::{Lane, NameSlot, Registry, RegistrySlot, Timeline};
use traceglass::event::{Item, Source, Window};

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
