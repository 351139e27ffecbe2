//! Streams as a Meta declares them.

use crate::Error;
use crate::error::{ErrorKind, Result};
use crate::json::{Event, Members, Number, Parser};
use crate::rtc::element::META;
use crate::rtc::name::{Name, name_hash};
use crate::rtc::{Decimal, Format, work};
use crate::text::Text;

/// A stream, as its object in a Meta declares it.
///
/// The attributes that the document knows have accessors; all of them are in [`attributes`](Self::attributes).
/// Attributes are read from the object's text on each call.
#[derive(Clone, Copy, Debug)]
pub struct Stream<'a> {
    id: u64,
    length: Option<u64>,
    format: Format,
    damage: Option<ErrorKind>,
    object: Text<'a>,
    links: Links,
    fingerprint: u64,
}

/// What a stream is called and which clocks it names, as hashes; 0 where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Links {
    pub(crate) name: u64,
    pub(crate) clock: u64,
    pub(crate) delta: u64,
    pub(crate) is_clock: bool,
}

impl<'a> Stream<'a> {
    /// Reads an object. It is read as far as it goes if it is damaged, and refused if it has no id.
    #[inline(never)]
    pub(crate) fn parse(object: Text<'a>, damage: Option<Error>) -> Result<Self> {
        let (links, fingerprint) = (Links::default(), fingerprint(object));
        let mut stream =
            Self { id: 0, length: None, format: Format::Raw, damage: None, object, links, fingerprint };
        stream.damage = damage.map(|error| error.kind());
        let mut id = None;
        let (mut by_format, mut by_type) = (None, None);
        let mut fault = None;
        for (key, value) in stream.members() {
            let event = value.event();
            let text = if let Some(Event::String(text)) = event { Some(text) } else { None };
            let hash = || text.map_or(0, name_hash);
            match KEYS.iter().position(|known| key.is(known)) {
                Some(ID) => match event {
                    Some(Event::Number(number)) if number.as_u64().is_some() => id = id.or(number.as_u64()),
                    _ => fault = fault.or(Some(value.invalid())),
                },
                Some(LENGTH) => match value.length() {
                    Ok(length) => stream.length = length,
                    Err(error) => fault = fault.or(Some(error)),
                },
                Some(FORMAT) => by_format = text.map(Format::from_text),
                Some(TYPE) => by_type = text.map(Format::from_text),
                Some(NAME) => stream.links.name = hash(),
                Some(DELTA) => stream.links.delta = hash(),
                Some(CLOCK) => {
                    stream.links.is_clock = matches!(event, Some(Event::Bool(true)));
                    stream.links.clock = hash();
                }
                _ => {}
            }
        }
        // Split at the limit, the writer begins the chunk `{"id":` anew: `{"i` `{"i193,…`.
        let id = id.or_else(|| damage.and_then(|_| restarted_id(object)));
        let missing = Error::new(object.offset(), META, ErrorKind::Missing);
        let Some(id) = id else { return Err(fault.or(damage).unwrap_or(missing)) };
        if id < FIRST_USER {
            return Err(Error::new(object.offset(), META, ErrorKind::Invalid { value: id }));
        }
        stream.id = id;
        stream.damage = stream.damage.or(fault.map(|error| error.kind()));
        stream.format = by_format.or(by_type).unwrap_or(Format::Raw);
        Ok(stream)
    }

    /// A stream of which nothing is known but that it may exist.
    pub(crate) fn unknown(id: u64) -> Self {
        let damage = Some(ErrorKind::Missing);
        let links = Links::default();
        let object = Text::default();
        Self { id, length: None, format: Format::Raw, damage, object, links, fingerprint: id }
    }

    /// A number that is the same for objects that say the same in the same words, and not 0.
    pub(crate) const fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    pub(crate) const fn links(&self) -> Links {
        self.links
    }

    /// True if `other` says something else: another text, and neither of them is known to be damaged.
    pub(crate) fn contradicts(&self, other: &Self) -> bool {
        let is_sound = |stream: &Self| stream.damage.is_none() && !stream.object.is_split();
        is_sound(self) && is_sound(other) && self.object.as_slice() != other.object.as_slice()
    }

