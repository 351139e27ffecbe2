//! A hash table in lent room.

use super::element::ROOM;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::room::Room;

/// The place of none.
pub(super) const NONE: u32 = u32::MAX;

/// Room for an entry of a hash table.
#[derive(Clone, Copy, Debug)]
pub struct Hashed<T> {
    /// The first entry whose hash belongs to this place.
    head: u32,
    /// The next entry whose hash belongs to the same place.
    next: u32,
    hash: u64,
    value: Option<T>,
}

impl<T> Hashed<T> {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self { head: NONE, next: NONE, hash: 0, value: None };
}

default_is_empty!(Hashed<T>, T);

/// Entries by their hashes, in the order in which they came.
pub(super) struct Entries<'t, T> {
    slots: &'t mut (dyn Room<Hashed<T>> + 't),
    count: usize,
    /// The number of places when entries were put in theirs.
    places: usize,
}

impl<'t, T: Copy> Entries<'t, T> {
    pub(super) fn new(slots: &'t mut (dyn Room<Hashed<T>> + 't)) -> Self {
        Self { slots, count: 0, places: 0 }
    }

    fn place(hash: u64, places: usize) -> usize {
        // As a fraction of all hashes.
        let place = u128::from(hash).saturating_mul(to_u64(places).into()) >> 64;
        usize::try_from(place).unwrap_or(0)
    }

    /// The number of the entry with this hash.
    pub(super) fn find(&self, hash: u64) -> Option<u32> {
        let slots = self.slots.slots();
        let mut at = slots.get(Self::place(hash, self.places)).filter(|_| self.places > 0)?.head;
        while let Some(slot) = slots.get(usize::try_from(at).ok()?).filter(|_| at != NONE) {
            if slot.hash == hash {
                return Some(at);
            }
            at = slot.next;
        }
        None
    }

    /// The number of entries.
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.count).unwrap_or(NONE)
    }

    pub(super) fn get(&self, at: u32) -> Option<&T> {
        self.slots.slots().get(usize::try_from(at).ok()?)?.value.as_ref()
    }

    pub(super) fn get_mut(&mut self, at: u32) -> Option<&mut T> {
        self.slots.slots_mut().get_mut(usize::try_from(at).ok()?)?.value.as_mut()
    }

    /// Adds an entry, whose hash is that of no other one.
    pub(super) fn insert(&mut self, hash: u64, value: T) -> Result<u32> {
        let capacity = self.slots.slots().len();
        let needed = self.count.saturating_add(1);
        if needed > capacity && !self.slots.grow(needed) {
            let kind = ErrorKind::CapacityExceeded { capacity: to_u64(capacity), needed: to_u64(needed) };
            return Err(Error::new(0, ROOM, kind));
        }
        let at = self.count;
        let slots = self.slots.slots_mut();
        if let Some(slot) = slots.get_mut(at) {
            (slot.hash, slot.value) = (hash, Some(value));
        }
        self.count = needed;
        if slots.len() != self.places {
            self.place_all();
        } else {
            self.link(at);
        }
        Ok(u32::try_from(at).unwrap_or(NONE))
    }

    /// Puts all entries in their places anew: the room has grown.
    fn place_all(&mut self) {
        let slots = self.slots.slots_mut();
        self.places = slots.len();
        slots.iter_mut().for_each(|slot| slot.head = NONE);
        (0..self.count).for_each(|at| self.link(at));
    }

    fn link(&mut self, at: usize) {
        let slots = self.slots.slots_mut();
        let Some(hash) = slots.get(at).map(|slot| slot.hash) else { return };
        let Some(first) = slots.get_mut(Self::place(hash, self.places)) else { return };
        let next = core::mem::replace(&mut first.head, u32::try_from(at).unwrap_or(NONE));
        if let Some(slot) = slots.get_mut(at) {
            slot.next = next;
        }
    }
}
