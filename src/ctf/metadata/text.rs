use super::Packet;
use super::header::Profile;
use super::packet::Packets;
use crate::bytes::{Bytes, to_u64};
use crate::ctf::element::TEXT;
use crate::error::{ErrorKind, Result};
use crate::json::Source;
use core::fmt;
use core::iter::FusedIterator;

/// A range of the metadata text, which may reach over several packets.
///
/// It is a `Copy` view of about 80 bytes: where it begins, how long it is, and how to find the next packet. The
/// packets in it have been read before, so going through them cannot fail.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    /// The rest of the present piece; empty only at the end.
    piece: Bytes<'a>,
    /// The number of bytes left in all, the piece included.
    left: u64,
    /// The input after the present packet.
    rest: Bytes<'a>,
    profile: Option<Profile>,
    /// Offset of the present packet; of no use in plain text.
    packet: u64,
}

/// The place of a text: kept instead of a [`Text`] if there are many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Offset of its first byte in the input.
    at: u32,
    len: u32,
    /// Offset of the packet it begins in, if it goes on in the next one; else [`Self::TOGETHER`].
    packet: u32,
}

impl Place {
    const TOGETHER: u32 = u32::MAX;

    /// The place of nothing.
    pub(crate) const fn nowhere() -> Self {
        Self { at: 0, len: 0, packet: Self::TOGETHER }
    }

    /// Offset of its first byte in the input.
    pub(crate) fn offset(self) -> u64 {
        self.at.into()
    }

    pub(crate) fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The length in bytes of text.
    pub(crate) fn len(self) -> u64 {
        self.len.into()
    }

    /// True if no packet ends in it.
    pub(crate) fn is_together(self) -> bool {
        self.packet == Self::TOGETHER
    }
}

impl<'a> Text<'a> {
    /// The `len` bytes of text that begin with `piece` and go on in `packets`.
    pub(super) fn new(piece: Bytes<'a>, packets: &Packets<'a>, len: u64) -> Self {
        let mut text = Self::beginning(piece, packets, len);
        text.refill();
        text
    }

    /// The text `piece` of the packet before `packets`.
    #[inline]
    pub(super) const fn within(piece: Bytes<'a>, packets: &Packets<'a>) -> Self {
        let (rest, profile, packet) = (packets.rest(), packets.profile(), piece.offset());
        Self { piece, left: to_u64(piece.len()), rest, profile, packet }
    }

    /// As [`Self::new`] if `piece` is not empty, or the text is.
    pub(super) fn beginning(piece: Bytes<'a>, packets: &Packets<'a>, len: u64) -> Self {
        Self { piece: Source::limited(piece, len), left: len, ..Self::within(piece, packets) }
    }

    /// A text in one piece.
    pub(in crate::ctf) const fn from_piece(piece: Bytes<'a>) -> Self {
        let rest = Bytes::at(&[], piece.end_offset());
        Self { piece, left: to_u64(piece.len()), rest, profile: None, packet: 0 }
    }

    /// Moves on to the next piece when the present one is used up; at the end it stays where that is.
    fn refill(&mut self) {
        let mut packets = Packets::new(self.rest, self.profile);
        while self.piece.is_empty() && self.left > 0 {
            self.packet = packets.offset();
            let Ok(Some(packet)) = packets.next_packet() else {
                self.left = 0;
                return;
            };
            self.piece = Source::limited(packet.content_range(), self.left);
            self.rest = packets.rest();
        }
    }

    /// The length in bytes, without the headers and padding in between.
    pub const fn len(&self) -> u64 {
        self.left
    }

    /// True if it has no bytes.
    pub const fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Offset of its first byte in the input.
    pub const fn offset(&self) -> u64 {
        self.piece.offset()
    }

