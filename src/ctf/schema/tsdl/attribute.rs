//! The meaning of the values of attributes.

use super::element;
use super::keyword::says;
use super::parser::Value;
use crate::error::{Error, ErrorKind, Result};

/// The attributes of a block that have been seen, each of which may occur once.
#[derive(Clone, Copy, Default)]
pub(super) struct Seen(u32);

impl Seen {
    /// Takes note of attribute number `bit`, which stands at `offset`.
    pub(super) fn once(&mut self, bit: u32, offset: u64) -> Result<()> {
        let mask = 1_u32.checked_shl(bit).unwrap_or(0);
        if self.0 & mask != 0 {
            return Err(Error::new(offset, element::ATTRIBUTE, ErrorKind::Repeated));
        }
        self.0 |= mask;
        Ok(())
    }

    pub(super) fn has(self, bit: u32) -> bool {
        self.0 & 1_u32.checked_shl(bit).unwrap_or(0) != 0
    }
}

impl Value<'_> {
    /// The error that it is not what an attribute at `offset` needs.
    #[cold]
    pub(super) fn unexpected(&self, offset: u64, expected: &'static str) -> Error {
        let kind = match self {
            Self::Integer(value) => match u64::try_from(*value) {
                Ok(value) => ErrorKind::Invalid { value },
                Err(_) => ErrorKind::Negative { value: i64::try_from(*value).unwrap_or(i64::MIN) },
            },
            Self::String { .. } => ErrorKind::Unexpected { byte: b'"', expected },
            Self::Path(path) => {
                let byte = crate::json::Source::front(&path.text).first().copied().unwrap_or(0);
                ErrorKind::Unexpected { byte, expected }
            }
        };
        Error::new(offset, element::ATTRIBUTE, kind)
    }

    /// True if it is a word, or a string, that says `word`.
    pub(super) fn says(&self, word: &[u8]) -> bool {
        match self {
            Self::String { text, .. } => says(*text, word),
            Self::Path(path) => path.words == 1 && says(path.text, word),
            Self::Integer(_) => false,
        }
    }

    /// The word among `words` that it says, by its value.
    pub(super) fn one_of<T: Copy>(&self, words: &[(&[u8], T)]) -> Option<T> {
        words.iter().find(|(word, _)| self.says(word)).map(|(_, value)| *value)
    }

    pub(super) fn unsigned(&self, offset: u64) -> Result<u64> {
        match self {
            Self::Integer(value) => u64::try_from(*value).ok(),
            _ => None,
        }
        .ok_or_else(|| self.unexpected(offset, "an unsigned integer"))
    }

    pub(super) fn boolean(&self, offset: u64) -> Result<bool> {
        if let Self::Integer(value) = self {
            return Ok(*value != 0);
        }
        let words: [(&[u8], bool); 4] =
            [(b"true", true), (b"TRUE", true), (b"false", false), (b"FALSE", false)];
        match self {
            Self::Path(_) => self.one_of(&words),
            _ => None,
        }
        .ok_or_else(|| self.unexpected(offset, "a boolean"))
    }

    /// The UUID that it is: 36 characters.
    pub(super) fn uuid(&self, offset: u64) -> Result<[u8; 16]> {
        match self {
            Self::String { text, escaped: false } if text.len() == 36 => read_uuid(*text),
            _ => None,
        }
        .ok_or_else(|| self.unexpected(offset, "a UUID of 36 characters"))
    }
}

fn read_uuid(mut text: crate::ctf::metadata::Text<'_>) -> Option<[u8; 16]> {
    let mut digit = || -> Option<u8> { crate::json::take_byte(&mut text) };
    let mut uuid = [0; 16];
    for (n, byte) in uuid.iter_mut().enumerate() {
        if matches!(n, 4 | 6 | 8 | 10) && digit()? != b'-' {
            return None;
        }
        let high = char::from(digit()?).to_digit(16)?;
        let low = char::from(digit()?).to_digit(16)?;
        *byte = u8::try_from(high << 4 | low).ok()?;
    }
    Some(uuid)
}

/// The binary logarithm of an alignment: a power of two.
pub(super) fn align_log2(value: u64, offset: u64) -> Result<u8> {
    if !value.is_power_of_two() || value > MAX_ALIGN {
        return Err(Error::new(offset, element::ALIGNMENT, ErrorKind::Invalid { value }));
    }
    Ok(u8::try_from(value.trailing_zeros()).unwrap_or(0))
}

/// The largest alignment in bits.
const MAX_ALIGN: u64 = 1 << 31;
