//! Classes of data streams and of event records.

use super::class::FieldClass;
use super::clock::Clock;
use super::name::Name;
use super::node::NONE;
use super::schema::Schema;
use super::scope::{Scope, root_of};
use crate::ctf::metadata::Text;
use core::fmt::{self, Display};

impl<'a, 's> Schema<'a, 's> {
    /// The structure of packet headers.
    pub fn packet_header(&'s self) -> Option<FieldClass<'a, 's>> {
        FieldClass::some(self, self.header)
    }

    /// The data stream classes, by their identifiers in ascending order.
    pub fn stream_classes(&'s self) -> impl Iterator<Item = StreamClass<'a, 's>> + use<'a, 's> {
        let schema = self;
        (0..self.streams.len)
            .map(move |at| StreamClass { schema, index: schema.streams.get(schema.nodes, at) })
    }

    /// The data stream class with this identifier.
    pub fn stream_class(&'s self, id: u64) -> Option<StreamClass<'a, 's>> {
        self.find_place(self.streams, 0, self.streams.len, id)
            .map(|at| StreamClass { schema: self, index: self.stream_at(at) })
    }
}

/// A class of data streams.
#[derive(Clone, Copy)]
pub struct StreamClass<'a, 's> {
    pub(crate) schema: &'s Schema<'a, 's>,
    pub(crate) index: u32,
}

impl<'a, 's> StreamClass<'a, 's> {
    /// The identifier.
    pub fn id(&self) -> u64 {
        self.schema.nodes.get(self.index).y()
    }

    /// The name.
    pub fn name(&self) -> Option<Name<'a>> {
        self.schema.name_of(self.index)
    }

    /// The namespace of its name.
    pub fn namespace(&self) -> Option<Name<'a>> {
        self.schema.name_of(self.index.saturating_add(1))
    }

    /// The clock of its time stamps.
    #[doc(alias = "default-clock-class-id")]
    pub fn clock(&self) -> Option<Clock<'a, 's>> {
        let index = self.schema.stream_info(self.index).a;
        (index != NONE).then_some(Clock { schema: self.schema, index })
    }

    /// The event record classes, by their identifiers in ascending order.
    pub fn event_classes(&self) -> impl Iterator<Item = EventClass<'a, 's>> + use<'a, 's> {
        let schema = self.schema;
        let info = schema.stream_info(self.index);
        (info.b..info.b.saturating_add(info.name))
            .map(move |at| EventClass { schema, index: schema.event_at(at) })
    }

    /// The event record class with this identifier.
    pub fn event_class(&self, id: u64) -> Option<EventClass<'a, 's>> {
        let info = self.schema.stream_info(self.index);
        let index = self.schema.event_class(info, Some(id))?;
        Some(EventClass { schema: self.schema, index })
    }

    /// The structure of one of its scopes: a packet's context, the header or the common context of an event record.
    pub fn scope(&self, scope: Scope) -> Option<FieldClass<'a, 's>> {
        FieldClass::some(self.schema, root_of(self.schema.nodes, self.index, scope))
    }

    /// The text of the metadata from its description on.
    pub fn text(&self) -> Text<'a> {
        self.schema.stream.text_from(self.schema.more(self.index).a.into())
    }
}

impl core::fmt::Debug for StreamClass<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("StreamClass").field("id", &self.id()).finish_non_exhaustive()
    }
}

/// A class of event records.
#[derive(Clone, Copy)]
pub struct EventClass<'a, 's> {
    pub(crate) schema: &'s Schema<'a, 's>,
    pub(crate) index: u32,
}

impl<'a, 's> EventClass<'a, 's> {
    /// The identifier.
    pub fn id(&self) -> u64 {
        self.schema.nodes.get(self.index).y()
    }

    /// The name.
    pub fn name(&self) -> Option<Name<'a>> {
        self.schema.name_of(self.index)
    }

    /// The namespace of its name.
    pub fn namespace(&self) -> Option<Name<'a>> {
        self.schema.name_of(self.index.saturating_add(1))
    }

    /// The structure of its specific context or its payload.
    pub fn scope(&self, scope: Scope) -> Option<FieldClass<'a, 's>> {
        FieldClass::some(self.schema, root_of(self.schema.nodes, self.index, scope))
    }

    /// The class of the streams in which it occurs.
    pub fn stream_class(&self) -> StreamClass<'a, 's> {
        StreamClass { schema: self.schema, index: self.schema.more(self.index).b }
    }

    /// The text of the metadata from its description on: in CTF 2 its first JSON value is the fragment.
    pub fn text(&self) -> Text<'a> {
        self.schema.stream.text_from(self.schema.more(self.index).a.into())
    }

    /// A number that no other event record class of the schema has: for tables of one's own.
    #[inline]
    pub fn key(&self) -> u32 {
        self.index
    }
}

/// Its name; `event 7` for one without.
impl Display for EventClass<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => name.fmt(f),
            None => write!(f, "event {}", self.id()),
        }
    }
}

impl PartialEq for EventClass<'_, '_> {
    /// True if both are the same class of the same schema.
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && core::ptr::eq(self.schema.nodes.0, other.schema.nodes.0)
    }
}

impl core::fmt::Debug for EventClass<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("EventClass").field("id", &self.id()).finish_non_exhaustive()
    }
}
