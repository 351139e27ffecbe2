//! Types as trees of nodes, in storage that the caller lent.
//!
//! A type is a node and, directly after it, the types it consists of: its members, its options, its element. The
//! trees that become field classes grow from the front; those that only have a name, and are copied where the name
//! is used, grow from the back and go with the scope of the name.

use super::element;
use crate::bytes::{to_u64, to_usize};
use crate::ctf::metadata::Place;
use crate::error::{Error, ErrorKind, Result};

/// A type of TSDL while it is compiled: what is lent for [`Workspace`](super::Workspace).
#[derive(Clone, Copy, Debug, Default)]
pub struct Node {
    /// Nodes of the whole type, itself included.
    pub(super) span: u32,
    pub(super) kind: NodeKind,
    /// Width in bits of a number.
    pub(super) size: u8,
    /// Binary logarithm of the alignment; of a structure, the minimum.
    pub(super) align: u8,
    pub(super) base: u8,
    pub(super) big_endian: bool,
    pub(super) signed: bool,
    /// True if an encoding makes it a character.
    pub(super) character: bool,
    /// The number of the clock that it is mapped to, plus one.
    pub(super) clock: u32,
    /// The name as a member or an option.
    pub(super) name: Place,
    /// The path of a length or a tag.
    pub(super) place: Place,
    /// The number of elements an array has.
    pub(super) len: u64,
    /// The node of the schema with the first label of an enumeration.
    pub(super) made: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NodeKind {
    #[default]
    Integer,
    Enum,
    Float,
    String,
    Struct,
    Variant,
    /// The element follows.
    Array,
    /// The same, with the path of its length.
    Sequence,
}

impl Node {
    pub(super) const fn of(kind: NodeKind) -> Self {
        const NOWHERE: Place = Place::nowhere();
        Self {
            span: 1,
            kind,
            size: 0,
            align: 0,
            base: 10,
            big_endian: false,
            signed: false,
            character: false,
            clock: 0,
            name: NOWHERE,
            place: NOWHERE,
            len: 0,
            made: 0,
        }
    }

    pub(super) fn is_integer(&self) -> bool {
        matches!(self.kind, NodeKind::Integer | NodeKind::Enum)
    }

    pub(super) fn is_unsigned(&self) -> bool {
        self.is_integer() && !self.signed
    }

    /// True if an array of it is text.
    pub(super) fn is_character(&self) -> bool {
        self.is_integer() && self.character && self.size == 8 && self.align == 3
    }
}

/// The nodes at hand.
pub(super) struct Tree<'w> {
    nodes: &'w mut [Node],
    /// The number of nodes in use at the front.
    len: u32,
    /// The number of nodes left before those at the back.
    top: u32,
    /// The most that were in use.
    used: u32,
}

impl<'w> Tree<'w> {
    pub(super) fn new(nodes: &'w mut [Node]) -> Self {
        let top = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
        Self { nodes, len: 0, top, used: 0 }
    }

    pub(super) fn len(&self) -> u32 {
        self.len
    }

    pub(super) fn top(&self) -> u32 {
        self.top
    }

    /// The most nodes that were in use at once.
    pub(super) fn used(&self) -> u32 {
        self.used
    }

    pub(super) fn truncate(&mut self, len: u32) {
        self.len = self.len.min(len);
    }

    pub(super) fn raise(&mut self, top: u32) {
        self.top = self.top.max(top);
    }

    /// True if there is room for `n` more.
    fn reserve(&mut self, n: u32, offset: u64) -> Result<()> {
        let capacity = to_u64(self.nodes.len());
        let back = capacity.saturating_sub(self.top.into());
        let needed = back.saturating_add(self.len.into()).saturating_add(n.into());
        if needed > capacity {
            return Err(Error::new(offset, element::NODES, ErrorKind::CapacityExceeded { capacity, needed }));
        }
        self.used = self.used.max(u32::try_from(needed).unwrap_or(u32::MAX));
        Ok(())
    }

    pub(super) fn push(&mut self, node: Node, offset: u64) -> Result<u32> {
        self.reserve(1, offset)?;
        let at = self.len;
        self.update(at, |slot| *slot = node);
        self.len = self.len.saturating_add(1);
        Ok(at)
    }

    pub(super) fn get(&self, at: u32) -> Node {
        self.nodes.get(to_usize(at)).copied().unwrap_or_default()
    }

    /// Changes a node, if it is there.
    pub(super) fn update(&mut self, at: u32, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.nodes.get_mut(to_usize(at)) {
            change(node);
        }
    }

    /// Copies `count` nodes from `from` to `to`; both lie in the storage.
    fn copy(&mut self, from: u32, to: u32, count: u32) {
        for n in 0..count {
            let node = self.get(from.saturating_add(n));
            self.update(to.saturating_add(n), |slot| *slot = node);
        }
    }

    /// Copies a type to the front's end, without its name.
    pub(super) fn copy_to_front(&mut self, from: u32, offset: u64) -> Result<u32> {
        let span = self.get(from).span;
        self.reserve(span, offset)?;
        let to = self.len;
        self.copy(from, to, span);
        self.len = self.len.saturating_add(span);
        self.update(to, |node| node.name = Place::nowhere());
        Ok(to)
    }

    /// Copies a type to the back.
    pub(super) fn copy_to_back(&mut self, from: u32, offset: u64) -> Result<u32> {
        let span = self.get(from).span;
        self.reserve(span, offset)?;
        let to = self.top.saturating_sub(span);
        self.copy(from, to, span);
        self.top = to;
        Ok(to)
    }

    /// Closes the type that begins at `start`: all that follows belongs to it.
    pub(super) fn close(&mut self, start: u32) {
        let span = self.len.saturating_sub(start);
        self.update(start, |node| node.span = span);
    }

    /// Puts the arrays that follow the type at `start` before it: they are those of its declarator.
    pub(super) fn wrap(&mut self, start: u32) {
        let elements = self.get(start).span;
        let (from, middle) = (to_usize(start), to_usize(start.saturating_add(elements)));
        let Some(nodes) = self.nodes.get_mut(from..to_usize(self.len)) else { return };
        let Some((a, b)) = nodes.split_at_mut_checked(middle.saturating_sub(from)) else { return };
        let arrays = u32::try_from(b.len()).unwrap_or(0);
        a.reverse();
        b.reverse();
        nodes.reverse();
        for (n, node) in (0..arrays).zip(nodes) {
            node.span = elements.saturating_add(arrays.saturating_sub(n));
        }
    }
}
