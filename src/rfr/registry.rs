//! The meanings of instrumentation ids: the tasks and spans of a recording, from one beginning to the next.

use super::element::NAMES;
use super::kind::RecordKind;
use super::life::{Identity, Known, Life, Space, ViewId, mix};
use super::slot::{NIL, RegistrySlot, Roots, head};
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::room::Room;
use core::marker::PhantomData;

/// The tasks, spans and sequences of a recording that have been met, in room that the caller lends.
///
/// It borrows nothing from the input: one can follow a recording whose files are opened one after the other. It needs
/// a slot for each task and span that lives, and for each sequence; those that were dropped are forgotten some chunks
/// later.
#[derive(Debug)]
pub struct Registry<R, T = ()> {
    room: R,
    /// Digital search trees: at depth d, bit d of the mixed key decides. No tree is deeper than 64, whatever the ids are.
    ///
    /// There is one for each space but that of objects, of which there are many: these have one for each value of their
    /// keys' first bits, about as many as there are slots in use.
    roots: Roots,
    /// The number of slots that have ever been used; those after them are free, too.
    used: usize,
    free: usize,
    count: u64,
    /// The number that were left when some were last forgotten.
    kept: u64,
    /// The number of numbers that have been given.
    numbers: u64,
    epoch: u64,
    /// The number of rooms of views so far.
    generation: u64,
    /// The view of a life that ended, to be freed.
    freed: Option<ViewId>,
    /// The numbers of the lives that ended last.
    ended: [Option<u64>; 2],
    /// The next slot that may have something to forget.
    next_stale: usize,
    /// The key of an object that was found last, and its slot: most ids are looked up more than once.
    recent: (u64, usize),
    slot: PhantomData<RegistrySlot<T>>,
}

impl<R, T> Registry<R, T> {
    /// One in which nothing is known.
    pub const fn new(room: R) -> Self {
        Self {
            room,
            roots: Roots::NONE,
            used: 0,
            free: NIL,
            count: 0,
            kept: 0,
            numbers: 0,
            epoch: 0,
            generation: 0,
            freed: None,
            ended: [None; 2],
            next_stale: NIL,
            recent: (0, NIL),
            slot: PhantomData,
        }
    }

    /// The number of tasks, spans and sequences that it holds.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// A number that no life has.
    pub(crate) const fn new_number(&mut self) -> u64 {
        let number = self.numbers;
        self.numbers = number.saturating_add(1);
        number
    }

    /// True before the first number is given.
    #[cfg(feature = "event")]
    pub(crate) const fn is_new(&self) -> bool {
        self.numbers == 0
    }

    /// A number for a new room of views: those of the rooms before it mean nothing any more.
    pub(super) const fn new_generation(&mut self) -> u64 {
        self.generation = self.generation.saturating_add(1);
        self.generation
    }

    /// The number of a life that ended, if there is one since this was asked last.
    #[cfg(feature = "event")]
    pub(super) fn take_ended(&mut self) -> Option<u64> {
        self.ended.iter_mut().find_map(Option::take)
    }

    /// Notes the end of a life. There are no more than two at a time.
    fn note_end(&mut self, life: Life) {
        if let Some(room) = self.ended.iter_mut().find(|room| room.is_none()) {
            *room = Some(life.number);
        }
    }

    /// The view that nothing refers to any more, if there is one since this was asked last.
    pub(super) const fn take_freed(&mut self) -> Option<ViewId> {
        self.freed.take()
    }
}

impl<T: Copy + Default, R: Room<RegistrySlot<T>>> Registry<R, T> {
    /// Forgets everything but the room.
    pub(super) fn clear(&mut self) {
        (self.roots, self.used, self.free) = (Roots::NONE, 0, NIL);
        (self.count, self.kept, self.freed) = (0, 0, None);
        (self.ended, self.next_stale, self.recent) = ([None; 2], NIL, (0, NIL));
    }

