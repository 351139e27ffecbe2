//! Frames that were looked at and not yet delivered.

use crate::rtc::frame::id;

/// How many frames are looked at ahead, at most: a power of two, more than are held back. Where memory is small, so is it.
const SIZE: usize = if usize::BITS < 64 { 64 } else { 128 };
/// How many frames are held back until they are proven, by the number of streams.
///
/// Where ids are dense, nearly every byte looks like the header of a frame, and a proof takes more of them.
const HELD: [(usize, usize); 3] = [(24, 8), (64, 16), (usize::MAX, 48)];

/// A frame that was looked at.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub(super) start: usize,
    pub(super) id: u64,
    /// Length of the payload; of [`ZEROS`](Self::ZEROS), how many there are.
    pub(super) len: u16,
    pub(super) place: u16,
    pub(super) header: u8,
    pub(super) flags: u8,
}

impl Item {
    pub(super) const MORE: u8 = 1;
    pub(super) const CONTINUES: u8 = 2;
    /// Of a default stream: some of those have to be noted.
    pub(super) const DEFAULT: u8 = 4;
    /// Bytes of zero, each of which is a frame. They prove nothing.
    pub(super) const ZEROS: u8 = 8;

    const NONE: Self = Self { start: 0, id: 0, len: 0, place: 0, header: 0, flags: Self::ZEROS };
}

/// A ring of frames.
#[derive(Clone)]
pub(super) struct Queue {
    items: [Item; SIZE],
    /// The next one to be delivered, those that may be, and all: counted since the walk began.
    head: usize,
    ready: usize,
    tail: usize,
}

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)] // Masked; counters of frames do not overflow.
impl Queue {
    // Not inlined, so that it is made where it is to lie: inlined, it is made on the stack and copied.
    #[inline(never)]
    pub(super) const fn new() -> Self {
        Self { items: [Item::NONE; SIZE], head: 0, ready: 0, tail: 0 }
    }

    /// The next frame that may be delivered.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<&Item> {
        if self.head == self.ready { None } else { Some(&self.items[self.head % SIZE]) }
    }

    /// It was delivered.
    #[inline(always)]
    pub(super) fn pop(&mut self) {
        self.head += 1;
    }

    /// One of the zeros that are first was delivered.
    pub(super) fn pop_zero(&mut self) {
        let first = &mut self.items[self.head % SIZE];
        first.start += 1;
        first.len -= 1;
        if first.len == 0 {
            self.head += 1;
        }
    }

    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.tail - self.head >= SIZE
    }

    #[inline(always)]
    pub(super) fn push(&mut self, item: Item) {
        self.items[self.tail % SIZE] = item;
        self.tail += 1;
    }

    pub(super) fn push_zero(&mut self, start: usize) {
        let last = &mut self.items[self.tail.wrapping_sub(1) % SIZE];
        let joins = self.tail > self.head && last.flags & Item::ZEROS != 0 && last.len < u16::MAX;
        if joins && last.start + usize::from(last.len) == start {
            last.len += 1;
            return;
        }
        let flags = Item::ZEROS | Item::DEFAULT;
        self.push(Item { start, id: id::NUL, len: 1, place: u16::MAX, header: 1, flags });
    }

    /// Whether the last frame is anything but a zero.
    pub(super) fn ends_solid(&self) -> bool {
        self.items[self.tail.wrapping_sub(1) % SIZE].flags & Item::ZEROS == 0
    }

    /// The stream of the last frame, if that is one of the user's and goes on.
    pub(super) fn last_place(&self) -> Option<usize> {
        let last = &self.items[self.tail.wrapping_sub(1) % SIZE];
        let is_open = self.tail > self.head && last.flags & (Item::MORE | Item::DEFAULT) == Item::MORE;
        is_open.then_some(usize::from(last.place))
    }

    /// All of them may be delivered.
    pub(super) fn release_all(&mut self) {
        self.ready = self.tail;
    }

    /// All may be delivered but the last ones, which nothing has proven yet; those that begin before `verified` are.
    pub(super) fn release(&mut self, streams: usize, verified: usize) {
        let mut hold = HELD.iter().find(|(most, _)| streams <= *most).map_or(0, |&(_, held)| held);
        let mut at = self.tail;
        while at > self.ready && hold > 0 {
            let item = &self.items[(at - 1) % SIZE];
            if item.start < verified {
                break;
            }
            hold -= usize::from(item.flags & Item::ZEROS == 0);
            at -= 1;
        }
        self.ready = at;
    }

    /// What was not delivered is not any more.
    pub(super) fn clear(&mut self) {
        (self.ready, self.tail) = (self.head, self.head);
    }

    /// Those that may be delivered are passed over.
    pub(super) fn skip(&mut self) {
        self.head = self.ready;
    }
}
