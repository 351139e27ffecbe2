#[cfg(feature = "ctf")]
use super::accept;
use super::tokens::Tokens;
use super::{Number, Source, Str};
use crate::error::{Element, Error, ErrorKind, Result};

/// Gives the length of the value at the front of a text, if it is seen to be valid.
type ValueLen = fn(&[u8]) -> Option<usize>;

/// The deepest nesting of a value that is skipped at once.
const LONG_DEPTH: u32 = u64::BITS - 2;

/// One step through a text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event<S> {
    ObjectStart,
    ObjectEnd,
    ArrayStart,
    ArrayEnd,
    /// The name of a member; its value follows.
    Key(Str<S>),
    String(Str<S>),
    Number(Number<S>),
    Bool(bool),
    Null,
}

/// The next tokens that the grammar allows.
#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    /// A value.
    Value,
    /// A value, or the end of the array.
    FirstElement,
    /// A member, or the end of the object.
    FirstMember,
    /// A comma, or the end of what is open.
    AfterValue,
    /// Nothing: the value is complete, or there was an error.
    Done,
}

/// A pull parser of one JSON value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parser<S> {
    tokens: Tokens<S>,
    element: Element,
    state: State,
    /// The number of containers that are open.
    depth: u32,
    /// The kinds of the open containers, the innermost in the lowest bit: 1 for an object.
    objects: u128,
    /// The kinds of the containers around those.
    outer: u128,
    /// The offset of the last event.
    event_offset: u64,
}

impl<'a, S: Source<'a>> Parser<S> {
    /// The deepest nesting that is read.
    pub(crate) const DEPTH: u32 = 2 * u128::BITS;

    /// A parser of the value at the front of `source`; errors name `element`.
    pub(crate) fn new(source: S, element: Element) -> Self {
        let event_offset = source.offset();
        Self {
            tokens: Tokens::new(source, element),
            element,
            state: State::Value,
            depth: 0,
            objects: 0,
            outer: 0,
            event_offset,
        }
    }

    /// The rest of the input: from the end of the last event, or from the fault.
    #[cfg(test)]
    pub(crate) fn rest(&self) -> S {
        self.tokens.rest()
    }

    /// Offset in the input at which the last event begins.
    pub(crate) fn event_offset(&self) -> u64 {
        self.event_offset
    }

    /// The next event; `None` after the value, and after an error.
    pub(crate) fn next_event(&mut self) -> Result<Option<Event<S>>> {
        let event = self.pull();
        if event.is_err() {
            self.state = State::Done;
        }
        event
    }

    /// Skips the value that comes next, which is checked, and gives its text; `None` if the array ends instead or
    /// the parser is done. The end of the array is yet to be pulled.
    pub(crate) fn value_text(&mut self) -> Result<Option<S>> {
        self.value_text_with(None)
    }

    /// The same, faster for long values, for more code.
    #[cfg(feature = "ctf")]
    pub(crate) fn long_value_text(&mut self) -> Result<Option<S>> {
        self.value_text_with(Some(accept::value_len))
    }

    /// The same; `quick` may know the length of the value at the front, if it is valid and nested at most as deep as
    /// [`LONG_DEPTH`].
    #[inline(always)]
    fn value_text_with(&mut self, quick: Option<ValueLen>) -> Result<Option<S>> {
        let outer = self.depth;
        if self.state == State::Done {
            return Ok(None);
        }
        if self.state == State::AfterValue && self.objects & 1 == 0 {
            // Between two elements: the comma belongs to neither.
            self.tokens.skip_space();
            if self.tokens.peek() == Some(b']') {
                return Ok(None);
            }
            if let Err(error) = self.comma() {
                self.state = State::Done;
                return Err(error);
            }
        }
        self.tokens.skip_space();
        let ends = self.state == State::FirstElement && self.tokens.peek() == Some(b']');
        if ends || !matches!(self.state, State::Value | State::FirstElement) {
            return Ok(None);
        }
        let start = self.tokens;
        let skipped = quick.is_some_and(|len| self.skip_at_once(len));
        if !skipped {
            while self.next_event()?.is_some() && self.depth > outer {}
        }
        Ok(Some(self.tokens.since(&start)))
    }

