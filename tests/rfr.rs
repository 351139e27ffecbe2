//! RFR, read from files that are built field by field.
#![cfg(feature = "rfr")]

mod common;

use common::rfr::{self as build, Parent, Sequence, Value, Writer};
use common::{at_alignments, lies_in, mutations, prefixes};
use traceglass::rfr::{
    CallsiteKind, CallsiteTable, Callsites, Chunk, Directory, DirectoryEntry, Field, FieldValue,
    FormatIdentifier, Item, Merge, MergeSlot, Meta, Object, ObjectTable, Record, RecordData, RecordKind,
    StreamData, Streaming, TableEntry, TaskKind, Variant, Waker, element,
};
use traceglass::{Error, ErrorKind, Finding, Format, Severity};

/// Items up to the first error.
fn walk(data: &[u8]) -> (Vec<Item<'_>>, Option<Error>) {
    let chunk = match Chunk::parse(data) {
        Ok(chunk) => chunk,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut items = chunk.items();
    let mut found = Vec::new();
    let error = loop {
        match items.next() {
            Some(Ok(item)) => found.push(item),
            Some(Err(error)) => break Some(error),
            None => break None,
        }
        assert!(found.len() <= data.len());
    };
    assert!(items.next().is_none() && items.next().is_none(), "something after the end");
    (found, error)
}

/// The same items by way of sequences, objects and records.
fn walk_views(data: &[u8]) -> (Vec<Item<'_>>, Option<Error>) {
    let chunk = Chunk::parse(data).unwrap();
    let mut found = Vec::new();
    for sequence in chunk.sequences() {
        let sequence = match sequence {
            Ok(sequence) => sequence,
            Err(error) => return (found, Some(error)),
        };
        found.push(Item::Sequence(sequence.header()));
        for object in sequence.objects() {
            match object {
                Ok(object) => found.push(Item::Object(object)),
                Err(error) => return (found, Some(error)),
            }
        }
        let records = match sequence.records() {
            Ok(records) => records,
            Err(error) => return (found, Some(error)),
        };
        for record in records {
            match record {
                Ok(record) => found.push(Item::Record(record)),
                Err(error) => return (found, Some(error)),
            }
        }
    }
    (found, None)
}

fn records(data: &[u8]) -> Vec<Record<'_>> {
    let record = |item| match item {
        Item::Record(record) => Some(record),
        _ => None,
    };
    walk(data).0.into_iter().filter_map(record).collect()
}

fn findings(check: impl FnOnce(&mut dyn FnMut(Finding))) -> Vec<(Severity, u64, ErrorKind)> {
    let mut found = Vec::new();
    check(&mut |finding| {
        let cause = finding.cause();
        found.push((finding.severity(), cause.offset(), cause.kind()));
    });
    found
}

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
    assert_eq!(span.parent(), traceglass::rfr::Parent::Current);
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
    assert!(span.dynamic_fields().eq(values.map(|value| Field { name: "field", value })));
    let Object::Span(span) = objects[1] else { panic!("a span") };
    assert_eq!(span.parent(), traceglass::rfr::Parent::Explicit(1));
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
    assert_eq!((records[0].timestamp(), records[0].absolute(&header)), (10, Ok(1_700_000_000_000_010)));
    assert_eq!(records[8].data(), RecordData::WakerWake(Waker { task_iid: 20, context: None }));
    let waker = Waker { task_iid: u64::MAX, context: Some(u64::MAX) };
    assert_eq!(records[15].data(), RecordData::WakerDrop(waker));

    let events: Vec<_> = sequences[1].records().unwrap().map(Result::unwrap).collect();
    let RecordData::Event(event) = events[0].data() else { panic!("an event") };
    assert_eq!((event.callsite_id(), event.parent()), (0x5555_5555_5555, traceglass::rfr::Parent::Root));
    assert!(event.split_field_values().eq(values) && event.dynamic_fields().len() == 7);
    assert_eq!((events[0].kind(), events[0].data().iid()), (Event, None));
    let RecordData::Event(event) = events[1].data() else { panic!("an event") };
    assert_eq!(event.parent(), traceglass::rfr::Parent::Explicit(u64::MAX));
    let RecordData::Event(event) = events[2].data() else { panic!("an event") };
    assert!(event.dynamic_fields().eq([Field { name: "field", value: FieldValue::F64(-1.5) }]));

    assert_eq!(walk(&data), walk_views(&data));
    assert_eq!(findings(|report| chunk.check(report)), []);
    at_alignments(&data, |moved| assert_eq!(walk(moved), walk(&data)));
}

