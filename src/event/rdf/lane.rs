//! The lanes that are merged by time: each is in order by itself.

use super::fields::RdfData;
use super::pieces::Rest;
use super::tracks::Key;
use crate::event::event::EventKind;
use crate::event::label::Label;
use crate::gap::Gap;
use crate::heap::Place;
use crate::rdf::contents::{self, QueueEvent, Snapshot, StructureRecord};

/// Room for a chunk with events, or for a stream of them.
#[derive(Clone, Debug)]
pub struct Lane<'s> {
    pub(super) content: Content<'s>,
    /// The offset and the size in the file.
    pub(super) offset: u64,
    pub(super) len: u64,
    /// True if offsets in the data are offsets in the file, too.
    pub(super) exact: bool,
    // This place of the heap: nothing to do with the content above, but kept in the same room.
    rank: Rank,
}

/// The turn of a lane, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    pub ns: i128,
    /// The order at the same time: the lowest comes first.
    pub class: u8,
    /// The order of lanes at the same time.
    pub order: u64,
    pub slot: usize,
}

impl Rank {
    const EMPTY: Self = Self { ns: 0, class: 0, order: 0, slot: 0 };
}

#[derive(Clone, Debug)]
pub(super) enum Content<'s> {
    None,
    /// A range that cannot be read.
    Gap(Gap),
    /// A `QueueEvent`; and once it has begun, on which of its queue's tracks.
    Queue {
        event: QueueEvent<'s>,
        record: StructureRecord<'s>,
        on: Option<u64>,
    },
    Snapshot {
        snapshot: Snapshot<'s>,
        record: StructureRecord<'s>,
    },
    /// A stream of a memory trace. Its rate is known from its first timestamp on.
    Tokens {
        rest: Rest<'s>,
        /// A token is read once more when its turn comes: its bytes may lie in the room of the stream.
        head: Head<()>,
        process: u32,
        stream: u32,
        hz: Option<u64>,
        /// The number of bytes that are reserved.
        reserved: u64,
    },
    /// An event that a driver noted.
    Driver {
        events: contents::Events<'s>,
        head: Head<contents::Event<'s>>,
        provider: u32,
        hz: Option<u64>,
    },
    /// The rest of a `COLoadEvent`, and how far it has been read.
    Loads {
        rest: &'s [u8],
        version: u32,
        read: u64,
    },
    /// The rest of the samples of a counter, of their times, and how far they have been read.
    Samples {
        rest: &'s [u8],
        times: &'s [u8],
        width: u8,
        number: u64,
        pci: Option<u32>,
        read: u64,
    },
    /// The rest of a `UserMarkerHist`.
    Markers {
        rest: &'s [u8],
        cmd_buffer: u32,
        table: u32,
        read: u64,
    },
}

/// The next item of a lane.
pub(super) struct Happened<'s> {
    pub key: Option<Key>,
    pub kind: EventKind,
    pub name: Label<'s>,
    pub data: RdfData<'s>,
    /// The offset and the size in the file.
    pub place: (u64, u64),
}

/// The number of bytes that are reserved after a token, for a counter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reserved {
    pub key: Key,
    pub bytes: u64,
    /// The time of the token, and where it stands in the file.
    pub ns: i128,
    pub place: (u64, u64),
}

/// The state of a lane's next item.
#[derive(Clone, Copy, Debug)]
pub(super) enum Head<T> {
    Record(T),
    /// After it nothing comes.
    Gap(Gap),
    /// A chunk that cannot be read, after which nothing comes either.
    Lost(Gap),
    End,
}

impl<'s> Lane<'s> {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self =
        Self { content: Content::None, offset: 0, len: 0, exact: false, rank: Rank::EMPTY };

    pub(super) const fn new(content: Content<'s>, offset: u64, len: u64, exact: bool) -> Self {
        Self { content, offset, len, exact, rank: Rank::EMPTY }
    }

    /// The offset and the size in the file of a record at a place in the lane's data.
    pub(super) const fn place(&self, position: u64, len: u64) -> (u64, u64) {
        if self.exact { (self.offset.saturating_add(position), len) } else { (self.offset, self.len) }
    }
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
