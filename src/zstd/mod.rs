//! Zstandard frames, as of RFC 8878, decoded without an allocator.
//!
//! ```text
//! input      frame │ frame │ skippable frame │ …
//! frame      header │ block │ block │ … │ checksum (optional)
//! header     magic │ descriptor │ window │ dictionary id │ content size
//! block      header │ literals section │ sequences section      (or raw, or one byte repeated)
//! literals   header │ Huffman tree │ 1 or 4 streams             (or raw, or one byte repeated)
//! sequences  header │ tables of literal lengths, offsets, match lengths │ stream
//! ```
//!
//! The entry is [`decompress`]; [`content_size`] says how large an output it needs, and [`Frames`] lists what an
//! input consists of.
//!
//! ```
//! use traceglass::zstd::{self, Workspace};
//!
//! let input = b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello";
//! let mut workspace = Workspace::new(); // 16 KiB; on firmware rather a `static`
//! let mut output = [0; 5];
//! let size = zstd::decompress(input, &mut output, &mut workspace)?;
//! assert_eq!(&output[..size], b"hello");
//! # Ok::<(), traceglass::Error>(())
//! ```
//!
//! Where the content is larger than memory, [`Decoder::stream`] hands it out in pieces that lie in a window.
//!
//! # Memory and speed
//!
//! 15.7 KiB of [`Workspace`], and stack frames of up to 700 bytes on a Cortex-M4; no allocator. Flash for
//! [`decompress`] is 20 KiB there, at `opt-level = "s"`. Huffman-coded literals wait in the free end of the output, so
//! that an output of exactly the content size suffices.
//!
//! # Limits
//!
//! Dictionaries are not supported: a frame that names one is an error with its number.
//!
//! Verdicts and bytes are those of the reference implementation's `ZSTD_decompress`, version 1.5.7, but for these:
//!
//! - A window larger than it supports is no reason to refuse a frame here: the output is the window.
//! - It does not always notice that Huffman streams do not end where they should; here it is always an error.
//! - Whether it accepts a compressed block with more content than the frame allows depends on the size of the output;
//!   here it is always an error, as in the RFC. Raw and repeated ones are accepted, as there.
//!
//! Time is linear in the sizes of input and output, and nothing here can panic.

mod bits;
mod block;
mod checksum;
mod copy;
mod decoder;
mod frame;
mod fse;
mod huffman;
mod literals;
mod ring;
mod sequences;
mod workspace;

pub use block::{BlockHeader, BlockKind};
pub use decoder::{Decoder, decompress};
pub use frame::{Blocks, DataFrame, Frame, FrameHeader, Frames, SkippableFrame, content_size};
pub use workspace::Workspace;

use crate::error::Element;

/// A frame as a whole.
pub const FRAME: Element = Element::new(&"zstd frame");
/// The header of a frame.
pub const FRAME_HEADER: Element = Element::new(&"zstd frame header");
/// The window descriptor in the header of a frame.
pub const WINDOW: Element = Element::new(&"zstd window descriptor");
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
