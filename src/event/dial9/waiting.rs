//! Items that wait until those before them were handed out.

use crate::event::event::{EventKind, FlowId, Flows};
use crate::event::label::Label;
use crate::event::track::TrackId;

/// The number of items that come of one event at most: two tracks, the end of what was open, and what begins.
pub(super) const WAITING: usize = 4;

/// An item before it is borrowed.
#[derive(Clone, Copy)]
#[allow(clippy::large_enum_variant)] // There is nowhere to box it.
pub(super) enum Waiting<'a> {
    Track(usize),
    Event {
        track: TrackId,
        kind: EventKind,
        name: Label<'a>,
        starts: Option<FlowId>,
        ends: Flows,
        /// True if the event that was read last says so; else it follows.
        is_said: bool,
        time: u64,
    },
}

/// The end of what is open on a track.
pub(super) fn end_of<'a>(track: TrackId, is_said: bool, name: Label<'a>, time: u64) -> Waiting<'a> {
    Waiting::Event { track, kind: EventKind::End, name, starts: None, ends: Flows::NONE, is_said, time }
}
