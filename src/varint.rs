//! Variable-length integers: unsigned LEB128, as RTC's `int` and postcard's `varint`, and zigzag.
//!
//! Zero-padded (non-canonical) forms are read as long as they are no longer than the type's longest canonical form;
//! longer ones, and values that do not fit, are refused.

#[cfg(feature = "rtc")]
use crate::bytes::Bytes;
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
const MORE32: u32 = 0x8080_8080;

/// A `u64` of at most 10 bytes at the front of `data`.
#[inline(always)]
pub(crate) fn read_u64(data: &[u8]) -> Decoded<u64> {
    match data.first() {
        Some(&byte) if byte < 0x80 => Ok((u64::from(byte), 1)),
        Some(_) => match data.first_chunk::<8>() {
            Some(chunk) => {
                let word = u64::from_le_bytes(*chunk);
                let last = !word & MORE;
                if last == 0 { read_u64_of_nine(data, word) } else { Ok(squeeze(word, last)) }
            }
            None => read_u64_by_byte(data),
        },
        None => Err(Fault::Truncated),
    }
}

/// A varint of at most 8 bytes at the front of them.
#[cfg(feature = "rfr")]
#[inline(always)]
pub(crate) fn read_word(data: &[u8; 8]) -> Option<(u64, usize)> {
    let word = u64::from_le_bytes(*data);
    let last = !word & MORE;
    if last == 0 { None } else { Some(squeeze(word, last)) }
}

/// As [`read_u64`], of more than 8 bytes, of which `word` is the first: identifiers made of random bits have 9.
#[inline(always)]
fn read_u64_of_nine(data: &[u8], word: u64) -> Decoded<u64> {
    match data.get(8) {
        Some(&byte) if byte < 0x80 => Ok((compact(word) | u64::from(byte).wrapping_shl(56), 9)),
        _ => read_u64_by_byte(data),
    }
}

/// As [`read_u64`], out of line, without a reason: the length is 0 if there is no integer.
///
/// Both fit into two registers.
#[inline(never)]
pub(crate) fn read_u64_long(data: &[u8]) -> (u64, usize) {
    read_u64(data).unwrap_or((0, 0))
}

/// As [`read_u64_long`], with integers of one and two bytes in line.
#[cfg(feature = "dial9")]
#[inline(always)]
#[allow(dead_code)] // In a build without the formats that use it.
pub(crate) fn read_u64_near(data: &[u8]) -> (u64, usize) {
    match data.first_chunk() {
        Some(&[first, _]) if first < 0x80 => (first.into(), 1),
        Some(&[first, second]) if second < 0x80 => {
            (u64::from(first & 0x7f) | u64::from(second).wrapping_shl(7), 2)
        }
        _ => read_u64_long(data),
    }
}

/// The number of bytes the [`u64`](read_u64) at the front of `data` takes; 0 if there is none.
#[inline(never)]
#[allow(clippy::arithmetic_side_effects, clippy::as_conversions)]
pub(crate) fn len_u64_long(data: &[u8]) -> usize {
    match data.first_chunk::<8>().map(|chunk| !u64::from_le_bytes(*chunk) & MORE) {
        Some(last @ 1..) => (last.trailing_zeros() / 8 + 1) as usize,
        _ => read_u64_by_byte(data).map_or(0, |(_, len)| len),
    }
}

/// The integer in the low bytes of `word`, up to the byte of the lowest bit in `last`.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects, clippy::as_conversions)]
fn squeeze(word: u64, last: u64) -> (u64, usize) {
    // `last` is not 0, so `bits` is one of 8, 16, … 64 and no shift is 64 or more.
    let bits = last.trailing_zeros() + 1;
    (compact(word & (last ^ (last - 1))), (bits / 8) as usize)
}

/// Joins the groups of 7 bits in the bytes of `groups`, whose high bits are ignored.
#[inline(always)]
const fn compact(groups: u64) -> u64 {
    // Close the gaps of one bit between the groups of 7: pairs, then pairs of pairs, then halves.
    let groups = (groups & 0x007f_007f_007f_007f) | ((groups & 0x7f00_7f00_7f00_7f00) >> 1);
    let groups = (groups & 0x0000_3fff_0000_3fff) | ((groups & 0x3fff_0000_3fff_0000) >> 2);
    (groups & 0x0fff_ffff) | ((groups & 0x0fff_ffff_0000_0000) >> 4)
}

/// As [`compact`].
#[inline(always)]
const fn compact32(groups: u32) -> u32 {
    let groups = (groups & 0x007f_007f) | ((groups & 0x7f00_7f00) >> 1);
    (groups & 0x3fff) | ((groups & 0x3fff_0000) >> 2)
}

