//! Frames: their headers, and walking them without decoding.

use super::block::BlockHeader;
use super::element::{BLOCK, CHECKSUM, FRAME, FRAME_HEADER, SKIPPABLE, WINDOW};
use crate::bytes::Bytes;
use crate::error::{Error, ErrorKind, Result};

/// The first bytes of a frame with data.
const MAGIC: u32 = 0xfd2f_b528;
/// The first bytes of a skippable frame, less the last 4 bits.
const SKIPPABLE_MAGIC: u32 = 0x184d_2a50;

/// The header of a frame with data.
///
/// # Layout
/// Magic (4 bytes), descriptor (1), window descriptor (0 or 1), dictionary id (0, 1, 2 or 4), content size
/// (0, 1, 2, 4 or 8); integers are little-endian. See RFC 8878, 3.1.1.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameHeader {
    offset: u64,
    size: u8,
    content_size: Option<u64>,
    window_size: u64,
    dictionary_id: Option<u32>,
    has_checksum: bool,
    is_single_segment: bool,
}

impl FrameHeader {
    /// Reads the header at the front, magic and all.
    pub(super) fn read(bytes: &mut Bytes<'_>) -> Result<Self> {
        let start = *bytes;
        read_magic(bytes)?;
        let [descriptor] = *bytes.array(FRAME_HEADER)?;
        if descriptor & 0x08 != 0 {
            let kind = ErrorKind::ReservedNotZero { value: 1 };
            return Err(Error::new(start.offset().saturating_add(4), FRAME_HEADER, kind));
        }
        let is_single_segment = descriptor & 0x20 != 0;
        let window = if is_single_segment {
            None
        } else {
            let [window] = *bytes.array(WINDOW)?;
            let base = 1_u64.wrapping_shl(u32::from(window >> 3).saturating_add(10));
            Some(base.saturating_add((base >> 3).saturating_mul(u64::from(window & 7))))
        };
        let id_size = [0, 1, 2, 4].get(usize::from(descriptor & 3)).copied().unwrap_or(0);
        let id = little_endian(bytes, id_size)?;
        let dictionary_id = u32::try_from(id).ok().filter(|&id| id != 0);
        let content_size = match descriptor >> 6 {
            0 if is_single_segment => Some(little_endian(bytes, 1)?),
            0 => None,
            1 => Some(little_endian(bytes, 2)?.saturating_add(256)),
            2 => Some(little_endian(bytes, 4)?),
            // All ones stand for "unknown" in the reference implementation.
            _ => Some(little_endian(bytes, 8)?).filter(|&size| size != u64::MAX),
        };
        let size = start.len().saturating_sub(bytes.len());
        Ok(Self {
            offset: start.offset(),
            size: u8::try_from(size).unwrap_or(u8::MAX),
            content_size,
            window_size: window.or(content_size).unwrap_or(u64::MAX),
            dictionary_id,
            has_checksum: descriptor & 0x04 != 0,
            is_single_segment,
        })
    }

    /// Offset of the frame in the input.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Size of the header in bytes, from 6 to 18.
    pub const fn header_size(&self) -> u8 {
        self.size
    }

    /// Size of the frame's content in bytes, where the frame states it.
    pub const fn content_size(&self) -> Option<u64> {
        self.content_size
    }

    /// The number of bytes back the content may refer to itself.
    ///
    /// For a single segment it is the content size. It does not matter for decoding into a slice.
    pub const fn window_size(&self) -> u64 {
        self.window_size
    }

    /// The number of the dictionary that the content needs.
    pub const fn dictionary_id(&self) -> Option<u32> {
        self.dictionary_id
    }

    /// True if a checksum of the content follows the last block.
    pub const fn has_checksum(&self) -> bool {
        self.has_checksum
    }

    /// True if the content is meant to be decoded to one piece of memory.
    pub const fn is_single_segment(&self) -> bool {
        self.is_single_segment
    }

    /// The largest size of the content of a block.
    pub(super) fn block_max(&self) -> usize {
        usize::try_from(self.window_size).unwrap_or(usize::MAX).min(super::block::SIZE_MAX)
    }
}

/// Takes an integer of `size` bytes, at most 8.
fn little_endian(bytes: &mut Bytes<'_>, size: u64) -> Result<u64> {
    let field = bytes.take(size, FRAME_HEADER)?.as_slice();
    Ok(field.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}

/// Takes the magic of a frame with data.
fn read_magic(bytes: &mut Bytes<'_>) -> Result<()> {
    let start = *bytes;
    let word = bytes.array::<4>(FRAME)?;
    if *word == MAGIC.to_le_bytes() {
        return Ok(());
    }
    Err(start.error(FRAME, ErrorKind::bad_magic(start.as_slice())))
}

/// Takes a skippable frame, if there is one: the last 4 bits of its magic, and its user data.
pub(super) fn take_skippable<'a>(bytes: &mut Bytes<'a>) -> Result<Option<(u8, Bytes<'a>)>> {
    let mut rest = *bytes;
    let Ok(&magic) = rest.array::<4>(SKIPPABLE) else { return Ok(None) };
    let [low, ..] = magic;
    let magic = u32::from_le_bytes(magic);
    if magic & !15 != SKIPPABLE_MAGIC {
        return Ok(None);
    }
    let size = u32::from_le_bytes(*rest.array(SKIPPABLE)?);
    let data = rest.take(size.into(), SKIPPABLE)?;
    *bytes = rest;
    Ok(Some((low & 15, data)))
}

