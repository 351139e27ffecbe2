//! Streams as a Meta declares them, and the table of those of a session.

use crate::error::{ErrorKind, Result};
use crate::json::{Event, Members, Number, Parser};
use crate::rtc::{Decimal, Format, META, Name, Text};
use crate::{Error, bytes::to_u64};

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
}

impl<'a> Stream<'a> {
    /// Reads an object. It is read as far as it goes if it is damaged, and refused if it has no id.
    pub(crate) fn parse(object: Text<'a>, damage: Option<Error>) -> Result<Self> {
        let mut stream = Self { id: 0, length: None, format: Format::Raw, damage: None, object };
        stream.damage = damage.map(|error| error.kind());
        let mut id = None;
        let mut type_name = None;
        let mut format_name = None;
        let mut fault = None;
        for (key, value) in stream.members() {
            if key.is("id") {
                match value.as_number().and_then(|number| number.as_u64()) {
                    Some(number) => id = id.or(Some(number)),
                    None => fault = fault.or(Some(value.invalid())),
                }
            } else if key.is("length") {
                match value.length() {
                    Ok(length) => stream.length = length,
                    Err(error) => fault = fault.or(Some(error)),
                }
            } else if key.is("format") {
                format_name = value.as_name();
            } else if key.is("type") {
                type_name = value.as_name();
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
        stream.format = format_name.or(type_name).map_or(Format::Raw, Format::of_name);
        Ok(stream)
    }

    /// A stream of which nothing is known but that it may exist.
    pub(crate) fn unknown(id: u64) -> Self {
        let damage = Some(ErrorKind::Missing);
        Self { id, length: None, format: Format::Raw, damage, object: Text::default() }
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
        self.attribute("name")?.as_name()
    }

    /// The name of its format: `format`, or `type` as some examples of the document have it.
    pub fn format_name(&self) -> Option<Name<'a>> {
        self.attribute("format")
            .and_then(|value| value.as_name())
            .or_else(|| self.attribute("type")?.as_name())
    }

    /// Whether its records continue each other, as those of a terminal do.
    pub fn cont(&self) -> bool {
        self.attribute("cont").is_some_and(|value| value.as_bool() == Some(true))
    }

    /// Its relation to a clock.
    pub fn clock(&self) -> Option<ClockOf<'a>> {
        let value = self.attribute("clock")?;
        match value.as_bool() {
            Some(true) => Some(ClockOf::Own),
            Some(false) => None,
            None => value.as_name().map(ClockOf::Named),
        }
    }

    /// The name of the clock that this one counts from.
    pub fn delta(&self) -> Option<Name<'a>> {
        self.attribute("delta")?.as_name()
    }

    /// The name of the stream that this one annotates.
    pub fn stream(&self) -> Option<Name<'a>> {
        self.attribute("stream")?.as_name()
    }

    /// What a raw value is multiplied with.
    pub fn gain(&self) -> Option<Decimal> {
        self.attribute("gain")?.as_decimal()
    }

    /// What is then added.
    pub fn offset(&self) -> Option<Decimal> {
        self.attribute("offset")?.as_decimal()
    }

    /// The attribute of that name.
    pub fn attribute(&self, name: &str) -> Option<Value<'a>> {
        self.members().find(|(key, _)| key.is(name)).map(|(_, value)| value)
    }

    /// All attributes: name and JSON value.
    pub fn attributes(&self) -> impl Iterator<Item = (Name<'a>, Value<'a>)> + use<'a> {
        self.members()
    }

    /// The members up to the first fault, and of a damaged object those of its second piece, too.
    fn members(&self) -> impl Iterator<Item = (Name<'a>, Value<'a>)> + use<'a> {
        let (head, tail) = self.object.pieces();
        let split = self.damage.is_some() && self.object.is_split();
        let first = if split { Text::new(head, self.object.offset()) } else { self.object };
        // The second piece lacks the brace that a parser wants.
        let second = Text::new(b"{", self.object.tail_offset()).with_tail(tail, self.object.tail_offset());
        members_of(first).chain(split.then(|| members_of(second)).into_iter().flatten())
    }
}

/// The first id of the user's streams.
const FIRST_USER: u64 = 9;

/// An iterator over the members of the object in `text`, up to the first fault.
fn members_of<'a>(text: Text<'a>) -> impl Iterator<Item = (Name<'a>, Value<'a>)> {
    let mut parser = Parser::new(text, META);
    // Without the brace it ends at once.
    let opened = matches!(parser.next_event(), Ok(Some(Event::ObjectStart)));
    core::iter::from_fn(move || {
        if !opened {
            return None;
        }
        let (key, value) = Members::of(&mut parser).next()?.ok()?;
        Some((Name::new(key), Value(value)))
    })
}

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
pub enum ClockOf<'a> {
    /// It is one.
    Own,
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
            Event::String(text) => Some(Name::new(text)),
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
        let byte = self.0.bytes().next().unwrap_or(0);
        let expected = "a whole number";
        Error::new(self.0.offset(), META, ErrorKind::Unexpected { byte, expected })
    }
}

