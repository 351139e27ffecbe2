//! Copies inside the output and into it, none of which can panic.

/// The number of bytes a fast copy may write after its end.
pub(super) const OVERSHOOT: usize = 16;

/// Copies as many bytes as both have.
#[inline]
pub(super) fn copy(from: &[u8], to: &mut [u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// The `N` bytes at `at`.
#[inline(always)]
fn load<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.wrapping_add(N))?.first_chunk().copied()
}

/// Puts `N` bytes to `at`.
#[inline(always)]
fn store<const N: usize>(bytes: &mut [u8], at: usize, chunk: [u8; N]) -> Option<()> {
    *bytes.get_mut(at..at.wrapping_add(N))?.first_chunk_mut()? = chunk;
    Some(())
}

/// Copies `len` bytes forward from `from` to `to`, which lies before or at least 16 after it; it may write up to
/// [`OVERSHOOT`] bytes more. `None` if that is not all in `bytes`.
///
/// If the caller has compared the ends, and computed the positions from 32 bits so that nothing overflows, no bounds
/// check remains.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects)] // Positions in a slice and a bit.
pub(super) fn fast(bytes: &mut [u8], from: usize, to: usize, len: usize) -> Option<()> {
    store(bytes, to, load::<16>(bytes, from)?)?;
    let mut done = 16;
    while done < len {
        store(bytes, to + done, load::<16>(bytes, from + done)?)?;
        done += 16;
    }
    Some(())
}

/// Repeats: copies `len` bytes forward to `to` from `from`, less than 16 bytes before; it may write up to
/// [`OVERSHOOT`] bytes more.
///
/// `None` if that is not all in `bytes`, or if both are one.
#[inline(never)]
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)] // Positions in a slice and a bit; masked.
pub(super) fn repeat_short(bytes: &mut [u8], mut from: usize, mut to: usize, len: usize) -> Option<()> {
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
    // The pattern repeated through one word, as a product, and the distance after which it begins anew.
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

/// For each offset below 8: a number that has a 1 every `offset` bytes, and the largest multiple of it up to 8.
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
/// nothing after is touched. `None` if that is not all in `bytes`.
#[allow(clippy::arithmetic_side_effects)] // Positions in a slice.
pub(super) fn exact(bytes: &mut [u8], mut from: usize, mut to: usize, mut len: usize) -> Option<()> {
    // Moving down, each byte is read before it is overwritten.
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
                let copy = if offset < 16 { repeat_short } else { fast };
                assert_eq!(copy(&mut found, 50 - offset, 50, len), Some(()));
                assert_eq!(found[..50 + len], expected[..50 + len], "{offset} {len}");
                let untouched: Vec<u8> = (0..200).skip(50 + len + OVERSHOOT).collect();
                assert_eq!(found[50 + len + OVERSHOOT..], untouched, "{offset} {len}");
            }
        }
    }

    #[test]
    fn nothing_outside_is_touched() {
        let mut bytes = [7; 64];
        assert_eq!(repeat_short(&mut bytes, 20, 20, 5), None); // From itself,
        assert_eq!(repeat_short(&mut bytes, 55, 58, 5), None); // past the last one, as it writes 8 at a time,
        assert_eq!(fast(&mut bytes, 49, 0, 1), None); // from past the last one, as it copies 16,
        assert_eq!(fast(&mut bytes, 0, 49, 1), None); // and to there.
        assert_eq!(exact(&mut bytes, 0, 60, 5), None);
        assert_eq!(fast(&mut bytes, 48, 0, 1), Some(()));
        assert_eq!(bytes, [7; 64]);
    }
}
