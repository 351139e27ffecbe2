use super::plain::plain;
use super::{Number, Source, Str};
use crate::error::{Element, Error, ErrorKind, Result};

/// A place in a text, from which the tokens of JSON are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tokens<S> {
    source: S,
    /// The number of bytes before it.
    read: u64,
    element: Element,
}

impl<'a, S: Source<'a>> Tokens<S> {
    /// The start of `source`; errors name `element`.
    pub(crate) const fn new(source: S, element: Element) -> Self {
        Self { source, read: 0, element }
    }

    /// The text that is left.
    pub(crate) const fn rest(&self) -> S {
        self.source
    }

    /// The element that errors name.
    pub(crate) const fn element(&self) -> Element {
        self.element
    }

    /// The text from an earlier place to this one.
    pub(crate) fn since(&self, start: &Self) -> S {
        start.source.limited(self.read.saturating_sub(start.read))
    }

    /// The name of a member and the colon after it; `expected` is what an error says if there is no name.
    pub(crate) fn key(&mut self, expected: &'static str) -> Result<Str<S>> {
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

    /// `true`, `false` or `null`, of which the first letter is there.
    pub(crate) fn word(&mut self, word: &'static [u8]) -> Result<()> {
        for byte in word {
            if self.peek() != Some(*byte) {
                return Err(self.fault("'true', 'false' or 'null'"));
            }
            self.advance(1);
        }
        Ok(())
    }

    /// A string, from its quote on.
    pub(crate) fn string(&mut self) -> Result<Str<S>> {
        self.advance(1);
        let start = *self;
        let mut escaped = false;
        loop {
            let front = self.source.front();
            let n = plain(front);
            self.advance(n);
            match front.get(n) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.advance(1);
                    self.escape()?;
                }
                None if front.is_empty() => return Err(self.fault("'\"'")),
                None => {}
                Some(_) => return Err(self.fault("an escape instead of a control character")),
            }
        }
        let raw = self.since(&start);
        self.advance(1);
        Ok(Str::new(raw, escaped, self.element))
    }

    /// Reads the rest of an escape, after the backslash.
    fn escape(&mut self) -> Result<()> {
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.advance(1),
            Some(b'u') => {
                self.advance(1);
                for _ in 0..4 {
                    if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return Err(self.fault("four hexadecimal digits"));
                    }
                    self.advance(1);
                }
            }
            _ => return Err(self.fault("a character that can be escaped")),
        }
        Ok(())
    }

    /// A number, from its minus or first digit on.
    pub(crate) fn number(&mut self) -> Result<Number<S>> {
        let start = *self;
        let mut integer = true;
        if self.peek() == Some(b'-') {
            self.advance(1);
        }
        if self.peek() == Some(b'0') {
            self.advance(1);
            if self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                return Err(self.fault("no digit after a leading zero"));
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            integer = false;
            self.advance(1);
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            integer = false;
            self.advance(1);
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.advance(1);
            }
            self.digits()?;
        }
        Ok(Number::new(self.since(&start), integer))
    }

    fn digits(&mut self) -> Result<()> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.fault("a digit"));
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.advance(1);
        }
        Ok(())
    }

    /// Skips white space.
    pub(crate) fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            let front = self.source.front();
            let space = front.iter().position(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t'));
            self.advance(space.unwrap_or(front.len()));
        }
    }

    /// The next byte.
    #[cfg_attr(target_pointer_width = "64", inline)]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))] // There are many calls: it is smaller.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.source.front().first().copied()
    }

    /// Skips `n` bytes of the front.
    #[cfg_attr(target_pointer_width = "64", inline)]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(crate) fn advance(&mut self, n: usize) {
        self.source.advance(n);
        self.read = self.read.wrapping_add(crate::bytes::to_u64(n));
    }

    /// The error for anything but `expected` here, or for nothing at all.
    #[cold]
    pub(crate) fn fault(&self, expected: &'static str) -> Error {
        let kind = match self.peek() {
            Some(byte) => ErrorKind::Unexpected { byte, expected },
            None => ErrorKind::UnexpectedEnd { needed: 1 },
        };
        Error::new(self.source.offset(), self.element, kind)
    }
}
