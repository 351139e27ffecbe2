//! Records whose lists, text and bytes have a length that is said before them: the fast way over them, and the plain one.

use crate::samples::metadata;
use traceglass::ErrorKind;
use traceglass::ctf::data::{Packets, Value};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema, element};

/// A member of a payload.
#[derive(Clone, Copy)]
enum Part {
    /// A length of so many bytes, big-endian or not.
    Length(&'static str, usize, bool),
    /// A number of so many bytes.
    Number(usize),
    /// Text up to a zero.
    Text,
    /// As many numbers as a length says, of so many bytes, each aligned to so many.
    List(&'static str, usize, usize),
    /// Bytes and text of a stated length.
    Blob(&'static str),
    String(&'static str),
}
use Part::{Blob, Length, List, Number, String as Words, Text};

fn number(bytes: usize, big: bool, align: usize) -> String {
    let order = if big { "big-endian" } else { "little-endian" };
    format!(
        r#"{{"type": "fixed-length-unsigned-integer", "length": {}, "alignment": {}, "byte-order": "{order}"}}"#,
        bytes * 8,
        align * 8
    )
}

fn class(part: Part) -> String {
    // Fields with these names lie in the contexts, all others in the payload.
    let location = |name: &str| {
        let origin = match name {
            "outer" => "event-record-common-context",
            "early" => "event-record-specific-context",
            _ => "event-record-payload",
        };
        format!(r#""length-field-location": {{"origin": "{origin}", "path": ["{name}"]}}"#)
    };
    match part {
        Length(_, bytes, big) => number(bytes, big, 1),
        Number(bytes) => number(bytes, false, 1),
        Text => r#"{"type": "null-terminated-string"}"#.into(),
        List(of, bytes, align) => format!(
            r#"{{"type": "dynamic-length-array", {}, "element-field-class": {}}}"#,
            location(of),
            number(bytes, false, align)
        ),
        Blob(of) => format!(r#"{{"type": "dynamic-length-blob", {}}}"#, location(of)),
        Words(of) => format!(r#"{{"type": "dynamic-length-string", {}}}"#, location(of)),
    }
}

fn description(parts: &[Part]) -> String {
    let member = |name: &str, class: &str| format!(r#"{{"name": "{name}", "field-class": {class}}}"#);
    let members: Vec<String> = parts
        .iter()
        .enumerate()
        .map(|(at, part)| match part {
            Length(name, ..) => member(name, &class(*part)),
            _ => member(&format!("m{at}"), &class(*part)),
        })
        .collect();
    let byte = number(1, false, 1);
    let id = byte.replace("\"length\"", r#""roles": ["event-record-class-id"], "length""#);
    let stream = format!(
        r#"{{"type": "data-stream-class",
        "event-record-header-field-class": {{"type": "structure", "member-classes": [{}]}},
        "event-record-common-context-field-class": {{"type": "structure", "member-classes": [{}]}}}}"#,
        member("id", &id),
        member("outer", &byte),
    );
    let specific = format!(
        r#""specific-context-field-class": {{"type": "structure", "member-classes": [{}]}}, "#,
        member("early", &byte)
    );
    let event = format!(
        r#"{{"type": "event-record-class", "id": 3, {}"payload-field-class": {{"type": "structure", "member-classes": [{}]}}}}"#,
        if has_early(parts) { specific } else { String::new() },
        members.join(",")
    );
    metadata(&[&stream, &event])
}

/// True if a list has its length in the specific context.
fn has_early(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part, List("early", ..)))
}

/// Appends records, and gives what the fields of each are, and where each ends.
fn write(parts: &[Part], count: usize, data: &mut Vec<u8>) -> Vec<(Vec<u64>, usize)> {
    let mut state = 7_u32;
    let mut random = move |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    let align = |data: &mut Vec<u8>, to: usize| data.resize(data.len().next_multiple_of(to), 0xee);
    let widest =
        parts.iter().map(|part| if let List(_, _, align) = part { *align } else { 1 }).max().unwrap();
    let mut records = Vec::new();
    for _ in 0..count {
        let outer = random(4) as u8;
        data.extend([3, outer]);
        let mut lengths = vec![("outer", u64::from(outer))];
        if has_early(parts) {
            lengths.push(("early", random(4).into()));
            data.push(lengths[1].1 as u8);
        }
        align(data, widest);
        let mut values = Vec::new();
        for part in parts {
            let length = |of: &str| lengths.iter().find(|(name, _)| *name == of).unwrap().1;
            let mut put = |data: &mut Vec<u8>, value: u64, bytes: usize, big: bool| {
                let all = if big { value.to_be_bytes() } else { value.to_le_bytes() };
                data.extend(if big { &all[8 - bytes..] } else { &all[..bytes] });
                values.push(value);
            };
            match *part {
                Length(name, bytes, big) => {
                    let length = u64::from(random(4));
                    put(data, length, bytes, big);
                    lengths.push((name, length));
                }
                Number(bytes) => put(data, u64::from(random(200)), bytes, false),
                Text => {
                    let length = random(12) as usize;
                    data.extend(vec![b'x'; length]);
                    data.push(0);
                    values.push(length as u64);
                }
                List(of, bytes, to) => {
                    align(data, to);
                    for _ in 0..length(of) {
                        align(data, to);
                        put(data, u64::from(random(200)), bytes, false);
                    }
                }
                Blob(of) | Words(of) => {
                    data.extend(vec![b'y'; length(of) as usize]);
                    values.push(length(of));
                }
            }
        }
        records.push((values, data.len()));
    }
    records
}

fn push(values: &mut Vec<u64>, value: Value<'_>) {
    match value {
        Value::Unsigned(value) => values.push(value),
        Value::Text(text) => values.push(text.bytes().len() as u64),
        Value::Blob(bytes) => values.push(bytes.len() as u64),
        _ => {}
    }
}

/// Reads all records that there are, and whether an error ends them.
fn read(data: &[u8], schema: &Schema<'_, '_>) -> (Vec<(Vec<u64>, usize)>, bool) {
    let (mut found, mut failed) = (Vec::new(), false);
    for packet in Packets::new(data, schema) {
        let packet = packet.unwrap();
        let mut records = packet.records();
        loop {
            match records.next_record() {
                Ok(Some(record)) => {
                    let mut values = Vec::new();
                    record.payload().unwrap().for_each(|field| push(&mut values, field.unwrap().value()));
                    let mut again = Vec::new();
                    records.payload().unwrap().each_field(|field| push(&mut again, field.value())).unwrap();
                    assert_eq!(values, again);
                    found.push((values, record.end_offset() as usize));
                }
                Ok(None) => break,
                Err(error) => {
                    assert!(error.offset() <= data.len() as u64);
                    failed = true;
                }
            }
        }
    }
    (found, failed)
}

#[test]
fn lists_of_a_stated_length_are_gone_over() {
    let cases: [&[Part]; 18] = [
        &[Length("n", 1, false), List("n", 4, 4)],
        &[Number(4), Text, Number(8), Length("n", 8, false), List("n", 1, 1)],
        &[Length("n", 2, true), Blob("n"), Number(1)],
        &[Length("n", 4, true), Words("n"), Text],
        &[Length("n", 8, true), Number(3), List("n", 2, 2), Text, Number(2)],
        &[Length("n", 3, false), Blob("n")],
        // With gaps between the elements.
        &[Length("n", 1, false), List("n", 3, 4), Number(1)],
        // Two lists, in either order of their lengths.
        &[Length("n", 1, false), List("n", 1, 1), Length("m", 1, false), List("m", 1, 1)],
        &[Length("n", 1, false), Length("m", 1, false), List("n", 1, 1), Number(1)],
        &[Length("n", 1, false), Length("m", 1, false), List("m", 1, 1), List("n", 1, 1)],
        &[Length("n", 1, false), List("n", 1, 1), List("n", 2, 2), Text],
        // A list is aligned, its length is far away.
        &[Number(1), Length("n", 1, false), List("n", 8, 8), Number(1)],
        &[Length("n", 1, false), Text, List("n", 1, 1)],
        &[Length("n", 1, false), Text, Number(4), List("n", 1, 1)],
        &[Length("n", 1, false), Number(3), List("n", 4, 4), Number(1), Length("m", 1, false), Blob("m")],
        // The length is in the context.
        &[List("outer", 1, 1)],
        &[Number(2), Blob("outer"), Number(2)],
        &[Length("n", 1, false), Blob("outer"), List("n", 1, 1)],
    ];
    for parts in cases {
        let text = description(parts);
        let stream = MetadataStream::parse(text.as_bytes()).unwrap();
        let mut nodes = [Node::EMPTY; 64];
        let schema = Schema::compile(&stream, &mut nodes).unwrap();
        let mut data = Vec::new();
        let expected = write(parts, 40, &mut data);
        assert_eq!(read(&data, &schema), (expected.clone(), false), "{text}");
        for len in 0..data.len() {
            // A record that ends before the padding of the next one is whole.
            let whole = expected.iter().take_while(|(_, end)| *end <= len).count();
            let (found, failed) = read(&data[..len], &schema);
            assert_eq!(found, expected[..whole], "{len} bytes of {text}");
            assert_eq!(
                failed,
                expected[..whole].last().map_or(0, |(_, end)| *end) < len,
                "{len} bytes of {text}"
            );
        }
    }
}

#[test]
fn a_length_beyond_the_content_is_an_error() {
    for bytes in [1, 2, 4, 8] {
        for part in [List("n", 1, 1), List("n", 8, 8), Blob("n")] {
            let parts = [Number(1), Length("n", bytes, false), part];
            let text = description(&parts);
            let stream = MetadataStream::parse(text.as_bytes()).unwrap();
            let mut nodes = [Node::EMPTY; 64];
            let schema = Schema::compile(&stream, &mut nodes).unwrap();
            let mut data = Vec::new();
            let expected = write(&parts, 9, &mut data);
            let last = data.len();
            data.extend([3, 0]);
            data.resize(data.len().next_multiple_of(if let List(_, _, align) = part { align } else { 1 }), 0);
            data.push(0);
            let start = data.len();
            // The most, and what has few bits left where bits are counted in 64 of them.
            for length in [u64::MAX, 1 << 61, (1 << 58) + 1] {
                data.truncate(start);
                data.extend(if length == u64::MAX || bytes == 8 { length } else { u64::MAX }.to_le_bytes());
                data.truncate(start + bytes);
                data.extend([0; 40]);
                let (found, failed) = read(&data, &schema);
                assert!(failed && found == expected, "{} records of {last} bytes, {text}", found.len());
            }
        }
    }
}

/// So many lengths, named by their numbers.
fn lengths(count: usize) -> Vec<Part> {
    let name = |at: usize| -> &'static str { Box::leak(format!("n{at}").into_boxed_str()) };
    (0..count).map(|at| Length(name(at), 1, false)).collect()
}

fn list_of(length: &Part) -> Part {
    let Length(name, ..) = length else { panic!("no length") };
    List(name, 2, 1)
}

#[test]
fn there_are_more_lengths_than_are_remembered() {
    let all = lengths(60);
    let mut one_by_one: Vec<Part> = all.iter().flat_map(|length| [*length, list_of(length)]).collect();
    // The first one is needed up to the end; some are needed twice, and none at all.
    one_by_one.extend([list_of(&all[0]), list_of(&all[59]), Length("unused", 1, false), Number(4)]);
    let in_sixteens: Vec<Part> =
        all.chunks(16).flat_map(|some| some.iter().copied().chain(some.iter().rev().map(list_of))).collect();
    // One is needed in the other scope, before and after lengths whose slots are used again.
    let early = List("early", 1, 1);
    let early: Vec<Part> = [&[early], &one_by_one[..40], &[early], &one_by_one[40..], &[early]].concat();
    for parts in [one_by_one, in_sixteens, early] {
        let text = description(&parts);
        let stream = MetadataStream::parse(text.as_bytes()).unwrap();
        let mut nodes = vec![Node::EMPTY; Schema::needed(&stream).unwrap() as usize];
        let schema = Schema::compile(&stream, &mut nodes).unwrap();
        let mut data = Vec::new();
        let expected = write(&parts, 9, &mut data);
        assert_eq!(read(&data, &schema), (expected, false));
        // Steps know of no length in another scope.
        let by_steps = if has_early(&parts) { 0 } else { 9 };
        assert_eq!(crate::tell::compare(&data, &schema, "many lengths"), by_steps);
    }
}

#[test]
fn seventeen_lengths_at_a_time_are_too_many() {
    let all = lengths(17);
    let parts: Vec<Part> = all.iter().copied().chain(all.iter().map(list_of)).collect();
    let text = description(&parts);
    let stream = MetadataStream::parse(text.as_bytes()).unwrap();
    let mut nodes = vec![Node::EMPTY; Schema::needed(&stream).unwrap() as usize];
    let error = Schema::compile(&stream, &mut nodes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity: 16, needed: 17 });
    assert_eq!(error.element(), element::FIELD_LOCATION);
    // At the length for which there is no room.
    assert!(text[error.offset() as usize..].starts_with("n16\""), "{error}");
}

/// Reads the values of all payloads of a stream whose records have a header of one byte, 7.
fn values(context: &str, members: &[&str], data: &[u8]) -> Vec<Vec<u64>> {
    let member = |at: usize, class: &str| format!(r#"{{"name": "m{at}", "field-class": {class}}}"#);
    let structure = |members: &[&str]| {
        let members: Vec<String> = members.iter().enumerate().map(|(at, class)| member(at, class)).collect();
        format!(r#"{{"type": "structure", "member-classes": [{}]}}"#, members.join(","))
    };
    let id = number(1, false, 1).replace("\"length\"", r#""roles": ["event-record-class-id"], "length""#);
    let stream = format!(
        r#"{{"type": "data-stream-class", "event-record-header-field-class": {},
        "event-record-common-context-field-class": {}}}"#,
        structure(&[&id]),
        structure(&[context])
    );
    let event = format!(
        r#"{{"type": "event-record-class", "id": 7, "payload-field-class": {}}}"#,
        structure(members)
    );
    let text = metadata(&[&stream, &event]);
    let stream = MetadataStream::parse(text.as_bytes()).unwrap();
    let mut nodes = [Node::EMPTY; 64];
    let schema = Schema::compile(&stream, &mut nodes).unwrap();
    // Four bits at the end are no header, and no step is for them.
    let has_bits = members.iter().any(|class| class.contains("\"length\": 4,"));
    let (found, failed) = read(data, &schema);
    assert_eq!(failed, has_bits, "{text}");
    assert_eq!(crate::tell::compare(data, &schema, &text) > 0, !has_bits, "{text}");
    found.into_iter().map(|(values, _)| values).collect()
}

#[test]
fn records_that_look_simple_are_aligned() {
    let byte = number(1, false, 1);
    let text = r#"{"type": "null-terminated-string"}"#;
    // A context of four bytes, aligned to as many.
    let data = [7, 0xee, 0xee, 0xee, 1, 2, 3, 4, 5, 8, 7, 0xee, 1, 2, 3, 4, 6, 9];
    assert_eq!(values(&number(4, false, 4), &[&byte, &byte], &data), [[5, 8], [6, 9]]);
    // An array that is aligned, although its elements are not; so is the payload then.
    let list = r#"{"type": "dynamic-length-array", "minimum-alignment": 32, "element-field-class": ELEMENT,
        "length-field-location": {"path": ["m0"]}}"#;
    let list = list.replace("ELEMENT", &byte);
    let first = [7, 0, 0xee, 0xee, 2, 0xee, 0xee, 0xee, 5, 6];
    let second = [7, 0, 1, 0xee, 0xee, 0xee, 4];
    let third = [7, 0, 0xee, 0, 0xee, 0xee, 0xee];
    let data = [&first[..], &second, &third].concat();
    assert_eq!(values(&byte, &[&byte, &list], &data), [vec![2, 5, 6], vec![1, 4], vec![0]]);
    // Four bits after a string: with what follows them, a byte.
    let nibble = r#"{"type": "fixed-length-unsigned-integer", "length": 4, "byte-order": "little-endian"}"#;
    let data = [7, 0, b'x', 0, 0xf3, 7, 0, 0, 0xf4, 7, 0, b'y', b'z', 0, 0xf5];
    assert_eq!(values(&byte, &[text, nibble], &data), [[1, 3], [0, 4], [2, 5]]);
    // The same after a byte.
    let data = [7, 0, 9, 0xf3, 7, 0, 8, 0xf4].repeat(3);
    assert_eq!(values(&byte, &[&byte, nibble], &data), [[9, 3], [8, 4]].repeat(3));
}
