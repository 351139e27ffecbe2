//! The items that are delivered: tracks, events and gaps.

use super::fields::RfrData;
use super::polls::Polls;
use crate::event::Item;
use crate::event::data::Data;
use crate::event::event::{Event, EventKind};
use crate::event::label::Label;
use crate::event::time::Time;
use crate::event::track::{Clock, Track, TrackId, TrackKind};
use crate::gap::Gap;
use crate::rfr::tell::At;
use crate::rfr::{Object, RecordData, RecordKind};

/// The track of the recording, which is always the first.
pub(super) const ROOT: TrackId = TrackId::new(0);
/// The clock.
pub(super) const CLOCK: Clock<'static> = Clock::new(None, true);

/// Something to be delivered, and whether the record is done with.
pub(super) struct Delivered<'a> {
    pub(super) item: Item<'a>,
    pub(super) told: Told<'a>,
    pub(super) done: bool,
}

impl<'a> From<Item<'a>> for Delivered<'a> {
    fn from(item: Item<'a>) -> Self {
        Self { item, told: Told::Nothing, done: true }
    }
}

/// The source of an item's fields, when the names are no longer changed.
pub(super) enum Told<'a> {
    Nothing,
    Object(Object<'a>),
    Data(At, RecordData<'a>),
}

/// The event of a record on the track of the task or span that it is about; and whether the record is done with.
pub(super) fn on_its_track<'a>(kind: RecordKind, known: &mut Polls, event: Event<'a>) -> (Event<'a>, bool) {
    let mut done = true;
    let event = match kind {
        RecordKind::TaskPollStart if known.open > 0 => {
            known.open = 0;
            done = false;
            Event { kind: EventKind::End, name: Label::Text("poll"), inferred: true, len: 0, ..event }
        }
        RecordKind::TaskPollStart => {
            known.open = 1;
            Event {
                kind: EventKind::Begin,
                name: Label::Text("poll"),
                ends: known.end_flows(event.track),
                ..event
            }
        }
        RecordKind::SpanEnter => {
            known.open = known.open.saturating_add(1);
            Event { kind: EventKind::Begin, name: Label::Text("enter"), ..event }
        }
        RecordKind::TaskPollEnd | RecordKind::SpanExit if known.open > 0 => {
            known.open = known.open.saturating_sub(1);
            let name = if kind == RecordKind::SpanExit { "enter" } else { "poll" };
            Event { kind: EventKind::End, name: Label::Text(name), ..event }
        }
        _ => event,
    };
    (event, done)
}

/// The track of a task or span whose object has not been met.
pub(super) fn unknown_track<'a>(id: TrackId, kind: TrackKind<'a>, iid: u64) -> Item<'a> {
    let label = Label::Numbered(if kind == TrackKind::Span { "span" } else { "task" }, iid);
    let data = Data::Rfr(RfrData::Unknown(iid));
    Item::Track(Track { id, parent: Some(ROOT), kind, label, clock: CLOCK, data })
}

/// A gap, at a time since the Unix epoch if that is known.
pub(super) fn gap_event<'a>(input: usize, ns: Option<i128>, track: TrackId, gap: Gap) -> Item<'a> {
    Item::Event(Event::gap(input, ns.map(Time::since_epoch), track, gap))
}
