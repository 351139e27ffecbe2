//! The batches of a recording, put in the order of time.

mod lasting;
mod meaning;
mod spans;

use crate::bytes::to_usize;
use crate::dial9::{Event as Stored, Filled, Frame, Order, OrderedEvent};
use crate::error::{ErrorKind, Result};
use crate::event::data::Data;
use crate::event::dial9::counters::{Counters, runtime_name};
use crate::event::dial9::lasts::Lasts;
use crate::event::dial9::moment::{KindSlot, Moment, Role};
use crate::event::dial9::rooms::Rooms;
use crate::event::dial9::said::Known;
use crate::event::dial9::tracks::{Of, Opened, Roots, TrackSlot, id_of};
use crate::event::dial9::waiting::{Name, WAITING, Waiting, end_of};
use crate::event::element::{LANES, REGISTRY};
use crate::event::event::Event;
use crate::event::label::Label;
use crate::event::time::{Time, Window};
use crate::event::track::{Clock, Track, TrackId, TrackKind};
use crate::event::{Item, Source};
use crate::gap::Gap;
use crate::sort::sort_by_key;

/// The track of the recording.
const ROOT: TrackId = TrackId::new(0);

const CLOCK: Clock<'static> = Clock::new(Some("monotonic"), false);

/// The event whose numbers are told one after the other.
#[derive(Clone, Copy)]
struct Counting {
    /// The slot of the track under which the counters are.
    parent: usize,
    /// The field to go on with.
    field: u16,
}

/// The tracks and events of a dial9 recording.
pub struct Timeline<'a, 't> {
    order: Order<'a, 't>,
    kinds: Filled<'t, KindSlot<'a>>,
    moments: Filled<'t, Moment>,
    tracks: Filled<'t, TrackSlot<'a>>,
    roots: Roots,
    is_root_told: bool,
    is_read: bool,
    /// The moment at which the next span begins.
    next_begin: usize,
    /// The event that was read last, from which all comes that waits; true if it is to be looked at again.
    current: Option<OrderedEvent<'a>>,
    is_again: bool,
    /// The track that is closed next, at the end.
    closing: usize,
    last: u64,
    waiting: [Option<Waiting<'a>>; WAITING],
    /// The number of them that were handed out.
    handed_out: usize,
    counting: Option<Counting>,
    window: Window,
    failed: bool,
}

impl<'a, 't> Timeline<'a, 't> {
    /// A timeline of no input yet.
    pub fn new(rooms: Rooms<'a, 't>) -> Self {
        let Rooms { order, kinds, moments, tracks } = rooms;
        Self {
            order: Order::new(order),
            kinds: Filled::new(kinds),
            moments: Filled::new(moments),
            tracks: Filled::new(tracks),
            roots: Roots::default(),
            is_root_told: false,
            is_read: false,
            next_begin: 0,
            current: None,
            is_again: false,
            closing: 0,
            last: 0,
            waiting: [None; WAITING],
            handed_out: 0,
            counting: None,
            window: Window::ALL,
            failed: false,
        }
    }

    /// Adds a segment, which events refer to as `input`. All are read before the first event: batches overlap in time,
    /// and times go back within them.
    ///
    /// # Errors
    /// `CapacityExceeded`.
    pub fn add(&mut self, input: usize, data: &'a [u8]) -> Result<()> {
        self.order.add(input, data)
    }

    /// Reads all inputs, up to the first damage in them: of that there is an item.
    fn read(&mut self) -> Result<Option<Item<'a>>> {
        loop {
            match self.order.next_frame() {
                Ok(Some(frame)) => self.keep(&frame)?,
                Ok(None) => {
                    // No two stand at one place.
                    sort_by_key(self.moments.slots_mut(), Moment::key);
                    self.is_read = true;
                    return Ok(None);
                }
                Err(error) if matches!(error.kind(), ErrorKind::CapacityExceeded { .. }) => {
                    return Err(error);
                }
                Err(error) => {
                    let gap = self.order.recover().unwrap_or(Gap::new(error.offset(), 0, error));
                    return Ok(Some(Item::Event(Event::gap(self.order.input(), None, ROOT, gap))));
                }
            }
        }
    }

    /// Keeps what a frame says of classes of events.
    #[inline]
    fn keep(&mut self, frame: &Frame<'a>) -> Result<()> {
        match frame {
            Frame::Event(event) => {
                let class = self.order.class(event.schema().type_id()).map_or(0, to_usize);
                match self.kinds.slots().get(class) {
                    Some(kind) if kind.lasts.any() => self.keep_begin(event, class),
                    _ => Ok(()),
                }
            }
            Frame::Schema(_) | Frame::Annotations(_) => self.keep_class(frame),
            _ => Ok(()),
        }
    }

