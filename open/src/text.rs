//! Text as all front ends write it: names of limited length, digits, strings of JSON.

use std::fmt::Display;
use traceglass::event::Label;

/// The number of characters of a name that are told with each record.
pub const NAME_MAX: usize = 256;

/// The first characters of what is written, of which no more is made.
struct Start<'t> {
    text: &'t mut String,
    left: usize,
}

impl std::fmt::Write for Start<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if text.len() <= self.left {
            self.left = self.left.saturating_sub(text.chars().count());
            self.text.push_str(text);
            return Ok(());
        }
        for c in text.chars() {
            let Some(left) = self.left.checked_sub(1) else {
                self.text.push('…');
                return Err(std::fmt::Error);
            };
            self.left = left;
            self.text.push(c);
        }
        Ok(())
    }
}

/// Appends something of up to `most` characters; of something longer the beginning, and a mark.
pub fn push_start(to: &mut String, what: impl Display, most: usize) {
    // A longer text ends there.
    let _ = std::fmt::Write::write_fmt(&mut Start { text: to, left: most }, format_args!("{what}"));
}

/// Appends up to `most` characters of a label.
pub fn push_label(to: &mut String, label: Label<'_>, most: usize) {
    // Nearly all of them are borrowed and short, and stand as they are.
    match label.as_str().filter(|text| text.len() <= most) {
        Some(text) => to.push_str(text),
        None => push_start(to, label, most),
    }
}

/// The two digits of a byte in lower-case hex.
pub fn digits(byte: u8) -> [u8; 2] {
    let digit = |half: u8| b"0123456789abcdef".get(usize::from(half)).copied().unwrap_or_default();
    [digit(byte >> 4), digit(byte & 15)]
}

/// True if a string has to be escaped in JSON.
pub fn needs_json_escape(text: &[u8]) -> bool {
    let is = |word: u64, byte: u8| (word ^ every(byte)).wrapping_sub(every(1)) & !(word ^ every(byte));
    has(text, |word| (word.wrapping_sub(every(0x20)) & !word) | is(word, b'"') | is(word, b'\\'))
}

/// Eight times the same byte.
pub const fn every(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// True if there is a byte whose high bit `find` sets, which is given eight of them; it may set those above it as well.
pub fn has(text: &[u8], find: impl Fn(u64) -> u64) -> bool {
    let (words, rest) = text.as_chunks();
    // Spaces are nothing to be found.
    let mut last = [b' '; 8];
    last.iter_mut().zip(rest).for_each(|(to, byte)| *to = *byte);
    // Without a way out, many bytes are looked at at once.
    let found = words
        .iter()
        .fold(find(u64::from_le_bytes(last)), |found, word| found | find(u64::from_le_bytes(*word)));
    found & every(0x80) != 0
}

/// Appends a JSON string.
pub fn quote(to: &mut Vec<u8>, value: &str) {
    if needs_json_escape(value.as_bytes()) {
        // A vector takes all that is written to it.
        let _ = serde_json::to_writer(to, value);
        return;
    }
    to.push(b'"');
    to.extend_from_slice(value.as_bytes());
    to.push(b'"');
}
