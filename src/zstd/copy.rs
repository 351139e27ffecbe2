//! Copies inside the output and into it, none of which can panic.

/// How many bytes a fast copy may write behind its end.
pub(super) const OVERSHOOT: usize = 16;

/// Copies as many bytes as both have.
#[inline]
pub(super) fn copy(from: &[u8], to: &mut [u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// A position, of which the compiler then knows that a bit more does not overflow: one comparison less per access.
#[inline(always)]
const fn position(at: usize) -> usize {
    at & usize::MAX >> 1
}

/// The `N` bytes at `at`.
#[inline(always)]
fn load<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    let at = position(at);
    bytes.get(at..at.wrapping_add(N))?.first_chunk().copied()
}

/// Puts `N` bytes to `at`.
#[inline(always)]
fn store<const N: usize>(bytes: &mut [u8], at: usize, chunk: [u8; N]) -> Option<()> {
    let at = position(at);
    *bytes.get_mut(at..at.wrapping_add(N))?.first_chunk_mut()? = chunk;
    Some(())
}

/// Copies `len` bytes forward from `from` to `to`, which lies before or at least 16 behind it; it may write up to
/// [`OVERSHOOT`] bytes more. `None` if that is not all in `bytes`.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects)] // Positions in a slice and a bit.
pub(super) fn fast(bytes: &mut [u8], mut from: usize, mut to: usize, len: usize) -> Option<()> {
    let end = to + len;
    loop {
        store(bytes, to, load::<16>(bytes, from)?)?;
        from += 16;
        to += 16;
        if to >= end {
            return Some(());
        }
    }
}

/// Repeats: copies `len` bytes forward to `to` from `offset` bytes before; it may write up to [`OVERSHOOT`] more.
///
/// The offset is at least 1 and at most `to`.
#[inline(always)]
pub(super) fn repeat(bytes: &mut [u8], to: usize, offset: usize, len: usize) -> Option<()> {
    let from = to.wrapping_sub(offset);
    if offset >= 16 { fast(bytes, from, to, len) } else { repeat_short(bytes, from, to, len) }
}

/// As [`repeat`], for offsets below 16.
#[inline(never)]
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)] // Positions in a slice and a bit; masked.
fn repeat_short(bytes: &mut [u8], mut from: usize, mut to: usize, len: usize) -> Option<()> {
    let (offset, end) = (to - from, to + len);
    if offset >= 8 {
        loop {
            store(bytes, to, load::<8>(bytes, from)?)?;
            from += 8;
            to += 8;
            if to >= end {
                return Some(());
            }
        }
    }
    // The pattern in one word, over and over, as a product; and how far to go for it to begin anew.
    let (factor, stride) = PATTERNS[offset & 7];
    let gap = 64_usize.wrapping_sub(offset * 8);
    let pattern = u64::from_le_bytes(load(bytes, from)?);
    let word = (pattern << (gap & 63) >> (gap & 63)).wrapping_mul(factor).to_le_bytes();
    loop {
        store(bytes, to, word)?;
        to += stride;
        if to >= end {
            return Some(());
        }
    }
}

/// For each offset below 8: a number that has a 1 every so many bytes, and the largest multiple up to 8.
static PATTERNS: [(u64, usize); 8] = {
    let mut patterns = [(1, 8); 8];
    let mut offset = 1;
    #[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)] // At compile time.
    while offset < 8 {
        let (mut factor, mut at) = (0_u64, 0);
        while at < 8 {
            factor |= 1 << (at * 8);
            at += offset;
        }
        patterns[offset] = (factor, 8 - 8 % offset);
        offset += 1;
    }
    patterns
};

/// Copies `len` bytes forward from `from` to `to`, byte by byte, so that a short distance repeats a pattern.
#[allow(clippy::arithmetic_side_effects)] // Positions in a slice.
pub(super) fn exact(bytes: &mut [u8], from: usize, to: usize, len: usize) -> Option<()> {
    for done in 0..len {
        let byte = *bytes.get(from + done)?;
        *bytes.get_mut(to + done)? = byte;
    }
    Some(())
}
