//! The names of instrumentation ids, which recur; and records that tell them.

use crate::common::rfr::{self, Chunk, Parent, Sequence, Value, Writer, event};
use crate::common::told::told;
use traceglass::record::{Class, Head, Listener, Record as _, Slot, Wants};
use traceglass::rfr::{
    CallsiteTable, Callsites, Chunk as View, Identity, Item, NameSlot, NamedRecord, Names, Object,
    RecordKind, Registry, RegistrySlot, Site, StreamData, Streaming,
};
use traceglass::{Error, ErrorKind};

/// Names with room for as many.
type Room<'a, const N: usize> = Names<'a, 'a, [RegistrySlot; N], [NameSlot<'a>; N]>;

fn names<'a, const N: usize>() -> Room<'a, N> {
    Names::new([RegistrySlot::EMPTY; N], [NameSlot::EMPTY; N])
}

/// The line that a record tells, held against its class.
fn line(record: &NamedRecord<'_, '_>) -> String {
    told(record).unwrap().unwrap()
}

#[test]
fn records_say_what_they_refer_to() {
    let span = rfr::span(
        40,
        8,
        Parent::Explicit(41),
        &[Value::Str("GET"), Value::Bool(true)],
        &[("n", Value::I64(-1))],
    );
    let above = rfr::span(41, 7, Parent::Root, &[], &[]);
    let logged = event(9, Parent::Explicit(40), &[Value::U128(5)], &[("a", Value::F64(0.5))]);
    let data = Chunk::new(1)
        .sequence(
            Sequence::new(3)
                .object(0, &span)
                .object(0, &above)
                .task(5, 7, "main", Some(6))
                .about(1, 0, 40) // SpanNew
                .about(2, 1, 40) // SpanEnter
                .record(3, 4, &logged)
                .about(4, 6, 5) // TaskPollStart
                .waker(5, 9, 6, Some(5)), // WakerWake
        )
        .bytes();
    let place =
        |name| [("name", Value::Str(name)), ("file", Value::Str("src/a.rs")), ("line", Value::U64(3))];
    let file = rfr::callsites(&[
        rfr::callsite(7, 20, 2, &place("accept"), &[]),
        rfr::callsite(8, 30, 2, &place("request"), &["method"]),
        rfr::callsite(9, 200, 1, &[("target", Value::Str("t"))], &["size"]),
    ]);
    let (callsites, mut sites) = (Callsites::parse(&file).unwrap(), [Site::EMPTY; 3]);
    let table = CallsiteTable::build(&callsites, &mut sites).unwrap();
    let mut names = names::<8>();
    names.set_callsites(table);
    let chunk = View::parse(&data).unwrap();
    let (mut said, mut items) = (Vec::new(), chunk.items());
    while let Some(item) = items.next_item().unwrap() {
        match item {
            Item::Object(object) => {
                names.meet(&object).unwrap();
                said.push(line(&names.object(&object, Some(3))));
            }
            Item::Record(record) => {
                names.follow(&record.data());
                said.push(line(&names.record(&record, &chunk.header(), Some(3), items.offset())));
            }
            _ => {}
        }
    }
    assert_eq!(
        said,
        [
            "Span  seq_id=3 iid=40 span=request callsite_id=0x8 parent=41 parent_span=- target=- location=src/a.rs:3 \
             level=30(info) split_field_values={ method: GET value 0: true} dynamic_fields={ n: -1} micros=-}",
            "Span  seq_id=3 iid=41 span=accept callsite_id=0x7 parent=Root parent_span=- target=- \
             location=src/a.rs:3 level=20(debug) split_field_values={} dynamic_fields={} micros=-}",
            "Task  seq_id=3 iid=5 task_name=main callsite_id=0x7 task_id=5 task_kind=Task context=6 context_task=- \
             target=- location=src/a.rs:3 level=20(debug) micros=-}",
            "SpanNew @1000001000  seq_id=3 iid=40 span=request location=src/a.rs:3 \
             split_field_values={ method: GET value 0: true} dynamic_fields={ n: -1} micros=1000001}",
            "SpanEnter @1000002000  seq_id=3 iid=40 span=request location=src/a.rs:3 micros=1000002}",
            "Event @1000003000  seq_id=3 name=- callsite_id=0x9 parent=40 parent_span=request target=t location=- \
             level=200 split_field_values={ size: 5} dynamic_fields={ a: 0.5} micros=1000003}",
            "TaskPollStart @1000004000  seq_id=3 iid=5 task=main task_id=5 location=src/a.rs:3 micros=1000004}",
            "WakerWake @1000005000  seq_id=3 task_iid=6 task=- task_id=- context=5 context_task=main location=- \
             micros=1000005}",
        ]
    );
    let callsite = callsites.clone().nth(1).unwrap().unwrap();
    assert_eq!(
        line(&NamedRecord::of_callsite(&callsite)),
        "Callsite  seq_id=- callsite_id=0x8 level=30(info) callsite_kind=Span name=request target=- module_path=- \
         file=src/a.rs line=3 split_field_names=[ method] \
         const_fields={ name: request file: src/a.rs line: 3} micros=-}"
    );
    // Whoever has enough is told no more, and each record ends.
    struct Few(u32, u32);
    impl Listener for Few {
        fn begin(&mut self, _: &Head, _: &dyn Class) -> Wants {
            Wants::ALL
        }
        fn is_full(&self) -> bool {
            self.0 >= 3
        }
        fn unsigned(&mut self, _: Slot, _: u64) {
            self.0 += 1;
        }
        fn end(&mut self) {
            self.1 += 1;
        }
    }
    let mut few = Few(0, 0);
    NamedRecord::of_callsite(&callsite).tell(&mut few).unwrap();
    assert_eq!((few.0, few.1), (3, 1));
}

