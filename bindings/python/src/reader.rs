//! A table that is read by a thread of its own.

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use traceglass_cli::tables::{self, Refused};
use traceglass_tables::{Error, Query, Seen, Trace};

/// The number of batches that may wait to be taken.
const WAITING: usize = 2;

/// The stack of the thread, the same as in the command.
const STACK: usize = 32 << 20;

/// The plan of a read: path, table and query.
pub struct Plan {
    pub path: PathBuf,
    pub table: String,
    pub query: Query,
    /// All of them if `None`.
    pub pieces: Option<Range<usize>>,
    pub threads: usize,
}

type Made = Result<RecordBatch, ArrowError>;

impl Plan {
    /// The columns, if there are such a table and such columns.
    pub fn schema(&self) -> Result<Result<SchemaRef, Error>, Refused> {
        tables::with(&self.path, |trace| {
            let table = trace.table(&self.table)?;
            trace.check_columns(&[table], &self.query)?;
            trace.schema(table, &self.query).ok_or_else(|| Error::NoTable(self.table.clone()))
        })
    }

    fn read(&self, trace: &Trace<'_>, made: &SyncSender<Made>) -> Result<(), Error> {
        let table = trace.table(&self.table)?;
        let all = 0..trace.pieces();
        let pieces = self
            .pieces
            .clone()
            .map_or(all.clone(), |wanted| wanted.start.min(all.end)..wanted.end.min(all.end));
        let mut give = |_, batch| made.send(Ok(batch)).map_err(|_| Error::Stopped);
        trace.stream(pieces, &[table], &self.query, &Seen::default(), self.threads, &|_| (), &mut give)
    }

    /// Reads until the end, or until the receiver is gone.
    fn run(&self, made: &SyncSender<Made>) {
        let message = match tables::with(&self.path, |trace| self.read(trace, made)) {
            Ok(Ok(()) | Err(Error::Stopped)) => return,
            Ok(Err(error)) => error.to_string(),
            Err(refused) => refused.message,
        };
        // The receiver may be gone.
        let _ = made.send(Err(ArrowError::ExternalError(message.into())));
    }
}

/// Hands out the batches of a table. Reading begins with the first one that is asked for.
pub struct Reader {
    schema: SchemaRef,
    plan: Option<Plan>,
    made: Option<Receiver<Made>>,
}

impl Reader {
    pub const fn new(plan: Plan, schema: SchemaRef) -> Self {
        Self { schema, plan: Some(plan), made: None }
    }
}

impl Iterator for Reader {
    type Item = Made;

    fn next(&mut self) -> Option<Made> {
        if let Some(plan) = self.plan.take() {
            let (made, taken) = sync_channel(WAITING);
            let thread = std::thread::Builder::new().name("traceglass".into()).stack_size(STACK);
            if let Err(error) = thread.spawn(move || plan.run(&made)) {
                return Some(Err(ArrowError::from(error)));
            }
            self.made = Some(taken);
        }
        self.made.as_ref()?.recv().ok()
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}
