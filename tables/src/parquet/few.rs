//! A column of few different values, as Parquet has it: each value once, and its number in each row.
//!
//! The writer of the crate `parquet` hashes the value of every row. A batch has numbers of its own for names, so that
//! they are only translated; ids are mostly among those that were met last.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_buffer::BooleanBufferBuilder;
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
pub(super) struct Few {
    descriptor: ColumnDescPtr,
    values: Values,
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
        range: Option<(u64, u64)>,
    },
}

impl Few {
    /// True if a column is written here: not if nearly all of its values are different.
    pub(super) fn takes(field: &Field) -> bool {
        match field.data_type() {
            DataType::UInt64 => field.name() != "offset",
            DataType::Utf8 => !matches!(field.name().as_str(), "fields" | "args"),
            DataType::Dictionary(..) => true,
            _ => false,
        }
    }

    pub(super) fn new(kind: &DataType, descriptor: ColumnDescPtr) -> Self {
        let values = match kind {
            DataType::UInt64 => {
                Values::Ids { numbers: HashMap::default(), recent: vec![(0, u32::MAX); RECENT], range: None }
            }
            _ => Values::Text(HashMap::default()),
        };
        Self {
            descriptor,
            values,
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
        }
    }

    /// The number of bytes that are kept.
    pub(super) fn size(&self) -> usize {
        let keys = self.keys.len().saturating_mul(4);
        [self.pages.bytes_written(), self.dictionary.len(), keys, self.plain.len()].iter().sum()
    }

    /// The rows of a batch.
    pub(super) fn write(&mut self, rows: &ArrayRef, zstd: &mut Compressor<'_>) -> Result<()> {
        if !self.is_full && self.dictionary.len() > LIMIT {
            self.page(zstd)?;
            self.is_full = true;
        }
        match rows.data_type() {
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
        let Values::Ids { numbers, recent, range } = &mut self.values else { return };
        let rows = rows.as_primitive::<UInt64Type>();
        let (dictionary, count) = (&mut self.dictionary, &mut self.count);
        let mut least = range.map_or(u64::MAX, |(least, _)| least);
        let mut most = range.map_or(0, |(_, most)| most);
        let mut has_any = false;
        let (is_full, plain) = (self.is_full, &mut self.plain);
        let mut key = |id: u64| {
            (least, most, has_any) = (least.min(id), most.max(id), true);
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
        *range = has_any.then_some((least, most)).or(*range);
        if is_full {
            self.keys.clear();
        }
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
        let encoding = if self.is_full {
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
        let page = Page::DictionaryPage {
            buf: Bytes::from(zstd.compress(&self.dictionary)?),
            num_values: self.count,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        let mut all = TrackedWrite::new(Vec::new());
        let page = CompressedPage::new(page, self.dictionary.len());
        let first = SerializedPageWriter::new(&mut all).write_page(page)?;
        let mut all = all.into_inner()?;
        all.append(&mut self.pages.into_inner()?);
        let encodings = vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY];
        let uncompressed = self.uncompressed.saturating_add(first.uncompressed_size);
        let size = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
        let mut metadata = ColumnChunkMetaData::builder(self.descriptor)
            .set_encodings(encodings)
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_num_values(i64::try_from(self.rows).unwrap_or(i64::MAX))
            .set_total_compressed_size(size(all.len()))
            .set_total_uncompressed_size(size(uncompressed))
            .set_dictionary_page_offset(Some(0))
            .set_data_page_offset(size(first.compressed_size));
        if let Values::Ids { range, .. } = self.values {
            let least = range.map(|(least, _)| least.cast_signed());
            let most = range.map(|(_, most)| most.cast_signed());
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

/// A number of 7 bits a byte, the least significant first.
fn varint(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push((value & 0x7f | 0x80) as u8);
        value >>= 7;
    }
    to.push(value as u8);
}

/// The same value so many times.
fn run(value: u32, count: usize, width: u32, to: &mut Vec<u8>) {
    varint((count as u64).wrapping_shl(1), to);
    let bytes = usize::try_from(width.div_ceil(8)).unwrap_or(4);
    to.extend_from_slice(value.to_le_bytes().get(..bytes).unwrap_or_default());
}

/// Numbers of `width` bits each: in runs where many in a row are the same, else packed.
fn hybrid(keys: &[u32], width: u32, to: &mut Vec<u8>) {
    /// The numbers that are looked at together, a multiple of eight.
    const PIECE: usize = 256;
    let mut same: Option<(u32, usize)> = None;
    for piece in keys.chunks(PIECE) {
        let first = piece.first().copied().unwrap_or_default();
        let is_run = piece.iter().all(|key| *key == first);
        if let Some((value, count)) = same.filter(|(value, _)| !is_run || *value != first) {
            run(value, count, width, to);
            same = None;
        }
        if is_run {
            let count = same.map_or(0, |(_, count)| count);
            same = Some((first, count.saturating_add(piece.len())));
        } else {
            pack(piece, width, to);
        }
    }
    if let Some((value, count)) = same {
        run(value, count, width, to);
    }
}

/// Packed numbers, filled up to a multiple of eight.
fn pack(keys: &[u32], width: u32, to: &mut Vec<u8>) {
    let groups = keys.len().div_ceil(8);
    varint((groups as u64).wrapping_shl(1) | 1, to);
    let end = to.len().saturating_add(groups.saturating_mul(usize::try_from(width).unwrap_or(32)));
    let (mut bits, mut count) = (0_u64, 0_u32);
    for key in keys {
        bits |= u64::from(*key).wrapping_shl(count);
        count = count.wrapping_add(width);
        if count >= 32 {
            to.extend_from_slice(&(bits as u32).to_le_bytes());
            bits >>= 32;
            count = count.wrapping_sub(32);
        }
    }
    to.extend_from_slice(&bits.to_le_bytes());
    to.resize(end, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that are stored, as the document of the format says it.
    fn read(mut bytes: &[u8], width: usize, count: usize) -> Vec<u32> {
        let mut found = Vec::new();
        while found.len() < count {
            let (mut head, mut shift) = (0_usize, 0);
            loop {
                let byte = usize::from(bytes[0]);
                bytes = &bytes[1..];
                head |= (byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            if head & 1 == 1 {
                let size = (head >> 1) * width;
                let bit = |at: usize| u32::from(bytes[at / 8] >> (at % 8) & 1);
                found.extend(
                    (0..(head >> 1) * 8).map(|number| {
                        (0..width).map(|place| bit(number * width + place) << place).sum::<u32>()
                    }),
                );
                bytes = &bytes[size..];
            } else {
                let size = width.div_ceil(8);
                let value = bytes[..size].iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
                found.extend(std::iter::repeat_n(value, head >> 1));
                bytes = &bytes[size..];
            }
        }
        found.truncate(count);
        assert_eq!(bytes, b"");
        found
    }

    #[test]
    fn numbers_of_every_width_come_back() {
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        for width in 0..=32_u32 {
            for count in [1, 7, 8, 9, 255, 256, 257, 1000, 3000] {
                let keys: Vec<u32> = (0..count)
                    .map(|at| {
                        random ^= random << 13;
                        random ^= random >> 7;
                        random ^= random << 17;
                        // Runs among others.
                        let value = if at / 300 % 2 == 0 { 1 } else { random as u32 };
                        (u64::from(value) & ((1 << width) - 1)) as u32
                    })
                    .collect();
                let mut bytes = Vec::new();
                hybrid(&keys, width, &mut bytes);
                assert_eq!(read(&bytes, width as usize, keys.len()), keys, "{width} {count}");
            }
        }
    }
}
