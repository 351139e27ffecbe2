//! The chunks and streams of a recording, merged by time.

use super::delivered::{CLOCK, Delivered, ROOT, gap_event, on_its_track, unknown_track};
use super::fields::RfrData;
use super::lane::{Content, Head, Lane};
use super::registry::{Identity, Known, Registry, RegistrySlot, Space};
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::event::element::LANES;
use crate::event::event::{Event, EventKind, Flows};
use crate::event::fields::Data;
use crate::event::label::Label;
use crate::event::rank::Rank;
use crate::event::time::{Time, Window};
use crate::event::track::{Track, TrackId, TrackKind};
use crate::event::{Item, Source};
use crate::gap::Gap;
use crate::heap;
use crate::rfr::{
    Callsite, CallsiteTable, Chunk, Object, Objects, Parent, RecordData, RecordKind, Sequences, StreamData,
    Streaming, Variant,
};
use crate::room::Room;

const NS_IN_MICRO: i128 = 1_000;
const MICROS: i128 = 1_000_000;

/// The largest callsite that is looked up, in bytes: it is read again with each event that names it. Those of `tracing`
/// have some hundred bytes; of a larger one, only its id is told.
const CALLSITE: usize = 4096;

/// The tracks and events of an RFR recording.
///
/// It needs a lane for each chunk that was added and not read yet, and one for each sequence of the chunks that overlap
/// at a time.
#[derive(Debug)]
pub struct Timeline<'a, 'r, R, L> {
    registry: Kept<'r, R>,
    lanes: L,
    /// How many lanes are in the heap.
    open: usize,
    /// How many have ever been used.
    used: usize,
    free: usize,
    /// The order in which lanes were added.
    order: u64,
    callsites: Option<CallsiteTable<'a, 'r>>,
    opening: Option<Opening<'a>>,
    window: Window,
    failed: bool,
}

/// A registry that is lent, or that goes with the timeline.
#[derive(Debug)]
enum Kept<'r, R> {
    Lent(&'r mut Registry<R>),
    Own(Registry<R>),
}

impl<R> core::ops::Deref for Kept<'_, R> {
    type Target = Registry<R>;

    fn deref(&self) -> &Registry<R> {
        match self {
            Self::Lent(registry) => registry,
            Self::Own(registry) => registry,
        }
    }
}

impl<R> core::ops::DerefMut for Kept<'_, R> {
    fn deref_mut(&mut self) -> &mut Registry<R> {
        match self {
            Self::Lent(registry) => registry,
            Self::Own(registry) => registry,
        }
    }
}

/// A chunk whose sequences and objects are being met.
#[derive(Debug)]
struct Opening<'a> {
    input: usize,
    /// When it begins.
    ns: i128,
    /// Its base time.
    base: i128,
    size: u64,
    sequences: Sequences<'a>,
    sequence: Option<(crate::rfr::Sequence<'a>, Objects<'a>)>,
}

/// A record of either kind of file.
struct Happened<'a> {
    input: usize,
    offset: u64,
    len: u64,
    ns: i128,
    /// The track of its thread, or of the recording.
    thread: TrackId,
    /// Where the callsites of a stream are.
    stream: Option<Streaming<'a>>,
    data: RecordData<'a>,
}

