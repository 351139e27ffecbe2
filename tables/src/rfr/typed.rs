//! A table for each class of records, with the fields that they tell as columns.

use crate::error::Result;
use crate::query::Query;
use crate::row::{Member, Row, Targets, each_member};
use crate::rows::Rows;
use crate::sink::{Sink, hand_out, hand_out_rest};
use crate::table::{self, Table};
use traceglass::record::{Hint, Kind, Record as _};
use traceglass::rfr::{NamedRecord, RecordKind};

/// The columns of a table, made of the records of a kind.
pub(super) struct Typed {
    members: Vec<Member>,
    is_object: bool,
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
        let is_object = matches!(kind, RecordKind::Task | RecordKind::Callsite);
        let mut columns = vec![table::name("file"), table::id("offset")];
        if !is_object {
            columns.extend([table::id("bytes"), table::ns("time_ns"), table::moment("time")]);
        }
        let mut members = Vec::new();
        each_member(&kind.class(), &mut |scope, info| {
            let name = info.name.map(|name| name.to_string()).unwrap_or_default();
            // The time is a column already; an object has neither time nor sequence.
            if info.hint == Hint::Stamp || is_object && name == "seq_id" {
                return;
            }
            let is_json = matches!(info.kind, Kind::Map | Kind::List);
            let column = columns.len();
            let labels = (info.hint == Hint::Label).then_some(column);
            // The files of a trace have their own column.
            let shown = match name.as_str() {
                "file" | "line" => &format!("source_{name}"),
                _ => &name,
            };
            columns.push(match info.kind {
                _ if is_json => table::text(shown),
                _ if labels.is_some() || info.kind == Kind::Text => table::name(shown),
                _ => table::id(shown),
            });
            members.push(Member { scope, name, column, is_json, labels });
        });
        let name = match kind {
            RecordKind::Task => "tasks".to_owned(),
            RecordKind::Callsite => "callsites".to_owned(),
            kind => snake(kind.name()),
        };
        (Table::new(name, columns), Self { members, is_object })
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
    known: Targets,
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
        Self {
            file,
            query,
            first,
            tables: kinds().enumerate().map(table).collect(),
            known: Targets::default(),
        }
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
        let Self { file, query, first, tables, known } = self;
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
        let mut row = Row::new(rows, &typed.members, known).without_empty();
        // It cannot fail: all of it was checked.
        let _ = record.tell(&mut row);
        let (offset, len) = row.place();
        rows.name(0, Some(file));
        rows.u64(1, Some(offset));
        if !typed.is_object {
            rows.u64(2, len);
            rows.time(3, ns, true);
        }
        hand_out(number.saturating_add(*first), rows, sink)
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
