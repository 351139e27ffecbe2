//! Perfetto's trace format, written as it comes: nothing is patched later, and memory does not grow with the trace.
//!
//! A file is a row of `TracePacket`s. Each input is a packet sequence of its own. Tracks become track descriptors,
//! slices begin and end events, gaps instants. Field numbers are those of `protos/perfetto/trace` in Perfetto's source.

mod annotation;
mod message;
mod names;

use super::Summary;
use crate::output::{NAME_MAX, push_label, shortened};
use crate::record::Text;
use crate::status::Result;
use annotation::Annotations;
use foldhash::fast::RandomState;
use message::Message;
use names::Names;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use traceglass::event::{Event, EventKind, FlowId, Item, Number, Track, TrackId, TrackKind, Window};
use traceglass::record::{Any, Record as _};

/// Fields of `Trace`, `TracePacket` and what is in it.
mod field {
    pub const PACKET: u32 = 1;

    pub const CLOCK_SNAPSHOT: u32 = 6;
    pub const TIMESTAMP: u32 = 8;
    pub const SEQUENCE_ID: u32 = 10;
    pub const TRACK_EVENT: u32 = 11;
    pub const INTERNED_DATA: u32 = 12;
    pub const SEQUENCE_FLAGS: u32 = 13;
    pub const DEFAULTS: u32 = 59;
    pub const TRACK_DESCRIPTOR: u32 = 60;

    /// `TracePacketDefaults`.
    pub const TIMESTAMP_CLOCK_ID: u32 = 58;

    /// `ClockSnapshot`.
    pub const CLOCKS: u32 = 1;
    pub const PRIMARY_TRACE_CLOCK: u32 = 2;
    /// `ClockSnapshot.Clock`.
    pub const CLOCK_ID: u32 = 1;
    pub const CLOCK_TIMESTAMP: u32 = 2;

    /// `TrackEvent`.
    pub const TYPE: u32 = 9;
    pub const NAME_IID: u32 = 10;
    pub const TRACK_UUID: u32 = 11;
    pub const NAME: u32 = 23;
    pub const COUNTER_VALUE: u32 = 30;
    pub const DOUBLE_COUNTER_VALUE: u32 = 44;
    pub const FLOW_IDS: u32 = 47;
    pub const TERMINATING_FLOW_IDS: u32 = 48;

    /// `InternedData`.
    pub const EVENT_NAMES: u32 = 2;

    /// `TrackDescriptor`.
    pub const UUID: u32 = 1;
    pub const TRACK_NAME: u32 = 2;
    pub const PARENT_UUID: u32 = 5;
    pub const COUNTER: u32 = 8;
    pub const CHILD_ORDERING: u32 = 11;
    pub const SIBLING_ORDER_RANK: u32 = 12;
    pub const DESCRIPTION: u32 = 14;
    pub const SIBLING_MERGE_BEHAVIOR: u32 = 15;
    /// `CounterDescriptor`.
    pub const UNIT_NAME: u32 = 6;
}

/// The number of bytes of text an event has, besides four times as many as itself: what is in it is never cut, and what
/// it shares with others, such as a source file, does not make the output many times the input.
const SHARED: usize = 2 << 10;

/// Values of `TrackEvent.Type`.
const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;

/// Values of `TracePacket.SequenceFlags`.
const STATE_CLEARED: u64 = 1;
const NEEDS_STATE: u64 = 2;

/// Values of `TrackDescriptor.ChildTracksOrdering` and `SiblingMergeBehavior`.
const EXPLICIT: u64 = 3;
const MERGE_NONE: u64 = 2;

/// Values of `BuiltinClock`.
const REALTIME: u64 = 1;
const MONOTONIC: u64 = 3;

/// The output of packets.
pub type Sink<'s> = dyn FnMut(&[u8]) -> Result<()> + 's;

/// The place of a track that a table of pairs made: they have the numbers from 2^32 on.
fn place(track: TrackId) -> usize {
    usize::try_from(track.number() & u64::from(u32::MAX)).unwrap_or(0)
}

/// A slice that begins before the window.
struct Held {
    /// The time of its begin, if that is known.
    began: Option<u64>,
    /// The event.
    inner: Vec<u8>,
}

