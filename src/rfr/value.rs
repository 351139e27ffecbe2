//! Values, fields, and what spans and events have in common.

use super::element::{FIELD, PARENT, VALUE};
use super::layout::{Row, Table, Wire};
use super::list::{List, sealed};
use super::read::Reader;
use crate::error::{ErrorKind, Result};
use crate::varint::{zigzag64, zigzag128};

/// The fewest bytes of a value: its type and one more.
const VALUE_SIZE_MIN: u64 = 2;
/// The fewest bytes of a field: an empty name and a value.
const FIELD_SIZE_MIN: u64 = 3;

/// The fields of what spans and events have in common.
pub(super) const FIELDS: Table = &[
    Row::new("parent", "parent", PARENT, Wire::Union(Parent::variant)),
    Row::new("values", "split_field_values", VALUE, Wire::List(VALUE_FIELDS)),
    Row::new("dynamic fields", "dynamic_fields", FIELD, Wire::List(FIELD_FIELDS)),
];

/// The fields of a [`FieldValue`].
pub(super) const VALUE_FIELDS: Table =
    &[Row::new("value type", "FieldValue", VALUE, Wire::Union(FieldValue::variant))];

/// The fields of a [`Field`].
pub(super) const FIELD_FIELDS: Table =
    &[Row::new("field name", "name", FIELD, Wire::Text), Row::structure(VALUE, VALUE_FIELDS)];

/// A value of a field.
///
/// # Layout
/// | field | in the document | type |
/// |---|---|---|
/// | value type | `FieldValue` | `varint(u32)`, the number of the variant |
/// | value | the variant | F64: 8 bytes, little-endian; I64, I128: zigzag; U64, U128: `varint`; Bool: a byte; Str: string |
///
/// The variants are numbered from 0: F64, I64, U64, I128, U128, Bool, Str.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldValue<'a> {
    /// A float.
    F64(f64),
    /// A signed integer.
    I64(i64),
    /// An unsigned integer.
    U64(u64),
    /// A wide signed integer.
    I128(i128),
    /// A wide unsigned integer.
    U128(u128),
    /// A truth value.
    Bool(bool),
    /// A text.
    Str(&'a str),
}

impl<'a> FieldValue<'a> {
    /// The text, if it is one.
    pub const fn as_str(&self) -> Option<&'a str> {
        match *self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The value, if it is an integer from 0 to 2⁶⁴ − 1 of any width.
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Self::U64(value) => Some(value),
            Self::I64(value) => value.try_into().ok(),
            Self::U128(value) => value.try_into().ok(),
            Self::I128(value) => value.try_into().ok(),
            _ => None,
        }
    }

    /// The value, if it is an integer from −2⁶³ to 2⁶³ − 1 of any width.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Self::I64(value) => Some(value),
            Self::U64(value) => value.try_into().ok(),
            Self::I128(value) => value.try_into().ok(),
            Self::U128(value) => value.try_into().ok(),
            _ => None,
        }
    }

    /// The value, if it is a float. Integers are none: not all of them are exact as one.
    pub const fn as_f64(&self) -> Option<f64> {
        match *self {
            Self::F64(value) => Some(value),
            _ => None,
        }
    }

    /// The truth value, if it is one.
    pub const fn as_bool(&self) -> Option<bool> {
        match *self {
            Self::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The type with this number.
    fn variant(number: u32) -> Option<(&'static str, Table)> {
        const fn value(wire: Wire) -> Row {
            Row::new("value", "value", VALUE, wire)
        }
        const F64: Table = &[value(Wire::F64)];
        const I64: Table = &[value(Wire::I64)];
        const U64: Table = &[value(Wire::U64)];
        const I128: Table = &[value(Wire::I128)];
        const U128: Table = &[value(Wire::U128)];
        const BOOL: Table = &[value(Wire::Byte(|byte| match byte {
            0 => Some("false"),
            1 => Some("true"),
            _ => None,
        }))];
        const STR: Table = &[value(Wire::Text)];
        Some(match number {
            0 => ("F64", F64),
            1 => ("I64", I64),
            2 => ("U64", U64),
            3 => ("I128", I128),
            4 => ("U128", U128),
            5 => ("Bool", BOOL),
            6 => ("Str", STR),
            _ => return None,
        })
    }

    /// Skips a value. With `CHECK`, refuses everything that [`sealed::Item::read`] would refuse.
    #[inline]
    fn skip<const CHECK: bool>(reader: &mut Reader<'a>) -> Result<()> {
        let start = *reader;
        match reader.u32(VALUE)? {
            0 => reader.array::<8>(VALUE).map(drop),
            1 | 2 => reader.skip_u64(VALUE),
            3 | 4 => reader.u128(VALUE).map(drop),
            5 if CHECK => reader.flag(VALUE).map(drop),
            5 => reader.byte(VALUE).map(drop),
            6 => reader.skip_string::<CHECK>(VALUE),
            other => Err(start.error(VALUE, ErrorKind::Invalid { value: other.into() })),
        }
    }
}

impl<'a> sealed::Item<'a> for FieldValue<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let start = *reader;
        Ok(match reader.u32(VALUE)? {
            0 => Self::F64(f64::from_le_bytes(*reader.array(VALUE)?)),
            1 => Self::I64(zigzag64(reader.u64(VALUE)?)),
            2 => Self::U64(reader.u64(VALUE)?),
            3 => Self::I128(zigzag128(reader.u128(VALUE)?)),
            4 => Self::U128(reader.u128(VALUE)?),
            5 => Self::Bool(reader.flag(VALUE)?),
            6 => Self::Str(reader.string(VALUE)?),
            other => return Err(start.error(VALUE, ErrorKind::Invalid { value: other.into() })),
        })
    }
}

