//! Shapes of record classes: how to walk the records of the latest classes.

use super::bits::find_nul;
use super::packet::Packet;
use super::quick::KnownString;
use super::record::PAYLOAD;
use crate::ctf::schema::node::{BIG, Kind, LAST, NO_SLOT, NONE, Node, PLAIN, REVERSED, role};

/// The number of classes that are remembered, and how many runs of each.
const SHAPES: usize = 8;
const RUNS: usize = 4;

/// The part after the fields of a run.
#[derive(Clone, Copy, PartialEq)]
enum Tail {
    Nothing,
    /// A string that ends with a zero.
    String,
    /// The elements of the shape.
    Elements,
}

/// Fields of fixed size one after the other, and what follows them.
#[derive(Clone, Copy)]
struct Run {
    /// In bytes, from the aligned start.
    size: u32,
    /// The alignment in bytes, less one.
    mask: u16,
    tail: Tail,
}

impl Run {
    const EMPTY: Self = Self { size: 0, mask: 0, tail: Tail::Nothing };

    /// The end of the one that begins after byte `at`, and its string; `None` if it does not end within the content.
    #[inline(always)]
    #[allow(clippy::as_conversions)] // A size is below 2²⁹.
    fn after(&self, elements: &Elements, content: &[u8], at: usize) -> Option<(usize, KnownString)> {
        let mask = usize::from(self.mask);
        let start = (at.wrapping_add(mask) & !mask).wrapping_add(self.size as usize);
        let rest = content.get(start..)?;
        match self.tail {
            Tail::Nothing => Some((start, KnownString::NONE)),
            Tail::String => {
                let len = find_nul(rest, 1)?;
                Some((start.wrapping_add(len).wrapping_add(1), KnownString { start, len }))
            }
            Tail::Elements => Some((elements.after(content, start)?, KnownString::NONE)),
        }
    }
}

/// Elements of fixed size, whose number is a field of the run before them.
#[derive(Clone, Copy)]
struct Elements {
    /// The number of bytes by which that field begins before them.
    back: u32,
    /// The number of bits above the field in eight bytes, or below it if it is big-endian.
    unused_bits: u32,
    big: bool,
    /// The size of an element in bytes.
    size: u32,
}

impl Elements {
    const NONE: Self = Self { back: 0, unused_bits: 0, big: false, size: 0 };

    /// The end of those that begin at byte `at`; `None` if they do not end within the content.
    ///
    /// If there are none, they are not counted among the fields that take no bits: the length before them takes more.
    #[inline(never)]
    #[allow(clippy::as_conversions)] // It lies in the run.
    fn after(&self, content: &[u8], at: usize) -> Option<usize> {
        let key = content.get(at.checked_sub(self.back as usize)?..)?.first_chunk::<8>()?;
        let word = if self.big {
            u64::from_be_bytes(*key)
        } else {
            u64::from_le_bytes(*key).wrapping_shl(self.unused_bits)
        };
        let count = usize::try_from(word.wrapping_shr(self.unused_bits)).ok()?;
        let len = count.checked_mul(self.size as usize)?;
        let end = at.checked_add(len)?;
        (end <= content.len()).then_some(end)
    }
}

/// A length in the open run.
#[derive(Clone, Copy)]
struct Key {
    slot: u8,
    /// Of its first byte, from the aligned start.
    at: u32,
    bits: u32,
    big: bool,
}

/// A list of runs.
#[derive(Clone, Copy)]
struct Runs {
    runs: [Run; RUNS],
    len: u8,
}

impl Runs {
    const EMPTY: Self = Self { runs: [Run::EMPTY; RUNS], len: 0 };

    /// The end of those that begin after byte `at`, without the first `skip` of them.
    #[inline(never)]
    fn after(&self, skip: usize, elements: &Elements, content: &[u8], mut at: usize) -> Option<usize> {
        for run in self.runs.get(skip..usize::from(self.len))? {
            (at, _) = run.after(elements, content, at)?;
        }
        Some(at)
    }
}

/// Runs that are being made.
#[derive(Clone, Copy)]
struct Making {
    runs: Runs,
    /// The last run, which is still being built.
    open: Run,
    /// The last length in it.
    key: Option<Key>,
    elements: Elements,
}

impl Making {
    const EMPTY: Self = Self { runs: Runs::EMPTY, open: Run::EMPTY, key: None, elements: Elements::NONE };