    /// Its number, at least 9.
    pub const fn id(&self) -> u64 {
        self.id
    }

    /// The length of each of its records, if that is fixed: its frames state none.
    pub const fn length(&self) -> Option<u64> {
        self.length
    }

    /// How to read its payload.
    #[doc(alias = "type")]
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The object's text in the Meta.
    pub const fn object(&self) -> Text<'a> {
        self.object
    }

    /// What is wrong with the object; what could be read of it is given all the same.
    ///
    /// The deployed writer damages every object that a limit of 1024 bytes in a Meta falls into.
    pub fn damage(&self) -> Option<Error> {
        self.damage.map(|kind| Error::new(self.object.offset(), META, kind))
    }

    /// Its name.
    pub fn name(&self) -> Option<Name<'a>> {
        self.named("name")
    }

    /// The name of its format: `format`, or `type` as some examples of the document have it.
    #[doc(alias = "type")]
    pub fn format_name(&self) -> Option<Name<'a>> {
        self.named("format").or_else(|| self.named("type"))
    }

    /// True if its records continue each other, as those of a terminal do.
    pub fn cont(&self) -> bool {
        self.attribute("cont").is_some_and(|value| value.as_bool() == Some(true))
    }

    /// Its relation to a clock.
    pub fn clock(&self) -> Option<ClockLink<'a>> {
        let value = self.attribute("clock")?;
        match value.as_bool() {
            Some(true) => Some(ClockLink::IsClock),
            Some(false) => None,
            None => value.as_name().map(ClockLink::Named),
        }
    }

    /// The name of the clock that it belongs to, if it is not one itself.
    pub(crate) fn clock_name(&self) -> Option<Name<'a>> {
        self.named("clock")
    }

    /// The name of the clock that this one counts from.
    pub fn delta(&self) -> Option<Name<'a>> {
        self.named("delta")
    }

    /// The name of the stream that this one annotates.
    pub fn stream(&self) -> Option<Name<'a>> {
        self.named("stream")
    }

    /// What a raw value is multiplied with; `None` if the object does not say.
    ///
    /// # Errors
    ///
    /// [`Unexpected`](ErrorKind::Unexpected) if it is no number, or one that no `f64` can hold.
    pub fn gain(&self) -> Result<Option<Decimal>> {
        self.decimal("gain")
    }

    /// What is then added; `None` if the object does not say.
    ///
    /// # Errors
    ///
    /// As for [`gain`](Self::gain).
    pub fn offset(&self) -> Result<Option<Decimal>> {
        self.decimal("offset")
    }

    fn decimal(&self, name: &str) -> Result<Option<Decimal>> {
        let Some(value) = self.attribute(name) else { return Ok(None) };
        match value.event() {
            Some(Event::Null) => Ok(None),
            Some(Event::Number(_)) => match value.as_decimal() {
                Some(decimal) => Ok(Some(decimal)),
                None => Err(value.unexpected("a number that a float can hold")),
            },
            _ => Err(value.unexpected("a number")),
        }
    }

    /// What the attribute of that name names.
    fn named(&self, name: &str) -> Option<Name<'a>> {
        self.attribute(name)?.as_name()
    }

    /// The attribute of that name.
    #[inline(never)]
    pub fn attribute(&self, name: &str) -> Option<Value<'a>> {
        self.members().find(|(key, _)| key.is(name)).map(|(_, value)| value)
    }

    /// All attributes: name and JSON value.
    pub fn attributes(&self) -> impl Iterator<Item = (Name<'a>, Value<'a>)> + use<'a> {
        self.members()
    }

    /// The members up to the first fault, and of a damaged object those of its second piece, too.
    fn members(&self) -> Attributes<'a> {
        work::count(self.object.len());
        let (head, tail) = self.object.pieces();
        let split = self.damage.is_some() && self.object.is_split();
        let first = if split { Text::new(head, self.object.offset()) } else { self.object };
        // The second piece lacks the brace that a parser wants.
        let second = Text::new(b"{", self.object.tail_offset()).with_tail(tail, self.object.tail_offset());
        let mut parser = Parser::new(first, META);
        Attributes { is_open: is_object(&mut parser), parser, second: split.then_some(second) }
    }
}

