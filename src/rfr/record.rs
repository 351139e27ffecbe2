//! Records: what happened, and when.

use super::element::{CONTEXT, RECORD, TIMESTAMP};
use super::list::List;
use super::read::{Part, Reader};
use super::value::{Details, Field, FieldValue, Parent};
use crate::error::{ErrorKind, Result};

/// What a record is about, without the data.
///
/// The four at the end occur in streaming files only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[allow(missing_docs)] // The names say what the document says.
pub enum RecordKind {
    SpanNew,
    SpanEnter,
    SpanExit,
    SpanClose,
    Event,
    NewTask,
    TaskPollStart,
    TaskPollEnd,
    TaskDrop,
    WakerWake,
    WakerWakeByRef,
    WakerClone,
    WakerDrop,
    End,
    Callsite,
    Span,
    Task,
}

impl RecordKind {
    /// All kinds, in the order of their definition.
    pub const ALL: [Self; 17] = [
        Self::SpanNew,
        Self::SpanEnter,
        Self::SpanExit,
        Self::SpanClose,
        Self::Event,
        Self::NewTask,
        Self::TaskPollStart,
        Self::TaskPollEnd,
        Self::TaskDrop,
        Self::WakerWake,
        Self::WakerWakeByRef,
        Self::WakerClone,
        Self::WakerDrop,
        Self::End,
        Self::Callsite,
        Self::Span,
        Self::Task,
    ];

    /// The name, spelled as in the document.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SpanNew => "SpanNew",
            Self::SpanEnter => "SpanEnter",
            Self::SpanExit => "SpanExit",
            Self::SpanClose => "SpanClose",
            Self::Event => "Event",
            Self::NewTask => "NewTask",
            Self::TaskPollStart => "TaskPollStart",
            Self::TaskPollEnd => "TaskPollEnd",
            Self::TaskDrop => "TaskDrop",
            Self::WakerWake => "WakerWake",
            Self::WakerWakeByRef => "WakerWakeByRef",
            Self::WakerClone => "WakerClone",
            Self::WakerDrop => "WakerDrop",
            Self::End => "End",
            Self::Callsite => "Callsite",
            Self::Span => "Span",
            Self::Task => "Task",
        }
    }
}

impl core::fmt::Display for RecordKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}

/// A record of a sequence.
///
/// # Layout
/// The timestamp as `varint(u64)`, the kind as `varint(u32)` from 0 for `SpanNew` to 12 for `WakerDrop`, and the data.
///
/// # Units
/// The timestamp is in microseconds from the base time of the chunk, not from the start of its interval;
/// [`ChunkHeader::absolute`](super::ChunkHeader::absolute) makes it a time since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record<'a> {
    offset: u64,
    timestamp: u64,
    data: RecordData<'a>,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum RecordData<'a> {
    /// A span was opened.
    SpanNew {
        /// Instrumentation id of the span.
        iid: u64,
    },
    /// A span was entered.
    SpanEnter {
        /// Instrumentation id of the span.
        iid: u64,
    },
    /// A span was left.
    SpanExit {
        /// Instrumentation id of the span.
        iid: u64,
    },
    /// A span was closed.
    SpanClose {
        /// Instrumentation id of the span.
        iid: u64,
    },
    /// Something was logged.
    Event(Event<'a>),
    /// A task was spawned.
    NewTask {
        /// Instrumentation id of the task.
        iid: u64,
    },
    /// Polling a task began.
    TaskPollStart {
        /// Instrumentation id of the task.
        iid: u64,
    },
    /// Polling a task ended.
    TaskPollEnd {
        /// Instrumentation id of the task.
        iid: u64,
    },
    /// A task was dropped.
    TaskDrop {
        /// Instrumentation id of the task.
        iid: u64,
    },
    /// A waker was consumed to wake its task.
    WakerWake(Waker),
    /// A waker woke its task.
    WakerWakeByRef(Waker),
    /// A waker was cloned.
    WakerClone(Waker),
    /// A waker was dropped.
    WakerDrop(Waker),
}

/// The data of a record about a waker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Waker {
    /// Instrumentation id of the task that the waker wakes.
    pub task_iid: u64,
    /// Instrumentation id of the task in which it happened (the document calls it a task id).
    pub context: Option<u64>,
}

