//! Postcard's primitives, read from the front of a slice.

use crate::bytes::{Bytes, to_u64};
use crate::error::{Element, Error, ErrorKind, Result};
use crate::gap::Gap;
use crate::varint::{self, Fault};

/// A list element: an object or a record.
///
/// Positions are passed and returned by value, and the fast path is a function of its own: only then does a loop keep
/// its position in a register, which makes it twice as fast. This is a trait, not closures, because functions can be
/// marked for inlining.
pub(super) trait Part<'a>: Sized {
    /// The smallest size of one in bytes.
    const SIZE_MIN: u64;

    /// Decodes one on the fast path, and returns where it ends. Such an element has nothing that needs a check.
    #[inline(always)]
    fn read_fast(_: Reader<'a>) -> Option<(Self, usize)> {
        None
    }

    /// Decodes one, checks all of it, and returns where it ends.
    fn read(reader: Reader<'a>) -> Result<(Self, usize)>;

    /// Finds the end of one, looking at no more than is needed for that.
    fn skip(reader: Reader<'a>) -> Result<usize>;
}

/// A position in the input, from which it is read.
///
/// Reading changes one number only: a loop over records has nothing else to keep up to date.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    data: &'a [u8],
    /// At most the length of the data.
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0 }
    }

    /// The same input from `offset` on; from its end on if that lies after it.
    pub(super) fn seek(&self, offset: u64) -> Self {
        let at = usize::try_from(offset).unwrap_or(usize::MAX).min(self.data.len());
        Self { at, ..*self }
    }

    /// All of the input.
    pub(super) const fn data(&self) -> &'a [u8] {
        self.data
    }

    #[inline(always)]
    fn rest(&self) -> &'a [u8] {
        self.data.get(self.at..).unwrap_or_default()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.at >= self.data.len()
    }

    pub(super) const fn left(&self) -> u64 {
        to_u64(self.data.len().saturating_sub(self.at))
    }

    #[inline(always)]
    pub(super) const fn position(&self) -> usize {
        self.at
    }

    /// The range lost with the element here, which cannot be read; `None` if it has no end.
    ///
    /// Reading it again tells why, so that iterators need not keep the error.
    #[cold]
    pub(super) fn gap<T: Part<'a>>(&self) -> Option<Gap> {
        let cause = T::read(*self).err()?;
        let end = T::skip(*self).ok()?;
        Some(Gap::new(self.offset(), to_u64(end).saturating_sub(self.offset()), cause))
    }

    /// The range lost if nothing more can be read.
    #[cold]
    pub(super) const fn gap_to_end(&self, cause: Error) -> Gap {
        Gap::new(self.offset(), self.left(), cause)
    }

    /// Goes on at a position that was found in this input.
    #[inline(always)]
    pub(super) const fn go_to(&mut self, position: usize) {
        self.at = position;
    }

    /// Offset in the input of the next byte.
    #[inline(always)]
    pub(super) const fn offset(&self) -> u64 {
        to_u64(self.at)
    }

    /// The bytes between here and `after`, a later state of this reader.
    #[inline]
    pub(super) fn until(&self, after: &Self) -> &'a [u8] {
        self.data.get(self.at..after.at).unwrap_or_default()
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

    /// Why there is no integer of at most 64 bits here.
    #[cold]
    #[inline(never)]
    fn fault64(self, element: Element) -> Error {
        self.fault(element, varint::read_u64(self.rest()).err().unwrap_or(Fault::Truncated), 64)
    }

    /// Skips `len` bytes, which have been looked at.
    #[inline(always)]
    pub(super) fn advance(&mut self, len: usize) {
        self.at = self.at.wrapping_add(len);
    }

    /// The next bytes, if there are so many.
    #[inline(always)]
    pub(super) fn front<const N: usize>(&self) -> Option<&'a [u8; N]> {
        self.data.get(self.at..)?.first_chunk()
    }

    /// The three integers that a record begins with, on the fast path.
    #[inline(always)]
    pub(super) fn three(&mut self) -> Option<(u64, u8, u64)> {
        let chunk = self.data.get(self.at..)?.first_chunk()?;
        let (first, second, third, len) = match varint::read_three_short(chunk) {
            Some((first, second, third, len)) => (first.into(), second, third.into(), len),
            None => varint::read_three(chunk)?,
        };
        self.advance(len);
        Some((first, second, third))
    }

    /// As [`Self::three`]: the second.
    #[inline(always)]
    pub(super) fn skip_three(&mut self) -> Option<u8> {
        let chunk = self.data.get(self.at..)?.first_chunk()?;
        let (second, len) = match varint::read_three_short(chunk) {
            Some((_, second, _, len)) => (second, len),
            None => varint::skip_three(chunk)?,
        };
        self.advance(len);
        Some(second)
    }

    // Most integers are of a single byte: nothing else is inlined.
    #[inline(always)]
    pub(super) fn u64(&mut self, element: Element) -> Result<u64> {
        let (value, len) = match self.data.get(self.at) {
            Some(&byte) if byte < 0x80 => (byte.into(), 1),
            _ => varint::read_u64_long(self.rest()),
        };
        if len == 0 {
            return Err(self.fault64(element));
        }
        self.advance(len);
        Ok(value)
    }

    /// The integer at the front; `None` if there is none.
    #[inline(always)]
    pub(super) fn peek_u64(&self) -> Option<u64> {
        varint::read_u64(self.rest()).ok().map(|(value, _)| value)
    }

    /// Skips an integer of at most 64 bits.
    #[inline(always)]
    pub(super) fn skip_u64(&mut self, element: Element) -> Result<()> {
        let len = match self.data.get(self.at) {
            Some(&byte) if byte < 0x80 => 1,
            _ => varint::len_u64_long(self.rest()),
        };
        if len == 0 {
            return Err(self.fault64(element));
        }
        self.advance(len);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn u32(&mut self, element: Element) -> Result<u32> {
        match self.data.get(self.at) {
            Some(&byte) if byte < 0x80 => {
                self.advance(1);
                Ok(byte.into())
            }
            _ => self.u32_long(element),
        }
    }

    #[cold]
    #[inline(never)]
    fn u32_long(&mut self, element: Element) -> Result<u32> {
        match varint::read_u32(self.rest()) {
            Ok((value, len)) => {
                self.advance(len);
                Ok(value)
            }
            Err(fault) => Err(self.fault(element, fault, 32)),
        }
    }

    pub(super) fn u128(&mut self, element: Element) -> Result<u128> {
        match varint::read_u128(self.rest()) {
            Ok((value, len)) => {
                self.advance(len);
                Ok(value)
            }
            Err(fault) => Err(self.fault(element, fault, 128)),
        }
    }

    #[inline]
    pub(super) fn byte(&mut self, element: Element) -> Result<u8> {
        let Some(&byte) = self.data.get(self.at) else {
            return Err(self.error(element, ErrorKind::UnexpectedEnd { needed: 1 }));
        };
        self.advance(1);
        Ok(byte)
    }

    /// A byte that must be 0 or 1.
    #[inline]
    pub(super) fn flag(&mut self, element: Element) -> Result<bool> {
        match self.data.get(self.at) {
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

    /// Skips an optional id.
    #[inline]
    pub(super) fn skip_option(&mut self, element: Element) -> Result<()> {
        if self.flag(element)? { self.skip_u64(element) } else { Ok(()) }
    }

    /// An optional id on the fast path: whether there is one, and the id or 0.
    #[inline(always)]
    pub(super) fn option_fast(&mut self) -> Option<(bool, u64)> {
        let (has, id, len) = varint::read_option(self.data.get(self.at..)?.first_chunk()?)?;
        self.advance(len);
        Some((has, id.into()))
    }

    pub(super) fn array<const N: usize>(&mut self, element: Element) -> Result<&'a [u8; N]> {
        let array = Bytes::at(self.rest(), self.offset()).array(element)?;
        self.advance(N);
        Ok(array)
    }

    /// The bytes of a string. Errors are located at its length.
    #[inline]
    pub(super) fn text(&mut self, element: Element) -> Result<&'a [u8]> {
        let mut reader = *self;
        let len = reader.u64(element)?;
        let Some(text) = usize::try_from(len).ok().and_then(|len| reader.rest().get(..len)) else {
            let needed = len.saturating_sub(reader.left());
            return Err(self.error(element, ErrorKind::UnexpectedEnd { needed }));
        };
        reader.advance(text.len());
        *self = reader;
        Ok(text)
    }

    #[inline]
    pub(super) fn string(&mut self, element: Element) -> Result<&'a str> {
        let start = *self;
        core::str::from_utf8(self.text(element)?).map_err(|_| start.error(element, ErrorKind::NotUtf8))
    }

    /// Skips a string. With `CHECK`, it must be UTF-8.
    #[inline]
    pub(super) fn skip_string<const CHECK: bool>(&mut self, element: Element) -> Result<()> {
        let start = *self;
        let text = self.text(element)?;
        // Most text is short, and that this one is ASCII is found sooner than that it is UTF-8.
        if CHECK && !text.is_ascii() && core::str::from_utf8(text).is_err() {
            return Err(start.error(element, ErrorKind::NotUtf8));
        }
        Ok(())
    }

    /// The length of a list whose elements take at least `size` bytes each.
    ///
    /// An impossible count is reported as a cut list: it cannot be told from a file that ends too early.
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
        write!(f, "{:#x}..{:#x}", self.at, self.data.len())
    }
}
