use super::name::Name;
use super::node::{NONE, Node, Nodes};
use super::spec::Variables;
use super::table::Table;
use crate::ctf::metadata::{MetadataStream, Uuid};

/// The layout of a trace's data streams.
///
/// It is a `Copy` view of the nodes that were lent to it, and of the metadata, in which its names stand.
#[derive(Clone, Copy)]
pub struct Schema<'a, 's> {
    pub(crate) stream: MetadataStream<'a>,
    pub(crate) nodes: Nodes<'s>,
    /// The root of packet headers.
    pub(crate) header: u32,
    pub(super) trace: u32,
    pub(super) streams: Table,
    pub(super) events: Table,
    pub(super) clocks: Table,
    pub(super) uuid: Option<Uuid>,
    pub(super) environment: Variables,
    /// The number of nodes that stand in front.
    pub(super) front: u32,
    /// The hash of the metadata, if it was compiled before.
    pub(super) hash: Option<u64>,
}

impl<'a, 's> Schema<'a, 's> {
    /// The metadata that it was compiled from; of one that was [compiled before](Self::write), text without any
    /// meaning.
    pub fn metadata(&self) -> MetadataStream<'a> {
        self.stream
    }

    /// The UUID that packet headers repeat, if the trace has one.
    pub fn uuid(&self) -> Option<Uuid> {
        self.uuid
    }

    pub(crate) fn stream_count(&self) -> u32 {
        self.streams.len
    }

    /// True if there is a description of the trace itself.
    pub fn has_trace_class(&self) -> bool {
        self.trace != NONE
    }

    /// The place in a table of the entry with this identifier.
    #[inline]
    pub(super) fn find_place(&self, table: Table, start: u32, len: u32, id: u64) -> Option<u32> {
        // Identifiers mostly count from 0.
        if let Ok(at) = u32::try_from(id)
            && at < len
        {
            let place = start.wrapping_add(at);
            if self.nodes.get(table.get(self.nodes, place)).y() == id {
                return Some(place);
            }
        }
        let (mut low, mut high) = (0, len);
        while low < high {
            let middle = low.midpoint(high);
            let place = start.saturating_add(middle);
            let found = self.nodes.get(table.get(self.nodes, place)).y();
            match found.cmp(&id) {
                core::cmp::Ordering::Equal => return Some(place),
                core::cmp::Ordering::Less => low = middle.saturating_add(1),
                core::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    pub(crate) fn name_of(&self, index: u32) -> Option<Name<'a>> {
        self.nodes.get(index).place().map(|place| Name::at(&self.stream, place))
    }

    /// The node that says more about one at `index`.
    pub(crate) fn more(&self, index: u32) -> &'s Node {
        self.nodes.get(index.saturating_add(1))
    }

    /// The node of the references of a stream class: its clock, and its part of the table of event record classes.
    pub(crate) fn stream_info(&self, index: u32) -> &'s Node {
        self.nodes.get(self.more(index).b)
    }

    /// The place of a stream class among all.
    pub(crate) fn stream_place(&self, index: u32) -> u32 {
        let id = self.nodes.get(index).y();
        self.find_place(self.streams, 0, self.streams.len, id).unwrap_or(0)
    }

    pub(crate) fn stream_at(&self, at: u32) -> u32 {
        self.streams.get(self.nodes, at)
    }

    /// The place of an event record class among all; without an identifier, of the only one of a stream class.
    #[inline]
    pub(crate) fn event_place(&self, info: &Node, id: Option<u64>) -> Option<u32> {
        let (start, len) = (info.b, info.name);
        match id {
            None if len == 1 => Some(start),
            // The identifier is 0 if there is none.
            id => self.find_place(self.events, start, len, id.unwrap_or(0)),
        }
    }

    /// The number of nodes: no less than classes of each kind.
    pub(crate) fn numbers(&self) -> u32 {
        u32::try_from(self.nodes.0.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn event_count(&self) -> u32 {
        self.events.len
    }

    /// The event record class of a stream class; without an identifier, the only one.
    #[inline]
    pub(crate) fn event_class(&self, info: &Node, id: Option<u64>) -> Option<u32> {
        self.event_place(info, id).map(|place| self.event_at(place))
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
