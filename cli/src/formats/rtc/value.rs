//! What names and records say.

use super::session::Streams;
use crate::escape::push;
use crate::json::{self, Line};
use crate::output::{hex, printable, push_hex, shortened};
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::io::Write;
use traceglass::JsonString;
use traceglass::rtc::{Annotation, ClockLink, Decimal, Frame, Sample, Samples, Stream, Time};
use traceglass::{ByteOrder, Error};

/// A name that may not be UTF-8.
#[derive(Clone, Default)]
pub(super) struct Text {
    pub(super) text: Option<String>,
    pub(super) raw: Option<Vec<u8>>,
}

impl Text {
    pub(super) fn of(name: Option<JsonString<traceglass::Text<'_>>>) -> Self {
        match name {
            Some(name) if name.is_utf8() => Self { text: Some(name.to_string()), raw: None },
            Some(name) => Self { text: None, raw: Some(name.raw().bytes().collect()) },
            None => Self::default(),
        }
    }

    pub(super) fn insert(&self, object: &mut Map<String, Value>, key: &str) {
        object.insert(key.into(), self.text.clone().into());
        if let Some(raw) = &self.raw {
            object.insert(format!("{key}_hex"), hex(raw).into());
        }
    }

    /// The same, as a part of a line.
    pub(super) fn write(&self, line: &mut Line, key: &str) {
        line.text_or_null(key, self.text.as_deref());
        if let Some(raw) = &self.raw {
            line.hex(&format!("{key}_hex"), raw);
        }
    }

    pub(super) fn shown(&self) -> String {
        match (&self.text, &self.raw) {
            (Some(text), _) => printable(text),
            (None, Some(raw)) => raw.escape_ascii().to_string(),
            (None, None) => String::new(),
        }
    }
}

/// A time in nanoseconds, rounded down.
pub(super) fn in_ns(time: Time) -> i128 {
    const NANOSECOND: i64 = 1_000_000_000;
    // Seconds first: most fit in 64 bits then, of which a division is much faster.
    match i64::try_from(time.attoseconds()) {
        Ok(short) => short.div_euclid(NANOSECOND).into(),
        Err(_) => time.attoseconds().div_euclid(NANOSECOND.into()),
    }
}

/// What is asked of a stream for each of its records: its attributes are JSON, which is read once.
pub(super) struct Known {
    pub(super) id: u64,
    pub(super) name: Text,
    /// The name for people, or the number.
    pub(super) shown: String,
    /// The state of the table that this was taken from.
    pub(super) revision: u32,
    /// Whether it is a clock that counts from the Unix epoch.
    pub(super) is_absolute: bool,
    gain: Option<Decimal>,
    offset: Option<Decimal>,
}

impl Known {
    pub(super) fn of(stream: &Stream<'_>, streams: &Streams<'_>) -> Self {
        let is_clock = stream.clock() == Some(ClockLink::IsClock);
        let is_absolute = is_clock && streams.slot(stream.id()).is_some_and(|slot| streams.is_absolute(slot));
        Self { revision: streams.revision(), is_absolute, ..Self::alone(stream) }
    }

    /// What a stream's own object says.
    pub(super) fn alone(stream: &Stream<'_>) -> Self {
        let name = Text::of(stream.name());
        let shown = match name.shown() {
            name if name.is_empty() => stream.id().to_string(),
            name => name,
        };
        // One that cannot be read is reported by `check`.
        let (gain, offset) = (stream.gain().ok().flatten(), stream.offset().ok().flatten());
        Self { id: stream.id(), name, shown, revision: 0, is_absolute: false, gain, offset }
    }

    /// Whether numbers are what they were written as.
    fn is_raw(&self) -> bool {
        self.gain.is_none() && self.offset.is_none()
    }
}

/// What a record says.
pub(super) struct Content<'a> {
    /// The time that an annotation carries.
    pub(super) time: Option<Time>,
    /// None if the bytes are not what the format says.
    samples: Option<Samples<'a>>,
}

