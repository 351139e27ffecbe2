//! Variable-length integers: unsigned LEB128, as RTC's `int` and postcard's `varint`, and zigzag.
//!
//! Zero-padded (non-canonical) forms are read as long as they are no longer than the type's longest canonical form;
//! longer ones, and values that do not fit, are refused.

use crate::error::ErrorKind;

/// Why no integer could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The input ends before its last byte.
    Truncated,
    /// Too long for its type, or the last byte has bits that do not fit.
    TooWide,
}

/// An integer and how many bytes it takes.
pub(crate) type Decoded<T> = Result<(T, usize), Fault>;

/// Every byte's high bit: set while more bytes follow.
const MORE: u64 = 0x8080_8080_8080_8080;

/// A `u64` of at most 10 bytes at the front of `data`.
#[inline(always)]
pub(crate) fn read_u64(data: &[u8]) -> Decoded<u64> {
    match data.first() {
        Some(&byte) if byte < 0x80 => Ok((u64::from(byte), 1)),
        Some(_) => match data.first_chunk::<8>() {
            Some(chunk) => {
                let word = u64::from_le_bytes(*chunk);
                let last = !word & MORE;
                if last == 0 { read_u64_by_byte(data) } else { Ok(squeeze(word, last)) }
            }
            None => read_u64_by_byte(data),
        },
        None => Err(Fault::Truncated),
    }
}

/// The integer in the low bytes of `word`, up to the byte of the lowest bit in `last`.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects, clippy::as_conversions)]
fn squeeze(word: u64, last: u64) -> (u64, usize) {
    // `last` is not 0, so `bits` is one of 8, 16, … 64 and no shift is 64 or more.
    let bits = last.trailing_zeros() + 1;
    (compact(word & (last ^ (last - 1)) & !MORE), (bits / 8) as usize)
}

/// Joins groups of 7 bits, one a byte.
#[inline(always)]
const fn compact(groups: u64) -> u64 {
    // Close the gaps of one bit between the groups of 7: pairs, then pairs of pairs, then halves.
    let groups = (groups & 0x007f_007f_007f_007f) | ((groups & 0x7f00_7f00_7f00_7f00) >> 1);
    let groups = (groups & 0x0000_3fff_0000_3fff) | ((groups & 0x3fff_0000_3fff_0000) >> 2);
    (groups & 0x0fff_ffff) | ((groups & 0x0fff_ffff_0000_0000) >> 4)
}

/// Decodes three varints of at most 8 bytes together, the second of a single byte; also returns how many bytes they
/// take.
///
/// After `None` the integers have to be read one by one.
///
/// Where short records begin with three integers, this finds the end of the third by six operations that depend on each
/// other, and without a branch on any length.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects, clippy::as_conversions)]
pub(crate) fn read_three(data: &[u8]) -> Option<(u64, u8, u64, usize)> {
    let word = u64::from_le_bytes(*data.first_chunk::<8>()?);
    let first = !word & MORE;
    let second = first & first.wrapping_sub(1);
    let third = second & second.wrapping_sub(1);
    if third == 0 {
        return None;
    }
    // The third one ends in the word, so that at least two bytes follow the first one: no shift is 64 or more.
    let start = first.trailing_zeros() + 1;
    let middle = (word >> start) as u8;
    if middle >= 0x80 {
        return None;
    }
    let through = |last: u64| word & (last ^ (last - 1)) & !MORE;
    let (a, c) = (through(first), through(third) >> (start + 8));
    let bits = third.trailing_zeros() + 1;
    Some((compact(a), middle, compact(c), (bits / 8) as usize))
}

