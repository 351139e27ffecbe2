//! `cat` of a recording.

use super::files::{Files, Kind, Part};
use super::scan;
use super::select::Filter;
use super::sites::{Names, Sites, names};
use crate::json::Line;
use crate::output::Out;
use crate::parallel::{in_order, pays};
use crate::progress::Progress;
use crate::record::{Lines, Place};
use crate::status::{Failure, Result, Status};
use crate::trace::{Cursor, Damage, DamageExt as _, Selection, widen};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use traceglass::rfr::{
    CallsiteTable, Callsites, Chunk, ChunkHeader, Item, Merge, MergeSlot, NamedRecord, Records, StreamData,
    StreamRecord, Streaming,
};
use traceglass::{Error, Format};

/// The number of bytes of chunks whose lines are made apart, on another core: so many lines wait in memory.
const APART: u64 = 1 << 20;

pub fn cat(files: &Files<'_>, args: &Selection, cursor: &mut Cursor, out: &mut Out) -> Result<Status> {
    let select = &args.rfr;
    let kept = cursor.kept.take().and_then(|kept| kept.downcast::<Kept>().ok());
    // Damage that has been reported is not reported again.
    let mut damage = if kept.is_some() { Damage::default() } else { scan::unopened(files) };
    let filter = Filter::of(args, files)?;
    let (sites, mut entries) = (Sites::open(files)?, Vec::new());
    let table = sites.table(&mut entries).map_err(content)?;
    let (shape, is_colored) = (args.shape(), out.is_colored());
    let mut printer = Printer { lines: Lines::new(&shape, out), out: Some(out), place: Place::default() };
    // A file of callsites has nothing else.
    let callsites_only = files.parts.iter().all(|part| part.kind == Kind::Callsites);
    if select.callsites || callsites_only {
        args.refuse_follow("callsites have no time at which they come")?;
        callsites(files, &mut printer, &mut damage)?;
        return printer.tell(&damage, &args.path);
    }
    let mut chunks: Vec<&Part<'_>> = files
        .chunks()
        .filter(|part| part.header().is_some_and(|header| filter.range.wants_chunk(&header)))
        .collect();
    if cursor.follows {
        new_chunks(&mut chunks, cursor)?;
    }
    let streams: Vec<&Part<'_>> = files.of(Kind::Stream).collect();
    for part in files.of(Kind::Meta).chain(files.of(Kind::Callsites)).filter(|_| kept.is_none()) {
        scan::errors(part, &mut damage)?;
    }
    let progress = Progress::new(chunks.iter().chain(&streams).map(|part| part.size).sum());
    let groups = groups(&chunks)?;
    // A line that says how long after another it is needs that one.
    let size = if shape.delta { 0 } else { size_of(&chunks) };
    let is_apart = |group: &[&Part<'_>]| pays(size) && size_of(group) <= APART;
    let state = || Printer { lines: Lines::with(&shape, is_colored), out: None, place: Place::default() };
    type Printed = Option<(Vec<u8>, Damage)>;
    let print = |printer: &mut Printer<'_>, group: &Vec<&Part<'_>>| -> Result<Printed> {
        if !is_apart(group) {
            return Ok(None);
        }
        let (mut damage, mut text) = (Damage::default(), Vec::new());
        merge(group, &filter, select.objects, table, printer, &mut damage)?;
        printer.lines.move_to(&mut text);
        Ok(Some((text, damage)))
    };
    in_order(size, groups, state, print, |group, printed| {
        match printed? {
            Some((text, found)) => {
                printer.put(&text)?;
                damage.append(found);
            }
            None => {
                let mut found = Damage::default();
                merge(group, &filter, select.objects, table, &mut printer, &mut found)?;
                damage.append(found);
            }
        }
        group.iter().for_each(|part| progress.advance(part.size));
        Ok(())
    })?;
    let mut kept = kept.map_or_else(Kept::default, |kept| *kept);
    for part in streams {
        stream(part, &filter, table, cursor, &mut kept, &mut printer, &mut damage)?;
        progress.advance(part.size);
    }
    let told = printer.tell(&damage, &args.path)?;
    if cursor.follows {
        cursor.kept = Some(Box::new(kept));
    }
    Ok(told)
}

fn content(error: Error) -> Failure {
    Failure::content(Format::Rfr, error)
}

/// The number of bytes of all parts.
fn size_of(parts: &[&Part<'_>]) -> u64 {
    parts.iter().map(|part| part.size).sum()
}

/// Writes lines, of JSON or for people.
struct Printer<'o> {
    lines: Lines,
    /// Without it, lines wait to be put in their place.
    out: Option<&'o mut Out>,
    place: Place,
}

impl Printer<'_> {
    /// Says in which file the next records are.
    fn set_path(&mut self, path: Option<&Path>) {
        let json = Line::new().path(path).more();
        if self.place.json != json {
            self.place.json = json;
            self.lines.set_place(&self.place);
        }
    }

    fn record(&mut self, record: &NamedRecord<'_, '_>) -> Result<()> {
        self.lines.record(record).map_err(content)?;
        self.pass()
    }

    /// Puts lines that were made apart.
    fn put(&mut self, text: &[u8]) -> Result<()> {
        self.lines.put(text);
        self.pass()
    }

    fn pass(&mut self) -> Result<()> {
        self.out.as_mut().map_or(Ok(()), |out| self.lines.pass(out))
    }

    /// Writes what is left, then says what is damaged.
    fn tell(mut self, damage: &Damage, path: &Path) -> Result<Status> {
        let Some(out) = self.out else { return Ok(damage.status()) };
        self.lines.settle(out)?;
        Ok(damage.tell(path, out))
    }
}

