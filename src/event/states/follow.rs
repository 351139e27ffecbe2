//! The effects of rules on an event.

use super::context::{Kept, KeptSlot, Output, Piece, Remembered};
use super::edges::Edges;
use super::emit::{Part, Sink, announce, label_key};
use super::following::Following;
use super::hashed::{Entries, NONE};
use super::matcher::States;
use super::op::Op;
use super::open::{OpenSlot, State};
use super::text::hash;
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
    /// The processor.
    cpu: Option<u64>,
}

impl<'t> States<'_, 't> {
    /// Sets the state of a track.
    pub(super) fn state<E: From<Error>>(
        &mut self,
        by: &Following<'_, '_, '_>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let Following { rule, moment, .. } = *by;
        let evaluated = self.with(by, |context, out| {
            if context.holds(rule.skip, out) {
                return None;
            }
            let track = context.named(&context.found.track, rule.track?, out)?;
            let value = if context.holds(rule.none, out) {
                Piece::Text("")
            } else {
                context.piece(rule.value?, out)?
            };
            Some((track, value, if context.found.has_cpu { context.processor() } else { None }))
        });
        let Some((track, value, cpu)) = evaluated else { return Ok(()) };
        let value_hash = match value.bytes(&self.output) {
            [] => None,
            bytes => Some(hash(0, bytes)),
        };
        let number = self.track(track, by, to)?;
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
        let was = match rule.was.filter(|_| is_new) {
            Some(was) => self.with(by, |context, out| {
                if context.holds(rule.was_none, out) { None } else { context.template(was, out) }
            }),
            None => None,
        };
        if let Some(was) = was.filter(|was| !was.is_empty()) {
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
            let args = Part { args: self.classes.args_of(by.at), cpu };
            moment.begin(number, value.text(&self.output), Edges::NONE, args, to)?;
        }
        self.open.set_state(number, now);
        self.open.feed(number, moment.stream);
        Ok(())
    }

    /// Remembers a value.
    pub(super) fn remember(&mut self, by: &Following<'_, '_, '_>) -> Result<()> {
        let rule = by.rule;
        let evaluated = self.with(by, |context, out| {
            let key = context.hash(&context.found.key_plan, rule.map, rule.key?, out)?;
            Some(match context.number(context.found.value) {
                Some(number) => (key, Err(number)),
                None => (key, Ok(context.template(rule.value?, out)?)),
            })
        });
        match evaluated {
            None => Ok(()),
            Some((key, Err(number))) => keep(&mut self.kept, key, Remembered::Number(number)),
            Some((key, Ok(text))) => keep_text(&mut self.kept, key, &self.output, text),
        }
    }

    /// Names a track.
    pub(super) fn label<E: From<Error>>(
        &mut self,
        by: &Following<'_, '_, '_>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let Following { rule, moment, .. } = *by;
        let evaluated = self.with(by, |context, out| {
            let track = context.hash(&context.found.track, 0, rule.track?, out)?;
            Some((track, context.template(rule.value?, out)?))
        });
        let Some((track_hash, label)) = evaluated else { return Ok(()) };
        let Some(number) = self.open.tracks.find(track_hash) else {
            // Until it has a track.
            return Ok(keep_text(&mut self.kept, label_key(track_hash), &self.output, label)?);
        };
        let label_hash = hash(0, self.output.bytes(label.clone()));
        let Some(slot) = self.open.tracks.get_mut(number) else { return Ok(()) };
        if core::mem::replace(&mut slot.label, label_hash) == label_hash {
            return Ok(());
        }
        let track = self.track_name(by);
        let (track, label) = (self.output.get(track), self.output.get(label));
        announce(number, track, Some(label), self.root, moment, to)
    }

    /// The place of a slice; `None` if a template of it has no value.
    fn place_of<E: From<Error>>(
        &mut self,
        by: &Following<'_, '_, '_>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<Option<Spot>, E> {
        let rule = by.rule;
        let evaluated = self.with(by, |context, out| {
            let track = context.named(&context.found.track, rule.track?, out)?;
            let key = match rule.key {
                Some(key) => context.hash(&context.found.key_plan, context.found.what, key, out)?,
                None => context.found.what,
            };
            Some((
                track,
                key,
                key == context.found.what,
                if context.found.has_cpu { context.processor() } else { None },
            ))
        });
        let Some((track, key, is_keyless, cpu)) = evaluated else { return Ok(None) };
        let number = self.track(track, by, to)?;
        Ok(Some(Spot { track: number, key, is_keyless, cpu }))
    }

    /// Begins a slice.
    pub(super) fn begin<E: From<Error>>(
        &mut self,
        by: &Following<'_, '_, '_>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let Following { rule, moment, .. } = *by;
        let Some(Spot { track, key, is_keyless, cpu }) = self.place_of(by, to)? else { return Ok(()) };
        if rule.one {
            while let Some(slot) = self.open.pop(track) {
                let edges = Edges::END_MISSING.with(self.open.edges(&slot, moment.time.ns()));
                moment.end_at(track, slot.begun, edges, to)?;
            }
        }
        let begun = moment.time.ns();
        let slot =
            OpenSlot { rule: by.number, key, begun, stream: moment.stream, is_keyless, ..OpenSlot::EMPTY };
        self.open.push(track, slot)?;
        if is_keyless {
            self.open.feed(track, moment.stream);
        }
        let name = self.name(by);
        let args = Part { args: self.classes.args_of(by.at), cpu };
        moment.begin(track, name.text(&self.output).trim_ascii(), Edges::NONE, args, to)
    }

    /// The name of a slice.
    fn name(&mut self, by: &Following<'_, '_, '_>) -> Piece<'t> {
        self.with(by, |context, out| {
            by.rule.value.and_then(|name| context.piece(name, out)).unwrap_or(Piece::Text("?"))
        })
    }

    /// Ends a slice.
    pub(super) fn end<E: From<Error>>(
        &mut self,
        by: &Following<'_, '_, '_>,
        to: &mut Sink<'_, E>,
    ) -> core::result::Result<(), E> {
        let Following { rule, moment, .. } = *by;
        let Some(Spot { track, key, is_keyless, cpu }) = self.place_of(by, to)? else { return Ok(()) };
        let ns = moment.time.ns();
        let top = self.open.tracks.get(track).map_or(NONE, |slot| slot.top);
        let any_key = rule.key_optional && is_keyless;
        let (mut at, mut above) = (top, 0);
        while let Some(slot) = self.open.slot(at).filter(|_| above < SEARCH_MAX) {
            self.counts.compared = self.counts.compared.saturating_add(1);
            if slot.rule == by.number && (any_key || slot.key == key || rule.key_optional && slot.is_keyless)
            {
                break;
            }
            (at, above) = (slot.below, above.saturating_add(1));
        }
        if self.open.slot(at).is_some() && above < SEARCH_MAX {
            for _ in 0..above {
                let Some(slot) = self.open.pop(track) else { break };
                let edges = Edges::END_MISSING.with(self.open.edges(&slot, ns));
                moment.end_at(track, slot.begun, edges, to)?;
            }
            let Some(slot) = self.open.pop(track) else { return Ok(()) };
            let edges = self.open.edges(&slot, ns);
            self.counts.backwards = self.counts.backwards.saturating_add(edges.has(Edges::BACKWARDS).into());
            let args = Part { args: self.classes.args_of(by.at), cpu };
            return moment.end_with(track, slot.begun, edges, args, to);
        }
        if top != NONE {
            self.counts.stray = self.counts.stray.saturating_add(1);
            return Ok(());
        }
        let lost = self.open.stream(moment.stream)?.losses > 0;
        let edges = if lost { Edges::BEGIN_LOST } else { Edges::OPEN_START };
        let name = self.name(by);
        moment.begin(track, name.text(&self.output).trim_ascii(), edges, Part::EMPTY, to)?;
        let args = Part { args: self.classes.args_of(by.at), cpu };
        moment.end_with(track, ns, Edges::NONE, args, to)
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
