//! Records, objects and callsites, described once for text, JSON, tables and events.

use super::callsite::Callsite;
use super::class::{Part, span_parts, task_parts, waker_parts};
use super::event::{Event, Waker};
use super::kind::RecordKind;
use super::list::List;
use super::named::Named;
use super::object::{Span, Task};
use super::site::Site;
use super::value::{Field, FieldValue, Parent};
use crate::error::Result;
use crate::record::{FixedClass, Head, Listener, Record, Scope, Slot, Text, Time, Wide};

/// The most bytes that are told of a name that was looked up, since it comes again with each record.
const NAME_MAX: usize = 256;

/// The place and the time of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    offset: u64,
    len: Option<u64>,
    seq_id: Option<u64>,
    micros: Option<u64>,
}

impl At {
    #[inline(always)]
    pub(crate) const fn new(offset: u64, end: Option<u64>, seq_id: Option<u64>, micros: Option<u64>) -> Self {
        let len = match end {
            Some(end) => Some(end.saturating_sub(offset)),
            None => None,
        };
        Self { offset, len, seq_id, micros }
    }
}

/// A record by what follows its time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum About<'a> {
    Iid(RecordKind, u64),
    Waker(RecordKind, Waker),
    Event(Event<'a>),
    Span(Span<'a>),
    Task(Task<'a>),
    Callsite(Callsite<'a>),
    End,
}

/// A record, an object or a callsite, with the names of what it refers to: it tells a listener all of it.
///
/// It is made by [`Names`](super::Names), and of a callsite by [`new`](Self::of_callsite).
///
/// # Layout
/// A field has the name that the document gives it. What is looked up is a field as well: `task` and `task_id`, `span`,
/// `location`, `context_task`, `parent_span`, of an event `name`, `target` and `level`. The values of a span or an event
/// have the names that the callsite has for them; those without one are `value 0`, `value 1` and so on. Of a name that
/// was looked up, the first 256 bytes are told, followed by `…` if that is not all.
///
/// # Units
/// `micros` are microseconds since the Unix epoch.
#[derive(Clone, Copy, Debug)]
pub struct NamedRecord<'n, 'a> {
    pub(super) at: At,
    pub(super) about: About<'a>,
    /// The task or span that it is about.
    pub(super) of: Option<&'n Named<'a>>,
    /// The task in which it happened; the parent of a span or an event.
    pub(super) context: Option<&'n Named<'a>>,
    pub(super) site: Option<&'n Site<'a>>,
}

/// A value of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Absent,
    Unsigned(u64),
    /// Text that stands in what is told.
    Own(&'a str),
    /// Text that was looked up.
    Found(&'a str),
    /// A file and a line.
    Place(&'a str, Option<u64>),
    Parent(Parent),
    /// Values, which have these names.
    Values,
    Dynamic,
    FieldNames,
    ConstFields,
}

impl<'n, 'a> NamedRecord<'n, 'a> {
    #[inline(always)]
    pub(super) const fn new(at: At, about: About<'a>) -> Self {
        Self { at, about, of: None, context: None, site: None }
    }

    /// The description of a callsite.
    pub const fn of_callsite(callsite: &Callsite<'a>) -> Self {
        Self::new(At::new(callsite.offset(), None, None, None), About::Callsite(*callsite))
    }

    /// The kind; of an object or a callsite, that which its record has in a stream.
    #[inline(always)]
    pub const fn kind(&self) -> RecordKind {
        match self.about {
            About::Iid(kind, _) | About::Waker(kind, _) => kind,
            About::Event(_) => RecordKind::Event,
            About::Span(_) => RecordKind::Span,
            About::Task(_) => RecordKind::Task,
            About::Callsite(_) => RecordKind::Callsite,
            About::End => RecordKind::End,
        }
    }

    /// The time in microseconds since the Unix epoch, if it has one.
    pub const fn unix_micros(&self) -> Option<u64> {
        self.at.micros
    }

    /// The task or span that it is about, if that is known.
    pub const fn named(&self) -> Option<&'n Named<'a>> {
        self.of
    }

    /// The value of a field.
    #[inline(always)]
    pub(crate) fn value(&self, part: Part) -> Value<'a> {
        let id = |id: Option<u64>| id.map_or(Value::Absent, Value::Unsigned);
        let found = |text: Option<&'a str>| text.map_or(Value::Absent, Value::Found);
        match part {
            Part::SeqId => id(self.at.seq_id),
            Part::Micros => id(self.at.micros),
            Part::Iid | Part::TaskIid => match &self.about {
                About::Iid(_, iid) => Value::Unsigned(*iid),
                About::Waker(_, waker) => Value::Unsigned(waker.task_iid()),
                About::Span(span) => Value::Unsigned(span.iid()),
                About::Task(task) => Value::Unsigned(task.iid()),
                _ => Value::Absent,
            },
            Part::Task => found(self.of.and_then(Named::task)),
            Part::TaskId => match &self.about {
                About::Task(task) => Value::Unsigned(task.task_id()),
                _ => id(self.of.and_then(|of| of.object().as_task()).map(|task| task.task_id())),
            },
            Part::Context => match &self.about {
                About::Waker(_, waker) => id(waker.context()),
                About::Task(task) => id(task.context()),
                _ => Value::Absent,
            },
            Part::ContextTask => found(self.context.and_then(Named::task)),
            Part::Span => match &self.about {
                About::Span(_) => found(self.site.and_then(Site::name)),
                _ => found(self.of.and_then(Named::span)),
            },
            Part::ParentSpan => found(self.context.and_then(Named::span)),
            Part::Location => match self.site.and_then(|site| Some((site.file()?, site.line()))) {
                Some((file, line)) => Value::Place(file, line),
                None => Value::Absent,
            },
            Part::CallsiteId => match &self.about {
                About::Event(event) => Value::Unsigned(event.callsite_id()),
                About::Span(span) => Value::Unsigned(span.callsite_id()),
                About::Task(task) => Value::Unsigned(task.callsite_id()),
                About::Callsite(callsite) => Value::Unsigned(callsite.id()),
                _ => Value::Absent,
            },
            Part::Parent => match &self.about {
                About::Event(event) => Value::Parent(event.parent()),
                About::Span(span) => Value::Parent(span.parent()),
                _ => Value::Absent,
            },
            Part::Name => match &self.about {
                About::Callsite(callsite) => own(callsite.name()),
                _ => found(self.site.and_then(Site::name)),
            },
            Part::Target => match &self.about {
                About::Callsite(callsite) => own(callsite.target()),
                _ => found(self.site.and_then(Site::target)),
            },
            Part::Level => match (&self.about, self.site) {
                (About::Callsite(callsite), _) => Value::Unsigned(callsite.level().number().into()),
                (_, Some(site)) => Value::Unsigned(site.level().number().into()),
                _ => Value::Absent,
            },
            Part::TaskName => match &self.about {
                About::Task(task) => Value::Own(task.name()),
                _ => Value::Absent,
            },
            Part::TaskKind => match &self.about {
                About::Task(task) => Value::Own(task.kind().name()),
                _ => Value::Absent,
            },
            Part::CallsiteKind | Part::ModulePath | Part::File | Part::Line => {
                let About::Callsite(callsite) = &self.about else { return Value::Absent };
                match part {
                    Part::CallsiteKind => Value::Own(callsite.kind().name()),
                    Part::ModulePath => own(callsite.module_path()),
                    Part::File => own(callsite.file()),
                    _ => id(callsite.line()),
                }
            }
            Part::Values => Value::Values,
            Part::Dynamic => Value::Dynamic,
            Part::FieldNames => Value::FieldNames,
            Part::ConstFields => Value::ConstFields,
            Part::Element | Part::End => Value::Absent,
        }
    }

    /// The values of the fields that the callsite names, and their names.
    pub(crate) fn values(&self) -> Values<'a> {
        let span = self.span();
        let values = match &self.about {
            About::Event(event) => Some(event.split_field_values()),
            _ => span.map(|span| span.split_field_values()),
        };
        let site = if matches!(self.about, About::Event(_) | About::Span(_)) {
            self.site
        } else {
            self.of.and_then(Named::site)
        };
        let names = site.map(|site| site.split_field_names());
        Values { names, values, unnamed: 0 }
    }

    /// The fields with names of their own.
    pub(crate) fn dynamic_fields(&self) -> Option<List<'a, Field<'a>>> {
        match &self.about {
            About::Event(event) => Some(event.dynamic_fields()),
            _ => self.span().map(|span| span.dynamic_fields()),
        }
    }

    /// The callsite, if it is one.
    pub(crate) const fn callsite(&self) -> Option<Callsite<'a>> {
        match self.about {
            About::Callsite(callsite) => Some(callsite),
            _ => None,
        }
    }

    /// The span that it is, or is about.
    fn span(&self) -> Option<Span<'a>> {
        match (&self.about, self.of.map(Named::object)) {
            (About::Span(span), _) => Some(*span),
            (_, Some(super::object::Object::Span(span))) => Some(span),
            _ => None,
        }
    }
}

fn own(text: Option<&str>) -> Value<'_> {
    text.map_or(Value::Absent, Value::Own)
}