/// A byte that is 0, or 1 followed by an integer, of 8 bytes in all at most, and how many bytes they take.
///
/// `None` says nothing. Which of both it is cannot be foreseen, so that no branch depends on it; without an integer, it
/// is given as 0.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects, clippy::as_conversions)]
pub(crate) fn read_option(data: &[u8]) -> Option<(bool, u64, usize)> {
    let word = u64::from_le_bytes(*data.first_chunk::<8>()?);
    let tag = word & 0xff;
    if tag > 1 {
        return None;
    }
    // The lowest end is that of the tag.
    let ends = !word & MORE;
    let after = ends & ends.wrapping_sub(1);
    let has = tag.wrapping_neg();
    let last = (after & has) | (0x80 & !has);
    if last == 0 {
        return None;
    }
    let value = compact((word & (last ^ (last - 1)) & !MORE) >> 8);
    let bits = last.trailing_zeros() + 1;
    Some((tag == 1, value, (bits / 8) as usize))
}

/// The plain form of [`read_u64`]: used near the end of the input, for 9 and 10 bytes, and as the oracle in tests.
#[cold]
fn read_u64_by_byte(data: &[u8]) -> Decoded<u64> {
    let (value, len) = read_by_byte(data, 10, 0x01)?;
    // 10 bytes with the last one at most 1 are 64 bits.
    u64::try_from(value).map(|value| (value, len)).map_err(|_| Fault::TooWide)
}

/// A `u32` of at most 5 bytes at the front of `data`.
#[inline(always)]
pub(crate) fn read_u32(data: &[u8]) -> Decoded<u32> {
    match data.first() {
        Some(&byte) if byte < 0x80 => Ok((u32::from(byte), 1)),
        _ => {
            let (value, len) = read_by_byte(data, 5, 0x0f)?;
            u32::try_from(value).map(|value| (value, len)).map_err(|_| Fault::TooWide)
        }
    }
}

/// A `u128` of at most 19 bytes at the front of `data`.
pub(crate) fn read_u128(data: &[u8]) -> Decoded<u128> {
    read_by_byte(data, 19, 0x03)
}

/// An integer of at most `most` bytes, of which a byte at that place is at most `top`.
fn read_by_byte(data: &[u8], most: usize, top: u8) -> Decoded<u128> {
    let mut value = 0_u128;
    let mut shift = 0_u32;
    for (&byte, len) in data.iter().zip(1..=most) {
        if len == most && byte > top {
            return Err(Fault::TooWide);
        }
        // At most 19 groups of 7 bits, the last of 2: nothing is shifted out.
        value |= u128::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte < 0x80 {
            return Ok((value, len));
        }
        shift = shift.saturating_add(7);
    }
    Err(Fault::Truncated)
}

impl Fault {
    /// The kind of error that this is for an integer of `bits` bits.
    pub(crate) const fn kind(self, bits: u32) -> ErrorKind {
        match self {
            Self::Truncated => ErrorKind::UnexpectedEnd { needed: 1 },
            Self::TooWide => ErrorKind::IntegerTooWide { bits },
        }
    }
}

/// The signed integer of a zigzag code: 0, −1, 1, −2, … for 0, 1, 2, 3, …
pub(crate) const fn zigzag64(code: u64) -> i64 {
    (code >> 1).cast_signed() ^ (code & 1).cast_signed().wrapping_neg()
}

