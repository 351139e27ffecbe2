//! Building a schema, whatever language it is described in.

use super::element::{ALIAS, SCHEMA};
use super::node::{ESCAPED, Kind, LAST, NONE, Node, Nodes, Place};
use super::scope::Scope;
use super::spec::{ClassSpec, ClockSpec, Step, Variables};
use crate::bytes::to_u64;
use crate::ctf::metadata::{MetadataStream, Uuid};
use crate::error::{Error, ErrorKind, Result};

/// Emits nodes into storage that the caller lends.
///
/// The classes of a trace stand in its front one after the other, each with its children after it (in document order,
/// depth first), so that a copy of an alias is a copy of a range. What they refer to (ranges, labels, locations) stands
/// at its end.
#[derive(Debug)]
pub(crate) struct Builder<'s> {
    pub(crate) nodes: &'s mut [Node],
    /// The number of nodes that are used at the front.
    pub(crate) front: u32,
    /// The number of nodes at the end.
    pub(crate) tail: u32,
    /// Nothing is stored but aliases.
    pub(crate) counting: bool,
    /// The roots of the trees of aliases, of clock classes and of data stream classes.
    pub(super) aliases: u32,
    pub(super) clock_tree: u32,
    stream_tree: u32,
    pub(crate) uuid: Option<Uuid>,
    pub(super) environment: Variables,
    /// The number of classes of each kind.
    pub(crate) streams: u32,
    pub(crate) events: u32,
    pub(crate) clocks: u32,
    /// The node that describes the trace, or `NONE`.
    pub(crate) trace: u32,
    /// The offset in the metadata, for errors.
    pub(crate) offset: u64,
    /// The number of aliases a builder that counts has stored.
    pub(super) kept: u32,
}

impl<'s> Builder<'s> {
    pub(crate) fn new(nodes: &'s mut [Node]) -> Self {
        Self {
            nodes,
            front: 0,
            tail: 0,
            counting: false,
            aliases: NONE,
            clock_tree: NONE,
            stream_tree: NONE,
            uuid: None,
            environment: Variables::NONE,
            streams: 0,
            events: 0,
            clocks: 0,
            trace: NONE,
            offset: 0,
            kept: 0,
        }
    }

    /// Counts what is needed, and stores nothing but the sizes of aliases: as many as there is `scratch` for.
    pub(crate) fn counting(scratch: &'s mut [Node]) -> Self {
        Self { counting: true, ..Self::new(scratch) }
    }

    /// The number of nodes that are needed, all in all, for what has been emitted.
    pub(crate) fn needed(&self) -> u64 {
        let tables = [self.streams, self.events, self.clocks].map(|count| u64::from(count.div_ceil(4)));
        let sum = u64::from(self.front).saturating_add(self.tail.into());
        tables.into_iter().fold(sum, u64::saturating_add)
    }

