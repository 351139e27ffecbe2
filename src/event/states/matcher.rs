//! The matcher: from events to states and slices.

use super::capture::{Capture, Learning};
use super::classes::{Classes, MatchSlot, Name, Role};
use super::context::{Context, Kept, KeptSlot, Output};
use super::edges::Edges;
use super::hashed::{Entries, NONE};
use super::op::{Op, OpSlot};
use super::open::{Open, OpenSlot, State, TrackSlot};
use super::rooms::StateRooms;
use super::rule::{Rule, RuleKind};
use super::table::Table;
use super::text::hash;
use super::value::{Texts, ValueSlot};
use crate::error::{Error, Result};
use crate::event::Item;
use crate::event::data::{Data, StateData};
use crate::event::event::{Event, EventKind, Flows};
use crate::event::label::Label;
use crate::event::time::Time;
use crate::event::track::{Clock, Track, TrackId, TrackKind};
use core::fmt::{Display, Write as _};

/// The number of the first track of states: a source has fewer tracks of its own.
const FIRST: u64 = 1 << 32;

/// The deepest level of a stack at which the begin of an end is looked for.
const SEARCH_MAX: usize = 512;

/// Takes items as they come.
pub type Sink<'s, E> = dyn FnMut(&Item<'_>) -> core::result::Result<(), E> + 's;

/// How much was done, and what was odd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Events that were looked at.
    pub events: u64,
    /// Ends that have no begin though something is open on their track: nothing is shown of them.
    pub stray: u64,
    /// Ends before their begins.
    pub backwards: u64,
    /// How many open slices were looked at to find those that end.
    pub compared: u64,
    /// Rules that were followed.
    pub followed: u64,
}

/// Finds states and slices in events.
///
/// Items of a [`Source`](crate::event::Source) go in, items come out: tracks and events as they are, but for the events
/// that begin or end something. Those become a begin or an end on a track of their own, whose fields are those of the
/// event. See [`Event::slice`].
pub struct States<'r, 't> {
    table: &'r Table<'t, 'r>,
    classes: Classes<'r>,
    values: &'r mut [ValueSlot],
    kept: Entries<'r, KeptSlot>,
    open: Open<'r>,
    /// The track of the recording, which is above the others, and its clock.
    root: Option<(TrackId, bool)>,
    inputs: &'r [&'r str],
    texts: Texts,
    output: Output,
    counts: Counts,
}

impl core::fmt::Debug for States<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("States").field("counts", &self.counts).finish_non_exhaustive()
    }
}

/// An event that is being matched.
struct Moment<'m, 'e> {
    event: &'m Event<'e>,
    time: Time,
    stream: u32,
    cpu: Option<u64>,
}

