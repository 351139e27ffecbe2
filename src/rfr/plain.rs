//! Records that only say what happened to a span or a task.

use super::chunk::MICROS;
use super::kind::{RecordKind, Shape};
use super::read::Reader;
use crate::varint::read_word;

/// A record of a streaming file that only says what happened to a span or a task, as most do.
///
/// See [`StreamRecords::take_plain`](super::StreamRecords::take_plain).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainRecord {
    offset: u64,
    micros: u64,
    kind: RecordKind,
    iid: u64,
    context: Option<u64>,
}

impl PlainRecord {
    /// The most bytes that are looked at: four integers of at most 8 bytes, the kind, and whether there is a context.
    const SIZE_MAX: usize = 34;

    /// Decodes one whose integers are short, and returns where it ends. It has nothing that needs a check.
    #[inline(always)]
    pub(super) fn read_fast(reader: Reader<'_>) -> Option<(Self, usize)> {
        let data: &[u8; Self::SIZE_MAX] = reader.front()?;
        let integer = |at: usize| {
            let (value, len) = read_word(data.get(at..)?.first_chunk()?)?;
            Some((value, at.wrapping_add(len)))
        };
        let (secs, at) = integer(0)?;
        let (subsec_micros, end) = integer(at)?;
        // Longer forms are no integers of 32 bits.
        if end.wrapping_sub(at) > 5 || subsec_micros >= MICROS {
            return None;
        }
        let kind = RecordKind::from_stream(u32::from(*data.get(end)?))?;
        let (iid, end) = integer(end.wrapping_add(1))?;
        let (context, end) = match (kind.shape(), data.get(end)) {
            (Shape::Iid, _) => (None, end),
            (Shape::Waker, Some(0)) => (None, end.wrapping_add(1)),
            (Shape::Waker, Some(1)) => integer(end.wrapping_add(1)).map(|(iid, end)| (Some(iid), end))?,
            _ => return None,
        };
        let micros = secs.checked_mul(MICROS)?.checked_add(subsec_micros)?;
        let record = Self { offset: reader.offset(), micros, kind, iid, context };
        Some((record, reader.position().wrapping_add(end)))
    }

    /// Offset in the input of its first byte.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The time in microseconds since the Unix epoch.
    pub const fn unix_micros(&self) -> u64 {
        self.micros
    }

    /// The kind.
    pub const fn kind(&self) -> RecordKind {
        self.kind
    }

    /// The instrumentation id of the span or task that it is about.
    pub const fn iid(&self) -> u64 {
        self.iid
    }

    /// Of a waker, the id of the task in which it was used, if it was in one.
    pub const fn context(&self) -> Option<u64> {
        self.context
    }
}
