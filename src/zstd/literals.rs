//! The literals section of a block: bytes that are copied, not matched.

use super::element::LITERALS;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};

/// The encoding of literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// As they are.
    Raw,
    /// As one byte that is repeated.
    Rle,
    /// Huffman-coded, after a description of the tree.
    Compressed,
    /// Huffman-coded with the tree used last.
    Treeless,
}

/// The head of a literals section.
#[derive(Clone, Copy)]
pub(super) struct Header {
    pub(super) mode: Mode,
    /// The number of literals.
    pub(super) count: usize,
    /// The start of the content.
    pub(super) start: usize,
    /// The end of the content.
    pub(super) end: usize,
    /// True if there are four Huffman streams, not one.
    pub(super) four_streams: bool,
}

impl Header {
    /// Reads the header at `at` in a block that ends at `end`.
    #[allow(clippy::as_conversions, clippy::arithmetic_side_effects)] // Fields of at most 18 bits.
    pub(super) fn read(source: &[u8], at: usize, end: usize) -> Result<Self> {
        let block = source.get(at..end).unwrap_or_default();
        let cut = |size: usize| {
            let needed = to_u64(size.saturating_sub(block.len()));
            Error::new(to_u64(at), LITERALS, ErrorKind::UnexpectedEnd { needed })
        };
        let Some(&first) = block.first() else { return Err(cut(1)) };
        let mut word = 0_u64;
        for (&byte, shift) in block.iter().zip([0, 8, 16, 24, 32]) {
            word |= u64::from(byte) << shift;
        }
        let mode = match first & 3 {
            0 => Mode::Raw,
            1 => Mode::Rle,
            2 => Mode::Compressed,
            _ => Mode::Treeless,
        };
        let format = first >> 2 & 3;
        let (size, count, content) = match mode {
            Mode::Raw | Mode::Rle => {
                let (size, count) = match format {
                    1 => (2, word >> 4 & 0xfff),
                    3 => (3, word >> 4 & 0xf_ffff),
                    _ => (1, u64::from(first >> 3)),
                };
                (size, count, if mode == Mode::Raw { count } else { 1 })
            }
            Mode::Compressed | Mode::Treeless => match format {
                2 => (4, word >> 4 & 0x3fff, word >> 18 & 0x3fff),
                3 => (5, word >> 4 & 0x3_ffff, word >> 22 & 0x3_ffff),
                _ => (3, word >> 4 & 0x3ff, word >> 14 & 0x3ff),
            },
        };
        let (count, content) = (count as usize, content as usize);
        if size + content > block.len() {
            return Err(cut(if size > block.len() { size } else { size + content }));
        }
        let four_streams = matches!(mode, Mode::Compressed | Mode::Treeless) && format != 0;
        // With fewer, nothing is left for the last stream.
        if four_streams && count < 6 {
            let kind = ErrorKind::Invalid { value: to_u64(count) };
            return Err(Error::new(to_u64(at), LITERALS, kind));
        }
        Ok(Self { mode, count, start: at + size, end: at + size + content, four_streams })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(block: &[u8]) -> Result<(Mode, usize, usize, usize, bool)> {
        let header = Header::read(block, 0, block.len())?;
        Ok((header.mode, header.count, header.start, header.end, header.four_streams))
    }

    /// Kind (2 bits), format (2 bits), then the sizes.
    #[test]
    #[allow(clippy::unusual_byte_groupings)] // Fields, not digits.
    fn every_format() {
        let mut block = [0xff; 0x800];
        let mut put = |head: &[u8]| {
            block[..head.len()].copy_from_slice(head);
            read(&block).map(|(mode, count, start, end, four)| (mode as u8, count, start, end, four)).unwrap()
        };
        assert_eq!(put(&[0b11110_0_00]), (0, 30, 1, 31, false)); // raw, 5 bits
        assert_eq!(put(&[0b11111_1_00 & !4]), (0, 31, 1, 32, false));
        assert_eq!(put(&[0b0001_01_00, 0x10]), (0, 0x101, 2, 0x103, false)); // raw, 12 bits
        assert_eq!(put(&[0b0001_11_00, 0x10, 0x00]), (0, 0x101, 3, 0x104, false)); // raw, 20 bits
        assert_eq!(put(&[0b11110_0_01]), (1, 30, 1, 2, false)); // repeated
        assert_eq!(put(&[0b0001_11_01, 0x10, 0x10]), (1, 0x1_0101, 3, 4, false));
        assert_eq!(put(&[0b0111_00_10, 0x80, 0x01]), (2, 7, 3, 9, false)); // 10 bits each, 1 stream
        assert_eq!(put(&[0b0111_01_10, 0x80, 0x01]), (2, 7, 3, 9, true)); // 10 bits each, 4 streams
        assert_eq!(put(&[0b0111_10_11, 0x00, 0x18, 0x00]), (3, 7, 4, 10, true)); // 14 bits each
        assert_eq!(put(&[0b0111_11_11, 0x00, 0x80, 0x01, 0x00]), (3, 7, 5, 11, true)); // 18 bits each
    }

    #[test]
    #[allow(clippy::unusual_byte_groupings)]
    fn cuts_and_too_few_literals() {
        let fault = |block: &[u8]| read(block).unwrap_err().kind();
        assert_eq!(fault(&[]), ErrorKind::UnexpectedEnd { needed: 1 });
        assert_eq!(fault(&[0b0001_01_00]), ErrorKind::UnexpectedEnd { needed: 1 });
        assert_eq!(fault(&[0b00011_0_00, 1]), ErrorKind::UnexpectedEnd { needed: 2 });
        assert_eq!(fault(&[0b00011_0_01]), ErrorKind::UnexpectedEnd { needed: 1 });
        assert_eq!(fault(&[0b0101_01_10, 0x40, 0, 0]), ErrorKind::Invalid { value: 5 });
    }
}
