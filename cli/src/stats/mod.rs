//! Statistics of a trace: events and slices by name, and how busy its tracks are.

mod cover;
mod sketch;

pub use sketch::Sketch;

use crate::output::{NAME_MAX, add, push_label};
use crate::slices::{Slice, TakeSlices};
use crate::status::{Failure, Result};
use crate::trace::Extent;
use compact_str::CompactString;
use cover::Cover;
use foldhash::fast::RandomState;
use indexmap::IndexMap;
use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;
use traceglass::event::states::Edges;
use traceglass::event::{Event, EventKind, Label, Time, Track, TrackId, Window};

/// Names of each kind that are counted on their own; the others are counted together.
const NAMES: usize = 1 << 16;

/// The name of the others.
const OTHERS: &str = "(others)";

type Map<K, V> = HashMap<K, V, RandomState>;

/// The statistics of a trace.
#[derive(Default)]
pub struct Stats {
    pub events: ByName<u64>,
    pub slices: ByName<Named>,
    pub tracks: ByName<Busy>,
    pub aliases: HashMap<String, String, RandomState>,
    extent: Extent,
    window: Window,
    name: String,
    /// The places of tracks that were met, by the numbers that their slices have.
    known_tracks: Vec<Option<NonZeroU32>>,
    /// By the same numbers, the times of slices that have ended and lie in one that has not, by their names: of those that lie
    /// in one, in two, and so on, without those that lie in one of them.
    inside: Vec<Vec<Map<u32, u64>>>,
    /// The tracks of the source that have not ended by their labels, and the labels that several had at a time: their
    /// slices may overlap.
    labels: HashMap<String, TrackId, RandomState>,
    shared: HashSet<String, RandomState>,
}

/// The slices of a name.
#[derive(Default)]
#[repr(C)]
pub struct Named {
    pub sketch: Sketch,
    /// The offset of the event that begins the longest one.
    pub longest_at: u64,
    /// Slices of which one end is not known: they have no duration.
    pub open: u64,
}

/// The activity of a track: by the places of their names, how long slices were on it that lie in nothing else.
#[derive(Default)]
#[repr(align(64))]
pub struct Busy {
    /// The first names and their times: most tracks have no more.
    few: [u32; FEW],
    few_len: u32,
    few_ns: [u64; FEW],
    more: Option<Box<More>>,
}

/// The times of a track that has many names, or slices that may overlap.
#[derive(Default)]
struct More {
    names: HashMap<u32, u64, RandomState>,
    /// The time that is covered, of a track whose slices may overlap.
    shared: Option<Shared>,
}

/// The time that slices cover which may overlap.
#[derive(Default)]
struct Shared {
    /// The time before any could.
    before: u64,
    all: Cover,
    /// The times of each name.
    names: HashMap<u32, Cover, RandomState>,
}

/// The number of names on a track that are looked through one by one.
const FEW: usize = 4;

/// Values by name, in the order in which the names were met.
#[derive(Default)]
pub struct ByName<T> {
    known: IndexMap<CompactString, T, RandomState>,
    /// The value where a place has none: zero.
    rest: T,
}

impl<T: Default> ByName<T> {
    /// The value of a name, or of the others if there are too many.
    fn of(&mut self, name: &str) -> &mut T {
        let place = self.place(name);
        self.at(place)
    }

    /// The value at a place.
    fn at(&mut self, place: usize) -> &mut T {
        self.known.get_index_mut(place).map_or(&mut self.rest, |(_, value)| value)
    }

    /// The place of a name, or of the others if there are too many.
    fn place(&mut self, name: &str) -> usize {
        match self.find(name) {
            Some(place) => place,
            None if self.known.len() < NAMES => self.add(name),
            None => self.find(OTHERS).unwrap_or_else(|| self.add(OTHERS)),
        }
    }

    fn add(&mut self, name: &str) -> usize {
        self.known.insert_full(CompactString::new(name), T::default()).0
    }
}

