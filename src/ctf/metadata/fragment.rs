use super::header::RECORD_SEPARATOR;
use super::pieces::Pieces;
use super::{Packets, Text};
use crate::bytes::{Bytes, to_u64};
use crate::ctf::element::FRAGMENT;
use crate::error::{Element, Error, ErrorKind, Result};
use crate::json::{self, Event, JsonString, Parser, Source};
use core::iter::FusedIterator;

/// The kind of thing that a fragment describes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum FragmentKind<'a> {
    /// The first fragment, with the version and the trace's UUID.
    Preamble,
    /// A name for a field class.
    FieldClassAlias,
    /// The trace: its environment, and the layout of packet headers.
    TraceClass,
    /// A clock.
    ClockClass,
    /// A class of data streams.
    DataStreamClass,
    /// A class of event records.
    EventRecordClass,
    /// A type that CTF 2 does not define.
    Other(JsonString<Text<'a>>),
    /// The fragment has no string `type`.
    Untyped,
}

impl FragmentKind<'_> {
    /// The value of the member `type`; `None` if it is not one that CTF 2 defines.
    pub const fn name(&self) -> Option<&'static str> {
        Some(match self {
            Self::Preamble => "preamble",
            Self::FieldClassAlias => "field-class-alias",
            Self::TraceClass => "trace-class",
            Self::ClockClass => "clock-class",
            Self::DataStreamClass => "data-stream-class",
            Self::EventRecordClass => "event-record-class",
            Self::Other(_) | Self::Untyped => return None,
        })
    }
}

/// The kinds that CTF 2 defines.
const KNOWN: [FragmentKind<'static>; 6] = [
    FragmentKind::Preamble,
    FragmentKind::FieldClassAlias,
    FragmentKind::TraceClass,
    FragmentKind::ClockClass,
    FragmentKind::DataStreamClass,
    FragmentKind::EventRecordClass,
];

/// The kind where an object begins with the member `type`, as writers have it, whose value is a known one.
///
/// `None` says nothing: then the object has to be read.
fn kind_in_front(text: &[u8]) -> Option<FragmentKind<'static>> {
    let text = json::trim(json::trim(text).strip_prefix(b"{")?).strip_prefix(b"\"type\"")?;
    let name = json::trim(json::trim(text).strip_prefix(b":")?).strip_prefix(b"\"")?;
    // Each known name begins with another letter.
    let kind = match name.first()? {
        b'e' => FragmentKind::EventRecordClass,
        b'd' => FragmentKind::DataStreamClass,
        b'f' => FragmentKind::FieldClassAlias,
        b'c' => FragmentKind::ClockClass,
        b't' => FragmentKind::TraceClass,
        _ => FragmentKind::Preamble,
    };
    (name.strip_prefix(kind.name()?.as_bytes())?.first() == Some(&b'"')).then_some(kind)
}

/// A fragment: a JSON object of the text sequence, which may lie in several packets.
#[derive(Clone, Copy, Debug)]
pub struct Fragment<'a> {
    text: Text<'a>,
    separated: bool,
}

impl<'a> Fragment<'a> {
    /// The text up to the next 0x1E, trailing white space included. It may not be JSON: [`Fragment::check`] tells.
    pub const fn text(&self) -> Text<'a> {
        self.text
    }

    /// Offset of its text in the input, after the 0x1E and white space.
    pub const fn offset(&self) -> u64 {
        self.text.offset()
    }

    /// True if a 0x1E precedes it, as it must. Only the first fragment may lack it.
    pub const fn is_separated(&self) -> bool {
        self.separated
    }

    /// Checks that it is a JSON object, of which each string is UTF-8.
    ///
    /// # Errors
    /// [`Unexpected`](ErrorKind::Unexpected), [`UnexpectedEnd`](ErrorKind::UnexpectedEnd),
    /// [`TooDeep`](ErrorKind::TooDeep), [`NotUtf8`](ErrorKind::NotUtf8), at their offsets in the input.
    pub fn check(&self) -> Result<()> {
        if json::accepts_object(self.text) {
            return Ok(());
        }
        match self.text.borrowed() {
            // A slice is read faster than pieces.
            Some(text) => check(Bytes::at(text, self.offset()), core::str::from_utf8(text).is_ok()),
            None => check(self.text, false),
        }
    }

    /// The kind of thing that it describes.
    ///
    /// # Errors
    /// The errors of the JSON up to the member `type`.
    pub fn kind(&self) -> Result<FragmentKind<'a>> {
        match kind_in_front(self.text.front()) {
            Some(kind) => Ok(kind),
            None => self.kind_by_type(),
        }
    }

    #[inline(never)]
    fn kind_by_type(&self) -> Result<FragmentKind<'a>> {
        let Some(value) = self.member("type")? else { return Ok(FragmentKind::Untyped) };
        let Some(name) = string(value)? else { return Ok(FragmentKind::Untyped) };
        let kind = KNOWN.into_iter().find(|kind| kind.name().is_some_and(|known| name == known));
        Ok(kind.unwrap_or(FragmentKind::Other(name)))
    }

    /// The JSON text of the value of a member; of several with this name, the first.
    ///
    /// # Errors
    /// The errors of the JSON up to this member.
    pub fn member(&self, name: &str) -> Result<Option<Text<'a>>> {
        let Some(text) = self.text.borrowed() else { return find(self.text, name) };
        let found = find(Bytes::at(text, self.offset()), name)?;
        Ok(found.map(|value| {
            let mut text = self.text;
            let before = value.offset().saturating_sub(text.offset());
            text.advance(usize::try_from(before).unwrap_or(usize::MAX));
            text.limited(to_u64(value.len()))
        }))
    }

    /// The members in the order in which they stand: each name with the JSON text of its value.
    pub fn members(&self) -> Members<'a> {
        Members::new(self.text, FRAGMENT)
    }

    /// True if it is a complete object, although the text after it could not be read.
    fn is_complete(&self) -> bool {
        self.check().is_ok()
    }
}

