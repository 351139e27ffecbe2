//! The one description of records and streams that text, JSON, tables and events are made of.

use crate::ByteOrder;
use crate::bytes::{Bytes, to_u64};
use crate::error::Result;
use crate::json::{Event, Number, Parser};
use crate::record::{
    self, FieldInfo, Fixed, FixedClass, Head, Kind, Listener, Scope, Slot, Text, Time, Wide,
};
use crate::rtc::class::{Place, Scale, StreamClass};
use crate::rtc::element::PAYLOAD;
use crate::rtc::name::Name;
use crate::rtc::{Annotation, ClockLink, Decimal, Frame, Record, Sample, Samples, Stream};
use crate::text::Text as Pieces;

/// A record, with what is known of its stream: it tells a listener all of it.
///
/// Made by [`Names`](super::Names), or of a frame by [`of_frame`](Self::of_frame).
#[derive(Clone, Copy, Debug)]
pub struct NamedRecord<'r, 'a> {
    class: &'r StreamClass<'a>,
    time: Option<Time>,
    offset: u64,
    payload_offset: u64,
    data: Result<&'r [u8]>,
    order: ByteOrder,
}

impl<'r, 'a> NamedRecord<'r, 'a> {
    /// The record with its class; `in_ns` converts times.
    #[inline(always)]
    pub(super) fn new(
        class: &'r StreamClass<'a>,
        record: &Record<'r, 'a>,
        in_ns: impl FnOnce(super::Time) -> i128,
    ) -> Self {
        let (data, mut time) = (record.bytes(), record.time());
        if class.is_annotation()
            && let Some(annotation) = record.annotation()
        {
            time = match annotation {
                Ok(annotation) => Some(annotation.time),
                // That of its own stream, if this counts as those that it is about.
                Err(_) => time.filter(|_| !class.has_subject()),
            };
        }
        let time = match time {
            Some(time) if class.is_absolute() => Some(Time::since_epoch(in_ns(time))),
            Some(time) => Some(Time::since_origin(in_ns(time))),
            None => None,
        };
        let (offset, payload_offset) = (record.offset(), record.payload_offset());
        Self { class, time, offset, payload_offset, data, order: record.order }
    }

    /// The record that a frame alone makes up.
    pub fn of_frame(class: &'r StreamClass<'a>, frame: &Frame<'r>, order: ByteOrder) -> Self {
        let (offset, payload_offset) = (frame.offset(), frame.payload_offset());
        Self { class, time: None, offset, payload_offset, data: Ok(frame.payload()), order }
    }

    /// The class: what is constant about the records of its stream.
    pub const fn class(&self) -> &'r StreamClass<'a> {
        self.class
    }

    /// The time: what an annotation says, else what the stream's clock said last.
    pub const fn time(&self) -> Option<Time> {
        self.time
    }

    /// The samples; `None` if the bytes cannot be joined, or are an annotation that is shorter than its time.
    #[inline(always)]
    pub(crate) fn samples(&self) -> Option<Samples<'r>> {
        let (data, format) = (self.data.ok()?, self.class.stream().format());
        if self.class.is_annotation() {
            let annotation = Annotation::parse(data, self.payload_offset, format, self.order)?;
            return annotation.ok().map(|annotation| annotation.samples);
        }
        Some(Samples::new(data, self.payload_offset, format, self.order))
    }

    fn tell_value<L: Listener>(&self, to: &mut L, bytes: &[u8]) {
        let slot = |place| self.class.slot(place);
        let scale = self.class.scale();
        let samples = self.samples();
        let mut rest = samples;
        match rest.as_mut().and_then(Iterator::next) {
            Some(Ok(only)) if rest.is_some_and(|rest| rest.is_done()) => {
                if let Sample::Json(text) = only {
                    return tell_json(to, text, self.class);
                }
                tell_sample(to, slot(Place::Value), only, scale);
            }
            first => {
                let is_sound = rest.is_some_and(|mut rest| rest.all(|sample| sample.is_ok()));
                if !is_sound || matches!(first, Some(Err(_))) {
                    to.absent(slot(Place::Value));
                    return to.bytes(slot(Place::Bytes), bytes);
                }
                to.list(slot(Place::List), None);
                for sample in samples.into_iter().flatten().flatten() {
                    if to.is_full() {
                        break;
                    }
                    tell_sample(to, slot(Place::Element), sample, scale);
                }
                to.end_list();
            }
        }
    }
}