/// The places in a stream that grows where its ids are described, and where lives end: their wakers may outlive them.
#[derive(Default)]
struct Kept {
    described: BTreeMap<(bool, u64), u64>,
    ended: VecDeque<[u64; 2]>,
}

/// The number of lives that are remembered after their ends: [`Names`] knows as many at least.
const ENDED: usize = 2048;

impl Kept {
    /// Notes what a record says of ids.
    fn learn(&mut self, record: &StreamRecord<'_>) {
        let offset = record.offset();
        match record.data() {
            StreamData::Callsite(callsite) => {
                self.described.entry((false, callsite.id())).or_insert(offset);
            }
            StreamData::Span(span) => {
                self.described.insert((true, span.iid()), offset);
            }
            StreamData::Task(task) => {
                self.described.insert((true, task.iid()), offset);
            }
            StreamData::Record(data) => {
                let ended = data.iid().filter(|_| data.kind().is_end_of_life());
                if let Some(begin) = ended.and_then(|iid| self.described.remove(&(true, iid))) {
                    self.ended.push_back([begin, offset]);
                    self.ended.drain(..self.ended.len().saturating_sub(ENDED));
                }
            }
            _ => {}
        }
    }

    /// Meets it again, in a file that has grown.
    fn recall<'a>(&self, stream: &Streaming<'a>, names: &mut Names<'a>) -> Result<()> {
        let ended = self.ended.iter().flatten();
        let mut offsets: Vec<u64> = self.described.values().chain(ended).copied().collect();
        offsets.sort_unstable();
        for offset in offsets {
            if let Some(Ok(record)) = stream.records_from(offset).next() {
                names.follow_stream(&record).map_err(content)?;
            }
        }
        Ok(())
    }
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
    for part in files.parts.iter().filter(|part| matches!(part.kind, Kind::Callsites | Kind::Stream)) {
        let data = part.data()?;
        let path = part.path.as_deref();
        printer.set_path(path);
        if let Ok(callsites) = Callsites::parse(data.bytes()) {
            scan::callsites(&callsites, path, damage, |callsite| {
                printer.record(&NamedRecord::of_callsite(&callsite))
            })?;
        }
        if let Ok(stream) = Streaming::parse(data.bytes()) {
            scan::stream(&stream, path, damage, |record, _| match record.data() {
                StreamData::Callsite(callsite) => printer.record(&NamedRecord::of_callsite(&callsite)),
                _ => Ok(()),
            })?;
        }
    }
    Ok(())
}

