//! Objects of a whole recording, in which instrumentation ids recur.

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
