//! Copies inside the output and into it, none of which can panic.

/// How many bytes a fast copy may write behind its end.
pub(super) const OVERSHOOT: usize = 32;

/// Copies as many bytes as both have.
#[inline]
pub(super) fn copy(from: &[u8], to: &mut [u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// Copies 16 bytes; `None`, and nothing happens, if they or their place do not lie in `bytes`.
#[inline(always)]
fn copy_16(bytes: &mut [u8], from: usize, to: usize) -> Option<()> {
    let chunk = *bytes.get(from..from.wrapping_add(16))?.first_chunk::<16>()?;
    *bytes.get_mut(to..to.wrapping_add(16))?.first_chunk_mut::<16>()? = chunk;
    Some(())
}

/// Copies 8 bytes.
#[inline(always)]
fn copy_8(bytes: &mut [u8], from: usize, to: usize) -> Option<()> {
    let chunk = *bytes.get(from..from.wrapping_add(8))?.first_chunk::<8>()?;
    *bytes.get_mut(to..to.wrapping_add(8))?.first_chunk_mut::<8>()? = chunk;
    Some(())
}

/// Copies `len` bytes forward from `from` to `to`, which lies before or at least 16 behind it; it may write up to
/// [`OVERSHOOT`] bytes more.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects)] // Positions in a slice and a bit.
pub(super) fn fast(bytes: &mut [u8], from: usize, to: usize, len: usize) -> Option<()> {
    let mut done = 0;
    loop {
        copy_16(bytes, from + done, to + done)?;
        done += 16;
        if done >= len {
            return Some(());
        }
    }
}

/// Repeats: copies `len` bytes forward to `to` from `offset` bytes before; it may write up to [`OVERSHOOT`] more.
///
/// The offset is at least 1 and at most `to`.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects)] // Positions in a slice and a bit.
pub(super) fn repeat(bytes: &mut [u8], to: usize, offset: usize, len: usize) -> Option<()> {
    let from = to.wrapping_sub(offset);
    if offset >= 16 {
        return fast(bytes, from, to, len);
    }
    if offset >= 8 {
        let mut done = 0;
        loop {
            copy_8(bytes, from + done, to + done)?;
            done += 8;
            if done >= len {
                return Some(());
            }
        }
    }
    // Once 8 bytes are written, the same pattern is found a multiple of the offset before that is at least 8.
    let mut done = 0;
    while done < 8 {
        let byte = *bytes.get(from + done)?;
        *bytes.get_mut(to + done)? = byte;
        done += 1;
    }
    let stride = offset * 8_usize.div_ceil(offset);
    while done < len {
        copy_8(bytes, to + done - stride, to + done)?;
        done += 8;
    }
    Some(())
}

/// Copies `len` bytes forward from `from` to `to`, byte by byte, so that a short distance repeats a pattern.
#[allow(clippy::arithmetic_side_effects)] // Positions in a slice.
pub(super) fn exact(bytes: &mut [u8], from: usize, to: usize, len: usize) -> Option<()> {
    for done in 0..len {
        let byte = *bytes.get(from + done)?;
        *bytes.get_mut(to + done)? = byte;
    }
    Some(())
}
