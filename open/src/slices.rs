//! Slices: a begin and its end, put together.

use crate::record::Json;
use crate::text::{NAME_MAX, push_label};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::num::NonZeroU32;
use traceglass::event::states::Edges;
use traceglass::event::{Event, EventKind, Item, Time, Track, TrackId, Window};
use traceglass::record::{Any, Record};

/// Something that lasted.
pub struct Slice<'s> {
    /// The number of the track: others may have its name.
    pub id: TrackId,
    /// A number that all slices of the track have while it has the same name, counted from zero.
    pub number: u32,
    labels: &'s Labels,
    pub name: &'s str,
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

    fn slice(&mut self, slice: &Slice<'_>) -> Result<(), Self::Error>;

    /// An event as it was recorded.
    fn event(&mut self, _event: &Event<'_>) -> Result<(), Self::Error> {
        Ok(())
    }

    /// A track, before the first event on it.
    fn track(&mut self, _track: &Track<'_>) -> Result<(), Self::Error> {
        Ok(())
    }

    /// A track's other name, besides its label, after the last slice.
    fn alias(&mut self, _track: &str, _alias: &str) {}
}

/// Puts begins and ends together. Memory grows with what is open at the same time, and with tracks.
pub struct Slices<T> {
    to: T,
    /// The place of each track among the lanes, and among their labels: of most tracks, by their numbers.
    near: [Vec<Option<NonZeroU32>>; 2],
    far: HashMap<TrackId, NonZeroU32, RandomState>,
    lanes: Vec<Lane>,
    labels: Vec<Labels>,
    /// The number of tracks and labels so far.
    count: u32,
    begun: Vec<Begun>,
    /// The first place of these that is free again, and how many are.
    free: Option<u32>,
    spare: usize,
    json: Json,
    /// The arguments of an end.
    args: Vec<u8>,
    /// The slices that are open when the trace ends, and the places of their tracks.
    left: Vec<(usize, usize, Begun)>,
}

/// What changes of a track with each of its slices: many of them are met at random, so it is small.
#[derive(Default)]
struct Lane {
    /// The slice that began last, and how many are open.
    top: Option<u32>,
    depth: usize,
    /// The number of its label.
    label: u32,
}

/// What a track is called.
struct Labels {
    id: TrackId,
    label: String,
    /// Its other name; empty if it has none.
    alias: String,
}

impl Labels {
    fn alias(&self) -> Option<&str> {
        Some(self.alias.as_str()).filter(|alias| !alias.is_empty())
    }
}

/// A slice that has begun.
#[derive(Default)]
struct Begun {
    name: String,
    time: Option<Time>,
    offset: u64,
    args: Vec<u8>,
    edges: Edges,
    /// The one below it on its track; of a place that is free, the next free one.
    below: Option<u32>,
}

/// The tracks of a source have numbers from zero on, and those of states from 2^32 on: so many of each are found without a
/// hash.
const NEAR: usize = 1 << 20;

/// The number of used slices whose memory is kept for new ones.
const SPARE: usize = 1 << 10;

impl<T: TakeSlices> Slices<T> {
    pub fn new(to: T) -> Self {
        let json = Json::merged();
        Self {
            json: if to.is_for_people() { json.for_people() } else { json },
            to,
            near: [Vec::new(), Vec::new()],
            far: HashMap::default(),
            lanes: Vec::new(),
            labels: Vec::new(),
            count: 0,
            begun: Vec::new(),
            free: None,
            spare: 0,
            args: Vec::new(),
            left: Vec::new(),
        }
    }

    /// The taker of the slices.
    pub fn taker(&mut self) -> &mut T {
        &mut self.to
    }

    /// The place of a track.
    fn place(&mut self, track: TrackId) -> usize {
        let half = usize::try_from(track.number() >> 32).unwrap_or(usize::MAX);
        let number = usize::try_from(track.number() & u64::from(u32::MAX)).unwrap_or(usize::MAX);
        let near = self.near.get_mut(half).filter(|_| number < NEAR);
        let known = match &near {
            Some(near) => near.get(number).copied().flatten(),
            None => self.far.get(&track).copied(),
        };
        if let Some(known) = known {
            return usize::try_from(known.get()).unwrap_or(usize::MAX).saturating_sub(1);
        }
        let place = self.lanes.len();
        self.lanes.push(Lane { label: self.count, ..Lane::default() });
        self.labels.push(Labels { id: track, label: String::new(), alias: String::new() });
        self.count = self.count.saturating_add(1);
        if let Some(next) = u32::try_from(place).ok().and_then(|place| NonZeroU32::MIN.checked_add(place)) {
            match near {
                Some(near) => {
                    near.resize(near.len().max(number.saturating_add(1)), None);
                    if let Some(known) = near.get_mut(number) {
                        *known = Some(next);
                    }
                }
                None => drop(self.far.insert(track, next)),
            }
        }
        place
    }

