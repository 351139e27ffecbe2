//! Sinks of batches.

use crate::error::Result;
use crate::rows::Rows;
use arrow_array::RecordBatch;

/// Takes batches, each with the number of its table; [`Error::Stopped`](crate::Error::Stopped) ends reading.
pub type Sink<'s> = dyn FnMut(usize, RecordBatch) -> Result<()> + 's;

/// Ends a row, and hands out the batch if it is full.
pub(crate) fn hand_out(table: usize, rows: &mut Rows, sink: &mut Sink<'_>) -> Result<()> {
    if rows.end_row() { hand_out_rest(table, rows, sink) } else { Ok(()) }
}

/// Hands out the rows that there are.
pub(crate) fn hand_out_rest(table: usize, rows: &mut Rows, sink: &mut Sink<'_>) -> Result<()> {
    match rows.take()? {
        Some(batch) => sink(table, batch),
        None => Ok(()),
    }
}