/// The data of an event.
///
/// # Layout
/// The callsite's id as `varint(u64)`, [`Parent`], a list of [`FieldValue`] (of the fields that the callsite names), a
/// list of [`Field`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event<'a> {
    callsite_id: u64,
    details: Details<'a>,
}

impl<'a> Event<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self> {
        Ok(Self { callsite_id: reader.u64(RECORD)?, details: Details::read(reader)? })
    }

    pub(super) fn skip(reader: &mut Reader<'a>) -> Result<()> {
        reader.u64(RECORD)?;
        Details::pass::<false>(reader)
    }

    /// The id of the callsite.
    pub const fn callsite_id(&self) -> u64 {
        self.callsite_id
    }

    /// The span that it happened in.
    pub fn parent(&self) -> Parent {
        self.details.parent()
    }

    /// The values of the fields that the callsite names, in its order.
    pub fn split_field_values(&self) -> List<'a, FieldValue<'a>> {
        self.details.split_field_values()
    }

    /// Fields with names of their own.
    pub fn dynamic_fields(&self) -> List<'a, Field<'a>> {
        self.details.dynamic_fields()
    }
}

impl<'a> RecordData<'a> {
    /// What happened, without the data.
    #[inline]
    pub const fn kind(&self) -> RecordKind {
        match self {
            Self::SpanNew { .. } => RecordKind::SpanNew,
            Self::SpanEnter { .. } => RecordKind::SpanEnter,
            Self::SpanExit { .. } => RecordKind::SpanExit,
            Self::SpanClose { .. } => RecordKind::SpanClose,
            Self::Event(_) => RecordKind::Event,
            Self::NewTask { .. } => RecordKind::NewTask,
            Self::TaskPollStart { .. } => RecordKind::TaskPollStart,
            Self::TaskPollEnd { .. } => RecordKind::TaskPollEnd,
            Self::TaskDrop { .. } => RecordKind::TaskDrop,
            Self::WakerWake(_) => RecordKind::WakerWake,
            Self::WakerWakeByRef(_) => RecordKind::WakerWakeByRef,
            Self::WakerClone(_) => RecordKind::WakerClone,
            Self::WakerDrop(_) => RecordKind::WakerDrop,
        }
    }

    /// The data of a record about a span or a task.
    #[inline(always)]
    fn about(kind: u8, iid: u64) -> Option<Self> {
        Some(match kind {
            0 => Self::SpanNew { iid },
            1 => Self::SpanEnter { iid },
            2 => Self::SpanExit { iid },
            3 => Self::SpanClose { iid },
            5 => Self::NewTask { iid },
            6 => Self::TaskPollStart { iid },
            7 => Self::TaskPollEnd { iid },
            8 => Self::TaskDrop { iid },
            _ => return None,
        })
    }

    /// The data of a record about a waker.
    #[inline(always)]
    fn of_waker(kind: u8, waker: Waker) -> Option<Self> {
        Some(match kind {
            9 => Self::WakerWake(waker),
            10 => Self::WakerWakeByRef(waker),
            11 => Self::WakerClone(waker),
            12 => Self::WakerDrop(waker),
            _ => return None,
        })
    }

    /// The data of a record of this kind.
    pub(super) fn read(reader: &mut Reader<'a>, kind: u8) -> Result<Option<Self>> {
        Ok(match kind {
            4 => Some(Self::Event(Event::read(reader)?)),
            9..=12 => Self::of_waker(kind, Waker::read(reader)?),
            0..=8 => Self::about(kind, reader.u64(RECORD)?),
            _ => None,
        })
    }