impl<T> ByName<T> {
    fn find(&self, name: &str) -> Option<usize> {
        self.known.get_index_of(name)
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    pub fn len(&self) -> usize {
        self.known.len()
    }

    pub fn get(&self, name: &str) -> Option<&T> {
        self.known.get(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> + Clone {
        self.known.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The names by their places.
    pub fn names(&self) -> Vec<&str> {
        self.known.keys().map(CompactString::as_str).collect()
    }
}

impl Busy {
    /// Adds the time of a name, whose slice ends after all others so far.
    fn add(&mut self, name: u32, begin: i128, end: i128) {
        let ns = match self.more.as_mut().and_then(|more| more.shared.as_mut()) {
            Some(shared) => {
                shared.all.add(begin, end);
                shared.names.entry(name).or_default().add(begin, end)
            }
            None => length(begin, end),
        };
        self.add_ns(name, ns);
    }

    /// Adds to the time of a name.
    fn add_ns(&mut self, name: u32, ns: u64) {
        let few_len = usize::try_from(self.few_len).unwrap_or(FEW);
        let known = self.few.iter().take(few_len).position(|known| *known == name);
        let known = match self.few_ns.get_mut(known.unwrap_or(few_len)) {
            Some(few_ns) => {
                if let (None, Some(new)) = (known, self.few.get_mut(few_len)) {
                    self.few_len = self.few_len.saturating_add(1);
                    *new = name;
                }
                few_ns
            }
            None => self.more.get_or_insert_default().names.entry(name).or_default(),
        };
        add(known, ns);
    }

    fn each(&self) -> impl Iterator<Item = (u32, u64)> {
        let len = usize::try_from(self.few_len).unwrap_or(FEW);
        let few = self.few.iter().copied().zip(self.few_ns).take(len);
        let more = self.more.iter().flat_map(|more| more.names.iter());
        few.chain(more.map(|(name, ns)| (*name, *ns)))
    }

    fn shared(&self) -> Option<&Shared> {
        self.more.as_ref()?.shared.as_ref()
    }

    /// From now on, slices may overlap.
    fn share(&mut self) {
        if self.shared().is_none() {
            let before = self.each().fold(0_u64, |total, (_, ns)| total.saturating_add(ns));
            self.more.get_or_insert_default().shared = Some(Shared { before, ..Shared::default() });
        }
    }

    /// The time in which a slice was open on it.
    pub fn ns(&self) -> i128 {
        match self.shared() {
            Some(shared) => shared.before.saturating_add(shared.all.ns()).into(),
            None => self.each().fold(0, |total, (_, ns)| total.saturating_add(ns.into())),
        }
    }

    /// The names of the outermost slices on it and their time, the longest first. `names` are those of all slices, by
    /// their places.
    pub fn parts<'n>(&self, names: &[&'n str]) -> Vec<(&'n str, i128)> {
        let part =
            |(place, ns): (u32, u64)| Some((*names.get(usize::try_from(place).ok()?)?, i128::from(ns)));
        let mut parts: Vec<_> = self.each().filter_map(part).collect();
        parts.sort_unstable_by(|(a, of_a), (b, of_b)| of_b.cmp(of_a).then_with(|| a.cmp(b)));
        parts
    }
}

impl Stats {
    /// Of a range of time.
    pub fn new(window: Window) -> Self {
        Self { window, ..Self::default() }
    }

    /// The place of the track of a slice.
    fn track_of(&mut self, slice: &Slice<'_>) -> usize {
        let (tracks, shared) = (&mut self.tracks, &self.shared);
        let find = || {
            let place = tracks.place(slice.track());
            if shared.contains(slice.track()) {
                tracks.at(place).share();
            }
            NonZeroU32::MIN.saturating_add(number_of(place))
        };
        let known = usize::try_from(slice.number).ok().and_then(|number| at(&mut self.known_tracks, number));
        known.map_or(usize::MAX, |known| place_of(*known.get_or_insert_with(find)))
    }

    /// The duration in nanoseconds: from the first event to the last, or that of the window.
    pub fn ns(&self) -> i128 {
        let (first, last) = self.extent.times.unwrap_or_default();
        let (first, last) = (self.window.from().unwrap_or(first), self.window.to().unwrap_or(last));
        last.saturating_sub(first).max(0)
    }
}

fn length(begin: i128, end: i128) -> u64 {
    u64::try_from(end.saturating_sub(begin).max(0)).unwrap_or(u64::MAX)
}

fn number_of(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// The place that a number less one is.
fn place_of(number: NonZeroU32) -> usize {
    usize::try_from(number.get()).unwrap_or(usize::MAX).saturating_sub(1)
}

/// The value at a place, for which room is made.
fn at<T: Default>(all: &mut Vec<T>, place: usize) -> Option<&mut T> {
    all.resize_with(all.len().max(place.saturating_add(1)), T::default);
    all.get_mut(place)
}

/// Looks something up by a label, which is written to `room` if it does not stand in the trace.
fn by_label<T>(room: &mut String, label: Label<'_>, find: impl FnOnce(&str) -> T) -> T {
    match label.as_str().filter(|name| name.len() <= NAME_MAX) {
        Some(name) => find(name),
        None => {
            room.clear();
            push_label(room, label, NAME_MAX);
            find(room)
        }
    }
}

impl TakeSlices for Stats {
    type Error = Failure;

    fn wants_args(&self) -> bool {
        false
    }

    /// Each name that begins is one that is counted, unless it may lie outside of the range.
    fn keep(&mut self, name: Label<'_>) -> Option<u32> {
        let is_all = self.window == Window::ALL;
        is_all.then(|| u32::try_from(by_label(&mut self.name, name, |name| self.slices.place(name))).ok())?
    }

    fn slice(&mut self, slice: &Slice<'_>) -> Result<()> {
        if !slice.touches(self.window) {
            return Ok(());
        }
        let kept = slice.kept.and_then(|kept| usize::try_from(kept).ok());
        let name = kept.unwrap_or_else(|| self.slices.place(slice.name));
        let ns = slice.duration();
        if ns.is_none() || slice.edges.has(Edges::BACKWARDS) {
            // It is not known that what ended in it lies in it.
            self.lost(slice.number, slice.depth);
        }
        let named = self.slices.at(name);
        let Some(ns) = ns else {
            named.open = named.open.saturating_add(1);
            return Ok(());
        };
        if named.sketch.add(ns) {
            named.longest_at = slice.offset;
        }
        // The part in the window.
        let (begin, end) = (slice.begin.map_or(0, |time| time.ns()), slice.end.map_or(0, |time| time.ns()));
        let begin = self.window.from().map_or(begin, |from| from.max(begin));
        let end = self.window.to().map_or(end, |to| to.min(end));
        let (name, number) = (number_of(name), usize::try_from(slice.number).unwrap_or(usize::MAX));
        let track = self.track_of(slice);
        let ended = self.inside.get_mut(number);
        // The outermost of what is known to have ended counts.
        ended.into_iter().for_each(|ended| ended.truncate(slice.depth));
        match slice.depth.checked_sub(1) {
            None => self.tracks.at(track).add(name, begin, end),
            Some(depth) => {
                let names = at(&mut self.inside, number).and_then(|inside| at(inside, depth));
                names.into_iter().for_each(|names| add(names.entry(name).or_default(), length(begin, end)));
            }
        }
        Ok(())
    }

    fn lost(&mut self, number: u32, depth: usize) {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(inside) = self.inside.get_mut(number) else { return };
        let Some(mut ended) = inside.get_mut(depth).map(std::mem::take) else { return };
        inside.truncate(depth);
        let Some(depth) = depth.checked_sub(1) else {
            let track = self.known_tracks.get(number).copied().flatten();
            let busy = self.tracks.at(track.map_or(usize::MAX, place_of));
            // Those of several tracks of one name may overlap.
            if busy.shared().is_none() {
                ended.into_iter().for_each(|(name, ns)| busy.add_ns(name, ns));
            }
            return;
        };
        let Some(names) = at(inside, depth) else { return };
        // The fewer are moved: in a stack of slices, not all of them each time.
        if names.len() < ended.len() {
            std::mem::swap(names, &mut ended);
        }
        ended.into_iter().for_each(|(name, ns)| add(names.entry(name).or_default(), ns));
    }

    fn track(&mut self, track: &Track<'_>) -> Result<()> {
        // Those of states have a name each.
        if track.id().number() > u64::from(u32::MAX) {
            return Ok(());
        }
        let mut label = String::new();
        push_label(&mut label, track.label(), NAME_MAX);
        match self.labels.get(&label) {
            None => drop(self.labels.insert(label, track.id())),
            Some(known) if *known == track.id() => {}
            Some(_) => {
                if let Some(place) = self.tracks.find(&label) {
                    self.tracks.at(place).share();
                }
                self.shared.insert(label);
            }
        }
        Ok(())
    }

    fn renamed(&mut self, number: u32) {
        if let Some(known) = self.known_tracks.get_mut(usize::try_from(number).unwrap_or(usize::MAX)) {
            *known = None;
        }
    }

    fn ended(&mut self, track: TrackId, label: &str) {
        if self.labels.get(label) == Some(&track) {
            self.labels.remove(label);
        }
    }

    fn met(&mut self, time: Time) {
        if self.window.contains(Some(time)) {
            self.extent.meet(time.ns(), time.ns(), time.is_absolute());
        }
    }

    fn event(&mut self, event: &Event<'_>) -> Result<()> {
        if !self.window.contains(event.time()) {
            return Ok(());
        }
        // A loss is no event, and the end of one is counted with its begin.
        if event.kind() == EventKind::End || event.kind().is_loss() {
            return Ok(());
        }
        let count = by_label(&mut self.name, event.name(), |name| self.events.of(name));
        *count = count.saturating_add(1);
        Ok(())
    }

    fn alias(&mut self, track: &str, alias: &str) {
        self.aliases.insert(track.to_owned(), alias.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::slices::Slices;
    use std::collections::BTreeMap;
    use traceglass::event::{Item, TrackKind};

    /// Names of any number, some of which come again, against a map.
    #[test]
    fn a_track_has_the_time_of_each_of_its_names() {
        for spread in [1, 3, 7, 1000] {
            let (mut busy, mut expected) = (Busy::default(), HashMap::new());
            for step in 0..3000_u32 {
                let name = step % 2000 * spread % 60_000;
                busy.add(name, step.into(), (2 * step).into());
                *expected.entry(name).or_insert(0) += u64::from(step);
            }
            let found: HashMap<_, _> = busy.each().collect();
            assert_eq!(busy.each().count(), found.len());
            assert_eq!(found, expected, "{spread}");
            assert_eq!(busy.ns(), expected.values().map(|ns| i128::from(*ns)).sum::<i128>());
        }
    }

    /// Random slices on tracks that come and go, in each other, some without an end: a track is busy while a slice was on it that
    /// ended, and the outermost of these has the time.
    #[test]
    fn a_slice_without_an_end_does_not_hide_those_in_it() {
        let mut random = Random(0x5eed_000b);
        let mut next = |most: u64| random.next() % most;
        let mut slices = Slices::new(Stats::default());
        // Of each track: the names and begins of its open slices, and of the ended ones, which have ends.
        type Alive = (u64, Vec<(u64, Option<i128>)>, Vec<(u64, i128, i128)>);
        let mut alive: Vec<Alive> = Vec::new();
        let (mut count, mut expected) = (0_u64, HashMap::new());
        let mut note = |id: u64, ended: &[(u64, i128, i128)]| {
            let outer = ended.iter().filter(|(_, begin, end)| {
                !ended.iter().any(|(_, from, to)| (from, to) != (begin, end) && from <= begin && end <= to)
            });
            let mut names = BTreeMap::new();
            outer.for_each(|(name, begin, end)| {
                *names.entry(format!("name {name}")).or_insert(0) += end - begin
            });
            if !ended.is_empty() {
                expected.insert(format!("track {id}"), names);
            }
        };
        for now in 0..30_000_i128 {
            if alive.len() < 5 {
                let label = format!("track {count}");
                let track = Track::new(TrackId::new(count), TrackKind::Task, Label::Text(&label));
                slices.item(&Item::Track(track)).unwrap();
                alive.push((count, Vec::new(), Vec::new()));
                count += 1;
            }
            let at = next(alive.len() as u64) as usize;
            let (id, open, ended) = &mut alive[at];
            let (id, name) = (TrackId::new(*id), next(6));
            let text = format!("name {name}");
            let event = |kind| Event::new(id, kind, Label::Text(&text)).with_time(Time::since_epoch(now));
            match next(200) {
                0 => {
                    slices.item(&Item::Ended(id)).unwrap();
                    let (id, _, ended) = alive.remove(at);
                    note(id, &ended);
                }
                // One that begins later than now: its clock is set back.
                1..=3 => {
                    open.push((name, None));
                    let late = event(EventKind::Begin).with_time(Time::since_epoch(1 << 40));
                    slices.item(&Item::Event(late)).unwrap();
                }
                4..=100 => {
                    open.push((name, Some(now)));
                    slices.item(&Item::Event(event(EventKind::Begin))).unwrap();
                }
                _ => {
                    let Some((name, begin)) = open.pop() else { continue };
                    ended.extend(begin.map(|begin| (name, begin, now)));
                    slices.item(&Item::Event(event(EventKind::End))).unwrap();
                }
            }
        }
        alive.iter().for_each(|(id, _, ended)| note(*id, ended));
        let stats = slices.finish().unwrap();
        let names = stats.slices.names();
        let found: HashMap<_, _> = (stats.tracks.iter())
            .map(|(track, busy)| {
                // One that is set back takes no time.
                let parts = busy.parts(&names).into_iter().filter(|(_, ns)| *ns > 0);
                let parts = parts.map(|(name, ns)| (name.to_owned(), ns));
                assert_eq!(busy.ns(), busy.parts(&names).iter().map(|(_, ns)| ns).sum::<i128>());
                (track.to_owned(), parts.collect::<BTreeMap<_, _>>())
            })
            .filter(|(_, parts)| !parts.is_empty())
            .collect();
        assert!(count > 100 && expected.values().any(|names| names.len() > 1));
        assert_eq!(found, expected);
    }

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