    pub(crate) fn view(&self) -> Nodes<'_> {
        Nodes(self.nodes)
    }

    #[allow(clippy::as_conversions)]
    pub(crate) fn node(&self, index: u32) -> Node {
        self.nodes.get(index as usize).copied().unwrap_or(Node::EMPTY)
    }

    /// Changes a node that has been emitted.
    #[allow(clippy::as_conversions)]
    pub(crate) fn update(&mut self, index: u32, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.nodes.get_mut(index as usize).filter(|_| !self.counting) {
            change(node);
        }
    }

    pub(crate) fn swap(&mut self, a: u32, b: u32) {
        let (first, second) = (self.node(a), self.node(b));
        self.update(a, |node| *node = second);
        self.update(b, |node| *node = first);
    }

    /// The error that the storage is too small. [`Builder::needed`] of a builder that counts says what suffices.
    #[cold]
    fn full(&self) -> Error {
        let capacity = to_u64(self.nodes.len());
        let needed = self.needed().max(capacity.saturating_add(1));
        Error::new(self.offset, SCHEMA, ErrorKind::CapacityExceeded { capacity, needed })
    }

    /// Appends a node at the front, and gives its index. What it says can be [updated](Self::update) later; when its
    /// children have been appended, it must be [closed](Self::close).
    pub(crate) fn open(&mut self, node: Node) -> Result<u32> {
        let index = self.front;
        if !self.counting {
            let used = u64::from(index).saturating_add(self.tail.into());
            if used >= to_u64(self.nodes.len()) {
                return Err(self.full());
            }
        }
        self.front = index.checked_add(1).filter(|next| *next < NONE).ok_or_else(|| self.full())?;
        self.update(index, |slot| *slot = Node { size: 1, ..node });
        Ok(index)
    }

    /// Ends a node: what was appended after it are its children.
    pub(crate) fn close(&mut self, index: u32) {
        let size = self.front.saturating_sub(index);
        self.update(index, |node| node.size = size);
    }

    /// Adds a node at the end of the storage, and gives its index. Those of a list are added one after the other.
    #[allow(clippy::as_conversions)]
    pub(crate) fn side(&mut self, node: Node) -> Result<u32> {
        let used = u64::from(self.front).saturating_add(self.tail.into());
        let capacity = to_u64(self.nodes.len());
        if !self.counting && used >= capacity {
            return Err(self.full());
        }
        self.tail = self.tail.checked_add(1).ok_or_else(|| self.full())?;
        let stores = !self.counting || matches!(node.kind, Kind::Alias);
        if self.counting && stores {
            self.kept = self.kept.saturating_add(1);
        }
        let used = if self.counting { self.kept } else { self.tail };
        let index = capacity.saturating_sub(used.into());
        let Ok(index) = u32::try_from(index) else { return Err(self.full()) };
        let stores = stores && u64::from(used) <= capacity;
        if let Some(slot) = self.nodes.get_mut(index as usize).filter(|_| stores) {
            *slot = node;
        }
        Ok(index)
    }

    /// A range of values; `is_last` of those that belong together. `None` if an end has more than 64 bits.
    pub(crate) fn range(&mut self, lo: i128, hi: i128) -> Result<Option<u32>> {
        let (Some(x), Some(y)) = (bits(lo), bits(hi)) else { return Ok(None) };
        let mut node = Node::pair(Kind::Range, x, y);
        node.set(super::node::BIG, lo < 0);
        node.set(super::node::REVERSED, hi < 0);
        self.side(node).map(Some)
    }

    /// The name of a mapping or a flag; its ranges are to be added next, and their number to be set as its `size`.
    pub(crate) fn label(&mut self, name: Place) -> Result<u32> {
        let mut node = Node::new(Kind::Label);
        node.set_name(name);
        self.side(node)
    }

    /// One step of a location; the first one has the origin: none for a relative one.
    pub(crate) fn step(&mut self, origin: Option<Scope>, step: Step) -> Result<u32> {
        let mut node = Node::new(Kind::Location);
        node.slot = origin.map_or(super::node::NO_SLOT, Scope::number);
        if let Step::Name(place) = step {
            node.set_name(place);
        }
        self.side(node)
    }

    /// Marks the last node of a list that was added to the end.
    pub(crate) fn end_list(&mut self, last: u32) {
        self.update(last, |node| node.set(LAST, true));
    }

    /// Appends a copy of the class at `template` and all that is in it; gives the index of the copy.
    #[allow(clippy::as_conversions)]
    pub(crate) fn copy(&mut self, template: u32) -> Result<u32> {
        let index = self.front;
        let size = self.node(template).size;
        let end = index.checked_add(size).filter(|end| *end < NONE).ok_or_else(|| self.full())?;
        let used = u64::from(end).saturating_add(self.tail.into());
        if used > to_u64(self.nodes.len()) {
            // A counting builder has no templates and does not come here.
            return Err(self.full());
        }
        for distance in 0..size {
            let node = self.node(template.saturating_add(distance));
            let to = index.saturating_add(distance);
            self.update(to, |slot| *slot = node);
        }
        self.front = end;
        Ok(index)
    }

    /// Counts the nodes of a copy without making one.
    pub(super) fn count(&mut self, size: u32) -> Result<u32> {
        let index = self.front;
        self.front = index.checked_add(size).filter(|end| *end < NONE).ok_or_else(|| self.full())?;
        Ok(index)
    }

    /// The node of the references of a data stream class.
    pub(crate) fn stream_info(&self, class: u32) -> u32 {
        self.node(class.saturating_add(1)).b
    }

    /// The entry of a data stream class, or else the last one on the way to where it would stand, and on which side.
    fn find_stream_entry(&self, id: u64) -> (u32, u32, bool) {
        // Identifiers that follow each other get different bits at once, and no two of them the same ones.
        let mut bits = id.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
        let (mut parent, mut right) = (NONE, false);
        let mut at = self.stream_tree;
        while at != NONE {
            if self.node(at).y() == id {
                return (at, parent, right);
            }
            (parent, right) = (at, bits & 1 == 1);
            bits = bits.rotate_right(1);
            let (left, other) = self.sides(self.node(at.saturating_add(1)).b);
            at = if right { other } else { left };
        }
        (NONE, parent, right)
    }

    /// The nodes below the last node of a data stream class, until all are known.
    fn sides(&self, last: u32) -> (u32, u32) {
        (self.node(last).name, self.node(last).b)
    }

    /// Puts `index` below a last node.
    fn set_side(&mut self, last: u32, right: bool, index: u32) {
        self.update(last, |node| if right { node.b = index } else { node.name = index });
    }

    /// Begins what describes a trace, a stream class, an event record class, a clock or an alias: two nodes.
    ///
    /// Root structures or the alias's class follow, then one of `end_trace`, `end_stream`, `end_event`, `end_alias` or
    /// `clock`.
    pub(crate) fn begin(&mut self) -> Result<u32> {
        let index = self.open(Node::EMPTY)?;
        self.open(Node::new(Kind::More))?;
        Ok(index)
    }

    /// Says that the structure at `root`, which is closed, is the root of a scope.
    pub(crate) fn root(&mut self, root: u32, scope: Scope) {
        self.update(root, |node| node.name = scope.number().into());
    }

    /// Ends the trace class.
    pub(crate) fn end_trace(&mut self, index: u32) {
        self.trace = index;
        self.close(index);
        self.update(index, |node| node.kind = Kind::Trace);
    }

    /// Ends a data stream class, with the index of its clock.
    pub(crate) fn end_stream(&mut self, index: u32, spec: &ClassSpec, clock: Option<u32>) -> Result<()> {
        // Its first event record class in the table, and how many there are: when all are known.
        let mut info = Node::new(Kind::More);
        info.a = clock.unwrap_or(NONE);
        // Until then, what it has below it in the tree of identifiers.
        (info.name, info.b) = (NONE, NONE);
        let info = self.open(info)?;
        self.streams = self.streams.saturating_add(1);
        self.end_class(index, Kind::Stream, spec, info);
        let (found, parent, right) = self.find_stream_entry(spec.id);
        if self.counting || found != NONE {
            // A repeated name is found when all are known.
            return Ok(());
        }
        if parent == NONE {
            self.stream_tree = index;
        } else {
            self.set_side(self.node(parent.saturating_add(1)).b, right, index);
        }
        Ok(())
    }

    /// Ends an event record class of the stream class at `stream`.
    pub(crate) fn end_event(&mut self, index: u32, spec: &ClassSpec, stream: u32) {
        self.events = self.events.saturating_add(1);
        self.end_class(index, Kind::Event, spec, stream);
    }

    fn end_class(&mut self, index: u32, kind: Kind, spec: &ClassSpec, more: u32) {
        self.close(index);
        self.update(index, |node| {
            node.kind = kind;
            node.set_y(spec.id);
            if let Some(name) = spec.name {
                node.set_name(name);
            }
        });
        self.update(index.saturating_add(1), |node| {
            // It is below 2³²: the name's place is.
            node.a = u32::try_from(spec.offset).unwrap_or(NONE);
            node.b = more;
            if let Some(namespace) = spec.namespace {
                node.set_name(namespace);
            }
        });
    }

    /// Ends an alias's definition.
    pub(crate) fn end_alias(&mut self, stream: &MetadataStream<'_>, index: u32, name: Place) -> Result<()> {
        self.close(index);
        self.update(index, |node| node.kind = Kind::Alias);
        let template = index.saturating_add(2);
        let size = self.front.saturating_sub(template);
        if self.add_alias(stream, name, template, size)? {
            Ok(())
        } else {
            Err(Error::new(name.offset.into(), ALIAS, ErrorKind::Repeated))
        }
    }

    /// Ends a clock class, and gives its index.
    pub(crate) fn end_clock(&mut self, index: u32, spec: &ClockSpec) -> Result<u32> {
        let mut seconds = Node::new(Kind::More);
        seconds.set_y(spec.seconds.cast_unsigned());
        seconds.slot = u8::from(spec.is_unix);
        self.open(seconds)?;
        // Its other fields are its branch in the tree of identifiers.
        let mut more = Node::new(Kind::More);
        more.name = u32::try_from(spec.offset).unwrap_or(NONE);
        self.open(more)?;
        self.close(index);
        self.clocks = self.clocks.saturating_add(1);
        self.update(index, |node| {
            node.kind = Kind::Clock;
            node.set_y(spec.frequency);
            if let Some(name) = spec.name {
                node.set_name(name);
            }
        });
        self.update(index.saturating_add(1), |node| {
            node.set_y(spec.cycles);
            if let Some(id) = spec.id {
                node.set_name(id);
            }
        });
        Ok(index)
    }

    /// Says that the origin of the clock class at `index` is the Unix epoch.
    pub(crate) fn set_unix(&mut self, index: u32) {
        // The node of its seconds: see `end_clock`.
        self.update(index.saturating_add(2), |node| node.slot = 1);
    }

    /// The data stream class with this identifier.
    pub(crate) fn find_stream(&self, id: u64) -> Option<u32> {
        Some(self.find_stream_entry(id).0).filter(|index| *index != NONE)
    }
}

