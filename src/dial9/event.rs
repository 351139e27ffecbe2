//! Events.

use super::element::EVENT;
use super::kind::FieldType;
use super::kind::OPTIONAL;
use super::schema::{FieldDef, FieldDefs, Place, Plan, Schema, explain};
use super::tell::{self, Pools};
#[cfg(feature = "event")]
use super::value::Brief;
use super::value::{Value, between};
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind};
use crate::record::Listener;
use core::fmt;
use core::iter::FusedIterator;

/// The tag of an event frame.
pub(super) const TAG: u8 = 2;

/// The size of the tag and of the type's number.
pub(super) const TYPED: usize = 3;

/// The size of the time.
const DELTA: usize = 3;

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
    schema: Place,
    /// 0 if it has none.
    time: u64,
}

impl<'a> Event<'a> {
    /// Reads the event of `schema` at `at`. All of it is checked, so that its fields can be read later.
    ///
    /// `None` if that fails: [`Self::explain`] says why.
    #[inline(always)]
    pub(super) fn read(data: &'a [u8], at: usize, schema: Place, plan: &Plan, base: u64) -> Option<Self> {
        let (values_at, time) = values(data.get(at..)?, at, schema, base)?;
        let end = plan.end(data, values_at, &Schema::at(data, schema))?;
        Some(Self { input: data.get(..end)?, at, schema, time: time.unwrap_or(0) })
    }

    /// The event of `schema` that was read at `at` before, with the time that it had.
    #[inline(always)]
    pub(super) fn at(data: &'a [u8], at: usize, schema: &Schema<'a>, plan: &Plan, time: u64) -> Option<Self> {
        let place = schema.place();
        let delta = if place.timed() { DELTA } else { 0 };
        let end = plan.end(data, at.checked_add(TYPED)?.checked_add(delta)?, schema)?;
        Some(Self { input: data.get(..end)?, at, schema: place, time })
    }

    /// Passes on the first values, up to as many, by the types that a plan of its schema has.
    #[cfg(feature = "event")]
    #[inline(always)]
    pub(crate) fn first_values(&self, plan: &Plan, most: usize, mut to: impl FnMut(usize, Brief<'a>)) {
        let (input, mut at) = (self.input, self.values_at());
        for (place, &number) in plan.numbers.iter().enumerate().take(most) {
            let Some((value, end)) = Brief::read(input, at, number) else { return };
            to(place, value);
            at = end;
        }
    }

    /// Tells its fields, by a plan of its schema; the first of them has this slot.
    #[inline(always)]
    pub(crate) fn tell_fields<P: Pools<'a>, L: Listener>(
        &self,
        plan: &Plan,
        pools: &P,
        first_slot: u32,
        to: &mut L,
    ) -> Option<usize> {
        tell::fields(pools, self.input, &self.schema, &plan.numbers, first_slot, self.values_at(), to)
    }

    /// The values of its first fields, by the types that a plan of its schema has.
    #[inline(always)]
    pub(super) fn numbered(&self, plan: &Plan) -> impl Iterator<Item = Option<Value<'a>>> + use<'a> {
        let (input, mut at) = (self.input, self.values_at());
        plan.numbers.into_iter().take(self.schema.count().into()).map_while(move |number| {
            let kind = FieldType::from_number(number & !OPTIONAL)?;
            let (value, end) = read(input, at, kind, number & OPTIONAL != 0)?;
            at = end;
            Some(value)
        })
    }

    /// True if a field is text, or refers to a pool.
    #[inline(always)]
    pub(super) const fn refers(&self) -> bool {
        self.schema.refers()
    }