/// Writes a trace.
#[derive(Default)]
pub struct Perfetto {
    /// The number of the input, from 1.
    sequence: u64,
    /// The name of the first recording track.
    name: String,
    /// True if times count from the Unix epoch, once that is known.
    absolute: Option<bool>,
    /// The tracks above counters, which take nothing but values.
    counters: HashMap<TrackId, TrackId, RandomState>,
    /// The time of the last event of the input, and that of the first.
    last: Option<u64>,
    first: Option<u64>,
    /// The end of the last slice of a track that a table of pairs made, by the numbers of these tracks.
    ended: Vec<Option<u64>>,
    /// The begin of the range of time that is wanted, what is open before it, and whether that has been written.
    from: Option<u64>,
    held: BTreeMap<TrackId, Vec<Held>>,
    is_settled: bool,
    /// True if the input's sequence has begun.
    begun: bool,
    names: Names,
    annotations: Annotations,
    /// What tracks are made of, as `cat` tells it.
    description: Option<Text>,
    summary: Summary,
    // Messages that are being written, and text.
    packet: Message,
    inner: Message,
    interned: Message,
    text: String,
}

impl Perfetto {
    /// Begins another input, which is shown by this name. Slices that begin before the window are drawn from its begin,
    /// if they are open then.
    pub fn begin(&mut self, name: &str, window: Window) {
        self.from = window.from().and_then(|from| u64::try_from(from).ok());
        self.held.clear();
        self.is_settled = false;
        self.sequence = self.sequence.saturating_add(1);
        self.begun = false;
        self.last = None;
        self.first = None;
        self.ended.clear();
        self.counters.clear();
        self.names = Names::default();
        self.annotations = Annotations::default();
        name.clone_into(&mut self.name);
    }

    /// The summary since this was last asked.
    pub fn take_summary(&mut self) -> Summary {
        std::mem::take(&mut self.summary)
    }

    pub fn item(&mut self, item: &Item<'_>, out: &mut Sink<'_>) -> Result<()> {
        match item {
            Item::Track(track) => self.track(track, out),
            Item::Event(event) => self.event(event, out),
            _ => Ok(()),
        }
    }

    /// The uuid of a track: small, and never zero.
    fn uuid(&self, track: TrackId) -> u64 {
        (self.sequence << 40 | track.number()).saturating_add(1)
    }

    /// The id of a flow. Numbers begin again after 2²⁶ flows to one track, when the first ones have long ended.
    fn flow(&self, flow: FlowId) -> u64 {
        (self.sequence << 58) ^ (flow.track().number() << 26) ^ (flow.number() & ((1 << 26) - 1))
    }

    /// Writes the packet, which gets its sequence.
    fn packet(&mut self, flags: u64, out: &mut Sink<'_>) -> Result<()> {
        self.packet.uint(field::SEQUENCE_ID, self.sequence).uint(field::SEQUENCE_FLAGS, flags);
        let done = out(self.packet.enclose(field::PACKET).bytes());
        self.packet.clear();
        done
    }

    fn track(&mut self, track: &Track<'_>, out: &mut Sink<'_>) -> Result<()> {
        let uuid = self.uuid(track.id());
        self.inner.clear();
        self.inner.uint(field::UUID, uuid);
        self.text.clear();
        match track.kind() {
            TrackKind::Recording if track.parent().is_none() && !self.name.is_empty() => {
                self.text.push_str(&self.name)
            }
            _ => push_label(&mut self.text, track.label(), NAME_MAX),
        }
        if let Some(alias) = track.alias() {
            let _ = write!(self.text, " ({alias})");
        }
        self.inner.text(field::TRACK_NAME, &self.text);
        if let Some(parent) = track.parent() {
            self.inner.uint(field::PARENT_UUID, self.uuid(parent));
        }
        if let TrackKind::Counter { unit } = track.kind() {
            self.counters.insert(track.id(), track.parent().unwrap_or(track.id()));
            let mut counter = Message::default();
            if let Some(unit) = unit {
                counter.text(field::UNIT_NAME, unit);
            }
            self.inner.nested(field::COUNTER, counter.bytes());
        }
        self.inner.uint(field::CHILD_ORDERING, EXPLICIT);
        // Threads, streams and queues above the tasks, which can be many.
        let rank = u64::from(matches!(track.kind(), TrackKind::Task | TrackKind::Span));
        self.inner.uint(field::SIBLING_ORDER_RANK, rank);
        // Two tasks with the same name are two tasks.
        self.inner.uint(field::SIBLING_MERGE_BEHAVIOR, MERGE_NONE);
        let text = self.description.get_or_insert_with(|| Text::rows(SHARED));
        text.buffer.clear();
        // Of what cannot be read there is nothing left.
        let _ = track.tell(&mut Any(text));
        let description = String::from_utf8_lossy(text.buffer.text());
        if !description.is_empty() {
            self.inner.text(field::DESCRIPTION, &shortened(description.trim(), SHARED));
        }
        self.packet.nested(field::TRACK_DESCRIPTOR, self.inner.bytes());
        self.packet(0, out)
    }

