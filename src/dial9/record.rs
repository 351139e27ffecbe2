//! Events as records: the one place that says what their fields are.

use super::element::CLASS;
use super::event::TAG;
use super::frames::{EventHead, Frames};
use super::kind::{FieldType, OPTIONAL};
use super::schema::{FieldDef, NUMBERED, Schema};
use super::size::{self, DEPTH};
use super::storage::Storage;
use super::tokio;
use super::value::{Value, Values};
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::gap::Gap;
use crate::record::{
    Class, ClassId, Fact, FieldInfo, Head, Hint, Kind, Listener, Scope, Slot, Source, Step, Text, Time,
};
use crate::varint;
use core::fmt::{self, Display};

/// The events of a trace as records, in the order of the input.
///
/// Their times count from the origin of the writer's monotonic clock. Pooled text and stacks are told as what they
/// refer to. A reference to nothing is text that says so, or an absent stack.
///
/// Each event is read once, while it is told. After damage it [recovers](Frames::recover).
///
/// ```
/// use traceglass::dial9::{ClassSlot, Records, SchemaSlot, Storage};
/// use traceglass::record::{Nobody, Source as _};
/// # let file = b"TRC\0\x01\x01\x07\0\x0c\0PollEndEvent\x01\x01\0\x09\0worker_id\x09\
/// #     \x05\x40\x42\x0f\0\0\0\0\0\x02\x07\0\x05\0\0\x01";
///
/// let (mut schemas, mut classes) = ([SchemaSlot::EMPTY; 64], [ClassSlot::EMPTY; 256]);
/// let mut records = Records::new(file, Storage::new(&mut schemas).classes(&mut classes));
/// while let Some(head) = records.peek()? {
///     assert_eq!(head.time.unwrap().ns(), 1_000_005);
///     records.tell(&mut Nobody)?;
/// }
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Debug)]
pub struct Records<'a, 's> {
    frames: Frames<'a, 's>,
    head: Option<(Head, EventHead)>,
    gap: Option<Gap>,
}

impl<'a, 's> Records<'a, 's> {
    /// The records of a trace. [Classes](Storage::classes) must be lent.
    pub fn new(data: &'a [u8], storage: Storage<'s>) -> Self {
        Self { frames: Frames::new(data, storage), head: None, gap: None }
    }

    /// The frames that it reads, with the schemas and pools as they are at the record whose head was seen last.
    pub const fn frames(&self) -> &Frames<'a, 's> {
        &self.frames
    }

    /// What the last error cost.
    pub fn take_gap(&mut self) -> Option<Gap> {
        self.gap.take()
    }

    /// Tells the next record, and returns whether there was one: for those who need not see heads first.
    ///
    /// # Errors
    /// As of [`peek`](Source::peek) and [`tell`](Source::tell).
    #[inline]
    pub fn tell_next<L: Listener>(&mut self, to: &mut L) -> Result<bool> {
        // Most of what follows an event is an event: nothing is put aside.
        if self.head.is_none()
            && self.frames.is_at(TAG)
            && let Some(event) = self.frames.event_head()
            && let Some(class) = event.class
        {
            let head = self.head_of(&event, class);
            return self.tell_event(&head, &event, class, to).map(|()| true);
        }
        if self.peek()?.is_none() {
            return Ok(false);
        }
        self.tell(to).map(|()| true)
    }

    #[inline(always)]
    fn head_of(&self, event: &EventHead, class: (u32, u32)) -> Head {
        let time = event.time.map(|ns| Time::since_origin(ns.into()));
        Head { class: ClassId(class.0), time, offset: self.frames.offset(), bit: 0, len: None }
    }

    /// Goes on after damage. Storage that is too small is no damage: what follows would need it, too.
    #[cold]
    fn failed(&mut self, error: Error) -> Error {
        if !matches!(error.kind(), ErrorKind::CapacityExceeded { .. }) {
            self.gap = self.frames.recover();
        }
        error
    }

    /// Reads up to the next event and its time.
    #[inline]
    fn next_head(&mut self) -> Result<Option<(Head, EventHead)>> {
        while !self.frames.is_at(TAG) {
            match self.frames.next_frame() {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(None),
                Err(error) => return Err(self.failed(error)),
            }
        }
        let Some(event) = self.frames.event_head() else {
            let error = self.frames.failed_event();
            return Err(self.failed(error));
        };
        let Some(class) = event.class else {
            let kind = ErrorKind::CapacityExceeded { capacity: 0, needed: 1 };
            return Err(Error::new(self.frames.offset(), CLASS, kind));
        };
        Ok(Some((self.head_of(&event, class), event)))
    }

