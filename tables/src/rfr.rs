//! RFR: each file of a recording is a piece. A chunk has all that is needed to read it.

mod names;
mod typed;
mod value;

use crate::error::Result;
use crate::events::{Common, OWN, Part, Place};
use crate::file::{Bytes, File};
use crate::growing::Growing;
use crate::query::Query;
use crate::rows::Rows;
use crate::seen::Number;
use crate::sink::{Sink, hand_out, hand_out_rest};
use crate::table::{self, Table};
use names::Callsites as CallsiteNames;
use std::sync::OnceLock;
use traceglass::event::rfr::{Lane, Registry, RegistrySlot, Timeline};
use traceglass::rfr::{
    CallsiteTable, Callsites, Chunk, FormatIdentifier, Item, Meta, Object, StreamData, Streaming, TableEntry,
    Variant,
};
use traceglass::{ErrorKind, Gap};
use typed::Typed;

const TASKS: usize = OWN;
const CALLSITES: usize = OWN + 1;
/// The first table of a kind of record.
const KINDS: usize = OWN + 2;

/// The tables of a recording.
pub(crate) fn tables() -> Vec<Table> {
    let tasks = Table::new(
        "tasks",
        vec![
            table::name("file"),
            table::id("offset"),
            table::id("iid"),
            table::id("task_id"),
            table::text("name"),
            table::name("kind"),
            table::id("context"),
            table::id("callsite_id"),
            table::name("location"),
            table::name("target"),
        ],
    );
    let callsites = Table::new(
        "callsites",
        vec![
            table::name("file"),
            table::id("offset"),
            table::id("callsite_id"),
            table::id("level"),
            table::name("kind"),
            table::text("name"),
            table::name("target"),
            table::name("module_path"),
            table::name("source_file"),
            table::id("source_line"),
            table::text("fields"),
        ],
    );
    [tasks, callsites].into_iter().chain(typed::tables()).collect()
}

/// The files of a recording.
pub(crate) struct Recording<'t> {
    files: Vec<&'t dyn File>,
    /// The file of callsites, if there is one, opened once for all pieces.
    callsites: OnceLock<Option<Shared<'t>>>,
}

