//! How long the next frame of each stream is: the stream table in a form for the hot loop, and what is open.

use crate::Error;
use crate::bytes::Bytes;
use crate::error::{ErrorKind, Result};
use crate::rtc::frame::{self, Length, MAX_PAYLOAD, Parts, id};
use crate::rtc::{FRAME, STREAM, Streams};

/// A frame of the stream needs more than its header to be understood.
pub(crate) const SLOW: u32 = 1 << 13;
/// The length is stated.
pub(crate) const STATED: u32 = 1 << 12;
/// The bits of a fixed length.
pub(crate) const LENGTH: u32 = 0x0fff;
/// Where the place in the table is.
pub(crate) const PLACE: u32 = 16;

/// The sizes of header and payload of a frame whose id takes one byte, given its first four bytes and its stream's
/// entry. The header is given as 4 if the length takes more than two bytes.
///
/// Without branches: which streams follow each other is nothing that a processor can foresee.
#[inline(always)]
#[allow(clippy::arithmetic_side_effects)] // All terms are below 2^14.
pub(crate) const fn measure(word: u32, entry: u32) -> (u32, u32) {
    let stated = entry >> 12 & 1;
    let wide = word >> 15 & stated;
    let wider = word >> 23 & wide;
    let high = word >> 9 & 0x3f80 & wide.wrapping_neg();
    let length = (word >> 8 & 0x7f | high) & stated.wrapping_neg();
    (1 + stated + wide + wider, length | entry & LENGTH)
}

/// What is known of each stream's next frame.
#[derive(Clone)]
pub(crate) struct Lengths<const N: usize> {
    /// By header byte: what its frame is, for ids below 64.
    fast: [u32; 128],
    /// By place: how much of a record of fixed length has come.
    got: [u64; N],
    /// By place: whether the record goes on.
    open: [bool; N],
    /// The default streams whose record goes on, one bit each.
    open_default: u16,
}

impl<const N: usize> Lengths<N> {
    #[inline(never)] // See `Queue::new`.
    pub(crate) const fn new() -> Self {
        Self { fast: [SLOW; 128], got: [0; N], open: [false; N], open_default: 0 }
    }

    /// What the hot loop needs to know about a frame with this header; `None` for ids of more bytes.
    #[inline(always)]
    pub(crate) fn fast(&self, header: u8) -> Option<u32> {
        self.fast.get(usize::from(header)).copied()
    }

    /// Forgets what is open: some frames were lost.
    pub(crate) fn interrupt<'a>(&mut self, streams: &Streams<'a, N>) {
        self.got = [0; N];
        self.open = [false; N];
        self.open_default = 0;
        self.refresh(streams);
    }

    /// Takes over the streams of a table that has changed.
    pub(crate) fn refresh<'a>(&mut self, streams: &Streams<'a, N>) {
        self.fast = [SLOW; 128];
        for place in 0..streams.len() {
            self.set_fast(streams, place);
        }
    }

    /// Forgets all streams.
    pub(crate) fn clear(&mut self) {
        *self = Self::new();
    }

    fn set_fast<'a>(&mut self, streams: &Streams<'a, N>, place: usize) {
        let Some(stream) = streams.at(place) else { return };
        let (Some(single), Ok(bits)) = (stream.id().checked_mul(2), u32::try_from(place)) else { return };
        let Ok(single) = usize::try_from(single) else { return };
        let is_open = self.open.get(place) == Some(&true);
        let bits = bits << PLACE;
        let (alone, more) = match stream.length() {
            None => (STATED, SLOW),
            // A part of it came; or it always comes in parts.
            Some(_) if self.got.get(place) != Some(&0) => (SLOW, SLOW),
            Some(length) if length > MAX_PAYLOAD => (SLOW, SLOW),
            Some(length) => (u32::try_from(length).unwrap_or(SLOW), SLOW),
        };
        for (header, kind) in [(single, alone), (single.saturating_add(1), more)] {
            if let Some(entry) = self.fast.get_mut(header) {
                *entry = bits | if is_open { SLOW } else { kind };
            }
        }
    }

    /// Says that a record at `place` goes on, and that `rest` bytes of it are still to come.
    pub(crate) fn expect<'a>(&mut self, streams: &Streams<'a, N>, place: usize, rest: u64) {
        let length = streams.at(place).and_then(|stream| stream.length());
        if let (Some(length), Some(got)) = (length, self.got.get_mut(place)) {
            *got = length.saturating_sub(rest);
        }
        if let Some(open) = self.open.get_mut(place) {
            *open = true;
            self.set_fast(streams, place);
        }
    }

    /// Whether a record of this default stream goes on.
    pub(crate) fn is_open_default(&self, id: u64) -> bool {
        let bit = u32::try_from(id).ok().and_then(|id| 1_u16.checked_shl(id)).unwrap_or(0);
        self.open_default & bit != 0
    }

    /// Reads the frame at the front of `input`. `boundary` is where records of fixed length are cut next.
    ///
    /// Gives the frame, the place of its stream, and whether it continues a record.
    pub(crate) fn read<'a>(
        &mut self,
        streams: &Streams<'a, N>,
        input: Bytes<'a>,
        boundary: u64,
    ) -> Result<(Parts<'a>, Option<usize>, bool)> {
        let mut place = None;
        let mut rest = None;
        let (parts, _) = frame::read(input, |id, more, at| {
            if id < id::USER {
                return Ok(Length::of_default(id));
            }
            place = streams.place(id);
            let Some(known) = place else {
                return Err(Error::new(at, STREAM, ErrorKind::Invalid { value: id }));
            };
            let Some(length) = streams.at(known).and_then(|stream| stream.length()) else {
                return Ok(Length::Stated);
            };
            let left = length.saturating_sub(self.got.get(known).copied().unwrap_or(0));
            let piece = left.min(MAX_PAYLOAD).min(boundary.saturating_sub(at));
            rest = Some(left.saturating_sub(piece));
            // A whole record that says that it goes on, or a part that says that it does not, or an empty part: the
            // stream was not written in records of its length.
            if more == (piece == left) || (piece == 0 && left > 0) {
                let kind = ErrorKind::SizeMismatch { stated: length, found: length.saturating_sub(left) };
                return Err(Error::new(at, FRAME, kind));
            }
            Ok(Length::Fixed(piece))
        })?;
        let continues = match place {
            Some(place) => {
                let was = self.open.get_mut(place).map(|open| core::mem::replace(open, parts.more));
                if let (Some(rest), Some(got)) = (rest, self.got.get_mut(place)) {
                    let piece = crate::bytes::to_u64(parts.payload.len());
                    *got = if rest == 0 { 0 } else { got.saturating_add(piece) };
                }
                self.set_fast(streams, place);
                was == Some(true)
            }
            None => {
                let was = self.is_open_default(parts.id);
                let bit = u32::try_from(parts.id).ok().and_then(|id| 1_u16.checked_shl(id)).unwrap_or(0);
                self.open_default =
                    if parts.more { self.open_default | bit } else { self.open_default & !bit };
                was
            }
        };
        Ok((parts, place, continues))
    }
}