impl<'a> Content<'a> {
    pub(super) fn of(record: &super::session::Record<'a, '_>) -> Self {
        match record.annotation() {
            Some(Ok(annotation)) => Self { time: Some(annotation.time), samples: Some(annotation.samples) },
            Some(Err(_)) => Self { time: None, samples: None },
            None => Self { time: None, samples: record.samples().ok() },
        }
    }

    /// That of a frame that is all of a record.
    pub(super) fn of_frame(stream: &Stream<'_>, frame: &Frame<'a>, order: ByteOrder) -> Self {
        let (data, offset) = (frame.payload(), frame.payload_offset());
        match Annotation::parse(data, offset, stream.format(), order) {
            Some(Ok(annotation)) => Self { time: Some(annotation.time), samples: Some(annotation.samples) },
            Some(Err(_)) => Self { time: None, samples: None },
            None => Self { time: None, samples: Some(Samples::new(data, offset, stream.format(), order)) },
        }
    }

    /// Writes the value; gives whether the bytes are what the format says.
    pub(super) fn write(&self, text: &mut Vec<u8>, known: &Known) -> bool {
        let start = text.len();
        let written = self.samples.is_some_and(|samples| write_samples(text, known, samples).is_ok());
        if !written {
            text.truncate(start);
            text.extend(b"null");
        }
        written
    }

    /// Appends it for people: a line at most. The points of single numbers line up.
    pub(super) fn show(&self, to: &mut String, known: &Known) {
        let start = to.len();
        let shown = self.samples.is_some_and(|samples| show_samples(to, known, samples).is_ok());
        if !shown {
            to.truncate(start);
            to.push_str("(not what its format says)");
        }
    }
}

/// How much of a record is shown if it is text; the JSON has all of it.
const TEXT: usize = 4096;
/// How much if it is numbers or bytes, in characters.
const NUMBERS: usize = 120;

/// The columns before the point of a number.
const WHOLE: usize = 6;

fn show_samples(to: &mut String, known: &Known, mut samples: Samples<'_>) -> Result<(), Error> {
    let start = to.len();
    let Some(first) = samples.next().transpose()? else { return Ok(()) };
    let mut next = samples.next().transpose()?;
    if next.is_none() {
        show_sample(to, known, first);
        if let Sample::Unsigned(_) | Sample::Signed(_) | Sample::Float32(_) | Sample::Float64(_) = first {
            let number = to.get(start..).unwrap_or_default();
            let whole = number.find('.').unwrap_or(number.len());
            for _ in whole..WHOLE {
                to.insert(start, ' ');
            }
        }
        return Ok(());
    }
    show_sample(to, known, first);
    while let Some(sample) = next {
        if to.len().saturating_sub(start) > NUMBERS {
            to.push_str(" …");
            // It is also reported whether the rest is what its format says.
            return samples.try_for_each(|sample| sample.map(drop));
        }
        to.push(' ');
        show_sample(to, known, sample);
        next = samples.next().transpose()?;
    }
    Ok(())
}

fn show_sample(to: &mut String, known: &Known, sample: Sample<'_>) {
    match sample {
        Sample::Unsigned(value) if known.is_raw() => to.push_str(itoa::Buffer::new().format(value)),
        Sample::Signed(value) if known.is_raw() => to.push_str(itoa::Buffer::new().format(value)),
        Sample::Unsigned(value) => scaled(to, known, value.into(), sample),
        Sample::Signed(value) => scaled(to, known, value.into(), sample),
        Sample::Timespec(seconds, nanoseconds) if known.is_raw() => {
            // A string takes all that is written to it.
            let _ = write!(to, "{}", Time::new(seconds, nanoseconds));
        }
        Sample::Text(text) => push(to, &shortened(text.trim_end_matches(['\n', '\r']), TEXT), |_| false),
        Sample::Json(text) => push(to, &shortened(text, TEXT), |_| false),
        Sample::Bytes(bytes) => {
            let shown = bytes.get(..NUMBERS / 2).unwrap_or(bytes);
            push_hex(to, shown);
            if shown.len() < bytes.len() {
                to.push('…');
            }
        }
        number => float(to, number.scaled(known.gain, known.offset)),
    }
}