/// A name that was looked up is told again with each record: no more than its start, which says so.
#[test]
fn long_names_are_cut_with_a_sign() {
    let long = "ä".repeat(200);
    let data = Chunk::new(1).sequence(Sequence::new(1).task(5, 7, &long, None).about(1, 6, 5)).bytes();
    let place = [("file", Value::Str(&long)), ("line", Value::U64(3))];
    let many = "n".repeat(5000);
    let file = rfr::callsites(&[
        rfr::callsite(7, 20, 2, &place, &[]),
        rfr::callsite(8, 20, 2, &[("name", Value::Str("b"))], &[&many]),
    ]);
    let mut sites = [Site::EMPTY; 2];
    let table = CallsiteTable::build(&Callsites::parse(&file).unwrap(), &mut sites).unwrap();
    // One of more than 4 KiB is known by its id and level alone.
    assert_eq!((table.site(8).unwrap().name(), table.site(8).unwrap().level().number()), (None, 20));
    assert_eq!(table.get(8).unwrap().name(), Some("b"));
    let mut names = names::<1>();
    names.set_callsites(table);
    let chunk = View::parse(&data).unwrap();
    let mut said = Vec::new();
    for item in chunk.items() {
        match item.unwrap() {
            Item::Object(object) => {
                names.meet(&object).unwrap();
                said.push(line(&names.object(&object, Some(1))));
            }
            Item::Record(record) => said.push(line(&names.record(&record, &chunk.header(), Some(1), 0))),
            _ => {}
        }
    }
    let start = format!("{}…", "ä".repeat(128));
    assert!(said[0].contains(&format!("task_name={long}")), "its own name is told in full: {}", said[0]);
    assert!(
        said[1].contains(&format!("task={start}")) && said[1].contains(&format!("location={start}")),
        "{}",
        said[1]
    );
}

fn name<'a, const N: usize>(names: &Room<'a, N>, iid: u64) -> Option<&'a str> {
    names.get(iid)?.task()
}

/// Within a chunk the objects come first: the first one is meant until the next task begins, or the first span is closed.
#[test]
fn an_id_of_a_chunk_names_one_object_after_the_other() {
    let task = |id: u64, name: &str| rfr::task(5, 70, id, name, Ok(0), None);
    let span = |method| rfr::span(6, 70, Parent::Root, &[Value::Str(method)], &[]);
    let data = Chunk::new(2)
        .sequence(
            Sequence::new(1)
                .object(1, &task(1, "alpha"))
                .object(1, &task(2, "beta"))
                .object(0, &span("GET"))
                .object(0, &span("POST"))
                .about(1, 6, 5)
                .about(2, 8, 5) // TaskDrop
                .waker(3, 12, 5, None) // WakerDrop: of the one that was dropped
                .about(4, 5, 5) // NewTask
                .about(5, 8, 5)
                .about(6, 6, 5) // a poll of one that nothing describes
                .about(7, 1, 6)
                .about(8, 3, 6) // SpanClose
                .about(9, 0, 6), // SpanNew
        )
        .bytes();
    let chunk = View::parse(&data).unwrap();
    let mut names = names::<4>();
    let (mut found, mut values) = (Vec::new(), Vec::new());
    for item in chunk.items() {
        match item.unwrap() {
            Item::Object(object) => drop(names.meet(&object).unwrap()),
            Item::Record(record) => {
                names.follow(&record.data());
                found.push(name(&names, 5));
                let line = line(&names.object(&names.get(6).unwrap().object(), Some(1)));
                values.push(["GET", "POST"].into_iter().find(|method| line.contains(method)).unwrap());
            }
            _ => {}
        }
    }
    let (alpha, beta) = (Some("alpha"), Some("beta"));
    assert_eq!(found, [alpha, alpha, alpha, beta, beta, None, None, None, None]);
    assert_eq!(values[5..], ["GET", "GET", "GET", "POST"]);
    names.clear();
    assert!(names.get(5).is_none() && names.get(6).is_none());
}

