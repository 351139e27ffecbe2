//! Fields as text and as JSON.

use super::labels::Labels;
use super::names::{SHOWN, shown_name, told};
use crate::escape::push;
use crate::json::{float, hex, int, quote, signed};
use crate::output::{printable, shortened};
use std::fmt::Write as _;
use traceglass::Result;
use traceglass::ctf::data::{BitString, Field, Fields, Value};
use traceglass::ctf::schema::{FieldClass, FieldKind};

/// The names of fields as they are printed, each made once.
#[derive(Default)]
pub struct Names {
    json: ByKey<JsonName>,
    text: ByKey<String>,
    labels: Labels,
    /// Used again for each scope.
    levels: Vec<Level>,
}

/// Something of each class of a schema, by its key.
pub struct ByKey<T>(Vec<Option<T>>);

impl<T> Default for ByKey<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ByKey<T> {
    pub fn of(&mut self, key: u32, make: impl FnOnce() -> T) -> &T {
        let key = key as usize;
        if self.0.len() <= key {
            // Keys number what the schema has.
            self.0.resize_with(key + 1, || None);
        }
        self.0[key].get_or_insert_with(make)
    }
}

/// A member's name in JSON, with the colon.
struct JsonName {
    text: Box<[u8]>,
    /// The same, if it is short: filled up, since a copy of fixed length is faster.
    short: Option<[u8; 32]>,
}

impl JsonName {
    fn new(class: FieldClass<'_, '_>) -> Self {
        let mut text = Vec::new();
        quote(&mut text, &class.name().map(told).unwrap_or_default());
        text.push(b':');
        let mut short = [0; 32];
        let is_short = short.get_mut(..text.len()).map(|start| start.copy_from_slice(&text)).is_some();
        Self { text: text.into_boxed_slice(), short: is_short.then_some(short) }
    }

    fn push(&self, to: &mut Vec<u8>) {
        match &self.short {
            Some(short) => {
                let end = to.len().saturating_add(self.text.len());
                to.extend_from_slice(short);
                to.truncate(end);
            }
            None => to.extend_from_slice(&self.text),
        }
    }
}

/// A member's name for people, with the equals sign.
fn text_name(class: FieldClass<'_, '_>) -> String {
    class.name().map(|name| printable(&shown_name(name))).unwrap_or_default() + "="
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

/// A scope as a JSON object; null if there is none.
pub fn json(text: &mut Vec<u8>, fields: Option<&mut Fields<'_, '_>>, names: &mut Names) -> Result<()> {
    let Some(fields) = fields else {
        text.extend_from_slice(b"null");
        return Ok(());
    };
    let Names { json: names, labels, levels, .. } = names;
    levels.clear();
    text.push(b'{');
    // The innermost level; nothing precedes what comes next there.
    let (mut level, mut first) = (Level::Structure, true);
    fields.each_field(|field| {
        let value = field.value();
        if matches!(value, Value::End) {
            match level {
                Level::Structure => text.push(b'}'),
                Level::Array => text.push(b']'),
                Level::Through => {}
            }
            level = levels.pop().unwrap_or(Level::Structure);
            first = false;
            return;
        }
        let class = field.class();
        match level {
            Level::Structure => {
                if !first {
                    text.push(b',');
                }
                names.of(class.key(), || JsonName::new(class)).push(text);
            }
            Level::Array if !first => text.push(b','),
            _ => {}
        }
        first = false;
        let mut begin = |inner| {
            levels.push(level);
            first = true;
            inner
        };
        let outer = level;
        let mut is_valid = true;
        match value {
            Value::Unsigned(value) => int(text, value),
            Value::Signed(value) => signed(text, value),
            Value::Text(value) => match value.as_str() {
                Some(value) => quote(text, value),
                None if value.is_valid() => quote(text, &value.to_string()),
                None => {
                    is_valid = false;
                    text.extend_from_slice(b"null");
                }
            },
            Value::Boolean(value) => text.extend_from_slice(if value { b"true" } else { b"false" }),
            Value::Wide(bits) => quote(text, &wide(bits, class.kind() == FieldKind::Signed)),
            Value::Bits(bits) => match bits.to_u64() {
                Some(bits) => int(text, bits),
                None => quote(text, &wide(bits, false)),
            },
            Value::Float(value) => match value.to_f64() {
                Some(value) => float(text, value),
                None => quote(text, &wide(value.bits(), false)),
            },
            Value::Blob(bytes) => hex(text, bytes),
            Value::Structure => {
                text.push(b'{');
                level = begin(Level::Structure);
            }
            Value::Array(_) => {
                text.push(b'[');
                level = begin(Level::Array);
            }
            Value::Optional(true) | Value::Variant(_) => level = begin(Level::Through),
            _ => text.extend_from_slice(b"null"),
        }
        if outer == Level::Structure && (!is_valid || class.has_labels()) {
            twins(text, &field, labels);
        }
    })?;
    text.push(b'}');
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
    let Names { text: names, labels, levels, .. } = names;
    levels.clear();
    let (mut level, mut first) = (Level::Structure, true);
    fields.each_field(|field| {
        let value = field.value();
        if matches!(value, Value::End) {
            match level {
                Level::Structure => to.push('}'),
                Level::Array => to.push(']'),
                Level::Through => {}
            }
            level = levels.pop().unwrap_or(Level::Structure);
            first = false;
            return;
        }
        let class = field.class();
        if !first && level != Level::Through {
            to.push(' ');
        }
        first = false;
        if level == Level::Structure {
            to.push_str(names.of(class.key(), || text_name(class)));
        }
        let mut begin = |inner| {
            levels.push(level);
            first = true;
            inner
        };
        // A string takes all that is written to it.
        let _ = match value {
            Value::Unsigned(value) => match class.base() {
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
            Value::Wide(bits) => write!(to, "{}", wide(bits, class.kind() == FieldKind::Signed)),
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
                level = begin(Level::Structure);
                write!(to, "{{")
            }
            Value::Array(_) => {
                level = begin(Level::Array);
                write!(to, "[")
            }
            Value::Optional(true) | Value::Variant(_) => {
                level = begin(Level::Through);
                Ok(())
            }
            _ => write!(to, "-"),
        };
        let labels = labels.of(&field);
        if !labels.is_empty() {
            let _ = write!(to, "({})", printable(&shortened(&labels.join("|"), SHOWN)));
        }
    })
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
