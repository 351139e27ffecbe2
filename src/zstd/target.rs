//! Targets of decoded content.

use super::block::{BlockHeader, Compressed};
use super::checksum::Xxh64;
use super::frame::FrameHeader;
use super::workspace::Tables;
use crate::error::Result;

/// A target of the content of a frame.
pub(super) trait Target {
    /// Begins a frame.
    fn begin(&mut self, header: &FrameHeader) -> Result<()>;
    /// Adds the content of a raw block, or as many copies of a repeated byte.
    fn fill(&mut self, block: &BlockHeader, body: &[u8], size: usize) -> Result<()>;
    /// Decodes a compressed block.
    fn decode(&mut self, block: Compressed<'_>, tables: &mut Tables) -> Result<()>;
    /// Ends a block: the checksum takes what it has added.
    fn end_block(&mut self, checksum: Option<&mut Xxh64>);
    /// The size of the frame's content so far.
    fn size(&self) -> u64;
}
