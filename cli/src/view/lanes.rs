//! Tracks as lanes: what happened in each of a limited number of spans of time, whatever there is.

use super::key::Key;
use super::rows::Place;
use super::state::{Effect, State};
use crate::status::{Failure, Result};
use crate::trace::{Browse, Events};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use traceglass::event::{EventKind, Item, Number};

/// Into so many spans the time of a window is divided.
pub const BUCKETS: usize = 512;

/// So many lanes are told apart; the tracks after them share one.
const LANES: usize = 200;

/// So many tracks are known by name before they have a lane.
const TRACKS: usize = 1 << 16;

/// So many names of slices and instants are told apart.
const NAMES: usize = 1 << 12;

/// What the viewer is busy with while lanes are filled.
const DRAWING: &str = "drawing the timeline";

/// What happened on a track in a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    /// How many events there were.
    pub events: u32,
    /// For how long a slice was open, in nanoseconds.
    pub busy: u64,
    /// The name of the slice that was open longest, or of the first instant; 0 if there is none.
    pub name: u16,
    pub value: Option<f64>,
    pub is_damaged: bool,
    /// The input and the offset of the first event.
    pub first: Option<(u32, u64)>,
}

impl Cell {
    pub fn join(self, later: Self) -> Self {
        Self {
            events: self.events.saturating_add(later.events),
            busy: self.busy.saturating_add(later.busy),
            name: if later.busy > self.busy || self.name == 0 { later.name } else { self.name },
            value: later.value.or(self.value),
            is_damaged: self.is_damaged || later.is_damaged,
            first: self.first.or(later.first),
        }
    }
}

/// A track with events in the window.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    pub name: String,
    pub kind: &'static str,
    pub cells: Vec<Cell>,
    /// The least and the greatest value of a counter.
    pub values: Option<(f64, f64)>,
    /// When the slices that are open began, by how deep they are: the outermost counts.
    depth: u32,
    since: i128,
    slice: u16,
}

/// The lanes of a window of time.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// The number of the first span, and how long each is, in nanoseconds.
    base: i128,
    pub width: i128,
    pub absolute: bool,
    pub lanes: Vec<Lane>,
    pub names: Vec<String>,
    /// Whether all of the window was read.
    pub done: bool,
    /// Events of which no time is known, or one of another clock.
    pub timeless: u64,
    /// The first and the last time.
    pub span: Option<(i128, i128)>,
    pub failed: Option<String>,
    /// How many bytes have been read.
    pub read: u64,
}

impl Lanes {
    /// When the span of that number begins.
    pub fn time_of(&self, bucket: usize) -> i128 {
        let bucket = i128::try_from(bucket).unwrap_or(i128::MAX);
        self.base.saturating_add(bucket).saturating_mul(self.width)
    }

    /// The span that a time is in.
    pub fn bucket_of(&self, ns: i128) -> Option<usize> {
        let bucket = ns.checked_div_euclid(self.width)?.checked_sub(self.base)?;
        usize::try_from(bucket).ok().filter(|&bucket| bucket < BUCKETS)
    }

    /// The window: from the first span to the end of the last one in use.
    pub fn window(&self) -> (i128, i128) {
        match self.span {
            Some((first, last)) => (first, last.saturating_add(1)),
            None => (self.time_of(0), self.time_of(BUCKETS)),
        }
    }

    pub fn name(&self, number: u16) -> &str {
        usize::from(number)
            .checked_sub(1)
            .and_then(|number| self.names.get(number))
            .map_or("", String::as_str)
    }
}

/// Fills lanes with events; says how far it is now and then.
pub struct Filler<'f> {
    lanes: Lanes,
    /// Only what is in this window counts.
    window: Option<(i128, i128)>,
    tracks: HashMap<u64, (String, &'static str)>,
    places: HashMap<u64, usize>,
    names: HashMap<String, u16>,
    tell: &'f mut dyn FnMut(&Lanes) -> bool,
    next: Instant,
    count: u32,
}

impl<'f> Filler<'f> {
    pub fn new(window: Option<(i128, i128)>, tell: &'f mut dyn FnMut(&Lanes) -> bool) -> Self {
        let mut lanes = Lanes { width: 1, ..Lanes::default() };
        if let Some((from, to)) = window {
            let buckets = BUCKETS as i128;
            // One more, since the first one need not begin where the window does.
            let span = to.saturating_sub(from).max(1);
            lanes.width = span.saturating_add(buckets.saturating_sub(2)) / buckets.saturating_sub(1).max(1);
            lanes.width = lanes.width.max(1);
            lanes.base = from.div_euclid(lanes.width);
        }
        Self {
            lanes,
            window,
            tracks: HashMap::new(),
            places: HashMap::new(),
            names: HashMap::new(),
            tell,
            next: Instant::now(),
            count: 0,
        }
    }

