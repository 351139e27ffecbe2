//! The fields of frames.

use super::event::Fields;
use super::frame::Frame;
use super::header::MAGIC;
use super::kind::{FieldType, OPTIONAL};
use super::size::{end_of_varint, number};
use super::value::{Value, between, stack_at, text_at};
use crate::bytes::to_u64;
use crate::layout::{LayoutField, LayoutValue};
use crate::varint;
use core::iter::FusedIterator;

/// A field: its name, its name in the document, and how it is written.
type Row = (&'static str, &'static str, Wire);

/// The encoding of a field.
#[derive(Clone, Copy)]
enum Wire {
    Magic,
    U8,
    U16,
    U24,
    U32,
    U64,
    Varint,
    /// Text with a length of 16 bits.
    Short,
    /// Text with a length of 32 bits.
    Text,
    /// Addresses with their number.
    Stack,
    /// The type of a field.
    Type,
}

const TAG: Row = ("tag", "tag", Wire::U8);
const TYPE_ID: Row = ("type id", "type_id", Wire::U16);
const COUNT: Row = ("count", "count", Wire::U32);
const POOL_ID: Row = ("id", "pool_id", Wire::U32);

const HEADER: &[Row] = &[("magic", "magic", Wire::Magic), ("version", "version", Wire::U8)];
const SCHEMA: &[Row] = &[
    TAG,
    TYPE_ID,
    ("name", "name", Wire::Short),
    ("has timestamp", "has_timestamp", Wire::U8),
    ("fields", "field_count", Wire::U16),
];
const FIELD: &[Row] = &[("name", "name", Wire::Short), ("type", "field_type", Wire::Type)];
const EVENT: &[Row] = &[TAG, TYPE_ID, ("delta", "timestamp_delta_ns", Wire::U24)];
const POOL: &[Row] = &[TAG, COUNT];
const STRING: &[Row] = &[POOL_ID, ("text", "bytes", Wire::Text)];
const STACK: &[Row] = &[POOL_ID, ("frames", "frames", Wire::Stack)];
const RESET: &[Row] = &[TAG, ("time", "timestamp_ns", Wire::U64)];
const ANNOTATIONS: &[Row] = &[TAG, ("type id", "type_id", Wire::Varint), ("count", "count", Wire::U16)];
const ANNOTATION: &[Row] =
    &[("field", "field_index", Wire::U16), ("key", "key", Wire::Short), ("value", "value", Wire::Text)];

/// The fields of a frame, in the order in which they lie in it. Each byte belongs to one of them.
///
/// Of an event, they have the names that its schema gives them.
///
/// ```
/// use traceglass::dial9::{Frames, SchemaSlot, Storage};
///
/// let mut schemas = [SchemaSlot::EMPTY; 4];
/// let mut frames = Frames::new(b"TRC\0\x01\x05\x40\x42\x0f\0\0\0\0\0", Storage::new(&mut schemas));
/// frames.next_frame()?;
/// let reset = frames.next_frame()?.unwrap();
/// let time = frames.fields(&reset).nth(1).unwrap();
/// assert_eq!((time.name(), time.offset(), time.size()), ("time", 6, 8));
/// assert_eq!(time.value().to_string(), "1000000");
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LayoutFields<'a> {
    data: &'a [u8],
    at: usize,
    rows: core::slice::Iter<'static, Row>,
    /// The rows that come again after them, and how often.
    each: &'static [Row],
    left: u64,
    /// The values of an event.
    values: Option<Fields<'a>>,
}

impl core::fmt::Debug for Wire {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Wire")
    }
}

impl<'a> LayoutFields<'a> {
    /// Of a frame of this input.
    pub(super) fn new(data: &'a [u8], frame: &Frame<'a>) -> Self {
        let (rows, each, left) = match frame {
            Frame::Header(_) => (HEADER, &[][..], 0),
            Frame::Schema(schema) => (SCHEMA, FIELD, schema.field_count().into()),
            Frame::Event(event) if event.nanoseconds().is_none() => {
                (EVENT.get(..2).unwrap_or_default(), &[][..], 0)
            }
            Frame::Event(_) => (EVENT, &[][..], 0),
            Frame::Strings(pool) => (POOL, STRING, pool.count().into()),
            Frame::Stacks(pool) => (POOL, STACK, pool.count().into()),
            Frame::TimeReset(_) => (RESET, &[][..], 0),
            Frame::Annotations(annotations) => (ANNOTATIONS, ANNOTATION, annotations.count().into()),
        };
        let values = if let Frame::Event(event) = frame { Some(event.fields()) } else { None };
        let at = usize::try_from(frame.offset()).unwrap_or(usize::MAX);
        Self { data, at, rows: rows.iter(), each, left, values }
    }

