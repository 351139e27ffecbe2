//! Schemas: what events of a type consist of.

use super::element::{FIELD, SCHEMA};
use super::kind::{FieldType, OPTIONAL};
use crate::bytes::{Bytes, to_u64};
use crate::error::{Element, ErrorKind, Result};
use core::fmt;
use core::iter::FusedIterator;

/// The tag of a schema frame.
pub(super) const TAG: u8 = 1;

/// A schema: the name and the fields of the events with its number, up to the end of the batch.
///
/// # Layout
/// | offset | field | in the document | type |
/// |---|---|---|---|
/// | 0 | tag | `tag` | `0x01` |
/// | 1 | type id | `type_id` | `u16` |
/// | 3 | name | `name_len`, `name` | `u16` length and text |
/// | | has timestamp | `has_timestamp` | `u8` |
/// | | fields | `field_count` | `u16`, then as many [`FieldDef`] |
#[derive(Clone, Copy)]
pub struct Schema<'a> {
    /// From the length of the name to the end.
    definition: &'a [u8],
    /// Of the definition in the input.
    at: usize,
    pub(super) plan: Plan,
}

/// What is looked at for each event, so that the definition is not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub(super) type_id: u16,
    pub(super) count: u16,
    pub(super) timed: bool,
    /// Where the fields begin in the definition.
    fields_at: usize,
    /// The numbers of the types of the first [`PLANNED`] fields, 4 bits each, the first in the lowest.
    pub(super) kinds: u64,
    /// Those of them that are optional.
    pub(super) optional: u16,
}

/// How many fields a plan has room for.
pub(super) const PLANNED: u16 = 16;

impl Plan {
    pub(super) const EMPTY: Self =
        Self { type_id: 0, count: 0, timed: false, fields_at: 0, kinds: 0, optional: 0 };
}

/// Text of up to 65,535 bytes, with its length in front.
pub(super) fn short_text<'a>(input: &mut Bytes<'a>, element: Element) -> Result<&'a str> {
    let len = u16::from_le_bytes(*input.array(element)?);
    let text = input.take(len.into(), element)?;
    core::str::from_utf8(text.as_slice()).map_err(|_| text.error(element, ErrorKind::NotUtf8))
}

impl<'a> Schema<'a> {
    /// Reads what follows the tag. Errors are about the parts that fail; a name must be UTF-8.
    pub(super) fn read(input: &mut Bytes<'a>) -> Result<Self> {
        let type_id = u16::from_le_bytes(*input.array(SCHEMA)?);
        let start = *input;
        short_text(input, SCHEMA)?;
        let [timed] = *input.array(SCHEMA)?;
        let claim = *input;
        let count = u16::from_le_bytes(*input.array(SCHEMA)?);
        // A length and a type for each.
        let least = u64::from(count).saturating_mul(3);
        if least > to_u64(input.len()) {
            return Err(claim.truncated(SCHEMA, least.saturating_add(2)));
        }
        let fields_at = start.len().saturating_sub(input.len());
        let (mut kinds, mut optional) = (0, 0);
        for place in 0..count {
            short_text(input, FIELD)?;
            let at = *input;
            let [number] = *input.array(FIELD)?;
            if FieldType::from_number(number & !OPTIONAL).is_none() {
                return Err(at.error(FIELD, ErrorKind::Invalid { value: number.into() }));
            }
            if place < PLANNED {
                let nibble = u64::from(number & !OPTIONAL);
                kinds |= nibble.wrapping_shl(u32::from(place).wrapping_mul(4));
                optional |= u16::from(number & OPTIONAL != 0).wrapping_shl(place.into());
            }
        }
        let len = start.len().saturating_sub(input.len());
        let plan = Plan { type_id, count, timed: timed != 0, fields_at, kinds, optional };
        let at = usize::try_from(start.offset()).unwrap_or(usize::MAX);
        Ok(Self { definition: start.as_slice().get(..len).unwrap_or_default(), at, plan })
    }

    /// The schema whose definition was read from this place.
    #[inline(always)]
    pub(super) fn again(data: &'a [u8], at: usize, len: usize, plan: Plan) -> Option<Self> {
        let definition = data.get(at..)?.get(..len)?;
        Some(Self { definition, at, plan })
    }

