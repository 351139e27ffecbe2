//! Fields as text and as JSON.

use super::labels::Labels;
use super::names::{SHOWN, shown_name, told};
use crate::escape::push;
use crate::json::{Line, float, hex, int, quote, signed};
use crate::output::{printable, shortened};
use std::fmt::Write as _;
use traceglass::Result;
use traceglass::ctf::data::{BitString, Field, Fields, Value};
use traceglass::ctf::schema::{FieldClass, FieldKind};

/// The names of fields as they are printed, each made once.
#[derive(Default)]
pub struct Names {
    json: ByClass<Vec<u8>>,
    text: ByClass<String>,
    labels: Labels,
    /// Used again for each scope.
    levels: Vec<Level>,
}

/// Something of each class, by its key.
#[derive(Default)]
struct ByClass<T>(Vec<Option<T>>);

impl<T> ByClass<T> {
    fn of(&mut self, class: FieldClass<'_, '_>, make: impl FnOnce() -> T) -> &T {
        let key = class.key() as usize;
        if self.0.len() <= key {
            // Keys number what the schema has.
            self.0.resize_with(key + 1, || None);
        }
        self.0[key].get_or_insert_with(make)
    }
}

impl Names {
    /// A member's name, quoted, with the colon.
    fn json(&mut self, class: FieldClass<'_, '_>) -> &[u8] {
        self.json.of(class, || {
            let mut text = Vec::new();
            quote(&mut text, &class.name().map(told).unwrap_or_default());
            text.push(b':');
            text
        })
    }

    fn text(&mut self, class: FieldClass<'_, '_>) -> &str {
        self.text.of(class, || class.name().map(|name| printable(&shown_name(name))).unwrap_or_default())
    }
}

/// What has begun and not ended.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Structure,
    Array,
    /// An optional or a variant: what is in it stands for it.
    Through,
}

/// Decimal if it has at most 128 bits, else hexadecimal.
fn wide(bits: BitString<'_>, is_signed: bool) -> String {
    match bits.to_u128() {
        Some(value) if is_signed => {
            let shift = 128 - bits.len();
            (value.cast_signed() << shift >> shift).to_string()
        }
        Some(value) => value.to_string(),
        None => {
            let words: Vec<u64> = bits.words().collect();
            words.iter().rev().fold(String::from("0x"), |mut text, word| {
                // A string takes all that is written to it.
                let _ = write!(text, "{word:016x}");
                text
            })
        }
    }
}

/// A scope as a JSON object under `key`; null if there is none.
pub fn json(
    line: &mut Line,
    key: &str,
    fields: Option<&mut Fields<'_, '_>>,
    names: &mut Names,
) -> Result<()> {
    let Some(fields) = fields else {
        line.null(key);
        return Ok(());
    };
    let text = &mut line.key(key).text;
    text.push(b'{');
    let mut levels = std::mem::take(&mut names.levels);
    levels.clear();
    levels.push(Level::Structure);
    // Nothing precedes what comes next, at its level.
    let mut first = true;
    while let Some(field) = fields.next_field()? {
        let value = field.value();
        if matches!(value, Value::End) {
            match levels.pop() {
                Some(Level::Structure) => text.push(b'}'),
                Some(Level::Array) => text.push(b']'),
                _ => {}
            }
            first = false;
            continue;
        }
        let level = levels.last().copied().unwrap_or(Level::Structure);
        if !first && level != Level::Through {
            text.push(b',');
        }
        first = false;
        if level == Level::Structure {
            text.extend_from_slice(names.json(field.class()));
        }
        match value {
            Value::Unsigned(value) => int(text, value),
            Value::Signed(value) => signed(text, value),
            Value::Boolean(value) => text.extend(if value { &b"true"[..] } else { b"false" }),
            Value::Wide(bits) => quote(text, &wide(bits, field.class().kind() == FieldKind::Signed)),
            Value::Bits(bits) => match bits.to_u64() {
                Some(bits) => int(text, bits),
                None => quote(text, &wide(bits, false)),
            },
            Value::Float(value) => match value.to_f64() {
                Some(value) => float(text, value),
                None => quote(text, &wide(value.bits(), false)),
            },
            Value::Text(value) => match value.as_str() {
                Some(value) => quote(text, value),
                None if value.is_valid() => quote(text, &value.to_string()),
                None => text.extend(b"null"),
            },
            Value::Blob(bytes) => hex(text, bytes),
            Value::Structure => {
                text.push(b'{');
                levels.push(Level::Structure);
                first = true;
            }
            Value::Array(_) => {
                text.push(b'[');
                levels.push(Level::Array);
                first = true;
            }
            Value::Optional(true) | Value::Variant(_) => {
                levels.push(Level::Through);
                first = true;
            }
            _ => text.extend(b"null"),
        }
        if level == Level::Structure {
            twins(text, &field, &mut names.labels);
        }
    }
    text.push(b'}');
    names.levels = levels;
    Ok(())
}