/// The bits of a number in 64 bits, if it has no more.
fn bits(value: i128) -> Option<u64> {
    match u64::try_from(value) {
        Ok(value) => Some(value),
        Err(_) => i64::try_from(value).ok().map(i64::cast_unsigned),
    }
}

// A label's flags and a place's must not meet.
const _: () = assert!(ESCAPED & LAST == 0);

#[cfg(test)]
mod tests {
    use super::{Builder, NONE, Node};
    use crate::ctf::schema::spec::ClassSpec;

    fn depth(builder: &Builder<'_>, index: u32) -> u32 {
        if index == NONE {
            return 0;
        }
        let (left, right) = builder.sides(builder.node(index + 1).b);
        1 + depth(builder, left).max(depth(builder, right))
    }

    #[test]
    fn stream_classes_are_found_in_few_steps() {
        for step in [1, 1 << 8, 1 << 20, 1 << 48] {
            let mut nodes = [Node::EMPTY; 9000];
            let mut builder = Builder::new(&mut nodes);
            for number in 0..3000 {
                let at = builder.begin().unwrap();
                let spec = ClassSpec { id: number * step, name: None, namespace: None, offset: 0 };
                builder.end_stream(at, &spec, None).unwrap();
            }
            assert!(depth(&builder, builder.stream_tree) < 40, "{step}");
            for number in 0..3000 {
                assert_eq!(
                    builder.find_stream(number * step).map(|at| builder.node(at).y()),
                    Some(number * step)
                );
            }
            assert_eq!(builder.find_stream(3000 * step), None);
        }
    }
}
