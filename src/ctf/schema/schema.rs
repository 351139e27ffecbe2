use super::builder::Scope;
use super::finish::root_of;
use super::node::{NONE, Node, Nodes};
use super::table::Table;
use super::{FieldClass, Name};
use crate::ctf::metadata::{Language, MetadataStream, Text, Uuid};
use crate::error::Result;

/// How the data streams of a trace are laid out.
///
/// It is a `Copy` view of the nodes that were lent to it, and of the metadata, in which its names stand.
#[derive(Clone, Copy)]
pub struct Schema<'a, 's> {
    pub(crate) stream: MetadataStream<'a>,
    pub(crate) nodes: Nodes<'s>,
    /// The root of packet headers.
    pub(crate) header: u32,
    trace: u32,
    streams: Table,
    events: Table,
    clocks: Table,
    uuid: Option<Uuid>,
}

impl<'a, 's> Schema<'a, 's> {
    pub(super) fn new(
        stream: MetadataStream<'a>,
        nodes: &'s [Node],
        header: u32,
        trace: u32,
        [streams, events, clocks]: [Table; 3],
        uuid: Option<Uuid>,
    ) -> Self {
        Self { stream, nodes: Nodes(nodes), header, trace, streams, events, clocks, uuid }
    }

    /// Compiles the metadata of a trace into `nodes`.
    ///
    /// # Errors
    /// Those of the metadata's packets and of its JSON. What describes no trace is refused at its offset:
    /// `Missing`, `Misplaced`, `Repeated`, `Unexpected`, `Invalid`, `OverLimit`, `TooDeep` and others.
    /// `CapacityExceeded` if there are too few nodes, with the number that suffices.
    pub fn compile(metadata: &MetadataStream<'a>, nodes: &'s mut [Node]) -> Result<Self> {
        match metadata.language() {
            Language::Json => super::json::compile(metadata, nodes),
            Language::Tsdl => {
                super::tsdl::with_workspace(|workspace| super::tsdl::compile(*metadata, nodes, workspace))
            }
        }
    }

    /// How many nodes [`Schema::compile`] needs, found in one pass that stores nothing.
    ///
    /// It is exact for metadata with up to 64 field class aliases, and a lower bound for more of them.
    ///
    /// # Errors
    /// As [`Schema::compile`], as far as one pass can tell.
    pub fn needed(metadata: &MetadataStream<'_>) -> Result<u64> {
        match metadata.language() {
            Language::Json => super::json::needed(metadata),
            Language::Tsdl => super::tsdl::with_workspace(|workspace| {
                super::tsdl::needed(*metadata, workspace).map(|needed| needed.nodes)
            }),
        }
    }

    /// The metadata that it was compiled from.
    pub fn metadata(&self) -> MetadataStream<'a> {
        self.stream
    }

    /// The UUID that packet headers repeat, if the trace has one.
    pub fn uuid(&self) -> Option<Uuid> {
        self.uuid
    }

    /// The structure of packet headers.
    pub fn packet_header(&self) -> Option<FieldClass<'a, 's>> {
        self.class(self.header)
    }

    /// The data stream classes, by their identifiers in ascending order.
    pub fn stream_classes(&self) -> impl Iterator<Item = StreamClass<'a, 's>> + use<'a, 's> {
        let schema = *self;
        (0..self.streams.len)
            .map(move |at| StreamClass { schema, index: schema.streams.get(schema.nodes, at) })
    }

    /// The data stream class with this identifier.
    pub fn stream_class(&self, id: u64) -> Option<StreamClass<'a, 's>> {
        self.find(self.streams, 0, self.streams.len, id).map(|index| StreamClass { schema: *self, index })
    }

    /// The clock classes, in the order in which they are described.
    pub fn clocks(&self) -> impl Iterator<Item = Clock<'a, 's>> + use<'a, 's> {
        let schema = *self;
        (0..self.clocks.len).map(move |at| Clock { schema, index: schema.clocks.get(schema.nodes, at) })
    }

    pub(crate) fn stream_count(&self) -> u32 {
        self.streams.len
    }

    pub(crate) fn first_stream(&self) -> u32 {
        self.streams.get(self.nodes, 0)
    }

    /// Whether there is a description of the trace itself.
    pub fn has_trace_class(&self) -> bool {
        self.trace != NONE
    }

    /// The entry of a table with this identifier.
    #[inline]
    fn find(&self, table: Table, start: u32, len: u32, id: u64) -> Option<u32> {
        // Identifiers mostly count from 0.
        if let Ok(at) = u32::try_from(id)
            && at < len
        {
            let index = table.get(self.nodes, start.wrapping_add(at));
            if self.nodes.get(index).y() == id {
                return Some(index);
            }
        }
        let (mut low, mut high) = (0, len);
        while low < high {
            let middle = low.midpoint(high);
            let index = table.get(self.nodes, start.saturating_add(middle));
            let found = self.nodes.get(index).y();
            match found.cmp(&id) {
                core::cmp::Ordering::Equal => return Some(index),
                core::cmp::Ordering::Less => low = middle.saturating_add(1),
                core::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    pub(crate) fn class(&self, index: u32) -> Option<FieldClass<'a, 's>> {
        (index != NONE).then(|| FieldClass::new(*self, index))
    }

    pub(crate) fn name_of(&self, index: u32) -> Option<Name<'a>> {
        self.nodes.get(index).place().map(|place| Name::at(&self.stream, place))
    }

    /// The node that says more about one at `index`.
    pub(crate) fn more(&self, index: u32) -> &'s Node {
        self.nodes.get(index.saturating_add(1))
    }

    /// What a stream class refers to: its clock, and its part of the table of event record classes.
    pub(crate) fn stream_info(&self, index: u32) -> &'s Node {
        self.nodes.get(self.more(index).b)
    }

    /// The event record class of a stream class; without an identifier, the only one.
    #[inline]
    pub(crate) fn event_class(&self, info: &Node, id: Option<u64>) -> Option<u32> {
        let (start, len) = (info.b, info.name);
        match id {
            Some(id) => self.find(self.events, start, len, id),
            None if len == 1 => Some(self.events.get(self.nodes, start)),
            // The identifier is 0 if there is none.
            None => self.find(self.events, start, len, 0),
        }
    }

    pub(crate) fn event_at(&self, at: u32) -> u32 {
        self.events.get(self.nodes, at)
    }
}

