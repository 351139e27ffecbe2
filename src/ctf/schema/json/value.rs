//! Values of properties: numbers, names, ranges, mappings, locations, roles.

use super::super::element::{FIELD_CLASS, FIELD_LOCATION, RANGE, ROLE};
use super::super::node::{ESCAPED, LAST, NONE, Place, SPLIT, role};
use super::super::scope::Scope;
use super::super::spec::{Step, TextPlace};
use super::compiler::{Compiler, Json};
use crate::error::{Element, Error, ErrorKind, Result};
use crate::json::{Event, Str};

const ROLES: [(&str, u16); 11] = [
    ("packet-magic-number", role::MAGIC),
    ("metadata-stream-uuid", role::UUID),
    ("data-stream-class-id", role::STREAM_CLASS_ID),
    ("data-stream-id", role::STREAM_ID),
    ("packet-total-length", role::TOTAL_LENGTH),
    ("packet-content-length", role::CONTENT_LENGTH),
    ("default-clock-timestamp", role::TIMESTAMP),
    ("packet-end-default-clock-timestamp", role::END_TIMESTAMP),
    ("discarded-event-record-counter-snapshot", role::DISCARDED),
    ("packet-sequence-number", role::SEQUENCE),
    ("event-record-class-id", role::EVENT_CLASS_ID),
];

/// The place of a name.
pub(super) fn place<'a, S: Json<'a>>(string: Str<S>, element: Element) -> Result<Place> {
    text_place(string.raw(), string.has_escapes(), element)?.short(element)
}

pub(super) fn text_place<'a, S: Json<'a>>(raw: S, has_escapes: bool, element: Element) -> Result<TextPlace> {
    let mut flags = if has_escapes { ESCAPED } else { 0 };
    if raw.together().is_none() {
        flags |= SPLIT;
    }
    TextPlace::new(raw.offset(), raw.size(), flags, element)
}

