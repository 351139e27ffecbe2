//! True if a schema from a file is one that a compiler could have written.
//!
//! A table that passes is read without a panic and without a loop that does not end, whatever it says. It takes
//! a few steps for each node.

use super::Schema;
use super::element::TABLE_NODE;
use super::layout::{after_string, with_layout};
use super::node::{DEPTH, ESCAPED, Kind, LAST, NAMED, NO_SLOT, NONE, Node, Nodes, SLOTS, SPLIT};
use super::roles::Around;
use super::scope::{Scope, root_of};
use super::table::Table;
use crate::error::{Error, ErrorKind, Result};

/// The size of what precedes the nodes of a table, and of a node.
pub(super) const HEADER: u32 = 96;
pub(super) const NODE: u32 = 24;

/// The error that the node at `index` is none that a compiler writes.
#[cold]
pub(super) fn malformed(index: u32) -> Error {
    let offset = u64::from(index).saturating_mul(NODE.into()).saturating_add(HEADER.into());
    Error::new(offset, TABLE_NODE, ErrorKind::Malformed)
}

/// Checks all nodes of a table.
pub(super) fn validate(schema: &Schema<'_, '_>) -> Result<()> {
    let names = u32::try_from(schema.stream.input().len()).unwrap_or(NONE);
    let count = u32::try_from(schema.nodes.0.len()).unwrap_or(NONE);
    let check = Check { schema, nodes: schema.nodes, front: schema.front, count, names };
    if schema.front > count {
        return Err(malformed(0));
    }
    (0..count).try_for_each(|index| check.name(index))?;
    check.end()?;
    let mut at = 0;
    while at < check.front {
        let node = schema.nodes.get(at);
        // A part of a table has an index in place of its size.
        let size = if node.kind == Kind::Table { 1 } else { node.size };
        let end = at.checked_add(size).filter(|end| at < *end && *end <= check.front);
        let end = end.ok_or_else(|| malformed(at))?;
        check.top(at, node, end)?;
        at = end;
    }
    for index in (0..check.front).rev() {
        super::work::count(1);
        if with_layout(schema.nodes, index) != *schema.nodes.get(index) {
            return Err(malformed(index));
        }
        let end = schema.nodes.end(index);
        for member in schema.nodes.children(index).take_while(|_| check.kind(index) == Kind::Structure) {
            let (stated, found) = (schema.nodes.get(member), after_string(schema.nodes, member, end));
            require(found.is_none_or(|found| found == (stated.a, stated.b)), member)?;
        }
    }
    check.tables()
}

struct Check<'c, 'a, 's> {
    schema: &'c Schema<'a, 's>,
    nodes: Nodes<'s>,
    front: u32,
    count: u32,
    names: u32,
}

fn require(is: bool, index: u32) -> Result<()> {
    if is { Ok(()) } else { Err(malformed(index)) }
}

