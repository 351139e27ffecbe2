//! RDF, AMD's Radeon Data File: documents 1.0 to 1.3, format version 3.
//!
//! The container of Radeon Memory Visualizer (`.rmv`), Raytracing Analyzer (`.rra`), GPU Detective (`.rgd`) and
//! newer Radeon GPU Profiler (`.rgp`) files. A file is a header, chunks, and an index that says where they are. All
//! integers are little-endian, nothing is aligned, and the parts may stand in any order:
//!
//! ```text
//!   0  ┌─────────────────────────────┐
//!      │ file header        32 bytes │── index offset, index size ──┐
//!  32  ├─────────────────────────────┤                              │
//!      │ chunk header, chunk data    │◄─┐                           │
//!      │ chunk header, chunk data    │◄─┤ offsets and sizes         │
//!      │ …                           │  │                           │
//!      ├─────────────────────────────┤  │                           │
//!      │ index entry        64 bytes │──┘◄──────────────────────────┘
//!      │ index entry        64 bytes │
//!      │ …                           │
//!      └─────────────────────────────┘
//! ```
//!
//! [`File`] is where to begin. Opening borrows the whole index at once, whatever its size and alignment.
//!
//! ```
//! use traceglass::rdf::{File, RawOnly};
//!
//! fn list(data: &[u8]) -> traceglass::Result<usize> {
//!     let file = File::parse(data)?;
//!     for entry in file.entries() {
//!         let _ = (entry.identifier(), entry.compression(), entry.data_size());
//!     }
//!     let asic_info = file.chunk("AsicInfo".into(), 0);
//!     // A raw chunk is borrowed from `data`; a compressed one needs a buffer and a decoder.
//!     asic_info.map_or(Ok(0), |chunk| Ok(chunk.data(&mut [], &mut RawOnly)?.len()))
//! }
//! # assert!(list(b"AMD_RDF ").is_err());
//! ```
//!
//! **As deployed.** Sizes and offsets are checked when they are used, so a file with one bad entry still lists and
//! its other chunks still open. The legacy magic `RTA_DATA` is accepted. Identifiers that are not UTF-8, or have
//! bytes after a NUL, keep their exact bytes. Compressions that the document does not define keep their number, and
//! their stored bytes can be read. A file that was cut usually lost its index, which stands last: that is an error
//! that says so, and [`File::salvage`] gives the entries that are whole.
//!
//! **Limits.** None but the address space; [`File::sort`] takes up to 2³² − 1 entries.

mod check;
mod chunk;
#[cfg(feature = "rdf-contents")]
pub mod contents;
mod header;
mod identifier;
mod index;
mod order;
mod raw;
#[cfg(feature = "ruzstd")]
mod ruzstd;
mod sorted;

pub use chunk::{Chunk, Compression, Decompress, RawOnly};
pub use header::Header;
pub use identifier::Identifier;
pub use index::{Entries, Entry, Index};
#[cfg(feature = "ruzstd")]
pub use ruzstd::Ruzstd;
pub use sorted::Sorted;

use crate::bytes::{Bytes, to_u64};
use crate::error::{Element, Error, ErrorKind, Result};
use core::fmt;

/// The magic of a file: `AMD_RDF `.
pub const MAGIC: [u8; 8] = *b"AMD_RDF ";
/// The magic of files from before the name: `RTA_DATA`.
pub const MAGIC_LEGACY: [u8; 8] = *b"RTA_DATA";

/// The file header.
pub const FILE_HEADER: Element = Element::new(&"RDF file header");
/// The version in the file header.
pub const VERSION: Element = Element::new(&"RDF version");
/// The offset of the index in the file header.
pub const INDEX_OFFSET: Element = Element::new(&"RDF index offset");
/// The size of the index in the file header.
pub const INDEX_SIZE: Element = Element::new(&"RDF index size");
/// The chunk index.
pub const CHUNK_INDEX: Element = Element::new(&"RDF chunk index");
/// The chunk identifier in an index entry.
pub const IDENTIFIER: Element = Element::new(&"RDF chunk identifier");
/// The compression in an index entry.
pub const COMPRESSION: Element = Element::new(&"RDF chunk compression");
/// The reserved bytes of the file header or of an index entry.
pub const RESERVED: Element = Element::new(&"RDF reserved field");
/// A chunk header.
pub const CHUNK_HEADER: Element = Element::new(&"RDF chunk header");
/// The data of a chunk.
pub const CHUNK_DATA: Element = Element::new(&"RDF chunk data");
/// The offset of a chunk header in an index entry.
pub const CHUNK_HEADER_OFFSET: Element = Element::new(&"RDF chunk header offset");
/// The size of a chunk header in an index entry.
pub const CHUNK_HEADER_SIZE: Element = Element::new(&"RDF chunk header size");
/// The offset of the chunk data in an index entry.
pub const CHUNK_DATA_OFFSET: Element = Element::new(&"RDF chunk data offset");
/// The size of the chunk data in an index entry.
pub const CHUNK_DATA_SIZE: Element = Element::new(&"RDF chunk data size");
/// The size after decompression in an index entry.
pub const UNCOMPRESSED_SIZE: Element = Element::new(&"RDF uncompressed chunk size");

