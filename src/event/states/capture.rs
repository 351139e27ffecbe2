//! The fields of an event that rules name, as its record tells them.

use super::classes::{ClassSlot, FieldSlot, NO_FIELD};
use super::text::floor;
use super::value::{TEXT_MAX, Texts, Value, ValueSlot};
use crate::record::{Class, Head, Listener, Scope, Slot, Text, Wants, Wide};
use core::fmt::{Display, Write as _};
use core::ops::Range;

/// Listens to a record, and keeps the values of the fields that rules name.
pub(super) struct Capture<'c> {
    pub(super) classes: &'c [ClassSlot],
    pub(super) fields: &'c [FieldSlot],
    pub(super) values: &'c mut [ValueSlot],
    pub(super) texts: &'c mut Texts,
    /// The number of the event.
    pub(super) number: u32,
    /// The rules of its class; `None` if that is not known yet.
    pub(super) matches: Option<Range<u32>>,
    /// The number of fields that rules name and that were not told yet.
    pub(super) left: u32,
}

impl Capture<'_> {
    /// The numbers of a field's names, if rules name it.
    #[inline]
    fn names_of(&self, slot: Slot) -> Option<[u32; 2]> {
        let field = self.fields.get(slot.index())?;
        let names = [field.name, field.context];
        (names != [NO_FIELD; 2]).then_some(names)
    }

    #[inline]
    fn set(&mut self, slot: Slot, value: Value) {
        if let Some(names) = self.names_of(slot) {
            self.keep(names, value);
        }
    }

    #[inline]
    fn keep(&mut self, names: [u32; 2], value: Value) {
        self.left = self.left.saturating_sub(1);
        for name in names {
            if let Some(to) = usize::try_from(name).ok().and_then(|name| self.values.get_mut(name)) {
                *to = ValueSlot::new(value, self.number);
            }
        }
    }

    /// Keeps what has been put to the texts.
    fn keep_text(&mut self, names: [u32; 2], first: usize) {
        self.keep(names, Value::Text(first, self.texts.len()));
    }

    fn text_of(&mut self, slot: Slot, text: &dyn Display) {
        if let Some(names) = self.names_of(slot) {
            let first = self.texts.len();
            // A scratch takes all that is written to it.
            let _ = write!(self.texts, "{text}");
            self.keep_text(names, first);
        }
    }
}

impl Listener for Capture<'_> {
    fn begin(&mut self, head: &Head, _: &dyn Class) -> Wants {
        self.matches = None;
        let Some(class) = self.classes.get(head.class.index()).filter(|class| class.is_known) else {
            return Wants::NOTHING;
        };
        self.matches = Some(class.matches());
        if class.len == 0 {
            return Wants::NOTHING;
        }
        self.texts.truncate(0);
        self.left = class.named;
        Wants::ALL.without(Scope::Header)
    }

    fn abandon(&mut self) {
        self.matches = Some(0..0);
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
        let Some(names) = self.names_of(slot) else { return };
        let first = self.texts.len();
        match value {
            Text::Utf8(bytes) if bytes.len() <= TEXT_MAX && self.texts.push_ascii(bytes) => {}
            Text::Utf8(bytes) => match core::str::from_utf8(bytes) {
                Ok(text) => self.texts.push(text.get(..floor(text, TEXT_MAX)).unwrap_or_default()),
                Err(_) => return self.text_of(slot, &value),
            },
            _ => return self.text_of(slot, &value),
        }
        self.keep_text(names, first);
    }
}

/// Listens to the beginning of a record, for its class.
pub(super) struct Meet<F>(pub(super) F);

impl<F: FnMut(&dyn Class)> Listener for Meet<F> {
    fn begin(&mut self, _: &Head, class: &dyn Class) -> Wants {
        (self.0)(class);
        Wants::NOTHING
    }
}
