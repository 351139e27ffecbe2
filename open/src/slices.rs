//! Slices: a begin and its end, put together.

use crate::members::{inner, join, merge};
use crate::record::Json;
use crate::selected::Selected;
use crate::text::{NAME_MAX, push_label};
use compact_str::CompactString;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::num::NonZeroU32;
use traceglass::event::states::Edges;
use traceglass::event::{Event, EventKind, Item, Label, Time, Track, TrackId, Window};
use traceglass::record::{Any, Record};

/// Something that lasted.
pub struct Slice<'s> {
    /// The number of the track: that of no other one, until the taker [is told](TakeSlices::renamed).
    pub number: u32,
    labels: &'s Labels,
    /// The name; empty if its taker keeps it.
    pub name: &'s str,
    /// The number by which its taker keeps the name.
    pub kept: Option<u32>,
    pub begin: Option<Time>,
    pub end: Option<Time>,
    /// The number of slices of its track it lies in.
    pub depth: usize,
    pub edges: Edges,
    /// The arguments as members of a JSON object.
    pub args: &'s [u8],
    /// Offset of the event that begins it, or of the one that ends it if that is not known.
    pub offset: u64,
}

impl Slice<'_> {
    /// The track in the source: others may have its name.
    pub fn id(&self) -> TrackId {
        self.labels.id
    }

    /// The name of the track.
    pub fn track(&self) -> &str {
        &self.labels.label
    }

    /// The track's other name, besides its label.
    pub fn alias(&self) -> Option<&str> {
        self.labels.alias()
    }

    /// The duration, if both ends are known.
    pub fn duration(&self) -> Option<i128> {
        Some(self.end?.ns().saturating_sub(self.begin?.ns()))
    }

    /// True if its times are of an absolute clock.
    pub fn is_absolute(&self) -> bool {
        self.begin.or(self.end).is_some_and(Time::is_absolute)
    }

    /// True if it has a part in a window.
    pub fn touches(&self, window: Window) -> bool {
        let begins = self.begin.map_or(i128::MIN, Time::ns);
        let ends = self.end.map_or(i128::MAX, Time::ns);
        window.to().is_none_or(|to| begins < to)
            && window.from().is_none_or(|from| ends > from || ends == begins && begins >= from)
    }
}

/// Takes slices, in the order in which they end.
pub trait TakeSlices {
    type Error;
    /// True if the arguments of what comes next are wanted.
    fn wants_args(&self) -> bool {
        true
    }

    /// True if people read the arguments.
    fn is_for_people(&self) -> bool {
        false
    }

    /// The number by which the taker keeps the name of what comes next; `None` if it is given each name with its slice.
    fn keep(&mut self, _name: Label<'_>) -> Option<u32> {
        None
    }

    fn slice(&mut self, slice: &Slice<'_>) -> Result<(), Self::Error>;

    /// The end of a slice that is open on a track is not known: what ended in it counts as if it lay in the one below. The
    /// slice itself comes later.
    fn lost(&mut self, _number: u32, _depth: usize) {}

    /// The time of an event, whatever its track.
    fn met(&mut self, _time: Time) {}

    /// An event as it was recorded.
    fn event(&mut self, _event: &Event<'_>) -> Result<(), Self::Error> {
        Ok(())
    }

    /// A track, before the first event on it.
    fn track(&mut self, _track: &Track<'_>) -> Result<(), Self::Error> {
        Ok(())
    }

    /// From now on, slices with this number are of a track of another name.
    fn renamed(&mut self, _number: u32) {}

    /// A track that has ended: no slice of it comes any more.
    fn ended(&mut self, _track: TrackId, _label: &str) {}

    /// A track's other name, besides its label, after the last slice.
    fn alias(&mut self, _track: &str, _alias: &str) {}
}

/// Puts begins and ends together. Memory grows with what is open at the same time, and with the tracks that last.
pub struct Slices<T> {
    to: T,
    selected: Selected,
    /// The place of each track among the lanes, and among their labels: of most tracks, by their numbers.
    near: [Vec<Option<NonZeroU32>>; 2],
    far: HashMap<TrackId, NonZeroU32, RandomState>,
    lanes: Vec<Lane>,
    labels: Vec<Labels>,
    /// The places of tracks that have ended.
    free_lanes: Vec<u32>,
    /// The slices below the ones that began last, and the places of these that are free again.
    below: Vec<Lane>,
    free: Vec<u32>,
    /// The texts of slices that are open, and the places among them that are free again.
    texts: Vec<Texts>,
    free_texts: Vec<u32>,
    json: Json,
    /// A label, as it is made.
    label: String,
    /// The arguments of an end.
    args: Vec<u8>,
    /// The slices that are open when the trace ends, and the places of their tracks.
    left: Vec<(usize, Lane, Texts)>,
}

/// The part of a track that changes with each of its slices: the one that began last. Many tracks are met at random: it takes one
/// line of the cache.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Lane {
    time: Option<Time>,
    offset: u64,
    /// The place of the one below it.
    below: Option<NonZeroU32>,
    /// The place of its texts.
    texts: Option<NonZeroU32>,
    /// The number by which its taker keeps the name.
    kept: u32,
    /// The number of slices that it lies in.
    depth: u32,
    edges: Edges,
    /// True if there is a slice, and if its taker keeps the name.
    is_open: bool,
    is_kept: bool,
}

