//! Directories, merges, and the table of callsites.

use crate::common::prefixes;
use crate::common::rfr::{self as build, Sequence, Value, Writer};
use crate::{findings, walk};
use traceglass::rfr::{
    CallsiteKind, CallsiteTable, Callsites, Chunk, Directory, DirectoryEntry, FieldValue, Item, Level, Merge,
    MergeSlot, Object, RecordKind, Site, TaskKind,
};
use traceglass::{ErrorKind, Severity};

#[test]
fn directory_gives_random_access() {
    let built = build::all_variants();
    let data = built.bytes();
    let chunk = Chunk::parse(&data).unwrap();
    let mut entries = [DirectoryEntry::EMPTY; 3];
    let directory = Directory::build(&chunk, &mut entries).unwrap();
    assert_eq!(directory.error(), None);
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
        assert_eq!(directory.error().is_some(), error.is_some());
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
                    (record.unix_micros(&chunk.header()).unwrap(), source, record.offset())
                }));
            }
        }
        // Stable, so that ties keep the order of sources, and of records in one.
        expected.sort_by_key(|&(micros, source, _)| (micros, source));
        let merged: Vec<_> = merge.map(Result::unwrap).collect();
        let merged: Vec<_> =
            merged.iter().map(|one| (one.unix_micros(), one.source(), one.record().offset())).collect();
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

/// A damaged source is reported, and the others go on.
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
                Some(Ok(merged)) => times.push(merged.unix_micros()),
                Some(Err(error)) => {
                    assert!(merge.next().is_none());
                    let source = merge.failed_source().unwrap();
                    let gap = merge.recover().unwrap();
                    assert_eq!((gap.cause(), gap.offset()), (error, error.offset().min(gap.offset())));
                    assert!(gap.end() <= data.len() as u64 && merge.failed_source().is_none());
                    errors.push((source, error.kind()));
                }
                None => break,
            }
        }
        assert_eq!((times, merge.recover()), (expected, None));
        let mut expected = vec![(0, ErrorKind::NotUtf8)];
        if cut > 0 {
            expected.push((1, ErrorKind::UnexpectedEnd { needed: 1 }));
        }
        assert_eq!(errors, expected);
    }
}

#[test]
fn ids_lead_to_callsites() {
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
    let mut entries = [Site::EMPTY; 3];
    let table = CallsiteTable::build(&callsites, &mut entries).unwrap();
    assert_eq!(table.get(7), Some(all[0]));
    assert_eq!((table.get(u64::MAX), table.get(8), table.error()), (Some(all[1]), None, None));
    let error = CallsiteTable::build(&callsites, &mut [Site::EMPTY; 2]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 2, needed: 3 });
    let unnamed = (Severity::Warning, all[1].offset(), ErrorKind::Invalid { value: 200 });
    assert_eq!(findings(|report| callsites.check(report)), [unnamed]);
}

/// The command prints them, and other programs rely on them.
#[test]
fn names_are_those_of_the_document() {
    let names: Vec<String> = RecordKind::ALL.iter().map(|kind| kind.to_string()).collect();
    let expected = "SpanNew SpanEnter SpanExit SpanClose Event NewTask TaskPollStart TaskPollEnd TaskDrop \
        WakerWake WakerWakeByRef WakerClone WakerDrop End Callsite Span Task";
    assert_eq!(names.join(" "), expected);
    let kinds =
        [TaskKind::Task, TaskKind::Local, TaskKind::Blocking, TaskKind::BlockOn, TaskKind::Other("odd")];
    assert_eq!(kinds.map(TaskKind::name), ["Task", "Local", "Blocking", "BlockOn", "odd"]);
    let kinds = [CallsiteKind::Unknown, CallsiteKind::Event, CallsiteKind::Span];
    assert_eq!(kinds.map(CallsiteKind::name), ["Unknown", "Event", "Span"]);
    let levels = [0, 10, 20, 30, 40, 50, 60].map(|level| Level::new(level).name());
    assert_eq!(levels, [None, Some("trace"), Some("debug"), Some("info"), Some("warn"), Some("error"), None]);
}

/// Properties of a record are had without a match on its kind.
#[test]
fn records_and_objects_say_what_they_are_about() {
    let data = build::all_variants().bytes();
    let (items, _) = walk(&data);
    let (mut wakers, mut events, mut others) = (0, 0, 0);
    for item in &items {
        match item {
            Item::Record(record) => match record.data() {
                traceglass::rfr::RecordData::Event(event) => {
                    assert_eq!(record.data().event(), Some(event));
                    assert_eq!((record.event(), record.iid(), record.context()), (Some(event), None, None));
                    events += 1;
                }
                data if data.kind().is_waker() => {
                    let waker = data.waker().unwrap();
                    assert_eq!((record.iid(), record.context()), (Some(waker.task_iid()), waker.context()));
                    assert_eq!(data.iid(), Some(waker.task_iid()));
                    wakers += 1;
                }
                other => {
                    assert_eq!((record.iid(), record.event(), other.waker()), (other.iid(), None, None));
                    assert!(record.iid().is_some());
                    others += 1;
                }
            },
            Item::Object(object) => {
                let (offset, callsite) = match object {
                    Object::Span(span) => (span.offset(), span.callsite_id()),
                    Object::Task(task) => (task.offset(), task.callsite_id()),
                    _ => panic!("{object:?}"),
                };
                assert_eq!((object.offset(), object.callsite_id()), (offset, callsite));
                assert_eq!(object.as_task().is_some(), matches!(object, Object::Task(_)));
            }
            Item::Sequence(_) => {}
            _ => {}
        }
    }
    assert_eq!((wakers, events, others), (8, 3, 8));
    let said = format!("{items:?}");
    assert!(said.contains("TaskPollStart") && !said.contains("näme"), "a payload is said");
    let value = |value: FieldValue<'_>| (value.as_u64(), value.as_str().map(str::len));
    assert_eq!(value(FieldValue::U64(7)), (Some(7), None));
    assert_eq!(value(FieldValue::U128(7)), (Some(7), None));
    assert_eq!(value(FieldValue::I128(-7)), (None, None));
    assert_eq!(value(FieldValue::I64(7)), (Some(7), None));
    assert_eq!(value(FieldValue::Bool(true)), (None, None));
    assert_eq!(value(FieldValue::Str("abc")), (None, Some(3)));
    let value = |value: FieldValue<'_>| (value.as_i64(), value.as_f64(), value.as_bool());
    assert_eq!(value(FieldValue::I128(-7)), (Some(-7), None, None));
    assert_eq!(value(FieldValue::I64(i64::MIN)), (Some(i64::MIN), None, None));
    assert_eq!(value(FieldValue::U64(1 << 63)), (None, None, None));
    assert_eq!(value(FieldValue::U128(7)), (Some(7), None, None));
    assert_eq!(value(FieldValue::F64(-0.5)), (None, Some(-0.5), None));
    assert_eq!(value(FieldValue::Bool(false)), (None, None, Some(false)));
    assert_eq!(value(FieldValue::Str("1")), (None, None, None));
}
