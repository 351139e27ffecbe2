//! Tables: Arrow IPC streams, CSV, and Parquet files.

use crate::progress::Progress;
use crate::states::Pairs;
use crate::status::{Failure, Result};
use crate::trace::{Damage, Outcome, Select, Trace};
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;
use traceglass::event::Window;
use traceglass_tables::{Error, Query, RecordBatch, Seen, csv, ipc, observe, parquet as files};

/// The name by which a trace goes: the last part of its path.
pub fn name_of(path: &Path) -> String {
    let canonical = path.canonicalize();
    let path = if path.file_name().is_none() { canonical.as_deref().unwrap_or(path) } else { path };
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The names of several traces, all different.
#[derive(Default)]
pub struct Inputs(HashSet<String>);

impl Inputs {
    pub fn of(&mut self, path: &Path) -> String {
        let name = name_of(path);
        let mut found = name.clone();
        let mut number = 1_u64;
        while !self.0.insert(found.clone()) {
            number = number.saturating_add(1);
            found = format!("{name}-{number}");
        }
        found
    }
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Write(path, error) => super::file::cannot_write(&path, &error),
        error => Failure::unreadable(error.to_string()),
    }
}

/// The part of a trace that is wanted.
#[derive(Clone, Copy)]
pub struct Part<'w> {
    /// The pairs of events that make slices.
    pub pairs: &'w Pairs,
    pub window: Window,
    /// The names and the tracks of events and slices.
    pub select: &'w Select,
}

impl Part<'_> {
    fn query(self) -> Query {
        Query {
            window: self.window,
            names: self.select.names(),
            tracks: self.select.tracks(),
            ..Query::default()
        }
    }
}

/// All tables of a trace as Parquet files. True if there are events.
pub fn parquet(trace: &dyn Trace, name: &str, part: Part<'_>, folder: &Path) -> Result<(Outcome, bool)> {
    let mut summary = files::Summary::default();
    let progress = Progress::new(trace.bytes());
    trace.tables(name, part.pairs, &mut |tables| {
        let threads = crate::parallel::threads();
        let advance = |bytes| progress.advance(bytes);
        summary = files::export(tables, name, folder, &part.query(), threads, &advance).map_err(failure)?;
        Ok(())
    })?;
    let has_events = summary.rows.iter().any(|(table, _)| table == "events");
    Ok((summary.damage.into(), has_events))
}

/// The writer of a table.
enum Stream<'w> {
    Arrow(ipc::Stream<&'w mut dyn Write>),
    Csv(csv::Stream<&'w mut dyn Write>),
}

impl Stream<'_> {
    fn write(&mut self, batch: &RecordBatch) -> traceglass_tables::Result<()> {
        match self {
            Self::Arrow(stream) => stream.write(batch),
            Self::Csv(stream) => stream.write(batch),
        }
    }

    fn finish(self) -> traceglass_tables::Result<()> {
        match self {
            Self::Arrow(stream) => stream.finish(),
            Self::Csv(stream) => stream.finish(),
        }
    }
}

/// The output of data, and why it cannot be written.
struct Sink<'w> {
    write: &'w mut dyn FnMut(&[u8]) -> Result<()>,
    failed: Option<Failure>,
}

impl Write for Sink<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match (self.write)(data) {
            Ok(()) => Ok(data.len()),
            Err(failure) => {
                self.failed = Some(failure);
                Err(io::ErrorKind::BrokenPipe.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A table of a trace as CSV or as an Arrow IPC stream. Gives the number of rows, too.
pub fn stream(
    trace: &dyn Trace,
    name: &str,
    table: &str,
    is_csv: bool,
    part: Part<'_>,
    write: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<(Outcome, usize)> {
    let mut to = Sink { write, failed: None };
    let (mut damage, mut rows) = (Damage::default(), 0_usize);
    let progress = Progress::new(trace.bytes());
    let done = trace.tables(name, part.pairs, &mut |tables| {
        let query = part.query();
        let number = tables.table(table).map_err(|error| {
            let names: Vec<&str> = tables.tables().iter().map(|table| table.name()).take(50).collect();
            Failure::usage(format!("{error}; there are {}", names.join(", ")))
        })?;
        let gaps = tables.table("gaps").map_err(failure)?;
        let Some(schema) = tables.schema(number, &query) else { return Ok(()) };
        let to: &mut dyn Write = &mut to;
        let mut stream = match is_csv {
            true => Stream::Csv(csv::Stream::new(to, &schema).map_err(failure)?),
            false => Stream::Arrow(ipc::Stream::new(to, &schema).map_err(failure)?),
        };
        let threads = crate::parallel::threads();
        let wanted = if number == gaps { vec![gaps] } else { vec![number, gaps] };
        let advance = |piece| progress.advance(tables.piece_bytes(piece));
        let seen = Seen::default();
        tables
            .stream(0..tables.pieces(), &wanted, &query, &seen, threads, &advance, &mut |table, batch| {
                observe(&mut damage, table, &batch);
                if table != number {
                    return Ok(());
                }
                rows = rows.saturating_add(batch.num_rows());
                stream.write(&batch)
            })
            .map_err(failure)?;
        stream.finish().map_err(failure)
    });
    to.failed.map_or(done, Err)?;
    Ok((damage.into(), rows))
}
