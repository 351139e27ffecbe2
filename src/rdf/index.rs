//! The chunk index: its entries in file order.

use super::compression::Compression;
use super::element::CHUNK_INDEX;
use super::header::claim;
use super::identifier::Identifier;
use super::part::ChunkPart;
use super::raw::{RawEntry, at, field};
use crate::bytes::{Bytes, to_u64};
use crate::error::{Element, Error, ErrorKind, Report, Result};
use crate::layout::{LayoutField, LayoutValue};
use core::fmt;
use core::iter::FusedIterator;
use core::ops::Range;

/// The chunk index: 64 bytes an entry, borrowed from the input as it is.
///
/// See RDF 1.3, "Chunk index".
#[derive(Clone, Copy)]
pub struct Index<'a> {
    entries: &'a [RawEntry],
    offset: u64,
}

impl<'a> Index<'a> {
    /// Size of an entry in bytes.
    pub const ENTRY_SIZE: usize = size_of::<RawEntry>();

    /// Views the bytes of an index that begins at `offset` in its file.
    ///
    /// The cost does not depend on the number of entries, and any alignment will do.
    ///
    /// # Errors
    /// [`NotMultiple`](ErrorKind::NotMultiple): the size is not a multiple of 64.
    pub fn parse(data: &'a [u8], offset: u64) -> Result<Self> {
        let (index, remainder) = Self::parse_prefix(Bytes::at(data, offset));
        match remainder {
            0 => Ok(index),
            _ => Err(Error::new(
                offset,
                CHUNK_INDEX,
                ErrorKind::NotMultiple { value: to_u64(data.len()), of: to_u64(Self::ENTRY_SIZE) },
            )),
        }
    }

    /// The whole entries, and how many bytes are left.
    pub(super) fn parse_prefix(bytes: Bytes<'a>) -> (Self, usize) {
        let (entries, rest) = bytes.slice_of();
        (Self { entries, offset: bytes.offset() }, rest.len())
    }

    /// Number of entries.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if there is no entry.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Offset of the first entry from the start of the file.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Entry `number`, in file order from 0.
    #[inline]
    pub fn get(&self, number: usize) -> Option<Entry<'a>> {
        self.entries.get(number).map(|raw| self.entry(number, raw))
    }

    /// The entries in file order.
    #[inline]
    pub fn entries(&self) -> Entries<'a> {
        Entries { index: *self, range: 0..self.len() }
    }

    /// Number of entries with that identifier.
    pub fn count(&self, identifier: impl TryInto<Identifier>) -> usize {
        let Ok(identifier) = identifier.try_into() else { return 0 };
        self.entries().filter(|entry| entry.identifier() == identifier).count()
    }

    #[inline]
    fn entry(&self, number: usize, raw: &'a RawEntry) -> Entry<'a> {
        let position = to_u64(number).wrapping_mul(to_u64(Self::ENTRY_SIZE));
        Entry { raw, number, offset: self.offset.saturating_add(position) }
    }

    /// The identifier of entry `number`.
    #[inline]
    pub(super) fn identifier(&self, number: u32) -> Option<Identifier> {
        let raw = self.entries.get(usize::try_from(number).ok()?)?;
        Some(Identifier::from_bytes(raw.identifier))
    }

    pub(super) fn key(&self, number: u32) -> Option<u128> {
        self.identifier(number).map(|identifier| identifier.key())
    }
}

impl fmt::Debug for Index<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("offset", &self.offset).field("len", &self.len()).finish()
    }
}

/// The entries of an [`Index`] in file order.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    index: Index<'a>,
    range: Range<usize>,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    #[inline]
    fn next(&mut self) -> Option<Entry<'a>> {
        self.index.get(self.range.next()?)
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<Entry<'a>> {
        self.index.get(self.range.nth(n)?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}

impl DoubleEndedIterator for Entries<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.index.get(self.range.next_back()?)
    }
}

impl ExactSizeIterator for Entries<'_> {}
impl FusedIterator for Entries<'_> {}

/// One entry of the chunk index: what the file says of a chunk.
///
/// Offsets and sizes are signed in the file and may be wrong; they are given as stored, and checked by
/// [`header_range`](Self::header_range) and [`stored_range`](Self::stored_range).
///
/// # Layout
///
///
/// | at | bytes | type | field |
/// |---|---|---|---|
/// | 0 | 16 | text | chunk identifier |
/// | 16 | 1 | `u8` | compression |
/// | 17 | 3 | | reserved, 0 |
/// | 20 | 4 | `u32` | version of the chunk |
/// | 24 | 8 | `i64` | offset of the chunk header, from the start of the file |
/// | 32 | 8 | `i64` | size of the chunk header in bytes |
/// | 40 | 8 | `i64` | offset of the chunk data, from the start of the file |
/// | 48 | 8 | `i64` | size of the chunk data in bytes, as stored |
/// | 56 | 8 | `i64` | size after decompression; 0 where not compressed |
///
/// See RDF 1.3, "Chunk index".
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    raw: &'a RawEntry,
    number: usize,
    offset: u64,
}

