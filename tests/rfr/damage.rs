//! Chunks that are cut, changed, or lie.

use crate::common::rfr::{self as build, Parent, Sequence, Writer};
use crate::common::{lies_in, mutations, prefixes};
use crate::{RECORDS_AT, chunk_with, findings, records, walk, walk_views};
use traceglass::rfr::{Chunk, Directory, DirectoryEntry, FieldValue, Item, RecordData, element};
use traceglass::{ErrorKind, Severity};

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
        item => panic!("{item:?}"),
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
            if let Item::Record(record) = item
                && let RecordData::Event(event) = record.data()
            {
                for field in event.dynamic_fields() {
                    assert!(lies_in(field.name().as_bytes(), mutant));
                }
                assert!(event.split_field_values().len() <= mutant.len());
            }
        }
        // Skipping finds the same ends as decoding, or gets further.
        let mut entries = [DirectoryEntry::EMPTY; 256];
        if let Ok(directory) = Directory::build(&chunk, &mut entries) {
            let records: u64 = directory.entries().iter().map(DirectoryEntry::record_count).sum();
            let decoded = items.iter().filter(|item| matches!(item, Item::Record(_))).count();
            assert!(records >= decoded as u64 && directory.error().is_none_or(|_| error.is_some()));
        }
        chunk.check(&mut |finding| assert!(!finding.cause().to_string().is_empty())).unwrap();
    });
    assert!(refused > 100, "{refused}");
}

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
fn resume_goes_on_after_damage() {
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
                let start = items.offset();
                let gap = items.recover().unwrap();
                assert_eq!((gap.offset(), gap.end(), gap.cause()), (start, items.offset(), error));
            }
            None => break,
        }
    }
    assert_eq!((iids, errors), (vec![5, 5, 9], vec![ErrorKind::NotUtf8; 2]));
    assert_eq!(items.recover(), None);

    let sequence = chunk.sequences().next().unwrap().unwrap();
    let mut records = sequence.records().unwrap();
    assert_eq!(records.next().unwrap().unwrap().micros(), 1);
    assert_eq!(records.next().unwrap().unwrap_err().kind(), ErrorKind::NotUtf8);
    let start = records.offset();
    assert!(records.next().is_none());
    let gap = records.recover().unwrap();
    assert_eq!((gap.offset(), gap.end()), (start, records.offset()));
    assert_eq!(gap.cause().kind(), ErrorKind::NotUtf8);
    assert_eq!(records.next().unwrap().unwrap().micros(), 3);
    assert!(records.next().is_none() && records.recover().is_none());

    // Both sequences are found, since their ends do not depend on texts.
    let sequences: Vec<_> = chunk.sequences().map(Result::unwrap).collect();
    let mut objects = sequences[1].objects();
    assert!(objects.next().unwrap().is_err() && objects.next().is_none());
    let (start, gap) = (objects.offset(), objects.recover().unwrap());
    assert_eq!((gap.offset(), gap.end()), (start, objects.offset()));
    assert_eq!(objects.next().unwrap().unwrap().iid(), 9);
    let found = findings(|report| chunk.check(report));
    assert_eq!(found.iter().filter(|(severity, ..)| *severity == Severity::Error).count(), 2);

    // An unknown kind has no known end.
    let data = chunk_with(&Writer::new().ints([1, 13, 5, 1, 6, 5]), 2);
    let mut items = Chunk::parse(&data).unwrap().items();
    while let Some(Ok(_)) = items.next() {}
    assert!(items.recover().is_none() && items.next().is_none());
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
        assert_eq!(Chunk::parse(&sequences).unwrap().sequence_count_max(), 1);
        // A sequence that is cut after its header counts: it is delivered.
        let cut = Writer::new().string("rfr-c/0.0.2").ints([0, 0, 9, 0, 9, count]).ints([1, 0, 9, 0]).0;
        let chunk = Chunk::parse(&cut).unwrap();
        let mut entries = vec![DirectoryEntry::EMPTY; chunk.sequence_count_max() as usize];
        assert_eq!(Directory::build(&chunk, &mut entries).unwrap().entries().len(), 1);
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
