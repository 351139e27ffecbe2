//! Objects of a whole recording, in which instrumentation ids recur.

use crate::common::random::Random;
use crate::common::rfr::{self, Chunk, Parent, Sequence, Writer, event};
use traceglass::rfr::{Chunk as View, LifetimeEntry, Lifetimes, RecordKind, StreamData, Streaming};
use traceglass::{Error, ErrorKind};

fn name<'a>(objects: &Lifetimes<'a, '_>, place: u64, iid: u64) -> Option<&'a str> {
    objects.get(place, iid)?.object().as_task().map(|task| task.name())
}

/// Of tasks that are told apart by their runtime's id, by a drop, by nothing; and of spans.
#[test]
fn an_id_names_an_object_in_its_lifetime() {
    let task = |id: u64, name: &str| rfr::task(5, 70, id, name, Ok(0), None);
    let span = |values: &[rfr::Value<'_>]| rfr::span(6, 71, Parent::Root, values, &[]);
    let chunks = [
        // Two sequences of one chunk have the same object.
        Chunk::new(1)
            .sequence(Sequence::new(1).object(1, &task(1, "alpha")).about(1, 6, 5))
            .sequence(Sequence::new(2).object(1, &task(1, "alpha")).object(0, &span(&[])).about(2, 0, 6)),
        Chunk::new(2)
            .sequence(Sequence::new(1).object(1, &task(1, "alpha")).object(0, &span(&[])).about(3, 8, 5)),
        // After its end, what looks the same is another one.
        Chunk::new(3).sequence(Sequence::new(1).object(1, &task(1, "alpha")).about(1, 6, 5)),
        Chunk::new(4).sequence(
            Sequence::new(1)
                .object(1, &task(2, "beta"))
                .object(0, &span(&[rfr::Value::Bool(true)]))
                .about(1, 6, 5),
        ),
        Chunk::new(5).sequence(Sequence::new(1).about(1, 6, 5)),
    ]
    .map(|chunk| chunk.bytes());
    let views: Vec<View<'_>> = chunks.iter().map(|chunk| View::parse(chunk).unwrap()).collect();
    let mut entries = [LifetimeEntry::EMPTY; 16];
    let few = Lifetimes::of_chunks(&views, &mut entries[..7]).map(drop);
    let kind = ErrorKind::CapacityExceeded { capacity: 7, needed: 8 };
    assert_eq!(few.map_err(|error: Error| error.kind()), Err(kind));
    let objects = Lifetimes::of_chunks(&views, &mut entries[..8]).unwrap();
    assert_eq!(objects.error(), None);
    let names: Vec<_> = (0..6).map(|place| name(&objects, place, 5)).collect();
    assert_eq!(names, [Some("alpha"), Some("alpha"), Some("alpha"), Some("beta"), None, None]);
    let number = |place, iid| objects.get(place, iid).map(|lifetime| lifetime.number());
    assert!(number(0, 5) == number(1, 5) && number(1, 5) != number(2, 5) && number(2, 5) != number(3, 5));
    assert!(number(0, 6) == number(1, 6) && number(1, 6) != number(3, 6));
    assert_eq!((number(2, 6), number(0, 7), number(9, 5)), (None, None, None));
    let all: Vec<_> = objects.iter().map(|lifetime| lifetime.object().iid()).collect();
    assert_eq!(all, [5, 5, 5, 6, 6]);
    // What is handed out is lent from its own chunk.
    let beta = name(&objects, 3, 5).unwrap();
    assert!(crate::common::lies_in(beta.as_bytes(), &chunks[3]));
}

#[test]
fn an_id_of_a_stream_names_an_object_from_its_record_to_its_end() {
    let task = |id: u64, name: &str| rfr::task(5, 70, id, name, Ok(0), None);
    let about = || Writer::new().ints([5]);
    let file = rfr::stream(&[
        (1, 0, 10, about()), // TaskPollStart, of what is not known yet
        (1, 1, 4, task(1, "alpha")),
        (1, 2, 10, about()),
        (1, 3, 12, about()), // TaskDrop
        (1, 4, 10, about()),
        (1, 5, 4, task(2, "beta")),
        (1, 6, 3, event(70, Parent::Root, &[], &[])),
        (1, 7, 4, task(3, "gamma")),
        (1, 8, 10, about()),
    ]);
    let stream = Streaming::parse(&file).unwrap();
    let mut entries = [LifetimeEntry::EMPTY; 3];
    let objects = Lifetimes::of_stream(&stream, &mut entries).unwrap();
    let polls: Vec<_> = stream
        .records()
        .map(Result::unwrap)
        .filter(|record| matches!(record.kind(), RecordKind::TaskPollStart | RecordKind::TaskDrop))
        .map(|record| {
            let StreamData::Record(data) = record.data() else { unreachable!() };
            name(&objects, record.offset(), data.iid().unwrap())
        })
        .collect();
    assert_eq!(polls, [None, Some("alpha"), Some("alpha"), None, Some("gamma")]);
    let all = objects.iter().filter_map(|lifetime| lifetime.object().as_task());
    assert_eq!(all.map(|task| task.name()).collect::<Vec<_>>(), ["alpha", "beta", "gamma"]);
    // Of a stream that is cut, what is in front; the error says where it ends.
    for len in 0..file.len() {
        if let Ok(stream) = Streaming::parse(&file[..len]) {
            let objects = Lifetimes::of_stream(&stream, &mut entries).unwrap();
            let whole = stream.records().all(|record| record.is_ok());
            assert_eq!(objects.error().is_none(), whole);
            assert!(objects.error().is_none_or(|(_, error)| error.offset() <= len as u64));
        }
    }
}

/// What the random recordings below consist of: an object with one of two faces, a record that drops it, or another one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Object { iid: u64, face: u64 },
    Drop { iid: u64 },
    Poll { iid: u64 },
}

