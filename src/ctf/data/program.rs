//! Steps through the scopes of records, compiled once for a trace.
//!
//! # Layout
//! ```text
//! streams: header | common context     for each stream class
//! classes: both scopes together        for each class of event records
//! steps:   those of all scopes, one after the other
//! ```
//!
//! Steps are for what lies in whole bytes, as tracers write it: integers, floats, text, BLOBs, structures, arrays and
//! sequences. Any other scope has none: the general reader tells it. Steps make no errors. Where anything is in doubt
//! they stop, and the general reader says what is wrong, and where.

use super::class::SCOPES;
use super::code::Code;
use crate::bytes::{to_u64, to_usize};
use crate::ctf::schema::node::{BIG, DEPTH, Kind, LAST, NO_SLOT, NONE, Node, Nodes};
use crate::ctf::schema::scope::root_of;
use crate::ctf::schema::{Encoding, Schema};
use crate::error::{Error, ErrorKind, Result};

/// The count of steps of what is left to the general reader.
pub(super) const NO_STEPS: u32 = NONE;

/// The most lists, other than those of numbers, that may be nested.
pub(super) const LOOPS: usize = 4;

/// Room for a step of [`Programs`]: 16 bytes.
#[derive(Clone, Copy, Debug)]
pub struct ProgramSlot {
    pub(super) code: Code,
    pub(super) slot: u32,
    pub(super) a: u32,
    pub(super) b: u32,
}

const _: () = assert!(size_of::<ProgramSlot>() == 16);

impl ProgramSlot {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self { code: Code::Steps, slot: NONE, a: 0, b: 0 };
}

default_is_empty!(ProgramSlot);

/// Steps through all records of a trace, in storage that the caller lends.
///
/// ```
/// use traceglass::ctf::data::{ProgramSlot, Programs};
/// # use traceglass::ctf::schema::Schema;
/// # fn compile(schema: &Schema<'_, '_>) -> traceglass::Result<()> {
/// let mut slots = vec![ProgramSlot::EMPTY; usize::try_from(Programs::needed(schema)).unwrap_or(0)];
/// let programs = Programs::compile(schema, &mut slots)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Programs<'t> {
    base: u32,
    end: u32,
    streams: &'t [ProgramSlot],
    classes: &'t [ProgramSlot],
    steps: &'t [ProgramSlot],
}

impl<'t> Programs<'t> {
    /// No steps: the general reader tells all records.
    pub const NONE: Self = Self { base: 0, end: 0, streams: &[], classes: &[], steps: &[] };

    /// The number of slots that [`compile`](Self::compile) needs.
    pub fn needed(schema: &Schema<'_, '_>) -> u64 {
        make(schema, 0, &mut [], &mut []).saturating_add(to_u64(places_of(schema)))
    }

    /// Compiles the steps of all classes.
    ///
    /// # Errors
    /// `CapacityExceeded` with the number of slots [needed](Self::needed).
    pub fn compile(schema: &Schema<'_, '_>, slots: &'t mut [ProgramSlot]) -> Result<Self> {
        Self::compile_from(schema, 0, slots)
    }

    /// As [`compile`](Self::compile), for a listener that is told of several traces: classes and fields get numbers
    /// from `base` on, which is the [`end`](Self::end) of those of another trace.
    ///
    /// # Errors
    /// As [`compile`](Self::compile).
    pub fn compile_from(schema: &Schema<'_, '_>, base: u32, slots: &'t mut [ProgramSlot]) -> Result<Self> {
        let capacity = to_u64(slots.len());
        let places = places_of(schema);
        let (scopes, steps) = slots.split_at_mut_checked(places).unwrap_or_default();
        let needed = make(schema, base, scopes, steps).saturating_add(to_u64(places));
        if needed > capacity {
            let kind = ErrorKind::CapacityExceeded { capacity, needed };
            return Err(Error::new(0, super::element::PROGRAMS, kind));
        }
        let streams = usize::try_from(schema.stream_count()).unwrap_or(0).saturating_mul(2);
        let (streams, classes) = scopes.split_at_checked(streams).unwrap_or_default();
        Ok(Self { base, end: base.wrapping_add(schema.numbers()), streams, classes, steps })
    }

    /// The first number that is none of a class or a field.
    pub const fn end(&self) -> u32 {
        self.end
    }

    /// The number of the first class and of the schema's first node.
    #[inline(always)]
    pub(crate) const fn base(&self) -> u32 {
        self.base
    }

    /// The number of classes of event records that have steps. The records of the others take longer to read.
    pub fn classes_with_steps(&self) -> u64 {
        to_u64(self.classes.iter().filter(|place| place.b != NO_STEPS).count())
    }

    /// The header and the common context of the stream class at a place of the schema's table; `None` for one that is
    /// left to the general reader.
    pub(super) fn stream(&self, place: u32) -> [Option<&'t [ProgramSlot]>; 2] {
        let first = to_usize(place).saturating_mul(2);
        [first, first.saturating_add(1)].map(|at| self.streams.get(at).and_then(|place| self.steps_at(place)))
    }

