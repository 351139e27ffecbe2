//! `cat` of a recording.

use super::files::{Files, Kind, Part};
use super::json;
use super::names::{Names, clock, short};
use super::scan::{self, Damage};
use super::select::Filter;
use crate::json::Line;
use crate::output::{DIM, LABEL, Out, printable};
use crate::progress::Progress;
use crate::status::{Result, Status};
use crate::trace::Selection;
use std::path::Path;
use traceglass::rfr::{
    Callsite, Callsites, Chunk, Event, Item, Merge, MergeSlot, Object, Record, RecordData, Records,
    StreamData, StreamRecord, Streaming,
};

pub fn cat(files: &Files<'_>, args: &Selection, out: &mut Out) -> Result<Status> {
    let select = &args.rfr;
    let mut damage = Damage::of(files);
    let filter = Filter::of(select, files)?;
    let names = if args.json { Names::default() } else { Names::of(files)? };
    let mut printer = Printer { out, json: args.json, line: Line::new(), names };
    // A file of callsites has nothing else.
    let callsites_only = files.parts.iter().all(|part| part.kind == Kind::Callsites);
    if select.callsites || callsites_only {
        callsites(files, &mut printer, &mut damage)?;
        return Ok(damage.tell(&args.path, printer.out));
    }
    let chunks: Vec<&Part<'_>> = files
        .chunks()
        .filter(|part| part.header().is_some_and(|header| filter.wants_chunk(&header)))
        .collect();
    let streams: Vec<&Part<'_>> = files.of(Kind::Stream).collect();
    for part in files.of(Kind::Meta).chain(files.of(Kind::Callsites)) {
        scan::errors(part, &mut damage)?;
    }
    let progress = Progress::new(chunks.iter().chain(&streams).map(|part| part.size).sum());
    if select.merge {
        for group in groups(&chunks)? {
            merge(&group, &filter, select.objects, &mut printer, &mut damage)?;
            group.iter().for_each(|part| progress.advance(part.size));
        }
    } else {
        for part in chunks {
            chunk(part, &filter, select.objects, &mut printer, &mut damage)?;
            progress.advance(part.size);
        }
    }
    for part in streams {
        stream(part, &filter, select.merge, &mut printer, &mut damage)?;
        progress.advance(part.size);
    }
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
    filter: &Filter,
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
    filter: &Filter,
    objects: bool,
    printer: &mut Printer<'_>,
    damage: &mut Damage,
) -> Result<()> {
    let data = group.iter().map(|part| part.data()).collect::<Result<Vec<_>>>()?;
    let chunks: Vec<Option<Chunk<'_>>> = data.iter().map(|data| Chunk::parse(data.bytes()).ok()).collect();
    let mut runs = Vec::new();
    printer.names.forget_objects();
    for (number, (chunk, part)) in chunks.iter().zip(group).enumerate() {
        let Some(chunk) = chunk else { continue };
        let path = part.path.as_deref();
        if let Err(error) = chunk.header().base_micros() {
            damage.add(path, error);
        }
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
                Ok(records) => find_runs(records, path, damage, |records| {
                    runs.push(Run { records, chunk: number, seq_id: sequence.seq_id() });
                }),
                Err(error) => damage.add_once(path, error),
            }
        }
    }
    let mut slots = vec![MergeSlot::EMPTY; runs.len()];
    let mut merge = Merge::new(&mut slots);
    let mut sources = Vec::new();
    for run in runs {
        let Some(chunk) = &chunks[run.chunk] else { continue };
        if merge.add(&chunk.header(), run.records.clone()).is_ok() {
            sources.push(run);
        } else {
            // Without a time there is no order: they come first.
            for record in run.records.flatten() {
                if filter.wants(record.kind(), None, record.data().iid()) {
                    printer.record(group[run.chunk].path.as_deref(), run.seq_id, None, &record)?;
                }
            }
        }
    }
    loop {
        match merge.next_record() {
            Ok(Some(merged)) => {
                let run = &sources[merged.source()];
                if filter.wants(
                    merged.record().kind(),
                    Some(merged.unix_micros()),
                    merged.record().data().iid(),
                ) {
                    let path = group[run.chunk].path.as_deref();
                    printer.record(path, run.seq_id, Some(merged.unix_micros()), &merged.record())?;
                }
            }
            Ok(None) => return Ok(()),
            Err(error) => {
                let source = merge.failed_source();
                merge.recover();
                let path = source.and_then(|source| group[sources[source].chunk].path.as_deref());
                damage.add(path, error);
            }
        }
    }
}

/// Splits records where time steps back and where one is damaged, so that each piece is in order and whole.
fn find_runs<'a>(
    records: Records<'a>,
    path: Option<&Path>,
    damage: &mut Damage,
    mut run: impl FnMut(Records<'a>),
) {
    let mut next = records.clone();
    let (mut start, mut count, mut last) = (records, 0, 0);
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
            Ok(Some(record)) => (count, last) = (count + 1, record.timestamp()),
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
    filter: &Filter,
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
        if filter.wants(record.kind(), micros, iid) { printer.stream_record(path, &record) } else { Ok(()) }
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
    names: Names,
}