    /// Keeps when a span begins of which an event tells.
    fn keep_begin(&mut self, event: &Stored<'a>, class: usize) -> Result<()> {
        let (time, batch, at) = self.order.last_key(event);
        let Some(kind) = self.kinds.slots().get(class) else { return Ok(()) };
        let Some(start) = kind.lasts.start(event, &kind.counters, time) else { return Ok(()) };
        self.moments.push(Moment::new((start, batch, at)), event.offset(), LANES)
    }

    fn keep_class(&mut self, frame: &Frame<'a>) -> Result<()> {
        match frame {
            Frame::Schema(schema) if self.order.class_count() > self.kinds.len() => {
                let role = Role::of(schema.name());
                let counters = match role {
                    Role::Metrics => Counters::of_runtime(schema.fields()),
                    _ => Counters::NONE,
                };
                let lasts = if role == Role::Other { Lasts::of(schema.fields()) } else { Lasts::NONE };
                let (name, known, free) = (schema.name(), Known::of(schema.fields()), None);
                let slot = KindSlot { role, name, counters, lasts, known, free };
                self.kinds.push(slot, schema.offset(), REGISTRY)?;
            }
            Frame::Annotations(annotations) => {
                // Those of a type that the batch does not know say nothing.
                let class = u16::try_from(annotations.type_id()).ok().and_then(|id| self.order.class(id));
                let kind = class.and_then(|class| self.kinds.slots_mut().get_mut(to_usize(class)));
                if let Some(kind) = kind.filter(|kind| kind.role != Role::Metrics) {
                    annotations.entries().for_each(|said| {
                        kind.counters.learn(&said);
                        if kind.role == Role::Other {
                            kind.lasts.learn(&said);
                        }
                    });
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The place of the next moment at which a span begins, if it comes before the next event.
    #[inline]
    fn begins_next(&mut self) -> Option<(usize, Moment)> {
        let place = self.next_begin;
        if place >= self.moments.len() {
            return None;
        }
        let moment = *self.moments.slots().get(place)?;
        // What begins and ends at one time begins first.
        self.order.peek().is_none_or(|next| moment.key() <= next).then_some((place, moment))
    }

    /// The item that waits longest.
    fn next_waiting(&mut self) -> Option<Waiting<'a>> {
        let next = self.waiting.get_mut(self.handed_out)?.take();
        // What is put there from now on begins at the front again.
        self.handed_out = if next.is_some() { self.handed_out.saturating_add(1) } else { 0 };
        next
    }

    /// Finds what comes next.
    fn advance(&mut self) -> Result<Option<Waiting<'a>>> {
        loop {
            if let Some(waiting) = self.next_waiting() {
                return Ok(Some(waiting));
            }
            self.handed_out = 0;
            if let Some(counting) = self.counting.take() {
                self.count(counting)?;
                continue;
            }
            if core::mem::replace(&mut self.is_again, false)
                && let Some(current) = self.current
            {
                self.happened(&current)?;
                continue;
            }
            if let Some((place, moment)) = self.begins_next() {
                self.next_begin = place.saturating_add(1);
                self.current = self.order.event_at(moment.key());
                let current = self.current.filter(|current| self.is_in_window(current));
                if let Some(current) = current {
                    self.lasting_begins(place, &current)?;
                }
                continue;
            }
            self.current = self.order.next_event();
            if let Some(current) = self.current {
                self.last = current.nanoseconds();
                if self.is_in_window(&current) {
                    self.happened(&current)?;
                }
                continue;
            }
            // What is open at the end ends there.
            let Some(slot) = self.tracks.slots_mut().get_mut(self.closing) else { return Ok(None) };
            let open = core::mem::replace(&mut slot.open, Opened::Nothing);
            let at = self.closing;
            self.closing = at.saturating_add(1);
            let track = if open == Opened::Span { slot.of_lane.unwrap_or(at) } else { at };
            if open != Opened::Nothing {
                return Ok(Some(end_of(id_of(track), false, Name::Text(""), self.last)));
            }
        }
    }

    #[inline]
    fn is_in_window(&self, event: &OrderedEvent<'a>) -> bool {
        self.window.contains(event.event().nanoseconds().map(|ns| Time::since_origin(ns.into())))
    }

    /// An item, borrowed.
    fn item(&self, waiting: Waiting<'a>) -> Item<'_> {
        match waiting {
            Waiting::Track(at) => self.track_item(at),
            Waiting::Event { track, what, name, starts, ends, is_said, time } => {
                let (kind, name) = (what.kind(), name.label());
                let time = Some(Time::since_origin(time.into()));
                let current = self.current.as_ref().filter(|_| is_said);
                let Some(current) = current else {
                    // It was not said, but follows.
                    let (input, offset, len) = (0, 0, 0);
                    let (inferred, data) = (true, Data::None);
                    return Item::Event(Event {
                        input,
                        offset,
                        len,
                        time,
                        track,
                        kind,
                        name,
                        starts,
                        ends,
                        inferred,
                        data,
                    });
                };
                let event = current.event();
                // One without a time has a place in the order alone.
                let time = time.filter(|_| event.nanoseconds().is_some());
                Item::Event(Event {
                    input: self.order.input_of(current),
                    offset: event.offset(),
                    len: event.end_offset().saturating_sub(event.offset()),
                    time,
                    track,
                    kind,
                    name,
                    starts,
                    ends,
                    inferred: false,
                    data: Data::Dial9(self.order.record(current)),
                })
            }
        }
    }

    fn track_item(&self, at: usize) -> Item<'_> {
        let of = self.tracks.slots().get(at).map_or(Of::Worker(0), |slot| slot.of);
        let (kind, label, parent) = match of {
            Of::Worker(id) => (TrackKind::Thread, Label::Numbered("worker", id), ROOT),
            Of::Thread(id) => (TrackKind::Thread, Label::Numbered("thread", id), ROOT),
            Of::Task(id) => (TrackKind::Task, Label::Numbered("task", id), ROOT),
            Of::Kind(kind) => {
                let slot = self.kinds.slots().get(to_usize(kind));
                (TrackKind::Stream, Label::Text(slot.map_or("", |slot| slot.name)), ROOT)
            }
            Of::Runtime(entry) => match entry.get(4..) {
                Some(name @ [_, ..]) => (TrackKind::Stream, Label::of(name), ROOT),
                _ => (TrackKind::Stream, Label::Text("runtime"), ROOT),
            },
            Of::Lane(kind, _) => {
                let name = self.kinds.slots().get(to_usize(kind)).map_or("", |slot| slot.name);
                let parent = self.roots.find(self.tracks.slots(), Of::Kind(kind)).slot().map_or(ROOT, id_of);
                (TrackKind::Span, Label::Text(name), parent)
            }
            Of::TaskSpans(task) => {
                let parent = self.roots.find(self.tracks.slots(), Of::Task(task)).slot().map_or(ROOT, id_of);
                (TrackKind::Span, Label::Numbered("spans of task", task), parent)
            }
            Of::Span(id) | Of::Entered(id) => (TrackKind::Span, Label::Numbered("span", id), ROOT),
            Of::Counter(parent, place) => {
                let above = self.tracks.slots().get(to_usize(parent)).map(|slot| slot.of);
                let class = match above {
                    Some(Of::Kind(class)) => Some(class),
                    _ => None,
                };
                let kind = class.and_then(|class| self.kinds.slots().get(to_usize(class)));
                let schema = class.and_then(|class| self.order.schema(class));
                let named = schema.and_then(|schema| schema.fields().nth(place.into()));
                let name = named.map_or_else(|| runtime_name(place), |field| field.name());
                let unit = kind.and_then(|kind| kind.counters.unit(place));
                (TrackKind::Counter { unit }, Label::Text(name), id_of(to_usize(parent)))
            }
        };
        Item::Track(Track {
            id: id_of(at),
            parent: Some(parent),
            kind,
            label,
            clock: CLOCK,
            data: Data::None,
        })
    }
}

impl Source for Timeline<'_, '_> {
    fn next_item(&mut self) -> Result<Option<Item<'_>>> {
        if self.failed {
            return Ok(None);
        }
        if !core::mem::replace(&mut self.is_root_told, true) {
            let (kind, label) = (TrackKind::Recording, Label::Text("dial9 recording"));
            let track = Track { id: ROOT, parent: None, kind, label, clock: CLOCK, data: Data::None };
            return Ok(Some(Item::Track(track)));
        }
        if !self.is_read {
            match self.read() {
                Ok(None) => {}
                Ok(gap) => return Ok(gap),
                Err(error) => {
                    self.failed = true;
                    return Err(error);
                }
            }
        }
        match self.advance() {
            Ok(None) => Ok(None),
            Ok(Some(waiting)) => Ok(Some(self.item(waiting))),
            Err(error) => {
                self.failed = true;
                Err(error)
            }
        }
    }

    fn set_window(&mut self, window: Window) {
        self.window = window;
    }
}

impl core::fmt::Debug for Timeline<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Timeline").field("order", &self.order).finish_non_exhaustive()
    }
}
