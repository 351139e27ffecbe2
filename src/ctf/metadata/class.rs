use super::fragment::{object, string, unexpected};
use super::{Fragment, FragmentKind, Members, Text, Uuid};
use crate::ctf::element::{CLOCK_CLASS, FRAGMENT, PREAMBLE, TRACE_CLASS};
use crate::error::{Element, Error, ErrorKind, Result};
use crate::json::{Event, JsonString, Parser};
use core::iter::FusedIterator;

impl<'a> Fragment<'a> {
    /// The preamble, if that is what it is.
    ///
    /// # Errors
    /// The errors of the JSON; [`Unexpected`](crate::ErrorKind::Unexpected) where a member that is known has a
    /// value of another type, at that value; [`Repeated`](crate::ErrorKind::Repeated) at the second one of a name.
    pub fn preamble(&self) -> Result<Option<Preamble>> {
        if !matches!(self.kind()?, FragmentKind::Preamble) {
            return Ok(None);
        }
        let mut preamble = Preamble { version: None, uuid: None };
        for member in self.members() {
            let (name, value) = member?;
            if name == "version" {
                once(&mut preamble.version, name, unsigned(value, PREAMBLE)?)?;
            } else if name == "uuid" {
                once(&mut preamble.uuid, name, uuid(value)?)?;
            }
        }
        Ok(Some(preamble))
    }

    /// The clock class, if that is what it is.
    ///
    /// # Errors
    /// As [`Fragment::preamble`].
    pub fn clock_class(&self) -> Result<Option<ClockClass<'a>>> {
        if !matches!(self.kind()?, FragmentKind::ClockClass) {
            return Ok(None);
        }
        let mut clock = ClockClass::default();
        for member in self.members() {
            let (name, value) = member?;
            let texts = [
                ("name", &mut clock.name),
                ("id", &mut clock.id),
                ("namespace", &mut clock.namespace),
                ("uid", &mut clock.uid),
                ("description", &mut clock.description),
            ];
            let numbers = [("frequency", &mut clock.frequency), ("precision", &mut clock.precision)];
            if let Some((_, slot)) = texts.into_iter().find(|(known, _)| name == *known) {
                once(slot, name, text(value, CLOCK_CLASS)?)?;
            } else if let Some((_, slot)) = numbers.into_iter().find(|(known, _)| name == *known) {
                once(slot, name, unsigned(value, CLOCK_CLASS)?)?;
            } else if name == "offset-from-origin" || name == "offset" {
                (clock.seconds, clock.cycles) = offset(value)?;
            } else if name == "origin" {
                once(&mut clock.origin, name, origin(value)?)?;
            } else if name == "accuracy" {
                unsigned(value, CLOCK_CLASS)?;
            }
        }
        Ok(Some(clock))
    }

    /// The trace class, if that is what it is.
    ///
    /// # Errors
    /// As [`Fragment::preamble`].
    pub fn trace_class(&self) -> Result<Option<TraceClass<'a>>> {
        if !matches!(self.kind()?, FragmentKind::TraceClass) {
            return Ok(None);
        }
        let mut trace = TraceClass::default();
        for member in self.members() {
            let (name, value) = member?;
            let texts =
                [("name", &mut trace.name), ("namespace", &mut trace.namespace), ("uid", &mut trace.uid)];
            if let Some((_, slot)) = texts.into_iter().find(|(known, _)| name == *known) {
                once(slot, name, text(value, TRACE_CLASS)?)?;
            } else if name == "environment" {
                object(value, TRACE_CLASS)?;
                once(&mut trace.environment, name, value)?;
            }
        }
        Ok(Some(trace))
    }
}

/// Keeps the value of a member, which may occur once.
fn once<'a, T>(slot: &mut Option<T>, name: JsonString<Text<'a>>, value: T) -> Result<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(Error::new(name.offset(), FRAGMENT, ErrorKind::Repeated)),
    }
}

/// The preamble: the first fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preamble {
    version: Option<u64>,
    uuid: Option<Uuid>,
}

impl Preamble {
    /// The version of CTF: 2.
    pub const fn version(&self) -> Option<u64> {
        self.version
    }

