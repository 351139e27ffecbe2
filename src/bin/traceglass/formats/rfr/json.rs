//! Records, objects and callsites as lines of JSON.
//!
//! There may be many millions of them: the text is made without a tree of values in between.

use std::fmt::Write;
use std::path::Path;
use traceglass::rfr::{
    Callsite, Event, FieldValue, List, Object, Parent, Record, RecordData, RecordKind, Span, StreamData,
    StreamRecord, Task, Waker,
};

/// A line: one object.
pub struct Line {
    text: String,
}

impl Line {
    pub fn new() -> Self {
        Self { text: String::with_capacity(256) }
    }

    /// Begins the object.
    pub fn begin(&mut self) -> &mut Self {
        self.text.clear();
        self
    }

    /// Ends the object, and gives the line.
    pub fn end(&mut self) -> &[u8] {
        self.text.push_str("}\n");
        self.text.as_bytes()
    }

    fn key(&mut self, key: &str) {
        self.text.push_str(if self.text.is_empty() { "{\"" } else { ",\"" });
        self.text.push_str(key);
        self.text.push_str("\":");
    }

    pub fn int(&mut self, key: &str, value: u64) -> &mut Self {
        self.key(key);
        let _ = write!(self.text, "{value}");
        self
    }

    pub fn int_or_null(&mut self, key: &str, value: Option<u64>) -> &mut Self {
        match value {
            Some(value) => self.int(key, value),
            None => self.raw(key, "null"),
        }
    }

    pub fn text(&mut self, key: &str, value: &str) -> &mut Self {
        self.key(key);
        quote(&mut self.text, value);
        self
    }

    fn text_or_null(&mut self, key: &str, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.text(key, value),
            None => self.raw(key, "null"),
        }
    }

    fn raw(&mut self, key: &str, value: &str) -> &mut Self {
        self.key(key);
        self.text.push_str(value);
        self
    }

    /// The path of the file in the recording's directory.
    pub fn path(&mut self, path: Option<&Path>) -> &mut Self {
        let Some(path) = path else { return self.raw("path", "null") };
        match path.to_str() {
            Some(text) => self.text("path", text),
            None => {
                let hex = crate::output::hex(path.as_os_str().as_encoded_bytes());
                self.raw("path", "null").text("path_hex", &hex)
            }
        }
    }

    pub fn record(&mut self, micros: Option<u64>, record: &Record<'_>) -> &mut Self {
        self.int_or_null("micros", micros).text("kind", record.kind().name()).data(&record.data())
    }

    pub fn stream_record(&mut self, record: &StreamRecord<'_>) -> &mut Self {
        self.raw("seq_id", "null").int_or_null("micros", record.absolute().ok());
        self.text("kind", record.kind().name());
        match record.data() {
            StreamData::Callsite(callsite) => {
                // `kind` is that of the record.
                self.int("callsite_id", callsite.id()).text("callsite_kind", callsite.kind().name());
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
        self.int("task_iid", waker.task_iid).int_or_null("context", waker.context)
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
        self.int("callsite_id", callsite.id()).int("level", callsite.level().0.into());
        self.text("kind", callsite.kind().name()).callsite_details(callsite)
    }

    fn callsite_details(&mut self, callsite: &Callsite<'_>) -> &mut Self {
        self.text_or_null("name", callsite.name()).text_or_null("target", callsite.target());
        self.text_or_null("module_path", callsite.module_path()).text_or_null("file", callsite.file());
        self.int_or_null("line", callsite.line());
        self.key("split_field_names");
        array(&mut self.text, callsite.split_field_names(), quote);
        self.fields("const_fields", callsite.const_fields())
    }

    fn parent(&mut self, parent: Parent) -> &mut Self {
        match parent {
            Parent::Current => self.text("parent", "Current"),
            Parent::Root => self.text("parent", "Root"),
            Parent::Explicit(iid) => self.raw("parent", &format!("{{\"Explicit\":{iid}}}")),
            _ => self.raw("parent", "null"),
        }
    }

    fn values<'a>(&mut self, values: List<'a, FieldValue<'a>>) -> &mut Self {
        self.key("split_field_values");
        array(&mut self.text, values, |text, value| self::value(text, &value));
        self
    }

    fn fields<'a>(&mut self, key: &str, fields: List<'a, traceglass::rfr::Field<'a>>) -> &mut Self {
        self.key(key);
        array(&mut self.text, fields, |text, field| {
            text.push_str("{\"name\":");
            quote(text, field.name);
            text.push_str(",\"value\":");
            value(text, &field.value);
            text.push('}');
        });
        self
    }
}

fn array<T>(text: &mut String, items: impl Iterator<Item = T>, mut item: impl FnMut(&mut String, T)) {
    text.push('[');
    for (place, one) in items.enumerate() {
        if place > 0 {
            text.push(',');
        }
        item(text, one);
    }
    text.push(']');
}

/// A value: wide integers, and floats that JSON has no number for, as strings.
pub fn value(text: &mut String, value: &FieldValue<'_>) {
    let _ = match *value {
        FieldValue::F64(value) if value.is_finite() => {
            text.push_str(&serde_json::Value::from(value).to_string());
            Ok(())
        }
        FieldValue::F64(value) => write!(text, "\"{value}\""),
        FieldValue::I64(value) => write!(text, "{value}"),
        FieldValue::U64(value) => write!(text, "{value}"),
        FieldValue::I128(value) => write!(text, "\"{value}\""),
        FieldValue::U128(value) => write!(text, "\"{value}\""),
        FieldValue::Bool(value) => write!(text, "{value}"),
        FieldValue::Str(value) => {
            quote(text, value);
            Ok(())
        }
        _ => {
            text.push_str("null");
            Ok(())
        }
    };
}

fn quote(text: &mut String, value: &str) {
    let plain = value.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\');
    if plain {
        text.push('"');
        text.push_str(value);
        text.push('"');
    } else {
        text.push_str(&serde_json::Value::from(value).to_string());
    }
}
