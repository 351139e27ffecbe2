//! Values of fields.

use super::kind::FieldType;
#[cfg(feature = "event")]
use super::kind::OPTIONAL;
use super::size::{end, number};
use crate::bytes::{to_u64, to_usize};
use crate::varint;
use core::fmt;
use core::iter::FusedIterator;

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// A signed integer.
    I64(i64),
    /// A float.
    F64(f64),
    /// A truth value.
    Bool(bool),
    /// Text. It should be UTF-8.
    String(&'a [u8]),
    /// Bytes.
    Bytes(&'a [u8]),
    /// The id of a stack: see [`Frames::stack`](super::Frames::stack).
    PooledStack(u32),
    /// The id of text: see [`Frames::string`](super::Frames::string).
    PooledString(u32),
    /// A stack.
    Stack(Stack<'a>),
    /// An unsigned integer, stored as LEB128.
    Varint(u64),
    /// Pairs of text.
    StringMap(StringMap<'a>),
    /// An unsigned integer of 8 bits.
    U8(u8),
    /// An unsigned integer of 16 bits.
    U16(u16),
    /// An unsigned integer of 32 bits.
    U32(u32),
    /// Values of any type.
    List(List<'a>),
    /// Pairs of values of any type.
    Map(Map<'a>),
}

impl<'a> Value<'a> {
    /// Reads the value at `at`, whose end is known to lie in `data`; also returns that end.
    #[inline(always)]
    pub(super) fn read(data: &'a [u8], at: usize, kind: FieldType) -> Option<(Self, usize)> {
        let rest = data.get(at..)?;
        Some(match kind {
            FieldType::Varint => match rest.first() {
                Some(&byte) if byte < 0x80 => (Self::Varint(byte.into()), at.wrapping_add(1)),
                _ => {
                    let (value, len) = varint::read_u64_long(rest);
                    (Self::Varint(value), at.wrapping_add(len))
                }
            },
            FieldType::U8 => (Self::U8(*rest.first()?), at.wrapping_add(1)),
            FieldType::Bool => (Self::Bool(*rest.first()? != 0), at.wrapping_add(1)),
            FieldType::U16 => (Self::U16(u16::from_le_bytes(*rest.first_chunk()?)), at.wrapping_add(2)),
            FieldType::U32 => (Self::U32(number(data, at)?), at.wrapping_add(4)),
            FieldType::PooledStack => (Self::PooledStack(number(data, at)?), at.wrapping_add(4)),
            FieldType::PooledString => (Self::PooledString(number(data, at)?), at.wrapping_add(4)),
            FieldType::I64 => (Self::I64(i64::from_le_bytes(*rest.first_chunk()?)), at.wrapping_add(8)),
            FieldType::F64 => (Self::F64(f64::from_le_bytes(*rest.first_chunk()?)), at.wrapping_add(8)),
            kind => return Self::read_long(data, at, kind),
        })
    }

    /// As [`Self::read`], of what has a count.
    fn read_long(data: &'a [u8], at: usize, kind: FieldType) -> Option<(Self, usize)> {
        let end = end(data, at, kind)?;
        let count = number(data, at)?;
        let bytes = data.get(at.saturating_add(4)..end)?;
        let value = match kind {
            FieldType::String => Self::String(bytes),
            FieldType::Bytes => Self::Bytes(bytes),
            FieldType::Stack => Self::Stack(Stack { bytes }),
            FieldType::StringMap => Self::StringMap(StringMap { bytes, count }),
            FieldType::Map => {
                Self::Map(Map { list: List { bytes, count: u64::from(count).saturating_mul(2) } })
            }
            _ => Self::List(List { bytes, count: count.into() }),
        };
        Some((value, end))
    }

    /// The type.
    pub const fn field_type(&self) -> FieldType {
        match self {
            Self::I64(_) => FieldType::I64,
            Self::F64(_) => FieldType::F64,
            Self::Bool(_) => FieldType::Bool,
            Self::String(_) => FieldType::String,
            Self::Bytes(_) => FieldType::Bytes,
            Self::PooledStack(_) => FieldType::PooledStack,
            Self::PooledString(_) => FieldType::PooledString,
            Self::Stack(_) => FieldType::Stack,
            Self::Varint(_) => FieldType::Varint,
            Self::StringMap(_) => FieldType::StringMap,
            Self::U8(_) => FieldType::U8,
            Self::U16(_) => FieldType::U16,
            Self::U32(_) => FieldType::U32,
            Self::List(_) => FieldType::List,
            Self::Map(_) => FieldType::Map,
        }
    }

    /// The value as an unsigned integer, if its type is one.
    ///
    /// Writers have changed the width of a field: a reader of one field takes all of them.
    pub const fn unsigned(&self) -> Option<u64> {
        match *self {
            Self::Varint(value) => Some(value),
            #[allow(clippy::as_conversions)] // Widening; `From` is not const.
            Self::U8(value) => Some(value as u64),
            #[allow(clippy::as_conversions)]
            Self::U16(value) => Some(value as u64),
            #[allow(clippy::as_conversions)]
            Self::U32(value) => Some(value as u64),
            _ => None,
        }
    }
}

/// A value as far as tracks are made of it.
#[cfg(feature = "event")]
#[derive(Clone, Copy)]
pub(crate) enum Brief<'a> {
    /// An unsigned integer.
    Number(u64),
    /// The id of pooled text.
    Pooled(u32),
    Text(&'a [u8]),
    /// Another value, or none.
    Other,
}

#[cfg(feature = "event")]
impl<'a> Brief<'a> {
    pub(crate) fn of(value: Value<'a>) -> Self {
        match value {
            Value::PooledString(id) => Self::Pooled(id),
            Value::String(text) => Self::Text(text),
            other => other.unsigned().map_or(Self::Other, Self::Number),
        }
    }

    /// Reads the value at `at`, of the type with this number, whose end is known to lie in `data`; also returns that end.
    #[inline(always)]
    pub(super) fn read(data: &'a [u8], at: usize, kind: u8) -> Option<(Self, usize)> {
        const VARINT: u8 = FieldType::Varint.number();
        const POOLED_STRING: u8 = FieldType::PooledString.number();
        const U8: u8 = FieldType::U8.number();
        Some(match kind {
            VARINT => {
                let (value, len) = varint::read_u64_near(data.get(at..)?);
                (Self::Number(value), at.wrapping_add(len))
            }
            POOLED_STRING => (Self::Pooled(number(data, at)?), at.wrapping_add(4)),
            U8 => (Self::Number(u64::from(*data.get(at)?)), at.wrapping_add(1)),
            other => return Self::read_other(data, at, other),
        })
    }

    /// The same of less frequent types.
    #[inline(never)]
    fn read_other(data: &'a [u8], mut at: usize, number: u8) -> Option<(Self, usize)> {
        if number & OPTIONAL != 0 {
            let present = *data.get(at)? != 0;
            at = at.wrapping_add(1);
            if !present {
                return Some((Self::Other, at));
            }
        }
        let (value, end) = Value::read(data, at, FieldType::from_number(number & !OPTIONAL)?)?;
        Some((Self::of(value), end))
    }
}

/// A stack: addresses, those of the innermost frame first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Stack<'a> {
    bytes: &'a [u8],
}

impl<'a> Stack<'a> {
    /// The stack of these addresses, of 8 bytes each.
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The number of addresses it has.
    pub const fn len(&self) -> usize {
        self.bytes.len() / 8
    }

    /// True if it has none.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The addresses, from the innermost frame to the outermost.
    pub fn addresses(&self) -> impl ExactSizeIterator<Item = u64> + DoubleEndedIterator + Clone + 'a {
        let (chunks, _) = self.bytes.as_chunks::<8>();
        chunks.iter().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// The bytes of the addresses in the input.
    pub const fn as_slice(&self) -> &'a [u8] {
        self.bytes
    }
}

/// A key and its value.
type Pair<'a> = (&'a [u8], &'a [u8]);

/// Pairs of text, in the order of the input; keys may recur.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StringMap<'a> {
    bytes: &'a [u8],
    count: u32,
}

impl<'a> StringMap<'a> {
    /// The number of pairs it has.
    pub const fn len(&self) -> u32 {
        self.count
    }

    /// True if it has none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Keys and values, which should be UTF-8.
    pub fn pairs(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + Clone + 'a {
        let (map, mut at) = (*self, 0);
        core::iter::from_fn(move || {
            let (pair, end) = map.pair_at(at)?;
            at = end;
            Some(pair)
        })
        .fuse()
    }

    /// The pair at a place of its bytes, and where the next one is.
    pub(crate) fn pair_at(&self, at: usize) -> Option<(Pair<'a>, usize)> {
        let (key, end) = text_at(self.bytes, at)?;
        let (value, end) = text_at(self.bytes, end)?;
        Some(((key, value), end))
    }

    /// The bytes of the pairs in the input.
    pub const fn as_slice(&self) -> &'a [u8] {
        self.bytes
    }
}

/// Values of any type, in order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct List<'a> {
    bytes: &'a [u8],
    count: u64,
}

