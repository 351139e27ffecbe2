//! A capture, sorted into tracks.

use super::kind::BYTES;
use super::order::sort;
use super::scan::Scan;
use super::slot::WireSlot;
use crate::bytes::to_u64;
use crate::ctf::data::packets::Packets;
use crate::ctf::schema::Schema;
use crate::error::{Error, ErrorKind, Result};
use crate::room::Room;

/// A capture whose packets are sorted into tracks, in room that the caller lends: a slot for each packet and each gap.
#[derive(Debug)]
pub struct Capture<'a, 's, R> {
    data: &'a [u8],
    schema: &'s Schema<'a, 's>,
    room: R,
    count: usize,
    /// How many of them are in tracks.
    sorted: usize,
    sessions: u32,
    work: u64,
}

impl<'a, 's, R: Room<WireSlot>> Capture<'a, 's, R> {
    /// Reads a capture that lies in `data`.
    ///
    /// # Errors
    /// `CapacityExceeded`, with the number of slots needed.
    pub fn read(data: &'a [u8], schema: &'s Schema<'a, 's>, room: R) -> Result<Self> {
        Self::read_from(Scan::new(data, schema), data, schema, room)
    }

    /// As [`Self::read`], after as many bytes that are none of the trace's.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_after(data: &'a [u8], schema: &'s Schema<'a, 's>, skipped: u64, room: R) -> Result<Self> {
        Self::read_from(Scan::new(data, schema).skip_bytes(skipped), data, schema, room)
    }

    fn read_from(
        mut scan: Scan<'a, 's>,
        data: &'a [u8],
        schema: &'s Schema<'a, 's>,
        mut room: R,
    ) -> Result<Self> {
        let mut count = 0_usize;
        let mut is_full = false;
        while let Some(found) = scan.next_slot() {
            let needed = count.saturating_add(1);
            let fits = u32::try_from(needed).is_ok() && (count < room.slots().len() || room.grow(needed));
            match room.slots_mut().get_mut(count).filter(|_| fits) {
                Some(slot) => *slot = found,
                None => is_full = true,
            }
            count = needed;
        }
        if is_full {
            let kind =
                ErrorKind::CapacityExceeded { capacity: to_u64(room.slots().len()), needed: to_u64(count) };
            return Err(Error::new(0, BYTES, kind));
        }
        let slots = room.slots_mut().get_mut(..count).unwrap_or_default();
        let (sessions, work) = sort(data, slots);
        let sorted = slots.iter().take_while(|slot| slot.has_track()).count();
        Ok(Self { data, schema, room, count, sorted, sessions, work: work.saturating_add(scan.work()) })
    }

    /// All packets and gaps: those of each track in their order, then those of none, in the order of the bytes.
    pub fn slots(&self) -> &[WireSlot] {
        self.room.slots().get(..self.count).unwrap_or_default()
    }

    /// What belongs to no track, in the order of the bytes: gaps, duplicates, packets without records.
    pub fn others(&self) -> &[WireSlot] {
        self.slots().get(self.sorted..).unwrap_or_default()
    }

    /// The tracks of all sessions, each of them as its packets: by session, then by stream class and by stream or processor.
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

    /// The packets of a track, to be read.
    pub fn packets<'t>(&'t self, track: &'t [WireSlot]) -> Packets<'a, 't>
    where
        's: 't,
    {
        Packets::of_track(self.data, self.schema, track)
    }

    /// How often the device was started: 1 for a capture in which it was not started anew.
    pub const fn sessions(&self) -> u32 {
        self.sessions
    }

    /// How many bytes and slots were looked at: linear in the size of the capture.
    pub const fn work(&self) -> u64 {
        self.work
    }
}
