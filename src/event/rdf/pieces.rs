//! Memory traces in pieces: a chunk of a stream is decompressed when its turn comes.

use super::entries::{is_event, is_fact, output_size};
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::gap::Gap;
use crate::rdf::contents::rmt::{PieceOf, RmtFields, Token, Tokens};
use crate::rdf::{Chunk, Compression, Decompress, File};
use core::cell::Cell;
use core::fmt;
use core::ops::Range;

/// The most bytes of a token, those of a text: as many may be left of a piece when the next one is read.
const LONGEST: u64 = (1 << 20) + 4;

/// The size of the buffer to be lent to a [`Timeline`](super::Timeline): how many bytes the chunks with events claim to
/// take once they are decompressed, but for those whose claim is [out of proportion](crate::rdf::contents::Content::limit).
///
/// Of a memory trace, as many as the largest chunk of each stream takes, and the token that the chunk before it ends in.
pub fn needed(file: &File<'_>) -> u64 {
    let mut sum = Streams::of(file).sizes.iter().fold(0_u64, |sum, size| sum.saturating_add(size.room()));
    for entry in file.entries().filter(|entry| is_fact(entry) || is_event(entry)) {
        let is_piece =
            || file.chunk_at(entry.number()).is_some_and(|chunk| stream_of(PieceOf::of(&chunk)).is_some());
        if entry.compression() != Compression::None && !is_piece() {
            sum = sum.saturating_add(output_size(&entry).unwrap_or(0));
        }
    }
    sum
}

/// The number of the stream that a piece is of, if streams of that number are joined.
pub(super) fn stream_of(piece: PieceOf<'_>) -> Option<usize> {
    usize::try_from(piece.fields()?.stream()).ok().filter(|&stream| stream < Streams::COUNT)
}

/// The sizes of the pieces of a stream.
#[derive(Clone, Copy, Default)]
pub(super) struct Sizes {
    largest: u64,
    total: u64,
    pieces: u32,
    /// True if a piece has to be decompressed.
    are_packed: bool,
}

impl Sizes {
    /// The size of the room that its pieces are read into; none if it is one piece that is stored as it is.
    fn room(self) -> u64 {
        if self.is_lent() { 0 } else { self.total.min(self.largest.saturating_add(LONGEST)) }
    }

    pub(super) const fn is_lent(self) -> bool {
        self.pieces <= 1 && !self.are_packed
    }
}

/// The streams of a file, by their numbers.
pub(super) struct Streams {
    sizes: [Sizes; Self::COUNT],
}

impl Streams {
    /// The number of streams whose pieces are joined.
    const COUNT: usize = 256;

    /// Looks at the pieces of a file. Those that cannot be read take no room.
    pub(super) fn of(file: &File<'_>) -> Self {
        let mut sizes = [Sizes::default(); Self::COUNT];
        for chunk in file.chunks("RmtData") {
            let Some(size) = stream_of(PieceOf::of(&chunk)).and_then(|stream| sizes.get_mut(stream)) else {
                continue;
            };
            let entry = chunk.entry();
            let value = output_size(&entry).unwrap_or(0);
            size.largest = size.largest.max(value);
            size.total = size.total.saturating_add(value);
            size.pieces = size.pieces.saturating_add(1);
            size.are_packed |= entry.compression() != Compression::None;
        }
        Self { sizes }
    }

    /// The numbers of the streams that there are, with their sizes.
    pub(super) fn each(&self) -> impl Iterator<Item = (usize, Sizes)> + '_ {
        self.sizes.iter().copied().enumerate().filter(|(_, size)| size.pieces > 0)
    }
}

/// The bytes of a stream that are to come.
#[derive(Clone, Debug)]
pub(super) struct Rest<'s> {
    version: (u16, u16),
    /// All bytes of a stream that lies in the file as it is.
    lent: Option<&'s [u8]>,
    /// Else its number, the room that is its own, and the range of entries with its other pieces.
    stream: usize,
    room: Range<usize>,
    pieces: Range<usize>,
    /// The part of those bytes, or of the memory of all streams, that is still to be read.
    left: Range<usize>,
    /// The number of bytes that were passed.
    passed: u64,
    /// The time of the token before, and whether there was a timestamp.
    time: (u64, bool),
    /// The size of the next token, and the time after it.
    next: (usize, (u64, bool)),
}

