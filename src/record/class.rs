//! Classes: what all records of a kind have in common.

use core::fmt::Display;

/// The number of a class, dense within a source: an index into a listener's own table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClassId(pub u32);

/// The number of a field, dense within a source: an index into a listener's own table.
///
/// It stands for everything in the field's [`FieldInfo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(pub u32);

#[allow(clippy::as_conversions)] // `usize` has 32 bits or more wherever a listener keeps a table.
impl ClassId {
    /// An index into a table.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

#[allow(clippy::as_conversions)] // As above.
impl Slot {
    /// An index into a table.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The part of a record that fields belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scope {
    /// The fields that frame the record: its identifier, its stored time.
    Header,
    /// The fields that all records of the stream have.
    CommonContext,
    /// The context that all records of the class have.
    SpecificContext,
    /// The fields that the record is about, of a format that has the scopes above.
    Payload,
    /// The fields of a record whose format has no scopes: JSON has them beside the time, not in an object.
    Fields,
}

impl Scope {
    /// All scopes, in the order in which records tell them.
    pub const ALL: [Self; 5] =
        [Self::Header, Self::CommonContext, Self::SpecificContext, Self::Payload, Self::Fields];

    /// The name in JSON, tables and annotations; `None` for [`Fields`](Self::Fields).
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Header => Some("header"),
            Self::CommonContext => Some("common_context"),
            Self::SpecificContext => Some("specific_context"),
            Self::Payload => Some("payload"),
            Self::Fields => None,
        }
    }
}

/// The way people read a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hint {
    /// As it is: a number in decimal.
    None,
    /// Binary digits.
    Binary,
    /// Octal digits.
    Octal,
    /// Hexadecimal digits: a mask or a code. JSON has a number.
    Hexadecimal,
    /// An address, a hash or an opaque handle: `0x…` in every listener, a string in JSON.
    Address,
    /// A number with a name: every listener shows its label alone, the number where it has no label.
    Label,
    /// Nanoseconds, a span of time.
    Duration,
    /// Ticks of a clock that the record does not convert.
    Ticks,
    /// The time of the record once more, as it is stored: people read the time.
    Stamp,
}

/// The type of a field's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// An unsigned integer.
    Unsigned {
        /// The width in bits.
        bits: u32,
    },
    /// An unsigned integer whose labels name bits, not values.
    Flags {
        /// The width in bits.
        bits: u32,
    },
    /// A signed integer.
    Signed {
        /// The width in bits.
        bits: u32,
    },
    /// A truth value.
    Boolean,
    /// A floating-point number.
    Float {
        /// The width in bits.
        bits: u32,
    },
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// Fields with a name each.
    Group,
    /// Values in order.
    List,
    /// A group whose names come with the record: each value follows its [`key`](super::Listener::key).
    Map,
    /// A value of any type: it differs from record to record.
    Any,
}

/// The constant part of a field.
#[derive(Clone, Copy)]
pub struct FieldInfo<'c> {
    /// The number of the field. [`Fixed`](super::Fixed) numbers its fields itself.
    pub slot: Slot,
    /// The name; `None` for an element of a list or a map, and for the one value that a record consists of.
    pub name: Option<&'c (dyn Display + Sync)>,
    /// The type of its values.
    pub kind: Kind,
    /// The way people read them.
    pub hint: Hint,
    /// The unit of a number, such as `B` or `Hz`.
    pub unit: Option<&'c str>,
    /// The labels of an enumeration.
    pub labels: Option<EachLabel<'c>>,
    /// The number of the set of labels within the source: fields with the same number have the same labels.
    pub label_set: Option<u32>,
}

impl core::fmt::Debug for FieldInfo<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut shown = f.debug_struct("FieldInfo");
        if let Some(name) = self.name {
            shown.field("name", &format_args!("{name}"));
        }
        shown
            .field("slot", &self.slot)
            .field("kind", &self.kind)
            .field("hint", &self.hint)
            .field("unit", &self.unit)
            .finish_non_exhaustive()
    }
}

/// Calls its argument with each label, and with the first and last value that it names (bits of [`Kind::Flags`]).
pub type EachLabel<'c> = &'c (dyn Fn(&mut dyn FnMut(&dyn Display, i128, i128)) + Sync);

/// A step through the fields of a class, in the order in which records tell them.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Step<'c> {
    /// A scope begins.
    Scope(Scope),
    /// A field. A group, list or map begins with it and ends with [`End`](Self::End).
    Field(FieldInfo<'c>),
    /// The group, list, map or scope that began last ends.
    End,
}

/// A constant fact about a class, beside its fields.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Fact<'c> {
    /// A number.
    Number(u64),
    /// Text.
    Text(&'c dyn Display),
    /// Nothing, for a fact that other classes have.
    Absent,
}

/// A class of records: a schema before the first row, and what a listener spells once.
pub trait Class {
    /// The number of the class.
    fn id(&self) -> ClassId;

    /// The name that people know its records by.
    fn name(&self) -> &dyn Display;

    /// The name of the clock of its records' times, if that has one.
    fn clock(&self) -> Option<&dyn Display> {
        None
    }

    /// Calls `each` with every other constant fact, by the name that JSON has for it. The first is `kind`.
    fn facts(&self, each: &mut dyn FnMut(&'static str, Fact<'_>));

    /// Calls `each` with the steps through its fields.
    fn fields(&self, each: &mut dyn FnMut(Step<'_>));
}
