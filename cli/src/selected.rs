//! Events and slices of some names, on some tracks.

use crate::output::{NAME_MAX, push_label};
use crate::record::Names;
use crate::status::Result;
use crate::trace::Events;
use std::collections::HashMap;
use traceglass::event::{Event, EventKind, Item, TrackId};
use traceglass_open::tracks::Tracks;

/// Passes on what has one of the names and is on one of the tracks, and all that cannot be read.
pub struct Selected<'e> {
    names: Names,
    tracks: Tracks,
    is_everything: bool,
    /// Of each track, whether the slices that are open on it are passed on.
    open: HashMap<TrackId, Vec<bool>>,
    label: String,
    to: &'e mut dyn Events,
}

impl<'e> Selected<'e> {
    pub fn new(names: Names, tracks: Names, to: &'e mut dyn Events) -> Self {
        let is_everything = names.are_all() && tracks.are_all();
        let tracks = Tracks::new(tracks);
        Self { names, tracks, is_everything, open: HashMap::new(), label: String::new(), to }
    }

    fn has(&mut self, event: &Event<'_>) -> bool {
        if !self.tracks.has(event.track()) {
            return false;
        }
        self.label.clear();
        push_label(&mut self.label, event.name(), NAME_MAX);
        self.names.has(&self.label)
    }

    /// True if an event is passed on: an end is if its begin was, whatever names it and its track have by then.
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

impl Events for Selected<'_> {
    fn item(&mut self, item: &Item<'_>) -> Result<()> {
        if !self.is_everything {
            self.tracks.meet(item);
            match item {
                Item::Event(event) if !self.wants(event) => return Ok(()),
                Item::Ended(track) => drop(self.open.remove(track)),
                _ => {}
            }
        }
        self.to.item(item)
    }

    fn taken(&mut self, event: &Event<'_>) -> Result<()> {
        let is_wanted = self.is_everything || self.has(event);
        if is_wanted { self.to.taken(event) } else { Ok(()) }
    }

    fn advance(&mut self, bytes: u64) {
        self.to.advance(bytes);
    }
}