impl<'r, 't> States<'r, 't> {
    /// States of a table. `inputs` are the names of the source's inputs, for events of which no thread and no processor is
    /// known.
    ///
    /// # Errors
    /// `CapacityExceeded`, of the room for values.
    pub fn new(table: &'r Table<'t, 'r>, inputs: &'r [&'r str], rooms: StateRooms<'r>) -> Result<Self> {
        let names = table.names().len();
        super::classes::grow(rooms.values, names)?;
        let classes = Classes {
            classes: rooms.classes,
            matches: rooms.matches,
            fields: rooms.fields,
            names: Entries::new(rooms.names),
            count: 0,
        };
        let open = Open {
            tracks: Entries::new(rooms.tracks),
            slots: rooms.open,
            streams: rooms.streams,
            free: NONE,
            taken: 0,
        };
        Ok(Self {
            table,
            classes,
            values: rooms.values.slots_mut().get_mut(..names).unwrap_or_default(),
            kept: Entries::new(rooms.kept),
            open,
            root: None,
            inputs,
            texts: Texts::EMPTY,
            output: Output::EMPTY,
            counts: Counts::default(),
        })
    }

    /// Learns which events the trace has: all are given here before the first is matched. Rules for any name pair only
    /// what occurs; without this they pair nothing.
    ///
    /// # Errors
    /// `CapacityExceeded`.
    pub fn learn(&mut self, event: &Event<'_>) -> Result<()> {
        let mut learning = Learning { table: self.table, classes: &mut self.classes, failed: Ok(()) };
        // One that cannot be read does not occur.
        let _ = event.data.tell(&mut learning);
        learning.failed
    }

    /// How much was done so far, and what was odd.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Takes an item, and gives out what comes of it.
    ///
    /// # Errors
    /// `CapacityExceeded`, and those of `to`.
    pub fn item<E: From<Error>>(
        &mut self,
        item: &Item<'_>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let event = match item {
            Item::Track(track) => {
                if self.root.is_none() {
                    self.root = Some((track.id, track.clock.is_absolute()));
                }
                return to(item);
            }
            Item::Event(event) => event,
        };
        let stream = u32::try_from(event.track.number()).unwrap_or(NONE);
        match (event.kind, event.time) {
            (EventKind::Gap(_), _) => {
                self.open.stream(stream)?.has_gap = true;
                to(item)
            }
            (EventKind::Instant, Some(time)) => {
                let of = self.open.stream(stream)?;
                if core::mem::take(&mut of.has_gap) || event.data.follows_loss() {
                    self.lose(event, stream, to)?;
                }
                let is_taken = self.event(event, time, stream, to)?;
                self.open.stream(stream)?.last = Some(time.ns());
                if is_taken { Ok(()) } else { to(item) }
            }
            _ => to(item),
        }
    }

