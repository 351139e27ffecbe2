//! The chunks and streams of a recording, merged by time.

use super::delivered::{CLOCK, Delivered, ROOT, Told, gap_event, on_its_track, unknown_track};
use super::fields::RfrData;
use super::lane::{Content, Head, Lane};
use super::polls::{Polls, Registry, RegistrySlot};
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::event::data::Data;
use crate::event::element::LANES;
use crate::event::event::{Event, EventKind, Flows};
use crate::event::label::Label;
use crate::event::rank::Rank;
use crate::event::time::{Time, Window};
use crate::event::track::{Track, TrackId, TrackKind};
use crate::event::{Item, Source};
use crate::gap::Gap;
use crate::heap;
use crate::rfr::life::Space;
use crate::rfr::tell::At;
use crate::rfr::{
    CallsiteTable, Chunk, NameSlot, Names, Object, Objects, Parent, RecordData, RecordKind, Sequences,
    StreamData, Streaming, Variant,
};
use crate::room::Room;

const NS_IN_MICRO: i128 = 1_000;
const MICROS: i128 = 1_000_000;

/// The tracks and events of an RFR recording.
///
/// It needs a lane for each chunk that was added and not read yet, and one for each sequence of the chunks that overlap
/// at a time.
#[derive(Debug)]
pub struct Timeline<'a, 'r, R, N, L> {
    names: Names<'a, 'r, R, N, Polls>,
    lanes: L,
    /// The number of lanes that are in the heap.
    open: usize,
    /// The number of slots that have ever been used.
    used: usize,
    free: usize,
    /// The order in which lanes were added.
    order: u64,
    opening: Option<Opening<'a>>,
    window: Window,
    /// True if chunks are read that say that they are outside of it.
    reads_all: bool,
    /// True if the record that comes next has begun or ended lives already: something is to be announced before it.
    is_followed: bool,
    failed: bool,
}

/// A chunk whose sequences and objects are being met.
#[derive(Debug)]
struct Opening<'a> {
    input: usize,
    /// The time of its begin.
    ns: i128,
    /// The base time.
    base: i128,
    size: u64,
    sequences: Sequences<'a>,
    sequence: Option<(crate::rfr::Sequence<'a>, Objects<'a>)>,
}

/// A record of either kind of file.
struct Happened<'a> {
    input: usize,
    offset: u64,
    end: u64,
    ns: i128,
    /// The track of its thread, or of the recording.
    thread: TrackId,
    seq_id: Option<u64>,
    data: RecordData<'a>,
}

