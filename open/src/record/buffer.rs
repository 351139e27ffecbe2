//! Lines on their way out.
//!
//! Most of what is put is short. A copy of fixed length is two moves, so the buffer is filled up beforehand and short
//! texts are copied with what follows them.

use itoa::Buffer as Digits;
use std::fmt::Write as _;
use traceglass::record::{Decimal, Hint};

/// Text that grows at its end, and can be taken back to a mark.
pub struct Buffer {
    /// All of it is there already: `at` says how much is text.
    bytes: Vec<u8>,
    at: usize,
}

/// The room that there is at least.
const ROOM: usize = 1 << 17;

/// The numbers from 00 to 99.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        #[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)] // Evaluated by the compiler.
        {
            pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
            number += 1;
        }
    }
    pairs
};

/// The digits of each byte.
const HEX: [[u8; 2]; 256] = {
    let mut all = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        #[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)] // Evaluated by the compiler.
        {
            all[byte] = [b"0123456789abcdef"[byte >> 4], b"0123456789abcdef"[byte & 15]];
            byte += 1;
        }
    }
    all
};

impl Default for Buffer {
    fn default() -> Self {
        Self { bytes: vec![0; ROOM], at: 0 }
    }
}

impl Buffer {
    /// The text.
    pub fn text(&self) -> &[u8] {
        self.bytes.get(..self.at).unwrap_or_default()
    }

    /// Forgets the text. The room of a long one is given back.
    pub fn clear(&mut self) {
        self.at = 0;
        if self.bytes.len() > ROOM.saturating_mul(4) {
            self.bytes = vec![0; ROOM];
        }
    }

    /// The length of the text: a mark to come back to.
    #[inline(always)]
    pub fn mark(&self) -> usize {
        self.at
    }

    /// Takes back what was put after a mark.
    pub fn truncate(&mut self, mark: usize) {
        self.at = self.at.min(mark);
    }

    /// Overwrites what was put at a mark.
    #[inline(always)]
    pub fn patch<const N: usize>(&mut self, mark: usize, bytes: &[u8; N]) {
        let end = mark.saturating_add(N);
        if let Some(to) = self.bytes.get_mut(mark..end).filter(|_| end <= self.at) {
            to.copy_from_slice(bytes);
        }
    }

    /// The last byte, if there is one.
    #[inline(always)]
    pub fn last(&self) -> Option<u8> {
        self.bytes.get(self.at.checked_sub(1)?).copied()
    }

    /// Takes back the last byte.
    #[inline(always)]
    pub fn pop(&mut self) {
        self.at = self.at.saturating_sub(1);
    }

    #[inline(always)]
    pub fn byte(&mut self, byte: u8) {
        match self.bytes.get_mut(self.at) {
            Some(to) => {
                *to = byte;
                self.at = self.at.wrapping_add(1);
            }
            None => self.put_slow(&[byte]),
        }
    }

    /// The first `len` of some bytes.
    #[inline(always)]
    pub fn first<const N: usize>(&mut self, bytes: &[u8; N], len: usize) {
        let len = len.min(N);
        match self.bytes.get_mut(self.at..).and_then(|room| room.first_chunk_mut()) {
            Some(to) => {
                *to = *bytes;
                self.at = self.at.wrapping_add(len);
            }
            None => self.put_slow(bytes.get(..len).unwrap_or_default()),
        }
    }

    /// Any bytes: up to 32 as two pieces of fixed length, which may overlap.
    #[inline(always)]
    pub fn put(&mut self, bytes: &[u8]) {
        macro_rules! halves {
            ($($size:literal)*) => {$(
                if let (Some(first), Some(last)) = (bytes.first_chunk::<$size>(), bytes.last_chunk::<$size>())
                    && bytes.len() <= 2 * $size
                    && let Some(room) = self.bytes.get_mut(self.at..self.at.wrapping_add(bytes.len()))
                {
                    if let Some(to) = room.first_chunk_mut() {
                        *to = *first;
                    }
                    if let Some(to) = room.last_chunk_mut() {
                        *to = *last;
                    }
                    self.at = self.at.wrapping_add(bytes.len());
                    return;
                }
            )*};
        }
        match bytes {
            [] => {}
            [byte] => self.byte(*byte),
            _ => {
                halves!(2 4 8 16);
                self.put_slow(bytes);
            }
        }
    }

