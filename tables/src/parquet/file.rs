//! A Parquet file: row groups of columns, each with the writer that suits it.

use super::column::Column;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use std::io::Write;
use zstd::bulk::Compressor;

/// The most rows of a row group.
const GROUP: usize = 1 << 20;

/// A file that is being written.
pub(super) struct FileWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// The columns of the row group that has begun.
    group: Vec<Writer>,
    rows: usize,
    groups: usize,
    zstd: Compressor<'static>,
}

enum Writer {
    Own(Box<Column>),
    Other(Box<ArrowColumnWriter>),
}

impl<W: Write + Send> FileWriter<W> {
    pub(super) fn new(to: W, schema: SchemaRef, properties: WriterProperties) -> Result<Self> {
        // It also writes the schema as Arrow has it.
        let writer = ArrowWriter::try_new(to, SchemaRef::clone(&schema), Some(properties))?;
        let (file, factory) = writer.into_serialized_writer()?;
        let zstd = Compressor::new(zstd::DEFAULT_COMPRESSION_LEVEL.min(1))?;
        Ok(Self { file, factory, schema, group: Vec::new(), rows: 0, groups: 0, zstd })
    }

    /// The size of the row group that has begun.
    pub(super) fn size(&self) -> usize {
        let size = |column: &Writer| match column {
            Writer::Own(column) => column.size(),
            Writer::Other(column) => column.get_estimated_total_bytes(),
        };
        self.group.iter().map(size).sum()
    }

