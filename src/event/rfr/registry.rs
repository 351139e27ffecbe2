//! The tasks, spans and sequences of a recording that have been met, and their tracks.

use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::event::element::REGISTRY;
use crate::event::event::{FlowId, Flows};
use crate::event::track::TrackId;
use crate::room::Room;
use core::marker::PhantomData;

/// No slot.
const NIL: usize = usize::MAX;

/// What an id is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// Spans and tasks, by their iid.
    Objects,
    /// Sequences.
    Sequences,
    /// Callsites of a stream, by their id.
    Callsites,
}

/// What identifies an object: two with the same iid and different identities are different objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub is_task: bool,
    pub task_id: u64,
    pub callsite_id: u64,
    pub context: Option<u64>,
}

/// A task, a span, a sequence; for a callsite, where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub track: TrackId,
    /// That of its object, if one has been met.
    pub identity: Option<Identity>,
    /// An object with the same iid, which takes over at the next `NewTask`.
    successor: Option<(TrackId, Identity)>,
    /// Whether its `NewTask` has been met.
    pub is_born: bool,
    /// Whether its `TaskDrop` or `SpanClose` has been met.
    pub is_dropped: bool,
    /// How many slices are open.
    pub open: u64,
    /// The first flow to it that waits for a poll.
    waiting: u64,
    next_flow: u64,
    /// When it was last met: the number of an opened chunk.
    epoch: u64,
    /// Of a callsite: where it stands.
    pub place: u64,
}

impl Known {
    const fn new(track: TrackId, identity: Option<Identity>) -> Self {
        Self {
            track,
            identity,
            successor: None,
            is_born: false,
            is_dropped: false,
            open: 0,
            waiting: 0,
            next_flow: 0,
            epoch: 0,
            place: 0,
        }
    }

    /// A flow to its next poll.
    pub fn start_flow(&mut self) -> FlowId {
        let number = self.next_flow;
        self.next_flow = number.saturating_add(1);
        FlowId::new(self.track, number)
    }

    /// The flows that end with a poll that begins now.
    pub fn end_flows(&mut self) -> Flows {
        let first = self.waiting;
        self.waiting = self.next_flow;
        Flows::new(self.track, first, self.next_flow)
    }
}

/// Room for a task, a span, a sequence, or a callsite of a stream.
#[derive(Clone, Copy, Debug)]
pub struct RegistrySlot {
    key: u64,
    /// What lies below it where the next bit of the key is 0; the next free slot if it is free.
    left: usize,
    /// What lies below it where the next bit of the key is 1.
    right: usize,
    /// `None` if it is free.
    known: Option<(Space, Known)>,
}

impl RegistrySlot {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self { key: 0, left: NIL, right: NIL, known: None };

    const fn below(&self, side: bool) -> usize {
        if side { self.right } else { self.left }
    }
}

/// The tasks, spans and sequences of a recording that have been met, in room that the caller lends.
///
/// It borrows nothing from the input: one can follow a recording whose files are opened one after the other. It needs
/// a slot for each task and span that lives, and for each sequence; those that were dropped are forgotten some chunks
/// later.
#[derive(Debug)]
pub struct Registry<R> {
    room: R,
    /// A digital search tree for each space: at depth d, bit d of the mixed key decides. No tree is deeper than 64,
    /// whatever the ids are.
    roots: Roots,
    /// How many slots have ever been used; those after them are free, too.
    used: usize,
    free: usize,
    count: u64,
    /// How many were left when some were last forgotten.
    kept: u64,
    tracks: u64,
    pub(super) epoch: u64,
    slot: PhantomData<RegistrySlot>,
}

/// The first slot of each space.
#[derive(Debug)]
struct Roots {
    objects: usize,
    sequences: usize,
    callsites: usize,
}

