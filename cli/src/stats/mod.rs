//! Statistics of a trace: events and slices by name, and how busy its tracks are.

mod sketch;

pub use sketch::Sketch;

use crate::output::{NAME_MAX, push_label};
use crate::slices::{Slice, TakeSlices};
use crate::status::{Failure, Result};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher as _, Hasher};
use traceglass::event::{Event, EventKind, Track, TrackId, Window};

/// Names of each kind that are counted on their own; the others are counted together.
const NAMES: usize = 1 << 16;

/// The name of the others.
const OTHERS: &str = "(others)";

/// The statistics of a trace.
#[derive(Default)]
pub struct Stats {
    pub events: ByName<u64>,
    pub slices: ByName<Named>,
    pub tracks: ByName<Busy>,
    pub aliases: HashMap<String, String, RandomState>,
    /// The first and the last time.
    pub span: Option<(i128, i128)>,
    window: Window,
    name: String,
    /// The places of tracks that were met.
    known_tracks: HashMap<TrackId, usize, RandomState>,
}

/// The slices of a name.
#[derive(Default)]
pub struct Named {
    pub sketch: Sketch,
    /// The offset of the event that begins the longest one.
    pub longest_at: u64,
    /// Slices of which one end is not known: they have no duration.
    pub open: u64,
}

/// The activity of a track.
#[derive(Default)]
pub struct Busy {
    /// The time in which a slice was open on it.
    pub ns: i128,
    /// By the place of its name, what was on it that lies in nothing else.
    names: HashMap<usize, i128, RandomState>,
}

/// Values by name.
pub struct ByName<T> {
    /// The places of names by their hashes.
    places: HashMap<u64, usize, Same>,
    /// The places of those whose hash is that of another name.
    others: HashMap<String, usize, RandomState>,
    known: Vec<Known<T>>,
    /// The value where a place has none: zero.
    rest: T,
    hashes: RandomState,
}

/// A name, and what is known by it: beside each other, as they are met at random.
struct Known<T> {
    name: Short,
    value: T,
}

/// A name, in place if it is short.
enum Short {
    Here(u8, [u8; 22]),
    There(Box<str>),
}

/// Hashes that are hashes already.
#[derive(Clone, Copy, Default)]
struct Same;

/// The state of one.
#[derive(Default)]
struct SameHash(u64);

impl std::hash::BuildHasher for Same {
    type Hasher = SameHash;

    fn build_hasher(&self) -> SameHash {
        SameHash::default()
    }
}

impl Hasher for SameHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl Short {
    fn new(name: &str) -> Self {
        let mut bytes = [0; 22];
        match (bytes.get_mut(..name.len()), u8::try_from(name.len())) {
            (Some(to), Ok(len)) => {
                to.copy_from_slice(name.as_bytes());
                Self::Here(len, bytes)
            }
            _ => Self::There(name.into()),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Here(len, bytes) => bytes.get(..usize::from(*len)).unwrap_or_default(),
            Self::There(name) => name.as_bytes(),
        }
    }

    fn text(&self) -> &str {
        std::str::from_utf8(self.bytes()).unwrap_or_default()
    }
}

impl<T: Default> Default for ByName<T> {
    fn default() -> Self {
        Self {
            places: HashMap::default(),
            others: HashMap::default(),
            known: Vec::new(),
            rest: T::default(),
            hashes: RandomState::default(),
        }
    }
}

impl<T: Default> ByName<T> {
    /// The value of a name, or of the others if there are too many.
    fn of(&mut self, name: &str) -> &mut T {
        let place = self.place(name);
        self.at(place)
    }

    /// The value at a place.
    fn at(&mut self, place: usize) -> &mut T {
        self.known.get_mut(place).map_or(&mut self.rest, |known| &mut known.value)
    }

    /// The place of a name, or of the others if there are too many.
    fn place(&mut self, name: &str) -> usize {
        let hash = self.hashes.hash_one(name);
        match self.find(hash, name) {
            Some(place) => place,
            None if self.known.len() < NAMES => self.add(hash, name),
            None => {
                let hash = self.hashes.hash_one(OTHERS);
                self.find(hash, OTHERS).unwrap_or_else(|| self.add(hash, OTHERS))
            }
        }
    }

    fn add(&mut self, hash: u64, name: &str) -> usize {
        let place = self.known.len();
        self.known.push(Known { name: Short::new(name), value: T::default() });
        match self.places.entry(hash) {
            Entry::Vacant(entry) => drop(entry.insert(place)),
            Entry::Occupied(_) => drop(self.others.insert(name.to_owned(), place)),
        }
        place
    }
}

