//! Blocks: their headers, and decoding one into a slice.

use super::copy::{self, OVERSHOOT};
use super::element::{BLOCK, BLOCK_HEADER, HUFFMAN_TREE, LITERALS, OUTPUT, SEQUENCES};
use super::literals::{self, Mode};
use super::processor::Processor;
use super::sequences::{self, Reader, Sequence};
use super::workspace::Tables;
use crate::bytes::{Bytes, to_u64, to_usize};
use crate::error::{Error, ErrorKind, Result};

/// The most that a block holds, in any frame.
pub(super) const SIZE_MAX: usize = 128 << 10;

/// The encoding of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockKind {
    /// As it is.
    Raw,
    /// As one byte that is repeated.
    Rle,
    /// Compressed.
    Compressed,
}

/// The header of a block.
///
/// # Layout
/// 3 bytes, little-endian: bit 0 marks the last block, bits 1 and 2 are the kind, the others a size.
/// See RFC 8878, 3.1.1.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockHeader {
    offset: u64,
    is_last: bool,
    kind: BlockKind,
    size: u32,
}

impl BlockHeader {
    pub(super) fn read(bytes: &mut Bytes<'_>) -> Result<Self> {
        let offset = bytes.offset();
        let [low, middle, high] = *bytes.array(BLOCK_HEADER)?;
        let word = u32::from_le_bytes([low, middle, high, 0]);
        let kind = match word >> 1 & 3 {
            0 => BlockKind::Raw,
            1 => BlockKind::Rle,
            2 => BlockKind::Compressed,
            value => {
                return Err(Error::new(offset, BLOCK_HEADER, ErrorKind::Invalid { value: value.into() }));
            }
        };
        Ok(Self { offset, is_last: word & 1 != 0, kind, size: word >> 3 })
    }

    /// Offset of the header in the input.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// True if it is the last block of its frame.
    pub const fn is_last(&self) -> bool {
        self.is_last
    }

    /// The encoding of the block.
    pub const fn kind(&self) -> BlockKind {
        self.kind
    }

    /// The size of the block as stored, without this header.
    pub const fn stored_size(&self) -> u32 {
        match self.kind {
            BlockKind::Rle => 1,
            _ => self.size,
        }
    }

    /// The size of the block's content, if it can be told without decoding.
    pub const fn content_size(&self) -> Option<u32> {
        match self.kind {
            BlockKind::Compressed => None,
            _ => Some(self.size),
        }
    }
}

/// A compressed block in its input.
#[derive(Clone, Copy)]
pub(super) struct Compressed<'a> {
    /// The input up to the end of the block, from at least 8 bytes before it.
    pub(super) source: &'a [u8],
    /// The offset of the block in that.
    pub(super) start: usize,
    /// The most that a block of this frame holds.
    pub(super) max: usize,
}

