//! A hash table in lent room.

use super::element::ROOM;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::room::Room;

/// The place of none.
pub(super) const NONE: u32 = u32::MAX;

/// Room for an entry of a hash table: of most kinds one line of the cache, as they are met at random.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Hashed<T> {
    hash: u64,
    value: Option<T>,
}

impl<T> Hashed<T> {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self { hash: 0, value: None };
}

impl<T> Hashed<T> {
    /// The value at a place of some entries.
    pub(super) fn value_at(all: &mut [Self], at: u32) -> Option<&mut T> {
        all.get_mut(usize::try_from(at).ok()?)?.value.as_mut()
    }
}

default_is_empty!(Hashed<T>, T);

/// Room for a place of a hash table: the number of its entry, beside a part of the hash. They are kept apart from the
/// entries, so that many lie in one line of the cache.
#[derive(Clone, Copy, Debug)]
pub struct HeadSlot {
    tag: u32,
    at: u32,
}

impl HeadSlot {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self { tag: 0, at: NONE };
}

default_is_empty!(HeadSlot);

/// Entries by their hashes, in the order in which they came.
pub(super) struct Entries<'t, T> {
    slots: &'t mut (dyn Room<Hashed<T>> + 't),
    /// Each entry in the first place that was free from where its hash leads to. At most half of them are taken.
    heads: &'t mut (dyn Room<HeadSlot> + 't),
    count: usize,
    /// The number of places when entries were put in theirs.
    places: usize,
}

/// The place to which a hash leads, and the part of it that is kept there.
fn place(hash: u64, places: usize) -> (usize, u32) {
    // As a fraction of all hashes.
    let place = (hash >> 32).wrapping_mul(to_u64(places)) >> 32;
    (usize::try_from(place).unwrap_or(0), u32::try_from(hash & u64::from(u32::MAX)).unwrap_or(0))
}

/// The place after another one.
const fn after(at: usize, places: usize) -> usize {
    let next = at.wrapping_add(1);
    if next < places { next } else { 0 }
}

impl<'t, T: Copy> Entries<'t, T> {
    pub(super) fn new(
        slots: &'t mut (dyn Room<Hashed<T>> + 't),
        heads: &'t mut (dyn Room<HeadSlot> + 't),
    ) -> Self {
        Self { slots, heads, count: 0, places: 0 }
    }

    /// The number of the entry with this hash.
    pub(super) fn find(&self, hash: u64) -> Option<u32> {
        let (heads, slots) = (self.heads.slots().get(..self.places)?, self.slots.slots());
        let (mut at, tag) = place(hash, heads.len());
        loop {
            let head = heads.get(at).filter(|head| head.at != NONE)?;
            if head.tag == tag && slots.get(usize::try_from(head.at).ok()?)?.hash == hash {
                return Some(head.at);
            }
            at = after(at, heads.len());
        }
    }

    /// The number of entries.
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.count).unwrap_or(NONE)
    }

    pub(super) fn get(&self, at: u32) -> Option<&T> {
        self.slots.slots().get(usize::try_from(at).ok()?)?.value.as_ref()
    }

    pub(super) fn get_mut(&mut self, at: u32) -> Option<&mut T> {
        Hashed::value_at(self.slots.slots_mut(), at)
    }

    /// All entries, and room for more.
    pub(super) fn all(&mut self) -> &mut [Hashed<T>] {
        self.slots.slots_mut()
    }

    /// Adds an entry, whose hash is that of no other one.
    pub(super) fn insert(&mut self, hash: u64, value: T) -> Result<u32> {
        let (at, needed) = (self.count, self.count.saturating_add(1));
        grow(self.slots, needed)?;
        grow(self.heads, needed.saturating_mul(2))?;
        if let Some(slot) = self.slots.slots_mut().get_mut(at) {
            *slot = Hashed { hash, value: Some(value) };
        }
        self.count = needed;
        let heads = self.heads.slots_mut();
        if heads.len() == self.places {
            self.put(at);
        } else {
            // The room has grown.
            self.places = heads.len();
            heads.fill(HeadSlot::EMPTY);
            (0..needed).for_each(|at| self.put(at));
        }
        Ok(u32::try_from(at).unwrap_or(NONE))
    }

    /// Puts an entry in its place.
    fn put(&mut self, entry: usize) {
        let (slots, heads) = (self.slots.slots(), self.heads.slots_mut());
        let Some(hash) = slots.get(entry).map(|slot| slot.hash) else { return };
        let (mut at, tag) = place(hash, heads.len());
        while heads.get(at).is_some_and(|head| head.at != NONE) {
            at = after(at, heads.len());
        }
        if let Some(head) = heads.get_mut(at) {
            *head = HeadSlot { tag, at: u32::try_from(entry).unwrap_or(NONE) };
        }
    }
}

/// Sees to it that a room has so many slots.
pub(super) fn grow<T>(room: &mut (dyn Room<T> + '_), needed: usize) -> Result<()> {
    let capacity = room.slots().len();
    if needed <= capacity || room.grow(needed) {
        return Ok(());
    }
    let kind = ErrorKind::CapacityExceeded { capacity: to_u64(capacity), needed: to_u64(needed) };
    Err(Error::new(0, ROOM, kind))
}
