//! The matcher: from events to states and slices.

use super::capture::{Capture, Meet};
use super::classes::Classes;
use super::context::{Context, KeptSlot, Output};
use super::counts::Counts;
use super::edges::Edges;
use super::emit::{Moment, Part, Sink};
use super::hashed::{Entries, NONE};
use super::open::{Open, State};
use super::rooms::StateRooms;
use super::rule::RuleKind;
use super::table::{Rules, Table};
use super::value::{Texts, ValueSlot};
use crate::error::{Error, Result};
use crate::event::Item;
use crate::event::event::{Event, EventKind};
use crate::event::time::Time;
use crate::event::track::TrackId;
use crate::record::{Class, event_listener};
use core::ops::Range;

/// Finds states and slices in events.
///
/// Items of a [`Source`](crate::event::Source) go in, items come out: tracks and events as they are, but for the events
/// that begin or end something. Those become a begin or an end on a track of their own, whose fields are those of the
/// event. See [`Event::slice`].
pub struct States<'r, 't> {
    table: &'r Table<'t, 'r>,
    rules: Rules<'r, 't>,
    classes: Classes<'r>,
    values: &'r mut [ValueSlot],
    /// The number of the event whose values these are.
    number: u32,
    kept: Entries<'r, KeptSlot>,
    /// The number of values that were kept.
    remembered: u64,
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

impl<'r, 't> States<'r, 't> {
    /// States of a table. `inputs` are the names of the source's inputs, for events of which no thread and no processor
    /// is known.
    ///
    /// # Errors
    /// `CapacityExceeded`, of the room for values.
    pub fn new(table: &'r Table<'t, 'r>, inputs: &'r [&'r str], rooms: StateRooms<'r>) -> Result<Self> {
        let names = table.names().len();
        super::hashed::grow(rooms.values, names)?;
        let classes = Classes {
            classes: rooms.classes,
            matches: rooms.matches,
            fields: rooms.fields,
            args: rooms.args,
            names: Entries::new(rooms.names, rooms.names_heads),
            count: 0,
            arg_count: 0,
        };
        let open = Open {
            tracks: Entries::new(rooms.tracks, rooms.tracks_heads),
            slots: rooms.open,
            streams: rooms.streams,
            free: NONE,
            taken: 0,
        };
        Ok(Self {
            table,
            rules: table.at_hand(),
            classes,
            values: rooms.values.slots_mut().get_mut(..names).unwrap_or_default(),
            number: 0,
            kept: Entries::new(rooms.kept, rooms.kept_heads),
            remembered: 0,
            open,
            root: None,
            inputs,
            texts: Texts::EMPTY,
            output: Output::EMPTY,
            counts: Counts::default(),
        })
    }

    /// Learns which events the trace has: all are given here before the first is matched. Rules for any name pair only
    /// what occurs; without this they pair nothing. Returns true if the event is the first of a class that they
    /// [may pair](Self::may_pair): once all such classes were met, there is nothing more to be learned.
    ///
    /// # Errors
    /// `CapacityExceeded`.
    pub fn learn(&mut self, event: &Event<'_>) -> Result<bool> {
        let Self { table, classes, .. } = self;
        let mut done = Ok(false);
        let mut meet = Meet(|class: &dyn Class| {
            if !classes.has_name(class.id().index()) {
                done = classes.learn_name(table, class).map(|()| classes.may_pair(table, class));
            }
        });
        // One that cannot be read does not occur.
        let _ = event.data.tell(event_listener!(&mut meet));
        done
    }

    /// True if rules for any name may pair events of this class. Only of a trace with such classes is anything to be
    /// [learned](Self::learn).
    pub fn may_learn(&self, class: &dyn Class) -> bool {
        self.classes.may_learn(self.table, class)
    }

    /// True if rules for any name look for events of this class, whether or not they are taken by others.
    pub fn may_pair(&self, class: &dyn Class) -> bool {
        self.classes.may_pair(self.table, class)
    }

    /// Remembers what an event names, and follows no other rule: of events long before the first that is matched. What an
    /// event that begins or ends something says may not hold any more by then, and is not remembered.
    ///
    /// # Errors
    /// `CapacityExceeded`.
    pub fn learn_names(&mut self, event: &Event<'_>) -> Result<()> {
        let (EventKind::Instant, Some(time)) = (event.kind, event.time) else { return Ok(()) };
        let matches = self.capture(event)?;
        let found = self.classes.matches.slots().get(matches.clone()).unwrap_or_default();
        let mut rules = found.iter().map(|found| self.rules.rule(found.rule).map(|rule| rule.kind));
        let names = rules.all(|kind| matches!(kind, Some(RuleKind::Let | RuleKind::Label)));
        if names && !matches.is_empty() {
            let stream = u32::try_from(event.track.number()).unwrap_or(NONE);
            let cpu = self.open.stream(stream)?.meet(event);
            self.follow::<Error>(matches, &Moment { event, time, stream, cpu }, &mut |_| Ok(()))?;
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
            Item::Ended(_) => return to(item),
        };
        let stream = u32::try_from(event.track.number()).unwrap_or(NONE);
        match (event.kind, event.time) {
            (EventKind::Gap(_), _) => {
                self.open.stream(stream)?.has_gap = true;
                to(item)
            }
            (EventKind::Instant, Some(time)) => {
                let of = self.open.stream(stream)?;
                let is_lost = core::mem::take(&mut of.has_gap) || event.data.follows_loss();
                let last = of.last.replace(time.ns());
                let cpu = of.meet(event);
                if is_lost {
                    self.lose(event, stream, last, to)?;
                }
                let matches = self.capture(event)?;
                let moment = Moment { event, time, stream, cpu };
                let is_taken = !matches.is_empty() && self.follow(matches, &moment, to)?;
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
                let edges = Edges::OPEN_END.with(self.open.edges(&slot, slot.begun.ns()));
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
        last: Option<i128>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let of = self.open.stream(stream)?;
        of.losses = of.losses.saturating_add(1);
        let Some(last) = last else { return Ok(()) };
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

    /// Keeps the values that rules name of an event; the range of the rules of its class.
    fn capture(&mut self, event: &Event<'_>) -> Result<Range<usize>> {
        self.counts.events = self.counts.events.saturating_add(1);
        self.number = self.number.wrapping_add(1);
        if self.number <= 1 {
            // Of the event that has this number, too.
            self.values.fill(ValueSlot::EMPTY);
            self.number = 1;
        }
        // Once more if its class was not known.
        for _ in 0..2 {
            let mut capture = Capture {
                classes: self.classes.classes.slots(),
                fields: self.classes.fields.slots(),
                number: self.number,
                values: self.values,
                texts: &mut self.texts,
                matches: Some(0..0),
                left: 0,
            };
            // A record that cannot be read follows no rule; it is given out as it is.
            let is_readable = event.data.tell(&mut capture).is_ok();
            match capture.matches {
                Some(Range { start, end }) if is_readable => {
                    return Ok(usize::try_from(start).unwrap_or(0)..usize::try_from(end).unwrap_or(0));
                }
                None if is_readable => self.meet(event)?,
                _ => break,
            }
        }
        Ok(0..0)
    }

    /// Learns the class of an event.
    #[cold]
    fn meet(&mut self, event: &Event<'_>) -> Result<()> {
        let Self { table, classes, .. } = self;
        let mut done = Ok(());
        let mut meet = Meet(|class: &dyn Class| done = classes.learn(table, class));
        // It has been read just now.
        let _ = event.data.tell(event_listener!(&mut meet));
        done
    }

    /// Follows rules for the event whose values are kept; true if it begins or ends something.
    fn follow<E: From<Error>>(
        &mut self,
        matches: Range<usize>,
        moment: &Moment<'_, '_>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<bool, E> {
        let mut context = Context {
            rules: self.rules,
            values: self.values,
            texts: &self.texts,
            number: self.number,
            args: self.classes.args.slots(),
            maps: &mut self.kept,
            remembered: &mut self.remembered,
            open: &mut self.open,
            output: &mut self.output,
            counts: &mut self.counts,
            root: self.root,
            inputs: self.inputs,
            moment,
            written: None,
        };
        context.written = context.processor_as_written();
        let mut is_taken = false;
        for found in self.classes.matches.slots().get(matches).unwrap_or_default() {
            let Some(rule) = self.rules.rule(found.rule) else { break };
            context.counts.followed = context.counts.followed.saturating_add(1);
            context.output.truncate(0);
            is_taken |= context.follow(found, rule, to)?;
        }
        Ok(is_taken)
    }
}
