//! Events, put into lanes.

use super::lanes::{BUCKETS, Cell, First, Lane, Lanes};
use crate::status::{Failure, Result};
use crate::trace::{Events, widen};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use traceglass::event::{EventKind, Item, Number, Track, TrackKind};
use traceglass::record::Record;
use traceglass_open::record::Json;

/// The number of lanes that are told apart; the tracks after them share one.
const LANES: usize = 128;

/// The number of tracks that are known by name before they have a lane.
const TRACKS: usize = 1 << 16;

/// The number of names of slices and instants that are told apart.
const NAMES: usize = 1 << 12;

/// Fills lanes with events; says how far it is now and then.
pub struct Filler<'f> {
    lanes: Lanes,
    /// Only what is in this window counts.
    window: Option<(i128, i128)>,
    tracks: HashMap<u64, (String, &'static str)>,
    places: HashMap<u64, usize>,
    names: HashMap<String, u16>,
    /// Slices that were open before the window begins: how deep, since when, and the outermost one's name.
    open: HashMap<u64, (u32, i128, u16)>,
    json: Json,
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
            lanes.width = span
                .saturating_add(buckets.saturating_sub(2))
                .checked_div(buckets.saturating_sub(1))
                .unwrap_or(span);
            lanes.width = lanes.width.max(1);
            lanes.base = from.div_euclid(lanes.width);
        }
        Self {
            lanes,
            window,
            tracks: HashMap::new(),
            places: HashMap::new(),
            names: HashMap::new(),
            open: HashMap::new(),
            json: Json::merged(),
            tell,
            next: Instant::now(),
            count: 0,
        }
    }

    /// Ends the slices that are open, and gives the lanes.
    pub fn finish(mut self) -> Lanes {
        self.enter();
        let end = self.window.map_or(self.lanes.window().1, |(_, to)| to);
        for number in 0..self.lanes.lanes.len() {
            self.close(number, end, true);
        }
        if let Some((from, to)) = self.window {
            self.lanes.span = Some((from, to.saturating_sub(1)));
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
        // If an event is far before all others, the later ones must not get lost.
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

    /// The window begins: what is still open is seen in it.
    fn enter(&mut self) {
        for (track, (depth, since, slice)) in std::mem::take(&mut self.open) {
            let place = self.lane(track);
            if let Some(lane) = self.lanes.lanes.get_mut(place) {
                (lane.depth, lane.since, lane.slice) = (depth, since, slice);
            }
        }
    }

    /// A slice begins or ends before the window.
    fn before(&mut self, event: &traceglass::event::Event<'_>, ns: i128) {
        let track = event.track().number();
        match event.kind() {
            EventKind::Begin if self.open.len() < TRACKS => {
                let name = event.name().to_string();
                let name = self.intern(crate::output::shortened(&name, 64).as_ref());
                let slice = self.open.entry(track).or_insert((0, ns, name));
                slice.0 = slice.0.saturating_add(1);
            }
            EventKind::End => {
                let left = self.open.get_mut(&track).map(|slice| {
                    slice.0 = slice.0.saturating_sub(1);
                    slice.0
                });
                if left == Some(0) {
                    self.open.remove(&track);
                }
            }
            _ => {}
        }
    }

    fn event(&mut self, event: &traceglass::event::Event<'_>) -> Option<()> {
        // Of a slice that had begun before, or has not ended, it is known when that was noticed.
        let noticed = event.slice().filter(|_| event.time().is_none()).map(|slice| slice.noticed());
        if noticed.is_some() && event.kind() == EventKind::End {
            return None;
        }
        let time = event
            .time()
            .or(noticed)
            .filter(|time| self.lanes.span.is_none() || time.is_absolute() == self.lanes.absolute);
        let Some(time) = time else {
            self.lanes.timeless = self.lanes.timeless.saturating_add(1);
            return None;
        };
        let ns = time.ns();
        let inside = self.window.is_none_or(|(from, to)| (from..to).contains(&ns));
        let track = event.track().number();
        let known = self.places.contains_key(&track);
        if self.window.is_some_and(|(from, _)| ns < from) {
            if !known {
                self.before(event, ns);
            }
            return None;
        }
        if !self.open.is_empty() {
            self.enter();
        }
        if !inside && !known {
            return None;
        }
        let bucket = self.bucket(ns);
        if inside {
            self.lanes.absolute = time.is_absolute();
            widen(&mut self.lanes.span, ns, ns);
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
                // The first of its lane is seen from the start.
                let start = self.window.map(|(from, _)| from).or(self.lanes.span.map(|(first, _)| first));
                let since = start.filter(|_| noticed.is_some() && !known).unwrap_or(ns);
                (lane.since, lane.slice) = (since, name);
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
                widen(&mut lane.values, value, value);
                if let Some(cell) = bucket.and_then(|bucket| lane.cells.get_mut(bucket)) {
                    cell.value = Some(value);
                }
            }
        }
        let cell = bucket.and_then(|bucket| lane.cells.get_mut(bucket))?;
        cell.events = cell.events.saturating_add(1);
        // What was not said has no bytes to go to.
        if !event.is_inferred() || event.len() > 0 {
            let (offset, end) = (event.offset(), event.end_offset());
            cell.first.get_or_insert(First { input, offset, end, ns });
        }
        if event.kind() == EventKind::Instant && cell.name == 0 {
            cell.name = name;
        }
        cell.is_damaged |= event.kind().is_loss();
        Some(())
    }
}

