//! Streams as a Meta declares them.

use crate::Error;
use crate::error::{ErrorKind, Result};
use crate::json::{Number, Source, Tokens};
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
}

/// The hashes of a stream's name and of the names of its clocks; 0 where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Links {
    pub(crate) name: u64,
    pub(crate) clock: u64,
    pub(crate) delta: u64,
    pub(crate) is_clock: bool,
}

impl<'a> Stream<'a> {
    /// An empty stream, to fill slots with.
    pub(super) const EMPTY: Self = Self::unknown(0);

    /// Reads an object. It is read as far as it goes if it is damaged, and refused if it has no id.
    #[inline(never)]
    pub(crate) fn parse(object: Text<'a>, damage: Option<Error>) -> Result<Self> {
        let mut stream = Self { object, damage: damage.map(|error| error.kind()), ..Self::EMPTY };
        let (mut id, mut by_format, mut by_type, mut fault) = (None, None, None, None);
        for (key, value) in stream.members() {
            let Some(key) = KEYS.iter().find(|known| key.is(known)) else { continue };
            let name = value.as_name();
            let hash = name.map_or(0, name_hash);
            match *key {
                "id" => match value.as_u64() {
                    Some(number) => id = id.or(Some(number)),
                    None => fault = fault.or(Some(value.unexpected("a whole number"))),
                },
                "length" => match value.length() {
                    Ok(length) => stream.length = length,
                    Err(error) => fault = fault.or(Some(error)),
                },
                "format" => by_format = name.map(Format::from_text),
                "type" => by_type = name.map(Format::from_text),
                "name" => stream.links.name = hash,
                "delta" => stream.links.delta = hash,
                _ => {
                    stream.links.is_clock = value.as_bool() == Some(true);
                    stream.links.clock = hash;
                }
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
    pub(crate) const fn unknown(id: u64) -> Self {
        let links = Links { name: 0, clock: 0, delta: 0, is_clock: false };
        let damage = Some(ErrorKind::Missing);
        Self { id, length: None, format: Format::Raw, damage, object: Text::new(&[], 0), links }
    }

    /// A number that is the same for objects that say the same in the same words, and not 0.
    pub(crate) fn fingerprint(&self) -> u64 {
        // FNV-1a. Of an unknown one, all that is known.
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.object.bytes().fold(0xcbf2_9ce4_8422_2325 ^ self.id, step).max(1)
    }

    pub(crate) const fn links(&self) -> Links {
        self.links
    }

    /// True if `other` says something else: another text, and neither of them is known to be damaged.
    pub(crate) fn contradicts(&self, other: &Self) -> bool {
        let is_sound = |stream: &Self| stream.damage.is_none() && !stream.object.is_split();
        is_sound(self) && is_sound(other) && self.object.as_slice() != other.object.as_slice()
    }

    /// The number of the stream, at least 9.
    pub const fn id(&self) -> u64 {
        self.id
    }

    /// The length of each of its records, if that is fixed: its frames state none.
    pub const fn length(&self) -> Option<u64> {
        self.length
    }

    /// The format of its payload.
    #[doc(alias = "type")]
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The object's text in the Meta.
    pub const fn object(&self) -> Text<'a> {
        self.object
    }

    /// The fault of the object, if it has one; whatever could be read of it is given all the same.
    ///
    /// The deployed writer damages every object that a limit of 1024 bytes in a Meta falls into.
    pub fn damage(&self) -> Option<Error> {
        self.damage.map(|kind| Error::new(self.object.offset(), META, kind))
    }

    /// The name.
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

    /// The relation to a clock.
    pub fn clock(&self) -> Option<ClockLink<'a>> {
        if self.links.is_clock {
            return Some(ClockLink::IsClock);
        }
        self.clock_name().map(ClockLink::Named)
    }

    /// The name of the clock that it belongs to, if it is not one itself.
    pub(super) fn clock_name(&self) -> Option<Name<'a>> {
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

    /// The factor of raw values; `None` if the object does not say.
    ///
    /// # Errors
    ///
    /// [`Unexpected`](ErrorKind::Unexpected) if it is no number, or one that no `f64` can hold.
    pub fn gain(&self) -> Result<Option<Decimal>> {
        self.decimal("gain")
    }

    /// The summand of values after the gain; `None` if the object does not say.
    ///
    /// # Errors
    ///
    /// As for [`gain`](Self::gain).
    pub fn offset(&self) -> Result<Option<Decimal>> {
        self.decimal("offset")
    }

    fn decimal(&self, name: &str) -> Result<Option<Decimal>> {
        match self.attribute(name) {
            Some(value) if !value.is(b"null") => match value.as_decimal() {
                Some(decimal) => Ok(Some(decimal)),
                None if value.is_number() => Err(value.unexpected("a number that a float can hold")),
                None => Err(value.unexpected("a number")),
            },
            _ => Ok(None),
        }
    }

    /// The attribute of that name, if it is a string.
    fn named(&self, name: &str) -> Option<Name<'a>> {
        self.attribute(name)?.as_name()
    }