impl<'a, 'r, R: Room<RegistrySlot>, L: Room<Lane<'a>>> Timeline<'a, 'r, R, L> {
    /// A timeline of no file yet.
    pub const fn new(registry: &'r mut Registry<R>, lanes: L) -> Self {
        Self::of(Kept::Lent(registry), lanes)
    }

    /// A timeline of no file yet, with a registry of its own.
    pub const fn with_registry(registry: Registry<R>, lanes: L) -> Self {
        Self::of(Kept::Own(registry), lanes)
    }

    const fn of(registry: Kept<'r, R>, lanes: L) -> Self {
        Self {
            registry,
            lanes,
            open: 0,
            used: 0,
            free: usize::MAX,
            order: 0,
            callsites: None,
            opening: None,
            window: Window::ALL,
            failed: false,
        }
    }

    /// Looks up names and source locations of spans, events and tasks in these callsites.
    ///
    /// A callsite of more than 4 KiB is not looked up, in a stream neither: of it, only the id is told.
    pub const fn set_callsites(&mut self, callsites: CallsiteTable<'a, 'r>) {
        self.callsites = Some(callsites);
    }

    /// Adds a chunk or a stream, which events refer to as `input`.
    ///
    /// # Errors
    /// Those of [`Chunk::parse`] and [`Streaming::parse`]; `CapacityExceeded`.
    pub fn add(&mut self, input: usize, data: &'a [u8]) -> Result<()> {
        let size = to_u64(data.len());
        let is_stream = crate::rfr::FormatIdentifier::parse(data)
            .is_ok_and(|identifier| identifier.variant() == Variant::Streaming);
        if is_stream {
            let stream = Streaming::parse(data)?;
            let (records, head) = (stream.records(), Head::End);
            let at = self.take_lane(Content::Stream { input, stream, size, records, head }, 0)?;
            let (ns, class) = self.load(at, i128::MIN);
            self.enter(at, ns, class);
            return Ok(());
        }
        let chunk = Chunk::parse(data)?;
        let header = chunk.header();
        let start = ns_of(header.base_time(), header.start().min(header.earliest()));
        let at = self.take_lane(Content::Chunk { input, chunk, size }, header.offset())?;
        self.enter(at, start, 0);
        Ok(())
    }

    /// Adds an input of which something cannot be read: an event of its own.
    ///
    /// # Errors
    /// `CapacityExceeded`.
    pub fn add_gap(&mut self, input: usize, gap: Gap) -> Result<()> {
        let at = self.take_lane(Content::Broken { input, gap }, gap.offset())?;
        self.enter(at, i128::MIN, 0);
        Ok(())
    }

    /// Puts something in a free lane.
    fn take_lane(&mut self, content: Content<'a>, offset: u64) -> Result<usize> {
        let at = match self.lanes.slots().get(self.free).map(|lane| &lane.content) {
            Some(&Content::Free(next)) => core::mem::replace(&mut self.free, next),
            _ => {
                let (at, needed) = (self.used, self.used.saturating_add(1));
                let fits = at < self.lanes.slots().len() || self.lanes.grow(needed);
                if !fits || at >= self.lanes.slots().len() {
                    let capacity = to_u64(self.lanes.slots().len());
                    let kind = ErrorKind::CapacityExceeded { capacity, needed: capacity.saturating_add(1) };
                    return Err(Error::new(offset, LANES, kind));
                }
                self.used = needed;
                at
            }
        };
        if let Some(lane) = self.lanes.slots_mut().get_mut(at) {
            lane.content = content;
        }
        Ok(at)
    }

    /// Puts a lane in the heap.
    fn enter(&mut self, at: usize, ns: i128, class: u8) {
        let rank = Rank { ns, class, order: self.order, slot: at };
        self.order = self.order.saturating_add(1);
        heap::push(self.lanes.slots_mut(), self.open, rank);
        self.open = self.open.saturating_add(1);
    }

    /// Frees the lane that is the first of the heap.
    fn pop(&mut self, at: usize) {
        heap::pop(self.lanes.slots_mut(), self.open);
        self.open = self.open.saturating_sub(1);
        if let Some(lane) = self.lanes.slots_mut().get_mut(at) {
            lane.content = Content::Free(self.free);
        }
        self.free = at;
    }

    fn advance(&mut self) -> Result<Option<Item<'a>>> {
        if self.registry.takes_root() {
            return Ok(Some(Item::Track(Track {
                id: ROOT,
                parent: None,
                kind: TrackKind::Recording,
                label: Label::Text("RFR recording"),
                clock: CLOCK,
                data: Data::None,
            })));
        }
        loop {
            if let Some(item) = self.open_chunk()? {
                return Ok(Some(item));
            }
            let Some(rank) = heap::first(self.lanes.slots(), self.open) else { return Ok(None) };
            let Some(lane) = self.lanes.slots_mut().get_mut(rank.slot) else { return Ok(None) };
            let item = match &mut lane.content {
                Content::Free(_) => {
                    self.pop(rank.slot);
                    None
                }
                &mut Content::Broken { input, gap } => {
                    self.pop(rank.slot);
                    Some(gap_event(input, None, ROOT, gap))
                }
                &mut Content::Chunk { input, chunk, size } => {
                    self.pop(rank.slot);
                    self.begin_chunk(input, &chunk, size, rank.ns);
                    None
                }
                Content::Records { .. } => self.next_of_sequence(rank)?,
                Content::Stream { .. } => self.next_of_stream(rank)?,
            };
            if item.is_some() {
                return Ok(item);
            }
        }
    }

    fn begin_chunk(&mut self, input: usize, chunk: &Chunk<'a>, size: u64, ns: i128) {
        let header = chunk.header();
        // The end of a chunk's period is not part of it.
        let end = ns_of(header.base_time(), header.end().saturating_sub(1).max(header.latest()));
        if self.window.begins_after(end) || self.window.ends_before(ns) {
            return;
        }
        self.registry.next_epoch();
        let (base, sequences) = (ns_of(header.base_time(), 0), chunk.sequences());
        self.opening = Some(Opening { input, ns, base, size, sequences, sequence: None });
    }

    /// Meets the sequences and objects of the chunk that is being opened.
    fn open_chunk(&mut self) -> Result<Option<Item<'a>>> {
        while let Some(opening) = &mut self.opening {
            let (input, ns, base) = (opening.input, opening.ns, opening.base);
            let Some((sequence, objects)) = &mut opening.sequence else {
                match opening.sequences.next_sequence() {
                    Ok(Some(sequence)) => {
                        opening.sequence = Some((sequence, sequence.objects()));
                        if let Some(item) = self.meet_sequence(sequence.seq_id(), sequence.offset())? {
                            return Ok(Some(item));
                        }
                    }
                    Ok(None) => self.opening = None,
                    Err(error) => {
                        let len = opening.size.saturating_sub(error.offset());
                        self.opening = None;
                        let gap = Gap::new(error.offset(), len, error);
                        return Ok(Some(gap_event(input, Some(ns), ROOT, gap)));
                    }
                }
                continue;
            };
            match objects.next_object() {
                Ok(Some(object)) => {
                    if let Some(item) = self.meet(&object, None)? {
                        return Ok(Some(item));
                    }
                }
                Ok(None) => {
                    let sequence = *sequence;
                    opening.sequence = None;
                    // If the records cannot be found, looking for the next sequence reports why.
                    if let Ok(records) = sequence.records() {
                        let track = self.registry.get(Space::Sequences, sequence.seq_id());
                        let track = track.map_or(ROOT, |known| known.track);
                        let content = Content::Records { input, base, track, records, head: Head::End };
                        let at = self.take_lane(content, sequence.offset())?;
                        let (ns, class) = self.load(at, ns);
                        self.enter(at, ns, class);
                    }
                }
                Err(_) => match objects.recover() {
                    Some(gap) => return Ok(Some(gap_event(input, Some(ns), ROOT, gap))),
                    None => opening.sequence = None,
                },
            }
        }
        Ok(None)
    }

    fn meet_sequence(&mut self, seq_id: u64, offset: u64) -> Result<Option<Item<'a>>> {
        if self.registry.get(Space::Sequences, seq_id).is_some() {
            return Ok(None);
        }
        let id = self.registry.add(Space::Sequences, seq_id, None, offset)?;
        Ok(Some(Item::Track(Track {
            id,
            parent: Some(ROOT),
            kind: TrackKind::Thread,
            label: Label::Numbered("sequence", seq_id),
            clock: CLOCK,
            data: Data::Rfr(RfrData::Sequence(seq_id)),
        })))
    }

    /// Registers a span or a task.
    fn meet(&mut self, object: &Object<'a>, stream: Option<Streaming<'a>>) -> Result<Option<Item<'a>>> {
        let task = object.as_task();
        let identity = Identity {
            is_task: task.is_some(),
            task_id: task.map_or(0, |task| task.task_id()),
            callsite_id: object.callsite_id(),
            context: task.and_then(|task| task.context()),
        };
        let Some(id) = self.registry.meet(object.iid(), identity, object.offset())? else { return Ok(None) };
        let callsite = self.callsite(object.callsite_id(), stream);
        let (kind, label, data, parent) = match *object {
            Object::Task(task) => {
                let label = match task.name() {
                    "" => Label::Numbered("task", task.task_id()),
                    name => Label::Text(name),
                };
                (TrackKind::Task, label, RfrData::Task(task, callsite), None)
            }
            Object::Span(span) => {
                let name = callsite.and_then(|callsite| callsite.name());
                let label = name.map_or(Label::Numbered("span", span.iid()), Label::Text);
                let parent = match span.parent() {
                    Parent::Explicit(iid) if iid != span.iid() => self.registry.get(Space::Objects, iid),
                    _ => None,
                };
                // Parents are earlier tracks only, so that there is no cycle.
                let parent = parent.map(|known| known.track).filter(|&parent| parent < id);
                (TrackKind::Span, label, RfrData::Span(span, callsite), parent)
            }
        };
        let parent = Some(parent.unwrap_or(ROOT));
        Ok(Some(Item::Track(Track { id, parent, kind, label, clock: CLOCK, data: Data::Rfr(data) })))
    }

    fn callsite(&mut self, id: u64, stream: Option<Streaming<'a>>) -> Option<Callsite<'a>> {
        if let Some(found) = self.callsites.and_then(|table| table.get_within(id, CALLSITE)) {
            return Some(found);
        }
        let stream = stream?;
        let place = self.registry.get(Space::Callsites, id)?.place;
        match stream.record_within(place, CALLSITE)?.data() {
            StreamData::Callsite(callsite) => Some(callsite),
            _ => None,
        }
    }

    /// Reads on in a lane; returns the time and the class of what comes next in it.
    fn load(&mut self, at: usize, last: i128) -> (i128, u8) {
        let lane = self.lanes.slots_mut().get_mut(at);
        match lane.map(|lane| &mut lane.content) {
            Some(Content::Records { base, records, head, .. }) => {
                match records.next_record() {
                    Ok(Some(record)) => {
                        *head = Head::Record(record, records.offset());
                        let since = i128::from(record.timestamp()).saturating_mul(NS_IN_MICRO);
                        let class = u8::from(record.kind() == RecordKind::TaskPollStart);
                        return (base.saturating_add(since), class);
                    }
                    // What cannot be skipped was reported when the chunk was opened.
                    Err(_) => *head = records.recover().map_or(Head::End, Head::Gap),
                    Ok(None) => *head = Head::End,
                }
            }
            Some(Content::Stream { size, records, head, .. }) => {
                let offset = records.offset();
                match records.next_record() {
                    Ok(Some(record)) => {
                        *head = Head::Record(record, records.offset());
                        return (ns_of(record.secs(), record.subsec_micros().into()), 0);
                    }
                    Err(error) => {
                        let rest = Gap::new(offset, size.saturating_sub(offset), error);
                        *head = Head::Gap(records.recover().unwrap_or(rest));
                    }
                    Ok(None) => *head = Head::End,
                }
            }
            _ => {}
        }
        (last, 0)
    }

    /// Reads on in the lane that is the first of the heap, and gives it its new place.
    fn next_in(&mut self, first: Rank) {
        let (ns, class) = self.load(first.slot, first.ns);
        heap::replace_first(self.lanes.slots_mut(), self.open, Rank { ns, class, ..first });
    }

    fn next_of_sequence(&mut self, rank: Rank) -> Result<Option<Item<'a>>> {
        let Some(lane) = self.lanes.slots().get(rank.slot) else { return Ok(None) };
        let Content::Records { input, track, ref head, .. } = lane.content else { return Ok(None) };
        let (record, end) = match *head {
            Head::Record(record, end) => (record, end),
            Head::Gap(gap) => {
                self.next_in(rank);
                return Ok(Some(gap_event(input, Some(rank.ns), track, gap)));
            }
            Head::End => {
                self.pop(rank.slot);
                return Ok(None);
            }
        };
        if !self.window.contains_ns(rank.ns) {
            self.next_in(rank);
            return Ok(None);
        }
        let happened = Happened {
            input,
            offset: record.offset(),
            len: end.saturating_sub(record.offset()),
            ns: rank.ns,
            thread: track,
            stream: None,
            data: record.data(),
        };
        let delivered = self.place(&happened)?;
        if delivered.done {
            self.next_in(rank);
        }
        Ok(Some(delivered.item))
    }

    fn next_of_stream(&mut self, rank: Rank) -> Result<Option<Item<'a>>> {
        let Some(lane) = self.lanes.slots().get(rank.slot) else { return Ok(None) };
        let Content::Stream { input, stream, ref head, .. } = lane.content else { return Ok(None) };
        let (record, end) = match *head {
            Head::Record(record, end) => (record, end),
            Head::Gap(gap) => {
                self.next_in(rank);
                let ns = (rank.ns != i128::MIN).then_some(rank.ns);
                return Ok(Some(gap_event(input, ns, ROOT, gap)));
            }
            Head::End => {
                self.pop(rank.slot);
                return Ok(None);
            }
        };
        let offset = record.offset();
        // Names are read even outside of the window.
        let item = match record.data() {
            StreamData::Record(data) if self.window.contains_ns(rank.ns) => {
                let len = end.saturating_sub(offset);
                let (ns, stream) = (rank.ns, Some(stream));
                let happened = Happened { input, offset, len, ns, thread: ROOT, stream, data };
                let delivered = self.place(&happened)?;
                if !delivered.done {
                    return Ok(Some(delivered.item));
                }
                Some(delivered.item)
            }
            StreamData::Task(task) => self.meet(&Object::Task(task), Some(stream))?,
            StreamData::Span(span) => self.meet(&Object::Span(span), Some(stream))?,
            StreamData::Callsite(callsite) => {
                match self.registry.get(Space::Callsites, callsite.id()) {
                    Some(known) => known.place = offset,
                    None => drop(self.registry.add(Space::Callsites, callsite.id(), None, offset)?),
                }
                None
            }
            _ => None,
        };
        self.next_in(rank);
        Ok(item)
    }

    /// The track of a task or span of which only the id is known, if it is still to be announced.
    fn ensure(&mut self, iid: u64, kind: TrackKind<'a>, offset: u64) -> Result<Option<Delivered<'a>>> {
        if self.registry.get(Space::Objects, iid).is_some() {
            return Ok(None);
        }
        let id = self.registry.add(Space::Objects, iid, None, offset)?;
        Ok(Some(Delivered { item: unknown_track(id, kind, iid, iid), done: false }))
    }

    /// The track on which something about a task happened: that of its context, or of the thread if it has none.
    fn place_of_context(
        &mut self,
        context: Option<u64>,
        happened: &Happened<'a>,
    ) -> Result<Result<TrackId, Delivered<'a>>> {
        let Some(context) = context else { return Ok(Ok(happened.thread)) };
        if let Some(track) = self.ensure(context, TrackKind::Task, happened.offset)? {
            return Ok(Err(track));
        }
        Ok(Ok(self.registry.get(Space::Objects, context).map_or(happened.thread, |known| known.track)))
    }

    /// The event of a record, or what is to be delivered before it.
    fn place(&mut self, happened: &Happened<'a>) -> Result<Delivered<'a>> {
        let kind = happened.data.kind();
        let event = Event {
            input: happened.input,
            offset: happened.offset,
            len: happened.len,
            time: Some(Time::since_epoch(happened.ns)),
            track: happened.thread,
            kind: EventKind::Instant,
            name: Label::Text(kind.name()),
            starts: None,
            ends: Flows::NONE,
            inferred: false,
            data: Data::Rfr(RfrData::Iid(happened.data.iid().unwrap_or(0))),
        };
        let done = |event| Ok(Delivered { item: Item::Event(event), done: true });
        if let RecordData::Event(logged) = happened.data {
            let mut track = happened.thread;
            if let Parent::Explicit(iid) = logged.parent() {
                if let Some(item) = self.ensure(iid, TrackKind::Span, happened.offset)? {
                    return Ok(item);
                }
                track = self.registry.get(Space::Objects, iid).map_or(track, |known| known.track);
            }
            let callsite = self.callsite(logged.callsite_id(), happened.stream);
            let name = callsite.and_then(|callsite| callsite.name()).map_or(event.name, Label::Text);
            return done(Event { track, name, data: Data::Rfr(RfrData::Event(logged, callsite)), ..event });
        }
        let iid = happened.data.iid().unwrap_or(0);
        let is_span = matches!(
            kind,
            RecordKind::SpanNew | RecordKind::SpanEnter | RecordKind::SpanExit | RecordKind::SpanClose
        );
        let of_object = if is_span { TrackKind::Span } else { TrackKind::Task };
        if let Some(item) = self.ensure(iid, of_object, happened.offset)? {
            return Ok(item);
        }
        if kind == RecordKind::NewTask
            && let Some(id) = self.registry.born(iid)
        {
            // Its label is its id; it is born when this record is read again.
            let identity = self.registry.get(Space::Objects, iid).and_then(|known| known.identity);
            let number = identity.map_or(iid, |identity| identity.task_id);
            return Ok(Delivered { item: unknown_track(id, TrackKind::Task, iid, number), done: false });
        }
        match happened.data {
            RecordData::NewTask { .. } => {
                let identity = self.registry.get(Space::Objects, iid).and_then(|known| known.identity);
                let context = identity.and_then(|identity| identity.context);
                match self.place_of_context(context, happened)? {
                    Ok(track) => {
                        let starts = self.registry.get(Space::Objects, iid).map(Known::start_flow);
                        done(Event { track, starts, ..event })
                    }
                    Err(track) => Ok(track),
                }
            }
            RecordData::WakerWake(waker)
            | RecordData::WakerWakeByRef(waker)
            | RecordData::WakerClone(waker)
            | RecordData::WakerDrop(waker) => match self.place_of_context(waker.context(), happened)? {
                Ok(track) => {
                    let wakes = matches!(kind, RecordKind::WakerWake | RecordKind::WakerWakeByRef);
                    let known = if wakes { self.registry.get(Space::Objects, iid) } else { None };
                    let starts = known.map(Known::start_flow);
                    let data = RfrData::Waker { task_iid: waker.task_iid(), context: waker.context() };
                    done(Event { track, starts, data: Data::Rfr(data), ..event })
                }
                Err(track) => Ok(track),
            },
            _ => {
                let Some(known) = self.registry.get(Space::Objects, iid) else { return done(event) };
                Ok(on_its_track(kind, known, Event { track: known.track, ..event }))
            }
        }
    }
}

/// Microseconds after seconds since the Unix epoch, in nanoseconds.
fn ns_of(secs: u64, micros: u64) -> i128 {
    let micros = i128::from(secs).saturating_mul(MICROS).saturating_add(micros.into());
    micros.saturating_mul(NS_IN_MICRO)
}

impl<'a, R: Room<RegistrySlot>, L: Room<Lane<'a>>> Source for Timeline<'a, '_, R, L> {
    fn next_item(&mut self) -> Result<Option<Item<'_>>> {
        if self.failed {
            return Ok(None);
        }
        let next = self.advance();
        self.failed = next.is_err();
        next
    }

    fn set_window(&mut self, window: Window) {
        self.window = window;
    }
}