    /// The UUID that the trace's data streams repeat. It is not that of the metadata packets.
    pub const fn uuid(&self) -> Option<Uuid> {
        self.uuid
    }
}

/// A clock class: what a clock of the trace counts, and from when.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClockClass<'a> {
    name: Option<JsonString<Text<'a>>>,
    id: Option<JsonString<Text<'a>>>,
    namespace: Option<JsonString<Text<'a>>>,
    uid: Option<JsonString<Text<'a>>>,
    description: Option<JsonString<Text<'a>>>,
    frequency: Option<u64>,
    precision: Option<u64>,
    seconds: i64,
    cycles: u64,
    origin: Option<ClockOrigin<'a>>,
}

impl<'a> ClockClass<'a> {
    /// The name.
    pub const fn name(&self) -> Option<JsonString<Text<'a>>> {
        self.name
    }

    /// The identifier by which data stream classes refer to it.
    pub const fn id(&self) -> Option<JsonString<Text<'a>>> {
        self.id
    }

    /// The namespace of its name and unique identifier.
    pub const fn namespace(&self) -> Option<JsonString<Text<'a>>> {
        self.namespace
    }

    /// The identifier that tells this clock from others of the same name.
    pub const fn uid(&self) -> Option<JsonString<Text<'a>>> {
        self.uid
    }

    /// A description for people.
    pub const fn description(&self) -> Option<JsonString<Text<'a>>> {
        self.description
    }

    /// The frequency.
    ///
    /// # Units
    /// Cycles per second.
    pub const fn frequency(&self) -> Option<u64> {
        self.frequency
    }

    /// The precision.
    ///
    /// # Units
    /// Cycles.
    pub const fn precision(&self) -> Option<u64> {
        self.precision
    }

    #[doc(alias = "offset-from-origin")]
    #[doc(alias = "seconds")]
    /// The whole seconds from the origin to the clock's zero; 0 if not stated.
    pub const fn offset_seconds(&self) -> i64 {
        self.seconds
    }

    #[doc(alias = "cycles")]
    /// The cycles to be added to [`Self::offset_seconds`]; 0 if not stated.
    pub const fn offset_cycles(&self) -> u64 {
        self.cycles
    }

    /// From when the offset counts; `None` if that is not known.
    pub const fn origin(&self) -> Option<ClockOrigin<'a>> {
        self.origin
    }
}

/// From when a clock counts.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ClockOrigin<'a> {
    /// 1970-01-01T00:00:00Z.
    UnixEpoch,
    /// A name that CTF 2 does not define.
    Other(JsonString<Text<'a>>),
    /// A custom origin, shared by all clocks that state the same one: the JSON object with its `name` and `uid`.
    Custom(Text<'a>),
}

/// The trace class: the trace's name and environment.
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceClass<'a> {
    name: Option<JsonString<Text<'a>>>,
    namespace: Option<JsonString<Text<'a>>>,
    uid: Option<JsonString<Text<'a>>>,
    environment: Option<Text<'a>>,
}

impl<'a> TraceClass<'a> {
    /// The name.
    pub const fn name(&self) -> Option<JsonString<Text<'a>>> {
        self.name
    }

    /// The namespace of its name and unique identifier.
    pub const fn namespace(&self) -> Option<JsonString<Text<'a>>> {
        self.namespace
    }

    /// The identifier that tells this trace from others of the same name.
    pub const fn uid(&self) -> Option<JsonString<Text<'a>>> {
        self.uid
    }

    /// The environment in which it was recorded: such as `hostname` and `tracer_name`.
    pub const fn environment(&self) -> Environment<'a> {
        Environment(match self.environment {
            Some(text) => Some(Members::new(text, TRACE_CLASS)),
            None => None,
        })
    }
}

/// A value of a trace's environment.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum EnvironmentValue<'a> {
    /// An integer.
    Integer(i128),
    /// A string.
    String(JsonString<Text<'a>>),
    /// Anything else, which CTF 2 does not allow, as JSON.
    Other(Text<'a>),
}

/// The entries of a trace's environment, in the order in which they stand.
///
/// After an error it ends.
#[derive(Clone, Debug)]
pub struct Environment<'a>(Option<Members<'a>>);