    /// The input up to its end.
    #[inline(always)]
    pub(super) const fn input(&self) -> &'a [u8] {
        self.input
    }

    /// The offset of the event.
    #[inline(always)]
    pub(crate) const fn start(&self) -> usize {
        self.at
    }

    /// Why there is no event of `schema` at `at`.
    #[cold]
    pub(super) fn explain(data: &'a [u8], at: usize, schema: Place, base: u64) -> Error {
        let values_at = at.saturating_add(TYPED);
        if !schema.timed() {
            return explain(data, values_at, &Schema::at(data, schema));
        }
        let rest = data.get(values_at..).unwrap_or_default();
        let Some(&[a, b, c]) = rest.first_chunk() else {
            let size = TYPED.saturating_add(DELTA);
            let rest = Bytes::at(data.get(at..).unwrap_or_default(), to_u64(at));
            return rest.truncated(EVENT, to_u64(size));
        };
        let delta = u64::from(u32::from_le_bytes([a, b, c, 0]));
        if base.checked_add(delta).is_none() {
            return Error::new(to_u64(at), EVENT, ErrorKind::Overflow { value: delta });
        }
        explain(data, values_at.saturating_add(DELTA), &Schema::at(data, schema))
    }

    /// Offset in the input of its first byte.
    pub const fn offset(&self) -> u64 {
        to_u64(self.at)
    }

    /// Offset in the input after its last byte.
    pub const fn end_offset(&self) -> u64 {
        to_u64(self.input.len())
    }

    /// The bytes.
    pub fn as_slice(&self) -> &'a [u8] {
        self.input.get(self.at..).unwrap_or_default()
    }

    /// The schema.
    #[inline(always)]
    pub const fn schema(&self) -> Schema<'a> {
        Schema::at(self.input, self.schema)
    }

    /// The name of its type.
    pub fn name(&self) -> &'a str {
        self.schema().name()
    }

    /// The time in nanoseconds, as the file says it; `None` if its schema has none.
    #[inline(always)]
    pub const fn nanoseconds(&self) -> Option<u64> {
        if self.schema.timed() { Some(self.time) } else { None }
    }

    /// The time in nanoseconds, if it has one: `None` for 0, too, which a recorder writes where there is none, as of
    /// symbols.
    ///
    /// What is told of an event has this time; [`Self::nanoseconds`] is what the file says.
    #[inline(always)]
    pub const fn moment(&self) -> Option<u64> {
        moment_of(self.nanoseconds())
    }

    /// The fields, in the order of the schema.
    #[inline(always)]
    pub fn fields(&self) -> Fields<'a> {
        Fields { input: self.input, at: self.values_at(), defs: self.schema().fields() }
    }

    /// The value of the first field with this name, if it has one.
    ///
    /// Writers insert fields: find them by name.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.fields().find(|field| field.def.name_bytes() == name.as_bytes())?.value
    }

    /// The offset of the end.
    #[inline(always)]
    pub(super) const fn end(&self) -> usize {
        self.input.len()
    }

    /// The time, or anything if it has none.
    #[inline(always)]
    pub(super) const fn raw_time(&self) -> u64 {
        self.time
    }

    /// The offset of its start, and by how much its time is later than the base; 0 if it has none.
    pub(super) fn at_and_delta(&self) -> (usize, u64) {
        let rest = self.input.get(self.at..).unwrap_or_default();
        let delta = values(rest, self.at, self.schema, 0).and_then(|(_, delta)| delta);
        (self.at, delta.unwrap_or(0))
    }

    /// The offset of the values.
    #[inline(always)]
    pub(super) const fn values_at(&self) -> usize {
        let delta = if self.schema.timed() { DELTA } else { 0 };
        self.at.saturating_add(TYPED).saturating_add(delta)
    }
}

impl fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("offset", &self.at)
            .field("name", &self.name())
            .field("time", &self.nanoseconds())
            .finish_non_exhaustive()
    }
}

/// What a time of the file says of when something was: 0 says nothing.
#[inline(always)]
pub(super) const fn moment_of(time: Option<u64>) -> Option<u64> {
    match time {
        Some(0) => None,
        time => time,
    }
}

/// The offset of the values of the event at `at`, from which on this is the input, and its time, if these can be read.
#[inline(always)]
pub(super) fn values(rest: &[u8], at: usize, schema: Place, base: u64) -> Option<(usize, Option<u64>)> {
    // No slice is so long that a few bytes more do not fit in an integer.
    let values_at = at.wrapping_add(TYPED);
    if !schema.timed() {
        return Some((values_at, None));
    }
    let &[_, _, _, a, b, c] = rest.first_chunk()?;
    let time = base.checked_add(u32::from_le_bytes([a, b, c, 0]).into())?;
    Some((values_at.wrapping_add(DELTA), Some(time)))
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

    /// The definition of the field in its schema.
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