    /// Ends the slices that are open, and gives the lanes.
    pub fn finish(mut self) -> Lanes {
        let end = self.lanes.window().1;
        for number in 0..self.lanes.lanes.len() {
            self.close(number, end, true);
        }
        if self.window.is_some() && self.lanes.span.is_some() {
            self.lanes.span = self.window.map(|(from, to)| (from, to.saturating_sub(1)));
        }
        self.lanes.done = true;
        self.lanes
    }

    /// The span that a time is in; spans grow longer if there is none.
    fn bucket(&mut self, ns: i128) -> Option<usize> {
        if let Some((from, to)) = self.window {
            return if (from..to).contains(&ns) { self.lanes.bucket_of(ns) } else { None };
        }
        if self.lanes.span.is_none() {
            self.lanes.base = ns;
        }
        while self.lanes.bucket_of(ns).is_none() {
            self.widen(ns)?;
        }
        self.lanes.bucket_of(ns)
    }

    /// Makes spans twice as long.
    fn widen(&mut self, ns: i128) -> Option<()> {
        let width = self.lanes.width.checked_mul(2)?;
        let old = self.lanes.base;
        let base = old.div_euclid(2).min(ns.div_euclid(width));
        // Where an event is far before all others, what follows must not get lost.
        let last = old.saturating_add(BUCKETS as i128).saturating_sub(1).div_euclid(2);
        let fits = last.checked_sub(base)? < BUCKETS as i128;
        let base = if fits { base } else { old.div_euclid(2) };
        for lane in &mut self.lanes.lanes {
            let mut cells = vec![Cell::default(); BUCKETS];
            for (number, cell) in (0_i128..).zip(&lane.cells) {
                let to = old.saturating_add(number).div_euclid(2).saturating_sub(base);
                if let Some(to) = usize::try_from(to).ok().and_then(|to| cells.get_mut(to)) {
                    *to = to.join(*cell);
                }
            }
            lane.cells = cells;
        }
        (self.lanes.width, self.lanes.base) = (width, base);
        Some(())
    }

    fn lane(&mut self, track: u64) -> usize {
        if let Some(&place) = self.places.get(&track) {
            return place;
        }
        let place = self.lanes.lanes.len();
        if place >= LANES {
            if place == LANES {
                let cells = vec![Cell::default(); BUCKETS];
                self.lanes.lanes.push(Lane {
                    name: "all others".to_owned(),
                    kind: "",
                    cells,
                    ..Lane::default()
                });
            }
            return LANES;
        }
        let (name, kind) = match self.tracks.get(&track) {
            Some((name, kind)) => (name.clone(), *kind),
            None => (format!("track {track}"), ""),
        };
        let cells = vec![Cell::default(); BUCKETS];
        self.lanes.lanes.push(Lane { name, kind, cells, ..Lane::default() });
        self.places.insert(track, place);
        place
    }

    fn intern(&mut self, name: &str) -> u16 {
        if let Some(&number) = self.names.get(name) {
            return number;
        }
        if name.is_empty() || self.lanes.names.len() >= NAMES {
            return 0;
        }
        self.lanes.names.push(name.to_owned());
        let number = u16::try_from(self.lanes.names.len()).unwrap_or(0);
        self.names.insert(name.to_owned(), number);
        number
    }

    /// Ends the outermost slice of a lane, at `end`.
    fn close(&mut self, place: usize, end: i128, all: bool) {
        let window = self.window;
        let Some(lane) = self.lanes.lanes.get_mut(place) else { return };
        if lane.depth == 0 {
            return;
        }
        lane.depth = if all { 0 } else { lane.depth.saturating_sub(1) };
        if lane.depth > 0 {
            return;
        }
        let (mut from, mut to, name) = (lane.since, end, lane.slice);
        if let Some((start, end)) = window {
            (from, to) = (from.max(start), to.min(end));
        }
        let (base, width) = (self.lanes.base, self.lanes.width);
        let first = from.div_euclid(width).max(base);
        let last = to.div_euclid(width).min(base.saturating_add(BUCKETS as i128).saturating_sub(1));
        let mut bucket = first;
        while bucket <= last && from <= to {
            let start = bucket.saturating_mul(width);
            let share = to.min(start.saturating_add(width)).saturating_sub(from.max(start)).max(0);
            let cell =
                usize::try_from(bucket.saturating_sub(base)).ok().and_then(|at| lane.cells.get_mut(at));
            if let Some(cell) = cell {
                let share = u64::try_from(share).unwrap_or(u64::MAX);
                if share >= cell.busy || cell.name == 0 {
                    cell.name = name;
                }
                cell.busy = cell.busy.saturating_add(share);
            }
            bucket = bucket.saturating_add(1);
        }
    }

