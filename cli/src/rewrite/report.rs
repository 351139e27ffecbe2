//! The report of a run, for people and for scripts.

use super::Job;
use crate::output::{Out, bytes, counted, grouped, insert_path, shown};
use crate::status::Result;
use crate::trace::{Rewritten, shown_time, time_json};
use serde_json::{Map, Value};

/// The number of ranges that are told one by one.
const MOST: usize = 12;

pub fn tell(job: &Job<'_>, done: &Rewritten, size: u64, out: &mut Out) -> Result<()> {
    if job.to.json {
        json(job, done, size, out)?;
    } else {
        let all = done.kept.saturating_add(done.dropped);
        let units = counted(all, done.unit.strip_suffix('s').unwrap_or(done.unit), done.unit);
        let records = match done.records {
            0 => String::new(),
            records => format!(", {}", counted(records, "record", "records")),
        };
        out.line(format_args!(
            "{}: {} of {units}{}, {}",
            shown(&job.to.output),
            grouped(done.kept),
            records,
            bytes(size)
        ))?;
        if let Some((from, to)) = done.range() {
            let shown = |time| shown_time(time, done.is_absolute);
            out.line(format_args!("  from {} to {}", shown(from), shown(to)))?;
        }
        if job.to.redacts() {
            let names = done.redacted.iter().map(|(name, count)| format!("{name} ({})", grouped(*count)));
            let names = names.collect::<Vec<_>>().join(", ");
            let names = if names.is_empty() { "nothing: no field has such a name".to_owned() } else { names };
            out.line(format_args!("  redacted: {names}"))?;
        }
    }
    let path = job.paths.first().map(|path| path.as_path()).unwrap_or(&job.to.output);
    for note in &done.notes {
        out.warn(path, note);
    }
    for lost in done.lost.iter().take(MOST) {
        let file = lost.path.as_ref().map(|path| format!("{}: ", shown(path))).unwrap_or_default();
        let size = bytes(lost.len);
        out.warn(path, format_args!("{file}not carried over: {size} at {:#x}: {}", lost.offset, lost.what));
    }
    let more = done.lost.len().saturating_sub(MOST);
    if more > 0 {
        out.warn(path, format_args!("and {} more", grouped(more as u64)));
    }
    if done.carried > 0 {
        let errors = counted(done.carried, "error", "errors");
        out.warn(path, format_args!("{errors} in what was kept: as in the input"));
    }
    Ok(())
}

fn json(job: &Job<'_>, done: &Rewritten, size: u64, out: &mut Out) -> Result<()> {
    let mut object = Map::new();
    object.insert("verb".into(), job.verb.into());
    let inputs = job.paths.iter().map(|path| {
        let mut object = Map::new();
        insert_path(&mut object, path);
        Value::from(object)
    });
    object.insert("inputs".into(), inputs.collect());
    let mut output = Map::new();
    insert_path(&mut output, &job.to.output);
    object.insert("output".into(), output.into());
    object.insert("bytes".into(), size.into());
    object.insert("unit".into(), done.unit.into());
    object.insert("units_kept".into(), done.kept.into());
    object.insert("units_dropped".into(), done.dropped.into());
    let records = if matches!(done.unit, "events" | "records") { done.kept } else { done.records };
    object.insert("records".into(), records.into());
    let lost = done.lost.iter().map(|lost| {
        let mut object = Map::new();
        if let Some(path) = &lost.path {
            insert_path(&mut object, path);
        }
        object.insert("offset".into(), lost.offset.into());
        object.insert("len".into(), lost.len.into());
        object.insert("what".into(), lost.what.as_str().into());
        Value::from(object)
    });
    object.insert("lost".into(), lost.collect());
    if job.to.redacts() {
        let redacted = done.redacted.iter().map(|(name, count)| {
            let object = [("name".to_owned(), name.as_str().into()), ("count".to_owned(), (*count).into())];
            Value::from(Map::from_iter(object))
        });
        object.insert("redacted".into(), redacted.collect());
    }
    object.insert("errors_carried".into(), done.carried.into());
    let span = done.range().map(|(from, to)| Value::from(vec![time_json(Some(from)), time_json(Some(to))]));
    object.insert("window_ns".into(), span.unwrap_or(Value::Null));
    out.json(&object.into())
}
