//! Decoding through a window that is a ring.

use super::block::{BlockHeader, BlockKind, Compressed};
use super::checksum::Xxh64;
use super::copy;
use super::element::{BLOCK, LITERALS, SEQUENCES, WINDOW_BUFFER};
use super::frame::FrameHeader;
use super::huffman::Streams;
use super::literals::{self, Mode};
use super::processor::Processor;
use super::sequences::{self, Reader, Sequence};
use super::target::Target;
use super::workspace::Tables;
use crate::bytes::{to_u64, to_usize};
use crate::error::{Error, ErrorKind, Result};

/// A window as a ring: what is written last replaces what is oldest.
pub(super) struct Ring<'o, F, P> {
    bytes: &'o mut [u8],
    piece: F,
    processor: P,
    /// The position of the next byte; it may be the end.
    at: usize,
    /// The number of bytes of the block that have not been handed out. They lie before `at`, and may begin at the end
    /// of the ring.
    pending: usize,
    /// The distance that the frame may refer back.
    window: u64,
    /// The most that a block of the frame holds.
    max: usize,
    /// The size of the frame's content so far.
    size: u64,
    /// The size of the frames before it.
    before: u64,
    /// The most that all frames may have.
    limit: u64,
}

impl<'o, F: FnMut(&[u8]), P: Processor> Ring<'o, F, P> {
    pub(super) fn new(bytes: &'o mut [u8], piece: F, limit: u64, processor: P) -> Self {
        Self { bytes, piece, processor, at: 0, pending: 0, window: 0, max: 0, size: 0, before: 0, limit }
    }

    /// The size of the content of all frames.
    pub(super) fn total(&self) -> u64 {
        self.before.saturating_add(self.size)
    }

    /// Makes room for `count` more bytes of the block.
    fn reserve(&self, count: usize) -> Result<(), ErrorKind> {
        let size = self.pending.saturating_add(count);
        let limit = self.max.min(self.bytes.len());
        if size > limit {
            return Err(ErrorKind::OverLimit { value: to_u64(size), limit: to_u64(limit) });
        }
        let total = self.total().saturating_add(to_u64(count));
        if total > self.limit {
            return Err(ErrorKind::OverLimit { value: total, limit: self.limit });
        }
        Ok(())
    }

    /// Writes `count` bytes, for which there is room, in up to two parts.
    fn write<E>(
        &mut self,
        mut count: usize,
        mut part: impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        while count > 0 {
            if self.at >= self.bytes.len() {
                self.at = 0;
            }
            let size = count.min(self.bytes.len().saturating_sub(self.at));
            let end = self.at.saturating_add(size);
            let place = self.bytes.get_mut(self.at..end).unwrap_or_default();
            if place.is_empty() {
                break; // An empty ring; no room can have been made.
            }
            part(place)?;
            self.advance(size);
            count = count.saturating_sub(size);
        }
        Ok(())
    }

    fn advance(&mut self, count: usize) {
        self.at = self.at.saturating_add(count);
        self.pending = self.pending.saturating_add(count);
        self.size = self.size.saturating_add(to_u64(count));
    }

    /// Repeats `len` bytes from `offset` bytes back.
    fn repeat(&mut self, offset: usize, mut len: usize) -> Result<(), ErrorKind> {
        let available = self.size.min(self.window).min(to_u64(self.bytes.len()));
        if to_u64(offset.wrapping_sub(1)) >= available {
            return Err(ErrorKind::OffsetTooFar { offset: to_u64(offset), available });
        }
        while len > 0 {
            if self.at >= self.bytes.len() {
                self.at = 0;
            }
            // In front of the start, the ring goes on from its end.
            let from = match self.at.checked_sub(offset) {
                Some(from) => from,
                None => self.bytes.len().saturating_sub(offset).saturating_add(self.at),
            };
            let room = self.bytes.len().saturating_sub(self.at.max(from));
            let size = len.min(room);
            if size == 0 || copy::exact(self.bytes, from, self.at, size).is_none() {
                break; // Neither position can be the end.
            }
            self.advance(size);
            len = len.saturating_sub(size);
        }
        Ok(())
    }
}

