//! Variants: which option a selector chooses, and how options are found by name.

use crate::numbers::Random;
use crate::samples::{BYTE, metadata};
use traceglass::ctf::data::{Packets, Value};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::tsdl::{NameEntry, TypeNode, Workspace, compile};
use traceglass::ctf::schema::{Node, Schema, Scope, element};
use traceglass::{Error, ErrorKind};

/// A trace whose records are a selector of a byte and a variant of bytes.
fn trace(signed: bool, options: &[Vec<(i16, i16)>]) -> String {
    let selector = if signed { BYTE.replace("unsigned", "signed") } else { BYTE.to_string() };
    let options: Vec<String> = options
        .iter()
        .map(|ranges| {
            let ranges: Vec<String> = ranges.iter().map(|(lo, hi)| format!("[{lo}, {hi}]")).collect();
            format!(r#"{{"field-class": {BYTE}, "selector-field-ranges": [{}]}}"#, ranges.join(","))
        })
        .collect();
    let variant = format!(
        r#"{{"type": "variant", "selector-field-location": {{"path": ["t"]}}, "options": [{}]}}"#,
        options.join(",")
    );
    let members =
        format!(r#"{{"name": "t", "field-class": {selector}}}, {{"name": "v", "field-class": {variant}}}"#);
    metadata(&[
        r#"{"type": "data-stream-class"}"#,
        &format!(
            r#"{{"type": "event-record-class", "payload-field-class": {{"type": "structure", "member-classes": [{members}]}}}}"#
        ),
    ])
}

/// The option that each selector from 0x00 to 0xff chooses.
fn chosen(text: &str) -> Result<Vec<Option<u32>>, Error> {
    let stream = MetadataStream::parse(text.as_bytes())?;
    let mut nodes = vec![Node::EMPTY; Schema::needed(&stream)? as usize];
    let schema = Schema::compile(&stream, &mut nodes)?;
    Ok((0..=u8::MAX)
        .map(|selector| {
            let data = [selector, 1];
            let packet = Packets::new(&data, &schema).next_packet().unwrap().unwrap();
            let record = packet.records().next_record().ok().flatten()?;
            let mut fields = record.payload()?;
            fields.next_field().unwrap();
            match fields.next_field().unwrap().unwrap().value() {
                Value::Variant(option) => Some(option),
                other => panic!("{other:?}"),
            }
        })
        .collect())
}

/// Few options and many, with one range and many, against looking at each of them.
#[test]
fn each_selector_chooses_its_option() {
    let mut random = Random(7);
    for round in 0..200 {
        let signed = round % 2 == 0;
        let (lowest, highest) = if signed { (-128, 127) } else { (0, 255) };
        let count = [1, 2, 9, 17, 40, 90][round % 6];
        let mut options = vec![Vec::new(); count];
        let mut at: i16 = lowest + (random.next() % 3) as i16;
        while at <= highest {
            let end = (at + (random.next() % 4) as i16).min(highest);
            options[random.next() as usize % count].push((at, end));
            at = end + 1 + (random.next() % 2) as i16;
        }
        options.retain(|ranges| !ranges.is_empty());
        for ranges in &mut options {
            // Any order, and a range that another one of the same option has in it.
            ranges.reverse();
            ranges.push(ranges[0]);
        }
        let expected: Vec<Option<u32>> = (0..=u8::MAX)
            .map(|byte| {
                let value = if signed { i16::from(byte as i8) } else { byte.into() };
                let chosen =
                    |ranges: &Vec<(i16, i16)>| ranges.iter().any(|(lo, hi)| (*lo..=*hi).contains(&value));
                options.iter().position(chosen).map(|option| option as u32)
            })
            .collect();
        assert_eq!(chosen(&trace(signed, &options)).unwrap(), expected, "{options:?}");
    }
}

/// Ranges of two options that meet are refused at the later option's name, or before it; however many there are.
#[test]
fn options_that_overlap_are_refused() {
    for count in [2, 16, 17, 100, 1_100] {
        let mut options: Vec<Vec<(i16, i16)>> = (0..count).map(|n| vec![(2 * n, 2 * n)]).collect();
        assert!(chosen(&trace(false, &options)).is_ok());
        options[0].push((2 * count - 2, 2 * count));
        let error = chosen(&trace(false, &options)).unwrap_err();
        assert_eq!((error.kind(), error.element()), (ErrorKind::Repeated, element::RANGE), "{count}");
    }
}

fn with_tsdl<T>(text: &str, read: impl FnOnce(&Schema<'_, '_>) -> T) -> T {
    let stream = MetadataStream::parse(text.as_bytes()).unwrap();
    let (mut nodes, mut types, mut names) =
        (vec![Node::EMPTY; 9000], vec![TypeNode::default(); 9000], vec![NameEntry::default(); 9000]);
    let schema = compile(stream, &mut nodes, Workspace { nodes: &mut types, names: &mut names }).unwrap();
    read(&schema)
}

const HEAD: &str = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
    typealias integer { size = 8; } := u8;";

/// A label that an enumeration lists several times has all the values, and so has the option of its name.
#[test]
fn a_label_that_is_repeated_has_several_ranges() {
    let text = format!(
        "{HEAD} event {{ name = e; fields := struct {{
            enum : u8 {{ a = 9, b, a = 1 ... 3, a = 2 ... 5, c = 20, b = 0, \"a\" = 30, c = 40 ... 44, d }} t;
            variant <t> {{ u8 c; u8 b; u8 a; u8 d; }} v; }}; }};"
    );
    with_tsdl(&text, |schema| {
        let class = schema.stream_class(0).unwrap().event_class(0).unwrap();
        let tag = class.scope(Scope::Payload).unwrap().children().next().unwrap();
        let labels: Vec<(String, Vec<(i128, i128)>)> = tag
            .mappings()
            .map(|mapping| (mapping.name().unwrap().to_string(), mapping.ranges().collect()))
            .collect();
        let expected = [
            ("a", vec![(1, 5), (9, 9), (30, 30)]),
            ("b", vec![(0, 0), (10, 10)]),
            ("c", vec![(20, 20), (40, 44)]),
            ("d", vec![(45, 45)]),
        ];
        assert_eq!(labels, expected.map(|(name, ranges)| (name.to_string(), ranges)));
        for selector in 0..=u8::MAX {
            let data = [selector, 1];
            let packet = Packets::new(&data, schema).next_packet().unwrap().unwrap();
            let option = match selector {
                1..=5 | 9 | 30 => Some(Value::Variant(2)),
                0 | 10 => Some(Value::Variant(1)),
                20 | 40..=44 => Some(Value::Variant(0)),
                45 => Some(Value::Variant(3)),
                _ => None,
            };
            let record = packet.records().next_record().ok().flatten();
            let found = record.map(|record| record.payload().unwrap().find("v").unwrap().unwrap().value());
            assert_eq!(format!("{found:?}"), format!("{option:?}"), "{selector}");
        }
    });
}