/// The two parts of a chunk that an index entry points to.
#[derive(Clone, Copy)]
enum ChunkPart {
    Header,
    Data,
}

impl ChunkPart {
    const fn element(self) -> Element {
        match self {
            Self::Header => CHUNK_HEADER,
            Self::Data => CHUNK_DATA,
        }
    }

    /// Where in the entry the offset stands.
    const fn offset_field(self) -> (u64, Element) {
        match self {
            Self::Header => (24, CHUNK_HEADER_OFFSET),
            Self::Data => (40, CHUNK_DATA_OFFSET),
        }
    }

    /// Where in the entry the size stands.
    const fn size_field(self) -> (u64, Element) {
        match self {
            Self::Header => (32, CHUNK_HEADER_SIZE),
            Self::Data => (48, CHUNK_DATA_SIZE),
        }
    }
}

/// Whether `data` begins like an RDF file.
pub fn detect(data: &[u8]) -> bool {
    data.starts_with(&MAGIC) || data.starts_with(&MAGIC_LEGACY)
}

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
    /// Those of [`Header::parse`] and [`Header::index_range`]; [`UnexpectedEnd`](ErrorKind::UnexpectedEnd) if the
    /// file ends before or inside the index; [`NotMultiple`](ErrorKind::NotMultiple) if the index is not a whole
    /// number of entries.
    pub fn parse(data: &'a [u8]) -> Result<Self> {
        match Self::salvage(data)? {
            (file, None) => Ok(file),
            (_, Some(damage)) => Err(damage),
        }
    }

    /// Opens a file whose index may be damaged, with those of its entries that are whole.
    ///
    /// Next to the file comes what is wrong with the index, if anything is: what [`parse`](Self::parse) would have
    /// returned. No entry is ever made of bytes that the index range does not cover.
    ///
    /// # Errors
    /// Those of [`Header::parse`].
    pub fn salvage(data: &'a [u8]) -> Result<(Self, Option<Error>)> {
        let input = Bytes::new(data);
        let header = Header::parse(data)?;
        let file = |bytes| Self { input, header, index: Index::parse_prefix(bytes).0 };
        let range = match header.index_range() {
            Ok(range) => range,
            Err(error) => return Ok((file(Bytes::new(&[])), Some(error))),
        };
        let size = range.end.saturating_sub(range.start);
        if let Some(bytes) = input.range(range.start, size) {
            let of = to_u64(Index::ENTRY_SIZE);
            let not_multiple = bytes.error(CHUNK_INDEX, ErrorKind::NotMultiple { value: size, of });
            let (_, remainder) = Index::parse_prefix(bytes);
            return Ok((file(bytes), (remainder > 0).then_some(not_multiple)));
        }
        let needed = range.end.saturating_sub(input.end_offset());
        // Of an index that is lost as a whole, the place is where the input ends.
        let offset = range.start.min(input.end_offset());
        let damage = Error::new(offset, CHUNK_INDEX, ErrorKind::UnexpectedEnd { needed });
        let present = input.end_offset().saturating_sub(range.start);
        let bytes = input.range(range.start, present).unwrap_or(Bytes::at(&[], range.start));
        Ok((file(bytes), Some(damage)))
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

    const fn bytes(&self) -> Bytes<'a> {
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
    pub fn chunks(
        &self,
        identifier: Identifier,
    ) -> impl DoubleEndedIterator<Item = Chunk<'a>> + Clone + use<'a> {
        let input = self.input;
        self.entries()
            .filter(move |entry| entry.identifier() == identifier)
            .map(move |entry| Chunk::new(input, entry))
    }

    /// The chunk that is the `n`-th of its identifier in file order, from 0; looks at every entry before it.
    ///
    /// For many lookups in a large index, [`sort`](Self::sort) it.
    pub fn chunk(&self, identifier: Identifier, n: usize) -> Option<Chunk<'a>> {
        self.chunks(identifier).nth(n)
    }

    /// Sorts the entries by identifier in `storage`, of which as many places are used as there are entries.
    ///
    /// # Errors
    /// [`CapacityExceeded`](ErrorKind::CapacityExceeded) with the number of places needed.
    pub fn sort<'s>(&self, storage: &'s mut [u32]) -> Result<Sorted<'a, 's>> {
        Sorted::new(*self, storage)
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