    /// The slot at which the way to a key begins, and the bits that decide from there on.
    #[inline(always)]
    fn root(&self, space: Space, key: u64) -> (usize, u64) {
        match space {
            Space::Objects => self.roots.bits.map_or((NIL, key), |bits| {
                let (at, bits) = head(key, bits);
                (self.room.slots().get(at).map_or(NIL, |slot| slot.head), bits)
            }),
            Space::Sequences => (self.roots.sequences, key),
            Space::Callsites => (self.roots.callsites, key),
        }
    }

    /// Lets the objects have one head more for each that they have, if slots are in use for these; all are entered anew.
    fn add_heads(&mut self) {
        let bits = self.roots.bits.map_or(0, |bits| bits.saturating_add(1));
        let count = 1_usize.checked_shl(bits).unwrap_or(NIL);
        if count > self.used.min(self.room.slots().len()) {
            return;
        }
        self.roots.bits = Some(bits);
        for slot in self.room.slots_mut().iter_mut().take(count) {
            slot.head = NIL;
        }
        let is_object = |slot: &RegistrySlot<T>| matches!(slot.known, Some((Space::Objects, _)));
        for slot in self.room.slots_mut().iter_mut().take(self.used).filter(|slot| is_object(slot)) {
            (slot.left, slot.right) = (NIL, NIL);
        }
        for at in 0..self.used {
            if let Some(slot) = self.room.slots().get(at).filter(|slot| is_object(slot)) {
                let key = slot.key;
                let (_, above) = self.find_key(Space::Objects, key);
                self.link(Space::Objects, key, above, at);
            }
        }
    }

    /// Leads to a slot from the one above it, or from where the way to its key begins.
    fn link(&mut self, space: Space, key: u64, above: Option<(usize, bool)>, slot: usize) {
        match above {
            Some((above, side)) => {
                if let Some(above) = self.room.slots_mut().get_mut(above) {
                    *(if side { &mut above.right } else { &mut above.left }) = slot;
                }
            }
            None => match space {
                Space::Objects => {
                    let at = self.roots.bits.map_or(NIL, |bits| head(key, bits).0);
                    if let Some(first) = self.room.slots_mut().get_mut(at) {
                        first.head = slot;
                    }
                }
                Space::Sequences => self.roots.sequences = slot,
                Space::Callsites => self.roots.callsites = slot,
            },
        }
    }

    /// The slot of a key, or `NIL`; and the slot and the side that lead there.
    #[inline]
    fn find(&self, space: Space, id: u64) -> (usize, Option<(usize, bool)>) {
        self.find_key(space, mix(id))
    }

    #[inline]
    fn find_key(&self, space: Space, key: u64) -> (usize, Option<(usize, bool)>) {
        let ((mut at, mut bits), mut above) = (self.root(space, key), None);
        while let Some(slot) = self.room.slots().get(at) {
            if slot.key == key {
                return (at, above);
            }
            let side = bits >> 63 != 0;
            bits <<= 1;
            above = Some((at, side));
            at = slot.below(side);
        }
        (NIL, above)
    }

    /// The slot of a key, or `NIL`.
    #[inline]
    fn place(&self, space: Space, id: u64) -> usize {
        match self.recent {
            (key, at) if at != NIL && key == mix(id) && space == Space::Objects => at,
            _ => self.find(space, id).0,
        }
    }

    /// The entry with this id.
    #[inline]
    pub(crate) fn peek(&self, space: Space, id: u64) -> Option<&Known<T>> {
        let at = self.place(space, id);
        self.room.slots().get(at)?.known.as_ref().map(|(_, known)| known)
    }

    /// The same, which is not forgotten in the next chunks.
    pub(crate) fn get(&mut self, space: Space, id: u64) -> Option<&mut Known<T>> {
        let at = self.place(space, id);
        if space == Space::Objects {
            self.recent = (mix(id), at);
        }
        let epoch = self.epoch;
        let (_, known) = self.room.slots_mut().get_mut(at)?.known.as_mut()?;
        known.epoch = epoch;
        Some(known)
    }

