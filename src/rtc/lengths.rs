//! How long the next frame of each stream is: the stream table in a form for the hot loop, and which records are open.

use crate::bytes::{Bytes, to_u64};
use crate::error::{ErrorKind, Result};
use crate::rtc::frame::{self, Length, MAX_PAYLOAD, Parts, id};
use crate::rtc::{Streams, element};

/// A frame of the stream needs more than its header to be understood: no frame has this length.
const SLOW: u32 = 0;
/// The length is stated.
pub(crate) const STATED: u32 = 1 << 12;
/// The bits of a fixed length.
pub(crate) const LENGTH: u32 = 0x0fff;
/// Where the slot in the table is.
pub(crate) const SLOT: u32 = 16;

/// The sizes of header and payload of a frame whose id takes one byte, given its first four bytes and its stream's
/// entry. The header is given as 4 if the length takes more than two bytes.
///
/// Branchless: which streams follow each other is unpredictable.
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

/// True if a record of a stream is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    /// The next frame begins a record.
    No,
    /// The next frame continues the record.
    Yes,
    /// Frames were lost: it is not known which of both the next frame does.
    Unknown,
}

/// What is known of the stream in a slot.
#[derive(Clone, Copy)]
struct Slot {
    /// How much of a record of fixed length has come.
    got: u64,
    /// This holds in that epoch only.
    epoch: u32,
    open: Open,
    /// True if its writer cuts records itself; in every epoch.
    is_split: bool,
}

/// What is known of each stream's next frame.
#[derive(Clone)]
pub(crate) struct Lengths<const N: usize> {
    /// By header byte: what its frame is, for ids below 64 of which a frame has been read.
    fast: [u32; 128],
    /// Of the streams up to the last one of which a frame was read.
    slots: heapless::Vec<Slot, N>,
    epoch: u32,
    /// What a stream is of which no frame has been read in this epoch.
    unread: Open,
    /// The default streams whose record is open, one bit each.
    open_default: u16,
    /// True if the next frame of a user's stream is the first one after a boundary at which reading has begun.
    pub(crate) is_first: bool,
}

/// What was read.
pub(crate) struct Read<'a> {
    pub(crate) parts: Parts<'a>,
    pub(crate) slot: Option<usize>,
    /// True if it continues a record, as far as is known.
    pub(crate) continues: bool,
}

impl<const N: usize> Lengths<N> {
    #[inline(always)] // Mostly zeros, which are set where it is to lie.
    pub(crate) const fn new() -> Self {
        Self {
            fast: [SLOW; 128],
            slots: heapless::Vec::new(),
            epoch: 1,
            unread: Open::No,
            open_default: 0,
            is_first: false,
        }
    }

    /// What the hot loop needs to know about a frame with this header; `None` for ids of more bytes.
    #[inline(always)]
    pub(crate) fn fast(&self, header: u8) -> Option<u32> {
        self.fast.get(usize::from(header)).copied()
    }

