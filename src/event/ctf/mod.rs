//! CTF as tracks and events: event records on the track of their data stream.
//!
//! # Tracks
//! One of the trace, and below it one of each data stream: a processor ([`Cpu`](super::TrackKind::Cpu)) if the packets
//! have a `cpu_id` in their context, as those of LTTng do.
//!
//! # Events
//! An event record is an instant with the members of its payload as fields; before those stand its contexts, as
//! structures `common_context` and `specific_context`. What the tracer discarded comes after the first record of the
//! packet that tells so, at the time at which that packet begins. A packet that cannot be read is a gap.

pub(super) mod fields;
mod timeline;

pub use timeline::{StreamSlot, Timeline};