    /// The specific context and the payload of the class at a place of the schema's table; `None` if it is left to the
    /// general reader.
    #[inline(always)]
    pub(super) fn class(&self, place: u32) -> Option<&'t [ProgramSlot]> {
        self.steps_at(self.classes.get(to_usize(place))?)
    }

    /// The place of the class of a stream class with this identifier, and its steps.
    #[inline(always)]
    pub(super) fn find(
        &self,
        schema: &Schema<'_, '_>,
        info: &Node,
        id: u64,
    ) -> Option<(u32, &'t [ProgramSlot])> {
        // Identifiers mostly count from 0.
        if id < info.name.into()
            && let Ok(id) = u32::try_from(id)
        {
            let at = info.b.wrapping_add(id);
            let place = self.classes.get(to_usize(at))?;
            if place.slot == id {
                return Some((at, self.steps_at(place)?));
            }
        }
        let at = schema.event_place(info, Some(id))?;
        Some((at, self.class(at)?))
    }

    #[inline(always)]
    fn steps_at(&self, place: &ProgramSlot) -> Option<&'t [ProgramSlot]> {
        let first = to_usize(place.a);
        // No slice is as long as `NO_STEPS` says.
        self.steps.get(first..first.wrapping_add(to_usize(place.b)))
    }
}

/// The number of places of steps.
fn places_of(schema: &Schema<'_, '_>) -> usize {
    to_usize(schema.stream_count()).saturating_mul(2).saturating_add(to_usize(schema.event_count()))
}

/// Compiles all scopes, and counts the steps, for which there may be no room.
fn make(schema: &Schema<'_, '_>, base: u32, places: &mut [ProgramSlot], steps: &mut [ProgramSlot]) -> u64 {
    let mut making = Making { nodes: schema.nodes, base, steps, len: 0 };
    let streams = (0..schema.stream_count()).map(|at| schema.stream_at(at));
    let events = (0..schema.event_count()).map(|at| schema.event_at(at));
    let id_of = |of| u32::try_from(schema.nodes.get(of).y()).unwrap_or(NONE);
    let of_streams = streams.flat_map(|of| [(of, 0..1), (of, 1..2)]);
    let of_events = events.map(|of| (of, 2..4));
    let mut places = places.iter_mut();
    for (of, scopes) in of_streams.chain(of_events) {
        let first = making.len;
        let made = scopes.into_iter().try_for_each(|scope| making.scope(of, scope));
        if made.is_none() {
            making.len = first;
        }
        if let Some(slot) = places.next() {
            let count = if made.is_some() { making.len.saturating_sub(first) } else { NO_STEPS };
            *slot = ProgramSlot { code: Code::Steps, slot: id_of(of), a: first, b: count };
        }
    }
    making.len.into()
}

/// Steps that are being made.
struct Making<'m, 's> {
    nodes: Nodes<'s>,
    base: u32,
    steps: &'m mut [ProgramSlot],
    len: u32,
}

/// A structure or an array that began and has not ended.
#[derive(Clone, Copy)]
struct Open {
    /// The node after all that is in it.
    end: u32,
    /// The first step.
    step: u32,
    is_list: bool,
    /// The state around a list.
    around: Around,
}

/// The state of the scope, or of an element of the innermost list, while it is compiled.
#[derive(Clone, Copy)]
struct Around {
    /// The registers that have been filled, as bits.
    filled: u16,
    /// The number of bytes each element takes at least.
    bytes: u32,
    /// The number of steps for fields that may take none.
    idle: u32,
}

/// The number of fields of no bytes that are allowed for each field that takes bytes: as many as the general reader
/// allows.
const IDLE_PER_BYTE: u32 = 64;

impl Around {
    const NOTHING: Self = Self { filled: 0, bytes: 0, idle: 0 };

    /// `None` if the work for it is not bounded by its bytes.
    fn check(&self) -> Option<()> {
        (self.idle <= self.bytes.saturating_mul(IDLE_PER_BYTE)).then_some(())
    }
}

impl Making<'_, '_> {
    /// Adds a step for the class at node `index`.
    fn push(&mut self, code: Code, index: u32, a: u32) -> u32 {
        let (at, slot) = (self.len, self.base.wrapping_add(index));
        if let Some(step) = self.step(at) {
            *step = ProgramSlot { code, slot, a, b: 0 };
        }
        self.len = at.saturating_add(1);
        at
    }

    fn step(&mut self, at: u32) -> Option<&mut ProgramSlot> {
        usize::try_from(at).ok().and_then(|at| self.steps.get_mut(at))
    }

    /// Adds a scope of a class, by its number among [`SCOPES`], if there is one; `None` if the general reader is needed.
    fn scope(&mut self, of: u32, number: u32) -> Option<()> {
        let (_, scope) = SCOPES.get(to_usize(number))?;
        let root = root_of(self.nodes, of, *scope);
        if root == NONE {
            return Some(());
        }
        let first = self.push(Code::Scope, 0, number);
        self.members(root)?;
        self.count(first, self.len.checked_sub(first)?.checked_sub(1)?);
        Some(())
    }

