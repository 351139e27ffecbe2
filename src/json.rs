//! JSON, pulled event by event without an allocator.
//!
//! A [`Parser`] checks the grammar of RFC 8259 and nothing else: it neither stores nor decodes. It reads a
//! [`Source`], which may be one slice or pieces that lie apart in the input, and every error says where in the
//! *input* the fault is. Nesting is a bit stack, so there is no recursion; each byte is read once.
//!
//! After an error the parser is done. [`Parser::rest`] then stands at the fault, and a new parser can begin at any
//! position that its caller finds sensible: damaged metadata is read object by object.

#[cfg(feature = "ctf")]
mod accept;
mod parser;
mod plain;
#[cfg(feature = "rtc")]
mod skip;
mod text;
mod tokens;

use crate::bytes::Bytes;
#[cfg(feature = "ctf")]
pub(crate) use accept::{accepts_object, trim};
pub(crate) use parser::{Event, Parser};
pub use text::{JsonChars, JsonString};
pub(crate) use text::{JsonString as Str, Number};
#[cfg(feature = "ctf")]
pub(crate) use text::{encode_utf8, next_char};
#[cfg(feature = "rtc")]
pub(crate) use tokens::Tokens;

/// Bytes to read text from, in one piece or several.
pub trait Source<'a>: Copy {
    /// The bytes at the front that lie together; empty only at the end.
    fn front(&self) -> &'a [u8];

    /// Offset in the input of the first byte of the front; at the end, where the input or the text ends.
    fn offset(&self) -> u64;

    /// Skips `n` bytes of the front, at most all of it.
    fn advance(&mut self, n: usize);

    /// The first `len` bytes alone, over as many pieces as they take.
    fn limited(self, len: u64) -> Self;

    /// All of it, if it lies together.
    fn together(self) -> Option<&'a [u8]>;
}

impl<'a> Source<'a> for Bytes<'a> {
    fn front(&self) -> &'a [u8] {
        self.as_slice()
    }

    fn offset(&self) -> u64 {
        Bytes::offset(*self)
    }

    fn advance(&mut self, n: usize) {
        Bytes::advance(self, n);
    }

    fn limited(self, len: u64) -> Self {
        usize::try_from(len).ok().and_then(|len| self.split(len)).map_or(self, |(front, _)| front)
    }

    fn together(self) -> Option<&'a [u8]> {
        Some(self.as_slice())
    }
}

/// Takes the next byte.
pub(crate) fn take_byte<'a>(source: &mut impl Source<'a>) -> Option<u8> {
    let byte = *source.front().first()?;
    source.advance(1);
    Some(byte)
}

#[cfg(all(test, feature = "ctf"))]
mod tests;
