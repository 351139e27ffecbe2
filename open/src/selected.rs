//! Events and slices of some names, on some tracks.

use crate::record::Names;
use crate::text::{NAME_MAX, push_label};
use crate::tracks::{TrackNames, Tracks};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use traceglass::event::{Event, EventKind, Item, TrackId};

/// What has one of some names and is on one of some tracks, and all that cannot be read.
#[derive(Default)]
pub struct Selected {
    names: Names,
    tracks: Tracks,
    /// Of each track, whether the slices that are open on it are selected.
    open: HashMap<TrackId, Vec<bool>, RandomState>,
    label: String,
}

impl Selected {
    pub fn new(names: Names, tracks: TrackNames) -> Self {
        Self { names, tracks: Tracks::new(tracks), ..Self::default() }
    }

    fn is_everything(&self) -> bool {
        self.names.are_all() && self.tracks.are_all()
    }

    /// True if an item is to be passed on: each track is, and an end if its begin was, whatever names it and its track have
    /// by then.
    pub fn wants(&mut self, item: &Item<'_>) -> bool {
        if self.is_everything() {
            return true;
        }
        self.tracks.meet(item);
        match item {
            Item::Event(event) => match event.kind() {
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
            },
            Item::Ended(track) => {
                self.open.remove(track);
                true
            }
            _ => true,
        }
    }

    /// True if an event has one of the names and is on one of the tracks.
    pub fn has(&mut self, event: &Event<'_>) -> bool {
        let is_named = self.names.are_all() || {
            self.label.clear();
            push_label(&mut self.label, event.name(), NAME_MAX);
            self.names.has(&self.label)
        };
        is_named && self.tracks.has(event.track())
    }
}