/// As [`zigzag64`].
pub(crate) const fn zigzag128(code: u128) -> i128 {
    (code >> 1).cast_signed() ^ (code & 1).cast_signed().wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn write(mut value: u128) -> Vec<u8> {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    }

    /// Every value next to a change of length, with and without bytes after it.
    #[test]
    fn reads_every_length_and_boundary() {
        for shift in 0..128 {
            for value in [1_u128 << shift, (1 << shift) - 1, (1 << shift) | 0x55] {
                let bytes = write(value);
                for tail in [0, 1, 16] {
                    let mut data = bytes.clone();
                    data.resize(bytes.len() + tail, 0xff);
                    let expected = Ok((value, bytes.len()));
                    assert_eq!(read_u128(&data), expected);
                    if value <= u128::from(u64::MAX) {
                        assert_eq!(read_u64(&data).map(|(v, n)| (v.into(), n)), expected);
                        assert_eq!(read_u64_by_byte(&data).map(|(v, n)| (v.into(), n)), expected);
                    } else {
                        assert_eq!(read_u64(&data), Err(Fault::TooWide));
                    }
                    if value <= u128::from(u32::MAX) {
                        assert_eq!(read_u32(&data).map(|(v, n)| (v.into(), n)), expected);
                    } else {
                        assert_eq!(read_u32(&data), Err(Fault::TooWide));
                    }
                }
                for cut in 0..bytes.len() {
                    assert_eq!(read_u128(&bytes[..cut]), Err(Fault::Truncated));
                    if cut < 5 && cut < bytes.len() {
                        assert_eq!(read_u64(&bytes[..cut]), Err(Fault::Truncated));
                        assert_eq!(read_u32(&bytes[..cut]), Err(Fault::Truncated));
                    }
                }
            }
        }
    }

    /// Random bytes, of which more or fewer say that another one follows.
    fn random_words(mut each: impl FnMut([u8; 8])) {
        let mut seed = 1_u64;
        for _ in 0..50_000 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let more = MORE & seed.rotate_left(11) & seed.rotate_left(29);
            each(((seed & !MORE) | more).to_le_bytes());
            each(((seed & 0x7f7f_7f7f_7f7f_7f01) | (more & !0xff)).to_le_bytes());
        }
        each([0x80; 8]);
        each([0; 8]);
    }

    #[test]
    fn three_at_once_are_as_one_by_one() {
        let mut found = 0;
        random_words(|bytes| {
            let one_by_one = || {
                let (a, first) = read_u64_by_byte(&bytes).ok()?;
                let &b = bytes.get(first).filter(|byte| **byte < 0x80)?;
                let (c, last) = read_u64_by_byte(&bytes[first + 1..]).ok()?;
                Some((a, b, c, first + 1 + last))
            };
            assert_eq!(read_three(&bytes), one_by_one(), "{bytes:x?}");
            found += u32::from(one_by_one().is_some());
        });
        assert!(found > 10_000 && read_three(&[0; 7]).is_none());
    }

    #[test]
    fn options_at_once_are_as_one_by_one() {
        let mut found = [0; 2];
        random_words(|bytes| {
            let one_by_one = || match bytes[0] {
                0 => Some((false, 0, 1)),
                1 => read_u64_by_byte(&bytes[1..]).ok().map(|(value, len)| (true, value, 1 + len)),
                _ => None,
            };
            assert_eq!(read_option(&bytes), one_by_one(), "{bytes:x?}");
            if let Some((has, ..)) = one_by_one() {
                found[usize::from(has)] += 1;
            }
        });
        assert!(found.iter().all(|&count| count > 10_000) && read_option(&[0; 7]).is_none());
    }

    #[test]
    fn padded_forms_are_read_up_to_the_width() {
        let mut data = [0x80; 20];
        for len in 1..=20 {
            data[len - 1] = 0;
            let expected = |most| if len <= most { Ok((0, len)) } else { Err(Fault::TooWide) };
            assert_eq!(read_u64(&data[..len]), expected(10));
            assert_eq!(read_u32(&data[..len]).map(|(v, n)| (v.into(), n)), expected(5));
            assert_eq!(read_u128(&data[..len]).map(|(v, n)| (v as u64, n)), expected(19));
            data[len - 1] = 0x80;
        }
    }

    #[test]
    fn last_byte_must_fit() {
        assert_eq!(read_u64(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), Ok((u64::MAX, 10)));
        assert_eq!(read_u64(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), Err(Fault::TooWide));
        assert_eq!(read_u32(b"\xff\xff\xff\xff\x0f"), Ok((u32::MAX, 5)));
        assert_eq!(read_u32(b"\xff\xff\xff\xff\x10"), Err(Fault::TooWide));
    }

    #[test]
    fn zigzag_alternates() {
        assert_eq!([0, 1, 2, 3, u64::MAX - 1, u64::MAX].map(zigzag64), [0, -1, 1, -2, i64::MAX, i64::MIN]);
        assert_eq!([0, 1, 2, u128::MAX].map(zigzag128), [0, -1, 1, i128::MIN]);
    }
}
