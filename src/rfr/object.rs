//! Spans and tasks: what records are about.

use super::element::{CONTEXT, OBJECT, TASK_KIND};
use super::layout::{Row, Table, Wire};
use super::list::List;
use super::read::{Part, Reader};
use super::value::{self, Field, FieldValue, Parent, ParentAndFields};
use crate::error::{ErrorKind, Result};

/// The fields of an [`Object`].
pub(super) const FIELDS: Table = &[Row::new(
    "object",
    "Object",
    OBJECT,
    Wire::Union(|number| match number {
        0 => Some(("Span", SPAN_FIELDS)),
        1 => Some(("Task", TASK_FIELDS)),
        _ => None,
    }),
)];

/// The fields of a [`Span`].
pub(super) const SPAN_FIELDS: Table = &[
    Row::new("iid", "iid", OBJECT, Wire::U64),
    Row::new("callsite id", "callsite_id", OBJECT, Wire::U64),
    Row::structure(OBJECT, value::FIELDS),
];

/// The fields of a [`Task`].
pub(super) const TASK_FIELDS: Table = &[
    Row::new("iid", "iid", OBJECT, Wire::U64),
    Row::new("callsite id", "callsite_id", OBJECT, Wire::U64),
    Row::new("task id", "task_id", OBJECT, Wire::U64),
    Row::new("task name", "task_name", OBJECT, Wire::Text),
    Row::new("task kind", "task_kind", TASK_KIND, Wire::Union(task_kind)),
    Row::new("context", "context", CONTEXT, Wire::Option(CONTEXT_FIELDS)),
];

/// The fields of a task's or waker's context.
pub(super) const CONTEXT_FIELDS: Table = &[Row::new("context", "context", CONTEXT, Wire::U64)];

fn task_kind(number: u32) -> Option<(&'static str, Table)> {
    const OTHER: Table = &[Row::new("task kind", "task_kind", TASK_KIND, Wire::Text)];
    let kind = match number {
        0 => TaskKind::Task,
        1 => TaskKind::Local,
        2 => TaskKind::Blocking,
        3 => TaskKind::BlockOn,
        4 => return Some(("Other", OTHER)),
        _ => return None,
    };
    Some((kind.name(), &[]))
}

/// The object of a sequence, which the instrumentation ids of its records name.
///
/// # Layout
/// | field | in the document | type |
/// |---|---|---|
/// | object | `Object` | `varint(u32)`, 0 for a [`Span`], 1 for a [`Task`], which follows |
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Object<'a> {
    /// A span.
    Span(Span<'a>),
    /// A task.
    Task(Task<'a>),
}

impl<'a> Part<'a> for Object<'a> {
    // The least size, which is that of a span.
    const SIZE_MIN: u64 = 6;

    fn read(start: Reader<'a>) -> Result<(Self, usize)> {
        let mut reader = start;
        let offset = start.offset();
        let object = match reader.u32(OBJECT)? {
            0 => Self::Span(Span { offset, ..Span::read(&mut reader)? }),
            1 => Self::Task(Task { offset, ..Task::read(&mut reader)? }),
            other => return Err(start.error(OBJECT, ErrorKind::Invalid { value: other.into() })),
        };
        Ok((object, reader.position()))
    }

    fn skip(start: Reader<'a>) -> Result<usize> {
        let mut reader = start;
        match reader.u32(OBJECT)? {
            0 => Span::skip(&mut reader)?,
            1 => Task::skip(&mut reader)?,
            other => return Err(start.error(OBJECT, ErrorKind::Invalid { value: other.into() })),
        }
        Ok(reader.position())
    }
}

impl<'a> Object<'a> {
    /// Offset in the input of its first byte.
    pub const fn offset(&self) -> u64 {
        match self {
            Self::Span(span) => span.offset,
            Self::Task(task) => task.offset,
        }
    }

    /// The instrumentation id.
    pub const fn iid(&self) -> u64 {
        match self {
            Self::Span(span) => span.iid,
            Self::Task(task) => task.iid,
        }
    }

    /// The id of the callsite: an address, which means something within one recording only.
    pub const fn callsite_id(&self) -> u64 {
        match self {
            Self::Span(span) => span.callsite_id,
            Self::Task(task) => task.callsite_id,
        }
    }

    /// The task, if it is one.
    pub const fn as_task(&self) -> Option<Task<'a>> {
        match *self {
            Self::Task(task) => Some(task),
            Self::Span(_) => None,
        }
    }
}

/// A `tracing` span.
///
/// # Layout
/// | field | in the document | type |
/// |---|---|---|
/// | iid | `iid` | `varint(u64)` |
/// | callsite id | `callsite_id` | `varint(u64)` |
/// | parent | `parent` | `varint(u32)`, see [`Parent`] |
/// | values | `split_field_values` | list of [`FieldValue`], of the fields that the callsite names |
/// | dynamic fields | `dynamic_fields` | list of [`Field`] |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span<'a> {
    offset: u64,
    iid: u64,
    callsite_id: u64,
    details: ParentAndFields<'a>,
}

