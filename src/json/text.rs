use super::plain::plain;
use super::{Source, take_byte};
use crate::bytes::to_u64;
use crate::error::{Element, Error, ErrorKind, Result};
use core::fmt;
use core::iter::FusedIterator;

/// A JSON string as it stands in the input, with its escapes: compared and shown decoded.
///
/// It is borrowed, in whatever pieces its text lies: those of a [`Text`](crate::Text), or of CTF's metadata packets.
///
/// ```
/// # #[cfg(feature = "ctf")] {
/// use traceglass::ctf::metadata::MetadataStream;
///
/// let stream = MetadataStream::parse(b"\x1e{\"type\": \"trace-class\", \"name\": \"a\\u002fb\"}")?;
/// let trace = stream.fragments().next().unwrap()?.trace_class()?.unwrap();
/// let name = trace.name().unwrap();
/// assert!(name == "a/b" && name.borrowed().is_none());
/// assert_eq!((name.to_string(), name.raw().len(), name.offset()), ("a/b".into(), 8, 34));
/// # }
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct JsonString<S> {
    raw: S,
    escaped: bool,
    element: Element,
}

/// The meaning of the next bytes of a string.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Char(char),
    /// An escape for one half of a surrogate pair without the other.
    Lone,
    /// Bytes that are not UTF-8, or an invalid escape (which the parser refuses).
    Malformed,
}

impl<'a, S: Source<'a>> JsonString<S> {
    pub(crate) fn new(raw: S, escaped: bool, element: Element) -> Self {
        Self { raw, escaped, element }
    }

    /// The same string in another view of its text.
    #[cfg(feature = "rdf-contents")]
    pub(crate) fn with_source<T>(self, view: impl FnOnce(S) -> T) -> JsonString<T> {
        JsonString { raw: view(self.raw), escaped: self.escaped, element: self.element }
    }

    /// True if there are escapes in it.
    #[cfg(feature = "ctf")]
    pub(crate) fn has_escapes(&self) -> bool {
        self.escaped
    }

    /// The text between its quotes, escapes included.
    pub fn raw(&self) -> S {
        self.raw
    }

    /// Offset in the input of the byte after its opening quote.
    pub fn offset(&self) -> u64 {
        self.raw.offset()
    }

    /// The string, if it can be borrowed: no escapes, UTF-8, not in pieces.
    pub fn borrowed(&self) -> Option<&'a str> {
        if self.escaped {
            return None;
        }
        core::str::from_utf8(self.raw.together()?).ok()
    }

    /// The characters, decoded. U+FFFD stands for lone surrogates and for what is not UTF-8.
    pub fn chars(&self) -> JsonChars<S> {
        JsonChars { source: self.raw }
    }

    /// True if it is `text` after decoding.
    pub(crate) fn is(&self, text: &str) -> bool {
        if let (false, Some(raw)) = (self.escaped, self.raw.together()) {
            return raw == text.as_bytes();
        }
        let mut source = self.raw;
        text.chars().all(|c| unit(&mut source) == Some(Unit::Char(c))) && source.front().is_empty()
    }

    /// Checks that it is UTF-8: the error is at the first byte that is not.
    pub(crate) fn check_utf8(&self) -> Result<()> {
        let mut source = self.raw;
        loop {
            // By words up to an escape, or to a character that is malformed or goes on in the next piece.
            let front = source.front();
            let plain = front.get(..plain(front)).unwrap_or_default();
            source.advance(match core::str::from_utf8(plain) {
                Ok(_) => plain.len(),
                Err(error) => error.valid_up_to(),
            });
            let offset = source.offset();
            match unit(&mut source) {
                None => return Ok(()),
                Some(Unit::Malformed) => return Err(Error::new(offset, self.element, ErrorKind::NotUtf8)),
                Some(_) => {}
            }
        }
    }

    /// True if it is UTF-8 all through.
    pub fn is_utf8(&self) -> bool {
        self.check_utf8().is_ok()
    }

    /// Decodes it to the front of `buffer`. U+FFFD stands for lone surrogates.
    ///
    /// # Errors
    /// [`NotUtf8`](ErrorKind::NotUtf8) at the byte that is not; [`CapacityExceeded`](ErrorKind::CapacityExceeded) with
    /// the size needed.
    pub fn decode<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b str> {
        self.check_utf8()?;
        let capacity = buffer.len();
        let mut left = &mut buffer[..];
        for c in self.chars() {
            let Some((to, rest)) = left.split_at_mut_checked(c.len_utf8()) else {
                let needed = self.chars().fold(0_u64, |sum, c| sum.saturating_add(to_u64(c.len_utf8())));
                let kind = ErrorKind::CapacityExceeded { capacity: to_u64(capacity), needed };
                return Err(Error::new(self.offset(), self.element, kind));
            };
            encode_utf8(c, to);
            left = rest;
        }
        let written = capacity.saturating_sub(left.len());
        let text = buffer.get(..written).and_then(|text| core::str::from_utf8(text).ok());
        Ok(text.unwrap_or_default())
    }
}

