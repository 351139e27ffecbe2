//! A CTF 2 trace in the layout of LTTng-UST 2.16: packets of 128 KiB, and records of 33 bytes, one in eight of them larger.

use std::fmt::Write;
use traceglass::ctf::data::{Packets, ProgramSlot, Programs, Records, Stream, Value};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema};
use traceglass::record::{Class, Head, Listener, Scope, Slot, Source, Text, Wants};

const UUID: [u8; 16] = *b"traceglass-bench";
/// The bytes of a packet, and those of its header and context.
const PACKET: usize = 128 << 10;
const HEAD: usize = 84;
/// The time of cycle 0.
const ORIGIN: u64 = 1_700_000_000 * 1_000_000_000;

/// An integer of so many bits.
fn integer(signed: bool, bits: u32, role: &str) -> String {
    let signed = if signed { "signed" } else { "unsigned" };
    let role = if role.is_empty() { String::new() } else { format!(r#", "roles": ["{role}"]"#) };
    format!(
        r#"{{"type": "fixed-length-{signed}-integer", "length": {bits}, "alignment": 8,
            "byte-order": "little-endian", "preferred-display-base": 10{role}}}"#
    )
}

fn structure(members: &[(&str, String)]) -> String {
    let mut text = String::new();
    for (name, class) in members {
        let separator = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, r#"{separator}{{"name": "{name}", "field-class": {class}}}"#);
    }
    format!(r#"{{"type": "structure", "member-classes": [{text}]}}"#)
}

/// The metadata, with so many more event classes of five fields that no record is of.
pub fn metadata(more: u32) -> String {
    let text = || String::from(r#"{"type": "null-terminated-string"}"#);
    let header = structure(&[
        ("magic", integer(false, 32, "packet-magic-number")),
        ("uuid", r#"{"type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]}"#.into()),
        ("stream_id", integer(false, 32, "data-stream-class-id")),
        ("stream_instance_id", integer(false, 64, "data-stream-id")),
    ]);
    let context = structure(&[
        ("timestamp_begin", integer(false, 64, "default-clock-timestamp")),
        ("timestamp_end", integer(false, 64, "packet-end-default-clock-timestamp")),
        ("content_size", integer(false, 64, "packet-content-length")),
        ("packet_size", integer(false, 64, "packet-total-length")),
        ("packet_seq_num", integer(false, 64, "packet-sequence-number")),
        ("events_discarded", integer(false, 64, "discarded-event-record-counter-snapshot")),
        ("cpu_id", integer(false, 32, "")),
    ]);
    let compact = structure(&[("timestamp", integer(false, 32, "default-clock-timestamp"))]);
    let extended = structure(&[
        ("id", integer(false, 32, "event-record-class-id")),
        ("timestamp", integer(false, 64, "default-clock-timestamp")),
    ]);
    let either = format!(
        r#"{{"type": "variant",
            "selector-field-location": {{"origin": "event-record-header", "path": ["id"]}},
            "options": [
                {{"name": "compact", "selector-field-ranges": [[0, 65534]], "field-class": {compact}}},
                {{"name": "extended", "selector-field-ranges": [[65535, 65535]], "field-class": {extended}}}]}}"#
    );
    let record_header = structure(&[("id", integer(false, 16, "event-record-class-id")), ("v", either)]);
    let array = r#"{"type": "dynamic-length-array",
        "length-field-location": {"origin": "event-record-payload", "path": ["_q_length"]}, "element-field-class": "#;
    let large = structure(&[
        ("i", integer(true, 32, "")),
        ("u", integer(false, 64, "")),
        ("s", text()),
        (
            "d",
            r#"{"type": "fixed-length-floating-point-number", "length": 64, "alignment": 8,
                "byte-order": "little-endian"}"#
                .into(),
        ),
        ("_q_length", integer(false, 64, "")),
        ("q", format!("{array}{}}}", integer(true, 32, ""))),
    ]);
    let small = structure(&[
        ("i", integer(true, 32, "")),
        ("u", integer(false, 64, "")),
        ("c", integer(false, 8, "")),
        ("h", integer(true, 16, "")),
        ("s", text()),
    ]);
    let mut all = format!(
        "\x1e{{\"type\": \"preamble\", \"version\": 2, \"uuid\": {UUID:?}}}\n\
        \x1e{{\"type\": \"trace-class\", \"packet-header-field-class\": {header}}}\n\
        \x1e{{\"type\": \"clock-class\", \"id\": \"monotonic\", \"frequency\": 1000000000, \"origin\": \"unix-epoch\",
            \"offset-from-origin\": {{\"seconds\": 1700000000, \"cycles\": 0}}}}\n\
        \x1e{{\"type\": \"data-stream-class\", \"id\": 0, \"default-clock-class-id\": \"monotonic\",
            \"packet-context-field-class\": {context}, \"event-record-header-field-class\": {record_header}}}\n"
    );
    let class = |id: u32, name: &str, payload: &str| {
        format!(
            "\x1e{{\"type\": \"event-record-class\", \"id\": {id}, \"data-stream-class-id\": 0, \
            \"name\": \"{name}\", \"payload-field-class\": {payload}}}\n"
        )
    };
    all.push_str(&class(0, "my:ev", &large));
    all.push_str(&class(1, "my:small", &small));
    for id in 2..2 + more {
        all.push_str(&class(id, &format!("more:{id}"), &small));
    }
    all
}

