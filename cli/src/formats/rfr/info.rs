//! `info` of a recording.

use super::files::{Files, Kind, Part};
use super::names::{Names, clock, duration};
use super::scan::{self, Damage};
use crate::output::{add, counted, grouped, pad};
use crate::progress::Progress;
use crate::status::Result;
use crate::trace::{Info, rfc3339};
use serde_json::Map;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use traceglass::rfr::{Callsites, Chunk, Item, Meta, Object, RecordData, RecordKind, StreamData, Streaming};

/// How many of the busiest tasks are shown.
const SHOWN: usize = 5;

/// What a recording consists of.
#[derive(Default)]
struct Counts {
    sequences: u64,
    objects: u64,
    records: u64,
    callsites: u64,
    by_kind: BTreeMap<RecordKind, u64>,
    /// First and last time in a stream.
    stream: Option<(u64, u64)>,
    created: Option<u64>,
}

/// What tasks did.
///
/// Instrumentation ids recur: a task is known by its own and by what the runtime calls it.
#[derive(Default)]
struct Tasks {
    by_id: HashMap<(u64, Option<u64>), Task>,
    /// Which task an instrumentation id is of, in this chunk or at this place of a stream.
    now: HashMap<u64, u64>,
    /// Polls that have begun, by sequence and task.
    open: HashMap<(u64, u64), u64>,
    names: Names,
}

#[derive(Default, Clone)]
struct Task {
    polls: u64,
    busy: u64,
    /// Its name and its place, of a task whose object is known.
    named: Option<(String, String)>,
}

impl Tasks {
    /// Another chunk begins.
    fn enter(&mut self) {
        self.now.clear();
    }

    fn object(&mut self, object: &Object<'_>) {
        let Object::Task(task) = object else { return };
        self.now.insert(task.iid(), task.task_id());
        let known = self.by_id.entry((task.iid(), Some(task.task_id()))).or_default();
        if known.named.is_none() {
            self.names.add_object(object);
            let place = self.names.place_of(task.iid()).to_owned();
            known.named = Some((self.names.object(task.iid()), place));
            self.names.forget(task.iid());
        }
    }

    fn record(&mut self, seq_id: u64, micros: u64, data: &RecordData<'_>) {
        match *data {
            RecordData::TaskPollStart { iid } => drop(self.open.insert((seq_id, iid), micros)),
            RecordData::TaskPollEnd { iid } => {
                let start = self.open.remove(&(seq_id, iid)).unwrap_or(micros);
                let task = self.by_id.entry((iid, self.now.get(&iid).copied())).or_default();
                add(&mut task.polls, 1);
                add(&mut task.busy, micros.saturating_sub(start));
            }
            _ => {}
        }
    }

    /// The busiest ones, one a line.
    fn busiest(&self) -> Vec<String> {
        let mut tasks: Vec<_> = self.by_id.iter().filter(|(_, task)| task.polls > 0).collect();
        tasks.sort_by_key(|(id, task)| (std::cmp::Reverse(task.busy), **id));
        tasks.truncate(SHOWN);
        let names: Vec<String> = tasks
            .iter()
            .map(|((iid, _), task)| {
                task.named.as_ref().map_or_else(|| format!("#{iid}"), |(name, _)| name.clone())
            })
            .collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let line = |((_, task), name): (&(_, &Task), &String)| {
            let mut text = String::new();
            pad(&mut text, name, width, false);
            let (busy, polls) = (duration(task.busy), counted(task.polls, "poll", "polls"));
            let place = task.named.as_ref().map_or("", |(_, place)| place);
            // A string takes all that is written to it.
            let _ = write!(text, "  {busy:>9} in {polls:<12}  {place}");
            text.trim_end().to_owned()
        };
        tasks.iter().zip(&names).map(line).collect()
    }
}

pub fn info(files: &Files<'_>) -> Result<Info> {
    let mut damage = Damage::of(files);
    let mut counts = Counts::default();
    let mut tasks = Tasks { names: Names::of(files)?, ..Tasks::default() };
    let progress = Progress::new(files.bytes);
    for part in &files.parts {
        count(part, &mut counts, &mut tasks, &mut damage)?;
        progress.advance(part.size);
    }
    drop(progress);

    let chunks = files.chunks().count() as u64;
    let (mut start, mut end) = files.period();
    if let (0, Some((first, last))) = (chunks, counts.stream) {
        (start, end) = (Some(first), Some(last));
    }
    // Of a recording, the identifier of what has the records.
    let with_records = files.parts.iter().find(|part| matches!(part.kind, Kind::Chunk(_) | Kind::Stream));
    let identifier = with_records.or(files.parts.first()).map_or("", |part| part.identifier.as_str());

    let mut fields = Map::new();
    fields.insert("identifier".into(), identifier.into());
    fields.insert("chunks".into(), chunks.into());
    fields.insert("sequences".into(), counts.sequences.into());
    fields.insert("objects".into(), counts.objects.into());
    fields.insert("records".into(), counts.records.into());
    fields.insert("callsites".into(), counts.callsites.into());
    let by_kind: Map<_, _> =
        counts.by_kind.iter().map(|(kind, &count)| (kind.name().into(), count.into())).collect();
    fields.insert("records_by_kind".into(), by_kind.into());
    fields.insert("start_micros".into(), start.into());
    fields.insert("end_micros".into(), end.into());
    for (name, micros) in [("start", start), ("end", end)] {
        let nanoseconds = micros.map(|micros| i128::from(micros).saturating_mul(1000));
        fields.insert(format!("{name}_time"), nanoseconds.and_then(rfc3339).into());
    }
    if let Some(created) = counts.created {
        fields.insert("created_micros".into(), created.into());
    }
    Ok(Info {
        bytes: files.bytes,
        status: damage.status(),
        fields,
        title: format!("RFR, Rust Flight Recorder, {identifier}"),
        lines: lines(chunks, start, end, &counts, &tasks),
        damage: damage.lines(),
    })
}

