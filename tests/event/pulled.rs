//! The names and values that a record tells, as a list.

use std::collections::HashMap;
use std::fmt::{Debug, Display, Formatter, Result as Fmt};
use traceglass::Result;
use traceglass::record::{
    Class, FieldInfo, Head, Hint, Listener, Record, Scope, Slot, Step, Text, Wants, Wide,
};

/// Text as it is shown.
#[derive(Clone, PartialEq)]
pub struct Shown(pub String);

impl Display for Shown {
    fn fmt(&self, f: &mut Formatter<'_>) -> Fmt {
        f.write_str(&self.0)
    }
}

impl Debug for Shown {
    fn fmt(&self, f: &mut Formatter<'_>) -> Fmt {
        write!(f, "Text({:?})", self.0)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Bool(bool),
    Unsigned(u128),
    Signed(i128),
    Float(f64),
    Text(Shown),
    Bytes(Vec<u8>),
    Struct,
    List,
    End,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: Option<String>,
    pub value: Value,
}

impl Field {
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub fn value(&self) -> Value {
        self.value.clone()
    }
}

/// The name of a field, what its numbers are, and the labels of theirs.
type Described = (Option<String>, Hint, Vec<(String, i128, i128)>);

#[derive(Default)]
struct Told {
    known: HashMap<Slot, Described>,
    fields: Vec<Field>,
    key: Option<String>,
    is_context: bool,
}

impl Told {
    fn push(&mut self, slot: Slot, value: Value) {
        let name = self.key.take().or_else(|| self.known.get(&slot)?.0.clone());
        self.fields.push(Field { name, value });
    }

    fn number(&mut self, slot: Slot, number: i128, value: Value) {
        let labels = match self.known.get(&slot) {
            Some((_, Hint::Label, labels)) => {
                let found = labels.iter().find(|(_, first, last)| (*first..=*last).contains(&number));
                found.map(|(name, ..)| name.clone()).unwrap_or_default()
            }
            Some((_, Hint::Address, _)) => format!("{number:#x}"),
            _ => String::new(),
        };
        self.push(slot, if labels.is_empty() { value } else { Value::Text(Shown(labels)) });
    }

    fn end(&mut self) {
        self.fields.push(Field { name: None, value: Value::End });
    }
}

impl Listener for Told {
    fn begin(&mut self, _: &Head, class: &dyn Class) -> Wants {
        class.fields(&mut |step| {
            if let Step::Field(FieldInfo { slot, name, hint, labels, .. }) = step {
                let mut all = Vec::new();
                if let Some(each) = labels {
                    each(&mut |name, first, last| all.push((name.to_string(), first, last)));
                }
                self.known.insert(slot, (name.map(|name| name.to_string()), hint, all));
            }
        });
        Wants::ALL.without(Scope::Header)
    }

    fn scope(&mut self, scope: Scope) {
        self.is_context = matches!(scope, Scope::CommonContext | Scope::SpecificContext);
        if self.is_context {
            self.fields.push(Field { name: scope.name().map(str::to_owned), value: Value::Struct });
        }
    }

    fn end_scope(&mut self) {
        if self.is_context {
            self.end();
        }
    }

    fn group(&mut self, slot: Slot) {
        self.push(slot, Value::Struct);
    }

    fn end_group(&mut self) {
        self.end();
    }

    fn list(&mut self, slot: Slot, _: Option<u64>) {
        self.push(slot, Value::List);
    }

    fn end_list(&mut self) {
        self.end();
    }

    fn key(&mut self, name: Text<'_>) {
        self.key = Some(name.to_string());
    }

    fn unsigned(&mut self, slot: Slot, value: u64) {
        self.number(slot, value.into(), Value::Unsigned(value.into()));
    }

    fn signed(&mut self, slot: Slot, value: i64) {
        self.number(slot, value.into(), Value::Signed(value.into()));
    }

    fn wide(&mut self, slot: Slot, value: Wide<'_>) {
        let number =
            if value.is_signed { Value::Signed(value.low.cast_signed()) } else { Value::Unsigned(value.low) };
        match value.words {
            [] => self.number(slot, value.low.cast_signed(), number),
            _ => self.push(slot, Value::Text(Shown(value.to_string()))),
        }
    }

    fn boolean(&mut self, slot: Slot, value: bool) {
        self.push(slot, Value::Bool(value));
    }

    fn float(&mut self, slot: Slot, value: f64) {
        self.push(slot, Value::Float(value));
    }

    fn text(&mut self, slot: Slot, value: Text<'_>) {
        self.push(slot, Value::Text(Shown(value.to_string())));
    }

    fn bytes(&mut self, slot: Slot, value: &[u8]) {
        self.push(slot, Value::Bytes(value.to_vec()));
    }

    fn absent(&mut self, _: Slot) {
        self.key = None;
    }
}

/// All that a record tells.
pub fn fields(record: &impl Record) -> Result<Vec<Field>> {
    let mut told = Told::default();
    record.tell(&mut told)?;
    Ok(told.fields)
}
