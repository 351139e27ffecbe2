//! The order of a capture's packets: sessions, tracks, and the place of each packet in its track.

use super::slot::{Chain, NONE, WireSlot};
use crate::bytes::to_usize;
use crate::ctf::data::meaning::update;
use crate::sort::sort_by_key;

/// The most packets over which one that comes out of order is moved to its place.
const STEPS_MAX: u32 = 1024;
/// The number of packets that are compared with one that may be a duplicate and has no number.
const SAME_MAX: u32 = 16;
/// The most packets by which the first packets of a device may come late.
const LATE_MAX: u32 = 8;

/// The slots of a capture, in the order of its bytes.
struct Order<'d, 'r> {
    data: &'d [u8],
    slots: &'r mut [WireSlot],
    session: u32,
    /// More slots may follow.
    is_growing: bool,
    /// The number of slots that were looked at.
    work: u64,
}

/// The place of a packet.
enum Place {
    Last,
    Before(u32),
    Duplicate,
    Restart,
}

/// Sorts slots into tracks: those of a track are neighbors, and what belongs to none comes last. Returns how many
/// sessions there are, and how many slots were looked at.
pub(super) fn sort(data: &[u8], slots: &mut [WireSlot], is_growing: bool) -> (u32, u64) {
    let mut order = Order { data, slots, session: 0, is_growing, work: 0 };
    order.number_owners();
    order.find_rising();
    order.chain();
    order.place_doubtful();
    order.rank();
    order.set_clocks();
    let (sessions, work) = (order.session.saturating_add(1), order.work);
    sort_by_key(slots, |slot| (!slot.has_track(), slot.session, slot.track, slot.rank, slot.offset));
    number_tracks(slots);
    (sessions, work)
}

/// Numbers tracks of all sessions, instead of the owners in each.
fn number_tracks(slots: &mut [WireSlot]) {
    let mut last = None;
    let mut number = 0_u32;
    for slot in slots.iter_mut().filter(|slot| slot.has_track()) {
        let this = (slot.session, slot.track);
        if last.is_some_and(|last| last != this) {
            number = number.saturating_add(1);
        }
        last = Some(this);
        slot.track = number;
    }
}

impl Order<'_, '_> {
    fn at(&self, index: u32) -> &WireSlot {
        const EMPTY: &WireSlot = &WireSlot::EMPTY;
        self.slots.get(to_usize(index)).unwrap_or(EMPTY)
    }

    fn change(&mut self, index: u32, change: impl FnOnce(&mut WireSlot)) {
        if let Some(slot) = self.slots.get_mut(to_usize(index)) {
            change(slot);
        }
    }

    fn indices(&self) -> core::ops::Range<u32> {
        0..u32::try_from(self.slots.len()).unwrap_or(u32::MAX)
    }

    /// Gives each owner of packets a number.
    fn number_owners(&mut self) {
        sort_by_key(self.slots, |slot| (!slot.is_ordered(), slot.owner, slot.offset));
        let mut last = None;
        let mut number = 0_u32;
        for slot in self.slots.iter_mut().filter(|slot| slot.is_ordered()) {
            if last.is_some_and(|last| last != slot.owner) {
                number = number.saturating_add(1);
            }
            last = Some(slot.owner);
            slot.track = number;
        }
        sort_by_key(self.slots, |slot| slot.offset);
    }

    /// Notes of each packet whether those of its owner ascend from there on, and where they end.
    fn find_rising(&mut self) {
        for index in self.indices().rev() {
            let slot = self.at(index);
            if !slot.is_certain() {
                continue;
            }
            let owner = slot.track;
            let (rises, end) = match self.at(owner).chain.head {
                NONE => (true, slot.end),
                next => {
                    let next = self.at(next);
                    let follows = !is_fall(slot.end, next) || is_wrap(slot.end, next);
                    (next.rises && (follows || self.is_same(slot, next)), next.rest_end)
                }
            };
            self.change(index, |slot| (slot.rises, slot.rest_end) = (rises, end));
            self.change(owner, |slot| slot.chain.head = index);
        }
        for slot in self.slots.iter_mut() {
            slot.chain = Chain::EMPTY;
        }
    }

