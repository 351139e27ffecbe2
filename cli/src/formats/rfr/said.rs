//! What records say, as text without columns.

use super::json::shown;
use super::names::Names;
use traceglass::rfr::{Object, RecordData};

/// The kind of a task or span, and what it is called.
pub fn object_text(names: &Names, object: &Object<'_>) -> (String, String) {
    let place = names.place(object.callsite_id());
    match object {
        Object::Task(task) => ("Task".to_owned(), format!("{} {}  {place}", task.name(), task.kind().name())),
        _ => ("Span".to_owned(), format!("#{}  {place}", object.iid())),
    }
}

/// What a record is about, as `cat` says it.
pub fn data_text(names: &Names, data: &RecordData<'_>) -> String {
    let mut text = String::new();
    let (iid, context) = match data {
        RecordData::Event(event) => {
            match names.place(event.callsite_id()) {
                "" => text.push_str(&format!("callsite {:#x}", event.callsite_id())),
                place => text.push_str(place),
            }
            let known = names.fields(event.callsite_id()).iter().map(Some).chain(std::iter::repeat(None));
            for (value, name) in event.split_field_values().zip(known) {
                text.push(' ');
                if let Some(name) = name {
                    text.push_str(name);
                    text.push('=');
                }
                text.push_str(&shown(&value));
            }
            for field in event.dynamic_fields() {
                text.push_str(&format!(" {}={}", field.name(), shown(&field.value())));
            }
            return text;
        }
        RecordData::WakerWake(waker)
        | RecordData::WakerWakeByRef(waker)
        | RecordData::WakerClone(waker)
        | RecordData::WakerDrop(waker) => (Some(waker.task_iid()), waker.context()),
        _ => (data.iid(), None),
    };
    let Some(iid) = iid else { return text };
    names.push_object(&mut text, iid);
    if let Some(context) = context {
        text.push_str(" in ");
        names.push_object(&mut text, context);
    }
    text.push_str("  ");
    text.push_str(names.place_of(iid));
    text
}
