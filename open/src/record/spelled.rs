//! Tables of what a listener writes for each class and each field, made when their first record comes.

use super::buffer::Buffer;
use super::labels::{LabelTexts, Spell};
use super::names::Names;
use crate::text::{NAME_MAX, push_start};
use std::collections::HashMap;
use std::sync::Arc;
use traceglass::record::{Class, ClassId, FieldInfo, Hint, Kind, Labels, Scope, Slot, Step};

/// A field as a listener writes it.
pub struct Field {
    /// The text before its value; filled up if it is short, since a copy of fixed length is faster.
    short: [u8; 32],
    len: usize,
    long: Option<Box<[u8]>>,
    pub hint: Hint,
    /// True if its values are bits with labels.
    pub are_flags: bool,
    pub labels: Option<LabelTexts>,
    /// The name; empty for an element of a list or map.
    pub name: Box<str>,
    /// True if it is an element of a list.
    pub is_element: bool,
}

impl Field {
    /// Puts what stands before its value.
    #[inline(always)]
    pub fn put(&self, to: &mut Buffer) {
        match &self.long {
            None => to.first(&self.short, self.len),
            Some(long) => to.put(long),
        }
    }
}

/// The texts of a kind of listener.
pub trait Spelling {
    /// The text that is written for a class.
    type Class;

    /// Spells a class; it has these scopes.
    fn class(&mut self, class: &dyn Class, scopes: &[Scope]) -> Self::Class;

    /// Spells what stands before a value of a field of this name; an empty one is that of an element of a list or map.
    fn field(&mut self, name: &str) -> Vec<u8>;

    /// The name of the one value that a record consists of.
    const VALUE: &'static str;

    /// Spells labels beside a number.
    const LABELS: Spell;

    /// Spells the label that stands for a number.
    const LABEL: Spell;
}

/// The tables of a listener.
pub struct Tables<S: Spelling> {
    spelling: S,
    /// The names of the classes whose records are written.
    only: Names,
    /// Of each class that was met; nothing for one whose records are not written.
    classes: Vec<Option<Option<S::Class>>>,
    fields: Vec<Option<Field>>,
    /// Sets of labels by their numbers.
    sets: HashMap<u32, Arc<Labels>>,
}

/// The levels of a walk.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Scope,
    Group,
    /// A list or a map.
    Unnamed {
        is_list: bool,
    },
}

impl<S: Spelling> Tables<S> {
    pub fn new(spelling: S) -> Self {
        Self {
            spelling,
            only: Names::default(),
            classes: Vec::new(),
            fields: Vec::new(),
            sets: HashMap::new(),
        }
    }

    /// Leaves out the records of classes with other names. To be said before the first record.
    pub fn only(&mut self, names: &Names) {
        self.only = names.clone();
    }

    /// The state of the spelling.
    pub fn spelling(&mut self) -> &mut S {
        &mut self.spelling
    }

    /// The text for a class; nothing if its records are left out.
    #[inline(always)]
    pub fn class(&mut self, id: ClassId, class: &dyn Class) -> Option<&S::Class> {
        if self.classes.get(id.index()).is_none_or(Option::is_none) {
            self.learn(id, class);
        }
        self.known(id)
    }

    /// The text for a class that was met.
    #[inline(always)]
    pub fn known(&self, id: ClassId) -> Option<&S::Class> {
        self.classes.get(id.index())?.as_ref()?.as_ref()
    }

    /// The text for a field of a class that was met.
    #[inline(always)]
    pub fn field(&self, slot: Slot) -> Option<&Field> {
        self.fields.get(slot.index())?.as_ref()
    }

    #[cold]
    #[inline(never)]
    fn learn(&mut self, id: ClassId, class: &dyn Class) {
        if !self.only.has(class.name()) {
            return set(&mut self.classes, id.index(), None);
        }
        let mut scopes = Vec::new();
        let mut levels = Vec::new();
        class.fields(&mut |step| match step {
            Step::Scope(scope) => {
                scopes.push(scope);
                levels.push(Level::Scope);
            }
            Step::Field(info) => {
                let level = levels.last().copied().unwrap_or(Level::Scope);
                self.learn_field(&info, level);
                match info.kind {
                    Kind::Group => levels.push(Level::Group),
                    Kind::List => levels.push(Level::Unnamed { is_list: true }),
                    Kind::Map => levels.push(Level::Unnamed { is_list: false }),
                    _ => {}
                }
            }
            _ => {
                levels.pop();
            }
        });
        let spelled = self.spelling.class(class, &scopes);
        set(&mut self.classes, id.index(), Some(spelled));
    }

    fn learn_field(&mut self, info: &FieldInfo<'_>, level: Level) {
        if self.field(info.slot).is_some() {
            return;
        }
        let mut name = String::new();
        if let Some(given) = info.name {
            push_start(&mut name, given, NAME_MAX);
        }
        let shown = if info.name.is_none() && level == Level::Scope { S::VALUE } else { &name };
        // A member may have an empty name; it is spelled as such.
        let is_named = info.name.is_some() || level == Level::Scope;
        let text = if is_named { self.spelling.field(shown) } else { Vec::new() };
        let mut short = [0; 32];
        let is_short = short.get_mut(..text.len()).map(|to| to.copy_from_slice(&text)).is_some();
        let are_flags = matches!(info.kind, Kind::Flags { .. });
        let labels = info.labels.map(|each| {
            let made = || Arc::new(Labels::new(each, are_flags));
            let labels = match info.label_set {
                // Flags and values may share labels, which mean bits or values.
                Some(number) => self.sets.entry(number).or_insert_with(made).clone(),
                None => made(),
            };
            let spell = if info.hint == Hint::Label { S::LABEL } else { S::LABELS };
            LabelTexts::new(labels, if is_named { shown } else { "" }, spell)
        });
        let field = Field {
            short,
            len: text.len(),
            long: (!is_short).then(|| text.into_boxed_slice()),
            hint: info.hint,
            are_flags,
            labels,
            name: if is_named { shown.into() } else { "".into() },
            is_element: level == Level::Unnamed { is_list: true },
        };
        set(&mut self.fields, info.slot.index(), field);
    }
}

/// Puts something into a table that grows.
fn set<T>(table: &mut Vec<Option<T>>, at: usize, value: T) {
    if table.len() <= at {
        table.resize_with(at.saturating_add(1), || None);
    }
    if let Some(place) = table.get_mut(at) {
        *place = Some(value);
    }
}

/// The origin of records, as their adaptor says it before them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// For people: the file, the processor, the chunk. Each is a column.
    pub shown: String,
    /// Members of JSON, each with the comma before it: `,"path":"a","entry":1`.
    pub json: Vec<u8>,
}
