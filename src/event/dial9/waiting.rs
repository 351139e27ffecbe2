//! Items that wait until those before them were handed out.

use crate::event::event::{EventKind, FlowId, Flows, Number};
use crate::event::label::Label;
use crate::event::track::TrackId;

/// The number of items that come of one event at most: two tracks, the end of what was open, and what begins.
pub(super) const WAITING: usize = 4;

/// A name, smaller than a label: of text, and of what is not UTF-8.
#[derive(Clone, Copy)]
pub(super) enum Name<'a> {
    Text(&'a str),
    /// The whole life of a task that was spawned there.
    Task(&'a str),
    Bytes(&'a [u8]),
}

impl<'a> Name<'a> {
    /// Text that should be UTF-8.
    pub(super) fn of(text: &'a [u8]) -> Self {
        core::str::from_utf8(text).map_or(Self::Bytes(text), Self::Text)
    }

    pub(super) const fn label(self) -> Label<'a> {
        match self {
            Self::Text(text) => Label::Text(text),
            Self::Task(place) => Label::Of("task", place),
            Self::Bytes(bytes) => Label::Bytes(bytes),
        }
    }
}

/// The kind of an event, smaller than the one that is handed out.
#[derive(Clone, Copy)]
pub(super) enum What {
    Instant,
    Begin,
    End,
    Counter(Count),
}

#[derive(Clone, Copy)]
pub(super) enum Count {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
}

impl What {
    pub(super) fn kind(self) -> EventKind {
        match self {
            Self::Instant => EventKind::Instant,
            Self::Begin => EventKind::Begin,
            Self::End => EventKind::End,
            Self::Counter(Count::Signed(number)) => EventKind::Counter(Number::Integer(number.into())),
            Self::Counter(Count::Unsigned(number)) => EventKind::Counter(Number::Integer(number.into())),
            Self::Counter(Count::Float(number)) => EventKind::Counter(Number::Float(number)),
        }
    }
}

/// An item before it is borrowed: small, as it is copied for each event.
#[derive(Clone, Copy)]
#[allow(clippy::large_enum_variant)] // There is nowhere to box it.
pub(super) enum Waiting<'a> {
    Track(usize),
    Event {
        track: TrackId,
        what: What,
        name: Name<'a>,
        starts: Option<FlowId>,
        ends: Flows,
        /// True if the event that was read last says so; else it follows.
        is_said: bool,
        time: u64,
    },
}

/// The end of what is open on a track.
pub(super) fn end_of<'a>(track: TrackId, is_said: bool, name: Name<'a>, time: u64) -> Waiting<'a> {
    Waiting::Event { track, what: What::End, name, starts: None, ends: Flows::NONE, is_said, time }
}
