//! `cat` of a recording.

use super::files::{Files, Kind, Part};
use super::json;
use super::names::{Clock, Names, Objects, short};
use super::scan::{self, Damage};
use super::select::Filter;
use crate::json::Line;
use crate::output::{DIM, LABEL, Out, pad, printable};
use crate::progress::Progress;
use crate::status::{Result, Status};
use crate::trace::Selection;
use anstyle::Style;
use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;
use traceglass::rfr::{
    Callsite, Callsites, Chunk, ChunkHeader, Event, Item, Merge, MergeSlot, Object, Record, RecordData,
    Records, StreamData, StreamRecord, Streaming,
};

pub fn cat(files: &Files<'_>, args: &Selection, out: &mut Out) -> Result<Status> {
    let select = &args.rfr;
    let mut damage = Damage::of(files);
    let mut filter = Filter::of(select, &args.window, files)?;
    let mut printer = Printer {
        out,
        json: args.json,
        line: Line::new(),
        text: String::new(),
        clock: Clock::default(),
        names: Names::of(files)?,
    };
    // A file of callsites has nothing else.
    let callsites_only = files.parts.iter().all(|part| part.kind == Kind::Callsites);
    if select.callsites || callsites_only {
        callsites(files, &mut printer, &mut damage)?;
        return Ok(damage.tell(&args.path, printer.out));
    }
    let chunks: Vec<&Part<'_>> = files
        .chunks()
        .filter(|part| part.header().is_some_and(|header| filter.range.wants_chunk(&header)))
        .collect();
    let streams: Vec<&Part<'_>> = files.of(Kind::Stream).collect();
    for part in files.of(Kind::Meta).chain(files.of(Kind::Callsites)) {
        scan::errors(part, &mut damage)?;
    }
    let progress = Progress::new(chunks.iter().chain(&streams).map(|part| part.size).sum());
    if select.merge {
        for group in groups(&chunks)? {
            merge(&group, &mut filter, select.objects, &mut printer, &mut damage)?;
            group.iter().for_each(|part| progress.advance(part.size));
        }
    } else {
        for part in chunks {
            chunk(part, &mut filter, select.objects, &mut printer, &mut damage)?;
            progress.advance(part.size);
        }
    }
    for part in streams {
        stream(part, &mut filter, select.merge, &mut printer, &mut damage)?;
        progress.advance(part.size);
    }
    filter.finish()?;
    Ok(damage.tell(&args.path, printer.out))
}

fn callsites(files: &Files<'_>, printer: &mut Printer<'_>, damage: &mut Damage) -> Result<()> {
    for part in files.of(Kind::Callsites) {
        let data = part.data()?;
        if let Ok(callsites) = Callsites::parse(data.bytes()) {
            scan::callsites(&callsites, part.path.as_deref(), damage, |callsite| {
                printer.callsite(&callsite)
            })?;
        }
    }
    for part in files.of(Kind::Stream) {
        let data = part.data()?;
        if let Ok(stream) = Streaming::parse(data.bytes()) {
            scan::stream(&stream, part.path.as_deref(), damage, |record, _| match record.data() {
                StreamData::Callsite(callsite) => printer.callsite(&callsite),
                _ => Ok(()),
            })?;
        }
    }
    Ok(())
}

/// The records of a chunk in the order of the file.
fn chunk(
    part: &Part<'_>,
    filter: &mut Filter,
    objects: bool,
    printer: &mut Printer<'_>,
    damage: &mut Damage,
) -> Result<()> {
    let data = part.data()?;
    let Ok(chunk) = Chunk::parse(data.bytes()) else { return Ok(()) };
    let header = chunk.header();
    let path = part.path.as_deref();
    if let Err(error) = header.base_micros() {
        damage.add(path, error);
    }
    let mut seq_id = 0;
    printer.names.forget_objects();
    filter.leave();
    filter.enter(&chunk)?;
    scan::items(&chunk, path, damage, |item, damage| match item {
        Item::Sequence(header) => {
            seq_id = header.seq_id();
            Ok(())
        }
        Item::Object(object) => {
            printer.object(path, seq_id, &object, objects && filter.wants_task(Some(object.iid())))
        }
        Item::Record(record) => {
            let micros = record.unix_micros(&header);
            if let (Err(error), Ok(_)) = (micros, header.base_micros()) {
                damage.add(path, error);
            }
            let micros = micros.ok();
            if filter.wants(record.kind(), micros, record.data().iid()) {
                printer.record(path, seq_id, micros, &record)?;
            }
            Ok(())
        }
        _ => Ok(()),
    })
}

