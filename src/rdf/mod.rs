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
//! use traceglass::rdf::{File, NoDecoder};
//!
//! fn list(data: &[u8]) -> traceglass::Result<usize> {
//!     let file = File::parse(data)?;
//!     for entry in file.entries() {
//!         let _ = (entry.identifier(), entry.compression(), entry.data_size());
//!     }
//!     let asic_info = file.chunk("AsicInfo", 0);
//!     // A raw chunk is borrowed from `data`; a compressed one needs a buffer and a decoder.
//!     asic_info.map_or(Ok(0), |chunk| Ok(chunk.data(&mut [], &mut NoDecoder)?.len()))
//! }
//! # assert!(list(b"AMD_RDF ").is_err());
//! ```
//!
//! # As deployed
//!
//! Sizes and offsets are checked when they are used, so a file with one bad entry still lists and
//! its other chunks still open. The legacy magic `RTA_DATA` is accepted. Identifiers that are not UTF-8, or have
//! bytes after a NUL, keep their exact bytes. Compressions that the document does not define keep their number, and
//! their stored bytes can be read. A file that was cut usually lost its index, which stands last: that is an error
//! that says so, and [`File::recover`] gives the entries that are whole.
//!
//! # Limits
//!
//! None but the address space; [`File::sort`] takes up to 2³² − 1 entries.

mod check;
mod chunk;
mod compression;
#[cfg(feature = "rdf-contents")]
pub mod contents;
pub mod element;
mod file;
mod header;
mod identifier;
mod index;
mod part;
mod raw;
#[cfg(feature = "ruzstd")]
mod ruzstd;
mod sorted;
mod write;

pub use chunk::Chunk;
pub use compression::{Compression, Decompress, NoDecoder};
pub use file::File;
pub use header::{Header, MAGIC, MAGIC_LEGACY, detect};
pub use identifier::Identifier;
pub use index::{Entries, Entry, Index};
#[cfg(feature = "ruzstd")]
pub use ruzstd::Ruzstd;
pub use sorted::SortedIndex;
pub use write::{NewChunk, Selected, Span, file_header, write};