/// The values of a span or an event with the names that the callsite has for them.
#[derive(Clone, Debug)]
pub(crate) struct Values<'a> {
    names: Option<List<'a, &'a str>>,
    values: Option<List<'a, FieldValue<'a>>>,
    /// The number of values without a name.
    unnamed: u64,
}

impl<'a> Iterator for Values<'a> {
    /// The name, or the number of a value without one; and the value.
    type Item = (core::result::Result<&'a str, u64>, FieldValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let value = self.values.as_mut()?.next()?;
        let name = self.names.as_mut().and_then(Iterator::next).ok_or_else(|| {
            let number = self.unnamed;
            self.unnamed = number.saturating_add(1);
            number
        });
        Some((name, value))
    }
}

/// The first bytes of a text that was looked up, if not all of it is told.
pub(crate) fn start(text: &str) -> Option<&str> {
    if text.len() <= NAME_MAX {
        return None;
    }
    let end = (0..=NAME_MAX).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or(0))
}

fn tell_found<L: Listener>(to: &mut L, slot: Slot, text: &str) {
    match start(text) {
        None => to.text(slot, Text::new(text)),
        Some(start) => {
            let mut short = Short::new(start);
            short.push("…".as_bytes());
            to.text(slot, short.text());
        }
    }
}

