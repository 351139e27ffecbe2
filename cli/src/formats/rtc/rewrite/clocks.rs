//! The clocks of a session, as far as a unit needs those before it.

use std::collections::HashMap;

/// The clocks of a session.
#[derive(Default)]
pub struct Clocks {
    /// By their slots, the first unit that is needed to tell the time, and whether it is counted from another clock.
    known: HashMap<usize, (usize, bool)>,
    /// By their slots, when a stamp was looked at last: in which unit, and in which state of the clocks. Another one
    /// changes nothing.
    seen: Vec<Option<(usize, u64)>>,
    state: u64,
}

impl Clocks {
    /// A stamp in a unit.
    #[inline]
    pub fn stamp(&mut self, slot: usize, unit: usize, is_delta: impl FnOnce() -> bool) {
        if self.seen.get(slot) != Some(&Some((unit, self.state))) {
            self.note(slot, unit, is_delta);
        }
    }

    fn note(&mut self, slot: usize, unit: usize, is_delta: impl FnOnce() -> bool) {
        let known = self.known.get(&slot).copied();
        // Reading it from the object takes far longer than all else.
        let is_delta = known.map_or_else(is_delta, |(_, is_delta)| is_delta);
        let bases = self.known.values().filter(|(_, is_delta)| !is_delta).map(|(unit, _)| *unit);
        let first = if is_delta { bases.min().unwrap_or(unit).min(unit) } else { unit };
        self.known.insert(slot, (first, is_delta));
        if !is_delta && known != Some((first, is_delta)) {
            self.state = self.state.saturating_add(1);
        }
        if self.seen.len() <= slot {
            self.seen.resize(slot.saturating_add(1), None);
        }
        let state = self.state;
        self.seen.get_mut(slot).into_iter().for_each(|seen| *seen = Some((unit, state)));
    }

    /// The first unit that is needed to tell the time by all of them.
    pub fn first(&self) -> Option<usize> {
        self.known.values().map(|(unit, _)| *unit).min()
    }

    pub fn clear(&mut self) {
        self.known.clear();
        self.state = self.state.saturating_add(1);
    }
}
