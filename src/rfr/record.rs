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
    // Not a `RecordData`: plain fields stay in registers while records are decoded in a loop, and copying a kind needs
    // no branch, whereas an enum with data needs one for each kind.
    offset: u64,
    timestamp: u64,
    kind: RecordKind,
    /// The id of the span, of the task, or of the event's callsite.
    id: u64,
    has_context: bool,
    context: u64,
    details: ParentAndFields<'a>,
}

impl<'a> Part<'a> for Record<'a> {
    const SIZE_MIN: u64 = 3;

    // Time, kind and id of most records take at most 8 bytes.
    #[inline(always)]
    fn read_fast(mut reader: Reader<'a>) -> Option<(Self, usize)> {
        let offset = reader.offset();
        let (timestamp, kind, id) = reader.three()?;
        let (has_context, context) = context_fast(&mut reader, kind)?;
        let kind = RecordKind::from_chunk(kind)?;
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
        reader.skip_u64(TIMESTAMP)?;
        let kind = read_kind(&mut reader)?;
        skip_data(&mut reader, kind)?;
        Ok(reader.position())
    }
}

/// The context after the id on the fast path, for a kind that may be unknown: true if there is one, and it or 0.
#[inline(always)]
fn context_fast(reader: &mut Reader<'_>, kind: u8) -> Option<(bool, u64)> {
    // Comparisons, not a `match` on the kind: it becomes a table of bits, which takes more instructions.
    if kind >= RecordKind::WAKERS_IN_CHUNK {
        reader.option_fast()
    } else if kind == RecordKind::EVENT_IN_CHUNK {
        None
    } else {
        Some((false, 0))
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
        Shape::Waker => Waker::skip(reader),
        Shape::Iid | Shape::Stream => reader.skip_u64(RECORD),
    }
}

impl<'a> Record<'a> {
    /// Finds the end of a record on the fast path.
    #[inline(always)]
    pub(super) fn skip_fast(mut reader: Reader<'a>) -> Option<usize> {
        let kind = reader.skip_three()?;
        context_fast(&mut reader, kind)?;
        RecordKind::from_chunk(kind)?;
        Some(reader.position())
    }

    /// Offset in the input of its first byte.
    #[inline]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Microseconds from the base time of the chunk.
    #[doc(alias = "timestamp")]
    #[doc(alias = "ChunkTimestamp")]
    #[inline]
    pub const fn micros(&self) -> u64 {
        self.timestamp
    }

    /// The data of the event.
    #[inline]
    pub const fn data(&self) -> RecordData<'a> {
        let context = if self.has_context { Some(self.context) } else { None };
        RecordData::new(self.kind, self.id, context, self.details)
    }

    /// The kind of the event, without the data.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) % limit
        }

        /// Appends an integer of so many bytes.
        fn int(&mut self, bytes: &mut Vec<u8>, len: u64) {
            bytes.extend((1..len).map(|_| self.below(0x80) as u8 | 0x80));
            bytes.push(self.below(0x80) as u8);
        }
    }

    /// Records, of which some are damaged: whatever the fast path reads or skips, the plain one does alike.
    #[test]
    fn the_fast_path_is_as_the_plain_one() {
        let mut random = Random(1);
        let mut found = [[0; 2]; 14];
        for _ in 0..200_000 {
            let mut bytes = Vec::new();
            // Mostly three bytes, now and then more than there may be.
            let len = if random.below(2) == 0 { 3 } else { 1 + random.below(11) };
            random.int(&mut bytes, len);
            let kind = random.below(14) as usize;
            bytes.push(kind as u8);
            let len = 1 + random.below(6);
            random.int(&mut bytes, len);
            // A context, none, or neither.
            bytes.push([0, 1, 1, 2][random.below(4) as usize]);
            let len = 1 + random.below(6);
            random.int(&mut bytes, len);
            bytes.resize(bytes.len() + random.below(10) as usize, 0x81);
            if random.below(4) == 0 {
                let place = random.below(bytes.len() as u64) as usize;
                bytes[place] ^= 1 << random.below(8);
            }

            let reader = Reader::new(&bytes);
            let (read, skipped) = (Record::read_fast(reader), Record::skip_fast(reader));
            if let Some(record) = read {
                assert_eq!(Ok(record), Record::read(reader), "{bytes:x?}");
            }
            if let Some(end) = skipped {
                assert_eq!(Ok(end), Record::skip(reader), "{bytes:x?}");
            }
            assert_eq!(read.map(|(_, end)| end), skipped, "{bytes:x?}");
            found[kind][usize::from(read.is_some())] += 1;
        }
        for (kind, [_, fast]) in found.into_iter().enumerate() {
            let has_fast = kind != usize::from(RecordKind::EVENT_IN_CHUNK) && kind < 13;
            assert!(if has_fast { fast > 1_000 } else { fast < 200 }, "{kind}: {fast}");
        }
    }

    #[test]
    fn wakers_have_the_highest_numbers() {
        for number in 0..=u8::MAX {
            let kind = RecordKind::from_chunk(number);
            let is_waker = kind.is_some_and(RecordKind::is_waker);
            assert_eq!(is_waker, number >= RecordKind::WAKERS_IN_CHUNK && kind.is_some());
            assert_eq!(kind == Some(RecordKind::Event), number == RecordKind::EVENT_IN_CHUNK);
        }
    }
}
