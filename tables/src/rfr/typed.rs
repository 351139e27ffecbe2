//! A table for each kind of record, with columns of its own.

use super::names::{Callsites, Names};
use super::{KINDS, Reading, value};
use crate::error::Result;
use crate::events::hand_out;
use crate::json::quote;
use crate::rows::Rows;
use crate::table::{self, Table};
use crate::trace::Sink;
use traceglass::rfr::{Event, Parent, RecordData, RecordKind, Waker};

/// The kinds that have tables, in their order.
const TABLES: [RecordKind; 13] = [
    RecordKind::SpanNew,
    RecordKind::SpanEnter,
    RecordKind::SpanExit,
    RecordKind::SpanClose,
    RecordKind::Event,
    RecordKind::NewTask,
    RecordKind::TaskPollStart,
    RecordKind::TaskPollEnd,
    RecordKind::TaskDrop,
    RecordKind::WakerWake,
    RecordKind::WakerWakeByRef,
    RecordKind::WakerClone,
    RecordKind::WakerDrop,
];

/// `TaskPollStart` is `task_poll_start`.
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

pub(super) fn tables() -> impl Iterator<Item = Table> {
    TABLES.iter().map(|kind| {
        let mut fields = vec![
            table::name("file"),
            table::id("offset"),
            table::id("bytes"),
            table::id("seq_id"),
            table::ns("time_ns"),
            table::moment("time"),
        ];
        let of_object =
            |id| [table::id(id), table::name("name"), table::id("task_id"), table::name("location")];
        match kind {
            RecordKind::Event => fields.extend([
                table::id("callsite_id"),
                table::id("parent"),
                table::name("name"),
                table::name("target"),
                table::name("location"),
                table::id("level"),
                table::text("fields"),
            ]),
            RecordKind::WakerWake
            | RecordKind::WakerWakeByRef
            | RecordKind::WakerClone
            | RecordKind::WakerDrop => {
                fields.extend(of_object("task_iid"));
                fields.extend([table::id("context"), table::name("context_name")]);
            }
            _ => fields.extend(of_object("iid")),
        }
        Table::new(snake(kind.name()), fields)
    })
}

/// Where a record is.
pub(super) struct Place {
    pub offset: u64,
    pub bytes: u64,
    pub seq_id: Option<u64>,
    pub ns: i128,
}

/// The rows of the tables that are read.
pub(super) struct Typed<'y> {
    pub names: Names<'y>,
    file: &'y str,
    query: &'y crate::query::Query,
    tables: [Option<Rows>; TABLES.len()],
    text: String,
}

impl<'y> Typed<'y> {
    pub(super) fn new(read: &Reading<'y>, callsites: Option<&'y Callsites>) -> Self {
        Self {
            names: Names::new(callsites),
            file: read.file,
            query: read.query,
            tables: std::array::from_fn(|number| read.rows(number.saturating_add(KINDS))),
            text: String::new(),
        }
    }

    /// Whether any of the tables is read.
    pub(super) fn any(&self) -> bool {
        self.tables.iter().any(Option::is_some)
    }

    pub(super) fn finish(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        for (number, rows) in self.tables.iter_mut().enumerate() {
            super::finish(number.saturating_add(KINDS), rows.take(), sink)?;
        }
        Ok(())
    }

    pub(super) fn record(
        &mut self,
        place: &Place,
        kind: RecordKind,
        data: &RecordData<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let Some(number) = TABLES.iter().position(|table| *table == kind) else { return Ok(()) };
        let Self { names, tables, text, .. } = self;
        let Some(rows) = tables.get_mut(number).and_then(Option::as_mut) else { return Ok(()) };
        let window = self.query.window;
        if window.from().is_some_and(|from| place.ns < from) || window.to().is_some_and(|to| place.ns >= to) {
            return Ok(());
        }
        rows.name(0, Some(self.file));
        rows.u64(1, Some(place.offset));
        rows.u64(2, Some(place.bytes));
        rows.u64(3, place.seq_id);
        rows.time(4, Some(place.ns), true);
        match *data {
            RecordData::Event(event) => event_columns(rows, names, &event, text),
            RecordData::WakerWake(waker)
            | RecordData::WakerWakeByRef(waker)
            | RecordData::WakerClone(waker)
            | RecordData::WakerDrop(waker) => waker_columns(rows, names, &waker),
            _ => {
                if let Some(iid) = data.iid() {
                    object_columns(rows, names, iid);
                }
            }
        }
        hand_out(number.saturating_add(KINDS), rows, sink)
    }
}

fn object_columns(rows: &mut Rows, names: &Names<'_>, iid: u64) {
    let (name, task_id, location) = names.object(iid);
    rows.u64(6, Some(iid));
    rows.name(7, name);
    rows.u64(8, task_id);
    rows.name(9, location);
}

fn waker_columns(rows: &mut Rows, names: &Names<'_>, waker: &Waker) {
    object_columns(rows, names, waker.task_iid());
    rows.u64(10, waker.context());
    rows.name(11, waker.context().and_then(|context| names.object(context).0));
}

fn event_columns(rows: &mut Rows, names: &Names<'_>, event: &Event<'_>, text: &mut String) {
    let callsite = names.callsite(event.callsite_id());
    rows.u64(6, Some(event.callsite_id()));
    rows.u64(
        7,
        match event.parent() {
            Parent::Explicit(iid) => Some(iid),
            _ => None,
        },
    );
    rows.name(8, callsite.and_then(|callsite| callsite.name.as_deref()));
    rows.name(9, callsite.and_then(|callsite| callsite.target.as_deref()));
    rows.name(10, callsite.and_then(|callsite| callsite.location.as_deref()));
    rows.u64(11, callsite.map(|callsite| callsite.level.into()));
    if !rows.wants(12) {
        return;
    }
    text.clear();
    let fields = callsite.map_or(&[][..], |callsite| &callsite.fields);
    for (number, found) in event.split_field_values().enumerate() {
        text.push(if text.is_empty() { '{' } else { ',' });
        match fields.get(number) {
            Some(name) => quote(text, name),
            None => quote(text, &format!("value {}", number.saturating_sub(fields.len()))),
        }
        text.push(':');
        value(text, &found);
    }
    for field in event.dynamic_fields() {
        text.push(if text.is_empty() { '{' } else { ',' });
        quote(text, field.name());
        text.push(':');
        value(text, &field.value());
    }
    if !text.is_empty() {
        text.push('}');
        rows.text(12, Some(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_named_after_kinds() {
        let names: Vec<_> = tables().map(|table| table.name().to_owned()).collect();
        assert_eq!(names.first().map(String::as_str), Some("span_new"));
        assert_eq!(names.get(6).map(String::as_str), Some("task_poll_start"));
        assert_eq!(names.last().map(String::as_str), Some("waker_drop"));
        // Every kind that a chunk can have.
        assert_eq!(names.len(), 13);
    }
}
