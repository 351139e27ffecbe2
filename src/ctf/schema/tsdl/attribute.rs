//! The meaning of the values of attributes.

use super::element;
use super::keyword::says;
use super::parser::{Path, Value};
use crate::error::{Error, ErrorKind, Result};

/// The attributes of a block that have been seen, each of which may occur once.
#[derive(Clone, Copy, Default)]
pub(super) struct Seen(u32);

impl Seen {
    /// The attribute that a name at `offset` says, if it is one of those that are `known`; else nothing.
    pub(super) fn once(
        &mut self,
        name: &Path<'_>,
        offset: u64,
        known: &[&'static str],
    ) -> Result<&'static str> {
        let number = self.number(name, offset, known)?;
        Ok(number.and_then(|number| known.get(number)).copied().unwrap_or_default())
    }

    /// The same as its number among these.
    pub(super) fn number(&mut self, name: &Path<'_>, offset: u64, known: &[&str]) -> Result<Option<usize>> {
        let Some(number) = known.iter().position(|known| name.is(known)) else { return Ok(None) };
        let mask = u32::try_from(number).ok().and_then(|bit| 1_u32.checked_shl(bit)).unwrap_or(0);
        if self.0 & mask != 0 {
            return Err(Error::new(offset, element::ATTRIBUTE, ErrorKind::Repeated));
        }
        self.0 |= mask;
        Ok(Some(number))
    }

    /// True if the attributes before this number of those that are known have been seen.
    pub(super) fn has_first(self, count: u32) -> bool {
        self.0.trailing_ones() >= count
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

    /// The value of the words, with spaces between them, among which is the one that it says.
    pub(super) fn one_of<T: Copy>(&self, words: &[(&[u8], T)]) -> Option<T> {
        let is = |words: &[u8]| words.split(|byte| *byte == b' ').any(|word| self.says(word));
        words.iter().find(|(words, _)| is(words)).map(|(_, value)| *value)
    }

    pub(super) fn unsigned(&self, offset: u64) -> Result<u64> {
        match self {
            Self::Integer(value) => u64::try_from(*value).ok(),
            _ => None,
        }
        .ok_or_else(|| self.unexpected(offset, "an unsigned integer"))
    }

    /// Checks that it is a string.
    pub(super) fn string(&self, offset: u64) -> Result<()> {
        if matches!(self, Self::String { .. }) { Ok(()) } else { Err(self.unexpected(offset, "a string")) }
    }

    pub(super) fn boolean(&self, offset: u64) -> Result<bool> {
        if let Self::Integer(value) = self {
            return Ok(*value != 0);
        }
        match self {
            Self::Path(_) => self.one_of(&[(b"true TRUE", true), (b"false FALSE", false)]),
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
