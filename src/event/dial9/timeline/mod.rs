//! The batches of a recording, put in the order of time.

mod lasting;
mod meaning;
mod spans;

use crate::bytes::to_usize;
use crate::dial9::{Event as Stored, Frame, Frames, Schema, Storage};
use crate::error::{ErrorKind, Result};
use crate::event::data::Data;
use crate::event::dial9::counters::{Counters, runtime_name};
use crate::event::dial9::fields::Dial9Data;
use crate::event::dial9::lasts::Lasts;
use crate::event::dial9::moment::{Input, KindSlot, Moment, PoolPlace, PoolsAt, Role};
use crate::event::dial9::rooms::{Filled, Rooms};
use crate::event::dial9::said::Known;
use crate::event::dial9::tracks::{Of, Opened, Roots, TrackSlot, id_of};
use crate::event::dial9::waiting::{WAITING, Waiting, end_of};
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

/// An event whose numbers are told one after the other.
#[derive(Clone, Copy)]
struct Counting {
    of: usize,
    /// The slot of the track under which the counters are.
    parent: usize,
    /// The field to go on with.
    field: u16,
}

/// The tracks and events of a dial9 recording.
pub struct Timeline<'a, 't> {
    frames: Frames<'a, 't>,
    kinds: Filled<'t, KindSlot<'a>>,
    moments: Filled<'t, Moment>,
    pools: Filled<'t, PoolPlace>,
    inputs: Filled<'t, Input<'a>>,
    tracks: Filled<'t, TrackSlot<'a>>,
    roots: Roots,
    /// The input that is read, and the kinds of those before it.
    reading: usize,
    first_kind: usize,
    batches: u32,
    is_root_told: bool,
    /// The moment that comes next, once they are in order.
    next: Option<usize>,
    /// The track that is closed next, at the end.
    closing: usize,
    last: u64,
    waiting: [Option<Waiting<'a>>; WAITING],
    /// The number of them that were handed out.
    handed_out: usize,
    counting: Option<Counting>,
    /// A moment that began something, and the slot of its track.
    placing: Option<(usize, usize)>,
    window: Window,
    failed: bool,
}

impl<'a, 't> Timeline<'a, 't> {
    /// A timeline of no input yet.
    pub fn new(rooms: Rooms<'a, 't>) -> Self {
        let Rooms { schemas, classes, kinds, moments, pools, inputs, tracks } = rooms;
        Self {
            frames: Frames::new(&[], Storage::new(schemas).classes(classes)),
            kinds: Filled::new(kinds),
            moments: Filled::new(moments),
            pools: Filled::new(pools),
            inputs: Filled::new(inputs),
            tracks: Filled::new(tracks),
            roots: Roots::default(),
            reading: usize::MAX,
            first_kind: 0,
            batches: 0,
            is_root_told: false,
            next: None,
            closing: 0,
            last: 0,
            waiting: [None; WAITING],
            handed_out: 0,
            counting: None,
            placing: None,
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
        self.inputs.push(Input { number: input, data, first_batch: 0 }, 0, LANES)
    }

    /// Reads all inputs, up to the first damage in them: of that there is an item.
    fn read(&mut self) -> Result<Option<Item<'a>>> {
        loop {
            if self.reading == usize::MAX || self.frames.is_at_end() {
                self.reading = self.reading.wrapping_add(1);
                let batches = self.batches;
                let Some(input) = self.inputs.slots_mut().get_mut(self.reading) else {
                    self.order();
                    return Ok(None);
                };
                input.first_batch = batches;
                self.frames.restart(input.data);
                self.first_kind = self.kinds.len;
            }
            let input = self.inputs.slots().get(self.reading).map_or(0, |input| input.number);
            match self.frames.next_frame() {
                Ok(Some(frame)) => self.keep(&frame)?,
                Ok(None) => {}
                Err(error) if matches!(error.kind(), ErrorKind::CapacityExceeded { .. }) => {
                    return Err(error);
                }
                Err(error) => {
                    let gap = self.frames.recover().unwrap_or(Gap::new(error.offset(), 0, error));
                    return Ok(Some(Item::Event(Event::gap(input, None, ROOT, gap))));
                }
            }
        }
    }

