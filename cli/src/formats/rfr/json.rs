//! Records, objects and callsites as lines of JSON.

use super::names::Names;
use crate::json::{Line, array, float, int, quote};
use crate::trace::Stamps;
use std::io::Write;
use traceglass::rfr::{
    Callsite, Event, FieldValue, List, Object, Parent, Record, RecordData, RecordKind, Span, StreamData,
    StreamRecord, Task, Waker,
};

impl Line {
    /// The time, in all the forms that it has.
    fn micros(&mut self, micros: Option<u64>, stamps: &mut Stamps) -> &mut Self {
        let nanoseconds = micros.map(|micros| i128::from(micros).saturating_mul(1000));
        self.time(nanoseconds, true, stamps).null("clock").int_or_null("micros", micros)
    }

    /// The task that a record is about, and where it was spawned.
    pub fn about(&mut self, data: &RecordData<'_>, names: &Names) -> &mut Self {
        if let RecordData::Event(event) = data {
            return self.text_or_null("location", names.location_of(event.callsite_id()));
        }
        let iid = match *data {
            RecordData::WakerWake(waker)
            | RecordData::WakerWakeByRef(waker)
            | RecordData::WakerClone(waker)
            | RecordData::WakerDrop(waker) => Some(waker.task_iid()),
            _ => data.iid(),
        };
        self.text_or_null("task", iid.and_then(|iid| names.task(iid)));
        self.text_or_null("location", iid.and_then(|iid| names.location(iid)))
    }

    pub fn record(&mut self, micros: Option<u64>, record: &Record<'_>, stamps: &mut Stamps) -> &mut Self {
        self.micros(micros, stamps).plain("kind", record.kind().name()).data(&record.data())
    }

    pub fn stream_record(&mut self, record: &StreamRecord<'_>, stamps: &mut Stamps) -> &mut Self {
        self.null("seq_id").micros(record.unix_micros().ok(), stamps);
        self.plain("kind", record.kind().name());
        match record.data() {
            StreamData::Callsite(callsite) => {
                // `kind` is that of the record.
                self.int("callsite_id", callsite.id()).text("callsite_kind", callsite.kind().name());
                self.level(&callsite);
                self.callsite_details(&callsite)
            }
            StreamData::Span(span) => self.span(&span),
            StreamData::Task(task) => self.task(&task),
            StreamData::Record(data) => self.data(&data),
            _ => self,
        }
    }

    fn data(&mut self, data: &RecordData<'_>) -> &mut Self {
        match *data {
            RecordData::Event(event) => self.event(&event),
            RecordData::WakerWake(waker)
            | RecordData::WakerWakeByRef(waker)
            | RecordData::WakerClone(waker)
            | RecordData::WakerDrop(waker) => self.waker(waker),
            _ => self.int_or_null("iid", data.iid()),
        }
    }

    fn waker(&mut self, waker: Waker) -> &mut Self {
        self.int("task_iid", waker.task_iid()).int_or_null("context", waker.context())
    }

    fn event(&mut self, event: &Event<'_>) -> &mut Self {
        self.int("callsite_id", event.callsite_id()).parent(event.parent());
        self.values(event.split_field_values()).fields("dynamic_fields", event.dynamic_fields())
    }

    pub fn object(&mut self, object: &Object<'_>) -> &mut Self {
        match object {
            Object::Span(span) => self.text("kind", RecordKind::Span.name()).span(span),
            Object::Task(task) => self.text("kind", RecordKind::Task.name()).task(task),
            _ => self,
        }
    }

    fn span(&mut self, span: &Span<'_>) -> &mut Self {
        self.int("iid", span.iid()).int("callsite_id", span.callsite_id()).parent(span.parent());
        self.values(span.split_field_values()).fields("dynamic_fields", span.dynamic_fields())
    }

    fn task(&mut self, task: &Task<'_>) -> &mut Self {
        self.int("iid", task.iid()).int("callsite_id", task.callsite_id()).int("task_id", task.task_id());
        self.text("task_name", task.name()).text("task_kind", task.kind().name());
        self.int_or_null("context", task.context())
    }

    pub fn callsite(&mut self, callsite: &Callsite<'_>) -> &mut Self {
        self.int("callsite_id", callsite.id()).level(callsite);
        self.text("kind", callsite.kind().name()).callsite_details(callsite)
    }

    fn level(&mut self, callsite: &Callsite<'_>) -> &mut Self {
        self.int("level", callsite.level().number().into())
            .text_or_null("level_name", callsite.level().name())
    }

    fn callsite_details(&mut self, callsite: &Callsite<'_>) -> &mut Self {
        self.text_or_null("name", callsite.name()).text_or_null("target", callsite.target());
        self.text_or_null("module_path", callsite.module_path()).text_or_null("file", callsite.file());
        self.int_or_null("line", callsite.line());
        array(&mut self.key("split_field_names").text, callsite.split_field_names(), quote);
        self.fields("const_fields", callsite.const_fields())
    }

    fn parent(&mut self, parent: Parent) -> &mut Self {
        match parent {
            Parent::Current => self.text("parent", "Current"),
            Parent::Root => self.text("parent", "Root"),
            Parent::Explicit(iid) => self.raw("parent", format_args!("{{\"Explicit\":{iid}}}")),
            _ => self.null("parent"),
        }
    }

    fn values<'a>(&mut self, values: List<'a, FieldValue<'a>>) -> &mut Self {
        array(&mut self.key("split_field_values").text, values, |text, value| self::value(text, &value));
        self
    }

    fn fields<'a>(&mut self, key: &str, fields: List<'a, traceglass::rfr::Field<'a>>) -> &mut Self {
        array(&mut self.key(key).text, fields, |text, field| {
            text.extend(b"{\"name\":");
            quote(text, field.name());
            text.extend(b",\"value\":");
            value(text, &field.value());
            text.push(b'}');
        });
        self
    }
}

/// A value: wide integers, and floats that JSON has no number for, as strings.
pub fn value(text: &mut Vec<u8>, value: &FieldValue<'_>) {
    // A vector takes all that is written to it.
    let _ = match *value {
        FieldValue::F64(value) => return float(text, value),
        FieldValue::I64(value) => write!(text, "{value}"),
        FieldValue::U64(value) => return int(text, value),
        FieldValue::I128(value) => write!(text, "\"{value}\""),
        FieldValue::U128(value) => write!(text, "\"{value}\""),
        FieldValue::Bool(value) => write!(text, "{value}"),
        FieldValue::Str(value) => return quote(text, value),
        _ => text.write_all(b"null"),
    };
}

/// The same, as text of its own.
pub fn shown(value: &FieldValue<'_>) -> String {
    let mut text = Vec::new();
    self::value(&mut text, value);
    String::from_utf8_lossy(&text).into_owned()
}