/// Many members and options are found by their names as few are: here those of a path through both.
#[test]
fn paths_lead_through_many_names() {
    for count in [3, 16, 17, 300] {
        let names: Vec<String> = (0..count).map(|n| format!("m{}", (n * 7) % count)).collect();
        let labels = names.join(",");
        let options: String =
            names.iter().map(|name| format!("struct {{ u8 x{name}; u8 l; }} {name};")).collect();
        let members: String = names.iter().map(|name| format!("u8 {name};")).collect();
        let text = format!(
            "{HEAD} typealias integer {{ size = 16; align = 8; }} := u16;
            event {{ name = e; fields := struct {{
            struct {{ {members} }} s; enum : u16 {{ {labels} }} t; variant <t> {{ {options} }} v;
            u8 last[v.l]; u8 more[s.m1]; }}; }};"
        );
        with_tsdl(&text, |schema| {
            for option in 0..count {
                let mut data: Vec<u8> =
                    names.iter().map(|name| if name == "m1" { 2 } else { 0x55 }).collect();
                data.extend([option as u8, (option >> 8) as u8, 77, 3, 10, 11, 12, 20, 21]);
                let packet = Packets::new(&data, schema).next_packet().unwrap().unwrap();
                let record = packet.records().next_record().unwrap().unwrap();
                let fields = record.payload().unwrap();
                assert!(matches!(fields.clone().find("v.l").unwrap().unwrap().value(), Value::Unsigned(3)));
                assert!(matches!(fields.find("more").unwrap().unwrap().value(), Value::Array(2)));
            }
        });
    }
}

/// If one option has a length and another one something else of that name, the path is refused, whichever is first.
#[test]
fn a_length_is_one_in_each_option() {
    for options in ["u8 l; } a; struct { string l;", "string l; } a; struct { u8 l;"] {
        let text = format!(
            "{HEAD} event {{ name = e; fields := struct {{ enum : u8 {{ a, b }} t;
            variant <t> {{ struct {{ {options} }} b; }} v; u8 s[v.l]; }}; }};"
        );
        let stream = MetadataStream::parse(text.as_bytes()).unwrap();
        let error = Schema::compile(&stream, &mut [Node::EMPTY; 100]).unwrap_err();
        assert_eq!(error.element(), traceglass::ctf::schema::tsdl::element::PATH, "{error}");
        assert_eq!(error.offset() as usize, text.find("v.l").unwrap());
    }
}

