//! Which records of a recording `cat` prints.

use super::files::{Files, Kind};
use super::scan::{self, Damage};
use crate::status::{Failure, Result};
use std::collections::HashSet;
use traceglass::rfr::{Chunk, ChunkHeader, Item, Object, RecordKind, StreamData, Streaming};

#[derive(clap::Args, Default, PartialEq)]
#[group(id = "rfr")]
#[command(next_help_heading = "RFR")]
pub struct Select {
    /// Tasks and spans as well
    #[arg(long)]
    pub objects: bool,
    /// The callsites, and nothing else
    #[arg(long, conflicts_with_all = ["objects", "merge", "from", "to", "task", "kind"])]
    pub callsites: bool,
    /// Ordered by time
    #[arg(long)]
    pub merge: bool,
    /// From this time on: microseconds since the Unix epoch, or seconds from the start as +1.5
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    from: Option<Time>,
    /// Up to this time, which is not included
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    to: Option<Time>,
    /// Of the task with this name or instrumentation id
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// Of this kind, such as TaskPollStart; several with commas
    #[arg(long, value_name = "KIND", value_parser = kind, value_delimiter = ',')]
    kind: Vec<RecordKind>,
}

/// A time as given on the command line, in microseconds.
#[derive(Clone, Copy, PartialEq)]
enum Time {
    SinceEpoch(u64),
    SinceStart(u64),
}

fn time(text: &str) -> Result<Time, String> {
    let Some(seconds) = text.strip_prefix('+') else {
        let wrong =
            |_| "neither microseconds since the Unix epoch nor seconds from the start, as +1.5".to_owned();
        return text.parse().map(Time::SinceEpoch).map_err(wrong);
    };
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    if fraction.len() > 6 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("at most 6 digits may follow the point".into());
    }
    let whole: u64 = whole.parse().map_err(|_| "not a number of seconds".to_owned())?;
    let fraction: u64 = format!("{fraction:0<6}").parse().unwrap_or(0);
    let micros = whole.checked_mul(1_000_000).and_then(|micros| micros.checked_add(fraction));
    micros.map(Time::SinceStart).ok_or_else(|| "too large".to_owned())
}

fn kind(text: &str) -> Result<RecordKind, String> {
    // Writers name it so.
    if text.eq_ignore_ascii_case("TaskNew") {
        return Ok(RecordKind::NewTask);
    }
    let found = RecordKind::ALL.iter().copied().find(|kind| kind.name().eq_ignore_ascii_case(text));
    found.ok_or_else(|| {
        format!("one of {}", RecordKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", "))
    })
}

/// A selection, with all that depends on the recording found out.
pub struct Filter {
    from: u64,
    to: Option<u64>,
    tasks: Option<HashSet<u64>>,
    kinds: Vec<RecordKind>,
}

impl Select {
    pub fn filter(&self, files: &Files<'_>) -> Result<Filter> {
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
            from: self.from.map(absolute).transpose()?.unwrap_or(0),
            to: self.to.map(absolute).transpose()?,
            tasks: self.task.as_ref().map(|task| tasks(files, task)).transpose()?,
            kinds: self.kind.clone(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        assert!(time("1795225315215309") == Ok(Time::SinceEpoch(1_795_225_315_215_309)));
        assert!(time("+1.5") == Ok(Time::SinceStart(1_500_000)));
        assert!(time("+0.000001") == Ok(Time::SinceStart(1)));
        assert!(time("+7") == Ok(Time::SinceStart(7_000_000)));
        for wrong in ["", "-1", "+", "+1.0000001", "+1.+5", "+x", "1.5", "+99999999999999999"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn kinds_are_known_by_both_names() {
        assert_eq!(kind("taskpollstart"), Ok(RecordKind::TaskPollStart));
        assert_eq!((kind("NewTask"), kind("TaskNew")), (Ok(RecordKind::NewTask), Ok(RecordKind::NewTask)));
        assert!(kind("Poll").is_err());
    }
}
