//! A table for each name of an event record, with a column for each member of its contexts and its payload.
//!
//! Classes with the same name share a table, which has the members of all of them. A member that is an integer of
//! up to 64 bits, a float, a truth value, text or a BLOB has a column of that type; any other one is JSON.

use crate::error::Result;
use crate::json::with_text;
use crate::query::Query;
use crate::row::{Member, Row, Targets};
use crate::rows::Rows;
use crate::sink::{Sink, hand_out, hand_out_rest};
use crate::table::{self, Table};
use arrow_schema::{DataType, Field};
use foldhash::fast::RandomState;
use std::collections::{HashMap, HashSet};
use traceglass::ctf::schema::{EventClass, FieldClass, FieldKind, Schema, Scope};
use traceglass::event::{Event, EventKind};
use traceglass::record::{self, Record};

/// The tables of event records.
#[derive(Default)]
pub(super) struct Classes {
    /// By the names of event records.
    numbers: HashMap<String, usize, RandomState>,
    /// The members that have columns in each of them.
    members: Vec<Vec<Member>>,
    /// The number of the first one in the trace.
    first: usize,
}

impl Classes {
    pub(super) fn new<'t>(
        schemas: impl Iterator<Item = &'t Schema<'t, 't>>,
        tables: &mut Vec<Table>,
    ) -> Self {
        let mut classes = Self { first: tables.len(), ..Self::default() };
        let mut columns: Vec<(String, Vec<Field>)> = Vec::new();
        let mut taken: HashSet<String> = tables.iter().map(|table| table.name().to_owned()).collect();
        for class in schemas.flat_map(Schema::stream_classes).flat_map(|stream| stream.event_classes()) {
            let name = class.to_string();
            let Classes { numbers, members, .. } = &mut classes;
            let number = *numbers.entry(name).or_insert_with_key(|name| {
                let shown = free(name, &mut taken);
                let common =
                    [table::name("file"), table::id("offset"), table::id("bytes"), table::id("track")];
                let time = [table::ns("time_ns"), table::moment("time")];
                columns.push((shown, common.into_iter().chain(time).collect()));
                members.push(Vec::new());
                members.len().saturating_sub(1)
            });
            if let (Some((_, fields)), Some(members)) = (columns.get_mut(number), members.get_mut(number)) {
                describe(&class, fields, members);
            }
        }
        tables.extend(columns.into_iter().map(|(name, fields)| Table::new(name, fields)));
        classes
    }
}

/// The name of an event's table: an event may have the name of another table, or the one that another event was given.
fn free(name: &str, taken: &mut HashSet<String>) -> String {
    let mut shown = name.to_owned();
    while !taken.insert(shown.clone()) {
        shown.push_str(" (event)");
    }
    shown
}

/// Adds the columns of a class.
fn describe(class: &EventClass<'_, '_>, fields: &mut Vec<Field>, members: &mut Vec<Member>) {
    let scopes = [
        (record::Scope::CommonContext, class.stream_class().scope(Scope::CommonContext), "common_context_"),
        (record::Scope::SpecificContext, class.scope(Scope::SpecificContext), "specific_context_"),
        (record::Scope::Payload, class.scope(Scope::Payload), ""),
    ];
    for (scope, structure, prefix) in scopes {
        for class in structure.iter().flat_map(FieldClass::children) {
            let Some(name) = class.name().map(|name| name.to_string()) else { continue };
            let (kind, is_json) = column_type(&class);
            let known = members.iter().position(|known| known.scope == scope && known.name == name);
            let known = match known {
                Some(known) => known,
                None => {
                    let column = fields.len();
                    fields.push(Field::new(
                        table::unused(format!("{prefix}{name}"), fields),
                        kind.clone(),
                        true,
                    ));
                    members.push(Member { scope, name: name.clone(), column, is_json, labels: None });
                    members.len().saturating_sub(1)
                }
            };
            let Some(member) = members.get_mut(known) else { continue };
            // It has another type in another class: JSON can hold both.
            if let Some(field) = fields.get_mut(member.column)
                && (*field.data_type() != kind || member.is_json != is_json)
            {
                *field = table::text(field.name());
                member.is_json = true;
            }
            if member.labels.is_none() && has_labels(class) {
                member.labels = Some(fields.len());
                fields.push(table::text(&table::unused(format!("{prefix}{name}_labels"), fields)));
            }
        }
    }
}