    #[inline(always)]
    fn tell_event<L: Listener>(
        &mut self,
        head: &Head,
        event: &EventHead,
        (_, fields_before): (u32, u32),
        to: &mut L,
    ) -> Result<()> {
        let schema = Schema::at(self.frames.data(), event.place);
        let first_slot = fields_before.wrapping_mul(SLOTS);
        let class = EventClass { records: self, id: head.class, schema, first_slot };
        let wants = to.begin(head, &class);
        let end = if wants.has(Scope::Fields) {
            to.scope(Scope::Fields);
            self.tell_fields(event, &schema, first_slot, to)
        } else {
            self.frames.end_of_event()
        };
        let Some(end) = end.filter(|end| *end <= self.frames.data().len()) else {
            to.abandon();
            let error = self.frames.failed_event();
            return Err(self.failed(error));
        };
        self.frames.pass_event(end, event.time);
        if wants.has(Scope::Fields) {
            to.end_scope();
        }
        to.end();
        Ok(())
    }

    /// Tells the fields, and returns where they end; `None` if one cannot be read.
    #[inline(always)]
    fn tell_fields<L: Listener>(
        &self,
        event: &EventHead,
        schema: &Schema<'a>,
        slot: u32,
        to: &mut L,
    ) -> Option<usize> {
        let (mut at, mut slot) = (event.values_at, slot);
        for &number in event.numbers.iter().take(event.place.count.into()) {
            if to.is_full() {
                return self.frames.end_of_event();
            }
            at = self.tell_field(Slot(slot), at, number, to)?;
            slot = slot.wrapping_add(SLOTS);
        }
        if usize::from(event.place.count) > NUMBERED {
            self.tell_rest(schema, at, slot, to)
        } else {
            Some(at)
        }
    }

    /// As [`Self::tell_fields`], of those whose types are not in the plan.
    #[inline(never)]
    fn tell_rest<L: Listener>(
        &self,
        schema: &Schema<'a>,
        mut at: usize,
        mut slot: u32,
        to: &mut L,
    ) -> Option<usize> {
        for def in schema.fields().skip(NUMBERED) {
            if to.is_full() {
                return self.frames.end_of_event();
            }
            at = self.tell_field(Slot(slot), at, def.number(), to)?;
            slot = slot.wrapping_add(SLOTS);
        }
        Some(at)
    }

    /// Tells the value at `at`, and returns where it ends; `None` if it cannot be read.
    #[inline(always)]
    fn tell_field<L: Listener>(&self, slot: Slot, at: usize, number: u8, to: &mut L) -> Option<usize> {
        let data = self.frames.data();
        match number {
            VARINT => match data.get(at) {
                Some(&byte) if byte < 0x80 => {
                    to.unsigned(slot, byte.into());
                    Some(at.wrapping_add(1))
                }
                _ => {
                    let (value, len) = varint::read_u64_long(data.get(at..)?);
                    to.unsigned(slot, value);
                    (len > 0).then_some(at.wrapping_add(len))
                }
            },
            POOLED_STRING => {
                self.tell_string(slot, size::number(data, at)?, to);
                Some(at.wrapping_add(4))
            }
            U8 => {
                to.unsigned(slot, u64::from(*data.get(at)?));
                Some(at.wrapping_add(1))
            }
            number => self.tell_other(slot, at, number, to),
        }
    }

    /// As [`Self::tell_field`], of the types that are not the most frequent ones.
    #[inline(never)]
    fn tell_other<L: Listener>(&self, slot: Slot, mut at: usize, number: u8, to: &mut L) -> Option<usize> {
        let data = self.frames.data();
        if number & OPTIONAL != 0 {
            let present = *data.get(at)? != 0;
            at = at.wrapping_add(1);
            if !present {
                to.absent(slot);
                return Some(at);
            }
        }
        let kind = FieldType::from_number(number & !OPTIONAL)?;
        let end = size::end(data, at, kind).filter(|end| *end <= data.len())?;
        self.tell_value(slot, Value::read(data, at, kind)?.0, to);
        Some(end)
    }

    #[inline]
    fn tell_string<L: Listener>(&self, slot: Slot, id: u32, to: &mut L) {
        match self.frames.string(id) {
            Some(text) => to.text(slot, Text::Utf8(text)),
            None => to.text(
                slot,
                Text::Other {
                    text: &format_args!("pooled string {id}"),
                    stored: &id.to_le_bytes(),
                    is_valid: false,
                },
            ),
        }
    }

