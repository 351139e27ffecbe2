//! A data stream in the canonical form of the vectors: a line a packet, a record or a fault.

use std::fmt::Write;
use traceglass::ctf::data::{Fields, Packet, Packets, Record, Value};
use traceglass::ctf::schema::{FieldClass, FieldKind, Name, Schema};
use traceglass::{Error, ErrorKind};

/// A JSON string.
fn quoted(out: &mut String, text: impl Iterator<Item = char>) {
    out.push('"');
    for c in text {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => write!(out, "\\u{:04x}", u32::from(c)).unwrap(),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn name(out: &mut String, name: Option<Name<'_>>) {
    match name {
        Some(name) => quoted(out, name.chars()),
        None => out.push_str("null"),
    }
}

fn hex(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        write!(out, "{byte:02x}").unwrap();
    }
}

/// Decimal digits of words, the least significant one first.
fn decimal(words: &[u64]) -> String {
    let mut words = words.to_vec();
    let mut digits = Vec::new();
    while words.iter().any(|word| *word != 0) {
        let mut rest = 0_u128;
        for word in words.iter_mut().rev() {
            let value = rest << 64 | u128::from(*word);
            *word = (value / 10) as u64;
            rest = value % 10;
        }
        digits.push(b'0' + rest as u8);
    }
    if digits.is_empty() {
        digits.push(b'0');
    }
    digits.reverse();
    String::from_utf8(digits).unwrap()
}

fn labels<'a>(out: &mut String, labels: impl Iterator<Item = Name<'a>>) {
    for label in labels {
        out.push(',');
        quoted(out, label.chars());
    }
}

/// A field's value; what it consists of is pulled.
fn value(out: &mut String, fields: &mut Fields<'_, '_>, class: FieldClass<'_, '_>, value: Value<'_>) {
    match value {
        Value::Unsigned(number) => {
            write!(out, "[\"u\",\"{number}\"").unwrap();
            labels(out, class.labels(number.into()));
            out.push(']');
        }
        Value::Signed(number) => {
            write!(out, "[\"i\",\"{number}\"").unwrap();
            labels(out, class.labels(number.into()));
            out.push(']');
        }
        Value::Wide(bits) => {
            let mut words: Vec<u64> = bits.words().collect();
            if class.kind() == FieldKind::Unsigned {
                write!(out, "[\"u\",\"{}\"", decimal(&words)).unwrap();
                if let Some(number) = bits.to_u128().and_then(|number| i128::try_from(number).ok()) {
                    labels(out, class.labels(number));
                }
            } else {
                let top = (bits.len() - 1) % 64;
                let last = words.last_mut().unwrap();
                let negative = *last >> top & 1 == 1;
                if negative && top < 63 {
                    *last |= u64::MAX << (top + 1);
                }
                let mut sign = "";
                if negative {
                    // Two's complement.
                    sign = "-";
                    let mut carry = true;
                    for word in &mut words {
                        let (sum, more) = (!*word).overflowing_add(carry.into());
                        (*word, carry) = (sum, more);
                    }
                }
                let digits = decimal(&words);
                write!(out, "[\"i\",\"{sign}{digits}\"").unwrap();
                if let Ok(number) = format!("{sign}{digits}").parse() {
                    labels(out, class.labels(number));
                }
            }
            out.push(']');
        }
        Value::Boolean(is) => write!(out, "[\"b\",\"{}\"]", u8::from(is)).unwrap(),
        Value::Bits(bits) => {
            let is_map = class.kind() == FieldKind::BitMap;
            let words: Vec<u64> = bits.words().collect();
            write!(out, "[\"{}\",\"{}\"", if is_map { "m" } else { "n" }, decimal(&words)).unwrap();
            if let Some(bits) = bits.to_u128().filter(|_| is_map) {
                labels(out, class.flags(bits));
            }
            out.push(']');
        }
        Value::Float(float) => {
            let bits = float.bits();
            let words: Vec<u64> = bits.words().collect();
            let digits: String = words.iter().rev().map(|word| format!("{word:016x}")).collect();
            let digits = &digits[digits.len() - bits.len() as usize / 4..];
            let text = match float.to_f64() {
                None => String::new(),
                Some(value) => repr(value),
            };
            write!(out, "[\"f\",\"{digits}\",\"{text}\"]").unwrap();
        }
        Value::Text(text) => {
            out.push_str("[\"t\",");
            if text.is_valid() {
                quoted(out, text.chars().map(Result::unwrap));
            } else {
                out.push_str("null,\"");
                hex(out, text.bytes());
                out.push('"');
            }
            out.push(']');
        }
        Value::Blob(bytes) => {
            out.push_str("[\"x\",\"");
            hex(out, bytes);
            out.push_str("\"]");
        }
        Value::Structure => {
            out.push_str("[\"s\"");
            members(out, fields);
            out.push(']');
        }
        Value::Array(_) => {
            out.push_str("[\"a\"");
            children(out, fields);
            out.push(']');
        }
        Value::Optional(is_present) => {
            out.push_str("[\"o\"");
            if is_present {
                children(out, fields);
            }
            out.push(']');
        }
        Value::Variant(index) => {
            write!(out, "[\"v\",{index},").unwrap();
            name(out, class.option_name(index));
            children(out, fields);
            out.push(']');
        }
        other => panic!("{other:?}"),
    }
}

