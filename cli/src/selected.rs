//! Events that are asked for, passed on.

use crate::status::Result;
use crate::trace::Events;
use traceglass::event::Item;
use traceglass_open::selected::Selected;

/// Passes on what is selected.
pub struct Passing<'e> {
    pub selected: Selected,
    pub to: &'e mut dyn Events,
}

impl Events for Passing<'_> {
    fn item(&mut self, item: &Item<'_>) -> Result<()> {
        if self.selected.wants(item) { self.to.item(item) } else { Ok(()) }
    }

    fn advance(&mut self, bytes: u64) {
        self.to.advance(bytes);
    }
}
