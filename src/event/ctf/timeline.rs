//! A timeline of data streams.

use super::fields::CtfData;
use crate::ctf::data::{Loss, Merge, MergeSlot, Packet, Packets, Programs};
use crate::ctf::schema::{EventClass, Schema};
use crate::error::{Error, ErrorKind, Result};
use crate::event::data::Data;
use crate::event::element::LANES;
use crate::event::event::{Event, EventKind, Flows};
use crate::event::label::Label;
use crate::event::time::{Time, Window};
use crate::event::track::{Clock, Track, TrackId, TrackKind};
use crate::event::{Item, Source};
use crate::gap::Gap;
use crate::record::Class;
use crate::room::Room;

/// The track of the trace.
const ROOT: TrackId = TrackId::new(0);

/// Room for what is known of a data stream.
#[derive(Clone, Debug)]
pub struct StreamSlot<'a, 's> {
    /// From its first packet on.
    packets: Option<Packets<'a, 's>>,
    /// The number of its input, and the size of that.
    input: usize,
    size: u64,
    /// The first number of the classes and fields of its trace, and the one after the last.
    numbers: (u32, u32),
    /// Of a track of a capture, how often the device had started anew.
    session: Option<u32>,
    programs: Programs<'s>,
    /// The number of the stream whose track it has: its own, or that of the one it goes on with.
    track: usize,
}

impl StreamSlot<'_, '_> {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self {
        packets: None,
        input: 0,
        size: 0,
        numbers: (0, 0),
        session: None,
        programs: Programs::NONE,
        track: 0,
    };
}

default_is_empty!(StreamSlot<'_, '_>);

/// The tracks and events of a CTF trace.
#[derive(Debug)]
pub struct Timeline<'a, 's, 't, R> {
    /// True if the first clock counts from the Unix epoch.
    absolute: Option<bool>,
    merge: Merge<'a, 's, 't>,
    streams: R,
    count: usize,
    /// The number of tracks that have been announced: that of the trace, and of streams.
    announced: usize,
    /// The session that has been announced.
    session: Option<u32>,
    /// The last stream that tells which one it is.
    last: Option<(StreamKey, usize)>,
    /// Discarded records that are still to be reported.
    loss: Option<Lost>,
    window: Window,
    programs: Programs<'s>,
    names: Names<'a>,
}

/// A stream that a file has packets of: its trace, its session, its class and its number among those of the class.
type StreamKey = (u32, Option<u32>, u64, u64);

/// A loss: events that the tracer discarded.
#[derive(Clone, Copy, Debug)]
struct Lost {
    source: usize,
    offset: u64,
    time: Option<Time>,
    count: Option<u64>,
}

impl Lost {
    /// The loss that a packet's counters tell of, at its begin or at its first record. `None` if it was not in the window:
    /// it was after the record before it, and before the packet's end.
    fn of(
        (source, loss, since): (usize, Loss, Option<i128>),
        packet: &Packet<'_, '_>,
        first: Option<u64>,
        window: Window,
    ) -> Option<Self> {
        let clock = packet.stream_class().clock();
        let time = |cycles: Option<u64>| Some(time_of(&clock?, cycles?));
        let (begin, end) = packet.period();
        let (begin, end) = (time(begin.or(first)), time(end.or(first)));
        if let (Some(begin), Some(end)) = (begin.map(Time::ns), end.or(begin).map(Time::ns)) {
            let since = since.map_or(begin, |since| since.min(begin));
            if window.from().is_some_and(|from| end < from) || window.to().is_some_and(|to| since >= to) {
                return None;
            }
        }
        let count = loss.records().filter(|&count| count > 0);
        Some(Self { source, offset: packet.offset(), time: begin, count })
    }
}

impl<'a, 's, 't, R: Room<StreamSlot<'a, 's>>> Timeline<'a, 's, 't, R> {
    /// A timeline of no stream yet. It needs a slot of each kind for each stream.
    pub const fn new(slots: &'t mut [MergeSlot<'a, 's>], streams: R) -> Self {
        Self {
            absolute: None,
            merge: Merge::new(slots),
            streams,
            count: 0,
            announced: 0,
            session: None,
            last: None,
            loss: None,
            window: Window::ALL,
            programs: Programs::NONE,
            names: Names([None; NAMES]),
        }
    }

