//! Bits at any place, of any length, in any order.

use crate::bytes::to_u64;

/// A string of bits in a data stream: a fixed-length field.
///
/// The least significant bit is bit 0.
#[derive(Clone, Copy, Debug)]
pub struct BitString<'a> {
    data: &'a [u8],
    /// The start in `data`.
    start: u64,
    len: u32,
    big: bool,
    reversed: bool,
}

impl<'a> BitString<'a> {
    #[inline(always)]
    pub(super) const fn new(data: &'a [u8], start: u64, len: u32, big: bool, reversed: bool) -> Self {
        Self { data, start, len, big, reversed }
    }

    /// The number of bits.
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// True if there are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value as an unsigned integer, if it has no more than 64 bits.
    pub fn to_u64(&self) -> Option<u64> {
        (self.len <= 64).then(|| self.word(0))
    }

    /// The value as an unsigned integer, if it has no more than 128 bits.
    pub fn to_u128(&self) -> Option<u128> {
        let high = if self.len > 64 { u128::from(self.word(1)) << 64 } else { 0 };
        (self.len <= 128).then(|| u128::from(self.word(0)) | high)
    }

    /// The bits in words of 64, the least significant one first.
    pub fn words(&self) -> impl Iterator<Item = u64> + use<'a> {
        self.both_ways()
    }

    /// The same, which can be gone through from the most significant one on, too.
    pub(super) fn both_ways(&self) -> impl DoubleEndedIterator<Item = u64> + use<'a> {
        let bits = *self;
        (0..self.len.div_ceil(64)).map(move |index| bits.word(index))
    }

    /// True if any bit is set.
    pub fn any(&self) -> bool {
        self.words().any(|word| word != 0)
    }

    /// The word at `index`, counted from the least significant one; the last one may have fewer bits.
    #[inline]
    fn word(&self, index: u32) -> u64 {
        let skip = index.saturating_mul(64);
        let len = self.len.saturating_sub(skip).min(64);
        // The stored order: from the first bit on, or from the last one on.
        let from_start = self.big == self.reversed;
        let distance = if from_start { skip } else { self.len.saturating_sub(skip).saturating_sub(len) };
        let value = load(self.data, self.start.saturating_add(distance.into()), len, self.big);
        if self.reversed { reverse(value, len) } else { value }
    }
}

/// The lower `len` bits in opposite order.
#[inline(always)]
pub(super) const fn reverse(value: u64, len: u32) -> u64 {
    match value.reverse_bits().checked_shr(64_u32.saturating_sub(len)) {
        Some(value) => value,
        None => 0,
    }
}

/// `len` bits from bit `start` of `data`, at most 64, in the natural order of the byte order. They are all in `data`.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects, clippy::as_conversions)] // Shifts of less than 64; see each.
pub(super) fn load(data: &[u8], start: u64, len: u32, big: bool) -> u64 {
    if len == 0 {
        return 0;
    }
    let byte = (start >> 3) as usize;
    let shift = (start & 7) as u32;
    let Some(chunk) = data.get(byte..).and_then(|rest| rest.first_chunk::<8>()) else {
        return load_end(data, start, len, big);
    };
    let end = shift + len;
    if big {
        let word = u64::from_be_bytes(*chunk);
        // From the left; `len` is 1 to 64.
        let value = word << shift >> (64 - len);
        if end <= 64 {
            value
        } else {
            // 1 to 7 bits of the ninth byte.
            let more = data.get(byte + 8).copied().unwrap_or(0);
            value | u64::from(more) >> (72 - end)
        }
    } else {
        let word = u64::from_le_bytes(*chunk) >> shift;
        let value = if end <= 64 {
            word
        } else {
            let more = data.get(byte + 8).copied().unwrap_or(0);
            // `end` is above 64 and `len` at most 64: `shift` is 1 to 7.
            word | u64::from(more) << (64 - shift)
        };
        value & (u64::MAX >> (64 - len))
    }
}

/// As [`load`], where fewer than 8 bytes are left.
#[cold]
#[allow(clippy::arithmetic_side_effects, clippy::as_conversions)]
fn load_end(data: &[u8], start: u64, len: u32, big: bool) -> u64 {
    let mut room = [0; 16];
    let rest = data.get((start >> 3) as usize..).unwrap_or_default();
    for (to, from) in room.iter_mut().take(9).zip(rest) {
        *to = *from;
    }
    load(&room, start & 7, len, big)
}

