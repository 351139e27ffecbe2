//! Polls that are open when a range begins: their starts are kept, so that no end is without one.

use super::super::files::{Files, Kind};
use super::super::scan::{self, Damage};
use super::super::select::Range;
use crate::status::Result;
use foldhash::fast::RandomState;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use traceglass::rfr::{Chunk, Item, RecordKind, StreamData, Streaming};

/// The places of starts of polls that are open when the range begins: the file, and the offset of the sequence or of
/// the record.
#[derive(Default)]
pub struct Polls(HashSet<(Option<PathBuf>, u64)>);

/// The latest start and end of a task's polls before the range.
#[derive(Clone, Copy, Default)]
struct Latest {
    start: Option<(u64, usize, u64)>,
    end: Option<u64>,
}

impl Latest {
    fn note(&mut self, kind: RecordKind, micros: u64, file: usize, offset: u64) {
        match kind {
            RecordKind::TaskPollStart if self.start.is_none_or(|(start, ..)| micros >= start) => {
                self.start = Some((micros, file, offset));
            }
            RecordKind::TaskPollEnd => self.end = self.end.max(Some(micros)),
            _ => {}
        }
    }
}

impl Polls {
    /// Reads what lies before the range.
    pub fn open(files: &Files<'_>, range: &Range) -> Result<Self> {
        let Some(from) = range.start() else { return Ok(Self::default()) };
        let mut latest: HashMap<u64, Latest, RandomState> = HashMap::default();
        for (number, part) in files.parts.iter().enumerate() {
            let mut note = |iid: Option<u64>, kind, micros: Option<u64>, offset| {
                if let (Some(iid), Some(micros)) = (iid, micros.filter(|micros| *micros < from)) {
                    latest.entry(iid).or_default().note(kind, micros, number, offset);
                }
            };
            let is_wanted = |kind| matches!(kind, RecordKind::TaskPollStart | RecordKind::TaskPollEnd);
            let data = part.data()?;
            match part.kind {
                Kind::Chunk(header) => {
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
                Kind::Stream => {
                    let Ok(stream) = Streaming::parse(data.bytes()) else { continue };
                    scan::stream(&stream, None, &mut Damage::default(), |record, _| {
                        if let StreamData::Record(data) = record.data()
                            && is_wanted(data.kind())
                        {
                            note(data.iid(), data.kind(), record.unix_micros().ok(), record.offset());
                        }
                        Ok(())
                    })?;
                }
                Kind::Callsites | Kind::Meta => {}
            }
        }
        let open = latest.into_values().filter_map(|latest| {
            let (start, file, offset) = latest.start?;
            let path = files.parts.get(file)?.path.clone();
            latest.end.is_none_or(|end| end < start).then_some((path, offset))
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
