//! A fast check that accepts most correct text, about which nothing more needs to be known.
//!
//! Text that is not accepted may still be correct: a [`Parser`](super::Parser) decides, and locates the fault.

use super::Source;
use super::plain::skip_plain;

/// The number of bytes that are joined where a piece ends within a token; what is longer than that is not accepted.
const JOINED: usize = 128;

/// True if `text` is a JSON object in UTF-8, with white space around it.
///
/// Some correct text is not accepted: what is nested more than 62 deep, and a long token across pieces.
pub(crate) fn accepts_object<'a>(mut text: impl Source<'a>) -> bool {
    let mut acceptor = Acceptor { state: State::Start, open: NOTHING };
    loop {
        let piece = text.front();
        let Some(left) = acceptor.read(piece).map(trim) else { return false };
        text.advance(piece.len());
        if text.front().is_empty() {
            return left.is_empty() && matches!(acceptor.state, State::End);
        }
        if !left.is_empty() && acceptor.read_joined(left, &mut text).is_none() {
            return false;
        }
    }
}

/// The length of the JSON value at the front of `data`, in UTF-8; `None` if it is not accepted, as in
/// [`accepts_object`].
pub(super) fn value_len(data: &[u8]) -> Option<usize> {
    let mut acceptor = Acceptor { state: State::Value, open: NOTHING };
    let rest = acceptor.read(data)?;
    (acceptor.state == State::End).then(|| data.len().saturating_sub(rest.len()))
}

/// The tokens that the grammar allows next.
#[derive(Clone, Copy, PartialEq)]
enum State {
    /// An object.
    Start,
    Key,
    /// A key, or the end of the object.
    FirstKey,
    Value,
    /// A value, or the end of the array.
    FirstValue,
    /// A comma, or the end of what is open.
    After,
    /// White space.
    End,
}

/// The open containers at first, and in the end.
const NOTHING: u64 = 0b10;

/// Reads pieces, token by token.
struct Acceptor {
    state: State,
    /// The open containers, the innermost in the lowest bit: 1 for an object. Above the outermost is [`NOTHING`].
    open: u64,
}

impl Acceptor {
    /// Reads the tokens of `data` up to one that is not allowed or not complete, with which the rest begins; `None` if
    /// what has been read is not UTF-8.
    fn read<'d>(&mut self, data: &'d [u8]) -> Option<&'d [u8]> {
        let Self { mut state, mut open } = *self;
        let mut rest = data;
        'read: loop {
            while state == State::After {
                if open == NOTHING {
                    state = State::End;
                    break 'read;
                }
                rest = trim(rest);
                let in_object = open & 1 == 1;
                rest = match rest {
                    [b',', after @ ..] => {
                        state = if in_object { State::Key } else { State::Value };
                        after
                    }
                    [byte, after @ ..] if *byte == if in_object { b'}' } else { b']' } => {
                        open >>= 1;
                        after
                    }
                    _ => break 'read,
                };
            }
            rest = trim(rest);
            let Some((&byte, after)) = rest.split_first() else { break };
            let value = match (byte, state) {
                (b'"', State::Key | State::FirstKey | State::Value | State::FirstValue) => {
                    let mut is_key = matches!(state, State::Key | State::FirstKey);
                    let mut end = skip_plain(after);
                    // Often the value is a string, too, and so is what follows that: then there is nothing to decide.
                    while let Some((between, inside)) = end.split_first_chunk()
                        && (is_key && between == b"\": \""
                            || !is_key && open & 1 == 1 && between == b"\", \"")
                    {
                        is_key = !is_key;
                        state = if is_key { State::Key } else { State::Value };
                        rest = end.get(3..).unwrap_or_default();
                        end = skip_plain(inside);
                    }
                    let end = string_end(end);
                    if is_key {
                        let Some(after) = end.and_then(colon) else { break };
                        (state, rest) = (State::Value, after);
                        continue;
                    }
                    end
                }
                (b'}', State::FirstKey) | (b']', State::FirstValue) => {
                    open >>= 1;
                    (state, rest) = (State::After, after);
                    continue;
                }
                (b'{', State::Start | State::Value | State::FirstValue) if open >> 63 == 0 => {
                    open = open << 1 | 1;
                    (state, rest) = (State::FirstKey, after);
                    continue;
                }
                (b'[', State::Value | State::FirstValue) if open >> 63 == 0 => {
                    open <<= 1;
                    (state, rest) = (State::FirstValue, after);
                    continue;
                }
                (b't', State::Value | State::FirstValue) => rest.strip_prefix(b"true"),
                (b'f', State::Value | State::FirstValue) => rest.strip_prefix(b"false"),
                (b'n', State::Value | State::FirstValue) => rest.strip_prefix(b"null"),
                (_, State::Value | State::FirstValue) => number(rest),
                _ => None,
            };
            let Some(after) = value else { break };
            (state, rest) = (State::After, after);
        }
        *self = Self { state, open };
        let read = data.get(..data.len().saturating_sub(rest.len()))?;
        is_utf8(read).then_some(rest)
    }

    /// Reads the token that begins with `left` and ends in `text`, and the short ones after it.
    fn read_joined<'a>(&mut self, left: &[u8], text: &mut impl Source<'a>) -> Option<()> {
        let mut joined = [0; JOINED];
        let mut room = joined.iter_mut();
        let (mut piece, mut ahead) = (left, *text);
        while !piece.is_empty() && room.len() > 0 {
            for (from, to) in piece.iter().zip(&mut room) {
                *to = *from;
            }
            piece = ahead.front();
            ahead.advance(piece.len());
        }
        let len = JOINED.saturating_sub(room.len());
        let rest = self.read(joined.get(..len)?)?;
        let mut read = len.checked_sub(rest.len())?.checked_sub(left.len()).filter(|read| *read > 0)?;
        while read > 0 && !text.front().is_empty() {
            let n = read.min(text.front().len());
            text.advance(n);
            read = read.saturating_sub(n);
        }
        Some(())
    }
}

