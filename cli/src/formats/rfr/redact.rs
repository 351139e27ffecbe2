//! The text of a recording about a person or a computer: names of tasks, source files, and fields by their names.

use super::files::{Files, Kind};
use super::scan;
use crate::status::Result;
use crate::trace::{Damage, Private};
use std::collections::HashMap;
use std::path::Path;
use traceglass::rfr::{
    Callsite, Callsites, Chunk, Event, Field, FieldValue, Item, Object, Span, StreamData, Streaming, Task,
};

/// The private names of the fields whose values stand with each record, by callsite. Of several callsites with the same id,
/// a name of any counts.
type Split = HashMap<u64, Vec<Option<String>>>;

/// A file whose text is looked at.
struct File<'f, 'r, 'p> {
    path: Option<&'f Path>,
    data: &'f [u8],
    split: &'f mut Split,
    private: &'p mut Private<'r>,
}

impl File<'_, '_, '_> {
    fn named(&mut self, name: &str, value: FieldValue<'_>) {
        if let Some(text) = value.as_str().filter(|_| self.private.hides(name)) {
            self.private.part(self.path, name, self.data, text.as_bytes());
        }
    }

    fn fields<'a>(&mut self, fields: impl Iterator<Item = Field<'a>>) {
        fields.for_each(|field| self.named(field.name(), field.value()));
    }

    fn values<'a>(&mut self, callsite: u64, values: impl Iterator<Item = FieldValue<'a>>) {
        let names = self.split.get(&callsite).map(Vec::as_slice).unwrap_or_default();
        for (name, value) in names.iter().zip(values) {
            if let (Some(name), Some(text)) = (name, value.as_str()) {
                self.private.part(self.path, name, self.data, text.as_bytes());
            }
        }
    }

    fn callsite(&mut self, callsite: &Callsite<'_>) {
        let names = self.split.entry(callsite.id()).or_default();
        for (place, name) in callsite.split_field_names().enumerate() {
            if names.len() <= place {
                names.push(None);
            }
            let private = Some(name).filter(|name| self.private.hides(name)).map(str::to_owned);
            names.get_mut(place).into_iter().for_each(|known| *known = known.take().or(private.clone()));
        }
        self.fields(callsite.const_fields());
    }

    fn task(&mut self, task: &Task<'_>) {
        self.private.part(self.path, "task_name", self.data, task.name().as_bytes());
    }

    fn span(&mut self, span: &Span<'_>) {
        self.values(span.callsite_id(), span.split_field_values());
        self.fields(span.dynamic_fields());
    }

    fn event(&mut self, event: &Event<'_>) {
        self.values(event.callsite_id(), event.split_field_values());
        self.fields(event.dynamic_fields());
    }
}

/// Tells where private text is.
pub fn tell(files: &Files<'_>, private: &mut Private<'_>) -> Result<()> {
    let mut split = Split::new();
    let mut damage = Damage::default();
    // Callsites say what the values of records are.
    let (callsites, others): (Vec<_>, Vec<_>) =
        files.parts.iter().partition(|part| part.kind == Kind::Callsites);
    for part in callsites.into_iter().chain(others) {
        let data = part.data()?;
        let data = data.bytes();
        let path = part.path.as_deref();
        let mut file = File { path, data, split: &mut split, private };
        match part.kind {
            Kind::Callsites => {
                let Ok(callsites) = Callsites::parse(data) else { continue };
                scan::callsites(&callsites, path, &mut damage, |callsite| {
                    file.callsite(&callsite);
                    Ok(())
                })?;
            }
            Kind::Chunk(_) => {
                let Ok(chunk) = Chunk::parse(data) else { continue };
                scan::items(&chunk, path, &mut damage, |item, _| {
                    match item {
                        Item::Object(Object::Task(task)) => file.task(&task),
                        Item::Object(Object::Span(span)) => file.span(&span),
                        Item::Record(record) => record.event().iter().for_each(|event| file.event(event)),
                        _ => {}
                    }
                    Ok(())
                })?;
            }
            Kind::Stream => {
                let Ok(stream) = Streaming::parse(data) else { continue };
                // An event may come before its callsite.
                scan::stream(&stream, path, &mut damage, |record, _| {
                    if let StreamData::Callsite(callsite) = record.data() {
                        file.callsite(&callsite);
                    }
                    Ok(())
                })?;
                scan::stream(&stream, path, &mut damage, |record, _| {
                    match record.data() {
                        StreamData::Task(task) => file.task(&task),
                        StreamData::Span(span) => file.span(&span),
                        StreamData::Record(data) => data.event().iter().for_each(|event| file.event(event)),
                        _ => {}
                    }
                    Ok(())
                })?;
            }
            Kind::Meta => {}
        }
    }
    Ok(())
}