impl<'a> List<'a> {
    /// The number of values it has.
    pub const fn len(&self) -> u64 {
        self.count
    }

    /// True if it has none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The values.
    pub const fn values(&self) -> Values<'a> {
        Values { bytes: self.bytes, left: self.count }
    }

    /// The bytes of the values in the input, each with its type in front.
    pub const fn as_slice(&self) -> &'a [u8] {
        self.bytes
    }
}

/// Pairs of values of any type, in the order of the input; keys may recur.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Map<'a> {
    list: List<'a>,
}

impl<'a> Map<'a> {
    /// The number of pairs it has.
    pub const fn len(&self) -> u64 {
        self.list.count / 2
    }

    /// True if it has none.
    pub const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The keys and values.
    pub fn pairs(&self) -> impl Iterator<Item = (Value<'a>, Value<'a>)> + Clone + 'a {
        let mut values = self.list.values();
        core::iter::from_fn(move || Some((values.next()?, values.next()?))).fuse()
    }

    /// Keys and values in turn.
    pub const fn values(&self) -> Values<'a> {
        self.list.values()
    }

    /// The bytes of the pairs in the input.
    pub const fn as_slice(&self) -> &'a [u8] {
        self.list.bytes
    }
}

/// The values of a [`List`], or the keys and values of a [`Map`] in turn.
#[derive(Clone)]
pub struct Values<'a> {
    bytes: &'a [u8],
    left: u64,
}

