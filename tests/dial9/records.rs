//! Records: what listeners are told.

use crate::Rooms;
use crate::common::dial9::{LIST, MAP, OPTIONAL, POOLED_STRING, STRING, U8, VARINT, Writer, sample};
use crate::common::{mutations, prefixes};
use std::collections::HashMap;
use traceglass::dial9::{Frame, Frames, Records, Storage};
use traceglass::record::{
    Class, Fact, FieldInfo, Head, Listener, Record as _, Scope, Slot, Source, Step, Text, Wants,
};
use traceglass::{Error, ErrorKind};

/// Writes a line for each record.
#[derive(Default)]
struct Lines {
    names: HashMap<Slot, String>,
    lines: Vec<String>,
    line: String,
    abandoned: usize,
    wants_nothing: bool,
}

impl Lines {
    fn add(&mut self, slot: Slot, value: impl std::fmt::Display) {
        self.line += &format!(" {}{value}", self.names[&slot]);
    }
}

impl Listener for Lines {
    fn begin(&mut self, head: &Head, class: &dyn Class) -> Wants {
        assert_eq!((head.class, head.len), (class.id(), None));
        let mut kind = String::new();
        class.facts(&mut |name, fact| match fact {
            Fact::Text(text) if name == "kind" => kind = text.to_string(),
            _ => panic!("another fact"),
        });
        assert_eq!(kind, class.name().to_string());
        let mut depth = 0;
        class.fields(&mut |step| match step {
            Step::Field(FieldInfo { slot, name, kind, .. }) => {
                let name = name.map_or_else(String::new, |name| format!("{name}="));
                self.names.insert(slot, name);
                use traceglass::record::Kind::{Group, List, Map};
                depth += i32::from(matches!(kind, Group | List | Map));
            }
            Step::Scope(Scope::Fields) => depth += 1,
            Step::End => depth -= 1,
            other => panic!("{other:?}"),
        });
        assert_eq!(depth, 0);
        let time = head.time.map_or_else(|| "-".to_owned(), |time| time.ns().to_string());
        self.line = format!("{time} {}", class.name());
        if self.wants_nothing { Wants::NOTHING } else { Wants::ALL }
    }
    fn end(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.lines.push(line);
    }
    fn abandon(&mut self) {
        self.line.clear();
        self.abandoned += 1;
    }
    fn group(&mut self, slot: Slot) {
        self.add(slot, "{");
    }
    fn end_group(&mut self) {
        self.line += " }";
    }
    fn list(&mut self, slot: Slot, len: Option<u64>) {
        self.add(slot, format_args!("[{}:", len.unwrap()));
    }
    fn end_list(&mut self) {
        self.line += " ]";
    }
    fn key(&mut self, name: Text<'_>) {
        let mark = if matches!(name, Text::Other { is_valid: false, .. }) { "?" } else { "" };
        self.line += &format!(" {name}{mark}:");
    }
    fn unsigned(&mut self, slot: Slot, value: u64) {
        self.add(slot, value);
    }
    fn signed(&mut self, slot: Slot, value: i64) {
        self.add(slot, value);
    }
    fn boolean(&mut self, slot: Slot, value: bool) {
        self.add(slot, value);
    }
    fn float(&mut self, slot: Slot, value: f64) {
        self.add(slot, value);
    }
    fn text(&mut self, slot: Slot, value: Text<'_>) {
        self.add(slot, format_args!("\"{value}\""));
    }
    fn bytes(&mut self, slot: Slot, value: &[u8]) {
        self.add(slot, value.escape_ascii());
    }
    fn absent(&mut self, slot: Slot) {
        self.add(slot, "-");
    }
}

/// All records, and the errors between them.
fn told(data: &[u8], at_once: bool) -> (Lines, Vec<Error>) {
    let mut rooms = Rooms::default();
    let mut records = Records::new(data, rooms.lend());
    let (mut lines, mut errors) = (Lines::default(), Vec::new());
    loop {
        let told = if at_once {
            records.tell_all(&mut lines).map(|()| false)
        } else {
            match records.peek() {
                Ok(None) => Ok(false),
                Ok(Some(_)) => records.tell(&mut lines).map(|()| true),
                Err(error) => Err(error),
            }
        };
        match told {
            Ok(true) => {}
            Ok(false) => return (lines, errors),
            Err(error) => {
                let gap = records.take_gap().expect("what was lost");
                assert_eq!(gap.cause(), error);
                assert!(records.take_gap().is_none());
                errors.push(error);
            }
        }
        assert!(lines.line.is_empty());
    }
}

