//! What records and objects say, as fields.

use crate::event::field::{Field, Value};
use crate::event::label::Label;
use crate::rfr::{self, Callsite, FieldValue, List, Parent};

/// Where the fields of a track or an event come from.
#[derive(Clone, Copy, Debug)]
pub(in crate::event) enum RfrData<'a> {
    /// A sequence.
    Sequence(u64),
    /// A span or a task of which only its id is known.
    Unknown(u64),
    /// A task.
    Task(rfr::Task<'a>, Option<Callsite<'a>>),
    /// A span.
    Span(rfr::Span<'a>, Option<Callsite<'a>>),
    /// A record that has nothing but an id.
    Iid(u64),
    /// A record about a waker.
    Waker { task_iid: u64, context: Option<u64> },
    /// An event.
    Event(rfr::Event<'a>, Option<Callsite<'a>>),
}

impl<'a> RfrData<'a> {
    pub(in crate::event) fn fields(self) -> RfrFields<'a> {
        let (callsite, values, dynamic) = match self {
            Self::Span(span, callsite) => {
                (callsite, Some(span.split_field_values()), Some(span.dynamic_fields()))
            }
            Self::Event(event, callsite) => {
                (callsite, Some(event.split_field_values()), Some(event.dynamic_fields()))
            }
            Self::Task(_, callsite) => (callsite, None, None),
            _ => (None, None, None),
        };
        let names = callsite.map(|callsite| callsite.split_field_names());
        RfrFields { data: self, callsite, stage: 0, names, values, unnamed: 0, dynamic }
    }
}

/// Fields that are to come.
#[derive(Clone, Debug)]
pub(in crate::event) struct RfrFields<'a> {
    data: RfrData<'a>,
    callsite: Option<Callsite<'a>>,
    /// Which of the fixed fields comes next.
    stage: u8,
    names: Option<List<'a, &'a str>>,
    values: Option<List<'a, FieldValue<'a>>>,
    /// How many values had no name.
    unnamed: u64,
    dynamic: Option<List<'a, rfr::Field<'a>>>,
}

fn parent(parent: Parent) -> Value<'static> {
    match parent {
        Parent::Explicit(iid) => Value::Unsigned(iid.into()),
        _ => Value::Null,
    }
}

fn option(id: Option<u64>) -> Value<'static> {
    id.map_or(Value::Null, |id| Value::Unsigned(id.into()))
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

impl<'a> RfrFields<'a> {
    pub(in crate::event) fn next_field(&mut self) -> Option<Field<'a>> {
        while self.stage < 8 {
            let stage = self.stage;
            self.stage = stage.saturating_add(1);
            if let Some((name, value)) = self.fixed(stage) {
                return Some(Field::new(Label::Text(name), value));
            }
        }
        if let Some(found) = self.values.as_mut().and_then(Iterator::next) {
            let name = self.names.as_mut().and_then(Iterator::next).map_or_else(
                || {
                    let number = self.unnamed;
                    self.unnamed = number.saturating_add(1);
                    Label::Numbered("value", number)
                },
                Label::Text,
            );
            return Some(Field::new(name, value(found)));
        }
        let field = self.dynamic.as_mut()?.next()?;
        Some(Field::new(Label::Text(field.name()), value(field.value())))
    }

    /// The fields that the format gives a name, one by one: what there is of each kind of data, then of the callsite.
    fn fixed(&self, stage: u8) -> Option<(&'static str, Value<'a>)> {
        if let Some(stage) = stage.checked_sub(5) {
            let callsite = self.callsite?;
            return match stage {
                0 => callsite.target().map(|target| ("target", Value::Text(Label::Text(target)))),
                1 => place(&callsite).map(|place| ("location", Value::Text(place))),
                _ => Some(("level", Value::Unsigned(callsite.level().number().into()))),
            };
        }
        match (self.data, stage) {
            (RfrData::Sequence(id), 0) => Some(("seq_id", Value::Unsigned(id.into()))),
            (RfrData::Unknown(iid) | RfrData::Iid(iid), 0) => Some(("iid", Value::Unsigned(iid.into()))),
            (RfrData::Task(task, _), 0) => Some(("iid", Value::Unsigned(task.iid().into()))),
            (RfrData::Task(task, _), 1) => Some(("task_id", Value::Unsigned(task.task_id().into()))),
            (RfrData::Task(task, _), 2) => Some(("kind", Value::Text(Label::Text(task.kind().name())))),
            (RfrData::Task(task, _), 3) => Some(("context", option(task.context()))),
            (RfrData::Task(task, _), 4) => Some(("callsite_id", Value::Unsigned(task.callsite_id().into()))),
            (RfrData::Span(span, _), 0) => Some(("iid", Value::Unsigned(span.iid().into()))),
            (RfrData::Span(span, _), 1) => Some(("parent", parent(span.parent()))),
            (RfrData::Span(span, _), 2) => Some(("callsite_id", Value::Unsigned(span.callsite_id().into()))),
            (RfrData::Waker { task_iid, .. }, 0) => Some(("task_iid", Value::Unsigned(task_iid.into()))),
            (RfrData::Waker { context, .. }, 1) => Some(("context", option(context))),
            (RfrData::Event(event, _), 0) => Some(("parent", parent(event.parent()))),
            (RfrData::Event(event, _), 1) => {
                Some(("callsite_id", Value::Unsigned(event.callsite_id().into())))
            }
            _ => None,
        }
    }
}

/// Where in the source a callsite is.
fn place<'a>(callsite: &Callsite<'a>) -> Option<Label<'a>> {
    let file = callsite.file()?;
    Some(callsite.line().map_or(Label::Text(file), |line| Label::Place(file, line)))
}