/// Groups of chunks whose records overlap in time. In a sound recording each chunk is alone: then only one is mapped
/// at a time.
fn groups<'p, 'a>(chunks: &[&'p Part<'a>]) -> Result<Vec<Vec<&'p Part<'a>>>> {
    if let [alone] = chunks {
        return Ok(vec![vec![alone]]);
    }
    // The times in headers may be wrong.
    let mut spans = Vec::new();
    let span_of = |(): &mut (), part: &&Part<'_>| -> Result<Option<(u64, u64)>> {
        let data = part.data()?;
        let Ok(chunk) = Chunk::parse(data.bytes()) else { return Ok(None) };
        let mut span: Option<(u64, u64)> = None;
        scan::items(&chunk, None, &mut Damage::default(), |item, _| {
            if let Item::Record(record) = item {
                let micros = record.unix_micros(&chunk.header()).unwrap_or(u64::MAX);
                widen(&mut span, micros, micros);
            }
            Ok(())
        })?;
        // One without records is still read, for its damage.
        let start = chunk.header().unix_micros(chunk.header().start()).unwrap_or(u64::MAX);
        Ok(Some(span.unwrap_or((start, start))))
    };
    in_order(
        size_of(chunks),
        chunks.iter().copied(),
        || (),
        span_of,
        |part, span| {
            spans.extend(span?.map(|(first, last)| (first, last, *part)));
            Ok(())
        },
    )?;
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

/// A chunk whose records are being merged with those of others. Ids mean something within it.
struct Open<'g> {
    path: Option<&'g Path>,
    header: ChunkHeader,
    names: Names<'g>,
}