/// Chunks whose records overlap in time, together. In a sound recording each is alone: then no more than one is mapped.
fn groups<'p, 'a>(chunks: &[&'p Part<'a>]) -> Result<Vec<Vec<&'p Part<'a>>>> {
    // What headers say of times is not to be relied on.
    let mut spans = Vec::new();
    for part in chunks {
        let data = part.data()?;
        let Ok(chunk) = Chunk::parse(data.bytes()) else { continue };
        let mut span: Option<(u64, u64)> = None;
        scan::items(&chunk, None, &mut Damage::default(), |item, _| {
            if let Item::Record(record) = item {
                let micros = record.unix_micros(&chunk.header()).unwrap_or(u64::MAX);
                span = Some(span.map_or((micros, micros), |(a, b)| (a.min(micros), b.max(micros))));
            }
            Ok(())
        })?;
        // One without records is still read, for its damage.
        let start = chunk.header().unix_micros(chunk.header().start()).unwrap_or(u64::MAX);
        let (first, last) = span.unwrap_or((start, start));
        spans.push((first, last, *part));
    }
    spans.sort_by_key(|&(first, ..)| first);
    let mut groups: Vec<Vec<&Part<'_>>> = Vec::new();
    let mut end = 0;
    for (first, last, part) in spans {
        match groups.last_mut() {
            Some(group) if first <= end => group.push(part),
            _ => groups.push(vec![part]),
        }
        end = end.max(last);
    }
    Ok(groups)
}

/// A part of a sequence in which time does not step back.
struct Run<'a> {
    records: Records<'a>,
    chunk: usize,
    seq_id: u64,
}

/// The records of some chunks, ordered by time.
fn merge(
    group: &[&Part<'_>],
    filter: &mut Filter,
    objects: bool,
    printer: &mut Printer<'_>,
    damage: &mut Damage,
) -> Result<()> {
    let data = group.iter().map(|part| part.data()).collect::<Result<Vec<_>>>()?;
    // Ids mean something within a chunk: each has names and a selection of its own.
    let mut open = Vec::new();
    let mut runs = Vec::new();
    for (data, part) in data.iter().zip(group) {
        let Ok(chunk) = Chunk::parse(data.bytes()) else { continue };
        let path = part.path.as_deref();
        if let Err(error) = chunk.header().base_micros() {
            damage.add(path, error);
        }
        printer.names.forget_objects();
        filter.leave();
        filter.enter(&chunk)?;
        collect(&chunk, path, objects, filter, printer, damage, |records, seq_id| {
            runs.push(Run { records, chunk: open.len(), seq_id });
        })?;
        open.push(Open { path, header: chunk.header(), ids: filter.take(), objects: printer.names.take() });
    }
    let mut slots = vec![MergeSlot::EMPTY; runs.len()];
    let mut merge = Merge::new(&mut slots);
    let mut sources: Vec<Run<'_>> = Vec::new();
    let mut current = usize::MAX;
    // Makes the names and the selection those of a run's chunk.
    let mut enter = |run: &Run<'_>, open: &mut [Open<'_>], filter: &mut Filter, names: &mut Names| {
        for chunk in [current, run.chunk] {
            if let (true, Some(open)) = (current != run.chunk, open.get_mut(chunk)) {
                filter.swap(&mut open.ids);
                names.swap(&mut open.objects);
            }
        }
        current = run.chunk;
    };
    for run in runs {
        let Some(header) = open.get(run.chunk).map(|open| open.header) else { continue };
        if merge.add(&header, run.records.clone()).is_ok() {
            sources.push(run);
        } else {
            // Without a time there is no order: they come first.
            enter(&run, &mut open, filter, &mut printer.names);
            let path = open.get(run.chunk).and_then(|open| open.path);
            for record in run.records.flatten() {
                if filter.wants(record.kind(), None, record.data().iid()) {
                    printer.record(path, run.seq_id, None, &record)?;
                }
            }
        }
    }
    loop {
        match merge.next_record() {
            Ok(Some(merged)) => {
                let Some(run) = sources.get(merged.source()) else { continue };
                enter(run, &mut open, filter, &mut printer.names);
                if filter.wants(
                    merged.record().kind(),
                    Some(merged.unix_micros()),
                    merged.record().data().iid(),
                ) {
                    let path = open.get(run.chunk).and_then(|open| open.path);
                    printer.record(path, run.seq_id, Some(merged.unix_micros()), &merged.record())?;
                }
            }
            Ok(None) => return Ok(()),
            Err(error) => {
                let run = merge.failed_source().and_then(|source| sources.get(source));
                merge.recover();
                let path = run.and_then(|run| open.get(run.chunk)).and_then(|open| open.path);
                damage.add(path, error);
            }
        }
    }
}

