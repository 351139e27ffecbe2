//! Schemas: what events of a type consist of.

use super::element::{FIELD, SCHEMA, VALUE};
use super::kind::{FieldType, OPTIONAL};
use super::size;
use crate::bytes::{Bytes, to_u64, to_usize};
use crate::error::{Element, Error, ErrorKind, Result};
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
    /// The input up to the end of the schema, or more.
    input: &'a [u8],
    place: Place,
}

/// The place of a schema, and the part of it that each event needs. It is copied for each, so it is two words: to copy parts of
/// words takes far longer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Of the definition, which is all from the length of the name on.
    at: usize,
    /// From the lowest bits on: 32 of the offset of the fields in the definition, with [`TIMED`] and [`REFERS`]; 16 of the
    /// number of the type; 16 of the number of fields.
    rest: u64,
}

/// Events have a time. The offset of the fields is far below it, as a name has at most 65,535 bytes.
const TIMED: u32 = 1 << 30;
/// A field is text, or refers to a pool: then there is something to verify.
const REFERS: u32 = 1 << 31;

impl Place {
    pub(super) const EMPTY: Self = Self { at: 0, rest: 0 };

    const fn new(at: usize, fields_at: u32, flags: u32, type_id: u16, count: u16) -> Self {
        let ([a, b, c, d], [e, f], [g, h]) =
            ((fields_at | flags).to_le_bytes(), type_id.to_le_bytes(), count.to_le_bytes());
        Self { at, rest: u64::from_le_bytes([a, b, c, d, e, f, g, h]) }
    }

    #[inline(always)]
    const fn low(self) -> u32 {
        let [a, b, c, d, ..] = self.rest.to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }

    /// The offset of the fields in the definition.
    #[inline(always)]
    const fn fields_at(self) -> u32 {
        self.low() & !(TIMED | REFERS)
    }

    #[inline(always)]
    pub(super) const fn type_id(self) -> u16 {
        let [.., e, f, _, _] = self.rest.to_le_bytes();
        u16::from_le_bytes([e, f])
    }

    /// The number of fields.
    #[inline(always)]
    pub(super) const fn count(self) -> u16 {
        let [.., g, h] = self.rest.to_le_bytes();
        u16::from_le_bytes([g, h])
    }

    /// True if events have a time.
    #[inline(always)]
    pub(super) const fn timed(self) -> bool {
        self.low() & TIMED != 0
    }

    /// True if a field is text, or refers to a pool.
    #[inline(always)]
    pub(super) const fn refers(self) -> bool {
        self.low() & REFERS != 0
    }
}

/// The plan by which values are skipped: a number of bytes, then a value of unknown size, again and again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    steps: [Step; STEPS],
    /// The number of fields the steps are for.
    planned: u16,
    /// The numbers of the types of the first fields, with the bit for optional ones; 0 where there is no field.
    pub(super) numbers: [u8; NUMBERED],
}

/// The number of fields that have their types in a [`Plan`].
pub(super) const NUMBERED: usize = 16;

/// A step of a [`Plan`].
#[derive(Clone, Copy, Debug)]
struct Step {
    /// The number of bytes the values of a known size take.
    fixed: u16,
    /// The number of the type that follows, with the bit for optional ones; 0 at the end.
    number: u8,
}

/// The number of steps that there is room for. What follows is skipped by the definition.
const STEPS: usize = 8;

impl Plan {
    pub(crate) const EMPTY: Self =
        Self { steps: [Step { fixed: 0, number: 0 }; STEPS], planned: 0, numbers: [0; NUMBERED] };

    fn new(fields: FieldDefs<'_>) -> Self {
        let mut plan = Self::EMPTY;
        plan.numbers.iter_mut().zip(fields.clone()).for_each(|(number, def)| *number = def.number());
        let mut steps = plan.steps.iter_mut().peekable();
        for def in fields {
            let Some(step) = steps.peek_mut() else { break };
            let known = size::known(def.field_type).filter(|_| !def.optional);
            match known.and_then(|size| step.fixed.checked_add(size)) {
                Some(fixed) => step.fixed = fixed,
                // Too many bytes for a step are a value whose size is not known.
                None => {
                    step.number = def.number();
                    steps.next();
                }
            }
            plan.planned = plan.planned.saturating_add(1);
        }
        plan
    }

