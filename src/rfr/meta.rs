//! `meta.rfr`: what a chunked recording says of itself.

use super::chunk::MICROS;
use super::element::{META, TIMESTAMP};
use super::identifier::{self, FormatIdentifier, Variant};
use super::layout::{LayoutFields, Row, Table, Wire};
use super::read::Reader;
use crate::error::{Error, ErrorKind, Result};
use core::iter::FusedIterator;

/// The fields of a [`Meta`].
pub(super) const FIELDS: Table = &[
    Row::structure(META, identifier::FIELDS),
    Row::new("created, s", "created_time", TIMESTAMP, Wire::U64),
    Row::new("created, µs", "created_time", TIMESTAMP, Wire::U32),
    Row::new("formats", "formats", META, Wire::List(FORMAT_FIELDS)),
];

/// A format in a [`Meta`].
const FORMAT_FIELDS: Table = &[Row::new("format", "Format Identifier", META, Wire::Text)];

/// `meta.rfr` of a chunked recording.
///
/// # Layout
/// | field | in the document | type |
/// |---|---|---|
/// | | `Format Identifier` | [`FormatIdentifier`] |
/// | created, s | `created_time` | `varint(u64)` |
/// | created, µs | `created_time` | `varint(u32)` |
/// | formats | `formats` | list of strings: the identifiers of the formats used, that of the chunks first |
///
/// Bytes after these fields are ignored.
///
/// ```
/// use traceglass::rfr::Meta;
///
/// let meta = Meta::parse(b"\x0crfr-cm/0.0.1\x80\xe2\xcf\xaa\x06\x05\x01\x0brfr-c/0.0.2")?;
/// assert_eq!(meta.created()?, 1_700_000_000_000_005);
/// assert_eq!(meta.formats().next(), Some(Ok("rfr-c/0.0.2")));
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Meta<'a> {
    identifier: FormatIdentifier<'a>,
    created: Timestamp,
    body: Reader<'a>,
}

impl<'a> Meta<'a> {
    /// Reads the identifier and the time; the list is read when it is asked for.
    ///
    /// # Errors
    /// `UnexpectedEnd`, `IntegerTooWide`; for the identifier also `NotUtf8`, `Invalid`, `BadMagic` if it is that of
    /// something else, and `UnsupportedVersion` for versions other than 0.0.1.
    pub fn parse(data: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(data);
        let identifier = FormatIdentifier::expect(&mut reader, Variant::Meta)?;
        let created = Timestamp::read(&mut reader)?;
        Ok(Self { identifier, created, body: reader })
    }

    /// The identifier.
    pub const fn identifier(&self) -> FormatIdentifier<'a> {
        self.identifier
    }

    /// The fields, as they lie in the file.
    pub const fn fields(&self) -> LayoutFields<'a> {
        LayoutFields::new(self.body.data(), FIELDS)
    }

    /// The begin of the recording, in microseconds since the Unix epoch.
    ///
    /// # Errors
    /// `Overflow`, if that has more than 64 bits.
    #[doc(alias = "created_time")]
    pub fn created(&self) -> Result<u64> {
        self.created.micros()
    }

    /// The identifiers of the formats used, that of the chunks first.
    pub const fn formats(&self) -> Formats<'a> {
        Formats { reader: self.body, left: None, last: 0, failed: false }
    }

    pub(super) const fn created_at(&self) -> Timestamp {
        self.created
    }
}

/// Identifiers in a [`Meta`], as text: they need not be ones that are known here.
#[derive(Clone, Debug)]
pub struct Formats<'a> {
    reader: Reader<'a>,
    /// Not known before the first.
    left: Option<u64>,
    /// The offset of the one that came last.
    last: u64,
    failed: bool,
}

impl<'a> Formats<'a> {
    fn advance(&mut self) -> Result<Option<&'a str>> {
        let left = match self.left {
            Some(left) => left,
            None => self.reader.u64(META)?,
        };
        self.left = Some(left);
        let Some(left) = left.checked_sub(1) else { return Ok(None) };
        self.last = self.reader.offset();
        let text = self.reader.string(META)?;
        self.left = Some(left);
        Ok(Some(text))
    }

    /// The next identifier.
    ///
    /// # Errors
    /// `UnexpectedEnd`, `IntegerTooWide`, `NotUtf8`.
    pub fn next_format(&mut self) -> Result<Option<&'a str>> {
        if self.failed {
            return Ok(None);
        }
        let text = self.advance();
        self.failed = text.is_err();
        text
    }

    /// Offset of the next one, or after the last one.
    pub const fn offset(&self) -> u64 {
        self.reader.offset()
    }

    /// Offset of the one that came last.
    pub(super) const fn last_offset(&self) -> u64 {
        self.last
    }

    /// The number of bytes that follow.
    pub(super) const fn left(&self) -> u64 {
        self.reader.left()
    }
}

impl<'a> Iterator for Formats<'a> {
    type Item = Result<&'a str>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_format().transpose()
    }
}

impl FusedIterator for Formats<'_> {}

/// Seconds and microseconds since the Unix epoch, as stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Timestamp {
    pub(super) offset: u64,
    pub(super) secs: u64,
    pub(super) subsec_micros: u32,
}

impl Timestamp {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            offset: reader.offset(),
            secs: reader.u64(TIMESTAMP)?,
            subsec_micros: reader.u32(TIMESTAMP)?,
        })
    }

    pub(super) fn micros(self) -> Result<u64> {
        let secs = self.secs.checked_mul(MICROS);
        secs.and_then(|micros| micros.checked_add(self.subsec_micros.into())).ok_or(Error::new(
            self.offset,
            TIMESTAMP,
            ErrorKind::Overflow { value: self.secs },
        ))
    }
}
