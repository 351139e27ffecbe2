//! What the latest classes have in common: how their records are walked.

use super::bits::find_nul;
use super::packet::Packet;
use super::quick::KnownString;
use super::record::PAYLOAD;
use crate::ctf::schema::node::{Kind, LAST, NONE, Node, PLAIN, role};

/// How many classes are remembered, and how many runs of each.
const SHAPES: usize = 8;
const RUNS: usize = 4;

/// Fields of fixed size one after the other, and maybe a string that ends with a zero.
#[derive(Clone, Copy)]
struct Run {
    /// In bytes, from the aligned start.
    size: u32,
    /// The alignment in bytes, less one.
    mask: u16,
    has_string: bool,
}

impl Run {
    const EMPTY: Self = Self { size: 0, mask: 0, has_string: false };

    /// Where it ends that begins after byte `at`, and its string; `None` if it does not end within the content.
    #[inline(always)]
    #[allow(clippy::as_conversions)] // A size is below 2²⁹.
    fn after(&self, content: &[u8], at: usize) -> Option<(usize, KnownString)> {
        let mask = usize::from(self.mask);
        let start = (at.wrapping_add(mask) & !mask).wrapping_add(self.size as usize);
        let rest = content.get(start..)?;
        if !self.has_string {
            return Some((start, KnownString::NONE));
        }
        let len = find_nul(rest, 1)?;
        Some((start.wrapping_add(len).wrapping_add(1), KnownString { start, len }))
    }
}

/// A list of runs.
#[derive(Clone, Copy)]
struct Runs {
    runs: [Run; RUNS],
    len: u8,
    /// What the last one is going to be.
    open: Run,
}

impl Runs {
    const EMPTY: Self = Self { runs: [Run::EMPTY; RUNS], len: 0, open: Run::EMPTY };

    /// Adds the structure at `root`; `None` if it is no list of runs.
    fn add(&mut self, packet: &Packet<'_, '_>, root: u32) -> Option<()> {
        if root == NONE {
            return Some(());
        }
        let nodes = packet.schema.nodes;
        self.extend(nodes.get(root), 0)?;
        for index in nodes.children(root) {
            let node = nodes.get(index);
            let is_string = node.roles == role::QUICK_STRING;
            let size = match node.kind {
                _ if is_string => 0,
                _ if !node.has(PLAIN) || node.has(LAST) => return None,
                Kind::Structure | Kind::StaticArray => node.b / 8,
                Kind::StaticString | Kind::StaticBlob => node.a,
                _ => node.a / 8,
            };
            self.extend(node, size)?;
            if is_string {
                self.open.has_string = true;
                self.push()?;
            }
        }
        Some(())
    }

    /// Adds a class of `size` bytes.
    fn extend(&mut self, node: &Node, size: u32) -> Option<()> {
        let mask = alignment(node)?.checked_sub(1)?;
        if mask > self.open.mask {
            // From here on, the place is known again.
            if self.open.size > 0 {
                self.push()?;
            }
            self.open.mask = mask;
        }
        let mask = u32::from(mask);
        let start = self.open.size.checked_add(mask)? & !mask;
        self.open.size = start.checked_add(size).filter(|size| *size < 1 << 29)?;
        Some(())
    }

    fn push(&mut self) -> Option<()> {
        *self.runs.get_mut(usize::from(self.len))? = self.open;
        self.open = Run::EMPTY;
        self.len = self.len.checked_add(1)?;
        Some(())
    }

    /// Ends the last run.
    fn finish(&mut self) -> Option<()> {
        if self.len == 0 || self.open.size > 0 || self.open.mask > 0 { self.push() } else { Some(()) }
    }

    /// Where those end that begin after byte `at`, without the first `skip` of them.
    #[inline(never)]
    fn after(&self, skip: usize, content: &[u8], mut at: usize) -> Option<usize> {
        for run in self.runs.get(skip..usize::from(self.len))? {
            (at, _) = run.after(content, at)?;
        }
        Some(at)
    }
}

/// The alignment of a class in bytes, if its fields begin and end with a byte.
fn alignment(node: &Node) -> Option<u16> {
    let is_even = match node.kind {
        Kind::Structure | Kind::StaticArray if node.has(PLAIN) => node.b.is_multiple_of(8),
        kind if kind.is_fixed_length() => node.a.is_multiple_of(8),
        _ => true,
    };
    let log2 = node.align_log2().checked_sub(3).filter(|log2| *log2 <= 12 && is_even)?;
    1_u16.checked_shl(log2)
}

