//! Fields as JSON, as the command writes them: integers of more than 64 bits and floats that are no numbers as strings,
//! bytes in hexadecimal.

use std::fmt::Write;
use traceglass::Result;
use traceglass::event::{Field, Fields, Label, Value};

/// What has begun and not ended.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Object,
    List,
    /// A structure of which nothing has come yet.
    Begun,
    /// What holds one thing without a name, which stands for it.
    Through,
}

/// Appends a string, quoted.
pub(crate) fn quote(to: &mut String, text: &str) {
    to.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte < 0x20 || matches!(byte, b'"' | b'\\' | 0x7f)) {
        let (plain, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        to.push_str(plain);
        let mut chars = from.chars();
        match chars.next() {
            Some('"') => to.push_str("\\\""),
            Some('\\') => to.push_str("\\\\"),
            Some('\n') => to.push_str("\\n"),
            Some('\r') => to.push_str("\\r"),
            Some('\t') => to.push_str("\\t"),
            // A string takes all that is written to it.
            Some(c) => drop(write!(to, "\\u{:04x}", u32::from(c))),
            None => {}
        }
        rest = chars.as_str();
    }
    to.push_str(rest);
    to.push('"');
}

fn hex(to: &mut String, bytes: &[u8]) {
    to.push('"');
    for byte in bytes {
        let _ = write!(to, "{byte:02x}");
    }
    to.push('"');
}

/// A label as text.
pub(crate) fn with_text<T>(label: &Label<'_>, buffer: &mut String, then: impl FnOnce(&str) -> T) -> T {
    match label.as_str() {
        Some(text) => then(text),
        None => {
            buffer.clear();
            let _ = write!(buffer, "{label}");
            then(buffer)
        }
    }
}

fn label(to: &mut String, label: &Label<'_>, buffer: &mut String) {
    with_text(label, buffer, |text| quote(to, text));
}

/// Writes values one by one, each with what is in it.
#[derive(Default)]
pub(crate) struct Json {
    levels: Vec<Level>,
    buffer: String,
}

impl Json {
    /// Appends a value, with all that is in it.
    pub(crate) fn value(
        &mut self,
        to: &mut String,
        field: &Field<'_>,
        fields: &mut Fields<'_>,
    ) -> Result<()> {
        self.levels.clear();
        self.begin(to, &field.value());
        // Nothing precedes what comes next, at its level.
        let mut first = true;
        while let Some(level) = self.levels.last().copied() {
            let Some(field) = fields.next_field()? else {
                // What is open is never left so.
                while let Some(level) = self.levels.pop() {
                    end(to, level);
                }
                return Ok(());
            };
            let value = field.value();
            if matches!(value, Value::End) {
                self.levels.pop();
                end(to, level);
                first = false;
                continue;
            }
            let level = match (level, field.name()) {
                (Level::Begun, Some(_)) => {
                    to.push('{');
                    Level::Object
                }
                (Level::Begun, None) => Level::Through,
                (level, _) => level,
            };
            if let Some(top) = self.levels.last_mut() {
                *top = level;
            }
            if !first && level != Level::Through {
                to.push(',');
            }
            if let (Level::Object, Some(name)) = (level, field.name()) {
                label(to, &name, &mut self.buffer);
                to.push(':');
            }
            first = self.begin(to, &value);
        }
        Ok(())
    }

    /// Appends a value, or the start of one with others in it; says whether it is the latter.
    fn begin(&mut self, to: &mut String, value: &Value<'_>) -> bool {
        match value {
            Value::Struct => self.levels.push(Level::Begun),
            Value::List => {
                to.push('[');
                self.levels.push(Level::List);
            }
            other => {
                scalar(to, other, &mut self.buffer);
                return false;
            }
        }
        true
    }
}

fn end(to: &mut String, level: Level) {
    match level {
        Level::Object => to.push('}'),
        Level::List => to.push(']'),
        Level::Begun => to.push_str("{}"),
        Level::Through => {}
    }
}

fn scalar(to: &mut String, value: &Value<'_>, buffer: &mut String) {
    // A string takes all that is written to it.
    let _ = match *value {
        Value::Bool(value) => write!(to, "{value}"),
        Value::Unsigned(value) => match u64::try_from(value) {
            Ok(value) => write!(to, "{value}"),
            Err(_) => write!(to, "\"{value}\""),
        },
        Value::Signed(value) => match i64::try_from(value) {
            Ok(value) => write!(to, "{value}"),
            Err(_) => write!(to, "\"{value}\""),
        },
        Value::Float(value) if value.is_finite() => write!(to, "{value:?}"),
        Value::Float(value) => write!(to, "\"{value}\""),
        Value::Text(text) => {
            label(to, &text, buffer);
            Ok(())
        }
        Value::Bytes(bytes) => {
            hex(to, bytes);
            Ok(())
        }
        _ => write!(to, "null"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped() {
        let mut text = String::new();
        quote(&mut text, "a\"b\\\n\u{1}\u{7f}é\u{2028}");
        assert_eq!(text, "\"a\\\"b\\\\\\n\\u0001\\u007fé\u{2028}\"");
    }

    #[test]
    fn scalars_are_what_json_can_hold() {
        let mut text = String::new();
        for value in [
            Value::Unsigned(u64::MAX.into()),
            Value::Unsigned(u128::MAX),
            Value::Signed(i128::MIN),
            Value::Float(1e300),
            Value::Float(f64::NAN),
            Value::Bytes(b"\0\xff"),
            Value::Null,
        ] {
            scalar(&mut text, &value, &mut String::new());
            text.push(' ');
        }
        assert_eq!(
            text,
            "18446744073709551615 \"340282366920938463463374607431768211455\" \
             \"-170141183460469231731687303715884105728\" 1e300 \"NaN\" \"00ff\" null "
        );
    }
}
