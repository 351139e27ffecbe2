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
//! If the content is larger than memory, [`Decoder::stream`] hands it out in pieces that lie in a window.
//!
//! # Memory and speed
//!
//! 15.6 KiB of [`Workspace`], and stack frames of up to 700 bytes on a Cortex-M4; no allocator. Flash for
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
//! - Whether it accepts a block with more content than the frame allows depends on the block and the size of the output;
//!   here it is always an error, as in the RFC.
//!
//! Time is linear in the sizes of input and output, and nothing here can panic.

mod bits;
mod block;
mod checksum;
mod copy;
mod decoder;
#[cfg(feature = "detect")]
mod detected;
pub mod element;
mod frame;
mod fse;
mod huffman;
mod literals;
mod processor;
mod ring;
mod scratch;
mod sequences;
mod states;
mod target;
mod weights;
mod workspace;

pub use block::{BlockHeader, BlockKind};
pub use decoder::{Decoder, decompress};
#[cfg(feature = "detect")]
pub use detected::Detected;
pub use frame::{Blocks, DataFrame, Frame, FrameHeader, Frames, SkippableFrame, content_size};
pub use processor::{Baseline, Processor};
pub use workspace::Workspace;
