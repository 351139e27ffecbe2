//! Tokens of TSDL: CTF 1.8.3, appendix C.1.
//!
//! A token knows where it lies, not what it says: its text may be cut by the end of a metadata packet.

use super::element;
use super::keyword::Keyword;
use crate::ctf::metadata::Text;
use crate::error::{Element, Error, ErrorKind, Result};
use crate::json::{Source, take_byte};

/// A token with its text; of a string, what is between the quotes.
#[derive(Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    /// The text from where its own begins.
    start: Text<'a>,
    len: u64,
    /// Offset of its first byte in the input, the quote included.
    pub(super) offset: u64,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier.
    Name,
    Keyword(Keyword),
    /// A constant without a sign.
    Integer(u64),
    /// True if it has escapes.
    String {
        escaped: bool,
    },
    /// A character between single quotes; no rule of the language needs one.
    Character,
    Punctuator(Punctuator),
    /// The text is over.
    End,
}

/// A punctuator of one byte, or of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Punctuator {
    Byte(u8),
    /// `...`
    Ellipsis,
    /// `:=`
    Assign,
    /// `->`
    Arrow,
}

impl<'a> Token<'a> {
    pub(super) fn text(&self) -> Text<'a> {
        self.start.limited(self.len)
    }

    /// The text from here to the end of `last`.
    pub(super) fn until(&self, last: &Self) -> Text<'a> {
        if self.offset == last.offset {
            return self.text();
        }
        self.start.until_end_of(last.text())
    }

    pub(super) fn is(&self, byte: u8) -> bool {
        self.kind == Kind::Punctuator(Punctuator::Byte(byte))
    }

    /// An error about what stands here.
    #[cold]
    pub(super) fn error(&self, element: Element, kind: ErrorKind) -> Error {
        Error::new(self.offset, element, kind)
    }

    /// The error that something else was expected here.
    #[cold]
    pub(super) fn unexpected(&self, element: Element, expected: &'static str) -> Error {
        let kind = match (self.kind, self.start.front().first()) {
            (Kind::End, _) => ErrorKind::UnexpectedEnd { needed: 1 },
            (Kind::String { .. }, _) => ErrorKind::Unexpected { byte: b'"', expected },
            (_, Some(byte)) => ErrorKind::Unexpected { byte: *byte, expected },
            (_, None) => ErrorKind::UnexpectedEnd { needed: 1 },
        };
        self.error(element, kind)
    }
}

