//! Which records of a recording `cat` prints.

use super::files::{Files, Kind};
use super::scan::{self, Damage};
use crate::status::{Failure, Result};
use crate::trace::{RfrSelect, Time};
use std::collections::HashSet;
use traceglass::rfr::{Chunk, ChunkHeader, Item, Object, RecordKind, StreamData, Streaming};

/// A selection, with all that depends on the recording found out.
pub struct Filter {
    from: u64,
    to: Option<u64>,
    tasks: Option<HashSet<u64>>,
    kinds: Vec<RecordKind>,
}

impl Filter {
    pub fn of(select: &RfrSelect, files: &Files<'_>) -> Result<Self> {
        let absolute = |time: Time| -> Result<u64> {
            match time {
                Time::SinceEpoch(micros) => Ok(micros),
                Time::SinceStart(micros) => {
                    let start = start(files)?.ok_or_else(|| Failure::usage("the recording has no start"))?;
                    Ok(start.saturating_add(micros))
                }
            }
        };
        Ok(Filter {
            from: select.from.map(absolute).transpose()?.unwrap_or(0),
            to: select.to.map(absolute).transpose()?,
            tasks: select.task.as_ref().map(|task| tasks(files, task)).transpose()?,
            kinds: select.kind.clone(),
        })
    }
}

/// Where a recording starts.
fn start(files: &Files<'_>) -> Result<Option<u64>> {
    if let (Some(start), _) = files.period() {
        return Ok(Some(start));
    }
    for part in files.of(Kind::Stream) {
        let data = part.data()?;
        let first = Streaming::parse(data.bytes()).ok().and_then(|stream| stream.records().next());
        if let Some(Ok(first)) = first {
            return Ok(first.unix_micros().ok());
        }
    }
    Ok(None)
}

/// The instrumentation ids of tasks with this name; the id itself if it is one.
fn tasks(files: &Files<'_>, name: &str) -> Result<HashSet<u64>> {
    let mut found: HashSet<u64> = name.parse().into_iter().collect();
    let mut ignored = Damage::default();
    for part in files.chunks() {
        let data = part.data()?;
        let Ok(chunk) = Chunk::parse(data.bytes()) else { continue };
        scan::items(&chunk, None, &mut ignored, |item, _| {
            match item {
                Item::Object(Object::Task(task)) if task.name() == name => drop(found.insert(task.iid())),
                _ => {}
            }
            Ok(())
        })?;
    }
    for part in files.of(Kind::Stream) {
        let data = part.data()?;
        let Ok(stream) = Streaming::parse(data.bytes()) else { continue };
        scan::stream(&stream, None, &mut ignored, |record, _| {
            match record.data() {
                StreamData::Task(task) if task.name() == name => drop(found.insert(task.iid())),
                _ => {}
            }
            Ok(())
        })?;
    }
    if found.is_empty() {
        return Err(Failure::unreadable(format!(
            "no task {name}; `traceglass cat --objects` lists what there is"
        )));
    }
    Ok(found)
}

impl Filter {
    /// Whether a chunk may have records that are wanted, by its header.
    pub fn wants_chunk(&self, header: &ChunkHeader) -> bool {
        let base = u128::from(header.base_time()) * 1_000_000;
        let first = base + u128::from(header.start().min(header.earliest()));
        let last = base + u128::from(header.end().max(header.latest()));
        last >= u128::from(self.from) && self.to.is_none_or(|to| first < u128::from(to))
    }

    /// Whether a record is wanted. A time that does not fit is in no range.
    pub fn wants(&self, kind: RecordKind, micros: Option<u64>, iid: Option<u64>) -> bool {
        let in_time = match micros {
            Some(micros) => micros >= self.from && self.to.is_none_or(|to| micros < to),
            None => self.from == 0 && self.to.is_none(),
        };
        in_time && (self.kinds.is_empty() || self.kinds.contains(&kind)) && self.wants_task(iid)
    }

    pub fn wants_task(&self, iid: Option<u64>) -> bool {
        self.tasks.as_ref().is_none_or(|tasks| iid.is_some_and(|iid| tasks.contains(&iid)))
    }
}
