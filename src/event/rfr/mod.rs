//! RFR as tracks and events: what the tasks of a program did, and who woke them.
//!
//! # Tracks
//! One of the recording, and below it one of each sequence ([`Thread`](super::TrackKind::Thread)), of each task and of
//! each span. Instrumentation ids are used again: a task is an iid from one `NewTask` to the next, and what the objects
//! of a chunk say of it. The track [ends](super::Item::Ended) with the task, or some chunks after it was dropped: late
//! wakes are of it, too.
//!
//! # Events
//! | record | event |
//! |---|---|
//! | `TaskPollStart`, `TaskPollEnd` | a slice on the track of the task; the flows of what spawned and woke it end there |
//! | `NewTask` | an instant on the track of the task that spawned it, from which a flow leads to the first poll |
//! | `WakerWake`, `WakerWakeByRef` | an instant where it happened, from which a flow leads to the next poll |
//! | `WakerClone`, `WakerDrop` | an instant where it happened |
//! | `TaskDrop`, `SpanNew`, `SpanClose` | an instant on the track of the task or the span |
//! | `SpanEnter`, `SpanExit` | a slice on the track of the span |
//! | `Event` | an instant on the track of its span, or of the sequence |
//!
//! An event is on the track of its context, or of the sequence if it has none. An end without a beginning
//! is an instant; a poll that begins while one is open has the end of that one inferred
//! ([`Event::is_inferred`](super::Event::is_inferred)).
//!
//! Each `NewTask` and each wake that a poll of the task follows is a flow, whatever kind the task is: rfr-convert draws
//! none to tasks that block, so that it counts fewer.
//!
//! # Order
//! By time; at the same time, whatever else happened comes before the begin of a poll, and sequences keep the order of
//! the file. A chunk is read when its period begins: records outside of it come as soon as they are read.

mod delivered;
pub(super) mod fields;
mod lane;
mod polls;
mod timeline;

pub use crate::rfr::NameSlot;
pub use lane::Lane;
pub use polls::{Polls, Registry, RegistrySlot};
pub use timeline::Timeline;
