//! A table as an Arrow IPC stream.

use crate::error::Result;
use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::Schema;
use std::io::Write;

/// Writes batches of one table. Each of them has its own dictionaries.
pub struct Stream<W: Write>(StreamWriter<W>);

impl<W: Write> Stream<W> {
    /// Writes what the table is.
    ///
    /// # Errors
    /// [`Error::Arrow`](crate::Error::Arrow), also where `to` cannot be written.
    pub fn new(to: W, schema: &Schema) -> Result<Self> {
        Ok(Self(StreamWriter::try_new(to, schema)?))
    }

    /// Writes a batch.
    ///
    /// # Errors
    /// As above.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        Ok(self.0.write(batch)?)
    }

    /// Says that there is no more.
    ///
    /// # Errors
    /// As above.
    pub fn finish(mut self) -> Result<()> {
        Ok(self.0.finish()?)
    }
}