impl<'a> Iterator for Values<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        self.left = self.left.checked_sub(1)?;
        let (&number, _) = self.bytes.split_first()?;
        let (value, end) = Value::read(self.bytes, 1, FieldType::from_number(number)?)?;
        self.bytes = self.bytes.get(end..)?;
        Some(value)
    }
}

impl FusedIterator for Values<'_> {}

/// The number of elements; never the elements.
macro_rules! debug_by_len {
    ($($name:ident)*) => {$(
        impl fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.len())
            }
        }
    )*};
}

debug_by_len!(Stack StringMap List Map);

impl fmt::Debug for Values<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Values({})", self.left)
    }
}

/// The stack whose count of addresses stands at `at`, and its end.
pub(crate) fn stack_at(data: &[u8], at: usize) -> Option<(Stack<'_>, usize)> {
    let (start, size) = (at.checked_add(4)?, to_usize(number(data, at)?).checked_mul(8)?);
    let end = start.checked_add(size)?;
    Some((Stack::new(data.get(start..end)?), end))
}

/// The text whose length stands at `at`, and its end.
pub(crate) fn text_at(data: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let start = at.checked_add(4)?;
    let end = start.checked_add(to_usize(number(data, at)?))?;
    Some((data.get(start..end)?, end))
}

/// The number of bytes that lie between two places.
pub(super) const fn between(start: usize, end: usize) -> u64 {
    to_u64(end.saturating_sub(start))
}