/// The tokens of a text.
///
/// After an error it is not used any further.
#[derive(Clone, Copy)]
pub(super) struct Lexer<'a> {
    text: Text<'a>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: Text<'a>) -> Self {
        Self { text }
    }

    /// The text that has not been read.
    pub(super) fn rest(&self) -> Text<'a> {
        self.text
    }

    /// The next token; at the end of the text an [`Kind::End`], again and again.
    pub(super) fn next(&mut self) -> Result<Token<'a>> {
        self.skip_space()?;
        let start = self.text;
        let offset = start.offset();
        let Some(first) = start.front().first().copied() else {
            return Ok(Token { kind: Kind::End, start, len: 0, offset });
        };
        match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(start),
            b'0'..=b'9' => self.integer(start),
            b'"' => {
                self.text.advance(1);
                self.quoted(offset, b'"')
            }
            b'\'' => {
                self.text.advance(1);
                self.quoted(offset, b'\'')
            }
            _ => self.punctuator(start, first),
        }
    }

    /// Skips what stands between braces up to the `}` that closes the one that has been read.
    ///
    /// Strings and comments are read as such; what else stands there is not looked at.
    pub(super) fn skip_block(&mut self) -> Result<()> {
        let mut depth = 1_u32;
        loop {
            let front = self.text.front();
            let found = front.iter().position(|byte| matches!(byte, b'{' | b'}' | b'"' | b'\'' | b'/'));
            let Some(position) = found else {
                if front.is_empty() {
                    return Err(self.error(ErrorKind::UnexpectedEnd { needed: 1 }));
                }
                self.text.advance(front.len());
                continue;
            };
            self.text.advance(position);
            match front.get(position) {
                Some(b'/') => {
                    if !self.comment()? {
                        self.text.advance(1);
                    }
                    continue;
                }
                Some(quote @ (b'"' | b'\'')) => {
                    let offset = self.text.offset();
                    self.text.advance(1);
                    self.quoted(offset, *quote)?;
                    continue;
                }
                Some(b'{') => depth = depth.saturating_add(1),
                _ => depth = depth.saturating_sub(1),
            }
            self.text.advance(1);
            if depth == 0 {
                return Ok(());
            }
        }
    }

    #[cold]
    fn error(&self, kind: ErrorKind) -> Error {
        Error::new(self.text.offset(), element::TOKEN, kind)
    }

    /// Skips bytes as long as they are `wanted`, and gives how many.
    #[inline]
    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) -> u64 {
        let mut skipped = 0_u64;
        loop {
            let front = self.text.front();
            let n = front.iter().position(|byte| !wanted(*byte)).unwrap_or(front.len());
            if n > 0 {
                self.text.advance(n);
                skipped = skipped.saturating_add(crate::bytes::to_u64(n));
            }
            if n < front.len() || front.is_empty() {
                return skipped;
            }
        }
    }

    fn skip_space(&mut self) -> Result<()> {
        loop {
            self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
            if self.text.front().first() != Some(&b'/') || !self.comment()? {
                return Ok(());
            }
        }
    }

    /// Skips a comment, if one stands at this slash.
    fn comment(&mut self) -> Result<bool> {
        let start = self.text.offset();
        let mut ahead = self.text;
        ahead.advance(1);
        match take_byte(&mut ahead) {
            // The end of the text ends this one as well.
            Some(b'/') => {
                self.text = ahead;
                self.skip_while(|byte| byte != b'\n');
                Ok(true)
            }
            Some(b'*') => {
                self.text = ahead;
                loop {
                    self.skip_while(|byte| byte != b'*');
                    self.skip_while(|byte| byte == b'*');
                    match take_byte(&mut self.text) {
                        Some(b'/') => return Ok(true),
                        Some(_) => {}
                        None => {
                            let kind = ErrorKind::UnexpectedEnd { needed: 2 };
                            return Err(Error::new(start, element::COMMENT, kind));
                        }
                    }
                }
            }
            _ => Ok(false),
        }
    }

    fn word(&mut self, start: Text<'a>) -> Result<Token<'a>> {
        let len = self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let text = start.limited(len);
        // A wide string or character is read as one that is not.
        if let Some(quote @ (b'"' | b'\'')) = self.text.front().first().copied()
            && len == 1
            && text.front() == b"L"
        {
            self.text.advance(1);
            return self.quoted(start.offset(), quote);
        }
        let kind = Keyword::of(text).map_or(Kind::Name, Kind::Keyword);
        Ok(Token { kind, start, len, offset: start.offset() })
    }

    /// Decimal, octal, hexadecimal or binary digits, and a suffix that means nothing.
    fn integer(&mut self, start: Text<'a>) -> Result<Token<'a>> {
        let len = self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let text = start.limited(len);
        let mut digits = text;
        let mut base = 10;
        if digits.front().first() == Some(&b'0') {
            let mut ahead = digits;
            ahead.advance(1);
            base = match ahead.front().first() {
                Some(b'x' | b'X') => 16,
                Some(b'b' | b'B') => 2,
                Some(b'0'..=b'9') => 8,
                _ => 10,
            };
            if base != 10 {
                digits = ahead;
            }
            if matches!(base, 2 | 16) {
                digits.advance(1);
            }
        }
        let mut value = Some(0_u64);
        let mut any = false;
        while let Some(byte) = digits.front().first().copied() {
            let Some(digit) = char::from(byte).to_digit(base) else { break };
            digits.advance(1);
            any = true;
            value = value
                .and_then(|value| value.checked_mul(base.into()))
                .and_then(|value| value.checked_add(digit.into()));
        }
        if !any || !is_suffix(digits) {
            let found = Token { kind: Kind::Name, start: digits, len: 1, offset: digits.offset() };
            return Err(found.unexpected(element::INTEGER, "a digit"));
        }
        let Some(value) = value else {
            return Err(Error::new(start.offset(), element::INTEGER, ErrorKind::IntegerTooWide { bits: 64 }));
        };
        Ok(Token { kind: Kind::Integer(value), start, len, offset: start.offset() })
    }

    /// A string or a character whose first quote has been read.
    fn quoted(&mut self, offset: u64, quote: u8) -> Result<Token<'a>> {
        let start = self.text;
        let mut len = 0_u64;
        let mut escaped = false;
        loop {
            len = len.saturating_add(self.skip_while(|byte| byte != quote && byte != b'\\' && byte != 0));
            match take_byte(&mut self.text) {
                Some(b'\\') => {
                    escaped = true;
                    len = len.saturating_add(1);
                    // Only what may follow is checked; the digits of a number are skipped as any character.
                    match self.text.front().first() {
                        Some(
                            b'\''
                            | b'"'
                            | b'?'
                            | b'\\'
                            | b'a'
                            | b'b'
                            | b'f'
                            | b'n'
                            | b'r'
                            | b't'
                            | b'v'
                            | b'0'..=b'7',
                        ) => {
                            self.text.advance(1);
                            len = len.saturating_add(1);
                        }
                        Some(b'x') => {
                            self.text.advance(1);
                            len = len.saturating_add(1);
                            if !self.text.front().first().is_some_and(u8::is_ascii_hexdigit) {
                                return Err(self.escape("a hexadecimal digit"));
                            }
                        }
                        _ => return Err(self.escape("an escape sequence")),
                    }
                }
                Some(0) => {
                    let kind = ErrorKind::Unexpected { byte: 0, expected: "a character" };
                    return Err(Error::new(offset, element::STRING, kind));
                }
                Some(_) => break,
                None => {
                    return Err(Error::new(offset, element::STRING, ErrorKind::UnexpectedEnd { needed: 1 }));
                }
            }
        }
        let kind = if quote == b'"' { Kind::String { escaped } } else { Kind::Character };
        Ok(Token { kind, start, len, offset })
    }

    #[cold]
    fn escape(&self, expected: &'static str) -> Error {
        let found = Token { kind: Kind::Name, start: self.text, len: 1, offset: self.text.offset() };
        found.unexpected(element::STRING, expected)
    }

    fn punctuator(&mut self, start: Text<'a>, first: u8) -> Result<Token<'a>> {
        let follows = |expected: &[u8]| {
            let mut ahead = start;
            ahead.advance(1);
            expected.iter().all(|byte| take_byte(&mut ahead) == Some(*byte))
        };
        let (kind, len) = match first {
            b'.' if follows(b"..") => (Punctuator::Ellipsis, 3),
            b':' if follows(b"=") => (Punctuator::Assign, 2),
            b'-' if follows(b">") => (Punctuator::Arrow, 2),
            b'[' | b']' | b'(' | b')' | b'{' | b'}' | b'.' | b'*' | b'+' | b'-' | b'<' | b'>' | b':'
            | b';' | b'=' | b',' => (Punctuator::Byte(first), 1),
            byte => {
                return Err(self.error(ErrorKind::Unexpected { byte, expected: "a token" }));
            }
        };
        for _ in 0..len {
            self.text.advance(1);
        }
        Ok(Token { kind: Kind::Punctuator(kind), start, len, offset: start.offset() })
    }
}

/// True for the letters that may follow an integer: `u`, and `l` or `ll`, in any order and case.
fn is_suffix(mut text: Text<'_>) -> bool {
    let (mut unsigned, mut long) = (0_u32, 0_u32);
    while let Some(byte) = take_byte(&mut text) {
        match byte {
            b'u' | b'U' => unsigned = unsigned.saturating_add(1),
            b'l' | b'L' => long = long.saturating_add(1),
            _ => return false,
        }
    }
    unsigned <= 1 && long <= 2
}
