//! Lent memory, divided into pages.

use crate::packet::{HEADER, RECORD};
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Release};

/// The number of pages that were closed, and of those that were given back: what a recorder and a [`Drain`](crate::Drain)
/// share.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Marks {
    closed: AtomicU32,
    released: AtomicU32,
}

impl Marks {
    /// Marks of pages of which none has been written.
    pub const fn new() -> Self {
        Self { closed: AtomicU32::new(0), released: AtomicU32::new(0) }
    }

    /// The number of closed pages that wait for the sink.
    pub fn waiting(&self) -> u32 {
        loop {
            let released = self.released.load(Acquire);
            let closed = self.closed.load(Acquire);
            // The two are of one moment if no page was given back meanwhile.
            if self.released.load(Acquire) == released {
                return closed.wrapping_sub(released);
            }
        }
    }

    // Each mark has one writer: a load and a store do, where a core has no more.
    pub(crate) fn close(&self) {
        self.closed.store(self.closed.load(Acquire).wrapping_add(1), Release);
    }

    pub(crate) fn release(&self) {
        self.released.store(self.released.load(Acquire).wrapping_add(1), Release);
    }
}

/// Memory as pages of one size, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Pages<'m> {
    pub(crate) memory: &'m [AtomicU32],
    pub(crate) page_words: usize,
}

impl<'m> Pages<'m> {
    /// Pages of as many words each. What is left over at the end of the memory is not used.
    ///
    /// Pages without room for a record with a field, or of 2²⁷ words and more, are no pages: all records are lost.
    pub const fn new(memory: &'m [AtomicU32], page_words: usize) -> Self {
        let is_usable = page_words > HEADER.saturating_add(RECORD) && page_words < 1 << 27;
        Self { memory, page_words: if is_usable { page_words } else { usize::MAX } }
    }

    /// The number of pages.
    pub const fn count(&self) -> usize {
        match self.memory.len().checked_div(self.page_words) {
            Some(count) => count,
            None => 0,
        }
    }

    /// The words of the page that begins there.
    pub(crate) fn at(&self, place: usize) -> Option<&'m [AtomicU32]> {
        self.memory.get(place..)?.get(..self.page_words)
    }

    /// The place of the page after the one at `place`.
    pub(crate) fn after(&self, place: usize) -> usize {
        let next = place.wrapping_add(self.page_words);
        if self.at(next).is_some() { next } else { 0 }
    }
}
