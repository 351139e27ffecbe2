//! The slots of a registry: trees of what is known.

use super::life::{Known, Space};

/// No slot.
pub(super) const NIL: usize = usize::MAX;

/// Room for a task, a span, a sequence, or a callsite of a stream.
#[derive(Clone, Copy, Debug)]
pub struct RegistrySlot<T = ()> {
    pub(super) key: u64,
    /// The slot below it where the next bit of the key is 0; the next free slot if it is free.
    pub(super) left: usize,
    /// The slot below it where the next bit of the key is 1.
    pub(super) right: usize,
    /// The first slot of the objects whose keys begin with this slot's number.
    pub(super) head: usize,
    /// `None` if it is free.
    pub(super) known: Option<(Space, Known<T>)>,
}

impl<T> RegistrySlot<T> {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self { key: 0, left: NIL, right: NIL, head: NIL, known: None };

    pub(super) const fn below(&self, side: bool) -> usize {
        if side { self.right } else { self.left }
    }
}

default_is_empty!(RegistrySlot<T>, T);

/// The first slots.
#[derive(Debug)]
pub(super) struct Roots {
    /// The number of first bits by which objects are told apart, whose heads are in as many of the first slots; `None`
    /// before there is an object.
    pub(super) bits: Option<u32>,
    pub(super) sequences: usize,
    pub(super) callsites: usize,
}

impl Roots {
    pub(super) const NONE: Self = Self { bits: None, sequences: NIL, callsites: NIL };
}

/// The head's slot of objects with this key, and the bits that decide below it.
#[inline(always)]
pub(super) fn head(key: u64, bits: u32) -> (usize, u64) {
    let number = key.wrapping_shr(1).wrapping_shr(63_u32.wrapping_sub(bits));
    (usize::try_from(number).unwrap_or(NIL), key.wrapping_shl(bits))
}