impl Check<'_, '_, '_> {
    fn kind(&self, index: u32) -> Kind {
        self.nodes.get(index).kind
    }

    /// Names, and texts of variables.
    fn name(&self, index: u32) -> Result<()> {
        let node = self.nodes.get(index);
        let lies_in = |start: u32, len: u32| start.checked_add(len).is_some_and(|end| end <= self.names);
        let is_plain = !node.has(ESCAPED | SPLIT);
        require(!node.has(NAMED) || (is_plain && lies_in(node.name, node.name_len.into())), index)?;
        let is_text = node.kind == Kind::Variable && node.has_text();
        require(!is_text || (node.roles == 0 && lies_in(node.a, node.b)), index)
    }

    /// The nodes at the end: lists of ranges ascend, labels have their ranges, variables stand together. No class is among
    /// them, nor a part of the trace: a node of that kind stands in front.
    fn end(&self) -> Result<()> {
        // The numbers of ranges to come: those of a label, and those of a list in order.
        let (mut of_label, mut in_order) = (0_u32, 0_u32);
        let (mut previous, mut is_list) = (None, false);
        for index in (self.front..self.count).rev() {
            super::work::count(1);
            let node = self.nodes.get(index);
            // A label follows the ranges of one that is not the last.
            require(of_label > 0 || !is_list || node.kind == Kind::Label, index)?;
            if node.kind != Kind::Range {
                require(of_label == 0 && in_order == 0, index)?;
            }
            match node.kind {
                Kind::Range => {
                    let (lo, hi) = node.ends();
                    require(lo <= hi, index)?;
                    of_label = of_label.saturating_sub(1);
                    if node.count() > 0 {
                        require(in_order == 0, index)?;
                        in_order = node.count();
                    } else if in_order > 0 {
                        require(previous.is_some_and(|before| before < lo), index)?;
                    }
                    previous = Some(hi);
                    in_order = in_order.saturating_sub(1);
                }
                Kind::Label => {
                    require(node.has(NAMED) && node.size < self.count, index)?;
                    (of_label, is_list) = (node.size, !node.has(LAST));
                }
                Kind::Media | Kind::Variable => require(node.has(NAMED), index)?,
                Kind::Empty | Kind::Table => {}
                _ => return Err(malformed(index)),
            }
        }
        require(of_label == 0 && in_order == 0 && !is_list, self.front)?;
        let (first, len) = (self.schema.environment.first, self.schema.environment.len);
        let mut variables = (0..len).map(|at| first.checked_sub(at));
        // There are no more of them than nodes: the first that is none ends it.
        require(variables.all(|at| at.is_some_and(|at| self.kind(at) == Kind::Variable)), 0)
    }

    fn is_at_end(&self, index: u32, kind: Kind) -> bool {
        (self.front..self.count).contains(&index) && self.kind(index) == kind
    }

    /// Checks the nodes in front: classes, and the one that describes the trace.
    fn top(&self, index: u32, node: &Node, end: u32) -> Result<()> {
        let more = |at: u32| self.kind(index.saturating_add(at)) == Kind::More;
        match node.kind {
            Kind::Table => return Ok(()),
            Kind::Clock => {
                let cycles = self.nodes.get(index.saturating_add(1)).y();
                let is = node.size == 4 && more(1) && more(2) && more(3) && cycles < node.y();
                return require(is, index);
            }
            Kind::Trace | Kind::Alias => require(node.size >= 2 && more(1), index)?,
            Kind::Event => {
                let stream = self.nodes.get(index.saturating_add(1)).b;
                require(node.size >= 2 && more(1) && self.kind(stream) == Kind::Stream, index)?;
            }
            Kind::Stream => {
                let info = self.nodes.get(index.saturating_add(1)).b;
                let is = node.size >= 3 && more(1) && info == end.saturating_sub(1);
                require(is && self.kind(info) == Kind::More, index)?;
                let clock = self.nodes.get(info).a;
                require(clock == NONE || self.kind(clock) == Kind::Clock, info)?;
            }
            _ => return Err(malformed(index)),
        }
        let end = if node.kind == Kind::Stream { end.saturating_sub(1) } else { end };
        let is_template = node.kind == Kind::Alias;
        let scopes = match node.kind {
            Kind::Trace => Scope::PacketHeader..=Scope::PacketHeader,
            Kind::Stream => Scope::PacketContext..=Scope::CommonContext,
            _ => Scope::SpecificContext..=Scope::Payload,
        };
        let (mut seen, mut root) = (0_u8, NONE);
        let clock = self.nodes.get(self.nodes.get(index.saturating_add(1)).b).a;
        let mut around = Around {
            scope: Scope::PacketHeader,
            is_first: false,
            has_uuid: self.schema.uuid.is_some(),
            has_clock: node.kind == Kind::Stream && clock != NONE,
        };
        // The classes that are open: where they end, the innermost last.
        let mut open = [0_u32; DEPTH];
        let mut depth = 0_usize;
        let mut at = index.saturating_add(2);
        while at < end {
            super::work::count(1);
            while let Some(top) = depth.checked_sub(1)
                && open.get(top).is_some_and(|end| *end <= at)
            {
                depth = top;
            }
            let limit = depth.checked_sub(1).and_then(|top| open.get(top)).copied().unwrap_or(end);
            let class = self.nodes.get(at);
            let after = at.checked_add(class.size).filter(|after| at < *after && *after <= limit);
            let after = after.ok_or_else(|| malformed(at))?;
            if depth == 0 && !is_template {
                let scope = Scope::ALL.into_iter().find(|scope| u32::from(scope.number()) == class.name);
                around.scope = scope.filter(|scope| scopes.contains(scope)).ok_or_else(|| malformed(at))?;
                // Each once.
                require(seen & 1 << around.scope.number() == 0, at)?;
                seen |= 1 << around.scope.number();
                root = at;
                require(class.kind == Kind::Structure && !class.has(NAMED), at)?;
            }
            around.is_first = at == root.saturating_add(1);
            require(is_template || around.allows(class), at)?;
            self.class(at, class, after, is_template)?;
            if class.kind.is_compound() {
                *open.get_mut(depth).ok_or_else(|| malformed(at))? = after;
                depth = depth.saturating_add(1);
            }
            at = at.saturating_add(1);
        }
        Ok(())
    }

    /// A field class and the number of its children. Those of a template were never connected to what they depend on.
    fn class(&self, index: u32, node: &Node, end: u32, is_template: bool) -> Result<()> {
        let first = index.saturating_add(1);
        let has_one = first < end && self.nodes.end(first) == end;
        let labels = || node.b == NONE || self.is_at_end(node.b, Kind::Label);
        let is_ordered = || is_template || self.nodes.get(node.b).count() > 0;
        let ranges = || node.b == NONE || (self.is_at_end(node.b, Kind::Range) && is_ordered());
        let is = match node.kind {
            Kind::Float => matches!(node.a, 16 | 32 | 64) || (node.a >= 128 && node.a.is_multiple_of(32)),
            Kind::BitArray | Kind::Boolean => node.a > 0,
            Kind::BitMap | Kind::Unsigned | Kind::Signed => node.a > 0 && labels(),
            Kind::VariableUnsigned | Kind::VariableSigned => labels(),
            Kind::NulString | Kind::StaticString | Kind::DynamicString => true,
            Kind::StaticBlob | Kind::DynamicBlob => node.b == NONE || self.is_at_end(node.b, Kind::Media),
            Kind::Structure => self.nodes.children(index).all(|child| self.kind(child) != Kind::Choice),
            Kind::StaticArray | Kind::DynamicArray => has_one && self.kind(first) != Kind::Choice,
            Kind::Optional => has_one && self.kind(first) != Kind::Choice && ranges(),
            Kind::Choice => has_one && self.kind(first) != Kind::Choice && ranges(),
            Kind::Variant => {
                let mut options = (0_u32..).zip(self.nodes.children(index));
                let is_index = node.b == NONE || self.is_at_end(node.b, Kind::Table);
                let is = |(number, at): (u32, u32)| {
                    self.kind(at) == Kind::Choice && self.nodes.get(at).a == number
                };
                first < end && is_index && options.all(is)
            }
            _ => false,
        };
        let has_slot =
            node.slot < SLOTS || (node.slot == NO_SLOT && (is_template || !node.kind.is_dependent()));
        require(is && has_slot, index)
    }

    /// The tables of classes: they ascend, and each class stands in the part of its stream.
    fn tables(&self) -> Result<()> {
        let Schema { streams, events, clocks, .. } = *self.schema;
        for (table, kind) in [(streams, Kind::Stream), (events, Kind::Event), (clocks, Kind::Clock)] {
            let mut nodes = (0..table.len.div_ceil(4)).map(|at| table.base().checked_add(at));
            let is = |at: u32| at < self.front && self.kind(at) == Kind::Table;
            require(nodes.all(|at| at.is_some_and(is)), 0)?;
            let mut entries = (0..table.len).map(|at| table.get(self.nodes, at));
            require(entries.all(|entry| self.kind(entry) == kind), 0)?;
        }
        let id = |table: Table, at: u32| self.nodes.get(table.get(self.nodes, at)).y();
        let mut ascends = (1..streams.len).map(|at| id(streams, at.saturating_sub(1)) < id(streams, at));
        require(ascends.all(|is| is), 0)?;
        let mut next = 0_u64;
        for at in 0..streams.len {
            let stream = streams.get(self.nodes, at);
            let info = self.nodes.get(self.nodes.get(stream.saturating_add(1)).b);
            let (first, len) = (info.b, info.name);
            let end = u64::from(first).saturating_add(len.into());
            next = next.saturating_add(len.into());
            require(end <= u64::from(events.len), stream)?;
            for at in first..first.saturating_add(len) {
                let event = events.get(self.nodes, at);
                require(self.nodes.get(event.saturating_add(1)).b == stream, event)?;
                require(at == first || id(events, at.saturating_sub(1)) < id(events, at), event)?;
            }
        }
        require(next == u64::from(events.len), 0)?;
        let trace = self.schema.trace;
        require(trace == NONE || self.kind(trace) == Kind::Trace, 0)?;
        require(self.schema.header == root_of(self.nodes, trace, Scope::PacketHeader), 0)
    }
}
