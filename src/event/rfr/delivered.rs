//! What is delivered: tracks, events and gaps.

use super::fields::RfrData;
use super::registry::Known;
use crate::event::Item;
use crate::event::event::{Event, EventKind};
use crate::event::fields::Data;
use crate::event::label::Label;
use crate::event::time::Time;
use crate::event::track::{Clock, Track, TrackId, TrackKind};
use crate::gap::Gap;
use crate::rfr::RecordKind;

/// The track of the recording, which is always the first.
pub(super) const ROOT: TrackId = TrackId::new(0);
/// Its clock.
pub(super) const CLOCK: Clock<'static> = Clock::new(None, true);

/// Something to be delivered, and whether the record is done with.
pub(super) struct Delivered<'a> {
    pub(super) item: Item<'a>,
    pub(super) done: bool,
}

/// The event of a record on the track of the task or span that it is about.
pub(super) fn on_its_track<'a>(kind: RecordKind, known: &mut Known, event: Event<'a>) -> Delivered<'a> {
    let mut done = true;
    // Its id is that of the track.
    let event = Event { data: Data::None, ..event };
    let event = match kind {
        RecordKind::TaskPollStart if known.open > 0 => {
            known.open = 0;
            done = false;
            Event { kind: EventKind::End, name: Label::Text("poll"), inferred: true, len: 0, ..event }
        }
        RecordKind::TaskPollStart => {
            known.open = 1;
            Event { kind: EventKind::Begin, name: Label::Text("poll"), ends: known.end_flows(), ..event }
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
        RecordKind::TaskDrop | RecordKind::SpanClose => {
            known.is_dropped = true;
            event
        }
        _ => event,
    };
    Delivered { item: Item::Event(event), done }
}

/// The track of a task or span whose object has not been met.
pub(super) fn unknown_track<'a>(id: TrackId, kind: TrackKind<'a>, iid: u64, number: u64) -> Item<'a> {
    let label = Label::Numbered(if kind == TrackKind::Span { "span" } else { "task" }, number);
    let data = Data::Rfr(RfrData::Unknown(iid));
    Item::Track(Track { id, parent: Some(ROOT), kind, label, clock: CLOCK, data })
}

/// A gap, at a time since the Unix epoch if that is known.
pub(super) fn gap_event<'a>(input: usize, ns: Option<i128>, track: TrackId, gap: Gap) -> Item<'a> {
    Item::Event(Event::gap(input, ns.map(Time::since_epoch), track, gap))
}