/// The names of a track, in one line of the cache if they are short.
#[repr(align(64))]
struct Labels {
    id: TrackId,
    label: CompactString,
    /// The other name; empty if it has none.
    alias: CompactString,
}

impl Labels {
    fn alias(&self) -> Option<&str> {
        Some(self.alias.as_str()).filter(|alias| !alias.is_empty())
    }
}

/// The texts of a slice.
#[derive(Default)]
struct Texts {
    name: String,
    args: Vec<u8>,
}

/// The texts of a slice that has none.
static NO_TEXTS: Texts = Texts { name: String::new(), args: Vec::new() };

/// The tracks of a source have numbers from zero on, and those of states from 2^32 on: so many of each are found without a
/// hash.
const NEAR: usize = 1 << 20;

/// The number of used texts whose memory is kept for new ones.
const SPARE: usize = 1 << 10;

impl<T: TakeSlices> Slices<T> {
    pub fn new(to: T) -> Self {
        Self::of(Selected::default(), to)
    }

    /// Of what is selected alone.
    pub fn of(selected: Selected, to: T) -> Self {
        let json = Json::merged();
        Self {
            selected,
            json: if to.is_for_people() { json.for_people() } else { json },
            to,
            near: [Vec::new(), Vec::new()],
            far: HashMap::default(),
            lanes: Vec::new(),
            labels: Vec::new(),
            free_lanes: Vec::new(),
            below: Vec::new(),
            free: Vec::new(),
            texts: Vec::new(),
            free_texts: Vec::new(),
            label: String::new(),
            args: Vec::new(),
            left: Vec::new(),
        }
    }

    /// The taker of the slices.
    pub fn taker(&mut self) -> &mut T {
        &mut self.to
    }

    /// The note of a track's place, if it is one of those that are found without a hash.
    fn near(&mut self, track: TrackId) -> Option<(&mut Vec<Option<NonZeroU32>>, usize)> {
        let half = usize::try_from(track.number() >> 32).ok()?;
        let number = usize::try_from(track.number() & u64::from(u32::MAX)).ok()?;
        Some((self.near.get_mut(half).filter(|_| number < NEAR)?, number))
    }

    /// The place of a track that has one.
    fn find(&mut self, track: TrackId) -> Option<NonZeroU32> {
        match self.near(track) {
            Some((near, number)) => near.get(number).copied().flatten(),
            None => self.far.get(&track).copied(),
        }
    }

    /// The place of a track.
    fn place(&mut self, track: TrackId) -> usize {
        if let Some(known) = self.find(track) {
            return index(known);
        }
        let labels = Labels { id: track, label: CompactString::default(), alias: CompactString::default() };
        let place = put(&mut self.labels, &mut self.free_lanes, labels);
        let Some(place) = place else { return usize::MAX };
        self.lanes.resize(self.labels.len(), Lane::default());
        match self.near(track) {
            Some((near, number)) => {
                near.resize(near.len().max(number.saturating_add(1)), None);
                if let Some(known) = near.get_mut(number) {
                    *known = Some(place);
                }
            }
            None => drop(self.far.insert(track, place)),
        }
        index(place)
    }

    /// Forgets a track that has ended. What is open on it has no end. Tracks of states, which have other names and slices that
    /// are left for the end, never do.
    fn forget(&mut self, track: TrackId) -> Result<(), T::Error> {
        let Some(known) = self.find(track) else { return Ok(()) };
        let place = index(known);
        let (Some(lane), Some(labels)) = (self.lanes.get_mut(place), self.labels.get_mut(place)) else {
            return Ok(());
        };
        while lane.is_open {
            let open = lane.pop(&self.below, &mut self.free);
            self.to.lost(number_of(place), open.depth());
            let texts = open.texts.and_then(|at| self.texts.get(index(at))).unwrap_or(&NO_TEXTS);
            self.to.slice(&open.slice(place, texts, labels, None, open.edges.with(Edges::OPEN_END)))?;
            self.free_texts.extend(open.texts.map(NonZeroU32::get));
        }
        self.to.ended(track, &labels.label);
        match self.near(track) {
            Some((near, number)) => near.get_mut(number).into_iter().for_each(|known| *known = None),
            None => drop(self.far.remove(&track)),
        }
        self.free_lanes.push(known.get());
        Ok(())
    }

