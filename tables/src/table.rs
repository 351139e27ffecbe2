//! Tables: a name, and the columns.

use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use std::sync::Arc;

/// A table of a trace.
#[derive(Clone, Debug)]
pub struct Table {
    name: String,
    schema: SchemaRef,
}

impl Table {
    pub(crate) fn new(name: impl Into<String>, fields: Vec<Field>) -> Self {
        Self { name: name.into(), schema: Arc::new(Schema::new(fields)) }
    }

    /// The name. Those of event classes are as the trace has them.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }
}

pub(crate) fn id(name: &str) -> Field {
    Field::new(name, DataType::UInt64, true)
}

pub(crate) fn ns(name: &str) -> Field {
    Field::new(name, DataType::Int64, true)
}

pub(crate) fn float(name: &str) -> Field {
    Field::new(name, DataType::Float64, true)
}

pub(crate) fn text(name: &str) -> Field {
    Field::new(name, DataType::Utf8, true)
}

/// Text of which there are few different ones.
pub(crate) fn name(name: &str) -> Field {
    let key = Box::new(DataType::Int32);
    Field::new(name, DataType::Dictionary(key, Box::new(DataType::Utf8)), true)
}

pub(crate) fn truth(name: &str) -> Field {
    Field::new(name, DataType::Boolean, true)
}

/// A few names out of few different ones.
pub(crate) fn names(name: &str) -> Field {
    let item = Arc::new(Field::new_list_field(DataType::Utf8, true));
    Field::new(name, DataType::List(item), true)
}

/// A moment in UTC.
pub(crate) fn moment(name: &str) -> Field {
    Field::new(name, DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())), true)
}

/// A name that none of these columns has.
pub(crate) fn unused(mut name: String, fields: &[Field]) -> String {
    while fields.iter().any(|field| *field.name() == name) {
        name.push('_');
    }
    name
}

/// The table of events.
pub(crate) fn events() -> Table {
    Table::new(
        "events",
        vec![
            name("file"),
            id("offset"),
            id("bytes"),
            id("track"),
            ns("time_ns"),
            moment("time"),
            name("kind"),
            name("name"),
            float("value"),
            text("fields"),
        ],
    )
}

/// The table of tracks.
pub(crate) fn tracks() -> Table {
    Table::new(
        "tracks",
        vec![id("track"), id("parent"), name("kind"), text("name"), name("clock"), text("fields")],
    )
}

/// The table of what cannot be read, and of what was discarded.
pub(crate) fn gaps() -> Table {
    Table::new(
        "gaps",
        vec![
            name("file"),
            id("offset"),
            id("bytes"),
            id("track"),
            ns("time_ns"),
            moment("time"),
            name("what"),
            name("element"),
            id("discarded"),
            text("message"),
        ],
    )
}

/// The table of what files consist of.
pub(crate) fn parts() -> Table {
    Table::new(
        "parts",
        vec![
            name("file"),
            name("kind"),
            id("number"),
            text("name"),
            id("offset"),
            id("bytes"),
            ns("time_ns"),
            moment("time"),
            ns("end_time_ns"),
            moment("end_time"),
        ],
    )
}
