//! Listeners, and those who tell them.

use super::class::{Class, ClassId, Scope, Slot};
use super::time::Time;
use super::value::{Decimal, Text, Wide};
use crate::error::Result;

/// The part of a record that is known before its fields are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The class.
    pub class: ClassId,
    /// The time, if the record has one.
    pub time: Option<Time>,
    /// The offset of its first byte in its source.
    pub offset: u64,
    /// The first bit in that byte, for formats that count bits.
    pub bit: u8,
    /// The length in bytes, where that is known before the fields are read.
    pub len: Option<u64>,
}

/// The scopes that a listener wants of a record. The others are not decoded where their size is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants(u8);

#[allow(clippy::as_conversions)] // Of an enum with five values.
impl Wants {
    /// Only the head.
    pub const NOTHING: Self = Self(0);
    /// Every field.
    pub const ALL: Self = Self(0x1f);

    /// All of these but one.
    #[must_use]
    pub const fn without(self, scope: Scope) -> Self {
        Self(self.0 & !(1 << scope as u8))
    }

    /// True if this scope is among them.
    #[inline(always)]
    pub const fn has(self, scope: Scope) -> bool {
        self.0 & (1 << scope as u8) != 0
    }
}

/// A reader of records. Every method but [`begin`](Self::begin) has a default that does nothing.
pub trait Listener {
    /// A record begins. It may have to be [taken back](Self::abandon).
    fn begin(&mut self, head: &Head, class: &dyn Class) -> Wants;

    /// The record ends, and all of it was readable.
    fn end(&mut self) {}

    /// The record cannot be read in full: nothing that was said of it since [`begin`](Self::begin) holds.
    fn abandon(&mut self) {}

    /// True if nothing more is wanted of this record. It is asked before each field.
    #[inline(always)]
    fn is_full(&self) -> bool {
        false
    }

    /// A scope begins: one of those wanted.
    fn scope(&mut self, _scope: Scope) {}

    /// The scope ends.
    fn end_scope(&mut self) {}

    /// A group or map begins.
    fn group(&mut self, _slot: Slot) {}

    /// The group or map ends.
    fn end_group(&mut self) {}

    /// A list begins, with this many elements if that is known.
    fn list(&mut self, _slot: Slot, _len: Option<u64>) {}

    /// The list ends.
    fn end_list(&mut self) {}

    /// The name of the next value of a map.
    fn key(&mut self, _name: Text<'_>) {}

    /// An unsigned integer.
    fn unsigned(&mut self, _slot: Slot, _value: u64) {}

    /// A signed integer.
    fn signed(&mut self, _slot: Slot, _value: i64) {}

    /// An integer of more than 64 bits.
    fn wide(&mut self, _slot: Slot, _value: Wide<'_>) {}

    /// A truth value.
    fn boolean(&mut self, _slot: Slot, _value: bool) {}

    /// A floating-point number.
    fn float(&mut self, _slot: Slot, _value: f64) {}

    /// A decimal number, of a field of floats: for who writes it exactly.
    #[inline(always)]
    fn decimal(&mut self, slot: Slot, value: Decimal) {
        self.float(slot, value.to_f64());
    }

    /// Text.
    fn text(&mut self, _slot: Slot, _value: Text<'_>) {}

    /// Bytes.
    fn bytes(&mut self, _slot: Slot, _value: &[u8]) {}

    /// A field without a value.
    fn absent(&mut self, _slot: Slot) {}
}

/// A listener that wants to know only that a record can be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Listener for Nobody {
    #[inline(always)]
    fn begin(&mut self, _head: &Head, _class: &dyn Class) -> Wants {
        Wants::NOTHING
    }
}

/// A record at hand.
pub trait Record {
    /// Tells a listener all of it, from [`begin`](Listener::begin) to [`end`](Listener::end).
    ///
    /// # Errors
    /// A field cannot be read. The listener was told to [abandon](Listener::abandon) the record.
    fn tell<L: Listener>(&self, to: &mut L) -> Result<()>;
}

/// Records one after the other. The head is known before the fields are read, so that sources can be merged by time.
pub trait Source {
    /// The head of the next record; `None` at the end.
    ///
    /// # Errors
    /// The data cannot be read. The source has gone on to where it can be read again.
    fn peek(&mut self) -> Result<Option<&Head>>;

    /// Tells the record whose head was seen last, and goes on after it.
    ///
    /// # Errors
    /// It cannot be read. The listener was told to [abandon](Listener::abandon) it.
    fn tell<L: Listener>(&mut self, to: &mut L) -> Result<()>;
}
