//! The JSON of a Meta, as far as streams take it: where a value ends, and what the members of an object are.
//!
//! The grammar is that of [`crate::json`], whose parser gives events and is several times as large in an image.

use crate::error::{Error, ErrorKind, Result};
use crate::json::Source;
use crate::rtc::element::META;
use crate::rtc::name::Name;
use crate::text::Text;

/// The deepest nesting that is read: a bit each.
const DEPTH: u32 = u64::BITS;

/// A place in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scanner<'a> {
    rest: Text<'a>,
    /// The number of bytes before it.
    read: usize,
}

impl<'a> Scanner<'a> {
    pub(super) const fn new(text: Text<'a>) -> Self {
        Self { rest: text, read: 0 }
    }

    /// The number of bytes that have been read.
    pub(super) const fn read(&self) -> usize {
        self.read
    }

    /// Skips a value, and returns its text.
    #[inline(never)]
    pub(super) fn value(&mut self) -> Result<Text<'a>> {
        self.skip_space();
        let start = *self;
        // The kinds of what is open, the innermost in the lowest bit: 1 for an object.
        let (mut depth, mut objects) = (0_u32, 0_u64);
        loop {
            self.skip_space();
            match self.peek() {
                Some(open @ (b'{' | b'[')) => {
                    if depth == DEPTH {
                        let kind = ErrorKind::TooDeep { limit: DEPTH };
                        return Err(Error::new(self.rest.offset(), META, kind));
                    }
                    self.advance(1);
                    self.skip_space();
                    let is_object = open == b'{';
                    (depth, objects) = (depth.wrapping_add(1), objects << 1 | u64::from(is_object));
                    if self.peek() != Some(if is_object { b'}' } else { b']' }) {
                        if is_object {
                            self.key("a member's name or '}'")?;
                        }
                        continue;
                    }
                }
                Some(b'"') => drop(self.string()?),
                Some(b'-' | b'0'..=b'9') => self.number()?,
                _ => self.word()?,
            }
            // After a value, others end with it, or another one follows.
            loop {
                if depth == 0 {
                    return Ok(start.until(self));
                }
                self.skip_space();
                let is_object = objects & 1 == 1;
                match self.peek() {
                    Some(b',') => {
                        self.advance(1);
                        self.skip_space();
                        if is_object {
                            self.key("a member's name")?;
                        }
                        break;
                    }
                    Some(close) if close == if is_object { b'}' } else { b']' } => {
                        self.advance(1);
                        (depth, objects) = (depth.wrapping_sub(1), objects >> 1);
                    }
                    _ => return Err(self.fault(if is_object { "',' or '}'" } else { "',' or ']'" })),
                }
            }
        }
    }

    /// The next member of an object, at its brace or after a member; `None` at its end and at a fault.
    pub(super) fn next_member(&mut self) -> Option<(Name<'a>, Text<'a>)> {
        self.skip_space();
        if matches!(self.peek(), Some(b'{' | b',')) {
            self.advance(1);
            self.skip_space();
        }
        let name = self.key("a member's name").ok()?;
        Some((name, self.value().ok()?))
    }

    /// A member's name and the colon after it.
    fn key(&mut self, expected: &'static str) -> Result<Name<'a>> {
        if self.peek() != Some(b'"') {
            return Err(self.fault(expected));
        }
        let name = self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.fault("':'"));
        }
        self.advance(1);
        Ok(name)
    }

    /// A string, at its quote.
    pub(super) fn string(&mut self) -> Result<Name<'a>> {
        self.advance(1);
        let start = *self;
        let mut escaped = false;
        loop {
            let front = self.rest.front();
            let plain = front.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
            self.advance(plain.unwrap_or(front.len()));
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                None => return Err(self.fault("'\"'")),
                Some(0..0x20) => return Err(self.fault("an escape instead of a control character")),
                // The second piece begins.
                Some(_) => {}
            }
        }
        let raw = start.until(self);
        self.advance(1);
        Ok(Name::new(raw, escaped, META))
    }

    fn escape(&mut self) -> Result<()> {
        self.advance(1);
        let digits = match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 0,
            Some(b'u') => 4,
            _ => return Err(self.fault("a character that can be escaped")),
        };
        self.advance(1);
        for _ in 0..digits {
            if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                return Err(self.fault("four hexadecimal digits"));
            }
            self.advance(1);
        }
        Ok(())
    }

    fn number(&mut self) -> Result<()> {
        self.skip(b"-");
        if self.skip(b"0") {
            if self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                return Err(self.fault("no digit after a leading zero"));
            }
        } else {
            self.digits()?;
        }
        if self.skip(b".") {
            self.digits()?;
        }
        if self.skip(b"eE") {
            self.skip(b"+-");
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<()> {
        if !self.skip(b"0123456789") {
            return Err(self.fault("a digit"));
        }
        while self.skip(b"0123456789") {}
        Ok(())
    }

    fn word(&mut self) -> Result<()> {
        let word: &[u8] = match self.peek() {
            Some(b't') => b"true",
            Some(b'f') => b"false",
            Some(b'n') => b"null",
            _ => return Err(self.fault("a value")),
        };
        for &byte in word {
            if !self.skip(&[byte]) {
                return Err(self.fault("'true', 'false' or 'null'"));
            }
        }
        Ok(())
    }

    /// Skips a byte, if it is one of these.
    fn skip(&mut self, bytes: &[u8]) -> bool {
        let is_there = self.peek().is_some_and(|byte| bytes.contains(&byte));
        if is_there {
            self.advance(1);
        }
        is_there
    }

    fn skip_space(&mut self) {
        while self.skip(b" \n\r\t") {}
    }

    #[cfg_attr(not(target_pointer_width = "64"), inline(never))] // There are many calls: it is smaller.
    fn peek(&self) -> Option<u8> {
        self.rest.front().first().copied()
    }

    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    fn advance(&mut self, n: usize) {
        self.rest.advance(n);
        self.read = self.read.saturating_add(n);
    }

    /// The text from here to there.
    fn until(&self, end: &Self) -> Text<'a> {
        self.rest.limited(crate::bytes::to_u64(end.read.saturating_sub(self.read)))
    }

    /// The error for anything but `expected` here, or for nothing at all.
    #[cold]
    fn fault(&self, expected: &'static str) -> Error {
        let kind = match self.peek() {
            Some(byte) => ErrorKind::Unexpected { byte, expected },
            None => ErrorKind::UnexpectedEnd { needed: 1 },
        };
        Error::new(self.rest.offset(), META, kind)
    }
}

