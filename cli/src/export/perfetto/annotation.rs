//! Records as debug annotations: a listener.
//!
//! The fields of a group or list lie in the message around it, whose length stands before it: in four bytes, which are
//! filled in when it ends. Protocol Buffers allow a length with leading zeros.

use super::message::{self, BYTES, FIXED64, Message, VARINT};
use super::names::Names;
use crate::output::push_start;
use crate::record::{Buffer, Spelling, Tables};
use traceglass::record::{Class, Head, Hint, Listener, Record, Scope, Slot, Text, Wants, Wide};

/// Fields of `DebugAnnotation`.
const NAME_IID: u32 = 1;
const BOOL: u32 = 2;
const UINT: u32 = 3;
const INT: u32 = 4;
const DOUBLE: u32 = 5;
const STRING: u32 = 6;
const NAME: u32 = 10;
const DICT_ENTRIES: u32 = 11;
const ARRAY_VALUES: u32 = 12;

/// `TrackEvent.debug_annotations`, and `InternedData.debug_annotation_names`.
const DEBUG_ANNOTATIONS: u32 = 4;
const DEBUG_ANNOTATION_NAMES: u32 = 3;

/// The tag of a field with a number up to 15.
const fn tag(field: u32, kind: u32) -> u8 {
    (field << 3 | kind) as u8
}

/// Adds an annotation of text to an event.
pub fn note(event: &mut Message, name: &str, text: &str) {
    let mut message = Message::default();
    message.text(NAME, name).text(STRING, text);
    event.nested(DEBUG_ANNOTATIONS, message.bytes());
}

/// The same of a number.
pub fn note_number(event: &mut Message, name: &str, number: u64) {
    let mut message = Message::default();
    message.text(NAME, name).uint(UINT, number);
    event.nested(DEBUG_ANNOTATIONS, message.bytes());
}

/// Writes records, in room that is kept.
pub struct Annotations {
    buffer: Buffer,
    tables: Tables<Interned>,
    /// For each level around what comes next: where its content begins, and the field that this is in.
    levels: Vec<(usize, u32)>,
    /// The field that the next annotation is in.
    field: u32,
    /// The name of the next value, if it comes with the record, as it is referred to.
    key: Option<Vec<u8>>,
    text: String,
    /// The number of bytes of text the record may have besides.
    left: usize,
}

/// Names as they are referred to.
#[derive(Default)]
struct Interned {
    names: Names,
    /// The annotations that are new.
    new: Message,
}

impl Spelling for Interned {
    type Class = ();
    const VALUE: &'static str = "value";
    const LABELS: fn(&str, &[&str]) -> Vec<u8> = labels;
    const LABEL: fn(&str, &[&str]) -> Vec<u8> = label;

    fn class(&mut self, _: &dyn Class, _: &[Scope]) {}

    fn field(&mut self, name: &str) -> Vec<u8> {
        let mut text = Message::default();
        match self.names.number(name, DEBUG_ANNOTATION_NAMES, &mut self.new) {
            Some(number) => text.uint(NAME_IID, number),
            None => text.text(NAME, name),
        };
        text.bytes().to_vec()
    }
}

/// The annotation beside a number that has labels: `state_labels: RUNNING`.
fn labels(name: &str, labels: &[&str]) -> Vec<u8> {
    if name.is_empty() {
        return Vec::new();
    }
    let mut message = Message::default();
    message.text(NAME, &format!("{name}_labels")).text(STRING, &labels.join("|"));
    message.bytes().to_vec()
}

/// The label that stands for a number.
fn label(_: &str, labels: &[&str]) -> Vec<u8> {
    let mut message = Message::default();
    message.text(STRING, &labels.join("|"));
    message.bytes().to_vec()
}

impl Default for Annotations {
    fn default() -> Self {
        Self {
            buffer: Buffer::default(),
            tables: Tables::new(Interned::default()),
            levels: Vec::new(),
            field: DEBUG_ANNOTATIONS,
            key: None,
            text: String::new(),
            left: 0,
        }
    }
}