/// True if `data` is UTF-8; mostly it is ASCII, which is seen faster.
fn is_utf8(data: &[u8]) -> bool {
    let word = |chunk: &[u8; 8]| u64::from_le_bytes(*chunk);
    // The last word may be one of the chunks, too, or overlap with it: nothing is left for a loop over bytes.
    let is_ascii = data.last_chunk().is_some_and(|last| {
        let (chunks, _) = data.as_chunks();
        let seen = chunks.iter().fold(word(last), |seen, chunk| seen | word(chunk));
        seen & 0x8080_8080_8080_8080 == 0
    });
    is_ascii || core::str::from_utf8(data).is_ok()
}

/// The data after white space.
#[inline]
pub(crate) fn trim(data: &[u8]) -> &[u8] {
    // Mostly there is none, or one space.
    match data {
        [b' ', rest @ ..] if rest.first().is_some_and(|byte| *byte > b' ') => rest,
        [0..=b' ', ..] => trim_more(data),
        _ => data,
    }
}

/// The data after the end of a line and an indentation.
#[inline(never)]
fn trim_more(mut data: &[u8]) -> &[u8] {
    while let [b' ' | b'\n' | b'\r' | b'\t', rest @ ..] = data {
        data = rest;
        while let Some((b"    ", rest)) = data.split_first_chunk() {
            data = rest;
        }
    }
    data
}

/// The data after the colon that follows the name of a member.
#[inline]
fn colon(data: &[u8]) -> Option<&[u8]> {
    match data {
        [b':', rest @ ..] => Some(rest),
        _ => trim(data).strip_prefix(b":"),
    }
}

/// The data after a string whose plain bytes at the front have been skipped.
#[inline]
fn string_end(data: &[u8]) -> Option<&[u8]> {
    match data {
        [b'"', rest @ ..] => Some(rest),
        _ => escaped_end(data),
    }
}

/// The same, for one with escapes, or less than eight bytes before the end.
#[inline(never)]
fn escaped_end(mut data: &[u8]) -> Option<&[u8]> {
    loop {
        data = match skip_plain(data).split_first()? {
            (b'"', rest) => return Some(rest),
            (b'\\', rest) => match rest.split_first()? {
                (b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', rest) => rest,
                (b'u', rest) => {
                    let (digits, rest) = rest.split_first_chunk::<4>()?;
                    digits.iter().all(u8::is_ascii_hexdigit).then_some(rest)?
                }
                _ => return None,
            },
            (0..=0x1f, _) => return None,
            (_, rest) => rest,
        };
    }
}

/// The data after the number at the front, which another byte must follow.
fn number(data: &[u8]) -> Option<&[u8]> {
    let data = data.strip_prefix(b"-").unwrap_or(data);
    let mut data = match data.strip_prefix(b"0") {
        // No digit follows a leading zero.
        Some([b'0'..=b'9', ..]) => return None,
        Some(rest) => rest,
        None => digits(data)?,
    };
    if let Some(fraction) = data.strip_prefix(b".") {
        data = digits(fraction)?;
    }
    if let Some((b'e' | b'E', exponent)) = data.split_first() {
        let unsigned = exponent.strip_prefix(b"+").or(exponent.strip_prefix(b"-"));
        data = digits(unsigned.unwrap_or(exponent))?;
    }
    (!data.is_empty()).then_some(data)
}

/// The data after one digit or more.
fn digits(data: &[u8]) -> Option<&[u8]> {
    let [b'0'..=b'9', rest @ ..] = data else { return None };
    let mut data = rest;
    while let [b'0'..=b'9', rest @ ..] = data {
        data = rest;
    }
    Some(data)
}
