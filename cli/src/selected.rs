//! Events and slices of some names, on some tracks.

use crate::output::{NAME_MAX, push_label};
use crate::record::Names;
use crate::status::Result;
use crate::trace::{Events, Window};
use std::collections::HashMap;
use traceglass::event::{Event, EventKind, Item, TrackId};
use traceglass_open::tracks::Tracks;

/// The names and tracks that are asked for.
#[derive(clap::Args, Clone, Default)]
pub struct Select {
    /// Only records, events and slices with this name; * stands for any text. More than one may be given
    #[arg(long, value_name = "GLOB")]
    pub name: Vec<String>,
    /// Only events and slices on the track of this name, such as 'CPU 0', 'thread 17' or a task's name, and on those below
    /// it; * stands for any text. More than one may be given
    #[arg(long, value_name = "GLOB")]
    pub track: Vec<String>,
}

impl Select {
    /// True if all names and tracks are.
    pub fn is_everything(&self) -> bool {
        self.name.is_empty() && self.track.is_empty()
    }

    /// The names of events and slices.
    pub fn names(&self) -> Names {
        Names::new(self.name.iter().map(String::as_str))
    }

    /// The tracks by their names.
    pub fn tracks(&self) -> Names {
        Names::new(self.track.iter().map(String::as_str))
    }

    /// The message that nothing was found, if not all was asked for.
    pub fn found_nothing(&self, window: &Window) -> Option<String> {
        let asked = [
            (!self.name.is_empty(), "has this name"),
            (!self.track.is_empty(), "is on this track"),
            (!window.is_everything(), "is in this range"),
        ];
        let asked: Vec<_> = asked.iter().filter(|(is_asked, _)| *is_asked).map(|(_, of)| *of).collect();
        (!asked.is_empty()).then(|| format!("nothing of it {}", asked.join(" and ")))
    }
}

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