impl Compressed<'_> {
    /// Decodes the block to `output[at..]`; returns where it ends. What is before is the history.
    pub(super) fn decode(
        self,
        output: &mut [u8],
        at: usize,
        tables: &mut Tables,
        processor: impl Processor,
    ) -> Result<usize> {
        let (source, end) = (self.source, self.source.len());
        let literals = self.literals(tables)?;
        // Literals wait at the free end of the output, as far from the start as the block can reach, plus room for
        // copies to overshoot. In a good block, what is written never reaches the literals that are left: the block is
        // at least as long as both together.
        let space = output.len().saturating_sub(at);
        if literals.count > space {
            return Err(too_small(output, literals.count.saturating_sub(space), self.start));
        }
        let literals_end = output.len().min(at.saturating_add(self.max).saturating_add(OVERSHOOT));
        let literals_start = literals_end.saturating_sub(literals.count);
        let place = output.get_mut(literals_start..literals_end).unwrap_or_default();
        literals.decode(source, place, tables, processor)?;

        let header = sequences::Header::read(source, literals.end, end, tables)?;
        let mut place = Place { start: at, max: self.max, at, literals: literals_start, literals_end };
        if header.count > 0 {
            place = self.execute_on(processor, header, output, place, tables)?;
        }
        place.finish(output).map_err(|kind| {
            let element = if matches!(kind, ErrorKind::CapacityExceeded { .. }) { OUTPUT } else { BLOCK };
            Error::new(to_u64(self.start), element, kind)
        })
    }

    /// Decodes and executes the sequences, in a function of its own so that its variables stay in registers.
    #[inline(never)]
    fn execute_on(
        self,
        processor: impl Processor,
        header: sequences::Header,
        output: &mut [u8],
        place: Place,
        tables: &mut Tables,
    ) -> Result<Place> {
        processor.run(
            #[inline(always)]
            || self.execute(header, output, place, tables),
        )
    }

    /// Decodes and executes the sequences in one pass.
    #[inline(always)]
    #[allow(clippy::arithmetic_side_effects, clippy::as_conversions)] // Positions in a slice, close to each other.
    fn execute(
        self,
        header: sequences::Header,
        output: &mut [u8],
        mut place: Place,
        tables: &mut Tables,
    ) -> Result<Place> {
        let fault = |kind| match kind {
            // About the block as a whole.
            ErrorKind::OverLimit { .. } => Error::new(to_u64(self.start), BLOCK, kind),
            ErrorKind::CapacityExceeded { .. } => Error::new(to_u64(self.start), OUTPUT, kind),
            _ => Error::new(to_u64(header.start), SEQUENCES, kind),
        };
        let reader = Reader::open(self.source, header.start, self.source.len(), tables);
        let mut reader = reader.ok_or_else(|| fault(ErrorKind::BadBitStream))?;
        // The output as far as 32 bits reach back, and as far as copies may read after the literals.
        let base = place.at.saturating_sub(REACH);
        let end = output.len().min(place.literals_end.saturating_add(OVERSHOOT));
        let mut near = output.get_mut(base..end).unwrap_or_default();
        // These two alone, since a whole place would not stay in registers.
        let (mut at, mut from) = ((place.at - base) as u32, (place.literals - base) as u32);
        for left in (0..header.count).rev() {
            let sequence = reader.next(left == 0);
            if let Some(ends) = execute_fast(near, at, from, sequence) {
                (at, from) = ends;
                continue;
            }
            // Near the end, invalid, or a match out of reach.
            place = Place { at: base + to_usize(at), literals: base + to_usize(from), ..place };
            let Sequence { literals, len, offset } = sequence;
            let [literals, len, offset] = [literals, len, offset].map(to_usize);
            place = place.execute_exactly(output, literals, len, offset).map_err(fault)?;
            (at, from) = ((place.at - base) as u32, (place.literals - base) as u32);
            near = output.get_mut(base..end).unwrap_or_default();
        }
        place = Place { at: base + to_usize(at), literals: base + to_usize(from), ..place };
        if reader.left(header.start) != 0 {
            return Err(fault(ErrorKind::BadBitStream));
        }
        tables.recent = reader.recent();
        Ok(place)
    }

    /// Reads the head of the literals.
    pub(super) fn literals(self, tables: &Tables) -> Result<literals::Header> {
        let fault = |element, kind| Err(Error::new(to_u64(self.start), element, kind));
        let size = self.source.len().saturating_sub(self.start);
        if size > self.max {
            return fault(BLOCK, ErrorKind::OverLimit { value: to_u64(size), limit: to_u64(self.max) });
        }
        let literals = literals::Header::read(self.source, self.start, self.source.len())?;
        if literals.count > self.max {
            let (value, limit) = (to_u64(literals.count), to_u64(self.max));
            return fault(LITERALS, ErrorKind::OverLimit { value, limit });
        }
        if literals.mode == Mode::Treeless && !tables.tree.is_known() {
            return fault(HUFFMAN_TREE, ErrorKind::MissingTable);
        }
        Ok(literals)
    }
}

impl literals::Header {
    /// Reads the tree, where there is one; returns where what is after it begins.
    pub(super) fn read_tree(&self, source: &[u8], tables: &mut Tables) -> Result<usize> {
        let size = match self.mode {
            Mode::Compressed => tables.tree.read(source, self.start, self.end, &mut tables.scratch)?,
            _ => 0,
        };
        Ok(self.start.saturating_add(size))
    }

    /// Decodes the literals into a slice of exactly their size.
    fn decode(
        &self,
        source: &[u8],
        place: &mut [u8],
        tables: &mut Tables,
        processor: impl Processor,
    ) -> Result<()> {
        let start = self.read_tree(source, tables)?;
        match self.mode {
            Mode::Raw => copy::copy(source.get(start..self.end).unwrap_or_default(), place),
            Mode::Rle => place.fill(source.get(start).copied().unwrap_or(0)),
            Mode::Compressed | Mode::Treeless => {
                if self.four_streams {
                    tables.tree.decode_four(source, start, self.end, place, processor)?;
                } else {
                    tables.tree.decode(source, start, self.end, place)?;
                }
            }
        }
        Ok(())
    }
}

/// The distance from the start of a block that the fast path reaches back, so that all its positions fit in 32 bits.
///
/// 4 KiB in tests and fuzzers, which cannot use files of gigabytes to get beyond it.
const REACH: usize = if cfg!(debug_assertions) { 4 << 10 } else { 1 << 30 };

