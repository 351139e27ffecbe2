//! How much is left of a record of fixed length that goes on at the last index of the input.

use super::anchor::{Anchor, Looks};
use super::frames::Frames;
use crate::bytes::to_u64;
use crate::rtc::frame::{self, MAX_PAYLOAD, id};
use crate::rtc::frames::Due;
use crate::rtc::lengths::Open;

/// What the first frame of the user's is.
#[derive(Clone, Copy, PartialEq)]
struct Start {
    slot: usize,
    /// How much of the record is left, if it goes on; `None` if it begins here.
    rest: Option<u64>,
}

impl<'a, const N: usize> Frames<'a, N> {
    /// Tries what may be left of a record of the stream in `slot`, and takes that which alone leads to the end of the
    /// minor unit or of the input. Gives whether there is one.
    pub(super) fn try_rests(&mut self, anchor: &Anchor<'a>, slot: usize, length: u64) -> bool {
        let begun = self.first_user_is_whole(anchor);
        let mut fits = None;
        let mut count = 0_u32;
        let rests = (1..length.min(MAX_PAYLOAD.saturating_add(1))).map(Some).chain([None]);
        // Before the boundary, the piece that was cut has its header, if that is not damaged.
        for is_seen in [true, false] {
            if !begun || count > 0 {
                break;
            }
            for rest in rests.clone() {
                let start = Start { slot, rest };
                if self.is_cut_before(anchor.at, start, length) == is_seen
                    && self.leads_to_the_end(anchor, start)
                {
                    fits = Some(start);
                    count = count.saturating_add(1);
                }
            }
        }
        self.interrupt();
        self.ahead.pos = self.pos;
        self.ahead.is_first = true;
        if let (Some(start), 1) = (fits, count) {
            self.expect_start(start);
            return true;
        }
        false
    }

    /// Whether the header of the piece that was cut at the boundary stands where it must for this rest.
    fn is_cut_before(&self, boundary: u64, start: Start, length: u64) -> bool {
        let Some(came) = start.rest.map(|rest| length.saturating_sub(rest)).filter(|&came| came > 0) else {
            return false;
        };
        // All pieces but the last one have as many bytes as a frame can have.
        let last = came.saturating_sub(1).checked_rem(MAX_PAYLOAD).unwrap_or(0).saturating_add(1);
        let Some(id) = self.ahead.streams.at(start.slot).map(|stream| stream.id()) else { return false };
        // A header of a stream of fixed length is the id alone.
        let size = u64::from(64_u32.saturating_sub((id << 1).leading_zeros()).div_ceil(7).max(1));
        let at = boundary.checked_sub(last).and_then(|end| end.checked_sub(size));
        let input = at.and_then(|at| self.whole().range(at, size));
        input.is_some_and(|input| frame::read_header(input).is_ok_and(|(header, _)| header == (id, true)))
    }

    /// Whether the first frame of the user's says that its record ends with it.
    fn first_user_is_whole(&self, anchor: &Anchor<'a>) -> bool {
        let mut input = self.ahead.input(usize::try_from(anchor.at).unwrap_or(0), self.ahead.data.len());
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
        let streams = &self.ahead.streams;
        match start.rest {
            Some(rest) => self.ahead.lengths.expect(streams, start.slot, Open::Yes, rest),
            None => self.ahead.lengths.expect(streams, start.slot, Open::No, 0),
        }
    }

    fn leads_to_the_end(&mut self, anchor: &Anchor<'a>, start: Start) -> bool {
        let at = usize::try_from(anchor.at).unwrap_or(0);
        self.interrupt();
        self.expect_start(start);
        let has_crc = self.ahead.has_crc;
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
        let read = to_u64(end.saturating_sub(at));
        let is_paid = self.looks.checked_sub(read);
        self.looks = is_paid.unwrap_or(0);
        let is_end = self.ahead.due == Due::Nothing && end >= self.ahead.data.len();
        let is_boundary = matches!(self.ahead.due, Due::Minor | Due::Major);
        self.ahead.has_crc = has_crc;
        is_paid.is_some() && (is_end || is_boundary)
    }
}
