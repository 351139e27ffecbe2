//! Text of fixed room, and hashes of text.

use core::fmt;
use core::ops::Range;

/// Text that is put together in a room of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scratch<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Scratch<N> {
    pub(super) const EMPTY: Self = Self { bytes: [0; N], len: 0 };

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// All of it.
    pub(super) fn text(&self) -> &str {
        self.get(0..self.len)
    }

    /// True if there is no room for a byte more.
    pub(super) const fn is_full(&self) -> bool {
        self.len >= N
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// The bytes of a piece of it.
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.bytes.get(..self.len).and_then(|bytes| bytes.get(range)).unwrap_or_default()
    }

    /// The bytes of all of it.
    pub(super) fn all(&self) -> &[u8] {
        self.bytes(0..self.len)
    }

    /// A piece of it. All that is put is text, cut where a character ends.
    pub(super) fn get(&self, range: Range<usize>) -> &str {
        core::str::from_utf8(self.bytes(range)).unwrap_or_default()
    }

    /// Puts text, and leaves out what there is no room for.
    #[inline]
    pub(super) fn push(&mut self, text: &str) {
        if !self.append(text.as_bytes()) {
            self.push_start(text);
        }
    }

    /// Puts what there is room for.
    #[cold]
    fn push_start(&mut self, text: &str) {
        let room = N.saturating_sub(self.len);
        self.append(text.as_bytes().get(..floor(text, room)).unwrap_or_default());
    }

    /// Puts a piece of another one. It is looked at as text only where there is no room for all of it.
    #[inline]
    pub(super) fn push_piece<const M: usize>(&mut self, from: &Scratch<M>, range: Range<usize>) {
        if !self.append(from.bytes(range.clone())) {
            self.push_start(from.get(range));
        }
    }

    /// Puts text that is ASCII, which need not be looked at; `false` if it is not, or does not fit.
    #[inline]
    pub(super) fn push_ascii(&mut self, text: &[u8]) -> bool {
        text.is_ascii() && self.append(text)
    }

    /// Puts a number in decimal digits.
    #[inline]
    pub(super) fn push_number(&mut self, number: u64) {
        let mut digits = [b'0'; 20];
        let (mut left, mut start) = (number, digits.len());
        // Two at a time.
        for pair in digits.as_chunks_mut::<2>().0.iter_mut().rev() {
            *pair =
                usize::try_from(left % 100).ok().and_then(|at| PAIRS.get(at)).copied().unwrap_or_default();
            left /= 100;
            start = start.wrapping_sub(2);
            if left == 0 {
                break;
            }
        }
        let is_odd = digits.get(start) == Some(&b'0');
        self.append(digits.get(start.wrapping_add(is_odd.into())..).unwrap_or_default());
    }

    /// Appends bytes; `false` if there is no room for them.
    #[inline]
    fn append(&mut self, bytes: &[u8]) -> bool {
        let end = self.len.wrapping_add(bytes.len());
        let Some(room) = self.bytes.get_mut(self.len..end) else { return false };
        copy(room, bytes);
        self.len = end;
        true
    }
}

/// Copies bytes to as many others: few as two pieces of fixed length, which may overlap.
#[inline]
fn copy(to: &mut [u8], from: &[u8]) {
    macro_rules! halves {
        ($($size:literal)*) => {$(
            if from.len() <= 2 * $size
                && let (Some(first), Some(last)) = (from.first_chunk::<$size>(), from.last_chunk::<$size>())
            {
                if let Some(to) = to.first_chunk_mut() {
                    *to = *first;
                }
                if let Some(to) = to.last_chunk_mut() {
                    *to = *last;
                }
                return;
            }
        )*};
    }
    halves!(8 4 2 1 16);
    if to.len() == from.len() {
        to.copy_from_slice(from);
    }
}

/// The numbers from 00 to 99.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let (mut number, mut ten, mut one) = (0, b'0', b'0');
    while number < 100 {
        #[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)] // Evaluated by the compiler.
        {
            pairs[number] = [ten, one];
            (ten, one) = if one == b'9' { (ten + 1, b'0') } else { (ten, one + 1) };
            number += 1;
        }
    }
    pairs
};

