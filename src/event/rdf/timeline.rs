//! The chunks of a file, merged by time.

use super::fields::RdfData;
use super::lane::{Content, Happened, Head, Lane, Rank, Reserved};
use super::pieces::{Met, Pieces};
use super::tracks::{Gpu, Key, Space, TrackSlot, Tracks};
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::event::data::Data;
use crate::event::element::LANES;
use crate::event::event::{Event, EventKind, Flows, Number};
use crate::event::label::Label;
use crate::event::time::{Time, Window};
use crate::event::track::{Clock, Track, TrackId, TrackKind};
use crate::event::{Item, Source};
use crate::gap::Gap;
use crate::heap;
use crate::rdf::contents::rmt::{TokenRecord, TokenValue};
use crate::rdf::contents::{Clocks, LoadFields, ticks_to_ns};
use crate::room::Room;

/// The track of the file.
const ROOT: TrackId = TrackId::new(0);

/// The tracks and events of an RDF file.
///
/// It needs a lane for each chunk with events, and a slot for each track, GPU, string table and address that a memory
/// trace reserves.
#[derive(Debug)]
pub struct Timeline<'s, T, L> {
    input: usize,
    pub(super) pieces: Pieces<'s>,
    pub(super) tracks: Tracks<'s, T>,
    pub(super) lanes: L,
    /// The number of lanes that are in the heap.
    open: usize,
    /// The order in which lanes were added.
    order: u64,
    /// The number of tracks that were announced.
    announced: u64,
    pub(super) counters: u64,
    pub(super) cpu_hz: Option<u64>,
    pub(super) gpu_hz: Option<u64>,
    /// The facts that hold for every GPU.
    pub(super) any_gpu: Gpu,
    has_events: bool,
    /// The value of a counter after the last event.
    reserved: Option<Reserved>,
    window: Window,
    /// The lane of the event that was handed out last: it is passed when the next item is asked for, as the bytes of a
    /// token may be those of its piece until then.
    delivered: Option<Rank>,
    failed: bool,
}

