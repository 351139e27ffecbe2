//! Random schemas: records are encoded by the rules, bit by bit, and read back.
//!
//! `TRACEGLASS_RANDOM_SECONDS` makes it take so long instead of a moment.

use crate::common::{at_alignments, lies_in};
use crate::numbers::Random;
use crate::tell;
use std::fmt::Write;
use traceglass::ctf::data::{Packets, Value};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema, Scope};

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// Bits in a byte order.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    at: u64,
}

impl Writer {
    fn align(&mut self, align: u64) {
        while !self.at.is_multiple_of(align) {
            self.bit(false, false);
        }
    }

    fn bit(&mut self, bit: bool, big: bool) {
        let byte = (self.at / 8) as usize;
        self.bytes.resize(self.bytes.len().max(byte + 1), 0);
        let shift = if big { 7 - self.at % 8 } else { self.at % 8 };
        self.bytes[byte] |= u8::from(bit) << shift;
        self.at += 1;
    }

    fn fixed(&mut self, value: u64, len: u32, big: bool, last_to_first: bool) {
        for place in 0..len {
            let place = if last_to_first { len - 1 - place } else { place };
            self.bit(value >> place & 1 == 1, big);
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.align(8);
        for byte in bytes {
            self.fixed((*byte).into(), 8, false, false);
        }
    }
}

#[derive(Clone, Copy)]
struct Fixed {
    len: u32,
    align: u64,
    big: bool,
    last_to_first: bool,
}

enum Class {
    Unsigned(Fixed),
    Signed(Fixed),
    Boolean(Fixed),
    Bits(Fixed),
    Float(Fixed),
    Variable(bool),
    NulString,
    StaticString(usize),
    Blob(usize),
    Structure(u64, Vec<Member>),
    Array(u64, u64, Box<Class>),
}

/// A member, or a key and what depends on it.
enum Member {
    Plain(Class),
    DynamicArray(Fixed, Box<Class>),
    DynamicBlob(Fixed),
    DynamicString,
    Optional(bool, Box<Class>),
    Variant(Vec<Class>),
}

/// The properties that the classes of a trace have in common.
#[derive(Clone, Copy)]
struct Style {
    big: bool,
    /// Fields lie in whole bytes, and few of them choose what follows: as tracers write.
    in_bytes: bool,
}

fn fixed(random: &mut Random, style: Style, len: u32) -> Fixed {
    let big = style.big;
    if style.in_bytes {
        let len = [8, 16, 32, 64][random.below(4) as usize];
        return Fixed { len, align: [8, 8, 16, 32][random.below(4) as usize], big, last_to_first: big };
    }
    let align = [1, 1, 1, 2, 4, 8, 8, 16, 64][random.below(9) as usize];
    Fixed { len, align, big, last_to_first: if random.one_in(4) { !big } else { big } }
}

fn class(random: &mut Random, style: Style, depth: u32) -> Class {
    let len = 1 + random.below(64) as u32;
    let kind = match random.below(if depth == 0 { 10 } else { 13 }) {
        3 | 6 if style.in_bytes && !random.one_in(20) => 7,
        kind => kind,
    };
    match kind {
        0 | 1 => Class::Unsigned(fixed(random, style, len)),
        2 => Class::Signed(fixed(random, style, len)),
        3 => Class::Boolean(fixed(random, style, len)),
        4 => Class::Bits(fixed(random, style, len)),
        5 => {
            let len = [32, 64][random.below(2) as usize];
            Class::Float(Fixed { len, ..fixed(random, style, len) })
        }
        6 => Class::Variable(random.one_in(2)),
        7 => Class::NulString,
        8 => Class::StaticString(random.below(12) as usize),
        9 => Class::Blob(random.below(12) as usize),
        10 | 11 => structure(random, style, depth - 1),
        _ => {
            let minimum = 1 << random.below(5);
            let element = class(random, style, depth - 1);
            Class::Array(random.below(6), minimum, Box::new(element))
        }
    }
}

fn structure(random: &mut Random, style: Style, depth: u32) -> Class {
    let members = (0..random.below(6)).map(|_| member(random, style, depth)).collect();
    Class::Structure(1 << random.below(5), members)
}

fn member(random: &mut Random, style: Style, depth: u32) -> Member {
    let len = 4 + random.below(13) as u32;
    let kind = match random.below(10) {
        2..=4 if style.in_bytes && !random.one_in(20) => 1,
        kind => kind,
    };
    match kind {
        0 => {
            let key = fixed(random, style, len);
            Member::DynamicArray(key, Box::new(class(random, style, depth.saturating_sub(1))))
        }
        1 => Member::DynamicBlob(fixed(random, style, len)),
        2 => Member::DynamicString,
        3 => Member::Optional(random.one_in(2), Box::new(class(random, style, depth.saturating_sub(1)))),
        4 => {
            let count = 1 + random.below(4);
            Member::Variant((0..count).map(|_| class(random, style, depth.saturating_sub(1))).collect())
        }
        _ => Member::Plain(class(random, style, depth)),
    }
}

// The metadata.

fn fixed_json(kind: &str, fixed: &Fixed) -> String {
    let order = if fixed.big { "big-endian" } else { "little-endian" };
    let bits = if fixed.last_to_first { "last-to-first" } else { "first-to-last" };
    format!(
        r#"{{"length": {}, "alignment": {}, "byte-order": "{order}", "bit-order": "{bits}", "type": "{kind}"}}"#,
        fixed.len, fixed.align
    )
}

fn class_json(class: &Class) -> String {
    match class {
        Class::Unsigned(fixed) => fixed_json("fixed-length-unsigned-integer", fixed),
        Class::Signed(fixed) => fixed_json("fixed-length-signed-integer", fixed),
        Class::Boolean(fixed) => fixed_json("fixed-length-boolean", fixed),
        Class::Bits(fixed) => fixed_json("fixed-length-bit-array", fixed),
        Class::Float(fixed) => fixed_json("fixed-length-floating-point-number", fixed),
        Class::Variable(true) => r#"{"type": "variable-length-signed-integer"}"#.into(),
        Class::Variable(false) => r#"{"type": "variable-length-unsigned-integer"}"#.into(),
        Class::NulString => r#"{"type": "null-terminated-string"}"#.into(),
        Class::StaticString(len) => format!(r#"{{"type": "static-length-string", "length": {len}}}"#),
        Class::Blob(len) => format!(r#"{{"type": "static-length-blob", "length": {len}}}"#),
        Class::Array(count, minimum, element) => format!(
            r#"{{"element-field-class": {}, "length": {count}, "minimum-alignment": {minimum}, "type": "static-length-array"}}"#,
            class_json(element)
        ),
        Class::Structure(minimum, members) => {
            let mut list = Vec::new();
            for (place, member) in members.iter().enumerate() {
                let key = |kind: &str| format!(r#"{{"name": "k{place}", "field-class": {kind}}}"#);
                let dependent = |text: &str| format!(r#"{{"field-class": {text}, "name": "m{place}"}}"#);
                let length = format!(r#""length-field-location": {{"path": ["k{place}"]}}"#);
                let selector = format!(r#""selector-field-location": {{"path": ["k{place}"]}}"#);
                match member {
                    Member::Plain(class) => list.push(dependent(&class_json(class))),
                    Member::DynamicArray(fixed, element) => {
                        list.push(key(&fixed_json("fixed-length-unsigned-integer", fixed)));
                        list.push(dependent(&format!(
                            r#"{{"type": "dynamic-length-array", {length}, "element-field-class": {}}}"#,
                            class_json(element)
                        )));
                    }
                    Member::DynamicBlob(fixed) => {
                        list.push(key(&fixed_json("fixed-length-unsigned-integer", fixed)));
                        list.push(dependent(&format!(r#"{{{length}, "type": "dynamic-length-blob"}}"#)));
                    }
                    Member::DynamicString => {
                        list.push(key(&class_json(&Class::Variable(false))));
                        list.push(dependent(&format!(r#"{{"type": "dynamic-length-string", {length}}}"#)));
                    }
                    Member::Optional(is_signed, content) => {
                        let ranges = if *is_signed { "[[-9, -1], [100, 200]]" } else { "[[1, 1], [7, 9]]" };
                        list.push(key(&class_json(&Class::Variable(*is_signed))));
                        list.push(dependent(&format!(
                            r#"{{"type": "optional", {selector}, "field-class": {}, "selector-field-ranges": {ranges}}}"#,
                            class_json(content)
                        )));
                    }
                    Member::Variant(options) => {
                        list.push(key(&class_json(&Class::Variable(true))));
                        let mut text = String::new();
                        for (place, option) in options.iter().enumerate() {
                            let comma = if place > 0 { "," } else { "" };
                            let lo = place as i64 * 10 - 15;
                            write!(
                                text,
                                r#"{comma}{{"field-class": {}, "selector-field-ranges": [[{lo}, {}]]}}"#,
                                class_json(option),
                                lo + 4
                            )
                            .unwrap();
                        }
                        list.push(dependent(&format!(
                            r#"{{"options": [{text}], {selector}, "type": "variant"}}"#
                        )));
                    }
                }
            }
            format!(
                r#"{{"member-classes": [{}], "minimum-alignment": {minimum}, "type": "structure"}}"#,
                list.join(",")
            )
        }
    }
}

fn alignment(class: &Class) -> u64 {
    match class {
        Class::Unsigned(fixed)
        | Class::Signed(fixed)
        | Class::Boolean(fixed)
        | Class::Bits(fixed)
        | Class::Float(fixed) => fixed.align,
        Class::Array(_, minimum, element) => (*minimum).max(alignment(element)),
        Class::Structure(minimum, members) => members
            .iter()
            .map(|member| match member {
                Member::Plain(class) => alignment(class),
                Member::DynamicArray(key, element) => key.align.max(alignment(element)),
                Member::DynamicBlob(key) => key.align.max(8),
                _ => 8,
            })
            .fold(*minimum, u64::max),
        _ => 8,
    }
}

// The records.

fn variable(writer: &mut Writer, value: i128, is_signed: bool) {
    writer.align(8);
    let mut rest = value;
    loop {
        let byte = (rest & 0x7f) as u8;
        rest >>= 7;
        let done =
            if is_signed { (rest == 0 && byte < 0x40) || (rest == -1 && byte >= 0x40) } else { rest == 0 };
        writer.bytes(&[byte | if done { 0 } else { 0x80 }]);
        if done {
            return;
        }
    }
}

/// Writes a value, and says what is read of it.
fn encode(class: &Class, random: &mut Random, writer: &mut Writer, tokens: &mut Vec<String>) {
    writer.align(alignment(class));
    let mut word = |fixed: &Fixed| {
        let bits = random.next() >> (64 - fixed.len);
        let bits = if bits & 3 == 3 { u64::MAX >> (64 - fixed.len) } else { bits };
        writer.fixed(bits, fixed.len, fixed.big, fixed.last_to_first);
        bits
    };
    let text = |random: &mut Random, len: usize| -> Vec<u8> {
        (0..len).map(|_| b'a' + random.below(26) as u8).collect()
    };
    match class {
        Class::Unsigned(fixed) => tokens.push(format!("u{}", word(fixed))),
        Class::Signed(fixed) => {
            let shift = 64 - fixed.len;
            tokens.push(format!("i{}", (word(fixed) << shift) as i64 >> shift));
        }
        Class::Boolean(fixed) => tokens.push(format!("b{}", word(fixed) != 0)),
        Class::Bits(fixed) => tokens.push(format!("n{}", word(fixed))),
        Class::Float(fixed) => tokens.push(format!("f{:x}", word(fixed))),
        Class::Variable(is_signed) => {
            let bits = random.next() >> random.below(64);
            let value = if *is_signed { i128::from(bits as i64) } else { i128::from(bits) };
            variable(writer, value, *is_signed);
            tokens.push(format!("{}{value}", if *is_signed { "i" } else { "u" }));
        }
        Class::NulString => {
            let len = random.below(20) as usize;
            let text = text(random, len);
            writer.bytes(&text);
            writer.bytes(&[0]);
            tokens.push(format!("t{}", String::from_utf8(text).unwrap()));
        }
        Class::StaticString(len) => {
            let used = random.below(*len as u64 + 1) as usize;
            let mut stored = text(random, used);
            tokens.push(format!("t{}", String::from_utf8(stored.clone()).unwrap()));
            if used < *len {
                stored.push(0);
                stored.resize(*len, b'?');
            }
            writer.bytes(&stored);
        }
        Class::Blob(len) => {
            let bytes = text(random, *len);
            writer.bytes(&bytes);
            tokens.push(format!("x{}", String::from_utf8(bytes).unwrap()));
        }
        Class::Array(count, _, element) => {
            tokens.push(format!("A{count}"));
            for _ in 0..*count {
                encode(element, random, writer, tokens);
            }
            tokens.push("E".into());
        }
        Class::Structure(_, members) => {
            tokens.push("S".into());
            for member in members {
                encode_member(member, random, writer, tokens);
            }
            tokens.push("E".into());
        }
    }
}

fn encode_member(member: &Member, random: &mut Random, writer: &mut Writer, tokens: &mut Vec<String>) {
    let key = |fixed: &Fixed, count: u64, writer: &mut Writer, tokens: &mut Vec<String>| {
        writer.align(fixed.align);
        writer.fixed(count, fixed.len, fixed.big, fixed.last_to_first);
        tokens.push(format!("u{count}"));
    };
    match member {
        Member::Plain(class) => encode(class, random, writer, tokens),
        Member::DynamicArray(fixed, element) => {
            let count = random.below(5);
            key(fixed, count, writer, tokens);
            writer.align(alignment(element));
            tokens.push(format!("A{count}"));
            for _ in 0..count {
                encode(element, random, writer, tokens);
            }
            tokens.push("E".into());
        }
        Member::DynamicBlob(fixed) => {
            let count = random.below(8);
            key(fixed, count, writer, tokens);
            writer.bytes(&vec![7; count as usize]);
            writer.align(8);
            tokens.push(format!("x{}", "\u{7}".repeat(count as usize)));
        }
        Member::DynamicString => {
            let count = random.below(8);
            variable(writer, count.into(), false);
            tokens.push(format!("u{count}"));
            writer.bytes(&vec![b'd'; count as usize]);
            tokens.push(format!("t{}", "d".repeat(count as usize)));
        }
        Member::Optional(is_signed, content) => {
            let choices: [i128; 4] = if *is_signed { [-9, -1, 100, 99] } else { [1, 8, 0, 10] };
            let value = choices[random.below(4) as usize];
            variable(writer, value, *is_signed);
            tokens.push(format!("{}{value}", if *is_signed { "i" } else { "u" }));
            let is_present = if *is_signed { value != 99 } else { matches!(value, 1 | 8) };
            tokens.push(format!("O{is_present}"));
            if is_present {
                encode(content, random, writer, tokens);
                tokens.push("E".into());
            }
        }
        Member::Variant(options) => {
            let index = random.below(options.len() as u64) as usize;
            let value = index as i128 * 10 - 15 + i128::from(random.below(5));
            variable(writer, value, true);
            tokens.push(format!("i{value}"));
            tokens.push(format!("V{index}"));
            encode(&options[index], random, writer, tokens);
            tokens.push("E".into());
        }
    }
}

fn token(value: Value<'_>, data: &[u8]) -> String {
    match value {
        Value::Unsigned(value) => format!("u{value}"),
        Value::Signed(value) => format!("i{value}"),
        Value::Boolean(value) => format!("b{value}"),
        Value::Bits(bits) => format!("n{}", bits.to_u64().unwrap()),
        Value::Float(float) => format!("f{:x}", float.bits().to_u64().unwrap()),
        Value::Text(text) => {
            assert!(lies_in(text.bytes(), data));
            format!("t{text}")
        }
        Value::Blob(bytes) => {
            assert!(lies_in(bytes, data));
            format!("x{}", std::str::from_utf8(bytes).unwrap())
        }
        Value::Structure => "S".into(),
        Value::Array(count) => format!("A{count}"),
        Value::Optional(is_present) => format!("O{is_present}"),
        Value::Variant(index) => format!("V{index}"),
        Value::End => "E".into(),
        other => panic!("{other:?}"),
    }
}

/// Makes a schema, writes records, reads them back, damages them. Returns how many records were told by steps.
pub fn run(seed: u64) -> u64 {
    let mut random = Random(seed);
    random.next();
    let style = Style { big: random.one_in(2), in_bytes: random.one_in(2) };
    let mut scopes: Vec<Class> = (0..4).map(|_| structure(&mut random, style, 3)).collect();
    if style.in_bytes {
        let header = (0..random.below(4)).map(|_| Class::Unsigned(fixed(&mut random, style, 0)));
        scopes[0] = Class::Structure(8, header.map(Member::Plain).collect());
    }
    let keys = [
        "event-record-header-field-class",
        "event-record-common-context-field-class",
        "specific-context-field-class",
        "payload-field-class",
    ];
    let json: Vec<String> =
        keys.iter().zip(&scopes).map(|(key, class)| format!(r#""{key}": {}"#, class_json(class))).collect();
    let metadata = format!(
        "\x1e{{\"type\": \"preamble\", \"version\": 2}}\n\x1e{{{}, {}, \"type\": \"data-stream-class\"}}\n\x1e{{{}, {}, \"type\": \"event-record-class\"}}",
        json[0], json[1], json[3], json[2]
    );
    let (mut writer, mut expected) = (Writer::default(), Vec::new());
    for _ in 0..8 {
        let start = writer.at;
        let mut tokens = Vec::new();
        for class in &scopes {
            let mut scope = Vec::new();
            encode(class, &mut random, &mut writer, &mut scope);
            // The root itself is no field.
            tokens.push(scope[1..scope.len() - 1].to_vec());
        }
        if writer.at == start {
            return 0;
        }
        expected.push((start, writer.at, tokens));
    }
    let stream = MetadataStream::parse(metadata.as_bytes()).unwrap();
    let mut nodes = vec![Node::EMPTY; Schema::needed(&stream).unwrap() as usize];
    let schema = match Schema::compile(&stream, &mut nodes) {
        Ok(schema) => schema,
        // More keys than are remembered, at the location of one.
        Err(error) if error.to_string().contains("capacity is 16") => return 0,
        Err(error) => panic!("seed {seed}: {error}\n{metadata}"),
    };
    at_alignments(&writer.bytes, |data| {
        let packet = Packets::new(data, &schema).next().unwrap().unwrap();
        let mut found = packet.records();
        for (start, end, tokens) in &expected {
            let record = found
                .next_record()
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"))
                .unwrap_or_else(|| panic!("seed {seed}: too few records"));
            assert_eq!(record.end(), *end, "seed {seed}, record at {start}\n{metadata}");
            let scopes = [Scope::EventHeader, Scope::CommonContext, Scope::SpecificContext, Scope::Payload];
            for (scope, tokens) in scopes.into_iter().zip(tokens) {
                let fields = record.fields(scope).unwrap();
                let read: Vec<String> = fields.map(|field| token(field.unwrap().value(), data)).collect();
                assert_eq!(&read, tokens, "seed {seed}, {scope:?} of the record at {start}\n{metadata}");
            }
            // The same where the records are read: one after the other, and all at once.
            let mut read = Vec::new();
            let fields = found.payload().unwrap();
            while let Some(field) = fields.next_field().unwrap() {
                read.push(token(field.value(), data));
            }
            assert_eq!(Some(&read), tokens.last(), "seed {seed}, record at {start}\n{metadata}");
            read.clear();
            let fields = found.payload().unwrap();
            fields.each_field(|field| read.push(token(field.value(), data))).unwrap();
            assert_eq!(Some(&read), tokens.last(), "seed {seed}, record at {start}\n{metadata}");
        }
    });
    let by_steps = tell::compare(&writer.bytes, &schema, &format!("seed {seed}\n{metadata}"));
    // Damage is found, or makes other values: nothing else.
    let mut data = writer.bytes.clone();
    for _ in 0..20 {
        let place = random.below(data.len() as u64) as usize;
        data[place] = random.next() as u8;
        tell::compare(&data, &schema, &format!("seed {seed}, changed at {place}\n{metadata}"));
        for packet in Packets::new(&data, &schema) {
            for record in packet.unwrap().records() {
                let Ok(record) = record else { break };
                for scope in
                    [Scope::EventHeader, Scope::CommonContext, Scope::SpecificContext, Scope::Payload]
                {
                    for field in record.fields(scope).into_iter().flatten() {
                        field.expect("a field of a record that was delivered");
                    }
                }
            }
        }
    }
    by_steps
}

#[test]
fn random_schemas_are_read_back() {
    use std::time::{Duration, Instant};

    let seconds = std::env::var("TRACEGLASS_RANDOM_SECONDS").ok().and_then(|text| text.parse().ok());
    let until = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let (mut seed, mut by_steps) = (1, 0);
    while until.map_or(seed <= 300, |until| Instant::now() < until) {
        by_steps += run(seed);
        seed += 1;
    }
    println!("{} random schemas, {by_steps} records told by steps", seed - 1);
    assert!(by_steps > seed, "hardly a record was told by steps: {by_steps}");
}
