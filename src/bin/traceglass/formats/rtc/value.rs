//! What names and records say.

use super::{STREAMS, Walk};
use crate::output::{hex, printable};
use serde_json::{Map, Number, Value};
use std::fmt::Write;
use traceglass::Error;
use traceglass::rtc::{Annotation, Decimal, Name, Sample, Samples, Stream, Streams, Time};

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

    pub(super) fn shown(&self) -> String {
        match (&self.text, &self.raw) {
            (Some(text), _) => printable(text),
            (None, Some(raw)) => raw.escape_ascii().to_string(),
            (None, None) => String::new(),
        }
    }
}

/// An exact number of seconds.
pub(super) fn time_json(time: Time) -> Value {
    time.to_string().parse::<Number>().map_or(Value::Null, Value::Number)
}

/// What is asked of a stream for each of its records: its attributes are JSON, which is read once.
pub(super) struct Known {
    pub(super) name: Text,
    /// The name for people, or the number.
    pub(super) shown: String,
    /// The stream that it annotates.
    pub(super) about: Option<usize>,
    gain: Option<Decimal>,
    offset: Option<Decimal>,
}

impl Known {
    pub(super) fn of(stream: &Stream<'_>, streams: &Streams<'_, STREAMS>) -> Self {
        let name = Text::of(stream.name());
        let shown = match name.shown() {
            name if name.is_empty() => stream.id().to_string(),
            name => name,
        };
        let about = stream.stream().and_then(|name| {
            let mut places = 0..streams.len();
            places.find(|&place| streams.at(place).is_some_and(|other| other.name() == Some(name)))
        });
        Self { name, shown, about, gain: stream.gain(), offset: stream.offset() }
    }
}

/// What a record says.
pub(super) struct Content {
    /// The time that an annotation carries.
    pub(super) time: Option<Time>,
    pub(super) value: Value,
    /// The bytes are not what the format says.
    pub(super) is_odd: bool,
}

impl Content {
    pub(super) fn of(
        stream: &Stream<'_>,
        known: &Known,
        data: &[u8],
        offset: u64,
        walk: &Walk<'_>,
        for_people: bool,
    ) -> Self {
        let order = walk.byte_order();
        let odd = Self { time: None, value: Value::Null, is_odd: true };
        let (time, samples) = match Annotation::parse(data, offset, stream.format(), order) {
            Some(Ok(annotation)) => (Some(annotation.time), annotation.samples),
            Some(Err(_)) => return odd,
            None => (None, stream.samples(data, offset, order)),
        };
        match values(known, samples, for_people) {
            Ok(mut values) => {
                let value = if values.len() == 1 { values.remove(0) } else { Value::Array(values) };
                Self { time, value, is_odd: false }
            }
            Err(_) => Self { time, ..odd },
        }
    }

    /// For people: a line at most.
    pub(super) fn shown(&self) -> String {
        const LONGEST: usize = 120;
        let text = match &self.value {
            Value::String(text) => printable(text.trim_end_matches(['\n', '\r'])),
            Value::Array(values) => values.iter().map(Value::to_string).collect::<Vec<_>>().join(" "),
            Value::Null if self.is_odd => String::from("(not what its format says)"),
            other => other.to_string(),
        };
        match text.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }
}

/// A number for people: 15 digits of a float are certain, so that 0.1 + 0.2 is 0.3.
fn rounded(value: f64) -> f64 {
    format!("{value:.14e}").parse().unwrap_or(value)
}

fn values(known: &Known, samples: Samples<'_>, for_people: bool) -> Result<Vec<Value>, Error> {
    let (gain, offset) = (known.gain, known.offset);
    let is_raw = gain.is_none() && offset.is_none();
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
                Sample::Json(text) => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
                Sample::Bytes(bytes) => hex(bytes).into(),
                number => match number.scaled(gain, offset) {
                    Some(value) if value.is_finite() && for_people => rounded(value).into(),
                    Some(value) if value.is_finite() => value.into(),
                    Some(value) => {
                        let mut text = String::new();
                        let _ = write!(text, "{value}");
                        text.into()
                    }
                    None => Value::Null,
                },
            })
        })
        .collect()
}