    fn event(&mut self, event: &traceglass::event::Event<'_>) -> Option<()> {
        let time = event
            .time()
            .filter(|time| self.lanes.span.is_none() || time.is_absolute() == self.lanes.absolute);
        let Some(time) = time else {
            self.lanes.timeless = self.lanes.timeless.saturating_add(1);
            return None;
        };
        let ns = time.ns();
        let inside = self.window.is_none_or(|(from, to)| (from..to).contains(&ns));
        let track = event.track().number();
        let known = self.places.contains_key(&track);
        // A slice that was open before the window begins is seen in it.
        let before = self.window.is_some_and(|(from, _)| ns < from);
        let is_slice = matches!(event.kind(), EventKind::Begin | EventKind::End);
        if !inside && !(before && is_slice) && !known {
            return None;
        }
        let bucket = self.bucket(ns);
        if inside {
            self.lanes.absolute = time.is_absolute();
            let (first, last) = self.lanes.span.unwrap_or((ns, ns));
            self.lanes.span = Some((first.min(ns), last.max(ns)));
        }
        let place = self.lane(track);
        let name = match event.kind() {
            EventKind::Begin | EventKind::Instant => {
                let name = event.name().to_string();
                self.intern(crate::output::shortened(&name, 64).as_ref())
            }
            _ => 0,
        };
        if event.kind() == EventKind::End {
            self.close(place, ns, false);
        }
        let lane = self.lanes.lanes.get_mut(place)?;
        if event.kind() == EventKind::Begin {
            if lane.depth == 0 {
                (lane.since, lane.slice) = (ns, name);
            }
            lane.depth = lane.depth.saturating_add(1);
        }
        let input = u32::try_from(event.input()).unwrap_or(u32::MAX);
        if let EventKind::Counter(number) = event.kind() {
            let value = match number {
                Number::Float(value) => value,
                #[allow(clippy::cast_precision_loss)] // It is drawn in eight steps.
                Number::Integer(value) => value as f64,
                _ => f64::NAN,
            };
            if value.is_finite() && inside {
                let (least, most) = lane.values.unwrap_or((value, value));
                lane.values = Some((least.min(value), most.max(value)));
                if let Some(cell) = bucket.and_then(|bucket| lane.cells.get_mut(bucket)) {
                    cell.value = Some(value);
                }
            }
        }
        let cell = bucket.and_then(|bucket| lane.cells.get_mut(bucket))?;
        cell.events = cell.events.saturating_add(1);
        cell.first.get_or_insert((input, event.offset()));
        if event.kind() == EventKind::Instant && cell.name == 0 {
            cell.name = name;
        }
        cell.is_damaged |= matches!(event.kind(), EventKind::Gap(_) | EventKind::Discarded { .. });
        Some(())
    }
}

/// That enough was read.
fn enough() -> Failure {
    Failure::usage("enough")
}

impl Events for Filler<'_> {
    fn item(&mut self, item: &Item<'_>) -> Result<()> {
        self.count = self.count.wrapping_add(1);
        if self.count % 1024 == 0 && Instant::now() >= self.next {
            self.next = Instant::now().checked_add(Duration::from_millis(100)).unwrap_or(self.next);
            if !(self.tell)(&self.lanes) {
                return Err(enough());
            }
        }
        match item {
            Item::Track(track) => {
                let number = track.id().number();
                let label = track.label().to_string();
                let label = crate::output::shortened(&label, 64).into_owned();
                if let Some(lane) =
                    self.places.get(&number).and_then(|&place| self.lanes.lanes.get_mut(place))
                {
                    lane.name = label;
                } else if self.tracks.len() < TRACKS {
                    self.tracks.insert(number, (label, track.kind().name()));
                }
            }
            Item::Event(event) => {
                // Events come in the order of time; those that are late by a little are still waited for.
                if let (Some((from, to)), Some(time)) = (self.window, event.time())
                    && time.ns() >= to.saturating_add(to.saturating_sub(from))
                {
                    return Err(enough());
                }
                self.event(event);
            }
            _ => {}
        }
        Ok(())
    }

    fn advance(&mut self, bytes: u64) {
        self.lanes.read = self.lanes.read.saturating_add(bytes);
    }
}