    /// Reads a field here, and goes on after it.
    fn read(&mut self, &(name, document_name, wire): &Row) -> Option<LayoutField<'a>> {
        let (at, rest) = (self.at, self.data.get(self.at..)?);
        let (value, end) = match wire {
            Wire::Magic => (LayoutValue::Text(rest.get(..MAGIC.len())?), at.checked_add(MAGIC.len())?),
            Wire::U8 => (LayoutValue::Number((*rest.first()?).into()), at.checked_add(1)?),
            Wire::U16 => {
                let number = u16::from_le_bytes(*rest.first_chunk()?);
                (LayoutValue::Number(number.into()), at.checked_add(2)?)
            }
            Wire::U24 => {
                let &[a, b, c] = rest.first_chunk()?;
                (LayoutValue::Number(u32::from_le_bytes([a, b, c, 0]).into()), at.checked_add(3)?)
            }
            Wire::U32 => (LayoutValue::Number(number(self.data, at)?.into()), at.checked_add(4)?),
            Wire::U64 => (LayoutValue::Number(u64::from_le_bytes(*rest.first_chunk()?)), at.checked_add(8)?),
            Wire::Varint => {
                let (number, _) = varint::read_u64(rest).ok()?;
                (LayoutValue::Number(number), end_of_varint(self.data, at)?)
            }
            Wire::Short => {
                let (len, text) = rest.split_first_chunk()?;
                let text = text.get(..u16::from_le_bytes(*len).into())?;
                (LayoutValue::Utf8(text), at.checked_add(2)?.checked_add(text.len())?)
            }
            Wire::Text => {
                let (text, end) = text_at(self.data, at)?;
                (LayoutValue::Utf8(text), end)
            }
            Wire::Stack => {
                let (stack, end) = stack_at(self.data, at)?;
                (LayoutValue::Bytes(stack.as_slice()), end)
            }
            Wire::Type => {
                let &number = rest.first()?;
                let name = FieldType::from_number(number & !OPTIONAL)?.name();
                (LayoutValue::Named(number.into(), name), at.checked_add(1)?)
            }
        };
        self.at = end;
        Some(LayoutField { name, document_name, offset: to_u64(at), size: between(at, end), value })
    }
}

impl<'a> Iterator for LayoutFields<'a> {
    type Item = LayoutField<'a>;

    fn next(&mut self) -> Option<LayoutField<'a>> {
        if self.rows.as_slice().is_empty() && self.left > 0 {
            self.left = self.left.saturating_sub(1);
            self.rows = self.each.iter();
        }
        if let Some(row) = self.rows.next() {
            let field = self.read(row);
            if field.is_none() {
                // Not reached: the frame was read.
                (self.rows, self.left, self.values) = ([].iter(), 0, None);
            }
            return field;
        }
        let field = self.values.as_mut()?.next()?;
        let value = field.value().map_or(LayoutValue::Name("absent"), |value| shown(&value));
        let (offset, size) = (field.offset(), field.size());
        Some(LayoutField { name: field.name(), document_name: "", offset, size, value })
    }
}

impl FusedIterator for LayoutFields<'_> {}

/// A value as people read it; of one that has others in it, the bytes.
fn shown<'a>(value: &Value<'a>) -> LayoutValue<'a> {
    match *value {
        Value::I64(value) => LayoutValue::Signed(value),
        Value::F64(value) => LayoutValue::Float(value),
        Value::Bool(value) => LayoutValue::Named(value.into(), if value { "true" } else { "false" }),
        Value::String(text) => LayoutValue::Utf8(text),
        Value::Bytes(bytes) => LayoutValue::Bytes(bytes),
        Value::PooledString(id) | Value::PooledStack(id) => LayoutValue::Number(id.into()),
        Value::Stack(stack) => LayoutValue::Bytes(stack.as_slice()),
        Value::StringMap(map) => LayoutValue::Bytes(map.as_slice()),
        Value::List(list) => LayoutValue::Bytes(list.as_slice()),
        Value::Map(map) => LayoutValue::Bytes(map.as_slice()),
        ref other => LayoutValue::Number(other.unsigned().unwrap_or_default()),
    }
}
