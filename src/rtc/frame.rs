//! Frames: what everything in a container is made of.

use crate::bytes::Bytes;
use crate::error::{ErrorKind, Result};
use crate::grammar::{self, Parsed};
use crate::rtc::element::{FRAME, PAYLOAD};
use core::fmt;
use nom::Parser;

/// The numbers of the streams that every container has, and of the first one of the user's.
///
/// # Spec
///
/// "Meta stream".
pub mod id {
    /// A single byte of padding; the writer calls it nop.
    #[doc(alias = "nul")]
    pub const NUL: u64 = 0;
    /// Padding of any length.
    #[doc(alias = "padding")]
    pub const PADDING: u64 = 1;
    /// The Marker that begins a major unit.
    #[doc(alias = "Marker")]
    pub const MARKER: u64 = 2;
    /// The Index of a major unit.
    #[doc(alias = "Index")]
    pub const INDEX: u64 = 3;
    /// The index that begins a minor unit.
    #[doc(alias = "index")]
    pub const MINOR_INDEX: u64 = 4;
    /// The Meta of a major unit.
    #[doc(alias = "Meta")]
    pub const META: u64 = 5;
    /// The meta that declares one more stream.
    #[doc(alias = "meta")]
    pub const MINOR_META: u64 = 6;
    /// The writer's byte order.
    #[doc(alias = "platform")]
    pub const PLATFORM: u64 = 7;
    /// The checksum of a major unit.
    #[doc(alias = "Crc")]
    pub const CRC: u64 = 8;
    /// The first one of the user's.
    pub const USER: u64 = 9;
}

/// The largest payload of a frame.
pub const MAX_PAYLOAD: u64 = 1024;

/// A frame.
///
/// # Layout
///
/// LEB128 of id · 2 + more; for streams of variable length, LEB128 of the payload's length; payload.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    pub(super) payload: &'a [u8],
    pub(super) offset: u64,
    pub(super) id: u64,
    pub(super) slot: u16,
    pub(super) header: u8,
    pub(super) more: bool,
    pub(super) continues: bool,
}

impl<'a> Frame<'a> {
    /// An empty frame, to fill queues with.
    pub(super) const EMPTY: Self =
        Self { payload: &[], offset: 0, id: 0, slot: u16::MAX, header: 0, more: false, continues: false };

    /// The number of its stream; see [`id`] for the default ones.
    #[inline]
    pub const fn id(&self) -> u64 {
        self.id
    }

    /// True if the next frame of the same stream continues the record.
    #[inline]
    pub const fn more(&self) -> bool {
        self.more
    }

    /// True if it continues the record of the last frame of the same stream.
    ///
    /// So is a frame after lost ones that may continue a record, as far as is known: the first one at a boundary if no
    /// index tells that it begins a record, and the first one of a stream whose writer cuts records itself.
    #[inline]
    pub const fn continues(&self) -> bool {
        self.continues
    }

    /// True if its stream is one of the user's.
    #[inline]
    pub const fn is_user(&self) -> bool {
        self.id >= id::USER
    }

    /// The slot of its stream in the [table](crate::rtc::Streams::at); `None` for the default streams.
    #[inline]
    pub fn slot(&self) -> Option<usize> {
        (self.slot != u16::MAX).then_some(usize::from(self.slot))
    }

    /// The payload.
    #[inline]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Offset of its header in the input.
    #[inline]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Offset of its payload in the input.
    #[inline]
    pub const fn payload_offset(&self) -> u64 {
        // A header has at most 20 bytes.
        self.offset.wrapping_add(u8_to_u64(self.header))
    }

    /// Size of its header in bytes.
    #[inline]
    pub const fn header_size(&self) -> u8 {
        self.header
    }

    /// Offset after its last byte.
    #[inline]
    pub const fn end(&self) -> u64 {
        self.payload_offset().wrapping_add(crate::bytes::to_u64(self.payload.len()))
    }
}

const fn u8_to_u64(n: u8) -> u64 {
    u64::from_le_bytes([n, 0, 0, 0, 0, 0, 0, 0])
}

impl fmt::Debug for Frame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = if self.more { " more" } else { "" };
        let continues = if self.continues { " continues" } else { "" };
        write!(f, "Frame({} {:#x}..{:#x}{more}{continues})", self.id, self.offset, self.end())
    }
}

/// The length of a payload.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Length {
    /// As long as the header says.
    Stated,
    /// A length that the header does not state.
    Fixed(u64),
}

impl Length {
    /// The length of the default streams' payloads.
    ///
    /// The platform and the checksum have 4 bytes without a length, though the document implies one.
    pub(crate) const fn from_default(id: u64) -> Self {
        match id {
            id::NUL => Self::Fixed(0),
            id::MARKER => Self::Fixed(MAX_PAYLOAD),
            id::PLATFORM | id::CRC => Self::Fixed(4),
            _ => Self::Stated,
        }
    }
}

