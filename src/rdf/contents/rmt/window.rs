//! The bytes from a token on, and the bits that its fields are.

/// As many bytes of a stream as a token's fields lie in, from its start on.
pub(super) type Window = [u8; 40];

/// The `len` bits from bit `low`, as a little-endian integer.
///
/// All that calls it is inline and knows both, so that a load, a shift and a mask are left.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects, clippy::as_conversions, clippy::indexing_slicing)] // The words lie in the window.
pub(super) fn bits(window: &Window, low: u32, len: u32) -> u64 {
    debug_assert!(low + len <= 8 * 33 && len <= 64, "{low} {len}");
    let start = (low >> 3) as usize & 31;
    let shift = low & 7;
    let word = window.get(start..start + 8).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
    let mut value = u64::from_le_bytes(word) >> shift;
    if shift + len > 64 {
        value |= u64::from(window[start + 8]) << (64 - shift);
    }
    value & u64::MAX >> (64 - len)
}

/// At most 32 bits.
#[inline(always)]
#[allow(clippy::as_conversions)] // So many bits are left.
pub(super) fn bits32(window: &Window, low: u32, len: u32) -> u32 {
    bits(window, low, len) as u32
}

/// At most 16 bits.
#[inline(always)]
#[allow(clippy::as_conversions)] // So many bits are left.
pub(super) fn bits16(window: &Window, low: u32, len: u32) -> u16 {
    bits(window, low, len) as u16
}

/// At most 8 bits.
#[inline(always)]
#[allow(clippy::as_conversions)] // So many bits are left.
pub(super) fn bits8(window: &Window, low: u32, len: u32) -> u8 {
    bits(window, low, len) as u8
}

/// A bit.
#[inline(always)]
pub(super) fn bit(window: &Window, low: u32) -> bool {
    bits(window, low, 1) == 1
}

/// The time that a `time_delta` says has passed, in as many bytes as its first one says.
#[inline(always)]
pub(super) fn delta(window: &Window) -> u64 {
    let len = u32::from(window[0] >> 4 & 7) << 3;
    (bits(window, 0, 64) >> 8) & 1_u64.wrapping_shl(len).wrapping_sub(1)
}

/// The window of one of the last tokens: with zeros after the stream.
#[cold]
#[inline(never)]
pub(super) fn padded(bytes: &[u8]) -> Window {
    let mut window = [0; size_of::<Window>()];
    for (to, from) in window.iter_mut().zip(bytes) {
        *to = *from;
    }
    window
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits one by one.
    #[test]
    fn bits_are_those_that_stand_there() {
        let mut random = crate::rdf::contents::rmt::tests::random();
        for _ in 0..2_000 {
            let window: Window = core::array::from_fn(|_| random() as u8);
            let (low, len) = ((random() % 200) as u32, 1 + (random() % 64) as u32);
            let slow = (0..len).fold(0_u64, |value, bit| {
                let at = low + bit;
                value | u64::from(window[at as usize / 8] >> (at % 8) & 1) << bit
            });
            assert_eq!(bits(&window, low, len), slow, "{low} {len}");
        }
    }
}