fn step(random: &mut Random) -> Step {
    let iid = random.next() % 3 + 5;
    match random.next() % 6 {
        0..=2 => Step::Object { iid, face: random.next() % 2 },
        3 => Step::Drop { iid },
        _ => Step::Poll { iid },
    }
}

/// Faces differ in one of what makes an object; the first one of each id is the same but for the id.
fn face(iid: u64, face: u64) -> Writer {
    match iid {
        5 => rfr::task(iid, 70, 1 + face, "one", Ok(0), None),
        6 => rfr::task(iid, 70 + face, 1, "one", Ok(0), None),
        _ => rfr::task(iid, 70, 1, ["one", "two"][face as usize], Ok(0), None),
    }
}

/// Numbers are the same exactly where the oracle's are.
fn same_grouping(found: &[Option<usize>], expected: &[Option<(u64, usize)>], what: &dyn std::fmt::Debug) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        for (c, d) in found.iter().zip(expected) {
            assert_eq!(a.is_some(), b.is_some(), "{found:?} {expected:?} {what:#?}");
            assert_eq!(a == c, b == d, "{found:?} {expected:?} {what:#?}");
        }
    }
}

#[test]
fn lifetimes_of_streams_are_those_of_an_oracle() {
    let mut random = Random(0x5eed_0003);
    let mut dropped_twice = 0;
    for round in 0..600 {
        let steps: Vec<Step> = (0..1 + round % 24).map(|_| step(&mut random)).collect();
        let records: Vec<_> = steps
            .iter()
            .zip(0_u32..)
            .map(|(step, at)| match *step {
                Step::Object { iid, face: number } => (1, at, 4, face(iid, number)),
                Step::Drop { iid } => (1, at, 12, Writer::new().ints([iid])),
                Step::Poll { iid } => (1, at, 10, Writer::new().ints([iid])),
            })
            .collect();
        let file = rfr::stream(&records);
        let stream = Streaming::parse(&file).unwrap();
        let places: Vec<u64> = stream.records().map(|record| record.unwrap().offset()).collect();
        let mut entries = [LifetimeEntry::EMPTY; 32];
        let objects = Lifetimes::of_stream(&stream, &mut entries).unwrap();
        let (mut all, mut oracle) = (Vec::new(), Vec::new());
        for iid in 5..8 {
            let is_drop = |step: &Step| *step == Step::Drop { iid };
            // A lifetime is the number of its first object.
            let mut expected = Vec::new();
            let mut lives: Option<(usize, u64, bool)> = None;
            for (at, step) in steps.iter().enumerate() {
                let before = lives;
                match *step {
                    Step::Object { iid: of, face } if of == iid => {
                        lives = match lives {
                            Some((first, old, false)) if old == face => Some((first, face, false)),
                            _ => Some((at, face, false)),
                        };
                    }
                    Step::Drop { iid: of } if of == iid => {
                        lives = lives.map(|(first, face, _)| (first, face, true));
                    }
                    _ => {}
                }
                // The record that drops it still names it.
                let named = if is_drop(step) { before } else { lives };
                expected.push(named.filter(|(.., is_over)| !is_over).map(|(first, ..)| (iid, first)));
            }
            all.extend(places.iter().map(|&place| objects.get(place, iid).map(|one| one.number())));
            oracle.extend(expected);
            let first_drop = steps.iter().position(is_drop);
            dropped_twice +=
                usize::from(first_drop.is_some_and(|first| steps[first + 1..].iter().any(is_drop)));
        }
        same_grouping(&all, &oracle, &steps);
    }
    assert!(dropped_twice > 100, "{dropped_twice}");
}

