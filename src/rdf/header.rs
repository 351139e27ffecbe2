//! The file header.

use super::element::{CHUNK_INDEX, FILE_HEADER, INDEX_OFFSET, INDEX_SIZE, RESERVED, VERSION};
use super::raw::{RawHeader, at, field};
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Report, Result};
use crate::layout::{LayoutField, LayoutValue};
use core::fmt;
use core::ops::Range;

/// The magic of a file: `AMD_RDF `.
pub const MAGIC: [u8; 8] = *b"AMD_RDF ";
/// The magic of files from before the format had its name: `RTA_DATA`.
pub const MAGIC_LEGACY: [u8; 8] = *b"RTA_DATA";

/// True if `data` begins like an RDF file.
pub fn detect(data: &[u8]) -> bool {
    data.starts_with(&MAGIC) || data.starts_with(&MAGIC_LEGACY)
}

/// The file header: 32 bytes at the start of the file.
///
/// # Layout
///
/// | at | bytes | type | field |
/// |---|---|---|---|
/// | 0 | 8 | text | identifier, `AMD_RDF ` |
/// | 8 | 4 | `u32` | version, 3 |
/// | 12 | 4 | `u32` | reserved, 0 |
/// | 16 | 8 | `i64` | offset of the chunk index, from the start of the file |
/// | 24 | 8 | `i64` | size of the chunk index in bytes, 64 for an entry |
///
/// See RDF 1.3, "File header".
#[derive(Clone, Copy)]
pub struct Header<'a> {
    raw: &'a RawHeader,
}

impl<'a> Header<'a> {
    /// Size of the header in bytes.
    pub const SIZE: usize = size_of::<RawHeader>();

    /// Reads the header from the first 32 bytes of a file; bytes after them are not read.
    ///
    /// # Errors
    /// [`UnexpectedEnd`](ErrorKind::UnexpectedEnd), [`BadMagic`](ErrorKind::BadMagic) and
    /// [`UnsupportedVersion`](ErrorKind::UnsupportedVersion): only version 3 was ever written. The legacy magic
    /// `RTA_DATA` is accepted.
    pub fn parse(data: &'a [u8]) -> Result<Self> {
        let mut bytes = Bytes::new(data);
        // A wrong magic says more than a short file.
        match data.first_chunk::<8>() {
            Some(&found) if found != MAGIC && found != MAGIC_LEGACY => {
                return Err(bytes.error(FILE_HEADER, ErrorKind::BadMagic { found }));
            }
            _ => {}
        }
        let raw: &RawHeader = bytes.view(FILE_HEADER)?;
        let found = u64::from(raw.version.get());
        if found != 3 {
            return Err(Error::new(
                at!(RawHeader, version),
                VERSION,
                ErrorKind::UnsupportedVersion { found, supported: 3 },
            ));
        }
        Ok(Self { raw })
    }

    /// The magic: `AMD_RDF ` or `RTA_DATA`.
    pub const fn magic(&self) -> &'a [u8; 8] {
        &self.raw.identifier
    }

    /// True if the magic is the legacy one, `RTA_DATA`.
    pub fn is_legacy(&self) -> bool {
        *self.magic() == MAGIC_LEGACY
    }

    /// Version of the format; always 3.
    pub fn version(&self) -> u32 {
        self.raw.version.get()
    }

    /// The reserved field, which should be 0.
    pub fn reserved(&self) -> u32 {
        self.raw.reserved.get()
    }

    /// Offset of the chunk index, as stored.
    #[doc(alias = "indexOffset")]
    pub fn index_offset(&self) -> i64 {
        self.raw.index_offset.get()
    }

    /// Size of the chunk index in bytes, as stored.
    #[doc(alias = "indexSize")]
    pub fn index_size(&self) -> i64 {
        self.raw.index_size.get()
    }

    /// The fields, as they lie in the file.
    #[doc(alias = "identifier")]
    #[doc(alias = "version")]
    #[doc(alias = "reserved")]
    #[doc(alias = "indexOffset")]
    #[doc(alias = "indexSize")]
    pub fn fields(&self) -> impl ExactSizeIterator<Item = LayoutField<'a>> + Clone + use<'a> {
        [
            field!(RawHeader, 0, identifier, "magic", "identifier", LayoutValue::Text(self.magic())),
            field!(RawHeader, 0, version, "version", "version", LayoutValue::Number(self.version().into())),
            field!(
                RawHeader,
                0,
                reserved,
                "reserved",
                "reserved",
                LayoutValue::Number(self.reserved().into())
            ),
            field!(
                RawHeader,
                0,
                index_offset,
                "index offset",
                "indexOffset",
                LayoutValue::Offset(self.index_offset())
            ),
            field!(
                RawHeader,
                0,
                index_size,
                "index size",
                "indexSize",
                LayoutValue::Signed(self.index_size())
            ),
        ]
        .into_iter()
    }

    /// The range of bytes of the chunk index in the file, for readers that fetch it themselves.
    ///
    /// The file may be shorter: its length is not known here.
    ///
    /// # Errors
    /// [`Negative`](ErrorKind::Negative) offset or size; [`OutOfBounds`](ErrorKind::OutOfBounds) if no file can be
    /// that long; [`Overlap`](ErrorKind::Overlap) if the index is said to begin inside this header.
    pub fn index_range(&self) -> Result<Range<u64>> {
        let start = claim(self.index_offset(), at!(RawHeader, index_offset), INDEX_OFFSET)?;
        let size = claim(self.index_size(), at!(RawHeader, index_size), INDEX_SIZE)?;
        let out_of_bounds =
            Error::new(at!(RawHeader, index_offset), INDEX_OFFSET, ErrorKind::OutOfBounds { start, size });
        let end = start.checked_add(size).ok_or(out_of_bounds)?;
        let header = to_u64(Self::SIZE);
        if start < header && size > 0 {
            return Err(Error::new(start, CHUNK_INDEX, ErrorKind::Overlap { start: 0, size: header }));
        }
        Ok(start..end)
    }

    pub(super) fn check(&self, report: &mut Report<'_>) {
        if self.is_legacy() {
            report.warning(Error::new(0, FILE_HEADER, ErrorKind::LegacyMagic));
        }
        if self.reserved() != 0 {
            let kind = ErrorKind::ReservedNotZero { value: self.reserved().into() };
            report.warning(Error::new(at!(RawHeader, reserved), RESERVED, kind));
        }
    }
}

/// An offset or a size that the file states at `offset`.
pub(super) fn claim(value: i64, offset: u64, element: crate::Element) -> Result<u64> {
    u64::try_from(value).map_err(|_| Error::new(offset, element, ErrorKind::Negative { value }))
}

impl fmt::Debug for Header<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Header");
        self.fields().for_each(|field| {
            debug.field(field.name(), &format_args!("{}", field.value()));
        });
        debug.finish()
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Header<'_> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(
            f,
            "Header {{ version: {}, index_offset: {}, index_size: {} }}",
            self.version(),
            self.index_offset(),
            self.index_size()
        );
    }
}
