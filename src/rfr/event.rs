//! The data of records: events and wakers.

use super::element::{CONTEXT, RECORD};
use super::layout::{Row, Table, Wire};
use super::list::List;
use super::object::CONTEXT_FIELDS;
use super::read::Reader;
use super::value::{self, Field, FieldValue, Parent, ParentAndFields};
use crate::error::Result;

/// The fields of an [`Event`].
pub(super) const FIELDS: Table =
    &[Row::new("callsite id", "callsite_id", RECORD, Wire::U64), Row::structure(RECORD, value::FIELDS)];

/// The fields of a [`Waker`].
pub(super) const WAKER_FIELDS: Table = &[
    Row::new("task iid", "task_iid", RECORD, Wire::U64),
    Row::new("context", "context", CONTEXT, Wire::Option(CONTEXT_FIELDS)),
];

/// The data of a record about a waker.
///
/// # Layout
/// | field | in the document | type |
/// |---|---|---|
/// | task iid | `task_iid` | `varint(u64)` |
/// | context | `context` | option of `varint(u64)`: the iid of the task in which it happened |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Waker {
    pub(super) task_iid: u64,
    pub(super) context: Option<u64>,
}

/// The data of an event.
///
/// # Layout
/// | field | in the document | type |
/// |---|---|---|
/// | callsite id | `callsite_id` | `varint(u64)` |
/// | parent | `parent` | `varint(u32)`, see [`Parent`] |
/// | values | `split_field_values` | list of [`FieldValue`], of the fields that the callsite names |
/// | dynamic fields | `dynamic_fields` | list of [`Field`] |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event<'a> {
    pub(super) callsite_id: u64,
    pub(super) details: ParentAndFields<'a>,
}

impl<'a> Event<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self> {
        Ok(Self { callsite_id: reader.u64(RECORD)?, details: ParentAndFields::read(reader)? })
    }

    pub(super) fn skip(reader: &mut Reader<'a>) -> Result<()> {
        reader.skip_u64(RECORD)?;
        ParentAndFields::skip::<false>(reader)
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

impl Waker {
    /// Makes the data of a waker, to compare with.
    #[must_use]
    pub const fn new(task_iid: u64, context: Option<u64>) -> Self {
        Self { task_iid, context }
    }

    /// Instrumentation id of the task that the waker wakes.
    pub const fn task_iid(&self) -> u64 {
        self.task_iid
    }

    /// Instrumentation id of the task in which it happened (the document calls it a task id).
    pub const fn context(&self) -> Option<u64> {
        self.context
    }

    #[inline]
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { task_iid: reader.u64(RECORD)?, context: reader.option(CONTEXT)? })
    }

    pub(super) fn skip(reader: &mut Reader<'_>) -> Result<()> {
        reader.skip_u64(RECORD)?;
        reader.skip_option(CONTEXT)
    }
}
