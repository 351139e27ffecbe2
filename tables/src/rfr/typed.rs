//! A table for each class of records, with the fields that they tell as columns.

use crate::error::Result;
use crate::json::quote;
use crate::query::Query;
use crate::rows::Rows;
use crate::sink::{Sink, hand_out, hand_out_rest};
use crate::table::{self, Table};
use std::fmt::Write;
use traceglass::record::{
    Class, FieldInfo, FixedClass, Head, Hint, Kind, Listener, Record as _, Slot, Step, Text, Wants, Wide,
};
use traceglass::rfr::{NamedRecord, RecordKind};

/// The columns of a table, made of the records of a kind.
pub(super) struct Typed {
    class: FixedClass,
    /// The columns in front of the fields, and the fields in the order in which they are told.
    front: usize,
    fields: Vec<Field>,
    /// The labels of numbers that stand for them.
    labels: Vec<(u64, String)>,
    is_object: bool,
}

/// The column for a place of a class.
#[derive(Clone, Copy, PartialEq)]
enum Field {
    /// No column of its own.
    None,
    Column(usize),
    /// A number of which the label is wanted.
    Label(usize),
    /// Values within something, as JSON.
    Element,
}

/// The name of a table: `TaskPollStart` is `task_poll_start`.
fn snake(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

impl Typed {
    /// The table of a kind: of tasks and callsites, each one once and without a time.
    pub(super) fn of(kind: RecordKind) -> (Table, Self) {
        let class = kind.class();
        let is_object = matches!(kind, RecordKind::Task | RecordKind::Callsite);
        let mut columns = vec![table::name("file"), table::id("offset")];
        if !is_object {
            columns.extend([table::id("bytes"), table::ns("time_ns"), table::moment("time")]);
        }
        let front = columns.len();
        let (mut fields, mut labels, mut depth) = (Vec::new(), Vec::new(), 0_u32);
        let mut field = |info: FieldInfo<'_>, depth: u32| {
            let name = info.name.map(|name| name.to_string()).unwrap_or_default();
            if depth > 1 {
                return Field::Element;
            }
            // The time is a column already; an object has neither time nor sequence.
            if info.hint == Hint::Stamp || is_object && name == "seq_id" {
                return Field::None;
            }
            // The files of a trace have their own column.
            let name = match name.as_str() {
                "file" | "line" => format!("source_{name}"),
                _ => name,
            };
            let at = columns.len();
            columns.push(match info.kind {
                Kind::Map | Kind::List => table::text(&name),
                Kind::Text => table::name(&name),
                _ if info.hint == Hint::Label => table::name(&name),
                _ => table::id(&name),
            });
            if let Some(each) = info.labels {
                each(&mut |label, first, _| {
                    labels.extend(u64::try_from(first).map(|first| (first, label.to_string())));
                });
            }
            if info.hint == Hint::Label { Field::Label(at) } else { Field::Column(at) }
        };
        class.fields(&mut |step| match step {
            Step::Field(info) => {
                fields.push(field(info, depth));
                depth = depth.saturating_add(u32::from(matches!(info.kind, Kind::Map | Kind::List)));
            }
            Step::End => {
                depth = depth.saturating_sub(1);
                fields.push(Field::None);
            }
            _ => depth = depth.saturating_add(1),
        });
        let name = match kind {
            RecordKind::Task => "tasks".to_owned(),
            RecordKind::Callsite => "callsites".to_owned(),
            kind => snake(kind.name()),
        };
        (Table::new(name, columns), Self { class, front, fields, labels, is_object })
    }

    fn field(&self, slot: Slot) -> Field {
        let place = slot.index().checked_sub(self.class.slot(0).index());
        place.and_then(|place| self.fields.get(place)).copied().unwrap_or(Field::None)
    }
}