    /// Notes what an event begins on a track.
    fn begin(&mut self, event: &Event<'_>, args: Option<&[u8]>) {
        let place = self.place(event.track());
        let kept = self.to.keep(event.name());
        let texts = (kept.is_none() || self.to.wants_args()).then(|| self.write(event, kept, args)).flatten();
        let Some(lane) = self.lanes.get_mut(place) else { return };
        let below = lane.is_open.then(|| put(&mut self.below, &mut self.free, *lane)).flatten();
        *lane = Lane {
            time: event.time(),
            offset: event.offset(),
            below,
            texts,
            kept: kept.unwrap_or_default(),
            depth: lane.depth.saturating_add(lane.is_open.into()),
            edges: event.slice().map_or(Edges::NONE, |slice| slice.edges()),
            is_open: true,
            is_kept: kept.is_some(),
        };
    }

    /// Writes the texts of a slice; their place.
    fn write(&mut self, event: &Event<'_>, kept: Option<u32>, args: Option<&[u8]>) -> Option<NonZeroU32> {
        let at = match self.free_texts.pop() {
            Some(free) => NonZeroU32::new(free),
            None => put(&mut self.texts, &mut Vec::new(), Texts::default()),
        };
        let texts = self.texts.get_mut(index(at?))?;
        texts.name.clear();
        if kept.is_none() {
            push_label(&mut texts.name, event.name(), NAME_MAX);
        }
        texts.args.clear();
        match args {
            _ if !self.to.wants_args() => {}
            Some(known) => texts.args.extend_from_slice(known),
            None => push_args(&mut self.json, event, &mut texts.args),
        }
        at
    }

    /// Takes an item of a trace.
    pub fn item(&mut self, item: &Item<'_>) -> Result<(), T::Error> {
        self.item_with(item, None)
    }

    /// The same, where the arguments of an event are known that says all of a slice itself: as members of a JSON object.
    pub fn item_with(&mut self, item: &Item<'_>, args: Option<&[u8]>) -> Result<(), T::Error> {
        let is_wanted = self.selected.wants(item);
        match item {
            Item::Track(track) => {
                let place = self.place(track.id());
                if let Some(labels) = self.labels.get_mut(place) {
                    // What is known to have another name has the label that it had.
                    let is_known = track.alias().is_some() && !labels.label.is_empty();
                    if !is_known && track.label().as_str() != Some(&labels.label) {
                        self.label.clear();
                        push_label(&mut self.label, track.label(), NAME_MAX);
                        if labels.label != self.label {
                            labels.label = CompactString::new(&self.label);
                            self.to.renamed(number_of(place));
                        }
                    }
                    if let Some(alias) = track.alias() {
                        labels.alias = CompactString::new(alias);
                    }
                }
                self.to.track(track)
            }
            Item::Event(event) => {
                if event.slice().is_none() {
                    event.time().into_iter().for_each(|time| self.to.met(time));
                    if is_wanted {
                        self.to.event(event)?;
                    }
                }
                match event.kind() {
                    _ if !is_wanted => Ok(()),
                    EventKind::Begin => {
                        self.begin(event, args);
                        Ok(())
                    }
                    EventKind::End => self.end(event, args),
                    _ => Ok(()),
                }
            }
            Item::Ended(track) => self.forget(*track),
            _ => Ok(()),
        }
    }

    /// An event that came to begin or end states and slices, which are items of their own.
    pub fn taken(&mut self, event: &Event<'_>) -> Result<(), T::Error> {
        event.time().into_iter().for_each(|time| self.to.met(time));
        if self.selected.has(event) { self.to.event(event) } else { Ok(()) }
    }

    /// Gives out what has not ended, and gives back what takes slices.
    pub fn finish(mut self) -> Result<T, T::Error> {
        for (place, lane) in self.lanes.iter_mut().enumerate() {
            while lane.is_open {
                let open = lane.pop(&self.below, &mut self.free);
                self.to.lost(number_of(place), open.depth());
                let texts = open.texts.and_then(|at| self.texts.get_mut(index(at)));
                self.left.push((place, open, texts.map(std::mem::take).unwrap_or_default()));
            }
        }
        let id = |place: usize| self.labels.get(place).map(|labels| labels.id);
        self.left.sort_by_cached_key(|(place, lane, _)| (lane.time.map(Time::ns), id(*place), lane.depth));
        for (place, open, texts) in &self.left {
            let Some(labels) = self.labels.get(*place) else { continue };
            self.to.slice(&open.slice(*place, texts, labels, None, open.edges.with(Edges::OPEN_END)))?;
        }
        for labels in &self.labels {
            if let Some(alias) = labels.alias() {
                self.to.alias(&labels.label, alias);
            }
        }
        Ok(self.to)
    }