impl<'a> Environment<'a> {
    /// The next entry, with the text of its value.
    pub(in crate::ctf) fn next_entry(
        &mut self,
    ) -> Option<Result<(JsonString<Text<'a>>, EnvironmentValue<'a>, Text<'a>)>> {
        let member = self.0.as_mut()?.next()?;
        Some(member.and_then(|(name, text)| {
            let value = match Parser::new(text, TRACE_CLASS).next_event()? {
                Some(Event::String(string)) => EnvironmentValue::String(string),
                Some(Event::Number(number)) => {
                    number.as_i128().map_or(EnvironmentValue::Other(text), EnvironmentValue::Integer)
                }
                _ => EnvironmentValue::Other(text),
            };
            Ok((name, value, text))
        }))
    }
}

impl<'a> Iterator for Environment<'a> {
    type Item = Result<(JsonString<Text<'a>>, EnvironmentValue<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.next_entry()?.map(|(name, value, _)| (name, value)))
    }
}

impl FusedIterator for Environment<'_> {}

fn text<'a>(value: Text<'a>, element: Element) -> Result<JsonString<Text<'a>>> {
    string(value)?.ok_or_else(|| unexpected(value.offset(), value, element, "a string"))
}

fn unsigned(value: Text<'_>, element: Element) -> Result<u64> {
    match Parser::new(value, element).next_event()? {
        Some(Event::Number(number)) => number.as_u64(),
        _ => None,
    }
    .ok_or_else(|| unexpected(value.offset(), value, element, "an integer of 64 bits, not negative"))
}

fn signed(value: Text<'_>, element: Element) -> Result<i64> {
    match Parser::new(value, element).next_event()? {
        Some(Event::Number(number)) => number.as_i64(),
        _ => None,
    }
    .ok_or_else(|| unexpected(value.offset(), value, element, "an integer of 64 bits"))
}

/// An array of 16 integers, each a byte.
fn uuid(value: Text<'_>) -> Result<Uuid> {
    let wrong = |offset| unexpected(offset, value, PREAMBLE, "an array of 16 integers from 0 to 255");
    let mut parser = Parser::new(value, PREAMBLE);
    if !matches!(parser.next_event()?, Some(Event::ArrayStart)) {
        return Err(wrong(parser.event_offset()));
    }
    let mut bytes = [0; 16];
    for byte in &mut bytes {
        let number = match parser.next_event()? {
            Some(Event::Number(number)) => number.as_u64().and_then(|number| u8::try_from(number).ok()),
            _ => None,
        };
        *byte = number.ok_or_else(|| wrong(parser.event_offset()))?;
    }
    match parser.next_event()? {
        Some(Event::ArrayEnd) => Ok(Uuid::new(bytes)),
        _ => Err(wrong(parser.event_offset())),
    }
}

/// Seconds and cycles.
fn offset(value: Text<'_>) -> Result<(i64, u64)> {
    let mut sum = (0, 0);
    for member in Members::new(value, CLOCK_CLASS) {
        let (name, value) = member?;
        if name == "seconds" {
            sum.0 = signed(value, CLOCK_CLASS)?;
        } else if name == "cycles" {
            sum.1 = unsigned(value, CLOCK_CLASS)?;
        }
    }
    Ok(sum)
}

fn origin<'a>(value: Text<'a>) -> Result<ClockOrigin<'a>> {
    Ok(match Parser::new(value, CLOCK_CLASS).next_event()? {
        Some(Event::String(name)) if name.is("unix-epoch") => ClockOrigin::UnixEpoch,
        Some(Event::String(name)) => ClockOrigin::Other(name),
        Some(Event::ObjectStart) => {
            let (mut has_name, mut has_uid) = (false, false);
            for member in Members::new(value, CLOCK_CLASS) {
                let (name, value) = member?;
                text(value, CLOCK_CLASS)?;
                (has_name, has_uid) = (has_name || name == "name", has_uid || name == "uid");
            }
            if !has_name || !has_uid {
                return Err(Error::new(value.offset(), CLOCK_CLASS, ErrorKind::Missing));
            }
            ClockOrigin::Custom(value)
        }
        _ => return Err(unexpected(value.offset(), value, CLOCK_CLASS, "a string or an object")),
    })
}
