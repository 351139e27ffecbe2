//! The files beside chunks: callsites, meta, and streams.

use crate::common::rfr::{self as build, Parent, Value, Writer};
use crate::common::{mutations, prefixes};
use crate::findings;
use traceglass::rfr::{
    Callsites, FieldValue, Meta, RecordData, RecordKind, StreamData, Streaming, TaskKind, Waker,
};
use traceglass::{Error, ErrorKind, Format, Severity};

/// The recorder may be writing: what is whole comes, then a truncation.
#[test]
fn growing_callsites_are_read_up_to_their_end() {
    let whole = [
        build::callsite(1, 30, 2, &[("name", Value::Str("a"))], &["x"]),
        build::callsite(2, 30, 1, &[], &[]),
    ];
    let file = build::callsites(&whole);
    for prefix in prefixes(&file).skip(13) {
        let callsites = Callsites::parse(prefix).unwrap();
        let good = callsites.clone().take_while(Result::is_ok).count();
        let first = 13 + whole[0].0.len();
        assert_eq!(good, usize::from(prefix.len() >= first) + usize::from(prefix.len() == file.len()));
        let damage = callsites.clone().find_map(Result::err);
        let cut = ![13, first, file.len()].contains(&prefix.len());
        assert_eq!(damage.is_some_and(|error| error.is_truncation()), cut);
        let mut after = callsites.clone();
        while let Some(Ok(_)) = after.next() {}
        assert!(after.next().is_none());
        assert_eq!(
            after.offset() as usize,
            if prefix.len() == file.len() {
                file.len()
            } else if good == 1 {
                first
            } else {
                13
            }
        );
        assert_eq!(findings(|report| callsites.check(report)).len(), usize::from(cut));
    }
    let mut garbage = file.clone();
    garbage.extend([0xff; 12]);
    let error = Callsites::parse(&garbage).unwrap().find_map(Result::err).unwrap();
    assert_eq!((error.offset(), error.kind()), (file.len() as u64, ErrorKind::IntegerTooWide { bits: 64 }));
}

#[test]
fn meta_says_when_and_what() {
    let data = build::meta(1_700_000_000, 5, &["rfr-c/0.0.2", "rfr-cc/0.0.1"]);
    let meta = Meta::parse(&data).unwrap();
    assert_eq!(meta.created(), Ok(1_700_000_000_000_005));
    assert!(meta.formats().map(Result::unwrap).eq(["rfr-c/0.0.2", "rfr-cc/0.0.1"]));
    assert_eq!(findings(|report| meta.check(report)), []);
    for prefix in prefixes(&data).take(data.len()) {
        let error = match Meta::parse(prefix) {
            Ok(meta) => meta.formats().find_map(Result::err).unwrap(),
            Err(error) => error,
        };
        assert!(error.is_truncation() && error.offset() <= prefix.len() as u64);
    }
    let mut odd = build::meta(1, u32::MAX, &["rfr-zz/1.0.0"]);
    odd.push(0);
    let meta = Meta::parse(&odd).unwrap();
    assert_eq!(
        findings(|report| meta.check(report)),
        [
            (Severity::Warning, 13, ErrorKind::OutsideRange { start: 0, end: 1_000_000 }),
            (Severity::Warning, 20, ErrorKind::BadMagic { found: *b"rfr-zz/1" }),
            (Severity::Warning, odd.len() as u64 - 1, ErrorKind::TrailingBytes { count: 1 }),
        ]
    );
    let wide = Writer::new().string("rfr-cm/0.0.1").ints([1, 1 << 32, 0]).0;
    let error = Meta::parse(&wide).unwrap_err();
    assert_eq!((error.offset(), error.kind()), (14, ErrorKind::IntegerTooWide { bits: 32 }));
    let late = build::meta(u64::MAX, 0, &[]);
    assert_eq!(Meta::parse(&late).unwrap().created().unwrap_err().offset(), 13);
}

