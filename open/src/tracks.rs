//! The tracks of a trace that are asked for.

use crate::record::Names;
use crate::text::{NAME_MAX, push_label};
use foldhash::fast::RandomState;
use std::collections::HashSet;
use traceglass::event::{Item, TrackId};

/// The tracks that have one of some names, and those below them.
#[derive(Default)]
pub struct Tracks {
    names: Names,
    found: HashSet<TrackId, RandomState>,
    label: String,
}

impl Tracks {
    /// The tracks whose label is one of these. A track's other name does not count, as it may be known later than its first
    /// slices.
    pub fn new(names: Names) -> Self {
        Self { names, found: HashSet::default(), label: String::new() }
    }

    /// True if all tracks are asked for.
    pub fn are_all(&self) -> bool {
        self.names.are_all()
    }

    /// Takes note of a track, and of its end.
    pub fn meet(&mut self, item: &Item<'_>) {
        match item {
            _ if self.are_all() => {}
            Item::Track(track) => {
                self.label.clear();
                push_label(&mut self.label, track.label(), NAME_MAX);
                let is_found = self.names.has(&self.label)
                    || track.parent().is_some_and(|parent| self.found.contains(&parent));
                // One that comes again may have another name.
                let _ = if is_found { self.found.insert(track.id()) } else { self.found.remove(&track.id()) };
            }
            Item::Ended(track) => drop(self.found.remove(track)),
            _ => {}
        }
    }

    /// True if a track is asked for.
    pub fn has(&self, track: TrackId) -> bool {
        self.are_all() || self.found.contains(&track)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceglass::event::{Label, Track, TrackKind};

    #[test]
    fn tracks_are_found_by_their_names_and_above_them() {
        let mut tracks = Tracks::new(Names::new(["CPU 1", "main*"]));
        let mut meet = |number, parent: Option<u64>, label| {
            let track = Track::new(TrackId::new(number), TrackKind::Task, Label::Text(label));
            let track = parent.map_or(track, |parent| track.with_parent(TrackId::new(parent)));
            tracks.meet(&Item::Track(track));
            tracks.has(TrackId::new(number))
        };
        assert_eq!(
            [meet(0, None, "trace"), meet(1, Some(0), "CPU 1"), meet(2, Some(0), "CPU 10")],
            [false, true, false]
        );
        // Below one that is found, and below nothing that is.
        assert_eq!(
            [meet(3, Some(1), "irq"), meet(4, Some(3), "x"), meet(5, Some(2), "irq")],
            [true, true, false]
        );
        // A name that is known later, and one that is another now.
        assert_eq!([meet(5, Some(2), "main loop"), meet(1, Some(0), "CPU 2")], [true, false]);
        tracks.meet(&Item::Ended(TrackId::new(5)));
        assert!(!tracks.has(TrackId::new(5)) && !tracks.has(TrackId::new(9)));
        assert!(Tracks::new(Names::default()).has(TrackId::new(9)));
    }
}