fn children(out: &mut String, fields: &mut Fields<'_, '_>) {
    while let Some(field) = fields.next_field().expect("a field of a record that was delivered") {
        if matches!(field.value(), Value::End) {
            break;
        }
        out.push(',');
        value(out, fields, field.class(), field.value());
    }
}

fn members(out: &mut String, fields: &mut Fields<'_, '_>) {
    while let Some(field) = fields.next_field().expect("a field of a record that was delivered") {
        if matches!(field.value(), Value::End) {
            break;
        }
        out.push(',');
        name(out, field.name());
        out.push(',');
        value(out, fields, field.class(), field.value());
    }
}

/// The shortest decimal, as Python writes it.
fn repr(value: f64) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf".into() } else { "-inf".into() };
    }
    // The shortest digits that mean the value; of two that are as near the even ones.
    let shortest = format!("{value:e}");
    let digits = shortest.split_once('e').unwrap().0.bytes().filter(u8::is_ascii_digit).count();
    let even = format!("{value:.0$e}", digits - 1);
    let scientific = if even.parse() == Ok(value) { even } else { shortest };
    let (mantissa, exponent) = scientific.split_once('e').unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    if value == 0.0 || (-4..16).contains(&exponent) {
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).count() as i32;
        let decimals = usize::try_from(digits - 1 - exponent).unwrap_or(0);
        let text = format!("{value:.decimals$}");
        if text.contains('.') { text } else { text + ".0" }
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{mantissa}e{sign}{:02}", exponent.abs())
    }
}

fn scope(out: &mut String, key: &str, fields: Option<Fields<'_, '_>>) {
    if let Some(mut fields) = fields {
        write!(out, ",\"{key}\":[\"s\"").unwrap();
        members(out, &mut fields);
        out.push(']');
    }
}

fn number(out: &mut String, value: Option<u64>) {
    match value {
        Some(value) => write!(out, "\"{value}\"").unwrap(),
        None => out.push_str("null"),
    }
}