    /// Adds the structure at `root`; `None` if it is no list of runs.
    fn add(&mut self, packet: &Packet<'_, '_>, root: u32) -> Option<()> {
        if root == NONE {
            return Some(());
        }
        let nodes = packet.schema.nodes;
        self.extend(nodes.get(root), 0)?;
        for index in nodes.children(root) {
            let node = nodes.get(index);
            let tail = match node.kind {
                _ if node.roles == role::QUICK_STRING => Tail::String,
                Kind::DynamicArray | Kind::DynamicString | Kind::DynamicBlob => Tail::Elements,
                _ => Tail::Nothing,
            };
            let size = if tail == Tail::Nothing { size_of(node)? } else { 0 };
            self.extend(node, size)?;
            if tail == Tail::Nothing && node.slot != NO_SLOT {
                // A context's values are not remembered for the payload.
                (nodes.get(root).name == PAYLOAD).then_some(())?;
                self.note_key(node)?;
            }
            if tail == Tail::Elements {
                self.add_elements(node, nodes.get(index.wrapping_add(1)))?;
            }
            if tail != Tail::Nothing {
                self.open.tail = tail;
                self.push()?;
            }
        }
        Some(())
    }

    /// Remembers a length that was added last.
    fn note_key(&mut self, node: &Node) -> Option<()> {
        let is_usual = node.kind == Kind::Unsigned && node.meaning() == 0 && !node.has(REVERSED);
        is_usual.then_some(())?;
        let at = self.open.size.checked_sub(node.a / 8)?;
        self.key = Some(Key { slot: node.slot, at, bits: node.a, big: node.has(BIG) });
        Some(())
    }

    /// Adds the elements of an array, or the bytes of a string or a BLOB, after the open run.
    fn add_elements(&mut self, node: &Node, element: &Node) -> Option<()> {
        let key = self.key.filter(|key| key.slot == node.slot && node.meaning() == 0)?;
        let size = match node.kind {
            Kind::DynamicArray => {
                let size = size_of(element)?;
                let align = u32::from(alignment(element)?);
                // They lie without gaps, from where the array begins.
                let fits = alignment(node)? >= alignment(element)? && size.is_multiple_of(align);
                (fits && element.has(PLAIN)).then_some(size)?
            }
            _ => 1,
        };
        // There is room for one such list.
        (self.elements.size == 0 && size > 0).then_some(())?;
        self.elements = Elements {
            back: self.open.size.checked_sub(key.at)?,
            unused_bits: 64_u32.checked_sub(key.bits)?,
            big: key.big,
            size,
        };
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
        *self.runs.runs.get_mut(usize::from(self.runs.len))? = self.open;
        self.open = Run::EMPTY;
        self.key = None;
        self.runs.len = self.runs.len.checked_add(1)?;
        Some(())
    }

    /// Ends the last run.
    fn finish(&mut self) -> Option<()> {
        if self.runs.len == 0 || self.open.size > 0 || self.open.mask > 0 { self.push() } else { Some(()) }
    }
}

/// The size of a class in bytes, if it is fixed, and whole bytes are of fixed size: see [`alignment`].
fn size_of(node: &Node) -> Option<u32> {
    match node.kind {
        // A length is read on the way.
        Kind::Unsigned if node.slot != NO_SLOT => Some(node.a / 8),
        _ if !node.has(PLAIN) || node.has(LAST) => None,
        Kind::Structure | Kind::StaticArray => Some(node.b / 8),
        Kind::StaticString | Kind::StaticBlob => Some(node.a),
        _ => Some(node.a / 8),
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

/// The way to walk the records of a class.
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
    elements: Elements,
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
        elements: Elements::NONE,
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
        let mut making = Making::EMPTY;
        making.add(packet, packet.common_context)?;
        making.add(packet, context)?;
        let mut contexts = making;
        contexts.finish()?;
        making.add(packet, payload)?;
        making.finish()?;
        (self.contexts, self.all, self.elements) = (contexts.runs, making.runs, making.elements);
        Some(())
    }

    /// The end of a record whose body begins after byte `at`, and its first string; `None` if the record has to be read
    /// field by field.
    #[inline(always)]
    pub(super) fn after(&self, content: &[u8], at: usize) -> Option<(usize, KnownString)> {
        let [first, ..] = &self.all.runs;
        let (at, known) = first.after(&self.elements, content, at)?;
        let end = if self.all.len > 1 { self.all.after(1, &self.elements, content, at)? } else { at };
        Some((end, known))
    }

    /// The end of the contexts of a record whose body begins after byte `at`.
    pub(super) fn after_contexts(&self, content: &[u8], at: usize) -> Option<usize> {
        self.contexts.after(0, &self.elements, content, at)
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
        // The class that was asked for last often comes again: no load waits for its identifier.
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
