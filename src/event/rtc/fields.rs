//! What records and streams say.

use crate::error::{Error, Result};
use crate::record::{FieldInfo, Fixed, FixedClass, Kind, Listener, Scope, Slot, Text};
use crate::rtc::{ClockLink, Decimal, Sample, Samples, Stream};
use crate::{JsonString, Text as JsonText};

/// Where the fields of a track or an event come from.
#[derive(Clone, Copy, Debug)]
pub(in crate::event) enum RtcData<'a> {
    /// A stream.
    Stream(Stream<'a>),
    /// The samples of a record, and how its stream is scaled.
    Samples(Samples<'a>, Scale),
    /// A record whose bytes are not what its format says.
    Bytes(&'a [u8]),
    /// A record that cannot be joined.
    TooLong(Error),
}

/// What numbers are multiplied with, and what is then added.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::event) struct Scale {
    pub gain: Option<Decimal>,
    pub offset: Option<Decimal>,
}

impl Scale {
    /// What the attributes of a stream say; one that cannot be read counts as absent.
    pub(super) fn of(stream: &Stream<'_>) -> Self {
        Self { gain: stream.gain().ok().flatten(), offset: stream.offset().ok().flatten() }
    }

    /// Whether numbers are as they were written, not scaled.
    pub(super) const fn is_none(&self) -> bool {
        self.gain.is_none() && self.offset.is_none()
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

/// A record: its value, in one of the forms that values have.
static RECORD: Fixed = Fixed::new(
    "record",
    &[
        FieldInfo::new(&"value", Kind::Any),
        FieldInfo::new(&"value", Kind::List),
        FieldInfo::unnamed(Kind::Any),
        FieldInfo::unnamed(Kind::Group),
        FieldInfo::new(&"seconds", NUMBER),
        FieldInfo::new(&"nanoseconds", Kind::Unsigned { bits: 32 }).unit("ns"),
        Fixed::END,
        Fixed::END,
        FieldInfo::new(&"value", Kind::Group),
        FieldInfo::new(&"seconds", NUMBER),
        FieldInfo::new(&"nanoseconds", Kind::Unsigned { bits: 32 }).unit("ns"),
        Fixed::END,
        FieldInfo::new(&"bytes", Kind::Bytes),
    ],
);

/// Places in the table of a record: of the value itself, and of a time that it is.
const VALUE: [u32; 2] = [0, 8];
const LIST: u32 = 1;
const ELEMENT: [u32; 2] = [2, 3];
const BYTES: u32 = 12;

impl RtcData<'_> {
    /// Tells the stream or the record.
    ///
    /// # Errors
    /// The record cannot be joined; nothing was told.
    pub(in crate::event) fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        let class = match self {
            Self::TooLong(error) => return Err(*error),
            Self::Stream(_) => FixedClass::new(0, &STREAM),
            Self::Samples(..) | Self::Bytes(_) => FixedClass::new(1, &RECORD),
        };
        let wants = to.begin(&class.head(None, 0), &class);
        if wants.has(Scope::Fields) {
            to.scope(Scope::Fields);
            match self {
                Self::Stream(stream) => tell_stream(stream, &class, to),
                Self::Samples(samples, scale) => {
                    if let Err(error) = tell_samples(*samples, *scale, &class, to) {
                        to.abandon();
                        return Err(error);
                    }
                }
                Self::Bytes(bytes) => to.bytes(class.slot(BYTES), bytes),
                Self::TooLong(_) => {}
            }
            to.end_scope();
        }
        to.end();
        Ok(())
    }
}

fn tell_stream<L: Listener>(stream: &Stream<'_>, class: &FixedClass, to: &mut L) {
    let text = |to: &mut L, place, name: Option<JsonString<JsonText<'_>>>| {
        if let Some(name) = name {
            to.text(class.slot(place), Text::Other { text: &name, stored: &[], is_valid: true });
        }
    };
    let number = |to: &mut L, place, value: Option<Decimal>| {
        if let Some(value) = value {
            to.float(class.slot(place), value.to_f64());
        }
    };
    to.unsigned(class.slot(0), stream.id());
    text(to, 1, stream.format_name());
    if let Some(length) = stream.length() {
        to.unsigned(class.slot(2), length);
    }
    match stream.clock() {
        Some(ClockLink::Named(name)) => text(to, 3, Some(name)),
        Some(_) => to.boolean(class.slot(3), true),
        None => {}
    }
    text(to, 4, stream.delta());
    text(to, 5, stream.stream());
    number(to, 6, stream.gain().ok().flatten());
    number(to, 7, stream.offset().ok().flatten());
}

/// Tells the one sample of a record, or a list of them.
fn tell_samples<L: Listener>(
    samples: Samples<'_>,
    scale: Scale,
    class: &FixedClass,
    to: &mut L,
) -> Result<()> {
    let mut ahead = samples;
    if let Some(first) = ahead.next().transpose()?
        && ahead.next().is_none()
    {
        tell_sample(first, scale, VALUE.map(|place| class.slot(place)), to);
        return Ok(());
    }
    to.list(class.slot(LIST), None);
    for sample in samples {
        tell_sample(sample?, scale, ELEMENT.map(|place| class.slot(place)), to);
    }
    to.end_list();
    Ok(())
}

/// Tells a sample, scaled if its stream is; a time as its parts.
fn tell_sample<L: Listener>(sample: Sample<'_>, scale: Scale, [slot, time]: [Slot; 2], to: &mut L) {
    match sample {
        Sample::Unsigned(value) if scale.is_none() => to.unsigned(slot, value),
        Sample::Signed(value) if scale.is_none() => to.signed(slot, value),
        Sample::Timespec(seconds, nanoseconds) if scale.is_none() => {
            to.group(time);
            to.unsigned(Slot(time.0.saturating_add(1)), seconds);
            to.unsigned(Slot(time.0.saturating_add(2)), nanoseconds.into());
            to.end_group();
        }
        Sample::Text(text) | Sample::Json(text) => to.text(slot, Text::new(text)),
        Sample::Bytes(bytes) => to.bytes(slot, bytes),
        number => match number.scaled(scale.gain, scale.offset) {
            Some(value) => to.float(slot, value),
            None => to.absent(slot),
        },
    }
}
