//! The content of a recording, as text: of a number every bit counts. Each text in it is handed to `text` as well, so
//! that its place is known.

use traceglass::rfr::{Event, Field, FieldValue, Object, RecordData, RecordKind, TaskKind};

fn describe_value(value: &FieldValue<'_>, text: &mut impl FnMut(&str)) -> String {
    match value {
        FieldValue::F64(value) => format!(" f{:x}", value.to_bits()),
        FieldValue::Str(value) => {
            let line = format!(" Str({value:?})");
            text(value);
            line
        }
        value => format!(" {value:?}"),
    }
}

/// A field, its name first.
pub fn describe_field(field: &Field<'_>, text: &mut impl FnMut(&str)) -> String {
    text(field.name());
    format!(" {:?}={}", field.name(), describe_value(&field.value(), text))
}

/// A span or a task.
pub fn describe_object(object: &Object<'_>, text: &mut impl FnMut(&str)) -> String {
    match object {
        Object::Span(span) => {
            let mut line = format!("span {} {} {:?}:", span.iid(), span.callsite_id(), span.parent());
            for value in span.split_field_values() {
                line += &describe_value(&value, text);
            }
            for field in span.dynamic_fields() {
                line += &describe_field(&field, text);
            }
            line
        }
        Object::Task(task) => {
            text(task.name());
            let kind = match task.kind() {
                TaskKind::Task => "0".into(),
                TaskKind::Local => "1".into(),
                TaskKind::Blocking => "2".into(),
                TaskKind::BlockOn => "3".into(),
                TaskKind::Other(name) => {
                    text(name);
                    format!("{name:?}")
                }
                _ => unreachable!("there are five"),
            };
            let (iid, callsite, id) = (task.iid(), task.callsite_id(), task.task_id());
            format!("task {iid} {callsite} {id} {:?} {kind} {:?}", task.name(), task.context())
        }
        _ => unreachable!("there are two"),
    }
}

/// A record of a chunk, by its number there.
pub fn describe(data: &RecordData<'_>, text: &mut impl FnMut(&str)) -> String {
    match data {
        RecordData::Event(event) => describe_event(event, text),
        RecordData::WakerWake(waker)
        | RecordData::WakerWakeByRef(waker)
        | RecordData::WakerClone(waker)
        | RecordData::WakerDrop(waker) => {
            format!("{} waker {} {:?}", number(data), waker.task_iid(), waker.context())
        }
        _ => format!("{} about {}", number(data), data.iid().unwrap()),
    }
}

/// The number of a chunk's record.
fn number(data: &RecordData<'_>) -> usize {
    RecordKind::ALL.iter().position(|kind| *kind == data.kind()).unwrap()
}

fn describe_event(event: &Event<'_>, text: &mut impl FnMut(&str)) -> String {
    let mut line = format!("event {} {:?}:", event.callsite_id(), event.parent());
    for value in event.split_field_values() {
        line += &describe_value(&value, text);
    }
    for field in event.dynamic_fields() {
        line += &describe_field(&field, text);
    }
    line
}
