use super::bits::{BitString, find_nul};
use crate::ctf::schema::{Encoding, FieldClass, Name};
use core::fmt;

/// A field, or the beginning or the end of one that has others in it.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a, 's> {
    pub(super) class: FieldClass<'a, 's>,
    pub(super) value: Value<'a>,
    /// In bits, from the start of the packet.
    pub(super) start: u64,
}

impl<'a, 's> Field<'a, 's> {
    /// The class.
    #[inline]
    pub fn class(&self) -> FieldClass<'a, 's> {
        self.class
    }

    /// The value.
    #[inline]
    pub fn value(&self) -> Value<'a> {
        self.value
    }

    /// The name, as a member of a structure.
    pub fn name(&self) -> Option<Name<'a>> {
        self.class.name()
    }

    /// The first bit after its alignment.
    ///
    /// # Units
    /// Bits, from the start of the packet.
    pub fn start(&self) -> u64 {
        self.start
    }
}

/// The value of a field.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Value<'a> {
    /// An unsigned integer of at most 64 bits.
    Unsigned(u64),
    /// A signed integer of at most 64 bits.
    Signed(i64),
    /// An integer of more than 64 bits.
    Wide(BitString<'a>),
    /// A boolean.
    Boolean(bool),
    /// A bit array or a bit map.
    Bits(BitString<'a>),
    /// A floating-point number.
    Float(Float<'a>),
    /// Text.
    Text(Text<'a>),
    /// Bytes.
    Blob(&'a [u8]),
    /// A structure begins: its members follow, then [`Value::End`].
    Structure,
    /// An array of this many elements begins: they follow, then [`Value::End`].
    Array(u64),
    /// An optional: if present, its content follows, then [`Value::End`]. If absent, neither does.
    Optional(bool),
    /// A variant: the option of this index follows, then [`Value::End`].
    Variant(u32),
    /// The end of what began last.
    End,
}

/// A floating-point number of any width.
#[derive(Clone, Copy, Debug)]
pub struct Float<'a>(pub(super) BitString<'a>);

impl<'a> Float<'a> {
    /// The bits.
    pub const fn bits(&self) -> BitString<'a> {
        self.0
    }

    /// The value, if it has no more than 64 bits: exact.
    pub fn to_f64(&self) -> Option<f64> {
        let bits = self.0.to_u64()?;
        match self.0.len() {
            64 => Some(f64::from_bits(bits)),
            32 => Some(f32::from_bits(u32::try_from(bits).unwrap_or(0)).into()),
            16 => Some(half(bits)),
            _ => None,
        }
    }
}

/// The value of a binary16.
fn half(bits: u64) -> f64 {
    let fraction = bits & 0x3ff;
    let exponent = bits >> 10 & 0x1f;
    let sign = bits >> 15 << 63;
    let magnitude = match exponent {
        // 2⁻²⁴ for each unit of the fraction.
        0 => f64::from(u32::try_from(fraction).unwrap_or(0)) * f64::from_bits(0x3e70_0000_0000_0000),
        0x1f => f64::from_bits(0x7ff << 52 | fraction << 42),
        _ => f64::from_bits(exponent.saturating_add(1023 - 15) << 52 | fraction << 42),
    };
    f64::from_bits(magnitude.to_bits() | sign)
}

/// A string, as it is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Text<'a> {
    bytes: &'a [u8],
    encoding: Encoding,
}

impl<'a> Text<'a> {
    /// The text in `stored`, up to the first code unit that is zero.
    #[inline]
    pub(super) fn new(stored: &'a [u8], encoding: Encoding) -> Self {
        let len = find_nul(stored, encoding.unit()).unwrap_or(stored.len());
        Self { bytes: stored.get(..len).unwrap_or(stored), encoding }
    }

    /// A text without its terminator.
    #[inline]
    pub(super) const fn until(bytes: &'a [u8], encoding: Encoding) -> Self {
        Self { bytes, encoding }
    }

    /// The bytes, without a terminator.
    #[inline]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The encoding of the text.
    pub const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The text, if it is UTF-8.
    pub fn as_str(&self) -> Option<&'a str> {
        match self.encoding {
            Encoding::Utf8 => core::str::from_utf8(self.bytes).ok(),
            _ => None,
        }
    }

    /// True if all of it is valid in its encoding.
    pub fn is_valid(&self) -> bool {
        match self.encoding {
            Encoding::Utf8 => self.as_str().is_some(),
            _ => self.chars().all(|c| c.is_ok()),
        }
    }

    /// The characters; `Err` with the bytes for each that is not valid.
    pub const fn chars(&self) -> TextChars<'a> {
        TextChars { rest: self.bytes, encoding: self.encoding }
    }
}

