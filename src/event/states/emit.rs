//! The output of the matcher.

use super::classes::ArgSlot;
use super::edges::Edges;
use super::text::hash;
use crate::error::Error;
use crate::event::Item;
use crate::event::data::{Data, StateData};
use crate::event::event::{Event, EventKind, Flows};
use crate::event::label::Label;
use crate::event::time::Time;
use crate::event::track::{Clock, Track, TrackId, TrackKind};

/// The number of the first track of states: a source has fewer tracks of its own.
const FIRST: u64 = 1 << 32;

/// Takes items as they come.
pub type Sink<'s, E> = dyn FnMut(&Item<'_>) -> core::result::Result<(), E> + 's;

/// An event that is being matched.
pub(super) struct Moment<'m, 'e> {
    pub(super) event: &'m Event<'e>,
    pub(super) time: Time,
    pub(super) stream: u32,
    pub(super) cpu: Option<u64>,
}

/// The arguments of one end.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) args: &'a [ArgSlot],
    pub(super) cpu: Option<u64>,
}

impl Part<'_> {
    pub(super) const EMPTY: Self = Self { args: &[], cpu: None };
}

/// Says that there is a track.
pub(super) fn announce<E: From<Error>>(
    number: u32,
    name: &str,
    alias: Option<&str>,
    root: Option<(TrackId, bool)>,
    moment: &Moment<'_, '_>,
    to: &mut Sink<'_, E>,
) -> core::result::Result<(), E> {
    let kind = match name {
        _ if name.starts_with("CPU ") => TrackKind::Cpu,
        _ if name.starts_with("thread ") => TrackKind::Thread,
        _ => TrackKind::Stream,
    };
    to(&Item::Track(Track {
        id: track_id(number),
        parent: root.map(|(id, _)| id),
        kind,
        label: Label::Text(name),
        clock: Clock::new(None, moment.time.is_absolute()),
        data: alias.map_or(Data::None, Data::Named),
    }))
}

fn track_id(number: u32) -> TrackId {
    TrackId::new(FIRST.saturating_add(number.into()))
}

impl Moment<'_, '_> {
    /// Begins something on a track; without a time if it had begun before.
    pub(super) fn begin<E>(
        &self,
        track: u32,
        name: &str,
        edges: Edges,
        part: Part<'_>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let time = edges.is_empty().then_some(self.time);
        self.send(track, time, EventKind::Begin, name, edges, part, to)
    }

    /// Ends what is on top of a track, with nothing to be said of its end.
    pub(super) fn end<E>(
        &self,
        track: u32,
        edges: Edges,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        self.send(track, Some(self.time), EventKind::End, "", edges, Part::EMPTY, to)
    }

    /// The same, not before it began.
    pub(super) fn end_at<E>(
        &self,
        track: u32,
        begun: i128,
        edges: Edges,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        self.end_with(track, begun, edges, Part::EMPTY, to)
    }

    /// Ends what is on top of a track.
    pub(super) fn end_with<E>(
        &self,
        track: u32,
        begun: i128,
        edges: Edges,
        part: Part<'_>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let ns = self.time.ns().max(begun);
        let time = if self.time.is_absolute() { Time::since_epoch(ns) } else { Time::since_origin(ns) };
        self.send(track, Some(time), EventKind::End, "", edges, part, to)
    }

    #[allow(clippy::too_many_arguments)] // Of one event.
    pub(super) fn send<E>(
        &self,
        track: u32,
        time: Option<Time>,
        kind: EventKind,
        name: &str,
        edges: Edges,
        part: Part<'_>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let Event { input, offset, len, .. } = *self.event;
        let data =
            StateData { of: &self.event.data, args: part.args, cpu: part.cpu, edges, noticed: self.time };
        to(&Item::Event(Event {
            input,
            offset,
            len,
            time,
            track: track_id(track),
            kind,
            name: Label::Text(name),
            starts: None,
            ends: Flows::NONE,
            inferred: !edges.is_empty(),
            data: Data::State(data),
        }))
    }
}

/// The key by which the label of a track is kept.
pub(super) fn label_key(track: u64) -> u64 {
    hash(track, "label")
}