/// The kinds that have tables, in their order: tasks and callsites first.
pub(super) fn kinds() -> impl Iterator<Item = RecordKind> {
    let others = RecordKind::ALL.iter().copied().filter(|kind| {
        !matches!(kind, RecordKind::End | RecordKind::Callsite | RecordKind::Span | RecordKind::Task)
    });
    [RecordKind::Task, RecordKind::Callsite].into_iter().chain(others)
}

/// The rows of the tables that are read.
pub(super) struct Tables<'y> {
    file: &'y str,
    query: &'y Query,
    first: usize,
    tables: Vec<Option<(RecordKind, Typed, Rows)>>,
    json: Json,
}

impl<'y> Tables<'y> {
    /// The tables whose rows are given; the first of them has the number `first`.
    pub(super) fn new(
        file: &'y str,
        query: &'y Query,
        first: usize,
        rows: impl Fn(usize) -> Option<Rows>,
    ) -> Self {
        let table = |(number, kind): (usize, RecordKind)| {
            let rows = rows(number.saturating_add(first))?;
            Some((kind, Typed::of(kind).1, rows))
        };
        Self { file, query, first, tables: kinds().enumerate().map(table).collect(), json: Json::default() }
    }

    /// True if any of the tables is read.
    pub(super) fn any(&self) -> bool {
        self.tables.iter().any(Option::is_some)
    }

    /// True if the table of a kind is read.
    pub(super) fn wants(&self, kind: RecordKind) -> bool {
        self.tables.iter().flatten().any(|(of, ..)| *of == kind)
    }

    pub(super) fn finish(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        for (number, table) in self.tables.iter_mut().enumerate() {
            if let Some((.., rows)) = table {
                hand_out_rest(number.saturating_add(self.first), rows, sink)?;
            }
        }
        Ok(())
    }

    /// A row of a record, at a time in nanoseconds.
    pub(super) fn record(
        &mut self,
        record: &NamedRecord<'_, '_>,
        ns: Option<i128>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let Self { file, query, first, tables, json } = self;
        let found = tables.iter_mut().enumerate().find_map(|(number, table)| {
            table.as_mut().filter(|(kind, ..)| *kind == record.kind()).map(|table| (number, table))
        });
        let Some((number, (_, typed, rows))) = found else { return Ok(()) };
        let window = query.window;
        if let (false, Some(ns)) = (typed.is_object, ns)
            && (window.from().is_some_and(|from| ns < from) || window.to().is_some_and(|to| ns >= to))
        {
            return Ok(());
        }
        rows.name(0, Some(file));
        // It cannot fail: all of it was checked.
        let _ = record.tell(&mut Columns { typed, rows, json, ns, depth: 0 });
        hand_out(number.saturating_add(*first), rows, sink)
    }
}

/// Puts what a record tells into columns.
struct Columns<'c> {
    typed: &'c Typed,
    rows: &'c mut Rows,
    json: &'c mut Json,
    ns: Option<i128>,
    /// The number of lists and maps that are open.
    depth: u32,
}

/// The members of a list or a map, as JSON.
#[derive(Default)]
struct Json {
    text: String,
    buffer: String,
    column: usize,
    /// True if anything stands in it.
    has_any: bool,
}

impl Json {
    fn quote(&mut self, text: Text<'_>) {
        self.buffer.clear();
        // A string takes all that is written to it.
        let _ = write!(self.buffer, "{text}");
        quote(&mut self.text, &self.buffer);
    }

    fn plain(&mut self, what: std::fmt::Arguments<'_>) {
        // A string takes all that is written to it.
        let _ = self.text.write_fmt(what);
    }

    /// Appends a value after what stands before it.
    fn put(&mut self, put: impl FnOnce(&mut Self)) {
        if self.has_any && !self.text.ends_with(':') {
            self.text.push(',');
        }
        self.has_any = true;
        put(self);
    }
}