    /// Notes what an event begins on a track.
    fn begin(&mut self, event: &Event<'_>, args: Option<&[u8]>) {
        let place = self.place(event.track());
        let Some(lane) = self.lanes.get_mut(place) else { return };
        let number = self.free.unwrap_or_else(|| {
            self.begun.push(Begun::default());
            self.spare = self.spare.saturating_add(1);
            u32::try_from(self.begun.len().saturating_sub(1)).unwrap_or(u32::MAX)
        });
        let Some(begun) = begun_at(&mut self.begun, number) else { return };
        if self.free == Some(number) {
            self.free = begun.below;
        }
        self.spare = self.spare.saturating_sub(1);
        begun.fill(event);
        match args {
            _ if !self.to.wants_args() => {}
            Some(known) => begun.args.extend_from_slice(known),
            None => push_args(&mut self.json, event, &mut begun.args),
        }
        begun.below = lane.top.replace(number);
        lane.depth = lane.depth.saturating_add(1);
    }

    /// Takes an item of a trace.
    pub fn item(&mut self, item: &Item<'_>) -> Result<(), T::Error> {
        self.item_with(item, None)
    }

    /// The same, where the arguments of an event are known that says all of a slice itself: as members of a JSON object.
    pub fn item_with(&mut self, item: &Item<'_>, args: Option<&[u8]>) -> Result<(), T::Error> {
        match item {
            Item::Track(track) => {
                let place = self.place(track.id());
                if let (Some(lane), Some(labels)) = (self.lanes.get_mut(place), self.labels.get_mut(place)) {
                    let before = std::mem::take(&mut labels.label);
                    push_label(&mut labels.label, track.label(), NAME_MAX);
                    if labels.label != before {
                        lane.label = self.count;
                        self.count = self.count.saturating_add(1);
                    }
                    if let Some(alias) = track.alias() {
                        labels.alias.clear();
                        labels.alias.push_str(alias);
                    }
                }
                self.to.track(track)
            }
            Item::Event(event) => {
                if event.slice().is_none() {
                    self.to.event(event)?;
                }
                match event.kind() {
                    EventKind::Begin => {
                        self.begin(event, args);
                        Ok(())
                    }
                    EventKind::End => self.end(event, args),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// An event that came to begin or end states and slices, which are items of their own.
    pub fn taken(&mut self, event: &Event<'_>) -> Result<(), T::Error> {
        self.to.event(event)
    }

    /// Gives out what has not ended, and gives back what takes slices.
    pub fn finish(mut self) -> Result<T, T::Error> {
        for (place, lane) in self.lanes.iter().enumerate() {
            let (mut top, mut depth) = (lane.top, lane.depth);
            while let Some(begun) = top.and_then(|top| begun_at(&mut self.begun, top)) {
                (top, depth) = (begun.below, depth.saturating_sub(1));
                self.left.push((place, depth, std::mem::take(begun)));
            }
        }
        let id = |place: usize| self.labels.get(place).map(|labels| labels.id);
        self.left.sort_by_key(|(place, depth, begun)| (begun.time.map(Time::ns), id(*place), *depth));
        for (place, depth, begun) in &self.left {
            let Some((lane, labels)) = self.lanes.get(*place).zip(self.labels.get(*place)) else { continue };
            let edges = begun.edges.with(Edges::OPEN_END);
            self.to.slice(&begun.slice(lane.label, labels, *depth, None, edges))?;
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
        if self.lanes.get(place).is_some_and(|lane| lane.top.is_none()) {
            self.begin(event, args);
            let top = self.lanes.get(place).and_then(|lane| lane.top);
            if let Some(begun) = top.and_then(|top| begun_at(&mut self.begun, top)) {
                (begun.time, begun.edges) = (None, Edges::OPEN_START);
            }
        }
        let (Some(lane), Some(labels)) = (self.lanes.get_mut(place), self.labels.get(place)) else {
            return Ok(());
        };
        let Some(number) = lane.top else { return Ok(()) };
        let Some(begun) = begun_at(&mut self.begun, number) else { return Ok(()) };
        lane.top = begun.below;
        lane.depth = lane.depth.saturating_sub(1);
        if self.to.wants_args() && slice.is_some() {
            self.args.clear();
            push_args(&mut self.json, event, &mut self.args);
            merge(&mut begun.args, &self.args);
        }
        let edges = begun.edges.with(edges);
        if edges.has(Edges::OPEN_END) {
            begun.edges = edges;
            self.left.push((place, lane.depth, std::mem::take(begun)));
        } else {
            self.to.slice(&begun.slice(lane.label, labels, lane.depth, event.time(), edges))?;
        }
        if self.spare >= SPARE {
            *begun = Begun::default();
        }
        begun.below = self.free.replace(number);
        self.spare = self.spare.saturating_add(1);
        Ok(())
    }
}

fn begun_at(begun: &mut [Begun], number: u32) -> Option<&mut Begun> {
    begun.get_mut(usize::try_from(number).ok()?)
}

impl Begun {
    /// Notes what an event begins.
    fn fill(&mut self, event: &Event<'_>) {
        self.name.clear();
        push_label(&mut self.name, event.name(), NAME_MAX);
        self.args.clear();
        self.edges = event.slice().map_or(Edges::NONE, |slice| slice.edges());
        (self.time, self.offset) = (event.time(), event.offset());
    }

    fn slice<'s>(
        &'s self,
        number: u32,
        labels: &'s Labels,
        depth: usize,
        end: Option<Time>,
        edges: Edges,
    ) -> Slice<'s> {
        let Self { name, time, offset, args, .. } = self;
        Slice { id: labels.id, number, labels, name, begin: *time, end, depth, edges, args, offset: *offset }
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
        let text = json.buffer.text();
        let inner = text.strip_prefix(b"{").and_then(|text| text.strip_suffix(b"}")).filter(|_| told.is_ok());
        to.extend_from_slice(inner.unwrap_or_default());
    }
    if let Some(cpu) = slice.and_then(|slice| slice.cpu()) {
        join(to, b"\"cpu\":");
        to.extend_from_slice(itoa::Buffer::new().format(cpu).as_bytes());
    }
}

/// Adds members to others.
fn join(to: &mut Vec<u8>, members: &[u8]) {
    if !to.is_empty() && !members.is_empty() {
        to.push(b',');
    }
    to.extend_from_slice(members);
}

/// Adds the members of an end to those of a begin; of the same name, the end's counts.
fn merge(to: &mut Vec<u8>, members: &[u8]) {
    if to.is_empty() || members.is_empty() {
        return join(to, members);
    }
    let mut ended: HashMap<&[u8], &[u8], RandomState> = self::members(members).collect();
    if self::members(to).all(|(key, _)| !ended.contains_key(key)) {
        return join(to, members);
    }
    let begun = std::mem::take(to);
    let mut put = |key: &[u8], value: &[u8]| join(to, &[key, b":", value].concat());
    self::members(&begun).for_each(|(key, value)| put(key, ended.remove(key).unwrap_or(value)));
    self::members(members)
        .filter(|(key, _)| ended.contains_key(key))
        .for_each(|(key, value)| put(key, value));
}

/// The members of a JSON object, without its braces and spaces between them: the key with its quotes, and the value as it
/// is written. Text is written with the same escapes everywhere.
pub fn members(members: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = members;
    std::iter::from_fn(move || {
        let (key, after) = rest.split_at_checked(value_len(rest)).filter(|(key, _)| !key.is_empty())?;
        let after = after.strip_prefix(b":")?;
        let (value, after) = after.split_at_checked(value_len(after))?;
        rest = after.strip_prefix(b",").unwrap_or_default();
        Some((key, value))
    })
}

/// The length of the value that a text begins with: up to the colon, comma or bracket after it.
fn value_len(text: &[u8]) -> usize {
    let (mut depth, mut in_string, mut is_escaped) = (0_u32, false, false);
    let ends = |&byte: &u8| {
        if in_string {
            in_string = is_escaped || byte != b'"';
            is_escaped = !is_escaped && byte == b'\\';
            return false;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth = depth.saturating_add(1),
            b'}' | b']' => depth = depth.saturating_sub(1),
            b':' | b',' => return depth == 0,
            _ => {}
        }
        false
    };
    text.iter().position(ends).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_the_end_replace_those_of_the_begin() {
        for (begin, end, all) in [
            ("", "", ""),
            ("\"a\":1", "", "\"a\":1"),
            ("", "\"a\":1", "\"a\":1"),
            ("\"a\":1", "\"b\":2", "\"a\":1,\"b\":2"),
            ("\"a\":1,\"b\":2", "\"a\":3", "\"a\":3,\"b\":2"),
            // A key within something else is none of its own.
            ("\"x\":{\"a\":1}", "\"a\":3", "\"x\":{\"a\":1},\"a\":3"),
            ("\"x\":\"\\\"a\\\":\"", "\"a\":[{\"x\":1}]", "\"x\":\"\\\"a\\\":\",\"a\":[{\"x\":1}]"),
            ("\"a\\\"b\":1", "\"a\\\"b\":[1,{\"c\":\"]\"}],\"d\":4", "\"a\\\"b\":[1,{\"c\":\"]\"}],\"d\":4"),
        ] {
            let mut found = begin.as_bytes().to_vec();
            merge(&mut found, end.as_bytes());
            assert_eq!(String::from_utf8(found).unwrap(), all, "{begin} {end}");
        }
        let found: Vec<_> =
            members(b"\"a\":{\"b\":\"}\"},\"c:\\\\\":[1,{\"d\":2}],\"e\":\"f:\",\"g\":-1.5").collect();
        let all: [(&[u8], &[u8]); 4] = [
            (b"\"a\"", b"{\"b\":\"}\"}"),
            (b"\"c:\\\\\"", b"[1,{\"d\":2}]"),
            (b"\"e\"", b"\"f:\""),
            (b"\"g\"", b"-1.5"),
        ];
        assert_eq!(found, all);
    }
}