#[test]
fn every_type_is_told() {
    let (lines, errors) = told(&sample(), true);
    assert!(errors.is_empty());
    let values = [
        "-7",
        "1.5",
        "true",
        "\"größe\"",
        "\\x00\\xff",
        "[2: 16 32 ]",
        "\"src/main.rs:7:16\"",
        "[2: 4096 18446744073709551615 ]",
        "300",
        "{ k: \"v\" k: \"\" }",
        "200",
        "60000",
        "4000000000",
        "[2: 5 [1: false ] ]",
        "{ 1: \"one\" }",
    ];
    let all = |present: bool| {
        let fields = values
            .iter()
            .zip(1..)
            .map(|(value, kind)| format!(" f{kind}={value} o{kind}={}", if present { value } else { "-" }));
        fields.collect::<String>()
    };
    assert_eq!(
        lines.lines,
        [
            format!("1000005 All{}", all(true)),
            format!("1000015 All{}", all(false)),
            "- NoTime n=9".to_owned(),
            "2000000 PollStartEvent worker_id=1 local_queue=3 task_id=77 spawn_loc=\"src/other.rs:1:2\""
                .to_owned(),
            "2005000 PollEndEvent worker_id=1".to_owned(),
        ]
    );
}

/// Whatever the input, records are the events that frames are read as, and end where those do.
fn agrees_with_frames(data: &[u8]) {
    let (lines, errors) = told(data, true);
    let (again, same) = told(data, false);
    assert_eq!((&lines.lines, &errors, lines.abandoned), (&again.lines, &same, again.abandoned));
    let mut rooms = Rooms::default();
    let mut frames = Frames::new(data, rooms.lend());
    let (mut events, mut expected) = (Vec::new(), Vec::new());
    loop {
        match frames.next_event() {
            Ok(Some(event)) => {
                let time = event.moment().map_or_else(|| "-".to_owned(), |time| time.to_string());
                events.push(format!("{time} {}", event.name()));
            }
            Ok(None) => break,
            Err(error) => {
                frames.recover();
                expected.push(error);
            }
        }
    }
    assert_eq!(errors, expected);
    assert_eq!(lines.lines.len(), events.len());
    for (line, event) in lines.lines.iter().zip(&events) {
        assert!(line.starts_with(event.as_str()), "{line} is not {event}");
    }
    // Those who want no fields see the same heads.
    let mut rooms = Rooms::default();
    let mut records = Records::new(data, rooms.lend());
    let mut heads = Lines { wants_nothing: true, ..Lines::default() };
    let mut failed = 0;
    while records.tell_all(&mut heads).is_err() {
        failed += 1;
    }
    assert_eq!((heads.lines, heads.abandoned, failed), (events, lines.abandoned, errors.len()));
}

#[test]
fn records_are_what_frames_are() {
    let data = sample();
    prefixes(&data).for_each(agrees_with_frames);
    mutations(&data, |_, mutant| agrees_with_frames(mutant));
    let names: Vec<String> = (0..40).map(|n| format!("n{n}")).collect();
    let fields: Vec<(&str, u8)> = names
        .iter()
        .zip([VARINT, U8 | OPTIONAL, STRING].into_iter().cycle())
        .map(|(name, kind)| (name.as_str(), kind))
        .collect();
    let mut writer = Writer::new().header().schema(5, "Wide", &fields).event(5, 1);
    for (_, kind) in &fields {
        writer = match *kind {
            VARINT => writer.varint(1 << 40),
            STRING => writer.text("text"),
            _ => writer.raw(&[1, 7]),
        };
    }
    prefixes(&writer.0).for_each(agrees_with_frames);
    let (lines, _) = told(&writer.0, true);
    assert!(lines.lines[0].ends_with("n38=\"text\" n39=1099511627776"));
}

/// Two types whose numbers are noted in one place, a text that is not where its id says, and a header between.
#[test]
fn events_are_told_wherever_their_schemas_and_text_are() {
    let batch = |writer: Writer| {
        let fields = [("a", VARINT), ("s", POOLED_STRING)];
        let writer = writer.header().schema(5, "A", &fields).schema(69, "B", &fields);
        let writer = writer.strings(&[(7, "seven"), (3, "three")]).reset(1_000);
        (0..9_u64).fold(writer, |writer, number| {
            let writer = writer.event(if number % 3 == 0 { 5 } else { 69 }, 1).varint(number << (7 * number));
            writer.u32(3 + (number % 3) as u32 * 2)
        })
    };
    let data = batch(batch(Writer::new()));
    prefixes(&data.0).for_each(agrees_with_frames);
    mutations(&data.0, |_, mutant| agrees_with_frames(mutant));
    let (lines, _) = told(&data.0, true);
    assert_eq!(lines.lines.len(), 18);
    assert_eq!(lines.lines[0], "1001 A a=0 s=\"three\"");
    assert_eq!(lines.lines[13], "1005 B a=1073741824 s=\"pooled string 5\"");
    assert_eq!(lines.lines[14], "1006 B a=171798691840 s=\"seven\"");
}

/// A recorder writes the time 0 where there is none.
#[test]
fn symbols_are_told_without_a_time() {
    let schema = Writer::new().header().schema(5, "SymbolTableEntry", &[("addr", VARINT)]).reset(7);
    let data = schema.event(5, 0).varint(1).reset(0).event(5, 0).varint(2).event(5, 1).varint(3).0;
    agrees_with_frames(&data);
    let (lines, _) = told(&data, true);
    let times = ["7 SymbolTableEntry addr=1", "- SymbolTableEntry addr=2", "1 SymbolTableEntry addr=3"];
    assert_eq!(lines.lines, times);
}

