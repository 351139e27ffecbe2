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
    pub events: HashMap<String, u64, RandomState>,
    pub slices: HashMap<String, Named, RandomState>,
    pub tracks: HashMap<String, Busy, RandomState>,
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
    pub names: HashMap<String, i128, RandomState>,
}

/// The place of a name, or of the others if there are too many.
fn place<'m, T: Default>(map: &'m mut HashMap<String, T, RandomState>, name: &str) -> &'m mut T {
    let name = if map.len() < NAMES || map.contains_key(name) { name } else { OTHERS };
    if !map.contains_key(name) {
        map.insert(name.to_owned(), T::default());
    }
    map.entry(name.to_owned()).or_default()
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
            let named = place(&mut self.slices, slice.name);
            named.open = named.open.saturating_add(1);
            return Ok(());
        };
        let named = place(&mut self.slices, slice.name);
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
        let busy = place(&mut self.tracks, slice.track);
        let ns = end.saturating_sub(begin).max(0);
        busy.ns = busy.ns.saturating_add(ns);
        let of = place(&mut busy.names, slice.name);
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
        let count = place(&mut self.events, &self.name);
        *count = count.saturating_add(1);
        Ok(())
    }

    fn alias(&mut self, track: &str, alias: &str) {
        self.aliases.insert(track.to_owned(), alias.to_owned());
    }
}
