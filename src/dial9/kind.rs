//! The types of fields.

use core::fmt;

/// The type of a field's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum FieldType {
    /// A signed integer: 8 bytes.
    I64,
    /// A float: 8 bytes.
    F64,
    /// A truth value: a byte; all but 0 are true.
    Bool,
    /// Text: `u32` length and bytes.
    String,
    /// Bytes: `u32` length and bytes.
    Bytes,
    /// A stack in the stack pool: its `u32` id.
    PooledStack,
    /// Text in the string pool: its `u32` id.
    PooledString,
    /// A stack: `u32` count and as many `u64`.
    Stack,
    /// An unsigned integer of 64 bits: LEB128.
    Varint,
    /// Pairs of text: `u32` count, and each key and value with its `u32` length in front.
    StringMap,
    /// An unsigned integer: a byte.
    U8,
    /// An unsigned integer: 2 bytes.
    U16,
    /// An unsigned integer: 4 bytes.
    U32,
    /// Values of any type: `u32` count, and each with its type in front.
    List,
    /// Pairs of values of any type: `u32` count, and each key and value with its type in front.
    Map,
}

/// The bit of a type's number that says: optional.
pub(super) const OPTIONAL: u8 = 0x80;

impl FieldType {
    /// The type with this number, as a schema has it, without the bit for optional fields.
    #[inline(always)]
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::I64,
            2 => Self::F64,
            3 => Self::Bool,
            4 => Self::String,
            5 => Self::Bytes,
            6 => Self::PooledStack,
            7 => Self::PooledString,
            8 => Self::Stack,
            9 => Self::Varint,
            10 => Self::StringMap,
            11 => Self::U8,
            12 => Self::U16,
            13 => Self::U32,
            14 => Self::List,
            15 => Self::Map,
            _ => return None,
        })
    }

    /// The number, as a schema has it.
    pub const fn number(self) -> u8 {
        match self {
            Self::I64 => 1,
            Self::F64 => 2,
            Self::Bool => 3,
            Self::String => 4,
            Self::Bytes => 5,
            Self::PooledStack => 6,
            Self::PooledString => 7,
            Self::Stack => 8,
            Self::Varint => 9,
            Self::StringMap => 10,
            Self::U8 => 11,
            Self::U16 => 12,
            Self::U32 => 13,
            Self::List => 14,
            Self::Map => 15,
        }
    }

    /// True if values are text, or refer to a pool.
    pub(super) const fn refers(self) -> bool {
        matches!(self, Self::String | Self::StringMap | Self::PooledString | Self::PooledStack)
    }

    /// The name in the document.
    pub const fn name(self) -> &'static str {
        match self {
            Self::I64 => "I64",
            Self::F64 => "F64",
            Self::Bool => "Bool",
            Self::String => "String",
            Self::Bytes => "Bytes",
            Self::PooledStack => "PooledStackFrames",
            Self::PooledString => "PooledString",
            Self::Stack => "StackFrames",
            Self::Varint => "Varint",
            Self::StringMap => "StringMap",
            Self::U8 => "U8",
            Self::U16 => "U16",
            Self::U32 => "U32",
            Self::List => "DynamicList",
            Self::Map => "DynamicMap",
        }
    }
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
