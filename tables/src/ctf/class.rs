//! A table for each name of an event record, with a column for each member of its contexts and its payload.
//!
//! Classes with the same name share a table, which has the members of all of them. A member that is an integer of
//! up to 64 bits, a float, a truth value, text or a BLOB has a column of that type; any other one is JSON.

use crate::error::Result;
use crate::json::{Json, with_text};
use crate::query::Query;
use crate::rows::Rows;
use crate::sink::{Sink, hand_out, hand_out_rest};
use crate::table::{self, Table};
use arrow_schema::{DataType, Field};
use std::collections::{HashMap, HashSet};
use traceglass::ctf::schema::{EventClass, FieldClass, FieldKind, Schema, Scope};
use traceglass::event::{Event, EventKind, Fields, Label, Value};

/// The columns of all tables: file, offset, bytes, track, time twice.
const COMMON: usize = 6;

/// The tables of event records.
#[derive(Default)]
pub(super) struct Classes {
    /// By the names of event records.
    numbers: HashMap<String, usize>,
    /// What has columns in each of them.
    members: Vec<Vec<Member>>,
    /// The number of the first one in the trace.
    first: usize,
}

/// A member that has a column.
struct Member {
    scope: Scope,
    name: String,
    /// Whether it is written as JSON.
    is_json: bool,
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
            let name = match class.name() {
                Some(name) => name.to_string(),
                None => Label::Numbered("event", class.id()).to_string(),
            };
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
        (Scope::CommonContext, class.stream_class().scope(Scope::CommonContext), "common_context_"),
        (Scope::SpecificContext, class.scope(Scope::SpecificContext), "specific_context_"),
        (Scope::Payload, class.scope(Scope::Payload), ""),
    ];
    for (scope, structure, prefix) in scopes {
        for member in structure.iter().flat_map(FieldClass::children) {
            let Some(name) = member.name().map(|name| name.to_string()) else { continue };
            let (kind, is_json) = column_type(&member);
            let known = members.iter().position(|known| known.scope == scope && known.name == name);
            if let Some(known) = known {
                // It has another type in another class: JSON can hold both.
                let column = known.saturating_add(COMMON);
                if let (Some(field), Some(member)) = (fields.get_mut(column), members.get_mut(known))
                    && (*field.data_type() != kind || member.is_json != is_json)
                {
                    *field = table::text(field.name());
                    member.is_json = true;
                }
                continue;
            }
            let mut column = format!("{prefix}{name}");
            while fields.iter().any(|field| *field.name() == column) {
                column.push('_');
            }
            fields.push(Field::new(column, kind, true));
            members.push(Member { scope, name, is_json });
        }
    }
}

/// What the column of a field is, and whether that is JSON.
fn column_type(class: &FieldClass<'_, '_>) -> (DataType, bool) {
    let fits = class.bits().is_none_or(|bits| bits <= 64);
    match class.kind() {
        FieldKind::Boolean => (DataType::Boolean, false),
        FieldKind::Unsigned | FieldKind::BitArray | FieldKind::BitMap if fits => (DataType::UInt64, false),
        FieldKind::Signed if fits => (DataType::Int64, false),
        FieldKind::Float => (DataType::Float64, false),
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
    /// Which tables are read, and their rows from the first one on.
    tables: Vec<(bool, Option<Rows>)>,
    json: Json,
    text: String,
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
        Self {
            classes,
            all,
            query,
            file,
            tables: wanted,
            json: Json::default(),
            text: String::new(),
            buffer: String::new(),
        }
    }

    /// Whether any of the tables is read.
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
        let Self { classes, tables, json, text, buffer, .. } = self;
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
        let mut columns = Columns { rows, members, next: 0, json, text, buffer };
        // What cannot be read of it is null; a row of `gaps` says so.
        let _ = columns.fill(event.fields());
        hand_out(table, rows, sink)
    }
}

/// The columns of a row that are still to be filled.
struct Columns<'c> {
    rows: &'c mut Rows,
    members: &'c [Member],
    /// The member that mostly comes next.
    next: usize,
    json: &'c mut Json,
    text: &'c mut String,
    buffer: &'c mut String,
}

impl Columns<'_> {
    fn fill(&mut self, mut fields: Fields<'_>) -> traceglass::Result<()> {
        let mut scope = Scope::Payload;
        while let Some(field) = fields.next_field()? {
            let name = field.name();
            let begins = match (scope, field.value(), name.and_then(|name| name.as_str())) {
                (Scope::Payload, Value::Struct, Some("common_context")) => Some(Scope::CommonContext),
                (Scope::Payload, Value::Struct, Some("specific_context")) => Some(Scope::SpecificContext),
                (_, Value::End, _) => Some(Scope::Payload),
                _ => None,
            };
            // A member of the payload can have the name of a context, too; contexts come first.
            if let Some(begins) = begins.filter(|&begins| begins == Scope::Payload || self.has(begins)) {
                scope = begins;
                continue;
            }
            let found = name.and_then(|name| self.find(scope, &name));
            let is_nested = matches!(field.value(), Value::Struct | Value::List);
            let (at, is_json) = match found {
                Some((at, is_json)) if is_json || !is_nested => (at, is_json),
                _ => {
                    // A member of another class of this name: skips what is in it.
                    self.text.clear();
                    self.json.value(self.text, &field, &mut fields)?;
                    continue;
                }
            };
            if is_json {
                self.text.clear();
                self.json.value(self.text, &field, &mut fields)?;
                self.rows.text(at, Some(self.text));
                continue;
            }
            self.scalar(at, &field.value());
        }
        Ok(())
    }

    /// Whether members of this context are still to come.
    fn has(&self, scope: Scope) -> bool {
        self.members.get(self.next..).unwrap_or_default().iter().any(|member| member.scope == scope)
    }

    /// The column of a member, and whether it is JSON.
    fn find(&mut self, scope: Scope, name: &Label<'_>) -> Option<(usize, bool)> {
        let (members, next) = (self.members, self.next);
        let found = with_text(name, self.buffer, |name| {
            let is_it = |member: &Member| member.scope == scope && member.name == name;
            if members.get(next).is_some_and(is_it) {
                return Some(next);
            }
            members.iter().position(is_it)
        })?;
        let column = found.saturating_add(COMMON);
        self.next = found.saturating_add(1);
        // The first of two members of one name has the column.
        (!self.rows.has(column)).then(|| (column, members.get(found).is_some_and(|member| member.is_json)))
    }

    fn scalar(&mut self, at: usize, value: &Value<'_>) {
        let rows = &mut *self.rows;
        match *value {
            Value::Unsigned(value) => rows.u64(at, u64::try_from(value).ok()),
            Value::Signed(value) => rows.i64(at, i64::try_from(value).ok()),
            Value::Bool(value) => rows.bool(at, Some(value)),
            Value::Float(value) => rows.f64(at, Some(value)),
            Value::Bytes(bytes) => rows.blob(at, bytes),
            // Bytes that are not text do not fit a column of text.
            Value::Text(Label::Bytes(_)) => {}
            Value::Text(text) => with_text(&text, self.buffer, |text| rows.text(at, Some(text))),
            _ => {}
        }
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