impl Annotations {
    /// Writes what a record says into `event`; names that are new are defined in `interned`. The texts of the record
    /// have no more than so many bytes.
    ///
    /// Nothing is written of one that cannot be read: the source itself reports the damage.
    pub fn write(&mut self, record: &impl Record, limit: usize, event: &mut Message, interned: &mut Message) {
        self.buffer.clear();
        self.levels.clear();
        (self.field, self.left, self.key) = (DEBUG_ANNOTATIONS, limit, None);
        // Of what cannot be read there is nothing left.
        let _ = record.tell(self);
        event.append(self.buffer.text());
        let new = &mut self.tables.spelling().new;
        interned.append(new.bytes());
        new.clear();
    }

    /// Begins an annotation: what `put` writes is its value.
    #[inline(always)]
    fn value(&mut self, slot: Slot, put: impl FnOnce(&mut Buffer)) {
        let start = self.begin_annotation(slot);
        put(&mut self.buffer);
        self.close(start);
    }

    /// Puts the tag, room for the length, and the name of what comes next; returns where its content begins.
    #[inline(always)]
    fn begin_annotation(&mut self, slot: Slot) -> usize {
        self.buffer.first(&[tag(self.field, BYTES), 0, 0, 0, 0, 0, 0, 0], 5);
        let start = self.buffer.mark();
        if self.key.is_some() {
            self.put_key();
        } else if let Some(field) = self.tables.field(slot) {
            field.put(&mut self.buffer);
        }
        start
    }

    #[cold]
    fn put_key(&mut self) {
        self.buffer.put(&self.key.take().unwrap_or_default());
    }

    /// Fills in the length of what began at `start`.
    #[inline(always)]
    fn close(&mut self, start: usize) {
        let len = self.buffer.mark().saturating_sub(start);
        if len >> 28 > 0 {
            // Four bytes have seven bits each. Nobody looks at a value of 256 MiB in a viewer.
            return self.buffer.truncate(start.saturating_sub(5));
        }
        let bits = |shift: u32| (len >> shift) as u8 & 0x7f;
        let text = [bits(0) | 0x80, bits(7) | 0x80, bits(14) | 0x80, bits(21)];
        self.buffer.patch(start.saturating_sub(4), &text);
    }

    /// Begins a group or a list, whose content is in this field.
    fn open(&mut self, slot: Slot, field: u32) {
        let start = self.begin_annotation(slot);
        self.levels.push((start, self.field));
        self.field = field;
    }

    fn end_level(&mut self) {
        if let Some((start, field)) = self.levels.pop() {
            self.close(start);
            self.field = field;
        }
    }

    #[inline(always)]
    fn number(&mut self, slot: Slot, value: i128, put: impl Fn(&mut Buffer)) {
        match self.tables.field(slot).is_some_and(|field| field.labels.is_some()) {
            true => self.labelled(slot, value, put),
            false => self.value(slot, put),
        }
    }

    #[inline(never)]
    fn labelled(&mut self, slot: Slot, value: i128, put: impl Fn(&mut Buffer)) {
        let field = self.tables.field(slot);
        let Some(labels) = field.and_then(|field| field.labels.as_ref()) else { return };
        let has_label_alone = field.is_some_and(|field| field.hint == Hint::Label);
        let beside = labels.get(value);
        match (has_label_alone, beside.is_empty()) {
            (_, true) => self.value(slot, put),
            (true, false) => {
                let label = beside.into_owned();
                self.value(slot, |buffer| buffer.put(&label));
            }
            (false, false) => {
                // The value comes first, and the labels are of the same tables: they are looked up again.
                self.value(slot, put);
                let labels = self.tables.field(slot).and_then(|field| field.labels.as_ref());
                let Some(labels) = labels else { return };
                let beside = labels.get(value);
                self.buffer.byte(tag(self.field, BYTES));
                varint(&mut self.buffer, beside.len() as u64);
                self.buffer.put(&beside);
            }
        }
    }

    /// Puts text as a value of its own.
    fn string(&mut self, slot: Slot, text: &str) {
        self.value(slot, |buffer| string(buffer, text));
    }
}

#[inline(always)]
fn varint(to: &mut Buffer, value: u64) {
    let (number, len) = message::varint(value);
    to.first(&number.to_le_bytes(), len as usize);
}

