//! RFR, read from files that are built field by field.
#![cfg(feature = "rfr")]

#[path = "../common/mod.rs"]
mod common;

mod access;
mod chunk;
mod damage;
mod fields;
mod files;
mod names;

use common::rfr::Writer;
use traceglass::rfr::{Chunk, Item, Record};
use traceglass::{Error, ErrorKind, Finding, Severity, Summary};

/// Items up to the first error.
pub fn walk(data: &[u8]) -> (Vec<Item<'_>>, Option<Error>) {
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
    assert_eq!(walk_by_records(&chunk), (found.clone(), error));
    (found, error)
}

/// The same items, with those records taken first that have no data of their own.
fn walk_by_records<'a>(chunk: &Chunk<'a>) -> (Vec<Item<'a>>, Option<Error>) {
    let (mut items, mut found) = (chunk.items(), Vec::new());
    loop {
        let at = items.offset();
        if let Some(record) = items.take_record() {
            assert!(record.offset() == at && at < items.offset());
            found.push(Item::Record(record));
            continue;
        }
        match items.next_item() {
            Ok(Some(item)) => found.push(item),
            Ok(None) => return (found, None),
            Err(error) => {
                assert_eq!(items.take_record(), None);
                return (found, Some(error));
            }
        }
    }
}

#[test]
fn records_without_data_of_their_own_are_taken() {
    let data = common::rfr::all_variants().bytes();
    let mut items = Chunk::parse(&data).unwrap().items();
    assert_eq!(items.take_record(), None);
    let mut taken = 0;
    while let Some(item) = items.next_item().unwrap() {
        assert!(matches!(item, Item::Sequence(_) | Item::Object(_) | Item::Record(_)));
        while items.take_record().is_some() {
            taken += 1;
        }
    }
    assert!(taken > 5, "{taken}");
}

/// The same items by way of sequences, objects and records.
pub fn walk_views(data: &[u8]) -> (Vec<Item<'_>>, Option<Error>) {
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

pub fn records(data: &[u8]) -> Vec<Record<'_>> {
    let record = |item| match item {
        Item::Record(record) => Some(record),
        _ => None,
    };
    walk(data).0.into_iter().filter_map(record).collect()
}

/// The findings of a check; its summary must count just those.
pub fn findings(
    check: impl FnOnce(&mut dyn FnMut(Finding)) -> traceglass::Result<Summary>,
) -> Vec<(Severity, u64, ErrorKind)> {
    let mut found = Vec::new();
    let summary = check(&mut |finding| {
        let cause = finding.cause();
        found.push((finding.severity(), cause.offset(), cause.kind()));
    })
    .unwrap();
    let count = |wanted| found.iter().filter(|(severity, ..)| *severity == wanted).count() as u64;
    assert_eq!((summary.errors(), summary.warnings()), (count(Severity::Error), count(Severity::Warning)));
    assert_eq!(summary.is_clean(), found.is_empty());
    found
}

/// A chunk of one sequence with these records, from `RECORDS_AT` on.
pub fn chunk_with(records: &Writer, count: u64) -> Vec<u8> {
    Writer::new()
        .string("rfr-c/0.0.2")
        .ints([0, 0, 9, 0, 9]) // base time, start, end, earliest, latest
        .ints([1]) //             sequences
        .ints([1, 0, 9, 0]) //    sequence id, earliest, latest, objects
        .ints([count])
        .raw(&records.0)
        .0
}

pub const RECORDS_AT: u64 = 12 + 5 + 1 + 4 + 1;