impl<'a> Span<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let offset = reader.offset();
        let iid = reader.u64(OBJECT)?;
        let callsite_id = reader.u64(OBJECT)?;
        Ok(Self { offset, iid, callsite_id, details: ParentAndFields::read(reader)? })
    }

    pub(super) fn skip(reader: &mut Reader<'a>) -> Result<()> {
        reader.skip_u64(OBJECT)?;
        reader.skip_u64(OBJECT)?;
        ParentAndFields::skip::<false>(reader)
    }

    /// The bytes of its parent, values and fields.
    pub(super) const fn details(&self) -> &'a [u8] {
        self.details.bytes()
    }

    /// Offset in the input of its first byte; of its object's, where it stands in a list of objects.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The instrumentation id.
    pub const fn iid(&self) -> u64 {
        self.iid
    }

    /// The id of the callsite.
    pub const fn callsite_id(&self) -> u64 {
        self.callsite_id
    }

    /// The span that it was opened in.
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

/// A task of the runtime.
///
/// # Layout
/// | field | in the document | type |
/// |---|---|---|
/// | iid | `iid` | `varint(u64)` |
/// | callsite id | `callsite_id` | `varint(u64)` |
/// | task id | `task_id` | `varint(u64)` |
/// | task name | `task_name` | string |
/// | task kind | `task_kind` | `varint(u32)`, see [`TaskKind`] |
/// | context | `context` | option of `varint(u64)`: the iid of the task that spawned it (a task id in the document) |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task<'a> {
    offset: u64,
    iid: u64,
    callsite_id: u64,
    task_id: u64,
    name: &'a str,
    kind: TaskKind<'a>,
    context: Option<u64>,
}

impl<'a> Task<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self> {
        Ok(Self {
            offset: reader.offset(),
            iid: reader.u64(OBJECT)?,
            callsite_id: reader.u64(OBJECT)?,
            task_id: reader.u64(OBJECT)?,
            name: reader.string(OBJECT)?,
            kind: TaskKind::read(reader)?,
            context: reader.option(CONTEXT)?,
        })
    }

    pub(super) fn skip(reader: &mut Reader<'a>) -> Result<()> {
        reader.skip_u64(OBJECT)?;
        reader.skip_u64(OBJECT)?;
        reader.skip_u64(OBJECT)?;
        reader.skip_string::<false>(OBJECT)?;
        TaskKind::skip(reader)?;
        reader.skip_option(CONTEXT)
    }

    /// Offset in the input of its first byte; of its object's, where it stands in a list of objects.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The instrumentation id: what records name it by.
    pub const fn iid(&self) -> u64 {
        self.iid
    }

    /// The id of the callsite at which it was spawned.
    pub const fn callsite_id(&self) -> u64 {
        self.callsite_id
    }

    /// The id that the runtime gave it.
    #[doc(alias = "TaskId")]
    pub const fn task_id(&self) -> u64 {
        self.task_id
    }

    /// The name; often empty.
    #[doc(alias = "task_name")]
    pub const fn name(&self) -> &'a str {
        self.name
    }

    /// The way it was spawned.
    #[doc(alias = "task_kind")]
    pub const fn kind(&self) -> TaskKind<'a> {
        self.kind
    }

    /// The instrumentation id of the task that spawned it. Its object often is in another sequence, or in none.
    pub const fn context(&self) -> Option<u64> {
        self.context
    }
}

/// The way a task was spawned.
///
/// # Layout
/// `varint(u32)`: 0 Task, 1 Local, 2 Blocking, 3 BlockOn, 4 Other, which a string follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskKind<'a> {
    /// With `spawn`.
    Task,
    /// With `spawn_local`.
    Local,
    /// With `spawn_blocking`.
    Blocking,
    /// The future of `block_on`.
    BlockOn,
    /// In another way.
    Other(&'a str),
}

impl<'a> TaskKind<'a> {
    /// The name: that of the variant, or the text of `Other`.
    pub const fn name(self) -> &'a str {
        match self {
            Self::Task => "Task",
            Self::Local => "Local",
            Self::Blocking => "Blocking",
            Self::BlockOn => "BlockOn",
            Self::Other(name) => name,
        }
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let start = *reader;
        Ok(match reader.u32(TASK_KIND)? {
            0 => Self::Task,
            1 => Self::Local,
            2 => Self::Blocking,
            3 => Self::BlockOn,
            4 => Self::Other(reader.string(TASK_KIND)?),
            other => return Err(start.error(TASK_KIND, ErrorKind::Invalid { value: other.into() })),
        })
    }

    fn skip(reader: &mut Reader<'a>) -> Result<()> {
        let start = *reader;
        match reader.u32(TASK_KIND)? {
            0..=3 => Ok(()),
            4 => reader.skip_string::<false>(TASK_KIND),
            other => Err(start.error(TASK_KIND, ErrorKind::Invalid { value: other.into() })),
        }
    }
}
