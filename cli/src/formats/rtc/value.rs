//! What names and records say.

use crate::json::{self, Line};
use crate::output::{hex, printable};
use serde_json::{Map, Number, Value};
use std::io::Write;
use traceglass::rtc::{Annotation, Decimal, Frame, Name, Sample, Samples, Stream, Time};
use traceglass::{ByteOrder, Error};

/// A name that may not be UTF-8.
#[derive(Clone, Default)]
pub(super) struct Text {
    pub(super) text: Option<String>,
    pub(super) raw: Option<Vec<u8>>,
}

impl Text {
    pub(super) fn of(name: Option<Name<'_>>) -> Self {
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

/// An exact number of seconds.
fn time_json(time: Time) -> Value {
    time.to_string().parse::<Number>().map_or(Value::Null, Value::Number)
}

/// What is asked of a stream for each of its records: its attributes are JSON, which is read once.
pub(super) struct Known {
    pub(super) id: u64,
    pub(super) name: Text,
    /// The name for people, or the number.
    pub(super) shown: String,
    /// Where its object stands.
    pub(super) declared: u64,
    gain: Option<Decimal>,
    offset: Option<Decimal>,
}

impl Known {
    pub(super) fn of(stream: &Stream<'_>) -> Self {
        let name = Text::of(stream.name());
        let shown = match name.shown() {
            name if name.is_empty() => stream.id().to_string(),
            name => name,
        };
        // One that cannot be read is reported by `check`.
        let (gain, offset) = (stream.gain().ok().flatten(), stream.offset().ok().flatten());
        Self { id: stream.id(), name, shown, declared: stream.object().offset(), gain, offset }
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

    /// For people: a line at most.
    pub(super) fn shown(&self, known: &Known) -> String {
        const LONGEST: usize = 120;
        let values = self.samples.and_then(|samples| values(known, samples).ok());
        let text = match values.as_deref() {
            Some([Value::String(text)]) => printable(text.trim_end_matches(['\n', '\r'])),
            Some([Value::Array(values)]) => spaced(values),
            Some(values) => spaced(values),
            None => String::from("(not what its format says)"),
        };
        match text.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }
}

fn spaced(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(" ")
}

/// A number for people: 15 digits of a float are certain, so that 0.1 + 0.2 is 0.3.
fn rounded(value: f64) -> f64 {
    format!("{value:.14e}").parse().unwrap_or(value)
}

fn values(known: &Known, samples: Samples<'_>) -> Result<Vec<Value>, Error> {
    let is_raw = known.is_raw();
    samples
        .map(|sample| {
            let sample = sample?;
            Ok(match sample {
                Sample::Unsigned(value) if is_raw => value.into(),
                Sample::Signed(value) if is_raw => value.into(),
                Sample::Timespec(seconds, nanoseconds) if is_raw => {
                    time_json(Time::new(seconds, nanoseconds))
                }
                Sample::Text(text) => text.into(),
                Sample::Json(text) => parsed(text),
                Sample::Bytes(bytes) => hex(bytes).into(),
                number => match number.scaled(known.gain, known.offset) {
                    Some(value) if value.is_finite() => rounded(value).into(),
                    Some(value) => value.to_string().into(),
                    None => Value::Null,
                },
            })
        })
        .collect()
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
        Sample::Signed(value) if is_raw => write!(text, "{value}"),
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