/// The text of the value of an object's member.
fn find<'a, S: Source<'a>>(text: S, name: &str) -> Result<Option<S>> {
    let mut parser = object(text, FRAGMENT)?;
    while let Some(Event::Key(found)) = parser.next_event()? {
        let value = parser.long_value_text()?;
        if found.is(name) {
            return Ok(value);
        }
    }
    Ok(None)
}

/// Checks a fragment's text, and where that has not been done before, that its strings are UTF-8.
fn check<'a>(text: impl Source<'a>, is_utf8: bool) -> Result<()> {
    let mut parser = object(text, FRAGMENT)?;
    while let Some(event) = parser.next_event()? {
        match event {
            Event::Key(string) | Event::String(string) if !is_utf8 => string.check_utf8()?,
            _ => {}
        }
    }
    parser.finish()
}

/// A parser that stands after the `{` of an object.
pub(super) fn object<'a, S: Source<'a>>(text: S, element: Element) -> Result<Parser<S>> {
    let mut parser = Parser::new(text, element);
    match parser.next_event()? {
        Some(Event::ObjectStart) => Ok(parser),
        _ => Err(unexpected(parser.event_offset(), text, element, "an object")),
    }
}

/// The string that `text` is; `None` if it is another value.
pub(super) fn string<'a>(text: Text<'a>) -> Result<Option<JsonString<Text<'a>>>> {
    match Parser::new(text, FRAGMENT).next_event()? {
        Some(Event::String(string)) => Ok(Some(string)),
        _ => Ok(None),
    }
}

/// The error that the value in `text`, at `offset`, is not what it should be.
#[cold]
pub(super) fn unexpected<'a>(
    offset: u64,
    mut text: impl Source<'a>,
    element: Element,
    expected: &'static str,
) -> Error {
    while text.offset() != offset && !text.front().is_empty() {
        text.advance(1);
    }
    let kind = match text.front().first() {
        Some(&byte) => ErrorKind::Unexpected { byte, expected },
        None => ErrorKind::UnexpectedEnd { needed: 1 },
    };
    Error::new(offset, element, kind)
}

/// The members of a JSON object: each name with the text of its value.
///
/// After an error it ends.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    text: Text<'a>,
    element: Element,
    parser: Option<Parser<Text<'a>>>,
    done: bool,
}

impl<'a> Members<'a> {
    pub(in crate::ctf) const fn new(text: Text<'a>, element: Element) -> Self {
        Self { text, element, parser: None, done: false }
    }

    fn next_member(&mut self) -> Result<Option<(JsonString<Text<'a>>, Text<'a>)>> {
        let parser = match &mut self.parser {
            Some(parser) => parser,
            none => none.insert(object(self.text, self.element)?),
        };
        let Some(Event::Key(name)) = parser.next_event()? else { return Ok(None) };
        Ok(parser.long_value_text()?.map(|value| (name, value)))
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Result<(JsonString<Text<'a>>, Text<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let member = self.next_member();
        self.done = !matches!(member, Ok(Some(_)));
        member.transpose()
    }
}

impl FusedIterator for Members<'_> {}

/// The fragments of a text.
///
/// Repeated 0x1E are skipped, and so is white space before a fragment. After a packet that cannot be read there is one
/// error, then the end; a fragment that this packet interrupts is given before if it is complete JSON. A fragment that
/// is no JSON is given as it is.
#[derive(Clone, Debug)]
pub struct Fragments<'a> {
    pieces: Pieces<'a>,
    /// The rest of the present piece.
    piece: Bytes<'a>,
    /// True if a 0x1E has been read.
    separated: bool,
    /// The fault after the last fragment.
    fault: Option<Error>,
    done: bool,
}