    /// Tells a value: what is in it, if anything, has the slot of elements.
    fn tell_value<L: Listener>(&self, slot: Slot, value: Value<'a>, to: &mut L) {
        let element = Slot(slot.0.wrapping_add(1));
        match value {
            Value::List(_) | Value::Map(_) => self.tell_nested(slot, element, value, to),
            flat => self.tell_flat(slot, element, flat, to),
        }
    }

    /// The same of what is no list and no map of any values.
    fn tell_flat<L: Listener>(&self, slot: Slot, element: Slot, value: Value<'a>, to: &mut L) {
        let stack = match value {
            Value::Stack(stack) => Some(stack),
            Value::PooledStack(id) => self.frames.stack(id),
            _ => None,
        };
        match value {
            Value::Stack(_) | Value::PooledStack(_) => match stack {
                Some(stack) => {
                    to.list(slot, Some(to_u64(stack.len())));
                    stack.addresses().for_each(|address| to.unsigned(element, address));
                    to.end_list();
                }
                None => to.absent(slot),
            },
            Value::StringMap(map) => {
                to.group(slot);
                for (key, value) in map.pairs() {
                    to.key(Text::Utf8(key));
                    to.text(element, Text::Utf8(value));
                }
                to.end_group();
            }
            Value::PooledString(id) => self.tell_string(slot, id, to),
            Value::I64(value) => to.signed(slot, value),
            Value::F64(value) => to.float(slot, value),
            Value::Bool(value) => to.boolean(slot, value),
            Value::String(text) => to.text(slot, Text::Utf8(text)),
            Value::Bytes(bytes) => to.bytes(slot, bytes),
            other => to.unsigned(slot, other.unsigned().unwrap_or_default()),
        }
    }

    /// Tells a list or a map and all that is in it, without calling itself.
    fn tell_nested<L: Listener>(&self, slot: Slot, element: Slot, value: Value<'a>, to: &mut L) {
        // What follows on each level; of a map, whether a key does.
        let mut levels: [Option<(Values<'a>, bool, bool)>; DEPTH] = [const { None }; DEPTH];
        let (mut depth, mut value, mut slot) = (0_usize, value, slot);
        loop {
            let opened = match value {
                Value::List(list) => {
                    to.list(slot, Some(list.len()));
                    Some((list.values(), false, false))
                }
                Value::Map(map) => {
                    to.group(slot);
                    Some((map.values(), true, true))
                }
                flat => {
                    self.tell_flat(slot, element, flat, to);
                    None
                }
            };
            if let Some(opened) = opened
                && let Some(level) = levels.get_mut(depth)
            {
                *level = Some(opened);
                depth = depth.saturating_add(1);
            }
            slot = element;
            loop {
                let top = depth.checked_sub(1).and_then(|top| levels.get_mut(top));
                let Some(Some((values, is_map, key_follows))) = top else { return };
                let Some(next) = values.next() else {
                    if *is_map {
                        to.end_group();
                    } else {
                        to.end_list();
                    }
                    depth = depth.saturating_sub(1);
                    continue;
                };
                if *key_follows {
                    *key_follows = false;
                    self.tell_key(next, to);
                    continue;
                }
                *key_follows = *is_map;
                value = next;
                break;
            }
        }
    }

    /// The key of a map: text, or another value as text.
    fn tell_key<L: Listener>(&self, key: Value<'a>, to: &mut L) {
        let text = match key {
            Value::String(text) => Some(text),
            Value::PooledString(id) => self.frames.string(id),
            _ => None,
        };
        match text {
            Some(text) => to.key(Text::Utf8(text)),
            None => to.key(Text::Other { text: &Key(key), stored: &[], is_valid: true }),
        }
    }
}

impl Source for Records<'_, '_> {
    #[inline]
    fn peek(&mut self) -> Result<Option<&Head>> {
        if self.head.is_none() {
            self.head = self.next_head()?;
        }
        Ok(self.head.as_ref().map(|(head, _)| head))
    }

    #[inline]
    fn tell<L: Listener>(&mut self, to: &mut L) -> Result<()> {
        match self.head.take() {
            Some((head, event)) => {
                let class = event.class.unwrap_or_default();
                self.tell_event(&head, &event, class, to)
            }
            None => Ok(()),
        }
    }
}

/// The numbers of the most frequent types.
const VARINT: u8 = FieldType::Varint.number();
const POOLED_STRING: u8 = FieldType::PooledString.number();
const U8: u8 = FieldType::U8.number();

/// How many slots a field has: its own, and that of what is in it.
const SLOTS: u32 = 2;

/// The value of a key that is no text.
struct Key<'a>(Value<'a>);

impl Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |f: &mut fmt::Formatter<'_>, bytes: &[u8]| {
            bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
        };
        match self.0 {
            Value::I64(value) => value.fmt(f),
            Value::F64(value) => value.fmt(f),
            Value::Bool(value) => value.fmt(f),
            Value::String(bytes) => Text::Utf8(bytes).fmt(f),
            Value::Bytes(bytes) => hex(f, bytes),
            Value::PooledString(id) => write!(f, "pooled string {id}"),
            Value::PooledStack(id) => write!(f, "pooled stack {id}"),
            // As they are stored: nothing better is text.
            Value::Stack(stack) => hex(f, stack.as_slice()),
            Value::StringMap(map) => hex(f, map.as_slice()),
            Value::List(list) => hex(f, list.as_slice()),
            Value::Map(map) => hex(f, map.as_slice()),
            ref other => other.unsigned().unwrap_or_default().fmt(f),
        }
    }
}