    /// Adds what is not known yet, and returns its number.
    ///
    /// # Errors
    /// `CapacityExceeded`.
    pub(crate) fn add(
        &mut self,
        space: Space,
        id: u64,
        identity: Option<Identity>,
        offset: u64,
    ) -> Result<u64> {
        let at = self.take_slot(offset)?;
        if let Some(slot) = self.room.slots_mut().get_mut(at) {
            slot.known = None; // The room may have been lent before.
        }
        self.add_heads();
        let (_, above) = self.find(space, id);
        let number = if space == Space::Callsites { 0 } else { self.new_number() };
        let known = Known { epoch: self.epoch, ..Known::new(self.life(number, identity)) };
        if let Some(slot) = self.room.slots_mut().get_mut(at) {
            let key = mix(id);
            *slot = RegistrySlot { key, known: Some((space, known)), head: slot.head, ..RegistrySlot::EMPTY };
        }
        self.link(space, mix(id), above, at);
        self.count = self.count.saturating_add(1);
        Ok(number)
    }

    fn take_slot(&mut self, offset: u64) -> Result<usize> {
        if let Some(slot) = self.room.slots().get(self.free) {
            let at = self.free;
            self.free = slot.left;
            return Ok(at);
        }
        let at = self.used;
        let needed = at.saturating_add(1);
        if at >= self.room.slots().len() && !(self.room.grow(needed) && at < self.room.slots().len()) {
            let (capacity, needed) = (to_u64(self.room.slots().len()), to_u64(needed));
            return Err(Error::new(offset, NAMES, ErrorKind::CapacityExceeded { capacity, needed }));
        }
        self.used = needed;
        Ok(at)
    }

    /// Records an object. Returns the number of its life, if that is to be announced, and where its view is kept; no
    /// place if it is one too many.
    ///
    /// # Errors
    /// `CapacityExceeded`.
    pub(super) fn meet(
        &mut self,
        iid: u64,
        identity: Identity,
        offset: u64,
    ) -> Result<(Option<u64>, Option<&mut Option<ViewId>>)> {
        let mut number = None;
        match self.get(Space::Objects, iid) {
            None => number = Some(self.add(Space::Objects, iid, Some(identity), offset)?),
            Some(known) if known.life.identity.is_none() => {
                known.life.identity = Some(identity);
                number = Some(known.life.number);
            }
            Some(known) if known.life.identity == Some(identity) || known.successor.is_some() => {}
            Some(known) => {
                let is_over = known.is_dropped;
                let life = self.new_number();
                number = Some(life);
                let life = self.life(life, Some(identity));
                if let Some(known) = self.get(Space::Objects, iid) {
                    known.successor = Some(life);
                }
                if is_over {
                    self.succeed(iid);
                }
            }
        }
        let epoch = self.epoch;
        let life = self.get(Space::Objects, iid).and_then(|known| {
            let lives = [known.successor.as_mut(), Some(&mut known.life)];
            lives.into_iter().flatten().find(|life| life.identity == Some(identity))
        });
        let life = life.map(|life| {
            life.described = epoch;
            &mut life.view
        });
        Ok((number, life))
    }

    const fn life(&self, number: u64, identity: Option<Identity>) -> Life {
        Life { number, identity, view: None, described: self.epoch }
    }

    /// Ends a life of which the end was not recorded: a chunk that has the object of the next one, and not its own.
    #[cfg(feature = "event")]
    pub(crate) fn end_unseen(&mut self, iid: u64) {
        let known = self.peek(Space::Objects, iid);
        let next = known.and_then(|known| known.successor.map(|next| next.described > known.life.described));
        if next == Some(true) {
            self.succeed(iid);
        }
    }