impl<'a, S: Source<'a>> PartialEq for JsonString<S> {
    /// Compares what both decode to.
    fn eq(&self, other: &Self) -> bool {
        self.chars().eq(other.chars())
    }
}

impl<'a, S: Source<'a>> Eq for JsonString<S> {}

impl<'a, S: Source<'a>> PartialEq<str> for JsonString<S> {
    /// Compares with the decoded string.
    fn eq(&self, other: &str) -> bool {
        self.is(other)
    }
}

impl<'a, S: Source<'a>> PartialEq<&str> for JsonString<S> {
    fn eq(&self, other: &&str) -> bool {
        self.is(other)
    }
}

impl<'a, S: Source<'a>> fmt::Display for JsonString<S> {
    /// The decoded string.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.borrowed() {
            Some(text) => f.pad(text),
            None => self.chars().try_for_each(|c| fmt::Write::write_char(f, c)),
        }
    }
}

impl<S: fmt::Debug> fmt::Debug for JsonString<S> {
    /// The place of the string; never its text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}

/// `char::encode_utf8` without its check of the length, which can panic: `to` has the length of `c`.
pub(crate) fn encode_utf8(c: char, to: &mut [u8]) {
    let code = u32::from(c);
    let shift = |bits: u32| code.checked_shr(bits).unwrap_or(0).to_le_bytes()[0] & 0x3f;
    match to {
        [a] => *a = code.to_le_bytes()[0],
        [a, b] => [*a, *b] = [0xc0 | shift(6), 0x80 | shift(0)],
        [a, b, c] => [*a, *b, *c] = [0xe0 | shift(12), 0x80 | shift(6), 0x80 | shift(0)],
        [a, b, c, d] => {
            [*a, *b, *c, *d] = [0xf0 | shift(18), 0x80 | shift(12), 0x80 | shift(6), 0x80 | shift(0)];
        }
        _ => {}
    }
}

/// The characters of a [`JsonString`].
#[derive(Clone, Debug)]
pub struct JsonChars<S> {
    source: S,
}

impl<'a, S: Source<'a>> Iterator for JsonChars<S> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        unit(&mut self.source).map(|unit| match unit {
            Unit::Char(c) => c,
            Unit::Lone | Unit::Malformed => char::REPLACEMENT_CHARACTER,
        })
    }
}

impl<'a, S: Source<'a>> FusedIterator for JsonChars<S> {}

/// One character, escaped or not.
fn unit<'a>(source: &mut impl Source<'a>) -> Option<Unit> {
    Some(match take_byte(source)? {
        b'\\' => escape(source),
        lead @ 0..=0x7f => Unit::Char(char::from(lead)),
        lead => sequence(lead, source),
    })
}

/// The next character of a source that has no escapes; U+FFFD for what is not UTF-8.
#[cfg(feature = "ctf")]
pub(crate) fn next_char<'a>(source: &mut impl Source<'a>) -> Option<char> {
    match take_byte(source)? {
        lead @ 0..=0x7f => Some(char::from(lead)),
        lead => match sequence(lead, source) {
            Unit::Char(c) => Some(c),
            Unit::Lone | Unit::Malformed => Some(char::REPLACEMENT_CHARACTER),
        },
    }
}

/// The character after a backslash.
fn escape<'a>(source: &mut impl Source<'a>) -> Unit {
    Unit::Char(match take_byte(source) {
        Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return hex4(source).map_or(Unit::Malformed, |code| utf16(code, source)),
        _ => return Unit::Malformed,
    })
}

