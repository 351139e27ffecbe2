//! Text that the compiler puts together: what [`events!`](crate::events) and [`labels!`](crate::labels) are made of.
//!
//! All of it is evaluated when the program is compiled; of the metadata, nothing is in the program that does not use it.

use crate::packet::{STREAM_CLASS, TRACE_CLASS, TSDL_STREAM, TSDL_TRACE};

/// The number of bytes of parts that are put together, with a separator between two of them.
pub const fn joined_len(parts: &[&[&str]], separator: &str) -> usize {
    let mut len = 0_usize;
    let mut parts = parts;
    while let [part, rest @ ..] = parts {
        let mut texts = *part;
        while let [text, rest @ ..] = texts {
            len = len.saturating_add(text.len());
            texts = rest;
        }
        if !rest.is_empty() {
            len = len.saturating_add(separator.len());
        }
        parts = rest;
    }
    len
}

/// The parts, put together, with a separator between two of them.
pub const fn joined<const LEN: usize>(parts: &[&[&str]], separator: &str) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    let mut at = 0;
    let mut parts = parts;
    while let [part, rest @ ..] = parts {
        let mut texts = *part;
        while let [text, rest @ ..] = texts {
            at = append(&mut bytes, at, text);
            texts = rest;
        }
        if !rest.is_empty() {
            at = append(&mut bytes, at, separator);
        }
        parts = rest;
    }
    bytes
}

/// Copies text to a place; returns where it ends. All at once: the compiler takes only so many steps.
const fn append(bytes: &mut [u8], at: usize, text: &str) -> usize {
    let end = at.saturating_add(text.len());
    if let Some((bytes, _)) = bytes.split_at_mut_checked(end)
        && let Some((_, to)) = bytes.split_at_mut_checked(at)
    {
        to.copy_from_slice(text.as_bytes());
    }
    end
}

/// Bytes of [`joined`] as the text that they are.
pub const fn text(bytes: &[u8]) -> &str {
    match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => "",
    }
}

/// The name that is meant by an identifier: `type` by `r#type`.
pub const fn plain(name: &str) -> &str {
    match name.as_bytes() {
        [b'r', b'#', rest @ ..] => text(rest),
        _ => name,
    }
}

/// The name of a field, as [`plain`] has it.
///
/// # Panics
/// If it is not ASCII: names in TSDL are.
pub const fn field_name(name: &str) -> &str {
    assert!(name.is_ascii(), "the name of a field is ASCII");
    plain(name)
}

/// A name that stands in quotes.
///
/// # Panics
/// If it has a quote, a backslash or a control character.
pub const fn quotable(name: &str) -> &str {
    let mut rest = name.as_bytes();
    while let [byte, after @ ..] = rest {
        assert!(
            *byte >= b' ' && *byte != b'"' && *byte != b'\\' && *byte != 0x7f,
            "the name of an event has no quote, backslash or control character"
        );
        rest = after;
    }
    name
}

/// The first of some texts; empty if there is none.
pub const fn first<'a>(texts: &[&'a str]) -> &'a str {
    match texts {
        [first, ..] => first,
        [] => "",
    }
}

/// A number in decimal digits.
#[derive(Clone, Copy, Debug)]
pub struct Digits {
    bytes: [u8; 20],
    first: usize,
}

impl Digits {
    /// The digits of this number.
    #[allow(clippy::as_conversions, clippy::arithmetic_side_effects)] // A digit has four bits; 10 is not 0.
    pub const fn new(number: u64) -> Self {
        let mut digits = Self { bytes: [b'0'; 20], first: 20 };
        let mut rest = number;
        loop {
            digits.first = digits.first.saturating_sub(1);
            if let Some((_, to)) = digits.bytes.split_at_mut_checked(digits.first)
                && let Some(to) = to.first_mut()
            {
                *to = b'0' + (rest % 10) as u8;
            }
            rest /= 10;
            if rest == 0 {
                return digits;
            }
        }
    }

    /// The digits as text.
    pub const fn as_str(&self) -> &str {
        match self.bytes.split_at_checked(self.first) {
            Some((_, digits)) => text(digits),
            None => "",
        }
    }
}

/// The parts of a metadata before the events, in CTF 2: `frequency` is in hertz.
pub const fn front(frequency: &str) -> [&str; 6] {
    [
        "\u{1e}{\"type\":\"preamble\",\"version\":2}\n\u{1e}",
        TRACE_CLASS,
        "\u{1e}{\"type\":\"clock-class\",\"id\":\"default\",\"name\":\"default\",\"frequency\":",
        frequency,
        "}\n\u{1e}",
        STREAM_CLASS,
    ]
}

/// The same in CTF 1.8.
pub const fn front_1_8(frequency: &str) -> [&str; 5] {
    [TSDL_TRACE, "clock {\n    name = default;\n    freq = ", frequency, ";\n};\n", TSDL_STREAM]
}

/// A short text whose length depends on a type.
pub(crate) struct Short {
    bytes: [u8; 80],
    len: usize,
}

impl Short {
    pub(crate) const fn new(texts: &[&str]) -> Self {
        Self { bytes: joined(&[texts], ""), len: joined_len(&[texts], "") }
    }

    pub(crate) const fn as_str(&self) -> &str {
        match self.bytes.split_at_checked(self.len) {
            Some((bytes, _)) => text(bytes),
            None => "",
        }
    }
}