    /// The attribute of that name.
    #[inline(never)]
    pub fn attribute(&self, name: &str) -> Option<Value<'a>> {
        self.members().find(|(key, _)| key.is(name)).map(|(_, value)| value)
    }

    /// Each attribute: name and JSON value.
    pub fn attributes(&self) -> impl Iterator<Item = (Name<'a>, Value<'a>)> + use<'a> {
        self.members()
    }

    /// The members up to the first fault, and of a damaged object those of its second piece, too.
    fn members(&self) -> Attributes<'a> {
        work::count(self.object.len());
        let (head, tail) = self.object.pieces();
        let split = self.damage.is_some() && self.object.is_split();
        let first = if split { Text::new(head, self.object.offset()) } else { self.object };
        let second = split.then(|| Text::new(tail, self.object.tail_offset()));
        Attributes { tokens: Tokens::new(first, META), second }
    }
}

/// The members of an object that may be in two pieces.
struct Attributes<'a> {
    tokens: Tokens<Text<'a>>,
    second: Option<Text<'a>>,
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (Name<'a>, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((key, value)) = self.tokens.next_member() {
                return Some((key, Value(value)));
            }
            self.tokens = Tokens::new(self.second.take()?, META);
        }
    }
}

/// The names of the attributes that are read at once.
const KEYS: [&str; 7] = ["id", "length", "format", "type", "name", "delta", "clock"];

/// The first id of the user's streams.
const FIRST_USER: u64 = 9;

/// The number of an object whose beginning was written twice.
fn restarted_id(object: Text<'_>) -> Option<u64> {
    let (_, tail) = object.pieces();
    let again = b"{\"id\":".iter().zip(tail).take_while(|(a, b)| a == b).count();
    let rest = tail.get(again..)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if again == 0 || rest.get(digits) != Some(&b',') {
        return None;
    }
    Tokens::new(Text::new(rest.get(..digits)?, 0), META).number().ok()?.as_u64()
}

/// The relation of a stream to a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockLink<'a> {
    /// The stream is a clock.
    IsClock,
    /// The stream belongs to the clock of this name.
    Named(Name<'a>),
}

/// A JSON value of an attribute.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a>(Text<'a>);

impl<'a> Value<'a> {
    /// The text of the value.
    pub const fn text(&self) -> Text<'a> {
        self.0
    }

    /// The string, if it is one.
    pub fn as_name(&self) -> Option<Name<'a>> {
        if self.first() != b'"' {
            return None;
        }
        Tokens::new(self.0, META).string().ok()
    }

    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        let is_true = self.is(b"true");
        (is_true || self.is(b"false")).then_some(is_true)
    }

    /// The number, if it is one that a [`Decimal`] holds.
    pub fn as_decimal(&self) -> Option<Decimal> {
        if self.is_number() { Decimal::parse(self.0) } else { None }
    }

    /// The number, if it is a whole one of 64 bits.
    pub fn as_u64(&self) -> Option<u64> {
        self.number()?.as_u64()
    }

    fn number(&self) -> Option<Number<Text<'a>>> {
        if self.is_number() { Tokens::new(self.0, META).number().ok() } else { None }
    }

    fn first(&self) -> u8 {
        self.0.front().first().copied().unwrap_or(0)
    }

    fn is_number(&self) -> bool {
        matches!(self.first(), b'-' | b'0'..=b'9')
    }

    fn is(&self, text: &[u8]) -> bool {
        self.0.bytes().eq(text.iter().copied())
    }

    fn length(&self) -> Result<Option<u64>> {
        if self.is(b"null") {
            return Ok(None);
        }
        match (self.as_u64(), self.number().and_then(Number::as_i64)) {
            (Some(length), _) => Ok(Some(length)),
            (None, Some(value)) => Err(Error::new(self.0.offset(), META, ErrorKind::Negative { value })),
            _ => Err(self.unexpected("a whole number")),
        }
    }

    fn unexpected(&self, expected: &'static str) -> Error {
        Error::new(self.0.offset(), META, ErrorKind::Unexpected { byte: self.first(), expected })
    }
}