/// How the records of a class are walked.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// The identifier in the header.
    id: u64,
    /// The node of the class.
    pub(super) class: u32,
    /// All fields begin and end with a byte, and there are few runs.
    is_known: bool,
    pub(super) has_contexts: bool,
    /// The root structure of the payload.
    pub(super) payload: u32,
    contexts: Runs,
    all: Runs,
}

impl Shape {
    const EMPTY: Self = Self {
        id: 0,
        class: NONE,
        is_known: false,
        has_contexts: false,
        payload: NONE,
        contexts: Runs::EMPTY,
        all: Runs::EMPTY,
    };

    fn new(packet: &Packet<'_, '_>, id: u64, class: u32) -> Self {
        let mut shape = Self { id, class, ..Self::EMPTY };
        shape.is_known = shape.fill(packet).is_some();
        shape
    }

    fn fill(&mut self, packet: &Packet<'_, '_>) -> Option<()> {
        let (context, payload) = roots(packet, self.class);
        self.payload = payload;
        self.has_contexts = (packet.common_context, context) != (NONE, NONE);
        self.all.add(packet, packet.common_context)?;
        self.all.add(packet, context)?;
        self.contexts = self.all;
        self.contexts.finish()?;
        self.all.add(packet, payload)?;
        self.all.finish()
    }

    /// Where a record ends whose body begins after byte `at`, and its first string; `None` if it has to be gone over field by field.
    #[inline(always)]
    pub(super) fn after(&self, content: &[u8], at: usize) -> Option<(usize, KnownString)> {
        let [first, ..] = &self.all.runs;
        let (at, known) = first.after(content, at)?;
        let end = if self.all.len > 1 { self.all.after(1, content, at)? } else { at };
        Some((end, known))
    }

    /// Where the contexts end of a record whose body begins after byte `at`.
    pub(super) fn after_contexts(&self, content: &[u8], at: usize) -> Option<usize> {
        self.contexts.after(0, content, at)
    }
}

/// The root structures of the specific context and of the payload of a class.
#[inline(always)]
pub(super) fn roots(packet: &Packet<'_, '_>, class: u32) -> (u32, u32) {
    let nodes = packet.schema.nodes;
    let end = nodes.end(class);
    let first = class.wrapping_add(2);
    if first >= end {
        return (NONE, NONE);
    }
    let second = nodes.end(first);
    let second = if second < end { second } else { NONE };
    if nodes.get(first).name == PAYLOAD { (second, first) } else { (first, second) }
}

/// The shapes of the classes that occurred last.
#[derive(Clone)]
pub(super) struct Shapes {
    shapes: [Shape; SHAPES],
    last: usize,
    misses: u8,
}

impl Shapes {
    pub(super) const EMPTY: Self = Self { shapes: [Shape::EMPTY; SHAPES], last: 0, misses: 0 };

    /// The shape of the class with this identifier, if it is known.
    #[inline(always)]
    pub(super) fn known(&mut self, id: u64) -> Option<&Shape> {
        // What comes again and again is foreseen, so that no load waits for the identifier.
        let is_last = self.last().is_some_and(|shape| shape.id == id && shape.is_known);
        if !is_last {
            let at = usize::try_from(id % 8).unwrap_or(0);
            self.shapes.get(at).filter(|shape| shape.id == id && shape.is_known)?;
            self.last = at;
        }
        self.last()
    }

    /// The shape that was asked for last.
    #[inline(always)]
    pub(super) fn last(&self) -> Option<&Shape> {
        self.shapes.get(self.last % SHAPES)
    }

    /// The class with this identifier; `None` if there is none.
    pub(super) fn class(&mut self, packet: &Packet<'_, '_>, id: Option<u64>) -> Option<u32> {
        let wanted = id.unwrap_or(0);
        let at = usize::try_from(wanted % 8).unwrap_or(0);
        let shape = self.shapes.get_mut(at)?;
        if shape.id == wanted && shape.class != NONE {
            return Some(shape.class);
        }
        let class = packet.schema.event_class(packet.info(), id)?;
        // Classes that take each other's place are not looked at every time.
        self.misses = self.misses.wrapping_add(1);
        if shape.class == NONE || self.misses.is_multiple_of(4) {
            *shape = Shape::new(packet, wanted, class);
        }
        Some(class)
    }
}

const _: () = assert!(SHAPES == 8);
