//! The memory of a timeline.

use super::moment::{KindSlot, Moment};
use super::tracks::TrackSlot;
use crate::dial9::OrderRooms;
#[cfg(feature = "alloc")]
use crate::dial9::OrderStorage;
use crate::room::Room;

/// A reference to a room, so that it may be an array, a slice, or one that grows.
type Lent<'t, T> = &'t mut (dyn Room<T> + 't);

/// The memory of a [`Timeline`](super::Timeline).
pub struct Rooms<'a, 't> {
    /// The memory of the order of events.
    pub order: OrderRooms<'a, 't>,
    /// A slot for each class of events, of all inputs together.
    pub kinds: Lent<'t, KindSlot<'a>>,
    /// A slot for each span that one event tells of.
    pub moments: Lent<'t, Moment>,
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
    order: OrderStorage<'a>,
    kinds: alloc::vec::Vec<KindSlot<'a>>,
    moments: alloc::vec::Vec<Moment>,
    tracks: alloc::vec::Vec<TrackSlot<'a>>,
}

#[cfg(feature = "alloc")]
impl<'a> Storage<'a> {
    /// All of it, to be lent.
    pub fn rooms(&mut self) -> Rooms<'a, '_> {
        let Self { order, kinds, moments, tracks } = self;
        Rooms { order: order.rooms(), kinds, moments, tracks }
    }
}