/// Whatever is whole comes, then one truncation, where the file ends.
#[test]
fn every_prefix_gives_what_is_whole() {
    let data = build::all_variants().bytes();
    let (all, none) = walk(&data);
    assert_eq!((all.len(), none), (3 + 7 + 16 + 3, None));
    let offset = |item: &Item<'_>| match item {
        Item::Sequence(header) => header.offset(),
        Item::Object(object) => object.offset(),
        Item::Record(record) => record.offset(),
    };
    // Between the header or the objects and the records, or the next sequence, stands the number of records.
    let end = |(index, item): (usize, &Item<'_>)| {
        let next = all.get(index + 1);
        let counted = !matches!(item, Item::Record(_)) && !matches!(next, Some(Item::Object(_)));
        next.map_or(data.len() as u64, offset) - u64::from(counted)
    };
    let ends: Vec<u64> = all.iter().enumerate().map(end).collect();
    for prefix in prefixes(&data).take(data.len()) {
        let (items, error) = walk(prefix);
        let error = error.expect("a cut is noticed");
        assert!(error.is_truncation(), "{error}");
        assert!(error.offset() <= prefix.len() as u64, "{error}");
        assert!(all.starts_with(&items));
        // An item is delivered as soon as its last byte is there.
        let whole = ends.iter().filter(|&&end| end <= prefix.len() as u64).count();
        assert_eq!(items.len(), whole);
        if let Some(last) = items.last() {
            assert!(error.offset() > offset(last));
        }
        if Chunk::parse(prefix).is_ok() {
            assert_eq!(walk_views(prefix), (items.clone(), Some(error)));
            let chunk = Chunk::parse(prefix).unwrap();
            let found = findings(|report| chunk.check(report));
            let errors: Vec<_> = found.iter().filter(|(severity, ..)| *severity == Severity::Error).collect();
            assert_eq!(errors, [&(Severity::Error, error.offset(), error.kind())]);
        }
    }
}

#[test]
fn single_changed_bytes_do_no_harm() {
    let data = build::all_variants().bytes();
    let mut refused = 0;
    mutations(&data, |_, mutant| {
        let (items, error) = walk(mutant);
        let Ok(chunk) = Chunk::parse(mutant) else { return };
        assert_eq!(walk_views(mutant), (items.clone(), error));
        if let Some(error) = error {
            assert!(error.offset() <= mutant.len() as u64);
            refused += 1;
        }
        for item in &items {
            if let Item::Record(record) = item {
                if let RecordData::Event(event) = record.data() {
                    for field in event.dynamic_fields() {
                        assert!(lies_in(field.name.as_bytes(), mutant));
                    }
                    assert!(event.split_field_values().len() <= mutant.len());
                }
            }
        }
        // Passing by finds the same ends as decoding, or gets further.
        let mut entries = [DirectoryEntry::EMPTY; 256];
        if let Ok(directory) = Directory::build(&chunk, &mut entries) {
            let records: u64 = directory.entries().iter().map(DirectoryEntry::record_count).sum();
            let decoded = items.iter().filter(|item| matches!(item, Item::Record(_))).count();
            assert!(records >= decoded as u64 && directory.damage().is_none_or(|_| error.is_some()));
        }
        chunk.check(|finding| assert!(!finding.cause().to_string().is_empty()));
    });
    assert!(refused > 100, "{refused}");
}

/// A chunk of one sequence with these records, from `RECORDS_AT` on.
fn chunk_with(records: &Writer, count: u64) -> Vec<u8> {
    Writer::new()
        .string("rfr-c/0.0.2")
        .ints([0, 0, 9, 0, 9]) // base time, start, end, earliest, latest
        .ints([1]) //             sequences
        .ints([1, 0, 9, 0]) //    sequence id, earliest, latest, objects
        .ints([count])
        .raw(&records.0)
        .0
}

const RECORDS_AT: u64 = 12 + 5 + 1 + 4 + 1;

