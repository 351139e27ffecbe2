//! The fields of an event that rules name, as its record tells them.

use super::classes::{Classes, NO_FIELD};
use super::table::Table;
use super::text::floor;
use super::value::{TEXT_MAX, Texts, Value, ValueSlot};
use crate::error::Result;
use crate::record::{Class, Head, Listener, Scope, Slot, Text, Wants, Wide};
use core::fmt::{Display, Write as _};
use core::ops::Range;

/// Listens to a record, and keeps the values of the fields that rules name.
pub(super) struct Capture<'c, 't, 'r> {
    pub(super) table: &'c Table<'t, 'r>,
    pub(super) classes: &'c mut Classes<'r>,
    pub(super) values: &'c mut [ValueSlot],
    pub(super) texts: &'c mut Texts,
    /// The number of the event.
    pub(super) number: u32,
    /// The rules of its class.
    pub(super) matches: Range<u32>,
    /// The number of fields that rules name and that were not told yet.
    pub(super) left: u32,
    pub(super) failed: Result<()>,
}

impl Capture<'_, '_, '_> {
    #[inline]
    fn set(&mut self, slot: Slot, value: Value) {
        let Some(field) = self.classes.fields.slots().get(slot.index()) else { return };
        let names = [field.name, field.context];
        if names == [NO_FIELD; 2] {
            return;
        }
        self.left = self.left.saturating_sub(1);
        for name in names {
            if name != NO_FIELD
                && let Some(to) = self.values.get_mut(usize::try_from(name).unwrap_or(usize::MAX))
            {
                *to = ValueSlot::new(value, self.number);
            }
        }
    }
}

impl Listener for Capture<'_, '_, '_> {
    fn begin(&mut self, head: &Head, class: &dyn Class) -> Wants {
        let at = head.class.index();
        if self.classes.known(at).is_none() {
            self.failed = self.classes.learn(self.table, class);
        }
        self.matches = self.classes.known(at).unwrap_or(0..0);
        if self.matches.is_empty() {
            return Wants::NOTHING;
        }
        self.texts.truncate(0);
        self.left = self.classes.named(at);
        Wants::ALL.without(Scope::Header)
    }

    fn abandon(&mut self) {
        self.matches = 0..0;
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.left == 0
    }

    fn unsigned(&mut self, slot: Slot, value: u64) {
        self.set(slot, Value::Unsigned(value));
    }

    fn signed(&mut self, slot: Slot, value: i64) {
        self.set(slot, Value::Signed(value));
    }

    fn boolean(&mut self, slot: Slot, value: bool) {
        self.set(slot, Value::Boolean(value));
    }

    fn wide(&mut self, slot: Slot, value: Wide<'_>) {
        self.text_of(slot, &value);
    }

    fn text(&mut self, slot: Slot, value: Text<'_>) {
        if !self.is_named(slot) {
            return;
        }
        match value {
            Text::Utf8(bytes) if bytes.len() <= TEXT_MAX && self.texts.push_ascii(bytes) => {
                self.set(slot, Value::Text(self.texts.len().saturating_sub(bytes.len()), self.texts.len()));
            }
            Text::Utf8(bytes) => match core::str::from_utf8(bytes) {
                Ok(text) => {
                    let first = self.texts.len();
                    self.texts.push(text.get(..floor(text, TEXT_MAX)).unwrap_or_default());
                    self.set(slot, Value::Text(first, self.texts.len()));
                }
                Err(_) => self.text_of(slot, &value),
            },
            _ => self.text_of(slot, &value),
        }
    }
}

/// Listens to the beginning of a record, and learns that its class occurs.
pub(super) struct Learning<'c, 't, 'r> {
    pub(super) table: &'c Table<'t, 'r>,
    pub(super) classes: &'c mut Classes<'r>,
    pub(super) failed: Result<()>,
}

impl Listener for Learning<'_, '_, '_> {
    fn begin(&mut self, head: &Head, class: &dyn Class) -> Wants {
        if !self.classes.has_name(head.class.index()) {
            self.failed = self.classes.learn_name(self.table, class);
        }
        Wants::NOTHING
    }
}

impl Capture<'_, '_, '_> {
    /// True if rules name the field.
    fn is_named(&self, slot: Slot) -> bool {
        let named = self.classes.fields.slots().get(slot.index());
        named.is_some_and(|field| field.name != NO_FIELD || field.context != NO_FIELD)
    }

    fn text_of(&mut self, slot: Slot, text: &dyn Display) {
        if self.is_named(slot) {
            let first = self.texts.len();
            // A scratch takes all that is written to it.
            let _ = write!(self.texts, "{text}");
            self.set(slot, Value::Text(first, self.texts.len()));
        }
    }
}