fn stream() -> Vec<u8> {
    let mut records = vec![
        (1, 0, 1, build::callsite(7, 30, 2, &[("name", Value::Str("spawn"))], &["x"])),
        (1, 1, 2, build::span(4, 7, Parent::Root, &[Value::Bool(false)], &[])),
        (1, 2, 4, build::task(5, 7, 5, "main", Err("odd"), None)),
        (1, 3, 3, build::event(7, Parent::Explicit(4), &[Value::U64(3)], &[("f", Value::Str("s"))])),
    ];
    records.extend((5..13).map(|kind| (2, kind, kind, Writer::new().ints([300]))));
    records.extend((13..17).map(|kind| (3, kind, kind, build::waker(5, Some(6)))));
    records.push((4, 0, 0, Writer::new()));
    build::stream(&records)
}

#[test]
fn a_stream_is_read_from_any_of_its_records() {
    let data = stream();
    let stream = Streaming::parse(&data).unwrap();
    let offsets: Vec<u64> = stream.records().map(|record| record.unwrap().offset()).collect();
    assert!(offsets.len() > 10);
    for (n, &from) in offsets.iter().enumerate() {
        let read: Vec<u64> = stream.records_from(from).map(|record| record.unwrap().offset()).collect();
        assert_eq!(read, offsets[n..]);
    }
    // Before the first one begins the header, which is none; after the last one is nothing.
    assert_eq!(stream.records_from(0).next().unwrap().unwrap().offset(), offsets[0]);
    assert!(stream.records_from(data.len() as u64).next().is_none());
}

#[test]
fn streams_have_all_kinds() {
    let data = stream();
    assert_eq!(Format::detect(&data), Some(Format::Rfr));
    let stream = Streaming::parse(&data).unwrap();
    let records: Vec<_> = stream.records().map(Result::unwrap).collect();
    let kinds: Vec<_> = records.iter().map(|record| record.kind()).collect();
    use RecordKind::*;
    let expected = [
        Callsite,
        Span,
        Task,
        Event,
        SpanNew,
        SpanEnter,
        SpanExit,
        SpanClose,
        NewTask,
        TaskPollStart,
        TaskPollEnd,
        TaskDrop,
        WakerWake,
        WakerWakeByRef,
        WakerClone,
        WakerDrop,
        End,
    ];
    assert_eq!(kinds, expected);
    assert_eq!((records[2].unix_micros(), records[2].offset()), (Ok(1_000_002), 12 + 22 + 10));
    let StreamData::Callsite(callsite) = records[0].data() else { panic!("a callsite") };
    assert_eq!((callsite.id(), callsite.name()), (7, Some("spawn")));
    let StreamData::Span(span) = records[1].data() else { panic!("a span") };
    assert!(span.iid() == 4 && span.split_field_values().eq([FieldValue::Bool(false)]));
    let StreamData::Task(task) = records[2].data() else { panic!("a task") };
    assert_eq!(
        (task.iid(), task.name(), task.kind(), task.context()),
        (5, "main", TaskKind::Other("odd"), None)
    );
    let StreamData::Record(RecordData::Event(event)) = records[3].data() else { panic!("an event") };
    assert_eq!((event.callsite_id(), event.dynamic_fields().len()), (7, 1));
    assert_eq!(records[9].data(), StreamData::Record(RecordData::TaskPollStart { iid: 300 }));
    let waker = Waker::new(5, Some(6));
    assert_eq!(records[15].data(), StreamData::Record(RecordData::WakerDrop(waker)));
    assert_eq!(findings(|report| stream.check(report)), []);
    let ends: Vec<_> = records.iter().map(|record| record.offset()).chain([data.len() as u64]).collect();
    for prefix in prefixes(&data).skip(12) {
        let stream = Streaming::parse(prefix).unwrap();
        let whole = ends.iter().filter(|&&end| end <= prefix.len() as u64).count() - 1;
        assert_eq!(stream.records().take_while(Result::is_ok).count(), whole);
        let error = stream.records().find_map(Result::err);
        assert_eq!(error.is_none(), ends.contains(&(prefix.len() as u64)));
        assert!(error.is_none_or(|error| error.is_truncation()));
    }
    mutations(&data, |_, mutant| {
        let Ok(stream) = Streaming::parse(mutant) else { return };
        let mut records = stream.records();
        while let Some(Ok(record)) = records.next() {
            assert!(record.offset() < mutant.len() as u64);
        }
        assert!(records.next().is_none());
        stream.check(&mut |_| {}).unwrap();
    });
}