/// The error that ends a chunk with these records, with offsets from the first record on.
fn error_of(records: &Writer) -> (u64, ErrorKind, traceglass::Element) {
    let data = chunk_with(records, 1);
    let error = walk(&data).1.expect("an error");
    (error.offset() - RECORDS_AT, error.kind(), error.element())
}

#[test]
fn widths_are_kept() {
    let padded = |len: usize| {
        let mut bytes = vec![0x80; len - 1];
        bytes.push(0);
        bytes
    };
    // Time and id may take 10 bytes, a kind 5; followed by much, and by nothing.
    for tail in [0, 16] {
        for (time, kind, id, fits) in [
            (10, 5, 10, Ok(())),
            (11, 5, 10, Err((0, 64))),
            (10, 6, 10, Err((10, 32))),
            (2, 1, 11, Err((3, 64))),
        ] {
            let record =
                Writer::new().raw(&padded(time)).raw(&padded(kind)).raw(&padded(id)).raw(&vec![0; tail]);
            let data = chunk_with(&record, 1);
            match fits {
                Ok(()) => assert_eq!(records(&data)[0].data(), RecordData::SpanNew { iid: 0 }),
                Err((offset, bits)) => {
                    let (at, kind, _) = error_of(&record);
                    assert_eq!((at, kind), (offset, ErrorKind::IntegerTooWide { bits }));
                }
            }
        }
    }
    // The last byte of each width must fit.
    let wide = |len: usize, last: u8| {
        let mut bytes = vec![0xff; len - 1];
        bytes.push(last);
        bytes
    };
    let id = |last| Writer::new().ints([1, 6]).raw(&wide(10, last));
    assert_eq!(records(&chunk_with(&id(1), 1))[0].data().iid(), Some(u64::MAX));
    assert_eq!(error_of(&id(2)), (2, ErrorKind::IntegerTooWide { bits: 64 }, element::RECORD));
    let kind = |last| Writer::new().ints([1]).raw(&wide(5, last));
    assert_eq!(error_of(&kind(0x0f)), (1, ErrorKind::Invalid { value: u32::MAX.into() }, element::RECORD));
    assert_eq!(error_of(&kind(0x10)), (1, ErrorKind::IntegerTooWide { bits: 32 }, element::RECORD));
    let value = |last| Writer::new().ints([1, 4, 7, 0, 1, 4]).raw(&wide(19, last)).ints([0]);
    let data = chunk_with(&value(3), 1);
    let RecordData::Event(event) = records(&data)[0].data() else { panic!("an event") };
    assert!(event.split_field_values().eq([FieldValue::U128(u128::MAX)]));
    assert_eq!(error_of(&value(4)), (6, ErrorKind::IntegerTooWide { bits: 128 }, element::VALUE));
}

#[test]
fn what_is_not_defined_is_refused_where_it_stands() {
    let invalid = |value| ErrorKind::Invalid { value };
    let event = || Writer::new().ints([1, 4, 7]);
    assert_eq!(error_of(&Writer::new().ints([1, 13, 5])), (1, invalid(13), element::RECORD));
    assert_eq!(error_of(&Writer::new().ints([1, 9, 5]).raw(&[2])), (3, invalid(2), element::CONTEXT));
    assert_eq!(error_of(&event().ints([3])), (3, invalid(3), element::PARENT));
    assert_eq!(error_of(&event().ints([0, 1, 7, 0])), (5, invalid(7), element::VALUE));
    assert_eq!(error_of(&event().ints([0, 1, 5, 2, 0])), (6, invalid(2), element::VALUE));
    let not_utf8 = event().ints([0, 1, 6, 2]).raw(b"\xc3\x28").ints([0]);
    assert_eq!(error_of(&not_utf8), (6, ErrorKind::NotUtf8, element::VALUE));
    let name = event().ints([0, 0, 1, 1]).raw(b"\xff").ints([2, 0]);
    assert_eq!(error_of(&name), (6, ErrorKind::NotUtf8, element::FIELD));

    let object = |object: &Writer| {
        let data = build::Chunk::new(0).sequence(Sequence::new(1).object(0, object)).bytes();
        let object_at = data.len() as u64 - 1 - object.0.len() as u64;
        let error = walk(&data).1.expect("an error");
        (error.offset() - object_at, error.kind(), error.element())
    };
    assert_eq!(object(&Writer::new().ints([1, 2, 3])), (2, invalid(3), element::PARENT));
    let task = |rest: &[u8]| {
        let data = build::Chunk::new(0)
            .sequence(Sequence::new(1).object(1, &Writer::new().ints([1, 2, 3]).raw(rest)))
            .bytes();
        let object_at = data.len() as u64 - 1 - 3 - rest.len() as u64;
        let error = walk(&data).1.expect("an error");
        (error.offset() - object_at, error.kind(), error.element())
    };
    assert_eq!(task(b"\0\x05\0"), (4, invalid(5), element::TASK_KIND));
    assert_eq!(task(b"\0\0\x02"), (5, invalid(2), element::CONTEXT));
    assert_eq!(task(b"\x01\xff\0\0"), (3, ErrorKind::NotUtf8, element::OBJECT));
    assert_eq!(task(b"\0\x04\x01\xff\0"), (5, ErrorKind::NotUtf8, element::TASK_KIND));
}

