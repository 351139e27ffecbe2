//! The content of a record, kept until it is known which rows it belongs to.

use crate::json::member_value;
use crate::rows::Rows;
use std::rc::Rc;
use traceglass::record::{
    Class, ClassId, FieldInfo, Head, Hint, Kind, Listener, Slot, Step, Text, Wants, Wide,
};
use traceglass_open::record::Json;

/// The value of a column.
#[derive(Clone, PartialEq)]
pub(super) enum Value {
    Unsigned(u64),
    Signed(i64),
    Truth(bool),
    Float(f64),
    Text(Rc<str>),
    Bytes(Rc<[u8]>),
}

impl Value {
    /// Writes it; a column of another type takes nothing.
    pub(super) fn put(&self, rows: &mut Rows, at: usize) {
        match self {
            Self::Unsigned(value) => rows.u64(at, Some(*value)),
            Self::Signed(value) => rows.i64(at, Some(*value)),
            Self::Truth(value) => rows.bool(at, Some(*value)),
            Self::Float(value) => rows.f64(at, Some(*value)),
            Self::Text(value) => rows.text(at, Some(value)),
            Self::Bytes(value) => rows.blob(at, value),
        }
    }
}

/// A field that was met.
#[derive(Clone)]
struct Known {
    hint: Hint,
    labels: Vec<(u64, Rc<str>)>,
}

/// Hears records.
pub(super) struct Heard {
    class: Option<ClassId>,
    ns: Option<i128>,
    values: Vec<(Slot, Value)>,
    /// The classes whose fields are known, and these by their slots.
    classes: Vec<(ClassId, String)>,
    fields: Vec<Option<Known>>,
    /// The list that is open, and how many are: they are written as JSON, from here on in its text.
    list: Option<Slot>,
    depth: usize,
    json: Json,
    start: usize,
}

impl Default for Heard {
    fn default() -> Self {
        Self {
            class: None,
            ns: None,
            values: Vec::new(),
            classes: Vec::new(),
            fields: Vec::new(),
            list: None,
            depth: 0,
            json: Json::bare(),
            start: 0,
        }
    }
}

impl Heard {
    /// Forgets the record that was heard last.
    pub(super) fn clear(&mut self) {
        (self.class, self.ns) = (None, None);
        self.values.clear();
        (self.list, self.depth) = (None, 0);
    }

    /// The class of the record, if there was one.
    pub(super) const fn class(&self) -> Option<ClassId> {
        self.class
    }

    /// The kind of the record, as its class is called.
    pub(super) fn kind(&self) -> &str {
        let known = self.classes.iter().find(|(class, _)| Some(*class) == self.class);
        known.map_or("", |(_, name)| name.as_str())
    }

    /// The time that the record itself states, in nanoseconds.
    pub(super) const fn ns(&self) -> Option<i128> {
        self.ns
    }

    /// The values, in order.
    pub(super) fn values(&self) -> &[(Slot, Value)] {
        &self.values
    }

    /// The value of a field.
    pub(super) fn value(&self, slot: Slot) -> Option<&Value> {
        self.values.iter().find(|(of, _)| *of == slot).map(|(_, value)| value)
    }

    #[cold]
    fn learn(&mut self, class: &dyn Class) {
        self.classes.push((class.id(), class.name().to_string()));
        class.fields(&mut |step| {
            let Step::Field(FieldInfo { slot, hint, labels, .. }) = step else { return };
            let mut known = Known { hint, labels: Vec::new() };
            if let Some(each) = labels {
                each(&mut |label, first, _| {
                    let first = u64::try_from(first).unwrap_or(u64::MAX);
                    known.labels.push((first, label.to_string().into()));
                });
            }
            if self.fields.len() <= slot.index() {
                self.fields.resize(slot.index().saturating_add(1), None);
            }
            if let Some(place) = self.fields.get_mut(slot.index()) {
                *place = Some(known);
            }
        });
    }

    fn known(&self, slot: Slot) -> Option<&Known> {
        self.fields.get(slot.index())?.as_ref()
    }

    /// A value; as a part of the list if one is open.
    fn put(&mut self, slot: Slot, value: Value, tell: impl FnOnce(&mut Json)) {
        match self.list {
            None => self.values.push((slot, value)),
            Some(_) => tell(&mut self.json),
        }
    }
}

/// The type of a column, by what its field says.
pub(super) fn is_text(info: &FieldInfo<'_>) -> bool {
    let is_wide = matches!(info.kind, Kind::Unsigned { bits } | Kind::Signed { bits } if bits > 64);
    is_wide || info.hint == Hint::Label || info.kind == Kind::Text
}

impl Listener for Heard {
    fn begin(&mut self, head: &Head, class: &dyn Class) -> Wants {
        (self.class, self.ns) = (Some(head.class), head.time.map(|time| time.ns()));
        if !self.classes.iter().any(|(known, _)| *known == head.class) {
            self.learn(class);
        }
        self.json.buffer.clear();
        self.json.begin(head, class);
        self.start = self.json.buffer.mark();
        Wants::ALL
    }

    fn list(&mut self, slot: Slot, len: Option<u64>) {
        if self.depth == 0 {
            self.list = Some(slot);
        }
        self.depth = self.depth.saturating_add(1);
        self.json.list(slot, len);
    }

    fn end_list(&mut self) {
        self.json.end_list();
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0
            && let Some(slot) = self.list.take()
        {
            let list = self.json.buffer.text().get(self.start..).and_then(member_value);
            self.values.extend(list.map(|list| (slot, Value::Text(list.into()))));
            self.json.buffer.truncate(self.start);
        }
    }

    fn unsigned(&mut self, slot: Slot, value: u64) {
        let known = self.known(slot);
        let label = known.and_then(|known| known.labels.iter().find(|(number, _)| *number == value));
        let is_label = known.is_some_and(|known| known.hint == Hint::Label);
        let shown = match label {
            Some((_, label)) => Value::Text(Rc::clone(label)),
            // One that has no label is shown as it is.
            None if is_label => Value::Text(value.to_string().into()),
            None => Value::Unsigned(value),
        };
        self.put(slot, shown, |json| json.unsigned(slot, value));
    }

    fn signed(&mut self, slot: Slot, value: i64) {
        self.put(slot, Value::Signed(value), |json| json.signed(slot, value));
    }

    fn wide(&mut self, slot: Slot, value: Wide<'_>) {
        let is_address = self.known(slot).is_some_and(|known| known.hint == Hint::Address);
        let text = if is_address && value.words.is_empty() {
            format!("{:#x}", value.low)
        } else {
            value.to_string()
        };
        self.put(slot, Value::Text(text.into()), |json| json.wide(slot, value));
    }

    fn boolean(&mut self, slot: Slot, value: bool) {
        self.put(slot, Value::Truth(value), |json| json.boolean(slot, value));
    }

    fn float(&mut self, slot: Slot, value: f64) {
        self.put(slot, Value::Float(value), |json| json.float(slot, value));
    }

    /// Bytes that are not text do not fit a column of text; in a list they are replaced.
    fn text(&mut self, slot: Slot, value: Text<'_>) {
        let is_text = match value {
            Text::Utf8(bytes) => std::str::from_utf8(bytes).is_ok(),
            Text::Other { is_valid, .. } => is_valid,
            _ => false,
        };
        if !is_text && self.list.is_none() {
            return;
        }
        self.put(slot, Value::Text(value.to_string().into()), |json| json.text(slot, value));
    }

    fn bytes(&mut self, slot: Slot, value: &[u8]) {
        self.put(slot, Value::Bytes(value.into()), |json| json.bytes(slot, value));
    }
}