/// The length of the longest start of a text that has at most so many bytes.
pub(super) fn floor(text: &str, limit: usize) -> usize {
    let mut len = text.len().min(limit);
    while !text.is_char_boundary(len) {
        len = len.saturating_sub(1);
    }
    len
}

impl<const N: usize> fmt::Write for Scratch<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text);
        Ok(())
    }
}

/// The parts before and after the first of a byte.
pub(super) fn split(text: &str, byte: u8) -> Option<(&str, &str)> {
    let at = text.bytes().position(|found| found == byte)?;
    Some((text.get(..at)?, text.get(at.checked_add(1)?..)?))
}

/// The hash of a text, after another hash.
pub(super) fn hash(mut state: u64, text: impl AsRef<[u8]>) -> u64 {
    let text = text.as_ref();
    let (words, rest) = text.as_chunks();
    for word in words {
        state = mix(state ^ u64::from_le_bytes(*word));
    }
    if !rest.is_empty() {
        let mut word = [0; 8];
        if let Some(to) = word.get_mut(..rest.len()) {
            copy(to, rest);
        }
        state = mix(state ^ u64::from_le_bytes(word));
    }
    mix(state ^ crate::bytes::to_u64(text.len()))
}

/// The hash of a name, after another hash: of its numbers and of the text between them. A template whose places are
/// numbers has it before any of it is written as text.
pub(super) fn name_hash(mut state: u64, name: &[u8]) -> u64 {
    let mut rest = name;
    while let Some(first) = rest.first() {
        let is_number = first.is_ascii_digit();
        let len = rest.iter().position(|byte| byte.is_ascii_digit() != is_number).unwrap_or(rest.len());
        let (run, after) = rest.split_at_checked(len).unwrap_or((rest, &[]));
        let number = number(run).filter(|_| is_number);
        state = joined(state, number.map_or_else(|| hash(0, run), number_hash));
        rest = after;
    }
    state
}

/// The hash of a name and of a part that comes after it.
pub(super) const fn joined(state: u64, part: u64) -> u64 {
    mix(state ^ part)
}

/// The hash of a number in a name.
pub(super) const fn number_hash(number: u64) -> u64 {
    mix(number ^ u64::MAX)
}

/// The number that is written with these digits, if it is written like that.
fn number(digits: &[u8]) -> Option<u64> {
    if digits.len() > 1 && digits.first() == Some(&b'0') {
        return None;
    }
    digits
        .iter()
        .try_fold(0_u64, |number, digit| number.checked_mul(10)?.checked_add(digit.wrapping_sub(b'0').into()))
}

/// Mixes all bits of a number.
pub(super) const fn mix(value: u64) -> u64 {
    let mut value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts and numbers that take turns, one by one and as a whole.
    #[test]
    fn the_hash_of_a_name_is_that_of_its_parts() {
        let texts = ["thread ", " ", "CPU ", " syscalls", "a-", "\u{3b1}\u{3b2} of several words: "];
        let numbers = [0, 7, 10, 4_294_967_295, u64::MAX / 10, u64::MAX];
        let mut random = 0x5eed_0036_u64;
        for start in [0, 7] {
            for len in 0..200 {
                let (mut name, mut by_parts) = (std::string::String::new(), start);
                for turn in 0..len % 7 {
                    random = mix(random);
                    let pick = usize::try_from(random % 6).unwrap();
                    if (turn + len) % 2 == 0 {
                        name += texts[pick];
                        by_parts = joined(by_parts, hash(0, texts[pick]));
                    } else {
                        name += &std::format!("{}", numbers[pick]);
                        by_parts = joined(by_parts, number_hash(numbers[pick]));
                    }
                }
                assert_eq!(name_hash(start, name.as_bytes()), by_parts, "{name}");
            }
        }
    }

    /// Text that no number is written like is another one than the number.
    #[test]
    fn other_digits_are_text() {
        let names = ["7", "07", "007", "", "0", "00", "18446744073709551616", "18446744073709551615", "7 "];
        let mut hashes = names.map(|name| name_hash(0, name.as_bytes()));
        assert_eq!(hashes[5], joined(0, hash(0, "00")));
        assert_eq!(hashes[6], joined(0, hash(0, names[6])));
        assert_eq!(hashes[7], joined(0, number_hash(u64::MAX)));
        hashes.sort_unstable();
        assert!(hashes.windows(2).all(|two| two[0] != two[1]));
    }
}
