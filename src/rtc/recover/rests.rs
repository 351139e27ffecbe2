//! What is tried before it counts: frames before a certain place, and how much is left of a record that goes on there.

use super::Frames;
use super::anchor::Anchor;
use crate::bytes::to_u64;
use crate::room::Room;
use crate::rtc::frame::{self, MAX_PAYLOAD};
use crate::rtc::index::first_target;
use crate::rtc::reader::Due;
use crate::rtc::slot::{Open, StreamSlot};
use crate::rtc::unit::{Unit, signed};

/// How many of the frames that an index leads to are tried as a place to go on.
const TARGETS: u32 = 8;

impl<'a, R: Room<StreamSlot<'a>>> Frames<'a, R> {
    /// The first frame from what was delivered on to which the anchor's index leads, and from which frames follow up to
    /// it.
    ///
    /// They begin at `from` or after it.
    pub(super) fn backtrack(&mut self, from: usize, anchor: &Anchor<'a>) -> Option<(usize, Unit<'a>)> {
        let whole = self.ahead.whole();
        let index = anchor.index(whole)?;
        let unit = if anchor.begins {
            let number = anchor.unit.number().checked_sub(1)?;
            anchor.unit.moved(signed(anchor.unit.major_size()).saturating_neg(), number)
        } else {
            anchor.unit
        };
        let to = usize::try_from(anchor.at).ok()?;
        let mut from = to_u64(from);
        for _ in 0..TARGETS {
            let target = first_target(whole, &index, from, anchor.at)?;
            let start = usize::try_from(target).ok()?;
            self.ahead.reset(Open::Unknown);
            self.ahead.enter(unit, start);
            if self.reads_to(to) {
                return Some((start, unit));
            }
            from = to_u64(self.ahead.pos).max(target.saturating_add(1));
        }
        None
    }

    /// True if frames follow each other from here on up to the boundary at `to`.
    fn reads_to(&mut self, to: usize) -> bool {
        while self.ahead.due == Due::Frame {
            while self.ahead.read_fast().is_some() {}
            if self.ahead.read_one().is_err() {
                return false;
            }
        }
        self.ahead.pos == to
    }

    /// Tries what may be left of a record of the stream in `slot`, and takes that which alone leads to the end of the
    /// minor unit or of the input. Gives whether there is one.
    pub(super) fn try_rests(&mut self, slot: usize, length: u64, anchor: &Anchor<'a>) -> bool {
        let (mut fits, mut count) = (None, 0_u32);
        // Before the boundary, the piece that was cut has its header, if that is not damaged.
        for is_seen in [true, false] {
            for rest in 0..length.min(MAX_PAYLOAD.saturating_add(1)) {
                // What fits alone is not known where not all was tried.
                if self.finder.looks == 0 {
                    count = 0;
                    break;
                }
                let is_cut = self.is_cut_before(slot, length.saturating_sub(rest), anchor.at);
                if (rest > 0 && is_cut) == is_seen && self.leads_to_the_end(slot, rest, anchor) {
                    fits = Some(rest);
                    count = count.saturating_add(1);
                }
            }
            if count > 0 {
                break;
            }
        }
        let fits = fits.filter(|_| count == 1);
        self.expect_first(slot, fits);
        fits.is_some()
    }

    /// True if the header of a piece that was cut at the boundary stands where it must if so much of its record came.
    fn is_cut_before(&self, slot: usize, came: u64, boundary: u64) -> bool {
        // All pieces but the last one have as many bytes as a frame can have.
        let last = came.saturating_sub(1).checked_rem(MAX_PAYLOAD).unwrap_or(0).saturating_add(1);
        let Some(id) = self.ahead.known.get(slot).map(|slot| slot.stream.id()) else { return false };
        // A header of a stream of fixed length is the id alone.
        let size = u64::from(64_u32.saturating_sub((id << 1).leading_zeros()).div_ceil(7).max(1));
        let at = boundary.checked_sub(last).and_then(|end| end.checked_sub(size));
        let input = at.and_then(|at| self.ahead.whole().range(at, size));
        input.is_some_and(|input| frame::read_header(input).is_ok_and(|(header, _)| header == (id, true)))
    }

    /// The first record goes on with so many bytes, or begins here if these are none.
    fn expect_first(&mut self, slot: usize, rest: Option<u64>) {
        self.ahead.reset(Open::Unknown);
        self.ahead.is_first = true;
        if let Some(rest) = rest {
            self.ahead.expect(slot, if rest > 0 { Open::Yes } else { Open::No }, rest);
        }
    }

    fn leads_to_the_end(&mut self, slot: usize, rest: u64, anchor: &Anchor<'a>) -> bool {
        let at = usize::try_from(anchor.at).unwrap_or(0);
        self.expect_first(slot, Some(rest));
        self.ahead.enter(anchor.unit, at);
        while self.ahead.due == Due::Frame {
            while self.ahead.read_fast().is_some() {}
            // A meta would be taken into the table.
            let is_meta = matches!(self.ahead.data.get(self.ahead.pos), Some(0x0c | 0x0d));
            if is_meta || self.ahead.read_one().is_err() {
                break;
            }
        }
        let end = self.ahead.pos;
        let is_paid = self.finder.looks.checked_sub(to_u64(end.saturating_sub(at)));
        self.finder.looks = is_paid.unwrap_or(0);
        let is_end = self.ahead.due == Due::Nothing && end >= self.ahead.data.len();
        is_paid.is_some() && (is_end || matches!(self.ahead.due, Due::Minor | Due::Major))
    }
}