    /// Says which clock the times are from, before the first one of the input.
    #[cold]
    fn clock(&mut self, ns: u64, absolute: bool, out: &mut Sink<'_>) -> Result<()> {
        let id = if absolute { REALTIME } else { MONOTONIC };
        if self.absolute.is_none() {
            self.absolute = Some(absolute);
            let (mut clock, mut snapshot) = (Message::default(), Message::default());
            clock.uint(field::CLOCK_ID, id).uint(field::CLOCK_TIMESTAMP, ns);
            snapshot.nested(field::CLOCKS, clock.bytes()).uint(field::PRIMARY_TRACE_CLOCK, id);
            self.packet.nested(field::CLOCK_SNAPSHOT, snapshot.bytes());
            self.packet(0, out)?;
        }
        self.begun = true;
        let mut defaults = Message::default();
        defaults.uint(field::TIMESTAMP_CLOCK_ID, id);
        self.packet.nested(field::DEFAULTS, defaults.bytes());
        self.packet(STATE_CLEARED, out)
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Sink<'_>) -> Result<()> {
        let is_loss = event.kind().is_loss();
        let is_end = matches!(event.kind(), EventKind::Begin | EventKind::End);
        let from = self.from.filter(|_| !is_end || !self.is_settled);
        let ns = match (event.time(), self.last.filter(|_| is_loss)) {
            (Some(time), _) => {
                // Perfetto reads these times as signed integers.
                let ns = i64::try_from(time.ns()).ok().and_then(|ns| u64::try_from(ns).ok());
                let is_same = self.absolute.is_none_or(|absolute| absolute == time.is_absolute());
                let Some(ns) = ns.filter(|_| is_same) else {
                    self.summary.misfits = self.summary.misfits.saturating_add(1);
                    return Ok(());
                };
                if !is_end && from.is_some_and(|from| ns < from) {
                    return Ok(());
                }
                if !self.begun {
                    self.clock(ns, time.is_absolute(), out)?;
                }
                self.last = Some(ns);
                self.first = self.first.or(Some(ns));
                if event.kind() == EventKind::End && event.slice().is_some() {
                    let place = place(event.track());
                    if self.ended.len() <= place {
                        self.ended.resize(place.saturating_add(1), None);
                    }
                    if let Some(ended) = self.ended.get_mut(place) {
                        *ended = Some(ns);
                    }
                }
                ns
            }
            // It is open when the trace ends, as it is drawn without an end.
            (None, _) if event.slice().is_some() && event.kind() == EventKind::End => return Ok(()),
            // It had begun before: it is drawn from the end of the one before it, or from the start.
            (None, _) if event.slice().is_some() => {
                let Some(noticed) = event.slice().map(|slice| slice.noticed()) else { return Ok(()) };
                let Some(ns) = u64::try_from(noticed.ns()).ok().filter(|ns| i64::try_from(*ns).is_ok())
                else {
                    return Ok(());
                };
                if !self.begun {
                    self.clock(ns, noticed.is_absolute(), out)?;
                }
                let ended = self.ended.get(place(event.track())).copied().flatten();
                ended.max(self.first).unwrap_or(ns)
            }
            // A loss is shown where reading came upon it.
            (None, Some(last)) => last,
            (None, None) => {
                self.summary.untimed = self.summary.untimed.saturating_add(1);
                return Ok(());
            }
        };
        // One without a time had begun before, and what ends when the range begins has no part in it.
        let ends_at = |from| ns == from && event.kind() == EventKind::End;
        let is_held = from.is_some_and(|from| ns < from || ends_at(from) || is_end && event.time().is_none());
        if is_held && event.kind() != EventKind::Begin {
            if event.kind() == EventKind::End {
                self.held.entry(event.track()).or_default().pop();
            }
            return Ok(());
        }
        if !is_held && from.is_some() {
            self.settle(out)?;
        }
        self.interned.clear();
        let is_value = matches!(event.kind(), EventKind::Counter(_));
        let above = self.counters.get(&event.track()).filter(|_| !is_value).copied();
        self.packet.uint(field::TRACK_UUID, self.uuid(above.unwrap_or(event.track())));
        let kind = match event.kind() {
            EventKind::Begin => SLICE_BEGIN,
            EventKind::End => SLICE_END,
            EventKind::Counter(Number::Integer(value)) => {
                match i64::try_from(value) {
                    Ok(value) => self.packet.int(field::COUNTER_VALUE, value),
                    Err(_) => self.packet.double(field::DOUBLE_COUNTER_VALUE, value as f64),
                };
                COUNTER
            }
            EventKind::Counter(Number::Float(value)) => {
                self.packet.double(field::DOUBLE_COUNTER_VALUE, value);
                COUNTER
            }
            _ => INSTANT,
        };
        self.packet.uint(field::TYPE, kind);
        if matches!(kind, SLICE_BEGIN | INSTANT) {
            self.name(event);
            // A slice from before the range has no arrows.
            if let Some(flow) = event.starts().filter(|_| !is_held) {
                self.packet.fixed64(field::FLOW_IDS, self.flow(flow));
            }
            for flow in event.ends().filter(|_| !is_held) {
                self.packet.fixed64(field::TERMINATING_FLOW_IDS, self.flow(flow));
            }
            let own = usize::try_from(event.len()).unwrap_or(usize::MAX).saturating_mul(4);
            let limit = own.saturating_add(SHARED);
            if event.slice().is_none_or(|slice| !slice.args().is_empty() || slice.cpu().is_some()) {
                self.annotations.write(event, limit, &mut self.packet, &mut self.interned);
            }
        }
        if let Some(slice) = event.slice() {
            if kind == SLICE_END && !slice.args().is_empty() {
                self.annotations.write(&slice.args(), SHARED, &mut self.packet, &mut self.interned);
            }
            if !slice.edges().is_empty() {
                let flags: Vec<_> = slice.edges().names().collect();
                annotation::note(&mut self.packet, "flags", &flags.join(" "));
            }
        }
        if is_held {
            let began = event.time().map(|_| ns);
            let held = Held { began, inner: self.packet.bytes().to_vec() };
            self.held.entry(event.track()).or_default().push(held);
            self.packet.clear();
            if self.interned.is_empty() {
                return Ok(());
            }
            self.packet.nested(field::INTERNED_DATA, self.interned.bytes());
            return self.packet(NEEDS_STATE, out);
        }
        self.summary.has_events |= !is_loss;
        self.packet.enclose(field::TRACK_EVENT).uint_before(field::TIMESTAMP, ns);
        if !self.interned.is_empty() {
            self.packet.nested(field::INTERNED_DATA, self.interned.bytes());
        }
        self.packet(NEEDS_STATE, out)
    }