/// Text that is put together where there is no allocator.
struct Short {
    bytes: [u8; NAME_MAX + 32],
    len: usize,
}

impl Short {
    fn new(text: &str) -> Self {
        let mut short = Self { bytes: [0; NAME_MAX + 32], len: 0 };
        short.push(text.as_bytes());
        short
    }

    fn push(&mut self, bytes: &[u8]) {
        let room = self.bytes.get_mut(self.len..).and_then(|free| free.get_mut(..bytes.len()));
        if let Some(room) = room {
            room.copy_from_slice(bytes);
            self.len = self.len.saturating_add(bytes.len());
        }
    }

    fn push_number(&mut self, mut number: u64) {
        let mut digits = [0; 20];
        let mut len = 0_usize;
        for digit in digits.iter_mut().rev() {
            *digit = b'0'.wrapping_add(u8::try_from(number % 10).unwrap_or(0));
            number /= 10;
            len = len.saturating_add(1);
            if number == 0 {
                break;
            }
        }
        self.push(digits.get(digits.len().saturating_sub(len)..).unwrap_or_default());
    }

    fn text(&self) -> Text<'_> {
        Text::Utf8(self.bytes.get(..self.len).unwrap_or_default())
    }
}

fn tell_value<L: Listener>(to: &mut L, slot: Slot, value: &FieldValue<'_>) {
    let wide = |low: u128, is_signed: bool| Wide { low, words: &[], is_signed };
    match *value {
        FieldValue::F64(value) => to.float(slot, value),
        FieldValue::I64(value) => to.signed(slot, value),
        FieldValue::U64(value) => to.unsigned(slot, value),
        FieldValue::I128(value) => to.wide(slot, wide(value.cast_unsigned(), true)),
        FieldValue::U128(value) => to.wide(slot, wide(value, false)),
        FieldValue::Bool(value) => to.boolean(slot, value),
        FieldValue::Str(text) => to.text(slot, Text::new(text)),
    }
}

