//! The fields of structures, as they lie in the input.

use core::fmt::{self, Write as _};

/// One field of a structure: its name, where it lies, and what it holds.
///
/// Each structure with a fixed layout lists its fields in one place, next to its view: `hex` of the command, `Debug` and
/// the tables of the documentation come from that.
///
/// ```
/// # #[cfg(feature = "rdf")] {
/// use traceglass::rdf::Header;
///
/// let file = b"AMD_RDF \x03\0\0\0\0\0\0\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
/// let field = Header::parse(file).unwrap().fields().nth(3).unwrap();
/// assert_eq!((field.name(), field.document_name()), ("index offset", "indexOffset"));
/// assert_eq!((field.offset(), field.size(), field.value().to_string()), (16, 8, "0x20".into()));
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayoutField<'a> {
    pub(crate) name: &'a str,
    pub(crate) document_name: &'static str,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) value: LayoutValue<'a>,
}

impl<'a> LayoutField<'a> {
    /// The name: in lower case with spaces, or as the input gives it.
    pub const fn name(&self) -> &'a str {
        self.name
    }

    /// The name as the format's document spells it; empty where it gives none.
    pub const fn document_name(&self) -> &'static str {
        self.document_name
    }

    /// Offset in the input of its first byte.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Size in bytes.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The value of the field.
    pub const fn value(&self) -> LayoutValue<'a> {
        self.value
    }
}

/// The value of a [`LayoutField`]. `Display` shows it as a person reads it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum LayoutValue<'a> {
    /// Text, possibly padded with NUL.
    Text(&'a [u8]),
    /// Text in UTF-8, if it is not damaged.
    Utf8(&'a [u8]),
    /// Bytes without a known meaning, such as reserved ones; shown in hexadecimal.
    Bytes(&'a [u8]),
    /// A number.
    Number(u64),
    /// A number that may be negative.
    Signed(i64),
    /// A number of up to 128 bits.
    Wide(u128),
    /// A number of up to 128 bits that may be negative.
    SignedWide(i128),
    /// A float.
    Float(f64),
    /// An offset in the input, possibly negative.
    Offset(i64),
    /// A number shown in hexadecimal, such as a checksum.
    Hex(u64),
    /// A size in bits.
    Bits(u32),
    /// A number with the name of what it stands for.
    Named(u64, &'static str),
    /// The name of what it stands for.
    Name(&'static str),
    /// A UUID.
    Uuid([u8; 16]),
    /// Bytes that are skipped.
    Skipped,
}

impl fmt::Display for LayoutValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |f: &mut fmt::Formatter<'_>, bytes: &[u8]| {
            bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
        };
        match *self {
            Self::Text(text) => {
                let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
                write!(f, "\"{}\"", text.get(..end).unwrap_or_default().escape_ascii())
            }
            Self::Utf8(text) => {
                f.write_str("\"")?;
                for chunk in text.utf8_chunks() {
                    chunk.valid().chars().try_for_each(|c| match c {
                        '"' | '\\' => write!(f, "\\{c}"),
                        c if c.is_control() => c.escape_default().fmt(f),
                        c => f.write_char(c),
                    })?;
                    chunk.invalid().escape_ascii().fmt(f)?;
                }
                f.write_str("\"")
            }
            Self::Bytes(bytes) => hex(f, bytes),
            Self::Number(value) => write!(f, "{value}"),
            Self::Signed(value) => write!(f, "{value}"),
            Self::Wide(value) => write!(f, "{value}"),
            Self::SignedWide(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Offset(value) if value < 0 => write!(f, "{value}"),
            Self::Offset(value) => write!(f, "{value:#x}"),
            Self::Hex(value) => write!(f, "{value:#x}"),
            Self::Bits(bits) => write!(f, "{bits} bits, {} bytes", bits / 8),
            Self::Named(value, name) => write!(f, "{value} {name}"),
            Self::Name(name) => f.write_str(name),
            Self::Uuid(bytes) => bytes.iter().zip(0_u8..).try_for_each(|(byte, n)| {
                if matches!(n, 4 | 6 | 8 | 10) {
                    f.write_str("-")?;
                }
                write!(f, "{byte:02x}")
            }),
            Self::Skipped => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn values_are_shown_as_people_read_them() {
        use LayoutValue::*;
        for (value, shown) in [
            (Text(b"ab\0c"), "\"ab\""),
            (Text(b"\xff"), "\"\\xff\""),
            (Utf8(b"\xc3\xa9 \\\"\x1b\xff"), "\"\u{e9} \\\\\\\"\\u{1b}\\xff\""),
            (Bytes(&[1, 0xab]), "01ab"),
            (Number(7), "7"),
            (Signed(-7), "-7"),
            (Wide(u128::MAX), "340282366920938463463374607431768211455"),
            (SignedWide(i128::MIN), "-170141183460469231731687303715884105728"),
            (Float(0.5), "0.5"),
            (Offset(32), "0x20"),
            (Offset(-1), "-1"),
            (Hex(255), "0xff"),
            (Bits(352), "352 bits, 44 bytes"),
            (Named(1, "zstd"), "1 zstd"),
            (Name("big-endian"), "big-endian"),
            (Uuid([0x10; 16]), "10101010-1010-1010-1010-101010101010"),
            (Skipped, ""),
        ] {
            assert_eq!(value.to_string(), shown);
        }
    }
}
