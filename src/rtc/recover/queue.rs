//! Frames that were read ahead and not yet delivered.

use super::tuning::{AHEAD, HELD};
use crate::rtc::frame::id;
use crate::rtc::item::Item;
use crate::rtc::work;

/// A ring of frames.
#[derive(Clone)]
pub(super) struct Queue {
    items: [Item; AHEAD],
    /// The next one to be delivered, those that may be, and all: counted since reading began.
    head: usize,
    ready: usize,
    tail: usize,
}

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)] // Masked; counters of frames do not overflow.
impl Queue {
    #[inline(always)] // Zeros, which are set where it is to lie.
    pub(super) const fn new() -> Self {
        Self { items: [Item::NONE; AHEAD], head: 0, ready: 0, tail: 0 }
    }

    /// The next frame that may be delivered.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<&Item> {
        if self.head == self.ready { None } else { Some(&self.items[self.head % AHEAD]) }
    }

    /// It was delivered.
    #[inline(always)]
    pub(super) fn pop(&mut self) {
        self.head += 1;
    }

    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.tail - self.head >= AHEAD
    }

    #[inline(always)]
    pub(super) fn push(&mut self, item: Item) {
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

    /// Where the first frame begins that is not released.
    pub(super) fn next_unreleased(&self) -> Option<usize> {
        (self.ready < self.tail).then(|| self.items[self.ready % AHEAD].start)
    }

    /// Discards undelivered frames.
    pub(super) fn clear(&mut self) {
        (self.ready, self.tail) = (self.head, self.head);
    }
}
