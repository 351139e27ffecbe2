//! The table of slices: what lasted, from begin to end, over all pieces.

use crate::error::{Error, Result};
use crate::query::Query;
use crate::rows::Rows;
use crate::sink::{Sink, hand_out, hand_out_rest};
use crate::table::{self, Table};
use std::fmt::Write as _;
use traceglass::event::{Item, Window};
use traceglass_open::slices::{Slice, Slices, TakeSlices};

/// Takes the items of a whole trace.
pub trait TakeItems {
    /// An item: a track, an event, or one that a table of pairs made of events.
    ///
    /// # Errors
    /// The errors that end reading.
    fn item(&mut self, item: &Item<'_>) -> Result<()>;
}

/// A trace from its first event to its last: a slice may begin in one piece and end in another.
pub trait Lasting: Sync {
    /// Hands out its items in the order of time, with the states and slices that a table of pairs finds in them: at least
    /// those that have a part in the window.
    ///
    /// # Errors
    /// The errors of `to`. Anything that cannot be read is told in `gaps`.
    fn items(&self, window: Window, to: &mut dyn TakeItems) -> Result<()>;
}

/// The columns.
pub(crate) fn table() -> Table {
    Table::new(
        "slices",
        vec![
            table::name("kind"),
            table::name("track"),
            table::name("name"),
            table::ns("time_ns"),
            table::moment("time"),
            table::ns("end_time_ns"),
            table::moment("end_time"),
            table::ns("duration_ns"),
            table::id("depth"),
            table::id("offset"),
            table::names("flags"),
            table::text("args"),
        ],
    )
}

/// Reads the table.
pub(crate) fn read(
    of: &dyn Lasting,
    number: usize,
    table: &Table,
    query: &Query,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let made = Made { number, rows: Rows::new(table, query), query, args: String::new(), sink };
    let mut reading = Reading(Slices::new(made));
    of.items(query.window, &mut reading)?;
    let Made { mut rows, sink, .. } = reading.0.finish()?;
    hand_out_rest(number, &mut rows, sink)
}

struct Reading<'r, 's>(Slices<Made<'r, 's>>);

impl TakeItems for Reading<'_, '_> {
    fn item(&mut self, item: &Item<'_>) -> Result<()> {
        self.0.item(item)
    }
}

/// Makes rows of slices.
struct Made<'r, 's> {
    number: usize,
    rows: Rows,
    query: &'r Query,
    args: String,
    sink: &'r mut Sink<'s>,
}

impl TakeSlices for Made<'_, '_> {
    type Error = Error;

    fn slice(&mut self, slice: &Slice<'_>) -> Result<()> {
        let Self { number, rows, query, args, sink } = self;
        if !slice.touches(query.window) || !query.wants_kind("slice", |kinds| kinds.contains(slice.name)) {
            return Ok(());
        }
        let is_absolute = slice.is_absolute();
        rows.name(0, Some("slice"));
        rows.name(1, Some(slice.track()));
        rows.name(2, Some(slice.name));
        rows.time(3, slice.begin.map(|time| time.ns()), is_absolute);
        rows.time(5, slice.end.map(|time| time.ns()), is_absolute);
        rows.i64(7, slice.duration().and_then(|ns| i64::try_from(ns).ok()));
        rows.u64(8, Some(slice.depth as u64));
        rows.u64(9, Some(slice.offset));
        rows.names(10, slice.edges.names());
        if !slice.args.is_empty() && rows.wants(11) {
            args.clear();
            // A string takes all that is written to it.
            let _ = write!(args, "{{{}}}", String::from_utf8_lossy(slice.args));
            rows.text(11, Some(args));
        }
        hand_out(*number, rows, sink)
    }
}
