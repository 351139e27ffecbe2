//! All tables of a trace as Parquet files: `DIR/TABLE/trace=NAME/part-N.parquet`.
//!
//! Each thread reads a run of pieces and writes files of its own, so that the rows of a file, and its row groups, are in
//! the order of the pieces. A dial9 recording is read in one pass, on one thread, since its events are in the order of
//! time; another thread writes all its tables as it goes. Engines read `trace` as a column (Hive's layout). Names are written with `%` and two digits
//! for what is no letter, digit, `-`, `_` or `.`.
//!
//! A table that each trace of the format has is there even if it is empty, so that a query of it finds its columns. Of
//! the events that a CTF trace describes, those that happened have tables.

use crate::damage::observe;
use crate::error::{Error, Result};
use crate::order::STACK;
use crate::query::Query;
use crate::seen::Seen;
use crate::sink::Sink;
use crate::table::Table;
use crate::trace::Trace;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use traceglass_open::damage::Damage;

/// The most rows of a row group.
const GROUP: usize = 1 << 20;

/// The largest size of unfinished row groups that a thread keeps, over all its tables.
const PENDING: usize = 128 << 20;

/// The largest size of rows that wait for a writer, over all tables of a thread.
const WAITING: usize = 32 << 20;

/// The number of rows of a table that are worth a writer, which takes far more memory than they do.
const WORTH: usize = 4096;

/// The number of columns that are written at a time, over all tables of a thread: of more, a file is closed and another begun.
const COLUMNS: usize = 1024;

/// The number of batches that wait for a thread that writes.
const QUEUE: usize = 2;

/// The number of bytes of a file that are written at a time.
const BUFFER: usize = 1 << 18;

/// The files and rows that were written.
#[derive(Debug, Default)]
pub struct Summary {
    /// The tables that are not empty, with how many rows each has.
    pub rows: Vec<(String, u64)>,
    /// The damage that was met.
    pub damage: Damage,
}

/// The error of a writer: of the file, if that is what failed.
fn failed(path: &Path) -> impl FnOnce(ParquetError) -> Error {
    |error| match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => Error::Write(path.to_owned(), *cause),
            Err(cause) => Error::Arrow(cause.to_string()),
        },
        error => Error::Arrow(error.to_string()),
    }
}

