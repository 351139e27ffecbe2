//! Text from files, names and arguments, made safe for terminals.
//!
//! Everything that is printed passes through here on its way out, whether or not it was escaped before: see
//! [`Out`](crate::output::Out).

use crate::style::STYLES;
use anstyle::Style;
use std::fmt::{self, Write};
use traceglass_open::text::{every, has};

/// The mark that begins a style in text that is on its way out, by its number: characters that Unicode keeps for such
/// internal use. Text from elsewhere loses them when it is escaped.
const STYLE: char = '\u{fdd0}';
/// The mark that ends the style.
const PLAIN: char = '\u{fdef}';

/// True if a terminal, or who reads it, may take a character for more than what it looks like: controls of C0 and C1,
/// DEL, controls of direction, separators of lines, and the marks of styles.
pub fn is_unsafe(c: char) -> bool {
    matches!(c,
        '\0'..='\x1f' | '\x7f'..='\u{9f}'
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{2028}' | '\u{2029}'
        | STYLE..=PLAIN)
}

/// True if a string may hold something unsafe: one look at each byte, for what most often is ASCII.
pub fn is_suspect(text: &[u8]) -> bool {
    // The high bit of each byte that is below 0x20, or 0x7f and above.
    has(text, |word| word | word.wrapping_add(every(1)) | (word.wrapping_sub(every(0x20)) & !word))
}

/// The same of text that often holds something that is no ASCII and safe, such as `µ`: what is unsafe has a byte from 0x80
/// to 0x9f, or begins with 0xef.
pub fn is_suspect_text(text: &[u8]) -> bool {
    has(text, suspects)
}

/// The same of lines, in which line feeds are as they should be.
pub fn is_suspect_line(text: &[u8]) -> bool {
    has(text, |word| {
        let other = word ^ every(b'\n');
        // The high bit of each byte that is a line feed: no carry leaves a byte.
        let feeds = !((other & every(0x7f)).wrapping_add(every(0x7f)) | other) & every(0x80);
        // A letter in its stead.
        suspects(word | feeds >> 1)
    })
}

/// The high bit of each byte that may be unsafe, or begin something that is, and perhaps of those above it.
fn suspects(word: u64) -> u64 {
    let (low, mark) = (word & every(0x7f), word ^ every(0xef));
    let controls = word.wrapping_sub(every(0x20)) & !word;
    let (delete, second) = (low.wrapping_add(every(1)) & !word, word & !(word << 1) & !(word << 2));
    controls | delete | second | (mark.wrapping_sub(every(1)) & !mark)
}

/// Text from a file, an argument or a name: what is unsafe is escaped, as `\u{1b}`.
pub fn printable(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    push(&mut escaped, text, |_| false);
    escaped
}

/// Appends text, with what is unsafe escaped unless it is kept.
pub fn push(to: &mut String, text: &str, keep: impl Fn(char) -> bool) {
    if !is_suspect(text.as_bytes()) {
        return to.push_str(text);
    }
    let mut rest = text;
    // Most of it is ASCII: only what could be unsafe is looked at as characters.
    while let Some(at) = rest.bytes().position(|byte| !(0x20..0x7f).contains(&byte)) {
        let (before, from) = rest.split_at(at);
        to.push_str(before);
        let mut chars = from.chars();
        match chars.next() {
            // A string takes all that is written to it.
            Some(c) if is_unsafe(c) && !keep(c) => drop(write!(to, "{}", c.escape_default())),
            c => to.extend(c),
        }
        rest = chars.as_str();
    }
    to.push_str(rest);
}

/// Text in a style; what it says is escaped. Only [`Screen`] makes a style of it.
pub fn painted(style: Style, text: impl fmt::Display) -> String {
    let mut painted = String::new();
    push_painted(&mut painted, Some(style), &[&text.to_string()]);
    painted
}

/// The mark of a style.
fn mark_of(style: Style) -> Option<char> {
    let number = STYLES.iter().position(|known| *known == style).and_then(|place| u32::try_from(place).ok());
    number.and_then(|number| char::from_u32(u32::from(STYLE).saturating_add(number)))
}

/// Appends text in a style, of which there may be none; what it says is escaped.
pub fn push_painted(to: &mut String, style: Option<Style>, texts: &[&str]) {
    let mark = style.and_then(mark_of);
    to.extend(mark);
    texts.iter().for_each(|text| push(to, text, |_| false));
    to.extend(mark.map(|_| PLAIN));
}

/// Text without the marks of styles.
pub fn plain(text: &str) -> String {
    text.chars().filter(|c| !(STYLE..=PLAIN).contains(c)).collect()
}

/// A line, or a part of one, on its way to a terminal or a file.
pub struct Screen<'s> {
    to: &'s mut String,
    color: bool,
}

impl<'s> Screen<'s> {
    pub fn new(to: &'s mut String, color: bool) -> Self {
        Self { to, color }
    }
}