    fn begin(&mut self) -> Result<()> {
        let writers = self.factory.create_column_writers(self.groups)?;
        let descriptors = self.file.schema_descr().columns();
        // Each column is one of the file, lists too.
        let columns = self.schema.fields().iter().zip(descriptors).zip(writers);
        self.group = columns
            .map(|((field, descriptor), writer)| match Column::new(field, descriptor.clone()) {
                Some(column) => Writer::Own(Box::new(column)),
                None => Writer::Other(Box::new(writer)),
            })
            .collect();
        Ok(())
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut left = batch.clone();
        while left.num_rows() > 0 {
            if self.group.is_empty() {
                self.begin()?;
            }
            let count = left.num_rows().min(GROUP.saturating_sub(self.rows));
            let now = left.slice(0, count);
            for ((column, rows), field) in self.group.iter_mut().zip(now.columns()).zip(self.schema.fields())
            {
                match column {
                    Writer::Own(column) => column.write(rows, &mut self.zstd)?,
                    Writer::Other(column) => {
                        compute_leaves(field, rows)?.iter().try_for_each(|leaf| column.write(leaf))?;
                    }
                }
            }
            self.rows = self.rows.saturating_add(count);
            left = left.slice(count, left.num_rows().saturating_sub(count));
            if self.rows >= GROUP {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Ends the row group.
    pub(super) fn flush(&mut self) -> Result<()> {
        if self.group.is_empty() {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for column in std::mem::take(&mut self.group) {
            match column {
                Writer::Own(column) => {
                    let (bytes, close) = column.close(&mut self.zstd)?;
                    group.append_column(&bytes, close)?;
                }
                Writer::Other(column) => column.close()?.append_to_row_group(&mut group)?,
            }
        }
        group.close()?;
        (self.rows, self.groups) = (0, self.groups.saturating_add(1));
        Ok(())
    }

    pub(super) fn close(mut self) -> Result<()> {
        self.flush()?;
        self.file.close().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::builder::{ListBuilder, StringBuilder};
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int32Type, Int64Type, UInt64Type};
    use arrow_array::{Array, ArrayRef, DictionaryArray, Int64Array, StringArray, UInt64Array};
    use arrow_schema::Schema;
    use bytes::Bytes;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use std::sync::Arc;

    const ROWS: u64 = 30_000;

    type Row = (Option<u64>, Option<String>, Option<String>);

    /// A row: ids and texts that are too many for a dictionary, and few names.
    fn row(number: u64) -> Row {
        let id = (number % 5 != 3).then(|| u64::MAX - number * 7);
        let name = match number / ROWS {
            0 => None,
            1 => Some("one".to_owned()),
            _ => (!number.is_multiple_of(3)).then(|| format!("name {}", number % 5)),
        };
        (id, name, number.is_multiple_of(2).then(|| format!("text {number}")))
    }

    fn batch(number: u64) -> RecordBatch {
        let rows: Vec<Row> = (number * ROWS..(number + 1) * ROWS).map(row).collect();
        let ids: UInt64Array = rows.iter().map(|row| row.0).collect();
        let names: DictionaryArray<Int32Type> = rows.iter().map(|row| row.1.as_deref()).collect();
        let texts: StringArray = rows.iter().map(|row| row.2.as_deref()).collect();
        let mut lists = ListBuilder::new(StringBuilder::new());
        rows.iter().for_each(|row| lists.append_value(row.1.iter().map(Some)));
        let times: Int64Array = rows.iter().map(|row| row.0.map(|id| id.cast_signed() >> 3)).collect();
        let offsets: UInt64Array = rows.iter().map(|row| row.0).collect();
        let columns: [(&str, ArrayRef); 6] = [
            ("id", Arc::new(ids)),
            ("name", Arc::new(names)),
            ("text", Arc::new(texts)),
            ("list", Arc::new(lists.finish())),
            ("time_ns", Arc::new(times)),
            ("offset", Arc::new(offsets)),
        ];
        let fields = columns
            .iter()
            .map(|(name, rows)| arrow_schema::Field::new(*name, rows.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        RecordBatch::try_new(schema, columns.into_iter().map(|(_, rows)| rows).collect()).unwrap()
    }

    /// Written in two row groups, and read by the reader of the crate `parquet`.
    #[test]
    fn what_is_written_is_read() {
        let mut file = Vec::new();
        let properties = crate::parquet::properties(&batch(0).schema());
        let mut writer = FileWriter::new(&mut file, batch(0).schema(), properties).unwrap();
        for number in 0..5 {
            writer.write(&batch(number)).unwrap();
            assert!(writer.size() > 0);
            if number == 3 {
                writer.flush().unwrap();
            }
        }
        writer.close().unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file)).unwrap();
        let metadata = Arc::clone(reader.metadata());
        assert_eq!(metadata.num_row_groups(), 2);
        let of = |group: usize| metadata.row_group(group).column(0).statistics().unwrap().clone();
        // Ids have no sign.
        assert_eq!(of(1).max_bytes_opt().unwrap(), row(4 * ROWS).0.unwrap().to_le_bytes());
        assert_eq!(of(1).min_bytes_opt().unwrap(), row(5 * ROWS - 1).0.unwrap().to_le_bytes());
        assert_eq!(of(1).null_count_opt(), Some(ROWS / 5));
        let offsets = metadata.row_group(1).column(5).statistics().unwrap();
        assert_eq!(offsets.min_bytes_opt(), of(1).min_bytes_opt());
        assert_eq!(offsets.max_bytes_opt(), of(1).max_bytes_opt());
        let times = metadata.row_group(1).column(4).statistics().unwrap();
        let first = (row(4 * ROWS).0.unwrap().cast_signed() >> 3).to_le_bytes();
        assert_eq!(times.max_bytes_opt().unwrap(), first);
        let encodings: Vec<_> = metadata.row_group(0).column(1).encodings().collect();
        assert!(encodings.contains(&parquet::basic::Encoding::RLE_DICTIONARY), "{encodings:?}");
        let mut found = Vec::new();
        for batch in reader.build().unwrap() {
            let batch = batch.unwrap();
            let names = batch.column(1).as_dictionary::<Int32Type>();
            let values = names.values().as_string::<i32>();
            let names = names.keys().iter().map(|key| key.map(|key| values.value(key as usize).to_owned()));
            let texts = batch.column(2).as_string::<i32>().iter().map(|text| text.map(str::to_owned));
            let ids = batch.column(0).as_primitive::<UInt64Type>().iter();
            let times = batch.column(4).as_primitive::<Int64Type>().iter();
            let expected: Vec<_> = ids.clone().map(|id| id.map(|id| id.cast_signed() >> 3)).collect();
            assert!(times.eq(expected));
            assert_eq!(batch.column(5), batch.column(0));
            let lists = batch.column(3).as_list::<i32>();
            let rows: Vec<Row> =
                ids.zip(names).zip(texts).map(|((id, name), text)| (id, name, text)).collect();
            for (at, row) in rows.iter().enumerate() {
                let list = lists.value(at);
                assert_eq!(list.as_string::<i32>().iter().flatten().next(), row.1.as_deref());
            }
            found.extend(rows);
        }
        assert!(found == (0..5 * ROWS).map(row).collect::<Vec<_>>());
    }
}
