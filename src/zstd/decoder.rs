//! Decoding whole frames.

use super::bits::LEAD;
use super::block::{BlockHeader, BlockKind, Compressed};
use super::checksum::Xxh64;
use super::frame::{FrameHeader, take_skippable};
use super::workspace::{Tables, Workspace};
use super::{BLOCK, CHECKSUM, CONTENT, FRAME_HEADER, copy};
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Result};

/// Decodes all frames of `input` to the front of `output`; returns the size of their content.
///
/// An output of exactly the content size suffices. Behind the content, or after an error, the bytes of the output have
/// no meaning. An empty input is no frames, so that its content is empty.
///
/// **Errors**: [`ErrorKind::OutputTooSmall`] if there is more content, [`ErrorKind::DictionaryNeeded`],
/// [`ErrorKind::ChecksumMismatch`], and whatever else may be wrong with a frame; the first one ends it.
pub fn decompress(input: &[u8], output: &mut [u8], workspace: &mut Workspace) -> Result<usize> {
    Decoder::new(workspace).decompress(input, output)
}

/// A decoder with options.
///
/// ```
/// use traceglass::zstd::{Decoder, Workspace};
///
/// let input = b"\x28\xb5\x2f\xfd\x24\x02\x11\x00\x00hi\0\0\0\0"; // with a wrong checksum
/// let (mut workspace, mut output) = (Workspace::new(), [0; 2]);
/// let mut decoder = Decoder::new(&mut workspace);
/// assert!(decoder.decompress(input, &mut output).is_err());
/// decoder.verify_checksums(false);
/// assert_eq!(decoder.decompress(input, &mut output), Ok(2));
/// ```
#[derive(Debug)]
pub struct Decoder<'w> {
    workspace: &'w mut Workspace,
    verify_checksums: bool,
}

impl<'w> Decoder<'w> {
    /// A decoder that verifies checksums.
    pub const fn new(workspace: &'w mut Workspace) -> Self {
        Self { workspace, verify_checksums: true }
    }

    /// Sets whether checksums are verified; without, it is faster on small cores, and a wrong one is accepted.
    pub const fn verify_checksums(&mut self, verify: bool) -> &mut Self {
        self.verify_checksums = verify;
        self
    }

    /// As [`decompress`].
    pub fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        let mut bytes = Bytes::new(input);
        let mut done = 0_usize;
        while !bytes.is_empty() {
            if take_skippable(&mut bytes)?.is_some() {
                continue;
            }
            let room = output.get_mut(done..).unwrap_or_default();
            let mut frame = FrameDecoder {
                input,
                tables: &mut self.workspace.tables,
                verify_checksum: self.verify_checksums,
            };
            let size = frame.decode(&mut bytes, room).map_err(|error| widen(error, done))?;
            done = done.saturating_add(size);
        }
        Ok(done)
    }
}

/// The error of a frame whose content begins at `done` in the output, as one of the whole output.
#[cold]
fn widen(error: Error, done: usize) -> Error {
    match error.kind() {
        ErrorKind::OutputTooSmall { capacity, needed } => {
            let capacity = capacity.saturating_add(to_u64(done));
            let needed = needed.saturating_add(to_u64(done));
            Error::new(error.offset(), error.element(), ErrorKind::OutputTooSmall { capacity, needed })
        }
        _ => error,
    }
}

struct FrameDecoder<'a> {
    input: &'a [u8],
    tables: &'a mut Tables,
    verify_checksum: bool,
}

impl FrameDecoder<'_> {
    /// Decodes the frame at the front of `bytes`, which end where the input does, and takes it off.
    fn decode(&mut self, bytes: &mut Bytes<'_>, output: &mut [u8]) -> Result<usize> {
        let header = FrameHeader::read(bytes)?;
        if let Some(id) = header.dictionary_id() {
            let kind = ErrorKind::DictionaryNeeded { id: id.into() };
            return Err(Error::new(header.offset(), FRAME_HEADER, kind));
        }
        self.tables.reset();
        let mut checksum = (header.has_checksum() && self.verify_checksum).then(Xxh64::new);
        let mut at = 0_usize;
        loop {
            let block = BlockHeader::read(bytes)?;
            let end = self.decode_block(&header, &block, bytes, output, at)?;
            if let Some(checksum) = &mut checksum {
                checksum.update(output.get(at..end).unwrap_or_default());
            }
            at = end;
            if block.is_last() {
                break;
            }
        }
        let size = to_u64(at);
        if let Some(stated) = header.content_size().filter(|&stated| stated != size) {
            let kind = ErrorKind::SizeMismatch { stated, found: size };
            return Err(Error::new(header.offset(), CONTENT, kind));
        }
        if header.has_checksum() {
            let offset = bytes.offset();
            let stored = u32::from_le_bytes(*bytes.array(CHECKSUM)?);
            if let Some(computed) = checksum.map(|sum| sum.low_half()).filter(|&sum| sum != stored) {
                let kind = ErrorKind::ChecksumMismatch { stored: stored.into(), computed: computed.into() };
                return Err(Error::new(offset, CHECKSUM, kind));
            }
        }
        Ok(at)
    }

    /// Takes the body of a block and decodes it to `output[at..]`; returns where it ends.
    fn decode_block(
        &mut self,
        header: &FrameHeader,
        block: &BlockHeader,
        bytes: &mut Bytes<'_>,
        output: &mut [u8],
        at: usize,
    ) -> Result<usize> {
        let body = bytes.take(block.stored_size().into(), BLOCK)?;
        if block.kind() == BlockKind::Compressed {
            // All positions in the input are below its length.
            let end = self.input.len().saturating_sub(bytes.len());
            let start = end.saturating_sub(body.len());
            let base = start.saturating_sub(LEAD.saturating_mul(2));
            let source = self.input.get(base..end).unwrap_or_default();
            let start = start.saturating_sub(base);
            let compressed = Compressed { source, start, most: header.block_most() };
            return compressed.decode(output, at, self.tables).map_err(|error| error.rebased(to_u64(base)));
        }
        let size = usize::try_from(block.content_size().unwrap_or(0)).unwrap_or(usize::MAX);
        let end = at.saturating_add(size);
        let capacity = to_u64(output.len());
        let Some(place) = output.get_mut(at..end) else {
            let kind = ErrorKind::OutputTooSmall { capacity, needed: to_u64(end) };
            return Err(Error::new(block.offset(), BLOCK, kind));
        };
        match body.as_slice() {
            &[byte] if block.kind() == BlockKind::Run => place.fill(byte),
            body => copy::copy(body, place),
        }
        Ok(end)
    }
}