/// A name and its value.
///
/// # Layout
/// | field | in the document | type |
/// |---|---|---|
/// | field name | `name` | string |
/// | | `value` | [`FieldValue`] |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field<'a> {
    name: &'a str,
    value: FieldValue<'a>,
}

impl<'a> Field<'a> {
    /// Makes a field, to compare with.
    #[must_use]
    pub const fn new(name: &'a str, value: FieldValue<'a>) -> Self {
        Self { name, value }
    }

    /// The name.
    pub const fn name(&self) -> &'a str {
        self.name
    }

    /// The value.
    pub const fn value(&self) -> FieldValue<'a> {
        self.value
    }
}

impl<'a> sealed::Item<'a> for Field<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self> {
        Ok(Self { name: reader.string(FIELD)?, value: FieldValue::read(reader)? })
    }
}

impl<'a> sealed::Item<'a> for &'a str {
    fn read(reader: &mut Reader<'a>) -> Result<Self> {
        reader.string(FIELD)
    }
}

/// Skips a list of values, and returns its length.
#[inline]
fn skip_values<const CHECK: bool>(reader: &mut Reader<'_>) -> Result<u64> {
    let count = reader.count(VALUE_SIZE_MIN, VALUE)?;
    for _ in 0..count {
        FieldValue::skip::<CHECK>(reader)?;
    }
    Ok(count)
}

/// Skips a list of fields, and returns its length.
#[inline]
pub(super) fn skip_fields<const CHECK: bool>(reader: &mut Reader<'_>) -> Result<u64> {
    let count = reader.count(FIELD_SIZE_MIN, FIELD)?;
    for _ in 0..count {
        reader.skip_string::<CHECK>(FIELD)?;
        FieldValue::skip::<CHECK>(reader)?;
    }
    Ok(count)
}

/// Skips a list of names, and returns its length.
pub(super) fn skip_names<const CHECK: bool>(reader: &mut Reader<'_>) -> Result<u64> {
    let count = reader.count(1, FIELD)?;
    for _ in 0..count {
        reader.skip_string::<CHECK>(FIELD)?;
    }
    Ok(count)
}

/// A list that has been checked before; an empty one if it was not.
pub(super) fn checked_list<'a, T: sealed::Item<'a>>(reader: &mut Reader<'a>) -> List<'a, T> {
    let count = reader.u64(FIELD).unwrap_or(0);
    List::new(*reader, count)
}

/// The parent of a span or an event.
///
/// # Layout
/// `varint(u32)`: 0 Current, 1 Root, 2 Explicit, which an instrumentation id follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Parent {
    /// The span that is entered at that moment, if any.
    Current,
    /// Nothing.
    Root,
    /// The span with this instrumentation id.
    Explicit(u64),
}

impl Parent {
    /// The instrumentation id of the span, if one is named.
    pub const fn explicit(self) -> Option<u64> {
        match self {
            Self::Explicit(iid) => Some(iid),
            Self::Current | Self::Root => None,
        }
    }

