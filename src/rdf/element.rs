//! The nouns that errors name.

use crate::error::Element;

#[cfg(feature = "rdf-contents")]
pub use super::contents::element::*;

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
