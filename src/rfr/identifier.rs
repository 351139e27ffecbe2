//! The string at the start of every file.

use super::element::IDENTIFIER;
use super::layout::{Row, Table, Wire};
use super::read::Reader;
use crate::bytes::{split_once, to_u64};
use crate::error::{Error, ErrorKind, Result};

/// The kind of a file, and the version of its layout.
///
/// # Layout
/// | field | in the document | type |
/// |---|---|---|
/// | identifier | `Format Identifier` | string of at most 24 characters |
///
/// The variant (1 to 8 printable ASCII characters without `/`), a `/`, and three decimal numbers with dots between them.
///
/// ```
/// use traceglass::rfr::{FormatIdentifier, Variant};
///
/// let identifier = FormatIdentifier::parse(b"\x0brfr-c/0.0.2...")?;
/// assert_eq!(identifier.variant(), Variant::Chunk);
/// assert_eq!(identifier.version(), (0, 0, 2));
/// assert!(identifier.is_supported());
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FormatIdentifier<'a> {
    text: &'a str,
    variant: Variant<'a>,
    version: (u32, u32, u32),
}

/// The fields of a [`FormatIdentifier`].
pub(super) const FIELDS: Table = &[Row::new("identifier", "Format Identifier", IDENTIFIER, Wire::Text)];

/// The part of a [`FormatIdentifier`] in front of the `/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant<'a> {
    /// `rfr-c`: a chunk file.
    Chunk,
    /// `rfr-cm`: `meta.rfr` of a chunked recording.
    Meta,
    /// `rfr-cc`: `callsites.rfr` of a chunked recording.
    Callsites,
    /// `rfr-s`: a streaming file.
    Streaming,
    /// Another one.
    Other(&'a str),
}

impl Variant<'_> {
    /// The patch numbers of the versions 0.0.x that are read.
    ///
    /// Chunks are specified as 0.0.3 and streams as 0.0.4, but all writers label both 0.0.2.
    const fn patches(self) -> &'static [u32] {
        match self {
            Self::Chunk => &[2, 3],
            Self::Streaming => &[2, 4],
            Self::Meta | Self::Callsites => &[1],
            Self::Other(_) => &[],
        }
    }
}

impl<'a> FormatIdentifier<'a> {
    /// The most bytes that an identifier takes: a length in its longest form, and 24 characters.
    pub const SIZE_MAX: usize = 34;

    /// The longest text.
    const LEN_MAX: usize = 24;

    /// Reads the identifier at the start of a file.
    ///
    /// # Errors
    /// `UnexpectedEnd`; `IntegerTooWide` for its length; `OverLimit` if the text is too long; `NotUtf8`; `Malformed` if it
    /// does not have the form above.
    pub fn parse(data: &'a [u8]) -> Result<Self> {
        Self::read(&mut Reader::new(data))
    }

    /// An identifier, which is only supported if [`Self::is_supported`] says so.
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let start = *reader;
        let text = reader.string(IDENTIFIER).map_err(|error| Self::explain(start, error))?;
        Self::parse_text(text).map_err(|kind| start.error(IDENTIFIER, kind))
    }

    /// An impossible length is not a truncation: more input would not fix it.
    #[cold]
    fn explain(mut start: Reader<'a>, error: Error) -> Error {
        let at = start;
        match start.u64(IDENTIFIER) {
            Ok(len) if usize::try_from(len).map_or(true, |len| len > Self::LEN_MAX) => {
                at.error(IDENTIFIER, ErrorKind::OverLimit { value: len, limit: to_u64(Self::LEN_MAX) })
            }
            _ => error,
        }
    }

    /// As [`Self::read`], and refuses other variants than `expected` and versions that are not read.
    pub(super) fn expect(reader: &mut Reader<'a>, expected: Variant<'_>) -> Result<Self> {
        let start = *reader;
        let identifier = Self::read(reader)?;
        identifier.expected(expected).map_err(|kind| start.error(IDENTIFIER, kind))
    }

    /// The identifier that is `text`, if it is one of the variant `expected` in a version that is read.
    pub(super) fn supported(text: &'a str, expected: Variant<'_>) -> Result<Self, ErrorKind> {
        Self::parse_text(text)?.expected(expected)
    }

    fn expected(self, expected: Variant<'_>) -> Result<Self, ErrorKind> {
        if self.variant != expected {
            return Err(ErrorKind::bad_magic(self.text.as_bytes()));
        }
        if !self.is_supported() {
            let (major, minor, patch) = self.version;
            return Err(ErrorKind::UnsupportedRelease { major, minor, patch });
        }
        Ok(self)
    }

    fn parse_text(text: &'a str) -> Result<Self, ErrorKind> {
        if text.len() > Self::LEN_MAX {
            return Err(ErrorKind::OverLimit { value: to_u64(text.len()), limit: to_u64(Self::LEN_MAX) });
        }
        Self::from_text(text).ok_or(ErrorKind::Malformed)
    }

    /// Splits a text into its parts, if it has the form of an identifier.
    pub fn from_text(text: &'a str) -> Option<Self> {
        if text.len() > Self::LEN_MAX {
            return None;
        }
        let (name, version) = split_once(text, b'/')?;
        if !(1..=8).contains(&name.len()) || !name.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
        {
            return None;
        }
        let variant = match name {
            "rfr-c" => Variant::Chunk,
            "rfr-cm" => Variant::Meta,
            "rfr-cc" => Variant::Callsites,
            "rfr-s" => Variant::Streaming,
            other => Variant::Other(other),
        };
        let (major, rest) = split_once(version, b'.')?;
        let (minor, patch) = split_once(rest, b'.')?;
        Some(Self { text, variant, version: (number(major)?, number(minor)?, number(patch)?) })
    }

    /// The text as stored.
    pub const fn as_str(&self) -> &'a str {
        self.text
    }

    /// The kind of the file.
    pub const fn variant(&self) -> Variant<'a> {
        self.variant
    }

    /// Major, minor and patch number.
    pub const fn version(&self) -> (u32, u32, u32) {
        self.version
    }

    /// True if files with this identifier are read here.
    pub fn is_supported(&self) -> bool {
        let (major, minor, patch) = self.version;
        major == 0 && minor == 0 && self.variant.patches().contains(&patch)
    }
}

/// A decimal number: digits alone, and no zero in front of others.
fn number(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits || (text.len() > 1 && text.starts_with('0')) {
        return None;
    }
    text.parse().ok()
}

/// True if `data` begins with the identifier of an RFR file, of whatever version.
pub fn detect(data: &[u8]) -> bool {
    FormatIdentifier::parse(data).is_ok_and(|identifier| !matches!(identifier.variant, Variant::Other(_)))
}