/// The packets of one stream.
pub fn packets() -> impl Iterator<Item = Vec<u8>> {
    const TEXT: &[u8] = b"hello world\0";
    let (mut time, mut number) = (0_u64, 0_u32);
    (0_u64..).map(move |sequence| {
        let mut packet = Vec::with_capacity(PACKET);
        packet.extend(0xc1fc_1fc1_u32.to_le_bytes());
        packet.extend(UUID);
        packet.resize(HEAD, 0);
        let begin = time;
        while packet.len() < PACKET - 128 {
            let is_large = number % 8 == 7;
            packet.extend(u16::from(!is_large).to_le_bytes());
            packet.extend((time as u32).to_le_bytes());
            packet.extend((number as i32).to_le_bytes());
            packet.extend((u64::from(number) * 7).to_le_bytes());
            if is_large {
                packet.extend(TEXT);
                packet.extend((f64::from(number) / 4.0).to_le_bytes());
                packet.extend(3_u64.to_le_bytes());
                packet.extend([1_i32, -2, 3].map(i32::to_le_bytes).as_flattened());
            } else {
                packet.push(number as u8);
                packet.extend((number as i16).to_le_bytes());
                packet.extend(TEXT);
            }
            time += 100;
            number = number.wrapping_add(1);
        }
        let content = packet.len() as u64 * 8;
        let context = [begin, time, content, PACKET as u64 * 8, sequence, 0];
        packet[32..80].copy_from_slice(context.map(u64::to_le_bytes).as_flattened());
        packet.resize(PACKET, 0);
        packet
    })
}

/// At least so many bytes of one stream.
pub fn stream(bytes: usize) -> Vec<u8> {
    packets().take(bytes.div_ceil(PACKET)).flatten().collect()
}

/// Compiles metadata into the nodes, of which there must be enough.
pub fn schema<'m, 's>(metadata: &'m [u8], nodes: &'s mut [Node]) -> Schema<'m, 's> {
    let metadata = MetadataStream::parse(metadata).expect("metadata");
    Schema::compile(&metadata, nodes).expect("a schema")
}

/// The nodes that metadata needs.
pub fn nodes(metadata: &[u8]) -> Vec<Node> {
    let metadata = MetadataStream::parse(metadata).expect("metadata");
    vec![Node::EMPTY; Schema::needed(&metadata).expect("a schema").try_into().expect("it fits")]
}

