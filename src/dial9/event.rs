//! Events.

use super::element::{EVENT, VALUE};
use super::kind::FieldType;
use super::schema::{FieldDef, FieldDefs, PLANNED, Schema};
use super::size;
use super::value::{Value, between};
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Result};
use core::fmt;
use core::iter::FusedIterator;

/// The tag of an event frame.
pub(super) const TAG: u8 = 2;

/// The size of the tag and of the type's number.
pub(super) const TYPED: usize = 3;

/// Something that happened.
///
/// # Layout
/// | offset | field | in the document | type |
/// |---|---|---|---|
/// | 0 | tag | `tag` | `0x02` |
/// | 1 | type id | `type_id` | `u16` |
/// | 3 | delta | `timestamp_delta_ns` | `u24`, if the schema says so |
/// | | fields | `values` | in the order of the schema; of an optional one a byte and, unless that is 0, the value |
///
/// # Units
/// Times are nanoseconds of the clock of the writer (`CLOCK_MONOTONIC`, on Apple systems the uptime clock).
#[derive(Clone, Copy)]
pub struct Event<'a> {
    /// The input up to the end of the event.
    input: &'a [u8],
    at: usize,
    schema: Schema<'a>,
    time: Option<u64>,
}

impl<'a> Event<'a> {
    /// Reads the event of `schema` at `at`. All of it is checked, so that its fields can be read later.
    #[inline(always)]
    pub(super) fn read(data: &'a [u8], at: usize, schema: Schema<'a>, base: u64) -> Result<(Self, usize)> {
        let plan = &schema.plan;
        let mut values_at = at.saturating_add(TYPED);
        let mut time = None;
        if plan.timed {
            let Some(&[a, b, c]) = data.get(values_at..).and_then(<[u8]>::first_chunk) else {
                return Err(truncated(data, at, TYPED.saturating_add(3)));
            };
            let delta = u32::from_le_bytes([a, b, c, 0]);
            let Some(sum) = base.checked_add(delta.into()) else {
                return Err(Error::new(to_u64(at), EVENT, ErrorKind::Overflow { value: delta.into() }));
            };
            time = Some(sum);
            values_at = values_at.saturating_add(3);
        }
        match end_of_values(data, values_at, &schema) {
            Some(end) if end <= data.len() => {
                let input = data.get(..end).unwrap_or_default();
                Ok((Self { input, at, schema, time }, end))
            }
            _ => Err(explain(data, values_at, &schema)),
        }
    }

    /// Offset in the input of its first byte.
    pub const fn offset(&self) -> u64 {
        to_u64(self.at)
    }

    /// Offset in the input after its last byte.
    pub const fn end_offset(&self) -> u64 {
        to_u64(self.input.len())
    }

    /// Its bytes.
    pub fn as_slice(&self) -> &'a [u8] {
        self.input.get(self.at..).unwrap_or_default()
    }

    /// Its schema.
    #[inline(always)]
    pub const fn schema(&self) -> Schema<'a> {
        self.schema
    }

    /// The name of its type.
    pub fn name(&self) -> &'a str {
        self.schema.name()
    }

    /// The time in nanoseconds; `None` if its schema has none.
    #[inline(always)]
    pub const fn time(&self) -> Option<u64> {
        self.time
    }

    /// The fields, in the order of the schema.
    #[inline(always)]
    pub fn fields(&self) -> Fields<'a> {
        Fields { input: self.input, at: self.values_at(), defs: self.schema.fields() }
    }

    /// The values without their names: for a reader that knows the places of fields.
    #[inline(always)]
    pub fn values(&self) -> EventValues<'a> {
        let plan = &self.schema.plan;
        let (kinds, optional) = (plan.kinds, plan.optional);
        EventValues {
            input: self.input,
            at: self.values_at(),
            kinds,
            optional,
            place: 0,
            schema: self.schema,
            rest: None,
        }
    }

    /// The value of the first field with this name, if it has one.
    ///
    /// Writers insert fields: find them by name.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.fields().find(|field| field.def.name_bytes() == name.as_bytes())?.value
    }

    /// Where the values begin.
    #[inline(always)]
    pub(super) const fn values_at(&self) -> usize {
        let delta = if self.schema.plan.timed { 3 } else { 0 };
        self.at.saturating_add(TYPED).saturating_add(delta)
    }

    /// The input up to the end of the event.
    pub(super) const fn input(&self) -> &'a [u8] {
        self.input
    }
}

impl fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("offset", &self.at)
            .field("name", &self.name())
            .field("time", &self.time)
            .finish_non_exhaustive()
    }
}

/// Where the values end that begin at `at`; possibly after the end of the data.
#[inline(always)]
fn end_of_values(data: &[u8], mut at: usize, schema: &Schema<'_>) -> Option<usize> {
    let plan = &schema.plan;
    let (mut kinds, mut optional) = (plan.kinds, plan.optional);
    for _ in 0..plan.count.min(PLANNED) {
        if optional & 1 != 0 {
            let present = *data.get(at)? != 0;
            at = at.wrapping_add(1);
            if present {
                at = size::end(data, at, nibble(kinds)?)?;
            }
        } else {
            at = size::end(data, at, nibble(kinds)?)?;
        }
        (kinds, optional) = (kinds >> 4, optional >> 1);
    }
    if plan.count > PLANNED { end_of_rest(data, at, schema) } else { Some(at) }
}

/// The type whose number is in the lowest bits.
#[inline(always)]
fn nibble(kinds: u64) -> Option<FieldType> {
    FieldType::from_number(u8::try_from(kinds & 0xf).unwrap_or(0))
}