impl<'a> Fragments<'a> {
    pub(super) const fn new(pieces: Pieces<'a>) -> Self {
        Self { pieces, piece: Bytes::at(&[], 0), separated: false, fault: None, done: false }
    }

    /// No fragments.
    pub(super) const fn none(pieces: Pieces<'a>) -> Self {
        Self { done: true, ..Self::new(pieces) }
    }

    /// The next fragment; `None` at the end, and after an error.
    ///
    /// # Errors
    /// The errors of [`Packets::next_packet`](super::Packets::next_packet).
    #[inline]
    pub fn next_fragment(&mut self) -> Result<Option<Fragment<'a>>> {
        // Mostly a fragment follows its 0x1E at once, and ends at another one in the same piece. After an error and at
        // the end nothing but separators and white space is left of the piece.
        let mut begun = false;
        if let [RECORD_SEPARATOR, rest @ ..] = self.piece.as_slice()
            && rest.first().is_some_and(|byte| *byte > b' ')
        {
            self.separated = true;
            self.piece.advance(1);
            if let Some(n) = memchr::memchr(RECORD_SEPARATOR, rest)
                && let Some((piece, next)) = self.piece.split(n)
            {
                self.piece = next;
                let text = Text::within(piece, self.pieces.packets());
                return Ok(Some(Fragment { text, separated: true }));
            }
            begun = true;
        }
        self.next_over_pieces(begun)
    }

    /// The next fragment; if it has `begun`, the whole piece belongs to it.
    fn next_over_pieces(&mut self, begun: bool) -> Result<Option<Fragment<'a>>> {
        let found = match self.fault.take() {
            Some(error) => Err(error),
            None if self.done => Ok(None),
            None => self.find(begun),
        };
        self.done = self.fault.is_none() && !matches!(found, Ok(Some(_)));
        found
    }

    fn find(&mut self, begun: bool) -> Result<Option<Fragment<'a>>> {
        if !begun && !self.skip_separators()? {
            return Ok(None);
        }
        let (first, packets) = (self.piece, self.pieces.packets().clone());
        let mut len = 0_u64;
        let mut searched = begun;
        loop {
            let data = self.piece.as_slice();
            let in_piece = if searched { None } else { memchr::memchr(RECORD_SEPARATOR, data) };
            searched = false;
            let n = in_piece.unwrap_or(data.len());
            len = len.saturating_add(to_u64(n));
            self.piece.advance(n);
            if in_piece.is_some() {
                break;
            }
            match self.pieces.next_piece() {
                Ok(Some(piece)) => self.piece = piece,
                Ok(None) => break,
                Err(error) => {
                    let fragment = self.fragment(first, &packets, len);
                    if !fragment.is_complete() {
                        return Err(error);
                    }
                    self.fault = Some(error);
                    return Ok(Some(fragment));
                }
            }
        }
        Ok(Some(self.fragment(first, &packets, len)))
    }

    /// The fragment of `len` bytes that begins with `first` and goes on in `packets`.
    fn fragment(&self, first: Bytes<'a>, packets: &Packets<'a>, len: u64) -> Fragment<'a> {
        Fragment { text: Text::beginning(first, packets, len), separated: self.separated }
    }

    /// Moves to the first byte of a fragment; `false` if there is none.
    fn skip_separators(&mut self) -> Result<bool> {
        loop {
            let data = self.piece.as_slice();
            let skipped = data
                .iter()
                .position(|byte| !matches!(*byte, RECORD_SEPARATOR | b' ' | b'\t' | b'\n' | b'\r'));
            self.separated |=
                data.iter().take(skipped.unwrap_or(data.len())).any(|byte| *byte == RECORD_SEPARATOR);
            if let Some(skipped) = skipped {
                self.piece.advance(skipped);
                return Ok(true);
            }
            match self.pieces.next_piece()? {
                Some(piece) => self.piece = piece,
                None => return Ok(false),
            }
        }
    }
}

impl<'a> Iterator for Fragments<'a> {
    type Item = Result<Fragment<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_fragment().transpose()
    }
}

impl FusedIterator for Fragments<'_> {}
