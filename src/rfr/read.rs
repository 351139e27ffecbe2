//! Postcard's primitives, read from the front of a slice.

use crate::bytes::{Bytes, to_u64};
use crate::error::{Element, Error, ErrorKind, Result};
use crate::varint::{self, Fault, Word};

/// What lists in a sequence consist of.
///
/// Readers go in and out by value: one whose address is taken lives in memory instead of registers, at twice the time.
/// And this is a trait rather than a closure handed on, because a function can be told to be inlined.
pub(super) trait Part<'a>: Sized {
    /// The fewest bytes of one.
    const SIZE_MIN: u64;

    /// Decodes one, checks all of it, and returns what follows.
    fn read(reader: Reader<'a>) -> Result<(Self, Reader<'a>)>;

    /// Passes one by, looking at no more than is needed to find its end, and returns what follows.
    fn skip(reader: Reader<'a>) -> Result<Reader<'a>>;
}

/// What is left to read.
///
/// The offset follows from the length that is left, so that reading moves nothing but the slice.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
    /// Offset behind the last byte in the input.
    end: u64,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(data: &'a [u8]) -> Self {
        Self { rest: data, end: to_u64(data.len()) }
    }

    /// The same input from `offset`, which is not in front of this position; its end if it lies behind that.
    pub(super) fn seek(&self, offset: u64) -> Self {
        let skip = usize::try_from(offset.wrapping_sub(self.offset()));
        let rest = skip.ok().and_then(|skip| self.rest.get(skip..));
        Self { rest: rest.unwrap_or_default(), end: self.end }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) const fn left(&self) -> u64 {
        to_u64(self.rest.len())
    }

    /// Offset in the input of the next byte.
    #[inline(always)]
    pub(super) const fn offset(&self) -> u64 {
        self.end.wrapping_sub(to_u64(self.rest.len()))
    }

    /// What lies between here and `behind`, a later state of this reader.
    #[inline]
    pub(super) fn until(&self, behind: &Self) -> &'a [u8] {
        let len = self.rest.len().saturating_sub(behind.rest.len());
        self.rest.get(..len).unwrap_or_default()
    }

    #[cold]
    #[inline(never)]
    pub(super) const fn error(self, element: Element, kind: ErrorKind) -> Error {
        Error::new(self.offset(), element, kind)
    }

    #[cold]
    #[inline(never)]
    const fn fault(self, element: Element, fault: Fault, bits: u32) -> Error {
        self.error(element, fault.kind(bits))
    }

    /// Skips `len` bytes, which have been looked at.
    #[inline(always)]
    pub(super) fn advance(&mut self, len: usize) {
        self.rest = self.rest.get(len..).unwrap_or_default();
    }

    /// The next 8 bytes, for several integers at once.
    #[inline(always)]
    pub(super) fn word(&self) -> Option<Word> {
        Word::load(self.rest)
    }

    #[inline(always)]
    pub(super) fn u64(&mut self, element: Element) -> Result<u64> {
        match varint::read_u64(self.rest) {
            Ok((value, len)) => {
                self.advance(len);
                Ok(value)
            }
            Err(fault) => Err(self.fault(element, fault, 64)),
        }
    }

    #[inline]
    pub(super) fn u32(&mut self, element: Element) -> Result<u32> {
        match varint::read_u32(self.rest) {
            Ok((value, len)) => {
                self.advance(len);
                Ok(value)
            }
            Err(fault) => Err(self.fault(element, fault, 32)),
        }
    }

    pub(super) fn u128(&mut self, element: Element) -> Result<u128> {
        match varint::read_u128(self.rest) {
            Ok((value, len)) => {
                self.advance(len);
                Ok(value)
            }
            Err(fault) => Err(self.fault(element, fault, 128)),
        }
    }

    #[inline]
    pub(super) fn byte(&mut self, element: Element) -> Result<u8> {
        let Some((&byte, rest)) = self.rest.split_first() else {
            return Err(self.error(element, ErrorKind::UnexpectedEnd { needed: 1 }));
        };
        self.rest = rest;
        Ok(byte)
    }

    /// A byte that must be 0 or 1.
    #[inline]
    pub(super) fn flag(&mut self, element: Element) -> Result<bool> {
        match self.rest.first() {
            Some(&byte @ 0..=1) => {
                self.advance(1);
                Ok(byte == 1)
            }
            Some(&byte) => Err(self.error(element, ErrorKind::Invalid { value: byte.into() })),
            None => Err(self.error(element, ErrorKind::UnexpectedEnd { needed: 1 })),
        }
    }

    /// An optional id.
    #[inline]
    pub(super) fn option(&mut self, element: Element) -> Result<Option<u64>> {
        if self.flag(element)? { self.u64(element).map(Some) } else { Ok(None) }
    }

    /// An optional id, where both parts stand in the next 8 bytes; `None` where the slow way has to look.
    #[inline(always)]
    pub(super) fn short_option(&mut self) -> Option<Option<u64>> {
        let mut word = self.word()?;
        let id = match word.take_byte()? {
            0 => None,
            1 => Some(word.take()?),
            _ => return None,
        };
        self.advance(word.len());
        Some(id)
    }

    pub(super) fn array<const N: usize>(&mut self, element: Element) -> Result<&'a [u8; N]> {
        let mut bytes = Bytes::at(self.rest, self.offset());
        let array = bytes.array(element)?;
        self.rest = bytes.as_slice();
        Ok(array)
    }

    /// The bytes of a string. Errors are located at its length.
    #[inline]
    fn text(&mut self, element: Element) -> Result<&'a [u8]> {
        let mut reader = *self;
        let len = reader.u64(element)?;
        let Some((text, rest)) = usize::try_from(len).ok().and_then(|len| reader.rest.split_at_checked(len))
        else {
            let needed = len.saturating_sub(reader.left());
            return Err(self.error(element, ErrorKind::UnexpectedEnd { needed }));
        };
        self.rest = rest;
        Ok(text)
    }

    #[inline]
    pub(super) fn string(&mut self, element: Element) -> Result<&'a str> {
        let start = *self;
        core::str::from_utf8(self.text(element)?).map_err(|_| start.error(element, ErrorKind::NotUtf8))
    }

    /// Passes a string by; `CHECK` says whether its text matters.
    #[inline]
    pub(super) fn pass_string<const CHECK: bool>(&mut self, element: Element) -> Result<()> {
        if CHECK { self.string(element).map(drop) } else { self.text(element).map(drop) }
    }

    /// The length of a list whose elements take at least `size` bytes each.
    ///
    /// A count that cannot be true is a cut list: nothing tells a lie from a file that ends too early.
    #[inline]
    pub(super) fn count(&mut self, size: u64, element: Element) -> Result<u64> {
        let mut reader = *self;
        let count = reader.u64(element)?;
        let least = count.saturating_mul(size);
        if least > reader.left() {
            let needed = least.saturating_sub(reader.left());
            return Err(self.error(element, ErrorKind::UnexpectedEnd { needed }));
        }
        *self = reader;
        Ok(count)
    }
}

impl core::fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:#x}..{:#x}", self.offset(), self.end)
    }
}