    /// Records what a record says of when a life begins: a `NewTask` begins one, and a poll after the task was dropped
    /// is of another one, as is what is entered after the span was closed. Returns the number of the life, if no object
    /// describes it; then this is to be called again.
    #[inline]
    pub(crate) fn begin(&mut self, kind: RecordKind, iid: u64) -> Option<u64> {
        match kind {
            RecordKind::NewTask | RecordKind::TaskPollStart | RecordKind::SpanNew | RecordKind::SpanEnter => {
                self.begin_life(kind, iid)
            }
            _ => None,
        }
    }

    fn begin_life(&mut self, kind: RecordKind, iid: u64) -> Option<u64> {
        let known = self.get(Space::Objects, iid)?;
        if kind != RecordKind::NewTask && !known.is_dropped {
            return None;
        }
        let is_next = known.is_born || known.is_dropped;
        if !is_next || self.succeed(iid) {
            self.get(Space::Objects, iid)?.is_born = true;
            return None;
        }
        let number = self.new_number();
        let known = self.get(Space::Objects, iid)?;
        let life = Life { number, identity: None, view: None, described: 0 };
        let ended = known.life;
        *known = Known { epoch: known.epoch, ..Known::new(life) };
        self.freed = ended.view;
        self.note_end(ended);
        Some(number)
    }

    /// Records what a record says of when a life ends; returns whether it says so.
    #[inline]
    pub(crate) fn end(&mut self, kind: RecordKind, iid: u64) -> bool {
        let ends = kind.is_end_of_life();
        if ends && let Some(known) = self.get(Space::Objects, iid) {
            known.is_dropped = true;
        }
        ends
    }

    /// Replaces a life by the one that waits for its end, if there is one.
    pub(super) fn succeed(&mut self, iid: u64) -> bool {
        let Some(known) = self.get(Space::Objects, iid) else { return false };
        let Some(life) = known.successor else { return false };
        let ended = known.life;
        *known = Known { epoch: known.epoch, ..Known::new(life) };
        self.freed = ended.view;
        self.note_end(ended);
        true
    }

    /// Lets what was dropped and has not been met lately be [forgotten](Self::forget), if that is worth the time.
    pub(super) fn next_epoch(&mut self) {
        self.epoch = self.epoch.saturating_add(1);
        if self.count >= self.kept.saturating_mul(2).max(64) {
            self.next_stale = 0;
        }
    }

    /// Forgets one object that is to be forgotten, and hands out its views; false if there is none.
    pub(super) fn forget(&mut self, mut free: impl FnMut(ViewId)) -> bool {
        while self.next_stale < self.used {
            // Something else may move to a slot that is free now: it is looked at again.
            if let Some((key, lives)) = self.stale(self.next_stale) {
                for life in lives.into_iter().flatten() {
                    life.view.into_iter().for_each(&mut free);
                    self.note_end(life);
                }
                self.remove(Space::Objects, key);
                return true;
            }
            self.next_stale = self.next_stale.saturating_add(1);
        }
        if self.next_stale != NIL {
            (self.kept, self.next_stale) = (self.count, NIL);
        }
        false
    }

    /// The key of the object in this slot and its lives, if that may be forgotten.
    fn stale(&self, at: usize) -> Option<(u64, [Option<Life>; 2])> {
        let slot = self.room.slots().get(at)?;
        let (space, known) = slot.known.as_ref()?;
        let old = known.epoch.saturating_add(2) < self.epoch;
        let lives = [Some(known.life), known.successor];
        (*space == Space::Objects && known.is_dropped && old).then_some((slot.key, lives))
    }