/// What a member's value does not say: the bytes of text that is not valid, the names of a number.
fn twins(text: &mut Vec<u8>, field: &Field<'_, '_>, labels: &mut Labels) {
    let mut twin = |suffix: &str| {
        text.push(b',');
        let name = field.name().map(told).unwrap_or_default();
        quote(text, &format!("{name}{suffix}"));
        text.push(b':');
    };
    match field.value() {
        Value::Text(value) if !value.is_valid() => {
            twin("_hex");
            hex(text, value.bytes());
        }
        _ => {
            let labels = labels.of(field);
            if !labels.is_empty() {
                twin("_labels");
                crate::json::array(text, labels.iter(), |text, label| quote(text, label));
            }
        }
    }
}

/// A scope as text: `a=1 b="x" c=[1 2] d={e=3}`.
pub fn text(to: &mut String, fields: &mut Fields<'_, '_>, names: &mut Names) -> Result<()> {
    let mut levels = vec![Level::Structure];
    let mut first = true;
    while let Some(field) = fields.next_field()? {
        let value = field.value();
        if matches!(value, Value::End) {
            match levels.pop() {
                Some(Level::Structure) => to.push('}'),
                Some(Level::Array) => to.push(']'),
                _ => {}
            }
            first = false;
            continue;
        }
        let level = levels.last().copied().unwrap_or(Level::Structure);
        if !first && level != Level::Through {
            to.push(' ');
        }
        first = false;
        if level == Level::Structure {
            to.push_str(names.text(field.class()));
            to.push('=');
        }
        // A string takes all that is written to it.
        let _ = match value {
            Value::Unsigned(value) => match field.class().base() {
                2 => write!(to, "{value:#b}"),
                8 => write!(to, "{value:#o}"),
                16 => write!(to, "{value:#x}"),
                _ => {
                    to.push_str(itoa::Buffer::new().format(value));
                    Ok(())
                }
            },
            Value::Signed(value) => {
                to.push_str(itoa::Buffer::new().format(value));
                Ok(())
            }
            Value::Boolean(value) => write!(to, "{value}"),
            Value::Wide(bits) => write!(to, "{}", wide(bits, field.class().kind() == FieldKind::Signed)),
            Value::Bits(bits) => match bits.to_u64() {
                Some(bits) => write!(to, "{bits:#x}"),
                None => write!(to, "{}", wide(bits, false)),
            },
            Value::Float(value) => match value.to_f64() {
                Some(value) => write!(to, "{value:?}"),
                None => write!(to, "{}", wide(value.bits(), false)),
            },
            Value::Text(value) => {
                to.push('"');
                match value.as_str().filter(|text| !text.contains('"')) {
                    Some(text) => push(to, text, |_| false),
                    None => to.push_str(&printable(&value.to_string()).replace('"', "\\\"")),
                }
                to.push('"');
                Ok(())
            }
            Value::Blob(bytes) => write!(to, "{}", crate::output::hex(bytes)),
            Value::Structure => {
                levels.push(Level::Structure);
                first = true;
                write!(to, "{{")
            }
            Value::Array(_) => {
                levels.push(Level::Array);
                first = true;
                write!(to, "[")
            }
            Value::Optional(true) | Value::Variant(_) => {
                levels.push(Level::Through);
                first = true;
                Ok(())
            }
            _ => write!(to, "-"),
        };
        let labels = names.labels.of(&field);
        if !labels.is_empty() {
            let _ = write!(to, "({})", printable(&shortened(&labels.join("|"), SHOWN)));
        }
    }
    Ok(())
}

/// A value without others in it, as text.
pub fn shown(field: &Field<'_, '_>) -> String {
    match field.value() {
        Value::Unsigned(value) if field.class().base() == 16 => format!("{value:#x}"),
        Value::Unsigned(value) => value.to_string(),
        Value::Signed(value) => value.to_string(),
        Value::Boolean(value) => value.to_string(),
        Value::Wide(bits) => wide(bits, field.class().kind() == FieldKind::Signed),
        Value::Bits(bits) => bits.to_u64().map_or_else(|| wide(bits, false), |bits| format!("{bits:#x}")),
        Value::Float(value) => {
            value.to_f64().map_or_else(|| wide(value.bits(), false), |value| format!("{value:?}"))
        }
        Value::Text(value) => format!("\"{value}\""),
        Value::Blob(bytes) => format!("{} bytes", bytes.len()),
        _ => String::new(),
    }
}