fn count(part: &Part<'_>, counts: &mut Counts, tasks: &mut Tasks, damage: &mut Damage) -> Result<()> {
    let data = part.data()?;
    let (data, path) = (data.bytes(), part.path.as_deref());
    match part.kind {
        Kind::Chunk(_) => {
            let Ok(chunk) = Chunk::parse(data) else { return Ok(()) };
            let header = chunk.header();
            let base = header.base_micros().map_err(|error| damage.add(path, error)).ok();
            let mut seq_id = 0;
            let mut kinds = [0_u64; RecordKind::ALL.len()];
            tasks.enter();
            scan::items(&chunk, path, damage, |item, damage| {
                match item {
                    Item::Sequence(header) => {
                        add(&mut counts.sequences, 1);
                        seq_id = header.seq_id();
                    }
                    Item::Object(object) => {
                        add(&mut counts.objects, 1);
                        tasks.object(&object);
                    }
                    Item::Record(record) => {
                        add(&mut counts.records, 1);
                        if let Some(count) = kinds.get_mut(record.kind() as usize) {
                            add(count, 1);
                        }
                        match base.map(|_| record.unix_micros(&header)) {
                            Some(Ok(micros)) => tasks.record(seq_id, micros, &record.data()),
                            Some(Err(error)) => damage.add(path, error),
                            None => {}
                        }
                    }
                    _ => {}
                }
                Ok(())
            })?;
            for (kind, count) in RecordKind::ALL.iter().zip(kinds).filter(|&(_, count)| count > 0) {
                add(counts.by_kind.entry(*kind).or_default(), count);
            }
        }
        Kind::Stream => {
            let Ok(stream) = Streaming::parse(data) else { return Ok(()) };
            scan::stream(&stream, path, damage, |record, damage| {
                add(&mut counts.records, 1);
                add(counts.by_kind.entry(record.kind()).or_default(), 1);
                let micros = record.unix_micros().map_err(|error| damage.add(path, error)).ok();
                if let Some(micros) = micros {
                    let first = counts.stream.map_or(micros, |(first, _)| first);
                    counts.stream = Some((first, micros));
                }
                match record.data() {
                    StreamData::Callsite(callsite) => {
                        add(&mut counts.callsites, 1);
                        tasks.names.add_callsite(&callsite);
                    }
                    StreamData::Span(_) => add(&mut counts.objects, 1),
                    StreamData::Task(task) => {
                        add(&mut counts.objects, 1);
                        tasks.object(&Object::Task(task));
                    }
                    // Polls of a stream are told apart by their tasks alone.
                    StreamData::Record(data) => {
                        if let Some(micros) = micros {
                            tasks.record(0, micros, &data);
                        }
                        if let RecordData::TaskDrop { iid } = data {
                            tasks.now.remove(&iid);
                        }
                    }
                    _ => {}
                }
                Ok(())
            })?;
        }
        Kind::Callsites => {
            let Ok(callsites) = Callsites::parse(data) else { return Ok(()) };
            scan::callsites(&callsites, path, damage, |_| {
                add(&mut counts.callsites, 1);
                Ok(())
            })?;
        }
        Kind::Meta => {
            let Ok(meta) = Meta::parse(data) else { return Ok(()) };
            counts.created = meta.created().map_err(|error| damage.add(path, error)).ok();
            if let Some(error) = meta.formats().find_map(|format| format.err()) {
                damage.add(path, error);
            }
        }
    }
    Ok(())
}

fn lines(
    chunks: u64,
    start: Option<u64>,
    end: Option<u64>,
    counts: &Counts,
    tasks: &Tasks,
) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(created) = counts.created {
        lines.push(("created", format!("{} UTC", clock(created))));
    }
    if let (Some(start), Some(end)) = (start, end) {
        let length = duration(end.saturating_sub(start));
        lines.push(("time", format!("{} UTC, {length}", clock(start))));
    }
    if chunks > 0 {
        lines.push(("chunks", grouped(chunks)));
        lines.push(("sequences", grouped(counts.sequences)));
    }
    if counts.callsites > 0 {
        lines.push(("callsites", grouped(counts.callsites)));
    }
    if counts.objects > 0 {
        let distinct = tasks.by_id.values().filter(|task| task.named.is_some()).count() as u64;
        let of = counted(distinct, "task", "tasks");
        lines.push(("objects", format!("{}, of {of}", grouped(counts.objects))));
    }
    if chunks > 0 || counts.records > 0 {
        lines.push(("records", grouped(counts.records)));
    }
    let mut kinds: Vec<_> = counts.by_kind.iter().map(|(kind, &count)| (kind.name(), count)).collect();
    kinds.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
    let width = kinds.first().map_or(0, |&(_, count)| grouped(count).len());
    for (name, count) in kinds {
        lines.push(("", format!("{:>width$}  {name}", grouped(count))));
    }
    for (number, line) in tasks.busiest().into_iter().enumerate() {
        lines.push((if number == 0 { "busiest" } else { "" }, line));
    }
    lines
}