/// Damage whose end is known costs what is damaged, and no more.
#[test]
fn resume_goes_on_behind_damage() {
    let bad_event = build::event(7, Parent::Root, &[], &[]).0; // text is put in below
    let bad = Writer::new().raw(&bad_event[..2]).ints([1, 6, 1]).raw(b"\xff").ints([0]);
    let sequence = Sequence::new(1).about(1, 6, 5).record(2, 4, &bad).about(3, 7, 5);
    let odd_task = Writer::new().ints([1, 2, 3, 1]).raw(b"\xff").ints([0, 0]);
    let data = build::Chunk::new(0)
        .sequence(sequence)
        .sequence(Sequence::new(2).object(1, &odd_task).task(9, 1, "", None).about(4, 6, 9))
        .bytes();
    let chunk = Chunk::parse(&data).unwrap();

    let mut items = chunk.items();
    let (mut iids, mut errors) = (Vec::new(), Vec::new());
    loop {
        match items.next() {
            Some(Ok(Item::Record(record))) => iids.extend(record.data().iid()),
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                errors.push(error.kind());
                assert!(items.next().is_none());
                assert!(items.resume());
            }
            None => break,
        }
    }
    assert_eq!((iids, errors), (vec![5, 5, 9], vec![ErrorKind::NotUtf8; 2]));
    assert!(!items.resume());

    let sequence = chunk.sequences().next().unwrap().unwrap();
    let mut records = sequence.records().unwrap();
    assert_eq!(records.next().unwrap().unwrap().timestamp(), 1);
    assert_eq!(records.next().unwrap().unwrap_err().kind(), ErrorKind::NotUtf8);
    assert!(records.next().is_none() && records.resume());
    assert_eq!(records.next().unwrap().unwrap().timestamp(), 3);
    assert!(records.next().is_none() && !records.resume());

    // Both sequences are found, since their ends do not depend on texts.
    let sequences: Vec<_> = chunk.sequences().map(Result::unwrap).collect();
    let mut objects = sequences[1].objects();
    assert!(objects.next().unwrap().is_err() && objects.next().is_none() && objects.resume());
    assert_eq!(objects.next().unwrap().unwrap().iid(), 9);
    let found = findings(|report| chunk.check(report));
    assert_eq!(found.iter().filter(|(severity, ..)| *severity == Severity::Error).count(), 2);

    // An unknown kind has no known end.
    let data = chunk_with(&Writer::new().ints([1, 13, 5, 1, 6, 5]), 2);
    let mut items = Chunk::parse(&data).unwrap().items();
    while let Some(Ok(_)) = items.next() {}
    assert!(!items.resume() && items.next().is_none());
}