    /// Forgets which records are open: all are of this kind.
    pub(crate) fn reset(&mut self, unread: Open) {
        self.fast = [SLOW; 128];
        self.unread = unread;
        self.open_default = 0;
        self.is_first = false;
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            // After four thousand million gaps, an epoch returns.
            self.slots.iter_mut().for_each(|slot| slot.epoch = 0);
            self.epoch = 1;
        }
    }

    /// The declaration of a stream has changed.
    pub(crate) fn forget(&mut self, id: u64) {
        let single = id.checked_mul(2).and_then(|id| usize::try_from(id).ok()).unwrap_or(usize::MAX);
        for header in [single, single.saturating_add(1)] {
            if let Some(entry) = self.fast.get_mut(header) {
                *entry = SLOW;
            }
        }
    }

    fn slot(&self, slot: usize) -> Slot {
        let known = self.slots.get(slot).copied();
        let is_split = known.is_some_and(|known| known.is_split);
        let unread = Slot { got: 0, epoch: self.epoch, open: self.unread, is_split };
        known.filter(|known| known.epoch == self.epoch).unwrap_or(unread)
    }

    fn slot_mut(&mut self, slot: usize) -> Option<&mut Slot> {
        while self.slots.len() <= slot {
            self.slots.push(Slot { got: 0, epoch: 0, open: Open::No, is_split: false }).ok()?;
        }
        self.slots.get_mut(slot)
    }

    fn set<'a>(&mut self, streams: &Streams<'a, N>, slot: usize, got: u64, open: Open) {
        let epoch = self.epoch;
        if let Some(known) = self.slot_mut(slot) {
            *known = Slot { got, epoch, open, is_split: known.is_split };
        }
        let Some(stream) = streams.at(slot) else { return };
        let (Some(single), Ok(bits)) = (stream.id().checked_mul(2), u32::try_from(slot)) else { return };
        let Ok(single) = usize::try_from(single) else { return };
        let alone = match stream.length() {
            _ if open != Open::No || got != 0 => SLOW,
            None => STATED,
            Some(length) if length == 0 || length > MAX_PAYLOAD => SLOW,
            Some(length) => u32::try_from(length).unwrap_or(SLOW),
        };
        for (header, kind) in [(single, alone), (single.saturating_add(1), SLOW)] {
            if let Some(entry) = self.fast.get_mut(header) {
                *entry = bits << SLOT | kind;
            }
        }
    }

    /// True if the record of the stream in a slot is open.
    pub(crate) fn open(&self, slot: usize) -> Open {
        self.slot(slot).open
    }

    /// True if the stream's writer is known to cut records itself.
    pub(crate) fn is_split(&self, slot: usize) -> bool {
        self.slots.get(slot).is_some_and(|slot| slot.is_split)
    }

    pub(crate) fn note_split(&mut self, slot: usize) {
        if let Some(slot) = self.slot_mut(slot) {
            slot.is_split = true;
        }
    }

    /// Sets that; of a record of fixed length, `rest` bytes are still to come.
    pub(crate) fn expect<'a>(&mut self, streams: &Streams<'a, N>, slot: usize, open: Open, rest: u64) {
        let length = streams.at(slot).and_then(|stream| stream.length());
        let got = length.map_or(0, |length| length.saturating_sub(rest));
        self.set(streams, slot, if open == Open::Yes { got } else { 0 }, open);
    }

    /// True if a record of this default stream is open.
    pub(crate) fn is_open_default(&self, id: u64) -> bool {
        let bit = u32::try_from(id).ok().and_then(|id| 1_u16.checked_shl(id)).unwrap_or(0);
        self.open_default & bit != 0
    }

    /// Reads the frame at the front of `input`, given its header and what follows that. `boundary` is where records of fixed length are cut next.
    pub(crate) fn read<'a>(
        &mut self,
        streams: &Streams<'a, N>,
        input: Bytes<'a>,
        (header, after): ((u64, bool), Bytes<'a>),
        boundary: u64,
    ) -> Result<Read<'a>> {
        let (id, more) = header;
        let slot = if id < id::USER { None } else { streams.slot(id) };
        let mut rest = 0;
        let length = match slot.map(|slot| (slot, streams.at(slot).and_then(|stream| stream.length()))) {
            None if id < id::USER => Length::from_default(id),
            None => return Err(input.error(element::STREAM, ErrorKind::Invalid { value: id })),
            Some((_, None)) => Length::Stated,
            Some((slot, Some(length))) => {
                let left = length.saturating_sub(self.slot(slot).got);
                let room = boundary.saturating_sub(after.offset());
                let piece = left.min(MAX_PAYLOAD).min(room);
                rest = left.saturating_sub(piece);
                // A whole record that says that it goes on, or a part that says that it does not, or an empty part: the
                // stream was not written in records of its length. It may be cut by the end of the input, too.
                if (more == (piece == left) || piece == 0) && piece <= to_u64(after.len()) {
                    let kind = ErrorKind::SizeMismatch { stated: length, found: length.saturating_sub(left) };
                    return Err(input.error(element::FRAME, kind));
                }
                Length::Fixed(piece)
            }
        };
        let (parts, _) = frame::read_body(input, header, after, length)?;
        let continues = match slot {
            Some(slot) => {
                if parts.payload.is_empty() {
                    // Nothing is written of nothing.
                    return Err(input.error(element::FRAME, ErrorKind::UnderLimit { value: 0, limit: 1 }));
                }
                let known = self.slot(slot);
                let read = known.got.saturating_add(to_u64(parts.payload.len()));
                let got = if rest > 0 { read } else { 0 };
                self.set(streams, slot, got, if parts.more { Open::Yes } else { Open::No });
                known.open == Open::Yes
            }
            None => {
                let was = self.is_open_default(parts.id);
                let bit = u32::try_from(parts.id).ok().and_then(|id| 1_u16.checked_shl(id)).unwrap_or(0);
                self.open_default =
                    if parts.more { self.open_default | bit } else { self.open_default & !bit };
                was
            }
        };
        Ok(Read { parts, slot, continues })
    }
}