/// An item whose data is still to be read from its lane.
enum Next<'s> {
    Track(Track<'s>),
    Event(Event<'s>, Option<usize>),
}

impl<'s, T: Room<TrackSlot<'s>>, L: Room<Lane<'s>>> Timeline<'s, T, L> {
    /// A timeline of nothing yet.
    pub(super) const fn empty(input: usize, pieces: Pieces<'s>, tracks: T, lanes: L) -> Self {
        Self {
            input,
            pieces,
            tracks: Tracks::new(tracks),
            lanes,
            open: 0,
            order: 0,
            announced: 0,
            counters: 0,
            cpu_hz: None,
            gpu_hz: None,
            any_gpu: Gpu { calibration: None, hz: None },
            has_events: false,
            reserved: None,
            window: Window::ALL,
            delivered: None,
            failed: false,
        }
    }

    /// True if the file has no events but faults.
    pub const fn is_empty(&self) -> bool {
        !self.has_events
    }

    /// Adds a lane; it is entered into the heap when all are there.
    pub(super) fn add(&mut self, lane: Lane<'s>) -> Result<()> {
        let (at, needed) = (self.open, self.open.saturating_add(1));
        let fits = at < self.lanes.slots().len() || self.lanes.grow(needed);
        let capacity = to_u64(self.lanes.slots().len());
        let offset = lane.offset;
        let Some(slot) = self.lanes.slots_mut().get_mut(at).filter(|_| fits) else {
            let kind = ErrorKind::CapacityExceeded { capacity, needed: capacity.saturating_add(1) };
            return Err(Error::new(offset, LANES, kind));
        };
        self.has_events |= !matches!(lane.content, Content::Gap(_));
        *slot = lane;
        self.open = needed;
        Ok(())
    }

    /// Enters all lanes into the heap.
    pub(super) fn open_lanes(&mut self) {
        let count = core::mem::take(&mut self.open);
        for at in 0..count {
            if let Some((ns, class)) = self.load(at) {
                let rank = Rank { ns, class, order: self.order, slot: at };
                self.order = self.order.saturating_add(1);
                heap::push(self.lanes.slots_mut(), self.open, rank);
                self.open = self.open.saturating_add(1);
            }
        }
    }

    /// The clocks of a GPU, if all of them are known.
    pub(super) fn clocks(&mut self, pci: Option<u32>) -> Option<Clocks> {
        let gpu = pci.and_then(|pci| self.tracks.gpu(pci)).unwrap_or_default();
        let calibration = gpu.calibration.or(self.any_gpu.calibration)?;
        let hz = gpu.hz.or(self.any_gpu.hz).or(self.gpu_hz)?;
        Clocks::new(calibration, hz, self.cpu_hz?)
    }

    /// Reads on in a lane; gives the time and the class of what comes next of it, `None` at its end.
    fn load(&mut self, at: usize) -> Option<(i128, u8)> {
        const UNKNOWN: i128 = i128::MIN;
        let cpu_hz = self.cpu_hz;
        let lane = self.lanes.slots_mut().get_mut(at)?;
        let ns = match &mut lane.content {
            Content::None => return None,
            Content::Gap(_) => None,
            &mut Content::Queue { event, on, .. } => {
                let ticks = if on.is_some() { event.gpu_end() } else { event.gpu_begin() };
                let class = u8::from(on.is_none());
                let clocks = self.clocks(Some(event.pci().number()));
                return Some((clocks.map_or(UNKNOWN, |clocks| clocks.gpu_to_ns(ticks)), class));
            }
            Content::Snapshot { snapshot, .. } => {
                cpu_hz.and_then(|cpu_hz| ticks_to_ns(snapshot.ticks(), cpu_hz))
            }
            Content::Tokens { rest, head, hz, .. } => loop {
                let token = match self.pieces.look(rest) {
                    Met::Token(token) => token,
                    Met::Fault(error) => {
                        *head = Head::Gap(Gap::new(rest.offset(), 0, error));
                        break None;
                    }
                    Met::Lost(gap) => {
                        *head = Head::Lost(gap);
                        break None;
                    }
                    Met::End => return None,
                };
                match token.value() {
                    TokenValue::Timestamp { hz: rate } => {
                        *hz = Some(rate.into()).filter(|&rate| rate > 0).or(cpu_hz);
                        rest.pass();
                    }
                    TokenValue::TimeDelta { .. } => rest.pass(),
                    _ => {
                        *head = Head::Record(());
                        break hz.and_then(|hz| token.ticks().and_then(|ticks| ticks_to_ns(ticks, hz)));
                    }
                }
            },
            Content::Driver { events, head, hz, .. } => {
                *head = match events.next() {
                    None => Head::End,
                    Some(Err(error)) => Head::Gap(Gap::new(error.offset(), 0, error)),
                    Some(Ok(event)) => Head::Record(event),
                };
                match head {
                    Head::End => return None,
                    Head::Gap(_) | Head::Lost(_) => None,
                    Head::Record(event) => {
                        hz.and_then(|hz| event.ticks().and_then(|ticks| ticks_to_ns(ticks, hz)))
                    }
                }
            }
            Content::Loads { rest, .. } => {
                let event = rest.get(..LoadFields::SIZE)?;
                let ticks = ticks_of(event)?;
                cpu_hz.and_then(|cpu_hz| ticks_to_ns(ticks, cpu_hz))
            }
            &mut Content::Samples { rest, times, pci, .. } => {
                if rest.is_empty() {
                    return None;
                }
                let ticks = times.first_chunk().map(|ticks| u64::from_le_bytes(*ticks));
                let clocks = self.clocks(pci);
                clocks.zip(ticks).map(|(clocks, ticks)| clocks.gpu_to_ns(ticks))
            }
            Content::Markers { rest, .. } => {
                rest.first()?;
                None
            }
        };
        Some((ns.unwrap_or(UNKNOWN), 1))
    }

    /// Leaves what a lane has next, and gives it its new place.
    fn pass(&mut self, first: Rank) {
        if let Some(lane) = self.lanes.slots_mut().get_mut(first.slot) {
            match &mut lane.content {
                Content::Loads { rest, read, .. } => {
                    *rest = rest.get(LoadFields::SIZE..).unwrap_or_default();
                    *read = read.saturating_add(to_u64(LoadFields::SIZE));
                }
                Content::Samples { rest, times, width, read, .. } => {
                    *rest = rest.get(usize::from(*width)..).unwrap_or_default();
                    *times = times.get(8..).unwrap_or_default();
                    *read = read.saturating_add((*width).into());
                }
                Content::Markers { rest, read, .. } => {
                    *rest = rest.get(4..).unwrap_or_default();
                    *read = read.saturating_add(4);
                }
                Content::Queue { on: Some(_), .. } => {}
                Content::Queue { .. } | Content::Snapshot { .. } | Content::Gap(_) => {
                    lane.content = Content::None;
                }
                // After a fault nothing comes.
                Content::Tokens { head: Head::Gap(_), .. } | Content::Driver { head: Head::Gap(_), .. } => {
                    lane.content = Content::None;
                }
                Content::Tokens { rest, head: Head::Record(()), .. } => rest.pass(),
                _ => {}
            }
        }
        self.reenter(first);
    }

    fn reenter(&mut self, first: Rank) {
        match self.load(first.slot) {
            Some((ns, class)) => {
                heap::replace_first(self.lanes.slots_mut(), self.open, Rank { ns, class, ..first });
            }
            None => {
                heap::pop(self.lanes.slots_mut(), self.open);
                self.open = self.open.saturating_sub(1);
            }
        }
    }

    /// The track of a key, or its announcement.
    fn ensure(&mut self, key: Key) -> (TrackId, Option<Track<'s>>) {
        let id = TrackId::new(self.announced);
        let parent = self.tracks.track(key).and_then(|place| place.parent);
        let parent = parent.and_then(|parent| self.tracks.track(parent)?.id).unwrap_or(ROOT);
        let Some(place) = self.tracks.track(key) else { return (ROOT, None) };
        if let Some(id) = place.id {
            return (id, None);
        }
        place.id = Some(id);
        self.announced = self.announced.saturating_add(1);
        let track = Track {
            id,
            parent: Some(parent),
            kind: place.kind,
            label: place.label,
            clock: CPU,
            data: Data::Rdf(place.data),
        };
        (id, Some(track))
    }

    fn advance(&mut self) -> Result<Option<Next<'s>>> {
        if self.announced == 0 {
            self.announced = 1;
            return Ok(Some(Next::Track(Track {
                id: ROOT,
                parent: None,
                kind: TrackKind::Recording,
                label: Label::Text("RDF file"),
                clock: CPU,
                data: Data::None,
            })));
        }
        if let Some(first) = self.delivered.take() {
            self.pass(first);
        }
        if let Some(reserved) = self.reserved {
            let Reserved { key, bytes, ns, place } = reserved;
            let (track, announced) = self.ensure(key);
            if let Some(track) = announced {
                return Ok(Some(Next::Track(track)));
            }
            self.reserved = None;
            let kind = EventKind::Counter(Number::Integer(bytes.into()));
            let happened =
                Happened { key: Some(key), kind, name: Label::Text("reserved"), data: RdfData::None, place };
            return Ok(Some(Next::Event(self.event(track, time_of(ns), happened), None)));
        }
        while let Some(first) = heap::first(self.lanes.slots(), self.open) {
            let time = time_of(first.ns);
            // What comes after may be earlier: clocks of chunks step back.
            let window = self.window;
            let happened = self.happened(first.slot)?;
            let Some(mut happened) = happened.filter(|happened| window.tells(happened.kind, time)) else {
                self.reserve(first, (0, 0))?;
                self.skip(first);
                continue;
            };
            let track = match happened.key.map(|key| self.ensure(key)) {
                Some((_, Some(track))) => return Ok(Some(Next::Track(track))),
                Some((track, None)) => track,
                None => ROOT,
            };
            self.settle(first, &mut happened);
            self.reserved = self.reserve(first, happened.place)?;
            self.delivered = Some(first);
            return Ok(Some(Next::Event(self.event(track, time, happened), Some(first.slot))));
        }
        Ok(None)
    }

    /// The token that is next in a lane, as a record.
    fn token(&self, at: usize) -> Option<RdfData<'_>> {
        let Content::Tokens { rest, head: Head::Record(()), stream, hz, .. } =
            &self.lanes.slots().get(at)?.content
        else {
            return None;
        };
        let token = self.pieces.token(rest)?;
        Some(RdfData::Token(TokenRecord::new(token, *stream, hz.unwrap_or(0)).at(rest.offset())))
    }

    const fn event(&self, track: TrackId, time: Option<Time>, happened: Happened<'s>) -> Event<'s> {
        Event {
            input: self.input,
            offset: happened.place.0,
            len: happened.place.1,
            time,
            track,
            kind: happened.kind,
            name: happened.name,
            starts: None,
            ends: Flows::NONE,
            inferred: false,
            data: Data::Rdf(happened.data),
        }
    }

    /// Leaves what is not in the window. Of a submission that begins before it, the end may be.
    fn skip(&mut self, first: Rank) {
        if let Some(lane) = self.lanes.slots_mut().get_mut(first.slot)
            && let Content::Queue { event, on, .. } = &mut lane.content
        {
            *on = match on {
                None if event.gpu_ticks().is_some() => Some(0),
                _ => None,
            };
            if on.is_some() {
                return self.reenter(first);
            }
        }
        self.pass(first);
    }

    /// Notes which slices are open; what ends none is an instant.
    fn settle(&mut self, first: Rank, happened: &mut Happened<'s>) {
        let place = happened.key.and_then(|key| self.tracks.track(key));
        let mut on = None;
        if let Some(place) = place {
            match happened.kind {
                EventKind::Begin => {
                    place.open = place.open.saturating_add(1);
                    if let Some(Key(Space::Queue(lane), ..)) = happened.key {
                        on = Some(lane.into());
                    }
                }
                EventKind::End if place.open == 0 => happened.kind = EventKind::Instant,
                EventKind::End => place.open = place.open.saturating_sub(1),
                _ => {}
            }
        }
        if let Some(lane) = self.lanes.slots_mut().get_mut(first.slot)
            && let Content::Queue { on: of_lane, .. } = &mut lane.content
        {
            *of_lane = on;
        }
    }
}

