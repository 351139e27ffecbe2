//! A record that is kept.

use super::class::{Class, ClassId, Fact, FieldInfo, Hint, Kind, Scope, Slot, Step};
use super::labels::Labels;
use super::listener::{Head, Listener, Record, Wants};
use super::time::Time;
use super::value::{Text, Wide};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

/// One record's class and fields, kept until the next one: a listener for who wants to look at it twice.
///
/// It is `Serialize`: a map with the members that JSON has in the command.
///
/// # Memory
/// The room of a record is used again for the next one; what is spelled once for a class stays.
///
/// # Examples
/// ```
/// # #[cfg(feature = "rfr")] {
/// use traceglass::event::{Item, Source, rfr};
/// use traceglass::record::{Record, Told};
/// # let file = b"\x0brfr-c/0.0.2\x80\xe2\xcf\xaa\x06\0\xc0\x84\x3d\x04\x09\x01\x01\x04\x09\x01\x01\x05\x07\x63\x04main\0\0\x02\x04\x06\x05\x09\x07\x05";
///
/// let mut registry = rfr::Registry::new(Vec::new());
/// let mut timeline = rfr::Timeline::new(&mut registry, Vec::new(), Vec::new());
/// timeline.add(0, file)?;
/// let mut told = Told::default();
/// while let Some(item) = timeline.next_item()? {
///     if let Item::Event(event) = item {
///         event.tell(&mut told)?;
///         println!("{} has {} fields", event.name(), told.names().count());
///     }
/// }
/// # }
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Told {
    pub(super) head: Option<Head>,
    classes: Vec<Option<ToldClass>>,
    fields: Vec<Option<ToldField>>,
    pub(super) entries: Vec<Entry>,
    /// The first entries of the groups and lists that have not ended.
    open: Vec<usize>,
    /// All texts and bytes, one after the other.
    pub(super) bytes: Vec<u8>,
}

/// The part of a class that is kept.
#[derive(Clone, Debug)]
pub(super) struct ToldClass {
    pub(super) name: String,
    pub(super) clock: Option<String>,
    pub(super) facts: Vec<(&'static str, ToldFact)>,
}

/// A fact, kept.
#[derive(Clone, Debug)]
pub(super) enum ToldFact {
    Number(u64),
    Text(String),
    Absent,
}

/// The part of a field that is kept.
#[derive(Clone, Debug)]
pub(super) struct ToldField {
    /// `None` for an element of a list or map.
    pub(super) name: Option<String>,
    pub(super) hint: Hint,
    pub(super) labels: Option<Labels>,
}

/// A value, or the beginning of several.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) slot: Slot,
    pub(super) value: ToldValue,
}

/// A value, kept.
#[derive(Clone, Debug)]
pub(super) enum ToldValue {
    /// Each of these ends before the entry at this place.
    Scope(Scope, usize),
    Group(usize),
    List(usize),
    Key(Range<usize>),
    Unsigned(u64),
    Signed(i64),
    /// An integer of more than 64 bits as text, and its value if 128 bits hold it.
    Wide(String, Option<i128>),
    Boolean(bool),
    Float(f64),
    /// Text, and the bytes it was stored as if those are not valid.
    Text(Range<usize>, Option<Range<usize>>),
    Bytes(Range<usize>),
    Absent,
}

impl Told {
    /// The fields of a record.
    ///
    /// # Errors
    /// The errors of [`Record::tell`].
    pub fn of(record: &impl Record) -> crate::Result<Self> {
        let mut told = Self::default();
        record.tell(&mut told)?;
        Ok(told)
    }

    /// The name of the record's class; empty before the first record.
    pub fn name(&self) -> &str {
        self.class().map_or("", |class| &class.name)
    }

    /// The time of the record.
    pub fn time(&self) -> Option<Time> {
        self.head?.time
    }