    /// Adds the members of the structure at `root`.
    fn members(&mut self, root: u32) -> Option<()> {
        let nodes = self.nodes;
        let mut open = [Open { end: 0, step: 0, is_list: false, around: Around::NOTHING }; DEPTH];
        let (mut depth, mut loops) = (0_usize, 0_usize);
        let mut around = Around::NOTHING;
        self.align(nodes.get(root))?;
        let (mut next, end) = (root.checked_add(1)?, nodes.end(root));
        loop {
            let innermost = depth.checked_sub(1).and_then(|at| open.get(at)).copied();
            if let Some(ended) = innermost.filter(|open| open.end <= next) {
                depth = depth.saturating_sub(1);
                if ended.is_list {
                    around.check()?;
                    around = ended.around;
                    loops = loops.saturating_sub(1);
                    let end = self.push(Code::EndList, 0, 0);
                    self.count(ended.step, end.checked_sub(ended.step)?);
                } else {
                    self.push(Code::EndGroup, 0, 0);
                }
                continue;
            }
            if next >= end {
                return around.check();
            }
            let index = next;
            let node = nodes.get(index);
            let is_list = matches!(node.kind, Kind::StaticArray | Kind::DynamicArray);
            around.idle = around.idle.saturating_add(u32::from(is_list || node.has(LAST)));
            if !is_list && node.kind != Kind::Structure {
                self.leaf(index, node, &mut around)?;
                next = nodes.end(index);
                continue;
            }
            self.align(node)?;
            let numbers = if is_list { numbers_of(nodes.get(index.saturating_add(1))) } else { None };
            let (code, a) = match (node.kind, numbers) {
                (Kind::Structure, _) => (Code::Group, 0),
                (Kind::StaticArray, None) => (Code::Array, node.a),
                (Kind::StaticArray, _) => (Code::Numbers, node.a),
                (_, None) => (Code::Sequence, around.register(node)?),
                _ => (Code::NumberSequence, around.register(node)?),
            };
            let step = self.push(code, index, a);
            if let Some(number) = numbers {
                self.push(number, index.saturating_add(1), 0);
                next = nodes.end(index);
                continue;
            }
            *open.get_mut(depth)? = Open { end: nodes.end(index), step, is_list, around };
            depth = depth.saturating_add(1);
            if is_list {
                loops = loops.saturating_add(1);
                (loops <= LOOPS).then_some(())?;
                // A length in an element is one for this element only.
                around = Around { bytes: 0, idle: 0, ..around };
            }
            next = index.saturating_add(1);
        }
    }

    /// Says how many steps belong to the list or the scope that begins with a step.
    fn count(&mut self, first: u32, count: u32) {
        if let Some(step) = self.step(first) {
            step.b = count;
        }
    }

    fn align(&mut self, node: &Node) -> Option<()> {
        // Steps begin and end with a byte.
        let log2 = node.align_log2().saturating_sub(3);
        let mask = 1_u32.checked_shl(log2).filter(|_| log2 <= 12)?.checked_sub(1)?;
        if mask > 0 {
            self.push(Code::Align, 0, mask);
        }
        Some(())
    }

    /// Adds a field without others in it.
    fn leaf(&mut self, index: u32, node: &Node, around: &mut Around) -> Option<()> {
        let is_utf8 = || (node.encoding() == Encoding::Utf8).then_some(());
        (node.align_log2() >= 3).then_some(())?;
        self.align(node)?;
        let (code, a, bytes) = match node.kind {
            // Quick ones have UTF-8.
            Kind::NulString if node.is_quick() => (Code::NulText, 0, 1),
            Kind::StaticString => is_utf8().map(|()| (Code::Text, node.a, node.a))?,
            Kind::DynamicString => (Code::TextSequence, is_utf8().and(around.register(node))?, 0),
            Kind::StaticBlob => (Code::Blob, node.a, node.a),
            Kind::DynamicBlob => (Code::BlobSequence, around.register(node)?, 0),
            _ => (Code::number(node)?, 0, node.a / 8),
        };
        self.push(code, index, a);
        around.bytes = around.bytes.saturating_add(bytes);
        if node.slot != NO_SLOT && !node.kind.is_dependent() {
            // Any other length or selector is left to the general reader.
            (node.kind == Kind::Unsigned).then_some(())?;
            let at = self.push(Code::Keep, 0, node.slot.into());
            if let Some(step) = self.step(at) {
                (step.slot, step.b) = (node.has(BIG).into(), node.a);
            }
            around.filled |= 1_u16.checked_shl(node.slot.into())?;
        }
        Some(())
    }
}

/// The kind of the elements of an array, if they are numbers without gaps between them.
fn numbers_of(element: &Node) -> Option<Code> {
    let number = Code::number(element).filter(|_| element.slot == NO_SLOT && element.align_log2() >= 3)?;
    let align = 1_u32.checked_shl(element.align_log2())?;
    element.a.is_multiple_of(align).then_some(number)
}

impl Around {
    /// The register with the length of a sequence; `None` if that lies in another scope, or in an element before.
    fn register(&self, node: &Node) -> Option<u32> {
        let bit = 1_u16.checked_shl(node.slot.into())?;
        (self.filled & bit != 0).then_some(node.slot.into())
    }
}