fn string(to: &mut Buffer, text: &str) {
    to.byte(tag(STRING, BYTES));
    varint(to, text.len() as u64);
    to.put(text.as_bytes());
}

impl Listener for Annotations {
    fn begin(&mut self, head: &Head, class: &dyn Class) -> Wants {
        self.tables.class(head.class, class);
        Wants::ALL.without(Scope::Header)
    }

    fn abandon(&mut self) {
        self.buffer.truncate(0);
        self.levels.clear();
    }

    /// Contexts are groups of their own; what the record is about is beside them.
    fn scope(&mut self, scope: Scope) {
        if let (Scope::CommonContext | Scope::SpecificContext, Some(name)) = (scope, scope.name()) {
            self.key = Some(self.tables.spelling().field(name));
            self.open(Slot(u32::MAX), DICT_ENTRIES);
        }
    }

    fn end_scope(&mut self) {
        self.end_level();
    }

    fn group(&mut self, slot: Slot) {
        self.open(slot, DICT_ENTRIES);
    }

    fn end_group(&mut self) {
        self.end_level();
    }

    fn list(&mut self, slot: Slot, _: Option<u64>) {
        self.open(slot, ARRAY_VALUES);
    }

    fn end_list(&mut self) {
        self.end_level();
    }

    fn key(&mut self, name: Text<'_>) {
        let mut key = std::mem::take(&mut self.text);
        key.clear();
        push_start(&mut key, name, crate::output::NAME_MAX);
        self.key = Some(self.tables.spelling().field(&key));
        self.text = key;
    }

    fn unsigned(&mut self, slot: Slot, value: u64) {
        let is_address = self.tables.field(slot).is_some_and(|field| field.hint == Hint::Address);
        self.number(slot, value.into(), |buffer| {
            if is_address {
                return string(buffer, &format!("{value:#x}"));
            }
            buffer.byte(tag(UINT, VARINT));
            varint(buffer, value);
        });
    }

    fn signed(&mut self, slot: Slot, value: i64) {
        self.number(slot, value.into(), |buffer| {
            buffer.byte(tag(INT, VARINT));
            varint(buffer, value.cast_unsigned());
        });
    }

    fn wide(&mut self, slot: Slot, value: Wide<'_>) {
        let is_address = self.tables.field(slot).is_some_and(|field| field.hint == Hint::Address);
        let text = match value.words {
            [] if is_address => format!("{:#x}", value.low),
            _ => value.to_string(),
        };
        match value.to_i128() {
            Some(known) => self.number(slot, known, |buffer| string(buffer, &text)),
            None => self.string(slot, &text),
        }
    }

    fn boolean(&mut self, slot: Slot, value: bool) {
        self.value(slot, |buffer| buffer.put(&[tag(BOOL, VARINT), value.into()]));
    }

    fn float(&mut self, slot: Slot, value: f64) {
        self.value(slot, |buffer| {
            buffer.byte(tag(DOUBLE, FIXED64));
            buffer.put(&value.to_bits().to_le_bytes());
        });
    }

    fn text(&mut self, slot: Slot, value: Text<'_>) {
        if let Text::Utf8(bytes) = value
            && bytes.is_ascii()
            && bytes.len() <= self.left
        {
            self.left = self.left.saturating_sub(bytes.len());
            return self.value(slot, |buffer| {
                buffer.byte(tag(STRING, BYTES));
                varint(buffer, bytes.len() as u64);
                buffer.put(bytes);
            });
        }
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        push_start(&mut text, value, self.left);
        self.left = self.left.saturating_sub(text.len());
        self.string(slot, &text);
        self.text = text;
    }

    fn bytes(&mut self, slot: Slot, value: &[u8]) {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        crate::output::push_hex(&mut text, value);
        self.string(slot, &text);
        self.text = text;
    }

