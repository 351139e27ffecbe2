//! The slot of a stream: its declaration, and the state of reading its frames, records and times.

use crate::rtc::pieces::Joined;
use crate::rtc::{Decimal, Stream, Time};
use core::fmt;

/// No slot.
pub(super) const NONE: u16 = u16::MAX;

/// True if a record of a stream is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    /// The next frame begins a record.
    No,
    /// The next frame continues the record.
    Yes,
    /// Frames were lost: it is not known which of both the next frame does.
    Unknown,
}

/// Room for a stream: what its Meta declares, and how far it has been read.
///
/// Readers are lent one for each stream of a session: an array or a slice of them, or with the feature `alloc` a `Vec`.
#[derive(Clone, Copy)]
pub struct StreamSlot<'a> {
    pub(super) stream: Stream<'a>,
    /// The slots below this one in the trees of ids, names and clocks.
    pub(super) below: [[u16; 2]; 3],
    /// The number of bytes of a record of fixed length so far, and whether a record is open, in that epoch of the reader.
    pub(super) got: u64,
    pub(super) epoch: u32,
    pub(super) open: Open,
    /// True if its writer cuts records itself; in every epoch.
    pub(super) is_split: bool,
    pub(super) clock: Clock,
    pub(super) record: Pending,
}

impl<'a> StreamSlot<'a> {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self::new(Stream::EMPTY);

    pub(super) const fn new(stream: Stream<'a>) -> Self {
        Self {
            stream,
            below: [[NONE; 2]; 3],
            got: 0,
            epoch: 0,
            open: Open::No,
            is_split: false,
            clock: Clock::NONE,
            record: Pending::NONE,
        }
    }
}

default_is_empty!(StreamSlot<'_>);

impl fmt::Debug for StreamSlot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StreamSlot").field(&self.stream).finish()
    }
}

/// The clock of a stream, and its time if it is a clock.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    /// The state of the clocks in which `of` and `base` were looked up; 0 if they were not.
    pub(super) revision: u32,
    /// The clock that the stream belongs to: itself, if it is one.
    pub(super) of: u16,
    /// The clock that this one counts from.
    pub(super) base: u16,
    /// True if it counts from one that is not there.
    pub(super) lacks_base: bool,
    /// True if gain and offset were read since the stream was declared, and if both can be: else no time is known.
    pub(super) is_read: bool,
    pub(super) is_scaled: bool,
    /// True if `time` is known; not in it, as an option would take 16 bytes more.
    pub(super) has_time: bool,
    /// Time holds in that epoch of the records only.
    pub(super) epoch: u32,
    pub(super) gain: Decimal,
    /// In attoseconds.
    pub(super) offset: i128,
    pub(super) time: Time,
}

impl Clock {
    const NONE: Self = Self {
        revision: 0,
        of: NONE,
        base: NONE,
        lacks_base: false,
        is_read: false,
        is_scaled: false,
        has_time: false,
        epoch: 0,
        gain: Decimal::ONE,
        offset: 0,
        time: Time::ZERO,
    };
}

/// A record of which more is to come.
#[derive(Clone, Copy)]
pub(super) struct Pending {
    pub(super) record: Joined,
    /// The epoch of the records in which it is open; 0 if it is not.
    pub(super) epoch: u32,
    /// The open records that began right before and after it.
    pub(super) before: u16,
    pub(super) after: u16,
}

impl Pending {
    pub(super) const NONE: Self = Self { record: Joined::NONE, epoch: 0, before: NONE, after: NONE };
}