/// The members of an object that may be in two pieces.
struct Attributes<'a> {
    parser: Parser<Text<'a>>,
    is_open: bool,
    second: Option<Text<'a>>,
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (Name<'a>, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.is_open
                && let Some(Ok((key, value))) = Members::of(&mut self.parser).next()
            {
                return Some((key, Value(value)));
            }
            self.is_open = false;
            self.parser = Parser::new(self.second.take()?, META);
            self.is_open = is_object(&mut self.parser);
        }
    }
}

/// True if there is an object, by its brace.
fn is_object(parser: &mut Parser<Text<'_>>) -> bool {
    matches!(parser.next_event(), Ok(Some(Event::ObjectStart)))
}

/// The names of the attributes that are read at once.
const KEYS: [&str; 7] = ["id", "length", "format", "type", "name", "delta", "clock"];
const ID: usize = 0;
const LENGTH: usize = 1;
const FORMAT: usize = 2;
const TYPE: usize = 3;
const NAME: usize = 4;
const DELTA: usize = 5;
const CLOCK: usize = 6;

/// FNV-1a.
fn fingerprint(object: Text<'_>) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    object.bytes().fold(0xcbf2_9ce4_8422_2325, step).max(1)
}

/// The first id of the user's streams.
const FIRST_USER: u64 = 9;

/// The number of an object whose beginning was written twice.
fn restarted_id(object: Text<'_>) -> Option<u64> {
    let (_, tail) = object.pieces();
    let again = b"{\"id\":".iter().zip(tail).take_while(|(a, b)| a == b).count();
    let rest = tail.get(again..)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if again == 0 || digits == 0 || rest.get(digits) != Some(&b',') {
        return None;
    }
    let Ok(Some(Event::Number(number))) = Parser::new(Text::new(rest.get(..digits)?, 0), META).next_event()
    else {
        return None;
    };
    number.as_u64()
}

/// How a stream relates to a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockLink<'a> {
    /// It is one.
    IsClock,
    /// It belongs to the clock of this name.
    Named(Name<'a>),
}

/// A JSON value of an attribute.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a>(Text<'a>);

impl<'a> Value<'a> {
    fn event(&self) -> Option<Event<Text<'a>>> {
        Parser::new(self.0, META).next_event().ok().flatten()
    }

    /// Its text.
    pub const fn text(&self) -> Text<'a> {
        self.0
    }

    /// The string, if it is one.
    pub fn as_name(&self) -> Option<Name<'a>> {
        match self.event()? {
            Event::String(text) => Some(text),
            _ => None,
        }
    }

    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.event()? {
            Event::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The number, if it is one that a [`Decimal`] holds.
    pub fn as_decimal(&self) -> Option<Decimal> {
        Decimal::parse(self.as_number()?.text())
    }

    /// The number, if it is a whole one of 64 bits.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    fn as_number(&self) -> Option<Number<Text<'a>>> {
        match self.event()? {
            Event::Number(number) => Some(number),
            _ => None,
        }
    }

    fn length(&self) -> Result<Option<u64>> {
        match self.event() {
            Some(Event::Null) => Ok(None),
            Some(Event::Number(number)) => match (number.as_u64(), number.as_i64()) {
                (Some(length), _) => Ok(Some(length)),
                (None, Some(value)) => Err(Error::new(self.0.offset(), META, ErrorKind::Negative { value })),
                _ => Err(self.invalid()),
            },
            _ => Err(self.invalid()),
        }
    }

    fn invalid(&self) -> Error {
        self.unexpected("a whole number")
    }

    fn unexpected(&self, expected: &'static str) -> Error {
        let byte = self.0.bytes().next().unwrap_or(0);
        Error::new(self.0.offset(), META, ErrorKind::Unexpected { byte, expected })
    }
}