    /// Writes what is open when the window begins.
    pub fn settle(&mut self, out: &mut Sink<'_>) -> Result<()> {
        let Some(from) = self.from.filter(|_| !self.is_settled) else { return Ok(()) };
        self.is_settled = true;
        for held in std::mem::take(&mut self.held).into_values().flatten() {
            self.inner.clear();
            if let Some(began) = held.began {
                annotation::note_number(&mut self.inner, "began_ns", began);
            }
            let event = [&held.inner, self.inner.bytes()].concat();
            self.packet.uint(field::TIMESTAMP, from).nested(field::TRACK_EVENT, &event);
            self.summary.has_events = true;
            self.packet(NEEDS_STATE, out)?;
        }
        self.first = Some(from);
        Ok(())
    }

    fn name(&mut self, event: &Event<'_>) {
        self.text.clear();
        let label = event.name();
        let name = match event.kind() {
            // No two are alike.
            EventKind::Gap(gap) => {
                let _ = write!(self.text, "gap: {gap}");
                self.packet.text(field::NAME, &self.text);
                return;
            }
            EventKind::Discarded { count: Some(count) } => {
                let _ = write!(self.text, "discarded: {count}");
                &self.text
            }
            EventKind::Discarded { count: None } => "discarded",
            // Nearly all stand as they are.
            _ => label.as_str().filter(|name| name.len() <= NAME_MAX).unwrap_or_else(|| {
                push_label(&mut self.text, label, NAME_MAX);
                &self.text
            }),
        };
        match self.names.number(name, field::EVENT_NAMES, &mut self.interned) {
            Some(number) => self.packet.uint(field::NAME_IID, number),
            None => self.packet.text(field::NAME, name),
        };
    }
}
