//! The parts of chunks.

use crate::common::rfr::{self as build, Sequence, Writer};
use crate::common::{at_alignments, lies_in};
use crate::{RECORDS_AT, chunk_with, findings, records, walk, walk_views};
use traceglass::rfr::{
    Chunk, Field, FieldValue, FormatIdentifier, Object, Parent, Record, RecordData, RecordKind, TaskKind,
    Variant, Waker,
};
use traceglass::{ErrorKind, Format, Severity};

#[test]
fn every_variant_is_read() {
    let built = build::all_variants();
    let data = built.bytes();
    assert_eq!(Format::detect(&data), Some(Format::Rfr));
    let chunk = Chunk::parse(&data).unwrap();
    assert_eq!(chunk.identifier().as_str(), "rfr-c/0.0.2");
    let header = chunk.header();
    assert_eq!((header.base_time(), header.start(), header.end()), (1_700_000_000, 0, 1_000_000));
    assert_eq!((header.earliest(), header.latest(), header.is_empty()), (5, 100_003, false));
    assert_eq!((chunk.sequence_count(), header.offset()), (Ok(3), 12));

    let sequences: Vec<_> = chunk.sequences().map(Result::unwrap).collect();
    assert_eq!(sequences.iter().map(|sequence| sequence.seq_id()).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(sequences[2].header().is_empty() && !sequences[0].header().is_empty());
    assert_eq!((sequences[0].header().earliest(), sequences[0].header().latest()), (10, 100_003));

    let objects: Vec<_> = sequences[0].objects().map(Result::unwrap).collect();
    let Object::Span(span) = objects[0] else { panic!("a span") };
    assert_eq!((span.iid(), span.callsite_id()), (1, 0x5555_5555_5555));
    assert_eq!(span.parent(), Parent::Current);
    let values = [
        FieldValue::F64(-1.5),
        FieldValue::I64(i64::MIN),
        FieldValue::U64(u64::MAX),
        FieldValue::I128(i128::MIN),
        FieldValue::U128(u128::MAX),
        FieldValue::Bool(true),
        FieldValue::Str("näme"),
    ];
    assert!(span.split_field_values().eq(values));
    assert_eq!(span.split_field_values().len(), 7);
    assert!(span.dynamic_fields().eq(values.map(|value| Field::new("field", value))));
    let Object::Span(span) = objects[1] else { panic!("a span") };
    assert_eq!(span.parent(), Parent::Explicit(1));
    assert_eq!((span.split_field_values().len(), span.dynamic_fields().count()), (0, 0));

    let tasks: Vec<_> = objects[2..].iter().map(|object| object.as_task().unwrap()).collect();
    assert_eq!((tasks[0].iid(), tasks[0].callsite_id(), tasks[0].task_id()), (u64::MAX, 7, 1 << 40));
    assert_eq!((tasks[0].name(), tasks[0].context(), tasks[1].context()), ("", None, Some(u64::MAX)));
    let kinds: Vec<_> = tasks.iter().map(|task| task.kind()).collect();
    let expected = [TaskKind::Task, TaskKind::Local, TaskKind::Blocking, TaskKind::BlockOn];
    assert_eq!((&kinds[..4], kinds[4]), (&expected[..], TaskKind::Other("odd")));
    assert!(lies_in(tasks[4].kind().name().as_bytes(), &data));

    let records: Vec<_> = sequences[0].records().unwrap().map(Result::unwrap).collect();
    let kinds: Vec<_> = records.iter().map(|record| record.kind()).collect();
    use RecordKind::*;
    let about = [SpanNew, SpanEnter, SpanExit, SpanClose, NewTask, TaskPollStart, TaskPollEnd, TaskDrop];
    assert_eq!(kinds[..8], about);
    let wakers = [WakerWake, WakerWakeByRef, WakerClone, WakerDrop];
    assert!(kinds[8..].iter().eq(wakers.iter().flat_map(|kind| [kind, kind])));
    for (record, kind) in records.iter().zip([0, 1, 2, 3, 5, 6, 7, 8]) {
        assert_eq!(record.data().iid(), Some(1 << (kind * 7)));
    }
    assert_eq!((records[0].micros(), records[0].unix_micros(&header)), (10, Ok(1_700_000_000_000_010)));
    assert_eq!(records[8].data(), RecordData::WakerWake(Waker::new(20, None)));
    let waker = Waker::new(u64::MAX, Some(u64::MAX));
    assert_eq!(records[15].data(), RecordData::WakerDrop(waker));

    let events: Vec<_> = sequences[1].records().unwrap().map(Result::unwrap).collect();
    let RecordData::Event(event) = events[0].data() else { panic!("an event") };
    assert_eq!((event.callsite_id(), event.parent()), (0x5555_5555_5555, Parent::Root));
    assert!(event.split_field_values().eq(values) && event.dynamic_fields().len() == 7);
    assert_eq!((events[0].kind(), events[0].data().iid()), (Event, None));
    let RecordData::Event(event) = events[1].data() else { panic!("an event") };
    assert_eq!(event.parent(), Parent::Explicit(u64::MAX));
    let RecordData::Event(event) = events[2].data() else { panic!("an event") };
    assert!(event.dynamic_fields().eq([Field::new("field", FieldValue::F64(-1.5))]));

    assert_eq!(walk(&data), walk_views(&data));
    assert_eq!(findings(|report| chunk.check(report)), []);
    at_alignments(&data, |moved| assert_eq!(walk(moved), walk(&data)));
}

#[test]
fn padded_forms_are_read() {
    // Time 10 as 3 bytes, kind 6 as 2, iid 5 as 10.
    let record = Writer::new()
        .raw(b"\x8a\x80\x00\x86\x00\x85\x80\x80\x80\x80\x80\x80\x80\x80\x00")
        .raw(b"\x0b\x89\x00\x85\x00\x01\x86\x80\x00");
    let data = chunk_with(&record, 2);
    let records = records(&data);
    assert_eq!((records[0].micros(), records[0].data()), (10, RecordData::TaskPollStart { iid: 5 }));
    let waker = Waker::new(5, Some(6));
    assert_eq!((records[1].offset(), records[1].data()), (RECORDS_AT + 15, RecordData::WakerWake(waker)));
}

#[test]
fn identifiers_tell_files_apart() {
    let parse = |text: &str| {
        let data = Writer::new().string(text).0;
        FormatIdentifier::parse(&data)
            .map(|id| (id.version(), id.is_supported()))
            .map_err(|error| error.kind())
    };
    for (text, version, supported) in [
        ("rfr-c/0.0.2", (0, 0, 2), true),
        ("rfr-c/0.0.3", (0, 0, 3), true),
        ("rfr-c/0.0.1", (0, 0, 1), false),
        ("rfr-c/0.1.2", (0, 1, 2), false),
        ("rfr-s/0.0.2", (0, 0, 2), true),
        ("rfr-s/0.0.4", (0, 0, 4), true),
        ("rfr-cm/0.0.1", (0, 0, 1), true),
        ("rfr-cc/0.0.1", (0, 0, 1), true),
        ("abcdefgh/10.20.4294967295", (10, 20, u32::MAX), false),
    ] {
        let too_long = ErrorKind::OverLimit { value: text.len() as u64, limit: 24 };
        let expected = if text.len() > 24 { Err(too_long) } else { Ok((version, supported)) };
        assert_eq!(parse(text), expected, "{text}");
    }
    for text in [
        "",
        "rfr-c",
        "/0.0.2",
        "rfr-c/0.0",
        "rfr-c/0.0.2.1",
        "abcdefghi/0.0.1",
        "rfr-c/+0.0.2",
        "rfr-c/0.0.02",
        "rfr\n/0.0.1",
        "rfr-c/0.0.4294967296",
        "rfr-c/0..2",
    ] {
        assert_eq!(parse(text), Err(ErrorKind::Malformed), "{text}");
    }
    // A length that no identifier has is not a file that ends too early.
    let long = FormatIdentifier::parse(b"\xff\xff\xff\x7frfr-c").unwrap_err();
    assert_eq!((long.offset(), long.kind()), (0, ErrorKind::OverLimit { value: (1 << 28) - 1, limit: 24 }));
    assert!(FormatIdentifier::parse(b"\x0brfr-c").unwrap_err().is_truncation());
    assert_eq!(FormatIdentifier::parse(b"\x01\xff").unwrap_err().kind(), ErrorKind::NotUtf8);
    let other = FormatIdentifier::from_text("abc/1.2.3").unwrap();
    assert_eq!((other.variant(), other.as_str()), (Variant::Other("abc"), "abc/1.2.3"));
    // Each reader takes its own.
    let meta = build::meta(1, 2, &[]);
    let error = Chunk::parse(&meta).unwrap_err();
    assert_eq!((error.offset(), error.kind()), (0, ErrorKind::BadMagic { found: *b"rfr-cm/0" }));
    let old = Writer::new().string("rfr-c/0.0.1").0;
    let kind = ErrorKind::UnsupportedRelease { major: 0, minor: 0, patch: 1 };
    assert_eq!(Chunk::parse(&old).unwrap_err().kind(), kind);
    assert!(Format::detect(&old) == Some(Format::Rfr) && Format::detect(b"\x09abc/1.2.3").is_none());
    // Both labels are one layout.
    let label = |identifier| build::Chunk { identifier, ..build::all_variants() }.bytes();
    assert_eq!(walk(&label("rfr-c/0.0.2")), walk(&label("rfr-c/0.0.3")));
}

#[test]
fn header_is_enough_to_select_by_time() {
    let data = build::Chunk { start: 500_000, ..build::Chunk::new(1_700_000_000) }.bytes();
    let front = &data[..data.len().min(Chunk::HEADER_SIZE_MAX)];
    let header = Chunk::parse(front).unwrap().header();
    assert_eq!(header.unix_micros(header.start()), Ok(1_700_000_000_500_000));
    assert!(header.is_empty() && (header.earliest(), header.latest()) == (1_000_000, 500_000));
    // The longest header there can be.
    let longest = Writer::new()
        .raw(b"\x98\x80\x80\x80\x80\x80\x80\x80\x80\0") // 24
        .raw(b"rfr-c/0.0.3")
        .0;
    assert!(longest.len() + 50 <= Chunk::HEADER_SIZE_MAX);
}

#[test]
fn times_that_do_not_fit_are_errors() {
    let data =
        build::Chunk::new(u64::MAX / 1_000_000).sequence(Sequence::new(1).about(u64::MAX, 6, 5)).bytes();
    let chunk = Chunk::parse(&data).unwrap();
    let record = records(&data)[0];
    let error = record.unix_micros(&chunk.header()).unwrap_err();
    assert_eq!((error.offset(), error.kind()), (record.offset(), ErrorKind::Overflow { value: u64::MAX }));
    let overflow = (Severity::Error, record.offset(), ErrorKind::Overflow { value: u64::MAX });
    assert!(findings(|report| chunk.check(report)).contains(&overflow));
    let data = build::Chunk::new(u64::MAX / 1_000_000 + 1).bytes();
    let chunk = Chunk::parse(&data).unwrap();
    let error = chunk.header().unix_micros(0).unwrap_err();
    let overflow = ErrorKind::Overflow { value: u64::MAX / 1_000_000 + 1 };
    assert_eq!((error.offset(), error.kind()), (12, overflow));
    assert_eq!(findings(|report| chunk.check(report)), [(Severity::Error, 12, overflow)]);
}

#[test]
fn check_compares_times_with_the_headers() {
    let data = build::Chunk { end: 50, times: Some((10, 99)), ..build::Chunk::new(0) }
        .sequence(Sequence::new(1).about(40, 6, 5).about(20, 7, 5).about(60, 6, 5).about(1, 7, 5))
        .bytes();
    let chunk = Chunk::parse(&data).unwrap();
    let at: Vec<_> = records(&data).iter().map(Record::offset).collect();
    let sequence = chunk.sequences().next().unwrap().unwrap().offset();
    let warning = Severity::Warning;
    assert_eq!(
        findings(|report| chunk.check(report)),
        [
            (warning, at[1], ErrorKind::NotAscending { previous: 40, value: 20 }),
            (warning, at[2], ErrorKind::OutsideRange { start: 0, end: 50 }),
            // The writer states the first and the last one.
            (warning, sequence, ErrorKind::Mismatch { stated: 40, found: 1 }),
            (warning, sequence, ErrorKind::Mismatch { stated: 1, found: 60 }),
            (warning, 12, ErrorKind::Mismatch { stated: 10, found: 1 }),
            (warning, 12, ErrorKind::Mismatch { stated: 99, found: 60 }),
        ]
    );
    // The end of the period is not in it.
    let data = build::Chunk { start: 10, end: 50, ..build::Chunk::new(0) }
        .sequence(Sequence::new(1).about(10, 6, 5).about(49, 7, 5))
        .sequence(Sequence::new(2).about(9, 6, 5).about(50, 7, 5))
        .sequence(Sequence::new(3).about(50, 6, 5))
        .bytes();
    let outside = ErrorKind::OutsideRange { start: 10, end: 50 };
    let at: Vec<_> = records(&data).iter().map(Record::offset).collect();
    assert_eq!(
        findings(|report| Chunk::parse(&data).unwrap().check(report)),
        [(warning, at[2], outside), (warning, at[4], outside)]
    );
    // The lost records of a sequence may have had the times that it states; the others are whole.
    let lost = build::event(7, build::Parent::Root, &[build::Value::Str("?")], &[]);
    let lost = Writer(lost.0.iter().map(|&byte| if byte == b'?' { 0xff } else { byte }).collect());
    let times = |number| Sequence::new(number).times(2, 30).about(5, 6, 5);
    let data = build::Chunk { end: 50, times: Some((1, 40)), ..build::Chunk::new(0) }
        .sequence(times(1).record(6, 4, &lost))
        .sequence(times(2))
        .sequence(times(3).record(6, 4, &lost))
        .bytes();
    let chunk = Chunk::parse(&data).unwrap();
    let sequence = chunk.sequences().nth(1).unwrap().unwrap().offset();
    let found = findings(|report| chunk.check(report));
    let of = |severity| found.iter().copied().filter(move |one| one.0 == severity).collect::<Vec<_>>();
    assert_eq!(of(Severity::Error).iter().map(|one| one.2).collect::<Vec<_>>(), [ErrorKind::NotUtf8; 2]);
    let expected =
        [(2, 5), (30, 5)].map(|(stated, found)| (warning, sequence, ErrorKind::Mismatch { stated, found }));
    assert_eq!(of(warning), expected);
    let mut trailing = build::Chunk { start: 9, end: 8, ..build::Chunk::new(0) }.bytes();
    trailing.extend(b"\xde\xad");
    let chunk = Chunk::parse(&trailing).unwrap();
    assert_eq!(
        findings(|report| chunk.check(report)),
        [
            (warning, 12, ErrorKind::NotAscending { previous: 9, value: 8 }),
            (warning, trailing.len() as u64 - 2, ErrorKind::TrailingBytes { count: 2 }),
        ]
    );
}
