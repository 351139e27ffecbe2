//! What records and objects say, as fields: the parts of their description, one by one.

use crate::error::Result;
use crate::event::field::{Field, Value};
use crate::event::label::Label;
use crate::record::{FieldInfo, Fixed, FixedClass, Kind, Listener, Record, Scope};
use crate::rfr::class::Part;
use crate::rfr::tell::{self, Values};
use crate::rfr::{self, FieldValue, List, NamedRecord, Parent, RecordKind};
use core::slice;

/// Where the fields of a track or an event come from.
#[derive(Clone, Copy, Debug)]
pub(in crate::event) enum RfrData<'a> {
    /// A sequence.
    Sequence(u64),
    /// A span or a task of which only its id is known.
    Unknown(u64),
    /// A record or an object.
    Record(NamedRecord<'a, 'a>),
}

/// The classes of what is no record: their numbers follow those of the kinds of records.
static SEQUENCE: Fixed = Fixed::new("sequence", &[FieldInfo::new(&"seq_id", Kind::Unsigned { bits: 64 })]);
static UNKNOWN: Fixed = Fixed::new("unknown", &[FieldInfo::new(&"iid", Kind::Unsigned { bits: 64 })]);

impl Record for RfrData<'_> {
    fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        let (number, fixed, id) = match self {
            Self::Sequence(id) => (0, &SEQUENCE, *id),
            Self::Unknown(iid) => (1, &UNKNOWN, *iid),
            Self::Record(record) => return record.tell(to),
        };
        let records = u32::try_from(RecordKind::ALL.len()).unwrap_or(u32::MAX);
        let class = FixedClass::new(records.saturating_add(number), fixed);
        if to.begin(&class.head(None, 0), &class).has(Scope::Fields) {
            to.scope(Scope::Fields);
            to.unsigned(class.slot(0), id);
            to.end_scope();
        }
        to.end();
        Ok(())
    }
}

impl<'a> RfrData<'a> {
    pub(in crate::event) fn fields(self) -> RfrFields<'a> {
        let parts = match &self {
            Self::Record(record) => record.kind().parts(),
            _ => &[],
        };
        RfrFields { data: Some(self), parts: parts.iter(), inside: Inside::Nothing }
    }
}

/// Fields that are to come.
#[derive(Clone, Debug)]
pub(in crate::event) struct RfrFields<'a> {
    /// `None` when a field that is not of a record has been given.
    data: Option<RfrData<'a>>,
    parts: slice::Iter<'static, Part>,
    inside: Inside<'a>,
}

/// The structure or list that has begun.
#[derive(Clone, Debug)]
enum Inside<'a> {
    Nothing,
    Values(Values<'a>),
    Fields(Option<List<'a, rfr::Field<'a>>>),
    Names(Option<List<'a, &'a str>>),
}

fn value(value: FieldValue<'_>) -> Value<'_> {
    match value {
        FieldValue::F64(value) => Value::Float(value),
        FieldValue::I64(value) => Value::Signed(value.into()),
        FieldValue::U64(value) => Value::Unsigned(value.into()),
        FieldValue::I128(value) => Value::Signed(value),
        FieldValue::U128(value) => Value::Unsigned(value),
        FieldValue::Bool(value) => Value::Bool(value),
        FieldValue::Str(text) => Value::Text(Label::Text(text)),
    }
}

/// A text that was looked up.
fn found(text: &str) -> Label<'_> {
    match tell::start(text) {
        Some(start) => Label::Start(start),
        None => Label::Text(text),
    }
}

impl<'a> Inside<'a> {
    fn next(&mut self) -> Option<Field<'a>> {
        Some(match self {
            Self::Nothing => return None,
            Self::Values(values) => {
                let (name, found) = values.next()?;
                let name = name.map_or_else(|number| Label::Numbered("value", number), Label::Text);
                Field::new(name, value(found))
            }
            Self::Fields(fields) => {
                let field = fields.as_mut()?.next()?;
                Field::new(Label::Text(field.name()), value(field.value()))
            }
            Self::Names(names) => Field::unnamed(Value::Text(Label::Text(names.as_mut()?.next()?))),
        })
    }
}

impl<'a> RfrFields<'a> {
    pub(in crate::event) fn next_field(&mut self) -> Option<Field<'a>> {
        if !matches!(self.inside, Inside::Nothing) {
            return Some(self.inside.next().unwrap_or_else(|| {
                self.inside = Inside::Nothing;
                Field::unnamed(Value::End)
            }));
        }
        let record = match &self.data {
            Some(RfrData::Record(record)) => record,
            other => {
                let (name, id) = match other {
                    Some(RfrData::Sequence(id)) => ("seq_id", *id),
                    Some(RfrData::Unknown(iid)) => ("iid", *iid),
                    _ => return None,
                };
                self.data = None;
                return Some(Field::new(Label::Text(name), Value::Unsigned(id.into())));
            }
        };
        // What is not there is left out.
        let (part, value) = loop {
            let part = *self.parts.next()?;
            match record.value(part) {
                tell::Value::Absent => {}
                value => break (part, value),
            }
        };
        let value = match value {
            tell::Value::Absent => Value::Null,
            tell::Value::Unsigned(value) | tell::Value::Parent(Parent::Explicit(value)) => {
                match part.label(value) {
                    Some(label) => Value::Text(Label::Text(label)),
                    None if part.is_address() => Value::Text(Label::Address(value)),
                    None => Value::Unsigned(value.into()),
                }
            }
            tell::Value::Own(text) => Value::Text(Label::Text(text)),
            tell::Value::Found(text) | tell::Value::Place(text, None) => Value::Text(found(text)),
            tell::Value::Place(file, Some(line)) => Value::Text(match found(file) {
                Label::Text(file) => Label::Place(file, line),
                start => start,
            }),
            tell::Value::Parent(Parent::Current) => Value::Text(Label::Text("Current")),
            tell::Value::Parent(Parent::Root) => Value::Text(Label::Text("Root")),
            tell::Value::Values => {
                self.inside = Inside::Values(record.values());
                Value::Struct
            }
            tell::Value::Dynamic => {
                self.inside = Inside::Fields(record.dynamic_fields());
                Value::Struct
            }
            tell::Value::ConstFields => {
                self.inside = Inside::Fields(record.callsite().map(|callsite| callsite.const_fields()));
                Value::Struct
            }
            tell::Value::FieldNames => {
                self.inside = Inside::Names(record.callsite().map(|callsite| callsite.split_field_names()));
                Value::List
            }
        };
        Some(Field::new(Label::Text(part.name()), value))
    }
}
