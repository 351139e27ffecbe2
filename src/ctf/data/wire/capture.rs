//! A capture, sorted into tracks.

use super::kind::BYTES;
use super::order::sort;
use super::scan::Scan;
use super::slot::WireSlot;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::room::Room;

/// The packets of a capture, sorted into tracks, and its gaps, in room that the caller lends: a slot for each of them.
#[derive(Clone, Debug)]
pub struct Capture<R> {
    room: R,
    count: usize,
    /// The number of slots that are in tracks.
    sorted: usize,
    sessions: u32,
    work: u64,
}

impl<R: Room<WireSlot>> Capture<R> {
    /// Sorts what a scan finds.
    ///
    /// # Errors
    /// `CapacityExceeded`, with the number of slots needed.
    pub fn read(mut scan: Scan<'_, '_>, mut room: R) -> Result<Self> {
        let mut count = 0_usize;
        let mut is_full = false;
        while let Some(found) = scan.next_slot() {
            let needed = count.saturating_add(1);
            let fits = u32::try_from(needed).is_ok()
                && !is_full
                && (count < room.slots().len() || room.grow(needed));
            match room.slots_mut().get_mut(count).filter(|_| fits) {
                Some(slot) => *slot = found,
                None => is_full = true,
            }
            count = needed;
        }
        if is_full {
            let (capacity, needed) = (to_u64(room.slots().len()), to_u64(count));
            return Err(Error::new(0, BYTES, ErrorKind::CapacityExceeded { capacity, needed }));
        }
        let mut capture = Self { room, count, sorted: 0, sessions: 0, work: scan.work() };
        capture.sort(scan.data(), false);
        Ok(capture)
    }

    /// Sorts what has been found so far in bytes that grow: all that the room holds, in the order of the bytes.
    ///
    /// Slots that come later change nothing of one that [is settled](WireSlot::is_settled), but may have their places
    /// before it. A time that goes back without a number is a restart: nothing tells the slots of a ring.
    pub fn of_growing(data: &[u8], room: R) -> Self {
        let count = room.slots().len();
        let mut capture = Self { room, count, sorted: 0, sessions: 0, work: 0 };
        capture.sort(data, true);
        capture
    }

    fn sort(&mut self, data: &[u8], is_growing: bool) {
        let slots = self.room.slots_mut().get_mut(..self.count).unwrap_or_default();
        let (sessions, work) = sort(data, slots, is_growing);
        self.sorted = slots.iter().take_while(|slot| slot.has_track()).count();
        let is_one = slots.iter().filter_map(WireSlot::track).max() == Some(0);
        if !is_one || slots.iter().filter(|slot| slot.is_damage()).count() > 1 {
            slots.iter_mut().filter(|slot| slot.in_fill).for_each(|slot| slot.certain = 0);
        }
        (self.sessions, self.work) = (sessions, self.work.saturating_add(work));
    }

    /// All packets and gaps: those of each track in their order, then those of none, in the order of the bytes.
    pub fn slots(&self) -> &[WireSlot] {
        self.room.slots().get(..self.count).unwrap_or_default()
    }

    /// The slots that belong to no track, in the order of the bytes: gaps, duplicates, packets without records.
    pub fn others(&self) -> &[WireSlot] {
        self.slots().get(self.sorted..).unwrap_or_default()
    }

    /// The tracks of all sessions, to be read as [`Packets::of_track`](super::super::Packets::of_track): by session,
    /// then by stream class, and by stream or processor.
    pub fn tracks(&self) -> impl Iterator<Item = &[WireSlot]> {
        let mut rest = self.slots().get(..self.sorted).unwrap_or_default();
        core::iter::from_fn(move || {
            let track = rest.first()?.track();
            let len = rest.iter().take_while(|slot| slot.track() == track).count();
            let (track, after) = rest.split_at_checked(len)?;
            rest = after;
            Some(track)
        })
    }

    /// The number of starts of the device: 1 for a capture in which it was not restarted.
    pub const fn sessions(&self) -> u32 {
        self.sessions
    }

    /// The number of bytes and slots that were looked at: linear in the size of the capture.
    pub const fn work(&self) -> u64 {
        self.work
    }
}