#[test]
fn lifetimes_of_chunks_are_those_of_an_oracle() {
    let mut random = Random(0x5eed_0004);
    for round in 0..600 {
        let chunks: Vec<Vec<Step>> =
            (0..1 + round % 6).map(|_| (0..random.next() % 6).map(|_| step(&mut random)).collect()).collect();
        let files: Vec<Vec<u8>> = chunks
            .iter()
            .zip(1..)
            .map(|(steps, base)| {
                // Objects stand in front of a sequence's records: each step has a sequence of its own.
                let chunk = steps.iter().fold(Chunk::new(base), |chunk, step| {
                    chunk.sequence(match *step {
                        Step::Object { iid, face: number } => {
                            Sequence::new(1).object(1, &face(iid, number)).about(1, 6, 99)
                        }
                        Step::Drop { iid } => Sequence::new(1).about(1, 8, iid),
                        Step::Poll { iid } => Sequence::new(1).about(1, 6, iid),
                    })
                });
                chunk.bytes()
            })
            .collect();
        let views: Vec<View<'_>> = files.iter().map(|file| View::parse(file).unwrap()).collect();
        let mut entries = [LifetimeEntry::EMPTY; 64];
        let objects = Lifetimes::of_chunks(&views, &mut entries).unwrap();
        let (mut all, mut oracle) = (Vec::new(), Vec::new());
        for iid in 5..8 {
            let mut expected = Vec::new();
            // The lifetime that goes on, and the face of the last object in it.
            let mut lives: Option<(usize, u64)> = None;
            let mut next = 0;
            for steps in &chunks {
                let mut first = None;
                for step in steps {
                    if let Step::Object { iid: of, face } = *step
                        && of == iid
                    {
                        lives = match lives {
                            Some((number, old)) if old == face => Some((number, face)),
                            _ => Some((next, face)),
                        };
                        next += 1;
                        first = first.or(lives);
                    }
                }
                // A drop ends what the id names at the end of the chunk, wherever in the chunk it stands.
                if steps.contains(&Step::Drop { iid }) {
                    lives = None;
                }
                expected.push(first.map(|(number, _)| (iid, number)));
            }
            let places = 0..chunks.len() as u64;
            all.extend(places.map(|place| objects.get(place, iid).map(|one| one.number())));
            oracle.extend(expected);
        }
        same_grouping(&all, &oracle, &chunks);
    }
}