#[test]
fn nested_values_and_keys_of_any_type_are_told() {
    // {[]: {"a": [1, {}]}, pooled text: a stack that is nowhere, 7: 8, text that is nowhere: 9}
    let map = Writer::new()
        .u32(4)
        .raw(&[LIST])
        .u32(0)
        .raw(&[MAP])
        .u32(1)
        .raw(&[STRING])
        .text("a")
        .raw(&[LIST])
        .u32(2)
        .raw(&[VARINT])
        .varint(1)
        .raw(&[MAP])
        .u32(0)
        .raw(&[POOLED_STRING])
        .u32(3)
        .raw(&[6])
        .u32(8)
        .raw(&[VARINT, 7, VARINT, 8, POOLED_STRING])
        .u32(5)
        .raw(&[VARINT, 9]);
    let data =
        Writer::new().header().schema(1, "M", &[("m", MAP), ("s", POOLED_STRING)]).strings(&[(3, "three")]);
    let data = data.event(1, 0).raw(&map.0).u32(4);
    let (lines, errors) = told(&data.0, true);
    assert!(errors.is_empty());
    assert_eq!(
        lines.lines,
        ["- M m={ : { a: [2: 1 { } ] } three: - 7: 8 pooled string 5?: 9 } s=\"pooled string 4\""]
    );
}

#[test]
fn units_and_meanings_are_told_with_the_class() {
    #[derive(Default)]
    struct Infos(Vec<String>);
    impl Listener for Infos {
        fn begin(&mut self, _: &Head, class: &dyn Class) -> Wants {
            assert_eq!(class.clock().unwrap().to_string(), "monotonic");
            class.fields(&mut |step| {
                if let Step::Field(info) = step {
                    let name = info.name.map_or_else(|| "-".to_owned(), |name| name.to_string());
                    let mut labels = String::new();
                    if let Some(each) = info.labels {
                        each(&mut |label, from, to| labels += &format!(" {from}..={to} {label}"));
                    }
                    self.0.push(format!("{} {name} {:?} {:?}{labels}", info.slot.0, info.hint, info.unit));
                }
            });
            Wants::NOTHING
        }
    }
    let fields = [("cpu", VARINT), ("used", VARINT), ("wait", VARINT)];
    let data = Writer::new()
        .header()
        .schema(1, "Own", &fields)
        .annotations(1, &[(0, "unit", "ns"), (1, "unit", "bytes")])
        .annotations(1, &[(2, "unit", "ms"), (2, "kind", "gauge")])
        .schema(2, "CpuSampleEvent", &[("source", U8), ("callchain", 6)])
        .event(1, 0)
        .raw(&[1, 2, 3])
        .event(2, 0)
        .raw(&[0])
        .u32(0);
    let mut rooms = Rooms::default();
    let mut records = Records::new(&data.0, rooms.lend());
    let mut infos = Infos::default();
    records.tell_all(&mut infos).unwrap();
    assert_eq!(
        infos.0,
        [
            "0 cpu Duration None",
            "2 used None Some(\"B\")",
            "4 wait None Some(\"ms\")",
            "6 source Label None 0..=0 on-cpu 1..=1 context-switch",
            "8 callchain None None",
            "9 - Address None",
        ]
    );
}

#[test]
fn without_room_for_classes_nothing_is_told() {
    let data = sample();
    let mut rooms = Rooms::default();
    let mut records = Records::new(&data, Storage::new(&mut rooms.schemas));
    for _ in 0..2 {
        let error = records.peek().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 0, needed: 1 });
    }
}

#[test]
fn an_event_is_a_record_by_itself_and_a_batch_is_read_from_its_header() {
    let mut data = sample();
    data.extend(sample());
    let mut rooms = Rooms::default();
    let mut in_turn = Lines::default();
    Records::new(&data, rooms.lend()).tell_all(&mut in_turn).unwrap();
    let (mut rooms, mut alone, mut all) = (Rooms::default(), Lines::default(), Vec::new());
    let mut frames = Frames::new(&data, rooms.lend());
    while let Some(frame) = frames.next_frame().unwrap() {
        all.push((frame.offset(), frame.nanoseconds(), matches!(frame, Frame::Header(_))));
        if let Frame::Event(event) = frame {
            frames.record(&event).tell(&mut alone).unwrap();
        }
    }
    assert!(alone.lines.len() > 3);
    assert_eq!(alone.lines, in_turn.lines);
    let batches: Vec<usize> = (0..all.len()).filter(|place| all[*place].2).collect();
    assert!(batches.len() > 1);
    for first in batches {
        let mut rooms = Rooms::default();
        let mut frames = Frames::at_batch(&data, all[first].0, rooms.lend());
        for expected in &all[first..] {
            let frame = frames.next_frame().unwrap().unwrap();
            assert_eq!((frame.offset(), frame.nanoseconds()), (expected.0, expected.1));
        }
        assert!(frames.next_frame().unwrap().is_none());
    }
}
