//! Events and slices of some names.

use crate::output::{NAME_MAX, push_label};
use crate::record::Names;
use crate::status::Result;
use crate::trace::Events;
use std::collections::HashMap;
use traceglass::event::{Event, EventKind, Item, TrackId};

/// Passes on what has one of the names, and all that cannot be read.
pub struct Named<'e> {
    names: Names,
    /// Of each track, whether the slices that are open on it are passed on.
    open: HashMap<TrackId, Vec<bool>>,
    label: String,
    to: &'e mut dyn Events,
}

impl<'e> Named<'e> {
    pub fn new(names: Names, to: &'e mut dyn Events) -> Self {
        Self { names, open: HashMap::new(), label: String::new(), to }
    }

    fn has(&mut self, event: &Event<'_>) -> bool {
        self.label.clear();
        push_label(&mut self.label, event.name(), NAME_MAX);
        self.names.has(&self.label)
    }

    /// True if an event is passed on: an end is if its begin was, whatever name it has.
    fn wants(&mut self, event: &Event<'_>) -> bool {
        match event.kind() {
            EventKind::Gap(_) | EventKind::Discarded { .. } => true,
            EventKind::Begin => {
                let is_wanted = self.has(event);
                self.open.entry(event.track()).or_default().push(is_wanted);
                is_wanted
            }
            EventKind::End => {
                let begun = self.open.get_mut(&event.track()).and_then(Vec::pop);
                begun.unwrap_or_else(|| self.has(event))
            }
            _ => self.has(event),
        }
    }
}

impl Events for Named<'_> {
    fn item(&mut self, item: &Item<'_>) -> Result<()> {
        match item {
            _ if self.names.are_all() => {}
            Item::Event(event) if !self.wants(event) => return Ok(()),
            Item::Ended(track) => drop(self.open.remove(track)),
            _ => {}
        }
        self.to.item(item)
    }

    fn taken(&mut self, event: &Event<'_>) -> Result<()> {
        let is_wanted = self.names.are_all() || self.has(event);
        if is_wanted { self.to.taken(event) } else { Ok(()) }
    }

    fn advance(&mut self, bytes: u64) {
        self.to.advance(bytes);
    }
}
