//! A slice that knows where it lies in the input.
//!
//! Every bounds check of the crate, every conversion of a file's claim to a position and every zerocopy call is here.

use crate::error::{Element, Error, ErrorKind, Result};
#[cfg(feature = "rdf")]
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

/// `n` as the 64-bit integer in which claims are made; lossless on every target that Rust supports.
#[inline(always)]
#[allow(clippy::as_conversions)] // `From<usize> for u64` does not exist, though no target has a wider usize.
pub(crate) const fn to_u64(n: usize) -> u64 {
    n as u64
}

/// A number of 32 bits as a size in memory. Targets with 16-bit pointers saturate, which no slice reaches.
#[cfg(any(feature = "ctf", feature = "dial9", feature = "zstd"))]
#[inline(always)]
pub(crate) fn to_usize(n: u32) -> usize {
    n.try_into().unwrap_or(usize::MAX)
}

/// A borrowed range of the input, with the offset of its first byte.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<'a> {
    data: &'a [u8],
    offset: u64,
}

impl<'a> Bytes<'a> {
    /// A whole input.
    pub(crate) const fn new(data: &'a [u8]) -> Self {
        Self::at(data, 0)
    }

    /// A piece of an input, in which it begins at `offset`.
    pub(crate) const fn at(data: &'a [u8], offset: u64) -> Self {
        Self { data, offset }
    }

    pub(crate) const fn as_slice(self) -> &'a [u8] {
        self.data
    }

    pub(crate) const fn len(self) -> usize {
        self.data.len()
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.data.is_empty()
    }

    /// Offset of the first byte in the input.
    pub(crate) const fn offset(self) -> u64 {
        self.offset
    }

    /// Offset after the last byte in the input.
    pub(crate) const fn end_offset(self) -> u64 {
        self.offset.saturating_add(to_u64(self.data.len()))
    }

    /// An error about `element`, which begins here.
    #[cold]
    pub(crate) const fn error(self, element: Element, kind: ErrorKind) -> Error {
        Error::new(self.offset, element, kind)
    }

    /// The error that `element`, which begins here and is `size` bytes long, is cut.
    #[cold]
    pub(crate) const fn truncated(self, element: Element, size: u64) -> Error {
        let needed = size.saturating_sub(to_u64(self.data.len()));
        self.error(element, ErrorKind::UnexpectedEnd { needed })
    }

    /// The first `n` bytes and the rest, or `None` if there are fewer.
    #[inline]
    pub(crate) fn split(self, n: usize) -> Option<(Self, Self)> {
        let (front, rest) = self.data.split_at_checked(n)?;
        let middle = self.offset.saturating_add(to_u64(n));
        Some((Self { data: front, ..self }, Self { data: rest, offset: middle }))
    }

    /// Takes `n` bytes, as claimed by the input, off the front.
    #[inline]
    pub(crate) fn take(&mut self, n: u64, element: Element) -> Result<Self> {
        let split = usize::try_from(n).ok().and_then(|n| self.split(n));
        let (front, rest) = split.ok_or_else(|| self.truncated(element, n))?;
        *self = rest;
        Ok(front)
    }

    /// Takes an array off the front.
    #[inline]
    pub(crate) fn array<const N: usize>(&mut self, element: Element) -> Result<&'a [u8; N]> {
        let Some((front, rest)) = self.data.split_first_chunk::<N>() else {
            return Err(self.truncated(element, to_u64(N)));
        };
        *self = Self { data: rest, offset: self.offset.saturating_add(to_u64(N)) };
        Ok(front)
    }

    /// Skips `n` bytes, at most all.
    #[inline]
    pub(crate) fn advance(&mut self, n: usize) {
        let n = n.min(self.data.len());
        if let Some((_, rest)) = self.split(n) {
            *self = rest;
        }
    }

    /// The `size` bytes from `start`, counted from the start of the *input*; `None` if they do not all lie in here.
    #[inline]
    pub(crate) fn range(self, start: u64, size: u64) -> Option<Self> {
        let position = usize::try_from(start.checked_sub(self.offset)?).ok()?;
        let size = usize::try_from(size).ok()?;
        let data = self.data.get(position..)?.get(..size)?;
        Some(Self { data, offset: start })
    }
}