/// A chunk whose records are being merged with those of others.
struct Open<'p> {
    path: Option<&'p Path>,
    header: ChunkHeader,
    ids: HashSet<u64>,
    objects: Objects,
}

/// Prints the objects of a chunk, if that is asked for, learns them, and hands out its records in pieces that are in
/// order.
fn collect<'a>(
    chunk: &Chunk<'a>,
    path: Option<&Path>,
    objects: bool,
    filter: &Filter,
    printer: &mut Printer<'_>,
    damage: &mut Damage,
    mut run: impl FnMut(Records<'a>, u64),
) -> Result<()> {
    for sequence in chunk.sequences() {
        let sequence = match sequence {
            Ok(sequence) => sequence,
            Err(error) => {
                // That of a record or an object has been met before.
                damage.add_once(path, error);
                break;
            }
        };
        let mut all = sequence.objects();
        loop {
            match all.next_object() {
                Ok(Some(object)) => {
                    let wanted = objects && filter.wants_task(Some(object.iid()));
                    printer.object(path, sequence.seq_id(), &object, wanted)?;
                }
                Ok(None) => break,
                Err(error) => {
                    damage.add(path, error);
                    if all.recover().is_none() {
                        break;
                    }
                }
            }
        }
        match sequence.records() {
            Ok(records) => find_runs(records, path, damage, |records| run(records, sequence.seq_id())),
            Err(error) => damage.add_once(path, error),
        }
    }
    Ok(())
}

/// Splits records where time steps back and where one is damaged, so that each piece is in order and whole.
fn find_runs<'a>(
    records: Records<'a>,
    path: Option<&Path>,
    damage: &mut Damage,
    mut run: impl FnMut(Records<'a>),
) {
    let mut next = records.clone();
    let (mut start, mut count, mut last) = (records, 0_u64, 0);
    let mut run = |records: Records<'a>, count| {
        if count > 0 {
            run(records.limited(count));
        }
    };
    loop {
        let before = next.clone();
        match next.next_record() {
            Ok(Some(record)) if record.timestamp() < last => {
                run(std::mem::replace(&mut start, before), count);
                (count, last) = (1, record.timestamp());
            }
            Ok(Some(record)) => (count, last) = (count.saturating_add(1), record.timestamp()),
            Ok(None) => break,
            Err(error) => {
                damage.add(path, error);
                let resumed = next.recover().is_some();
                run(std::mem::replace(&mut start, next.clone()), count);
                (count, last) = (0, 0);
                if !resumed {
                    break;
                }
            }
        }
    }
    run(start, count);
}

/// The records of a stream.
fn stream(
    part: &Part<'_>,
    filter: &mut Filter,
    sort: bool,
    printer: &mut Printer<'_>,
    damage: &mut Damage,
) -> Result<()> {
    let data = part.data()?;
    let Ok(stream) = Streaming::parse(data.bytes()) else { return Ok(()) };
    let path = part.path.as_deref();
    let mut print = |record: StreamRecord<'_>, damage: &mut Damage| {
        let micros = record.unix_micros().map_err(|error| damage.add(path, error)).ok();
        let iid = match record.data() {
            StreamData::Span(span) => Some(span.iid()),
            StreamData::Task(task) => Some(task.iid()),
            StreamData::Record(data) => data.iid(),
            _ => None,
        };
        printer.learn(&record);
        filter.learn(&record);
        if filter.wants(record.kind(), micros, iid) {
            printer.stream_record(path, &record)?;
        }
        // What has this id from now on is another task.
        if let StreamData::Record(RecordData::TaskDrop { iid }) = record.data() {
            printer.names.forget(iid);
        }
        filter.unlearn(&record);
        Ok(())
    };
    printer_sorted(&stream, sort, path, damage, &mut print)
}