/// Three varints of at most 8 bytes together in the low bytes of a word, the second of a single byte.
struct Three {
    /// The high bits of the bytes that end an integer, from the first one on.
    ends: u64,
    /// The second integer, and after it the third.
    rest: u64,
    /// The number of bytes they take.
    len: usize,
}

impl Three {
    /// Finds the end of the third by six operations that depend on each other, and without a branch on any length.
    #[inline(always)]
    #[allow(clippy::arithmetic_side_effects, clippy::as_conversions)]
    const fn find(word: u64) -> Option<Self> {
        let ends = !word & MORE;
        let second = ends & ends.wrapping_sub(1);
        let third = second & second.wrapping_sub(1);
        if third == 0 {
            return None;
        }
        // The third one ends in the word, so that at least two bytes follow the first one: no shift is 64 or more.
        let rest = through(word, third) >> (ends.trailing_zeros() + 1);
        Some(Self { ends, rest, len: (third.trailing_zeros() / 8 + 1) as usize })
    }
}

/// The bytes of `word` through the lowest of `ends`, which are not 0, and nothing after it.
///
/// Minus 1, they are all bits below the lowest, and the higher ends, whose bits are 0 in `word`.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects)]
const fn through(word: u64, ends: u64) -> u64 {
    word & (ends - 1)
}

/// Decodes three varints of at most 8 bytes together, the second of a single byte; also returns how many bytes they
/// take.
///
/// After `None`, or if the second byte is 0x80 or more, the integers have to be read one by one.
#[inline(never)]
#[allow(clippy::as_conversions)]
pub(crate) const fn read_three(data: &[u8; 8]) -> Option<(u64, u8, u64, usize)> {
    let word = u64::from_le_bytes(*data);
    match Three::find(word) {
        Some(Three { ends, rest, len }) => {
            Some((compact(through(word, ends)), rest as u8, compact(rest >> 8), len))
        }
        None => None,
    }
}

/// As [`read_three`], without the first and the third.
#[inline(always)]
#[allow(clippy::as_conversions)]
pub(crate) fn skip_three(data: &[u8; 8]) -> Option<(u8, usize)> {
    Three::find(u64::from_le_bytes(*data)).map(|three| (three.rest as u8, three.len))
}

/// As [`read_three`], where the first takes 3 bytes and the third at most 4, as in most records: 32 bits are enough, and
/// the only length that is not known is that of the third.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects, clippy::as_conversions)]
pub(crate) fn read_three_short(data: &[u8; 8]) -> Option<(u32, u8, u32, usize)> {
    let word = u64::from_le_bytes(*data);
    let (head, tail) = (word as u32, (word >> 32) as u32);
    // In the upper half, where the first two are not as they should be; in the lower one, where the third goes on. One
    // comparison says whether it ends, too.
    let wrong = ((word & MORE) ^ 0x8080).rotate_left(32);
    if wrong >= u64::from(MORE32) {
        return None;
    }
    let ends = wrong as u32 ^ MORE32;
    let first = (head & 0x7f) | ((head & 0x7f00) >> 1) | ((head & 0x7f_0000) >> 2);
    let len = ends.trailing_zeros() / 8 + 5;
    Some((first, (head >> 24) as u8, compact32(tail & (ends - 1)), len as usize))
}

/// A byte that is 0, or 1 followed by an integer of at most 4 bytes, and how many bytes they take.
///
/// `None` says nothing. Which of both it is cannot be foreseen, so that no branch depends on it; without an integer, it
/// is given as 0.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects, clippy::as_conversions)]
pub(crate) fn read_option(data: &[u8; 8]) -> Option<(bool, u32, usize)> {
    let word = u64::from_le_bytes(*data);
    let tag = word as u32 & 0xff;
    let tail = (word >> 8) as u32;
    let has = tag.wrapping_neg();
    // Without an integer, its end is that of the tag.
    let ends = !tail & MORE32;
    if tag > 1 || ends == 0 {
        return None;
    }
    let len = 1 + ((ends.trailing_zeros() / 8 + 1) & has);
    Some((tag == 1, compact32(tail & (ends - 1)) & has, len as usize))
}

