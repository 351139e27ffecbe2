//! Decoding whole frames.

use super::bits::LEAD;
use super::block::{BlockHeader, BlockKind, Compressed};
use super::checksum::Xxh64;
use super::copy;
use super::element::{BLOCK, CHECKSUM, CONTENT, FRAME_HEADER, OUTPUT};
use super::frame::{FrameHeader, take_skippable};
use super::processor::{Baseline, Processor};
use super::ring::Ring;
use super::target::Target;
use super::workspace::{Tables, Workspace};
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Result};

/// Decodes all frames of `input` to the front of `output`; returns the size of their content.
///
/// An output of exactly the content size suffices. After the content, or after an error, the bytes of the output have
/// no meaning. An empty input is no frames, so that its content is empty.
///
/// # Errors
/// [`CapacityExceeded`](ErrorKind::CapacityExceeded) if `output` is too small: lending as much as needed suffices where
/// the frame states its size, and is the least that can suffice where it does not;
/// [`DictionaryNeeded`](ErrorKind::DictionaryNeeded), [`ChecksumMismatch`](ErrorKind::ChecksumMismatch), and whatever
/// else may be wrong with a frame. The first error ends decoding.
pub fn decompress<P: Processor>(
    input: &[u8],
    output: &mut [u8],
    workspace: &mut Workspace<P>,
) -> Result<usize> {
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
pub struct Decoder<'w, P = Baseline> {
    workspace: &'w mut Workspace<P>,
    verify_checksums: bool,
    limit: u64,
}

impl<'w, P: Processor> Decoder<'w, P> {
    /// A decoder that verifies checksums.
    pub const fn new(workspace: &'w mut Workspace<P>) -> Self {
        Self { workspace, verify_checksums: true, limit: u64::MAX }
    }

    /// Sets whether checksums are verified; without, it is faster on small cores, and a wrong one is accepted.
    pub const fn verify_checksums(&mut self, verify: bool) -> &mut Self {
        self.verify_checksums = verify;
        self
    }

    /// Sets how many bytes [`stream`](Self::stream) decodes at most: what would be more is an error, and nothing of it is
    /// decoded. A block of 4 bytes can claim 128 KiB.
    pub const fn limit(&mut self, bytes: u64) -> &mut Self {
        self.limit = bytes;
        self
    }

    /// As [`decompress`].
    pub fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        let processor = self.workspace.processor;
        let mut slice = Slice { output, start: 0, block: 0, at: 0, stated: 0, processor };
        decode_frames(input, &mut self.workspace.tables, self.verify_checksums, &mut slice)?;
        Ok(slice.start.saturating_add(slice.at))
    }

    /// Decodes all frames of `input` through a `window`, for content that is larger than memory.
    ///
    /// The content is handed to `piece` in order, in pieces of up to 128 KiB that lie in the window. A checksum is
    /// compared after the last piece only. Returns the size of the content.
    ///
    /// The window must be as large as the frame's own, [`FrameHeader::window_size`](super::FrameHeader::window_size), or
    /// as the content if that is stated and smaller. Here references further back than the frame's window are
    /// refused. This way of decoding needs no room for
    /// literals and is written for size; into a slice it is faster.
    ///
    /// # Errors
    /// [`CapacityExceeded`](ErrorKind::CapacityExceeded) with the window size needed, `OverLimit` of the
    /// [limit](Self::limit), and those of [`decompress`].
    ///
    /// ```
    /// use traceglass::zstd::{Decoder, Workspace};
    ///
    /// let input = b"\x28\xb5\x2f\xfd\x00\x00\x02\x20\x00-\x29\x00\x00hello"; // a window of 1 KiB, two blocks
    /// let mut text = String::new();
    /// let mut piece = |piece: &[u8]| text.push_str(core::str::from_utf8(piece).unwrap());
    /// let size = Decoder::new(&mut Workspace::new()).stream(input, &mut [0; 1024], &mut piece)?;
    /// assert_eq!((size, &text[1020..]), (1029, "----hello"));
    /// # Ok::<(), traceglass::Error>(())
    /// ```
    pub fn stream(&mut self, input: &[u8], window: &mut [u8], piece: impl FnMut(&[u8])) -> Result<u64> {
        let mut ring = Ring::new(window, piece, self.limit, self.workspace.processor);
        decode_frames(input, &mut self.workspace.tables, self.verify_checksums, &mut ring)?;
        Ok(ring.total())
    }
}

/// The error of a frame whose content begins at `done` in the output, as one of the whole output.
///
/// An output that holds the frame's stated size suffices for the frame, so that one more try does.
#[cold]
fn widen(error: Error, done: usize, stated: u64) -> Error {
    match error.kind() {
        ErrorKind::CapacityExceeded { capacity, needed } => {
            let capacity = capacity.saturating_add(to_u64(done));
            let needed = needed.max(stated).saturating_add(to_u64(done));
            Error::new(error.offset(), error.element(), ErrorKind::CapacityExceeded { capacity, needed })
        }
        _ => error,
    }
}