    /// The one with this number.
    fn variant(number: u32) -> Option<(&'static str, Table)> {
        const EXPLICIT: Table = &[Row::new("parent iid", "parent", PARENT, Wire::U64)];
        Some(match number {
            0 => ("Current", &[]),
            1 => ("Root", &[]),
            2 => ("Explicit", EXPLICIT),
            _ => return None,
        })
    }

    #[inline]
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let start = *reader;
        match reader.u32(PARENT)? {
            0 => Ok(Self::Current),
            1 => Ok(Self::Root),
            2 => reader.u64(PARENT).map(Self::Explicit),
            other => Err(start.error(PARENT, ErrorKind::Invalid { value: other.into() })),
        }
    }

    #[inline]
    fn skip(reader: &mut Reader<'_>) -> Result<()> {
        let start = *reader;
        match reader.u32(PARENT)? {
            0 | 1 => Ok(()),
            2 => reader.skip_u64(PARENT),
            other => Err(start.error(PARENT, ErrorKind::Invalid { value: other.into() })),
        }
    }
}

/// The end of a span and of an event, checked: parent, values of the callsite's fields, further fields.
///
/// # Layout
/// | field | in the document | type |
/// |---|---|---|
/// | parent | `parent` | `varint(u32)`, see [`Parent`] |
/// | values | `split_field_values` | list of [`FieldValue`], of the fields that the callsite names |
/// | dynamic fields | `dynamic_fields` | list of [`Field`] |
#[derive(Clone, Copy, PartialEq)]
pub(super) struct ParentAndFields<'a> {
    data: &'a [u8],
    /// The offset of the dynamic fields; 0 if it does not fit.
    fields: u32,
}

impl<'a> ParentAndFields<'a> {
    /// No parent and no fields.
    pub(super) const NONE: Self = Self { data: &[], fields: 0 };

    /// Skips them.
    #[inline]
    pub(super) fn skip<const CHECK: bool>(reader: &mut Reader<'a>) -> Result<()> {
        Parent::skip(reader)?;
        skip_values::<CHECK>(reader)?;
        skip_fields::<CHECK>(reader)?;
        Ok(())
    }

    /// Checks them, to be decoded when they are asked for.
    #[inline]
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let start = *reader;
        Parent::skip(reader)?;
        skip_values::<true>(reader)?;
        let fields = u32::try_from(start.until(reader).len()).unwrap_or(0);
        skip_fields::<true>(reader)?;
        Ok(Self { data: start.until(reader), fields })
    }

    /// All of their bytes.
    pub(super) const fn bytes(self) -> &'a [u8] {
        self.data
    }

    pub(super) fn parent(self) -> Parent {
        Parent::read(&mut Reader::new(self.data)).unwrap_or(Parent::Root)
    }

    pub(super) fn split_field_values(self) -> List<'a, FieldValue<'a>> {
        let mut reader = Reader::new(self.data);
        let _ = Parent::skip(&mut reader);
        checked_list(&mut reader)
    }

    pub(super) fn dynamic_fields(self) -> List<'a, Field<'a>> {
        let mut reader = Reader::new(self.data).seek(self.fields.into());
        if self.fields == 0 {
            let _ = Parent::skip(&mut reader);
            let _ = skip_values::<false>(&mut reader);
        }
        checked_list(&mut reader)
    }
}

impl core::fmt::Debug for ParentAndFields<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} bytes", self.data.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// The offset of the fields is kept, unless it does not fit.
    #[test]
    fn fields_are_found_where_they_begin_and_after_the_values() {
        // Explicit parent 300 · two values: true, "a" · one field: "b", 7
        let data = b"\x02\xac\x02\x02\x05\x01\x06\x01a\x01\x01b\x02\x07";
        let known = ParentAndFields::read(&mut Reader::new(data)).unwrap();
        assert_eq!((known.fields, known.parent()), (9, Parent::Explicit(300)));
        let values: Vec<_> = known.split_field_values().collect();
        assert_eq!(values, [FieldValue::Bool(true), FieldValue::Str("a")]);
        for details in [known, ParentAndFields { fields: 0, ..known }] {
            let fields: Vec<_> = details.dynamic_fields().collect();
            assert_eq!(fields, [Field::new("b", FieldValue::U64(7))]);
        }
    }
}