impl<F: FnMut(&[u8]), P: Processor> Target for Ring<'_, F, P> {
    fn begin(&mut self, header: &FrameHeader) -> Result<()> {
        self.before = self.total();
        self.size = 0;
        self.window = header.window_size();
        self.max = header.block_max();
        let needed = header.content_size().map_or(self.window, |size| size.min(self.window));
        let capacity = to_u64(self.bytes.len());
        if needed > capacity {
            let kind = ErrorKind::CapacityExceeded { capacity, needed };
            return Err(Error::new(header.offset().saturating_add(5), WINDOW_BUFFER, kind));
        }
        Ok(())
    }

    fn fill(&mut self, block: &BlockHeader, body: &[u8], size: usize) -> Result<()> {
        let fault = |kind| Error::new(block.offset(), BLOCK, kind);
        self.reserve(size).map_err(fault)?;
        match body {
            &[byte] if block.kind() == BlockKind::Rle => self.write(size, |place| {
                place.fill(byte);
                Ok(())
            }),
            mut body => self.write(size, |place| {
                copy::copy(body, place);
                body = body.get(place.len()..).unwrap_or_default();
                Ok(())
            }),
        }
    }

    fn decode(&mut self, block: Compressed<'_>, tables: &mut Tables) -> Result<()> {
        self.processor.run(
            #[inline(always)]
            || self.execute(block, tables),
        )
    }

    fn end_block(&mut self, mut checksum: Option<&mut Xxh64>) {
        // The bytes that are not before the position are at the end of the ring.
        let wrapped = self.pending.saturating_sub(self.at);
        let len = self.bytes.len();
        let ranges = [len.saturating_sub(wrapped)..len, self.at.saturating_sub(self.pending)..self.at];
        for range in ranges {
            let part = self.bytes.get(range).unwrap_or_default();
            if let Some(checksum) = &mut checksum {
                checksum.update(part);
            }
            if !part.is_empty() {
                (self.piece)(part);
            }
        }
        self.pending = 0;
    }

    fn size(&self) -> u64 {
        self.size
    }
}

impl<F: FnMut(&[u8]), P: Processor> Ring<'_, F, P> {
    /// Decodes a block.
    #[inline(always)]
    fn execute(&mut self, block: Compressed<'_>, tables: &mut Tables) -> Result<()> {
        let (source, end) = (block.source, block.source.len());
        let header = block.literals(tables)?;
        let start = header.read_tree(source, tables)?;
        let section = sequences::Header::read(source, header.end, end, tables)?;
        let mut literals = Literals::open(&header, source, start, tables)?;
        if section.count > 0 {
            let fault = |kind| Error::new(to_u64(section.start), SEQUENCES, kind);
            let reader = Reader::open(source, section.start, end, tables);
            let mut reader = reader.ok_or_else(|| fault(ErrorKind::BadBitStream))?;
            for left in (0..section.count).rev() {
                let Sequence { literals: count, len, offset } = reader.next(left == 0);
                let [count, len, offset] = [count, len, offset].map(to_usize);
                let size = count.saturating_add(len);
                self.reserve(size).map_err(|kind| Error::new(to_u64(block.start), BLOCK, kind))?;
                literals.write(count, self)?;
                self.repeat(offset, len).map_err(fault)?;
            }
            if reader.left(section.start) != 0 {
                return Err(fault(ErrorKind::BadBitStream));
            }
            let recent = reader.recent();
            let left = literals.left;
            self.reserve(left).map_err(|kind| Error::new(to_u64(block.start), BLOCK, kind))?;
            literals.write(left, self)?;
            tables.recent = recent;
            return Ok(());
        }
        let left = literals.left;
        self.reserve(left).map_err(|kind| Error::new(to_u64(block.start), BLOCK, kind))?;
        literals.write(left, self)
    }
}

/// The literals of a block, decoded as they are needed.
struct Literals<'a> {
    content: Content<'a>,
    left: usize,
    /// The start of the section, for errors.
    start: usize,
}

enum Content<'a> {
    Raw(&'a [u8]),
    Rle(u8),
    Huffman(Streams<'a>),
}

impl<'a> Literals<'a> {
    /// Opens the literals whose content, after a tree, begins at `start`.
    fn open(header: &literals::Header, source: &'a [u8], start: usize, tables: &'a Tables) -> Result<Self> {
        let content = match header.mode {
            Mode::Raw => Content::Raw(source.get(start..header.end).unwrap_or_default()),
            Mode::Rle => Content::Rle(source.get(start).copied().unwrap_or(0)),
            Mode::Compressed | Mode::Treeless => {
                let four = header.four_streams;
                Content::Huffman(tables.tree.streams(source, start, header.end, header.count, four)?)
            }
        };
        Ok(Self { content, left: header.count, start })
    }

    /// Writes the next `count` of them.
    fn write<F, P>(&mut self, count: usize, ring: &mut Ring<'_, F, P>) -> Result<()>
    where
        F: FnMut(&[u8]),
        P: Processor,
    {
        let Some(left) = self.left.checked_sub(count) else {
            let kind = ErrorKind::CountTooLarge { claimed: to_u64(count), max: to_u64(self.left) };
            return Err(Error::new(to_u64(self.start), LITERALS, kind));
        };
        self.left = left;
        match &mut self.content {
            Content::Raw(bytes) => ring.write(count, |place| {
                copy::copy(bytes, place);
                *bytes = bytes.get(place.len()..).unwrap_or_default();
                Ok(())
            }),
            Content::Rle(byte) => ring.write(count, |place| {
                place.fill(*byte);
                Ok(())
            }),
            Content::Huffman(streams) => {
                ring.write(count, |place| streams.fill(place))?;
                if left == 0 { streams.end() } else { Ok(()) }
            }
        }
    }
}
