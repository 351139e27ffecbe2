//! Records: what happened, and when.

use super::element::{RECORD, TIMESTAMP};
use super::event::{self, Event, Waker};
use super::kind::{RecordData, RecordKind, Shape};
use super::layout::{Row, Table, Wire};
use super::read::{Part, Reader};
use super::value::ParentAndFields;
use crate::error::{ErrorKind, Result};

/// The fields of a [`Record`].
pub(super) const FIELDS: Table = &[
    Row::new("timestamp, µs", "timestamp", TIMESTAMP, Wire::U64),
    Row::new("record", "RecordData", RECORD, Wire::Union(variant)),
];

/// The kind with this number in a chunk.
fn variant(number: u32) -> Option<(&'static str, Table)> {
    let kind = u8::try_from(number).ok().and_then(RecordKind::from_chunk)?;
    Some((kind.name(), data_fields(kind)))
}

/// The fields of a record's data; none of what stands in streaming files only.
pub(super) fn data_fields(kind: RecordKind) -> Table {
    const IID: Table = &[Row::new("iid", "iid", RECORD, Wire::U64)];
    match kind.shape() {
        Shape::Iid => IID,
        Shape::Event => event::FIELDS,
        Shape::Waker => event::WAKER_FIELDS,
        Shape::Stream => &[],
    }
}

/// A record of a sequence.
///
/// # Layout
/// | field | in the document | type |
/// |---|---|---|
/// | timestamp, µs | `timestamp` | `varint(u64)` |
/// | record | `RecordData` | `varint(u32)`, from 0 for `SpanNew` to 12 for `WakerDrop` |
/// | iid | `iid` | `varint(u64)`; of events [`Event`] instead, of wakers [`Waker`] |
///
/// # Units
/// The timestamp is in microseconds from the base time of the chunk, not from the start of its interval;
/// [`ChunkHeader::unix_micros`](super::ChunkHeader::unix_micros) makes it a time since the Unix epoch.
#[derive(Clone, Copy, PartialEq)]
pub struct Record<'a> {
    // Not a `RecordData`: plain fields stay in registers while records are decoded in a loop, and a kind that is
    // copied needs no branch, where the variant of an enum with data takes one for each kind.
    offset: u64,
    timestamp: u64,
    kind: RecordKind,
    /// That of the span, the task, or the callsite of an event.
    id: u64,
    has_context: bool,
    context: u64,
    details: ParentAndFields<'a>,
}

impl<'a> Part<'a> for Record<'a> {
    const SIZE_MIN: u64 = 3;

    // Time, kind and id of most records stand in 8 bytes.
    #[inline(always)]
    fn read_fast(mut reader: Reader<'a>) -> Option<(Self, usize)> {
        let offset = reader.offset();
        let (timestamp, kind, id) = reader.three()?;
        let kind = RecordKind::from_chunk(kind)?;
        let (has_context, context) = match kind {
            RecordKind::Event => return None,
            kind if kind.is_waker() => reader.option_fast()?,
            _ => (false, 0),
        };
        let record =
            Self { offset, timestamp, kind, id, has_context, context, details: ParentAndFields::NONE };
        Some((record, reader.position()))
    }

    #[inline(never)]
    fn read(mut reader: Reader<'a>) -> Result<(Self, usize)> {
        let offset = reader.offset();
        let timestamp = reader.u64(TIMESTAMP)?;
        let kind = read_kind(&mut reader)?;
        let (id, context, details) = read_data(&mut reader, kind)?;
        let (has_context, context) = (context.is_some(), context.unwrap_or(0));
        Ok((Self { offset, timestamp, kind, id, has_context, context, details }, reader.position()))
    }

    #[inline(never)]
    fn skip(mut reader: Reader<'a>) -> Result<usize> {
        reader.u64(TIMESTAMP)?;
        let kind = read_kind(&mut reader)?;
        skip_data(&mut reader, kind)?;
        Ok(reader.position())
    }
}

/// The kind of a record in a chunk.
fn read_kind(reader: &mut Reader<'_>) -> Result<RecordKind> {
    let start = *reader;
    let number = reader.u32(RECORD)?;
    let kind = u8::try_from(number).ok().and_then(RecordKind::from_chunk);
    kind.ok_or_else(|| start.error(RECORD, ErrorKind::Invalid { value: number.into() }))
}

/// The data of a record: the id that it begins with, a waker's context, and an event's rest.
pub(super) fn read_data<'a>(
    reader: &mut Reader<'a>,
    kind: RecordKind,
) -> Result<(u64, Option<u64>, ParentAndFields<'a>)> {
    match kind.shape() {
        Shape::Event => {
            let event = Event::read(reader)?;
            Ok((event.callsite_id, None, event.details))
        }
        Shape::Waker => {
            let waker = Waker::read(reader)?;
            Ok((waker.task_iid, waker.context, ParentAndFields::NONE))
        }
        Shape::Iid | Shape::Stream => Ok((reader.u64(RECORD)?, None, ParentAndFields::NONE)),
    }
}

/// Skips the data of a record.
pub(super) fn skip_data(reader: &mut Reader<'_>, kind: RecordKind) -> Result<()> {
    match kind.shape() {
        Shape::Event => Event::skip(reader),
        Shape::Waker => Waker::read(reader).map(drop),
        Shape::Iid | Shape::Stream => reader.u64(RECORD).map(drop),
    }
}

impl<'a> Record<'a> {
    /// Finds the end of a record on the fast path.
    #[inline(always)]
    pub(super) fn skip_fast(mut reader: Reader<'a>) -> Option<usize> {
        let (_, kind, _) = reader.three()?;
        match RecordKind::from_chunk(kind)?.shape() {
            Shape::Iid => {}
            Shape::Waker => {
                reader.option_fast()?;
            }
            Shape::Event | Shape::Stream => return None,
        }
        Some(reader.position())
    }

    /// Offset in the input of its first byte.
    #[inline]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Microseconds from the base time of the chunk.
    #[doc(alias = "ChunkTimestamp")]
    #[inline]
    pub const fn timestamp(&self) -> u64 {
        self.timestamp
    }

    /// What happened.
    #[inline]
    pub const fn data(&self) -> RecordData<'a> {
        let context = if self.has_context { Some(self.context) } else { None };
        RecordData::new(self.kind, self.id, context, self.details)
    }

    /// What happened, without the data.
    #[inline]
    pub const fn kind(&self) -> RecordKind {
        self.kind
    }

    /// The event, if it is one.
    #[inline]
    pub fn event(&self) -> Option<Event<'a>> {
        let event = Event { callsite_id: self.id, details: self.details };
        (self.kind == RecordKind::Event).then_some(event)
    }

    /// The instrumentation id of the task in which something happened to a waker.
    #[inline]
    pub fn context(&self) -> Option<u64> {
        self.has_context.then_some(self.context)
    }

    /// The instrumentation id of the span or task that it is about; `None` for events.
    #[doc(alias = "InstrumentationId")]
    #[inline]
    pub fn iid(&self) -> Option<u64> {
        (self.kind != RecordKind::Event).then_some(self.id)
    }
}

impl core::fmt::Debug for Record<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Record")
            .field("offset", &self.offset)
            .field("timestamp", &self.timestamp)
            .field("data", &self.data())
            .finish()
    }
}