    /// Finds the place of each packet that is whole among those of its owner, and where the device started anew.
    fn chain(&mut self) {
        for index in self.indices() {
            let slot = self.at(index);
            if slot.is_certain() {
                let owner = slot.track;
                let known = self.at(owner).chain;
                let chain = if known.session == self.session { known } else { Chain::EMPTY };
                match self.place(index, chain) {
                    Place::Last => self.link(index, chain, NONE),
                    Place::Before(next) => self.link(index, chain, next),
                    Place::Duplicate => {
                        self.change(index, |slot| {
                            (slot.kind, slot.content) = (super::WireKind::Duplicate, 0)
                        });
                    }
                    Place::Restart => {
                        self.session = self.session.saturating_add(1);
                        self.change(index, |slot| slot.is_restart = true);
                        self.link(index, Chain::EMPTY, NONE);
                    }
                }
            }
            let session = self.session;
            self.change(index, |slot| slot.session = session);
        }
    }

    /// Puts a packet before another one, or last.
    fn link(&mut self, index: u32, mut chain: Chain, next: u32) {
        let before = if next == NONE { chain.tail } else { self.at(next).before };
        self.change(index, |slot| (slot.before, slot.after, slot.rank) = (before, next, 0));
        if before == NONE {
            chain.head = index;
        } else {
            self.change(before, |slot| slot.after = index);
        }
        if next == NONE {
            chain.tail = index;
        } else {
            self.change(next, |slot| slot.before = index);
        }
        (chain.cursor, chain.session) = (index, self.session);
        let owner = self.at(index).track;
        self.change(owner, |slot| slot.chain = chain);
    }

    fn place(&mut self, index: u32, chain: Chain) -> Place {
        if chain.tail == NONE {
            return Place::Last;
        }
        match (self.at(index).sequence, self.at(chain.tail).sequence) {
            (Some(number), Some(last)) if number > last => Place::Last,
            (Some(number), Some(_)) => self.place_by_number(index, chain, number),
            _ => self.place_by_time(index, chain),
        }
    }

    /// The place of a packet whose number is not larger than all before it.
    fn place_by_number(&mut self, index: u32, chain: Chain, number: u64) -> Place {
        let number_of = |order: &Self, index: u32| order.at(index).sequence.unwrap_or(0);
        let mut previous = if number < number_of(self, chain.head) { NONE } else { chain.cursor };
        let mut steps = 0_u32;
        while previous != NONE && number_of(self, previous) > number {
            previous = self.at(previous).before;
            steps = steps.saturating_add(1);
            if steps > STEPS_MAX {
                return Place::Restart;
            }
        }
        let after = |order: &Self, index: u32| if index == NONE { chain.head } else { order.at(index).after };
        let mut next = after(self, previous);
        while next != NONE && number_of(self, next) <= number {
            (previous, next) = (next, after(self, next));
            steps = steps.saturating_add(1);
            if steps > STEPS_MAX {
                return Place::Restart;
            }
        }
        self.work = self.work.saturating_add(steps.into());
        let slot = self.at(index);
        if previous != NONE && number_of(self, previous) == number {
            let other = self.at(previous);
            if self.is_same(slot, other) {
                return Place::Duplicate;
            }
            return Place::Restart;
        }
        if next == NONE {
            return Place::Last;
        }
        if number <= 1 && self.is_far_from_end(next) {
            return Place::Restart;
        }
        let following = self.at(next);
        if is_before(slot.end, following.begin, slot.width) { Place::Before(next) } else { Place::Restart }
    }

    /// True if more packets follow than come out of order.
    fn is_far_from_end(&self, mut next: u32) -> bool {
        for _ in 0..LATE_MAX {
            if next == NONE {
                return false;
            }
            next = self.at(next).after;
        }
        next != NONE
    }