    /// The text as it lies in the input, if no packet ends in it.
    pub fn borrowed(&self) -> Option<&'a [u8]> {
        (to_u64(self.piece.len()) == self.left).then(|| self.piece.as_slice())
    }

    /// The pieces, none of which is empty.
    pub const fn pieces(&self) -> TextPieces<'a> {
        TextPieces { text: *self }
    }

    /// Copies it to the front of `buffer`, and gives that part of it.
    ///
    /// # Errors
    /// [`CapacityExceeded`](ErrorKind::CapacityExceeded) if the buffer is too small, with the size needed.
    pub fn copy_to<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b [u8]> {
        let capacity = to_u64(buffer.len());
        let needed = self.left;
        let too_small = self.piece.error(TEXT, ErrorKind::CapacityExceeded { capacity, needed });
        let target = usize::try_from(needed).ok().and_then(|len| buffer.get_mut(..len)).ok_or(too_small)?;
        let mut left = &mut *target;
        for piece in self.pieces() {
            // The pieces are as long as the text, so this ends with nothing left.
            let Some((front, back)) = left.split_at_mut_checked(piece.len()) else { break };
            copy(front, piece);
            left = back;
        }
        Ok(target)
    }

    /// The text from the first byte of this one to the last one of `last`, which lies in it.
    pub(crate) fn until_end_of(self, last: Self) -> Self {
        // Both go on to the same end, unless `last` has been limited: what is left tells nothing, what is read does.
        let mut ahead = self;
        let mut len = 0_u64;
        while ahead.left > 0 {
            let to_last =
                last.offset().checked_sub(ahead.offset()).filter(|n| *n <= to_u64(ahead.piece.len()));
            if let Some(n) = to_last {
                return self.limited(len.saturating_add(n).saturating_add(last.left));
            }
            len = len.saturating_add(to_u64(ahead.piece.len()));
            ahead.advance(ahead.piece.len());
        }
        self
    }

    /// The place; `None` beyond 4 GiB.
    pub(crate) fn place(&self) -> Option<Place> {
        let at = u32::try_from(self.offset()).ok()?;
        let len = u32::try_from(self.left).ok()?;
        let together = self.piece.len() == usize::try_from(self.left).ok()?;
        let packet = if together { Place::TOGETHER } else { u32::try_from(self.packet).ok()? };
        Some(Place { at, len, packet })
    }

    /// The text that lies at `place` of `input`, the metadata that [`Self::place`] was asked in. Takes the same time
    /// everywhere; a place of another input gives some text of this one.
    pub(super) fn at(input: Bytes<'a>, profile: Option<Profile>, place: Place) -> Self {
        let end = Bytes::at(&[], input.end_offset());
        let nothing = Self { piece: end, left: 0, rest: end, profile: None, packet: 0 };
        if place.packet == Place::TOGETHER {
            return match input.range(place.at.into(), place.len.into()) {
                Some(piece) => Self { piece, left: place.len.into(), ..nothing },
                None => nothing,
            };
        }
        let mut packets = match input.offset().checked_add(place.packet.into()) {
            Some(offset) => {
                let left = input.end_offset().saturating_sub(offset);
                Packets::new(input.range(offset, left).unwrap_or(end), profile)
            }
            None => return nothing,
        };
        let Ok(Some(packet)) = packets.next_packet() else { return nothing };
        let content = packet.content_range();
        let left = content.end_offset().saturating_sub(place.at.into());
        match content.range(place.at.into(), left) {
            Some(piece) => {
                Self { piece, left: place.len.into(), rest: packets.rest(), profile, packet: packet.offset() }
            }
            None => nothing,
        }
    }

    /// True if it begins with `prefix`.
    pub(super) fn starts_with(&self, prefix: &[u8]) -> bool {
        let mut at = *self;
        prefix.iter().all(|wanted| crate::json::take_byte(&mut at) == Some(*wanted))
    }
}

/// `copy_from_slice` without its check, which can panic; the lengths are the same.
#[inline]
pub(super) fn copy(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

impl<'a> Source<'a> for Text<'a> {
    #[inline]
    fn front(&self) -> &'a [u8] {
        self.piece.as_slice()
    }

    fn offset(&self) -> u64 {
        self.piece.offset()
    }

    #[inline]
    fn advance(&mut self, n: usize) {
        let n = n.min(self.piece.len());
        self.piece.advance(n);
        self.left = self.left.saturating_sub(to_u64(n));
        if self.piece.is_empty() && self.left > 0 {
            self.refill();
        }
    }

    fn limited(self, len: u64) -> Self {
        let left = self.left.min(len);
        Self { piece: Source::limited(self.piece, left), left, ..self }
    }

    fn together(self) -> Option<&'a [u8]> {
        self.borrowed()
    }
}

impl fmt::Debug for Text<'_> {
    /// The offset and the length; never the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of text from {:#x}", self.left, self.piece.offset())
    }
}

/// The pieces of a text, as they lie in the input.
#[derive(Clone, Debug)]
pub struct TextPieces<'a> {
    text: Text<'a>,
}

impl TextPieces<'_> {
    /// Offset of the next piece in the input; at the end, where the last one ended.
    pub const fn offset(&self) -> u64 {
        self.text.offset()
    }
}

impl<'a> Iterator for TextPieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let piece = self.text.front();
        self.text.advance(piece.len());
        (!piece.is_empty()).then_some(piece)
    }
}

impl FusedIterator for TextPieces<'_> {}

impl<'a> From<&Packet<'a>> for Text<'a> {
    /// The content of one packet.
    fn from(packet: &Packet<'a>) -> Self {
        Self::from_piece(packet.content_range())
    }
}
