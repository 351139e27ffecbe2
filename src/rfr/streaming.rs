//! A streaming file: records, and between them what they are about.

use super::callsite::{self, Callsite};
use super::element::{RECORD, TIMESTAMP};
use super::identifier::{self, FormatIdentifier, Variant};
use super::kind::{RecordData, RecordKind};
use super::layout::{LayoutFields, Row, Table, Wire};
use super::meta::Timestamp;
use super::object::{SPAN_FIELDS, Span, TASK_FIELDS, Task};
use super::plain::PlainRecord;
use super::read::Reader;
use super::record::{data_fields, read_data, skip_data};
use crate::error::{ErrorKind, Result};
use crate::gap::Gap;
use core::iter::FusedIterator;

/// The fields of a [`Streaming`] file.
pub(super) const FIELDS: Table =
    &[Row::structure(RECORD, identifier::FIELDS), Row::new("", "", RECORD, Wire::ToEnd(RECORD_FIELDS))];

/// The fields of a [`StreamRecord`].
pub(super) const RECORD_FIELDS: Table = &[
    Row::new("time, s", "secs", TIMESTAMP, Wire::U64),
    Row::new("time, µs", "subsec_micros", TIMESTAMP, Wire::U32),
    Row::new("record", "RecordData", RECORD, Wire::Union(variant)),
];

/// The kind with this number in a streaming file.
fn variant(number: u32) -> Option<(&'static str, Table)> {
    let kind = RecordKind::from_stream(number)?;
    let fields = match kind {
        RecordKind::Callsite => callsite::FIELDS,
        RecordKind::Span => SPAN_FIELDS,
        RecordKind::Task => TASK_FIELDS,
        kind => data_fields(kind),
    };
    Some((kind.name(), fields))
}

/// A streaming file.
///
/// # Layout
/// | field | in the document | type |
/// |---|---|---|
/// | | `Format Identifier` | [`FormatIdentifier`] |
/// | | `Record` | [`StreamRecord`] after record to the end of the file |
///
/// ```
/// use traceglass::rfr::{RecordKind, Streaming};
///
/// let file = b"\x0brfr-s/0.0.2\x80\xe2\xcf\xaa\x06\x05\x0a\x07"; // at 1,700,000,000.000005 s: poll task 7
/// for record in Streaming::parse(file)?.records() {
///     let record = record?;
///     assert_eq!(record.kind(), RecordKind::TaskPollStart);
///     assert_eq!(record.unix_micros()?, 1_700_000_000_000_005);
/// }
/// # Ok::<(), traceglass::Error>(())
/// ```
///
/// See *Streaming*.
#[derive(Clone, Copy, Debug)]
pub struct Streaming<'a> {
    identifier: FormatIdentifier<'a>,
    body: Reader<'a>,
}

impl<'a> Streaming<'a> {
    /// Reads the identifier; the records are read while they are iterated.
    ///
    /// # Errors
    /// The errors of an identifier: `UnexpectedEnd`, `NotUtf8`, `Invalid`, `BadMagic` if it is that of something else,
    /// and `UnsupportedVersion` for versions other than 0.0.2 and 0.0.4.
    pub fn parse(data: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(data);
        let identifier = FormatIdentifier::expect(&mut reader, Variant::Streaming)?;
        Ok(Self { identifier, body: reader })
    }

    /// The identifier.
    pub const fn identifier(&self) -> FormatIdentifier<'a> {
        self.identifier
    }

    /// The records, to the end of the file: those after an [`End`](StreamData::End), too.
    pub const fn records(&self) -> StreamRecords<'a> {
        StreamRecords { reader: self.body, failed: false }
    }

    /// The fields, as they lie in the file.
    pub const fn fields(&self) -> LayoutFields<'a> {
        LayoutFields::new(self.body.data(), FIELDS)
    }

    /// The fields of the record that begins at `offset`.
    pub fn fields_at(&self, offset: u64) -> LayoutFields<'a> {
        LayoutFields::at(self.body.data(), offset, RECORD_FIELDS)
    }

    /// The records from `offset` on, at which one begins: for a file that has grown, with the
    /// [`StreamRecords::offset`] at which reading it stopped.
    pub fn records_from(&self, offset: u64) -> StreamRecords<'a> {
        StreamRecords { reader: self.body.seek(offset.max(self.body.offset())), failed: false }
    }
}

/// A record of a streaming file.
///
/// # Layout
/// | field | in the document | type |
/// |---|---|---|
/// | time, s | `secs` | `varint(u64)` |
/// | time, µs | `subsec_micros` | `varint(u32)` |
/// | record | `RecordData` | `varint(u32)`, then the data: see [`StreamData`] |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamRecord<'a> {
    time: Timestamp,
    data: StreamData<'a>,
}