/// What a key of the timeline does.
impl State {
    /// Takes lanes that were filled.
    pub fn set_lanes(&mut self, lanes: Lanes) {
        if lanes.done && self.busy.as_deref() == Some(DRAWING) {
            self.busy = None;
        }
        if self.window.is_none() && lanes.span.is_some() {
            self.extent = lanes.span;
        }
        self.lanes = lanes;
        self.lane = self.lane.min(self.lanes.lanes.len().saturating_sub(1));
    }

    /// The window that is shown.
    pub fn shown_window(&self) -> (i128, i128) {
        self.window.unwrap_or_else(|| self.lanes.window())
    }

    /// The time that the timeline's keys are about: of the cursor's record, if that is in the window.
    fn center(&self) -> i128 {
        let (from, to) = self.shown_window();
        match self.lanes_at {
            Some(at) if (from..to).contains(&at) => at,
            _ => from.midpoint(to),
        }
    }

    pub fn zoom(&mut self, key: char, effects: &mut Vec<Effect>) {
        if self.lanes.span.is_none() {
            self.message = "there are no events to be seen on a timeline".to_owned();
            return;
        }
        let (from, to) = self.shown_window();
        let span = to.saturating_sub(from).max(1);
        let center = self.center();
        let (from, to) = match key {
            'w' | 's' => {
                let scaled = |part: i128| if key == 'w' { part / 2 } else { part.saturating_mul(2) };
                let left = scaled(center.saturating_sub(from));
                let right = scaled(to.saturating_sub(center)).max(1);
                (center.saturating_sub(left), center.saturating_add(right))
            }
            'a' => (from.saturating_sub(span / 4), to.saturating_sub(span / 4)),
            _ => (from.saturating_add(span / 4), to.saturating_add(span / 4)),
        };
        if to.saturating_sub(from) < 16 && key == 'w' {
            return;
        }
        // All of it: there is nothing beyond.
        let all = self.extent.is_some_and(|(first, last)| from <= first && last < to);
        self.window = if all { None } else { Some((from, to)) };
        self.busy = Some(DRAWING.to_owned());
        effects.push(Effect::Timeline(self.window));
    }

    pub fn timeline_key(&mut self, key: Key, times: u64, browse: &dyn Browse, effects: &mut Vec<Effect>) {
        let last = self.lanes.lanes.len().saturating_sub(1);
        let times = usize::try_from(times).unwrap_or(usize::MAX);
        match key {
            Key::Char('j') | Key::Down => self.lane = self.lane.saturating_add(times).min(last),
            Key::Char('k') | Key::Up => self.lane = self.lane.saturating_sub(times),
            Key::Ctrl('f') | Key::PageDown => self.lane = self.lane.saturating_add(10).min(last),
            Key::Ctrl('b') | Key::PageUp => self.lane = self.lane.saturating_sub(10),
            Key::Char('l') | Key::Right => self.step_bucket(true, browse, effects),
            Key::Char('h') | Key::Left => self.step_bucket(false, browse, effects),
            Key::Enter => {
                self.pane = super::state::Pane::Records;
                self.show_cursor();
            }
            _ => {}
        }
    }

    /// Goes to the next span of the lane in which something happened.
    fn step_bucket(&mut self, forward: bool, browse: &dyn Browse, effects: &mut Vec<Effect>) {
        let Some(lane) = self.lanes.lanes.get(self.lane) else { return };
        let at = self.lanes_at.and_then(|at| self.lanes.bucket_of(at));
        let mut used = lane.cells.iter().enumerate().filter(|(_, cell)| cell.first.is_some());
        let found = match (forward, at) {
            (true, at) => used.find(|(place, _)| at.is_none_or(|at| *place > at)),
            (false, Some(at)) => used.rfind(|(place, _)| *place < at),
            (false, None) => used.next_back(),
        };
        let Some((bucket, Cell { first: Some((input, offset)), .. })) = found else {
            self.message = "nothing further on this lane, in this window".to_owned();
            return;
        };
        let (ns, offset) = (self.lanes.time_of(bucket), *offset);
        self.lanes_at = Some(ns.max(self.shown_window().0));
        match usize::try_from(*input).ok().and_then(|input| browse.file_of_input(input)) {
            Some(file) => self.go(Place::at(file, offset), browse),
            None => {
                let time = crate::trace::Time::Absolute(ns);
                effects.push(Effect::Errand(super::errand::Errand::Seek { time }));
            }
        }
    }
}
