//! Slots for the lengths of an event record class that has more of them than there are slots.
//!
//! A length that is a member of the payload or the specific context itself is forgotten after the last member that needs
//! it: a later one takes its slot. Any other length or selector keeps a slot for all of the record.

use super::builder::Builder;
use super::element::FIELD_LOCATION;
use super::node::{NO_SLOT, SLOT_COUNT, SLOTS};
use crate::error::{ErrorKind, Result};

/// The number of lengths and selectors of an event record class.
pub(super) const MANY: u8 = 250;
/// The same, as the length of an array.
const MANY_COUNT: usize = 250;

/// The use of a length or a selector.
#[derive(Clone, Copy)]
struct Use {
    /// The member that it is, and the last one that needs it; 0 if it keeps its slot.
    member: u32,
    last: u32,
    is_used: bool,
    slot: u8,
}

impl Builder<'_> {
    /// Gives the lengths and selectors of the class at `event`, which are numbered from `first` on, slots from `first`
    /// on.
    ///
    /// # Errors
    /// `CapacityExceeded` if they do not suffice.
    #[inline(never)]
    pub(super) fn share_slots(&mut self, event: u32, first: u8) -> Result<()> {
        let mut uses = [Use { member: 0, last: 0, is_used: false, slot: NO_SLOT }; MANY_COUNT];
        let roots = || [event.saturating_add(2), self.view().end(event.saturating_add(2))];
        let end = self.view().end(event);
        for root in roots().into_iter().filter(|root| *root < end) {
            for member in self.view().children(root) {
                for index in member..self.view().end(member) {
                    super::work::count(1);
                    let node = self.node(index);
                    let Some(found) = uses.get_mut(usize::from(node.slot)).filter(|_| node.slot >= first)
                    else {
                        continue;
                    };
                    if index == member && !found.is_used && !node.kind.is_dependent() {
                        found.member = member;
                    } else if !node.kind.is_dependent() {
                        // It is no member itself, or it was needed before: in the other scope.
                        found.member = 0;
                    }
                    (found.last, found.is_used) = (member, true);
                }
            }
        }
        let full = |at: u32| {
            let capacity = u64::from(SLOTS);
            let kind = ErrorKind::CapacityExceeded { capacity, needed: capacity.saturating_add(1) };
            self.error_at(at, FIELD_LOCATION, kind)
        };
        let mut shared = first;
        for keeps in uses.iter_mut().filter(|found| found.is_used && found.member == 0) {
            keeps.slot = Some(shared).filter(|slot| *slot < SLOTS).ok_or_else(|| full(event))?;
            shared = shared.saturating_add(1);
        }
        // The last member that needs the length in each slot.
        let mut until = [0_u32; SLOT_COUNT];
        for found in uses.iter_mut().filter(|found| found.member > 0) {
            let slots = (0..SLOTS).zip(&mut until).skip(usize::from(shared));
            let free = slots.into_iter().find(|(_, until)| **until < found.member);
            let (slot, until) = free.ok_or_else(|| full(found.member))?;
            (found.slot, *until) = (slot, found.last);
        }
        for index in event..end {
            let slot = self.node(index).slot;
            if let Some(found) = uses.get(usize::from(slot)).filter(|found| found.is_used && slot >= first) {
                self.update(index, |node| node.slot = found.slot);
            }
        }
        Ok(())
    }
}