/// What all pieces look up.
struct Shared<'t> {
    data: Bytes<'t>,
    names: CallsiteNames,
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

    fn shared(&self) -> Option<&Shared<'t>> {
        let open = || {
            // Each recording has one, before its chunks; damage in it is reported by its own piece.
            self.files.iter().take(16).find_map(|file| {
                let data = file.open().ok()?;
                let names = CallsiteNames::of(Callsites::parse((*data).as_ref()).ok()?);
                Some(Shared { data, names })
            })
        };
        self.callsites.get_or_init(open).as_ref()
    }

    pub(crate) fn read(
        &self,
        piece: usize,
        tables: &[usize],
        all: &[Table],
        query: &Query,
        common: &mut Common<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let Some(file) = self.files.get(piece) else { return Ok(()) };
        let data = match file.open() {
            Ok(data) => data,
            Err(message) => return common.problem(file.name(), None, &message, sink),
        };
        let data = (*data).as_ref();
        let read = Reading { file: file.name(), data, all, tables, query };
        let done = match FormatIdentifier::parse(data).map(|identifier| identifier.variant()) {
            Ok(Variant::Meta) => read.meta(common, sink)?,
            Ok(Variant::Callsites) => read.callsites(common, sink)?,
            Ok(Variant::Streaming) => read.stream(common, self.shared(), sink)?,
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

    fn typed<'y>(&'y self, callsites: Option<&'y CallsiteNames>) -> Typed<'y> {
        Typed::new(self.file, self.query, callsites, KINDS, |number| self.rows(number))
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
        content!(Meta::parse(self.data));
        self.part(common, "meta", None, sink).map(Ok)
    }

    fn callsites(&self, common: &mut Common<'_>, sink: &mut Sink<'_>) -> Read {
        let mut callsites = content!(Callsites::parse(self.data));
        self.part(common, "callsites", None, sink)?;
        let mut rows = self.rows(CALLSITES);
        let mut text = String::new();
        loop {
            let at = callsites.offset();
            match callsites.next_callsite() {
                Ok(None) => break,
                Ok(Some(callsite)) => {
                    let Some(rows) = &mut rows else { continue };
                    names::callsite_row(rows, self.file, &callsite, &mut text);
                    hand_out(CALLSITES, rows, sink)?;
                }
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
        finish(CALLSITES, rows, sink).map(Ok)
    }

    fn chunk(&self, common: &mut Common<'_>, shared: Option<&Shared<'_>>, sink: &mut Sink<'_>) -> Read {
        let chunk = content!(Chunk::parse(self.data));
        let header = chunk.header();
        let at = |micros: u64| ns_of(header.base_time(), micros);
        let (begin, end) = (at(header.start().min(header.earliest())), at(header.end().max(header.latest())));
        self.part(common, "chunk", Some((at(header.start()), at(header.end()))), sink)?;
        let outside = self.query.window.to().is_some_and(|to| to <= begin)
            || self.query.window.from().is_some_and(|from| from > end);
        if outside {
            return Ok(Ok(()));
        }
        let mut tasks = self.rows(TASKS);
        let mut typed = self.typed(shared.map(|shared| &shared.names));
        if tasks.is_some() || typed.any() {
            let mut items = chunk.items();
            let mut seq_id = None;
            loop {
                match items.next_item() {
                    Ok(Some(Item::Sequence(sequence))) => seq_id = Some(sequence.seq_id()),
                    Ok(Some(Item::Object(object))) => {
                        typed.names.add_object(&object);
                        self.task(&object, &typed, &mut tasks, common, sink)?;
                    }
                    Ok(Some(Item::Record(record))) => {
                        let bytes = items.offset().saturating_sub(record.offset());
                        let place = typed::Place {
                            offset: record.offset(),
                            bytes,
                            seq_id,
                            ns: ns_of(header.base_time(), record.timestamp()),
                        };
                        typed.record(&place, record.kind(), &record.data(), sink)?;
                    }
                    Ok(Some(_)) => {}
                    // Damage is reported with the events.
                    Err(_) if items.recover().is_some() => {}
                    Err(_) | Ok(None) => break,
                }
            }
        }
        typed.finish(sink)?;
        finish(TASKS, tasks, sink)?;
        self.events(common, shared, sink)
    }

    fn stream(&self, common: &mut Common<'_>, shared: Option<&Shared<'_>>, sink: &mut Sink<'_>) -> Read {
        let stream = content!(Streaming::parse(self.data));
        self.part(common, "stream", None, sink)?;
        let (mut tasks, mut callsites) = (self.rows(TASKS), self.rows(CALLSITES));
        let mut typed = self.typed(None);
        if tasks.is_some() || callsites.is_some() || typed.any() {
            let mut records = stream.records();
            let mut text = String::new();
            loop {
                let record = match records.next_record() {
                    Ok(Some(record)) => record,
                    Err(_) if records.recover().is_some() => continue,
                    Err(_) | Ok(None) => break,
                };
                match record.data() {
                    StreamData::Callsite(callsite) => {
                        typed.names.add_callsite(&callsite);
                        if let Some(rows) = &mut callsites {
                            names::callsite_row(rows, self.file, &callsite, &mut text);
                            hand_out(CALLSITES, rows, sink)?;
                        }
                    }
                    StreamData::Task(task) => {
                        let object = Object::Task(task);
                        typed.names.add_object(&object);
                        self.task(&object, &typed, &mut tasks, common, sink)?;
                    }
                    StreamData::Span(span) => typed.names.add_object(&Object::Span(span)),
                    StreamData::Record(data) => {
                        let place = typed::Place {
                            offset: record.offset(),
                            bytes: records.offset().saturating_sub(record.offset()),
                            seq_id: None,
                            ns: ns_of(record.secs(), record.subsec_micros().into()),
                        };
                        typed.record(&place, record.kind(), &data, sink)?;
                        typed.names.forget(&data);
                    }
                    _ => {}
                }
            }
        }
        typed.finish(sink)?;
        finish(TASKS, tasks, sink)?;
        finish(CALLSITES, callsites, sink)?;
        self.events(common, shared, sink)
    }

    /// A row of a task, once.
    fn task(
        &self,
        object: &Object<'_>,
        typed: &Typed<'_>,
        rows: &mut Option<Rows>,
        common: &Common<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let (Some(rows), Some(task)) = (rows, object.as_task()) else { return Ok(()) };
        let number = Number::new().id(task.iid()).id(task.task_id()).id(task.callsite_id());
        let number = number.id(task.context().unwrap_or(0)).bytes(task.name().as_bytes());
        if !common.seen().is_new_task(number.finish()) {
            return Ok(());
        }
        let callsite = typed.names.callsite(task.callsite_id());
        rows.name(0, Some(self.file));
        rows.u64(1, Some(task.offset()));
        rows.u64(2, Some(task.iid()));
        rows.u64(3, Some(task.task_id()));
        rows.text(4, Some(task.name()));
        rows.name(5, Some(task.kind().name()));
        rows.u64(6, task.context());
        rows.u64(7, Some(task.callsite_id()));
        rows.name(8, callsite.and_then(|callsite| callsite.location.as_deref()));
        rows.name(9, callsite.and_then(|callsite| callsite.target.as_deref()));
        hand_out(TASKS, rows, sink)
    }

    /// What the model of events makes of the file.
    fn events(&self, common: &mut Common<'_>, shared: Option<&Shared<'_>>, sink: &mut Sink<'_>) -> Read {
        if !common.needs_events() {
            return Ok(Ok(()));
        }
        let mut registry = Registry::new(Growing::new(RegistrySlot::EMPTY));
        let mut timeline = Timeline::new(&mut registry, Growing::new(Lane::EMPTY));
        let callsites = shared.and_then(|shared| Callsites::parse((*shared.data).as_ref()).ok());
        let mut entries = Vec::new();
        if let Some(callsites) = &callsites {
            if let Err(error) = CallsiteTable::build(callsites, &mut entries)
                && let ErrorKind::CapacityExceeded { needed, .. } = error.kind()
            {
                entries.resize(usize::try_from(needed).unwrap_or(0), TableEntry::EMPTY);
            }
            if let Ok(table) = CallsiteTable::build(callsites, &mut entries) {
                timeline.set_callsites(table);
            }
        }
        content!(timeline.add(0, self.data));
        let place = Place { file: self.file, base: 0, skipped: 0, seed: "" };
        common.drive(&mut timeline, &place, None, sink).map(Ok)
    }
}

/// Hands out what is left of a table.
fn finish(table: usize, rows: Option<Rows>, sink: &mut Sink<'_>) -> Result<()> {
    match rows {
        Some(mut rows) => hand_out_rest(table, &mut rows, sink),
        None => Ok(()),
    }
}

/// Microseconds after seconds since the Unix epoch, in nanoseconds.
fn ns_of(secs: u64, micros: u64) -> i128 {
    let micros = i128::from(secs).saturating_mul(1_000_000).saturating_add(micros.into());
    micros.saturating_mul(1000)
}
