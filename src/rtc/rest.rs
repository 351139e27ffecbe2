//! Beginning in the middle: which frames continue a record, and how much of one is left.

use crate::bytes::{Bytes, to_u64};
use crate::error::ErrorKind;
use crate::rtc::declared::Declared;
use crate::rtc::frame::{self, Length, id};
use crate::rtc::index::first_target;
use crate::rtc::item::Item;
use crate::rtc::lengths::Open;
use crate::rtc::unit::signed;
use crate::rtc::{Index, Unit, work};

/// The number of bytes before a boundary that may be too few for a frame: a header has at most ten bytes for the id and
/// two for the length.
const MAX_FILL: u64 = 12;

/// What is known of the record that a minor unit begins in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rest {
    /// All that is needed.
    Known,
    /// The first frame is of the stream in `slot`, whose records have `length` bytes, and it is not known how many of
    /// them are left.
    Unknown { slot: usize, length: u64 },
}

impl<'a, const N: usize> Declared<'a, N> {
    /// Begins with a unit in the middle of a file, perhaps in the middle of a record.
    pub(super) fn begin_with(&mut self, unit: &Unit<'a>, at: usize) {
        if unit.number() != 0 {
            let _ = self.learn_at(to_u64(at));
            self.doubt = Some(doubt);
            self.expect_rest(unit, at);
        }
    }

    /// The index at the end of the minor unit that `at` lies in.
    pub(super) fn next_index(&self, unit: &Unit<'a>, at: u64) -> Option<Index<'a>> {
        let boundary = unit.boundary_after(at);
        if boundary == unit.end() {
            let next = Unit::parse(self.data, boundary).ok().filter(|next| next.number() != 0);
            next.and_then(|unit| unit.index())
        } else {
            unit.minor_index(Bytes::new(self.data), boundary).ok()
        }
    }

    /// If reading goes on at a boundary, within a record: how much of it is left, if its frames do not say so.
    ///
    /// The index at the end of the minor unit leads to the first frame that begins to be written in it; whatever is
    /// before that is the rest of a record. Where no index follows, a record of fixed length may have begun before.
    pub(super) fn expect_rest(&mut self, unit: &Unit<'a>, pos: usize) -> Rest {
        if unit.number() == 0 && signed(to_u64(pos)) <= unit.origin() {
            // Nothing was written before.
            self.lengths.reset(Open::No);
            return Rest::Known;
        }
        self.lengths.reset(Open::Unknown);
        self.lengths.is_first = true;
        let Some((id, rest, at)) = self.first_user(pos) else { return Rest::Known };
        let Some(slot) = self.streams.slot(id) else { return Rest::Known };
        let length = self.streams.at(slot).and_then(|stream| stream.length());
        let Some(index) = self.next_index(unit, at) else {
            return length.map_or(Rest::Known, |length| Rest::Unknown { slot, length });
        };
        let boundary = unit.boundary_after(at);
        let first = first_target(Bytes::new(self.data), &index, at, boundary);
        let Some(first) = first.or_else(|| is_end_known(&index).then_some(boundary)) else {
            return length.map_or(Rest::Known, |length| Rest::Unknown { slot, length });
        };
        if first == at {
            self.lengths.expect(&self.streams, slot, Open::No, 0);
            return Rest::Known;
        }
        if length.is_some() {
            let header = rest.offset().saturating_sub(at);
            let total = first.saturating_sub(at);
            let frames = total.div_ceil(header.saturating_add(frame::MAX_PAYLOAD).max(1));
            let left = total.saturating_sub(frames.saturating_mul(header));
            if left > 0 && first < boundary {
                self.lengths.expect(&self.streams, slot, Open::Yes, left);
            } else if first == boundary {
                return length.map_or(Rest::Known, |length| Rest::Unknown { slot, length });
            }
        } else {
            self.lengths.expect(&self.streams, slot, Open::Yes, 0);
        }
        Rest::Known
    }

    /// The first frame of a user's stream from `pos` on, before which only default ones are: its stream, what follows
    /// its header, and where it begins.
    fn first_user(&mut self, pos: usize) -> Option<(u64, Bytes<'a>, u64)> {
        let mut input = Bytes::at(self.data.get(pos..)?, to_u64(pos));
        loop {
            let ((id, _), rest) = frame::read_header(input).ok()?;
            if id >= id::USER {
                return Some((id, rest, input.offset()));
            }
            work::count(1);
            self.budget = self.budget.checked_sub(1)?;
            input = frame::read_default(input).ok()?.1;
        }
    }

    /// Keeps in mind that a stream's writer cuts records itself.
    pub(super) fn note_split(&mut self, item: &Item, boundary: u64) {
        // Where fewer bytes are left than a header and a byte, the writer fills up.
        let end = to_u64(item.end());
        let is_cut = item.len == 1024 || boundary.saturating_sub(end) <= MAX_FILL;
        if item.flags & Item::MORE != 0 && item.id >= id::USER && !is_cut {
            self.lengths.note_split(usize::from(item.slot));
        }
    }
}

/// Finds out whether the frame of stream `id` at `at` continues a record, if that is not known: the index at the end
/// of the minor unit tells where each stream began to be written. Gives whether it is still in doubt.
pub(super) fn doubt<'a, const N: usize>(
    known: &mut Declared<'a, N>,
    unit: &Unit<'a>,
    id: u64,
    at: u64,
) -> bool {
    let is_first = core::mem::take(&mut known.lengths.is_first);
    let Some(slot) = known.streams.slot(id) else {
        known.lengths.is_first = is_first;
        return false;
    };
    if known.lengths.open(slot) != Open::Unknown {
        return false;
    }
    let index = known.next_index(unit, at);
    let open = match index.map(|index| (index.find(id), index.more())) {
        // A write began here; that of the rest of a record, perhaps, if its writer cuts records itself.
        Some((Ok(entry), _)) if entry.target() == Some(at) => {
            if known.lengths.is_split(slot) {
                Open::Unknown
            } else if is_first && follows_piece(known.data, id, at) {
                Open::Yes
            } else {
                Open::No
            }
        }
        // It began after this frame, or not in this minor unit.
        Some((Ok(_), _)) => Open::Yes,
        Some((Err(error), false)) if error.kind() == ErrorKind::Missing => Open::Yes,
        // The writer itself cuts records at boundaries alone.
        _ if is_first || known.lengths.is_split(slot) => Open::Unknown,
        _ => Open::No,
    };
    let is_fixed = known.streams.at(slot).is_some_and(|stream| stream.length().is_some());
    // How much is left of a record of fixed length is measured where it goes on at a boundary.
    if open == Open::Unknown || open == Open::Yes && is_fixed {
        return true;
    }
    known.lengths.expect(&known.streams, slot, open, 0);
    false
}

/// True if a frame of the same stream that says that its record goes on ends at `at`: for the first frame after a gap.
fn follows_piece(data: &[u8], id: u64, at: u64) -> bool {
    let from = at.saturating_sub(frame::MAX_PAYLOAD.saturating_add(MAX_FILL));
    let Some(before) = Bytes::new(data).range(from, at.saturating_sub(from)) else { return false };
    work::count(before.len());
    (0..before.len()).any(|skipped| {
        let Some((_, input)) = before.split(skipped) else { return false };
        let Ok((header, after)) = frame::read_header(input) else { return false };
        let ends = || frame::read_body(input, header, after, Length::Stated).ok();
        header == (id, true) && ends().is_some_and(|(_, rest)| rest.is_empty())
    })
}

/// True if an index lists all that it has to.
fn is_end_known(index: &Index<'_>) -> bool {
    !index.more() && index.check().is_ok()
}