    /// The place of a packet that has no number.
    fn place_by_time(&mut self, index: u32, chain: Chain) -> Place {
        let slot = self.at(index);
        let (last, rotated) = (self.at(chain.tail), self.at(chain.cursor).after);
        if slot.width == 0 || !is_fall(last.end, slot) {
            return Place::Last;
        }
        let mut other = chain.cursor;
        for _ in 0..SAME_MAX {
            if other == NONE {
                break;
            }
            let earlier = self.at(other);
            if self.is_same(slot, earlier) {
                return Place::Duplicate;
            }
            if !is_fall(earlier.begin, slot) && earlier.begin != slot.begin {
                break;
            }
            other = earlier.before;
        }
        if is_wrap(last.end, slot) {
            return Place::Last;
        }
        let is_rotation = |first: u32| {
            let end = if rotated == NONE { slot.rest_end } else { slot.end };
            is_before(end, self.at(first).begin, slot.width)
        };
        match rotated {
            NONE if !self.is_growing && slot.rises && is_rotation(chain.head) => Place::Before(chain.head),
            NONE => Place::Restart,
            next if !is_fall(self.at(chain.cursor).end, slot) && is_rotation(next) => Place::Before(next),
            _ => Place::Restart,
        }
    }

    /// Puts packets that are damaged between those whose bytes are next to them, if what their headers say fits there.
    /// If it does not, the header is damaged, too: then nothing of the packet is delivered.
    fn place_doubtful(&mut self) {
        for slot in self.slots.iter_mut() {
            slot.chain = Chain::EMPTY;
        }
        let mut is_any_certain = false;
        // The next packet that is whole, for now where the next one in the track will be.
        for index in self.indices().rev() {
            let slot = self.at(index);
            let (owner, is_certain) = (slot.track, slot.has_track());
            if is_certain {
                is_any_certain = true;
                self.change(owner, |slot| slot.chain.head = index);
            } else if slot.is_ordered() {
                let next = self.at(owner).chain.head;
                let is_settled = next != NONE || !self.is_growing;
                self.change(index, |slot| (slot.after, slot.is_settled) = (next, is_settled));
            }
        }
        for index in self.indices() {
            let slot = self.at(index);
            if !slot.is_ordered() {
                continue;
            }
            if !slot.has_track() {
                let (previous, next) = (self.at(slot.track).chain.tail, slot.after);
                let is_known = previous != NONE || next != NONE;
                let is_trusted = slot.kind != super::WireKind::Damaged || !is_any_certain;
                let after_previous = (previous, self.at(previous).after);
                let before_next = (self.at(next).before, next);
                if is_known && previous != NONE && self.fits(index, after_previous) {
                    self.insert(index, after_previous);
                } else if is_known && next != NONE && self.fits(index, before_next) {
                    self.insert(index, before_next);
                } else if !is_known && is_trusted {
                    self.insert(index, (NONE, NONE));
                } else {
                    self.change(index, |slot| (slot.records, slot.content, slot.after) = (0, 0, NONE));
                    continue;
                }
            }
            let owner = self.at(index).track;
            self.change(owner, |slot| slot.chain.tail = index);
        }
    }

    /// True if what a packet says lies between what two others say, one of which may not be.
    fn fits(&self, index: u32, (previous, next): (u32, u32)) -> bool {
        let slot = self.at(index);
        let numbers = |first: &WireSlot, second: &WireSlot| {
            first.sequence.zip(second.sequence).is_none_or(|(first, second)| first < second)
        };
        let follows = |first: u32, second: u32| {
            let (first, second) = (self.at(first), self.at(second));
            numbers(first, second) && is_before(first.last, second.begin, slot.width)
        };
        (previous == NONE || follows(previous, index)) && (next == NONE || follows(index, next))
    }