/// Carries out a sequence at `at` whose literals wait at `from`, if copies may overshoot and what it repeats is in
/// `near`; returns where the next byte and the next literal are.
///
/// Positions and lengths come from 32 bits, so no sum of them overflows, and the compiler sees that the three
/// comparisons here are all the checks that the copies need.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects, clippy::as_conversions)] // See above.
fn execute_fast(near: &mut [u8], at: u32, from: u32, sequence: Sequence) -> Option<(u32, u32)> {
    let [at, from, literals, len, offset] =
        [at, from, sequence.literals, sequence.len, sequence.offset].map(to_usize);
    let middle = at + literals;
    let (end, next) = (middle + len, from + literals);
    if end + OVERSHOOT > next {
        return None;
    }
    let near = near.get_mut(..next + OVERSHOOT)?;
    let start = middle.checked_sub(offset)?;
    copy::fast(near, from, at, literals)?;
    if offset >= 16 {
        copy::fast(near, start, middle, len)?;
    } else {
        repeat(near, start, middle, len)?;
    }
    Some((end as u32, next as u32))
}

/// [`copy::repeat_short`], marked as rare so that the loop's variables stay in registers where it is not called.
#[cold]
fn repeat(near: &mut [u8], start: usize, middle: usize, len: usize) -> Option<()> {
    copy::repeat_short(near, start, middle, len)
}

/// The error for an output that is at least `missing` bytes too small.
#[cold]
fn too_small(output: &[u8], missing: usize, at: usize) -> Error {
    let capacity = to_u64(output.len());
    let needed = capacity.saturating_add(to_u64(missing));
    Error::new(to_u64(at), OUTPUT, ErrorKind::CapacityExceeded { capacity, needed })
}

/// The place of a block in the output.
#[derive(Clone, Copy)]
struct Place {
    /// The start of the block.
    start: usize,
    /// The most that it may hold.
    max: usize,
    /// The position of the next byte.
    at: usize,
    /// The position of the first literal that is left.
    literals: usize,
    literals_end: usize,
}

impl Place {
    /// Executes a sequence near the end of the output or of the literals, or reports what is wrong with it.
    ///
    /// Returns the new state by value, so that it can stay in registers elsewhere.
    #[cold]
    #[inline(never)]
    fn execute_exactly(
        self,
        output: &mut [u8],
        literals: usize,
        len: usize,
        offset: usize,
    ) -> Result<Self, ErrorKind> {
        let middle = self.at.saturating_add(literals);
        let end = middle.saturating_add(len);
        let left = self.literals_end.saturating_sub(self.literals);
        if literals > left {
            return Err(ErrorKind::CountTooLarge { claimed: to_u64(literals), max: to_u64(left) });
        }
        if offset.wrapping_sub(1) >= middle {
            return Err(ErrorKind::OffsetTooFar { offset: to_u64(offset), available: to_u64(middle) });
        }
        let next = self.literals.saturating_add(literals);
        self.verify(output, end, next)?;
        copy::exact(output, self.literals, self.at, literals)
            .and_then(|()| copy::exact(output, middle.wrapping_sub(offset), middle, len))
            .ok_or(ErrorKind::BadBitStream)?;
        Ok(Self { at: end, literals: next, ..self })
    }

    /// Verifies that the block may reach to `end` while literals are left from `literals`.
    fn verify(&self, output: &[u8], end: usize, literals: usize) -> Result<(), ErrorKind> {
        // The first position at which the block can end.
        let min = end.saturating_add(self.literals_end.saturating_sub(literals));
        let size = min.saturating_sub(self.start);
        if size > self.max {
            return Err(ErrorKind::OverLimit { value: to_u64(size), limit: to_u64(self.max) });
        }
        if min > output.len() {
            let (capacity, needed) = (to_u64(output.len()), to_u64(min));
            return Err(ErrorKind::CapacityExceeded { capacity, needed });
        }
        Ok(())
    }

    /// Adds the literals that are left; returns where the block ends.
    fn finish(self, output: &mut [u8]) -> Result<usize, ErrorKind> {
        self.verify(output, self.at, self.literals)?;
        let left = self.literals_end.saturating_sub(self.literals);
        let Some((front, back)) = output.split_at_mut_checked(self.literals) else {
            return Err(ErrorKind::BadBitStream);
        };
        let back = back.get(..left).unwrap_or_default();
        match front.get_mut(self.at..self.at.saturating_add(left)) {
            Some(place) => copy::copy(back, place),
            // They overlap their place.
            None => copy::exact(output, self.literals, self.at, left).ok_or(ErrorKind::BadBitStream)?,
        }
        Ok(self.at.saturating_add(left))
    }
}
