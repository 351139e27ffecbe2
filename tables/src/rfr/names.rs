//! What ids stand for.

use super::value::value;
use crate::json::quote;
use crate::rows::Rows;
use std::collections::HashMap;
use traceglass::rfr::{Callsite, Callsites as File, Object, RecordData};

/// What is known of a place in the source.
#[derive(Debug)]
pub(super) struct Place {
    pub name: Option<Box<str>>,
    pub target: Option<Box<str>>,
    /// File and line.
    pub location: Option<Box<str>>,
    pub level: u8,
    /// The names of the values that its events have.
    pub fields: Vec<Box<str>>,
}

/// Places by their ids.
#[derive(Debug, Default)]
pub(super) struct Callsites(HashMap<u64, Place>);

impl Callsites {
    /// All that can be read.
    pub(super) fn of(mut file: File<'_>) -> Self {
        let mut callsites = Self::default();
        loop {
            match file.next_callsite() {
                Ok(Some(callsite)) => callsites.add(&callsite),
                Err(_) if file.recover().is_some() => {}
                Err(_) | Ok(None) => return callsites,
            }
        }
    }

    fn add(&mut self, callsite: &Callsite<'_>) {
        let location = callsite.file().map(|file| match callsite.line() {
            Some(line) => format!("{file}:{line}").into_boxed_str(),
            None => file.into(),
        });
        let place = Place {
            name: callsite.name().map(Into::into),
            target: callsite.target().map(Into::into),
            location,
            level: callsite.level().number(),
            fields: callsite.split_field_names().map(Into::into).collect(),
        };
        // The first callsite with an id keeps it, as in the command.
        self.0.entry(callsite.id()).or_insert(place);
    }
}

/// A task or a span.
struct Named {
    name: Option<Box<str>>,
    task_id: Option<u64>,
    callsite: u64,
}

/// Tasks and spans of a file, and the callsites.
pub(super) struct Names<'n> {
    shared: Option<&'n Callsites>,
    own: Callsites,
    objects: HashMap<u64, Named>,
}

impl<'n> Names<'n> {
    pub(super) fn new(shared: Option<&'n Callsites>) -> Self {
        Self { shared, own: Callsites::default(), objects: HashMap::new() }
    }

    pub(super) fn add_callsite(&mut self, callsite: &Callsite<'_>) {
        self.own.add(callsite);
    }

    pub(super) fn add_object(&mut self, object: &Object<'_>) {
        let named = match object {
            Object::Task(task) => Named {
                name: Some(task.name()).filter(|name| !name.is_empty()).map(Into::into),
                task_id: Some(task.task_id()),
                callsite: task.callsite_id(),
            },
            _ => {
                let name = self.callsite(object.callsite_id()).and_then(|callsite| callsite.name.clone());
                Named { name, task_id: None, callsite: object.callsite_id() }
            }
        };
        self.objects.insert(object.iid(), named);
    }

    /// Forgets an object that ends: its id may name another one from now on.
    pub(super) fn forget(&mut self, data: &RecordData<'_>) {
        if let RecordData::TaskDrop { iid } | RecordData::SpanClose { iid } = *data {
            self.objects.remove(&iid);
        }
    }

    pub(super) fn callsite(&self, id: u64) -> Option<&Place> {
        self.shared.and_then(|shared| shared.0.get(&id)).or_else(|| self.own.0.get(&id))
    }

    /// The name and the task id of an object, and where it comes from.
    pub(super) fn object(&self, iid: u64) -> (Option<&str>, Option<u64>, Option<&str>) {
        let Some(named) = self.objects.get(&iid) else { return (None, None, None) };
        let location = self.callsite(named.callsite).and_then(|place| place.location.as_deref());
        (named.name.as_deref(), named.task_id, location)
    }
}

/// The row of a callsite, but for its end.
pub(super) fn callsite_row(rows: &mut Rows, file: &str, callsite: &Callsite<'_>, text: &mut String) {
    rows.name(0, Some(file));
    rows.u64(1, Some(callsite.offset()));
    rows.u64(2, Some(callsite.id()));
    rows.u64(3, Some(callsite.level().number().into()));
    rows.name(4, Some(callsite.kind().name()));
    rows.text(5, callsite.name());
    rows.name(6, callsite.target());
    rows.name(7, callsite.module_path());
    rows.name(8, callsite.file());
    rows.u64(9, callsite.line());
    text.clear();
    for field in callsite.const_fields() {
        text.push(if text.is_empty() { '{' } else { ',' });
        quote(text, field.name());
        text.push(':');
        value(text, &field.value());
    }
    if !text.is_empty() {
        text.push('}');
        rows.text(10, Some(text));
    }
}
