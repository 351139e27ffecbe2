//! The timeline of a trace, in columns that a canvas is drawn from.
//!
//! A row is a depth of a track. Its slices are sorted by their begins, so that what a screen shows is found by search, and
//! what is narrower than a pixel is skipped: drawing takes as long as the screen is wide, whatever the trace has.

use foldhash::fast::RandomState;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::convert::Infallible;
use traceglass::event::{Event, EventKind, FlowId, Label, Number, Time, Track, TrackId, TrackKind};
use traceglass_cli::page::{Slice, TakeSlices, push_args};
use traceglass_open::record::Json;
use traceglass_open::text::{NAME_MAX, push_label};

type Map<K, V> = HashMap<K, V, RandomState>;

/// The most text of arguments that is kept; later events have none.
const ARGS_MAX: usize = 64 << 20;

/// The place of arguments that are none.
const NO_ARGS: u32 = u32::MAX;

/// Something that lasted, or an instant.
struct Mark {
    begin: f64,
    end: f64,
    offset: f64,
    name: u32,
    args: u32,
    /// The edges of a slice; of an instant what it is: 0 an event, 1 a gap, 2 a loss.
    flags: u8,
}

/// A track, and what lies on it.
struct Lane {
    about: Value,
    /// The slices by their depth.
    rows: Vec<Vec<Mark>>,
    instants: Vec<Mark>,
    /// The times and values of a counter.
    values: Vec<[f64; 2]>,
}

#[derive(Default)]
pub struct Timeline {
    /// The first time that was met, from which times are counted: as floats, nanoseconds of 104 days are exact.
    origin: Option<Time>,
    first: f64,
    last: f64,
    lanes: Vec<Lane>,
    numbers: Map<TrackId, usize>,
    names: Vec<String>,
    name_of: Map<String, u32>,
    /// The starts of flows that have not ended.
    begun: Map<FlowId, (f64, usize)>,
    flows: Vec<[f64; 4]>,
    json: Option<Json>,
    args: Vec<u8>,
    are_args_cut: bool,
    /// The number of slices and instants whose time is not known: they have no place.
    untimed: u64,
    /// The number of those of a clock that counts from elsewhere than the first one: they have none either.
    otherwise: u64,
    text: String,
}

impl Timeline {
    /// The nanoseconds since the origin; `None` of a clock that counts from elsewhere.
    fn since_origin(&mut self, time: Time) -> Option<f64> {
        let origin = self.origin.get_or_insert(time);
        if origin.is_absolute() != time.is_absolute() {
            return None;
        }
        #[allow(clippy::cast_precision_loss)]
        let since = time.ns().saturating_sub(origin.ns()) as f64;
        self.first = self.first.min(since);
        self.last = self.last.max(since);
        Some(since)
    }

    /// The number of a track; one that was not announced has no name.
    fn track_of(&mut self, id: TrackId) -> usize {
        let next = self.lanes.len();
        let number = *self.numbers.entry(id).or_insert(next);
        if number == next {
            let about = json!({ "id": id.number(), "label": id.to_string(), "kind": "stream" });
            self.lanes.push(Lane { about, rows: Vec::new(), instants: Vec::new(), values: Vec::new() });
        }
        number
    }

    fn name(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.name_of.get(name) {
            return number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.to_owned());
        self.name_of.insert(name.to_owned(), number);
        number
    }

    fn label(&mut self, label: Label<'_>) -> u32 {
        if let Some(name) = label.as_str().filter(|name| name.len() <= NAME_MAX) {
            return self.name(name);
        }
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        push_label(&mut text, label, NAME_MAX);
        let name = self.name(&text);
        self.text = text;
        name
    }

    /// Keeps the arguments from `start` on, if there are any.
    fn keep_args(&mut self, start: usize) -> u32 {
        match u32::try_from(start) {
            Ok(place) if start < self.args.len() => {
                self.args.push(b'\n');
                place
            }
            _ => NO_ARGS,
        }
    }