/// True if a field has labels, or an optional or a variant holds one that does.
fn has_labels(class: FieldClass<'_, '_>) -> bool {
    let mut left = vec![class];
    while let Some(class) = left.pop() {
        match class.kind() {
            FieldKind::Optional | FieldKind::Variant => left.extend(class.children()),
            _ if class.has_labels() => return true,
            _ => {}
        }
    }
    false
}

/// The type of a field's column, and whether it is JSON.
fn column_type(class: &FieldClass<'_, '_>) -> (DataType, bool) {
    let fits = class.bits().is_none_or(|bits| bits <= 64);
    match class.kind() {
        FieldKind::Boolean => (DataType::Boolean, false),
        FieldKind::Unsigned | FieldKind::BitArray | FieldKind::BitMap if fits => (DataType::UInt64, false),
        FieldKind::Signed if fits => (DataType::Int64, false),
        FieldKind::Float if fits => (DataType::Float64, false),
        FieldKind::String => (DataType::Utf8, false),
        FieldKind::Blob => (DataType::Binary, false),
        _ => (DataType::Utf8, true),
    }
}

/// The rows of the tables that are read.
pub(super) struct Records<'r> {
    classes: &'r Classes,
    all: &'r [Table],
    query: &'r Query,
    file: &'r str,
    /// The tables that are read, and their rows from the first one on.
    tables: Vec<(bool, Option<Rows>)>,
    targets: Targets,
    buffer: String,
}

impl<'r> Records<'r> {
    pub(super) fn new(
        classes: &'r Classes,
        tables: &[usize],
        all: &'r [Table],
        query: &'r Query,
        file: &'r str,
    ) -> Self {
        let mut wanted: Vec<_> = classes.members.iter().map(|_| (false, None)).collect();
        for table in tables.iter().filter_map(|table| table.checked_sub(classes.first)) {
            if let Some((is_wanted, _)) = wanted.get_mut(table) {
                *is_wanted = true;
            }
        }
        Self { classes, all, query, file, tables: wanted, targets: Targets::default(), buffer: String::new() }
    }

    /// True if any of the tables is read.
    pub(super) fn any(&self) -> bool {
        self.tables.iter().any(|(is_wanted, _)| *is_wanted)
    }

    pub(super) fn finish(&mut self, sink: &mut Sink<'_>) -> Result<()> {
        for (number, (_, rows)) in self.tables.iter_mut().enumerate() {
            if let Some(rows) = rows {
                hand_out_rest(number.saturating_add(self.classes.first), rows, sink)?;
            }
        }
        Ok(())
    }

    pub(super) fn event(
        &mut self,
        event: &Event<'_>,
        base: u64,
        track: u64,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        if event.kind() != EventKind::Instant {
            return Ok(());
        }
        let Self { classes, tables, targets, buffer, .. } = self;
        let numbers = &classes.numbers;
        let Some(number) = with_text(&event.name(), buffer, |name| numbers.get(name).copied()) else {
            return Ok(());
        };
        let table = number.saturating_add(classes.first);
        let (Some((true, rows)), Some(members)) = (tables.get_mut(number), classes.members.get(number))
        else {
            return Ok(());
        };
        if rows.is_none() {
            *rows = self.all.get(table).map(|table| Rows::new(table, self.query));
        }
        let Some(rows) = rows else { return Ok(()) };
        let time = event.time();
        rows.name(0, Some(self.file));
        rows.u64(1, Some(event.offset().saturating_add(base)));
        rows.u64(2, Some(event.len()));
        rows.u64(3, Some(track));
        rows.time(4, time.map(|time| time.ns()), time.is_some_and(|time| time.is_absolute()));
        // A field that cannot be read is null; a row of `gaps` says so.
        let _ = event.tell(&mut Row::new(rows, members, targets));
        hand_out(table, rows, sink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_tables_have_one_name() {
        let mut taken = HashSet::from(["events".to_owned()]);
        let found = ["events (event)", "events", "other", "other (event)"].map(|name| free(name, &mut taken));
        assert_eq!(found, ["events (event)", "events (event) (event)", "other", "other (event)"]);
    }
}