#[test]
fn an_id_of_a_stream_names_an_object_from_its_record_to_the_next_beginning() {
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
        (1, 7, 12, about()),
        (1, 8, 4, task(3, "gamma")),
        (1, 9, 10, about()),
    ]);
    let stream = Streaming::parse(&file).unwrap();
    let mut names = names::<2>();
    let mut polls = Vec::new();
    for record in stream.records().map(Result::unwrap) {
        names.follow_stream(&record).unwrap();
        if matches!(record.kind(), RecordKind::TaskPollStart | RecordKind::TaskDrop) {
            polls.push(name(&names, 5));
        }
    }
    assert_eq!(polls, [None, Some("alpha"), Some("alpha"), None, Some("beta"), Some("gamma")]);
}

#[test]
fn too_little_room_is_said() {
    let object = |iid| rfr::task(iid, 70, iid, "a", Ok(0), None);
    let data = Chunk::new(2)
        .sequence((1..=3).fold(Sequence::new(1), |chunk, iid| chunk.object(1, &object(iid))))
        .bytes();
    let chunk = View::parse(&data).unwrap();
    let objects: Vec<_> = chunk
        .items()
        .map(Result::unwrap)
        .filter_map(|item| match item {
            Item::Object(object) => Some(object),
            _ => None,
        })
        .collect();
    fn meet<const IDS: usize, const VIEWS: usize>(objects: &[Object<'_>]) {
        let mut names = Names::new([RegistrySlot::EMPTY; IDS], [NameSlot::EMPTY; VIEWS]);
        names.meet(&objects[0]).unwrap();
        names.meet(&objects[1]).unwrap();
        let error: Error = names.meet(&objects[2]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 2, needed: 3 });
        assert_eq!(error.offset(), objects[2].offset());
    }
    meet::<2, 3>(&objects);
    meet::<3, 2>(&objects);
}

/// A registry that outlives the names of a file tells lives apart that it has seen in others.
#[test]
fn a_life_goes_on_in_the_next_file() {
    let task = |id: u64, name: &str| rfr::task(5, 70, id, name, Ok(0), None);
    let chunks = [
        Chunk::new(1).sequence(Sequence::new(1).object(1, &task(1, "alpha")).about(1, 6, 5)),
        Chunk::new(2).sequence(Sequence::new(1).object(1, &task(1, "alpha")).about(3, 8, 5)),
        Chunk::new(3).sequence(Sequence::new(1).object(1, &task(2, "beta")).about(1, 6, 5)),
        Chunk::new(4).sequence(Sequence::new(1).about(1, 6, 5)),
    ]
    .map(|chunk| chunk.bytes());
    let mut registry = Registry::new([RegistrySlot::EMPTY; 4]);
    let (mut lives, mut found) = (Vec::new(), Vec::new());
    for data in &chunks {
        let mut names: Names<'_, '_, _, _> = Names::lend(&mut registry, [NameSlot::EMPTY; 4]);
        for item in View::parse(data).unwrap().items() {
            match item.unwrap() {
                Item::Object(object) => drop(names.meet(&object).unwrap()),
                Item::Record(record) => {
                    names.follow(&record.data());
                    lives.push(names.life(5));
                    found.push(names.get(5).and_then(|named| named.task()));
                }
                _ => {}
            }
        }
    }
    assert!(lives[0] == lives[1] && lives[1] != lives[2] && lives[2] == lives[3] && lives[0].is_some());
    // The name is lent from a file: where that has no object, there is none.
    assert_eq!(found, [Some("alpha"), Some("alpha"), Some("beta"), None]);
}

