//! The escapes of strings in TSDL, which are those of C.

use crate::ctf::metadata::Text;
use crate::json::{Source, take_byte};

/// Each byte as a slice: what an escape stands for does not lie in the input.
static BYTES: [u8; 256] = {
    let mut bytes = [0; 256];
    let mut byte = 255_u8;
    while byte > 0 {
        #[allow(clippy::indexing_slicing, clippy::as_conversions)] // While compiling; a byte is below 256.
        {
            bytes[byte as usize] = byte;
        }
        byte = byte.wrapping_sub(1);
    }
    bytes
};

/// A text without its escapes: each one is the byte that it stands for.
#[derive(Clone, Copy)]
pub(super) struct Unescaped<'a>(pub(super) Text<'a>);

impl<'a> Unescaped<'a> {
    /// The byte that the escape at the front stands for, and what follows it; `None` if there is none.
    fn escape(&self) -> Option<(u8, Text<'a>)> {
        let mut text = self.0;
        if take_byte(&mut text)? != b'\\' {
            return None;
        }
        let byte = match take_byte(&mut text)? {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            b'x' => number(&mut text, 0, 2, 16),
            digit @ b'0'..=b'7' => number(&mut text, digit & 7, 2, 8),
            // A quote, a question mark, a backslash: the lexer lets nothing else pass.
            other => other,
        };
        Some((byte, text))
    }
}

/// At most `most` further digits after `value`; of a number above 255, the lower 8 bits.
fn number(text: &mut Text<'_>, value: u8, most: u32, base: u8) -> u8 {
    let mut value = value;
    for _ in 0..most {
        let digit = text.front().first().and_then(|byte| char::from(*byte).to_digit(base.into()));
        let Some(digit) = digit.and_then(|digit| u8::try_from(digit).ok()) else { break };
        text.advance(1);
        value = value.wrapping_mul(base).wrapping_add(digit);
    }
    value
}

impl<'a> Source<'a> for Unescaped<'a> {
    fn front(&self) -> &'a [u8] {
        if let Some((byte, _)) = self.escape() {
            return BYTES.get(usize::from(byte)..).and_then(|bytes| bytes.get(..1)).unwrap_or_default();
        }
        let front = self.0.front();
        let len = front.iter().position(|byte| *byte == b'\\').unwrap_or(front.len());
        // A backslash that begins no escape stands for itself.
        front.get(..len.max(1)).unwrap_or(front)
    }

    fn offset(&self) -> u64 {
        self.0.offset()
    }

    fn advance(&mut self, n: usize) {
        match self.escape() {
            Some((_, rest)) if n > 0 => self.0 = rest,
            _ => self.0.advance(n),
        }
    }

    fn limited(self, len: u64) -> Self {
        Self(self.0.limited(len))
    }

    fn together(self) -> Option<&'a [u8]> {
        None
    }
}