/// Hands out the records of a stream; sorted by time, if that is asked for and they are not.
fn printer_sorted<'a>(
    stream: &Streaming<'a>,
    sort: bool,
    path: Option<&Path>,
    damage: &mut Damage,
    print: &mut impl FnMut(StreamRecord<'a>, &mut Damage) -> Result<()>,
) -> Result<()> {
    let key = |record: &StreamRecord<'_>| record.unix_micros().unwrap_or(u64::MAX);
    if !sort || stream.records().map_while(|record| record.ok().as_ref().map(key)).is_sorted() {
        return scan::stream(stream, path, damage, print);
    }
    let mut records = Vec::new();
    scan::stream(stream, path, damage, |record, _| {
        records.push(record);
        Ok(())
    })?;
    records.sort_by_key(key);
    records.into_iter().try_for_each(|record| print(record, damage))
}

/// Writes lines, of JSON or for people.
struct Printer<'o> {
    out: &'o mut Out,
    json: bool,
    line: Line,
    /// A line for people.
    text: String,
    clock: Clock,
    names: Names,
}

/// The columns before what a record is about: time, sequence, kind.
const TIME: usize = 26;
const SEQUENCE: usize = 6;
const KIND: usize = 14;
/// The column of a task's name.
const NAME: usize = 24;

