//! What instrumentation ids mean: the tasks and spans of a recording, from one beginning to the next.

use super::element::NAMES;
use super::kind::RecordKind;
use super::object::Object;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::room::Room;
use core::marker::PhantomData;

/// No slot.
const NIL: usize = usize::MAX;

/// What an id is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// Spans and tasks, by their iid.
    Objects,
    /// Sequences.
    #[cfg_attr(not(feature = "event"), allow(dead_code))]
    Sequences,
    /// Callsites of a stream, by their id.
    Callsites,
}

/// What tells objects with the same instrumentation id apart.
///
/// Ids are addresses, and recur. Two objects with one id are the same task or span if they have the same identity, and
/// neither was dropped in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    is_task: bool,
    task_id: u64,
    callsite_id: u64,
    context: Option<u64>,
    /// A hash of a span's parent, values and fields.
    details: u64,
}

impl Identity {
    /// That of an object.
    pub fn of(object: &Object<'_>) -> Self {
        let callsite_id = object.callsite_id();
        match object {
            Object::Task(task) => {
                let (task_id, context) = (task.task_id(), task.context());
                Self { is_task: true, task_id, callsite_id, context, details: 0 }
            }
            Object::Span(span) => {
                let details = span.details().iter().fold(0, |hash, byte| mix(hash ^ u64::from(*byte)));
                Self { is_task: false, task_id: 0, callsite_id, context: None, details }
            }
        }
    }

    /// The instrumentation id of the task that spawned it.
    #[cfg(feature = "event")]
    pub(crate) const fn context(&self) -> Option<u64> {
        self.context
    }
}

/// A place in a room of views that are lent for as long as the files are open: of that generation only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ViewId {
    pub generation: u64,
    pub at: usize,
}

/// A task or span from its beginning to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life {
    /// A number of its own.
    pub number: u64,
    /// That of its object, if one has been met.
    pub identity: Option<Identity>,
    pub view: Option<ViewId>,
    /// The chunk in which its object was last met.
    described: u64,
}

/// What an id means at present.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<T> {
    pub life: Life,
    /// An object with the same iid, which takes over at the next `NewTask`.
    successor: Option<Life>,
    /// True if its `NewTask` has been met.
    is_born: bool,
    /// Whether its `TaskDrop` or `SpanClose` has been met.
    is_dropped: bool,
    /// When it was last met: the number of an opened chunk.
    epoch: u64,
    /// What whoever follows the lives keeps of this one.
    #[cfg_attr(not(feature = "event"), allow(dead_code))]
    pub state: T,
}

impl<T: Default> Known<T> {
    fn new(life: Life) -> Self {
        let state = T::default();
        Self { life, successor: None, is_born: false, is_dropped: false, epoch: 0, state }
    }
}

/// Room for a task, a span, a sequence, or a callsite of a stream.
#[derive(Clone, Copy, Debug)]
pub struct RegistrySlot<T = ()> {
    key: u64,
    /// What lies below it where the next bit of the key is 0; the next free slot if it is free.
    left: usize,
    /// What lies below it where the next bit of the key is 1.
    right: usize,
    /// `None` if it is free.
    known: Option<(Space, Known<T>)>,
}

impl<T> RegistrySlot<T> {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self { key: 0, left: NIL, right: NIL, known: None };

    const fn below(&self, side: bool) -> usize {
        if side { self.right } else { self.left }
    }
}

default_is_empty!(RegistrySlot<T>, T);

/// The tasks, spans and sequences of a recording that have been met, in room that the caller lends.
///
/// It borrows nothing from the input: one can follow a recording whose files are opened one after the other. It needs
/// a slot for each task and span that lives, and for each sequence; those that were dropped are forgotten some chunks
/// later.
#[derive(Debug)]
pub struct Registry<R, T = ()> {
    room: R,
    /// A digital search tree for each space: at depth d, bit d of the mixed key decides. No tree is deeper than 64,
    /// whatever the ids are.
    roots: Roots,
    /// The number of slots that have ever been used; those after them are free, too.
    used: usize,
    free: usize,
    count: u64,
    /// How many were left when some were last forgotten.
    kept: u64,
    /// The number of numbers that have been given.
    numbers: u64,
    epoch: u64,
    /// How many rooms of views there have been.
    generation: u64,
    /// The view of a life that ended, to be freed.
    freed: Option<ViewId>,
    /// The key of an object that was found last, and its slot: most ids are looked up more than once.
    recent: (u64, usize),
    slot: PhantomData<RegistrySlot<T>>,
}

/// The first slot of each space.
#[derive(Debug)]
struct Roots {
    objects: usize,
    sequences: usize,
    callsites: usize,
}

