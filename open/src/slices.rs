//! Slices: a begin and its end, put together.

use crate::record::Json;
use crate::text::{NAME_MAX, push_label};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use traceglass::event::states::Edges;
use traceglass::event::{Event, EventKind, Item, Time, Track, TrackId, Window};
use traceglass::record::Record;

/// Something that lasted.
pub struct Slice<'s> {
    /// The number of the track: others may have its name.
    pub id: TrackId,
    pub track: &'s str,
    /// The track's other name, besides its label.
    pub alias: Option<&'s str>,
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

/// Puts begins and ends together. Memory grows with what is open, and with tracks.
pub struct Slices<T> {
    to: T,
    lanes: HashMap<TrackId, Lane, RandomState>,
    json: Json,
    /// The arguments of an end.
    args: Vec<u8>,
    /// Room that is used again.
    spare: Vec<Begun>,
    /// The slices that are open when the trace ends.
    left: Vec<(TrackId, usize, Begun)>,
}

/// A track.
#[derive(Default)]
struct Lane {
    label: String,
    /// Its other name; empty if it has none.
    alias: String,
    open: Vec<Begun>,
}

impl Lane {
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
}

/// The number of used slices whose memory is kept for new ones.
const SPARE: usize = 1 << 10;

impl<T: TakeSlices> Slices<T> {
    pub fn new(to: T) -> Self {
        Self {
            to,
            lanes: HashMap::default(),
            json: Json::merged(),
            args: Vec::new(),
            spare: Vec::new(),
            left: Vec::new(),
        }
    }

    /// The taker of the slices.
    pub fn taker(&mut self) -> &mut T {
        &mut self.to
    }

    /// Takes an item of a trace.
    pub fn item(&mut self, item: &Item<'_>) -> Result<(), T::Error> {
        match item {
            Item::Track(track) => {
                let lane = self.lanes.entry(track.id()).or_default();
                lane.label.clear();
                push_label(&mut lane.label, track.label(), NAME_MAX);
                if let Some(alias) = track.alias() {
                    lane.alias.clear();
                    lane.alias.push_str(alias);
                }
                self.to.track(track)
            }
            Item::Event(event) => {
                if event.slice().is_none() {
                    self.to.event(event)?;
                }
                match event.kind() {
                    EventKind::Begin => {
                        let mut begun = self.spare.pop().unwrap_or_default();
                        begun.fill(event, self.to.wants_args().then_some(&mut self.json));
                        self.lanes.entry(event.track()).or_default().open.push(begun);
                        Ok(())
                    }
                    EventKind::End => self.end(event),
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
        for (id, lane) in &mut self.lanes {
            let open = lane.open.drain(..).enumerate();
            self.left.extend(open.map(|(depth, begun)| (*id, depth, begun)));
        }
        self.left.sort_by_key(|(id, depth, begun)| (begun.time.map(Time::ns), *id, *depth));
        for (id, depth, begun) in &self.left {
            let Some(lane) = self.lanes.get(id) else { continue };
            let edges = begun.edges.with(Edges::OPEN_END);
            self.to.slice(&begun.slice(*id, lane, *depth, None, edges))?;
        }
        for lane in self.lanes.values() {
            if let Some(alias) = lane.alias() {
                self.to.alias(&lane.label, alias);
            }
        }
        Ok(self.to)
    }

    fn end(&mut self, event: &Event<'_>) -> Result<(), T::Error> {
        let slice = event.slice();
        let inferred = if event.is_inferred() { Edges::END_MISSING } else { Edges::NONE };
        let edges = slice.map_or(inferred, |slice| slice.edges());
        let lane = self.lanes.entry(event.track()).or_default();
        let mut begun = match lane.open.pop() {
            Some(begun) => begun,
            None => {
                let mut begun = self.spare.pop().unwrap_or_default();
                begun.fill(event, self.to.wants_args().then_some(&mut self.json));
                Begun { time: None, edges: Edges::OPEN_START, ..begun }
            }
        };
        if self.to.wants_args() && slice.is_some() {
            self.args.clear();
            push_args(&mut self.json, event, &mut self.args);
            merge(&mut begun.args, &self.args);
        }
        let edges = begun.edges.with(edges);
        if edges.has(Edges::OPEN_END) {
            begun.edges = edges;
            self.left.push((event.track(), lane.open.len(), begun));
            return Ok(());
        }
        self.to.slice(&begun.slice(event.track(), lane, lane.open.len(), event.time(), edges))?;
        if self.spare.len() < SPARE {
            self.spare.push(begun);
        }
        Ok(())
    }
}

impl Begun {
    /// Notes what an event begins.
    fn fill(&mut self, event: &Event<'_>, args: Option<&mut Json>) {
        self.name.clear();
        push_label(&mut self.name, event.name(), NAME_MAX);
        self.args.clear();
        if let Some(json) = args {
            push_args(json, event, &mut self.args);
        }
        self.edges = event.slice().map_or(Edges::NONE, |slice| slice.edges());
        (self.time, self.offset) = (event.time(), event.offset());
    }

    fn slice<'s>(
        &'s self,
        id: TrackId,
        lane: &'s Lane,
        depth: usize,
        end: Option<Time>,
        edges: Edges,
    ) -> Slice<'s> {
        let Self { name, time, offset, args, .. } = self;
        let (track, alias) = (lane.label.as_str(), lane.alias());
        Slice { id, track, alias, name, begin: *time, end, depth, edges, args, offset: *offset }
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
            None => event.tell(json),
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
    let may_share = || keys(members).any(|key| to.windows(key.len()).any(|window| window == key));
    if to.is_empty() || members.is_empty() || !may_share() {
        return join(to, members);
    }
    let object = |members: &[u8]| -> Option<serde_json::Map<String, serde_json::Value>> {
        serde_json::from_slice(&[b"{", members, b"}"].concat()).ok()
    };
    match object(to).zip(object(members)) {
        Some((mut begun, ended)) if ended.keys().any(|key| begun.contains_key(key)) => {
            begun.extend(ended);
            let text = serde_json::Value::Object(begun).to_string();
            *to = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or_default().into();
        }
        _ => join(to, members),
    }
}

/// The keys of members, each with its quotes and the colon. Text is written with the same escapes everywhere.
fn keys(members: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (mut depth, mut start, mut in_string, mut is_escaped) = (0_u32, 0, false, false);
    members.iter().enumerate().filter_map(move |(at, &byte)| {
        if in_string {
            in_string = is_escaped || byte != b'"';
            is_escaped = !is_escaped && byte == b'\\';
            return None;
        }
        match byte {
            b'"' => (in_string, start) = (true, at),
            b'{' | b'[' => depth = depth.saturating_add(1),
            b'}' | b']' => depth = depth.saturating_sub(1),
            b':' if depth == 0 => return members.get(start..=at),
            _ => {}
        }
        None
    })
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
        let found: Vec<_> = keys(b"\"a\":{\"b\":\"}\"},\"c:\\\\\":[1,{\"d\":2}],\"e\":\"f:\"").collect();
        assert_eq!(found, [&b"\"a\":"[..], b"\"c:\\\\\":", b"\"e\":"]);
    }
}