/// A path without a scope begins in the innermost structure that has all of it, among what precedes the field.
#[test]
fn paths_lead_outwards() {
    let fields = |fields: &str| {
        format!("{HEAD} event {{ name = e; fields := struct {{ struct {{ u8 n; u8 m; }} a; {fields} }}; }};")
    };
    let length = |text: &str| {
        with_tsdl(text, |schema| {
            let data = [1, 2, 3, 4, 5, 6, 7, 8, 9];
            let packet = Packets::new(&data, schema).next_packet().unwrap().unwrap();
            let record = packet.records().next_record().unwrap().unwrap();
            let found = record.payload().unwrap().find("s.list").unwrap().unwrap().value();
            let Value::Array(length) = found else { panic!("{found:?}") };
            length
        })
    };
    // The nearest one; one that has the whole path; one that stands before the list.
    assert_eq!(length(&fields("struct { struct { u8 n; u8 m; } a; u8 list[a.n]; } s;")), 3);
    assert_eq!(length(&fields("struct { struct { u8 m; } a; u8 list[a.n]; } s;")), 1);
    assert_eq!(length(&fields("struct { string a; u8 list[a.n]; } s;").replace("string", "u8")), 1);
    assert_eq!(length(&fields("struct { u8 list[a.m]; struct { u8 m; } a; } s;")), 2);
    let refused = |text: &str, path: &str| {
        let stream = MetadataStream::parse(text.as_bytes()).unwrap();
        let error = Schema::compile(&stream, &mut [Node::EMPTY; 100]).unwrap_err();
        assert_eq!(error.element(), traceglass::ctf::schema::tsdl::element::PATH, "{error}");
        assert_eq!(error.offset() as usize, text.find(path).unwrap());
        error.kind()
    };
    let text = fields("struct { u8 list[a.q]; } s;");
    assert_eq!(refused(&text, "a.q"), ErrorKind::Undeclared);
    let text = fields("struct { u8 list[event.context.q]; } s;");
    assert_eq!(refused(&text, "q]"), ErrorKind::Undeclared);
    let text = fields("struct { u8 list[event.fields]; } s;");
    assert_eq!(refused(&text, "event.fields]"), ErrorKind::Undeclared);
    // An option is chosen by the labels of one enumeration.
    let options = |a: &str, b: &str| {
        fields(&format!(
            "enum : u8 {{ x, y }} t; variant <t> {{ struct {{ {a} g; }} x; struct {{ {b} g; }} y; }} v;
            variant <v.g> {{ u8 x; u8 y; }} w;"
        ))
    };
    let (named, other) = ("enum q", "enum : u8 { y, x }");
    let declared = |text: String| text.replace("event {", "enum q : u8 { x, y }; event {");
    with_tsdl(&declared(options(named, named)), |_| ());
    let text = declared(options(named, other));
    assert_eq!(
        refused(&text, "v.g"),
        ErrorKind::Unexpected { byte: b'v', expected: "the path of an enumeration" }
    );
}

/// Options of an enumeration's labels, whose ranges may overlap: then the first one is chosen.
#[test]
fn each_label_chooses_its_option() {
    let mut random = Random(11);
    for round in 0..120 {
        let (count, overlaps, repeats) = ([2, 16, 17, 60][round % 4], round % 3 == 0, round % 5 == 0);
        let mut labels: Vec<(usize, i16, i16)> = Vec::new();
        let mut at = 0_i16;
        while at < 256 {
            let end = (at + (random.next() % 6) as i16).min(255);
            labels.push((labels.len() % if repeats { count } else { 1_000 }, at, end));
            at = if overlaps {
                at + 1 + (random.next() % 5) as i16
            } else {
                end + 1 + (random.next() % 3) as i16
            };
        }
        let list: Vec<String> = labels.iter().map(|(n, lo, hi)| format!("o{n} = {lo} ... {hi}")).collect();
        let options: String = (0..count).map(|n| format!("u8 o{n};")).collect();
        let text = format!(
            "{HEAD} event {{ name = e; fields := struct {{ enum : u8 {{ {} }} t; variant <t> {{ {options} }} v; }}; }};",
            list.join(",")
        );
        let expected: Vec<Option<u32>> = (0..=255)
            .map(|value| {
                let holds = |(_, lo, hi): &&(usize, i16, i16)| (*lo..=*hi).contains(&value);
                let found = labels.iter().filter(holds).map(|(n, ..)| *n).filter(|n| *n < count);
                found.min().map(|n| n as u32)
            })
            .collect();
        assert_eq!(chosen(&text).unwrap(), expected, "{text}");
    }
}