impl<'a, 'r, R, N, L> Timeline<'a, 'r, R, N, L>
where
    R: Room<RegistrySlot>,
    N: Room<NameSlot<'a>>,
    L: Room<Lane<'a>>,
{
    /// A timeline of no file yet.
    pub const fn new(registry: &'r mut Registry<R>, names: N, lanes: L) -> Self {
        Self::of(Names::lend(registry, names), lanes)
    }

    /// A timeline of no file yet, with a registry of its own.
    pub const fn with_registry(registry: Registry<R>, names: N, lanes: L) -> Self {
        Self::of(Names::with_registry(registry, names), lanes)
    }

    const fn of(names: Names<'a, 'r, R, N, Polls>, lanes: L) -> Self {
        Self {
            names,
            lanes,
            open: 0,
            used: 0,
            free: usize::MAX,
            order: 0,
            opening: None,
            window: Window::ALL,
            reads_all: false,
            is_followed: false,
            failed: false,
        }
    }

    /// Looks up names and source locations of spans, events and tasks in these callsites.
    pub const fn set_callsites(&mut self, callsites: CallsiteTable<'a, 'r>) {
        self.names.set_callsites(callsites);
    }

    /// Reads all chunks whatever the window is: then one whose records are not of the time that its header states costs
    /// nothing.
    pub const fn read_all(&mut self) {
        self.reads_all = true;
    }

    /// Adds a chunk or a stream, which events refer to as `input`.
    ///
    /// # Errors
    /// The errors of [`Chunk::parse`] and [`Streaming::parse`]; `CapacityExceeded`.
    pub fn add(&mut self, input: usize, data: &'a [u8]) -> Result<()> {
        let size = to_u64(data.len());
        let is_stream = crate::rfr::FormatIdentifier::parse(data)
            .is_ok_and(|identifier| identifier.variant() == Variant::Streaming);
        if is_stream {
            let stream = Streaming::parse(data)?;
            let (records, head) = (stream.records(), Head::End);
            let at = self.take_lane(Content::Stream { input, size, records, head }, 0)?;
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

    fn advance(&mut self) -> Result<Option<Delivered<'a>>> {
        if self.names.registry().is_new() {
            self.names.registry().new_number();
            let track = Track {
                id: ROOT,
                parent: None,
                kind: TrackKind::Recording,
                label: Label::Text("RFR recording"),
                clock: CLOCK,
                data: Data::None,
            };
            return Ok(Some(Item::Track(track).into()));
        }
        loop {
            if let Some(number) = self.names.take_ended() {
                return Ok(Some(Item::Ended(TrackId::new(number)).into()));
            }
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
                    Some(gap_event(input, None, ROOT, gap).into())
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
        if !self.reads_all && (self.window.begins_after(end) || self.window.ends_before(ns)) {
            return;
        }
        self.names.next_epoch();
        let (base, sequences) = (ns_of(header.base_time(), 0), chunk.sequences());
        self.opening = Some(Opening { input, ns, base, size, sequences, sequence: None });
    }

    /// Meets the sequences and objects of the chunk that is being opened.
    fn open_chunk(&mut self) -> Result<Option<Delivered<'a>>> {
        while let Some(opening) = &mut self.opening {
            let (input, ns, base) = (opening.input, opening.ns, opening.base);
            let Some((sequence, objects)) = &mut opening.sequence else {
                match opening.sequences.next_sequence() {
                    Ok(Some(sequence)) => {
                        opening.sequence = Some((sequence, sequence.objects()));
                        if let Some(item) = self.meet_sequence(sequence.seq_id(), sequence.offset())? {
                            return Ok(Some(item.into()));
                        }
                    }
                    Ok(None) => self.opening = None,
                    Err(error) => {
                        let len = opening.size.saturating_sub(error.offset());
                        self.opening = None;
                        let gap = Gap::new(error.offset(), len, error);
                        return Ok(Some(gap_event(input, Some(ns), ROOT, gap).into()));
                    }
                }
                continue;
            };
            match objects.next_object() {
                Ok(Some(object)) => {
                    if let Some(item) = self.meet(&object, false)? {
                        return Ok(Some(item));
                    }
                }
                Ok(None) => {
                    let sequence = *sequence;
                    opening.sequence = None;
                    // If the records cannot be found, looking for the next sequence reports why.
                    if let Ok(records) = sequence.records() {
                        let seq_id = sequence.seq_id();
                        let track = self.names.registry().get(Space::Sequences, seq_id);
                        let track = track.map_or(ROOT, |known| TrackId::new(known.life.number));
                        let content =
                            Content::Records { input, base, track, seq_id, records, head: Head::End };
                        let at = self.take_lane(content, sequence.offset())?;
                        let (ns, class) = self.load(at, ns);
                        self.enter(at, ns, class);
                    }
                }
                Err(_) => match objects.recover() {
                    Some(gap) => return Ok(Some(gap_event(input, Some(ns), ROOT, gap).into())),
                    None => opening.sequence = None,
                },
            }
        }
        Ok(None)
    }

    fn meet_sequence(&mut self, seq_id: u64, offset: u64) -> Result<Option<Item<'a>>> {
        let registry = self.names.registry();
        if registry.get(Space::Sequences, seq_id).is_some() {
            return Ok(None);
        }
        let id = TrackId::new(registry.add(Space::Sequences, seq_id, None, offset)?);
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
    fn meet(&mut self, object: &Object<'a>, in_stream: bool) -> Result<Option<Delivered<'a>>> {
        let number = match in_stream {
            true => self.names.meet_in_stream(object)?,
            false => self.names.meet(object)?,
        };
        let Some(number) = number else { return Ok(None) };
        let id = TrackId::new(number);
        let (kind, label, parent) = match *object {
            Object::Task(task) => {
                let label = match task.name() {
                    "" => Label::Numbered("task", task.task_id()),
                    name => Label::Text(name),
                };
                (TrackKind::Task, label, None)
            }
            Object::Span(span) => {
                let name = self.names.site(span.callsite_id()).and_then(|site| site.name());
                let label = name.map_or(Label::Numbered("span", span.iid()), Label::Text);
                let parent = span.parent().explicit().filter(|iid| *iid != span.iid());
                let parent = parent.and_then(|iid| self.track_of(iid));
                // Parents are earlier tracks only, so that there is no cycle.
                (TrackKind::Span, label, parent.filter(|&parent| parent < id))
            }
        };
        let parent = Some(parent.unwrap_or(ROOT));
        let track = Track { id, parent, kind, label, clock: CLOCK, data: Data::None };
        Ok(Some(Delivered { item: Item::Track(track), told: Told::Object(*object), done: true }))
    }

    /// The track of a task or a span, if it is known.
    fn track_of(&mut self, iid: u64) -> Option<TrackId> {
        self.names.registry().get(Space::Objects, iid).map(|known| TrackId::new(known.life.number))
    }

    /// Reads on in a lane; returns the time and the class of what comes next in it.
    fn load(&mut self, at: usize, last: i128) -> (i128, u8) {
        let lane = self.lanes.slots_mut().get_mut(at);
        match lane.map(|lane| &mut lane.content) {
            Some(Content::Records { base, records, head, .. }) => {
                match records.next_record() {
                    Ok(Some(record)) => {
                        *head = Head::Record(record, records.offset());
                        let since = i128::from(record.micros()).saturating_mul(NS_IN_MICRO);
                        let class = u8::from(record.kind() == RecordKind::TaskPollStart);
                        return (base.saturating_add(since), class);
                    }
                    // Bytes that cannot be skipped were reported when the chunk was opened.
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

    fn next_of_sequence(&mut self, rank: Rank) -> Result<Option<Delivered<'a>>> {
        let Some(lane) = self.lanes.slots().get(rank.slot) else { return Ok(None) };
        let Content::Records { input, track, seq_id, ref head, .. } = lane.content else { return Ok(None) };
        let (record, end) = match *head {
            Head::Record(record, end) => (record, end),
            Head::Gap(gap) => {
                self.next_in(rank);
                return Ok(Some(gap_event(input, Some(rank.ns), track, gap).into()));
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
            end,
            ns: rank.ns,
            thread: track,
            seq_id: Some(seq_id),
            data: record.data(),
        };
        let delivered = self.place(&happened)?;
        if delivered.done {
            self.is_followed = false;
            self.next_in(rank);
        }
        Ok(Some(delivered))
    }

    fn next_of_stream(&mut self, rank: Rank) -> Result<Option<Delivered<'a>>> {
        let Some(lane) = self.lanes.slots().get(rank.slot) else { return Ok(None) };
        let Content::Stream { input, ref head, .. } = lane.content else { return Ok(None) };
        let (record, end) = match *head {
            Head::Record(record, end) => (record, end),
            Head::Gap(gap) => {
                self.next_in(rank);
                let ns = (rank.ns != i128::MIN).then_some(rank.ns);
                return Ok(Some(gap_event(input, ns, ROOT, gap).into()));
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
                let happened = Happened { input, offset, end, ns: rank.ns, thread: ROOT, seq_id: None, data };
                let delivered = self.place(&happened)?;
                if !delivered.done {
                    return Ok(Some(delivered));
                }
                self.is_followed = false;
                Some(delivered)
            }
            StreamData::Task(task) => self.meet(&Object::Task(task), true)?,
            StreamData::Span(span) => self.meet(&Object::Span(span), true)?,
            StreamData::Callsite(callsite) => {
                self.names.meet_callsite(&callsite)?;
                None
            }
            _ => None,
        };
        self.next_in(rank);
        Ok(item)
    }

    /// The track of a task or span of which only the id is known, if it is still to be announced.
    fn ensure(&mut self, iid: u64, kind: TrackKind<'a>, offset: u64) -> Result<Option<Delivered<'a>>> {
        if self.track_of(iid).is_some() {
            return Ok(None);
        }
        let id = TrackId::new(self.names.registry().add(Space::Objects, iid, None, offset)?);
        let track = unknown_track(id, kind, iid);
        Ok(Some(Delivered { done: false, ..track.into() }))
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
        Ok(Ok(self.track_of(context).unwrap_or(happened.thread)))
    }

    /// The event of a record, or what is to be delivered before it.
    fn place(&mut self, happened: &Happened<'a>) -> Result<Delivered<'a>> {
        let kind = happened.data.kind();
        let event = Event {
            input: happened.input,
            offset: happened.offset,
            len: happened.end.saturating_sub(happened.offset),
            time: Some(Time::since_epoch(happened.ns)),
            track: happened.thread,
            kind: EventKind::Instant,
            name: Label::Text(kind.name()),
            starts: None,
            ends: Flows::NONE,
            inferred: false,
            data: Data::None,
        };
        let micros = u64::try_from(happened.ns.checked_div(NS_IN_MICRO).unwrap_or(0)).ok();
        let at = At::new(happened.offset, Some(happened.end), happened.seq_id, micros);
        let told =
            |event, done| Delivered { item: Item::Event(event), told: Told::Data(at, happened.data), done };
        if let RecordData::Event(logged) = happened.data {
            let mut track = happened.thread;
            if let Parent::Explicit(iid) = logged.parent() {
                if let Some(item) = self.ensure(iid, TrackKind::Span, happened.offset)? {
                    return Ok(item);
                }
                track = self.track_of(iid).unwrap_or(track);
            }
            let name = self.names.site(logged.callsite_id()).and_then(|site| site.name());
            return Ok(told(Event { track, name: name.map_or(event.name, Label::Text), ..event }, true));
        }
        let iid = happened.data.iid().unwrap_or(0);
        let of_object = if kind.is_span() { TrackKind::Span } else { TrackKind::Task };
        if let Some(item) = self.ensure(iid, of_object, happened.offset)? {
            return Ok(item);
        }
        if !self.is_followed {
            self.is_followed = true;
            self.names.registry().end_unseen(iid);
            if let Some(number) = self.names.begin(kind, iid) {
                // Its label is its id.
                let track = unknown_track(TrackId::new(number), of_object, iid);
                return Ok(Delivered { done: false, ..track.into() });
            }
            match happened.seq_id {
                Some(_) => drop(self.names.registry().end(kind, iid)),
                // A stream has no chunks after which ends are forgotten.
                None => self.names.end(kind, iid),
            }
        }
        let waker = happened.data.waker();
        let context = match (kind, waker) {
            (RecordKind::NewTask, _) => self.spawner_of(iid),
            (_, Some(waker)) => waker.context(),
            _ => {
                let Some(known) = self.names.registry().get(Space::Objects, iid) else {
                    return Ok(told(event, true));
                };
                let track = TrackId::new(known.life.number);
                let (event, done) = on_its_track(kind, &mut known.state, Event { track, ..event });
                return Ok(told(event, done));
            }
        };
        let track = match self.place_of_context(context, happened)? {
            Ok(track) => track,
            Err(track) => return Ok(track),
        };
        let leads = matches!(kind, RecordKind::NewTask | RecordKind::WakerWake | RecordKind::WakerWakeByRef);
        let known = if leads { self.names.registry().get(Space::Objects, iid) } else { None };
        let starts = known.map(|known| known.state.start_flow(TrackId::new(known.life.number)));
        Ok(told(Event { track, starts, ..event }, true))
    }

    /// The task that spawned a task, as far as that is known.
    fn spawner_of(&mut self, iid: u64) -> Option<u64> {
        self.names.registry().get(Space::Objects, iid)?.life.identity?.context()
    }
}

/// Microseconds after seconds since the Unix epoch, in nanoseconds.
fn ns_of(secs: u64, micros: u64) -> i128 {
    let micros = i128::from(secs).saturating_mul(MICROS).saturating_add(micros.into());
    micros.saturating_mul(NS_IN_MICRO)
}

impl<'a, R, N, L> Source for Timeline<'a, '_, R, N, L>
where
    R: Room<RegistrySlot>,
    N: Room<NameSlot<'a>>,
    L: Room<Lane<'a>>,
{
    fn next_item(&mut self) -> Result<Option<Item<'_>>> {
        if self.failed {
            return Ok(None);
        }
        let next = self.advance();
        self.failed = next.is_err();
        let Some(Delivered { item, told, .. }) = next? else { return Ok(None) };
        // The names do not change any more until the next item is asked for.
        let record = match told {
            Told::Nothing => return Ok(Some(item)),
            Told::Object(object) => self.names.about(At::new(object.offset(), None, None, None), &object),
            Told::Data(at, data) => self.names.data(at, &data),
        };
        // An item has some hundred bytes: it is not made anew.
        let mut item: Item<'_> = item;
        if let Item::Track(Track { data, .. }) | Item::Event(Event { data, .. }) = &mut item {
            *data = Data::Rfr(RfrData::Record(record));
        }
        Ok(Some(item))
    }

    fn set_window(&mut self, window: Window) {
        self.window = window;
    }
}
