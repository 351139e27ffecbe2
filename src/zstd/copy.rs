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
/// `None` if that is not all in `bytes`, or if the offset is 0.
#[inline(always)]
pub(super) fn repeat(bytes: &mut [u8], to: usize, offset: usize, len: usize) -> Option<()> {
    let from = to.wrapping_sub(offset);
    if offset >= 16 { fast(bytes, from, to, len) } else { repeat_short(bytes, from, to, len) }
}

/// As [`repeat`], for offsets below 16.
#[inline(never)]
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)] // Positions in a slice and a bit; masked.
fn repeat_short(bytes: &mut [u8], mut from: usize, mut to: usize, len: usize) -> Option<()> {
    let (offset, end) = (to.wrapping_sub(from), to + len);
    if offset == 0 {
        return None;
    }
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

/// Copies `len` bytes forward from `from` to `to` as if byte by byte, so that a short distance repeats a pattern;
/// nothing behind is touched. `None` if that is not all in `bytes`.
#[allow(clippy::arithmetic_side_effects)] // Positions in a slice.
pub(super) fn exact(bytes: &mut [u8], mut from: usize, mut to: usize, mut len: usize) -> Option<()> {
    // Moving down, what is overwritten has been read.
    if to.wrapping_sub(from) >= 8 {
        while len >= 8 {
            store(bytes, to, load::<8>(bytes, from)?)?;
            from += 8;
            to += 8;
            len -= 8;
        }
    }
    for done in 0..len {
        let byte = *bytes.get(from + done)?;
        *bytes.get_mut(to + done)? = byte;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Every short offset and length, against copying byte by byte.
    #[test]
    fn repeats_as_byte_by_byte() {
        for offset in 1..40 {
            for len in 1..70 {
                let mut expected: Vec<u8> = (0..200).collect();
                for at in 50..50 + len {
                    expected[at] = expected[at - offset];
                }
                let mut found: Vec<u8> = (0..200).collect();
                assert_eq!(exact(&mut found, 50 - offset, 50, len), Some(()));
                assert_eq!(found, expected, "{offset} {len}");
                // Down, over itself.
                assert_eq!(exact(&mut found, 50, 50 - offset, len), Some(()));
                assert_eq!(found[50 - offset..][..len], expected[50..50 + len], "{offset} {len}");
                let mut found: Vec<u8> = (0..200).collect();
                assert_eq!(repeat(&mut found, 50, offset, len), Some(()));
                assert_eq!(found[..50 + len], expected[..50 + len], "{offset} {len}");
                let untouched: Vec<u8> = (0..200).skip(50 + len + OVERSHOOT).collect();
                assert_eq!(found[50 + len + OVERSHOOT..], untouched, "{offset} {len}");
            }
        }
    }

    #[test]
    fn nothing_outside_is_touched() {
        let mut bytes = [7; 64];
        assert_eq!(repeat(&mut bytes, 20, 21, 5), None); // From in front of the first byte,
        assert_eq!(repeat(&mut bytes, 20, 0, 5), None); // from itself,
        assert_eq!(fast(&mut bytes, 49, 0, 1), None); // from behind the last one, as it copies 16,
        assert_eq!(fast(&mut bytes, 0, 49, 1), None); // and to there.
        assert_eq!(exact(&mut bytes, 0, 60, 5), None);
        assert_eq!(fast(&mut bytes, 48, 0, 1), Some(()));
        assert_eq!(bytes, [7; 64]);
    }
}
