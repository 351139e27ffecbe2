//! A whole file.

use super::chunk::Chunk;
use super::element::CHUNK_INDEX;
use super::header::Header;
use super::identifier::Identifier;
use super::index::{Entries, Index};
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Result};
use crate::gap::Gap;
use core::fmt;

/// An RDF file, borrowed from memory or a memory map.
#[derive(Clone, Copy)]
pub struct File<'a> {
    input: Bytes<'a>,
    header: Header<'a>,
    index: Index<'a>,
}

impl<'a> File<'a> {
    /// Opens a file: reads the header and borrows the index. The cost does not depend on the file's size.
    ///
    /// # Errors
    /// The errors of [`Header::parse`] and [`Header::index_range`]; [`UnexpectedEnd`](ErrorKind::UnexpectedEnd) if the
    /// file ends before or inside the index; [`NotMultiple`](ErrorKind::NotMultiple) if the index is not a whole number
    /// of entries.
    pub fn parse(data: &'a [u8]) -> Result<Self> {
        match Self::recover(data)? {
            (file, None) => Ok(file),
            (_, Some(gap)) => Err(gap.cause()),
        }
    }

    /// Opens a file whose index may be damaged, with those of its entries that are whole.
    ///
    /// The gap is the part of the index that is there but is no whole entry, if anything is wrong with it; its cause is
    /// what [`parse`](Self::parse) would have returned. Entries come only from bytes that the index range covers.
    ///
    /// # Errors
    /// The errors of [`Header::parse`].
    pub fn recover(data: &'a [u8]) -> Result<(Self, Option<Gap>)> {
        let input = Bytes::new(data);
        let header = Header::parse(data)?;
        let file = |bytes: Bytes<'a>, cause: Option<Error>| {
            let (index, remainder) = Index::parse_prefix(bytes);
            let gap = cause.map(|cause| {
                let remainder = to_u64(remainder);
                Gap::new(bytes.end_offset().saturating_sub(remainder), remainder, cause)
            });
            (Self { input, header, index }, gap)
        };
        let range = match header.index_range() {
            Ok(range) => range,
            Err(error) => return Ok(file(Bytes::at(&[], error.offset()), Some(error))),
        };
        let size = range.end.saturating_sub(range.start);
        if let Some(bytes) = input.range(range.start, size) {
            let of = to_u64(Index::ENTRY_SIZE);
            let not_multiple = bytes.error(CHUNK_INDEX, ErrorKind::NotMultiple { value: size, of });
            let (_, remainder) = Index::parse_prefix(bytes);
            return Ok(file(bytes, (remainder > 0).then_some(not_multiple)));
        }
        let needed = range.end.saturating_sub(input.end_offset());
        // If the whole index is lost, the gap is at the end of the input.
        let offset = range.start.min(input.end_offset());
        let damage = Error::new(offset, CHUNK_INDEX, ErrorKind::UnexpectedEnd { needed });
        let present = input.end_offset().saturating_sub(range.start);
        let bytes = input.range(range.start, present).unwrap_or(Bytes::at(&[], offset));
        Ok(file(bytes, Some(damage)))
    }

    /// The file header.
    pub const fn header(&self) -> Header<'a> {
        self.header
    }

    /// The chunk index.
    pub const fn index(&self) -> Index<'a> {
        self.index
    }

    /// The whole file.
    pub const fn data(&self) -> &'a [u8] {
        self.input.as_slice()
    }

    pub(super) const fn bytes(&self) -> Bytes<'a> {
        self.input
    }

    /// The entries of the index in file order.
    #[inline]
    pub fn entries(&self) -> Entries<'a> {
        self.index.entries()
    }

    /// The chunk of entry `number`, in file order from 0.
    #[inline]
    pub fn chunk_at(&self, number: usize) -> Option<Chunk<'a>> {
        self.index.get(number).map(|entry| Chunk::new(self.input, entry))
    }

    /// The chunks with that identifier in file order; looks at every entry.
    ///
    /// Text that is [no identifier](Identifier::new) is that of no chunk.
    pub fn chunks<I: TryInto<Identifier>>(
        &self,
        identifier: I,
    ) -> impl DoubleEndedIterator<Item = Chunk<'a>> + Clone + use<'a, I> {
        let (input, identifier) = (self.input, identifier.try_into().ok());
        self.entries()
            .filter(move |entry| Some(entry.identifier()) == identifier)
            .map(move |entry| Chunk::new(input, entry))
    }

    /// The chunk that is the `n`-th of its identifier in file order, from 0; looks at every entry before it.
    ///
    /// For many lookups in a large index, [`sort`](Self::sort) it.
    pub fn chunk(&self, identifier: impl TryInto<Identifier>, n: usize) -> Option<Chunk<'a>> {
        self.chunks(identifier).nth(n)
    }
}

impl fmt::Debug for File<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File")
            .field("len", &self.input.len())
            .field("header", &self.header)
            .field("index", &self.index)
            .finish()
    }
}
