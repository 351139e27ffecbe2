//! The reader of zstd's backward bit streams.
//!
//! Such a stream is written forward and read from its end: the highest set bit of the last byte marks where. Each
//! read takes bits from the top of a 64-bit window that moves down through the input.

use crate::bytes::to_u64;

/// The number of bytes of the input that precede every bit stream of a frame, at least.
///
/// Magic, descriptor, one more header byte and a block header are nine. So the window never has to be cut at the
/// start of a stream: it may hold bytes from before it. Only a damaged stream reads those as bits, which is noticed at
/// its end: a stream must end exactly at its start.
pub(super) const LEAD: usize = 8;

/// The 8 bytes at `position`, as a window.
#[inline(always)]
#[allow(clippy::as_conversions, clippy::arithmetic_side_effects)]
fn load(source: &[u8], position: usize) -> Option<u64> {
    // A sum of 32-bit values cannot overflow 64 bits, so the compiler drops one of the two comparisons.
    let start = position as u32 as usize;
    let bytes = source.get(start..start.wrapping_add(8))?;
    bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// A window on a bit stream, without a count of the bits used.
///
/// The unread bits are at the top and a 1 follows them, so that the number of zeros at the bottom counts.
#[derive(Clone, Copy)]
pub(super) struct Bits {
    window: u64,
    /// The position of the 8 bytes of the window.
    position: usize,
}

impl Bits {
    /// Opens the stream at `start..end` of `source`; `None` if it is empty or its last byte has no mark.
    #[inline]
    pub(super) fn open(source: &[u8], start: usize, end: usize) -> Option<Self> {
        let last = *source.get(start..end)?.last()?;
        if last == 0 {
            return None;
        }
        let position = end.checked_sub(LEAD)?;
        let window = load(source, position)?;
        // At most 8 bits: the padding and the mark.
        Some(Self { window: (window | 1).wrapping_shl(last.leading_zeros().wrapping_add(1)), position })
    }

    /// The next bits, starting at the top. After [`Bits::refill`], 56 of them are valid.
    #[inline(always)]
    pub(super) const fn ahead(&self) -> u64 {
        self.window
    }

    /// Consumes `count` bits. Only the low 6 bits of the count matter.
    #[inline(always)]
    pub(super) const fn skip(&mut self, count: u32) {
        self.window = self.window.wrapping_shl(count);
    }

    /// The next `count` bits, at most 31. Only the low 6 bits of the count matter.
    ///
    /// Only a damaged stream reads more bits than there are; their value does not matter.
    #[inline(always)]
    #[allow(clippy::as_conversions)] // At most 31 bits.
    pub(super) const fn read(&mut self, count: u32) -> u32 {
        // In two steps, since a count of 0 shifts everything out.
        let bits = (self.window >> 1).wrapping_shr(!count) as u32;
        self.skip(count);
        bits
    }

    /// Like [`Bits::read`], for at least one bit, which is cheaper.
    #[inline(always)]
    #[allow(clippy::as_conversions)] // At most 31 bits.
    pub(super) const fn read_some(&mut self, count: u32) -> u32 {
        let bits = self.window.wrapping_shr(count.wrapping_neg()) as u32;
        self.skip(count);
        bits
    }

    /// Consumes `count` bits and refills. Only the low 6 bits of the count matter.
    #[inline(always)]
    pub(super) fn skip_and_refill(&mut self, count: u32, source: &[u8]) {
        if self.skip_and_refill_or_end(count & 63, source).is_none() {
            self.skip(count);
        }
    }

    /// Consumes `count` bits, which the window has, and refills; `None`, and nothing consumed, before the start of the input.
    ///
    /// This is faster than one after the other: that the window is all but replaced need not wait for the count.
    #[inline(always)]
    #[allow(clippy::as_conversions)] // At most 15.
    pub(super) fn skip_and_refill_or_end(&mut self, count: u32, source: &[u8]) -> Option<()> {
        let used = self.window.trailing_zeros().wrapping_add(count);
        let position = self.position.wrapping_sub((used >> 3) as usize);
        let window = load(source, position)?;
        self.position = position;
        self.window = (window | 1) << (used & 7);
        Some(())
    }

    /// Moves the window down over the bytes used up.
    ///
    /// Before the start of the input it does nothing: bits read from then on have no meaning.
    #[inline(always)]
    pub(super) fn refill(&mut self, source: &[u8]) {
        let _ = self.skip_and_refill_or_end(0, source);
    }

    /// The number of bits that are left of a stream that starts at `start`; negative if too many were read.
    #[inline(always)]
    pub(super) fn left(&self, start: usize) -> i64 {
        let ahead = to_u64(self.position).wrapping_sub(to_u64(start)).wrapping_mul(8);
        ahead.wrapping_add(64).wrapping_sub(self.window.trailing_zeros().into()).cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits 1, 01, 001, … up to 10 wide in the order of reading, after 8 bytes of lead.
    #[test]
    fn reads_backward_to_the_very_start() {
        let mut number = 1_u128;
        for width in 1..=10 {
            number = number << width | 1;
        }
        let mut source = std::vec![0xaa; LEAD];
        source.extend(number.to_le_bytes().iter().take(7));
        let mut bits = Bits::open(&source, LEAD, source.len()).unwrap();
        for width in 1..=10 {
            assert_eq!(bits.left(LEAD), i64::from((width..=10).sum::<u32>()));
            assert_eq!(bits.read(0), 0);
            assert_eq!(bits.read(width), 1, "{width}");
            bits.refill(&source);
        }
        assert_eq!(bits.left(LEAD), 0);
        bits.read(3);
        assert_eq!(bits.left(LEAD), -3);
    }

    #[test]
    fn needs_a_mark() {
        let source = [1, 1, 1, 1, 1, 1, 1, 1, 0x80, 0];
        assert!(Bits::open(&source, 8, 8).is_none());
        assert!(Bits::open(&source, 8, 10).is_none());
        assert_eq!(Bits::open(&source, 8, 9).unwrap().left(8), 7);
        assert!(Bits::open(&source, 9, 11).is_none());
    }
}
