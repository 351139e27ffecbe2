//! A chunk file: identifier, header, sequences.

use super::element::{CHUNK, CHUNK_HEADER, SEQUENCES, TIMESTAMP};
use super::identifier::{self, FormatIdentifier, Variant};
use super::item::{Item, Items};
use super::layout::{LayoutFields, Row, Table, Wire};
use super::object;
use super::read::Reader;
use super::record::{self, Record};
use super::sequence::{self, SEQUENCE_SIZE_MIN, Sequences};
use crate::error::{Error, ErrorKind, Result};

/// Microseconds in a second.
pub(super) const MICROS: u64 = 1_000_000;

/// A chunk: what was recorded in a period of about a second.
///
/// # Layout
/// | field | in the document | type |
/// |---|---|---|
/// | | `Format Identifier` | [`FormatIdentifier`] |
/// | | `ChunkHeader` | [`ChunkHeader`] |
/// | sequences | `sequences` | list of [`Sequence`](super::Sequence) |
///
/// Nothing in it has a length in bytes, so that only the header can be read without reading what precedes.
///
/// See *Chunked*, "Chunk Structure".
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    identifier: FormatIdentifier<'a>,
    header: ChunkHeader,
    body: Reader<'a>,
}

/// The fields of a [`Chunk`].
pub(super) const FIELDS: Table = &[
    Row::structure(CHUNK, identifier::FIELDS),
    Row::structure(CHUNK, HEADER_FIELDS),
    Row::new("sequences", "sequences", SEQUENCES, Wire::List(sequence::FIELDS)),
];

/// The fields of a [`ChunkHeader`].
pub(super) const HEADER_FIELDS: Table = &[
    Row::new("base time, s", "base_time", CHUNK_HEADER, Wire::U64),
    Row::new("start, µs", "start_time", CHUNK_HEADER, Wire::U64),
    Row::new("end, µs", "end_time", CHUNK_HEADER, Wire::U64),
    Row::new("earliest, µs", "earliest_timestamp", CHUNK_HEADER, Wire::U64),
    Row::new("latest, µs", "latest_timestamp", CHUNK_HEADER, Wire::U64),
];

impl<'a> Chunk<'a> {
    /// The most bytes in front of the sequences: as much of a file is enough for [`Chunk::parse`] and
    /// [`Chunk::header`], for instance to select chunks by time.
    pub const HEADER_SIZE_MAX: usize = FormatIdentifier::SIZE_MAX.saturating_add(50);

    /// Reads the header; the rest is read when it is asked for.
    ///
    /// # Errors
    /// `UnexpectedEnd`, `IntegerTooWide`; for the identifier also `NotUtf8`, `Invalid`, `BadMagic` if it is that of
    /// something else, and `UnsupportedVersion` for versions other than 0.0.2 and 0.0.3.
    pub fn parse(data: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(data);
        let identifier = FormatIdentifier::expect(&mut reader, Variant::Chunk)?;
        let header = ChunkHeader::read(&mut reader)?;
        Ok(Self { identifier, header, body: reader })
    }

    /// The identifier.
    pub const fn identifier(&self) -> FormatIdentifier<'a> {
        self.identifier
    }

    /// The header.
    pub const fn header(&self) -> ChunkHeader {
        self.header
    }

    /// The sequences, as views from which objects and records can be read.
    pub const fn sequences(&self) -> Sequences<'a> {
        Sequences::new(self.body)
    }

    /// Everything in the order of the file, in one pass.
    pub const fn items(&self) -> Items<'a> {
        Items::new(self.body)
    }

    /// The fields, as they lie in the file.
    pub const fn fields(&self) -> LayoutFields<'a> {
        LayoutFields::new(self.body.data(), FIELDS)
    }

    /// The fields of one item of it alone: of a sequence, those of all that is in it, too.
    ///
    /// ```
    /// # use traceglass::rfr::{Chunk, Item};
    /// # let file = b"\x0brfr-c/0.0.2\x80\xe2\xcf\xaa\x06\0\xc0\x84\x3d\x04\x09\x01\x01\x04\x09\x01\x01\x05\x07\x63\x04main\0\0\x02\x04\x06\x05\x09\x07\x05";
    /// let chunk = Chunk::parse(file)?;
    /// let record = chunk.items().last().unwrap()?;
    /// let names: Vec<_> = chunk.fields_of(&record).map(|field| field.unwrap().name()).collect();
    /// assert_eq!(names, ["timestamp, µs", "record", "iid"]);
    /// # Ok::<(), traceglass::Error>(())
    /// ```
    pub fn fields_of(&self, item: &Item<'a>) -> LayoutFields<'a> {
        let (offset, table) = match item {
            Item::Sequence(sequence) => (sequence.offset(), sequence::FIELDS),
            Item::Object(object) => (object.offset(), object::FIELDS),
            Item::Record(record) => (record.offset(), record::FIELDS),
        };
        LayoutFields::at(self.body.data(), offset, table)
    }

    /// The number of sequences the chunk claims to have.
    ///
    /// # Errors
    /// `UnexpectedEnd`, `IntegerTooWide`.
    pub fn sequence_count(&self) -> Result<u64> {
        self.body.clone().u64(SEQUENCES)
    }

    /// The most sequences that it can have, given its size: what a directory needs room for at most.
    pub fn sequence_count_max(&self) -> u64 {
        let mut body = self.body;
        let count = body.u64(SEQUENCES).unwrap_or(0);
        // One more that is cut: enough of it may be there to be delivered.
        count.min(body.left().checked_div(SEQUENCE_SIZE_MIN).unwrap_or(0).saturating_add(1))
    }

    pub(super) const fn body(&self) -> Reader<'a> {
        self.body
    }
}