    /// The instrumentation id of the span or task that it is about; `None` for events.
    #[inline]
    pub const fn iid(&self) -> Option<u64> {
        match *self {
            Self::SpanNew { iid }
            | Self::SpanEnter { iid }
            | Self::SpanExit { iid }
            | Self::SpanClose { iid }
            | Self::NewTask { iid }
            | Self::TaskPollStart { iid }
            | Self::TaskPollEnd { iid }
            | Self::TaskDrop { iid } => Some(iid),
            Self::WakerWake(waker)
            | Self::WakerWakeByRef(waker)
            | Self::WakerClone(waker)
            | Self::WakerDrop(waker) => Some(waker.task_iid),
            Self::Event(_) => None,
        }
    }
}

impl Waker {
    #[inline]
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { task_iid: reader.u64(RECORD)?, context: reader.option(CONTEXT)? })
    }
}

impl<'a> Part<'a> for Record<'a> {
    const SIZE_MIN: u64 = 3;

    // Time, kind and id of most records stand in 8 bytes. Where they don't, or not in the usual form, the slow way has
    // the last word.
    #[inline(always)]
    fn read(reader: Reader<'a>) -> Result<(Self, Reader<'a>)> {
        match Self::read_word(reader) {
            Some(done) => Ok(done),
            None => Self::read_by_field(reader),
        }
    }

    #[inline(always)]
    fn skip(reader: Reader<'a>) -> Result<Reader<'a>> {
        match Self::skip_word(reader) {
            Some(behind) => Ok(behind),
            None => Self::skip_by_field(reader),
        }
    }
}

impl<'a> Record<'a> {
    #[inline(always)]
    fn read_word(mut reader: Reader<'a>) -> Option<(Self, Reader<'a>)> {
        let offset = reader.offset();
        let mut word = reader.word()?;
        let (timestamp, kind, id) = (word.take()?, word.take_byte()?, word.take()?);
        reader.advance(word.len());
        let data = if kind < 9 {
            RecordData::about(kind, id)?
        } else {
            let context = reader.short_option()?;
            RecordData::of_waker(kind, Waker { task_iid: id, context })?
        };
        Some((Self { offset, timestamp, data }, reader))
    }

    #[inline(never)]
    fn read_by_field(mut reader: Reader<'a>) -> Result<(Self, Reader<'a>)> {
        let offset = reader.offset();
        let timestamp = reader.u64(TIMESTAMP)?;
        let start = reader;
        let kind = reader.u32(RECORD)?;
        let data = match u8::try_from(kind) {
            Ok(kind) => RecordData::read(&mut reader, kind)?,
            Err(_) => None,
        };
        match data {
            Some(data) => Ok((Self { offset, timestamp, data }, reader)),
            None => Err(start.error(RECORD, ErrorKind::Invalid { value: kind.into() })),
        }
    }

    #[inline(always)]
    fn skip_word(mut reader: Reader<'a>) -> Option<Reader<'a>> {
        let mut word = reader.word()?;
        let (_, kind, _) = (word.take()?, word.take_byte()?, word.take()?);
        reader.advance(word.len());
        match kind {
            0..=3 | 5..=8 => {}
            9..=12 => drop(reader.short_option()?),
            _ => return None,
        }
        Some(reader)
    }

    #[inline(never)]
    fn skip_by_field(mut reader: Reader<'a>) -> Result<Reader<'a>> {
        reader.u64(TIMESTAMP)?;
        let start = reader;
        match reader.u32(RECORD)? {
            4 => Event::skip(&mut reader)?,
            9..=12 => drop(Waker::read(&mut reader)?),
            0..=8 => drop(reader.u64(RECORD)?),
            other => return Err(start.error(RECORD, ErrorKind::Invalid { value: other.into() })),
        }
        Ok(reader)
    }

    /// Offset in the input of its first byte.
    #[inline]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Microseconds from the base time of the chunk.
    #[inline]
    pub const fn timestamp(&self) -> u64 {
        self.timestamp
    }

    /// What happened.
    #[inline]
    pub const fn data(&self) -> RecordData<'a> {
        self.data
    }

    /// What happened, without the data.
    #[inline]
    pub const fn kind(&self) -> RecordKind {
        self.data.kind()
    }
}
