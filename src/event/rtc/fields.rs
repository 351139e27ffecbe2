//! What records and streams say, as fields.

use crate::error::{Error, Result};
use crate::event::field::{Field, Value};
use crate::event::label::Label;
use crate::rtc::{ClockLink, Decimal, Sample, Samples, Stream};

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

impl<'a> RtcData<'a> {
    pub(in crate::event) const fn fields(self) -> RtcFields<'a> {
        RtcFields { data: self, stage: 0, time: None }
    }
}

/// Fields that are to come.
#[derive(Clone, Debug)]
pub(in crate::event) struct RtcFields<'a> {
    data: RtcData<'a>,
    /// Of a stream, which attribute comes next; of samples, what does: 0 the first, 1 an element, 2 nothing, and from
    /// 3 on the parts of a time.
    stage: u8,
    /// A time whose parts are to come, and the stage after them.
    time: Option<(u64, u32, u8)>,
}

const FIRST: u8 = 0;
const ELEMENT: u8 = 1;
const DONE: u8 = 2;
const SECONDS: u8 = 3;
const NANOSECONDS: u8 = 4;

impl<'a> RtcFields<'a> {
    pub(in crate::event) fn next_field(&mut self) -> Result<Option<Field<'a>>> {
        match self.data {
            RtcData::Stream(stream) => Ok(self.next_attribute(&stream)),
            RtcData::TooLong(error) => Err(error),
            RtcData::Samples(samples, scale) => self.next_sample(samples, scale),
            RtcData::Bytes(bytes) => {
                let is_first = core::mem::replace(&mut self.stage, DONE) == FIRST;
                Ok(is_first.then(|| Field::new(Label::Text("bytes"), Value::Bytes(bytes))))
            }
        }
    }

    fn next_sample(&mut self, mut samples: Samples<'a>, scale: Scale) -> Result<Option<Field<'a>>> {
        if let Some((seconds, nanoseconds, after)) = self.time {
            return Ok(Some(self.next_of_time(seconds, nanoseconds, after)));
        }
        match self.stage {
            FIRST => {
                let mut ahead = samples;
                let first = ahead.next().transpose()?;
                let Some(first) = first.filter(|_| ahead.next().is_none()) else {
                    self.stage = ELEMENT;
                    return Ok(Some(Field::new(Label::Text("value"), Value::List)));
                };
                let value = self.value(first, scale, DONE);
                Ok(Some(Field::new(Label::Text("value"), value)))
            }
            ELEMENT => {
                let next = samples.next().transpose()?;
                self.data = RtcData::Samples(samples, scale);
                let Some(next) = next else {
                    self.stage = DONE;
                    return Ok(Some(Field::unnamed(Value::End)));
                };
                Ok(Some(Field::unnamed(self.value(next, scale, ELEMENT))))
            }
            _ => Ok(None),
        }
    }

    fn next_of_time(&mut self, seconds: u64, nanoseconds: u32, after: u8) -> Field<'a> {
        let stage = self.stage;
        self.stage = stage.saturating_add(1);
        match stage {
            SECONDS => Field::new(Label::Text("seconds"), Value::Unsigned(seconds.into())),
            NANOSECONDS => Field::new(Label::Text("nanoseconds"), Value::Unsigned(nanoseconds.into())),
            // The end.
            _ => {
                (self.stage, self.time) = (after, None);
                Field::unnamed(Value::End)
            }
        }
    }

    /// The value of a sample, after which it goes on with `stage`.
    fn value(&mut self, sample: Sample<'a>, scale: Scale, stage: u8) -> Value<'a> {
        self.stage = stage;
        match sample {
            Sample::Unsigned(value) if scale.is_none() => Value::Unsigned(value.into()),
            Sample::Signed(value) if scale.is_none() => Value::Signed(value.into()),
            Sample::Timespec(seconds, nanoseconds) if scale.is_none() => {
                (self.time, self.stage) = (Some((seconds, nanoseconds, stage)), SECONDS);
                Value::Struct
            }
            Sample::Text(text) | Sample::Json(text) => Value::Text(Label::Text(text)),
            Sample::Bytes(bytes) => Value::Bytes(bytes),
            number => number.scaled(scale.gain, scale.offset).map_or(Value::Null, Value::Float),
        }
    }

    fn next_attribute(&mut self, stream: &Stream<'a>) -> Option<Field<'a>> {
        while self.stage < 8 {
            let stage = self.stage;
            self.stage = stage.saturating_add(1);
            let text = |name| Value::Text(Label::Rtc(name));
            let number = |value: Decimal| Value::Float(value.to_f64());
            let (name, value) = match stage {
                0 => ("id", Some(Value::Unsigned(stream.id().into()))),
                1 => ("format", stream.format_name().map(text)),
                2 => ("length", stream.length().map(|length| Value::Unsigned(length.into()))),
                3 => match stream.clock() {
                    Some(ClockLink::Named(name)) => ("clock", Some(text(name))),
                    Some(_) => ("clock", Some(Value::Bool(true))),
                    None => continue,
                },
                4 => ("delta", stream.delta().map(text)),
                5 => ("stream", stream.stream().map(text)),
                6 => ("gain", stream.gain().ok().flatten().map(number)),
                _ => ("offset", stream.offset().ok().flatten().map(number)),
            };
            if let Some(value) = value {
                return Some(Field::new(Label::Text(name), value));
            }
        }
        None
    }
}
