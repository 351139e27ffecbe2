//! The matcher: from events to states and slices.

use super::capture::{Capture, Learning};
use super::classes::{Classes, MatchSlot, Role};
use super::context::{Context, KeptSlot, Named, Output, Remembered};
use super::edges::Edges;
use super::emit::{Moment, Part, Sink, announce, label_key};
use super::following::Following;
use super::hashed::{Entries, NONE};
use super::open::{Open, State, TrackSlot};
use super::rooms::StateRooms;
use super::rule::RuleKind;
use super::table::Table;
use super::text::{hash, name_hash};
use super::value::{Texts, ValueSlot};
use crate::error::{Error, Result};
use crate::event::Item;
use crate::event::event::{Event, EventKind};
use crate::event::time::Time;
use crate::event::track::TrackId;
use crate::record::{Class, event_listener};
use core::fmt::Display;
use core::ops::Range;

/// The work so far, and the oddities met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Events that were looked at.
    pub events: u64,
    /// Ends that have no begin though something is open on their track: nothing is shown of them.
    pub stray: u64,
    /// Ends before their begins.
    pub backwards: u64,
    /// The number of open slices that were looked at to find those that end.
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
    pub(super) table: &'r Table<'t, 'r>,
    pub(super) classes: Classes<'r>,
    values: &'r mut [ValueSlot],
    /// The number of the event whose values these are.
    number: u32,
    pub(super) kept: Entries<'r, KeptSlot>,
    pub(super) open: Open<'r>,
    /// The track of the recording, which is above the others, and its clock.
    pub(super) root: Option<(TrackId, bool)>,
    inputs: &'r [&'r str],
    texts: Texts,
    pub(super) output: Output,
    pub(super) counts: Counts,
}

impl core::fmt::Debug for States<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("States").field("counts", &self.counts).finish_non_exhaustive()
    }
}