/// Decodes all frames of `input`.
pub(super) fn decode_frames(
    input: &[u8],
    tables: &mut Tables,
    verify_checksums: bool,
    target: &mut impl Target,
) -> Result<()> {
    let mut bytes = Bytes::new(input);
    while !bytes.is_empty() {
        if take_skippable(&mut bytes)?.is_none() {
            decode_frame(input, &mut bytes, tables, verify_checksums, target)?;
        }
    }
    Ok(())
}

/// Decodes the frame at the front of `bytes`, and removes it from them. They end where the input does.
fn decode_frame(
    input: &[u8],
    bytes: &mut Bytes<'_>,
    tables: &mut Tables,
    verify_checksum: bool,
    target: &mut impl Target,
) -> Result<()> {
    let header = FrameHeader::read(bytes)?;
    if let Some(id) = header.dictionary_id() {
        let kind = ErrorKind::DictionaryNeeded { id: id.into() };
        return Err(Error::new(header.offset(), FRAME_HEADER, kind));
    }
    tables.reset();
    target.begin(&header)?;
    let mut checksum = (header.has_checksum() && verify_checksum).then(Xxh64::new);
    loop {
        let block = BlockHeader::read(bytes)?;
        let body = bytes.take(block.stored_size().into(), BLOCK)?;
        match block.content_size().map(usize::try_from) {
            Some(size) => {
                let (size, limit) = (size.unwrap_or(usize::MAX), header.block_max());
                if size > limit {
                    let kind = ErrorKind::OverLimit { value: to_u64(size), limit: to_u64(limit) };
                    return Err(Error::new(block.offset(), BLOCK, kind));
                }
                target.fill(&block, body.as_slice(), size)?;
            }
            None => {
                // All positions in the input are below its length.
                let end = input.len().saturating_sub(bytes.len());
                let start = end.saturating_sub(body.len());
                let base = start.saturating_sub(LEAD.saturating_mul(2));
                let source = input.get(base..end).unwrap_or_default();
                let start = start.saturating_sub(base);
                let block = Compressed { source, start, max: header.block_max() };
                target.decode(block, tables).map_err(|error| error.rebased(to_u64(base)))?;
            }
        }
        target.end_block(checksum.as_mut());
        if block.is_last() {
            break;
        }
    }
    let found = target.size();
    if let Some(stated) = header.content_size().filter(|&stated| stated != found) {
        return Err(Error::new(header.offset(), CONTENT, ErrorKind::SizeMismatch { stated, found }));
    }
    if header.has_checksum() {
        let offset = bytes.offset();
        let stored = u32::from_le_bytes(*bytes.array(CHECKSUM)?);
        if let Some(computed) = checksum.map(|sum| sum.low_half()).filter(|&sum| sum != stored) {
            let kind = ErrorKind::ChecksumMismatch { stored: stored.into(), computed: computed.into() };
            return Err(Error::new(offset, CHECKSUM, kind));
        }
    }
    Ok(())
}

/// A slice for the content of all frames.
struct Slice<'o, P> {
    output: &'o mut [u8],
    /// The start of the frame.
    start: usize,
    /// The start of the block, counted from there as are all positions within a frame.
    block: usize,
    at: usize,
    /// The size of the frame's content, if the frame states it, or 0.
    stated: u64,
    processor: P,
}

impl<P> Slice<'_, P> {
    /// The frame's part of the output.
    fn frame(&mut self) -> &mut [u8] {
        self.output.get_mut(self.start..).unwrap_or_default()
    }
}

impl<P: Processor> Target for Slice<'_, P> {
    fn begin(&mut self, header: &FrameHeader) -> Result<()> {
        self.stated = header.content_size().unwrap_or(0);
        self.start = self.start.saturating_add(self.at);
        (self.block, self.at) = (0, 0);
        Ok(())
    }

    fn fill(&mut self, block: &BlockHeader, body: &[u8], size: usize) -> Result<()> {
        let (start, at, stated) = (self.start, self.at, self.stated);
        let end = at.saturating_add(size);
        let output = self.frame();
        let capacity = to_u64(output.len());
        let Some(place) = output.get_mut(at..end) else {
            let kind = ErrorKind::CapacityExceeded { capacity, needed: to_u64(end) };
            return Err(widen(Error::new(block.offset(), OUTPUT, kind), start, stated));
        };
        match body {
            &[byte] if block.kind() == BlockKind::Rle => place.fill(byte),
            body => copy::copy(body, place),
        }
        self.at = end;
        Ok(())
    }

    fn decode(&mut self, block: Compressed<'_>, tables: &mut Tables) -> Result<()> {
        let (start, at, stated) = (self.start, self.at, self.stated);
        let processor = self.processor;
        let end = block.decode(self.frame(), at, tables, processor);
        self.at = end.map_err(|error| widen(error, start, stated))?;
        Ok(())
    }

    fn end_block(&mut self, checksum: Option<&mut Xxh64>) {
        let (block, at) = (self.block, self.at);
        if let Some(checksum) = checksum {
            checksum.update(self.frame().get(block..at).unwrap_or_default());
        }
        self.block = at;
    }

    fn size(&self) -> u64 {
        to_u64(self.at)
    }
}