/// id and more.
fn header(input: Bytes<'_>) -> Parsed<'_, (u64, bool)> {
    grammar::int(FRAME).map(|int| (int >> 1, int & 1 == 1)).parse_complete(input)
}

/// The stated length, at most that of a Marker.
fn stated(input: Bytes<'_>) -> Parsed<'_, u64> {
    let (rest, length) = grammar::int(FRAME)(input)?;
    if length > MAX_PAYLOAD {
        let kind = ErrorKind::OverLimit { value: length, limit: MAX_PAYLOAD };
        return grammar::fail(input.error(FRAME, kind));
    }
    Ok((rest, length))
}

/// A payload, and its length if it is stated.
fn body<'a>(length: Length) -> impl Fn(Bytes<'a>) -> Parsed<'a, Bytes<'a>> {
    let payload = |length| grammar::bytes(length, PAYLOAD);
    move |input| match length {
        Length::Fixed(length) => payload(length).parse_complete(input),
        Length::Stated => stated.flat_map(payload).parse_complete(input),
    }
}

/// The header alone: id and more, and what follows.
#[inline(never)] // Small processors have a use for one copy alone; elsewhere it is called where few frames come by.
pub(crate) fn read_header(input: Bytes<'_>) -> Result<((u64, bool), Bytes<'_>)> {
    grammar::finish(header(input))
}

/// The frame at the front of `input`, given its header, what follows that, and how its payload is measured.
///
/// An error names the frame's offset: that is where reading stops, and goes on when there are more bytes.
#[inline(never)]
pub(crate) fn read_body<'a>(
    input: Bytes<'a>,
    (id, more): (u64, bool),
    rest: Bytes<'a>,
    length: Length,
) -> Result<(Frame<'a>, Bytes<'a>)> {
    let body = grammar::finish(body(length)(rest));
    let (payload, rest) = body.map_err(|error| input.error(error.element(), error.kind()))?;
    let header = u8::try_from(payload.offset().saturating_sub(input.offset())).unwrap_or(u8::MAX);
    Ok((
        Frame { payload: payload.as_slice(), offset: input.offset(), id, header, more, ..Frame::EMPTY },
        rest,
    ))
}

/// A frame of one of the default streams.
pub(crate) fn read_default(input: Bytes<'_>) -> Result<(Frame<'_>, Bytes<'_>)> {
    let (header, rest) = read_header(input)?;
    read_body(input, header, rest, Length::from_default(header.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn lengths_are_stated_or_known() {
        let (parts, rest) = read_default(Bytes::at(b"\x0a\x02[]\x10abcd", 7)).unwrap();
        assert_eq!((parts.id, parts.more, parts.header, parts.payload), (5, false, 2, &b"[]"[..]));
        let (parts, rest) = read_default(rest).unwrap();
        assert_eq!((parts.id, parts.header, parts.payload), (8, 1, &b"abcd"[..]));
        assert!(rest.is_empty());
        let input = Bytes::new(b"\x81\x01x");
        let (header, rest) = read_header(input).unwrap();
        assert_eq!(rest.offset(), 2);
        let (parts, _) = read_body(input, header, rest, Length::Fixed(1)).unwrap();
        assert_eq!((parts.id, parts.more, parts.payload), (64, true, &b"x"[..]));
    }

    #[test]
    fn frames_say_where_they_are() {
        let frame =
            Frame { payload: b"abc", offset: 0x10, id: 9, slot: 3, header: 2, more: true, continues: true };
        assert_eq!((frame.offset(), frame.header_size(), frame.payload_offset()), (0x10, 2, 0x12));
        assert_eq!((frame.end(), frame.slot(), frame.is_user()), (0x15, Some(3), true));
        assert_eq!(std::format!("{frame:?}"), "Frame(9 0x10..0x15 more continues)");
        let frame = Frame { offset: 0, id: 8, slot: u16::MAX, more: false, continues: false, ..frame };
        assert_eq!((frame.slot(), frame.is_user()), (None, false));
        assert_eq!(std::format!("{frame:?}"), "Frame(8 0x0..0x5)");
    }

    #[test]
    fn errors_stand_at_the_frame() {
        let error = |data| read_default(Bytes::at(data, 7)).map(|_| ()).unwrap_err();
        assert_eq!(error(b"\x0a\x03[]"), Error::new(7, PAYLOAD, ErrorKind::UnexpectedEnd { needed: 1 }));
        assert_eq!(error(b"\x0a"), Error::new(7, FRAME, ErrorKind::UnexpectedEnd { needed: 1 }));
        let kind = ErrorKind::OverLimit { value: 1025, limit: 1024 };
        assert_eq!(error(b"\x0a\x81\x08"), Error::new(7, FRAME, kind));
        assert_eq!(error(&[0xff; 12]), Error::new(7, FRAME, ErrorKind::IntegerTooWide { bits: 64 }));
    }
}