impl record::Record for NamedRecord<'_, '_> {
    /// # Errors
    /// The record lies in several frames, and the lent buffer was too small to join it; nothing was told.
    #[inline]
    fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        let to = crate::record::any_listener!(to);
        let bytes = self.data?;
        let class = record::Class::id(self.class);
        let head =
            Head { class, time: self.time, offset: self.offset, bit: 0, len: Some(to_u64(bytes.len())) };
        if to.begin(&head, self.class).has(Scope::Fields) {
            to.scope(Scope::Fields);
            self.tell_value(to, bytes);
            to.end_scope();
        }
        to.end();
        Ok(())
    }
}

/// Tells a value, scaled if its stream is.
#[inline(always)]
fn tell_sample<L: Listener>(to: &mut L, slot: Slot, sample: Sample<'_>, scale: &Scale) {
    match sample {
        Sample::Unsigned(value) if scale.is_none() => to.unsigned(slot, value),
        Sample::Signed(value) if scale.is_none() => to.signed(slot, value),
        _ => match scale.exact(sample) {
            Some(exact) => to.decimal(slot, exact),
            None => tell_other(to, slot, sample, scale),
        },
    }
}

#[inline(never)]
fn tell_other<L: Listener>(to: &mut L, slot: Slot, sample: Sample<'_>, scale: &Scale) {
    match sample {
        Sample::Timespec(seconds, nanoseconds) if scale.is_none() => {
            to.decimal(slot, in_seconds(seconds, nanoseconds));
        }
        Sample::Text(text) | Sample::Json(text) => to.text(slot, Text::new(text)),
        Sample::Bytes(bytes) => to.bytes(slot, bytes),
        number => match number.scaled(scale.gain, scale.offset) {
            Some(value) => to.float(slot, value),
            None => to.absent(slot),
        },
    }
}

/// Seconds with as many places as they need.
fn in_seconds(seconds: u64, nanoseconds: u32) -> record::Decimal {
    let (mut rest, mut places, mut unit) = (nanoseconds, 9_u32, 1_000_000_000_i128);
    while places > 0 && rest.is_multiple_of(10) {
        (rest, places) = (rest / 10, places.wrapping_sub(1));
        unit = unit.wrapping_div(10);
    }
    record::Decimal { digits: i128::from(seconds).wrapping_mul(unit).wrapping_add(rest.into()), places }
}

/// Tells JSON as what it is; as text, if it is none.
#[inline(never)]
fn tell_json<L: Listener>(to: &mut L, text: &str, class: &StreamClass<'_>) {
    let parser = Parser::new(Bytes::new(text.as_bytes()), PAYLOAD);
    if !is_whole(parser) {
        return to.text(class.slot(Place::Value), Text::new(text));
    }
    let mut events = parser;
    // That of whatever is in the outermost list or object.
    let mut slot = None;
    while let Ok(Some(event)) = events.next_event() {
        let [single, list, map] = match slot {
            None => [Place::Value, Place::List, Place::Map],
            Some(inner) => [inner; 3],
        }
        .map(|place| class.slot(place));
        match event {
            Event::ObjectStart => {
                to.group(map);
                slot = slot.or(Some(Place::Member));
            }
            Event::ArrayStart => {
                to.list(list, None);
                slot = slot.or(Some(Place::Element));
            }
            Event::ObjectEnd => to.end_group(),
            Event::ArrayEnd => to.end_list(),
            Event::Key(name) => with_text(name, |text| to.key(text)),
            Event::String(text) => with_text(text, |text| to.text(single, text)),
            Event::Number(number) => tell_number(to, single, number),
            Event::Bool(value) => to.boolean(single, value),
            Event::Null => to.absent(single),
        }
    }
}

