//! Traces in memory, and the rows of their tables.
#![allow(dead_code)] // Each suite uses a part.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use std::fs;
use std::path::{Path, PathBuf};
use traceglass_tables::{Bytes, File, Query, Seen, Trace};

/// A file that is in memory.
pub struct Memory(pub &'static str, pub Result<Vec<u8>, String>);

impl File for Memory {
    fn name(&self) -> &str {
        self.0
    }

    fn size(&self) -> u64 {
        self.1.as_ref().map_or(0, |data| data.len() as u64)
    }

    fn open(&self) -> Result<Bytes<'_>, String> {
        match &self.1 {
            Ok(data) => Ok(Box::new(data.as_slice())),
            Err(why) => Err(why.clone()),
        }
    }
}

pub fn sample(name: &'static str) -> Memory {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data").join(name);
    Memory(name, Ok(fs::read(path).unwrap()))
}

/// The files of the sample recording, as the command orders them.
pub fn recording() -> [Memory; 4] {
    [
        "sample.rfr/meta.rfr",
        "sample.rfr/callsites.rfr",
        "sample.rfr/2026-11/21-01/chunk-41-54.rfr",
        "sample.rfr/2026-11/21-01/chunk-41-55.rfr",
    ]
    .map(sample)
}

pub fn lent(files: &[Memory]) -> Vec<&dyn File> {
    files.iter().map(|file| file as &dyn File).collect()
}

/// All batches of a table.
pub fn read(trace: &Trace<'_>, table: &str, query: &Query, threads: usize) -> Vec<RecordBatch> {
    let number = trace.table(table).unwrap();
    let mut batches = Vec::new();
    let mut take = |found, batch| {
        assert_eq!(found, number);
        batches.push(batch);
        Ok(())
    };
    let pieces = 0..trace.pieces();
    trace.stream(pieces, &[number], query, &Seen::default(), threads, &|_| (), &mut take).unwrap();
    batches
}

pub fn rows(batches: &[RecordBatch]) -> usize {
    batches.iter().map(RecordBatch::num_rows).sum()
}

pub fn ids(batches: &[RecordBatch], column: &str) -> Vec<Option<u64>> {
    let column = batches.iter().map(|batch| batch.column_by_name(column).unwrap());
    column.flat_map(|column| column.as_primitive::<UInt64Type>().iter().collect::<Vec<_>>()).collect()
}

pub fn times(batches: &[RecordBatch]) -> Vec<Option<i64>> {
    let column = batches.iter().map(|batch| batch.column_by_name("time_ns").unwrap());
    column.flat_map(|column| column.as_primitive::<Int64Type>().iter().collect::<Vec<_>>()).collect()
}

pub fn names(batches: &[RecordBatch], column: &str) -> Vec<Option<String>> {
    let mut found = Vec::new();
    for batch in batches {
        let column = batch.column_by_name(column).unwrap().as_dictionary::<arrow_array::types::Int32Type>();
        let values = column.values().as_string::<i32>();
        let keys = column.keys().iter();
        found.extend(keys.map(|key| key.map(|key| values.value(usize::try_from(key).unwrap()).to_owned())));
    }
    found
}

/// A folder that goes away.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(test: &str) -> Self {
        Self(std::env::temp_dir().join(format!("traceglass-tables-{test}-{}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The batches of the Parquet files in a folder, in the order of their names, and how many files there are.
pub fn parquet(folder: &Path) -> (Vec<RecordBatch>, usize) {
    let mut parts: Vec<_> = fs::read_dir(folder).unwrap().map(|part| part.unwrap().path()).collect();
    parts.sort();
    let read = |part: &PathBuf| {
        let file = fs::File::open(part).unwrap();
        let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file);
        reader.unwrap().build().unwrap().map(Result::unwrap).collect::<Vec<_>>()
    };
    (parts.iter().flat_map(read).collect(), parts.len())
}