/// A frame of the input.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Frame<'a> {
    /// A frame with data.
    Data(DataFrame<'a>),
    /// A frame with something else, which decoders skip.
    Skippable(SkippableFrame<'a>),
}

/// A frame with data.
#[derive(Clone, Copy, Debug)]
pub struct DataFrame<'a> {
    header: FrameHeader,
    bytes: Bytes<'a>,
    checksum: Option<u32>,
}

impl<'a> DataFrame<'a> {
    /// The frame's header.
    pub const fn header(&self) -> FrameHeader {
        self.header
    }

    /// The frame as it is stored, from its magic to its checksum.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes.as_slice()
    }

    /// The low 32 bits of the content's XXH64, where the frame has them.
    pub const fn checksum(&self) -> Option<u32> {
        self.checksum
    }

    /// The headers of the frame's blocks.
    pub fn blocks(&self) -> Blocks<'a> {
        let mut bytes = self.bytes;
        bytes.advance(usize::from(self.header.size));
        Blocks { bytes: Some(bytes) }
    }
}

/// A frame that decoders skip.
///
/// # Layout
/// Magic (4 bytes, `0x184d2a50` to `0x184d2a5f`), size (4), user data. See RFC 8878, 3.1.2.
#[derive(Clone, Copy, Debug)]
pub struct SkippableFrame<'a> {
    offset: u64,
    variant: u8,
    data: Bytes<'a>,
}

impl<'a> SkippableFrame<'a> {
    /// Offset of the frame in the input.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The last 4 bits of its magic, which the user chooses.
    pub const fn variant(&self) -> u8 {
        self.variant
    }

    /// The bytes that the user has stored.
    pub const fn user_data(&self) -> &'a [u8] {
        self.data.as_slice()
    }
}

/// The frames of an input, without decoding them.
///
/// ```
/// use traceglass::zstd::{Frame, Frames};
///
/// let input = b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello"; // one segment, 5 bytes in a last, raw block
/// let mut frames = Frames::new(input);
/// let Some(Ok(Frame::Data(frame))) = frames.next() else { panic!() };
/// assert_eq!(frame.header().content_size(), Some(5));
/// assert_eq!(frame.as_bytes().len(), 14);
/// assert!(frames.next().is_none());
/// ```
#[derive(Clone, Debug)]
pub struct Frames<'a> {
    bytes: Option<Bytes<'a>>,
}

impl<'a> Frames<'a> {
    /// The frames of `input`, one after the other.
    pub const fn new(input: &'a [u8]) -> Self {
        Self { bytes: Some(Bytes::new(input)) }
    }

    /// Takes the next frame off the front.
    fn take(bytes: &mut Bytes<'a>) -> Result<Frame<'a>> {
        let start = *bytes;
        if let Some((variant, data)) = take_skippable(bytes)? {
            return Ok(Frame::Skippable(SkippableFrame { offset: start.offset(), variant, data }));
        }
        let header = FrameHeader::read(bytes)?;
        while !take_block(bytes)?.is_last() {}
        let checksum =
            if header.has_checksum { Some(u32::from_le_bytes(*bytes.array(CHECKSUM)?)) } else { None };
        let size = start.len().saturating_sub(bytes.len());
        let bytes = start.split(size).map_or(start, |(frame, _)| frame);
        Ok(Frame::Data(DataFrame { header, bytes, checksum }))
    }
}

/// Takes a block off the front, header and all.
fn take_block(bytes: &mut Bytes<'_>) -> Result<BlockHeader> {
    let header = BlockHeader::read(bytes)?;
    bytes.take(header.stored_size().into(), BLOCK)?;
    Ok(header)
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Frame<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut bytes = self.bytes.take().filter(|bytes| !bytes.is_empty())?;
        let frame = Self::take(&mut bytes);
        if frame.is_ok() {
            self.bytes = Some(bytes);
        }
        Some(frame)
    }
}

impl core::iter::FusedIterator for Frames<'_> {}

/// The headers of a frame's blocks, in order.
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    bytes: Option<Bytes<'a>>,
}

impl Iterator for Blocks<'_> {
    type Item = Result<BlockHeader>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut bytes = self.bytes.take()?;
        let block = take_block(&mut bytes);
        if block.is_ok_and(|block| !block.is_last()) {
            self.bytes = Some(bytes);
        }
        Some(block)
    }
}

impl core::iter::FusedIterator for Blocks<'_> {}

/// The size of the content of all frames of `input` together; `None` where one does not state its own.
///
/// It walks the frames' blocks without decoding them. An output of that size suffices for
/// [`decompress`](super::decompress).
///
/// # Errors
/// The errors of [`Frames`], in their order.
pub fn content_size(input: &[u8]) -> Result<Option<u64>> {
    let mut sum = Some(0_u64);
    for frame in Frames::new(input) {
        if let Frame::Data(frame) = frame? {
            sum = sum.and_then(|sum| sum.checked_add(frame.header.content_size?));
        }
    }
    Ok(sum)
}
