//! The table of slices: what lasted, from begin to end, over all pieces.

use crate::error::{Error, Result};
use crate::file::Problem;
use crate::query::Query;
use crate::rows::Rows;
use crate::sink::{Sink, hand_out_rest};
use crate::table::{self, Table};
use arrow_array::RecordBatch;
use traceglass::event::{Item, Window};
use traceglass_open::record::Names;
use traceglass_open::selected::Selected;
use traceglass_open::slices::{Slice, Slices, TakeSlices};

/// The number of the table, after those in [`events`](crate::events).
pub(crate) const SLICES: usize = 4;

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

    /// Hands out the damage that no event tells of.
    ///
    /// # Errors
    /// The errors of `tell`.
    fn untold(&self, _tell: &mut dyn FnMut(Problem) -> Result<()>) -> Result<()> {
        Ok(())
    }
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
pub(crate) fn read(of: &dyn Lasting, table: &Table, query: &Query, sink: &mut Sink<'_>) -> Result<()> {
    let mut reading = Reading { making: Making::new(table, query), sink };
    of.items(query.window, &mut reading)?;
    reading.making.finish(reading.sink)
}

struct Reading<'r, 's> {
    making: Making<'r>,
    sink: &'r mut Sink<'s>,
}

impl TakeItems for Reading<'_, '_> {
    fn item(&mut self, item: &Item<'_>) -> Result<()> {
        self.making.item(item, None, self.sink)
    }
}

/// Makes the table of items.
pub(crate) struct Making<'q>(Slices<Made<'q>>);

impl<'q> Making<'q> {
    pub(crate) fn new(table: &Table, query: &'q Query) -> Self {
        let (rows, args, full) = (Rows::new(table, query), String::new(), Vec::new());
        let selected = Selected::new(Names::default(), query.tracks.clone());
        Self(Slices::of(selected, Made { rows, query, args, full }))
    }

    /// An item; of an event, its fields if they are known.
    pub(crate) fn item(&mut self, item: &Item<'_>, fields: Option<&str>, sink: &mut Sink<'_>) -> Result<()> {
        let args = fields.and_then(|object| object.strip_prefix('{')?.strip_suffix('}'));
        self.0.item_with(item, args.map(str::as_bytes))?;
        self.0.taker().full.drain(..).try_for_each(|batch| sink(SLICES, batch))
    }

    pub(crate) fn finish(self, sink: &mut Sink<'_>) -> Result<()> {
        let Made { mut rows, full, .. } = self.0.finish()?;
        full.into_iter().try_for_each(|batch| sink(SLICES, batch))?;
        hand_out_rest(SLICES, &mut rows, sink)
    }
}

/// Makes rows of slices.
struct Made<'q> {
    rows: Rows,
    query: &'q Query,
    args: String,
    /// Batches that are to be handed out.
    full: Vec<RecordBatch>,
}

impl TakeSlices for Made<'_> {
    type Error = Error;

    fn slice(&mut self, slice: &Slice<'_>) -> Result<()> {
        let Self { rows, query, args, full } = self;
        if !slice.touches(query.window) || !query.wants_event("slice", slice.name) {
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
            args.push('{');
            match std::str::from_utf8(slice.args) {
                Ok(members) => args.push_str(members),
                Err(_) => args.push_str(&String::from_utf8_lossy(slice.args)),
            }
            args.push('}');
            rows.text(11, Some(args));
        }
        if rows.end_row() {
            full.extend(rows.take()?);
        }
        Ok(())
    }
}
