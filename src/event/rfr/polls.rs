//! The state of each task and span that is followed.

use crate::event::event::{FlowId, Flows};
use crate::event::track::TrackId;
use crate::rfr;

/// The slices of a task or span that are open, and the flows that lead to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Polls {
    /// The number of slices that are open.
    pub(super) open: u64,
    /// The first flow to it that waits for a poll.
    waiting: u64,
    next_flow: u64,
}

/// The tasks, spans and sequences of a recording, each of which has a track: the number of its life is that of the
/// track.
pub type Registry<R> = rfr::Registry<R, Polls>;

/// Room for a task, a span, a sequence, or a callsite of a stream.
pub type RegistrySlot = rfr::RegistrySlot<Polls>;

impl Polls {
    /// A flow to the next poll on this track.
    pub(super) const fn start_flow(&mut self, track: TrackId) -> FlowId {
        let number = self.next_flow;
        self.next_flow = number.saturating_add(1);
        FlowId::new(track, number)
    }

    /// The flows that end with a poll that begins now on this track.
    pub(super) const fn end_flows(&mut self, track: TrackId) -> Flows {
        let first = self.waiting;
        self.waiting = self.next_flow;
        Flows::new(track, first, self.next_flow)
    }
}
