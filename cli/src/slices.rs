//! Slices of a trace, as it is read.

use crate::status::{Failure, Result};
use crate::trace::Events;
use traceglass::event::{Event, Item};
use traceglass_open::selected::Selected;
pub use traceglass_open::slices::{Slice, Slices, TakeSlices};

/// Puts begins and ends together, and says how much has been read.
pub struct Lasting<'l, T> {
    slices: Slices<T>,
    advance: &'l mut dyn FnMut(u64),
}

impl<'l, T: TakeSlices<Error = Failure>> Lasting<'l, T> {
    pub fn new(selected: Selected, to: T, advance: &'l mut dyn FnMut(u64)) -> Self {
        Self { slices: Slices::of(selected, to), advance }
    }

    /// Gives out what has not ended, and gives back what takes slices.
    pub fn finish(self) -> Result<T> {
        self.slices.finish()
    }
}

impl<T: TakeSlices<Error = Failure>> Events for Lasting<'_, T> {
    fn item(&mut self, item: &Item<'_>) -> Result<()> {
        self.slices.item(item)
    }

    fn taken(&mut self, event: &Event<'_>) -> Result<()> {
        self.slices.taken(event)
    }

    fn advance(&mut self, bytes: u64) {
        (self.advance)(bytes);
    }
}
