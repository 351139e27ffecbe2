//! A streaming file: records and what they are about, in one row.

use super::callsite::Callsite;
use super::element::RECORD;
use super::identifier::{FormatIdentifier, Variant};
use super::meta::Timestamp;
use super::object::{Span, Task};
use super::read::Reader;
use super::record::{Event, RecordData, RecordKind, Waker};
use crate::error::{ErrorKind, Result};
use core::iter::FusedIterator;

/// A streaming file.
///
/// # Layout
/// [`FormatIdentifier`], then [`StreamRecord`] after record to the end of the file.
///
/// ```
/// use traceglass::rfr::{RecordKind, Streaming};
///
/// let file = b"\x0brfr-s/0.0.2\x80\xe2\xcf\xaa\x06\x05\x0a\x07"; // at 1,700,000,000.000005 s: poll task 7
/// for record in Streaming::parse(file)?.records() {
///     let record = record?;
///     assert_eq!(record.kind(), RecordKind::TaskPollStart);
///     assert_eq!(record.absolute()?, 1_700_000_000_000_005);
/// }
/// # Ok::<(), traceglass::Error>(())
/// ```
///
/// # Spec
/// *Streaming*.
#[derive(Clone, Copy, Debug)]
pub struct Streaming<'a> {
    identifier: FormatIdentifier<'a>,
    body: Reader<'a>,
}

impl<'a> Streaming<'a> {
    /// Reads the identifier; the records are read while they are iterated.
    ///
    /// # Errors
    /// Those of an identifier: `UnexpectedEnd`, `NotUtf8`, `Invalid`, `BadMagic` if it is that of something else, and
    /// `UnsupportedVersion` for versions other than 0.0.2 and 0.0.4.
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

    /// The records from `offset` on, at which one begins: for a file that has grown, with the
    /// [`StreamRecords::offset`] at which reading it stopped.
    pub fn records_from(&self, offset: u64) -> StreamRecords<'a> {
        StreamRecords { reader: self.body.seek(offset.max(self.body.offset())), failed: false }
    }
}

/// A record of a streaming file.
///
/// # Layout
/// Seconds as `varint(u64)` and microseconds as `varint(u32)` since the Unix epoch, the kind as `varint(u32)`, the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamRecord<'a> {
    time: Timestamp,
    data: StreamData<'a>,
}

/// What a record of a streaming file is about.
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
    /// What chunks have records of, too: events among them.
    Record(RecordData<'a>),
}

impl<'a> StreamRecord<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let time = Timestamp::read(reader)?;
        let start = *reader;
        let kind = reader.u32(RECORD)?;
        let data = match kind {
            0 => StreamData::End,
            1 => StreamData::Callsite(Callsite::read(reader)?),
            2 => StreamData::Span(Span::read(reader)?),
            4 => StreamData::Task(Task::read(reader)?),
            _ => {
                // In the order of a chunk's kinds, but for the event, which comes in front.
                let in_chunks = match u8::try_from(kind) {
                    Ok(3) => 4,
                    Ok(kind @ 5..=8) => kind.saturating_sub(5),
                    Ok(kind @ 9..=16) => kind.saturating_sub(4),
                    _ => u8::MAX,
                };
                match RecordData::read(reader, in_chunks)? {
                    Some(data) => StreamData::Record(data),
                    None => return Err(start.error(RECORD, ErrorKind::Invalid { value: kind.into() })),
                }
            }
        };
        Ok(Self { time, data })
    }

    fn skip(reader: &mut Reader<'a>) -> Result<()> {
        Timestamp::read(reader)?;
        let start = *reader;
        match reader.u32(RECORD)? {
            0 => Ok(()),
            1 => Callsite::skip(reader),
            2 => Span::skip(reader),
            3 => Event::skip(reader),
            4 => Task::skip(reader),
            5..=12 => reader.u64(RECORD).map(drop),
            13..=16 => Waker::read(reader).map(drop),
            other => Err(start.error(RECORD, ErrorKind::Invalid { value: other.into() })),
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
    pub fn absolute(&self) -> Result<u64> {
        self.time.micros()
    }

    /// The seconds since the Unix epoch, as stored.
    pub const fn secs(&self) -> u64 {
        self.time.secs
    }

    /// The microseconds, as stored: they may be a million or more.
    pub const fn subsec_micros(&self) -> u32 {
        self.time.subsec_micros
    }

    /// What it is about.
    pub const fn data(&self) -> StreamData<'a> {
        self.data
    }

    /// What it is about, without the data.
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

    /// After an error, goes on behind the record that failed, if its end can be found.
    pub fn resume(&mut self) -> bool {
        let mut reader = self.reader;
        if !self.failed || StreamRecord::skip(&mut reader).is_err() {
            return false;
        }
        self.reader = reader;
        self.failed = false;
        true
    }

    /// Offset of the next record, or of the one that failed: that many bytes are good.
    pub const fn offset(&self) -> u64 {
        self.reader.offset()
    }

    /// How many bytes follow.
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
