//! Rooms of which some slots are in use.

use crate::bytes::to_u64;
use crate::error::{Element, Error, ErrorKind, Result};
use crate::room::Room;

/// A room, of which some slots are in use.
pub(crate) struct Filled<'t, T> {
    room: &'t mut (dyn Room<T> + 't),
    len: usize,
}

impl<'t, T> Filled<'t, T> {
    pub(crate) fn new(room: &'t mut (dyn Room<T> + 't)) -> Self {
        Self { room, len: 0 }
    }

    /// The number of slots in use.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(crate) fn slots(&self) -> &[T] {
        self.room.slots().get(..self.len).unwrap_or_default()
    }

    #[inline(always)]
    pub(crate) fn slots_mut(&mut self) -> &mut [T] {
        self.room.slots_mut().get_mut(..self.len).unwrap_or_default()
    }

    pub(crate) fn push(&mut self, value: T, offset: u64, element: Element) -> Result<()> {
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
