//! Polls that are open when a range begins: their starts are kept, so that no end is without one.

use super::super::files::{Files, Kind};
use super::super::scan::{self, Damage};
use super::super::select::Range;
use crate::status::Result;
use foldhash::fast::RandomState;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use traceglass::rfr::{Chunk, Item, RecordKind};

/// The places of starts of polls, in chunks, that are open when the range begins: the file, and the offset of the sequence.
#[derive(Default)]
pub struct Polls(HashSet<(Option<PathBuf>, u64)>);

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
    /// Reads what lies before the range.
    pub fn open(files: &Files<'_>, range: &Range) -> Result<Self> {
        let Some(from) = range.start() else { return Ok(Self::default()) };
        let mut latest: HashMap<u64, Latest<(usize, u64)>, RandomState> = HashMap::default();
        for (number, part) in files.parts.iter().enumerate() {
            let mut note = |iid: Option<u64>, kind, micros: Option<u64>, offset| {
                if let (Some(iid), Some(micros)) = (iid, micros.filter(|micros| *micros < from)) {
                    latest.entry(iid).or_default().note(kind, micros, (number, offset));
                }
            };
            let is_wanted = |kind| matches!(kind, RecordKind::TaskPollStart | RecordKind::TaskPollEnd);
            match part.kind {
                Kind::Chunk(header) => {
                    let data = part.data()?;
                    let Ok(chunk) = Chunk::parse(data.bytes()) else { continue };
                    let mut sequence = 0;
                    scan::items(&chunk, None, &mut Damage::default(), |item, _| {
                        match item {
                            Item::Sequence(header) => sequence = header.offset(),
                            Item::Record(record) if is_wanted(record.kind()) => {
                                note(record.iid(), record.kind(), record.unix_micros(&header).ok(), sequence);
                            }
                            _ => {}
                        }
                        Ok(())
                    })?;
                }
                // What is open in a stream is found where that is written.
                Kind::Stream | Kind::Callsites | Kind::Meta => {}
            }
        }
        let open = latest.into_values().filter_map(|latest| {
            let (_, (file, offset)) = latest.open()?;
            Some((files.parts.get(file)?.path.clone(), offset))
        });
        Ok(Self(open.collect()))
    }

    /// True if one of them begins in a file.
    pub fn has_any(&self, path: Option<&Path>) -> bool {
        self.0.iter().any(|(known, _)| known.as_deref() == path)
    }

    /// True if one of them begins there.
    pub fn has(&self, path: Option<&Path>, offset: u64) -> bool {
        !self.0.is_empty() && self.0.contains(&(path.map(Path::to_owned), offset))
    }
}