/// Writes all tables of a trace below a directory, as the partition `trace=NAME`. `progress` is told how many more bytes
/// have been read.
///
/// # Errors
/// [`Error::Write`], also where a file exists already; [`Error::Arrow`]. Damage is none.
pub fn export(
    trace: &Trace<'_>,
    name: &str,
    folder: &Path,
    query: &Query,
    threads: usize,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Summary> {
    let seen = Seen::default();
    let tables: Vec<usize> = (0..trace.tables().len()).collect();
    let totals = Mutex::new((vec![0_u64; tables.len()], Damage::default()));
    // Tables that are read from the whole trace have a thread of their own.
    let is_at_once = trace.is_read_at_once(query);
    let runs = if is_at_once { Vec::new() } else { runs(trace, threads.max(1)) };
    let runs = runs.into_iter().map(Some).chain([None]);
    let add = |(rows, damage): Written| {
        let (totals, all) = &mut *totals.lock().unwrap_or_else(PoisonError::into_inner);
        totals.iter_mut().zip(rows).for_each(|(total, rows)| *total = total.saturating_add(rows));
        all.append(damage);
    };
    let write = |number: usize, run: Option<Range<usize>>| -> Result<()> {
        let mut writing = Writing::new(Writers::new(trace.tables(), folder, partition(name), number));
        if run.is_none() && is_at_once {
            add(apart(writing, |give| trace.read_all(&tables, query, &seen, give))?);
            (0..trace.pieces()).for_each(|piece| progress(trace.piece_bytes(piece)));
            return Ok(());
        }
        let mut give = |table, batch| writing.write(table, batch);
        if run.is_none() {
            trace.read_whole(&tables, query, &mut give)?;
        }
        for piece in run.into_iter().flatten() {
            trace.read(piece, &tables, query, &seen, &mut give)?;
            progress(trace.piece_bytes(piece));
        }
        add(writing.finish()?);
        Ok(())
    };
    thread::scope(|scope| {
        let runs: Vec<_> = runs.enumerate().collect();
        let write = &write;
        let start = |(number, run)| {
            let thread = thread::Builder::new().stack_size(STACK);
            thread.spawn_scoped(scope, move || write(number, run)).map_err(Error::Thread)
        };
        let threads = runs.into_iter().map(start).collect::<Result<Vec<_>>>()?;
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    let (rows, damage) = totals.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (number, table) in trace.tables().iter().enumerate().take(trace.fixed_tables()) {
        let is_empty = rows.get(number) == Some(&0);
        if let Some(schema) = trace.schema(number, query).filter(|_| is_empty) {
            let path = create(folder, table, &partition(name), "part-0000.parquet")?;
            open(&path, schema)?.close().map_err(failed(&path))?;
        }
    }
    let names = trace.tables().iter().map(|table| table.name().to_owned());
    let rows = names.zip(rows).filter(|&(_, rows)| rows > 0).collect();
    Ok(Summary { rows, damage })
}

/// The number of rows of each table that a thread wrote, and the damage that it met.
type Written = (Vec<u64>, Damage);

/// The files that a thread writes, and the damage that its rows tell of.
struct Writing<'w> {
    writers: Writers<'w>,
    damage: Damage,
}

impl<'w> Writing<'w> {
    fn new(writers: Writers<'w>) -> Self {
        Self { writers, damage: Damage::default() }
    }

    fn write(&mut self, table: usize, batch: RecordBatch) -> Result<()> {
        observe(&mut self.damage, table, &batch);
        self.writers.write(table, batch)
    }

    fn finish(self) -> Result<Written> {
        Ok((self.writers.finish()?, self.damage))
    }
}

/// Writes on a thread of its own what `read` hands out on this one: compression is a third of the work.
fn apart(mut writing: Writing<'_>, read: impl FnOnce(&mut Sink<'_>) -> Result<()>) -> Result<Written> {
    let (to, batches) = sync_channel::<(usize, RecordBatch)>(QUEUE);
    thread::scope(|scope| {
        let work = move || {
            batches.into_iter().try_for_each(|(table, batch)| writing.write(table, batch))?;
            writing.finish()
        };
        let thread = thread::Builder::new().spawn_scoped(scope, work).map_err(Error::Thread)?;
        let done = read(&mut |table, batch| to.send((table, batch)).map_err(|_| Error::Stopped));
        drop(to);
        match thread.join() {
            // What cannot be written stops reading, too.
            Ok(written) => written.and_then(|written| done.map(|()| written)),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// As many runs of pieces as there are threads, of about the same size.
fn runs(trace: &Trace<'_>, threads: usize) -> Vec<Range<usize>> {
    let sizes = (0..trace.pieces()).map(|piece| u128::from(trace.piece_bytes(piece)).saturating_add(1));
    let total = sizes.clone().fold(0, u128::saturating_add);
    let share = total.div_ceil(u128::try_from(threads).unwrap_or(1).max(1)).max(1);
    let (mut runs, mut begin, mut sum) = (Vec::new(), 0, 0_u128);
    for (piece, size) in sizes.enumerate() {
        sum = sum.saturating_add(size);
        if sum >= share {
            let end = piece.saturating_add(1);
            runs.push(begin..end);
            (begin, sum) = (end, 0);
        }
    }
    if begin < trace.pieces() {
        runs.push(begin..trace.pieces());
    }
    runs
}

/// The folder of a trace in those of tables.
fn partition(name: &str) -> String {
    format!("trace={}", encoded(name))
}

/// The files that a thread writes.
struct Writers<'w> {
    tables: &'w [Table],
    folder: &'w Path,
    partition: String,
    number: usize,
    /// As many as there are tables.
    slots: Vec<Slot>,
    /// Sums over all slots.
    waiting: usize,
    pending: usize,
    columns: usize,
    /// Counts uses of writers.
    time: u64,
}

/// A table of a thread.
#[derive(Default)]
struct Slot {
    rows: u64,
    /// Rows that no writer has got yet, and their size.
    waiting: Vec<RecordBatch>,
    size: usize,
    writer: Option<Writer>,
    /// The number of files.
    files: usize,
}

/// A file that is being written.
struct Writer {
    path: PathBuf,
    writer: ArrowWriter<Appending>,
    columns: usize,
    /// The size of the unfinished row group.
    pending: usize,
    /// The time of its last use.
    used: u64,
}

impl<'w> Writers<'w> {
    fn new(tables: &'w [Table], folder: &'w Path, partition: String, number: usize) -> Self {
        let mut slots = Vec::new();
        slots.resize_with(tables.len(), Slot::default);
        Self { tables, folder, partition, number, slots, waiting: 0, pending: 0, columns: 0, time: 0 }
    }

    fn write(&mut self, table: usize, batch: RecordBatch) -> Result<()> {
        let Some(slot) = self.slots.get_mut(table) else { return Ok(()) };
        slot.rows = slot.rows.saturating_add(batch.num_rows() as u64);
        let size = batch.get_array_memory_size();
        slot.size = slot.size.saturating_add(size);
        self.waiting = self.waiting.saturating_add(size);
        slot.waiting.push(batch);
        let rows = slot.waiting.iter().map(RecordBatch::num_rows).fold(0, usize::saturating_add);
        if slot.writer.is_some() || rows >= WORTH {
            self.pour(table)?;
        }
        // At most as many times as there are tables for each 32 MiB.
        if self.waiting > WAITING
            && let Some((largest, _)) = self.slots.iter().enumerate().max_by_key(|(_, slot)| slot.size)
        {
            self.pour(largest)?;
        }
        Ok(())
    }

    /// Gives a table's writer what waits for it.
    fn pour(&mut self, table: usize) -> Result<()> {
        let Some(slot) = self.slots.get_mut(table) else { return Ok(()) };
        let batches = std::mem::take(&mut slot.waiting);
        self.waiting = self.waiting.saturating_sub(std::mem::take(&mut slot.size));
        let Some(first) = batches.first() else { return Ok(()) };
        if slot.writer.is_none() {
            self.open(table, first)?;
        }
        self.time = self.time.saturating_add(1);
        let Some(writer) = self.slots.get_mut(table).and_then(|slot| slot.writer.as_mut()) else {
            return Ok(());
        };
        writer.used = self.time;
        for batch in &batches {
            writer.writer.write(batch).map_err(failed(&writer.path))?;
        }
        let before = std::mem::replace(&mut writer.pending, writer.writer.in_progress_size());
        self.pending = self.pending.saturating_sub(before).saturating_add(writer.pending);
        if self.pending > PENDING {
            let writers = self.slots.iter_mut().filter_map(|slot| slot.writer.as_mut());
            if let Some(largest) = writers.max_by_key(|writer| writer.pending) {
                largest.writer.flush().map_err(failed(&largest.path))?;
                let before = std::mem::replace(&mut largest.pending, largest.writer.in_progress_size());
                self.pending = self.pending.saturating_sub(before).saturating_add(largest.pending);
            }
        }
        Ok(())
    }

    /// Begins a file of a table; if too much is open, those that were used least lately are closed.
    fn open(&mut self, table: usize, batch: &RecordBatch) -> Result<()> {
        let columns = batch.num_columns();
        while self.columns.saturating_add(columns) > COLUMNS {
            let used = |slot: &Slot| slot.writer.as_ref().map(|writer| writer.used);
            let open = self.slots.iter().enumerate().filter_map(|(at, slot)| Some((used(slot)?, at)));
            let Some((_, oldest)) = open.min() else { break };
            self.close(oldest)?;
        }
        let (Some(of), Some(slot)) = (self.tables.get(table), self.slots.get_mut(table)) else {
            return Ok(());
        };
        // In the order of their names.
        let name = match slot.files {
            0 => format!("part-{:04}.parquet", self.number),
            more => format!("part-{:04}_{more:06}.parquet", self.number),
        };
        slot.files = slot.files.saturating_add(1);
        let path = create(self.folder, of, &self.partition, &name)?;
        let writer = open(&path, batch.schema())?;
        slot.writer = Some(Writer { path, writer, columns, pending: 0, used: 0 });
        self.columns = self.columns.saturating_add(columns);
        Ok(())
    }

    fn close(&mut self, table: usize) -> Result<()> {
        let Some(writer) = self.slots.get_mut(table).and_then(|slot| slot.writer.take()) else {
            return Ok(());
        };
        self.columns = self.columns.saturating_sub(writer.columns);
        self.pending = self.pending.saturating_sub(writer.pending);
        writer.writer.close().map_err(failed(&writer.path))?;
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<u64>> {
        for table in 0..self.slots.len() {
            self.pour(table)?;
            self.close(table)?;
        }
        Ok(self.slots.into_iter().map(|slot| slot.rows).collect())
    }
}

/// Makes a file of a table, which must not be there.
fn create(folder: &Path, table: &Table, partition: &str, name: &str) -> Result<PathBuf> {
    let folder = folder.join(encoded(table.name())).join(partition);
    fs::create_dir_all(&folder).map_err(|error| Error::Write(folder.clone(), error))?;
    let path = folder.join(name);
    match File::create_new(&path) {
        Ok(_) => Ok(path),
        Err(error) => Err(Error::Write(path, error)),
    }
}

fn open(path: &Path, schema: SchemaRef) -> Result<ArrowWriter<Appending>> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(GROUP));
    for field in schema.fields() {
        let column = || ColumnPath::new(vec![field.name().clone()]);
        properties = match field.data_type() {
            // Nearly all values are different, and near the one before: a dictionary costs time and room.
            DataType::Int64 | DataType::Timestamp(..) => delta(properties, column()),
            DataType::UInt64 if field.name() == "offset" => delta(properties, column()),
            // Few, and all of them in most groups.
            DataType::Dictionary(..) => {
                properties.set_column_statistics_enabled(column(), EnabledStatistics::None)
            }
            // JSON: nothing asks for the least and the largest.
            DataType::Utf8 if matches!(field.name().as_str(), "fields" | "args") => properties
                .set_column_dictionary_enabled(column(), false)
                .set_column_statistics_enabled(column(), EnabledStatistics::None),
            _ => properties,
        };
    }
    let file = Appending { path: path.to_owned(), buffer: Vec::new() };
    ArrowWriter::try_new(file, schema, Some(properties.build())).map_err(failed(path))
}

fn delta(properties: WriterPropertiesBuilder, column: ColumnPath) -> WriterPropertiesBuilder {
    let properties = properties.set_column_encoding(column.clone(), Encoding::DELTA_BINARY_PACKED);
    properties.set_column_dictionary_enabled(column, false)
}

/// A name that is one in a directory of any system.
fn encoded(name: &str) -> String {
    /// Of what file systems allow, 255, a part is left for what is put in front.
    const MOST: usize = 200;
    let mut text = String::new();
    for (at, byte) in name.bytes().enumerate() {
        let is_plain = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || byte == b'.' && at > 0;
        if is_plain {
            text.push(char::from(byte));
        } else {
            // A string takes all that is written to it.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    if text.is_empty() {
        text.push_str("%00");
    }
    if text.len() > MOST {
        let number = crate::seen::Number::new().bytes(name.as_bytes()).finish();
        text.truncate(MOST);
        let _ = write!(text, "%{number:x}");
    }
    text
}

/// A file that is open only while it is written: a trace may have a thousand tables.
struct Appending {
    path: PathBuf,
    buffer: Vec<u8>,
}

impl Appending {
    fn empty(&mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            File::options().append(true).open(&self.path)?.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

impl Write for Appending {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(data);
        if self.buffer.len() >= BUFFER {
            self.empty()?;
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_is_named() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let error = failed(Path::new("a/b"))(ParquetError::External(Box::new(full())));
        assert_eq!(error.to_string(), format!("cannot write a/b: {}", full()));
        let error = failed(Path::new("a/b"))(ParquetError::General("odd".to_owned()));
        assert!(matches!(error, Error::Arrow(message) if message.contains("odd")));
    }

    #[test]
    fn names_stay_in_the_directory() {
        assert_eq!(encoded("../../etc/passwd"), "%2E.%2F..%2Fetc%2Fpasswd");
        assert_eq!(encoded("lttng_ust:start"), "lttng_ust%3Astart");
        assert_eq!(encoded("a\0=ä"), "a%00%3D%C3%A4");
        assert_eq!(encoded(".."), "%2E.");
        assert_eq!(encoded(""), "%00");
        let long = encoded(&"x".repeat(1000));
        assert!(long.len() < 220 && long != encoded(&"x".repeat(1001)));
    }
}
