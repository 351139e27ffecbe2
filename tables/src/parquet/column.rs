//! A column as Parquet has it: of few different values, each one once and its number in each row; of times and offsets
//! the differences.
//!
//! The writer of the crate `parquet` hashes the value of every row. A batch has numbers of its own for names, so that
//! they are only translated; ids are mostly among those that were met last.

use super::packed::{hybrid, run, steps, varint};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, TimestampNanosecondType, UInt64Type};
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_buffer::{BooleanBufferBuilder, ScalarBuffer};
use arrow_schema::{DataType, Field};
use bytes::Bytes;
use foldhash::fast::RandomState;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::collections::HashMap;
use zstd::bulk::Compressor;

/// The number of rows of a page.
const PAGE: usize = 1 << 16;

/// The size of a dictionary, in bytes: of more, the values of later rows are stored as they are.
const LIMIT: usize = 1 << 18;

/// The number of ids that are found without a hash, by their last bits.
const RECENT: usize = 1 << 10;
const LAST: u64 = 0x3ff;

/// A column of a row group.
pub(super) struct Column {
    descriptor: ColumnDescPtr,
    values: Values,
    /// The least and the largest value, of numbers.
    range: Option<(i64, i64)>,
    /// The values as they are stored.
    dictionary: Vec<u8>,
    count: u32,
    /// The numbers in the rows of the page that have a value; the values themselves, once the dictionary is full.
    keys: Vec<u32>,
    plain: Vec<u8>,
    is_full: bool,
    /// The rows of the page that have a value.
    valid: BooleanBufferBuilder,
    pages: TrackedWrite<Vec<u8>>,
    rows: u64,
    nulls: u64,
    uncompressed: usize,
}

/// The values by which numbers are found.
enum Values {
    Text(HashMap<Box<str>, u32, RandomState>),
    Ids {
        numbers: HashMap<u64, u32, RandomState>,
        /// By their last bits.
        recent: Vec<(u64, u32)>,
    },
    /// None: the numbers of the page themselves.
    Steps(Vec<i64>),
}

impl Column {
    /// The writer of a column, if it is written here.
    pub(super) fn new(field: &Field, descriptor: ColumnDescPtr) -> Option<Self> {
        let values = match field.data_type() {
            // Nearly all values are different, and near the one before.
            DataType::Int64 | DataType::Timestamp(..) => Values::Steps(Vec::new()),
            DataType::UInt64 if field.name() == "offset" => Values::Steps(Vec::new()),
            DataType::UInt64 => {
                Values::Ids { numbers: HashMap::default(), recent: vec![(0, u32::MAX); RECENT] }
            }
            // JSON differs from row to row.
            DataType::Utf8 if matches!(field.name().as_str(), "fields" | "args") => return None,
            DataType::Utf8 | DataType::Dictionary(..) => Values::Text(HashMap::default()),
            _ => return None,
        };
        Some(Self {
            descriptor,
            values,
            range: None,
            dictionary: Vec::new(),
            count: 0,
            keys: Vec::new(),
            plain: Vec::new(),
            is_full: false,
            valid: BooleanBufferBuilder::new(0),
            pages: TrackedWrite::new(Vec::new()),
            rows: 0,
            nulls: 0,
            uncompressed: 0,
        })
    }

    /// The number of bytes that are kept.
    pub(super) fn size(&self) -> usize {
        let steps = if let Values::Steps(numbers) = &self.values { numbers.len() } else { 0 };
        let keys = self.keys.len().saturating_add(steps).saturating_mul(4);
        [self.pages.bytes_written(), self.dictionary.len(), keys, self.plain.len()].iter().sum()
    }

    /// The rows of a batch.
    pub(super) fn write(&mut self, rows: &ArrayRef, zstd: &mut Compressor<'_>) -> Result<()> {
        if !self.is_full && self.dictionary.len() > LIMIT {
            self.page(zstd)?;
            self.is_full = true;
        }
        match rows.data_type() {
            _ if matches!(self.values, Values::Steps(_)) => self.numbers(rows),
            DataType::UInt64 => self.ids(rows),
            DataType::Utf8 => self.texts(rows.as_string::<i32>()),
            _ => self.names(rows),
        }
        self.rows = self.rows.saturating_add(rows.len() as u64);
        self.nulls = self.nulls.saturating_add(rows.null_count() as u64);
        match rows.nulls() {
            Some(nulls) => self.valid.append_buffer(nulls.inner()),
            None => self.valid.append_n(rows.len(), true),
        }
        if self.valid.len() >= PAGE { self.page(zstd) } else { Ok(()) }
    }