/// A record as far as both ways of reading tell it: where, when, its kind, what it is about, and the context.
type Told = (u64, Option<u64>, RecordKind, Option<u64>, Option<u64>);

/// All records, and the error after them; how many were taken as plain ones, if they are.
fn walk(stream: &Streaming<'_>, takes_plain: bool) -> (Vec<Told>, Option<Error>, usize) {
    let (mut records, mut told, mut plain) = (stream.records(), Vec::new(), 0);
    loop {
        if takes_plain && let Some(record) = records.take_plain() {
            plain += 1;
            let micros = Some(record.unix_micros());
            told.push((record.offset(), micros, record.kind(), Some(record.iid()), record.context()));
            continue;
        }
        let record = match records.next_record() {
            Ok(Some(record)) => record,
            Ok(None) => return (told, None, plain),
            Err(error) => {
                assert_eq!(records.take_plain(), None);
                return (told, Some(error), plain);
            }
        };
        let (iid, context) = match record.data() {
            StreamData::Record(data) => (data.iid(), data.waker().and_then(|waker| waker.context())),
            _ => (None, None),
        };
        told.push((record.offset(), record.unix_micros().ok(), record.kind(), iid, context));
    }
}

#[test]
fn plain_records_are_those_that_are_read() {
    let about = |iid| Writer::new().ints([iid]);
    let many = (0..40).map(|n| (n << n, 999_999 - n as u32, 5 + n as u32 % 8, about(1 << n)));
    let odd =
        [(8, 1_000_000, 9), (u64::MAX, 0, 9), (1 << 55, 0, 9), (1 << 56, 0, 9), (9, 5, 18), (9, 5, 200)];
    let end = || (0..4).map(|_| (9, 5, 9, about(1)));
    let files: Vec<_> = std::iter::once(stream())
        .chain([build::stream(&many.collect::<Vec<_>>())])
        .chain(odd.map(|(secs, micros, kind)| {
            let records: Vec<_> =
                std::iter::once((secs, micros, kind, about(u64::MAX))).chain(end()).collect();
            build::stream(&records)
        }))
        .collect();
    let mut total = 0;
    let mut compare = |data: &[u8]| {
        let Ok(stream) = Streaming::parse(data) else { return };
        let (expected, (told, error, plain)) = (walk(&stream, false), walk(&stream, true));
        assert_eq!((&told, error), (&expected.0, expected.1));
        total += plain;
    };
    for data in &files {
        compare(data);
        prefixes(data).for_each(&mut compare);
        mutations(data, |_, mutant| compare(mutant));
    }
    assert!(total > 10_000, "{total}");
}

#[test]
fn odd_streams_are_read_with_warnings() {
    let data = build::stream(&[
        (9, 0, 0, Writer::new()),
        (8, 1_000_000, 9, Writer::new().ints([1])),
        (u64::MAX, 0, 9, Writer::new().ints([1])),
        (9, 0, 17, Writer::new()),
    ]);
    let stream = Streaming::parse(&data).unwrap();
    let offsets: Vec<_> = stream.records().map_while(Result::ok).map(|record| record.offset()).collect();
    let overflow = ErrorKind::Overflow { value: u64::MAX };
    let (warning, error) = (Severity::Warning, Severity::Error);
    assert_eq!(
        findings(|report| stream.check(report)),
        [
            (warning, offsets[1], ErrorKind::TrailingBytes { count: data.len() as u64 - offsets[1] }),
            (warning, offsets[1], ErrorKind::OutsideRange { start: 0, end: 1_000_000 }),
            (error, offsets[2], overflow),
            (error, data.len() as u64 - 1, ErrorKind::Invalid { value: 17 }),
        ]
    );
    let mut records = stream.records();
    while let Some(Ok(_)) = records.next() {}
    assert_eq!(records.recover(), None);
}