    /// Puts a packet between two that are next to each other.
    fn insert(&mut self, index: u32, (previous, next): (u32, u32)) {
        let neighbor = if previous == NONE { next } else { previous };
        let session = if neighbor == NONE { self.at(index).session } else { self.at(neighbor).session };
        self.change(index, |slot| {
            (slot.before, slot.after, slot.rank, slot.session) = (previous, next, 0, session);
        });
        if previous != NONE {
            self.change(previous, |slot| slot.after = index);
        }
        if next != NONE {
            self.change(next, |slot| slot.before = index);
        }
    }

    /// True if both have the same bytes.
    fn is_same(&self, slot: &WireSlot, other: &WireSlot) -> bool {
        let bytes = |slot: &WireSlot| {
            let start = usize::try_from(slot.offset).ok()?;
            self.data.get(start..start.checked_add(usize::try_from(slot.len).ok()?)?)
        };
        (slot.begin, slot.len) == (other.begin, other.len) && bytes(slot) == bytes(other)
    }

    /// Numbers the packets of each track.
    fn rank(&mut self) {
        for index in self.indices() {
            let slot = self.at(index);
            if !slot.has_track() || slot.before != NONE {
                continue;
            }
            let (mut next, mut rank) = (index, 0_u32);
            while next != NONE {
                self.change(next, |slot| slot.rank = rank);
                (next, rank) = (self.at(next).after, rank.saturating_add(1));
            }
        }
    }

    /// Gives each packet the bits of the time that it does not say itself.
    fn set_clocks(&mut self) {
        let mut known = NONE;
        for index in self.indices() {
            let slot = self.at(index);
            if !slot.has_track() {
                continue;
            }
            if !slot.is_timed {
                let mut head = index;
                while self.at(head).before != NONE {
                    head = self.at(head).before;
                }
                self.set_clocks_of(head);
                let slot = self.at(index);
                let other = self.at(known);
                let is_like = other.session == slot.session && other.time_base == slot.time_base;
                if known != NONE && is_like && (1..64).contains(&slot.width) {
                    let step = 1_u64.wrapping_shl(slot.width.into());
                    let ahead = other.clock.saturating_sub(slot.clock).saturating_add(step / 2);
                    self.shift(head, ahead & !step.wrapping_sub(1));
                }
            }
            known = index;
        }
    }

    /// Unwraps the times of a track.
    fn set_clocks_of(&mut self, head: u32) {
        let (mut index, mut last) = (head, None);
        while index != NONE {
            let slot = self.at(index);
            let begin = match last {
                Some(last) if slot.width > 0 => update(last, slot.begin, slot.width.into()),
                _ => slot.begin,
            };
            last = Some(begin.wrapping_add(slot.last.wrapping_sub(slot.begin)));
            let after = slot.after;
            self.change(index, |slot| (slot.clock, slot.is_timed) = (begin, true));
            index = after;
        }
    }

    fn shift(&mut self, head: u32, by: u64) {
        let mut index = head;
        while index != NONE && by > 0 {
            self.change(index, |slot| slot.clock = slot.clock.wrapping_add(by));
            index = self.at(index).after;
        }
    }
}

/// The bits of a time that a packet says.
fn mask(width: u8) -> u64 {
    u64::MAX.checked_shr(64_u32.saturating_sub(width.into())).unwrap_or(0)
}

/// True if a packet begins before a time.
fn is_fall(time: u64, slot: &WireSlot) -> bool {
    let mask = mask(slot.width);
    slot.begin & mask < time & mask
}

/// True if a clock goes on from a time to the begin of a packet by a wrap: from its last quarter to its first one.
fn is_wrap(time: u64, slot: &WireSlot) -> bool {
    let mask = mask(slot.width);
    slot.width < 64 && time & mask > mask.wrapping_sub(mask / 4) && slot.begin & mask < mask / 4
}

/// True if a time is not after another one, which is less than half of the clock's range away.
fn is_before(time: u64, other: u64, width: u8) -> bool {
    match width {
        0 => true,
        64.. => time <= other,
        _ => other.wrapping_sub(time) & mask(width) <= mask(width) / 2,
    }
}