    /// Gives out what is open at the end of the trace: ends without a time.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn finish<E: From<Error>>(&mut self, to: &mut Sink<'_, E>) -> core::result::Result<(), E> {
        let last = Event::nothing();
        let moment = Moment { event: &last, time: Time::since_origin(0), stream: NONE, cpu: None };
        for track in 0..self.open.tracks.len() {
            while let Some(slot) = self.open.pop(track) {
                let edges = Edges::OPEN_END.with(self.open.edges(&slot, slot.begun));
                moment.send(track, None, EventKind::End, "", edges, Part::EMPTY, to)?;
            }
            if self.open.tracks.get(track).is_some_and(|slot| matches!(slot.state, State::Value(..))) {
                self.open.set_state(track, State::Unknown);
                moment.send(track, None, EventKind::End, "", Edges::OPEN_END, Part::EMPTY, to)?;
            }
        }
        Ok(())
    }

    /// Ends what cannot be known any more after a loss in a stream: at the last event before.
    fn lose<E: From<Error>>(
        &mut self,
        event: &Event<'_>,
        stream: u32,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let of = self.open.stream(stream)?;
        of.losses = of.losses.saturating_add(1);
        let Some(last) = of.last else { return Ok(()) };
        let is_absolute = self.root.is_some_and(|(_, absolute)| absolute);
        let is_absolute = event.time.map_or(is_absolute, Time::is_absolute);
        let time = if is_absolute { Time::since_epoch(last) } else { Time::since_origin(last) };
        let moment = Moment { event, time, stream, cpu: None };
        while let Some(track) = self.open.fed_by(stream) {
            self.open.starve(track);
            let Some(slot) = self.open.tracks.get_mut(track) else { continue };
            let state = core::mem::replace(&mut slot.state, State::Unknown);
            let has_keyless = slot.keyless > 0;
            if matches!(state, State::Value(..)) {
                moment.end(track, Edges::END_LOST, to)?;
            }
            while has_keyless && self.open.pop(track).is_some() {
                moment.end(track, Edges::END_LOST, to)?;
            }
        }
        Ok(())
    }

    /// Follows the rules for an event; true if it begins or ends something.
    fn event<E: From<Error>>(
        &mut self,
        event: &Event<'_>,
        time: Time,
        stream: u32,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<bool, E> {
        self.counts.events = self.counts.events.saturating_add(1);
        let mut capture = Capture {
            table: self.table,
            classes: &mut self.classes,
            values: self.values,
            texts: &mut self.texts,
            matches: 0..0,
            failed: Ok(()),
        };
        // A record that cannot be read follows no rule; it is given out as it is.
        let is_readable = event.data.tell(&mut capture).is_ok();
        let matches = capture.matches.clone();
        capture.failed?;
        if matches.is_empty() || !is_readable {
            return Ok(false);
        }
        let of = self.open.stream(stream)?;
        if of.packet.is_none() || of.packet != event.data.packet_offset() {
            (of.packet, of.cpu) = (event.data.packet_offset(), event.data.packet_cpu());
        }
        let moment = Moment { event, time, stream, cpu: of.cpu };
        let mut name = Name::EMPTY;
        // A scratch takes all that is written to it.
        let _ = write!(name, "{}", event.name);
        let mut is_taken = false;
        for at in matches {
            let Some(found) = self.classes.match_at(at) else { break };
            let table = self.table;
            let Some(rule) = table.rule_at(found.rule) else { break };
            self.counts.followed = self.counts.followed.saturating_add(1);
            self.output.truncate(0);
            match (rule.kind, found.role) {
                (RuleKind::State, _) => {
                    is_taken = true;
                    self.state(rule, &found, &moment, &name, to)?;
                }
                (RuleKind::Let, _) => self.remember(rule, &found, &moment, &name)?,
                (RuleKind::Label, _) => self.label(rule, &found, &moment, &name, to)?,
                (RuleKind::Slice, Role::End) => {
                    is_taken = true;
                    self.end(rule, &found, &moment, &name, to)?;
                }
                (RuleKind::Slice, _) => {
                    is_taken = true;
                    self.begin(rule, &found, &moment, &name, to)?;
                }
            }
        }
        Ok(is_taken)
    }

    /// Evaluates something in the context of an event.
    fn with<T>(
        &mut self,
        found: &MatchSlot,
        moment: &Moment<'_, '_>,
        name: &Name,
        work: impl FnOnce(&Context<'_, 't, 'r>, &mut Output) -> T,
    ) -> T {
        let number = moment.event.input;
        let stream: &dyn Display = match self.inputs.get(number) {
            Some(name) => name,
            None => &number,
        };
        let context = Context {
            table: self.table,
            values: self.values,
            texts: &self.texts,
            maps: &self.kept,
            event: name.text(),
            star: name.get(found.star.0..found.star.1),
            stream,
            cpu: moment.cpu,
            key: found.key,
        };
        work(&context, &mut self.output)
    }

    /// The track of this name, which is announced if it is new.
    fn track<E: From<Error>>(
        &mut self,
        name: core::ops::Range<usize>,
        moment: &Moment<'_, '_>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<u32, E> {
        let name = self.output.get(name);
        let hash = hash(0, name);
        if let Some(known) = self.open.tracks.find(hash) {
            return Ok(known);
        }
        let number = self.open.tracks.insert(hash, TrackSlot::NEW)?;
        let label = self.kept.find(label_key(hash)).and_then(|at| self.kept.get(at));
        announce(number, name, label.map(|kept| kept.0.text()), self.root, moment, to)?;
        Ok(number)
    }

    fn state<E: From<Error>>(
        &mut self,
        rule: &Rule<'_>,
        found: &MatchSlot,
        moment: &Moment<'_, '_>,
        event: &Name,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let evaluated = self.with(found, moment, event, |context, out| {
            if context.holds(rule.skip, out) {
                return None;
            }
            let track = context.template(rule.track?, out)?;
            let value = if context.holds(rule.none, out) {
                out.len()..out.len()
            } else {
                context.template(rule.value?, out)?
            };
            let was = match rule.was {
                Some(was) if !context.holds(rule.was_none, out) => context.template(was, out),
                _ => None,
            };
            Some((track, value, was, context.processor()))
        });
        let Some((track, value, was, cpu)) = evaluated else { return Ok(()) };
        let value_hash = match value.is_empty() {
            true => None,
            false => Some(hash(0, self.output.get(value.clone()))),
        };
        let number = self.track(track, moment, to)?;
        let Some(slot) = self.open.tracks.get(number) else { return Ok(()) };
        let mut state = slot.state;
        let is_new = state == State::Unknown;
        let table = self.table;
        if let State::Value(now, _) = state
            && table.range(rule.keep).iter().any(|kept| matches!(kept.0, Op::Hash(hash) if hash == now))
        {
            return Ok(());
        }
        let ns = moment.time.ns();
        if let (State::Unknown, Some(was)) = (state, was.filter(|was| !was.is_empty())) {
            let was = self.output.get(was);
            moment.begin(number, was, Edges::OPEN_START, Part::EMPTY, to)?;
            state = State::Value(hash(0, was), ns);
        }
        let now = match (state, value_hash) {
            (State::Value(before, _), Some(now)) if before == now => {
                // Of one that had begun before, the time is that of the event that tells so.
                self.open.set_state(number, state);
                if is_new {
                    self.open.feed(number, moment.stream);
                }
                return Ok(());
            }
            (State::Value(_, since), now) => {
                let is_backwards = ns < since;
                self.counts.backwards = self.counts.backwards.saturating_add(is_backwards.into());
                let edges = if is_backwards { Edges::BACKWARDS } else { Edges::NONE };
                moment.end_at(number, since, edges, to)?;
                now.map_or(State::None, |now| State::Value(now, ns))
            }
            (_, now) => now.map_or(State::None, |now| State::Value(now, ns)),
        };
        if matches!(now, State::Value(..)) {
            let args = Part { args: table.range(rule.args), cpu };
            moment.begin(number, self.output.get(value), Edges::NONE, args, to)?;
        }
        self.open.set_state(number, now);
        self.open.feed(number, moment.stream);
        Ok(())
    }

    fn remember(
        &mut self,
        rule: &Rule<'_>,
        found: &MatchSlot,
        moment: &Moment<'_, '_>,
        event: &Name,
    ) -> Result<()> {
        let evaluated = self.with(found, moment, event, |context, out| {
            Some((context.template(rule.key?, out)?, context.template(rule.value?, out)?))
        });
        let Some((key, value)) = evaluated else { return Ok(()) };
        let key = hash(rule.map, self.output.get(key));
        keep(&mut self.kept, key, self.output.get(value)).map(drop)
    }

    fn label<E: From<Error>>(
        &mut self,
        rule: &Rule<'_>,
        found: &MatchSlot,
        moment: &Moment<'_, '_>,
        event: &Name,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let evaluated = self.with(found, moment, event, |context, out| {
            Some((context.template(rule.track?, out)?, context.template(rule.value?, out)?))
        });
        let Some((track, label)) = evaluated else { return Ok(()) };
        let (track, label) = (self.output.get(track), self.output.get(label));
        let hash = hash(0, track);
        let is_new = keep(&mut self.kept, label_key(hash), label)?;
        if let Some(number) = self.open.tracks.find(hash).filter(|_| is_new) {
            announce(number, track, Some(label), self.root, moment, to)?;
        }
        Ok(())
    }

    /// The track and the key of a slice; the key as a hash, and whether it is empty.
    fn place_of<E: From<Error>>(
        &mut self,
        rule: &Rule<'_>,
        found: &MatchSlot,
        moment: &Moment<'_, '_>,
        event: &Name,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<Option<(u32, u64, bool, Option<u64>)>, E> {
        let evaluated = self.with(found, moment, event, |context, out| {
            let track = context.template(rule.track?, out)?;
            let key = match rule.key {
                Some(key) => context.template(key, out)?,
                None => out.len()..out.len(),
            };
            Some((track, key, context.processor()))
        });
        let Some((track, key, cpu)) = evaluated else { return Ok(None) };
        let is_keyless = key.is_empty();
        // Calls of a rule for any name are told apart by what that name is.
        let what = if rule.generic { event.get(found.star.0..found.star.1) } else { "" };
        let key = hash(hash(0, what), self.output.get(key));
        let number = self.track(track, moment, to)?;
        Ok(Some((number, key, is_keyless, cpu)))
    }

    fn begin<E: From<Error>>(
        &mut self,
        rule: &Rule<'_>,
        found: &MatchSlot,
        moment: &Moment<'_, '_>,
        event: &Name,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let Some((track, key, is_keyless, cpu)) = self.place_of(rule, found, moment, event, to)? else {
            return Ok(());
        };
        if rule.one {
            while let Some(slot) = self.open.pop(track) {
                let edges = Edges::END_MISSING.with(self.open.edges(&slot, moment.time.ns()));
                moment.end_at(track, slot.begun, edges, to)?;
            }
        }
        let begun = moment.time.ns();
        let slot =
            OpenSlot { rule: found.rule, key, begun, stream: moment.stream, is_keyless, ..OpenSlot::EMPTY };
        self.open.push(track, slot)?;
        if is_keyless {
            self.open.feed(track, moment.stream);
        }
        let name = self.name(rule, found, moment, event);
        let args = Part { args: self.table.range(rule.args), cpu };
        moment.begin(track, self.output.get(name).trim_ascii(), Edges::NONE, args, to)
    }

    /// The name of a slice.
    fn name(
        &mut self,
        rule: &Rule<'_>,
        found: &MatchSlot,
        moment: &Moment<'_, '_>,
        event: &Name,
    ) -> core::ops::Range<usize> {
        self.with(found, moment, event, |context, out| {
            rule.value.and_then(|name| context.template(name, out)).unwrap_or_else(|| {
                let start = out.len();
                out.push("?");
                start..out.len()
            })
        })
    }

    fn end<E: From<Error>>(
        &mut self,
        rule: &Rule<'_>,
        found: &MatchSlot,
        moment: &Moment<'_, '_>,
        event: &Name,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let Some((track, key, is_keyless, cpu)) = self.place_of(rule, found, moment, event, to)? else {
            return Ok(());
        };
        let ns = moment.time.ns();
        let top = self.open.tracks.get(track).map_or(NONE, |slot| slot.top);
        let any_key = rule.key_optional && is_keyless;
        let (mut at, mut above) = (top, 0);
        while let Some(slot) = self.open.slot(at).filter(|_| above < SEARCH_MAX) {
            self.counts.compared = self.counts.compared.saturating_add(1);
            if slot.rule == found.rule && (any_key || slot.key == key || rule.key_optional && slot.is_keyless)
            {
                break;
            }
            (at, above) = (slot.below, above.saturating_add(1));
        }
        let args = Part { args: self.table.range(rule.end_args), cpu };
        if self.open.slot(at).is_some() && above < SEARCH_MAX {
            for _ in 0..above {
                let Some(slot) = self.open.pop(track) else { break };
                let edges = Edges::END_MISSING.with(self.open.edges(&slot, ns));
                moment.end_at(track, slot.begun, edges, to)?;
            }
            let Some(slot) = self.open.pop(track) else { return Ok(()) };
            let edges = self.open.edges(&slot, ns);
            self.counts.backwards = self.counts.backwards.saturating_add(edges.has(Edges::BACKWARDS).into());
            return moment.end_with(track, slot.begun, edges, args, to);
        }
        if top != NONE {
            self.counts.stray = self.counts.stray.saturating_add(1);
            return Ok(());
        }
        let lost = self.open.stream(moment.stream)?.losses > 0;
        let edges = if lost { Edges::BEGIN_LOST } else { Edges::OPEN_START };
        let name = self.name(rule, found, moment, event);
        moment.begin(track, self.output.get(name).trim_ascii(), edges, Part::EMPTY, to)?;
        moment.end_with(track, ns, Edges::NONE, args, to)
    }
}

/// The key by which the label of a track is kept.
fn label_key(track: u64) -> u64 {
    hash(track, "label")
}

/// Keeps a text; true if it is another one than before. A long one is cut.
fn keep(kept: &mut Entries<'_, KeptSlot>, key: u64, text: &str) -> Result<bool> {
    let mut room = Kept::EMPTY;
    room.push(text);
    match kept.find(key).and_then(|at| kept.get_mut(at)) {
        Some(known) if known.0.text() == room.text() => return Ok(false),
        Some(known) => known.0 = room,
        None => drop(kept.insert(key, KeptSlot(room))?),
    }
    Ok(true)
}

fn announce<E: From<Error>>(
    number: u32,
    name: &str,
    alias: Option<&str>,
    root: Option<(TrackId, bool)>,
    moment: &Moment<'_, '_>,
    to: &mut Sink<'_, E>,
) -> core::result::Result<(), E> {
    let kind = match name {
        _ if name.starts_with("CPU ") => TrackKind::Cpu,
        _ if name.starts_with("thread ") => TrackKind::Thread,
        _ => TrackKind::Stream,
    };
    to(&Item::Track(Track {
        id: track_id(number),
        parent: root.map(|(id, _)| id),
        kind,
        label: Label::Text(name),
        clock: Clock::new(None, moment.time.is_absolute()),
        data: alias.map_or(Data::None, Data::Named),
    }))
}

fn track_id(number: u32) -> TrackId {
    TrackId::new(FIRST.saturating_add(number.into()))
}

/// The arguments of one end.
#[derive(Clone, Copy)]
struct Part<'a> {
    args: &'a [OpSlot<'a>],
    cpu: Option<u64>,
}

impl Part<'_> {
    const EMPTY: Self = Self { args: &[], cpu: None };
}

