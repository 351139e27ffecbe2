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

/// Groups of 7 bits, one a byte, put together.
#[inline(always)]
const fn compact(groups: u64) -> u64 {
    // Close the gaps of one bit between the groups of 7: pairs, then pairs of pairs, then halves.
    let groups = (groups & 0x007f_007f_007f_007f) | ((groups & 0x7f00_7f00_7f00_7f00) >> 1);
    let groups = (groups & 0x0000_3fff_0000_3fff) | ((groups & 0x3fff_0000_3fff_0000) >> 2);
    (groups & 0x0fff_ffff) | ((groups & 0x0fff_ffff_0000_0000) >> 4)
}

/// Several integers in one load of 8 bytes.
///
/// Finding the end of the third one costs six operations that depend on each other and no branch, whatever their
/// lengths: that is what makes walking through short records fast.
#[derive(Clone, Copy)]
pub(crate) struct Word {
    word: u64,
    /// The last bytes of the integers that have not been taken.
    ends: u64,
    /// How many bits have been taken.
    start: u32,
}

impl Word {
    /// The first 8 bytes of `data`, if there are so many.
    #[inline(always)]
    pub(crate) fn load(data: &[u8]) -> Option<Self> {
        let word = u64::from_le_bytes(*data.first_chunk::<8>()?);
        Some(Self { word, ends: !word & MORE, start: 0 })
    }

    /// The next integer, unless its end lies behind the word.
    #[inline(always)]
    #[allow(clippy::arithmetic_side_effects)]
    pub(crate) fn take(&mut self) -> Option<u64> {
        if self.ends == 0 {
            return None;
        }
        // `ends` is not 0, so `start` is less than 64 before, and at most 64 after.
        let below = self.ends ^ (self.ends - 1);
        let value = compact((self.word & below & !MORE) >> self.start);
        self.start = self.ends.trailing_zeros() + 1;
        self.ends &= self.ends - 1;
        Some(value)
    }

    /// The next byte, if it is an integer of its own.
    #[inline(always)]
    #[allow(clippy::arithmetic_side_effects, clippy::as_conversions)]
    pub(crate) fn take_byte(&mut self) -> Option<u8> {
        let byte = (self.word >> (self.start & 63)) as u8;
        if self.start > 56 || byte >= 0x80 {
            return None;
        }
        self.start += 8;
        self.ends &= self.ends.wrapping_sub(1);
        Some(byte)
    }

    /// Whether at least one more integer ends in the word.
    #[inline(always)]
    pub(crate) const fn has_more(self) -> bool {
        self.ends != 0
    }

    /// How many bytes have been taken.
    #[inline(always)]
    #[allow(clippy::as_conversions)]
    pub(crate) const fn len(self) -> usize {
        (self.start / 8) as usize
    }
}

/// The clear form of [`read_u64`]: near the end of the input, for 9 and 10 bytes, and as the oracle of its tests.
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

    /// Every value next to a change of length, with and without bytes behind it.
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

    /// Integers of all lengths in one word, against reading them one by one.
    #[test]
    fn word_takes_what_ends_in_it() {
        let mut seed = 1_u64;
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let mask = seed.rotate_left(11) & seed.rotate_left(29);
            let bytes = ((seed & !MORE) | (mask & MORE)).to_le_bytes();
            let mut word = Word::load(&bytes).unwrap();
            let mut position = 0;
            loop {
                assert_eq!(word.len(), position);
                let single = word;
                let expected = read_u64_by_byte(&bytes[position..]);
                assert_eq!(word.has_more(), expected.is_ok());
                assert_eq!(word.take(), expected.ok().map(|(value, _)| value));
                let byte = bytes.get(position).copied().filter(|byte| *byte < 0x80);
                let mut after = single;
                assert_eq!(after.take_byte(), byte);
                if byte.is_some() {
                    assert_eq!((after.word, after.ends, after.start), (word.word, word.ends, word.start));
                }
                let Ok((_, len)) = expected else { break };
                position += len;
            }
        }
        assert!(Word::load(&[0; 7]).is_none());
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