    /// Offset in the input of its first byte.
    pub const fn offset(&self) -> u64 {
        to_u64(self.at.saturating_sub(3))
    }

    /// Offset in the input after its last byte.
    pub const fn end_offset(&self) -> u64 {
        to_u64(self.at.saturating_add(self.definition.len()))
    }

    /// The number of its events' type. It means something else in another batch.
    pub const fn type_id(&self) -> u16 {
        self.plan.type_id
    }

    /// The name.
    pub fn name(&self) -> &'a str {
        let mut input = Bytes::new(self.definition);
        short_text(&mut input, SCHEMA).unwrap_or_default()
    }

    /// Whether its events have a time of their own.
    #[doc(alias = "has_timestamp")]
    pub const fn is_timed(&self) -> bool {
        self.plan.timed
    }

    /// The number of fields.
    pub const fn field_count(&self) -> u16 {
        self.plan.count
    }

    /// The fields.
    #[inline]
    pub fn fields(&self) -> FieldDefs<'a> {
        FieldDefs {
            definition: self.definition.get(self.plan.fields_at..).unwrap_or_default(),
            left: self.plan.count,
        }
    }

    /// The place of the first field with this name.
    pub fn position(&self, name: &str) -> Option<u16> {
        let mut fields = self.fields();
        (0..self.plan.count).find(|_| fields.next().is_some_and(|field| field.name == name.as_bytes()))
    }

    /// From the length of the name to the end: two schemas say the same if these bytes are the same.
    pub const fn definition(&self) -> &'a [u8] {
        self.definition
    }

    /// Where the definition stands in the input.
    pub(super) const fn definition_at(&self) -> usize {
        self.at
    }
}

impl PartialEq for Schema<'_> {
    /// Whether they have the same name and fields; not whether the number is the same.
    fn eq(&self, other: &Self) -> bool {
        self.definition == other.definition
    }
}

impl Eq for Schema<'_> {}

impl fmt::Debug for Schema<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema")
            .field("offset", &self.offset())
            .field("type_id", &self.plan.type_id)
            .field("name", &self.name())
            .field("fields", &self.plan.count)
            .finish()
    }
}

/// A field of a schema.
///
/// # Layout
/// | field | in the document | type |
/// |---|---|---|
/// | name | `name_len`, `name` | `u16` length and text |
/// | type | `field_type` | `u8`: the bit 0x80 says that it is optional, the others are a [`FieldType`] |
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FieldDef<'a> {
    name: &'a [u8],
    field_type: FieldType,
    optional: bool,
}

impl<'a> FieldDef<'a> {
    /// The name.
    pub fn name(&self) -> &'a str {
        // It was UTF-8 when the schema was read.
        core::str::from_utf8(self.name).unwrap_or_default()
    }

    /// The bytes of the name: they need not be checked again to be compared.
    #[inline(always)]
    pub(super) const fn name_bytes(&self) -> &'a [u8] {
        self.name
    }

    /// The type.
    pub const fn field_type(&self) -> FieldType {
        self.field_type
    }

    /// Whether an event may have no value for it.
    pub const fn is_optional(&self) -> bool {
        self.optional
    }
}

impl fmt::Debug for FieldDef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let optional = if self.optional { "?" } else { "" };
        write!(f, "{}: {}{optional}", self.name(), self.field_type)
    }
}

/// The fields of a [`Schema`].
#[derive(Clone)]
pub struct FieldDefs<'a> {
    definition: &'a [u8],
    left: u16,
}

impl<'a> Iterator for FieldDefs<'a> {
    type Item = FieldDef<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<FieldDef<'a>> {
        self.left = self.left.checked_sub(1)?;
        let (len, rest) = self.definition.split_first_chunk()?;
        let (name, rest) = rest.split_at_checked(u16::from_le_bytes(*len).into())?;
        let (&number, rest) = rest.split_first()?;
        self.definition = rest;
        let field_type = FieldType::from_number(number & !OPTIONAL)?;
        Some(FieldDef { name, field_type, optional: number & OPTIONAL != 0 })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left.into(), Some(self.left.into()))
    }
}

impl ExactSizeIterator for FieldDefs<'_> {}
impl FusedIterator for FieldDefs<'_> {}

impl fmt::Debug for FieldDefs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FieldDefs({})", self.left)
    }
}
