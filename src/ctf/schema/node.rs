//! The nodes that a schema consists of.

use crate::error::Result;
use zerocopy::{Immutable, IntoBytes, KnownLayout, TryFromBytes};

/// The kind of a node. The numbers are those of [a table](super::Schema::write) in a file: they never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(u8)]
pub(crate) enum Kind {
    /// An empty one, to fill storage with.
    Empty = 0,
    // Field classes. `a` is a length in bits, bytes or elements, or the first node of the location of one.
    BitArray = 1,
    BitMap = 2,
    Boolean = 3,
    Unsigned = 4,
    Signed = 5,
    Float = 6,
    VariableUnsigned = 7,
    VariableSigned = 8,
    NulString = 9,
    StaticString = 10,
    DynamicString = 11,
    StaticBlob = 12,
    DynamicBlob = 13,
    Structure = 14,
    StaticArray = 15,
    DynamicArray = 16,
    Optional = 17,
    Variant = 18,
    /// An option of a variant; `a` is its number, `b` its first range, its only child the class.
    Choice = 19,
    // Parts that nodes refer to.
    Location = 20,
    Range = 21,
    /// The name of a mapping or flag; its ranges are the next nodes (downwards).
    Label = 22,
    /// A media type.
    Media = 23,
    /// A variable of the environment: its name, and its value as `environment` has it.
    Variable = 24,
    // Parts of a trace.
    Alias = 25,
    Trace = 26,
    Clock = 27,
    Stream = 28,
    Event = 29,
    /// More about the node that precedes it.
    More = 30,
    /// Four node indices: part of a table.
    Table = 31,
}

impl Kind {
    /// True if it is a field class of fixed length in bits.
    pub(crate) const fn is_fixed_length(self) -> bool {
        matches!(
            self,
            Self::BitArray | Self::BitMap | Self::Boolean | Self::Unsigned | Self::Signed | Self::Float
        )
    }

    /// True for an integer, of fixed or variable length.
    pub(crate) const fn is_integer(self) -> bool {
        matches!(self, Self::Unsigned | Self::Signed | Self::VariableUnsigned | Self::VariableSigned)
    }

    /// True if it has field classes in it.
    pub(crate) const fn is_compound(self) -> bool {
        matches!(
            self,
            Self::Structure
                | Self::StaticArray
                | Self::DynamicArray
                | Self::Optional
                | Self::Variant
                | Self::Choice
        )
    }

    /// True if a length or a selector elsewhere decides what it holds.
    pub(crate) const fn is_dependent(self) -> bool {
        matches!(
            self,
            Self::DynamicString | Self::DynamicBlob | Self::DynamicArray | Self::Optional | Self::Variant
        )
    }
}

/// Fixed-length: the byte order is big-endian. A range: its lower end is negative.
pub(crate) const BIG: u8 = 1;
/// Fixed-length: the bit order is not the natural one of the byte order. A range: its upper end is negative.
pub(crate) const REVERSED: u8 = 2;
/// The key of a dependent class is signed.
pub(crate) const SIGNED_KEY: u8 = 1;
/// The name has escapes.
pub(crate) const ESCAPED: u8 = 4;
/// The name lies in several metadata packets.
pub(crate) const SPLIT: u8 = 8;
/// One leading `_` of the name is not displayed.
pub(crate) const UNDERSCORE: u8 = 16;
/// The last one of a list. An index of names: one of ranges follows. A field class: it may take no bits. A stream or an
/// event: a length or a selector lies in another scope.
pub(crate) const LAST: u8 = 32;
/// The class is of fixed size, and nothing in it is needed to go on: it can be skipped at once.
pub(crate) const PLAIN: u8 = 64;
/// There is a name, which may be empty.
pub(crate) const NAMED: u8 = 128;