/// The time of a rank.
fn time_of(ns: i128) -> Option<Time> {
    (ns != i128::MIN).then(|| Time::since_origin(ns))
}

/// The clock to which all times are converted.
const CPU: Clock<'static> = Clock::new(Some("CPU"), false);

/// The ticks of a load event.
fn ticks_of(event: &[u8]) -> Option<u64> {
    let field = LoadFields::FIELDS.iter().find(|field| field.name() == "ticks")?;
    match field.values(event).next()? {
        crate::rdf::contents::FieldValue::Unsigned { value, .. } => Some(value),
        _ => None,
    }
}

impl<'s, T: Room<TrackSlot<'s>>, L: Room<Lane<'s>>> Source for Timeline<'s, T, L> {
    fn next_item(&mut self) -> Result<Option<Item<'_>>> {
        if self.failed {
            return Ok(None);
        }
        let next = self.advance().inspect_err(|_| self.failed = true)?;
        Ok(next.map(|next| match next {
            Next::Track(track) => Item::Track(track),
            Next::Event(event, lane) => {
                let mut event: Event<'_> = event;
                if let Some(token) = lane.and_then(|lane| self.token(lane)) {
                    event.data = Data::Rdf(token);
                }
                Item::Event(event)
            }
        }))
    }

    fn set_window(&mut self, window: Window) {
        self.window = window;
    }
}
