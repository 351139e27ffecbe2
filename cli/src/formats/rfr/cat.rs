//! `cat` of a recording.

use super::files::{Files, Kind, Part};
use super::names::{Names, Objects};
use super::print::Printer;
use super::scan::{self, Damage};
use super::select::Filter;
use crate::output::Out;
use crate::progress::Progress;
use crate::status::{Result, Status};
use crate::trace::{Cursor, Selection};
use std::collections::HashSet;
use std::path::Path;
use traceglass::rfr::{
    Callsites, Chunk, ChunkHeader, Item, Merge, MergeSlot, RecordData, Records, StreamData, StreamRecord,
    Streaming,
};

pub fn cat(files: &Files<'_>, args: &Selection, cursor: &mut Cursor, out: &mut Out) -> Result<Status> {
    let select = &args.rfr;
    let kept = cursor.kept.take().and_then(|kept| kept.downcast::<Kept>().ok());
    let again = kept.is_some();
    // Damage that has been reported is not reported again.
    let mut damage = if again { Damage::default() } else { Damage::of(files) };
    let mut filter = Filter::of(select, &args.window, files)?;
    let mut printer = Printer::new(out, args.json, Names::of(files)?);
    if let Some(kept) = kept {
        filter.go_on(kept.ids);
        printer.names.go_on(kept.names);
    }
    // A file of callsites has nothing else.
    let callsites_only = files.parts.iter().all(|part| part.kind == Kind::Callsites);
    if select.callsites || callsites_only {
        args.refuse_follow("callsites have no time at which they come")?;
        callsites(files, &mut printer, &mut damage)?;
        return Ok(damage.tell(&args.path, printer.out));
    }
    let mut chunks: Vec<&Part<'_>> = files
        .chunks()
        .filter(|part| part.header().is_some_and(|header| filter.range.wants_chunk(&header)))
        .collect();
    if cursor.follows {
        new_chunks(&mut chunks, cursor)?;
    }
    let streams: Vec<&Part<'_>> = files.of(Kind::Stream).collect();
    for part in files.of(Kind::Meta).chain(files.of(Kind::Callsites)).filter(|_| !again) {
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
        stream(part, &mut filter, select.merge, cursor, &mut printer, &mut damage)?;
        progress.advance(part.size);
    }
    let told = damage.tell(&args.path, printer.out);
    if cursor.follows {
        cursor.kept = Some(Box::new(Kept { names: printer.names, ids: filter.keep() }));
    } else {
        filter.finish()?;
    }
    Ok(told)
}

/// What is known of a stream that grows.
struct Kept {
    names: Names,
    ids: (HashSet<u64>, bool),
}

/// Keeps only the chunks that are whole and were not printed before.
fn new_chunks(chunks: &mut Vec<&Part<'_>>, cursor: &mut Cursor) -> Result<()> {
    let mut error = None;
    chunks.retain(|part| {
        let path = part.path.clone().unwrap_or_default();
        if error.is_some() || cursor.places.contains_key(&path) {
            return false;
        }
        // A chunk that is still being written is cut.
        let mut is_cut = false;
        let checked = scan::check(part, |finding| is_cut |= finding.cause().is_truncation());
        error = checked.err();
        if !is_cut && error.is_none() {
            cursor.places.insert(path, part.size);
        }
        !is_cut
    });
    error.map_or(Ok(()), Err)
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
    let objects = objects && filter.is_met_by(&chunk)?;
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

/// Groups of chunks whose records overlap in time. In a sound recording each chunk is alone: then only one is mapped
/// at a time.
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
        let objects = objects && filter.is_met_by(&chunk)?;
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
                // An error in a record or an object has been added already.
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
    cursor: &mut Cursor,
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
            printer.stream_record(path, micros, &record)?;
        }
        // What has this id from now on is another task.
        if let StreamData::Record(RecordData::TaskDrop { iid }) = record.data() {
            printer.names.forget(iid);
        }
        filter.unlearn(&record);
        Ok(())
    };
    if !cursor.follows {
        return printer_sorted(&stream, sort, path, damage, &mut print);
    }
    let place = cursor.places.entry(path.map(Path::to_owned).unwrap_or_default()).or_default();
    let records = if *place == 0 { stream.records() } else { stream.records_from(*place) };
    *place = scan::records(records, true, path, damage, print)?;
    Ok(())
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