#[test]
fn hostile_counts_end_with_the_bytes() {
    for count in [100_000_000, 1 << 32, 1 << 40, u64::MAX] {
        // Records: the whole ones come.
        let data = chunk_with(&Writer::new().ints([1, 6, 5]), count);
        let (items, error) = walk(&data);
        let error = error.unwrap();
        assert_eq!((items.len(), error.offset()), (2, data.len() as u64));
        assert_eq!(error.kind(), ErrorKind::UnexpectedEnd { needed: 1 });
        let sequence = Chunk::parse(&data).unwrap().sequences().next().unwrap().unwrap();
        assert_eq!(sequence.records().unwrap().size_hint(), (0, Some(2)));
        assert_eq!(sequence.records().unwrap().claimed(), count);
        // Objects and sequences.
        let objects = Writer::new().string("rfr-c/0.0.2").ints([0, 0, 9, 0, 9, 1, 1, 0, 9, count]).0;
        let (items, error) = walk(&objects);
        assert_eq!((items.len(), error.unwrap().offset()), (1, objects.len() as u64));
        let sequences = Writer::new().string("rfr-c/0.0.2").ints([0, 0, 9, 0, 9, count]).0;
        let (items, error) = walk(&sequences);
        assert_eq!((items.len(), error.unwrap().offset()), (0, sequences.len() as u64));
        assert_eq!(Chunk::parse(&sequences).unwrap().sequence_count_max(), 0);
        // Lists and texts in a record: nothing of it is believed.
        for inner in [
            Writer::new().ints([1, 4, 7, 0, count, 5, 1]),
            Writer::new().ints([1, 4, 7, 0, 0, count, 0, 5, 1]),
            Writer::new().ints([1, 4, 7, 0, 1, 6, count, 0]),
        ] {
            let (at, kind, _) = error_of(&inner);
            let ErrorKind::UnexpectedEnd { needed } = kind else { panic!("{kind}") };
            assert!(needed > count / 2 && (4..=6).contains(&at), "{at} {needed}");
        }
    }
}

#[test]
fn padded_forms_are_read() {
    // Time 10 as 3 bytes, kind 6 as 2, iid 5 as 10.
    let record = Writer::new()
        .raw(b"\x8a\x80\x00\x86\x00\x85\x80\x80\x80\x80\x80\x80\x80\x80\x00")
        .raw(b"\x0b\x89\x00\x85\x00\x01\x86\x80\x00");
    let data = chunk_with(&record, 2);
    let records = records(&data);
    assert_eq!((records[0].timestamp(), records[0].data()), (10, RecordData::TaskPollStart { iid: 5 }));
    let waker = Waker { task_iid: 5, context: Some(6) };
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
        let expected =
            if text.len() > 24 { Err(ErrorKind::Invalid { value: 25 }) } else { Ok((version, supported)) };
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
        assert_eq!(parse(text), Err(ErrorKind::Invalid { value: text.len() as u64 }), "{text}");
    }
    // A length that no identifier has is not a file that ends too early.
    let long = FormatIdentifier::parse(b"\xff\xff\xff\x7frfr-c").unwrap_err();
    assert_eq!((long.offset(), long.kind()), (0, ErrorKind::Invalid { value: (1 << 28) - 1 }));
    assert!(FormatIdentifier::parse(b"\x0brfr-c").unwrap_err().is_truncation());
    assert_eq!(FormatIdentifier::parse(b"\x01\xff").unwrap_err().kind(), ErrorKind::NotUtf8);
    let other = FormatIdentifier::from_text("abc/1.2.3").unwrap();
    assert_eq!((other.variant(), other.as_str()), (Variant::Other("abc"), "abc/1.2.3"));
    // Each reader takes its own.
    let meta = build::meta(1, 2, &[]);
    let error = Chunk::parse(&meta).unwrap_err();
    assert_eq!((error.offset(), error.kind()), (0, ErrorKind::BadMagic { found: *b"rfr-cm/0" }));
    let old = Writer::new().string("rfr-c/0.0.1").0;
    let kind = ErrorKind::UnsupportedVersion { found: 1, supported: 3 };
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
    assert_eq!(header.absolute(header.start()), Ok(1_700_000_000_500_000));
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
    let error = record.absolute(&chunk.header()).unwrap_err();
    assert_eq!((error.offset(), error.kind()), (record.offset(), ErrorKind::Overflow { value: u64::MAX }));
    let overflow = (Severity::Error, record.offset(), ErrorKind::Overflow { value: u64::MAX });
    assert!(findings(|report| chunk.check(report)).contains(&overflow));
    let data = build::Chunk::new(u64::MAX / 1_000_000 + 1).bytes();
    let chunk = Chunk::parse(&data).unwrap();
    let error = chunk.header().absolute(0).unwrap_err();
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

