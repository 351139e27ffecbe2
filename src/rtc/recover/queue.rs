//! Frames that were read ahead and not yet delivered.

use crate::rtc::frame::{Frame, id};
use crate::rtc::work;

/// The number of frames that are looked at ahead, at most: a power of two, more than are held back. Where memory is small, so
/// is it.
const AHEAD: usize = if usize::BITS < 64 { 64 } else { 128 };

/// The number of frames that are held back until they are proven, by the number of streams.
///
/// Nearly every byte looks like the header of a frame where ids are dense: then a proof takes more of them.
const HELD: [(usize, usize); 3] = [(24, 8), (64, 16), (usize::MAX, 48)];

/// A ring of frames.
#[derive(Clone)]
pub(super) struct Queue<'a> {
    items: [Frame<'a>; AHEAD],
    /// The next one to be delivered, those that may be, and all: counted since reading began.
    head: usize,
    ready: usize,
    tail: usize,
}

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)] // Masked; counters of frames do not overflow.
impl<'a> Queue<'a> {
    #[inline(always)] // Zeros, which are set where it is to lie.
    pub(super) const fn new() -> Self {
        Self { items: [Frame::EMPTY; AHEAD], head: 0, ready: 0, tail: 0 }
    }

    /// The next frame that may be delivered.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<&Frame<'a>> {
        if self.head == self.ready { None } else { Some(&self.items[self.head % AHEAD]) }
    }

    /// Removes the first frame, which was delivered.
    #[inline(always)]
    pub(super) fn pop(&mut self) {
        self.head += 1;
    }

    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.tail - self.head >= AHEAD
    }

    #[inline(always)]
    pub(super) fn push(&mut self, item: Frame<'a>) {
        self.items[self.tail % AHEAD] = item;
        self.tail += 1;
    }

    /// Releases all frames.
    pub(super) fn release_all(&mut self) {
        self.ready = self.tail;
    }

    /// Releases all but the unconfirmed tail: what follows the last frame of a default stream that has a place of its own.
    pub(super) fn release(&mut self, streams: usize) {
        let mut hold = HELD.iter().find(|(max, _)| streams <= *max).map_or(0, |&(_, held)| held);
        let mut at = self.tail;
        while at > self.ready && hold > 0 {
            work::count(1);
            let item = &self.items[(at - 1) % AHEAD];
            if matches!(item.id, id::MARKER..=id::META | id::PLATFORM | id::CRC) {
                break;
            }
            hold -= 1;
            at -= 1;
        }
        self.ready = at;
    }

    /// Offset of the first frame that is not released.
    pub(super) fn next_unreleased(&self) -> Option<u64> {
        (self.ready < self.tail).then(|| self.items[self.ready % AHEAD].offset())
    }

    /// Discards undelivered frames.
    pub(super) fn clear(&mut self) {
        (self.ready, self.tail) = (self.head, self.head);
    }
}