/// The data of a record in a streaming file.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum StreamData<'a> {
    /// The end of the recording. Writers leave it out, and what follows one is still read.
    End,
    /// A callsite, before it is referred to.
    Callsite(Callsite<'a>),
    /// A span, before it is referred to.
    Span(Span<'a>),
    /// A task, before it is referred to.
    Task(Task<'a>),
    /// A record of a kind that chunks have, too; events are among them.
    Record(RecordData<'a>),
}

impl<'a> StreamRecord<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let time = Timestamp::read(reader)?;
        let data = match read_kind(reader)? {
            RecordKind::End => StreamData::End,
            RecordKind::Callsite => StreamData::Callsite(Callsite::read(reader)?),
            RecordKind::Span => StreamData::Span(Span::read(reader)?),
            RecordKind::Task => StreamData::Task(Task::read(reader)?),
            kind => {
                let (id, context, details) = read_data(reader, kind)?;
                StreamData::Record(RecordData::new(kind, id, context, details))
            }
        };
        Ok(Self { time, data })
    }

    fn skip(reader: &mut Reader<'a>) -> Result<()> {
        Timestamp::read(reader)?;
        match read_kind(reader)? {
            RecordKind::End => Ok(()),
            RecordKind::Callsite => Callsite::skip(reader),
            RecordKind::Span => Span::skip(reader),
            RecordKind::Task => Task::skip(reader),
            kind => skip_data(reader, kind),
        }
    }

    /// Offset in the input of its first byte.
    pub const fn offset(&self) -> u64 {
        self.time.offset
    }

    /// The time in microseconds since the Unix epoch.
    ///
    /// # Errors
    /// `Overflow`, if that has more than 64 bits.
    pub fn unix_micros(&self) -> Result<u64> {
        self.time.micros()
    }

    /// The seconds since the Unix epoch, as stored.
    #[doc(alias = "AbsTimestamp")]
    pub const fn secs(&self) -> u64 {
        self.time.secs
    }

    /// The microseconds, as stored: they may be a million or more.
    pub const fn subsec_micros(&self) -> u32 {
        self.time.subsec_micros
    }

    /// The data of the record.
    pub const fn data(&self) -> StreamData<'a> {
        self.data
    }

    /// The kind of the record, without the data.
    pub const fn kind(&self) -> RecordKind {
        match &self.data {
            StreamData::End => RecordKind::End,
            StreamData::Callsite(_) => RecordKind::Callsite,
            StreamData::Span(_) => RecordKind::Span,
            StreamData::Task(_) => RecordKind::Task,
            StreamData::Record(data) => data.kind(),
        }
    }
}

/// The kind of a record in a streaming file.
fn read_kind(reader: &mut Reader<'_>) -> Result<RecordKind> {
    let start = *reader;
    let number = reader.u32(RECORD)?;
    let kind = RecordKind::from_stream(number);
    kind.ok_or_else(|| start.error(RECORD, ErrorKind::Invalid { value: number.into() }))
}

/// The records of a [`Streaming`] file.
#[derive(Clone, Debug)]
pub struct StreamRecords<'a> {
    reader: Reader<'a>,
    failed: bool,
}

impl<'a> StreamRecords<'a> {
    /// The next record, all of it checked.
    ///
    /// # Errors
    /// `UnexpectedEnd`, `IntegerTooWide`, `NotUtf8`, and `Invalid` for an unknown kind or a byte that should be 0 or 1.
    pub fn next_record(&mut self) -> Result<Option<StreamRecord<'a>>> {
        if self.failed || self.reader.is_empty() {
            return Ok(None);
        }
        let mut reader = self.reader;
        let record = StreamRecord::read(&mut reader);
        match record {
            Ok(_) => self.reader = reader,
            Err(_) => self.failed = true,
        }
        record.map(Some)
    }

    /// The next record, if all it says is what happened to a span or a task; takes a third of the time of
    /// [`next_record`](Self::next_record), which gives all others, and this one where its numbers are written with
    /// many bytes.
    #[inline]
    pub fn take_plain(&mut self) -> Option<PlainRecord> {
        if self.failed {
            return None;
        }
        let (record, end) = PlainRecord::read_fast(self.reader)?;
        self.reader.go_to(end);
        Some(record)
    }

    /// After an error, skips the record that failed, if its end can be found, and says what was lost.
    ///
    /// `None` if nothing failed or the end cannot be found: then there are no more.
    pub fn recover(&mut self) -> Option<Gap> {
        if !self.failed {
            return None;
        }
        // Reading it again tells why it failed.
        let cause = StreamRecord::read(&mut self.reader.clone()).err()?;
        let mut end = self.reader;
        StreamRecord::skip(&mut end).ok()?;
        let gap = Gap::new(self.offset(), end.offset().saturating_sub(self.offset()), cause);
        self.reader = end;
        self.failed = false;
        Some(gap)
    }

    /// Offset of the next record, or of the one that failed: that many bytes are good.
    pub const fn offset(&self) -> u64 {
        self.reader.offset()
    }

    /// The number of bytes that follow.
    pub(super) const fn left(&self) -> u64 {
        self.reader.left()
    }
}

impl<'a> Iterator for StreamRecords<'a> {
    type Item = Result<StreamRecord<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_record().transpose()
    }
}

impl FusedIterator for StreamRecords<'_> {}