impl core::fmt::Debug for Schema<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Schema")
            .field("nodes", &self.nodes.0.len())
            .field("stream_classes", &self.streams.len)
            .field("event_classes", &self.events.len)
            .finish()
    }
}

/// A class of data streams.
#[derive(Clone, Copy)]
pub struct StreamClass<'a, 's> {
    pub(crate) schema: Schema<'a, 's>,
    pub(crate) index: u32,
}

impl<'a, 's> StreamClass<'a, 's> {
    /// Its identifier.
    pub fn id(&self) -> u64 {
        self.schema.nodes.get(self.index).y()
    }

    /// Its name.
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

    /// Its event record classes, by their identifiers in ascending order.
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
        self.schema.class(root_of(self.schema.nodes, self.index, scope))
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
    pub(crate) schema: Schema<'a, 's>,
    pub(crate) index: u32,
}

impl<'a, 's> EventClass<'a, 's> {
    /// Its identifier.
    pub fn id(&self) -> u64 {
        self.schema.nodes.get(self.index).y()
    }

    /// Its name.
    pub fn name(&self) -> Option<Name<'a>> {
        self.schema.name_of(self.index)
    }

    /// The namespace of its name.
    pub fn namespace(&self) -> Option<Name<'a>> {
        self.schema.name_of(self.index.saturating_add(1))
    }

    /// The structure of its specific context or its payload.
    pub fn scope(&self, scope: Scope) -> Option<FieldClass<'a, 's>> {
        self.schema.class(root_of(self.schema.nodes, self.index, scope))
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
    pub fn key(&self) -> u32 {
        self.index
    }
}

impl PartialEq for EventClass<'_, '_> {
    /// Whether both are the same class of the same schema.
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && core::ptr::eq(self.schema.nodes.0, other.schema.nodes.0)
    }
}

impl core::fmt::Debug for EventClass<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("EventClass").field("id", &self.id()).finish_non_exhaustive()
    }
}

/// A class of clocks: what a time stamp counts, and from when.
#[derive(Clone, Copy)]
pub struct Clock<'a, 's> {
    pub(crate) schema: Schema<'a, 's>,
    pub(crate) index: u32,
}

impl<'a> Clock<'a, '_> {
    /// Its name.
    pub fn name(&self) -> Option<Name<'a>> {
        self.schema.name_of(self.index)
    }

    /// The identifier by which stream classes refer to it.
    pub fn id(&self) -> Option<Name<'a>> {
        self.schema.name_of(self.index.saturating_add(1))
    }

    /// Its frequency.
    ///
    /// # Units
    /// Cycles per second; never 0.
    pub fn frequency(&self) -> u64 {
        self.schema.nodes.get(self.index).y()
    }

    /// The whole seconds from its origin to its zero.
    pub fn offset_seconds(&self) -> i64 {
        self.schema.nodes.get(self.index.saturating_add(2)).y().cast_signed()
    }

    /// The cycles to be added to [`Self::offset_seconds`].
    pub fn offset_cycles(&self) -> u64 {
        self.schema.nodes.get(self.index.saturating_add(1)).y()
    }

    /// Whether it counts from 1970-01-01T00:00:00Z.
    pub fn is_unix(&self) -> bool {
        self.schema.nodes.get(self.index.saturating_add(2)).slot == 1
    }

    /// The text of the metadata from its description on.
    pub fn text(&self) -> Text<'a> {
        self.schema.stream.text_from(self.schema.nodes.get(self.index.saturating_add(3)).a.into())
    }

    /// A time in nanoseconds from the clock's origin, rounded down.
    ///
    /// It may be negative, and may need more than 64 bits.
    ///
    /// # Units
    /// `cycles` is a value of the clock.
    pub fn nanoseconds(&self, cycles: u64) -> i128 {
        const SECOND: u128 = 1_000_000_000;
        let frequency = u128::from(self.frequency().max(1));
        let seconds = i128::from(self.offset_seconds()).saturating_mul(1_000_000_000);
        let cycles = u128::from(self.offset_cycles()).saturating_add(cycles.into());
        let nanos = if frequency == SECOND {
            cycles
        } else {
            // At most 65 and 30 bits, 95 together.
            cycles.saturating_mul(SECOND).checked_div(frequency).unwrap_or(0)
        };
        seconds.saturating_add(i128::try_from(nanos).unwrap_or(i128::MAX))
    }
}

impl core::fmt::Debug for Clock<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Clock").field("frequency", &self.frequency()).finish_non_exhaustive()
    }
}
