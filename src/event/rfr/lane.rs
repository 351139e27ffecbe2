//! The lanes that are still to be read, each in a slot that is lent.

use crate::event::rank::Rank;
use crate::event::track::TrackId;
use crate::gap::Gap;
use crate::heap::Place;
use crate::rfr::{Chunk, Record, Records, StreamRecord, StreamRecords};

/// Room for a chunk that is still to be opened, or for a sequence of one that is.
#[derive(Clone, Debug)]
pub struct Lane<'a> {
    pub(super) content: Content<'a>,
    // A place of the heap: unrelated to the content above, but kept in the same slots.
    pub(super) rank: Rank,
}

#[derive(Clone, Debug)]
pub(super) enum Content<'a> {
    /// The next free lane.
    Free(usize),
    /// A range of an input that cannot be read.
    Broken { input: usize, gap: Gap },
    /// A chunk that has not been opened.
    Chunk { input: usize, chunk: Chunk<'a>, size: u64 },
    /// The records of a sequence.
    Records {
        input: usize,
        base: i128,
        track: TrackId,
        seq_id: u64,
        records: Records<'a>,
        head: Head<Record<'a>>,
    },
    /// A stream.
    Stream { input: usize, size: u64, records: StreamRecords<'a>, head: Head<StreamRecord<'a>> },
}

/// The next item of a lane.
#[derive(Clone, Copy, Debug)]
pub(super) enum Head<T> {
    /// A record, and the offset after it.
    Record(T, u64),
    Gap(Gap),
    /// Nothing.
    End,
}

impl Lane<'_> {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self { content: Content::Free(usize::MAX), rank: Rank::EMPTY };
}

default_is_empty!(Lane<'_>);

impl Place for Lane<'_> {
    type Rank = Rank;

    fn rank(&self) -> Rank {
        self.rank
    }

    fn set_rank(&mut self, rank: Rank) {
        self.rank = rank;
    }
}
