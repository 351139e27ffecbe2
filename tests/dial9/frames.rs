//! What frames say.

use crate::common::dial9::{POLL_START, POOLED_STACK, POOLED_STRING, U8, VARINT, Writer, sample};
use crate::{events, read};
use traceglass::Format;
use traceglass::dial9::{FieldType, Frames, PoolSlot, SchemaSlot, Storage, Value};

#[test]
fn each_kind_of_frame_and_each_type_is_read() {
    let data = sample();
    assert_eq!(Format::detect(&data), Some(Format::Dial9));
    let told = read(&data);
    assert!(told.errors.is_empty());
    let said: Vec<&str> = told.frames.iter().map(|(_, said)| said.as_str()).collect();
    let names: Vec<String> = (1..=15)
        .flat_map(|kind| {
            let name = FieldType::from_number(kind).unwrap();
            [format!("f{kind}: {name}"), format!("o{kind}: {name}?")]
        })
        .collect();
    let values = [
        "I64(-7)",
        "F64(1.5)",
        "Bool(true)",
        "\"gr\\xc3\\xb6\\xc3\\x9fe\"",
        "\"\\x00\\xff\"",
        "[16, 32]",
        "\"src/main.rs:7:16\"",
        "[4096, 18446744073709551615]",
        "Varint(300)",
        r#"[("\"k\"", "\"v\""), ("\"k\"", "\"\"")]"#,
        "U8(200)",
        "U16(60000)",
        "U32(4000000000)",
        "[Varint(5) [Bool(false)]]",
        "{U8(1) \"one\"}",
    ];
    let all = |present: bool| {
        let fields = values
            .iter()
            .zip(1..)
            .map(|(value, kind)| format!("f{kind}={value} o{kind}={}", if present { value } else { "-" }));
        fields.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        said,
        [
            "header",
            &format!("1 All: [{}]", names.join(", ")),
            r#"1 [(24, "unit", "ns"), (24, "kind", "gauge")]"#,
            r#"[(0, "src/main.rs:7:16"), (1, "")]"#,
            "[(0, []), (1, [16, 32])]",
            "reset 1000000",
            &format!("1000005 All {}", all(true)),
            &format!("1000015 All {}", all(false)),
            "300 NoTime: [n: Varint]",
            "- NoTime n=Varint(9)",
            "header",
            "2 PollStartEvent: [worker_id: Varint, local_queue: U8, task_id: Varint, spawn_loc: PooledString]",
            "3 PollEndEvent: [worker_id: Varint]",
            r#"[(0, "src/other.rs:1:2")]"#,
            "reset 2000000",
            "2000000 PollStartEvent worker_id=Varint(1) local_queue=U8(3) task_id=Varint(77) spawn_loc=\"src/other.rs:1:2\"",
            "2005000 PollEndEvent worker_id=Varint(1)",
        ]
    );
}

#[test]
fn every_alignment_says_the_same() {
    let data = sample();
    let told = read(&data);
    crate::common::at_alignments(&data, |data| assert_eq!(read(data), told));
}

#[test]
fn times_count_from_the_last_event_and_go_back() {
    let data = Writer::new()
        .header()
        .schema(0, "T", &[])
        .schema_timed(1, "N", 0, &[("n", VARINT)])
        .event(0, 3)
        .untimed(1)
        .varint(1)
        .event(0, 0xff_ffff)
        .reset(u64::MAX)
        .event(0, 0)
        .reset(5)
        .reset(7)
        .event(0, 1)
        .header()
        .schema(0, "T", &[])
        .event(0, 2);
    let said = events(&data.0);
    let times: Vec<_> = said.iter().map(|said| said.split(' ').next().unwrap()).collect();
    assert_eq!(times, ["3", "-", "16777218", "18446744073709551615", "8", "2"]);
}

#[test]
fn ids_mean_something_else_in_another_batch_and_from_a_new_definition_on() {
    let fields = [("s", POOLED_STRING), ("k", POOLED_STACK)];
    let refer = |writer: Writer| writer.event(9, 1).u32(7).u32(7);
    let start = Writer::new().header().schema(9, "A", &fields);
    let first = refer(refer(start).strings(&[(7, "one")]).stacks(&[(7, &[1])]));
    let second = refer(first.strings(&[(7, "two"), (7, "three")]).stacks(&[(7, &[2, 3])]));
    let third = refer(second.header().schema(9, "B", &fields));
    assert_eq!(
        events(&third.0),
        ["1 A s=#7 k=#7", "2 A s=\"one\" k=[1]", "3 A s=\"three\" k=[2, 3]", "1 B s=#7 k=#7"]
    );
}

#[test]
fn the_same_schema_may_come_again_after_its_annotations() {
    let data = Writer::new()
        .header()
        .schema(1, "A", &[("n", VARINT)])
        .annotations(1, &[(0, "unit", "ns")])
        .schema(1, "A", &[("n", VARINT)])
        .annotations(1, &[(0, "kind", "gauge")])
        .annotations(65_537, &[(0, "unit", "none")])
        .annotations(2, &[(0, "unit", "none")])
        .event(1, 0)
        .varint(4);
    let mut rooms = crate::Rooms::default();
    let mut frames = Frames::new(&data.0, rooms.lend());
    while let Some(event) = frames.next_event().unwrap() {
        let id = event.schema().type_id();
        let said: Vec<_> =
            frames.annotations(id).map(|entry| (entry.field(), entry.key(), entry.value())).collect();
        assert_eq!(said, [(0, "unit", "ns"), (0, "kind", "gauge")]);
        assert_eq!((event.get("n"), event.get("m")), (Some(Value::Varint(4)), None));
    }
    assert_eq!(frames.offset(), data.0.len() as u64);
}

