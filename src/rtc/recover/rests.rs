//! What is tried before it counts: frames before a certain place, and how much is left of a record that goes on there.

use super::anchor::{Anchor, Looks};
use super::tuning::TARGETS;
use crate::bytes::to_u64;
use crate::rtc::frame::{self, MAX_PAYLOAD, id};
use crate::rtc::index::first_target;
use crate::rtc::item::Due;
use crate::rtc::lengths::Open;
use crate::rtc::reader::Reader;
use crate::rtc::unit::{Unit, signed};

/// What the first frame of the user's is.
#[derive(Clone, Copy, PartialEq)]
struct Start {
    slot: usize,
    /// How much of the record is left, if it goes on; `None` if it begins here.
    rest: Option<u64>,
}

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
        let anchor = self.anchor;
        let begun = self.first_user_is_whole(&anchor);
        let mut fits = None;
        let mut count = 0_u32;
        let rests = (1..length.min(MAX_PAYLOAD.saturating_add(1))).map(Some).chain([None]);
        // Before the boundary, the piece that was cut has its header, if that is not damaged.
        for is_seen in [true, false] {
            if !begun || count > 0 {
                break;
            }
            for rest in rests.clone() {
                if *self.looks == 0 {
                    // What fits alone is not known where not all was tried.
                    count = 0;
                    break;
                }
                let start = Start { slot, rest };
                if self.is_cut_before(anchor.at, start, length) == is_seen
                    && self.leads_to_the_end(&anchor, start)
                {
                    fits = Some(start);
                    count = count.saturating_add(1);
                }
            }
        }
        self.reader.known.lengths.reset(Open::Unknown);
        self.reader.pos = usize::try_from(anchor.at).unwrap_or(self.reader.data.len());
        self.reader.known.lengths.is_first = true;
        if let (Some(start), 1) = (fits, count) {
            self.expect_start(start);
            return true;
        }
        false
    }

    /// True if the header of the piece that was cut at the boundary stands where it must for this rest.
    fn is_cut_before(&self, boundary: u64, start: Start, length: u64) -> bool {
        let Some(came) = start.rest.map(|rest| length.saturating_sub(rest)).filter(|&came| came > 0) else {
            return false;
        };
        // All pieces but the last one have as many bytes as a frame can have.
        let last = came.saturating_sub(1).checked_rem(MAX_PAYLOAD).unwrap_or(0).saturating_add(1);
        let Some(id) = self.reader.known.streams.at(start.slot).map(|stream| stream.id()) else {
            return false;
        };
        // A header of a stream of fixed length is the id alone.
        let size = u64::from(64_u32.saturating_sub((id << 1).leading_zeros()).div_ceil(7).max(1));
        let at = boundary.checked_sub(last).and_then(|end| end.checked_sub(size));
        let input = at.and_then(|at| self.reader.whole().range(at, size));
        input.is_some_and(|input| frame::read_header(input).is_ok_and(|(header, _)| header == (id, true)))
    }

    /// True if the first frame of the user's says that its record ends with it.
    fn first_user_is_whole(&self, anchor: &Anchor<'a>) -> bool {
        let mut input = self.reader.input(usize::try_from(anchor.at).unwrap_or(0), self.reader.data.len());
        let mut left = 0;
        let mut looks = Looks::of(&mut left);
        while looks.take() {
            match frame::read_header(input) {
                Ok(((id, more), _)) if id >= id::USER => return !more,
                Ok(_) => {}
                Err(_) => return false,
            }
            match frame::read_default(input) {
                Ok((_, rest)) => input = rest,
                Err(_) => return false,
            }
        }
        false
    }

    fn expect_start(&mut self, start: Start) {
        let known = &mut self.reader.known;
        let (open, rest) = start.rest.map_or((Open::No, 0), |rest| (Open::Yes, rest));
        known.lengths.expect(&known.streams, start.slot, open, rest);
    }

    fn leads_to_the_end(&mut self, anchor: &Anchor<'a>, start: Start) -> bool {
        let at = usize::try_from(anchor.at).unwrap_or(0);
        self.reader.known.lengths.reset(Open::Unknown);
        self.expect_start(start);
        let has_crc = self.reader.has_crc;
        self.reader.enter(anchor.unit, at);
        while self.reader.due == Due::Frame {
            while self.reader.read_fast().is_some() {}
            // A meta would be taken into the table.
            let is_meta = matches!(self.reader.data.get(self.reader.pos), Some(0x0c | 0x0d));
            if is_meta || self.reader.read_one().is_err() {
                break;
            }
        }
        let end = self.reader.pos;
        let read = to_u64(end.saturating_sub(at));
        let is_paid = self.looks.checked_sub(read);
        *self.looks = is_paid.unwrap_or(0);
        let is_end = self.reader.due == Due::Nothing && end >= self.reader.data.len();
        let is_boundary = matches!(self.reader.due, Due::Minor | Due::Major);
        self.reader.has_crc = has_crc;
        is_paid.is_some() && (is_end || is_boundary)
    }
}
