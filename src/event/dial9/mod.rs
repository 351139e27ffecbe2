//! dial9 as tracks and events: workers and their polls, tasks, wakes, queues, samples.
//!
//! # Tracks
//! One of the recording; below it one of each worker, each task, each runtime with a counter of each of its numbers, of
//! each thread that is no worker and was sampled, of the spans of each task, of each span outside of tasks, and one of each
//! class of events that have no place on those, with its counters.
//!
//! # Events
//! | event | on the time line |
//! |---|---|
//! | `PollStartEvent`, `PollEndEvent` | a slice of the worker, called as the place where the task was spawned; the wakes of the task since its last poll end here |
//! | `WorkerParkEvent`, `WorkerUnparkEvent` | a slice `parked` of the worker |
//! | `TaskSpawnEvent`, `TaskTerminateEvent` | a slice of the task, called `task` and that place |
//! | `WakeEventEvent` | an instant of the worker that issued it, from which a flow leads to the task's next poll |
//! | `RuntimeMetricsEvent`, `QueueSampleEvent` | the counters of the runtime |
//! | `CpuSampleEvent` | an instant of the worker that last parked or unparked in the thread, else of the thread |
//! | `TaskDumpEvent` | an instant of the task |
//! | `SymbolTableEntry` | nothing: it names an address, and was at no time |
//! | `SpanEnter:…`, `SpanExit:…` | a slice of the task's spans, or of the span: called as the span |
//! | any other with a field `dial9.span.duration_ns`, or with one that annotations call `span.duration` or `span.start` (`dial9.role`) | a slice of the class, on the first of its tracks on which none is open |
//! | any other with fields that annotations call `gauge`, `counter` or `updown-counter` | these counters, of the first 64 fields |
//! | any other | an instant of its class |
//!
//! A slice whose end was not recorded ends where the next one begins, or with the recording; a span ends with the one around
//! it. That end is
//! [inferred](super::Event::is_inferred). An end without a beginning is an instant.
//!
//! # Times
//! Nanoseconds of the writer's monotonic clock. An event without a time of its own is when the one before it was.
//!
//! # Order
//! The order is that of time, and of the input where that is the same. Batches overlap, and times go back within them:
//! everything is read before the first event, and an [`Order`](crate::dial9::Order) keeps where runs of events begin whose
//! times do not go back; of a span that one event tells of, a [`Moment`] of 24 bytes. Damage comes first, as it is met.
//!
//! # Limits
//! Segments of several processes repeat the numbers of workers and tasks: add those of one process. A span that is told by
//! one event is known from its end on: one that a window begins in is an instant.

mod counters;
mod lasts;
mod moment;
mod rooms;
mod said;
mod timeline;
mod tracks;
mod waiting;

pub use moment::{KindSlot, Moment};
pub use rooms::Rooms;
#[cfg(feature = "alloc")]
pub use rooms::Storage;
pub use timeline::Timeline;
pub use tracks::TrackSlot;