impl Columns<'_> {
    fn open(&mut self, slot: Slot, bracket: char) {
        if let Field::Column(at) = self.typed.field(slot) {
            self.json.column = at;
            self.json.has_any = false;
            self.json.text.clear();
            self.json.text.push(bracket);
        }
        self.depth = self.depth.saturating_add(1);
    }

    /// An empty one is no value.
    fn close(&mut self, bracket: char) {
        self.depth = self.depth.saturating_sub(1);
        if self.json.has_any {
            self.json.text.push(bracket);
            self.rows.text(self.json.column, Some(&self.json.text));
        }
    }

    fn value(&mut self, put: impl FnOnce(&mut Json)) {
        if self.depth > 0 {
            self.json.put(put);
        }
    }
}

impl Listener for Columns<'_> {
    fn begin(&mut self, head: &Head, _: &dyn Class) -> Wants {
        self.rows.u64(1, Some(head.offset));
        if self.typed.front > 2 {
            self.rows.u64(2, head.len);
            self.rows.time(3, self.ns, true);
        }
        Wants::ALL
    }

    fn group(&mut self, slot: Slot) {
        self.open(slot, '{');
    }

    fn end_group(&mut self) {
        self.close('}');
    }

    fn list(&mut self, slot: Slot, _: Option<u64>) {
        self.open(slot, '[');
    }

    fn end_list(&mut self) {
        self.close(']');
    }

    fn key(&mut self, name: Text<'_>) {
        self.value(|json| {
            json.quote(name);
            json.text.push(':');
        });
    }

    fn unsigned(&mut self, slot: Slot, value: u64) {
        match self.typed.field(slot) {
            Field::Column(at) => self.rows.u64(at, Some(value)),
            Field::Label(at) => {
                let label = self.typed.labels.iter().find(|(number, _)| *number == value);
                let number;
                let label = match label {
                    Some((_, label)) => label,
                    None => {
                        number = value.to_string();
                        &number
                    }
                };
                self.rows.name(at, Some(label));
            }
            Field::Element => self.value(|json| json.plain(format_args!("{value}"))),
            Field::None => {}
        }
    }

    fn signed(&mut self, _: Slot, value: i64) {
        self.value(|json| json.plain(format_args!("{value}")));
    }

    fn wide(&mut self, _: Slot, value: Wide<'_>) {
        self.value(|json| json.plain(format_args!("\"{value}\"")));
    }

    fn boolean(&mut self, _: Slot, value: bool) {
        self.value(|json| json.plain(format_args!("{value}")));
    }

    fn float(&mut self, _: Slot, value: f64) {
        self.value(|json| match value.is_finite() {
            true => json.plain(format_args!("{value:?}")),
            false => json.plain(format_args!("\"{value}\"")),
        });
    }

    fn text(&mut self, slot: Slot, value: Text<'_>) {
        match (self.typed.field(slot), value) {
            (Field::Column(at), Text::Utf8(text)) => self.rows.name(at, std::str::from_utf8(text).ok()),
            (Field::Element, value) => self.value(|json| json.quote(value)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_named_after_kinds() {
        let names: Vec<_> = kinds().map(|kind| Typed::of(kind).0.name().to_owned()).collect();
        assert_eq!(names[..3], ["tasks", "callsites", "span_new"]);
        assert_eq!((names[8].as_str(), names.last().unwrap().as_str()), ("task_poll_start", "waker_drop"));
        // Every kind that a chunk can have.
        assert_eq!(names.len(), 2 + 13);
    }

    #[test]
    fn columns_are_what_a_class_tells() {
        let columns = |kind| {
            let schema = Typed::of(kind).0.schema().clone();
            schema.fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            columns(RecordKind::WakerWake),
            "file offset bytes time_ns time seq_id task_iid task task_id context context_task location"
        );
        assert_eq!(
            columns(RecordKind::Callsite),
            "file offset callsite_id level callsite_kind name target module_path source_file source_line \
             split_field_names const_fields"
        );
    }
}