impl<'s> Rest<'s> {
    /// A stream that is one piece.
    pub(super) const fn lent(fields: RmtFields<'_>, data: &'s [u8]) -> Self {
        let mut rest = Self::joined(fields, 0, 0..0, 0..0);
        rest.lent = Some(data);
        rest.left = 0..data.len();
        rest
    }

    /// A stream whose pieces are among some entries, and are read into a room of their own.
    pub(super) const fn joined(
        fields: RmtFields<'_>,
        stream: usize,
        room: Range<usize>,
        pieces: Range<usize>,
    ) -> Self {
        Self {
            version: (fields.major(), fields.minor()),
            lent: None,
            stream,
            left: room.start..room.start,
            room,
            pieces,
            passed: 0,
            time: (0, false),
            next: (0, (0, false)),
        }
    }

    /// Passes the token that was looked at.
    pub(super) fn pass(&mut self) {
        let (len, time) = core::mem::take(&mut self.next);
        self.left.start = self.left.start.saturating_add(len).min(self.left.end);
        self.passed = self.passed.saturating_add(to_u64(len));
        if len > 0 {
            self.time = time;
        }
    }

    /// The offset in the stream of the next token.
    pub(super) const fn offset(&self) -> u64 {
        self.passed
    }
}

/// The memory into which pieces are read, and what reads them.
pub(super) struct Pieces<'s> {
    file: File<'s>,
    memory: &'s mut [u8],
    decoder: &'s mut dyn Decompress,
    /// The part of the memory that is no stream's room.
    free: usize,
}

/// The next token of a stream, or why there is none.
pub(super) enum Met<'p> {
    Token(Token<'p>),
    /// After it nothing can be read.
    Fault(Error),
    /// A piece that cannot be read. As the one after it may begin within a token, nothing is read after it.
    Lost(Gap),
    End,
}

impl<'s> Pieces<'s> {
    pub(super) fn new(file: File<'s>, decoder: &'s mut dyn Decompress) -> Self {
        Self { file, memory: &mut [], decoder, free: 0 }
    }