    /// Has the records of the streams that are added from now on told by these steps, which is faster. They are those
    /// of the schema of the streams, with numbers after those of the schemas of streams before; others are not
    /// followed.
    pub const fn set_programs(&mut self, programs: Programs<'s>) {
        self.programs = programs;
    }

    /// Adds a data stream, which events refer to as `input`. Streams may have different schemas. One that follows another
    /// of the same class and number, and begins after the end of that, goes on with it on the same track: tracers begin
    /// new files as they grow.
    ///
    /// # Errors
    /// `CapacityExceeded`.
    pub fn add(&mut self, input: usize, data: &'a [u8], schema: &'s Schema<'a, 's>) -> Result<()> {
        self.add_packets(input, data, schema, Packets::new(data, schema), None)
    }

    /// As [`add`](Self::add), a track of a [capture](crate::ctf::data::wire::Capture), with its session if there are
    /// several. Those of a session are added one after the other.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_packets(
        &mut self,
        input: usize,
        data: &[u8],
        schema: &'s Schema<'a, 's>,
        packets: Packets<'a, 's>,
        session: Option<u32>,
    ) -> Result<()> {
        let clock = schema.clocks().next();
        self.absolute = self.absolute.or(clock.map(|clock| clock.is_unix()));
        // A listener is told of several traces: no two of them have the same numbers.
        let last = self.count.checked_sub(1).and_then(|last| self.streams.slots().get(last));
        let numbers = match last {
            Some(slot) if slot.packets.as_ref().is_some_and(|last| last.is_of(schema)) => slot.numbers,
            _ => {
                let first = last.map_or(0, |slot| slot.numbers.1);
                (first, first.saturating_add(schema.numbers()))
            }
        };
        let needed = self.count.saturating_add(1);
        let fits = self.count < self.streams.slots().len() || self.streams.grow(needed);
        let capacity = crate::bytes::to_u64(self.streams.slots().len());
        let Some(slot) = self.streams.slots_mut().get_mut(self.count).filter(|_| fits) else {
            let kind = ErrorKind::CapacityExceeded { capacity, needed: capacity.saturating_add(1) };
            return Err(Error::new(0, LANES, kind));
        };
        let size = crate::bytes::to_u64(data.len());
        let has_numbers = (self.programs.base(), self.programs.end()) == numbers;
        let programs = if has_numbers { self.programs } else { Programs::NONE };
        let track = self.count;
        *slot = StreamSlot { packets: Some(packets.clone()), input, size, numbers, session, programs, track };
        self.merge.add(packets)?;
        self.count = needed;
        Ok(())
    }

    /// Tells all classes of event records that the streams may have.
    pub fn each_class(&self, each: &mut dyn FnMut(&dyn Class)) {
        let mut end = 0;
        for slot in self.streams.slots().get(..self.count).unwrap_or_default() {
            // Streams of one schema have the same ones.
            let (first, after) = slot.numbers;
            if let Some(packets) = slot.packets.as_ref().filter(|_| after > end) {
                packets.each_class(first, each);
                end = after;
            }
        }
    }

    /// The track that is to be announced next.
    fn announce(&mut self) -> Option<Item<'a>> {
        loop {
            let number = self.announced;
            let item = self.announce_next();
            if item.is_some() || self.announced == number {
                return item;
            }
        }
    }

    fn announce_next(&mut self) -> Option<Item<'a>> {
        let number = self.announced;
        let Some(source) = number.checked_sub(1) else {
            self.announced = 1;
            let absolute = self.absolute.unwrap_or(false);
            return Some(Item::Track(Track {
                id: ROOT,
                parent: None,
                kind: TrackKind::Recording,
                label: Label::Text("CTF trace"),
                clock: Clock::new(None, absolute),
                data: Data::None,
            }));
        };
        if source >= self.count {
            return None;
        }
        let slot = self.streams.slots().get(source)?;
        if slot.session.is_some() && slot.session != self.session {
            self.session = slot.session;
            return Some(Item::Track(Track {
                id: session_track(slot.session),
                parent: Some(ROOT),
                kind: TrackKind::Stream,
                label: Label::Numbered("session", slot.session.unwrap_or(0).into()),
                clock: Clock::new(None, self.absolute.unwrap_or(false)),
                data: Data::None,
            }));
        }
        self.announced = number.saturating_add(1);
        let packet = slot.packets.clone()?.next_packet().ok().flatten();
        let class = packet.as_ref().map(|packet| packet.stream_class());
        let clock = class.and_then(|class| class.clock());
        let absolute = clock.is_some_and(|clock| clock.is_unix());
        let name = clock.and_then(|clock| clock.name()).and_then(|name| name.borrowed());
        let cpu = packet.as_ref().and_then(|packet| packet.cpu());
        let id = packet.as_ref().and_then(|packet| packet.stream_id());
        let key = class.zip(id).map(|(class, id)| (slot.numbers.0, slot.session, class.id(), id));
        let before = self.last.filter(|(last, _)| key == Some(*last));
        let begin = packet.as_ref().and_then(|packet| packet.begin());
        match before.filter(|_| begin.is_some() && begin >= self.end_of(source.saturating_sub(1))) {
            Some((_, track)) => {
                self.streams.slots_mut().get_mut(source)?.track = track;
                return None;
            }
            None => self.last = key.map(|key| (key, source)),
        }
        let (kind, label) = match (cpu, id) {
            (Some(cpu), _) => (TrackKind::Cpu, Label::Numbered("CPU", cpu)),
            (None, Some(id)) => (TrackKind::Stream, Label::Numbered("stream", id)),
            (None, None) => {
                let name = class.and_then(|class| class.name());
                let number = crate::bytes::to_u64(slot.input);
                (TrackKind::Stream, name.map_or(Label::Numbered("stream", number), Label::Ctf))
            }
        };
        Some(Item::Track(Track {
            id: track_of(source),
            parent: Some(session_track(slot.session)),
            kind,
            label,
            clock: Clock::new(name, absolute),
            data: Data::None,
        }))
    }

    /// The end of the last packet of a stream, in cycles; the greatest number if that is not known.
    fn end_of(&self, source: usize) -> Option<u64> {
        let mut packets = self.streams.slots().get(source)?.packets.clone()?;
        let mut end = None;
        loop {
            match packets.next_packet() {
                Ok(Some(packet)) => end = Some(packet.period().1.unwrap_or(u64::MAX)),
                Ok(None) => return end,
                Err(_) => return Some(u64::MAX),
            }
        }
    }

    fn track(&self, source: usize) -> TrackId {
        track_of(self.streams.slots().get(source).map_or(source, |slot| slot.track))
    }

    fn input(&self, source: usize) -> usize {
        self.streams.slots().get(source).map_or(source, |slot| slot.input)
    }

    /// The event of what was discarded.
    fn discarded(&mut self) -> Option<Item<'static>> {
        let Lost { source, offset, time, count } = self.loss.take()?;
        Some(Item::Event(Event {
            input: self.input(source),
            offset,
            len: 0,
            time,
            track: self.track(source),
            kind: EventKind::Discarded { count },
            name: Label::Text("discarded"),
            starts: None,
            ends: Flows::NONE,
            inferred: false,
            data: Data::None,
        }))
    }

    /// The event of what cannot be read.
    fn gap(&mut self, error: Error) -> Option<Item<'static>> {
        let source = self.merge.recover()?;
        let input = self.input(source);
        let size = self.streams.slots().get(source).map_or(0, |slot| slot.size);
        // Only the next record tells where the next packet begins.
        let end = self.end_of_packet(source, error.offset()).unwrap_or(size);
        let gap = Gap::new(error.offset(), end.min(size).saturating_sub(error.offset()), error);
        Some(Item::Event(Event::gap(input, None, self.track(source), gap)))
    }

    /// The end of the packet in which an offset is, if that packet itself can be read.
    ///
    /// Skips the packets before it, and remembers how far it came, so that no packet is read twice.
    fn end_of_packet(&mut self, source: usize, offset: u64) -> Option<u64> {
        let packets = self.streams.slots_mut().get_mut(source)?.packets.as_mut()?;
        loop {
            let mut ahead = packets.clone();
            let packet = ahead.next_packet().ok().flatten()?;
            if offset < packet.end_offset() {
                return Some(packet.end_offset());
            }
            *packets = ahead;
        }
    }
}