impl Printer<'_> {
    fn record(
        &mut self,
        path: Option<&Path>,
        seq_id: u64,
        micros: Option<u64>,
        record: &Record<'_>,
    ) -> Result<()> {
        if self.json {
            let line = self.line.begin().path(path).int("offset", record.offset()).int("seq_id", seq_id);
            let line = line.record(micros, record).about(&record.data(), &self.names);
            return self.out.json_text(line.end());
        }
        self.begin(micros, Some(seq_id), record.kind().name());
        self.about(&record.data());
        self.end()
    }

    fn stream_record(&mut self, path: Option<&Path>, record: &StreamRecord<'_>) -> Result<()> {
        if self.json {
            let line = self.line.begin().path(path).int("offset", record.offset()).stream_record(record);
            if let StreamData::Record(data) = record.data() {
                line.about(&data, &self.names);
            }
            return self.out.json_text(self.line.end());
        }
        self.begin(record.unix_micros().ok(), None, record.kind().name());
        match record.data() {
            StreamData::Callsite(callsite) => self.text.push_str(&callsite_line(&callsite)),
            StreamData::Span(span) => self.object_line(&Object::Span(span)),
            StreamData::Task(task) => self.object_line(&Object::Task(task)),
            StreamData::Record(data) => self.about(&data),
            _ => {}
        }
        self.end()
    }

    fn object(&mut self, path: Option<&Path>, seq_id: u64, object: &Object<'_>, print: bool) -> Result<()> {
        self.names.add_object(object);
        if !print {
            return Ok(());
        }
        if self.json {
            let line = self.line.begin().path(path).int("offset", object.offset()).int("seq_id", seq_id);
            let location = self.names.location_of(object.callsite_id());
            return self.out.json_text(line.object(object).text_or_null("location", location).end());
        }
        let kind = if matches!(object, Object::Task(_)) { "Task" } else { "Span" };
        self.begin(None, Some(seq_id), kind);
        self.object_line(object);
        self.end()
    }

    fn callsite(&mut self, callsite: &Callsite<'_>) -> Result<()> {
        if self.json {
            return self.out.json_text(self.line.begin().callsite(callsite).end());
        }
        self.out.line(callsite_line(callsite))
    }

    /// Keeps what a stream says about ids.
    fn learn(&mut self, record: &StreamRecord<'_>) {
        match record.data() {
            StreamData::Callsite(callsite) => self.names.add_callsite(&callsite),
            StreamData::Span(span) => self.names.add_object(&Object::Span(span)),
            StreamData::Task(task) => self.names.add_object(&Object::Task(task)),
            _ => {}
        }
    }

    /// Begins a line for people.
    fn begin(&mut self, micros: Option<u64>, sequence: Option<u64>, kind: &str) {
        self.text.clear();
        let mut cell = String::new();
        if let Some(micros) = micros {
            self.clock.push(&mut cell, micros);
        }
        self.column(DIM, &cell, TIME);
        if let Some(sequence) = sequence {
            cell.clear();
            // A string takes all that is written to it.
            let _ = write!(cell, "seq {sequence}");
            pad(&mut self.text, &cell, SEQUENCE, false);
            self.text.push_str("  ");
        }
        self.column(LABEL, kind, KIND);
    }

    fn column(&mut self, style: Style, cell: &str, width: usize) {
        if self.out.is_colored() {
            let mut padded = String::new();
            pad(&mut padded, cell, width, false);
            self.text.push_str(&self.out.paint(style, padded));
        } else {
            pad(&mut self.text, cell, width, false);
        }
        self.text.push_str("  ");
    }

    fn end(&mut self) -> Result<()> {
        self.out.line(self.text.trim_end())
    }

    fn dimmed(&mut self, text: impl FnOnce(&Names) -> &str) {
        let text = text(&self.names);
        if self.out.is_colored() && !text.is_empty() {
            self.text.push_str(&self.out.paint(DIM, text));
        } else {
            self.text.push_str(text);
        }
    }

    /// What a record is about.
    fn about(&mut self, data: &RecordData<'_>) {
        let (iid, context) = match data {
            RecordData::Event(event) => return self.event(event),
            RecordData::WakerWake(waker)
            | RecordData::WakerWakeByRef(waker)
            | RecordData::WakerClone(waker)
            | RecordData::WakerDrop(waker) => (Some(waker.task_iid()), waker.context()),
            _ => (data.iid(), None),
        };
        let Some(iid) = iid else { return };
        let start = self.text.len();
        self.names.push_object(&mut self.text, iid);
        if let Some(context) = context {
            self.text.push_str(" in ");
            self.names.push_object(&mut self.text, context);
        }
        let width = self.text.get(start..).map_or(0, |name| name.chars().count());
        self.text.extend(std::iter::repeat_n(' ', NAME.saturating_sub(width)));
        self.text.push_str("  ");
        self.dimmed(|names| names.place_of(iid));
    }

    fn event(&mut self, event: &Event<'_>) {
        // A string takes all that is written to it.
        let _ = match self.names.place(event.callsite_id()) {
            "" => write!(self.text, "callsite {:#x}", event.callsite_id()),
            place => write!(self.text, "{place}"),
        };
        let names = self.names.fields(event.callsite_id()).iter().map(Some).chain(std::iter::repeat(None));
        for (value, name) in event.split_field_values().zip(names) {
            self.text.push(' ');
            if let Some(name) = name {
                self.text.push_str(name);
                self.text.push('=');
            }
            self.text.push_str(&json::shown(&value));
        }
        for field in event.dynamic_fields() {
            self.text.push(' ');
            self.text.push_str(field.name());
            self.text.push('=');
            self.text.push_str(&json::shown(&field.value()));
        }
    }

    fn object_line(&mut self, object: &Object<'_>) {
        // A string takes all that is written to it.
        let _ = match object {
            Object::Task(task) => write!(self.text, "#{} {} {}", task.iid(), task.name(), task.kind().name()),
            _ => write!(self.text, "#{}", object.iid()),
        };
        self.text.push_str("  ");
        self.dimmed(|names| names.place(object.callsite_id()));
    }
}

pub fn callsite_line(callsite: &Callsite<'_>) -> String {
    let level = match callsite.level().name() {
        Some(name) => name.to_owned(),
        None => callsite.level().number().to_string(),
    };
    let names: Vec<String> = callsite.split_field_names().map(printable).collect();
    // The name of an event is its place.
    let name = match callsite.name().unwrap_or_default() {
        name if name.starts_with("event ") && callsite.file().is_some() => "event",
        name => name,
    };
    let place = match (callsite.file(), callsite.line()) {
        (Some(file), Some(line)) => format!("  {}:{line}", printable(short(file))),
        _ => String::new(),
    };
    let (kind, name) = (callsite.kind().name(), printable(name));
    format!("{:#x}  {level:<5}  {kind:<7}  {name} {{{}}}{place}", callsite.id(), names.join(", "))
}