impl<T> ByName<T> {
    /// The place of a name with this hash.
    fn find(&self, hash: u64, name: &str) -> Option<usize> {
        let place = *self.places.get(&hash)?;
        match self.known.get(place)?.name.bytes() == name.as_bytes() {
            true => Some(place),
            false => self.others.get(name).copied(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    pub fn len(&self) -> usize {
        self.known.len()
    }

    pub fn get(&self, name: &str) -> Option<&T> {
        let place = self.find(self.hashes.hash_one(name), name)?;
        self.known.get(place).map(|known| &known.value)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.known.iter().map(|known| (known.name.text(), &known.value))
    }

    /// The names by their places.
    pub fn names(&self) -> Vec<&str> {
        self.iter().map(|(name, _)| name).collect()
    }
}

impl Busy {
    /// The names of the outermost slices on it and their time, the longest first. `names` are those of all slices, by
    /// their places.
    pub fn parts<'n>(&self, names: &[&'n str]) -> Vec<(&'n str, i128)> {
        let part = |(place, ns): (&usize, &i128)| Some((*names.get(*place)?, *ns));
        let mut parts: Vec<_> = self.names.iter().filter_map(part).collect();
        parts.sort_unstable_by(|(a, of_a), (b, of_b)| of_b.cmp(of_a).then_with(|| a.cmp(b)));
        parts
    }
}

impl Stats {
    /// Of a range of time.
    pub fn new(window: Window) -> Self {
        Self { window, ..Self::default() }
    }

    /// The duration in nanoseconds: from the first event to the last, or that of the window.
    pub fn ns(&self) -> i128 {
        let (first, last) = self.span.unwrap_or_default();
        let (first, last) = (self.window.from().unwrap_or(first), self.window.to().unwrap_or(last));
        last.saturating_sub(first).max(0)
    }

    fn meet(&mut self, ns: i128) {
        let (first, last) = self.span.unwrap_or((ns, ns));
        self.span = Some((first.min(ns), last.max(ns)));
    }
}

impl TakeSlices for Stats {
    type Error = Failure;

    fn wants_args(&self) -> bool {
        false
    }

    fn slice(&mut self, slice: &Slice<'_>) -> Result<()> {
        if !slice.touches(self.window) {
            return Ok(());
        }
        let name = self.slices.place(slice.name);
        let named = self.slices.at(name);
        let Some(ns) = slice.duration() else {
            named.open = named.open.saturating_add(1);
            return Ok(());
        };
        if named.sketch.add(ns) {
            named.longest_at = slice.offset;
        }
        if slice.depth > 0 {
            return Ok(());
        }
        // The part in the window.
        let (begin, end) = (slice.begin.map_or(0, |time| time.ns()), slice.end.map_or(0, |time| time.ns()));
        let begin = self.window.from().map_or(begin, |from| from.max(begin));
        let end = self.window.to().map_or(end, |to| to.min(end));
        let track = match self.known_tracks.get(&slice.id) {
            Some(track) => *track,
            None => {
                let track = self.tracks.place(slice.track);
                self.known_tracks.insert(slice.id, track);
                track
            }
        };
        let busy = self.tracks.at(track);
        let ns = end.saturating_sub(begin).max(0);
        busy.ns = busy.ns.saturating_add(ns);
        let of = busy.names.entry(name).or_default();
        *of = of.saturating_add(ns);
        Ok(())
    }

    fn event(&mut self, event: &Event<'_>) -> Result<()> {
        if !self.window.contains(event.time()) {
            return Ok(());
        }
        if let Some(time) = event.time() {
            self.meet(time.ns());
        }
        // A loss is no event, and the end of one is counted with its begin.
        if matches!(event.kind(), EventKind::End | EventKind::Gap(_) | EventKind::Discarded { .. }) {
            return Ok(());
        }
        self.name.clear();
        push_label(&mut self.name, event.name(), NAME_MAX);
        let count = self.events.of(&self.name);
        *count = count.saturating_add(1);
        Ok(())
    }

    fn track(&mut self, track: &Track<'_>) -> Result<()> {
        // It may have another label.
        self.known_tracks.remove(&track.id());
        Ok(())
    }

    fn alias(&mut self, track: &str, alias: &str) {
        self.aliases.insert(track.to_owned(), alias.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_length_have_one_place_each() {
        let mut all = ByName::<u64>::default();
        let names: Vec<_> = (0..60).map(|len| "ä".repeat(len)).collect();
        for round in 1..4 {
            for name in &names {
                *all.of(name) += round;
            }
        }
        assert_eq!(all.names(), names);
        assert!(names.iter().all(|name| all.get(name) == Some(&6)) && all.get("a").is_none());
    }

    /// As if all hashes were the same.
    #[test]
    fn names_with_the_same_hash_are_told_apart() {
        let mut all = ByName::<u64>::default();
        assert_eq!(["a", "b", "c"].map(|name| all.add(7, name)), [0, 1, 2]);
        assert_eq!(["a", "b", "c", "d"].map(|name| all.find(7, name)), [Some(0), Some(1), Some(2), None]);
    }

    #[test]
    fn too_many_names_are_counted_together() {
        let mut all = ByName::<u64>::default();
        for number in 0..NAMES + 10 {
            *all.of(&number.to_string()) += 1;
        }
        assert_eq!((all.len(), all.get(OTHERS)), (NAMES + 1, Some(&10)));
        *all.of("7") += 1;
        assert_eq!(all.get("7"), Some(&2));
    }
}