/// The track of a session; that of the trace where there is but one.
fn session_track(session: Option<u32>) -> TrackId {
    session.map_or(ROOT, |session| TrackId::new(u64::MAX.saturating_sub(session.into())))
}

fn track_of(source: usize) -> TrackId {
    TrackId::new(crate::bytes::to_u64(source).saturating_add(1))
}

impl<'a, 's, R: Room<StreamSlot<'a, 's>>> Source for Timeline<'a, 's, '_, R> {
    fn next_item(&mut self) -> Result<Option<Item<'_>>> {
        if self.announced <= self.count
            && let Some(track) = self.announce()
        {
            return Ok(Some(track));
        }
        if self.loss.is_some() {
            return Ok(self.discarded());
        }
        // First finds a record in the window, then borrows it.
        loop {
            let wanted = match self.merge.next_record() {
                Ok(None) => {
                    while self.loss.is_none() {
                        let Some(last) = self.merge.next_loss() else { return Ok(None) };
                        let about = (last.source(), last.loss(), last.since());
                        self.loss = Lost::of(about, last.packet(), None, self.window);
                    }
                    return Ok(self.discarded());
                }
                Err(error) => return Ok(self.gap(error)),
                Ok(Some(merged)) => {
                    let record = merged.record();
                    let loss = merged.loss();
                    let clock = record.packet().stream_class().clock();
                    let time = |cycles: u64| clock.map(|clock| time_of(&clock, cycles));
                    if loss.is_some() {
                        let about = (merged.source(), loss, merged.loss_since());
                        self.loss = Lost::of(about, record.packet(), record.cycles(), self.window);
                    }
                    // The times that a packet states bound neither those of its records nor those of packets that
                    // follow: all are looked at.
                    self.window == Window::ALL || self.window.contains(record.cycles().and_then(time))
                }
            };
            if wanted {
                break;
            }
            if self.loss.is_some() {
                return Ok(self.discarded());
            }
        }
        let streams = self.streams.slots();
        let Some(merged) = self.merge.current() else { return Ok(None) };
        let record = merged.record();
        let (base, programs) = streams
            .get(merged.source())
            .map_or((0, &Programs::NONE), |slot| (slot.numbers.0, &slot.programs));
        let clock = record.packet().stream_class().clock();
        let time =
            clock.filter(|_| record.cycles().is_some()).map(|clock| time_at(&clock, merged.nanoseconds()));
        Ok(Some(Item::Event(Event {
            input: streams.get(merged.source()).map_or(0, |slot| slot.input),
            offset: record.offset(),
            len: record.end_offset().saturating_sub(record.offset()),
            time,
            track: self.track(merged.source()),
            kind: EventKind::Instant,
            name: self.names.name(base, record.class()),
            starts: None,
            ends: Flows::NONE,
            inferred: false,
            data: Data::Ctf(CtfData { record, base, programs, follows_loss: self.loss.is_some() }),
        })))
    }

    fn set_window(&mut self, window: Window) {
        self.window = window;
    }
}

