use super::Text;
use crate::error::Result;
use crate::json::{self, Str};
use core::fmt;
use core::iter::FusedIterator;

/// A string in a fragment, with its escapes as they stand there.
///
/// It may lie in several packets; reading it joins nothing.
#[derive(Clone, Copy)]
pub struct JsonString<'a>(pub(super) Str<Text<'a>>);

impl<'a> JsonString<'a> {
    /// The string, if it can be borrowed: without escapes, UTF-8, and within one packet.
    pub fn borrowed(&self) -> Option<&'a str> {
        self.0.borrowed()
    }

    /// The text between its quotes, escapes included.
    pub fn raw(&self) -> Text<'a> {
        self.0.raw()
    }

    /// Offset in the input of the byte after its opening quote.
    pub fn offset(&self) -> u64 {
        self.0.offset()
    }

    /// Its characters, decoded. U+FFFD stands for lone surrogates and for what is not UTF-8.
    pub fn chars(&self) -> Chars<'a> {
        Chars(self.0.chars())
    }

    /// Decodes it to the front of `buffer`. U+FFFD stands for lone surrogates.
    ///
    /// # Errors
    /// [`NotUtf8`](crate::ErrorKind::NotUtf8) at the byte that is not;
    /// [`CapacityExceeded`](crate::ErrorKind::CapacityExceeded) with the size needed.
    pub fn decode<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b str> {
        self.0.decode(buffer)
    }
}

impl PartialEq<str> for JsonString<'_> {
    /// Compares with the decoded string.
    fn eq(&self, other: &str) -> bool {
        self.0.is(other)
    }
}

impl PartialEq<&str> for JsonString<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0.is(other)
    }
}

impl fmt::Display for JsonString<'_> {
    /// The decoded string.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.borrowed() {
            Some(text) => f.pad(text),
            None => self.chars().try_for_each(|c| fmt::Write::write_char(f, c)),
        }
    }
}

impl fmt::Debug for JsonString<'_> {
    /// Where it is; never the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.raw(), f)
    }
}

/// The characters of a [`JsonString`].
#[derive(Clone, Debug)]
pub struct Chars<'a>(json::Chars<Text<'a>>);

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        self.0.next()
    }
}

impl FusedIterator for Chars<'_> {}