impl<'a> Entry<'a> {
    /// Place in the index, in file order from 0.
    pub const fn number(&self) -> usize {
        self.number
    }

    /// Offset of the entry itself from the start of the file.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Identifier of the chunk.
    #[doc(alias = "chunkIdentifier")]
    #[inline]
    pub const fn identifier(&self) -> Identifier {
        Identifier::from_bytes(self.raw.identifier)
    }

    /// The identifier's 16 bytes, borrowed.
    pub const fn identifier_bytes(&self) -> &'a [u8; 16] {
        &self.raw.identifier
    }

    /// The compression of the data.
    #[inline]
    pub const fn compression(&self) -> Compression {
        Compression::from_stored(self.raw.compression)
    }

    /// The reserved bytes, which should be 0.
    pub const fn reserved(&self) -> [u8; 3] {
        self.raw.reserved
    }

    /// Version of the chunk, defined by its writer; 1 by default.
    #[inline]
    pub fn version(&self) -> u32 {
        self.raw.version.get()
    }

    /// Offset of the chunk header, as stored.
    #[doc(alias = "chunkHeaderOffset")]
    #[inline]
    pub fn header_offset(&self) -> i64 {
        self.raw.header_offset.get()
    }

    /// Size of the chunk header in bytes, as stored.
    #[doc(alias = "chunkHeaderSize")]
    #[inline]
    pub fn header_size(&self) -> i64 {
        self.raw.header_size.get()
    }

    /// Offset of the chunk data, as stored.
    #[doc(alias = "chunkDataOffset")]
    #[inline]
    pub fn data_offset(&self) -> i64 {
        self.raw.data_offset.get()
    }

    /// Size of the chunk data in the file in bytes, as stored.
    #[doc(alias = "chunkDataSize")]
    #[inline]
    pub fn stored_size(&self) -> i64 {
        self.raw.data_size.get()
    }

    /// The field `uncompressedChunkSize`, as stored: 0 where the data is not compressed.
    #[doc(alias = "uncompressedChunkSize")]
    #[inline]
    pub fn uncompressed_size(&self) -> i64 {
        self.raw.uncompressed_size.get()
    }

    /// Size of the data in bytes after decompression, as stated.
    #[inline]
    pub fn data_size(&self) -> i64 {
        match self.compression() {
            Compression::None => self.stored_size(),
            _ => self.uncompressed_size(),
        }
    }

    /// The range of bytes of the chunk header in the file.
    ///
    /// # Errors
    /// [`Negative`](ErrorKind::Negative), or [`OutOfBounds`](ErrorKind::OutOfBounds) if no file can be that long.
    pub fn header_range(&self) -> Result<Range<u64>> {
        self.range(ChunkPart::Header)
    }

    /// The range of bytes of the chunk data in the file.
    ///
    /// # Errors
    /// As for [`header_range`](Self::header_range).
    pub fn stored_range(&self) -> Result<Range<u64>> {
        self.range(ChunkPart::Data)
    }

    /// Size of the data in bytes after decompression, for the buffer to lend.
    ///
    /// # Errors
    /// [`Negative`](ErrorKind::Negative).
    pub fn output_size(&self) -> Result<u64> {
        let (position, element) = match self.compression() {
            Compression::None => ChunkPart::Data.size_field(),
            _ => (at!(RawEntry, uncompressed_size), super::element::UNCOMPRESSED_SIZE),
        };
        claim(self.data_size(), self.offset.saturating_add(position), element)
    }

    /// The fields, as they lie in the file.
    #[doc(alias = "chunkIdentifier")]
    #[doc(alias = "compression")]
    #[doc(alias = "version")]
    #[doc(alias = "chunkHeaderOffset")]
    #[doc(alias = "chunkHeaderSize")]
    #[doc(alias = "chunkDataOffset")]
    #[doc(alias = "chunkDataSize")]
    #[doc(alias = "uncompressedChunkSize")]
    pub fn fields(&self) -> impl ExactSizeIterator<Item = LayoutField<'a>> + Clone + use<'a> {
        macro_rules! row {
            ($field:ident, $name:literal, $document_name:literal, $value:expr) => {
                field!(RawEntry, self.offset, $field, $name, $document_name, $value)
            };
        }
        let raw = self.raw;
        let compression = self.compression();
        let name = match compression {
            Compression::None => "raw",
            Compression::Zstd => "zstd",
            Compression::Other(_) => "unknown",
        };
        [
            row!(identifier, "identifier", "chunkIdentifier", LayoutValue::Text(&raw.identifier)),
            row!(
                compression,
                "compression",
                "compression",
                LayoutValue::Named(compression.number().into(), name)
            ),
            row!(reserved, "reserved", "reserved", LayoutValue::Bytes(&raw.reserved)),
            row!(version, "version", "version", LayoutValue::Number(self.version().into())),
            row!(
                header_offset,
                "header offset",
                "chunkHeaderOffset",
                LayoutValue::Offset(self.header_offset())
            ),
            row!(header_size, "header size", "chunkHeaderSize", LayoutValue::Signed(self.header_size())),
            row!(data_offset, "data offset", "chunkDataOffset", LayoutValue::Offset(self.data_offset())),
            row!(data_size, "data size", "chunkDataSize", LayoutValue::Signed(self.stored_size())),
            row!(
                uncompressed_size,
                "uncompressed size",
                "uncompressedChunkSize",
                LayoutValue::Signed(self.uncompressed_size())
            ),
        ]
        .into_iter()
    }

    fn range(&self, part: ChunkPart) -> Result<Range<u64>> {
        let (start, size) = match part {
            ChunkPart::Header => (self.header_offset(), self.header_size()),
            ChunkPart::Data => (self.data_offset(), self.stored_size()),
        };
        let (at_start, start_element) = part.offset_field();
        let (at_size, size_element) = part.size_field();
        let start = claim(start, self.offset.saturating_add(at_start), start_element)?;
        let size = claim(size, self.offset.saturating_add(at_size), size_element)?;
        match start.checked_add(size) {
            Some(end) => Ok(start..end),
            None => Err(self.out_of_bounds(part, start, size)),
        }
    }

    /// The bytes of a part in `input`, which is the whole file.
    pub(super) fn locate(&self, part: ChunkPart, input: Bytes<'a>) -> Result<Bytes<'a>> {
        let range = self.range(part)?;
        let size = range.end.saturating_sub(range.start);
        input.range(range.start, size).ok_or_else(|| self.out_of_bounds(part, range.start, size))
    }

    #[cold]
    fn out_of_bounds(&self, part: ChunkPart, start: u64, size: u64) -> Error {
        let (position, _) = part.offset_field();
        let offset = self.offset.saturating_add(position);
        Error::new(offset, part.element(), ErrorKind::OutOfBounds { start, size })
    }

    /// Reports where this entry departs from the document, without looking at the chunk.
    pub(super) fn check(&self, report: &mut Report<'_>) {
        let mut warn = |position, element: Element, kind| {
            report.warning(Error::new(self.offset.saturating_add(position), element, kind));
        };
        if self.identifier().text().is_err() {
            warn(0, super::element::IDENTIFIER, ErrorKind::NotUtf8);
        }
        if self.identifier().has_bytes_after_nul() {
            warn(0, super::element::IDENTIFIER, ErrorKind::BytesAfterNul);
        }
        let [a, b, c] = self.reserved();
        let value = u64::from(u32::from_le_bytes([a, b, c, 0]));
        if value != 0 {
            warn(at!(RawEntry, reserved), super::element::RESERVED, ErrorKind::ReservedNotZero { value });
        }
        if self.compression() == Compression::None && self.uncompressed_size() != 0 {
            let stated = self.uncompressed_size();
            let kind = match u64::try_from(stated) {
                Ok(stated) => ErrorKind::SizeMismatch { stated, found: 0 },
                Err(_) => ErrorKind::Negative { value: stated },
            };
            warn(at!(RawEntry, uncompressed_size), super::element::UNCOMPRESSED_SIZE, kind);
        }
    }
}

impl fmt::Debug for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Entry");
        debug.field("number", &self.number);
        self.fields().for_each(|field| {
            debug.field(field.name(), &format_args!("{}", field.value()));
        });
        debug.finish()
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Entry<'_> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(
            f,
            "Entry {{ number: {}, identifier: {}, data_offset: {}, stored_size: {}, data_size: {} }}",
            self.number,
            self.identifier(),
            self.data_offset(),
            self.stored_size(),
            self.data_size()
        );
    }
}

#[cfg(all(test, target_has_atomic = "64"))]
mod properties;