impl Moment<'_, '_> {
    /// Begins something on a track; without a time if it had begun before.
    fn begin<E>(
        &self,
        track: u32,
        name: &str,
        edges: Edges,
        part: Part<'_>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let time = edges.is_empty().then_some(self.time);
        self.send(track, time, EventKind::Begin, name, edges, part, to)
    }

    /// Ends what is on top of a track, with nothing to be said of its end.
    fn end<E>(&self, track: u32, edges: Edges, to: &mut Sink<'_, E>) -> core::result::Result<(), E> {
        self.send(track, Some(self.time), EventKind::End, "", edges, Part::EMPTY, to)
    }

    /// The same, not before it began.
    fn end_at<E>(
        &self,
        track: u32,
        begun: i128,
        edges: Edges,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        self.end_with(track, begun, edges, Part::EMPTY, to)
    }

    /// Ends what is on top of a track.
    fn end_with<E>(
        &self,
        track: u32,
        begun: i128,
        edges: Edges,
        part: Part<'_>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let ns = self.time.ns().max(begun);
        let time = if self.time.is_absolute() { Time::since_epoch(ns) } else { Time::since_origin(ns) };
        self.send(track, Some(time), EventKind::End, "", edges, part, to)
    }

    #[allow(clippy::too_many_arguments)] // Of one event.
    fn send<E>(
        &self,
        track: u32,
        time: Option<Time>,
        kind: EventKind,
        name: &str,
        edges: Edges,
        part: Part<'_>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let Event { input, offset, len, .. } = *self.event;
        let data = StateData { of: &self.event.data, args: part.args, cpu: part.cpu, edges };
        to(&Item::Event(Event {
            input,
            offset,
            len,
            time,
            track: track_id(track),
            kind,
            name: Label::Text(name),
            starts: None,
            ends: Flows::NONE,
            inferred: !edges.is_empty(),
            data: Data::State(data),
        }))
    }
}
