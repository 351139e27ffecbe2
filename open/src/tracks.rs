//! The tracks of a trace that are asked for.

use crate::members::{inner, members};
use crate::record::{Json, Names};
use crate::text::{NAME_MAX, push_label};
use foldhash::fast::RandomState;
use std::collections::HashSet;
use traceglass::event::{Item, Track, TrackId};
use traceglass::record::{Any, Record};

/// The tracks that are asked for; all are, unless one is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrackNames(Vec<Asked>);

/// Tracks of these kinds, of any if there is none.
#[derive(Clone, Debug, PartialEq)]
struct Asked {
    kinds: &'static [&'static str],
    of: Of,
}

#[derive(Clone, Debug, PartialEq)]
enum Of {
    Names(Names),
    /// One name, which may be a number.
    One(String),
}

impl TrackNames {
    /// Asks for tracks of these kinds, too, or of any kind if none is given. Their labels must be among the names; a track's
    /// other name does not count, as it may be known later than its first slices.
    #[must_use]
    pub fn and(mut self, kinds: &'static [&'static str], names: Names) -> Self {
        if !names.are_all() {
            self.0.push(Asked { kinds, of: Of::Names(names) });
        }
        self
    }

    /// The same of one name as it is, or of the number that the trace gives to what a track stands for.
    #[must_use]
    pub fn and_one(mut self, kinds: &'static [&'static str], name: &str) -> Self {
        self.0.push(Asked { kinds, of: Of::One(name.to_owned()) });
        self
    }

    /// True if all tracks are asked for.
    pub fn are_all(&self) -> bool {
        self.0.is_empty()
    }
}

/// The fields of a track's record of which one may be its number: of a task of RFR, of a stream of RTC.
const NUMBERS: [&[u8]; 2] = [b"\"iid\"", b"\"id\""];

/// The tracks that have one of some names, and those below them.
pub struct Tracks {
    names: TrackNames,
    found: HashSet<TrackId, RandomState>,
    label: String,
    json: Json,
}

impl Default for Tracks {
    fn default() -> Self {
        Self::new(TrackNames::default())
    }
}

impl Tracks {
    pub fn new(names: TrackNames) -> Self {
        Self { names, found: HashSet::default(), label: String::new(), json: Json::bare() }
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
                let is_found =
                    track.parent().is_some_and(|parent| self.found.contains(&parent)) || self.is_named(track);
                // One that comes again may have another name.
                let _ = if is_found { self.found.insert(track.id()) } else { self.found.remove(&track.id()) };
            }
            Item::Ended(track) => drop(self.found.remove(track)),
            _ => {}
        }
    }

    fn is_named(&mut self, track: &Track<'_>) -> bool {
        let Self { names, label, json, .. } = self;
        label.clear();
        push_label(label, track.label(), NAME_MAX);
        let kind = track.kind().name();
        let mut asked = names.0.iter().filter(|asked| asked.kinds.is_empty() || asked.kinds.contains(&kind));
        asked.any(|asked| match &asked.of {
            Of::Names(names) => names.has(&*label),
            Of::One(name) => {
                let is_number =
                    |number: u64| *label == format!("{kind} {number}") || is_numbered(json, track, number);
                label == name || name.parse().is_ok_and(is_number)
            }
        })
    }

    /// True if a track is asked for.
    pub fn has(&self, track: TrackId) -> bool {
        self.are_all() || self.found.contains(&track)
    }
}

/// True if a track's record says that this is its number.
fn is_numbered(json: &mut Json, track: &Track<'_>, number: u64) -> bool {
    json.buffer.clear();
    // A record that cannot be read is reported where it is met.
    let is_told = track.tell(&mut Any(json)).is_ok();
    let inner = inner(json.buffer.text()).filter(|_| is_told);
    let number = number.to_string();
    members(inner.unwrap_or_default())
        .any(|(key, value)| NUMBERS.contains(&key) && value == number.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceglass::event::{Label, TrackKind};

    #[test]
    fn tracks_are_found_by_their_names_and_above_them() {
        let any = |names: &[&str]| TrackNames::default().and(&[], Names::new(names.iter().copied()));
        let mut tracks = Tracks::new(any(&["CPU 1", "main*"]));
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
        assert!(Tracks::new(any(&[])).has(TrackId::new(9)));
        // Of one kind, or another one by another name.
        let names = TrackNames::default().and(&["cpu"], Names::new(["a"]));
        let mut tracks = Tracks::new(names.and(&["task", "thread"], Names::new(["b"])));
        let mut number = 0;
        let mut meet = |kind, label| {
            number += 1;
            tracks.meet(&Item::Track(Track::new(TrackId::new(number), kind, Label::Text(label))));
            tracks.has(TrackId::new(number))
        };
        let [cpu, task, thread] = [TrackKind::Cpu, TrackKind::Task, TrackKind::Thread];
        assert_eq!([cpu, task, thread].map(|kind| meet(kind, "a")), [true, false, false]);
        assert_eq!([cpu, task, thread].map(|kind| meet(kind, "b")), [false, true, true]);
    }
}
