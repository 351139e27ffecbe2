//! The part of a table that is wanted.

use crate::table::Table;
use std::collections::HashSet;
use traceglass::event::Window;
use traceglass_open::record::Names;
use traceglass_open::tracks::TrackNames;

/// The numbers of the tables that are read, out of all of a trace, and what is wanted of them.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'w> {
    pub(crate) tables: &'w [usize],
    pub(crate) all: &'w [Table],
    pub(crate) query: &'w Query,
}

/// The rows and columns that are wanted, and the number of rows of a batch.
#[derive(Clone, Debug)]
pub struct Query {
    /// The columns; all of them if `None`. They come in the table's order. What is not wanted is not made.
    pub columns: Option<Vec<String>>,
    /// Events and records in this time alone; chunks, packets and units outside of it are not read. What has no time is in
    /// no window but [`Window::ALL`].
    pub window: Window,
    /// Events of these kinds or names alone.
    pub kinds: Option<HashSet<String>>,
    /// Events and slices of these names alone.
    pub names: Names,
    /// Events and slices on tracks of these names alone, and on tracks below them.
    pub tracks: TrackNames,
    /// The number of rows a batch has at most.
    pub rows: usize,
}

impl Default for Query {
    fn default() -> Self {
        Self {
            columns: None,
            window: Window::ALL,
            kinds: None,
            names: Names::default(),
            tracks: TrackNames::default(),
            rows: Self::ROWS,
        }
    }
}

impl Query {
    /// The number of rows in a batch unless the query says otherwise.
    pub const ROWS: usize = 1 << 16;

    pub(crate) fn wants_column(&self, name: &str) -> bool {
        self.columns.as_ref().is_none_or(|columns| columns.iter().any(|column| column == name))
    }

    pub(crate) fn wants_event(&self, kind: &str, name: &str) -> bool {
        self.kinds.as_ref().is_none_or(|kinds| kinds.contains(kind) || kinds.contains(name))
            && self.names.has(name)
    }
}