    /// Gives all columns out.
    pub fn finish(mut self, take: fn(&str, u32, &[u8])) {
        let (first, last) = (self.first, self.last);
        let (mut tracks, mut rows, mut listed, mut counted) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (track, lane) in self.lanes.iter_mut().enumerate() {
            tracks.push(lane.about.take());
            for (depth, row) in lane.rows.iter_mut().enumerate().filter(|(_, row)| !row.is_empty()) {
                for mark in &mut *row {
                    mark.begin = if mark.begin.is_nan() { first } else { mark.begin };
                    mark.end = if mark.end.is_nan() { last } else { mark.end }.max(mark.begin);
                }
                rows.push(json!({ "track": track, "depth": depth, "len": sorted(row) }));
            }
            if !lane.instants.is_empty() {
                listed.push(json!({ "track": track, "len": sorted(&mut lane.instants) }));
            }
            if !lane.values.is_empty() {
                lane.values.sort_by(|a, b| a[0].total_cmp(&b[0]));
                counted.push(json!({ "track": track, "len": lane.values.len() }));
            }
        }
        Columns::new("slice", take).put(self.lanes.iter().flat_map(|lane| &lane.rows));
        // The page has a copy.
        self.lanes.iter_mut().for_each(|lane| lane.rows.clear());
        Columns::new("mark", take).put(self.lanes.iter().map(|lane| &lane.instants));
        for (number, name) in ["value_time", "value"].into_iter().enumerate() {
            take(
                name,
                8,
                &floats(self.lanes.iter().flat_map(|lane| &lane.values).map(|value| value[number])),
            );
        }
        drop(std::mem::take(&mut self.lanes));
        self.flows.sort_by(|a, b| a[0].total_cmp(&b[0]));
        for (number, name) in
            ["flow_from", "flow_from_track", "flow_to", "flow_to_track"].into_iter().enumerate()
        {
            take(name, 8, &floats(self.flows.iter().map(|flow| flow[number])));
        }
        take("args", 1, &self.args);
        let meta = json!({
            "origin": self.origin.map(|time| time.ns().to_string()),
            "absolute": self.origin.is_some_and(Time::is_absolute),
            "first": first, "last": last,
            "tracks": tracks, "rows": rows, "marks": listed, "counters": counted,
            "names": self.names, "args_cut": self.are_args_cut, "untimed": self.untimed,
            "otherwise": self.otherwise,
        });
        take("meta", 1, meta.to_string().as_bytes());
    }
}

/// Sorts marks by their begins. Returns how many there are.
fn sorted(marks: &mut [Mark]) -> usize {
    // Most rows come as they are, and the sort of a small module takes its time to see that.
    if !marks.is_sorted_by(|a, b| a.begin.total_cmp(&b.begin).is_le()) {
        marks.sort_by(|a, b| a.begin.total_cmp(&b.begin));
    }
    marks.len()
}

fn floats(values: impl Iterator<Item = f64>) -> Vec<u8> {
    joined(values.map(f64::to_le_bytes))
}

/// Bytes side by side; joined as arrays, as they are many millions.
fn joined<const N: usize>(values: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
    values.collect::<Vec<_>>().into_flattened()
}

/// The columns of marks.
struct Columns {
    front: &'static str,
    take: fn(&str, u32, &[u8]),
}

impl Columns {
    fn new(front: &'static str, take: fn(&str, u32, &[u8])) -> Self {
        Self { front, take }
    }

    fn put<'m>(&mut self, rows: impl Iterator<Item = &'m Vec<Mark>> + Clone) {
        let marks = rows.flatten();
        let name = |column: &str| format!("{}_{column}", self.front);
        (self.take)(&name("begin"), 8, &floats(marks.clone().map(|mark| mark.begin)));
        if self.front == "slice" {
            (self.take)(&name("end"), 8, &floats(marks.clone().map(|mark| mark.end)));
        }
        (self.take)(&name("offset"), 8, &floats(marks.clone().map(|mark| mark.offset)));
        let whole = |values: Vec<u8>, column| (self.take)(&name(column), 4, &values);
        whole(joined(marks.clone().map(|mark| mark.name.to_le_bytes())), "name");
        whole(joined(marks.clone().map(|mark| mark.args.to_le_bytes())), "args");
        (self.take)(&name("flags"), 1, &marks.map(|mark| mark.flags).collect::<Vec<_>>());
    }
}

#[allow(clippy::cast_precision_loss)] // Offsets in memory.
impl TakeSlices for Timeline {
    type Error = Infallible;

    fn wants_args(&self) -> bool {
        self.args.len() < ARGS_MAX
    }

    fn keep(&mut self, name: Label<'_>) -> Option<u32> {
        Some(self.label(name))
    }