/// The streams of a session, at most `N`.
///
/// ```
/// use traceglass::rtc::{Meta, Streams};
///
/// let mut streams = Streams::<4>::new();
/// let mut meta = Meta::new(br#"[{"id":9,"name":"adc","length":2,"format":"int16le"},10]"#, 0);
/// while let Some(stream) = meta.next_stream() {
///     streams.insert(stream?)?;
/// }
/// assert_eq!(streams.get(9).unwrap().length(), Some(2));
/// assert!(streams.by_name("adc").is_some());
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Streams<'a, const N: usize> {
    list: heapless::Vec<Stream<'a>, N>,
    /// Places in the list, by ascending id.
    order: heapless::Vec<u16, N>,
    /// How often the table has changed, and how often it was cleared.
    revision: u32,
    generation: u32,
}

impl<const N: usize> Default for Streams<'_, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, const N: usize> Streams<'a, N> {
    /// An empty table.
    pub const fn new() -> Self {
        const { assert!(N < 0xffff, "a table has fewer than 65,535 streams") };
        Self { list: heapless::Vec::new(), order: heapless::Vec::new(), revision: 0, generation: 0 }
    }

    /// Adds a stream, or replaces one of the same id that is damaged, or whose object lies in two pieces.
    ///
    /// Any other one stays: ids are never used again within a session.
    ///
    /// **Errors**: [`CapacityExceeded`](ErrorKind::CapacityExceeded).
    pub fn insert(&mut self, stream: Stream<'a>) -> Result<()> {
        if let Some(known) = self.place(stream.id).and_then(|place| self.list.get_mut(place)) {
            if known.damage.is_some() || known.object.is_split() {
                *known = stream;
                self.revision = self.revision.wrapping_add(1);
            }
            return Ok(());
        }
        let place = self.list.len();
        if self.list.push(stream).is_err() {
            let kind =
                ErrorKind::CapacityExceeded { capacity: to_u64(N), needed: to_u64(N).saturating_add(1) };
            return Err(Error::new(stream.object.offset(), META, kind));
        }
        self.revision = self.revision.wrapping_add(1);
        // As long as the list.
        let _ = self.order.push(u16::try_from(place).unwrap_or(u16::MAX));
        // Mostly they come in order, and nothing is moved.
        let mut at = place;
        while let Some(before) = at.checked_sub(1) {
            let id = |place: u16| self.list.get(usize::from(place)).map(|stream| stream.id);
            let Some([a, b]) = self.order.get_mut(before..=at) else { break };
            if id(*a) <= id(*b) {
                break;
            }
            core::mem::swap(a, b);
            at = before;
        }
        Ok(())
    }

    /// The stream of that id.
    pub fn get(&self, id: u64) -> Option<&Stream<'a>> {
        self.at(self.place(id)?)
    }

    /// The stream of that name; the first one, if several have it.
    pub fn by_name(&self, name: &str) -> Option<&Stream<'a>> {
        self.list.iter().find(|stream| stream.name().is_some_and(|own| own.is(name)))
    }

    /// Where in the table the stream of that id is.
    pub(crate) fn place(&self, id: u64) -> Option<usize> {
        let key = |place: &u16| self.list.get(usize::from(*place)).map_or(u64::MAX, Stream::id);
        let found = self.order.binary_search_by_key(&id, key).ok()?;
        self.order.get(found).map(|&place| usize::from(place))
    }

    /// The stream at a place, as [`Frame::place`](crate::rtc::Frame::place) gives it.
    #[inline]
    pub fn at(&self, place: usize) -> Option<&Stream<'a>> {
        self.list.get(place)
    }

    /// All, by ascending id.
    pub fn iter(&self) -> impl Iterator<Item = &Stream<'a>> {
        self.order.iter().filter_map(|&place| self.list.get(usize::from(place)))
    }

    /// A number that changes with the table.
    pub const fn revision(&self) -> u32 {
        self.revision
    }

    /// A number that changes with the session.
    pub(crate) const fn generation(&self) -> u32 {
        self.generation
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Forgets all: a new session begins.
    pub fn clear(&mut self) {
        self.revision = self.revision.wrapping_add(1);
        self.generation = self.generation.wrapping_add(1);
        self.list.clear();
        self.order.clear();
    }
}
