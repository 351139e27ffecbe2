//! Tracks: where events happen.

use super::data::{Data, OtherData};
use super::label::Label;
use crate::record::AnyRecord;
use core::fmt;

/// The number of a track, unique in its [`Source`](super::Source).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrackId(u64);

impl TrackId {
    /// The track of this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number. Most formats count from 0, in the order in which tracks are met; states count from 2³².
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for TrackId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "track {}", self.0)
    }
}

/// The kind of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TrackKind<'a> {
    /// All of what is read: a recording, a file.
    Recording,
    /// A thread, or what stands for one.
    Thread,
    /// A task: its slices are its polls.
    Task,
    /// A span of a program: its slices are the times in which it was entered.
    Span,
    /// A stream of events or of values.
    Stream,
    /// A stream of numbers.
    Counter {
        /// The unit that they count, if it is known.
        unit: Option<&'a str>,
    },
    /// A processor.
    Cpu,
    /// A queue of a device.
    Queue,
}

impl TrackKind<'_> {
    /// The name of the kind.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recording => "recording",
            Self::Thread => "thread",
            Self::Task => "task",
            Self::Span => "span",
            Self::Stream => "stream",
            Self::Counter { .. } => "counter",
            Self::Cpu => "cpu",
            Self::Queue => "queue",
        }
    }
}

/// The clock of a track's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Clock<'a> {
    name: Option<&'a str>,
    absolute: bool,
}

impl<'a> Clock<'a> {
    /// A clock, by its name if it has one; `absolute` if it counts from the Unix epoch.
    pub const fn new(name: Option<&'a str>, absolute: bool) -> Self {
        Self { name, absolute }
    }

    /// The name, if it has one.
    pub const fn name(self) -> Option<&'a str> {
        self.name
    }

    /// True if it counts from the Unix epoch.
    pub const fn is_absolute(self) -> bool {
        self.absolute
    }
}

/// A track: a task, a thread, a stream, a queue.
#[derive(Clone, Copy, Debug)]
pub struct Track<'a> {
    pub(super) id: TrackId,
    pub(super) parent: Option<TrackId>,
    pub(super) kind: TrackKind<'a>,
    pub(super) label: Label<'a>,
    pub(super) clock: Clock<'a>,
    pub(super) data: Data<'a>,
}

impl<'a> Track<'a> {
    /// A track without a parent, of a clock without a name that has an origin of its own.
    pub const fn new(id: TrackId, kind: TrackKind<'a>, label: Label<'a>) -> Self {
        Self { id, parent: None, kind, label, clock: Clock::new(None, false), data: Data::None }
    }

    /// The same track below another one, which must have been announced before.
    #[must_use]
    pub const fn with_parent(mut self, parent: TrackId) -> Self {
        self.parent = Some(parent);
        self
    }

    /// The same track with the clock of the times of its events.
    #[must_use]
    pub const fn with_clock(mut self, clock: Clock<'a>) -> Self {
        self.clock = clock;
        self
    }

    /// The same track with a record of what is known of it.
    #[must_use]
    pub const fn with_record(mut self, record: &'a (dyn AnyRecord + Sync)) -> Self {
        self.data = Data::Other(OtherData(record));
        self
    }

    /// The number.
    pub const fn id(&self) -> TrackId {
        self.id
    }

    /// The track that it belongs to, which was announced before it.
    pub const fn parent(&self) -> Option<TrackId> {
        self.parent
    }

    /// The kind of the track.
    pub const fn kind(&self) -> TrackKind<'a> {
        self.kind
    }

    /// The name. Several tracks can have the same one.
    pub const fn label(&self) -> Label<'a> {
        self.label
    }

    /// The name besides its label: of the program that a thread runs.
    pub const fn alias(&self) -> Option<&'a str> {
        match self.data {
            Data::Named(name) => Some(name),
            _ => None,
        }
    }

    /// The clock of the times of its events.
    pub const fn clock(&self) -> Clock<'a> {
        self.clock
    }
}
