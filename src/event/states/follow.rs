//! The effects of rules on an event.

use super::classes::{MatchSlot, Role};
use super::context::{Context, Kept, KeptSlot, Named, Output, Piece, Remembered};
use super::edges::Edges;
use super::emit::{Part, Sink, announce, label_key};
use super::hashed::{Entries, NONE};
use super::op::Op;
use super::open::{OpenSlot, Since, State, TrackSlot};
use super::rule::{Rule, RuleKind};
use super::text::{hash, name_hash};
use crate::error::{Error, Result};
use core::ops::Range;

/// The deepest level of a stack at which the begin of an end is looked for.
const SEARCH_MAX: usize = 512;

/// The place of a slice.
struct Spot {
    track: u32,
    /// The hash of its key.
    key: u64,
    is_keyless: bool,
}

impl<'t> Context<'_, '_, '_, 't> {
    /// Follows a rule; true if it begins or ends something.
    pub(super) fn follow<E: From<Error>>(
        &mut self,
        found: &MatchSlot,
        rule: &Rule<'t>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<bool, E> {
        match (rule.kind, found.role) {
            (RuleKind::State, _) => self.state(found, rule, to)?,
            (RuleKind::Let, _) => {
                self.remember(found, rule)?;
                return Ok(false);
            }
            (RuleKind::Label, _) => {
                self.label(found, rule, to)?;
                return Ok(false);
            }
            (RuleKind::Slice, Role::End) => self.end(found, rule, to)?,
            (RuleKind::Slice, _) => self.begin(found, rule, to)?,
        }
        Ok(true)
    }

    /// The track of this name, which is announced if it is new.
    fn track<E: From<Error>>(
        &mut self,
        name: Named,
        found: &MatchSlot,
        rule: &Rule<'t>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<u32, E> {
        let (name_hash, name) = match name {
            Named::Hash(hash) => (hash, None),
            Named::Text(name) => (name_hash(0, self.output.bytes(name.clone())), Some(name)),
        };
        match self.open.tracks.find(name_hash) {
            Some(known) => Ok(known),
            None => self.new_track(name_hash, name, found, rule, to),
        }
    }

    #[cold]
    fn new_track<E: From<Error>>(
        &mut self,
        name_hash: u64,
        name: Option<Range<usize>>,
        found: &MatchSlot,
        rule: &Rule<'t>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<u32, E> {
        let name = name.unwrap_or_else(|| self.track_name(found, rule));
        let label = self.maps.find(label_key(name_hash)).and_then(|at| self.maps.get(at));
        let label = match label.map(|kept| &kept.0) {
            Some(Remembered::Text(label)) => Some(label.text()),
            _ => None,
        };
        let label_hash = label.map_or(0, |label| hash(0, label));
        let number = self.open.tracks.insert(name_hash, TrackSlot::new(label_hash))?;
        announce(number, self.output.get(name), label, self.root, self.moment, to)?;
        Ok(number)
    }

    /// The name of the track of a rule, which is known to have one.
    fn track_name(&mut self, found: &MatchSlot, rule: &Rule<'t>) -> Range<usize> {
        rule.track.and_then(|track| self.template(found, track)).unwrap_or_default()
    }

    /// The arguments of the event as the rule has them.
    fn part(&self, found: &MatchSlot) -> Part<'_> {
        let cpu = if found.has_cpu { self.processor() } else { None };
        Part { args: found.args(self.args), cpu }
    }

    /// Sets the state of a track.
    fn state<E: From<Error>>(
        &mut self,
        found: &MatchSlot,
        rule: &Rule<'t>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let moment = self.moment;
        if self.holds(found, found.skip, rule.skip) {
            return Ok(());
        }
        let Some(track) = rule.track.and_then(|track| self.named(found, track)) else { return Ok(()) };
        let value = if self.holds(found, found.none, rule.none) {
            Piece::Text("")
        } else {
            let Some(value) = rule.value.and_then(|value| self.piece(found, value)) else { return Ok(()) };
            value
        };
        let value_hash = match value.bytes(self.output) {
            [] => None,
            bytes => Some(hash(0, bytes)),
        };
        let number = self.track(track, found, rule, to)?;
        let Some(slot) = self.open.tracks.get(number) else { return Ok(()) };
        let mut state = slot.state;
        let is_new = state == State::Unknown;
        if let State::Value(now, _) = state
            && self
                .rules
                .range(rule.keep)
                .iter()
                .any(|kept| matches!(kept.0, Op::Hash(hash) if hash.to_ne_bytes() == now))
        {
            return Ok(());
        }
        let ns = moment.time.ns();
        let was = match rule.was.filter(|_| is_new) {
            Some(was) if !self.text_holds(found, rule.was_none) => self.template(found, was),
            _ => None,
        };
        if let Some(was) = was.filter(|was| !was.is_empty()) {
            let was = self.output.get(was);
            moment.begin(number, was, Edges::OPEN_START, Part::EMPTY, to)?;
            state = State::value(hash(0, was), ns);
        }
        let now = match (state, value_hash) {
            (State::Value(before, _), Some(now)) if before == now.to_ne_bytes() => {
                // Of one that had begun before, the time is that of the event that tells so.
                self.open.set_state(number, state);
                if is_new {
                    self.open.feed(number, moment.stream);
                }
                return Ok(());
            }
            (State::Value(_, since), now) => {
                let since = since.ns();
                let is_backwards = ns < since;
                self.counts.backwards = self.counts.backwards.saturating_add(is_backwards.into());
                let edges = if is_backwards { Edges::BACKWARDS } else { Edges::NONE };
                moment.end_at(number, since, edges, to)?;
                now.map_or(State::None, |now| State::value(now, ns))
            }
            (_, now) => now.map_or(State::None, |now| State::value(now, ns)),
        };
        if matches!(now, State::Value(..)) {
            moment.begin(number, value.text(self.output), Edges::NONE, self.part(found), to)?;
        }
        self.open.hold(number, now, moment.stream);
        Ok(())
    }

    /// Remembers a value.
    fn remember(&mut self, found: &MatchSlot, rule: &Rule<'t>) -> Result<()> {
        let key = rule.key.and_then(|key| self.hash(found, &found.key_plan, rule.map, key));
        let Some(key) = key else { return Ok(()) };
        *self.remembered = self.remembered.wrapping_add(1);
        if let Some(number) = self.number(found.value) {
            return keep(self.maps, key, Remembered::Number(number));
        }
        match rule.value.and_then(|value| self.template(found, value)) {
            Some(text) => keep_text(self.maps, key, self.output, text),
            None => Ok(()),
        }
    }

    /// Names a track.
    fn label<E: From<Error>>(
        &mut self,
        found: &MatchSlot,
        rule: &Rule<'t>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let track = rule.track.and_then(|track| self.hash(found, &found.track, 0, track));
        let Some(track_hash) = track else { return Ok(()) };
        let Some(label) = rule.value.and_then(|label| self.template(found, label)) else { return Ok(()) };
        let Some(number) = self.open.tracks.find(track_hash) else {
            // Until it has a track.
            return Ok(keep_text(self.maps, label_key(track_hash), self.output, label)?);
        };
        let label_hash = hash(0, self.output.bytes(label.clone()));
        let Some(slot) = self.open.tracks.get_mut(number) else { return Ok(()) };
        if core::mem::replace(&mut slot.label, label_hash) == label_hash {
            return Ok(());
        }
        let track = self.track_name(found, rule);
        let (track, label) = (self.output.get(track), self.output.get(label));
        announce(number, track, Some(label), self.root, self.moment, to)
    }

    /// The place of a slice; `None` if a template of it has no value.
    fn place_of<E: From<Error>>(
        &mut self,
        found: &MatchSlot,
        rule: &Rule<'t>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<Option<Spot>, E> {
        let Some(track) = rule.track.and_then(|track| self.named(found, track)) else { return Ok(None) };
        let key = match rule.key {
            Some(key) => self.hash(found, &found.key_plan, found.what, key),
            None => Some(found.what),
        };
        let Some(key) = key else { return Ok(None) };
        let track = self.track(track, found, rule, to)?;
        Ok(Some(Spot { track, key, is_keyless: key == found.what }))
    }

    /// Begins a slice.
    fn begin<E: From<Error>>(
        &mut self,
        found: &MatchSlot,
        rule: &Rule<'t>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let moment = self.moment;
        let Some(Spot { track, key, is_keyless }) = self.place_of(found, rule, to)? else { return Ok(()) };
        if rule.one {
            while let Some(slot) = self.open.pop(track) {
                let edges = Edges::END_MISSING.with(self.open.edges(&slot, moment.time.ns()));
                moment.end_at(track, slot.begun.ns(), edges, to)?;
            }
        }
        let (begun, stream) = (Since::new(moment.time.ns()), moment.stream);
        let slot = OpenSlot { rule: found.rule, key, begun, stream, is_keyless, ..OpenSlot::EMPTY };
        self.open.push(track, slot)?;
        if is_keyless {
            self.open.feed(track, moment.stream);
        }
        let name = self.name(found, rule);
        moment.begin(track, name.text(self.output).trim_ascii(), Edges::NONE, self.part(found), to)
    }

    /// The name of a slice.
    fn name(&mut self, found: &MatchSlot, rule: &Rule<'t>) -> Piece<'t> {
        rule.value.and_then(|name| self.piece(found, name)).unwrap_or(Piece::Text("?"))
    }

    /// Ends a slice.
    fn end<E: From<Error>>(
        &mut self,
        found: &MatchSlot,
        rule: &Rule<'t>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let moment = self.moment;
        let Some(Spot { track, key, is_keyless }) = self.place_of(found, rule, to)? else { return Ok(()) };
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
        if self.open.slot(at).is_some() && above < SEARCH_MAX {
            for _ in 0..above {
                let Some(slot) = self.open.pop(track) else { break };
                let edges = Edges::END_MISSING.with(self.open.edges(&slot, ns));
                moment.end_at(track, slot.begun.ns(), edges, to)?;
            }
            let Some(slot) = self.open.pop(track) else { return Ok(()) };
            let edges = self.open.edges(&slot, ns);
            self.counts.backwards = self.counts.backwards.saturating_add(edges.has(Edges::BACKWARDS).into());
            return moment.end_with(track, slot.begun.ns(), edges, self.part(found), to);
        }
        if top != NONE {
            self.counts.stray = self.counts.stray.saturating_add(1);
            return Ok(());
        }
        let lost = self.open.stream(moment.stream)?.losses > 0;
        let edges = if lost { Edges::BEGIN_LOST } else { Edges::OPEN_START };
        let name = self.name(found, rule);
        moment.begin(track, name.text(self.output).trim_ascii(), edges, Part::EMPTY, to)?;
        moment.end_with(track, ns, Edges::NONE, self.part(found), to)
    }
}

/// Keeps a text. A long one is cut.
fn keep_text(kept: &mut Entries<'_, KeptSlot>, key: u64, from: &Output, text: Range<usize>) -> Result<()> {
    let known = kept.find(key).and_then(|at| kept.get(at));
    if known.is_some_and(
        |known| matches!(&known.0, Remembered::Text(known) if known.all() == from.bytes(text.clone())),
    ) {
        return Ok(());
    }
    let mut now = Kept::EMPTY;
    now.push_piece(from, text);
    keep(kept, key, Remembered::Text(now))
}

fn keep(kept: &mut Entries<'_, KeptSlot>, key: u64, now: Remembered) -> Result<()> {
    match kept.find(key).and_then(|at| kept.get_mut(at)) {
        Some(known) => known.0 = now,
        None => drop(kept.insert(key, KeptSlot(now))?),
    }
    Ok(())
}