    #[inline(never)]
    fn put_slow(&mut self, bytes: &[u8]) {
        let end = self.at.saturating_add(bytes.len());
        if self.bytes.len() < end {
            self.bytes.resize(end.saturating_mul(2), 0);
        }
        if let Some(room) = self.bytes.get_mut(self.at..end) {
            room.copy_from_slice(bytes);
            self.at = end;
        }
    }

    /// Replaces a separator at the end; without one, `end` comes after what there is.
    #[inline(always)]
    pub fn close(&mut self, separator: u8, end: u8) {
        if self.last() == Some(separator) {
            self.pop();
        }
        self.byte(end);
    }

    /// An integer: most have few digits.
    #[inline(always)]
    pub fn unsigned(&mut self, value: u64) {
        let pair = |value: u64| usize::try_from(value).ok().and_then(|at| PAIRS.get(at)).copied();
        if let Some([ten, one]) = pair(value) {
            return match value < 10 {
                true => self.byte(one),
                false => self.first(&[ten, one], 2),
            };
        }
        if let (true, Some([a, b]), Some([c, d])) = (value < 10_000, pair(value / 100), pair(value % 100)) {
            return match value < 1000 {
                true => self.first(&[b, c, d], 3),
                false => self.first(&[a, b, c, d], 4),
            };
        }
        self.put(Digits::new().format(value).as_bytes());
    }

    #[inline(always)]
    pub fn signed(&mut self, value: i64) {
        if value < 0 {
            self.byte(b'-');
        }
        self.unsigned(value.unsigned_abs());
    }

    /// The nine digits of a fraction of a second.
    #[inline(always)]
    pub fn nine(&mut self, value: u32) {
        self.first_of_nine(value, 9);
    }

    /// The first of them.
    #[inline(always)]
    fn first_of_nine(&mut self, value: u32, len: usize) {
        let pair = |value: u32| {
            usize::try_from(value % 100).ok().and_then(|at| PAIRS.get(at)).copied().unwrap_or_default()
        };
        let (head, tail) = (value / 100_000_000, value % 100_000_000);
        let [[_, a], [b, c], [d, e], [f, g], [h, i]] =
            [pair(head), pair(tail / 1_000_000), pair(tail / 10_000), pair(tail / 100), pair(tail)];
        self.first(&[a, b, c, d, e, f, g, h, i, 0, 0, 0, 0, 0, 0, 0], len);
    }

    /// A decimal number, with all its places.
    #[inline(always)]
    pub fn decimal(&mut self, value: Decimal) {
        const NINE: u32 = 1_000_000_000;
        let Ok(size) = u64::try_from(value.digits.unsigned_abs()) else {
            // A buffer takes all that is written to it.
            let _ = write!(self, "{value}");
            return;
        };
        if value.digits < 0 {
            self.byte(b'-');
        }
        let unit = value.unit();
        let (whole, rest) = (size.checked_div(unit).unwrap_or(0), size.checked_rem(unit).unwrap_or(0));
        self.unsigned(whole);
        if value.places == 0 {
            return;
        }
        self.byte(b'.');
        let scale = |places: u32| Decimal { digits: 0, places }.unit();
        let len = usize::try_from(value.places).unwrap_or(0);
        let nine = |value: u64| u32::try_from(value).unwrap_or(0) % NINE;
        match value.places.checked_sub(9) {
            None | Some(0) => {
                let up = scale(9_u32.saturating_sub(value.places));
                self.first_of_nine(nine(rest.wrapping_mul(up)), len);
            }
            Some(more) => {
                let unit = scale(more);
                self.nine(nine(rest.checked_div(unit).unwrap_or(0)));
                let last = rest.checked_rem(unit).unwrap_or(0);
                let up = scale(9_u32.saturating_sub(more));
                self.first_of_nine(nine(last.wrapping_mul(up)), len.saturating_sub(9));
            }
        }
    }