#[inline(never)]
fn tell_fields<'a, L: Listener>(
    to: &mut L,
    slot: Slot,
    element: Slot,
    fields: impl Iterator<Item = Field<'a>>,
) {
    to.group(slot);
    for field in fields {
        if to.is_full() {
            break;
        }
        to.key(Text::new(field.name()));
        tell_value(to, element, &field.value());
    }
    to.end_group();
}

impl NamedRecord<'_, '_> {
    #[inline(never)]
    fn tell_values<L: Listener>(&self, to: &mut L, slot: Slot, element: Slot) {
        to.group(slot);
        for (name, value) in self.values() {
            if to.is_full() {
                break;
            }
            match name {
                Ok(name) => to.key(Text::new(name)),
                Err(number) => {
                    let mut name = Short::new("value ");
                    name.push_number(number);
                    to.key(name.text());
                }
            }
            tell_value(to, element, &value);
        }
        to.end_group();
    }
}

impl NamedRecord<'_, '_> {
    #[inline(always)]
    fn tell_part<L: Listener>(&self, to: &mut L, class: &FixedClass, place: u32, part: Part) {
        let (slot, element) = (class.slot(place), class.slot(place.saturating_add(1)));
        match self.value(part) {
            _ if matches!(part, Part::Element | Part::End) => {}
            Value::Absent => to.absent(slot),
            Value::Unsigned(value) | Value::Parent(Parent::Explicit(value)) => to.unsigned(slot, value),
            Value::Own(text) => to.text(slot, Text::new(text)),
            Value::Found(text) | Value::Place(text, None) => tell_found(to, slot, text),
            Value::Place(file, Some(_)) if file.len() > NAME_MAX => tell_found(to, slot, file),
            Value::Place(file, Some(line)) => {
                let mut place = Short::new(file);
                place.push(b":");
                place.push_number(line);
                to.text(slot, place.text());
            }
            Value::Parent(Parent::Current) => to.text(slot, Text::new("Current")),
            Value::Parent(Parent::Root) => to.text(slot, Text::new("Root")),
            Value::Values => self.tell_values(to, slot, element),
            Value::Dynamic => tell_fields(to, slot, element, self.dynamic_fields().into_iter().flatten()),
            Value::ConstFields => {
                let fields = self.callsite().map(|callsite| callsite.const_fields());
                tell_fields(to, slot, element, fields.into_iter().flatten());
            }
            Value::FieldNames => {
                to.list(slot, None);
                let names = self.callsite().map(|callsite| callsite.split_field_names());
                for name in names.into_iter().flatten() {
                    if to.is_full() {
                        break;
                    }
                    to.text(element, Text::new(name));
                }
                to.end_list();
            }
        }
    }

    #[inline(never)]
    fn tell_parts<L: Listener>(&self, to: &mut L, class: &FixedClass, parts: &[Part]) {
        for (place, part) in (0_u32..).zip(parts) {
            if to.is_full() {
                break;
            }
            self.tell_part(to, class, place, *part);
        }
    }
}

impl Record for NamedRecord<'_, '_> {
    #[inline]
    fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        let to = crate::record::any_listener!(to);
        let kind = self.kind();
        let class = kind.class();
        let time = self.at.micros.map(|micros| Time::since_epoch(i128::from(micros).saturating_mul(1_000)));
        let head = Head { len: self.at.len, ..class.head(time, self.at.offset) };
        if to.begin(&head, &class).has(Scope::Fields) {
            to.scope(Scope::Fields);
            // Each part by itself, where it is known which ones there are.
            macro_rules! one_by_one {
                ($($part:ident),*) => {{
                    let mut place = 0_u32;
                    $(
                        if !to.is_full() {
                            self.tell_part(to, &class, place, Part::$part);
                        }
                        place = place.saturating_add(1);
                    )*
                    let _ = place;
                }};
            }
            match &self.about {
                About::Waker(..) => waker_parts!(one_by_one),
                About::Iid(RecordKind::SpanNew, _) => self.tell_parts(to, &class, kind.parts()),
                About::Iid(kind, _) if kind.is_span() => span_parts!(one_by_one),
                About::Iid(..) => task_parts!(one_by_one),
                _ => self.tell_parts(to, &class, kind.parts()),
            }
            to.end_scope();
        }
        to.end();
        Ok(())
    }
}