    /// The end of the values of `schema` that begin at `at`; possibly after the end of the data.
    ///
    /// `None` if there is no end: [`explain`] says why.
    #[inline(always)]
    pub(super) fn end(&self, data: &[u8], mut at: usize, schema: &Schema<'_>) -> Option<usize> {
        for step in &self.steps {
            // No slice is so long that this does not fit in an integer.
            at = at.wrapping_add(step.fixed.into());
            at = match step.number {
                0 => break,
                VARINT => size::end_of_varint(data, at)?,
                number => skip(data, at, number)?,
            };
        }
        if schema.place.count() > self.planned { self.end_of_rest(data, at, schema) } else { Some(at) }
    }

    /// The same of the fields that no step is for.
    ///
    /// Each takes a byte at least, so that this is linear in the event, however large the schema is.
    #[cold]
    #[inline(never)]
    fn end_of_rest(&self, data: &[u8], mut at: usize, schema: &Schema<'_>) -> Option<usize> {
        for def in schema.fields().skip(self.planned.into()) {
            at = skip(data, at, def.number())?;
            if at > data.len() {
                return None;
            }
        }
        Some(at)
    }
}

/// The number of the most frequent type.
const VARINT: u8 = FieldType::Varint.number();

/// Skips a value that may be absent.
#[inline(never)]
fn skip(data: &[u8], mut at: usize, number: u8) -> Option<usize> {
    if number & OPTIONAL != 0 {
        let present = *data.get(at)? != 0;
        at = at.saturating_add(1);
        if !present {
            return Some(at);
        }
    }
    size::end(data, at, FieldType::from_number(number & !OPTIONAL)?)
}

/// Why the values of `schema` that begin at `at` cannot be read.
#[cold]
#[inline(never)]
pub(super) fn explain(data: &[u8], mut at: usize, schema: &Schema<'_>) -> Error {
    for def in schema.fields() {
        if def.optional {
            let present = data.get(at).copied();
            if present.is_none() {
                return Error::new(to_u64(at), VALUE, ErrorKind::UnexpectedEnd { needed: 1 });
            }
            at = at.saturating_add(1);
            if present == Some(0) {
                continue;
            }
        }
        match size::end(data, at, def.field_type) {
            Some(end) if end <= data.len() => at = end,
            _ => return size::fault(data, at, def.field_type),
        }
    }
    // Not reached: one of them fails.
    Error::new(to_u64(at), VALUE, ErrorKind::Malformed)
}

/// Text of up to 65,535 bytes, with its length in front.
pub(super) fn short_text<'a>(input: &mut Bytes<'a>, element: Element) -> Result<&'a str> {
    let len = u16::from_le_bytes(*input.array(element)?);
    let text = input.take(len.into(), element)?;
    core::str::from_utf8(text.as_slice()).map_err(|_| text.error(element, ErrorKind::NotUtf8))
}