/// As [`end_of_values`], of the fields that the plan has no room for.
///
/// Each takes a byte at least, so that this is linear in the event, however large the schema is.
#[inline(never)]
fn end_of_rest(data: &[u8], mut at: usize, schema: &Schema<'_>) -> Option<usize> {
    for def in schema.fields().skip(PLANNED.into()) {
        if def.is_optional() {
            let present = *data.get(at)? != 0;
            at = at.saturating_add(1);
            if !present {
                continue;
            }
        }
        at = size::end(data, at, def.field_type())?;
        if at > data.len() {
            return None;
        }
    }
    Some(at)
}

/// The error of an event that is cut before its values.
#[cold]
fn truncated(data: &[u8], at: usize, size: usize) -> Error {
    Bytes::at(data.get(at..).unwrap_or_default(), to_u64(at)).truncated(EVENT, to_u64(size))
}

/// Why the values that begin at `at` cannot be read.
#[cold]
#[inline(never)]
fn explain(data: &[u8], mut at: usize, schema: &Schema<'_>) -> Error {
    for def in schema.fields() {
        if def.is_optional() {
            match data.get(at) {
                None => {
                    return Error::new(to_u64(at), VALUE, ErrorKind::UnexpectedEnd { needed: 1 });
                }
                Some(0) => {
                    at = at.saturating_add(1);
                    continue;
                }
                Some(_) => at = at.saturating_add(1),
            }
        }
        match size::end(data, at, def.field_type()) {
            Some(end) if end <= data.len() => at = end,
            _ => return size::fault(data, at, def.field_type()),
        }
    }
    // Not reached: one of them fails.
    Error::new(to_u64(at), EVENT, ErrorKind::Malformed)
}

/// A field of an [`Event`].
#[derive(Clone, Copy, PartialEq)]
pub struct Field<'a> {
    def: FieldDef<'a>,
    at: usize,
    end: usize,
    value: Option<Value<'a>>,
}

impl<'a> Field<'a> {
    /// The name.
    pub fn name(&self) -> &'a str {
        self.def.name()
    }

    /// What the schema says of it.
    pub const fn def(&self) -> FieldDef<'a> {
        self.def
    }

    /// The value; `None` if it is optional and absent.
    pub const fn value(&self) -> Option<Value<'a>> {
        self.value
    }

    /// Offset in the input of its first byte: of an optional one, of the byte that says whether it is present.
    pub const fn offset(&self) -> u64 {
        to_u64(self.at)
    }

    /// Size in bytes.
    pub const fn size(&self) -> u64 {
        between(self.at, self.end)
    }
}

impl fmt::Debug for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} = {:?}", self.def, self.value)
    }
}

/// The fields of an [`Event`].
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    input: &'a [u8],
    at: usize,
    defs: FieldDefs<'a>,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Field<'a>> {
        let def = self.defs.next()?;
        let at = self.at;
        let (value, end) = read(self.input, at, def.field_type(), def.is_optional())?;
        self.at = end;
        Some(Field { def, at, end, value })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.defs.size_hint()
    }
}

impl FusedIterator for Fields<'_> {}

/// Reads a value that may be absent.
#[inline(always)]
fn read(input: &[u8], at: usize, kind: FieldType, optional: bool) -> Option<(Option<Value<'_>>, usize)> {
    let mut at = at;
    if optional {
        let present = *input.get(at)? != 0;
        at = at.wrapping_add(1);
        if !present {
            return Some((None, at));
        }
    }
    let (value, end) = Value::read(input, at, kind)?;
    Some((Some(value), end))
}

/// The values of an [`Event`], without their names; `None` for those that are absent.
#[derive(Clone)]
pub struct EventValues<'a> {
    input: &'a [u8],
    at: usize,
    kinds: u64,
    optional: u16,
    place: u16,
    schema: Schema<'a>,
    /// The fields that the plan has no room for, from the first one that is asked for.
    rest: Option<FieldDefs<'a>>,
}

impl<'a> Iterator for EventValues<'a> {
    type Item = Option<Value<'a>>;

    #[inline(always)]
    fn next(&mut self) -> Option<Option<Value<'a>>> {
        if self.place >= self.schema.plan.count {
            return None;
        }
        let (kind, optional) = if self.place < PLANNED {
            (nibble(self.kinds)?, self.optional & 1 != 0)
        } else {
            return self.next_of_rest();
        };
        let (value, end) = read(self.input, self.at, kind, optional)?;
        (self.kinds, self.optional) = (self.kinds >> 4, self.optional >> 1);
        self.at = end;
        self.place = self.place.wrapping_add(1);
        Some(value)
    }
}

impl<'a> EventValues<'a> {
    /// The next of the fields that the plan has no room for.
    #[inline(never)]
    fn next_of_rest(&mut self) -> Option<Option<Value<'a>>> {
        let schema = self.schema;
        let rest = self.rest.get_or_insert_with(|| {
            let mut fields = schema.fields();
            fields.by_ref().take(PLANNED.into()).for_each(drop);
            fields
        });
        let def = rest.next()?;
        let (value, end) = read(self.input, self.at, def.field_type(), def.is_optional())?;
        self.at = end;
        self.place = self.place.wrapping_add(1);
        Some(value)
    }
}

impl FusedIterator for EventValues<'_> {}

impl fmt::Debug for EventValues<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EventValues({})", self.schema.plan.count.saturating_sub(self.place))
    }
}
