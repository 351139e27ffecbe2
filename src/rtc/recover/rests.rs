//! What is tried before it counts: frames before a certain place, and how much is left of a record that goes on there.

use super::anchor::Anchor;
use super::tuning::TARGETS;
use crate::bytes::to_u64;
use crate::rtc::Stream;
use crate::rtc::frame::{self, MAX_PAYLOAD};
use crate::rtc::index::first_target;
use crate::rtc::item::Due;
use crate::rtc::lengths::Open;
use crate::rtc::reader::Reader;
use crate::rtc::unit::{Unit, signed};

/// Readings of the frames before or after an anchor, which are tried before one of them counts.
pub(super) struct Trial<'t, 'a, const N: usize> {
    pub(super) reader: &'t mut Reader<'a, N>,
    /// How much more may be read that does not count then.
    pub(super) looks: &'t mut u64,
    pub(super) anchor: Anchor<'a>,
}

impl<'a, const N: usize> Trial<'_, 'a, N> {
    /// The first frame from what was delivered on to which the anchor's index leads, and from which frames follow up to
    /// it.
    ///
    /// They begin at `from` or after it.
    pub(super) fn backtrack(&mut self, from: usize) -> Option<(usize, Unit<'a>)> {
        let (whole, anchor) = (self.reader.whole(), self.anchor);
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
            self.reader.known.lengths.reset(Open::Unknown);
            self.reader.enter(unit, start);
            if self.reads_to(to) {
                return Some((start, unit));
            }
            from = to_u64(self.reader.pos).max(target.saturating_add(1));
        }
        None
    }

    /// True if frames follow each other from here on up to the boundary at `to`.
    fn reads_to(&mut self, to: usize) -> bool {
        while self.reader.due == Due::Frame {
            while self.reader.read_fast().is_some() {}
            if self.reader.read_one().is_err() {
                return false;
            }
        }
        self.reader.pos == to
    }

    /// Tries what may be left of a record of the stream in `slot`, and takes that which alone leads to the end of the
    /// minor unit or of the input. Gives whether there is one.
    pub(super) fn try_rests(&mut self, slot: usize, length: u64) -> bool {
        let (mut fits, mut count) = (None, 0_u32);
        // Before the boundary, the piece that was cut has its header, if that is not damaged.
        for is_seen in [true, false] {
            for rest in 0..length.min(MAX_PAYLOAD.saturating_add(1)) {
                // What fits alone is not known where not all was tried.
                if *self.looks == 0 {
                    count = 0;
                    break;
                }
                let is_cut = self.is_cut_before(slot, length.saturating_sub(rest));
                if (rest > 0 && is_cut) == is_seen && self.leads_to_the_end(slot, rest) {
                    fits = Some(rest);
                    count = count.saturating_add(1);
                }
            }
            if count > 0 {
                break;
            }
        }
        let fits = fits.filter(|_| count == 1);
        self.expect(slot, fits);
        fits.is_some()
    }

    /// True if the header of a piece that was cut at the boundary stands where it must if so much of its record came.
    fn is_cut_before(&self, slot: usize, came: u64) -> bool {
        // All pieces but the last one have as many bytes as a frame can have.
        let last = came.saturating_sub(1).checked_rem(MAX_PAYLOAD).unwrap_or(0).saturating_add(1);
        let Some(id) = self.reader.known.streams.at(slot).map(Stream::id) else { return false };
        // A header of a stream of fixed length is the id alone.
        let size = u64::from(64_u32.saturating_sub((id << 1).leading_zeros()).div_ceil(7).max(1));
        let at = self.anchor.at.checked_sub(last).and_then(|end| end.checked_sub(size));
        let input = at.and_then(|at| self.reader.whole().range(at, size));
        input.is_some_and(|input| frame::read_header(input).is_ok_and(|(header, _)| header == (id, true)))
    }

    /// The first record goes on with so many bytes, or begins here if these are none.
    fn expect(&mut self, slot: usize, rest: Option<u64>) {
        let known = &mut self.reader.known;
        known.lengths.reset(Open::Unknown);
        known.lengths.is_first = true;
        if let Some(rest) = rest {
            let open = if rest > 0 { Open::Yes } else { Open::No };
            known.lengths.expect(&known.streams, slot, open, rest);
        }
    }

    fn leads_to_the_end(&mut self, slot: usize, rest: u64) -> bool {
        let at = usize::try_from(self.anchor.at).unwrap_or(0);
        self.expect(slot, Some(rest));
        self.reader.enter(self.anchor.unit, at);
        while self.reader.due == Due::Frame {
            while self.reader.read_fast().is_some() {}
            // A meta would be taken into the table.
            let is_meta = matches!(self.reader.data.get(self.reader.pos), Some(0x0c | 0x0d));
            if is_meta || self.reader.read_one().is_err() {
                break;
            }
        }
        let end = self.reader.pos;
        let is_paid = self.looks.checked_sub(to_u64(end.saturating_sub(at)));
        *self.looks = is_paid.unwrap_or(0);
        let is_end = self.reader.due == Due::Nothing && end >= self.reader.data.len();
        is_paid.is_some() && (is_end || matches!(self.reader.due, Due::Minor | Due::Major))
    }
}