/// Spreads ids over all bits, one to one.
const fn mix(id: u64) -> u64 {
    let id = (id ^ (id >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let id = (id ^ (id >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    id ^ (id >> 31)
}

impl<R: Room<RegistrySlot>> Registry<R> {
    /// One in which nothing is known.
    pub const fn new(room: R) -> Self {
        Self {
            room,
            roots: Roots { objects: NIL, sequences: NIL, callsites: NIL },
            used: 0,
            free: NIL,
            count: 0,
            kept: 0,
            tracks: 0,
            epoch: 0,
            slot: PhantomData,
        }
    }

    /// How many tasks, spans and sequences it holds.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Whether the track of the recording is still to be announced.
    pub(super) fn takes_root(&mut self) -> bool {
        let first = self.tracks == 0;
        self.tracks = self.tracks.max(1);
        first
    }

    fn new_track(&mut self) -> TrackId {
        let number = self.tracks;
        self.tracks = number.saturating_add(1);
        TrackId::new(number)
    }

    const fn root(&self, space: Space) -> usize {
        match space {
            Space::Objects => self.roots.objects,
            Space::Sequences => self.roots.sequences,
            Space::Callsites => self.roots.callsites,
        }
    }

    fn link(&mut self, space: Space, above: Option<(usize, bool)>, slot: usize) {
        match above {
            Some((above, side)) => {
                if let Some(above) = self.room.slots_mut().get_mut(above) {
                    *(if side { &mut above.right } else { &mut above.left }) = slot;
                }
            }
            None => match space {
                Space::Objects => self.roots.objects = slot,
                Space::Sequences => self.roots.sequences = slot,
                Space::Callsites => self.roots.callsites = slot,
            },
        }
    }

    /// The slot of a key, or `NIL`; and the slot and the side that lead there.
    fn find(&self, space: Space, id: u64) -> (usize, Option<(usize, bool)>) {
        let key = mix(id);
        let (mut at, mut above, mut bits) = (self.root(space), None, key);
        while let Some(slot) = self.room.slots().get(at) {
            if slot.key == key {
                return (at, above);
            }
            let side = bits >> 63 != 0;
            bits <<= 1;
            above = Some((at, side));
            at = slot.below(side);
        }
        (NIL, above)
    }

    /// What is known by this id.
    pub(super) fn get(&mut self, space: Space, id: u64) -> Option<&mut Known> {
        let (at, _) = self.find(space, id);
        let epoch = self.epoch;
        let (_, known) = self.room.slots_mut().get_mut(at)?.known.as_mut()?;
        known.epoch = epoch;
        Some(known)
    }

    /// Adds what is not known yet, and returns its track.
    ///
    /// # Errors
    /// `CapacityExceeded`.
    pub(super) fn add(
        &mut self,
        space: Space,
        id: u64,
        identity: Option<Identity>,
        place: u64,
    ) -> Result<TrackId> {
        let (_, above) = self.find(space, id);
        let at = self.take_slot(place)?;
        let track = if space == Space::Callsites { TrackId::new(0) } else { self.new_track() };
        let known = Known { epoch: self.epoch, place, ..Known::new(track, identity) };
        if let Some(slot) = self.room.slots_mut().get_mut(at) {
            *slot = RegistrySlot { key: mix(id), known: Some((space, known)), ..RegistrySlot::EMPTY };
        }
        self.link(space, above, at);
        self.count = self.count.saturating_add(1);
        Ok(track)
    }

    fn take_slot(&mut self, offset: u64) -> Result<usize> {
        if let Some(slot) = self.room.slots().get(self.free) {
            let at = self.free;
            self.free = slot.left;
            return Ok(at);
        }
        let at = self.used;
        let needed = at.saturating_add(1);
        if at >= self.room.slots().len() && !(self.room.grow(needed) && at < self.room.slots().len()) {
            let capacity = to_u64(self.room.slots().len());
            let kind = ErrorKind::CapacityExceeded { capacity, needed: capacity.saturating_add(1) };
            return Err(Error::new(offset, REGISTRY, kind));
        }
        self.used = needed;
        Ok(at)
    }

    /// Records an object. Returns its track, unless that has been announced.
    ///
    /// # Errors
    /// `CapacityExceeded`.
    pub(super) fn meet(&mut self, iid: u64, identity: Identity, offset: u64) -> Result<Option<TrackId>> {
        let Some(known) = self.get(Space::Objects, iid) else {
            return self.add(Space::Objects, iid, Some(identity), offset).map(Some);
        };
        let Some(old) = known.identity else {
            known.identity = Some(identity);
            return Ok(Some(known.track));
        };
        if old == identity || known.successor.is_some() {
            return Ok(None);
        }
        let is_over = known.is_dropped;
        let track = self.new_track();
        if let Some(known) = self.get(Space::Objects, iid) {
            known.successor = Some((track, identity));
            if is_over {
                known.succeed();
            }
        }
        Ok(Some(track))
    }

    /// Records a `NewTask`. Returns the track to be announced, if no object describes the task.
    pub(super) fn born(&mut self, iid: u64) -> Option<TrackId> {
        let known = self.get(Space::Objects, iid)?;
        if !(known.is_born || known.is_dropped) || known.succeed() {
            known.is_born = true;
            return None;
        }
        let identity = known.identity;
        let track = self.new_track();
        if let Some(known) = self.get(Space::Objects, iid) {
            *known = Known { epoch: known.epoch, ..Known::new(track, identity) };
        }
        Some(track)
    }

    /// Forgets what was dropped and has not been met lately, if that is worth the time.
    pub(super) fn next_epoch(&mut self) {
        self.epoch = self.epoch.saturating_add(1);
        if self.count < self.kept.saturating_mul(2).max(64) {
            return;
        }
        for at in 0..self.used {
            // Something else may have moved to a slot that is free now.
            while let Some(id) = self.stale(at) {
                self.remove(id);
            }
        }
        self.kept = self.count;
    }

    /// The key in this slot, if that may be forgotten.
    fn stale(&self, at: usize) -> Option<(Space, u64)> {
        let slot = self.room.slots().get(at)?;
        let (space, known) = slot.known?;
        let old = known.epoch.saturating_add(2) < self.epoch;
        (space == Space::Objects && known.is_dropped && old).then_some((space, slot.key))
    }

    fn remove(&mut self, (space, key): (Space, u64)) {
        let (mut at, mut above, mut bits) = (self.root(space), None, key);
        while let Some(slot) = self.room.slots().get(at).filter(|slot| slot.key != key) {
            let side = bits >> 63 != 0;
            bits <<= 1;
            above = Some((at, side));
            at = slot.below(side);
        }
        // Any leaf below it can take its place: it has the same bits up to there.
        let mut leaf = at;
        while let Some(slot) = self.room.slots().get(leaf) {
            let side = slot.left == NIL;
            let below = slot.below(side);
            if below == NIL {
                break;
            }
            above = Some((leaf, side));
            leaf = below;
        }
        let Some(moved) = self.room.slots().get(leaf).copied() else { return };
        self.link(space, above, NIL);
        if let Some(slot) = self.room.slots_mut().get_mut(at) {
            (slot.key, slot.known) = (moved.key, moved.known);
        }
        if let Some(slot) = self.room.slots_mut().get_mut(leaf) {
            *slot = RegistrySlot { left: self.free, ..RegistrySlot::EMPTY };
        }
        self.free = leaf;
        self.count = self.count.saturating_sub(1);
    }
}

impl Known {
    /// Becomes its successor, if it has one.
    fn succeed(&mut self) -> bool {
        let Some((track, identity)) = self.successor else { return false };
        *self = Self { epoch: self.epoch, ..Self::new(track, Some(identity)) };
        true
    }
}