    /// Keeps where something stands.
    fn keep(&mut self, frame: &Frame<'a>) -> Result<()> {
        let batch = self.batches.saturating_sub(1);
        match frame {
            Frame::Header(_) => self.batches = self.batches.saturating_add(1),
            // Classes are counted in the order in which their first schemas are met.
            Frame::Schema(schema) if self.kind_of(schema) >= self.kinds.len => {
                let fields_before =
                    self.kinds.slots().last().map_or(0, |last| {
                        last.fields_before.saturating_add(last.schema.field_count().into())
                    });
                let role = Role::of(schema.name());
                let counters = match role {
                    Role::Metrics => Counters::of_runtime(schema.fields()),
                    _ => Counters::NONE,
                };
                let lasts = if role == Role::Other { Lasts::of(schema.fields()) } else { Lasts::NONE };
                let (schema, plan, free) = (*schema, schema.plan(), None);
                let known = Known::of(schema.fields());
                let name = schema.name();
                let slot = KindSlot { role, schema, name, plan, counters, lasts, known, free, fields_before };
                self.kinds.push(slot, schema.offset(), REGISTRY)?;
            }
            Frame::Event(event) => {
                let kind = self.kind_of(&event.schema());
                // Without a time of its own, it is when the one before it was.
                let time = event.time().unwrap_or(self.last);
                self.last = time;
                let slot = self.kinds.slots().get(kind).filter(|kind| kind.lasts.any());
                let start = slot.and_then(|kind| kind.lasts.start(event, &kind.counters, time));
                let kind = u32::try_from(kind).unwrap_or(u32::MAX);
                let moment = Moment { time, at: event.start(), batch, kind };
                self.moments.push(moment, event.offset(), LANES)?;
                if let Some(start) = start {
                    self.moments.push(moment.begin(start), event.offset(), LANES)?;
                }
            }
            Frame::Annotations(annotations) => {
                // Those of a type that the batch does not know say nothing.
                let class = u16::try_from(annotations.type_id()).ok().and_then(|id| self.frames.class(id));
                let kind = class.map(|class| self.first_kind.saturating_add(to_usize(class)));
                let kind = kind.and_then(|kind| self.kinds.slots_mut().get_mut(kind));
                if let Some(kind) = kind.filter(|kind| kind.role != Role::Metrics) {
                    annotations.entries().for_each(|said| {
                        kind.counters.learn(&said);
                        if kind.role == Role::Other {
                            kind.lasts.learn(&said);
                        }
                    });
                }
            }
            Frame::Strings(pool) => {
                let mut entries = pool.entries();
                while let Some((id, at)) = entries.next_place() {
                    self.pools.push(PoolPlace { batch, is_stack: false, id, at }, pool.offset(), REGISTRY)?;
                }
            }
            Frame::Stacks(pool) => {
                let mut entries = pool.entries();
                while let Some((id, at)) = entries.next_place() {
                    self.pools.push(PoolPlace { batch, is_stack: true, id, at }, pool.offset(), REGISTRY)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The number of a schema's class among those of all inputs.
    fn kind_of(&self, schema: &Schema<'a>) -> usize {
        self.first_kind.saturating_add(self.frames.class(schema.type_id()).map_or(0, to_usize))
    }

    /// Puts events in the order of time, those of the same time in the order of the inputs.
    fn order(&mut self) {
        // No two stand at one place.
        sort_by_key(self.pools.slots_mut(), |place| place);
        sort_by_key(self.moments.slots_mut(), Moment::key);
        self.last = self.moments.slots().last().map_or(0, |moment| moment.time);
        self.next = Some(0);
    }

    /// The input of a batch.
    fn input_of(&self, batch: u32) -> Option<Input<'a>> {
        let inputs = self.inputs.slots();
        let next = inputs.partition_point(|input| input.first_batch <= batch);
        inputs.get(next.checked_sub(1)?).copied()
    }

    /// The event of a moment, and what is known of its class.
    fn event(&self, moment: &Moment) -> Option<(Stored<'a>, &KindSlot<'a>, PoolsAt<'a, '_>)> {
        let data = self.input_of(moment.batch)?.data;
        let kind = self.kinds.slots().get(to_usize(moment.class()))?;
        let event = Stored::at(data, moment.at, &kind.schema, &kind.plan, moment.time)?;
        let pools = PoolsAt { data, pools: self.pools.slots(), batch: moment.batch, before: moment.at };
        Some((event, kind, pools))
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
            self.place();
            let next = self.next.unwrap_or(0);
            let Some(&moment) = self.moments.slots().get(next) else {
                // What is open at the end ends there.
                let Some(slot) = self.tracks.slots_mut().get_mut(self.closing) else { return Ok(None) };
                let open = core::mem::replace(&mut slot.open, Opened::Nothing);
                let at = self.closing;
                self.closing = at.saturating_add(1);
                let track = if open == Opened::Span { slot.of_lane.unwrap_or(at) } else { at };
                if open != Opened::Nothing {
                    return Ok(Some(end_of(id_of(track), None, Label::Text(""), self.last)));
                }
                continue;
            };
            self.next = Some(next.saturating_add(1));
            if self.window.contains(Some(Time::since_origin(moment.time.into()))) {
                self.happened(next, &moment)?;
            }
        }
    }

    /// An item, borrowed.
    fn item(&self, waiting: Waiting<'a>) -> Item<'_> {
        match waiting {
            Waiting::Track(at) => self.track_item(at),
            Waiting::Event { track, kind, name, starts, ends, of, time } => {
                let moment = of.and_then(|of| self.moments.slots().get(of));
                let found = moment.and_then(|moment| Some((moment, self.event(moment)?)));
                let time = Some(Time::since_origin(time.into()));
                let Some((moment, (event, of, pools))) = found else {
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
                let data = Dial9Data { event, pools, kind: moment.kind, fields_before: of.fields_before };
                Item::Event(Event {
                    input: self.input_of(moment.batch).map_or(0, |input| input.number),
                    offset: event.offset(),
                    len: event.end_offset().saturating_sub(event.offset()),
                    time,
                    track,
                    kind,
                    name,
                    starts,
                    ends,
                    inferred: false,
                    data: Data::Dial9(data),
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
                (TrackKind::Stream, Label::Text(slot.map_or("", |slot| slot.schema.name())), ROOT)
            }
            Of::Runtime(entry) => match entry.get(4..) {
                Some(name @ [_, ..]) => (TrackKind::Stream, Label::of(name), ROOT),
                _ => (TrackKind::Stream, Label::Text("runtime"), ROOT),
            },
            Of::Lane(kind, _) => {
                let name = self.kinds.slots().get(to_usize(kind)).map_or("", |slot| slot.schema.name());
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
                let kind = match above {
                    Some(Of::Kind(kind)) => self.kinds.slots().get(to_usize(kind)),
                    _ => None,
                };
                let named = kind.and_then(|kind| kind.schema.fields().nth(place.into()));
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
        if self.next.is_none() {
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
        f.debug_struct("Timeline").field("inputs", &self.inputs.len).finish_non_exhaustive()
    }
}