/// The character of a UTF-16 code unit, with the escape of the second one if it is a pair.
fn utf16<'a>(code: u32, source: &mut impl Source<'a>) -> Unit {
    if let Some(c) = char::from_u32(code) {
        return Unit::Char(c);
    }
    let mut ahead = *source;
    let pair = (take_byte(&mut ahead) == Some(b'\\') && take_byte(&mut ahead) == Some(b'u'))
        .then(|| hex4(&mut ahead))
        .flatten()
        .filter(|low| code < 0xdc00 && (0xdc00..0xe000).contains(low))
        .and_then(|low| char::from_u32(((code & 0x3ff) << 10 | low & 0x3ff).wrapping_add(0x1_0000)));
    match pair {
        Some(c) => {
            *source = ahead;
            Unit::Char(c)
        }
        None => Unit::Lone,
    }
}

fn hex4<'a>(source: &mut impl Source<'a>) -> Option<u32> {
    let mut code = 0_u32;
    for _ in 0..4 {
        code = code << 4 | char::from(take_byte(source)?).to_digit(16)?;
    }
    Some(code)
}

/// A UTF-8 sequence of two to four bytes; what is malformed is consumed up to the byte that cannot belong to it.
fn sequence<'a>(lead: u8, source: &mut impl Source<'a>) -> Unit {
    let (mut code, more, second) = match lead {
        0xc2..=0xdf => (lead & 0x1f, 1, 0x80..=0xbf),
        0xe0 => (0, 2, 0xa0..=0xbf),
        0xed => (0x0d, 2, 0x80..=0x9f),
        0xe1..=0xef => (lead & 0x0f, 2, 0x80..=0xbf),
        0xf0 => (0, 3, 0x90..=0xbf),
        0xf1..=0xf3 => (lead & 0x07, 3, 0x80..=0xbf),
        0xf4 => (0x04, 3, 0x80..=0x8f),
        _ => return Unit::Malformed,
    };
    let mut allowed = second;
    let mut wide = u32::from(code);
    for _ in 0..more {
        match source.front().first() {
            Some(byte) if allowed.contains(byte) => code = byte & 0x3f,
            _ => return Unit::Malformed,
        }
        source.advance(1);
        wide = wide << 6 | u32::from(code);
        allowed = 0x80..=0xbf;
    }
    char::from_u32(wide).map_or(Unit::Malformed, Unit::Char)
}

/// A number of a text, as it stands there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number<S> {
    text: S,
    integer: bool,
}

impl<'a, S: Source<'a>> Number<S> {
    pub(super) fn new(text: S, integer: bool) -> Self {
        Self { text, integer }
    }

    /// The text.
    pub(crate) fn text(self) -> S {
        self.text
    }

    /// The value, if it is written as an integer and fits; never rounded.
    pub(crate) fn as_i128(self) -> Option<i128> {
        if !self.integer {
            return None;
        }
        let mut source = self.text;
        let negative = source.front().first() == Some(&b'-');
        if negative {
            source.advance(1);
        }
        let mut value = 0_i128;
        while let Some(byte) = take_byte(&mut source) {
            let digit = i128::from(byte.wrapping_sub(b'0'));
            value = value.checked_mul(10)?;
            value = if negative { value.checked_sub(digit)? } else { value.checked_add(digit)? };
        }
        Some(value)
    }

    /// As [`Self::as_i128`].
    pub(crate) fn as_u64(self) -> Option<u64> {
        self.size().filter(|&(negative, size)| !negative || size == 0).map(|(_, size)| size)
    }

    /// As [`Self::as_i128`].
    pub(crate) fn as_i64(self) -> Option<i64> {
        let (negative, size) = self.size()?;
        if negative { 0_i64.checked_sub_unsigned(size) } else { size.try_into().ok() }
    }

    /// True if there is a minus, and what follows it, if that is an integer of 64 bits: those of 128 take more code.
    #[inline(never)]
    fn size(self) -> Option<(bool, u64)> {
        let mut source = self.text;
        let negative = source.front().first() == Some(&b'-');
        let mut value = 0_u64;
        while let Some(byte) = take_byte(&mut source).filter(|_| self.integer) {
            if byte != b'-' {
                value = value.checked_mul(10)?.checked_add(byte.wrapping_sub(b'0').into())?;
            }
        }
        self.integer.then_some((negative, value))
    }
}