/// The header of a [`Chunk`]: which time it covers.
///
/// # Layout
/// | field | in the document | type |
/// |---|---|---|
/// | base time, s | `base_time` | `varint(u64)` |
/// | start, µs | `start_time` | `varint(u64)` |
/// | end, µs | `end_time` | `varint(u64)` |
/// | earliest, µs | `earliest_timestamp` | `varint(u64)` |
/// | latest, µs | `latest_timestamp` | `varint(u64)` |
///
/// # Units
/// The base time is in seconds since the Unix epoch, all others are microseconds from the base time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "ChunkInterval")]
#[doc(alias = "AbsTimestampSecs")]
#[doc(alias = "interval")]
pub struct ChunkHeader {
    offset: u64,
    base_time: u64,
    start: u64,
    end: u64,
    earliest: u64,
    latest: u64,
}

impl ChunkHeader {
    /// A header of no time, for storage that is to be filled.
    pub(super) const EMPTY: Self = Self { offset: 0, base_time: 0, start: 0, end: 0, earliest: 0, latest: 0 };

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            offset: reader.offset(),
            base_time: reader.u64(CHUNK_HEADER)?,
            start: reader.u64(CHUNK_HEADER)?,
            end: reader.u64(CHUNK_HEADER)?,
            earliest: reader.u64(CHUNK_HEADER)?,
            latest: reader.u64(CHUNK_HEADER)?,
        })
    }

    /// Offset in the input of its first byte, where the base time stands.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Seconds since the Unix epoch, from which all other times count.
    pub const fn base_time(&self) -> u64 {
        self.base_time
    }

    /// The start of the period, in microseconds from the base time.
    #[doc(alias = "start_time")]
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// The end of the period, in microseconds from the base time; the period does not include it.
    #[doc(alias = "end_time")]
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// The time of the earliest record as stored; that of the chunk's end if there is none.
    ///
    /// The time of the first appended record. A clock that was set back makes others earlier: do not rely on it.
    #[doc(alias = "earliest_timestamp")]
    pub const fn earliest(&self) -> u64 {
        self.earliest
    }

    /// The time of the latest record as stored; that of the chunk's start if there is none.
    #[doc(alias = "latest_timestamp")]
    pub const fn latest(&self) -> u64 {
        self.latest
    }

    /// True if the stored times say that there are no records.
    pub const fn is_empty(&self) -> bool {
        self.earliest > self.latest
    }

    /// The base time in microseconds since the Unix epoch.
    ///
    /// # Errors
    /// `Overflow`, if that has more than 64 bits.
    pub fn base_micros(&self) -> Result<u64> {
        self.base_time.checked_mul(MICROS).ok_or(Error::new(
            self.offset,
            CHUNK_HEADER,
            ErrorKind::Overflow { value: self.base_time },
        ))
    }

    /// A time of this header in microseconds since the Unix epoch.
    ///
    /// # Errors
    /// `Overflow`, if that has more than 64 bits.
    pub fn unix_micros(&self, timestamp: u64) -> Result<u64> {
        self.unix_micros_at(timestamp, self.offset)
    }

    fn unix_micros_at(&self, timestamp: u64, offset: u64) -> Result<u64> {
        let overflow = Error::new(offset, TIMESTAMP, ErrorKind::Overflow { value: timestamp });
        self.base_micros()?.checked_add(timestamp).ok_or(overflow)
    }
}

impl Record<'_> {
    /// The time in microseconds since the Unix epoch, given the header of the record's chunk.
    ///
    /// # Errors
    /// `Overflow`, at the header or the record, if that has more than 64 bits.
    #[inline]
    pub fn unix_micros(&self, header: &ChunkHeader) -> Result<u64> {
        header.unix_micros_at(self.micros(), self.offset())
    }
}