    fn track(&mut self, track: &Track<'_>) -> Result<(), Infallible> {
        let number = self.track_of(track.id());
        let parent = track.parent().map(|parent| self.track_of(parent));
        self.text.clear();
        push_label(&mut self.text, track.label(), NAME_MAX);
        let unit = match track.kind() {
            TrackKind::Counter { unit } => unit,
            _ => None,
        };
        self.lanes[number].about = json!({
            "id": track.id().number(), "parent": parent, "kind": track.kind().name(), "unit": unit,
            "label": self.text, "alias": track.alias(), "clock": track.clock().name(),
        });
        Ok(())
    }

    fn slice(&mut self, slice: &Slice<'_>) -> Result<(), Infallible> {
        if slice.begin.is_none() && slice.end.is_none() {
            self.untimed += 1;
            return Ok(());
        }
        let ends =
            [slice.begin, slice.end].map(|time| time.map_or(Some(f64::NAN), |time| self.since_origin(time)));
        let [Some(begin), Some(end)] = ends else {
            self.otherwise += 1;
            return Ok(());
        };
        let track = self.track_of(slice.id());
        let start = self.args.len();
        if self.wants_args() {
            self.args.extend_from_slice(slice.args);
        } else {
            self.are_args_cut = true;
        }
        let name = slice.kept.unwrap_or_else(|| self.name(slice.name));
        let args = self.keep_args(start);
        // The bits of the edges are not public; their order is that of the alphabet of their names.
        let unknown = if slice.begin.is_none() || slice.end.is_none() { EDGE_UNKNOWN } else { 0 };
        let flags = slice.edges.names().fold(unknown, |flags, name| flags | edge(name));
        let rows = &mut self.lanes[track].rows;
        if rows.len() <= slice.depth {
            rows.resize_with(slice.depth + 1, Vec::new);
        }
        rows[slice.depth].push(Mark { begin, end, offset: slice.offset as f64, name, args, flags });
        Ok(())
    }

    fn event(&mut self, event: &Event<'_>) -> Result<(), Infallible> {
        let is_loss = matches!(event.kind(), EventKind::Gap(_) | EventKind::Discarded { .. });
        let is_mark = !matches!(event.kind(), EventKind::Begin | EventKind::End);
        let at = match event.time() {
            Some(time) => match self.since_origin(time) {
                Some(at) => at,
                None => {
                    self.otherwise += u64::from(is_mark);
                    return Ok(());
                }
            },
            // A loss is shown where reading came upon it.
            None if is_loss => self.last,
            None => {
                self.untimed += u64::from(is_mark);
                return Ok(());
            }
        };
        let track = self.track_of(event.track());
        for flow in event.ends() {
            if let Some((from, from_track)) = self.begun.remove(&flow) {
                self.flows.push([from, from_track as f64, at, track as f64]);
            }
        }
        if let Some(flow) = event.starts() {
            self.begun.insert(flow, (at, track));
        }
        let (name, flags) = match event.kind() {
            EventKind::Begin | EventKind::End => return Ok(()),
            EventKind::Counter(number) => {
                let value = match number {
                    Number::Integer(value) => value as f64,
                    Number::Float(value) => value,
                    _ => f64::NAN,
                };
                self.lanes[track].values.push([at, value]);
                return Ok(());
            }
            EventKind::Gap(gap) => (self.name(&format!("gap: {gap}")), 1),
            EventKind::Discarded { count: Some(count) } => (self.name(&format!("discarded {count}")), 2),
            EventKind::Discarded { count: None } => (self.name("discarded"), 2),
            _ => (self.label(event.name()), 0),
        };
        let start = self.args.len();
        if !self.wants_args() {
            self.are_args_cut = true;
        } else if flags == 0 {
            push_args(self.json.get_or_insert_with(Json::merged), event, &mut self.args);
        }
        let args = self.keep_args(start);
        let mark = Mark { begin: at, end: at, offset: event.offset() as f64, name, args, flags };
        self.lanes[track].instants.push(mark);
        Ok(())
    }
}

/// The bit of a slice of which one end is not known: it is drawn to the edge of the trace.
const EDGE_UNKNOWN: u8 = 1 << 7;

/// A bit of a slice's edges.
fn edge(name: &str) -> u8 {
    const NAMES: [&str; 7] =
        ["across_loss", "backwards", "begin_lost", "end_lost", "end_missing", "open_end", "open_start"];
    NAMES.iter().position(|known| *known == name).map_or(0, |bit| 1 << bit)
}
