//! The things known by a key: tracks of queues and command buffers, clocks of GPUs, string tables, allocations.

use super::fields::RdfData;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::event::element::REGISTRY;
use crate::event::label::Label;
use crate::event::track::{TrackId, TrackKind};
use crate::rdf::contents::{ClockCalibration, StringTable};
use crate::room::Room;
use core::marker::PhantomData;

/// No slot.
const NIL: usize = usize::MAX;

/// The kinds of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Gpu,
    Strings,
    /// A queue; those after the first one for what overlaps.
    Queue(u8),
    Session,
    CmdBuffer,
    History,
    Memory,
    /// The memory that a lane reserves: its counter, and an allocation by its address.
    Reserved,
    Allocation,
    Driver,
    Counter,
    Snapshots,
    CodeObjects,
}

/// A key: two numbers of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key(pub Space, pub u32, pub u64);

impl Key {
    /// Bits that differ where keys do.
    fn bits(self) -> u128 {
        let Self(space, a, b) = self;
        u128::from(mix(b)) << 64 | u128::from(mix(u64::from(a) << 8 | u64::from(space.number())))
    }
}

impl Space {
    const fn number(self) -> u8 {
        match self {
            Self::Gpu => 1,
            Self::Strings => 2,
            Self::Queue(lane) => lane.saturating_add(16),
            Self::Session => 3,
            Self::CmdBuffer => 4,
            Self::History => 5,
            Self::Memory => 6,
            Self::Reserved => 11,
            Self::Allocation => 12,
            Self::Driver => 7,
            Self::Counter => 8,
            Self::Snapshots => 9,
            Self::CodeObjects => 10,
        }
    }
}

/// Spreads numbers over all bits, one to one.
const fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// A thing that is known by a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Known<'s> {
    Gpu(Gpu),
    Strings(StringTable<'s>),
    /// The times at which counters were sampled: `u64` each.
    Times(&'s [u8]),
    Track(Place<'s>),
    /// The size of an allocation; 0 once it is free again.
    Bytes(u64),
}

/// The clock of a GPU, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gpu {
    pub calibration: Option<ClockCalibration>,
    pub hz: Option<u64>,
}

/// A track that may have to be announced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'s> {
    /// The id, once it has been announced.
    pub id: Option<TrackId>,
    /// The track that it is a part of, if that is not the file's.
    pub parent: Option<Key>,
    pub kind: TrackKind<'static>,
    pub label: Label<'s>,
    pub data: RdfData<'s>,
    /// The number of slices that are open.
    pub open: u64,
}

/// Room for a track, a GPU, a string table or an allocation.
#[derive(Clone, Copy, Debug)]
pub struct TrackSlot<'s> {
    key: Key,
    /// The nodes below it where the next bit of the key is 0, and where it is 1.
    below: (usize, usize),
    known: Option<Known<'s>>,
}

impl TrackSlot<'_> {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self { key: Key(Space::Gpu, 0, 0), below: (NIL, NIL), known: None };
}

default_is_empty!(TrackSlot<'_>);

/// A digital search tree: at depth d, bit d of the key decides. None is deeper than 128, whatever the numbers are.
#[derive(Debug)]
pub(super) struct Tracks<'s, R> {
    room: R,
    used: usize,
    slot: PhantomData<TrackSlot<'s>>,
}

impl<'s, R: Room<TrackSlot<'s>>> Tracks<'s, R> {
    pub const fn new(room: R) -> Self {
        Self { room, used: 0, slot: PhantomData }
    }

    /// The slot of a key; or the one above it, and on which side it would be.
    fn find(&self, key: Key) -> core::result::Result<usize, Option<(usize, bool)>> {
        let (mut at, mut above, mut bits) = (if self.used > 0 { 0 } else { NIL }, None, key.bits());
        while let Some(slot) = self.room.slots().get(at) {
            if slot.key == key {
                return Ok(at);
            }
            let side = bits >> 127 != 0;
            bits <<= 1;
            above = Some((at, side));
            at = if side { slot.below.1 } else { slot.below.0 };
        }
        Err(above)
    }

    pub fn get(&mut self, key: Key) -> Option<&mut Known<'s>> {
        let at = self.find(key).ok()?;
        self.room.slots_mut().get_mut(at)?.known.as_mut()
    }

    pub fn track(&mut self, key: Key) -> Option<&mut Place<'s>> {
        match self.get(key)? {
            Known::Track(place) => Some(place),
            _ => None,
        }
    }

    pub fn gpu(&mut self, pci: u32) -> Option<Gpu> {
        match self.get(Key(Space::Gpu, pci, 0))? {
            Known::Gpu(gpu) => Some(*gpu),
            _ => None,
        }
    }

    /// The thing that is known by a key, which is `new` if nothing was.
    ///
    /// # Errors
    /// `CapacityExceeded`.
    pub fn add(&mut self, key: Key, offset: u64, new: Known<'s>) -> Result<Option<&mut Known<'s>>> {
        let at = match self.find(key) {
            Ok(at) => at,
            Err(above) => {
                let (at, needed) = (self.used, self.used.saturating_add(1));
                let fits = at < self.room.slots().len() || self.room.grow(needed);
                if !fits || at >= self.room.slots().len() {
                    let capacity = to_u64(self.room.slots().len());
                    let kind = ErrorKind::CapacityExceeded { capacity, needed: capacity.saturating_add(1) };
                    return Err(Error::new(offset, REGISTRY, kind));
                }
                if let Some(slot) = self.room.slots_mut().get_mut(at) {
                    *slot = TrackSlot { key, below: (NIL, NIL), known: Some(new) };
                }
                if let Some((above, side)) = above
                    && let Some(above) = self.room.slots_mut().get_mut(above)
                {
                    *(if side { &mut above.below.1 } else { &mut above.below.0 }) = at;
                }
                self.used = needed;
                at
            }
        };
        Ok(self.room.slots_mut().get_mut(at).and_then(|slot| slot.known.as_mut()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_again() {
        let mut slots = [TrackSlot::EMPTY; 300];
        let mut tracks = Tracks::new(&mut slots[..]);
        let gpu = |hz| Known::Gpu(Gpu { calibration: None, hz: Some(hz) });
        for pci in 0..100_u32 {
            for (space, queue) in [(Space::Gpu, 0), (Space::Queue(0), 0), (Space::Queue(1), u64::MAX)] {
                assert!(tracks.get(Key(space, pci, queue)).is_none());
                tracks.add(Key(space, pci, queue), 0, gpu(pci.into())).unwrap();
            }
        }
        assert_eq!(tracks.gpu(7).and_then(|gpu| gpu.hz), Some(7));
        let error = tracks.add(Key(Space::Driver, 0, 0), 5, gpu(0)).unwrap_err();
        assert_eq!(
            (error.offset(), error.kind()),
            (5, ErrorKind::CapacityExceeded { capacity: 300, needed: 301 })
        );
        // An existing entry stays as it is.
        assert!(tracks.add(Key(Space::Gpu, 9, 0), 0, gpu(1)).is_ok());
        assert_eq!(tracks.gpu(9).and_then(|gpu| gpu.hz), Some(9));
    }
}