/// The plain form of [`read_u64`]: used near the end of the input, for 10 bytes, and as the oracle in tests.
#[cold]
fn read_u64_by_byte(data: &[u8]) -> Decoded<u64> {
    let (mut value, mut shift) = (0_u64, 0_u32);
    for (&byte, len) in data.iter().zip(1..=10) {
        // 10 bytes with the last one at most 1 are 64 bits.
        if len == 10 && byte > 1 {
            return Err(Fault::TooWide);
        }
        value |= u64::from(byte & 0x7f).wrapping_shl(shift);
        if byte < 0x80 {
            return Ok((value, len));
        }
        shift = shift.saturating_add(7);
    }
    Err(Fault::Truncated)
}

/// Takes a [`u64`](read_u64) off the front.
#[cfg(feature = "rtc")]
#[cfg_attr(target_pointer_width = "64", inline)]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))] // Once in an image.
pub(crate) fn take_u64(input: &mut Bytes<'_>) -> Result<u64, Fault> {
    #[cfg(target_pointer_width = "64")]
    let (value, len) = read_u64(input.as_slice())?;
    #[cfg(not(target_pointer_width = "64"))]
    let (value, len) = read_u64_by_byte(input.as_slice())?;
    input.advance(len);
    Ok(value)
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

/// The number of bytes that a number takes.
#[cfg(feature = "rtc")]
pub(crate) fn len_u64(number: u64) -> u64 {
    u64::from(64_u32.saturating_sub(number.leading_zeros()).div_ceil(7).max(1))
}

/// Writes a number in as few bytes as it takes, and returns them.
#[cfg_attr(not(feature = "rfr"), allow(dead_code))]
pub(crate) fn write_u64(mut number: u64, room: &mut [u8; 10]) -> &[u8] {
    let mut len = 0_usize;
    for byte in room.iter_mut() {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        len = len.saturating_add(1);
        if number == 0 {
            *byte = low & 0x7f;
            break;
        }
        *byte = low | 0x80;
    }
    room.get(..len).unwrap_or_default()
}

#[cfg(all(test, target_has_atomic = "64"))]
mod properties;
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
                        assert_eq!(write_u64(value as u64, &mut [0; 10]), bytes);
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
        let (mut found, mut short) = (0, 0);
        random_words(|bytes| {
            let one_by_one = || {
                let (a, first) = read_u64_by_byte(&bytes).ok()?;
                let &b = bytes.get(first)?;
                let (c, last) = read_u64_by_byte(&bytes[first + 1..]).ok()?;
                (b < 0x80).then_some((a, b, c, first, last, first + 1 + last))
            };
            let expected = one_by_one();
            let plain = |(a, b, c, _, _, len)| (a, b, c, len);
            let at_once = read_three(&bytes).filter(|(_, second, ..)| *second < 0x80);
            assert_eq!(at_once, expected.map(plain), "{bytes:x?}");
            let skipped = skip_three(&bytes).filter(|(second, _)| *second < 0x80);
            assert_eq!(skipped, expected.map(|(_, b, _, _, _, len)| (b, len)), "{bytes:x?}");
            found += u32::from(expected.is_some());

            let expected = expected.filter(|(_, _, _, first, last, _)| *first == 3 && *last <= 4);
            let at_once = read_three_short(&bytes).map(|(a, b, c, len)| (a.into(), b, c.into(), len));
            assert_eq!(at_once, expected.map(plain), "{bytes:x?}");
            short += u32::from(expected.is_some());
        });
        assert!(found > 10_000 && short > 1_000);
    }

    #[test]
    fn options_at_once_are_as_one_by_one() {
        let mut found = [0; 2];
        random_words(|bytes| {
            let one_by_one = || match bytes[0] {
                // If no integer follows, one must still end nearby.
                0 => bytes[1..5].iter().any(|byte| *byte < 0x80).then_some((false, 0, 1)),
                1 => read_u64_by_byte(&bytes[1..5]).ok().map(|(value, len)| (true, value, 1 + len)),
                _ => None,
            };
            let at_once = read_option(&bytes).map(|(has, value, len)| (has, value.into(), len));
            assert_eq!(at_once, one_by_one(), "{bytes:x?}");
            if let Some((has, ..)) = one_by_one() {
                found[usize::from(has)] += 1;
            }
        });
        assert!(found.iter().all(|&count| count > 10_000));
    }

    #[test]
    fn lengths_are_those_of_what_is_read() {
        random_words(|bytes| {
            for len in 0..=8 {
                let data = [&[0x80, 0xff, 0x80][..len % 4], &bytes[..len]].concat();
                let (value, len) = read_u64(&data).unwrap_or((0, 0));
                assert_eq!(read_u64_long(&data), (value, len), "{data:x?}");
                assert_eq!(len_u64_long(&data), len, "{data:x?}");
            }
        });
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