impl<'a> Schema<'a> {
    /// Reads what follows the tag, off the front of the last bytes of `data`. A name must be UTF-8.
    pub(super) fn read(input: &mut Bytes<'a>, data: &'a [u8]) -> Result<Self> {
        let type_id = u16::from_le_bytes(*input.array(SCHEMA)?);
        let start = data.len().saturating_sub(input.len());
        short_text(input, SCHEMA)?;
        let [timed] = *input.array(SCHEMA)?;
        let claim = *input;
        let count = u16::from_le_bytes(*input.array(SCHEMA)?);
        // A length and a type for each.
        let least = u64::from(count).saturating_mul(3);
        if least > to_u64(input.len()) {
            return Err(claim.truncated(SCHEMA, least.saturating_add(2)));
        }
        let fields_at = data.len().saturating_sub(input.len()).saturating_sub(start);
        let mut refers = false;
        for _ in 0..count {
            short_text(input, FIELD)?;
            let at = *input;
            let [number] = *input.array(FIELD)?;
            let Some(kind) = FieldType::from_number(number & !OPTIONAL) else {
                return Err(at.error(FIELD, ErrorKind::Invalid { value: number.into() }));
            };
            refers |= kind.refers();
        }
        let fields_at = u32::try_from(fields_at).unwrap_or(0);
        let flags = if timed != 0 { TIMED } else { 0 } | if refers { REFERS } else { 0 };
        let place = Place::new(start, fields_at, flags, type_id, count);
        let end = data.len().saturating_sub(input.len());
        Ok(Self { input: data.get(..end).unwrap_or_default(), place })
    }

    /// A schema without a name and fields.
    pub(super) const EMPTY: Self = Self { input: &[], place: Place::EMPTY };

    /// The schema that stands at this place of the input.
    #[inline(always)]
    pub(super) const fn at(input: &'a [u8], place: Place) -> Self {
        Self { input, place }
    }

    /// The offset of the schema.
    pub(super) const fn place(&self) -> Place {
        self.place
    }

    /// The plan by which its events are skipped.
    pub(crate) fn plan(&self) -> Plan {
        Plan::new(self.fields())
    }

    /// Offset in the input of its first byte.
    pub const fn offset(&self) -> u64 {
        to_u64(self.place.at.saturating_sub(3))
    }

    /// Offset in the input after its last byte.
    pub fn end_offset(&self) -> u64 {
        to_u64(self.place.at.saturating_add(self.definition().len()))
    }

    /// The number of its events' type. It means something else in another batch.
    pub const fn type_id(&self) -> u16 {
        self.place.type_id()
    }

    /// The name.
    pub fn name(&self) -> &'a str {
        let mut input = Bytes::new(self.definition_on());
        short_text(&mut input, SCHEMA).unwrap_or_default()
    }

    /// True if its events have a time of their own.
    #[doc(alias = "has_timestamp")]
    pub const fn is_timed(&self) -> bool {
        self.place.timed()
    }

    /// The number of fields.
    pub const fn field_count(&self) -> u16 {
        self.place.count()
    }

    /// The fields.
    #[inline]
    pub fn fields(&self) -> FieldDefs<'a> {
        FieldDefs {
            definition: self.definition_on().get(to_usize(self.place.fields_at())..).unwrap_or_default(),
            left: self.place.count(),
        }
    }

    /// The place of the first field with this name.
    pub fn position(&self, name: &str) -> Option<u16> {
        let mut fields = self.fields();
        (0..self.place.count()).find(|_| fields.next().is_some_and(|field| field.name == name.as_bytes()))
    }

    /// From the length of the name to the end: two schemas say the same if these bytes are the same.
    pub fn definition(&self) -> &'a [u8] {
        let mut fields = self.fields();
        fields.by_ref().for_each(drop);
        let rest = fields.definition.len();
        let all = self.definition_on();
        all.get(..all.len().saturating_sub(rest)).unwrap_or_default()
    }

    /// The input from the definition on.
    #[inline(always)]
    fn definition_on(&self) -> &'a [u8] {
        self.input.get(self.place.at..).unwrap_or_default()
    }
}

impl PartialEq for Schema<'_> {
    /// True if they have the same name and fields; not whether the number is the same.
    fn eq(&self, other: &Self) -> bool {
        self.definition() == other.definition()
    }
}

impl Eq for Schema<'_> {}

impl fmt::Debug for Schema<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema")
            .field("offset", &self.offset())
            .field("type_id", &self.place.type_id())
            .field("name", &self.name())
            .field("fields", &self.place.count())
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

    /// The number of the type, with the bit for optional ones.
    pub(super) const fn number(&self) -> u8 {
        self.field_type.number() | if self.optional { OPTIONAL } else { 0 }
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

    /// True if an event may have no value for it.
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