impl<'a, S: Json<'a>> Compiler<'_, '_, 'a, S> {
    /// The next event; at the end of the text, an error.
    pub(super) fn event(&mut self) -> Result<Event<S>> {
        let event = self.parser.next_event()?;
        if let (Some(Event::Key(string) | Event::String(string)), false) = (&event, self.is_utf8) {
            string.check_utf8()?;
        }
        event.ok_or_else(|| self.wrong(FIELD_CLASS, "a value"))
    }

    /// The error that what was read last is something else than `expected`.
    #[cold]
    pub(super) fn wrong(&self, element: Element, expected: &'static str) -> Error {
        let offset = self.parser.event_offset();
        let byte = self.stream.byte_at(offset);
        Error::new(offset, element, ErrorKind::Unexpected { byte, expected })
    }

    /// Skips a value, whatever it is.
    pub(super) fn skip(&mut self) -> Result<()> {
        self.parser.value_text().map(drop)
    }

    pub(super) fn text(&mut self, element: Element) -> Result<Str<S>> {
        match self.event()? {
            Event::String(string) => Ok(string),
            _ => Err(self.wrong(element, "a string")),
        }
    }

    /// A string as a place.
    pub(super) fn name(&mut self, element: Element) -> Result<Place> {
        place(self.text(element)?, element)
    }

    pub(super) fn unsigned(&mut self, element: Element) -> Result<u64> {
        let number = match self.event()? {
            Event::Number(number) => number.as_u64(),
            _ => None,
        };
        number.ok_or_else(|| self.wrong(element, "an integer of 64 bits, not negative"))
    }

    pub(super) fn array(&mut self, element: Element) -> Result<()> {
        match self.event()? {
            Event::ArrayStart => Ok(()),
            _ => Err(self.wrong(element, "an array")),
        }
    }

    pub(super) fn object(&mut self, element: Element) -> Result<()> {
        match self.event()? {
            Event::ObjectStart => Ok(()),
            _ => Err(self.wrong(element, "an object")),
        }
    }

    /// The name of the next member of an object; `None` at its end.
    pub(super) fn key(&mut self) -> Result<Option<Str<S>>> {
        match self.event()? {
            Event::Key(name) => Ok(Some(name)),
            _ => Ok(None),
        }
    }

    /// An alignment: the logarithm of a power of two.
    pub(super) fn alignment(&mut self) -> Result<u8> {
        let value = self.unsigned(FIELD_CLASS)?;
        match u8::try_from(value.trailing_zeros()) {
            Ok(log2) if value.is_power_of_two() => Ok(log2),
            _ => Err(Error::new(self.parser.event_offset(), FIELD_CLASS, ErrorKind::Invalid { value })),
        }
    }

    pub(super) fn roles(&mut self) -> Result<u16> {
        self.array(ROLE)?;
        let mut roles = 0;
        loop {
            match self.event()? {
                Event::ArrayEnd => return Ok(roles),
                Event::String(name) => match ROLES.iter().find(|(known, _)| name.is(known)) {
                    Some((_, role)) => roles |= role,
                    None => return Err(self.wrong(ROLE, "a role that CTF 2 defines")),
                },
                _ => return Err(self.wrong(ROLE, "a string")),
            }
        }
    }

    /// An array of ranges: the first one's node, the last one's, and how many.
    pub(super) fn ranges(&mut self) -> Result<(u32, u32, u32)> {
        self.array(RANGE)?;
        let mut first = NONE;
        let mut last = NONE;
        let mut count = 0_u32;
        loop {
            match self.event()? {
                Event::ArrayStart => {}
                Event::ArrayEnd if first != NONE => return Ok((first, last, count)),
                _ => return Err(self.wrong(RANGE, "a range")),
            }
            let offset = self.parser.event_offset();
            let (lo, hi) = (self.end_of_range()?, self.end_of_range()?);
            if !matches!(self.event()?, Event::ArrayEnd) {
                return Err(self.wrong(RANGE, "two integers"));
            }
            let node = if lo <= hi { self.builder.range(lo, hi)? } else { None };
            let Some(node) = node else {
                let expected = "two integers of 64 bits in ascending order";
                let byte = self.stream.byte_at(offset);
                return Err(Error::new(offset, RANGE, ErrorKind::Unexpected { byte, expected }));
            };
            if first == NONE {
                first = node;
            }
            last = node;
            count = count.saturating_add(1);
        }
    }

    fn end_of_range(&mut self) -> Result<i128> {
        let number = match self.event()? {
            Event::Number(number) => number.as_i128(),
            _ => None,
        };
        number.ok_or_else(|| self.wrong(RANGE, "an integer of 64 bits"))
    }

    /// An object of ranges: the first label.
    pub(super) fn labels(&mut self) -> Result<u32> {
        self.object(FIELD_CLASS)?;
        let mut first = NONE;
        let mut last = NONE;
        while let Some(name) = self.key()? {
            let place = place(name, FIELD_CLASS)?;
            let label = self.builder.label(place)?;
            let (_, _, count) = self.ranges()?;
            self.builder.update(label, |node| node.size = count);
            if first == NONE {
                first = label;
            }
            last = label;
        }
        self.builder.update(last, |node| node.set(LAST, true));
        Ok(first)
    }

    /// The object of a field location: its first node.
    pub(super) fn location(&mut self) -> Result<u32> {
        self.object(FIELD_LOCATION)?;
        let offset = self.parser.event_offset();
        let mut origin = None;
        let mut first = NONE;
        let mut last = NONE;
        while let Some(name) = self.key()? {
            if name.is("origin") {
                let name = self.text(FIELD_LOCATION)?;
                let scope = Scope::ALL.into_iter().find(|scope| name.is(scope.name()));
                origin = Some(scope.ok_or_else(|| self.wrong(FIELD_LOCATION, "a scope"))?);
            } else if name.is("path") {
                if first != NONE {
                    return Err(self.wrong(FIELD_LOCATION, "one path"));
                }
                self.array(FIELD_LOCATION)?;
                loop {
                    let step = match self.event()? {
                        Event::ArrayEnd => break,
                        Event::Null => Step::Up,
                        Event::String(name) => Step::Name(place(name, FIELD_LOCATION)?),
                        _ => return Err(self.wrong(FIELD_LOCATION, "a string or null")),
                    };
                    last = self.builder.step(None, step)?;
                    if first == NONE {
                        first = last;
                    }
                }
            } else {
                self.skip()?;
            }
        }
        if first == NONE {
            return Err(Error::new(offset, FIELD_LOCATION, ErrorKind::Missing));
        }
        self.builder.end_list(last);
        if let Some(scope) = origin {
            self.builder.update(first, |node| node.slot = scope.number());
        }
        Ok(first)
    }
}
