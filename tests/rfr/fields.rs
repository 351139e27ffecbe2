//! The fields of a file, as they lie in it.

use crate::common::rfr::{self as build, Value, Writer};
use crate::common::{mutations, prefixes};
use traceglass::rfr::{Callsites, Chunk, Item, LayoutFields, Meta, RecordKind, Streaming};
use traceglass::{Error, ErrorKind, LayoutField, LayoutValue};

fn fields_of(data: &[u8]) -> Option<LayoutFields<'_>> {
    let chunk = Chunk::parse(data).map(|chunk| chunk.fields());
    let stream = chunk.or_else(|_| Streaming::parse(data).map(|stream| stream.fields()));
    let sites = stream.or_else(|_| Callsites::parse(data).map(|callsites| callsites.fields()));
    sites.or_else(|_| Meta::parse(data).map(|meta| meta.fields())).ok()
}

/// The fields, which follow each other without a byte between them, and what ended them.
fn walk(data: &[u8]) -> (Vec<LayoutField<'_>>, Option<Error>) {
    let Some(mut left) = fields_of(data) else { return (Vec::new(), None) };
    let (mut fields, mut at) = (Vec::new(), 0);
    let error = loop {
        match left.next_field() {
            Ok(Some(field)) => {
                assert!(field.offset() == at && field.size() > 0, "{field:?} at {at}");
                at += field.size();
                assert_eq!(left.offset(), at);
                fields.push(field);
            }
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    assert!(left.next().is_none() && left.next().is_none());
    assert!(at <= data.len() as u64);
    (fields, error)
}

/// Every type of value, every parent, every kind of task, record and callsite.
fn files() -> [(&'static str, Vec<u8>); 4] {
    let values = [
        Value::F64(0.5),
        Value::I64(i64::MIN),
        Value::U64(u64::MAX),
        Value::I128(i128::MIN),
        Value::U128(u128::MAX),
        Value::Bool(true),
        Value::Str("text"),
    ];
    let fields: Vec<(&str, Value<'_>)> = values.iter().map(|&value| ("field", value)).collect();
    let site = |kind| build::callsite(7, 30, kind, &fields, &["x", "y"]);
    let streamed = [
        (1, 0, 1, site(1)),
        (2, 1, 2, build::span(1, 7, build::Parent::Explicit(3), &values, &fields)),
        (3, 2, 4, build::task(2, 7, 1, "main", Ok(0), Some(1))),
        (4, 3, 3, build::event(7, build::Parent::Root, &values, &fields)),
        (5, 4, 10, Writer::new().ints([2])),
        (6, 5, 13, build::waker(2, Some(1))),
        (7, 6, 0, Writer::new()),
    ];
    [
        ("chunk", build::all_variants().bytes()),
        ("stream", build::stream(&streamed)),
        ("callsites", build::callsites(&[site(0), site(1), site(2)])),
        ("meta", build::meta(1_700_000_000, 5, &["rfr-c/0.0.2", "x/1.2.3"])),
    ]
}

#[test]
fn fields_cover_a_file_and_agree_with_its_views() {
    for (name, data) in files() {
        let (fields, error) = walk(&data);
        assert_eq!(error, None, "{name}");
        let end = fields.last().unwrap();
        assert_eq!(end.offset() + end.size(), data.len() as u64, "{name}");
    }
    let data = build::all_variants().bytes();
    let (fields, _) = walk(&data);
    let mut left = fields.iter();
    let mut next = |name: &str| *left.by_ref().find(|field| field.name() == name).unwrap();
    let chunk = Chunk::parse(&data).unwrap();
    assert_eq!(next("base time, s").value(), LayoutValue::Number(chunk.header().base_time()));
    assert_eq!(next("latest, µs").value(), LayoutValue::Number(chunk.header().latest()));
    let mut records = 0;
    for item in chunk.items() {
        match item.unwrap() {
            Item::Sequence(header) => {
                let field = next("sequence id");
                assert_eq!((field.offset(), field.value()), (header.offset(), header.seq_id().into_number()));
                assert_eq!(next("objects").value(), header.object_count().into_number());
            }
            Item::Object(object) => {
                assert_eq!(next("object").offset(), object.offset());
                assert_eq!(next("iid").value(), object.iid().into_number());
                assert_eq!(next("callsite id").value(), object.callsite_id().into_number());
            }
            Item::Record(record) => {
                let field = next("timestamp, µs");
                assert_eq!((field.offset(), field.value()), (record.offset(), record.micros().into_number()));
                let LayoutValue::Named(_, name) = next("record").value() else { panic!("{record:?}") };
                assert_eq!(name, record.kind().name());
                match record.kind() {
                    RecordKind::Event => {
                        let id = record.event().unwrap().callsite_id();
                        assert_eq!(next("callsite id").value(), id.into_number());
                    }
                    kind if kind.is_waker() => {
                        assert_eq!(next("task iid").value(), record.iid().unwrap().into_number());
                        let some = LayoutValue::Named(1, "some");
                        assert_eq!(next("context").value() == some, record.context().is_some());
                    }
                    _ => assert_eq!(next("iid").value(), record.iid().unwrap().into_number()),
                }
                records += 1;
            }
            item => panic!("{item:?}"),
        }
    }
    assert!(records >= 16);
}

trait IntoNumber {
    fn into_number(self) -> LayoutValue<'static>;
}

impl IntoNumber for u64 {
    fn into_number(self) -> LayoutValue<'static> {
        LayoutValue::Number(self)
    }
}

#[test]
fn values_of_each_type_are_told() {
    let [_, (_, stream), ..] = files();
    let (fields, _) = walk(&stream);
    let said: Vec<String> = fields
        .iter()
        .filter(|field| matches!(field.name(), "value" | "parent" | "parent iid" | "level" | "task kind"))
        .map(|field| field.value().to_string())
        .collect();
    let values = [
        "0.5",
        "-9223372036854775808",
        "18446744073709551615",
        "-170141183460469231731687303715884105728",
        "340282366920938463463374607431768211455",
        "1 true",
        "\"text\"",
    ];
    let expected = [
        &["30 info"][..],
        &values,
        &["2 Explicit", "3"],
        &values,
        &values,
        &["0 Task"],
        &["1 Root"],
        &values,
        &values,
    ];
    assert_eq!(said, expected.concat());
}

/// A cut is met where the views meet it; what is damaged in its value alone has a field.
#[test]
fn damage_ends_fields_where_nothing_more_can_be_told_apart() {
    for (name, data) in files() {
        let (all, _) = walk(&data);
        for prefix in prefixes(&data).take(data.len()) {
            let (fields, error) = walk(prefix);
            assert!(all.starts_with(&fields), "{name}");
            // Between two records of a stream, and between two callsites, a file can end.
            if let Some(error) = error {
                assert!(error.is_truncation() && error.offset() <= prefix.len() as u64, "{name}: {error}");
            }
        }
        mutations(&data, |_, mutant| {
            let (fields, error) = walk(mutant);
            assert!(fields.len() <= mutant.len());
            if let Some(error) = error {
                assert!(error.offset() <= mutant.len() as u64, "{name}: {error}");
            }
        });
    }
    let text = b"\x0crfr-cc/0.0.1\x07\x1e\x02\x01\x01\xff\x05\x02\0";
    let (fields, error) = walk(text);
    assert_eq!(error, None);
    let said: Vec<String> = fields.iter().skip(5).map(|field| field.value().to_string()).collect();
    assert_eq!(said, ["\"\\xff\"", "5 Bool", "2", "0"]);
    let (fields, error) = walk(b"\x0crfr-cc/0.0.1\x07\x1e\x03\0\0");
    let error = error.unwrap();
    assert_eq!((fields.len(), error.offset(), error.kind()), (3, 15, ErrorKind::Invalid { value: 3 }));
}
