//! RFR: each file of a recording is a piece. A chunk has all that is needed to read it.

mod typed;

use crate::error::Result;
use crate::events::{Common, OWN, Part, Place};
use crate::file::{Bytes, File};
use crate::query::{Query, Wanted};
use crate::rows::Rows;
use crate::sink::Sink;
use crate::table::Table;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;
use traceglass::event::rfr::{Registry, Timeline};
use traceglass::rfr::{
    CallsiteTable, Callsites, Chunk, FormatIdentifier, Identity, Item, Meta, NameSlot, NamedRecord, Names,
    Object, RecordKind, RegistrySlot, Site, StreamData, Streaming, Variant,
};
use traceglass::{ErrorKind, Gap, Severity};
use traceglass_open::time::READ_WHOLE;
use typed::{Tables, Typed};

/// The first table: of tasks, of callsites, then one for each kind of record.
const FIRST: usize = OWN;

/// The tables of a recording.
pub(crate) fn tables() -> Vec<Table> {
    typed::kinds().map(|kind| Typed::of(kind).0).collect()
}

/// The files of a recording.
pub(crate) struct Recording<'t> {
    files: Vec<&'t dyn File>,
    /// The file of callsites, if there is one, opened once for all pieces.
    callsites: OnceLock<Option<Bytes<'t>>>,
}

impl<'t> Recording<'t> {
    pub(crate) const fn new(files: Vec<&'t dyn File>) -> Self {
        Self { files, callsites: OnceLock::new() }
    }

    pub(crate) fn pieces(&self) -> usize {
        self.files.len()
    }

    pub(crate) fn piece_bytes(&self, piece: usize) -> u64 {
        self.files.get(piece).map_or(0, |file| file.size())
    }

    fn shared(&self) -> Option<Callsites<'_>> {
        let open = || {
            // Each recording has one, before its chunks; damage in it is reported by its own piece.
            self.files.iter().take(16).find_map(|file| {
                let data = file.open().ok()?;
                Callsites::parse((*data).as_ref()).is_ok().then_some(data)
            })
        };
        Callsites::parse((**self.callsites.get_or_init(open).as_ref()?).as_ref()).ok()
    }

    pub(crate) fn read(
        &self,
        piece: usize,
        wanted: Wanted<'_>,
        common: &mut Common<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let Wanted { tables, all, query } = wanted;
        let Some(file) = self.files.get(piece) else { return Ok(()) };
        let data = match file.open() {
            Ok(data) => data,
            Err(message) => return common.problem(file.name(), None, &message, sink),
        };
        let data = (*data).as_ref();
        let is_small = self.files.iter().map(|file| file.size()).sum::<u64>() <= READ_WHOLE;
        let read = Reading { file: file.name(), data, is_small, all, tables, query };
        let done = match FormatIdentifier::parse(data).map(|identifier| identifier.variant()) {
            Ok(Variant::Meta) => read.meta(common, sink)?,
            Ok(Variant::Callsites) => read.callsites(common, sink)?,
            Ok(Variant::Streaming) => read.stream(common, sink)?,
            Ok(_) => read.chunk(common, self.shared(), sink)?,
            Err(error) => Err(error),
        };
        match done {
            Ok(()) => Ok(()),
            Err(error) => common.problem(file.name(), Some(&error), &error.to_string(), sink),
        }
    }
}

/// A file that is being read. Methods return the error because of which none of it can be read.
struct Reading<'r> {
    file: &'r str,
    data: &'r [u8],
    /// True if the recording is so small that chunks are read whose headers state other times.
    is_small: bool,
    all: &'r [Table],
    tables: &'r [usize],
    query: &'r Query,
}

type Read = Result<traceglass::Result<()>>;

/// Takes the value, or hands the error of the trace to whoever reports it.
macro_rules! content {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Ok(Err(error)),
        }
    };
}

