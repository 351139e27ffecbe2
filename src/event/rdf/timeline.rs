//! The chunks of a file, merged by time.

use super::fields::{RdfData, label};
use super::lane::{Content, Head, Lane, Rank};
use super::tracks::{Gpu, Key, Known, Place, Space, TrackSlot, Tracks};
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::event::element::LANES;
use crate::event::event::{Event, EventKind, Flows, Number};
use crate::event::fields::Data;
use crate::event::label::Label;
use crate::event::room::Room;
use crate::event::time::{Time, Window};
use crate::event::track::{Clock, Track, TrackId, TrackKind};
use crate::event::{Item, Source};
use crate::gap::Gap;
use crate::heap;
use crate::rdf::contents::rmt::{TokenKind, TokenValue};
use crate::rdf::contents::{
    Clocks, EventValue, LoadEvents, LoadFields, MarkerHistory, MarkerOp, QueueEvent, Snapshot, ticks_to_ns,
};

/// The track of the file.
const ROOT: TrackId = TrackId::new(0);

/// On so many tracks of a queue submissions overlap; those that overlap with more are instants.
const OVERLAPPING: u8 = 4;

/// The tracks and events of an RDF file.
///
/// It needs a lane for each chunk with events, and a slot for each track, GPU and string table.
#[derive(Debug)]
pub struct Timeline<'s, T, L> {
    input: usize,
    pub(super) size: usize,
    pub(super) tracks: Tracks<'s, T>,
    lanes: L,
    /// How many lanes are in the heap.
    open: usize,
    /// The order in which lanes were added.
    order: u64,
    /// How many tracks were announced.
    announced: u64,
    pub(super) counters: u64,
    pub(super) cpu_hz: Option<u64>,
    pub(super) gpu_hz: Option<u64>,
    /// What holds for every GPU.
    pub(super) any_gpu: Gpu,
    window: Window,
    failed: bool,
}

/// What a lane has next.
struct Happened<'s> {
    key: Option<Key>,
    kind: EventKind,
    name: Label<'s>,
    data: RdfData<'s>,
    /// Where it stands in the file.
    place: (u64, u64),
}

impl<'s, T: Room<TrackSlot<'s>>, L: Room<Lane<'s>>> Timeline<'s, T, L> {
    /// A timeline of nothing yet.
    pub(super) const fn empty(input: usize, size: usize, tracks: T, lanes: L) -> Self {
        Self {
            input,
            size,
            tracks: Tracks::new(tracks),
            lanes,
            open: 0,
            order: 0,
            announced: 0,
            counters: 0,
            cpu_hz: None,
            gpu_hz: None,
            any_gpu: Gpu { calibration: None, hz: None },
            window: Window::ALL,
            failed: false,
        }
    }