    /// Skips a value that lies together and is valid without its events.
    fn skip_at_once(&mut self, len: ValueLen) -> bool {
        let data = self.tokens.rest().front();
        if self.depth.saturating_add(LONG_DEPTH) > Self::DEPTH {
            return false;
        }
        let Some(len) = len(data) else { return false };
        // The last event would be the end of an object or array, or the value itself.
        let is_container = matches!(data.first(), Some(b'{' | b'['));
        self.tokens.advance(if is_container { len.saturating_sub(1) } else { 0 });
        self.event_offset = self.tokens.rest().offset();
        self.tokens.advance(if is_container { 1 } else { len });
        self.after_value();
        true
    }

    /// Checks that only white space follows the value.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.tokens.skip_space();
        match self.tokens.peek() {
            None => Ok(()),
            Some(_) => Err(self.tokens.fault("the end of the text")),
        }
    }

    fn pull(&mut self) -> Result<Option<Event<S>>> {
        if self.state == State::Done {
            return Ok(None);
        }
        self.tokens.skip_space();
        self.event_offset = self.tokens.rest().offset();
        match (self.state, self.tokens.peek()) {
            (State::FirstElement, Some(b']')) => Ok(Some(self.close(Event::ArrayEnd))),
            (State::FirstMember, Some(b'}')) => Ok(Some(self.close(Event::ObjectEnd))),
            (State::FirstMember, _) => self.key("a member's name or '}'").map(Some),
            (State::AfterValue, Some(b']')) if self.objects & 1 == 0 => Ok(Some(self.close(Event::ArrayEnd))),
            (State::AfterValue, Some(b'}')) if self.objects & 1 == 1 => {
                Ok(Some(self.close(Event::ObjectEnd)))
            }
            (State::AfterValue, _) => {
                self.comma()?;
                self.tokens.skip_space();
                self.event_offset = self.tokens.rest().offset();
                if self.objects & 1 == 1 { self.key("a member's name") } else { self.value("a value") }
                    .map(Some)
            }
            (State::FirstElement, _) => self.value("a value or ']'").map(Some),
            (State::Value | State::Done, _) => self.value("a value").map(Some),
        }
    }

    /// The comma between two members or elements.
    fn comma(&mut self) -> Result<()> {
        if self.tokens.peek() != Some(b',') {
            return Err(self.tokens.fault(if self.objects & 1 == 1 { "',' or '}'" } else { "',' or ']'" }));
        }
        self.tokens.advance(1);
        self.state = State::Value;
        Ok(())
    }

    fn key(&mut self, expected: &'static str) -> Result<Event<S>> {
        let name = self.tokens.key(expected)?;
        self.state = State::Value;
        Ok(Event::Key(name))
    }

    fn value(&mut self, expected: &'static str) -> Result<Event<S>> {
        let event = match self.tokens.peek() {
            Some(b'{') => return self.open(1),
            Some(b'[') => return self.open(0),
            Some(b'"') => Event::String(self.tokens.string()?),
            Some(b'-' | b'0'..=b'9') => Event::Number(self.tokens.number()?),
            Some(b't') => self.word(b"true", Event::Bool(true))?,
            Some(b'f') => self.word(b"false", Event::Bool(false))?,
            Some(b'n') => self.word(b"null", Event::Null)?,
            _ => return Err(self.tokens.fault(expected)),
        };
        self.after_value();
        Ok(event)
    }

    fn after_value(&mut self) {
        self.state = if self.depth == 0 { State::Done } else { State::AfterValue };
    }

    fn open(&mut self, object: u128) -> Result<Event<S>> {
        if self.depth >= Self::DEPTH {
            return Err(Error::new(
                self.tokens.rest().offset(),
                self.element,
                ErrorKind::TooDeep { limit: Self::DEPTH },
            ));
        }
        self.tokens.advance(1);
        self.depth = self.depth.saturating_add(1);
        self.outer = self.outer << 1 | self.objects >> 127;
        self.objects = self.objects << 1 | object;
        self.state = if object == 1 { State::FirstMember } else { State::FirstElement };
        Ok(if object == 1 { Event::ObjectStart } else { Event::ArrayStart })
    }

    fn close(&mut self, event: Event<S>) -> Event<S> {
        self.tokens.advance(1);
        self.depth = self.depth.saturating_sub(1);
        self.objects = self.objects >> 1 | self.outer << 127;
        self.outer >>= 1;
        self.after_value();
        event
    }

    fn word(&mut self, word: &'static [u8], event: Event<S>) -> Result<Event<S>> {
        self.tokens.word(word).map(|()| event)
    }
}
