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

    /// That of a record in a chunk, by its number.
    #[inline(always)]
    const fn of_chunk(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::SpanNew,
            1 => Self::SpanEnter,
            2 => Self::SpanExit,
            3 => Self::SpanClose,
            4 => Self::Event,
            5 => Self::NewTask,
            6 => Self::TaskPollStart,
            7 => Self::TaskPollEnd,
            8 => Self::TaskDrop,
            9 => Self::WakerWake,
            10 => Self::WakerWakeByRef,
            11 => Self::WakerClone,
            12 => Self::WakerDrop,
            _ => return None,
        })
    }

    /// Whether it is about a waker.
    #[inline(always)]
    pub const fn is_waker(self) -> bool {
        matches!(self, Self::WakerWake | Self::WakerWakeByRef | Self::WakerClone | Self::WakerDrop)
    }

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
    details: Details<'a>,
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

    /// The data of a record of this kind.
    pub(super) fn read(reader: &mut Reader<'a>, kind: u8) -> Result<Option<Self>> {
        Ok(match kind {
            0 => Some(Self::SpanNew { iid: reader.u64(RECORD)? }),
            1 => Some(Self::SpanEnter { iid: reader.u64(RECORD)? }),
            2 => Some(Self::SpanExit { iid: reader.u64(RECORD)? }),
            3 => Some(Self::SpanClose { iid: reader.u64(RECORD)? }),
            4 => Some(Self::Event(Event::read(reader)?)),
            5 => Some(Self::NewTask { iid: reader.u64(RECORD)? }),
            6 => Some(Self::TaskPollStart { iid: reader.u64(RECORD)? }),
            7 => Some(Self::TaskPollEnd { iid: reader.u64(RECORD)? }),
            8 => Some(Self::TaskDrop { iid: reader.u64(RECORD)? }),
            9 => Some(Self::WakerWake(Waker::read(reader)?)),
            10 => Some(Self::WakerWakeByRef(Waker::read(reader)?)),
            11 => Some(Self::WakerClone(Waker::read(reader)?)),
            12 => Some(Self::WakerDrop(Waker::read(reader)?)),
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

    // Time, kind and id of most records stand in 8 bytes.
    #[inline(always)]
    fn read_at_once(mut reader: Reader<'a>) -> Option<(Self, usize)> {
        let offset = reader.offset();
        let (timestamp, kind, id) = reader.three()?;
        let kind = RecordKind::of_chunk(kind)?;
        let (has_context, context) = match kind {
            RecordKind::Event => return None,
            kind if kind.is_waker() => reader.option_at_once()?,
            _ => (false, 0),
        };
        let record = Self { offset, timestamp, kind, id, has_context, context, details: Details::NONE };
        Some((record, reader.position()))
    }

    #[inline(never)]
    fn read(mut reader: Reader<'a>) -> Result<(Self, usize)> {
        let offset = reader.offset();
        let timestamp = reader.u64(TIMESTAMP)?;
        let start = reader;
        let kind = reader.u32(RECORD)?;
        let data = match u8::try_from(kind) {
            Ok(kind) => RecordData::read(&mut reader, kind)?,
            Err(_) => None,
        };
        match data {
            Some(data) => Ok((Self::new(offset, timestamp, data), reader.position())),
            None => Err(start.error(RECORD, ErrorKind::Invalid { value: kind.into() })),
        }
    }

    #[inline(never)]
    fn skip(mut reader: Reader<'a>) -> Result<usize> {
        reader.u64(TIMESTAMP)?;
        let start = reader;
        match reader.u32(RECORD)? {
            4 => Event::skip(&mut reader)?,
            9..=12 => drop(Waker::read(&mut reader)?),
            0..=8 => drop(reader.u64(RECORD)?),
            other => return Err(start.error(RECORD, ErrorKind::Invalid { value: other.into() })),
        }
        Ok(reader.position())
    }
}

impl<'a> Record<'a> {
    /// Finds the end of one, if that can be done at once.
    #[inline(always)]
    pub(super) fn skip_at_once(mut reader: Reader<'a>) -> Option<usize> {
        let (_, kind, _) = reader.three()?;
        match kind {
            0..=3 | 5..=8 => {}
            9..=12 => {
                reader.option_at_once()?;
            }
            _ => return None,
        }
        Some(reader.position())
    }

    fn new(offset: u64, timestamp: u64, data: RecordData<'a>) -> Self {
        let (id, context, details) = match data {
            RecordData::Event(event) => (event.callsite_id, None, event.details),
            RecordData::WakerWake(waker)
            | RecordData::WakerWakeByRef(waker)
            | RecordData::WakerClone(waker)
            | RecordData::WakerDrop(waker) => (waker.task_iid, waker.context, Details::NONE),
            _ => (data.iid().unwrap_or(0), None, Details::NONE),
        };
        let (has_context, context) = (context.is_some(), context.unwrap_or(0));
        Self { offset, timestamp, kind: data.kind(), id, has_context, context, details }
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
        let iid = self.id;
        let context = if self.has_context { Some(self.context) } else { None };
        let waker = Waker { task_iid: iid, context };
        match self.kind {
            RecordKind::SpanNew => RecordData::SpanNew { iid },
            RecordKind::SpanEnter => RecordData::SpanEnter { iid },
            RecordKind::SpanExit => RecordData::SpanExit { iid },
            RecordKind::SpanClose => RecordData::SpanClose { iid },
            RecordKind::NewTask => RecordData::NewTask { iid },
            RecordKind::TaskPollStart => RecordData::TaskPollStart { iid },
            RecordKind::TaskPollEnd => RecordData::TaskPollEnd { iid },
            RecordKind::TaskDrop => RecordData::TaskDrop { iid },
            RecordKind::WakerWake => RecordData::WakerWake(waker),
            RecordKind::WakerWakeByRef => RecordData::WakerWakeByRef(waker),
            RecordKind::WakerClone => RecordData::WakerClone(waker),
            RecordKind::WakerDrop => RecordData::WakerDrop(waker),
            // The four kinds of streams occur in no `Record`.
            RecordKind::Event
            | RecordKind::End
            | RecordKind::Callsite
            | RecordKind::Span
            | RecordKind::Task => RecordData::Event(Event { callsite_id: self.id, details: self.details }),
        }
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