    /// Whether nothing more is to come: of a new one, whether the file has no events.
    pub const fn is_empty(&self) -> bool {
        self.open == 0
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
    fn clocks(&mut self, pci: Option<u32>) -> Option<Clocks> {
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
            Content::Tokens { tokens, head, hz, .. } => {
                loop {
                    *head = match tokens.next() {
                        None => Head::End,
                        Some(Err(error)) => Head::Gap(Gap::new(error.offset(), 0, error)),
                        Some(Ok(token)) => {
                            match token.value() {
                                TokenValue::Timestamp { hz: rate } => {
                                    *hz = Some(rate.into()).filter(|&rate| rate > 0).or(cpu_hz);
                                    continue;
                                }
                                TokenValue::TimeDelta { .. } => continue,
                                _ => {}
                            }
                            Head::Record(token)
                        }
                    };
                    break;
                }
                match head {
                    Head::End => return None,
                    Head::Gap(_) => None,
                    Head::Record(token) => {
                        hz.and_then(|hz| token.ticks().and_then(|ticks| ticks_to_ns(ticks, hz)))
                    }
                }
            }
            Content::Driver { events, head, hz, .. } => {
                *head = match events.next() {
                    None => Head::End,
                    Some(Err(error)) => Head::Gap(Gap::new(error.offset(), 0, error)),
                    Some(Ok(event)) => Head::Record(event),
                };
                match head {
                    Head::End => return None,
                    Head::Gap(_) => None,
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

    /// What the lane has next that is the first of the heap.
    fn happened(&mut self, at: usize) -> Result<Option<Happened<'s>>> {
        let Some(lane) = self.lanes.slots().get(at) else { return Ok(None) };
        let whole = (lane.offset, lane.len);
        let instant =
            |key, name, data, place| Happened { key: Some(key), kind: EventKind::Instant, name, data, place };
        let lost = |key, gap: Gap, position: u64| {
            let (offset, len) = lane.place(position, lane.len.saturating_sub(position));
            let gap = Gap::new(offset, len, gap.cause());
            let name = Label::Text(gap.cause().element().name());
            Happened { key, kind: EventKind::Gap(gap), name, data: RdfData::None, place: (offset, len) }
        };
        Ok(Some(match lane.content {
            Content::None => return Ok(None),
            Content::Gap(gap) => Happened {
                key: None,
                kind: EventKind::Gap(gap),
                name: Label::Text(gap.cause().element().name()),
                data: RdfData::None,
                place: whole,
            },
            Content::Queue { event, data, on } => return self.queue(&event, data, on, whole).map(Some),
            Content::Snapshot { snapshot, data } => {
                let name = label(snapshot.name().bytes());
                let data = RdfData::Structure(Snapshot::FIELDS, data);
                instant(Key(Space::Snapshots, 0, 0), name, data, whole)
            }
            Content::Tokens { ref head, process, stream, .. } => {
                let key = Key(Space::Memory, stream, process.into());
                match *head {
                    Head::End => return Ok(None),
                    Head::Gap(gap) => lost(Some(key), gap, gap.offset()),
                    Head::Record(token) => {
                        let mut name = token.kind().name().unwrap_or("token");
                        if let (TokenKind::Misc, TokenValue::Misc(event)) = (token.kind(), token.value()) {
                            name = event.name().unwrap_or(name);
                        }
                        let place = lane.place(token.offset(), to_u64(token.bytes().len()));
                        instant(key, Label::Text(name), RdfData::Token(token), place)
                    }
                }
            }
            Content::Driver { ref head, provider, .. } => {
                let key = Key(Space::Driver, provider, 0);
                match *head {
                    Head::End => return Ok(None),
                    Head::Gap(gap) => lost(Some(key), gap, gap.offset()),
                    Head::Record(event) => {
                        let place =
                            lane.place(event.offset(), to_u64(event.payload().len()).saturating_add(4));
                        return self.driver(&event, key, place).map(Some);
                    }
                }
            }
            Content::Loads { rest, version, read } => {
                let bytes = rest.get(..LoadFields::SIZE).unwrap_or_default();
                // A chunk of this one alone.
                let events = LoadEvents::parse(version, &[1, 0, 0, 0], bytes).ok();
                let event = events.and_then(|events| events.events().next());
                let name = event.and_then(|event| event.kind().name()).unwrap_or("code object");
                let place = lane.place(read, to_u64(bytes.len()));
                let data = RdfData::Structure(LoadFields::FIELDS, bytes);
                instant(Key(Space::CodeObjects, 0, 0), Label::Text(name), data, place)
            }
            Content::Samples { rest, width, number, read, .. } => {
                let value = match rest {
                    [a, b, ..] if width == 2 => u16::from_le_bytes([*a, *b]).into(),
                    [a, b, c, d, ..] => u32::from_le_bytes([*a, *b, *c, *d]),
                    _ => 0,
                };
                let place = lane.place(read, width.into());
                let kind = EventKind::Counter(Number::Integer(value.into()));
                let key = Some(Key(Space::Counter, 0, number));
                Happened { key, kind, name: Label::Text("sample"), data: RdfData::None, place }
            }
            Content::Markers { rest, cmd_buffer, table, read } => {
                let place = lane.place(read, 4);
                let op = rest.get(..4).unwrap_or_default();
                return Ok(Some(self.user_marker(op, cmd_buffer, table, place)));
            }
        }))
    }

    fn queue(
        &mut self,
        event: &QueueEvent<'s>,
        data: &'s [u8],
        on: Option<u64>,
        place: (u64, u64),
    ) -> Result<Happened<'s>> {
        let (pci, queue) = (event.pci().number(), event.queue());
        let name = event
            .kind()
            .name()
            .map_or(Label::Numbered("queue event", u64::from(event.kind().number())), Label::Text);
        let data = RdfData::Structure(QueueEvent::FIELDS, data);
        let of = |lane: u8| Key(Space::Queue(lane), pci, queue);
        let mut happened = Happened { key: Some(of(0)), kind: EventKind::Instant, name, data, place };
        if let Some(lane) = on {
            happened.key = Some(of(u8::try_from(lane).unwrap_or(0)));
            happened.kind = EventKind::End;
            return Ok(happened);
        }
        let is_slice = event.gpu_ticks().is_some() && self.clocks(Some(pci)).is_some();
        for lane in (0..OVERLAPPING).filter(|_| is_slice) {
            let main = of(0);
            let of_main = self.tracks.track(main).copied();
            let new = Place {
                id: None,
                parent: Some(main),
                kind: TrackKind::Queue,
                label: Label::Numbered("queue", queue),
                data: of_main.map_or(RdfData::None, |place| place.data),
                open: 0,
            };
            if let Some(Known::Track(track)) = self.tracks.add(of(lane), place.0, Known::Track(new))?
                && track.open == 0
            {
                happened.key = Some(of(lane));
                happened.kind = EventKind::Begin;
                break;
            }
        }
        Ok(happened)
    }

    fn driver(
        &mut self,
        event: &crate::rdf::contents::Event<'s>,
        key: Key,
        place: (u64, u64),
    ) -> Result<Happened<'s>> {
        let name = event.kind_name().map_or(Label::Numbered("event", event.id().into()), Label::Text);
        let data = RdfData::Driver(*event);
        let mut happened = Happened { key: Some(key), kind: EventKind::Instant, name, data, place };
        let cmd_buffer = match event.value() {
            Ok(EventValue::MarkerBegin { cmd_buffer, name, .. }) => {
                happened.kind = EventKind::Begin;
                happened.name = label(name);
                cmd_buffer
            }
            Ok(EventValue::MarkerEnd { cmd_buffer, .. }) => {
                happened.kind = EventKind::End;
                cmd_buffer
            }
            Ok(EventValue::MarkerInfo(info)) => info.cmd_buffer(),
            _ => return Ok(happened),
        };
        let key = Key(Space::CmdBuffer, cmd_buffer, 0);
        let new = Place {
            id: None,
            parent: None,
            kind: TrackKind::Thread,
            label: Label::Numbered("command buffer", cmd_buffer.into()),
            data: RdfData::None,
            open: 0,
        };
        self.tracks.add(key, place.0, Known::Track(new))?;
        happened.key = Some(key);
        Ok(happened)
    }

    fn user_marker(&mut self, op: &[u8], cmd_buffer: u32, table: u32, place: (u64, u64)) -> Happened<'s> {
        // A chunk of this one alone.
        let history = MarkerHistory::parse(1, &[0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0], op).ok();
        let (op, number) = history.and_then(|history| history.ops().next()).unwrap_or((MarkerOp::Invalid, 0));
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let text = match (self.tracks.get(Key(Space::Strings, table, 0)), number.checked_sub(1)) {
            (Some(Known::Strings(strings)), Some(number)) => strings.get(number),
            _ => None,
        };
        let name = text.map_or(Label::Numbered("string", to_u64(number)), |text| label(text.bytes()));
        let kind = match op {
            MarkerOp::Push => EventKind::Begin,
            MarkerOp::Pop => EventKind::End,
            _ => EventKind::Instant,
        };
        let data = RdfData::Number("string", to_u64(number));
        Happened { key: Some(Key(Space::History, cmd_buffer, 0)), kind, name, data, place }
    }

