//! Meta and meta: what streams there are, as JSON.

use crate::bytes::to_u64;
use crate::error::{ErrorKind, Result};
use crate::json::{Source, Tokens};
use crate::rtc::Stream;
use crate::rtc::element::META;
use crate::rtc::work;
use crate::text::Text;
use crate::{Error, bytes::Bytes};

/// The number of damaged objects that are skipped in a piece before the rest of it is given up: a piece has at most 1024
/// bytes, and the writer damages an object only at each limit.
const PATIENCE: u32 = 32;

/// The start of an object, as the writer writes it.
const OBJECT: &[u8] = b"{\"id\":";

/// The streams that a Meta or a meta declares.
///
/// `[{"id":9,…},…,next id]`. It is read leniently: the deployed writer damages the text at each limit of 1024
/// bytes (it starts the chunk that it was writing once more, and keeps the length), and it may begin a second array
/// after an unfinished first one. Objects are read one by one; after a damaged one, reading goes on at the next.
///
/// Longer ones come in pieces. An object may lie in two of them; it is then read from both, without being copied.
#[derive(Clone, Debug)]
pub struct Meta<'a> {
    /// The beginning of an object that goes on in the next piece.
    carry: Text<'a>,
    piece: &'a [u8],
    offset: u64,
    /// True if more pieces follow.
    more: bool,
    opened: bool,
    closed: bool,
    next_id: Option<u64>,
    /// The first fault between the objects.
    fault: Option<Error>,
    patience: u32,
}

impl<'a> Meta<'a> {
    /// A Meta in one piece, which stands at `offset` in the input.
    pub fn new(payload: &'a [u8], offset: u64) -> Self {
        let mut meta = Self::in_pieces(offset);
        meta.push(payload, offset, false);
        meta
    }

    /// A Meta whose first piece is yet to be [pushed](Self::push).
    pub const fn in_pieces(offset: u64) -> Self {
        Self {
            carry: Text::new(&[], offset),
            piece: &[],
            offset,
            more: true,
            opened: false,
            closed: false,
            next_id: None,
            fault: None,
            patience: PATIENCE,
        }
    }

    /// Goes on with the next piece, once [`next_stream`](Self::next_stream) has given `None`.
    pub fn push(&mut self, piece: &'a [u8], offset: u64, more: bool) {
        self.piece = piece;
        self.offset = offset;
        self.more = more;
        self.patience = PATIENCE;
    }

    /// The id that is free to use, which ends the array.
    pub const fn next_id(&self) -> Option<u64> {
        self.next_id
    }

    /// Checks the text around the objects, once all pieces have been read.
    ///
    /// # Errors
    /// The text is no array, it is cut or nested, or something stands between the objects.
    pub fn check(&self) -> Result<()> {
        match self.fault {
            Some(fault) => Err(fault),
            None if !self.opened => {
                Err(Error::new(self.offset, META, ErrorKind::UnexpectedEnd { needed: 2 }))
            }
            None if !self.closed => {
                Err(Error::new(self.offset, META, ErrorKind::UnexpectedEnd { needed: 1 }))
            }
            None => Ok(()),
        }
    }

    /// The next stream; `None` at the end of the piece.
    ///
    /// An error is an object without an id. It does not end the iteration: the next call goes on after the object.
    pub fn next_stream(&mut self) -> Option<Result<Stream<'a>>> {
        let (object, damage) = self.next_object()?;
        Some(Stream::parse(object, damage))
    }

    /// The text of the next object, and what is wrong with it.
    #[inline(never)] // What finds an object does not stay on the stack while it is read.
    fn next_object(&mut self) -> Option<(Text<'a>, Option<Error>)> {
        if !self.carry.is_empty() {
            let head = core::mem::take(&mut self.carry);
            return self.object(head.with_tail(self.piece, self.offset));
        }
        loop {
            work::count(1);
            match *self.piece.first()? {
                b' ' | b'\t' | b'\r' | b'\n' | b',' => {}
                b'[' => {
                    if self.opened && self.next_id.is_none() && self.piece.get(1) == Some(&b'[') {
                        self.note("an object");
                    }
                    self.opened = true;
                    self.closed = false;
                }
                b']' => self.closed = true,
                b'{' => {
                    if !self.opened {
                        self.note("'['");
                        self.opened = true;
                    }
                    return self.object(Text::new(self.piece, self.offset));
                }
                b'0'..=b'9' => {
                    let mut tokens = Tokens::new(Text::new(self.piece, self.offset), META);
                    if let Ok(number) = tokens.number() {
                        self.next_id = number.as_u64();
                    }
                    self.skip(self.piece.len().saturating_sub(tokens.rest().len()).saturating_sub(1));
                }
                _ => {
                    self.note("an object or ']'");
                    // Whatever it is, it ends where the next object begins.
                    let next = find(self.piece, OBJECT, 1).unwrap_or(self.piece.len());
                    self.skip(next.saturating_sub(1));
                }
            }
            self.skip(1);
        }
    }

    /// Remembers the first fault.
    fn note(&mut self, expected: &'static str) {
        let byte = self.piece.first().copied().unwrap_or(0);
        let kind = ErrorKind::Unexpected { byte, expected };
        self.fault = self.fault.or(Some(Error::new(self.offset, META, kind)));
    }

    fn skip(&mut self, n: usize) {
        let mut rest = Bytes::at(self.piece, self.offset);
        rest.advance(n);
        (self.piece, self.offset) = (rest.as_slice(), rest.offset());
    }

    /// Takes the object at the front of `text`, which ends with the piece.
    fn object(&mut self, text: Text<'a>) -> Option<(Text<'a>, Option<Error>)> {
        work::count(text.len().min(self.piece.len().saturating_add(text.pieces().0.len())));
        let parsed = Tokens::new(text, META).skip_value();
        let (head, _) = text.pieces();
        let split = text.is_split();
        match parsed {
            Ok(object) => {
                let of_head = if split { head.len() } else { 0 };
                self.skip(object.len().saturating_sub(of_head));
                Some((object, None))
            }
            Err(error) if error.is_truncation() && self.more && !split => {
                self.carry = text;
                self.skip(self.piece.len());
                None
            }
            Err(error) => {
                let end = match self.patience.checked_sub(1) {
                    Some(left) => {
                        self.patience = left;
                        find(self.piece, OBJECT, usize::from(!split)).unwrap_or(self.piece.len())
                    }
                    None => self.piece.len(),
                };
                let of_head = if split { head.len() } else { 0 };
                let object = text.limited(to_u64(end.saturating_add(of_head)));
                self.skip(end);
                Some((object, Some(error)))
            }
        }
    }
}

/// The position of the next `word` in `text`, from `from` on.
fn find(text: &[u8], word: &[u8], from: usize) -> Option<usize> {
    work::count(text.len());
    let found = text.get(from..)?.windows(word.len()).position(|window| window == word)?;
    found.checked_add(from)
}