impl Printer<'_> {
    fn record(
        &mut self,
        path: Option<&Path>,
        seq_id: u64,
        micros: Option<u64>,
        record: &Record<'_>,
    ) -> Result<()> {
        if self.json {
            let line = self.line.begin().path(path).int("seq_id", seq_id).record(micros, record);
            return self.out.json_text(line.end());
        }
        let seq_id = format!("seq {seq_id}");
        let about = self.about(&record.data());
        self.row(micros, &seq_id, record.kind().name(), &about)
    }

    fn stream_record(&mut self, path: Option<&Path>, record: &StreamRecord<'_>) -> Result<()> {
        if self.json {
            return self.out.json_text(self.line.begin().path(path).stream_record(record).end());
        }
        let about = match record.data() {
            StreamData::Callsite(callsite) => callsite_line(&callsite),
            StreamData::Span(span) => self.object_line(&Object::Span(span)),
            StreamData::Task(task) => self.object_line(&Object::Task(task)),
            StreamData::Record(data) => self.about(&data),
            _ => String::new(),
        };
        self.row(record.unix_micros().ok(), "", record.kind().name(), &about)
    }

    fn object(&mut self, path: Option<&Path>, seq_id: u64, object: &Object<'_>, print: bool) -> Result<()> {
        if !self.json {
            self.names.add_object(object);
        }
        if !print {
            return Ok(());
        }
        if self.json {
            return self
                .out
                .json_text(self.line.begin().path(path).int("seq_id", seq_id).object(object).end());
        }
        let kind = if matches!(object, Object::Task(_)) { "Task" } else { "Span" };
        let about = self.object_line(object);
        self.row(None, &format!("seq {seq_id}"), kind, &about)
    }

    fn callsite(&mut self, callsite: &Callsite<'_>) -> Result<()> {
        if self.json {
            return self.out.json_text(self.line.begin().callsite(callsite).end());
        }
        self.out.line(callsite_line(callsite))
    }

    /// Keeps what a stream says about ids.
    fn learn(&mut self, record: &StreamRecord<'_>) {
        if self.json {
            return;
        }
        match record.data() {
            StreamData::Callsite(callsite) => self.names.add_callsite(&callsite),
            StreamData::Span(span) => self.names.add_object(&Object::Span(span)),
            StreamData::Task(task) => self.names.add_object(&Object::Task(task)),
            _ => {}
        }
    }

    fn row(&mut self, micros: Option<u64>, sequence: &str, kind: &str, about: &str) -> Result<()> {
        let time = micros.map(clock).unwrap_or_default();
        let time = self.out.paint(DIM, format_args!("{time:<26}"));
        let kind = self.out.paint(LABEL, format_args!("{kind:<14}"));
        let sequence = if sequence.is_empty() { String::new() } else { format!("{sequence:<6}  ") };
        self.out.line(format_args!("{time}  {sequence}{kind}  {about}").to_string().trim_end())
    }

    /// What a record is about.
    fn about(&self, data: &RecordData<'_>) -> String {
        let task = |iid, context: &str| {
            let (name, place) = (self.names.object(iid), self.names.place_of(iid));
            format!("{:<24}  {}", format!("{name}{context}"), self.out.paint(DIM, place))
                .trim_end()
                .to_owned()
        };
        match data {
            RecordData::Event(event) => self.event_line(event),
            RecordData::WakerWake(waker)
            | RecordData::WakerWakeByRef(waker)
            | RecordData::WakerClone(waker)
            | RecordData::WakerDrop(waker) => match waker.context() {
                Some(context) => task(waker.task_iid(), &format!(" in {}", self.names.object(context))),
                None => task(waker.task_iid(), ""),
            },
            _ => data.iid().map(|iid| task(iid, "")).unwrap_or_default(),
        }
    }

    fn event_line(&self, event: &Event<'_>) -> String {
        let mut text = match self.names.place(event.callsite_id()) {
            "" => format!("callsite {:#x}", event.callsite_id()),
            place => place.to_owned(),
        };
        let names = self.names.fields(event.callsite_id()).iter().map(Some).chain(std::iter::repeat(None));
        for (value, name) in event.split_field_values().zip(names) {
            text.push(' ');
            if let Some(name) = name {
                text.push_str(name);
                text.push('=');
            }
            text.push_str(&json::shown(&value));
        }
        for field in event.dynamic_fields() {
            text.push_str(&format!(" {}=", printable(field.name())));
            text.push_str(&json::shown(&field.value()));
        }
        text
    }

    fn object_line(&self, object: &Object<'_>) -> String {
        let place = match self.names.place(object.callsite_id()) {
            "" => String::new(),
            place => format!("  {}", self.out.paint(DIM, place)),
        };
        match object {
            Object::Task(task) => {
                let name = printable(task.name());
                format!("#{} {name} {}{place}", task.iid(), printable(task.kind().name()))
            }
            _ => format!("#{}{place}", object.iid()),
        }
    }
}

fn callsite_line(callsite: &Callsite<'_>) -> String {
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
