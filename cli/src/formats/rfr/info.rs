//! `info` of a recording.

use super::Rfr;
use super::files::{Kind, Part};
use super::scan;
use super::tasks::Tasks;
use crate::output::{add, counted, grouped};
use crate::progress::Progress;
use crate::status::Result;
use crate::trace::{
    Damage, DamageExt as _, Info, Inquiry, duration, insert_span, rfc3339, shown_micros, widen,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use traceglass::event::Window;
use traceglass::rfr::{Callsites, Chunk, Item, Meta, RecordKind, Streaming};

/// The counts of a recording.
#[derive(Default)]
struct Counts {
    sequences: u64,
    objects: u64,
    records: u64,
    callsites: u64,
    by_kind: BTreeMap<RecordKind, u64>,
    /// The first and the last time in a stream: its clock may step back.
    stream: Option<(u64, u64)>,
    created: Option<u64>,
}

impl Counts {
    /// The begin of a stream.
    fn glance(&mut self, part: &Part<'_>) -> Result<()> {
        let data = part.data()?;
        let record = Streaming::parse(data.bytes()).ok().and_then(|stream| stream.records().next());
        if let Some(Ok(micros)) = record.and_then(traceglass::Result::ok).map(|record| record.unix_micros()) {
            self.stream = Some((micros, micros));
        }
        Ok(())
    }
}

pub fn info(rfr: &Rfr<'_>, args: &Inquiry) -> Result<Info> {
    let files = &rfr.files;
    let mut damage = scan::unopened(files);
    let mut counts = Counts::default();
    let mut tasks = Tasks::default();
    let complete = args.tasks || args.wants_all(files.bytes);
    let progress = Progress::new(if complete { files.bytes } else { 0 });
    for part in &files.parts {
        match part.kind {
            // For large recordings, the headers say when it was.
            Kind::Chunk(_) if !complete => {}
            Kind::Stream if !complete => counts.glance(part)?,
            _ => count(part, &mut counts, &mut damage)?,
        }
        progress.advance(part.size);
    }
    if complete {
        // Damage has been counted.
        rfr.export_events(Window::ALL, &mut tasks)?;
        tasks.finish();
    }
    drop(progress);

    let chunks = files.chunks().count() as u64;
    let (mut start, mut end) = files.period();
    if let (0, Some((first, last))) = (chunks, counts.stream) {
        (start, end) = (Some(first), complete.then_some(last));
    }
    // Of the files of a recording, one that has records gives the identifier.
    let with_records = files.parts.iter().find(|part| matches!(part.kind, Kind::Chunk(_) | Kind::Stream));
    let identifier = with_records.or(files.parts.first()).map_or("", |part| part.identifier.as_str());

    let mut fields = Map::new();
    fields.insert("identifier".into(), identifier.into());
    fields.insert("chunks".into(), chunks.into());
    let counted_only = |count: u64| if complete { count.into() } else { Value::Null };
    fields.insert("sequences".into(), counted_only(counts.sequences));
    fields.insert("objects".into(), counted_only(counts.objects));
    fields.insert("records".into(), counted_only(counts.records));
    // In a stream, callsites lie between the records.
    let has_streams = files.of(Kind::Stream).next().is_some();
    let callsites = if has_streams { counted_only(counts.callsites) } else { counts.callsites.into() };
    fields.insert("callsites".into(), callsites);
    let by_kind: Map<_, _> =
        counts.by_kind.iter().map(|(kind, &count)| (kind.name().into(), count.into())).collect();
    fields.insert("records_by_kind".into(), if complete { by_kind.into() } else { Value::Null });
    fields.insert("start_micros".into(), start.into());
    fields.insert("end_micros".into(), end.into());
    let span = [start, end].map(|micros| micros.map(|micros| i128::from(micros).saturating_mul(1000)));
    insert_span(&mut fields, span, true);
    if let Some(created) = counts.created {
        fields.insert("created_micros".into(), created.into());
        let nanoseconds = i128::from(created).saturating_mul(1000);
        fields.insert("created_time".into(), rfc3339(nanoseconds).into());
    }
    let (known, left) = tasks.counts();
    fields.insert("task_count".into(), counted_only(known));
    fields.insert("tasks_never_dropped".into(), counted_only(left));
    if args.tasks {
        fields.insert("tasks".into(), tasks.json());
    }
    let table = tasks.table(args.tasks);
    Ok(Info {
        bytes: files.bytes,
        status: damage.status(),
        fields,
        title: format!("RFR, Rust Flight Recorder, {identifier}"),
        lines: if complete {
            lines(chunks, start, end, &counts, &tasks)
        } else {
            glance(chunks, start, end, &counts)
        },
        tables: table
            .map(|table| (if args.tasks { "tasks" } else { "busiest" }, table))
            .into_iter()
            .collect(),
        damage,
        complete,
    })
}

fn count(part: &Part<'_>, counts: &mut Counts, damage: &mut Damage) -> Result<()> {
    let data = part.data()?;
    let (data, path) = (data.bytes(), part.path.as_deref());
    match part.kind {
        Kind::Chunk(_) => {
            let Ok(chunk) = Chunk::parse(data) else { return Ok(()) };
            let header = chunk.header();
            let has_base = header.base_micros().map_err(|error| damage.add_in(path, error)).is_ok();
            let mut kinds = [0_u64; RecordKind::ALL.len()];
            scan::items(&chunk, path, damage, |item, damage| {
                match item {
                    Item::Sequence(_) => add(&mut counts.sequences, 1),
                    Item::Object(_) => add(&mut counts.objects, 1),
                    Item::Record(record) => {
                        add(&mut counts.records, 1);
                        if let Some(count) = kinds.get_mut(record.kind() as usize) {
                            add(count, 1);
                        }
                        if let (true, Err(error)) = (has_base, record.unix_micros(&header)) {
                            damage.add_in(path, error);
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
                let micros = record.unix_micros().map_err(|error| damage.add_in(path, error)).ok();
                if let Some(micros) = micros {
                    widen(&mut counts.stream, micros, micros);
                }
                match record.kind() {
                    RecordKind::Callsite => add(&mut counts.callsites, 1),
                    RecordKind::Span | RecordKind::Task => add(&mut counts.objects, 1),
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
            counts.created = meta.created().map_err(|error| damage.add_in(path, error)).ok();
            if let Some(error) = meta.formats().find_map(|format| format.err()) {
                damage.add_in(path, error);
            }
        }
    }
    Ok(())
}

/// The facts about a large recording that need none of its records.
fn glance(chunks: u64, start: Option<u64>, end: Option<u64>, counts: &Counts) -> Vec<(&'static str, String)> {
    let mut lines = when(start, end, counts);
    if chunks > 0 {
        lines.push(("chunks", grouped(chunks)));
    }
    lines.push(("records", "not counted".to_owned()));
    lines
}

/// The time of its recording.
fn when(start: Option<u64>, end: Option<u64>, counts: &Counts) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(created) = counts.created {
        lines.push(("created", shown_micros(created)));
    }
    if let Some(start) = start {
        let length = end
            .map(|end| format!(", {}", duration(i128::from(end.saturating_sub(start)).saturating_mul(1000))));
        lines.push(("time", format!("{}{}", shown_micros(start), length.unwrap_or_default())));
    }
    lines
}

fn lines(
    chunks: u64,
    start: Option<u64>,
    end: Option<u64>,
    counts: &Counts,
    tasks: &Tasks,
) -> Vec<(&'static str, String)> {
    let mut lines = when(start, end, counts);
    if chunks > 0 {
        lines.push(("chunks", grouped(chunks)));
        lines.push(("sequences", grouped(counts.sequences)));
    }
    if counts.callsites > 0 {
        lines.push(("callsites", grouped(counts.callsites)));
    }
    if counts.objects > 0 {
        let (distinct, left) = tasks.counts();
        let of = counted(distinct, "task", "tasks");
        let left = if left > 0 { format!(", {} never dropped", grouped(left)) } else { String::new() };
        lines.push(("objects", format!("{}, of {of}{left}", grouped(counts.objects))));
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
    lines
}
