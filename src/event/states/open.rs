//! Open states and slices, by their tracks.

use super::edges::Edges;
use super::hashed::{Entries, Hashed, NONE, grow};
use crate::error::Result;
use crate::event::event::Event;
use crate::room::Room;

/// Room for a track that has states or slices.
#[derive(Clone, Copy, Debug)]
pub struct TrackSlot {
    pub(super) state: State,
    /// The hash of its label besides its name; zero if it has none.
    pub(super) label: u64,
    /// The slice that began last.
    pub(super) top: u32,
    /// The source's track whose events feed it, and its neighbors among those that this one feeds.
    stream: u32,
    before: u32,
    after: u32,
    /// The number of open slices that have no key.
    pub(super) keyless: u32,
}

/// The state of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Not known yet, or not any more.
    Unknown,
    None,
    /// A value, by its hash, since a time.
    Value([u8; 8], Since),
}

/// A time in nanoseconds, in a slot without a gap before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Since([u8; 16]);

impl Since {
    pub(super) const fn new(ns: i128) -> Self {
        Self(ns.to_ne_bytes())
    }

    pub(super) const fn ns(self) -> i128 {
        i128::from_ne_bytes(self.0)
    }
}

impl State {
    pub(super) const fn value(hash: u64, since: i128) -> Self {
        Self::Value(hash.to_ne_bytes(), Since::new(since))
    }
}

impl TrackSlot {
    /// A track with a label, of which no event is known.
    pub(super) const fn new(label: u64) -> Self {
        Self { state: State::Unknown, top: NONE, stream: NONE, before: NONE, after: NONE, keyless: 0, label }
    }
}

/// Room for a slice that is open.
#[derive(Clone, Copy, Debug)]
pub struct OpenSlot {
    pub(super) rule: u32,
    /// The hash of its key.
    pub(super) key: u64,
    pub(super) begun: Since,
    /// The one below it on its track; of a slot that is free, the next free one.
    pub(super) below: u32,
    pub(super) stream: u32,
    /// The number of losses in the stream when it began.
    pub(super) losses: u32,
    pub(super) is_keyless: bool,
}

impl OpenSlot {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self =
        Self { rule: 0, key: 0, begun: Since::new(0), below: NONE, stream: 0, losses: 0, is_keyless: false };
}

default_is_empty!(OpenSlot);

/// All that the name of a track depends on which is the same for all events of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamedFor {
    /// The first operation of the template.
    pub(super) template: u32,
    /// The number of values that were remembered until then.
    pub(super) remembered: u64,
    pub(super) cpu: Option<u64>,
}

/// Room for what is known of a track of the source.
#[derive(Clone, Copy, Debug)]
pub struct StreamSlot {
    /// The time of its last event.
    pub(super) last: Option<i128>,
    /// The number of losses among its events.
    pub(super) losses: u32,
    /// True if events were lost since its last one.
    pub(super) has_gap: bool,
    /// The first track that it feeds.
    fed: u32,
    /// The offset of its last packet, and the processor of that.
    pub(super) packet: Option<u64>,
    pub(super) cpu: Option<u64>,
    /// The input that it began in: a tracer may go on with it in others.
    pub(super) input: Option<usize>,
    /// The hash of the name that a template gave last.
    pub(super) name: Option<(NamedFor, u64)>,
}

impl StreamSlot {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self {
        last: None,
        losses: 0,
        has_gap: false,
        fed: NONE,
        packet: None,
        cpu: None,
        input: None,
        name: None,
    };

    /// Notes where an event lies. Returns the processor of its packet.
    pub(super) fn meet(&mut self, event: &Event<'_>) -> Option<u64> {
        self.input.get_or_insert(event.input);
        let packet = event.data.packet_offset();
        if packet.is_none() || self.packet != packet {
            (self.packet, self.cpu) = (packet, event.data.packet_cpu());
        }
        self.cpu
    }
}

default_is_empty!(StreamSlot);

/// All open states and slices.
pub(super) struct Open<'r> {
    pub(super) tracks: Entries<'r, TrackSlot>,
    pub(super) slots: &'r mut (dyn Room<OpenSlot> + 'r),
    pub(super) streams: &'r mut (dyn Room<StreamSlot> + 'r),
    /// The first slot that is free again, and how many were taken.
    pub(super) free: u32,
    pub(super) taken: u32,
}