    fn ids(&mut self, rows: &ArrayRef) {
        let Values::Ids { numbers, recent } = &mut self.values else { return };
        let rows = rows.as_primitive::<UInt64Type>();
        let (dictionary, count) = (&mut self.dictionary, &mut self.count);
        let unsigned = self.range.map(|(least, most)| (least.cast_unsigned(), most.cast_unsigned()));
        let (mut least, mut most) = unsigned.unwrap_or((u64::MAX, 0));
        let (is_full, plain) = (self.is_full, &mut self.plain);
        let mut key = |id: u64| {
            (least, most) = (least.min(id), most.max(id));
            if is_full {
                plain.extend(id.to_le_bytes());
                return 0;
            }
            let place = usize::try_from((id ^ (id >> 20)) & LAST).unwrap_or(0);
            if let Some((known, number)) = recent.get(place)
                && *known == id
                && *number != u32::MAX
            {
                return *number;
            }
            let number = *numbers.entry(id).or_insert_with(|| {
                dictionary.extend(id.to_le_bytes());
                *count = count.saturating_add(1);
                count.saturating_sub(1)
            });
            if let Some(recent) = recent.get_mut(place) {
                *recent = (id, number);
            }
            number
        };
        match rows.null_count() {
            0 => self.keys.extend(rows.values().iter().map(|id| key(*id))),
            _ => self.keys.extend(rows.iter().flatten().map(key)),
        }
        if least <= most {
            self.range = Some((least.cast_signed(), most.cast_signed()));
        }
        if is_full {
            self.keys.clear();
        }
    }

    /// Times and offsets.
    fn numbers(&mut self, rows: &ArrayRef) {
        let Values::Steps(numbers) = &mut self.values else { return };
        let start = numbers.len();
        let mut extend = |values: &[i64]| match rows.nulls() {
            None => numbers.extend_from_slice(values),
            Some(nulls) => {
                numbers.extend(nulls.valid_indices().filter_map(|at| values.get(at)));
            }
        };
        let is_unsigned = match rows.data_type() {
            DataType::UInt64 => {
                let values = rows.as_primitive::<UInt64Type>().values().inner();
                extend(&ScalarBuffer::<i64>::from(values.clone()));
                true
            }
            DataType::Int64 => {
                extend(rows.as_primitive::<Int64Type>().values());
                false
            }
            _ => {
                extend(rows.as_primitive::<TimestampNanosecondType>().values());
                false
            }
        };
        let new = numbers.get(start..).unwrap_or_default().iter().copied();
        // The first bit of an offset is no sign.
        let flip = if is_unsigned { i64::MIN } else { 0 };
        let known = self.range.into_iter().flat_map(|(least, most)| [least, most]);
        let range = known.chain(new).map(|number| number ^ flip);
        let range = range.fold(None, |range: Option<(i64, i64)>, number| {
            let (least, most) = range.unwrap_or((number, number));
            Some((least.min(number), most.max(number)))
        });
        self.range = range.map(|(least, most)| (least ^ flip, most ^ flip));
    }

    /// The number of a text.
    fn number(&mut self, text: &str) -> u32 {
        let Values::Text(numbers) = &mut self.values else { return 0 };
        if let Some(number) = numbers.get(text) {
            return *number;
        }
        let number = self.count;
        numbers.insert(text.into(), number);
        push_text(&mut self.dictionary, text);
        self.count = number.saturating_add(1);
        number
    }

    fn texts(&mut self, rows: &StringArray) {
        self.keys.reserve(rows.len());
        for text in rows.iter().flatten() {
            if self.is_full {
                push_text(&mut self.plain, text);
            } else {
                let number = self.number(text);
                self.keys.push(number);
            }
        }
    }