    /// As `0x1f40`.
    pub fn address(&mut self, value: u64) {
        self.put(b"0x");
        let digits = value.to_be_bytes().map(crate::text::digits);
        let digits = digits.as_flattened();
        let skip = usize::try_from(value.leading_zeros() / 4).unwrap_or(0).min(15);
        self.put(digits.get(skip..).unwrap_or_default());
    }

    /// A number as people read it: a JSON string, if it is not decimal.
    #[cold]
    pub fn in_base_of(&mut self, hint: Hint, value: u64) {
        // A buffer takes all that is written to it.
        let _ = match hint {
            Hint::Hexadecimal => write!(self, "\"{value:#x}\""),
            Hint::Octal => write!(self, "\"{value:#o}\""),
            Hint::Binary => write!(self, "\"{value:#b}\""),
            _ => write!(self, "{value}"),
        };
    }

    /// Bytes as hex.
    pub fn hex(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(16) {
            let mut text = [[0; 2]; 16];
            for (to, &byte) in text.iter_mut().zip(piece) {
                *to = HEX.get(usize::from(byte)).copied().unwrap_or_default();
            }
            self.first(
                text.as_flattened().first_chunk::<32>().unwrap_or(&[0; 32]),
                piece.len().saturating_mul(2),
            );
        }
    }
}

/// The slow way of everything: what is not worth one of its own.
impl std::fmt::Write for Buffer {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.put(text.as_bytes());
        Ok(())
    }
}

/// For `serde_json`.
impl std::io::Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.put(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn numbers_have_their_digits() {
        let mut buffer = Buffer::default();
        let mut expected = String::new();
        let powers = (0..64).flat_map(|bit| [(1_u64 << bit).wrapping_sub(1), 1 << bit]);
        for value in (0..20_000).chain(powers).chain([u64::MAX]) {
            buffer.clear();
            expected.clear();
            buffer.unsigned(value);
            buffer.byte(b' ');
            buffer.signed(value.cast_signed());
            buffer.byte(b' ');
            buffer.address(value);
            buffer.byte(b' ');
            buffer.nine((value % 1_000_000_000) as u32);
            let signed = value.cast_signed();
            expected += &format!("{value} {signed} {value:#x} {:09}", value % 1_000_000_000);
            assert_eq!(std::str::from_utf8(buffer.text()).unwrap(), expected);
        }
    }

    /// Digits of all sizes with every number of places, as the slow way writes them.
    #[test]
    fn decimals_have_all_their_places() {
        let mut buffer = Buffer::default();
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for n in 0..20_000_u32 {
            let digits =
                i128::from((random.next() >> (n % 64)).cast_signed()) * if n % 97 == 0 { 1 << 60 } else { 1 };
            for digits in [digits, -digits] {
                let value = Decimal { digits, places: n % (Decimal::PLACES + 1) };
                buffer.clear();
                buffer.decimal(value);
                assert_eq!(std::str::from_utf8(buffer.text()).unwrap(), value.to_string());
            }
        }
    }

    /// Texts of every length at every place near the end of the room.
    #[test]
    fn text_of_any_length_fits() {
        let text: Vec<u8> = (0..=255).cycle().take(400).collect();
        for len in 0..100 {
            for room in 0..100 {
                let mut buffer = Buffer { bytes: vec![0xee; room], at: 0 };
                buffer.put(&text[..len / 2]);
                buffer.put(&text[len / 2..len]);
                buffer.first::<8>(text[len..].first_chunk().unwrap(), 5);
                assert_eq!(buffer.text(), &text[..len + 5]);
                buffer.hex(&text[..len]);
                assert_eq!(buffer.mark(), len * 3 + 5);
                buffer.truncate(len);
                buffer.close(0, b'}');
                assert_eq!(buffer.last(), Some(b'}'));
            }
        }
    }
}