/// The number of names that are remembered.
const NAMES: usize = 16;

/// Names of classes that were met last, by the first number of their trace and their own: they need not be looked at
/// again to be text.
#[derive(Debug)]
struct Names<'a>([Option<(u32, u32, &'a str)>; NAMES]);

impl<'a> Names<'a> {
    /// The name of a class.
    #[inline]
    fn name(&mut self, base: u32, class: EventClass<'a, '_>) -> Label<'a> {
        let place = usize::try_from(class.index.wrapping_mul(0x9e37_79b1) >> 28).unwrap_or(0);
        match self.0.get_mut(place) {
            Some(Some((known, index, text))) if (*known, *index) == (base, class.index) => Label::Text(text),
            place => {
                let name = class.name();
                match (name.and_then(|name| name.borrowed()), place) {
                    (Some(text), Some(place)) => {
                        *place = Some((base, class.index, text));
                        Label::Text(text)
                    }
                    _ => name.map_or(Label::Numbered("event", class.id()), Label::Ctf),
                }
            }
        }
    }
}

fn time_of(clock: &crate::ctf::schema::Clock<'_, '_>, cycles: u64) -> Time {
    time_at(clock, clock.nanoseconds(cycles))
}

fn time_at(clock: &crate::ctf::schema::Clock<'_, '_>, ns: i128) -> Time {
    if clock.is_unix() { Time::since_epoch(ns) } else { Time::since_origin(ns) }
}