/// The sign of a number of `len` bits, spread.
#[inline(always)]
pub(super) const fn sign_extend(value: u64, len: u32) -> i64 {
    let shift = 64_u32.saturating_sub(len);
    match value.checked_shl(shift) {
        Some(value) => match value.cast_signed().checked_shr(shift) {
            Some(value) => value,
            None => 0,
        },
        None => 0,
    }
}

/// The position of the first code unit of `unit` bytes that is zero, at steps of its size.
#[inline]
pub(super) fn find_nul(data: &[u8], unit: usize) -> Option<usize> {
    match unit {
        1 => find_zero(data),
        2 => data.chunks_exact(2).position(|unit| unit == [0; 2]).map(|at| at.saturating_mul(2)),
        _ => data.chunks_exact(4).position(|unit| unit == [0; 4]).map(|at| at.saturating_mul(4)),
    }
}

/// The position of the first zero byte: eight bytes at a time, which beats a call for the short strings of traces.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects, clippy::as_conversions)] // What is left is no longer than `data`.
fn find_zero(data: &[u8]) -> Option<usize> {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let mut rest = data;
    while let Some((chunk, after)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        // The lowest byte of which the high bit is set is the first zero.
        let zero = word.wrapping_sub(LOW) & !word & (LOW << 7);
        if zero != 0 {
            return Some(data.len() - rest.len() + (zero.trailing_zeros() >> 3) as usize);
        }
        rest = after;
    }
    find_zero_at_end(data, rest)
}

/// As [`find_zero`], in the last few bytes of `data`.
#[inline(never)]
#[allow(clippy::arithmetic_side_effects)]
fn find_zero_at_end(data: &[u8], rest: &[u8]) -> Option<usize> {
    rest.iter().position(|byte| *byte == 0).map(|position| data.len() - rest.len() + position)
}

/// The number of bits these bytes have.
#[inline(always)]
pub(super) const fn bits_of(bytes: usize) -> u64 {
    to_u64(bytes).saturating_mul(8)
}

#[cfg(all(test, target_has_atomic = "64"))]
mod properties;
#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// The rule, bit by bit.
    fn slow(data: &[u8], start: u64, len: u32, big: bool, reversed: bool) -> u128 {
        let bit = |at: u64| {
            let byte = data[(at / 8) as usize];
            u128::from(if big { byte >> (7 - at % 8) } else { byte >> (at % 8) } & 1)
        };
        let bits: Vec<u128> = (start..start + u64::from(len)).map(bit).collect();
        // First-to-last: the first bit is the least significant one.
        let first_to_last = big == reversed;
        let fold = |value: u128, bit: &u128| value << 1 | bit;
        if first_to_last { bits.iter().rev().fold(0, fold) } else { bits.iter().fold(0, fold) }
    }

    #[test]
    fn every_place_length_and_order() {
        let data: Vec<u8> = (0..24_u32).map(|n| ((n * 37 + 11) ^ (n << 3)) as u8).collect();
        for start in 0..40 {
            for len in 1..=128_u32.min(192 - start as u32) {
                for (big, reversed) in [(false, false), (false, true), (true, false), (true, true)] {
                    let bits = BitString::new(&data, start, len, big, reversed);
                    let expected = slow(&data, start, len, big, reversed);
                    assert_eq!(bits.to_u128(), Some(expected), "{start} {len} {big} {reversed}");
                    if len <= 64 {
                        let value = load(&data, start, len, big);
                        let value = if reversed { reverse(value, len) } else { value };
                        assert_eq!(u128::from(value), expected);
                        let signed = (expected as i128) << (128 - len) >> (128 - len);
                        assert_eq!(i128::from(sign_extend(value, len)), signed);
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_zero_is_found() {
        for len in 0..40 {
            for filler in [1, 0x80, 0xff, 0x7f] {
                let mut data = std::vec![filler; len];
                assert_eq!(find_nul(&data, 1), None);
                for at in (0..len).rev() {
                    data[at] = 0;
                    assert_eq!(find_nul(&data, 1), Some(at));
                }
            }
        }
        assert_eq!(find_nul(&[1, 0, 0, 1, 0, 0], 2), Some(4));
        assert_eq!(find_nul(&[1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0], 4), Some(8));
        assert_eq!(find_nul(&[1, 0, 0, 0, 0, 0, 0], 4), None);
    }
}