    /// Names have numbers in their batch already.
    fn names(&mut self, rows: &ArrayRef) {
        let rows = rows.as_dictionary::<Int32Type>();
        let texts = rows.values().as_string::<i32>();
        let keys = rows.keys();
        if self.is_full {
            for key in keys.iter().flatten() {
                // A key of a dictionary is the number of one of its values.
                let text =
                    usize::try_from(key).ok().filter(|key| *key < texts.len()).map(|key| texts.value(key));
                push_text(&mut self.plain, text.unwrap_or_default());
            }
            return;
        }
        let numbers: Vec<u32> = texts.iter().map(|text| self.number(text.unwrap_or_default())).collect();
        let number =
            |key: i32| usize::try_from(key).ok().and_then(|key| numbers.get(key)).copied().unwrap_or(0);
        match keys.null_count() {
            0 => self.keys.extend(keys.values().iter().map(|key| number(*key))),
            _ => self.keys.extend(keys.iter().flatten().map(number)),
        }
    }

    /// Ends a page.
    fn page(&mut self, zstd: &mut Compressor<'_>) -> Result<()> {
        let rows = self.valid.len();
        if rows == 0 {
            return Ok(());
        }
        let (mut page, mut levels) = (Vec::new(), Vec::new());
        let valid = self.valid.finish();
        match valid.count_set_bits() {
            0 => run(0, rows, 1, &mut levels),
            all if all == rows => run(1, rows, 1, &mut levels),
            _ => {
                varint((rows.div_ceil(8) as u64).wrapping_shl(1) | 1, &mut levels);
                levels.extend_from_slice(valid.values().get(..rows.div_ceil(8)).unwrap_or_default());
            }
        }
        page.extend(u32::try_from(levels.len()).unwrap_or(u32::MAX).to_le_bytes());
        page.append(&mut levels);
        let encoding = if let Values::Steps(numbers) = &mut self.values {
            steps(numbers, &mut page);
            numbers.clear();
            Encoding::DELTA_BINARY_PACKED
        } else if self.is_full {
            page.append(&mut self.plain);
            Encoding::PLAIN
        } else {
            let width = 32_u32.saturating_sub(self.count.saturating_sub(1).leading_zeros());
            page.push(u8::try_from(width).unwrap_or(32));
            hybrid(&self.keys, width, &mut page);
            self.keys.clear();
            Encoding::RLE_DICTIONARY
        };
        let size = page.len();
        let page = Page::DataPage {
            buf: Bytes::from(zstd.compress(&page)?),
            num_values: u32::try_from(rows).unwrap_or(u32::MAX),
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let written =
            SerializedPageWriter::new(&mut self.pages).write_page(CompressedPage::new(page, size))?;
        self.uncompressed = self.uncompressed.saturating_add(written.uncompressed_size);
        Ok(())
    }

    /// All of the column, and what the file says of it.
    pub(super) fn close(mut self, zstd: &mut Compressor<'_>) -> Result<(Bytes, ColumnCloseResult)> {
        self.page(zstd)?;
        let mut all = TrackedWrite::new(Vec::new());
        let has_dictionary = !matches!(self.values, Values::Steps(_));
        let mut uncompressed = self.uncompressed;
        if has_dictionary {
            let page = Page::DictionaryPage {
                buf: Bytes::from(zstd.compress(&self.dictionary)?),
                num_values: self.count,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            let page = CompressedPage::new(page, self.dictionary.len());
            let written = SerializedPageWriter::new(&mut all).write_page(page)?;
            uncompressed = uncompressed.saturating_add(written.uncompressed_size);
        }
        let mut all = all.into_inner()?;
        let first = all.len();
        all.append(&mut self.pages.into_inner()?);
        let encodings = match has_dictionary {
            true => vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY],
            false => vec![Encoding::RLE, Encoding::DELTA_BINARY_PACKED],
        };
        let size = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
        let mut metadata = ColumnChunkMetaData::builder(self.descriptor)
            .set_encodings(encodings)
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_num_values(i64::try_from(self.rows).unwrap_or(i64::MAX))
            .set_total_compressed_size(size(all.len()))
            .set_total_uncompressed_size(size(uncompressed))
            .set_dictionary_page_offset(has_dictionary.then_some(0))
            .set_data_page_offset(size(first));
        if !matches!(self.values, Values::Text(_)) {
            let (least, most) = self.range.unzip();
            metadata = metadata.set_statistics(Statistics::int64(least, most, None, Some(self.nulls), false));
        }
        let close = ColumnCloseResult {
            bytes_written: all.len() as u64,
            rows_written: self.rows,
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok((Bytes::from(all), close))
    }
}

/// Text as it is stored: after its length.
fn push_text(to: &mut Vec<u8>, text: &str) {
    to.extend(u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
    to.extend_from_slice(text.as_bytes());
}