    fn end(&mut self, event: &Event<'_>, args: Option<&[u8]>) -> Result<(), T::Error> {
        let slice = event.slice();
        let inferred = if event.is_inferred() { Edges::END_MISSING } else { Edges::NONE };
        let edges = slice.map_or(inferred, |slice| slice.edges());
        let place = self.place(event.track());
        if self.lanes.get(place).is_some_and(|lane| !lane.is_open) {
            self.begin(event, args);
            if let Some(lane) = self.lanes.get_mut(place) {
                (lane.time, lane.edges) = (None, Edges::OPEN_START);
            }
        }
        let (Some(lane), Some(labels)) = (self.lanes.get_mut(place), self.labels.get(place)) else {
            return Ok(());
        };
        let ended = lane.pop(&self.below, &mut self.free);
        let mut texts = ended.texts.and_then(|at| self.texts.get_mut(index(at)));
        if let Some(texts) = &mut texts
            && self.to.wants_args()
            && slice.is_some()
        {
            self.args.clear();
            push_args(&mut self.json, event, &mut self.args);
            merge(&mut texts.args, &self.args);
        }
        let edges = ended.edges.with(edges);
        let is_backwards = event.time().zip(ended.time).is_some_and(|(end, begin)| end.ns() < begin.ns());
        // Its clock was set back.
        let (end, edges) = match is_backwards {
            true => (ended.time, edges.with(Edges::BACKWARDS)),
            false => (event.time(), edges),
        };
        if edges.has(Edges::OPEN_END) {
            self.to.lost(number_of(place), ended.depth());
            let texts = texts.map(std::mem::take).unwrap_or_default();
            self.left.push((place, Lane { edges, ..ended }, texts));
        } else {
            let said = texts.as_deref().unwrap_or(&NO_TEXTS);
            self.to.slice(&ended.slice(place, said, labels, end, edges))?;
            if let Some(texts) = texts.filter(|_| self.free_texts.len() >= SPARE) {
                *texts = Texts::default();
            }
        }
        self.free_texts.extend(ended.texts.map(NonZeroU32::get));
        Ok(())
    }
}

/// Puts something in a place that is free, or in a new one; the place and one more.
fn put<T>(places: &mut Vec<T>, free: &mut Vec<u32>, what: T) -> Option<NonZeroU32> {
    if let Some(at) = free.pop().and_then(NonZeroU32::new) {
        if let Some(place) = places.get_mut(index(at)) {
            *place = what;
        }
        return Some(at);
    }
    places.push(what);
    u32::try_from(places.len()).ok().and_then(NonZeroU32::new)
}

/// The number of a track by its place.
fn number_of(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// The place that such a number stands for.
fn index(at: NonZeroU32) -> usize {
    usize::try_from(at.get()).unwrap_or(usize::MAX).saturating_sub(1)
}

impl Lane {
    /// Takes the slice that began last.
    fn pop(&mut self, below: &[Self], free: &mut Vec<u32>) -> Self {
        let ended = *self;
        self.is_open = false;
        if let Some(at) = ended.below
            && let Some(next) = below.get(index(at))
        {
            *self = *next;
            free.push(at.get());
        }
        ended
    }

    fn depth(&self) -> usize {
        usize::try_from(self.depth).unwrap_or(usize::MAX)
    }

    fn slice<'s>(
        &self,
        place: usize,
        texts: &'s Texts,
        labels: &'s Labels,
        end: Option<Time>,
        edges: Edges,
    ) -> Slice<'s> {
        let (Texts { name, args }, &Self { time, offset, kept, .. }) = (texts, self);
        let depth = self.depth();
        let kept = self.is_kept.then_some(kept);
        Slice { number: number_of(place), labels, name, kept, begin: time, end, depth, edges, args, offset }
    }
}

