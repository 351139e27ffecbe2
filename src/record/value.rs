//! Values that are more than one word.

use core::fmt::Display;

/// Text as it was stored.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Text<'a> {
    /// Bytes that claim to be UTF-8.
    Utf8(&'a [u8]),
    /// Text in another form, such as UTF-16 or with escapes.
    Other {
        /// The text; what is not valid is replaced.
        text: &'a dyn Display,
        /// The bytes it was made from.
        stored: &'a [u8],
        /// True if all of `stored` is valid.
        is_valid: bool,
    },
}

impl<'a> Text<'a> {
    /// Text that is known to be UTF-8.
    pub const fn new(text: &'a str) -> Self {
        Self::Utf8(text.as_bytes())
    }
}

/// Shows the text; what is not UTF-8 is replaced by U+FFFD. Control characters are not escaped.
impl Display for Text<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Utf8(bytes) => bytes.utf8_chunks().try_for_each(|chunk| {
                f.write_str(chunk.valid())?;
                if chunk.invalid().is_empty() { Ok(()) } else { f.write_str("\u{fffd}") }
            }),
            Self::Other { text, .. } => text.fmt(f),
        }
    }
}

impl core::fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:?}", format_args!("{self}"))
    }
}

/// An integer of more than 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wide<'a> {
    /// The lower 128 bits; of a signed integer of fewer bits, extended by its sign.
    pub low: u128,
    /// All of it in words of 64 bits, the least significant first, if it has more than 128 bits; else empty. The last
    /// word of a signed integer is extended by its sign.
    pub words: &'a [u64],
    /// True if it has a sign.
    pub is_signed: bool,
}

impl Wide<'_> {
    /// The value, if it fits into 128 bits with a sign.
    pub const fn to_i128(self) -> Option<i128> {
        let value = self.low.cast_signed();
        match self.words.is_empty() && (self.is_signed || value >= 0) {
            true => Some(value),
            false => None,
        }
    }
}

/// Decimal digits; of more than 128 bits `0x…`, as stored.
impl Display for Wide<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match (self.words.split_last(), self.is_signed) {
            (None, true) => self.low.cast_signed().fmt(f),
            (None, false) => self.low.fmt(f),
            (Some((last, rest)), _) => {
                write!(f, "0x{last:x}")?;
                rest.iter().rev().try_for_each(|word| write!(f, "{word:016x}"))
            }
        }
    }
}