    fn remove(&mut self, space: Space, key: u64) {
        // Something else may move to its slot.
        self.recent = (0, NIL);
        let ((mut at, mut bits), mut above) = (self.root(space, key), None);
        while let Some(slot) = self.room.slots().get(at).filter(|slot| slot.key != key) {
            let side = bits >> 63 != 0;
            bits <<= 1;
            above = Some((at, side));
            at = slot.below(side);
        }
        // Any leaf below it can take its place: it has the same bits up to there.
        let mut leaf = at;
        while let Some(slot) = self.room.slots().get(leaf) {
            let side = slot.left == NIL;
            let below = slot.below(side);
            if below == NIL {
                break;
            }
            above = Some((leaf, side));
            leaf = below;
        }
        let Some(moved) = self.room.slots().get(leaf).copied() else { return };
        self.link(space, key, above, NIL);
        if let Some(slot) = self.room.slots_mut().get_mut(at) {
            (slot.key, slot.known) = (moved.key, moved.known);
        }
        if let Some(slot) = self.room.slots_mut().get_mut(leaf) {
            *slot = RegistrySlot { left: self.free, head: slot.head, ..RegistrySlot::EMPTY };
        }
        self.free = leaf;
        self.count = self.count.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::vec;
    use std::vec::Vec;

    /// The number of slots on the way to an id.
    fn steps(registry: &Registry<&mut [RegistrySlot], ()>, id: u64) -> usize {
        let key = mix(id);
        let ((mut at, mut bits), mut steps) = (registry.root(Space::Objects, key), 1);
        while let Some(slot) = registry.room.slots().get(at).filter(|slot| slot.key != key) {
            at = slot.below(bits >> 63 != 0);
            bits <<= 1;
            steps += 1;
        }
        steps
    }

    /// Objects come and go beside callsites, in a room that was lent before, as in a map.
    #[test]
    fn ids_lead_to_what_a_map_has() {
        let mut room = vec![RegistrySlot::EMPTY; 1_500];
        let mut seed = 1_u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            seed >> 33
        };
        // Ids whose keys begin alike are in one tree.
        let alike: Vec<u64> = (0..100_000).filter(|&id| mix(id) >> 56 == 7).take(200).collect();
        let mut longest = 0;
        for round in 0..20 {
            let mut registry = Registry::new(&mut room[..]);
            let (mut map, mut callsites) = (BTreeMap::new(), BTreeMap::new());
            for _ in 0..3_000 {
                let id = if round % 2 == 0 { random() % 700 } else { alike[random() as usize % alike.len()] };
                match random() % 8 {
                    0..4 if !map.contains_key(&id) => {
                        map.insert(id, registry.add(Space::Objects, id, None, 0).unwrap());
                    }
                    4 if !callsites.contains_key(&id) => {
                        callsites.insert(id, registry.add(Space::Callsites, id, None, 0).unwrap());
                    }
                    5 => assert!(registry.end(RecordKind::TaskDrop, id)),
                    6 => {
                        registry.next_epoch();
                        while registry.forget(|_| ()) {}
                        // Objects that the registry forgot had been dropped.
                        map.retain(|&id, _| registry.peek(Space::Objects, id).is_some());
                    }
                    _ => {}
                }
                assert_eq!(registry.count(), (map.len() + callsites.len()) as u64);
                let found = registry.peek(Space::Objects, id).map(|known| known.life.number);
                assert_eq!(found, map.get(&id).copied(), "{round} {id}");
                assert_eq!(registry.peek(Space::Callsites, id).is_some(), callsites.contains_key(&id));
            }
            for (&id, &number) in &map {
                assert_eq!(registry.get(Space::Objects, id).map(|known| known.life.number), Some(number));
                longest = longest.max(steps(&registry, id));
            }
        }
        assert!(longest <= 64, "{longest}");
    }

    /// As many slots are visited as there are ids, and a constant more, from few to many.
    #[test]
    fn ids_are_found_in_few_steps() {
        for count in [10_u64, 100, 1_000, 10_000, 100_000] {
            let mut room = vec![RegistrySlot::EMPTY; count as usize];
            let mut registry = Registry::new(&mut room[..]);
            for id in 0..count {
                registry.add(Space::Objects, id * 4096, None, 0).unwrap();
            }
            let all: usize = (0..count).map(|id| steps(&registry, id * 4096)).sum();
            assert!(all as u64 <= 3 * count, "{all} steps for {count}");
        }
    }
}