/// Meanings of fields, as bits of a node's `roles`.
pub(crate) mod role {
    pub(crate) const MAGIC: u16 = 1;
    pub(crate) const UUID: u16 = 1 << 1;
    pub(crate) const STREAM_CLASS_ID: u16 = 1 << 2;
    pub(crate) const STREAM_ID: u16 = 1 << 3;
    pub(crate) const TOTAL_LENGTH: u16 = 1 << 4;
    pub(crate) const CONTENT_LENGTH: u16 = 1 << 5;
    pub(crate) const TIMESTAMP: u16 = 1 << 6;
    pub(crate) const END_TIMESTAMP: u16 = 1 << 7;
    pub(crate) const DISCARDED: u16 = 1 << 8;
    pub(crate) const SEQUENCE: u16 = 1 << 9;
    pub(crate) const EVENT_CLASS_ID: u16 = 1 << 10;
    /// All of them.
    pub(crate) const ALL: u16 = (1 << 11) - 1;
    /// The field has no role and is read at once: an integer or a float of 8, 16, 32 or 64 bits that begins with a byte
    /// and that nothing needs to go on; or UTF-8 up to a zero. The lower bits then are one of the following.
    pub(crate) const QUICK: u16 = 1 << 12;
    /// An unsigned integer; the binary logarithm of its bytes is added, and `QUICK_BIG`.
    pub(crate) const QUICK_UNSIGNED: u16 = QUICK;
    /// A signed integer, in the same way.
    pub(crate) const QUICK_SIGNED: u16 = QUICK | 8;
    /// Added for the big-endian byte order.
    pub(crate) const QUICK_BIG: u16 = 4;
    /// The bits of an integer in which the binary logarithm of its bytes is.
    pub(crate) const QUICK_SIZE: u16 = 3;
    /// Added for what is no integer.
    pub(crate) const QUICK_OTHER: u16 = 16;
    /// A float.
    pub(crate) const QUICK_FLOAT: u16 = QUICK | QUICK_OTHER;
    /// A string.
    pub(crate) const QUICK_STRING: u16 = QUICK | QUICK_OTHER | 1;
    /// Added where bytes may have to be skipped before the field.
    pub(crate) const QUICK_ALIGNED: u16 = 32;
    /// The lowest bit of a string's encoding, which is in the place of roles.
    pub(crate) const ENCODING_SHIFT: u32 = 13;
}

/// No slot.
pub(crate) const NO_SLOT: u8 = 0xff;
/// No node.
pub(crate) const NONE: u32 = u32::MAX;
/// No fixed size.
pub(crate) const NO_SIZE: u32 = u32::MAX;

/// The most levels to which classes nest.
pub(crate) const DEPTH: usize = 64;

/// The number of lengths and selectors that are remembered at a time.
pub(crate) const SLOTS: u8 = 16;
/// The same, as the length of an array.
pub(crate) const SLOT_COUNT: usize = 16;
#[allow(clippy::as_conversions)]
const _: () = assert!(SLOT_COUNT == SLOTS as usize);

/// Room for one part of a [`Schema`](super::Schema): 24 bytes.
///
/// A schema is compiled into nodes that the caller lends; what they hold is private to it. The traits of zerocopy are
/// for [`Schema::parse`](super::Schema::parse) and [`Schema::write`](super::Schema::write) alone, and may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Node {
    pub(crate) kind: Kind,
    pub(crate) flags: u8,
    /// The binary logarithm of the alignment in the lower 6 bits, the display base in the upper 2.
    pub(crate) align: u8,
    /// The slot in which an integer's value is kept for others; of a dependent class, the slot of its key.
    pub(crate) slot: u8,
    /// The meaning of the value; the encoding of strings.
    pub(crate) roles: u16,
    pub(crate) name_len: u16,
    /// Offset of the name in the metadata file; of the root of a scope, which scope.
    pub(crate) name: u32,
    /// The number of nodes it has with its children; they follow it, in order. Of a label, how many ranges.
    pub(crate) size: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
}

const _: () = assert!(size_of::<Node>() == 24 && align_of::<Node>() == 4);

impl Node {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self {
        kind: Kind::Empty,
        flags: 0,
        align: 0,
        slot: NO_SLOT,
        roles: 0,
        name_len: 0,
        name: 0,
        size: 1,
        a: 0,
        b: 0,
    };

    pub(crate) const fn new(kind: Kind) -> Self {
        Self { kind, ..Self::EMPTY }
    }

    pub(crate) const fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub(crate) const fn set(&mut self, flag: u8, on: bool) {
        if on {
            self.flags |= flag;
        } else {
            self.flags &= !flag;
        }
    }

    /// The meaning of its value: bits of [`role`].
    #[inline(always)]
    pub(crate) const fn meaning(&self) -> u16 {
        if self.is_quick() { 0 } else { self.roles & role::ALL }
    }

    /// True if its fields are read at once.
    #[inline(always)]
    pub(crate) const fn is_quick(&self) -> bool {
        self.roles & role::QUICK != 0
    }

    /// The binary logarithm of its alignment.
    #[inline(always)]
    #[allow(clippy::as_conversions)]
    pub(crate) const fn align_log2(&self) -> u32 {
        (self.align & 0x3f) as u32
    }

    pub(crate) const fn set_align_log2(&mut self, log2: u8) {
        self.align = (self.align & 0xc0) | (log2 & 0x3f);
    }