fn packet_line(packet: &Packet<'_, '_>) -> String {
    let mut out = format!(
        "{{\"k\":{},\"off\":{},\"total\":\"{}\",\"content\":\"{}\",\"dsc\":\"{}\",\"ds\":",
        packet.number(),
        packet.offset(),
        packet.total_bits(),
        packet.content_bits(),
        packet.stream_class().id()
    );
    number(&mut out, packet.stream_id());
    if let Some(clock) = packet.stream_class().clock() {
        for (key, cycles) in [("beg", packet.begin()), ("end", packet.end())] {
            match cycles {
                Some(cycles) => {
                    write!(out, ",\"{key}\":[\"{cycles}\",\"{}\"]", clock.nanoseconds(cycles)).unwrap();
                }
                None => write!(out, ",\"{key}\":[null,null]").unwrap(),
            }
        }
    }
    out.push_str(",\"seq\":");
    number(&mut out, packet.sequence());
    out.push_str(",\"disc\":");
    number(&mut out, packet.discarded());
    scope(&mut out, "h", packet.header());
    scope(&mut out, "c", packet.context());
    out.push('}');
    out
}

fn record_line(record: &Record<'_, '_, '_>) -> String {
    let class = record.class();
    let mut out = format!("{{\"e\":[\"{}\",", class.id());
    name(&mut out, class.namespace());
    out.push(',');
    name(&mut out, class.name());
    write!(out, "],\"to\":{}", record.packet().offset() * 8 + record.end()).unwrap();
    if let (Some(cycles), Some(nanoseconds)) = (record.cycles(), record.nanoseconds()) {
        write!(out, ",\"ts\":[\"{cycles}\",\"{nanoseconds}\"]").unwrap();
    }
    scope(&mut out, "h", record.header());
    scope(&mut out, "cc", record.common_context());
    scope(&mut out, "sc", record.specific_context());
    scope(&mut out, "p", record.payload());
    out.push('}');
    out
}

/// The vectors' name of a fault, and of the scope where it is.
fn fault(error: &Error) -> (&'static str, &'static str) {
    use traceglass::ctf::data::element;
    let scope = [
        (element::PACKET_HEADER, "packet-header"),
        (element::MAGIC, "packet-header"),
        (element::UUID, "packet-header"),
        (element::STREAM_CLASS_ID, "packet-header"),
        (element::PACKET_CONTEXT, "packet-context"),
        (element::TOTAL_LENGTH, "packet-context"),
        (element::CONTENT_LENGTH, "packet-context"),
        (element::PADDING, "padding"),
        (element::EVENT_HEADER, "event-record-header"),
        (element::EVENT_RECORD, "event-record-payload"),
        (element::EVENT_CLASS_ID, "event-record-header"),
        (element::COMMON_CONTEXT, "event-record-common-context"),
        (element::SPECIFIC_CONTEXT, "event-record-specific-context"),
        (element::PAYLOAD, "event-record-payload"),
    ]
    .into_iter()
    .find(|(element, _)| *element == error.element())
    .map_or("?", |(_, scope)| scope);
    let code = match error.kind() {
        ErrorKind::UnexpectedEnd { .. } if error.element() == element::PADDING => "padding-missing",
        ErrorKind::UnexpectedEnd { .. } => "beyond-data",
        ErrorKind::CrossesBoundary { .. } => "beyond-content",
        ErrorKind::ByteOrderChanged => "byte-order-change",
        ErrorKind::IntegerTooWide { .. } => "variable-length-too-long",
        ErrorKind::NoSuchOption { .. } => "variant-no-option",
        ErrorKind::BadMagic { .. } => "packet-magic",
        ErrorKind::UuidMismatch { .. } => "metadata-uuid",
        ErrorKind::NoSuchClass { .. } if error.element() == element::EVENT_CLASS_ID => {
            "event-record-class-unknown"
        }
        ErrorKind::NoSuchClass { .. } => "data-stream-class-unknown",
        ErrorKind::Empty => "event-record-empty",
        ErrorKind::NotMultiple { .. } => "packet-total-not-multiple-of-8",
        ErrorKind::OverLimit { .. } if error.element() == element::CONTENT_LENGTH => {
            "packet-content-gt-total"
        }
        ErrorKind::UnderLimit { .. } => "packet-content-too-small",
        _ => "?",
    };
    (code, scope)
}

