//! The reader of zstd's backward bit streams.
//!
//! Such a stream is written forward and read from its end: the highest set bit of the last byte marks where. Each
//! read takes bits from the top of a 64-bit window that moves down through the input.

/// How many bytes of the input precede every bit stream of a frame, at least.
///
/// Magic, descriptor, one more header byte and a block header are nine. So the window never has to be cut at the
/// start of a stream: it holds bytes from in front of it, which only a damaged stream comes to read as bits. That is
/// found when the stream ends, since it must end exactly at its start.
pub(super) const LEAD: usize = 8;

/// The 8 bytes at `position`, as a window.
#[inline(always)]
#[allow(clippy::as_conversions, clippy::arithmetic_side_effects)]
pub(super) fn load(source: &[u8], position: u32) -> Option<u64> {
    // From 32 bits there is no overflow in 64, so that one comparison is left of the two.
    let start = position as usize;
    let end = start.wrapping_add(8);
    let bytes = source.get(start..end)?;
    bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// A window on a bit stream.
#[derive(Clone, Copy)]
pub(super) struct Bits {
    /// The 8 bytes from `position`.
    window: u64,
    /// How many bits of it are used up, from the top.
    used: u32,
    position: u32,
}

impl Bits {
    /// Opens the stream at `start..end` of `source`; `None` if it is empty or its last byte has no mark.
    #[inline]
    pub(super) fn open(source: &[u8], start: usize, end: usize) -> Option<Self> {
        let last = *source.get(start..end)?.last()?;
        if last == 0 {
            return None;
        }
        let position = u32::try_from(end.checked_sub(LEAD)?).ok()?;
        let window = load(source, position)?;
        Some(Self { window, used: last.leading_zeros().wrapping_add(1), position })
    }

    /// The next `count` bits, at most 63; [`Bits::refill`] makes 57 of them good.
    #[inline(always)]
    #[allow(clippy::arithmetic_side_effects)]
    pub(super) fn read(&mut self, count: u32) -> u64 {
        // Two shifts, for one by 64 does not exist. Shifts by too much come of damaged streams only.
        let value = (self.window.wrapping_shl(self.used) >> 1).wrapping_shr(!count);
        self.used = self.used.wrapping_add(count);
        value
    }

    /// Moves the window down over the bytes used up.
    ///
    /// In front of the input nothing happens: bits read from then on have no meaning.
    #[inline(always)]
    pub(super) fn refill(&mut self, source: &[u8]) {
        let position = self.position.wrapping_sub(self.used >> 3);
        if let Some(window) = load(source, position) {
            self.window = window;
            self.position = position;
            self.used &= 7;
        }
    }

    /// How many bits are left of a stream that starts at `start`; negative if too many were read.
    pub(super) fn left(&self, start: usize) -> i64 {
        let start = i64::try_from(start).unwrap_or(i64::MAX).saturating_mul(8);
        let end = i64::from(self.position).wrapping_mul(8).wrapping_add(64);
        end.wrapping_sub(i64::from(self.used)).wrapping_sub(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits 1, 01, 001, … up to 10 wide in the order of reading, behind 8 bytes of lead.
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