#[test]
fn classes_are_the_same_in_all_batches() {
    let poll = |writer: Writer, id| writer.schema(id, "PollStartEvent", &POLL_START);
    let end = |writer: Writer, id| writer.schema(id, "PollEndEvent", &[("worker_id", VARINT)]);
    // The same name with another layout is another class.
    let other = |writer: Writer, id| writer.schema(id, "PollEndEvent", &[("worker_id", U8)]);
    let data = other(end(poll(Writer::new().header(), 5), 6).header(), 5);
    let data = poll(end(data, 70_00), 300);
    let mut rooms = crate::Rooms::default();
    let mut frames = Frames::new(&data.0, rooms.lend());
    let mut found = Vec::new();
    while let Some(frame) = frames.next_frame().unwrap() {
        if let traceglass::dial9::Frame::Schema(schema) = frame {
            found.push(frames.class(schema.type_id()).unwrap());
        }
    }
    assert_eq!(found, [0, 1, 2, 1, 0]);
    assert_eq!(frames.class(1), None);
}

/// The format's own reader calls itself for each, and ends without room for that.
#[test]
fn any_number_of_resets_and_headers_is_read() {
    let mut writer = Writer::new().header().schema(0, "T", &[]);
    for _ in 0..20_000 {
        writer = writer.reset(5);
    }
    let resets = writer.event(0, 1).0;
    assert_eq!(events(&resets), ["6 T "]);
    let headers = b"TRC\0\x01".repeat(20_000);
    assert_eq!(read(&headers).frames.len(), 20_000);
}

/// As many types, fields and entries as there can be, in an order that is no order.
#[test]
fn ids_of_any_number_are_found() {
    let ids: Vec<u16> = (0..2_000_u16).map(|n| n.wrapping_mul(40_503)).collect();
    let mut writer = Writer::new().header();
    for &id in &ids {
        let wide = u32::from(id).wrapping_mul(0x9e37_79b1);
        writer = writer
            .schema(id, &format!("T{id}"), &[("s", POOLED_STRING)])
            .strings(&[(wide, &format!("s{id}"))]);
    }
    for &id in ids.iter().rev() {
        writer = writer.event(id, 0).u32(u32::from(id).wrapping_mul(0x9e37_79b1));
    }
    let expected: Vec<_> = ids.iter().rev().map(|id| format!("0 T{id} s=\"s{id}\"")).collect();
    assert_eq!(events(&writer.0), expected);
}

#[test]
fn more_fields_than_a_plan_has_room_for_are_read() {
    for count in [15, 16, 17, 40, 2000] {
        let names: Vec<String> = (0..count).map(|n| format!("n{n}")).collect();
        let fields: Vec<(&str, u8)> = names.iter().map(|name| (name.as_str(), VARINT | 0x80)).collect();
        let mut writer = Writer::new().header().schema(0, "T", &fields).event(0, 1);
        let mut expected = Vec::new();
        for n in 0..count {
            writer = if n % 3 == 0 { writer.raw(&[0]) } else { writer.raw(&[2]).varint(n * 1000) };
            expected.push(if n % 3 == 0 { format!("n{n}=-") } else { format!("n{n}=Varint({})", n * 1000) });
        }
        assert_eq!(events(&writer.0), [format!("1 T {}", expected.join(" "))]);
    }
}

#[test]
fn without_pools_the_ids_remain() {
    let data = sample();
    let mut schemas = [SchemaSlot::EMPTY; 4];
    let mut frames = Frames::new(&data, Storage::new(&mut schemas));
    let mut polls = 0;
    while let Some(event) = frames.next_event().unwrap() {
        if let Some(value) = event.get("spawn_loc") {
            assert_eq!(value, Value::PooledString(0));
            assert_eq!((frames.string(0), frames.stack(0), frames.class(2)), (None, None, None));
            polls += 1;
        }
    }
    assert_eq!((polls, frames.batch()), (1, 2));
    let mut strings = [PoolSlot::EMPTY; 2];
    let mut frames = Frames::new(&data, Storage::new(&mut schemas).strings(&mut strings));
    while frames.next_event().unwrap().is_some() {}
    assert_eq!((frames.string(0), frames.string(1)), (Some(&b"src/other.rs:1:2"[..]), None));
}

#[test]
fn each_field_of_a_frame_is_located() {
    let data = sample();
    let mut rooms = crate::Rooms::default();
    let mut frames = Frames::new(&data, rooms.lend());
    let mut said = String::new();
    while let Some(frame) = frames.next_frame().unwrap() {
        if frame.offset() == 0 || frame.kind_name() == "annotations" || frames.batch() == 2 {
            for field in frames.fields(&frame) {
                let name = if field.document_name().is_empty() { "-" } else { field.document_name() };
                said += &format!("{} {}: {}, ", field.name(), name, field.value());
            }
        }
    }
    for expected in [
        "magic magic: \"TRC\", version version: 1, ",
        "tag tag: 6, type id type_id: 1, count count: 2, field field_index: 24, key key: \"unit\", value value: \"ns\", ",
        "type field_type: 7 PooledString, ",
        "tag tag: 3, count count: 1, id pool_id: 0, text bytes: \"src/other.rs:1:2\", ",
        "tag tag: 5, time timestamp_ns: 2000000, ",
        "tag tag: 2, type id type_id: 2, delta timestamp_delta_ns: 0, worker_id -: 1, local_queue -: 3, task_id -: 77, ",
    ] {
        assert!(said.contains(expected), "{expected} is not in {said}");
    }
}
