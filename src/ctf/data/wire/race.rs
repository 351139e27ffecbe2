//! Records without packets, of processors that race between taking the time and writing.

use super::slot::WireSlot;

/// The number of processors that may race.
const LANES: usize = 16;
/// The owner of the records of a race: none of those that packets name.
const BY_RACE: u8 = 3;

/// Runs of records, in each of which the time does not fall. A run that begins before the last one has ended is put
/// beside it, on another lane: merged by time, their records are in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Race {
    /// Another run begins where the last one has ended.
    pub(super) is_on: bool,
    /// The time of the last record.
    last: Option<u64>,
    /// The end of each lane.
    ends: [u64; LANES],
}

impl Race {
    /// The time of the last record.
    pub(super) const fn last(&self) -> Option<u64> {
        self.last
    }

    /// True if a clock of so many bits, which is taken to have wrapped, rather stepped back.
    pub(super) fn is_step_back(before: Option<u64>, after: Option<u64>, bits: u8) -> bool {
        let range = 1_u64.checked_shl(bits.into()).filter(|_| bits >= 16);
        before.zip(after).zip(range).is_some_and(|((before, after), range)| {
            after.saturating_sub(before) >= range.saturating_sub(range / 1024)
        })
    }

    /// A run of records, with its time and its lane.
    pub(super) fn run(&mut self, mut slot: WireSlot, bits: u8) -> WireSlot {
        let mask = u64::MAX.checked_shr(64_u32.saturating_sub(bits.into())).unwrap_or(0);
        let length = slot.last.wrapping_sub(slot.begin);
        let begin = match self.last {
            Some(last) => {
                let next = last.wrapping_add(slot.begin.wrapping_sub(last) & mask);
                match Self::is_step_back(Some(last), Some(next), bits) {
                    true => last.wrapping_sub(last.wrapping_sub(slot.begin) & mask),
                    false => next,
                }
            }
            None => slot.begin,
        };
        let end = begin.wrapping_add(length);
        (slot.begin, slot.end, slot.last, slot.width) = (begin, end, end, 64);
        self.last = Some(end);
        for (lane, lane_end) in self.ends.iter_mut().enumerate() {
            if *lane_end <= begin {
                *lane_end = end;
                (slot.owner.by, slot.owner.id) = (BY_RACE, crate::bytes::to_u64(lane));
                break;
            }
        }
        slot
    }
}