/// Appends an integer with gain and offset; exact, unless they are very large or very small.
fn scaled(to: &mut String, known: &Known, raw: i128, sample: Sample<'_>) {
    let exact = (|| {
        let gain = known.gain.unwrap_or(Decimal::ONE);
        let offset = known.offset.unwrap_or(Decimal::ZERO);
        let places = gain.exponent().min(offset.exponent()).min(0).unsigned_abs();
        let at = |decimal: Decimal, factor: i128| {
            let up = u32::try_from(decimal.exponent().checked_add_unsigned(places)?).ok()?;
            decimal.digits().checked_mul(factor)?.checked_mul(10_i128.checked_pow(up)?)
        };
        let value = at(gain, raw)?.checked_add(at(offset, 1)?)?;
        // 15 digits of a float are certain.
        (places <= 15 && value.unsigned_abs() < 10_u128.pow(15)).then_some((value, places))
    })();
    let Some((value, places)) = exact else { return float(to, sample.scaled(known.gain, known.offset)) };
    if value < 0 {
        to.push('-');
    }
    // Of 15 digits, as said above; a division of 64 bits is much faster.
    let value = u64::try_from(value.unsigned_abs()).unwrap_or(u64::MAX);
    let unit = 10_u64.saturating_pow(places);
    let (whole, mut rest) = (value / unit, value % unit);
    to.push_str(itoa::Buffer::new().format(whole));
    if places == 0 {
        return;
    }
    to.push('.');
    let mut unit = unit / 10;
    while unit > 0 {
        to.push(char::from(b'0'.saturating_add(u8::try_from(rest / unit).unwrap_or(0))));
        rest %= unit;
        unit /= 10;
    }
}

/// Appends a number of which 15 digits are certain, so that 0.1 + 0.2 is 0.3.
fn float(to: &mut String, value: Option<f64>) {
    // A string takes all that is written to it.
    let _ = match value {
        Some(value) if value.is_finite() => {
            let rounded = format!("{value:.14e}").parse().unwrap_or(value);
            write!(to, "{rounded:?}")
        }
        Some(value) => write!(to, "{value}"),
        None => write!(to, "-"),
    };
}

/// A record of one sample is that; any other is a list.
fn write_samples(text: &mut Vec<u8>, known: &Known, mut samples: Samples<'_>) -> Result<(), Error> {
    let first = samples.next().transpose()?;
    let mut next = samples.next().transpose()?;
    match first {
        Some(only) if next.is_none() => write_sample(text, known, only),
        first => {
            text.push(b'[');
            first.into_iter().for_each(|first| write_sample(text, known, first));
            while let Some(sample) = next {
                text.push(b',');
                write_sample(text, known, sample);
                next = samples.next().transpose()?;
            }
            text.push(b']');
        }
    }
    Ok(())
}

fn write_sample(text: &mut Vec<u8>, known: &Known, sample: Sample<'_>) {
    let is_raw = known.is_raw();
    // A vector takes all that is written to it.
    let _ = match sample {
        Sample::Unsigned(value) if is_raw => return json::int(text, value),
        Sample::Signed(value) if is_raw => return json::signed(text, value),
        Sample::Timespec(seconds, nanoseconds) if is_raw => {
            write!(text, "{}", Time::new(seconds, nanoseconds))
        }
        Sample::Text(value) => return json::quote(text, value),
        Sample::Json(value) => serde_json::to_writer(text, &parsed(value)).map_err(Into::into),
        Sample::Bytes(bytes) => return json::hex(text, bytes),
        number => match number.scaled(known.gain, known.offset) {
            Some(value) => return json::float(text, value),
            None => text.write_all(b"null"),
        },
    };
}

/// JSON as a value; or a string, if it is none.
fn parsed(text: &str) -> Value {
    json::value(text).unwrap_or_else(|| text.into())
}