impl Open<'_> {
    pub(super) fn stream(&mut self, number: u32) -> Result<&mut StreamSlot> {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        if at >= self.streams.slots().len() {
            grow(self.streams, at.saturating_add(1))?;
        }
        let slots = self.streams.slots_mut();
        let capacity = crate::bytes::to_u64(slots.len());
        slots.get_mut(at).ok_or_else(|| {
            let kind = crate::ErrorKind::CapacityExceeded { capacity, needed: capacity.saturating_add(1) };
            crate::Error::new(0, super::element::ROOM, kind)
        })
    }

    pub(super) fn stream_at(&mut self, number: u32) -> Option<&mut StreamSlot> {
        stream_in(self.streams.slots_mut(), number)
    }

    pub(super) fn slot(&self, at: u32) -> Option<&OpenSlot> {
        self.slots.slots().get(usize::try_from(at).ok()?).filter(|_| at != NONE)
    }

    fn slot_mut(&mut self, at: u32) -> Option<&mut OpenSlot> {
        self.slots.slots_mut().get_mut(usize::try_from(at).ok()?)
    }

    pub(super) fn set_state(&mut self, track: u32, state: State) {
        if let Some(slot) = self.tracks.get_mut(track) {
            slot.state = state;
        }
    }

    /// Sets the state of a track, which a stream feeds from now on.
    #[inline]
    pub(super) fn hold(&mut self, track: u32, state: State, stream: u32) {
        let Some(slot) = self.tracks.get_mut(track) else { return };
        slot.state = state;
        if slot.stream != stream {
            self.feed(track, stream);
        }
    }

    /// Says that a track is fed by a stream.
    pub(super) fn feed(&mut self, track: u32, stream: u32) {
        let (tracks, streams) = (self.tracks.all(), self.streams.slots_mut());
        if Hashed::value_at(tracks, track).is_none_or(|slot| slot.stream == stream) {
            return;
        }
        unlink(tracks, streams, track);
        let Some(of) = stream_in(streams, stream) else { return };
        let after = core::mem::replace(&mut of.fed, track);
        if let Some(next) = Hashed::value_at(tracks, after) {
            next.before = track;
        }
        if let Some(slot) = Hashed::value_at(tracks, track) {
            (slot.stream, slot.before, slot.after) = (stream, NONE, after);
        }
    }

    /// Says that a track is fed by no stream.
    pub(super) fn starve(&mut self, track: u32) {
        unlink(self.tracks.all(), self.streams.slots_mut(), track);
    }

    /// The first track that a stream feeds.
    pub(super) fn fed_by(&mut self, stream: u32) -> Option<u32> {
        self.stream_at(stream).map(|of| of.fed).filter(|&track| track != NONE)
    }

    /// Puts a slice on the stack of its track.
    pub(super) fn push(&mut self, track: u32, slot: OpenSlot) -> Result<()> {
        let losses = self.stream(slot.stream)?.losses;
        let at = match self.slot(self.free) {
            Some(free) => {
                let at = self.free;
                self.free = free.below;
                at
            }
            None => {
                let at = self.taken;
                let needed = usize::try_from(at).unwrap_or(usize::MAX).saturating_add(1);
                grow(self.slots, needed)?;
                self.taken = at.saturating_add(1);
                at
            }
        };
        let Some(of) = self.tracks.get_mut(track) else { return Ok(()) };
        let below = core::mem::replace(&mut of.top, at);
        of.keyless = of.keyless.saturating_add(slot.is_keyless.into());
        if let Some(to) = self.slot_mut(at) {
            *to = OpenSlot { below, losses, ..slot };
        }
        Ok(())
    }

    /// Takes the top of a track's stack.
    pub(super) fn pop(&mut self, track: u32) -> Option<OpenSlot> {
        let of = self.tracks.get_mut(track)?;
        let at = of.top;
        let place = self.slots.slots_mut().get_mut(usize::try_from(at).ok().filter(|_| at != NONE)?)?;
        let slot = *place;
        place.below = core::mem::replace(&mut self.free, at);
        of.top = slot.below;
        of.keyless = of.keyless.saturating_sub(slot.is_keyless.into());
        Some(slot)
    }

    /// The edges of a slice that ends at a time.
    pub(super) fn edges(&mut self, slot: &OpenSlot, ns: i128) -> Edges {
        let is_across = self.stream_at(slot.stream).is_some_and(|of| of.losses != slot.losses);
        let across = if is_across { Edges::ACROSS_LOSS } else { Edges::NONE };
        across.with(if ns < slot.begun.ns() { Edges::BACKWARDS } else { Edges::NONE })
    }
}

fn stream_in(streams: &mut [StreamSlot], number: u32) -> Option<&mut StreamSlot> {
    streams.get_mut(usize::try_from(number).ok()?)
}

/// Takes a track out of those that its stream feeds.
fn unlink(tracks: &mut [Hashed<TrackSlot>], streams: &mut [StreamSlot], track: u32) {
    let Some(slot) = Hashed::value_at(tracks, track) else { return };
    let TrackSlot { stream, before, after, .. } = *slot;
    if stream == NONE {
        return;
    }
    (slot.stream, slot.before, slot.after) = (NONE, NONE, NONE);
    match Hashed::value_at(tracks, before) {
        Some(slot) => slot.after = after,
        None => {
            if let Some(of) = stream_in(streams, stream) {
                of.fed = after;
            }
        }
    }
    if let Some(slot) = Hashed::value_at(tracks, after) {
        slot.before = before;
    }
}
