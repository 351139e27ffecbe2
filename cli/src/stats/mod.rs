//! What is counted of a trace: events and slices by name, and how busy its tracks are.

mod sketch;

pub use sketch::Sketch;

use crate::output::{NAME_MAX, push_label};
use crate::slices::{Slice, TakeSlices};
use crate::status::{Failure, Result};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use traceglass::event::{Event, EventKind, Window};

/// Names of each kind that are counted on their own; the others are counted together.
const NAMES: usize = 1 << 16;

/// The name of the others.
const OTHERS: &str = "(others)";

/// What is counted of a trace.
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

/// What a track does.
#[derive(Default)]
pub struct Busy {
    /// How long something was on it.
    pub ns: i128,
    /// By name, what was on it that lies in nothing else.
    pub names: ByName<i128>,
}

/// What is known by a name.
pub struct ByName<T> {
    places: HashMap<String, usize, RandomState>,
    values: Vec<T>,
    /// What there is where a place has no value: none is without.
    rest: T,
    /// The name that was looked up last, and its place.
    last: (String, usize),
}

impl<T: Default> Default for ByName<T> {
    fn default() -> Self {
        let last = (String::new(), usize::MAX);
        Self { places: HashMap::default(), values: Vec::new(), rest: T::default(), last }
    }
}

impl<T: Default> ByName<T> {
    /// The value of a name, or of the others if there are too many.
    fn place(&mut self, name: &str) -> &mut T {
        if self.last.1 >= self.values.len() || self.last.0 != name {
            let place = match self.places.get(name) {
                Some(place) => *place,
                None => self.add(if self.places.len() < NAMES { name } else { OTHERS }),
            };
            self.last.0.clear();
            self.last.0.push_str(name);
            self.last.1 = place;
        }
        self.values.get_mut(self.last.1).unwrap_or(&mut self.rest)
    }

    fn add(&mut self, name: &str) -> usize {
        let next = self.values.len();
        let place = *self.places.entry(name.to_owned()).or_insert(next);
        if place == next {
            self.values.push(T::default());
        }
        place
    }
}

impl<T> ByName<T> {
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn get(&self, name: &str) -> Option<&T> {
        self.values.get(*self.places.get(name)?)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&String, &T)> {
        self.places.iter().filter_map(|(name, place)| Some((name, self.values.get(*place)?)))
    }
}

impl Stats {
    /// Of a range of time.
    pub fn new(window: Window) -> Self {
        Self { window, ..Self::default() }
    }

    /// How long it is, in nanoseconds: from the first event to the last, or the window.
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
    const HAS_ARGS: bool = false;

    fn slice(&mut self, slice: &Slice<'_>) -> Result<()> {
        if !slice.touches(self.window) {
            return Ok(());
        }
        let Some(ns) = slice.duration() else {
            let named = self.slices.place(slice.name);
            named.open = named.open.saturating_add(1);
            return Ok(());
        };
        let named = self.slices.place(slice.name);
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
        let busy = self.tracks.place(slice.track);
        let ns = end.saturating_sub(begin).max(0);
        busy.ns = busy.ns.saturating_add(ns);
        let of = busy.names.place(slice.name);
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
        // What was lost is no event, and the end of one is counted with its begin.
        if matches!(event.kind(), EventKind::End | EventKind::Gap(_) | EventKind::Discarded { .. }) {
            return Ok(());
        }
        self.name.clear();
        push_label(&mut self.name, event.name(), NAME_MAX);
        let count = self.events.place(&self.name);
        *count = count.saturating_add(1);
        Ok(())
    }

    fn alias(&mut self, track: &str, alias: &str) {
        match self.aliases.get_mut(track) {
            Some(known) => alias.clone_into(known),
            None => drop(self.aliases.insert(track.to_owned(), alias.to_owned())),
        }
    }
}