impl Write for Screen<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if !self.color || !is_suspect(text.as_bytes()) {
            push(self.to, text, |_| false);
            return Ok(());
        }
        for c in text.chars() {
            let number = u32::from(c).wrapping_sub(u32::from(STYLE));
            match usize::try_from(number).ok().and_then(|number| STYLES.get(number)) {
                Some(style) => write!(self.to, "{style}")?,
                None if c == PLAIN => self.to.push_str(RESET),
                None if is_unsafe(c) => write!(self.to, "{}", c.escape_default())?,
                None => self.to.push(c),
            }
        }
        Ok(())
    }
}

/// Ends all styles.
const RESET: &str = "\x1b[0m";

/// JSON with what is unsafe escaped as `\u....`: it can only stand in strings, so that the meaning stays.
pub fn json(to: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&byte| byte >= 0x7f) {
        let (before, from) = rest.split_at(at);
        to.extend(before);
        let start = from.get(..4).unwrap_or(from);
        let c = start.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
        let len = match c {
            Some(c) if is_unsafe(c) => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    to.extend(format!("\\u{unit:04x}").as_bytes());
                }
                c.len_utf8()
            }
            c => {
                let len = c.map_or(1, char::len_utf8);
                to.extend(from.get(..len).unwrap_or_default());
                len
            }
        };
        rest = from.get(len..).unwrap_or_default();
    }
    to.extend(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::ERROR;
    use traceglass_open::text::needs_json_escape;

    /// A text that must never be printed as it is.
    const HOSTILE: &str = "\x1b[31m\x07\n\x7f\u{9b}2J\u{202e}\u{2066}\u{2028}\u{200f}\u{61c}\u{fdd0}\u{fdef}";

    #[test]
    fn nothing_unsafe_is_left() {
        assert_eq!(printable("a\u{1b}[31mß\n"), "a\\u{1b}[31mß\\n");
        assert!(!printable(HOSTILE).chars().any(is_unsafe));
        for color in [false, true] {
            let mut line = String::new();
            write!(Screen::new(&mut line, color), "{}", printable(HOSTILE)).unwrap();
            assert!(!line.chars().any(is_unsafe), "{line:?}");
        }
        let mut line = String::new();
        write!(Screen::new(&mut line, false), "{HOSTILE}").unwrap();
        assert_eq!(line, printable(HOSTILE));
    }

    /// Each byte at each place, in text of any length.
    #[test]
    fn bytes_are_found_wherever_they_stand() {
        for len in 1..=40 {
            for place in 0..len {
                for byte in 0..=255 {
                    let mut text = vec![b'a'; len];
                    text[place] = byte;
                    assert_eq!(is_suspect(&text), !(0x20..0x7f).contains(&byte), "{byte:#x}");
                    let in_line = matches!(byte, 0..=9 | 11..=0x1f | 0x7f..=0x9f | 0xef);
                    assert_eq!(is_suspect_line(&text), in_line, "{byte:#x}");
                    let escaped = byte < 0x20 || byte == b'"' || byte == b'\\';
                    assert_eq!(needs_json_escape(&text), escaped, "{byte:#x}");
                }
            }
        }
        let is_found = |c: char| is_suspect_line(format!("aé{c}µ").as_bytes());
        assert!(('\0'..=char::MAX).all(|c| c == '\n' || !is_unsafe(c) || is_found(c)) && !is_found('µ'));
        assert!(!is_suspect_line(b"a\n  b\n\n c") && is_suspect_line(b"a\n\t b\n\n c"));
        // A line feed within a line is one that a name brings.
        assert!(is_suspect_text(b"a\nb") && !is_suspect_text("aé µ".as_bytes()));
        assert!(('\0'..=char::MAX).all(|c| !is_unsafe(c) || is_suspect_text(format!("aé{c}µ").as_bytes())));
        assert!(!is_suspect(b"") && !needs_json_escape("\u{7f}ß\u{80}".as_bytes()));
    }

    #[test]
    fn styles_are_of_what_was_painted() {
        let painted = painted(ERROR, format_args!("<{}>", "\x1b"));
        let mut line = String::new();
        write!(Screen::new(&mut line, true), "a {painted}").unwrap();
        assert_eq!(line, format!("a {ERROR}<\\u{{1b}}>{RESET}"));
    }

    #[test]
    fn json_means_the_same() {
        let mut text = Vec::new();
        let value = serde_json::json!({"a": HOSTILE, "b": "é😀\u{a0}"});
        json(&mut text, value.to_string().as_bytes());
        assert!(!std::str::from_utf8(&text).unwrap().chars().any(is_unsafe));
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&text).unwrap(), value);
        text.clear();
        json(&mut text, b"\"\xff\xc2\"");
        assert_eq!(text, b"\"\xff\xc2\"");
    }
}
