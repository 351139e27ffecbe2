//! Any bytes as a chunk, and after a valid header: all ways through it tell the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceglass::rfr::{
    Chunk, Directory, DirectoryEntry, Identity, Item, Merge, MergeSlot, NameSlot, Names, Object, Record,
    RecordData, RegistrySlot, Sequence,
};
use traceglass::{Error, Severity};
use traceglass_fuzz::{found, lies_in, located_in, walk};

fuzz_target!(|data: &[u8]| {
    read(data);
    let mut file = Vec::from(*b"\x0brfr-c/0.0.2\x01\0\x09\0\x09");
    file.extend(data);
    read(&file);
});

fn read(data: &[u8]) {
    let chunk = match Chunk::parse(data) {
        Ok(chunk) => chunk,
        Err(error) => return located_in(&error, data),
    };
    // No item is empty.
    let most = data.len() as u64;
    let mut items = Vec::new();
    walk(chunk.fields(), data.len() as u64, data, |field| Some(field.offset()));
    let damage = walk(chunk.items(), most, data, |item| {
        items.push(*item);
        Some(match item {
            Item::Sequence(header) => header.offset(),
            Item::Object(object) => object_lies_in(object, data),
            Item::Record(record) => record_lies_in(record, data),
            item => panic!("{item:?}"),
        })
    });
    assert_eq!(views(&chunk), (items.clone(), damage));

    let mut reported = 0;
    chunk
        .check(&mut |finding| {
            found(&finding);
            reported += u32::from(finding.severity() == Severity::Error);
        })
        .unwrap();
    assert!(reported > 0 || damage.is_none());

    // On after damage, in any number of steps: never back, never for ever.
    let mut all = chunk.items();
    let mut last = 0;
    for step in 0.. {
        match all.next() {
            Some(Ok(_)) => {}
            Some(Err(_)) if all.recover().is_some() => {}
            _ => break,
        }
        assert!(all.offset() >= last && step <= most);
        last = all.offset();
    }
    assert!(all.recover().is_none() && all.next().is_none());

    if chunk.sequence_count_max() < 4096 {
        random_access(&chunk, data);
    }
}

/// Items by way of sequences, objects and records.
fn views<'a>(chunk: &Chunk<'a>) -> (Vec<Item<'a>>, Option<Error>) {
    let mut items = Vec::new();
    let damage = (|| {
        for sequence in chunk.sequences() {
            let sequence = sequence?;
            items.push(Item::Sequence(sequence.header()));
            for object in sequence.objects() {
                items.push(Item::Object(object?));
            }
            for record in sequence.records()? {
                items.push(Item::Record(record?));
            }
        }
        Ok(())
    })();
    (items, damage.err())
}

fn random_access(chunk: &Chunk<'_>, data: &[u8]) {
    let mut entries = vec![DirectoryEntry::EMPTY; chunk.sequence_count_max() as usize];
    let directory = Directory::build(chunk, &mut entries).unwrap();
    let sequences: Vec<Sequence<'_>> =
        (0..directory.entries().len()).map(|index| directory.sequence(index).unwrap()).collect();
    let mut slots = vec![MergeSlot::EMPTY; sequences.len()];
    let mut merge = Merge::new(&mut slots);
    let mut count = 0;
    for (sequence, entry) in sequences.iter().zip(directory.entries()) {
        assert!(entry.end_offset() <= data.len() as u64 && entry.records_offset() <= entry.end_offset());
        let records = sequence.records().unwrap();
        count += entry.record_count();
        let mut skipped = records.clone();
        for _ in 0..entry.record_count() {
            // A record that could be skipped once can be skipped again.
            assert!(skipped.skip_record().unwrap());
        }
        assert_eq!(skipped.offset(), entry.end_offset());
        if merge.add(&chunk.header(), records).is_err() {
            return;
        }
        let count = sequence.objects().count();
        let mut names = Names::new(vec![RegistrySlot::EMPTY; count], vec![NameSlot::EMPTY; 2 * count]);
        let objects: Vec<_> = sequence.objects().map_while(Result::ok).collect();
        for object in &objects {
            names.meet(object).unwrap();
        }
        for object in objects.iter().take(64) {
            // The first with the id, or one that looks the same.
            let first = objects.iter().find(|first| first.iid() == object.iid()).unwrap();
            let found = names.get(object.iid()).unwrap().object();
            assert_eq!(Identity::of(&found), Identity::of(first));
        }
    }
    let (mut last, mut merged, mut ordered) = (0, 0, true);
    loop {
        match merge.next() {
            Some(Ok(one)) => {
                merged += 1;
                ordered &= one.unix_micros() >= last;
                last = one.unix_micros();
            }
            Some(Err(error)) => {
                located_in(&error, data);
                assert!(merge.next().is_none() && merge.recover().is_some());
            }
            None => break,
        }
        assert!(merged <= count);
    }
    let in_order = |sequence: &Sequence<'_>| {
        sequence.records().unwrap().map_while(Result::ok).is_sorted_by_key(|record| record.micros())
    };
    let sound = |sequence: &Sequence<'_>| sequence.records().unwrap().all(|record| record.is_ok());
    assert!(ordered || !sequences.iter().all(|sequence| in_order(sequence) && sound(sequence)));
}

fn object_lies_in(object: &Object<'_>, data: &[u8]) -> u64 {
    match object {
        Object::Task(task) => {
            lies_in(task.name().as_bytes(), data);
            task.context();
        }
        Object::Span(span) => {
            for field in span.dynamic_fields() {
                lies_in(field.name().as_bytes(), data);
            }
            assert_eq!(span.split_field_values().len(), span.split_field_values().count());
        }
        _ => {}
    }
    object.offset()
}

fn record_lies_in(record: &Record<'_>, data: &[u8]) -> u64 {
    if let RecordData::Event(event) = record.data() {
        // Checked fields can be read: none is missing.
        assert_eq!(event.split_field_values().len(), event.split_field_values().count());
        assert_eq!(event.dynamic_fields().len(), event.dynamic_fields().count());
        for value in event.split_field_values() {
            lies_in(value.as_str().unwrap_or_default().as_bytes(), data);
        }
        assert_eq!(record.event(), Some(event));
    }
    assert_eq!((record.data().iid(), record.data().kind()), (record.iid(), record.kind()));
    record.offset()
}