impl<'r, 't> States<'r, 't> {
    /// States of a table. `inputs` are the names of the source's inputs, for events of which no thread and no processor
    /// is known.
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
            args: rooms.args,
            names: Entries::new(rooms.names),
            count: 0,
            arg_count: 0,
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
            number: 0,
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
        let _ = event.data.tell(event_listener!(&mut learning));
        learning.failed
    }

    /// True if rules for any name may pair events of this class. Only of a trace with such classes is anything to be
    /// [learned](Self::learn).
    pub fn may_learn(&self, class: &dyn Class) -> bool {
        self.classes.may_learn(self.table, class)
    }

    /// Remembers what an event names, and follows no other rule: of events long before the first that is matched. What an
    /// event that begins or ends something says may not hold any more by then, and is not remembered.
    ///
    /// # Errors
    /// `CapacityExceeded`.
    pub fn learn_names(&mut self, event: &Event<'_>) -> Result<()> {
        let (EventKind::Instant, Some(time)) = (event.kind, event.time) else { return Ok(()) };
        let matches = self.capture(event)?;
        let names = matches.clone().all(|at| {
            let rule = self.classes.match_at(at).and_then(|found| self.table.rule_at(found.rule));
            rule.is_some_and(|rule| matches!(rule.kind, RuleKind::Let | RuleKind::Label))
        });
        if names && !matches.is_empty() {
            let stream = u32::try_from(event.track.number()).unwrap_or(NONE);
            self.follow::<Error>(matches, event, time, stream, &mut |_| Ok(()))?;
        }
        Ok(())
    }

    /// The work so far, and the oddities met.
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
                if let Some(of) = self.open.stream_at(stream) {
                    of.last = Some(time.ns());
                }
                if is_taken { Ok(()) } else { to(item) }
            }
            _ => to(item),
        }
    }

    /// Gives out what is open at the end of the trace: ends without a time.
    ///
    /// # Errors
    /// The errors of `to`.
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
        let matches = self.capture(event)?;
        if matches.is_empty() { Ok(false) } else { self.follow(matches, event, time, stream, to) }
    }

    /// Keeps the values that rules name of an event; the range of the rules of its class.
    fn capture(&mut self, event: &Event<'_>) -> Result<Range<u32>> {
        self.counts.events = self.counts.events.saturating_add(1);
        self.number = self.number.wrapping_add(1);
        if self.number <= 1 {
            // Of the event that has this number, too.
            self.values.fill(ValueSlot::EMPTY);
            self.number = 1;
        }
        let mut capture = Capture {
            number: self.number,
            table: self.table,
            classes: &mut self.classes,
            values: self.values,
            texts: &mut self.texts,
            matches: 0..0,
            left: 0,
            failed: Ok(()),
        };
        // A record that cannot be read follows no rule; it is given out as it is.
        let is_readable = event.data.tell(&mut capture).is_ok();
        let matches = capture.matches.clone();
        capture.failed?;
        Ok(if is_readable { matches } else { 0..0 })
    }

    /// Follows rules for the event whose values are kept; true if it begins or ends something.
    fn follow<E: From<Error>>(
        &mut self,
        matches: Range<u32>,
        event: &Event<'_>,
        time: Time,
        stream: u32,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<bool, E> {
        let of = self.open.stream(stream)?;
        if of.packet.is_none() || of.packet != event.data.packet_offset() {
            (of.packet, of.cpu) = (event.data.packet_offset(), event.data.packet_cpu());
        }
        let moment = Moment { event, time, stream, cpu: of.cpu };
        let mut is_taken = false;
        for at in matches {
            let Some(&MatchSlot { rule: number, role, .. }) = self.classes.match_at(at) else { break };
            let table = self.table;
            let Some(rule) = table.rule_at(number) else { break };
            let by = Following { rule, number, at, moment: &moment };
            self.counts.followed = self.counts.followed.saturating_add(1);
            self.output.truncate(0);
            match (rule.kind, role) {
                (RuleKind::State, _) => {
                    is_taken = true;
                    self.state(&by, to)?;
                }
                (RuleKind::Let, _) => self.remember(&by)?,
                (RuleKind::Label, _) => self.label(&by, to)?,
                (RuleKind::Slice, Role::End) => {
                    is_taken = true;
                    self.end(&by, to)?;
                }
                (RuleKind::Slice, _) => {
                    is_taken = true;
                    self.begin(&by, to)?;
                }
            }
        }
        Ok(is_taken)
    }

    /// Evaluates something in the context of an event.
    pub(super) fn with<T>(
        &mut self,
        by: &Following<'_, '_, '_>,
        work: impl FnOnce(&Context<'_, 't, 'r>, &mut Output) -> T,
    ) -> T {
        let Following { at, moment, .. } = *by;
        let input = moment.event.input;
        let stream: &dyn Display = match self.inputs.get(input) {
            Some(name) => name,
            None => &input,
        };
        let context = Context {
            table: self.table,
            values: self.values,
            texts: &self.texts,
            maps: &self.kept,
            number: self.number,
            event: moment.event.name,
            found: self.classes.match_at(at).unwrap_or(&MatchSlot::EMPTY),
            stream,
            cpu: moment.cpu,
        };
        work(&context, &mut self.output)
    }

    /// The track of this name, which is announced if it is new.
    pub(super) fn track<E: From<Error>>(
        &mut self,
        name: Named,
        by: &Following<'_, '_, '_>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<u32, E> {
        let (name_hash, name) = match name {
            Named::Hash(hash) => (hash, None),
            Named::Text(name) => (name_hash(0, self.output.bytes(name.clone())), Some(name)),
        };
        if let Some(known) = self.open.tracks.find(name_hash) {
            return Ok(known);
        }
        let name = name.unwrap_or_else(|| self.track_name(by));
        let name = self.output.get(name);
        let label = self.kept.find(label_key(name_hash)).and_then(|at| self.kept.get(at));
        let label = match label.map(|kept| &kept.0) {
            Some(Remembered::Text(label)) => Some(label.text()),
            _ => None,
        };
        let label_hash = label.map_or(0, |label| hash(0, label));
        let number = self.open.tracks.insert(name_hash, TrackSlot::new(label_hash))?;
        announce(number, name, label, self.root, by.moment, to)?;
        Ok(number)
    }

    /// The name of the track of a rule, which is known to have one.
    pub(super) fn track_name(&mut self, by: &Following<'_, '_, '_>) -> Range<usize> {
        let name = self.with(by, |context, out| context.template(by.rule.track?, out));
        name.unwrap_or_default()
    }
}