#[test]
fn directory_gives_random_access() {
    let built = build::all_variants();
    let data = built.bytes();
    let chunk = Chunk::parse(&data).unwrap();
    let mut entries = [DirectoryEntry::EMPTY; 3];
    let directory = Directory::build(&chunk, &mut entries).unwrap();
    assert_eq!(directory.damage(), None);
    let counts: Vec<_> = directory.entries().iter().map(DirectoryEntry::record_count).collect();
    assert_eq!(counts, [16, 3, 0]);
    for (index, sequence) in chunk.sequences().enumerate() {
        let (sequence, direct) = (sequence.unwrap(), directory.sequence(index).unwrap());
        assert_eq!(sequence.header(), direct.header());
        assert!(sequence.records().unwrap().eq(direct.records().unwrap()));
        assert!(sequence.objects().eq(direct.objects()));
        assert_eq!(direct.records().unwrap().offset(), directory.entries()[index].records_offset());
    }
    assert_eq!(directory.entries()[2].end_offset(), data.len() as u64);
    assert!(directory.sequence(3).is_none());
    let error = Directory::build(&chunk, &mut entries[..1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 1, needed: 3 });

    // Of a cut chunk: all that is whole.
    for prefix in prefixes(&data).filter(|prefix| Chunk::parse(prefix).is_ok()) {
        let chunk = Chunk::parse(prefix).unwrap();
        let directory = Directory::build(&chunk, &mut entries).unwrap();
        let (items, error) = walk(prefix);
        assert_eq!(directory.damage().is_some(), error.is_some());
        let records: u64 = directory.entries().iter().map(DirectoryEntry::record_count).sum();
        let expected = items.iter().filter(|item| matches!(item, Item::Record(_))).count();
        assert_eq!(records, expected as u64);
        for index in 0..directory.entries().len() {
            assert!(directory.sequence(index).unwrap().records().unwrap().all(|record| record.is_ok()));
        }
    }
}

#[test]
fn merge_orders_by_time_and_keeps_ties() {
    let mut seed = 7_u64;
    let mut random = |most: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % most
    };
    for round in 0..50 {
        let chunks: Vec<Vec<u8>> = (0..1 + random(3))
            .map(|base| {
                (0..random(5)).fold(build::Chunk::new(base), |chunk, id| {
                    let mut time = random(900_000);
                    let sequence = (0..random(30)).fold(Sequence::new(id), |sequence, _| {
                        time += random(3) * random(60_000);
                        sequence.about(time, 6, 5)
                    });
                    chunk.sequence(sequence)
                })
            })
            .map(|chunk| chunk.bytes())
            .collect();
        let chunks: Vec<_> = chunks.iter().map(|data| Chunk::parse(data).unwrap()).collect();
        let mut slots = vec![MergeSlot::EMPTY; 20];
        let mut merge = Merge::new(&mut slots);
        let mut expected = Vec::new();
        for chunk in &chunks {
            for sequence in chunk.sequences() {
                let records = sequence.unwrap().records().unwrap();
                let source = merge.add(&chunk.header(), records.clone()).unwrap();
                assert_eq!(merge.header(source), Some(chunk.header()));
                expected.extend(records.map(|record| {
                    let record = record.unwrap();
                    (record.absolute(&chunk.header()).unwrap(), source, record.offset())
                }));
            }
        }
        // Stable, so that ties keep the order of sources, and of records in one.
        expected.sort_by_key(|&(micros, source, _)| (micros, source));
        let merged: Vec<_> = merge.map(Result::unwrap).collect();
        let merged: Vec<_> = merged.iter().map(|one| (one.micros, one.source, one.record.offset())).collect();
        assert_eq!(merged, expected, "round {round}");
    }
    let data = build::all_variants().bytes();
    let chunk = Chunk::parse(&data).unwrap();
    let mut slots = [MergeSlot::EMPTY];
    let mut merge = Merge::new(&mut slots);
    let records = || chunk.sequences().next().unwrap().unwrap().records().unwrap();
    merge.add(&chunk.header(), records()).unwrap();
    let error = merge.add(&chunk.header(), records()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 1, needed: 2 });
}

