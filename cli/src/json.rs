//! Lines of JSON, of which there may be many millions: the text is made without a tree of values in between.

use crate::trace::Stamps;
use serde_json::Value;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;
pub use traceglass_open::text::quote;

// A vector takes all that is written to it: no error can come.

/// A line: one object.
#[derive(Default)]
pub struct Line {
    pub text: Vec<u8>,
}

impl Line {
    pub fn new() -> Self {
        Self { text: Vec::with_capacity(256) }
    }

    /// Begins the object.
    pub fn begin(&mut self) -> &mut Self {
        self.text.clear();
        self
    }

    /// Ends the object, and gives the line.
    pub fn end(&mut self) -> &[u8] {
        self.text.extend(b"}\n");
        &self.text
    }

    pub fn key(&mut self, key: &str) -> &mut Self {
        self.text.extend(if self.text.is_empty() { b"{\"" } else { b",\"" });
        self.text.extend(key.as_bytes());
        self.text.extend(b"\":");
        self
    }

    pub fn int(&mut self, key: &str, value: u64) -> &mut Self {
        int(&mut self.key(key).text, value);
        self
    }

    pub fn int_or_null(&mut self, key: &str, value: Option<u64>) -> &mut Self {
        match value {
            Some(value) => self.int(key, value),
            None => self.null(key),
        }
    }

    pub fn text(&mut self, key: &str, value: &str) -> &mut Self {
        quote(&mut self.key(key).text, value);
        self
    }

    pub fn text_or_null(&mut self, key: &str, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.text(key, value),
            None => self.null(key),
        }
    }

    /// Text that is known to need no escapes.
    pub fn plain(&mut self, key: &str, value: &str) -> &mut Self {
        let text = &mut self.key(key).text;
        text.push(b'"');
        text.extend_from_slice(value.as_bytes());
        text.push(b'"');
        self
    }

    /// A time: `time_ns`, an integer, of more than 64 bits a string; `time`, a date where the clock is absolute.
    pub fn time(&mut self, nanoseconds: Option<i128>, is_absolute: bool, stamps: &mut Stamps) -> &mut Self {
        self.stamp(["time_ns", "time"], nanoseconds, is_absolute, stamps)
    }

    /// The same of the end of something.
    pub fn end_time(
        &mut self,
        nanoseconds: Option<i128>,
        is_absolute: bool,
        stamps: &mut Stamps,
    ) -> &mut Self {
        self.stamp(["end_time_ns", "end_time"], nanoseconds, is_absolute, stamps)
    }

    fn stamp(
        &mut self,
        [in_ns, date]: [&str; 2],
        time: Option<i128>,
        is_absolute: bool,
        stamps: &mut Stamps,
    ) -> &mut Self {
        self.span(in_ns, time);
        match time.filter(|_| is_absolute).and_then(|time| stamps.rfc3339(time)) {
            Some(text) => self.plain(date, text),
            None => self.null(date),
        }
    }

    /// A time or how long something took: an integer, of more than 64 bits a string.
    pub fn span(&mut self, key: &str, nanoseconds: Option<i128>) -> &mut Self {
        match nanoseconds.map(|ns| (i64::try_from(ns), ns)) {
            Some((Ok(ns), _)) => signed(&mut self.key(key).text, ns),
            Some((Err(_), ns)) if u64::try_from(ns).is_ok() => {
                self.raw(key, ns);
            }
            Some((Err(_), ns)) => {
                self.text(key, &ns.to_string());
            }
            None => {
                self.null(key);
            }
        }
        self
    }

    /// The path of a file in the folder that was named.
    pub fn path(&mut self, path: Option<&Path>) -> &mut Self {
        let Some(path) = path else { return self.null("path") };
        match path.to_str() {
            Some(text) => self.text("path", text),
            None => self.null("path").hex("path_hex", path.as_os_str().as_encoded_bytes()),
        }
    }

    /// Its members, as those that follow others.
    pub fn more(&self) -> Vec<u8> {
        [b",", self.text.strip_prefix(b"{").unwrap_or_default()].concat()
    }

    /// Bytes, as hex.
    pub fn hex(&mut self, key: &str, value: &[u8]) -> &mut Self {
        hex(&mut self.key(key).text, value);
        self
    }

    /// A value that is JSON.
    pub fn raw(&mut self, key: &str, value: impl Display) -> &mut Self {
        let _ = write!(self.key(key).text, "{value}");
        self
    }

    pub fn null(&mut self, key: &str) -> &mut Self {
        self.key(key).text.extend(b"null");
        self
    }
}

/// An integer.
fn int(text: &mut Vec<u8>, value: u64) {
    text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// An integer with a sign.
fn signed(text: &mut Vec<u8>, value: i64) {
    text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// A string of hex digits.
fn hex(text: &mut Vec<u8>, bytes: &[u8]) {
    text.push(b'"');
    bytes.iter().for_each(|&byte| text.extend_from_slice(&crate::output::digits(byte)));
    text.push(b'"');
}

/// JSON text as a value; `None` if it is not JSON, or cannot be represented.
///
/// `serde_json` takes an object whose member has a name of its own for a number. Of an object that it swallows, or that
/// has a member twice, a brace is missing.
pub fn value(text: &str) -> Option<Value> {
    value_with(text, b"{")
}

/// The same; `None` as well if an object has any member twice: of those, a colon is missing.
pub fn unambiguous_value(text: &str) -> Option<Value> {
    value_with(text, b"{:")
}

fn value_with(text: &str, marks: &[u8]) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    (count(text, marks) == count(&value.to_string(), marks)).then_some(value)
}

/// The number of bytes of JSON text that are any of these marks, and stand in no string.
fn count(json: &str, marks: &[u8]) -> usize {
    let (mut in_string, mut escaped, mut count) = (false, false, 0_usize);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            _ if !in_string && marks.contains(&byte) => count = count.saturating_add(1),
            _ => {}
        }
    }
    count
}

/// JSON text without the white space between its tokens.
pub fn minify(json: impl Iterator<Item = u8>, to: &mut Vec<u8>) {
    let (mut in_string, mut escaped) = (false, false);
    for byte in json {
        if !in_string && matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
            continue;
        }
        to.push(byte);
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_in_strings_stays() {
        let mut line = Vec::new();
        minify(br#" { "a \" b" : [ 1 , "\\" ] , "c": " " } "#.iter().copied(), &mut line);
        assert_eq!(String::from_utf8(line).unwrap(), r#"{"a \" b":[1,"\\"],"c":" "}"#);
    }

    #[test]
    fn an_object_is_no_number() {
        for text in [
            r#"{"$serde_json::private::Number":"12345"}"#,
            r#"{"\u0024serde_json::private::Number":"12345"}"#,
            r#"[{"a":{"$serde_json::private::Number":"12345"}}]"#,
            r#"{"a":{},"a":1}"#,
            "{",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
        for text in [
            r#"{"a":"{\"","b":[{},1.50,123456789012345678901234567890]}"#,
            "7",
            "\"$serde_json::private::Number\"",
        ] {
            assert_eq!(value(text).unwrap().to_string(), text);
        }
        for text in [r#"{"a":1,"a":2}"#, r#"[{"b":{"a":":","a":1}}]"#] {
            assert!(value(text).is_some() && unambiguous_value(text).is_none(), "{text}");
        }
        assert!(unambiguous_value(r#"[{"a":"{:\":"},{"a":{"a":1}}]"#).is_some());
    }
}
