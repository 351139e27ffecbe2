//! Lines of a recording, of JSON or for people.

use super::json;
use super::names::{Names, short};
use crate::json::Line;
use crate::measure::{pad, spaces, width};
use crate::output::{DIM, LABEL, Out, printable};
use crate::status::Result;
use crate::trace::Stamps;
use anstyle::Style;
use std::fmt::Write;
use std::path::Path;
use traceglass::rfr::{Callsite, Event, Object, Record, RecordData, StreamData, StreamRecord};

/// Writes lines, of JSON or for people.
pub struct Printer<'o> {
    pub out: &'o mut Out,
    json: bool,
    line: Line,
    /// A line for people, and a part of one.
    text: String,
    part: String,
    stamps: Stamps,
    pub names: Names,
}

/// The columns before what a record is about: time, sequence, kind.
const TIME: usize = 27;
const SEQUENCE: usize = 3;
const KIND: usize = 14;
/// The column of a task's name.
const NAME: usize = 14;

impl<'o> Printer<'o> {
    pub fn new(out: &'o mut Out, json: bool, names: Names) -> Self {
        let (text, part, stamps) = (String::new(), String::new(), Stamps::default());
        Self { out, json, line: Line::new(), text, part, stamps, names }
    }

    pub fn record(
        &mut self,
        path: Option<&Path>,
        seq_id: u64,
        micros: Option<u64>,
        record: &Record<'_>,
    ) -> Result<()> {
        if self.json {
            let line = self.line.begin().path(path).int("offset", record.offset()).int("seq_id", seq_id);
            let line = line.record(micros, record, &mut self.stamps).about(&record.data(), &self.names);
            return self.out.json_text(line.end());
        }
        self.begin(micros, Some(seq_id), record.kind().name());
        self.about(&record.data());
        self.end()
    }

    pub fn stream_record(
        &mut self,
        path: Option<&Path>,
        micros: Option<u64>,
        record: &StreamRecord<'_>,
    ) -> Result<()> {
        if self.json {
            let line = self.line.begin().path(path).int("offset", record.offset());
            line.stream_record(record, &mut self.stamps);
            match record.data() {
                StreamData::Record(data) => drop(line.about(&data, &self.names)),
                StreamData::Span(span) => {
                    line.text_or_null("location", self.names.location_of(span.callsite_id()));
                }
                StreamData::Task(task) => {
                    line.text_or_null("location", self.names.location_of(task.callsite_id()));
                }
                _ => {}
            }
            return self.out.json_text(self.line.end());
        }
        self.begin(micros, None, record.kind().name());
        match record.data() {
            StreamData::Callsite(callsite) => self.text.push_str(&callsite_line(&callsite)),
            StreamData::Span(span) => self.object_line(&Object::Span(span)),
            StreamData::Task(task) => self.object_line(&Object::Task(task)),
            StreamData::Record(data) => self.about(&data),
            _ => {}
        }
        self.end()
    }

    pub fn object(
        &mut self,
        path: Option<&Path>,
        seq_id: u64,
        object: &Object<'_>,
        print: bool,
    ) -> Result<()> {
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

    pub fn callsite(&mut self, callsite: &Callsite<'_>) -> Result<()> {
        if self.json {
            return self.out.json_text(self.line.begin().callsite(callsite).end());
        }
        self.out.line(callsite_line(callsite))
    }

    /// Keeps what a stream says about ids.
    pub fn learn(&mut self, record: &StreamRecord<'_>) {
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
        self.part.clear();
        if let Some(micros) = micros {
            self.stamps.push_micros(&mut self.part, micros);
        }
        self.column(DIM, TIME);
        if let Some(sequence) = sequence {
            self.part.clear();
            self.part.push('s');
            self.part.push_str(itoa::Buffer::new().format(sequence));
            pad(&mut self.text, &self.part, SEQUENCE, false);
            self.text.push_str("  ");
        }
        self.part.clear();
        self.part.push_str(kind);
        self.column(LABEL, KIND);
    }

    /// Appends the part as a column.
    fn column(&mut self, style: Style, width: usize) {
        if self.out.is_colored() {
            let mut padded = String::new();
            pad(&mut padded, &self.part, width, false);
            self.text.push_str(&self.out.paint(style, padded));
        } else {
            pad(&mut self.text, &self.part, width, false);
        }
        self.text.push_str("  ");
    }

    fn end(&mut self) -> Result<()> {
        self.out.buffered(self.text.trim_end())
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
        let Self { text, names, out, .. } = self;
        let start = text.len();
        let place = names.push_placed(text, iid);
        if let Some(context) = context {
            text.push_str(" in ");
            names.push_object(text, context);
        }
        if place.is_empty() {
            return;
        }
        let width = text.get(start..).map_or(0, width);
        spaces(text, NAME.saturating_sub(width));
        text.push_str("  ");
        if out.is_colored() {
            text.push_str(&out.paint(DIM, place));
        } else {
            text.push_str(place);
        }
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
