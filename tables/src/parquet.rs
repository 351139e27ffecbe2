//! All tables of a trace as Parquet files: `DIR/TABLE/trace=NAME/part-N.parquet`.
//!
//! Each thread reads a run of pieces and writes files of its own, so that the rows of a file, and its row groups, are in
//! the order of the pieces. Engines read `trace` as a column (Hive's layout). Names are written with `%` and two digits
//! for what is no letter, digit, `-`, `_` or `.`.

use crate::damage::Damage;
use crate::error::{Error, Result};
use crate::order::STACK;
use crate::query::Query;
use crate::seen::Seen;
use crate::table::Table;
use crate::trace::Trace;
use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The most rows of a row group.
const GROUP: usize = 1 << 20;

/// The largest size of unfinished row groups that a thread keeps, over all its tables.
const PENDING: usize = 128 << 20;

/// How many bytes of a file are written at a time.
const BUFFER: usize = 1 << 18;

/// What has been written.
#[derive(Debug, Default)]
pub struct Summary {
    /// The tables that are not empty, with how many rows each has.
    pub rows: Vec<(String, u64)>,
    /// What could not be read.
    pub damage: Damage,
}

impl From<ParquetError> for Error {
    fn from(error: ParquetError) -> Self {
        Self::Arrow(error.to_string())
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
    let runs = runs(trace, threads.max(1));
    let write = |number: usize, run: Range<usize>| -> Result<()> {
        let partition = format!("trace={}", encoded(name));
        let mut writers = Writers {
            tables: trace.tables(),
            folder,
            partition,
            number,
            writers: Vec::new(),
            rows: Vec::new(),
        };
        writers.writers.resize_with(tables.len(), || None);
        writers.rows.resize(tables.len(), 0);
        let mut damage = Damage::default();
        for piece in run {
            trace.read(piece, &tables, query, &seen, &mut |table, batch| {
                damage.observe(table, &batch);
                writers.write(table, &batch)
            })?;
            progress(trace.piece_bytes(piece));
        }
        let rows = writers.finish()?;
        let (totals, all) = &mut *totals.lock().unwrap_or_else(PoisonError::into_inner);
        totals.iter_mut().zip(rows).for_each(|(total, rows)| *total = total.saturating_add(rows));
        all.add(damage);
        Ok(())
    };
    thread::scope(|scope| {
        let runs: Vec<_> = runs.into_iter().enumerate().collect();
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
    let names = trace.tables().iter().map(|table| table.name().to_owned());
    let rows = names.zip(rows).filter(|&(_, rows)| rows > 0).collect();
    Ok(Summary { rows, damage })
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

/// The writers of a thread, a file for each table.
struct Writers<'w> {
    tables: &'w [Table],
    folder: &'w Path,
    partition: String,
    number: usize,
    writers: Vec<Option<ArrowWriter<Appending>>>,
    rows: Vec<u64>,
}

impl Writers<'_> {
    fn write(&mut self, table: usize, batch: &RecordBatch) -> Result<()> {
        let Some(rows) = self.rows.get_mut(table) else { return Ok(()) };
        *rows = rows.saturating_add(batch.num_rows() as u64);
        let Some(slot) = self.writers.get_mut(table) else { return Ok(()) };
        let writer = match slot {
            Some(writer) => writer,
            None => {
                let Some(table) = self.tables.get(table) else { return Ok(()) };
                slot.insert(open(self.folder, table, &self.partition, self.number, batch)?)
            }
        };
        writer.write(batch)?;
        let sizes = self
            .writers
            .iter()
            .enumerate()
            .filter_map(|(number, writer)| Some((writer.as_ref()?.in_progress_size(), number)));
        let total = sizes.clone().fold(0, |total: usize, (size, _)| total.saturating_add(size));
        if total > PENDING
            && let Some((_, largest)) = sizes.max()
            && let Some(Some(writer)) = self.writers.get_mut(largest)
        {
            writer.flush()?;
        }
        Ok(())
    }

    fn finish(self) -> Result<Vec<u64>> {
        for writer in self.writers.into_iter().flatten() {
            writer.close()?;
        }
        Ok(self.rows)
    }
}

fn open(
    folder: &Path,
    table: &Table,
    partition: &str,
    number: usize,
    batch: &RecordBatch,
) -> Result<ArrowWriter<Appending>> {
    let folder = folder.join(encoded(table.name())).join(partition);
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| Error::Write(path, error)
    };
    fs::create_dir_all(&folder).map_err(failed(&folder))?;
    let path = folder.join(format!("part-{number:04}.parquet"));
    File::create_new(&path).map_err(failed(&path))?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(GROUP))
        .build();
    let file = Appending { path, buffer: Vec::new() };
    Ok(ArrowWriter::try_new(file, batch.schema(), Some(properties))?)
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