    pub(super) fn file(&self) -> File<'s> {
        self.file
    }

    pub(super) fn decoder(&mut self) -> &mut dyn Decompress {
        self.decoder
    }

    /// Takes the memory for the rooms of streams.
    pub(super) fn set_memory(&mut self, memory: &'s mut [u8]) {
        self.memory = memory;
    }

    /// A part of the memory for a stream.
    pub(super) fn room(&mut self, size: Sizes) -> core::result::Result<Range<usize>, ErrorKind> {
        let (needed, left) = (size.room(), self.memory.len().saturating_sub(self.free));
        let Some(len) = usize::try_from(needed).ok().filter(|&len| len <= left) else {
            return Err(ErrorKind::CapacityExceeded { capacity: to_u64(left), needed });
        };
        let start = self.free;
        self.free = start.saturating_add(len);
        Ok(start..self.free)
    }

    fn bytes<'p>(&'p self, rest: &Rest<'p>) -> &'p [u8] {
        rest.lent.unwrap_or(self.memory).get(rest.left.clone()).unwrap_or_default()
    }

    /// The token that was looked at last.
    pub(super) fn token<'p>(&'p self, rest: &Rest<'p>) -> Option<Token<'p>> {
        let (now, started) = rest.time;
        Tokens::resume(self.bytes(rest), rest.version, now, started).next()?.ok()
    }

    /// Looks at the next token of a stream; for that, reads the next piece if need be.
    pub(super) fn look<'p>(&'p mut self, rest: &mut Rest<'s>) -> Met<'p> {
        loop {
            let (now, started) = rest.time;
            let mut tokens = Tokens::resume(self.bytes(rest), rest.version, now, started);
            let fault = match tokens.next() {
                Some(Ok(token)) => {
                    rest.next = (token.bytes().len(), tokens.time());
                    break;
                }
                Some(Err(error)) => Some(error),
                None => None,
            };
            let may_be_cut = |error: Error| matches!(error.kind(), ErrorKind::UnexpectedEnd { .. });
            match (fault, fault.is_none_or(may_be_cut).then(|| self.fill(rest)).flatten()) {
                (_, Some(Ok(()))) => {}
                (_, Some(Err(gap))) => return Met::Lost(gap),
                (Some(error), None) => {
                    return Met::Fault(Error::new(rest.offset(), error.element(), error.kind()));
                }
                (None, None) => return Met::End,
            }
        }
        self.token(rest).map_or(Met::End, Met::Token)
    }

    /// Reads the next piece of a stream, after what is left of those before; `None` if there is none.
    fn fill(&mut self, rest: &mut Rest<'s>) -> Option<core::result::Result<(), Gap>> {
        let chunk = loop {
            let number = rest.pieces.next()?;
            let chunk = self.file.chunk_at(number)?;
            if stream_of(PieceOf::of(&chunk)) == Some(rest.stream) {
                break chunk;
            }
        };
        let left = rest.left.end.saturating_sub(rest.left.start);
        // Moves the rest to the front. `copy_within` would keep a panic reachable.
        let shift = rest.left.start.saturating_sub(rest.room.start);
        let moved = self.memory.get_mut(rest.room.start..rest.left.end).unwrap_or_default();
        let cells = Cell::from_mut(moved).as_slice_of_cells();
        let from = cells.get(shift..).unwrap_or_default();
        cells.iter().zip(from).for_each(|(to, from)| to.set(from.get()));
        rest.left = rest.room.start..rest.room.start.saturating_add(left);
        let room = self.memory.get_mut(rest.left.end..rest.room.end).unwrap_or_default();
        let read = read_piece(&chunk, room, self.decoder);
        Some(match read {
            Ok(len) => {
                rest.left.end = rest.left.end.saturating_add(len);
                Ok(())
            }
            Err(error) => {
                (rest.left, rest.pieces) = (0..0, 0..0);
                Err(gap_of(&self.file, &chunk, error))
            }
        })
    }
}

impl fmt::Debug for Pieces<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pieces").field("file", &self.file).finish_non_exhaustive()
    }
}

/// The stored data of a chunk, and how many bytes that is once it is decompressed.
pub(super) fn piece_of<'a>(chunk: &Chunk<'a>) -> Result<(&'a [u8], u64)> {
    Ok((chunk.stored()?, output_size(&chunk.entry())?))
}

/// Reads a piece into the front of a room.
fn read_piece(chunk: &Chunk<'_>, room: &mut [u8], decoder: &mut dyn Decompress) -> Result<usize> {
    let (stored, size) = piece_of(chunk)?;
    let capacity = to_u64(room.len());
    let too_small = || {
        let kind = ErrorKind::CapacityExceeded { capacity, needed: size };
        Error::new(chunk.entry().offset(), crate::event::element::BUFFER, kind)
    };
    let to = usize::try_from(size).ok().and_then(|size| room.get_mut(..size)).ok_or_else(too_small)?;
    if chunk.entry().compression() == Compression::None {
        to.iter_mut().zip(stored).for_each(|(to, from)| *to = *from);
    } else {
        chunk.entry().decode(stored, to, decoder)?;
    }
    Ok(to.len())
}

/// The gap where a chunk is that cannot be read.
pub(super) fn gap_of(file: &File<'_>, chunk: &Chunk<'_>, error: Error) -> Gap {
    let range = chunk.entry().stored_range().unwrap_or(error.offset()..error.offset());
    let size = to_u64(file.data().len());
    let start = range.start.min(size);
    Gap::new(start, range.end.min(size).saturating_sub(start), error)
}