/// A field, in a form that can be compared.
fn trace_of(field: &traceglass::ctf::data::Field<'_, '_>) -> (u32, u64, String) {
    let value = match field.value() {
        Value::Text(text) => format!("{:?}", text.bytes()),
        Value::Wide(bits) | Value::Bits(bits) => format!("{:?}", bits.words().collect::<Vec<_>>()),
        Value::Float(float) => format!("{:?}", float.bits().words().collect::<Vec<_>>()),
        other => format!("{other:?}"),
    };
    (field.class().key(), field.start(), value)
}

/// The payload of the last record says the same in each way to read it.
fn check_payload(record: &Record<'_, '_, '_>, records: &mut traceglass::ctf::data::Records<'_, '_, '_>) {
    let apart: Option<Vec<_>> =
        record.payload().map(|fields| fields.map(|field| trace_of(&field.unwrap())).collect());
    let mut pulled = records.payload().map(|_| Vec::new());
    if let (Some(fields), Some(pulled)) = (records.payload(), &mut pulled) {
        while let Some(field) = fields.next_field().unwrap() {
            pulled.push(trace_of(&field));
        }
        assert!(fields.next_field().unwrap().is_none(), "a field after the last one");
    }
    let mut each = records.payload().map(|_| Vec::new());
    if let (Some(fields), Some(each)) = (records.payload(), &mut each) {
        fields.each_field(|field| each.push(trace_of(&field))).unwrap();
    }
    assert_eq!(apart, pulled);
    assert_eq!(apart, each);
}

/// The lines of a data stream. Faults have `at` and no tolerance.
pub fn lines(file: &str, data: &[u8], schema: &Schema<'_, '_>) -> Vec<String> {
    let mut first = String::from("{\"f\":");
    quoted(&mut first, file.chars());
    write!(first, ",\"size\":{}}}", data.len()).unwrap();
    let mut lines = vec![first];
    let (mut packets, mut events, mut errors) = (0, 0, 0);
    let mut walk = Packets::new(data, schema);
    let fault_line = |error: &Error, at: u64, packet: u64, events: u64| {
        assert!(error.offset() <= data.len() as u64, "{error}");
        let (code, scope) = fault(error);
        format!(
            "{{\"z\":\"err\",\"code\":\"{code}\",\"at\":{at},\"scope\":\"{scope}\",\"packet\":{packet},\"events\":{events}}}"
        )
    };
    'packets: loop {
        let packet = match walk.next_packet() {
            Ok(Some(packet)) => packet,
            Ok(None) => break,
            Err(error) => {
                errors += 1;
                lines.push(fault_line(&error, walk.fault_bit().unwrap(), packets, events));
                assert!(walk.next_packet().unwrap().is_none(), "a packet after an error");
                break;
            }
        };
        lines.push(packet_line(&packet));
        packets += 1;
        let mut records = packet.records();
        loop {
            match records.next_record() {
                Ok(Some(record)) => {
                    events += 1;
                    lines.push(record_line(&record));
                    check_payload(&record, &mut records);
                }
                Ok(None) => break,
                Err(error) => {
                    errors += 1;
                    let at = packet.offset() * 8 + records.position();
                    lines.push(fault_line(&error, at, packet.number(), events));
                    assert!(records.next_record().unwrap().is_none(), "a record after an error");
                    if packet.end_offset() >= data.len() as u64 {
                        break 'packets;
                    }
                    lines.push(format!("{{\"resume\":{}}}", packet.end_offset()));
                    break;
                }
            }
        }
    }
    if errors == 0 {
        lines.push(format!("{{\"z\":\"ok\",\"packets\":{packets},\"events\":{events}}}"));
    } else {
        lines
            .push(format!("{{\"z\":\"end\",\"packets\":{packets},\"events\":{events},\"errors\":{errors}}}"));
    }
    lines
}
