//! The memory of a timeline, and how much of it is in use.

use super::moment::{Input, KindSlot, Moment, PoolPlace};
use super::tracks::TrackSlot;
use crate::bytes::to_u64;
use crate::dial9::{ClassSlot, SchemaSlot};
use crate::error::{Element, Error, ErrorKind, Result};
use crate::room::Room;

/// A reference to a room, so that it may be an array, a slice, or one that grows.
type Lent<'t, T> = &'t mut (dyn Room<T> + 't);

/// The memory of a [`Timeline`](super::Timeline).
pub struct Rooms<'a, 't> {
    /// A slot for each schema of a batch.
    pub schemas: Lent<'t, SchemaSlot>,
    /// A slot for each class of events of an input.
    pub classes: Lent<'t, ClassSlot>,
    /// The same of all inputs together.
    pub kinds: Lent<'t, KindSlot<'a>>,
    /// A slot for each event.
    pub moments: Lent<'t, Moment>,
    /// A slot for each entry of a pool.
    pub pools: Lent<'t, PoolPlace>,
    /// A slot for each input.
    pub inputs: Lent<'t, Input<'a>>,
    /// A slot for each worker, thread, task, runtime, counter, and class with events of its own.
    pub tracks: Lent<'t, TrackSlot<'a>>,
}

impl core::fmt::Debug for Rooms<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Rooms").finish_non_exhaustive()
    }
}

/// Room that grows.
#[cfg(feature = "alloc")]
#[derive(Debug, Default)]
pub struct Storage<'a> {
    schemas: alloc::vec::Vec<SchemaSlot>,
    classes: alloc::vec::Vec<ClassSlot>,
    kinds: alloc::vec::Vec<KindSlot<'a>>,
    moments: alloc::vec::Vec<Moment>,
    pools: alloc::vec::Vec<PoolPlace>,
    inputs: alloc::vec::Vec<Input<'a>>,
    tracks: alloc::vec::Vec<TrackSlot<'a>>,
}

#[cfg(feature = "alloc")]
impl<'a> Storage<'a> {
    /// All of it, to be lent.
    pub fn rooms(&mut self) -> Rooms<'a, '_> {
        let Self { schemas, classes, kinds, moments, pools, inputs, tracks } = self;
        Rooms { schemas, classes, kinds, moments, pools, inputs, tracks }
    }
}

/// A room, of which some slots are in use.
pub(super) struct Filled<'t, T> {
    room: Lent<'t, T>,
    pub(super) len: usize,
}

impl<'t, T> Filled<'t, T> {
    pub(super) fn new(room: Lent<'t, T>) -> Self {
        Self { room, len: 0 }
    }

    pub(super) fn slots(&self) -> &[T] {
        self.room.slots().get(..self.len).unwrap_or_default()
    }

    pub(super) fn slots_mut(&mut self) -> &mut [T] {
        self.room.slots_mut().get_mut(..self.len).unwrap_or_default()
    }

    pub(super) fn push(&mut self, value: T, offset: u64, element: Element) -> Result<()> {
        let needed = self.len.saturating_add(1);
        if self.room.slots().len() < needed && !self.room.grow(needed) {
            let kind = ErrorKind::CapacityExceeded {
                capacity: to_u64(self.room.slots().len()),
                needed: to_u64(needed),
            };
            return Err(Error::new(offset, element, kind));
        }
        if let Some(slot) = self.room.slots_mut().get_mut(self.len) {
            *slot = value;
        }
        self.len = needed;
        Ok(())
    }
}