/// Appends the arguments of an event, as members of an object.
pub fn push_args(json: &mut Json, event: &Event<'_>, to: &mut Vec<u8>) {
    let slice = event.slice();
    if slice.is_none_or(|slice| !slice.args().is_empty()) {
        json.buffer.clear();
        // A record that cannot be read was reported where it was met.
        let told = match slice {
            Some(slice) => slice.args().tell(json),
            None => event.tell(&mut Any(json)),
        };
        let inner = inner(json.buffer.text()).filter(|_| told.is_ok());
        to.extend_from_slice(inner.unwrap_or_default());
    }
    if let Some(cpu) = slice.and_then(|slice| slice.cpu()) {
        join(to, b"\"cpu\":");
        to.extend_from_slice(itoa::Buffer::new().format(cpu).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::record::Names;
    use crate::tracks::TrackNames;
    use std::convert::Infallible;
    use traceglass::event::TrackKind;

    /// Keeps slices: the track and its name, the begin, the end.
    #[derive(Default)]
    struct Kept {
        all: Vec<(TrackId, String, Option<i128>, Option<i128>)>,
        /// The names of tracks by their numbers.
        names: HashMap<u32, String>,
    }

    impl TakeSlices for Kept {
        type Error = Infallible;

        fn slice(&mut self, slice: &Slice<'_>) -> Result<(), Infallible> {
            let known = self.names.entry(slice.number).or_insert_with(|| slice.track().to_owned());
            assert_eq!(known, slice.track());
            let (begin, end) = (slice.begin.map(Time::ns), slice.end.map(Time::ns));
            self.all.push((slice.id(), slice.track().to_owned(), begin, end));
            Ok(())
        }

        fn renamed(&mut self, number: u32) {
            self.names.remove(&number);
        }
    }

    /// Tracks come and go at random, and some get another name. Each slice is that of its track, and memory is that of
    /// as many tracks as there are at a time.
    #[test]
    fn a_track_that_ended_leaves_its_place_to_another() {
        tracks_come_and_go("name ");
        // Of tracks that are asked for, each slice that begins while they are called so.
        tracks_come_and_go("name 5");
    }

    fn tracks_come_and_go(start: &str) {
        let mut random = Random(0x5eed_0009);
        let mut next = |most: u64| random.next() % most;
        let tracks = TrackNames::default().and(&[], Names::new([format!("{start}*").as_str()]));
        let mut slices = Slices::of(Selected::new(Names::default(), tracks), Kept::default());
        // Each track that there is: its name, and the slices that are open on it: when they began, if that was asked for.
        let mut alive: Vec<(TrackId, String, Vec<Option<i128>>)> = Vec::new();
        let (mut expected, mut count) = (Vec::new(), 0_u64);
        for now in 0..60_000_i128 {
            let at = next(60) as usize;
            let kind = next(6);
            if alive.len() <= at && alive.len() < 50 {
                // Far numbers are found another way.
                let id = TrackId::new(count + if count.is_multiple_of(3) { 1 << 40 } else { 0 });
                count += 1;
                alive.push((id, String::new(), Vec::new()));
            }
            let at = at % alive.len();
            let (id, name, open) = &mut alive[at];
            let event = |kind| Event::new(*id, kind, Label::Text("slice")).with_time(Time::since_epoch(now));
            if name.is_empty() || kind == 0 {
                *name = format!("name {}", next(1000));
                slices.item(&Item::Track(Track::new(*id, TrackKind::Task, Label::Text(name)))).unwrap();
                continue;
            }
            match kind {
                1 | 2 => {
                    open.push(Some(now).filter(|_| name.starts_with(start)));
                    slices.item(&Item::Event(event(EventKind::Begin))).unwrap();
                }
                3 | 4 => {
                    match open.pop() {
                        Some(Some(begin)) => expected.push((*id, name.clone(), Some(begin), Some(now))),
                        None if name.starts_with(start) => {
                            expected.push((*id, name.clone(), None, Some(now)))
                        }
                        _ => {}
                    }
                    slices.item(&Item::Event(event(EventKind::End))).unwrap();
                }
                _ => {
                    let asked = open.drain(..).rev().flatten();
                    expected.extend(asked.map(|begin| (*id, name.clone(), Some(begin), None)));
                    slices.item(&Item::Ended(*id)).unwrap();
                    alive.remove(at);
                }
            }
        }
        assert!(count > 5_000 && slices.lanes.len() <= 50, "{count} {}", slices.lanes.len());
        assert!(slices.far.len() <= 50 && slices.texts.len() < 1_000);
        let mut left: Vec<_> = (alive.iter())
            .flat_map(|(id, name, open)| {
                open.iter().flatten().map(|begin| (*id, name.clone(), Some(*begin), None))
            })
            .collect();
        left.sort_by_key(|(_, _, begin, _)| *begin);
        expected.extend(left);
        assert_eq!(slices.finish().unwrap().all, expected);
    }
}