#[cfg(feature = "rdf")]
impl<'a> Bytes<'a> {
    /// All of it as consecutive `T`, and the remainder that is too short for one.
    pub(crate) fn slice_of<T>(self) -> (&'a [T], Self)
    where
        T: FromBytes + KnownLayout + Immutable + Unaligned,
    {
        let size = size_of::<T>();
        let count = self.len().checked_div(size).unwrap_or(0);
        let Ok((items, rest)) = <[T]>::ref_from_prefix_with_elems(self.data, count) else {
            return (&[], self);
        };
        let read = self.len().saturating_sub(rest.len());
        (items, Self { data: rest, offset: self.offset.saturating_add(to_u64(read)) })
    }

    /// Takes a `T` off the front.
    pub(crate) fn view<T>(&mut self, element: Element) -> Result<&'a T>
    where
        T: FromBytes + KnownLayout + Immutable + Unaligned,
    {
        let Some((front, rest)) = self.front() else {
            return Err(self.truncated(element, to_u64(size_of::<T>())));
        };
        *self = rest;
        Ok(front)
    }

    /// A `T` at the front and the rest, or `None` if there are fewer bytes.
    #[inline]
    pub(crate) fn front<T>(self) -> Option<(&'a T, Self)>
    where
        T: FromBytes + KnownLayout + Immutable + Unaligned,
    {
        let (front, rest) = T::ref_from_prefix(self.data).ok()?;
        Some((front, Self { data: rest, offset: self.offset.saturating_add(to_u64(size_of::<T>())) }))
    }
}

impl core::fmt::Debug for Bytes<'_> {
    /// The range; never the payload.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:#x}..{:#x}", self.offset, self.end_offset())
    }
}

/// The text before and after the first `at`. That of the standard library has a path to a panic, which depends on what is
/// inlined.
pub(crate) fn split_once(text: &str, at: u8) -> Option<(&str, &str)> {
    let (front, rest) = text.split_at_checked(text.bytes().position(|byte| byte == at)?)?;
    Some((front, rest.get(1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    const ELEMENT: Element = Element::new(&"element");

    #[test]
    fn takes_from_the_front_and_counts_what_is_missing() {
        let mut bytes = Bytes::at(b"abcdef", 10);
        assert_eq!(bytes.take(2, ELEMENT).unwrap().as_slice(), b"ab");
        assert_eq!(bytes.array(ELEMENT).unwrap(), b"cd");
        assert_eq!((bytes.offset(), bytes.end_offset(), bytes.len()), (14, 16, 2));
        let error = bytes.take(u64::MAX, ELEMENT).unwrap_err();
        assert_eq!(error, Error::new(14, ELEMENT, ErrorKind::UnexpectedEnd { needed: u64::MAX - 2 }));
        let error = bytes.array::<3>(ELEMENT).unwrap_err();
        assert_eq!(error, Error::new(14, ELEMENT, ErrorKind::UnexpectedEnd { needed: 1 }));
        assert_eq!(format!("{bytes:?}"), "0xe..0x10");
        bytes.advance(1);
        assert_eq!((bytes.offset(), bytes.as_slice()), (15, &b"f"[..]));
        bytes.advance(usize::MAX);
        assert_eq!((bytes.offset(), bytes.is_empty()), (16, true));
    }

    #[test]
    fn ranges_are_checked_against_the_input() {
        let bytes = Bytes::at(b"abcdef", 10);
        assert_eq!(bytes.range(12, 4).map(Bytes::as_slice), Some(&b"cdef"[..]));
        assert_eq!(bytes.range(16, 0).map(Bytes::as_slice), Some(&b""[..]));
        assert_eq!(bytes.range(12, 4).map(Bytes::offset), Some(12));
        for (start, size) in [(9, 1), (12, 5), (17, 0), (12, u64::MAX), (u64::MAX, 1), (0, 0)] {
            assert!(bytes.range(start, size).is_none(), "{start} {size}");
        }
    }
}
