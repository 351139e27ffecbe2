//! Polls that are open when a range begins: their starts are kept, so that no end is without one.

use foldhash::fast::RandomState;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use traceglass::rfr::RecordKind;

/// The place of the start of a poll: the file, and the offset of the sequence.
type Place = (Option<PathBuf>, u64);

/// The polls that are open when the range begins.
#[derive(Default)]
pub struct Polls {
    /// By their tasks, the polls before it.
    latest: HashMap<u64, Latest<(usize, u64)>, RandomState>,
    /// The files that have some of them.
    files: Vec<Option<PathBuf>>,
    open: HashSet<Place>,
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
    pub fn note(&mut self, iid: u64, kind: RecordKind, micros: u64, sequence: u64) {
        let file = self.files.len().saturating_sub(1);
        self.latest.entry(iid).or_default().note(kind, micros, (file, sequence));
    }

    /// Finds what is open, when all that lies before the range was noted.
    pub fn close(&mut self) {
        let latest = std::mem::take(&mut self.latest);
        self.open.extend(latest.into_values().filter_map(|latest| {
            let (_, (file, sequence)) = latest.open()?;
            Some((self.files.get(file)?.clone(), sequence))
        }));
    }

    /// True if one of them begins in a file.
    pub fn has_any(&self, path: Option<&Path>) -> bool {
        self.open.iter().any(|(known, _)| known.as_deref() == path)
    }

    /// True if one of them begins there.
    pub fn has(&self, path: Option<&Path>, sequence: u64) -> bool {
        !self.open.is_empty() && self.open.contains(&(path.map(Path::to_owned), sequence))
    }
}