/// Whether a number has a minus, and what follows it; `None` if it is no integer, or none of 64 bits.
pub(super) fn integer(text: Text<'_>) -> Option<(bool, u64)> {
    let (mut value, mut negative) = (None, false);
    for byte in text.bytes() {
        match byte {
            b'-' => negative = true,
            b'0'..=b'9' => {
                let digit = u64::from(byte.wrapping_sub(b'0'));
                value = Some(value.unwrap_or(0_u64).checked_mul(10)?.checked_add(digit)?);
            }
            _ => return None,
        }
    }
    value.map(|value| (negative, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Parser;

    /// The parser of all JSON agrees on what is a value, where it ends, and where a fault is.
    #[test]
    fn values_are_those_of_the_parser() {
        let texts: [&[u8]; 12] = [
            br#"{"id":9,"a":[1,-2.5e+3,{"b":null}],"c":"x\u00e9\"\\"} rest"#,
            b"[[],{},[{}],true,false] ,",
            b"{\"a\" : 1 , \"b\":[ ]}",
            b"{\"a\":01}",
            b"[1,]",
            b"{,}",
            b"\"a\nb\"",
            b"\"\\x\"",
            b"\"\\u12g4\"",
            b"-",
            b"1.e5",
            b"nul",
        ];
        let mut cases = 0;
        for text in texts {
            for changed in 0..=text.len() {
                for byte in *b"{}[],:\"\\0-e. \n" {
                    let mut text = text.to_vec();
                    text.get_mut(changed).into_iter().for_each(|at| *at = byte);
                    for cut in 0..=text.len() {
                        let (head, tail) = text.split_at(cut);
                        let text = Text::new(head, 100).with_tail(tail, 500);
                        let (mut parser, mut scanner) = (Parser::new(text, META), Scanner::new(text));
                        match (parser.value_text(), scanner.value()) {
                            (Ok(Some(found)), Ok(value)) => assert_eq!(found.len(), value.len()),
                            (Err(fault), Err(error)) => assert_eq!(fault.offset(), error.offset()),
                            other => panic!("{other:?} of {text:?}"),
                        }
                        cases += 1;
                    }
                }
            }
        }
        assert!(cases > 60_000, "{cases}");
    }

    #[test]
    fn integers_have_64_bits() {
        let of = |text: &'static str| integer(Text::new(text.as_bytes(), 0));
        assert_eq!(of("18446744073709551615"), Some((false, u64::MAX)));
        assert_eq!(of("-7"), Some((true, 7)));
        for other in ["18446744073709551616", "1.0", "1e3", "-", "", "null"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
