//! The timeline of a trace, in columns that a canvas is drawn from.
//!
//! A row is a depth of a track. Its slices are sorted by their begins, so that what a screen shows is found by search, and
//! what is narrower than a pixel is skipped: drawing takes as long as the screen is wide, whatever the trace has.

use foldhash::fast::RandomState;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::convert::Infallible;
use traceglass::event::{Event, EventKind, FlowId, Number, Time, Track, TrackId, TrackKind};
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

/// A row of marks.
struct Row {
    track: usize,
    depth: usize,
    marks: Vec<Mark>,
}

#[derive(Default)]
pub struct Timeline {
    /// The first time that was met, from which times are counted: as floats, nanoseconds of 104 days are exact.
    origin: Option<Time>,
    first: f64,
    last: f64,
    tracks: Vec<Value>,
    numbers: Map<TrackId, usize>,
    rows: Vec<Row>,
    row_of: Map<(usize, usize), usize>,
    instants: Map<usize, Vec<Mark>>,
    counters: Map<usize, Vec<[f64; 2]>>,
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
        let next = self.tracks.len();
        let number = *self.numbers.entry(id).or_insert(next);
        if number == next {
            self.tracks.push(json!({ "id": id.number(), "label": id.to_string(), "kind": "stream" }));
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

    /// Keeps the arguments from `start` on, if there are any.
    fn keep(&mut self, start: usize) -> u32 {
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
        self.rows.sort_by_key(|row| (row.track, row.depth));
        let mut marks = Columns::new("slice", take);
        let rows: Vec<_> = self
            .rows
            .iter_mut()
            .map(|row| {
                for mark in &mut row.marks {
                    mark.begin = if mark.begin.is_nan() { first } else { mark.begin };
                    mark.end = if mark.end.is_nan() { last } else { mark.end }.max(mark.begin);
                }
                json!({ "track": row.track, "depth": row.depth, "len": sorted(&mut row.marks) })
            })
            .collect();
        marks.put(self.rows.iter().map(|row| &row.marks));
        drop(std::mem::take(&mut self.rows));

        let mut instants: Vec<_> = std::mem::take(&mut self.instants).into_iter().collect();
        instants.sort_by_key(|&(track, _)| track);
        let listed: Vec<_> = instants
            .iter_mut()
            .map(|(track, marks)| json!({ "track": *track, "len": sorted(marks) }))
            .collect();
        Columns::new("mark", take).put(instants.iter().map(|(_, marks)| marks));
        drop(instants);

        let mut counters: Vec<_> = std::mem::take(&mut self.counters).into_iter().collect();
        counters.sort_by_key(|&(track, _)| track);
        for (_, values) in &mut counters {
            values.sort_by(|a, b| a[0].total_cmp(&b[0]));
        }
        let counted: Vec<_> =
            counters.iter().map(|(track, values)| json!({ "track": track, "len": values.len() })).collect();
        for (number, name) in ["value_time", "value"].into_iter().enumerate() {
            take(name, 8, &floats(counters.iter().flat_map(|(_, values)| values).map(|value| value[number])));
        }
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
            "tracks": self.tracks, "rows": rows, "marks": listed, "counters": counted,
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

    fn track(&mut self, track: &Track<'_>) -> Result<(), Infallible> {
        let number = self.track_of(track.id());
        let parent = track.parent().map(|parent| self.track_of(parent));
        self.text.clear();
        push_label(&mut self.text, track.label(), NAME_MAX);
        let unit = match track.kind() {
            TrackKind::Counter { unit } => unit,
            _ => None,
        };
        self.tracks[number] = json!({
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
        let next = self.rows.len();
        let row = *self.row_of.entry((track, slice.depth)).or_insert(next);
        if row == next {
            self.rows.push(Row { track, depth: slice.depth, marks: Vec::new() });
        }
        let start = self.args.len();
        if self.wants_args() {
            self.args.extend_from_slice(slice.args);
        } else {
            self.are_args_cut = true;
        }
        let (name, args) = (self.name(slice.name), self.keep(start));
        // The bits of the edges are not public; their order is that of the alphabet of their names.
        let unknown = if slice.begin.is_none() || slice.end.is_none() { EDGE_UNKNOWN } else { 0 };
        let flags = slice.edges.names().fold(unknown, |flags, name| flags | edge(name));
        self.rows[row].marks.push(Mark { begin, end, offset: slice.offset as f64, name, args, flags });
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
        self.text.clear();
        let flags = match event.kind() {
            EventKind::Begin | EventKind::End => return Ok(()),
            EventKind::Counter(number) => {
                let value = match number {
                    Number::Integer(value) => value as f64,
                    Number::Float(value) => value,
                    _ => f64::NAN,
                };
                self.counters.entry(track).or_default().push([at, value]);
                return Ok(());
            }
            EventKind::Gap(gap) => {
                self.text = format!("gap: {gap}");
                1
            }
            EventKind::Discarded { count } => {
                self.text =
                    count.map_or_else(|| "discarded".to_owned(), |count| format!("discarded {count}"));
                2
            }
            _ => {
                push_label(&mut self.text, event.name(), NAME_MAX);
                0
            }
        };
        let start = self.args.len();
        if !self.wants_args() {
            self.are_args_cut = true;
        } else if flags == 0 {
            push_args(self.json.get_or_insert_with(Json::merged), event, &mut self.args);
        }
        let text = std::mem::take(&mut self.text);
        let (name, args) = (self.name(&text), self.keep(start));
        self.text = text;
        let mark = Mark { begin: at, end: at, offset: event.offset() as f64, name, args, flags };
        self.instants.entry(track).or_default().push(mark);
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
