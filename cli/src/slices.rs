//! Slices: a begin and its end, put together.

use crate::output::{NAME_MAX, push_label};
use crate::record::Json;
use crate::status::{Failure, Result};
use crate::trace::Events;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use traceglass::event::states::Edges;
use traceglass::event::{Event, EventKind, Item, Time, TrackId};
use traceglass::record::Record;

/// Something that lasted.
pub struct Slice<'s> {
    pub track: &'s str,
    pub name: &'s str,
    pub begin: Option<Time>,
    pub end: Option<Time>,
    /// How many slices of its track it lies in.
    pub depth: usize,
    pub edges: Edges,
    /// The arguments as members of a JSON object.
    pub args: &'s [u8],
    /// Offset of the event that begins it, or of the one that ends it if that is not known.
    pub offset: u64,
}

impl Slice<'_> {
    /// How long it lasted, if both its ends are known.
    pub fn duration(&self) -> Option<i128> {
        Some(self.end?.ns().saturating_sub(self.begin?.ns()))
    }

    /// True if it has a part in a window.
    pub fn touches(&self, window: traceglass::event::Window) -> bool {
        let begins = self.begin.map_or(i128::MIN, Time::ns);
        let ends = self.end.map_or(i128::MAX, Time::ns);
        window.to().is_none_or(|to| begins < to)
            && window.from().is_none_or(|from| ends > from || ends == begins && begins >= from)
    }
}

/// Takes slices, in the order in which they end.
pub trait TakeSlices {
    fn slice(&mut self, slice: &Slice<'_>) -> Result<()>;

    /// An event as it was recorded.
    fn event(&mut self, _event: &Event<'_>) -> Result<()> {
        Ok(())
    }

    /// What a track is called besides its label.
    fn alias(&mut self, _track: &str, _alias: &str) {}
}

/// Puts begins and ends together. Memory grows with what is open, and with tracks.
pub struct Slices<'t, T> {
    to: &'t mut T,
    tracks: HashMap<TrackId, Lane, RandomState>,
    json: Json,
    /// What is open when the trace ends.
    left: Vec<(TrackId, usize, Begun)>,
    advance: &'t mut dyn FnMut(u64),
}

/// A track.
#[derive(Default)]
struct Lane {
    label: String,
    open: Vec<Begun>,
}

/// A slice that has begun.
struct Begun {
    name: String,
    time: Option<Time>,
    offset: u64,
    args: Vec<u8>,
    edges: Edges,
}

impl<'t, T: TakeSlices> Slices<'t, T> {
    pub fn new(to: &'t mut T, advance: &'t mut dyn FnMut(u64)) -> Self {
        Self { to, tracks: HashMap::default(), json: Json::merged(), left: Vec::new(), advance }
    }

    /// Gives out what has not ended.
    pub fn finish(mut self) -> Result<()> {
        for (id, lane) in &mut self.tracks {
            let open = lane.open.drain(..).enumerate();
            self.left.extend(open.map(|(depth, begun)| (*id, depth, begun)));
        }
        self.left.sort_by_key(|(id, depth, begun)| (begun.time.map(Time::ns), *id, *depth));
        for (id, depth, begun) in &self.left {
            let label = self.tracks.get(id).map_or("", |lane| &lane.label);
            let edges = begun.edges.with(Edges::OPEN_END);
            self.to.slice(&begun.slice(label, *depth, None, edges))?;
        }
        Ok(())
    }

    /// The arguments of an event, as members of an object.
    fn args(&mut self, event: &Event<'_>) -> Vec<u8> {
        self.json.buffer.clear();
        // A record that cannot be read was reported where it was met.
        let told = match event.slice() {
            Some(slice) => slice.args().tell(&mut self.json),
            None => event.tell(&mut self.json),
        };
        let text = self.json.buffer.text();
        let inner = text.strip_prefix(b"{").and_then(|text| text.strip_suffix(b"}")).filter(|_| told.is_ok());
        let mut args = inner.unwrap_or_default().to_vec();
        if let Some(cpu) = event.slice().and_then(|slice| slice.cpu()) {
            join(&mut args, format!("\"cpu\":{cpu}").as_bytes());
        }
        args
    }

    fn begin(&mut self, event: &Event<'_>) {
        let mut name = String::new();
        push_label(&mut name, event.name(), NAME_MAX);
        let args = self.args(event);
        let edges = event.slice().map_or(Edges::NONE, |slice| slice.edges());
        let begun = Begun { name, time: event.time(), offset: event.offset(), args, edges };
        self.tracks.entry(event.track()).or_default().open.push(begun);
    }

    fn end(&mut self, event: &Event<'_>) -> Result<()> {
        let more = match event.slice() {
            Some(_) => self.args(event),
            None => Vec::new(),
        };
        let inferred = if event.is_inferred() { Edges::END_MISSING } else { Edges::NONE };
        let edges = event.slice().map_or(inferred, |slice| slice.edges());
        let mut begun = match self.tracks.entry(event.track()).or_default().open.pop() {
            Some(begun) => begun,
            None => {
                let mut name = String::new();
                push_label(&mut name, event.name(), NAME_MAX);
                let args = self.args(event);
                Begun { name, time: None, offset: event.offset(), args, edges: Edges::OPEN_START }
            }
        };
        merge(&mut begun.args, &more);
        let Some(lane) = self.tracks.get(&event.track()) else { return Ok(()) };
        let edges = begun.edges.with(edges);
        if edges.has(Edges::OPEN_END) {
            begun.edges = edges;
            self.left.push((event.track(), lane.open.len(), begun));
            return Ok(());
        }
        self.to.slice(&begun.slice(&lane.label, lane.open.len(), event.time(), edges))
    }
}

impl Begun {
    fn slice<'s>(&'s self, track: &'s str, depth: usize, end: Option<Time>, edges: Edges) -> Slice<'s> {
        let Self { name, time, offset, args, .. } = self;
        Slice { track, name, begin: *time, end, depth, edges, args, offset: *offset }
    }
}

impl<T: TakeSlices> Events for Slices<'_, T> {
    fn item(&mut self, item: &Item<'_>) -> Result<(), Failure> {
        match item {
            Item::Track(track) => {
                let lane = self.tracks.entry(track.id()).or_default();
                lane.label.clear();
                push_label(&mut lane.label, track.label(), NAME_MAX);
                if let Some(alias) = track.alias() {
                    self.to.alias(&lane.label, alias);
                }
                Ok(())
            }
            Item::Event(event) => {
                if event.slice().is_none() {
                    self.to.event(event)?;
                }
                match event.kind() {
                    EventKind::Begin => {
                        self.begin(event);
                        Ok(())
                    }
                    EventKind::End => self.end(event),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn taken(&mut self, event: &Event<'_>) -> Result<()> {
        self.to.event(event)
    }

    fn advance(&mut self, bytes: u64) {
        (self.advance)(bytes);
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
    let object = |members: &[u8]| -> Option<serde_json::Map<String, serde_json::Value>> {
        serde_json::from_slice(&[b"{", members, b"}"].concat()).ok()
    };
    let known = if to.is_empty() || members.is_empty() { None } else { object(to).zip(object(members)) };
    match known {
        Some((mut begun, ended)) if ended.keys().any(|key| begun.contains_key(key)) => {
            begun.extend(ended);
            let text = serde_json::Value::Object(begun).to_string();
            *to = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or_default().into();
        }
        _ => join(to, members),
    }
}