impl Filler<'_> {
    /// The number that tells a task from others of its name.
    fn iid(&mut self, track: &Track<'_>) -> Option<String> {
        if track.kind() != TrackKind::Task {
            return None;
        }
        self.json.buffer.clear();
        track.tell(&mut self.json).ok()?;
        let told: serde_json::Value = serde_json::from_slice(self.json.buffer.text()).ok()?;
        told.get("iid").map(|iid| iid.as_str().map_or_else(|| iid.to_string(), str::to_owned))
    }
}

impl Events for Filler<'_> {
    fn item(&mut self, item: &Item<'_>) -> Result<()> {
        self.count = self.count.wrapping_add(1);
        if self.count.is_multiple_of(1024) && Instant::now() >= self.next {
            self.next = Instant::now().checked_add(Duration::from_millis(250)).unwrap_or(self.next);
            if !(self.tell)(&self.lanes) {
                return Err(Failure::Stopped);
            }
        }
        match item {
            Item::Track(track) => {
                let number = track.id().number();
                let label = track.label().to_string();
                let mut label = crate::output::shortened(&label, 64).into_owned();
                // Many tasks have one name.
                if let Some(iid) = self.iid(track) {
                    label.push_str(&format!(" #{iid}"));
                }
                if let Some(lane) =
                    self.places.get(&number).and_then(|&place| self.lanes.lanes.get_mut(place))
                {
                    (lane.name, lane.kind) = (label, track.kind().name());
                } else if self.tracks.len() < TRACKS {
                    self.tracks.insert(number, (label, track.kind().name()));
                }
            }
            Item::Event(event) => {
                // Events come in the order of time, but some are a little late: reading goes on for another window.
                if let (Some((from, to)), Some(time)) = (self.window, event.time())
                    && time.ns() >= to.saturating_add(to.saturating_sub(from))
                {
                    return Err(Failure::Stopped);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use traceglass::event::{Event, Label, Time, TrackId};

    /// Counts times in the cells of a lane, as events are, and compares the cells with the times that were taken.
    fn fill(times: &[i128]) -> usize {
        let mut tell = |_: &Lanes| true;
        let mut filler = Filler::new(None, &mut tell);
        let place = filler.lane(1);
        let mut taken = Vec::new();
        for &ns in times {
            let Some(bucket) = filler.bucket(ns) else { continue };
            let (first, last) = filler.lanes.span.unwrap_or((ns, ns));
            filler.lanes.span = Some((first.min(ns), last.max(ns)));
            filler.lanes.lanes[place].cells[bucket].events += 1;
            taken.push(ns);
        }
        let lanes = &filler.lanes;
        let mut expected = vec![0; BUCKETS];
        for &ns in &taken {
            expected[lanes.bucket_of(ns).expect("what was taken has a place")] += 1;
        }
        let found: Vec<_> = lanes.lanes[place].cells.iter().map(|cell| cell.events).collect();
        assert_eq!(found, expected, "{times:?}");
        taken.len()
    }

    #[test]
    fn what_was_not_said_has_no_place() {
        let mut tell = |_: &Lanes| true;
        let mut filler = Filler::new(None, &mut tell);
        let event = |kind, ns| {
            Event::new(TrackId::new(1), kind, Label::Text("poll")).with_time(Time::since_origin(ns))
        };
        // Far enough from each other to be in spans of their own.
        let begin = event(EventKind::Begin, 0).with_place(0, 64, 8);
        let end = event(EventKind::End, 1_000_000).into_inferred();
        for event in [begin, end] {
            filler.item(&Item::Event(event)).unwrap();
        }
        let lanes = filler.finish();
        let used = lanes.lanes[0].cells.iter().filter(|cell| cell.events > 0);
        let places: Vec<_> = used.map(|cell| cell.first.map(|first| first.offset)).collect();
        assert_eq!(places, [Some(64), None]);
    }

    #[test]
    fn no_event_is_lost_when_spans_grow() {
        let mut random = Random(0x5eed_000a);
        let mut next = || random.next();
        for round in 0..200_u32 {
            let start = i128::from(next()) - (1 << 62);
            let scale = next() >> (round % 60);
            let times: Vec<i128> =
                (0..60).map(|_| start + i128::from(next().checked_rem(scale).unwrap_or(0))).collect();
            assert_eq!(fill(&times), times.len());
        }
    }

    /// One that is far before all others may be left out; those after it are not.
    #[test]
    fn a_far_event_costs_itself_alone() {
        for far in [-(1 << 40), -(1 << 80), 1 << 40, 1 << 80] {
            let near = (0..50_i128).map(|at| at * 1_000);
            let times: Vec<i128> = near.clone().chain([far]).chain(near.map(|at| at + 60_000)).collect();
            assert!(fill(&times) >= times.len() - 1, "{far}");
        }
    }
}