    /// The names of the record's fields that are in no group, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let mut next = 0_usize;
        core::iter::from_fn(move || {
            loop {
                let entry = self.entries.get(next)?;
                next = match entry.value {
                    ToldValue::Group(end) | ToldValue::List(end) => end,
                    _ => next.saturating_add(1),
                };
                match &entry.value {
                    ToldValue::Scope(..) => {}
                    ToldValue::Key(name) => {
                        // The value without a name comes after it.
                        let at = self.entries.get(next).map(|entry| &entry.value);
                        next = match at {
                            Some(ToldValue::Group(end) | ToldValue::List(end)) => *end,
                            _ => next.saturating_add(1),
                        };
                        return Some(self.text(name));
                    }
                    _ => return Some(self.name_of(entry.slot)),
                }
            }
        })
    }

    pub(super) fn class(&self) -> Option<&ToldClass> {
        self.classes.get(self.head?.class.index())?.as_ref()
    }

    pub(super) fn field(&self, slot: Slot) -> Option<&ToldField> {
        self.fields.get(slot.index())?.as_ref()
    }

    /// The name of a field; the one value that a record consists of is called `value`.
    pub(super) fn name_of(&self, slot: Slot) -> &str {
        self.field(slot).and_then(|field| field.name.as_deref()).unwrap_or("value")
    }

    pub(super) fn text(&self, range: &Range<usize>) -> &str {
        let bytes = self.bytes.get(range.clone()).unwrap_or_default();
        core::str::from_utf8(bytes).unwrap_or_default()
    }

    fn push(&mut self, slot: Slot, value: ToldValue) {
        self.entries.push(Entry { slot, value });
    }

    fn keep(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }

    fn keep_text(&mut self, text: Text<'_>) -> Range<usize> {
        match text {
            Text::Utf8(bytes) if core::str::from_utf8(bytes).is_ok() => self.keep(bytes),
            _ => {
                let text = text.to_string();
                self.keep(text.as_bytes())
            }
        }
    }

    fn begin_level(&mut self, slot: Slot, value: ToldValue) {
        self.open.push(self.entries.len());
        self.push(slot, value);
    }

    fn end_level(&mut self) {
        let end = self.entries.len();
        let begin = self.open.pop().and_then(|at| self.entries.get_mut(at));
        if let Some(ToldValue::Scope(_, to) | ToldValue::Group(to) | ToldValue::List(to)) =
            begin.map(|entry| &mut entry.value)
        {
            *to = end;
        }
    }

    #[cold]
    fn learn(&mut self, id: ClassId, class: &dyn Class) {
        class.fields(&mut |step| {
            if let Step::Field(FieldInfo { slot, name, hint, labels, kind, .. }) = step {
                let are_flags = matches!(kind, Kind::Flags { .. });
                let field = ToldField {
                    name: name.map(ToString::to_string),
                    hint,
                    labels: labels.map(|each| Labels::new(each, are_flags)),
                };
                set(&mut self.fields, slot.index(), field);
            }
        });
        let mut facts = Vec::new();
        class.facts(&mut |name, fact| {
            let fact = match fact {
                Fact::Number(number) => ToldFact::Number(number),
                Fact::Text(text) => ToldFact::Text(text.to_string()),
                Fact::Absent => ToldFact::Absent,
            };
            facts.push((name, fact));
        });
        let clock = class.clock().map(ToString::to_string);
        set(&mut self.classes, id.index(), ToldClass { name: class.name().to_string(), clock, facts });
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

impl Listener for Told {
    fn begin(&mut self, head: &Head, class: &dyn Class) -> Wants {
        self.entries.clear();
        self.open.clear();
        self.bytes.clear();
        self.head = Some(*head);
        if self.class().is_none() {
            self.learn(head.class, class);
        }
        Wants::ALL
    }

    fn abandon(&mut self) {
        self.entries.clear();
        self.head = None;
    }

    fn scope(&mut self, scope: Scope) {
        self.begin_level(Slot(0), ToldValue::Scope(scope, 0));
    }

    fn end_scope(&mut self) {
        self.end_level();
    }

    fn group(&mut self, slot: Slot) {
        self.begin_level(slot, ToldValue::Group(0));
    }

    fn end_group(&mut self) {
        self.end_level();
    }

    fn list(&mut self, slot: Slot, _: Option<u64>) {
        self.begin_level(slot, ToldValue::List(0));
    }

    fn end_list(&mut self) {
        self.end_level();
    }

    fn key(&mut self, name: Text<'_>) {
        let name = self.keep_text(name);
        self.push(Slot(0), ToldValue::Key(name));
    }

    fn unsigned(&mut self, slot: Slot, value: u64) {
        self.push(slot, ToldValue::Unsigned(value));
    }

    fn signed(&mut self, slot: Slot, value: i64) {
        self.push(slot, ToldValue::Signed(value));
    }

    fn wide(&mut self, slot: Slot, value: Wide<'_>) {
        let text = match (self.field(slot).map(|field| field.hint), value.words) {
            (Some(Hint::Address), []) => alloc::format!("{:#x}", value.low),
            _ => value.to_string(),
        };
        self.push(slot, ToldValue::Wide(text, value.to_i128()));
    }

    fn boolean(&mut self, slot: Slot, value: bool) {
        self.push(slot, ToldValue::Boolean(value));
    }

    fn float(&mut self, slot: Slot, value: f64) {
        self.push(slot, ToldValue::Float(value));
    }

    fn text(&mut self, slot: Slot, value: Text<'_>) {
        let stored = match value {
            Text::Utf8(bytes) if core::str::from_utf8(bytes).is_err() => Some(self.keep(bytes)),
            Text::Other { stored, is_valid: false, .. } => Some(self.keep(stored)),
            _ => None,
        };
        let text = self.keep_text(value);
        self.push(slot, ToldValue::Text(text, stored));
    }

    fn bytes(&mut self, slot: Slot, value: &[u8]) {
        let range = self.keep(value);
        self.push(slot, ToldValue::Bytes(range));
    }

    fn absent(&mut self, slot: Slot) {
        self.push(slot, ToldValue::Absent);
    }
}