/// True if a text is one value of JSON without a fault.
fn is_whole(mut parser: Parser<Bytes<'_>>) -> bool {
    loop {
        match parser.next_event() {
            Ok(Some(_)) => {}
            Ok(None) => return parser.finish().is_ok(),
            Err(_) => return false,
        }
    }
}

fn with_text(text: crate::json::Str<Bytes<'_>>, tell: impl FnOnce(Text<'_>)) {
    match text.borrowed() {
        Some(text) => tell(Text::new(text)),
        None => tell(Text::Other { text: &text, stored: text.raw().as_slice(), is_valid: true }),
    }
}

/// Tells a number exactly where one of the types that there are holds it.
fn tell_number<L: Listener>(to: &mut L, slot: Slot, number: Number<Bytes<'_>>) {
    if let Some(value) = number.as_u64() {
        return to.unsigned(slot, value);
    }
    if let Some(value) = number.as_i64() {
        return to.signed(slot, value);
    }
    if let Some(value) = number.as_i128() {
        return to.wide(slot, Wide { low: value.cast_unsigned(), words: &[], is_signed: true });
    }
    let text = number.text();
    match Decimal::parse(Pieces::new(text.as_slice(), 0)) {
        Some(decimal) => match u32::try_from(decimal.exponent().saturating_neg()) {
            Ok(places @ 0..=record::Decimal::PLACES) => {
                to.decimal(slot, record::Decimal { digits: decimal.digits(), places });
            }
            _ => to.float(slot, decimal.to_f64()),
        },
        None => to.text(slot, Text::Utf8(text.as_slice())),
    }
}

const NUMBER: Kind = Kind::Unsigned { bits: 64 };
const FLOAT: Kind = Kind::Float { bits: 64 };

/// A stream: the attributes that are standardised, each where it is given.
static STREAM: Fixed = Fixed::new(
    "stream",
    &[
        FieldInfo::new(&"id", NUMBER),
        FieldInfo::new(&"format", Kind::Text),
        FieldInfo::new(&"length", NUMBER),
        // The name of a clock; true for a stream that is one.
        FieldInfo::new(&"clock", Kind::Any),
        FieldInfo::new(&"delta", Kind::Text),
        FieldInfo::new(&"stream", Kind::Text),
        FieldInfo::new(&"gain", FLOAT),
        FieldInfo::new(&"offset", FLOAT),
    ],
);

/// Tells the attributes that the document knows.
impl record::Record for Stream<'_> {
    fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        let class = FixedClass::new(0, &STREAM);
        let text = |to: &mut L, place, name: Option<Name<'_>>| {
            if let Some(name) = name {
                to.text(class.slot(place), Text::Other { text: &name, stored: &[], is_valid: true });
            }
        };
        let number = |to: &mut L, place, value: Option<Decimal>| {
            if let Some(value) = value {
                to.float(class.slot(place), value.to_f64());
            }
        };
        if to.begin(&class.head(None, self.object().offset()), &class).has(Scope::Fields) {
            to.scope(Scope::Fields);
            to.unsigned(class.slot(0), self.id());
            text(to, 1, self.format_name());
            if let Some(length) = self.length() {
                to.unsigned(class.slot(2), length);
            }
            match self.clock() {
                Some(ClockLink::Named(name)) => text(to, 3, Some(name)),
                Some(ClockLink::IsClock) => to.boolean(class.slot(3), true),
                None => {}
            }
            text(to, 4, self.delta());
            text(to, 5, self.stream());
            number(to, 6, self.gain().ok().flatten());
            number(to, 7, self.offset().ok().flatten());
            to.end_scope();
        }
        to.end();
        Ok(())
    }
}