impl Roots {
    const NONE: Self = Self { objects: NIL, sequences: NIL, callsites: NIL };
}

/// Spreads ids over all bits, one to one.
const fn mix(id: u64) -> u64 {
    let id = (id ^ (id >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let id = (id ^ (id >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    id ^ (id >> 31)
}

impl<R, T> Registry<R, T> {
    /// One in which nothing is known.
    pub const fn new(room: R) -> Self {
        Self {
            room,
            roots: Roots::NONE,
            used: 0,
            free: NIL,
            count: 0,
            kept: 0,
            numbers: 0,
            epoch: 0,
            generation: 0,
            freed: None,
            recent: (0, NIL),
            slot: PhantomData,
        }
    }

    /// The number of tasks, spans and sequences that it holds.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// A number that no life has.
    pub(crate) const fn new_number(&mut self) -> u64 {
        let number = self.numbers;
        self.numbers = number.saturating_add(1);
        number
    }

    /// True before the first number is given.
    #[cfg(feature = "event")]
    pub(crate) const fn is_new(&self) -> bool {
        self.numbers == 0
    }

    /// A number for a new room of views: those of the rooms before it mean nothing any more.
    pub(super) const fn new_generation(&mut self) -> u64 {
        self.generation = self.generation.saturating_add(1);
        self.generation
    }

    /// The view that nothing refers to any more, if there is one since this was asked last.
    pub(super) const fn take_freed(&mut self) -> Option<ViewId> {
        self.freed.take()
    }

    const fn root(&self, space: Space) -> usize {
        match space {
            Space::Objects => self.roots.objects,
            Space::Sequences => self.roots.sequences,
            Space::Callsites => self.roots.callsites,
        }
    }
}

impl<T: Copy + Default, R: Room<RegistrySlot<T>>> Registry<R, T> {
    /// Forgets everything but the room.
    pub(super) fn clear(&mut self) {
        (self.roots, self.used, self.free) = (Roots::NONE, 0, NIL);
        (self.count, self.kept, self.freed) = (0, 0, None);
        self.recent = (0, NIL);
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
    #[inline]
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

    /// The slot of a key, or `NIL`.
    #[inline]
    fn place(&self, space: Space, id: u64) -> usize {
        match self.recent {
            (key, at) if at != NIL && key == mix(id) && space == Space::Objects => at,
            _ => self.find(space, id).0,
        }
    }

    /// What is known by this id.
    #[inline]
    pub(crate) fn peek(&self, space: Space, id: u64) -> Option<&Known<T>> {
        let at = self.place(space, id);
        self.room.slots().get(at)?.known.as_ref().map(|(_, known)| known)
    }

    /// The same, which is not forgotten in the next chunks.
    pub(crate) fn get(&mut self, space: Space, id: u64) -> Option<&mut Known<T>> {
        let at = self.place(space, id);
        if space == Space::Objects {
            self.recent = (mix(id), at);
        }
        let epoch = self.epoch;
        let (_, known) = self.room.slots_mut().get_mut(at)?.known.as_mut()?;
        known.epoch = epoch;
        Some(known)
    }

    /// Adds what is not known yet, and returns its number.
    ///
    /// # Errors
    /// `CapacityExceeded`.
    pub(crate) fn add(
        &mut self,
        space: Space,
        id: u64,
        identity: Option<Identity>,
        offset: u64,
    ) -> Result<u64> {
        let (_, above) = self.find(space, id);
        let at = self.take_slot(offset)?;
        let number = if space == Space::Callsites { 0 } else { self.new_number() };
        let known = Known { epoch: self.epoch, ..Known::new(self.life(number, identity)) };
        if let Some(slot) = self.room.slots_mut().get_mut(at) {
            *slot = RegistrySlot { key: mix(id), known: Some((space, known)), ..RegistrySlot::EMPTY };
        }
        self.link(space, above, at);
        self.count = self.count.saturating_add(1);
        Ok(number)
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
            let (capacity, needed) = (to_u64(self.room.slots().len()), to_u64(needed));
            return Err(Error::new(offset, NAMES, ErrorKind::CapacityExceeded { capacity, needed }));
        }
        self.used = needed;
        Ok(at)
    }

    /// Records an object. Returns the number of its life, if that is to be announced, and where its view is kept; no
    /// place if it is one too many.
    ///
    /// # Errors
    /// `CapacityExceeded`.
    pub(super) fn meet(
        &mut self,
        iid: u64,
        identity: Identity,
        offset: u64,
    ) -> Result<(Option<u64>, Option<&mut Option<ViewId>>)> {
        let mut number = None;
        match self.get(Space::Objects, iid) {
            None => number = Some(self.add(Space::Objects, iid, Some(identity), offset)?),
            Some(known) if known.life.identity.is_none() => {
                known.life.identity = Some(identity);
                number = Some(known.life.number);
            }
            Some(known) if known.life.identity == Some(identity) || known.successor.is_some() => {}
            Some(known) => {
                let is_over = known.is_dropped;
                let life = self.new_number();
                number = Some(life);
                let life = self.life(life, Some(identity));
                if let Some(known) = self.get(Space::Objects, iid) {
                    known.successor = Some(life);
                }
                if is_over {
                    self.succeed(iid);
                }
            }
        }
        let epoch = self.epoch;
        let life = self.get(Space::Objects, iid).and_then(|known| {
            let lives = [known.successor.as_mut(), Some(&mut known.life)];
            lives.into_iter().flatten().find(|life| life.identity == Some(identity))
        });
        let life = life.map(|life| {
            life.described = epoch;
            &mut life.view
        });
        Ok((number, life))
    }

    const fn life(&self, number: u64, identity: Option<Identity>) -> Life {
        Life { number, identity, view: None, described: self.epoch }
    }

    /// Ends a life of which the end was not recorded: a chunk that has the object of the next one, and not its own.
    #[cfg(feature = "event")]
    pub(crate) fn end_unseen(&mut self, iid: u64) {
        let known = self.peek(Space::Objects, iid);
        let next = known.and_then(|known| known.successor.map(|next| next.described > known.life.described));
        if next == Some(true) {
            self.succeed(iid);
        }
    }

    /// Records what a record says of when a life begins: a `NewTask` begins one, and a poll after the task was dropped
    /// is of another one, as is what is entered after the span was closed. Returns the number of the life, if no object
    /// describes it; then this is to be called again.
    #[inline]
    pub(crate) fn begin(&mut self, kind: RecordKind, iid: u64) -> Option<u64> {
        match kind {
            RecordKind::NewTask | RecordKind::TaskPollStart | RecordKind::SpanNew | RecordKind::SpanEnter => {
                self.begin_life(kind, iid)
            }
            _ => None,
        }
    }

    fn begin_life(&mut self, kind: RecordKind, iid: u64) -> Option<u64> {
        let known = self.get(Space::Objects, iid)?;
        if kind != RecordKind::NewTask && !known.is_dropped {
            return None;
        }
        let is_next = known.is_born || known.is_dropped;
        if !is_next || self.succeed(iid) {
            self.get(Space::Objects, iid)?.is_born = true;
            return None;
        }
        let number = self.new_number();
        let known = self.get(Space::Objects, iid)?;
        let life = Life { number, identity: None, view: None, described: 0 };
        let view = known.life.view;
        *known = Known { epoch: known.epoch, ..Known::new(life) };
        self.freed = view;
        Some(number)
    }

    /// Records what a record says of when a life ends; returns whether it says so.
    #[inline]
    pub(crate) fn end(&mut self, kind: RecordKind, iid: u64) -> bool {
        let ends = kind.is_end_of_life();
        if ends && let Some(known) = self.get(Space::Objects, iid) {
            known.is_dropped = true;
        }
        ends
    }

    /// Replaces a life by the one that waits for its end, if there is one.
    pub(super) fn succeed(&mut self, iid: u64) -> bool {
        let Some(known) = self.get(Space::Objects, iid) else { return false };
        let Some(life) = known.successor else { return false };
        let view = known.life.view;
        *known = Known { epoch: known.epoch, ..Known::new(life) };
        self.freed = view;
        true
    }

    /// Forgets what was dropped and has not been met lately, if that is worth the time; hands out the views.
    pub(super) fn next_epoch(&mut self, mut free: impl FnMut(ViewId)) {
        self.epoch = self.epoch.saturating_add(1);
        if self.count < self.kept.saturating_mul(2).max(64) {
            return;
        }
        for at in 0..self.used {
            // Something else may have moved to a slot that is free now.
            while let Some((space, key, views)) = self.stale(at) {
                views.into_iter().flatten().for_each(&mut free);
                self.remove(space, key);
            }
        }
        self.kept = self.count;
    }

    /// The key in this slot and its views, if that may be forgotten.
    #[allow(clippy::type_complexity)]
    fn stale(&self, at: usize) -> Option<(Space, u64, [Option<ViewId>; 2])> {
        let slot = self.room.slots().get(at)?;
        let (space, known) = slot.known.as_ref()?;
        let old = known.epoch.saturating_add(2) < self.epoch;
        let views = [known.life.view, known.successor.and_then(|life| life.view)];
        (*space == Space::Objects && known.is_dropped && old).then_some((*space, slot.key, views))
    }

    fn remove(&mut self, space: Space, key: u64) {
        // Something else may move to its slot.
        self.recent = (0, NIL);
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
