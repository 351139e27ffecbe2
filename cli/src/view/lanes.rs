//! Tracks as lanes: what happened in each of a limited number of spans of time, whatever there is.

use std::collections::HashMap;

/// The number of spans the time of a window is divided into.
pub const BUCKETS: usize = 384;

/// The number of lanes up to which those that a window has nothing of are kept.
const EMPTY: usize = 512;

/// The activity on a track in a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    /// The number of events.
    pub events: u32,
    /// For how long a slice was open, in nanoseconds.
    pub busy: u64,
    /// The name of the slice that was open longest, or of the first instant; 0 if there is none.
    pub name: u16,
    pub value: Option<f64>,
    pub is_damaged: bool,
    pub first: Option<First>,
}

/// The first event in a span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct First {
    pub input: u32,
    /// Offset in the input of its first byte, and after its last one.
    pub offset: u64,
    pub end: u64,
    /// The time in nanoseconds.
    pub ns: i128,
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
    /// The begins of the slices that are open, by how deep they are: the outermost counts.
    pub depth: u32,
    pub since: i128,
    pub slice: u16,
}

/// The keys of lanes: name, kind, and the number among those of that name and kind.
fn keys(lanes: &[Lane]) -> Vec<(String, &'static str, u32)> {
    let mut counts: HashMap<(&str, &str), u32> = HashMap::new();
    lanes
        .iter()
        .map(|lane| {
            let count = counts.entry((&lane.name, lane.kind)).or_default();
            *count = count.saturating_add(1);
            (lane.name.clone(), lane.kind, *count)
        })
        .collect()
}

/// The lanes of a window of time.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// The number of the first span, and how long each is, in nanoseconds.
    pub base: i128,
    pub width: i128,
    pub absolute: bool,
    pub lanes: Vec<Lane>,
    pub names: Vec<String>,
    /// True if all of the window was read.
    pub done: bool,
    /// Events without a known time, or with one of another clock.
    pub timeless: u64,
    /// The first and the last time.
    pub span: Option<(i128, i128)>,
    pub failed: Option<String>,
    /// The number of bytes that have been read.
    pub read: u64,
}

impl Lanes {
    /// The begin of the span of that number.
    pub fn time_of(&self, bucket: usize) -> i128 {
        let bucket = i128::try_from(bucket).unwrap_or(i128::MAX);
        self.base.saturating_add(bucket).saturating_mul(self.width)
    }

    /// The span that a time is in.
    pub fn bucket_of(&self, ns: i128) -> Option<usize> {
        let bucket = ns.checked_div_euclid(self.width)?.checked_sub(self.base)?;
        usize::try_from(bucket).ok().filter(|&bucket| bucket < BUCKETS)
    }

    /// Gives lanes the places that they had before, so that they stay where they are while the window changes; those
    /// with nothing in this window are empty. Lanes of one name are told apart by their order.
    pub fn keep_order(&mut self, before: &Self) {
        let found = keys(&self.lanes);
        let mut lanes: HashMap<_, _> =
            found.into_iter().zip(std::mem::take(&mut self.lanes).into_iter().enumerate()).collect();
        let keeps = before.lanes.len() <= EMPTY;
        for (key, lane) in keys(&before.lanes).into_iter().zip(&before.lanes) {
            match lanes.remove(&key) {
                Some((_, lane)) => self.lanes.push(lane),
                // One that has no kind yet is still to get its name.
                None if keeps && !lane.kind.is_empty() => self.lanes.push(Lane {
                    name: lane.name.clone(),
                    kind: lane.kind,
                    cells: vec![Cell::default(); BUCKETS],
                    ..Lane::default()
                }),
                None => {}
            }
        }
        let mut rest: Vec<(usize, Lane)> = lanes.into_values().collect();
        rest.sort_by_key(|(place, _)| *place);
        self.lanes.extend(rest.into_iter().map(|(_, lane)| lane));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(names: &[&str]) -> Lanes {
        let lane = |name: &&str| Lane { name: (*name).to_owned(), kind: "task", ..Lane::default() };
        Lanes { lanes: names.iter().map(lane).collect(), ..Lanes::default() }
    }

    #[test]
    fn lanes_stay_where_they_are() {
        let before = lanes(&["a", "worker", "worker", "b"]);
        let mut after = lanes(&["c", "b", "worker"]);
        after.keep_order(&before);
        let names: Vec<_> = after.lanes.iter().map(|lane| lane.name.as_str()).collect();
        assert_eq!(names, ["a", "worker", "worker", "b", "c"]);
        // Lanes that have something are those that had it.
        let used: Vec<_> = after.lanes.iter().map(|lane| lane.cells.is_empty()).collect();
        assert_eq!(used, [false, true, false, true, true]);
    }
}