    /// A name without a value.
    fn absent(&mut self, slot: Slot) {
        self.value(slot, |_| {});
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceglass::record::{FieldInfo, Fixed, FixedClass, Kind};

    const NUMBER: Kind = Kind::Unsigned { bits: 64 };
    static CLASS: Fixed = Fixed::new(
        "all",
        &[
            FieldInfo::new(&"state", NUMBER).labels(&|each| each(&"IDLE", 0, 0)),
            FieldInfo::new(&"owner", NUMBER).labels(&|each| each(&"KMD", 0, 0)).hint(Hint::Label),
            FieldInfo::new(&"hash", NUMBER).hint(Hint::Address),
            FieldInfo::new(&"list", Kind::List),
            FieldInfo::unnamed(Kind::Text),
            Fixed::END,
            FieldInfo::new(&"map", Kind::Map),
            FieldInfo::unnamed(Kind::Any),
            Fixed::END,
        ],
    );

    struct All(u64, bool);

    impl Record for All {
        fn tell<L: Listener>(&self, to: &mut L) -> traceglass::Result<()> {
            let class = FixedClass::new(0, &CLASS);
            to.begin(&class.head(None, 0), &class);
            to.scope(Scope::Fields);
            (0..3).for_each(|place| to.unsigned(class.slot(place), self.0));
            to.list(class.slot(3), None);
            to.text(class.slot(4), Text::new("abcdef"));
            to.end_list();
            to.group(class.slot(6));
            to.key(Text::new("k"));
            to.signed(class.slot(7), -1);
            if self.1 {
                to.abandon();
                return Ok(());
            }
            to.end_group();
            to.end_scope();
            to.end();
            Ok(())
        }
    }

    /// An annotation, and those in it, as it is read back.
    fn show(mut bytes: &[u8], names: &[&str]) -> String {
        fn varint(bytes: &mut &[u8]) -> u64 {
            let mut value = 0;
            for shift in (0..).step_by(7) {
                let byte = bytes[0];
                *bytes = &bytes[1..];
                value |= u64::from(byte & 0x7f) << shift;
                if byte < 0x80 {
                    break;
                }
            }
            value
        }
        let mut shown = String::new();
        while !bytes.is_empty() {
            let tag = varint(&mut bytes);
            let number = varint(&mut bytes);
            let mut nested = || {
                let (inner, rest) = bytes.split_at(number as usize);
                bytes = rest;
                inner
            };
            shown += &match ((tag >> 3) as u32, (tag & 7) as u32) {
                (NAME_IID, VARINT) => format!("{}:", names[number as usize - 1]),
                (NAME, BYTES) => format!("'{}':", String::from_utf8_lossy(nested())),
                (STRING, BYTES) => format!("\"{}\"", String::from_utf8_lossy(nested())),
                (UINT, VARINT) => format!("{number}"),
                (INT, VARINT) => format!("{}", number.cast_signed()),
                (DEBUG_ANNOTATIONS, BYTES) => format!("{} ", show(nested(), names)),
                (DICT_ENTRIES, BYTES) => format!("{{{}}}", show(nested(), names)),
                (ARRAY_VALUES, BYTES) => format!("[{}]", show(nested(), names)),
                other => panic!("{other:?}"),
            };
        }
        shown
    }

    #[test]
    fn records_are_annotations() {
        let mut annotations = Annotations::default();
        let names = ["state", "owner", "hash", "list", "map", "k"];
        let (mut event, mut interned) = (Message::default(), Message::default());
        for round in 0..2 {
            annotations.write(&All(0, false), 100, &mut event, &mut interned);
            assert_eq!(
                show(event.bytes(), &names),
                "state:0 'state_labels':\"IDLE\" owner:\"KMD\" hash:\"0x0\" list:[\"abcdef\"] map:{k:-1} "
            );
            // Names are defined once.
            assert_eq!(interned.is_empty(), round > 0);
            event.clear();
            interned.clear();
        }
        annotations.write(&All(7, false), 3, &mut event, &mut interned);
        let shown = show(event.bytes(), &names);
        assert_eq!(shown, "state:7 owner:7 hash:\"0x7\" list:[\"abc…\"] map:{k:-1} ");
        event.clear();
        annotations.write(&All(7, true), 100, &mut event, &mut interned);
        assert!(event.is_empty(), "nothing is written of a record that was taken back");
    }
}