    fn advance(&mut self) -> Result<Option<Item<'s>>> {
        if self.announced == 0 {
            self.announced = 1;
            return Ok(Some(Item::Track(Track {
                id: ROOT,
                parent: None,
                kind: TrackKind::Recording,
                label: Label::Text("RDF file"),
                clock: CPU,
                data: Data::None,
            })));
        }
        while let Some(first) = heap::first(self.lanes.slots(), self.open) {
            let time = (first.ns != i128::MIN).then(|| Time::since_origin(first.ns));
            if time.is_some() && self.window.ends_before(first.ns) {
                return Ok(None);
            }
            let wanted = self.window.contains(time);
            let Some(mut happened) = self.happened(first.slot)?.filter(|_| wanted) else {
                self.skip(first);
                continue;
            };
            let track = match happened.key.map(|key| self.ensure(key)) {
                Some((_, Some(track))) => return Ok(Some(Item::Track(track))),
                Some((track, None)) => track,
                None => ROOT,
            };
            self.settle(first, &mut happened);
            self.pass(first);
            return Ok(Some(Item::Event(Event {
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
            })));
        }
        Ok(None)
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
        let next = self.advance();
        self.failed = next.is_err();
        next
    }

    fn set_window(&mut self, window: Window) {
        self.window = window;
    }
}
