//! The nouns that errors name.

use crate::error::Element;

/// A frame as a whole.
pub const FRAME: Element = Element::new(&"zstd frame");
/// The header of a frame.
pub const FRAME_HEADER: Element = Element::new(&"zstd frame header");
/// The window descriptor in the header of a frame.
pub const WINDOW: Element = Element::new(&"zstd window descriptor");
/// The output that the caller lent.
pub const OUTPUT: Element = Element::new(&"zstd output");
/// The window that the caller lent.
pub const WINDOW_BUFFER: Element = Element::new(&"zstd window");
/// The content of a frame.
pub const CONTENT: Element = Element::new(&"zstd frame content");
/// The checksum at the end of a frame.
pub const CHECKSUM: Element = Element::new(&"zstd content checksum");
/// A skippable frame.
pub const SKIPPABLE: Element = Element::new(&"zstd skippable frame");
/// The header of a block.
pub const BLOCK_HEADER: Element = Element::new(&"zstd block header");
/// A block.
pub const BLOCK: Element = Element::new(&"zstd block");
/// The literals section of a block.
pub const LITERALS: Element = Element::new(&"zstd literals section");
/// The description of a Huffman tree.
pub const HUFFMAN_TREE: Element = Element::new(&"zstd Huffman tree");
/// A Huffman stream.
pub const HUFFMAN_STREAM: Element = Element::new(&"zstd Huffman stream");
/// The sequences section of a block.
pub const SEQUENCES: Element = Element::new(&"zstd sequences section");
/// The table of literal lengths.
pub const LITERAL_LENGTHS: Element = Element::new(&"zstd literal lengths table");
/// The table of offsets.
pub const OFFSETS: Element = Element::new(&"zstd offsets table");
/// The table of match lengths.
pub const MATCH_LENGTHS: Element = Element::new(&"zstd match lengths table");