/// The callsites of streams whose ids are the same: in each stream, the first one counts.
#[test]
fn the_first_callsite_of_a_stream_keeps_its_id() {
    let site = |name| rfr::callsites(&[rfr::callsite(7, 20, 2, &[("name", Value::Str(name))], &[])]);
    let span = rfr::span(40, 7, Parent::Root, &[], &[]);
    let chunk = Chunk::new(1).sequence(Sequence::new(1).object(0, &span)).bytes();
    let mut registry = Registry::new([RegistrySlot::EMPTY; 4]);
    for [first, second] in [["accept", "request"], ["connect", "accept"]] {
        let (first_file, second_file) = (site(first), site(second));
        let mut names: Names<'_, '_, _, _> = Names::lend(&mut registry, [NameSlot::EMPTY; 4]);
        for file in [&first_file, &second_file] {
            for callsite in Callsites::parse(file).unwrap() {
                names.meet_callsite(&callsite.unwrap()).unwrap();
            }
        }
        let chunk = View::parse(&chunk).unwrap();
        let mut spans = 0;
        for item in chunk.items() {
            if let Item::Object(object) = item.unwrap() {
                names.meet(&object).unwrap();
                let said = line(&names.object(&object, None));
                assert!(said.contains(&format!("span={first} callsite_id=0x7")), "{said}");
                spans += 1;
            }
        }
        assert_eq!(spans, 1);
    }
}

/// Against a list of all that ever was, on streams of a few ids that recur.
#[test]
fn names_are_those_of_an_obvious_search() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let (mut known, mut unknown) = (0_u64, 0_u64);
    for _ in 0..60 {
        let mut next = 0;
        let records: Vec<(u64, u32, u32, Writer)> = (0..400)
            .map(|at| {
                let iid = 1 + random(6);
                let (kind, data) = match random(8) {
                    0 => {
                        next += 1;
                        let name = format!("t{next}");
                        (4, rfr::task(iid, 7, next, &name, Ok(0), None))
                    }
                    1 => (9, Writer::new().ints([iid])),
                    2 | 3 => (12, Writer::new().ints([iid])),
                    4 => (13, Writer::new().ints([iid]).option(None)),
                    _ => (10, Writer::new().ints([iid])),
                };
                (at, 0, kind, data)
            })
            .collect();
        let file = rfr::stream(&records);
        let stream = Streaming::parse(&file).unwrap();
        let all: Vec<_> = stream.records().map(Result::unwrap).collect();
        let mut names = names::<12>();
        for (at, record) in all.iter().enumerate() {
            names.follow_stream(record).unwrap();
            let StreamData::Record(data) = record.data() else { continue };
            let iid = data.iid().unwrap();
            let expected = search(&all[..=at], iid);
            assert_eq!(name(&names, iid), expected, "record {at}");
            *(if expected.is_some() { &mut known } else { &mut unknown }) += 1;
        }
    }
    assert!(known > 1_000 && unknown > 500, "{known} {unknown}");
}

/// The name that an id has after these records: of the life that began last.
fn search<'a>(records: &[traceglass::rfr::StreamRecord<'a>], iid: u64) -> Option<&'a str> {
    // Each life: its object, whether it was born, whether it was dropped.
    let mut lives: Vec<(Option<traceglass::rfr::Task<'a>>, bool, bool)> = Vec::new();
    for record in records {
        match record.data() {
            StreamData::Task(task) if task.iid() == iid => match lives.last_mut() {
                Some((object @ None, ..)) => *object = Some(task),
                _ => lives.push((Some(task), false, false)),
            },
            StreamData::Record(data) if data.iid() == Some(iid) => {
                let Some((_, born, dropped)) = lives.last_mut() else { continue };
                let begins = match data.kind() {
                    RecordKind::NewTask => *born || *dropped,
                    RecordKind::TaskPollStart => *dropped,
                    _ => false,
                };
                if begins {
                    lives.push((None, data.kind() == RecordKind::NewTask, false));
                } else if data.kind() == RecordKind::NewTask {
                    *born = true;
                } else if data.kind() == RecordKind::TaskDrop {
                    *dropped = true;
                }
            }
            _ => {}
        }
    }
    lives.last()?.0.map(|task| task.name())
}

#[test]
fn an_identity_tells_objects_apart() {
    let data = Chunk::new(1)
        .sequence(
            Sequence::new(1)
                .object(1, &rfr::task(5, 7, 1, "a", Ok(0), None))
                .object(1, &rfr::task(5, 7, 2, "a", Ok(0), None))
                .object(1, &rfr::task(5, 7, 1, "a", Ok(0), Some(0)))
                .object(0, &rfr::span(5, 7, Parent::Root, &[], &[]))
                .object(0, &rfr::span(5, 7, Parent::Current, &[], &[]))
                .object(0, &rfr::span(5, 7, Parent::Root, &[Value::U64(0)], &[])),
        )
        .bytes();
    let chunk = View::parse(&data).unwrap();
    let identities: std::collections::HashSet<_> = chunk
        .items()
        .filter_map(|item| match item.unwrap() {
            Item::Object(object) => Some(Identity::of(&object)),
            _ => None,
        })
        .collect();
    assert_eq!(identities.len(), 6);
}