    pub(crate) const fn set_name(&mut self, place: Place) {
        self.name = place.offset;
        self.name_len = place.len;
        self.flags = (self.flags & !Place::FLAGS) | place.flags | NAMED;
    }

    pub(crate) const fn place(&self) -> Option<Place> {
        if self.flags & NAMED == 0 {
            return None;
        }
        Some(Place { offset: self.name, len: self.name_len, flags: self.flags & Place::FLAGS })
    }

    /// Two numbers in place of `name`, `size`, `a` and `b`.
    pub(crate) const fn pair(kind: Kind, x: u64, y: u64) -> Self {
        let (name, size) = halves(x);
        let (a, b) = halves(y);
        Self { name, size, a, b, ..Self::new(kind) }
    }

    pub(crate) const fn x(&self) -> u64 {
        whole(self.name, self.size)
    }

    pub(crate) const fn y(&self) -> u64 {
        whole(self.a, self.b)
    }

    /// The number of items a list of ranges in order, or an index of names, has: it stands with the first one.
    pub(crate) const fn count(&self) -> u32 {
        let ([a, b], [c, d]) = (self.roles.to_le_bytes(), self.name_len.to_le_bytes());
        u32::from_le_bytes([a, b, c, d])
    }

    pub(crate) const fn set_count(&mut self, count: u32) {
        let [a, b, c, d] = count.to_le_bytes();
        (self.roles, self.name_len) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
    }

    /// The ends of a range.
    pub(crate) const fn ends(&self) -> (i128, i128) {
        (whole_signed(self.x(), self.has(BIG)), whole_signed(self.y(), self.has(REVERSED)))
    }

    pub(crate) const fn set_y(&mut self, y: u64) {
        (self.a, self.b) = halves(y);
    }
}

default_is_empty!(Node);

#[allow(clippy::as_conversions)]
const fn halves(value: u64) -> (u32, u32) {
    (value as u32, (value >> 32) as u32)
}

#[allow(clippy::as_conversions)]
const fn whole(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

#[allow(clippy::as_conversions)]
const fn whole_signed(value: u64, is_negative: bool) -> i128 {
    if is_negative { value.cast_signed() as i128 } else { value as i128 }
}

/// The place of a name in the metadata file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) offset: u32,
    /// The number of bytes of the text it takes.
    pub(crate) len: u16,
    /// `ESCAPED`, `SPLIT`, `UNDERSCORE`.
    pub(crate) flags: u8,
}

impl Place {
    const FLAGS: u8 = ESCAPED | SPLIT | UNDERSCORE;
}

/// Nodes that may be read at any index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nodes<'s>(pub(crate) &'s [Node]);

impl<'s> Nodes<'s> {
    #[inline(always)]
    #[allow(clippy::as_conversions)]
    pub(crate) fn get(self, index: u32) -> &'s Node {
        const EMPTY: &Node = &Node::EMPTY;
        self.0.get(index as usize).unwrap_or(EMPTY)
    }

    /// The index after a node and all its children.
    #[inline(always)]
    pub(crate) fn end(self, index: u32) -> u32 {
        index.saturating_add(self.get(index).size)
    }

    /// The children of a node, in order.
    pub(crate) fn children(self, index: u32) -> Children<'s> {
        Children { nodes: self, next: index.saturating_add(1), end: self.end(index) }
    }

    /// The nodes of a list that begins at `first` and goes downwards.
    pub(crate) fn list(self, first: u32) -> List<'s> {
        List { nodes: self, next: (first != NONE).then_some(first) }
    }
}

/// The children of a node: their indices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Children<'s> {
    nodes: Nodes<'s>,
    next: u32,
    end: u32,
}

impl Iterator for Children<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let index = self.next;
        if index >= self.end {
            return None;
        }
        self.next = index.saturating_add(self.nodes.get(index).size.max(1));
        Some(index)
    }
}

/// The indices of a list of nodes, of which the last is marked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List<'s> {
    nodes: Nodes<'s>,
    next: Option<u32>,
}

impl Iterator for List<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let index = self.next?;
        let node = self.nodes.get(index);
        self.next =
            if node.has(LAST) || matches!(node.kind, Kind::Empty) { None } else { index.checked_sub(1) };
        Some(index)
    }
}

/// Makes sure that a number has 32 bits.
pub(crate) fn narrow(value: u64, or: impl FnOnce() -> crate::error::Error) -> Result<u32> {
    match u32::try_from(value) {
        Ok(value) if value < NONE => Ok(value),
        _ => Err(or()),
    }
}
