//! The words of a table's text.

use super::element::TABLE;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};

/// A word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word<'t> {
    /// A name, a number, `true` or `false`.
    Bare(&'t str),
    /// The text in quotes.
    Quoted(&'t str),
    /// One of `= [ ] { } ,`.
    Mark(u8),
    /// The end of the text.
    End,
}

/// Goes through a text word by word.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    /// The start of the last word.
    last: usize,
}

impl<'t> Lexer<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self { text, at: 0, last: 0 }
    }

    /// The offset of a piece of the text in it.
    pub(super) fn offset_of(&self, piece: &str) -> u64 {
        to_u64(piece.as_ptr().addr().saturating_sub(self.text.as_ptr().addr()))
    }

    /// The error that something else was expected where the last word begins.
    pub(super) fn unexpected(&self, expected: &'static str) -> Error {
        match self.text.as_bytes().get(self.last) {
            Some(&byte) => Error::new(to_u64(self.last), TABLE, ErrorKind::Unexpected { byte, expected }),
            None => Error::new(to_u64(self.last), TABLE, ErrorKind::UnexpectedEnd { needed: 1 }),
        }
    }

    /// The next word.
    pub(super) fn next_word(&mut self) -> Result<Word<'t>> {
        let rest = self.skip_blank();
        self.last = self.at;
        let Some(first) = rest.bytes().next() else { return Ok(Word::End) };
        let word = match first {
            b'=' | b'[' | b']' | b'{' | b'}' | b',' => {
                self.at = self.at.saturating_add(1);
                return Ok(Word::Mark(first));
            }
            quote @ (b'"' | b'\'') => {
                let inner = rest.get(1..).unwrap_or_default();
                let end = inner.bytes().position(|byte| byte == quote || byte == b'\\' || byte == b'\n');
                let Some(end) = end.filter(|&end| inner.as_bytes().get(end) == Some(&quote)) else {
                    return Err(self.unexpected("a text in quotes, on one line and without a backslash"));
                };
                self.at = self.at.saturating_add(end).saturating_add(2);
                return Ok(Word::Quoted(inner.get(..end).unwrap_or_default()));
            }
            _ => {
                let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
                let len = rest.bytes().position(|byte| !is_bare(byte)).unwrap_or(rest.len());
                rest.get(..len).unwrap_or_default()
            }
        };
        if word.is_empty() {
            return Err(self.unexpected("a name, a text in quotes, or one of = [ ] { } ,"));
        }
        self.at = self.at.saturating_add(word.len());
        Ok(Word::Bare(word))
    }

    /// Takes one of the marks.
    pub(super) fn expect(&mut self, mark: u8, expected: &'static str) -> Result<()> {
        match self.next_word()? {
            Word::Mark(found) if found == mark => Ok(()),
            _ => Err(self.unexpected(expected)),
        }
    }

    /// Skips blanks and comments; what is left of the text.
    fn skip_blank(&mut self) -> &'t str {
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let len = match rest.bytes().next() {
                Some(b'#') => rest.bytes().position(|byte| byte == b'\n').unwrap_or(rest.len()),
                Some(b' ' | b'\t' | b'\r' | b'\n') => 1,
                _ => return rest,
            };
            self.at = self.at.saturating_add(len);
        }
    }
}
