//! Answers that take several chunks.

mod code;
mod fault;
mod in_flight;
mod queues;

pub use code::{CodeFact, CodeUse, CodeUses, join_code};
pub use fault::{AddressHistory, Allocation, Holder, explain_address};
pub use in_flight::{BufferMarkers, OpenMarker, SeenMarker, buffer_states};
pub use queues::{QueueTime, queue_times};
