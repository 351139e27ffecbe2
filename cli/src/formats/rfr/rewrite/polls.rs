//! Polls that are open when a range begins: their starts are kept, so that no end is without one.

use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use traceglass::rfr::RecordKind;

/// A record before the range: its task, the offset of its sequence, its own place in the file, and its time from the base
/// time.
#[derive(Clone, Default)]
pub struct Before {
    pub iid: u64,
    pub sequence: u64,
    pub part: Range<u64>,
    pub time: u64,
}

/// The starts of open polls in a file, by the offsets of their sequences.
pub type Starts = HashMap<u64, Vec<Before>>;

/// The polls that are open when the range begins.
#[derive(Default)]
pub struct Polls {
    /// By their tasks, the polls before it.
    latest: HashMap<u64, Latest<(usize, Before)>, RandomState>,
    /// The files that have some of them.
    files: Vec<Option<PathBuf>>,
    open: HashMap<Option<PathBuf>, Starts>,
}

/// The latest start and end of a task's polls before the range, and where the start is.
#[derive(Clone, Default)]
pub struct Latest<P> {
    start: Option<(u64, P)>,
    end: Option<u64>,
}

impl<P> Latest<P> {
    /// Notes a start or an end; true if it is the latest start so far.
    pub fn note(&mut self, kind: RecordKind, micros: u64, place: P) -> bool {
        if kind == RecordKind::TaskPollEnd {
            self.end = self.end.max(Some(micros));
            return false;
        }
        let is_latest = self.start.as_ref().is_none_or(|(start, _)| micros >= *start);
        if is_latest {
            self.start = Some((micros, place));
        }
        is_latest
    }

    /// The start that no end follows: its time, and its place.
    pub fn open(self) -> Option<(u64, P)> {
        self.start.filter(|(start, _)| self.end.is_none_or(|end| end < *start))
    }
}

impl Polls {
    /// Begins a file.
    pub fn begin(&mut self, path: Option<&Path>) {
        self.files.push(path.map(Path::to_owned));
    }

    /// Notes a start or an end before the range, of the file that was begun last.
    pub fn note(&mut self, kind: RecordKind, micros: u64, record: Before) {
        let file = self.files.len().saturating_sub(1);
        self.latest.entry(record.iid).or_default().note(kind, micros, (file, record));
    }

    /// Finds what is open, when all that lies before the range was noted.
    pub fn close(&mut self) {
        let latest = std::mem::take(&mut self.latest);
        for (_, (file, start)) in latest.into_values().filter_map(Latest::open) {
            let Some(path) = self.files.get(file) else { continue };
            let starts = self.open.entry(path.clone()).or_default();
            starts.entry(start.sequence).or_default().push(start);
        }
    }

    /// Takes those that begin in a file.
    pub fn take(&mut self, path: Option<&Path>) -> Starts {
        self.open.remove(&path.map(Path::to_owned)).unwrap_or_default()
    }
}