/// A damaged source is told, and the others go on.
#[test]
fn merge_goes_on_after_damage() {
    let bad = Writer::new().ints([7, 0, 1, 6, 1]).raw(b"\xff").ints([0]);
    let data = build::Chunk::new(0)
        .sequence(Sequence::new(1).about(1, 6, 1).record(2, 4, &bad).about(8, 7, 1))
        .sequence(Sequence::new(2).about(3, 6, 2).about(4, 7, 2))
        .bytes();
    for (cut, expected) in [(0, vec![1, 3, 4, 8]), (2, vec![1, 3, 8])] {
        let data = &data[..data.len() - cut];
        let chunk = Chunk::parse(data).unwrap();
        let mut slots = [MergeSlot::EMPTY, MergeSlot::EMPTY];
        let mut merge = Merge::new(&mut slots);
        for sequence in chunk.sequences().map_while(Result::ok) {
            merge.add(&chunk.header(), sequence.records().unwrap()).unwrap();
        }
        let (mut times, mut errors) = (Vec::new(), Vec::new());
        loop {
            match merge.next() {
                Some(Ok(merged)) => times.push(merged.micros),
                Some(Err(error)) => {
                    assert!(merge.next().is_none());
                    errors.push((merge.resume().unwrap(), error.kind()));
                }
                None => break,
            }
        }
        assert_eq!((times, merge.resume()), (expected, None));
        let mut expected = vec![(0, ErrorKind::NotUtf8)];
        if cut > 0 {
            expected.push((1, ErrorKind::UnexpectedEnd { needed: 1 }));
        }
        assert_eq!(errors, expected);
    }
}

#[test]
fn ids_lead_to_objects_and_callsites() {
    let name = [("name", Value::Str("spawn")), ("file", Value::Str("src/main.rs")), ("line", Value::I64(17))];
    let file = build::callsites(&[
        build::callsite(7, 30, 2, &name, &["task.id", "kind"]),
        build::callsite(u64::MAX, 200, 1, &[], &[]),
        build::callsite(7, 10, 0, &[], &[]),
    ]);
    let callsites = Callsites::parse(&file).unwrap();
    let all: Vec<_> = callsites.clone().map(Result::unwrap).collect();
    assert_eq!(all.len(), 3);
    let kinds: Vec<_> = all.iter().map(|callsite| (callsite.kind(), callsite.level().name())).collect();
    assert_eq!(
        kinds,
        [
            (CallsiteKind::Span, Some("info")),
            (CallsiteKind::Event, None),
            (CallsiteKind::Unknown, Some("trace"))
        ]
    );
    assert_eq!((all[0].name(), all[0].file(), all[0].line()), (Some("spawn"), Some("src/main.rs"), Some(17)));
    assert_eq!((all[0].target(), all[0].module_path()), (None, None));
    assert!(all[0].split_field_names().eq(["task.id", "kind"]) && all[0].const_fields().len() == 3);
    let mut entries = [TableEntry::EMPTY; 3];
    let table = CallsiteTable::build(&callsites, &mut entries).unwrap();
    assert_eq!(table.get(7), Some(all[0]));
    assert_eq!((table.get(u64::MAX), table.get(8), table.damage()), (Some(all[1]), None, None));
    let error = CallsiteTable::build(&callsites, &mut [TableEntry::EMPTY; 2]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 2, needed: 3 });
    let unnamed = (Severity::Warning, all[1].offset(), ErrorKind::Invalid { value: 200 });
    assert_eq!(findings(|report| callsites.check(report)), [unnamed]);

    let data = build::all_variants().bytes();
    let chunk = Chunk::parse(&data).unwrap();
    let sequence = chunk.sequences().next().unwrap().unwrap();
    let mut entries = [TableEntry::EMPTY; 16];
    let objects = ObjectTable::build(&chunk, sequence.objects(), &mut entries).unwrap();
    for object in sequence.objects().map(Result::unwrap) {
        assert_eq!(objects.get(object.iid()), Some(object));
    }
    assert_eq!(objects.get(3), None);
}

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
    assert_eq!((meta.created(), meta.created_subsec_micros()), (Ok(1_700_000_000_000_005), 5));
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
            (Severity::Warning, 20, ErrorKind::Invalid { value: 12 }),
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
    assert_eq!((records[2].absolute(), records[2].offset()), (Ok(1_000_002), 12 + 22 + 10));
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
    let waker = Waker { task_iid: 5, context: Some(6) };
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
        stream.check(|_| {});
    });
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
    assert!(!records.resume());
}