/// The length of the content of all packets, in bits.
pub fn index(data: &[u8], schema: &Schema<'_, '_>) -> u64 {
    Packets::new(data, schema).map(|packet| packet.expect("a packet").content_bits()).sum()
}

/// Class and time of every record.
pub fn heads(data: &[u8], schema: &Schema<'_, '_>) -> u64 {
    walk(data, schema, |_| 0)
}

/// Every field of every record as well.
pub fn fields(data: &[u8], schema: &Schema<'_, '_>) -> u64 {
    walk(data, schema, |records| {
        let mut sum = 0_u64;
        let payload = records.payload().expect("a payload");
        payload.each_field(|field| sum = sum.wrapping_add(number(field.value()))).expect("fields");
        sum
    })
}

/// The same, pulled one after the other.
pub fn pulled(data: &[u8], schema: &Schema<'_, '_>) -> u64 {
    walk(data, schema, |records| {
        let mut sum = 0_u64;
        let payload = records.payload().expect("a payload");
        while let Some(field) = payload.next_field().expect("a field") {
            sum = sum.wrapping_add(number(field.value()));
        }
        sum
    })
}

/// The same, told to a listener by steps that are compiled before.
pub fn told(data: &[u8], schema: &Schema<'_, '_>) -> u64 {
    let mut slots = [ProgramSlot::EMPTY; 64];
    let programs = Programs::compile(schema, &mut slots).expect("room for steps");
    let mut stream = Stream::new(Packets::new(data, schema), programs);
    let mut sum = Sum(0);
    while stream.peek().expect("a record").is_some() {
        stream.tell(&mut sum).expect("fields");
    }
    sum.0
}

struct Sum(u64);

impl Sum {
    #[inline(always)]
    fn add(&mut self, value: u64) {
        self.0 = self.0.wrapping_add(value);
    }
}

impl Listener for Sum {
    #[inline(always)]
    fn begin(&mut self, head: &Head, _: &dyn Class) -> Wants {
        // By cycles, as the other ways do.
        self.add(head.time.map_or(0, |time| time.ns() as u64).wrapping_sub(ORIGIN));
        self.add(head.class.0.into());
        Wants::ALL.without(Scope::Header)
    }

    #[inline(always)]
    fn unsigned(&mut self, _: Slot, value: u64) {
        self.add(value);
    }

    #[inline(always)]
    fn signed(&mut self, _: Slot, value: i64) {
        self.add(value.cast_unsigned());
    }

    #[inline(always)]
    fn float(&mut self, _: Slot, value: f64) {
        self.add(value as u64);
    }

    #[inline(always)]
    fn text(&mut self, _: Slot, text: Text<'_>) {
        if let Text::Utf8(text) = text {
            self.add(text.len() as u64);
        }
    }

    #[inline(always)]
    fn list(&mut self, _: Slot, len: Option<u64>) {
        self.add(len.unwrap_or(0));
    }
}

/// The sum of times, classes and what `read` makes of each record that was reached.
#[inline(always)]
fn walk(data: &[u8], schema: &Schema<'_, '_>, mut read: impl FnMut(&mut Records<'_, '_, '_>) -> u64) -> u64 {
    let mut sum = 0_u64;
    for packet in Packets::new(data, schema) {
        let packet = packet.expect("a packet");
        let mut records = packet.records();
        while let Some(record) = records.next_record().expect("a record") {
            let time = record.cycles().expect("a time");
            sum = sum.wrapping_add(time).wrapping_add(record.class().id());
            sum = sum.wrapping_add(read(&mut records));
        }
    }
    sum
}

fn number(value: Value<'_>) -> u64 {
    match value {
        Value::Unsigned(value) => value,
        Value::Signed(value) => value.cast_unsigned(),
        Value::Text(text) => text.bytes().len() as u64,
        Value::Float(float) => float.to_f64().unwrap_or(0.0) as u64,
        Value::Array(len) => len,
        _ => 0,
    }
}