impl Reading<'_> {
    fn rows(&self, number: usize) -> Option<Rows> {
        let table = self.all.get(number).filter(|_| self.tables.contains(&number));
        table.map(|table| Rows::new(table, self.query))
    }

    fn typed(&self) -> Tables<'_> {
        Tables::new(self.file, self.query, FIRST, |number| self.rows(number))
    }

    fn part(
        &self,
        common: &mut Common<'_>,
        kind: &'static str,
        period: Option<(i128, i128)>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        common.part(
            &Part {
                file: self.file,
                kind,
                number: 0,
                name: None,
                offset: 0,
                bytes: self.data.len() as u64,
                begin: period.map(|(begin, _)| begin),
                end: period.map(|(_, end)| end),
                is_absolute: true,
            },
            sink,
        )
    }

    fn meta(&self, common: &mut Common<'_>, sink: &mut Sink<'_>) -> Read {
        let meta = content!(Meta::parse(self.data));
        self.part(common, "meta", None, sink)?;
        let mut wrong = None;
        content!(meta.check(&mut |finding| {
            if finding.severity() == Severity::Error {
                wrong.get_or_insert(finding.cause());
            }
        }));
        Ok(wrong.map_or(Ok(()), Err))
    }

    fn callsites(&self, common: &mut Common<'_>, sink: &mut Sink<'_>) -> Read {
        let mut callsites = content!(Callsites::parse(self.data));
        self.part(common, "callsites", None, sink)?;
        let mut typed = self.typed();
        loop {
            let at = callsites.offset();
            match callsites.next_callsite() {
                Ok(None) => break,
                Ok(Some(callsite)) => typed.record(&NamedRecord::of_callsite(&callsite), None, sink)?,
                Err(error) => {
                    let recovered = callsites.recover();
                    let rest = (self.data.len() as u64).saturating_sub(at);
                    let gap = recovered.unwrap_or_else(|| Gap::new(at, rest, error));
                    common.gap(self.file, &gap, 0, None, None, true, sink)?;
                    if recovered.is_none() {
                        break;
                    }
                }
            }
        }
        typed.finish(sink).map(Ok)
    }

    fn chunk(&self, common: &mut Common<'_>, callsites: Option<Callsites<'_>>, sink: &mut Sink<'_>) -> Read {
        let chunk = content!(Chunk::parse(self.data));
        let header = chunk.header();
        let at = |micros: u64| ns_of(header.base_time(), micros);
        let (begin, end) = (at(header.start().min(header.earliest())), at(header.end().max(header.latest())));
        self.part(common, "chunk", Some((at(header.start()), at(header.end()))), sink)?;
        let outside = self.query.window.to().is_some_and(|to| to <= begin)
            || self.query.window.from().is_some_and(|from| from > end);
        if outside && !self.is_small {
            return Ok(Ok(()));
        }
        let mut entries = Vec::new();
        let table = content!(callsites.map(|callsites| site_table(&callsites, &mut entries)).transpose());
        let mut typed = self.typed();
        if typed.any() {
            let mut names = names(table);
            let mut items = chunk.items();
            let mut seq_id = None;
            loop {
                match items.next_item() {
                    Ok(Some(Item::Sequence(sequence))) => seq_id = Some(sequence.seq_id()),
                    Ok(Some(Item::Object(object))) => {
                        content!(names.meet(&object));
                        if typed.wants(RecordKind::Task) && is_new(&object, common) {
                            typed.record(&names.object(&object, seq_id), None, sink)?;
                        }
                    }
                    Ok(Some(Item::Record(record))) => {
                        let ns = ns_of(header.base_time(), record.micros());
                        let record = names.record(&record, &header, seq_id, items.offset());
                        typed.record(&record, Some(ns), sink)?;
                    }
                    Ok(Some(_)) => {}
                    // Damage is reported with the events.
                    Err(_) if items.recover().is_some() => {}
                    Err(_) | Ok(None) => break,
                }
            }
        }
        typed.finish(sink)?;
        self.events(common, table, true, sink)
    }

    fn stream(&self, common: &mut Common<'_>, sink: &mut Sink<'_>) -> Read {
        let stream = content!(Streaming::parse(self.data));
        self.part(common, "stream", None, sink)?;
        let mut typed = self.typed();
        if typed.any() {
            let mut names = names(None);
            let mut records = stream.records();
            loop {
                let record = match records.next_record() {
                    Ok(Some(record)) => record,
                    Err(_) if records.recover().is_some() => continue,
                    Err(_) | Ok(None) => break,
                };
                content!(names.follow_stream(&record));
                if let StreamData::Task(task) = record.data()
                    && !is_new(&Object::Task(task), common)
                {
                    continue;
                }
                let ns = ns_of(record.secs(), record.subsec_micros().into());
                typed.record(&names.stream_record(&record, records.offset()), Some(ns), sink)?;
            }
        }
        typed.finish(sink)?;
        self.events(common, None, false, sink)
    }

    /// The events that the model makes of the file.
    fn events(
        &self,
        common: &mut Common<'_>,
        callsites: Option<CallsiteTable<'_, '_>>,
        is_chunk: bool,
        sink: &mut Sink<'_>,
    ) -> Read {
        if !common.needs_events() {
            return Ok(Ok(()));
        }
        let mut registry = Registry::new(Vec::new());
        let names = Vec::new();
        let mut timeline = Timeline::new(&mut registry, names, Vec::new());
        if let Some(callsites) = callsites {
            timeline.set_callsites(callsites);
        }
        content!(timeline.add(0, self.data));
        if self.is_small {
            timeline.read_all();
        }
        let is_part = is_chunk || self.query.window.from().is_some();
        let place = Place { file: self.file, is_part, ..Place::default() };
        common.drive(&mut timeline, &place, None, sink).map(Ok)
    }
}

/// The names of a file.
fn names<'a>(
    callsites: Option<CallsiteTable<'a, 'a>>,
) -> Names<'a, 'a, Vec<RegistrySlot>, Vec<NameSlot<'a>>> {
    let mut names = Names::new(Vec::new(), Vec::new());
    if let Some(callsites) = callsites {
        names.set_callsites(callsites);
    }
    names
}

/// A table of callsites, with as much room as it needs.
fn site_table<'a, 't>(
    callsites: &Callsites<'a>,
    entries: &'t mut Vec<Site<'a>>,
) -> traceglass::Result<CallsiteTable<'a, 't>> {
    if let Err(error) = CallsiteTable::build(callsites, entries) {
        let ErrorKind::CapacityExceeded { needed, .. } = error.kind() else { return Err(error) };
        entries.resize(usize::try_from(needed).unwrap_or(usize::MAX), Site::EMPTY);
    }
    CallsiteTable::build(callsites, entries)
}

/// True if a task has no row yet, from whatever file.
fn is_new(object: &Object<'_>, common: &Common<'_>) -> bool {
    let mut hasher = DefaultHasher::new();
    (object.iid(), Identity::of(object)).hash(&mut hasher);
    object.as_task().is_some() && common.seen().is_new_task(hasher.finish())
}

/// Microseconds after seconds since the Unix epoch, in nanoseconds.
fn ns_of(secs: u64, micros: u64) -> i128 {
    let micros = i128::from(secs).saturating_mul(1_000_000).saturating_add(micros.into());
    micros.saturating_mul(1000)
}