/// What the events of a schema have in common.
struct EventClass<'r, 'a, 's> {
    records: &'r Records<'a, 's>,
    id: ClassId,
    schema: Schema<'a>,
    first_slot: u32,
}

impl Display for Schema<'_> {
    /// The name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Class for EventClass<'_, '_, '_> {
    fn id(&self) -> ClassId {
        self.id
    }

    fn name(&self) -> &dyn Display {
        &self.schema
    }

    fn clock(&self) -> Option<&dyn Display> {
        Some(&"monotonic")
    }

    fn facts(&self, each: &mut dyn FnMut(&'static str, Fact<'_>)) {
        each("kind", Fact::Text(&self.schema));
    }

    fn fields(&self, each: &mut dyn FnMut(Step<'_>)) {
        each(Step::Scope(Scope::Fields));
        let schema = self.schema;
        for (place, def) in (0_u16..).zip(schema.fields()) {
            let notes = self.records.frames.annotations(schema.type_id());
            let unit = notes.filter(|note| note.field() == place && note.key() == "unit").last();
            let slot = Slot(self.first_slot.wrapping_add(u32::from(place).wrapping_mul(SLOTS)));
            tell_field(&schema, &def, unit.map(|note| note.value()), slot, each);
        }
        each(Step::End);
    }
}

/// Tells what is constant about a field.
fn tell_field(
    schema: &Schema<'_>,
    def: &FieldDef<'_>,
    unit: Option<&str>,
    slot: Slot,
    each: &mut dyn FnMut(Step<'_>),
) {
    let (kind, element) = match def.field_type() {
        FieldType::I64 => (Kind::Signed { bits: 64 }, None),
        FieldType::F64 => (Kind::Float { bits: 64 }, None),
        FieldType::Bool => (Kind::Boolean, None),
        FieldType::String | FieldType::PooledString => (Kind::Text, None),
        FieldType::Bytes => (Kind::Bytes, None),
        FieldType::Varint => (Kind::Unsigned { bits: 64 }, None),
        FieldType::U8 => (Kind::Unsigned { bits: 8 }, None),
        FieldType::U16 => (Kind::Unsigned { bits: 16 }, None),
        FieldType::U32 => (Kind::Unsigned { bits: 32 }, None),
        FieldType::Stack | FieldType::PooledStack => {
            (Kind::List, Some(FieldInfo::unnamed(Kind::Unsigned { bits: 64 }).hint(Hint::Address)))
        }
        FieldType::StringMap => (Kind::Map, Some(FieldInfo::unnamed(Kind::Text))),
        FieldType::List => (Kind::List, Some(FieldInfo::unnamed(Kind::Any))),
        FieldType::Map => (Kind::Map, Some(FieldInfo::unnamed(Kind::Any))),
    };
    let name = def.name();
    let known = tokio::known_field(schema.name(), name);
    let (hint, unit) = match (unit, known) {
        (Some("ns"), _) => (Hint::Duration, None),
        (Some("bytes"), _) => (Hint::None, Some("B")),
        (Some(unit), _) => (Hint::None, Some(unit)),
        (None, Some(known)) => (known.hint, known.unit),
        (None, None) => (Hint::None, None),
    };
    let labels = |each: &mut dyn FnMut(&dyn Display, i128, i128)| {
        for (number, label) in known.map_or(&[][..], |known| known.labels) {
            each(label, i128::from(*number), i128::from(*number));
        }
    };
    let has_labels = known.is_some_and(|known| !known.labels.is_empty());
    let info = FieldInfo {
        slot,
        name: Some(&name),
        kind,
        hint,
        unit,
        labels: has_labels.then_some(&labels),
        label_set: None,
    };
    each(Step::Field(info));
    if let Some(element) = element {
        each(Step::Field(FieldInfo { slot: Slot(slot.0.wrapping_add(1)), ..element }));
        each(Step::End);
    }
}