impl fmt::Debug for Text<'_> {
    /// The length; never the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of {}", self.bytes.len(), self.encoding.name())
    }
}

impl fmt::Display for Text<'_> {
    /// The text; U+FFFD for what is not valid.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_str() {
            Some(text) => f.pad(text),
            None => self
                .chars()
                .try_for_each(|c| fmt::Write::write_char(f, c.unwrap_or(char::REPLACEMENT_CHARACTER))),
        }
    }
}

/// The characters of a [`Text`].
#[derive(Clone, Debug)]
pub struct TextChars<'a> {
    rest: &'a [u8],
    encoding: Encoding,
}

impl<'a> TextChars<'a> {
    fn take(&mut self, n: usize) -> &'a [u8] {
        let (front, rest) = self.rest.split_at_checked(n).unwrap_or((self.rest, &[]));
        self.rest = rest;
        front
    }

    fn utf8(&mut self) -> Result<char, &'a [u8]> {
        let window = self.rest.get(..4).unwrap_or(self.rest);
        let (valid, bad) = match core::str::from_utf8(window) {
            Ok(text) => (text, 0),
            Err(error) => {
                let valid = window.get(..error.valid_up_to()).unwrap_or_default();
                let bad = error.error_len().unwrap_or(window.len());
                (core::str::from_utf8(valid).unwrap_or_default(), bad)
            }
        };
        match valid.chars().next() {
            Some(c) => {
                self.take(c.len_utf8());
                Ok(c)
            }
            None => Err(self.take(bad.max(1))),
        }
    }

    fn utf16(&mut self, big: bool) -> Result<char, &'a [u8]> {
        let unit = |bytes: &[u8]| {
            let bytes = *bytes.first_chunk::<2>()?;
            Some(u32::from(if big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }))
        };
        let Some(first) = unit(self.rest) else { return Err(self.take(2)) };
        if let Some(c) = char::from_u32(first) {
            self.take(2);
            return Ok(c);
        }
        let low = self.rest.get(2..).and_then(unit).filter(|low| (0xdc00..0xe000).contains(low));
        match low.filter(|_| first < 0xdc00) {
            Some(low) => {
                let code = ((first & 0x3ff) << 10 | low & 0x3ff).wrapping_add(0x1_0000);
                let pair = self.take(4);
                char::from_u32(code).ok_or(pair)
            }
            None => Err(self.take(2)),
        }
    }

    fn utf32(&mut self, big: bool) -> Result<char, &'a [u8]> {
        let bytes = self.take(4);
        let Some(unit) = bytes.first_chunk::<4>() else { return Err(bytes) };
        let code = if big { u32::from_be_bytes(*unit) } else { u32::from_le_bytes(*unit) };
        char::from_u32(code).ok_or(bytes)
    }
}

impl<'a> Iterator for TextChars<'a> {
    type Item = Result<char, &'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        Some(match self.encoding {
            Encoding::Utf8 => self.utf8(),
            Encoding::Utf16Be => self.utf16(true),
            Encoding::Utf16Le => self.utf16(false),
            Encoding::Utf32Be => self.utf32(true),
            Encoding::Utf32Le => self.utf32(false),
        })
    }
}

impl core::iter::FusedIterator for TextChars<'_> {}