/// The records of some chunks, ordered by time.
fn merge(
    group: &[&Part<'_>],
    filter: &Filter,
    objects: bool,
    table: Option<CallsiteTable<'_, '_>>,
    printer: &mut Printer<'_>,
    damage: &mut Damage,
) -> Result<()> {
    let data = group.iter().map(|part| part.data()).collect::<Result<Vec<_>>>()?;
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut runs: Vec<Run<'_>> = Vec::new();
    for (data, part) in data.iter().zip(group) {
        let Ok(chunk) = Chunk::parse(data.bytes()) else { continue };
        let path = part.path.as_deref();
        if let Err(error) = chunk.header().base_micros() {
            damage.add_in(path, error);
        }
        let objects = objects && filter.is_met_by(&chunk)?;
        printer.set_path(path);
        let mut names = names(table);
        collect(&chunk, path, objects, filter, &mut names, printer, damage, |records, seq_id| {
            runs.push(Run { records, chunk: open.len(), seq_id });
        })?;
        open.push(Open { path, header: chunk.header(), names });
    }
    let mut slots = vec![MergeSlot::EMPTY; runs.len()];
    let mut merge = Merge::new(&mut slots);
    let mut sources: Vec<Run<'_>> = Vec::new();
    for run in runs {
        let Some(chunk) = open.get_mut(run.chunk) else { continue };
        if merge.add(&chunk.header, run.records.clone()).is_ok() {
            sources.push(run);
            continue;
        }
        // Without a time there is no order: they come first.
        printer.set_path(chunk.path);
        let mut records = run.records;
        while let Ok(Some(record)) = records.next_record() {
            chunk.names.follow(&record.data());
            if filter.wants(record.kind(), None, record.iid(), &chunk.names) {
                let end = records.offset();
                printer.record(&chunk.names.record(&record, &chunk.header, Some(run.seq_id), end))?;
            }
        }
    }
    let mut current = usize::MAX;
    loop {
        match merge.next_record() {
            Ok(Some(merged)) => {
                let Some(run) = sources.get(merged.source()) else { continue };
                let Some(Open { path, header, names }) = open.get_mut(run.chunk) else { continue };
                if current != run.chunk {
                    current = run.chunk;
                    printer.set_path(*path);
                }
                let record = merged.record();
                names.follow_id(record.kind(), record.iid());
                if filter.wants(record.kind(), Some(merged.unix_micros()), record.iid(), names) {
                    printer.record(&names.record(&record, header, Some(run.seq_id), merged.end_offset()))?;
                }
            }
            Ok(None) => return Ok(()),
            Err(error) => {
                let run = merge.failed_source().and_then(|source| sources.get(source));
                merge.recover();
                let path = run.and_then(|run| open.get(run.chunk)).and_then(|open| open.path);
                damage.add_in(path, error);
            }
        }
    }
}

/// Prints the objects of a chunk, if that is asked for, meets them, and hands out its records in pieces that are in
/// order.
#[allow(clippy::too_many_arguments)]
fn collect<'a>(
    chunk: &Chunk<'a>,
    path: Option<&Path>,
    objects: bool,
    filter: &Filter,
    names: &mut Names<'a>,
    printer: &mut Printer<'_>,
    damage: &mut Damage,
    mut run: impl FnMut(Records<'a>, u64),
) -> Result<()> {
    for sequence in chunk.sequences() {
        let sequence = match sequence {
            Ok(sequence) => sequence,
            Err(error) => {
                // An error in a record or an object has been added already.
                damage.add_in(path, error);
                break;
            }
        };
        let mut all = sequence.objects();
        loop {
            match all.next_object() {
                Ok(Some(object)) => {
                    names.meet(&object).map_err(content)?;
                    if objects && filter.wants_object(&object) {
                        printer.record(&names.object(&object, Some(sequence.seq_id())))?;
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    damage.add_in(path, error);
                    if all.recover().is_none() {
                        break;
                    }
                }
            }
        }
        match sequence.records() {
            Ok(records) => find_runs(records, path, damage, |records| run(records, sequence.seq_id())),
            Err(error) => damage.add_in(path, error),
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
            Ok(Some(record)) if record.micros() < last => {
                run(std::mem::replace(&mut start, before), count);
                (count, last) = (1, record.micros());
            }
            Ok(Some(record)) => (count, last) = (count.saturating_add(1), record.micros()),
            Ok(None) => break,
            Err(error) => {
                damage.add_in(path, error);
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

/// The records of a stream, ordered by time; of one that grows, in its order.
fn stream(
    part: &Part<'_>,
    filter: &Filter,
    table: Option<CallsiteTable<'_, '_>>,
    cursor: &mut Cursor,
    kept: &mut Kept,
    printer: &mut Printer<'_>,
    damage: &mut Damage,
) -> Result<()> {
    let data = part.data()?;
    let Ok(stream) = Streaming::parse(data.bytes()) else { return Ok(()) };
    let path = part.path.as_deref();
    printer.set_path(path);
    let mut names = names(table);
    kept.recall(&stream, &mut names)?;
    let follows = cursor.follows;
    let mut print = |record: &StreamRecord<'_>, end: u64, names: &mut Names<'_>, damage: &mut Damage| {
        let micros = record.unix_micros().map_err(|error| damage.add_in(path, error)).ok();
        let iid = match record.data() {
            StreamData::Span(span) => Some(span.iid()),
            StreamData::Task(task) => Some(task.iid()),
            StreamData::Record(data) => data.iid(),
            _ => None,
        };
        if follows {
            kept.learn(record);
        }
        match filter.wants(record.kind(), micros, iid, names) {
            true => printer.record(&names.stream_record(record, end)),
            false => Ok(()),
        }
    };
    if follows {
        let place = cursor.places.entry(path.map(Path::to_owned).unwrap_or_default()).or_default();
        let records = if *place == 0 { stream.records() } else { stream.records_from(*place) };
        *place = scan::records(records, true, path, damage, |record, end, damage| {
            names.follow_stream(&record).map_err(content)?;
            print(&record, end, &mut names, damage)
        })?;
        return Ok(());
    }
    let key = |record: &StreamRecord<'_>| record.unix_micros().unwrap_or(u64::MAX);
    if stream.records().map_while(|record| record.ok().as_ref().map(key)).is_sorted() {
        scan::records(stream.records(), false, path, damage, |record, end, damage| {
            names.follow_stream(&record).map_err(content)?;
            print(&record, end, &mut names, damage)
        })?;
        return Ok(());
    }
    let mut places = Vec::new();
    scan::stream(&stream, path, damage, |record, _| {
        places.push((key(&record), record.offset()));
        Ok(())
    })?;
    // Records with the same time stay in their order.
    places.sort_unstable();
    for (_, offset) in places {
        let mut records = stream.records_from(offset);
        if let Ok(Some(record)) = records.next_record() {
            names.follow_stream(&record).map_err(content)?;
            print(&record, records.offset(), &mut names, damage)?;
        }
    }
    Ok(())
}
