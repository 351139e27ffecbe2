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

    /// A piece of it. All that is put is text, cut where a character ends.
    pub(super) fn get(&self, range: Range<usize>) -> &str {
        core::str::from_utf8(self.bytes(range)).unwrap_or_default()
    }

    /// Puts text, and leaves out what there is no room for.
    pub(super) fn push(&mut self, text: &str) {
        let room = self.room();
        let len = if text.len() <= room { text.len() } else { floor(text, room) };
        self.append(text.as_bytes().get(..len).unwrap_or_default());
    }

    /// Puts a piece of another one. It is looked at as text only where there is no room for all of it.
    pub(super) fn push_piece<const M: usize>(&mut self, from: &Scratch<M>, range: Range<usize>) {
        let bytes = from.bytes(range.clone());
        if bytes.len() <= self.room() { self.append(bytes) } else { self.push(from.get(range)) }
    }

    const fn room(&self) -> usize {
        N.saturating_sub(self.len)
    }

    /// Puts a number in decimal digits.
    pub(super) fn push_number(&mut self, mut number: u64) {
        let mut digits = [b'0'; 20];
        let mut used = 0_usize;
        for digit in digits.iter_mut().rev() {
            let [low, ..] = (number % 10).to_le_bytes();
            *digit = b'0'.wrapping_add(low);
            used = used.saturating_add(1);
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.append(digits.get(digits.len().saturating_sub(used)..).unwrap_or_default());
    }

    /// Appends bytes, as far as there is room.
    fn append(&mut self, bytes: &[u8]) {
        let room = self.bytes.get_mut(self.len..).unwrap_or_default();
        let len = bytes.len().min(room.len());
        if let (Some(to), Some(from)) = (room.get_mut(..len), bytes.get(..len)) {
            to.copy_from_slice(from);
            self.len = self.len.saturating_add(len);
        }
    }
}

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
        word.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        state = mix(state ^ u64::from_le_bytes(word));
    }
    mix(state ^ crate::bytes::to_u64(text.len()))
}

/// Mixes all bits of a number.
pub(super) const fn mix(value: u64) -> u64 {
    let mut value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
