//! RDF as tracks and events: what AMD's tools noted of queues, memory, markers and crashes.
//!
//! # Tracks
//! One of the file, and below it, as far as there are events, one of each queue, each stream of a memory trace, each
//! driver that noted events, each command buffer with markers, each counter, and one each of snapshots and code objects.
//!
//! # Events
//! | chunk | event |
//! |---|---|
//! | `QueueEvent` | a submission is a slice on the track of its queue, from begin to end on the GPU; all else an instant |
//! | `RmtData` | a token is an instant, if it tells more than the time; a counter has the virtual memory reserved |
//! | `DDEvent` | an instant; markers are slices on the track of their command buffer |
//! | `RmvSnapshotData` | an instant |
//! | `COLoadEvent` | an instant |
//! | `SpmCounterData` | a sample is the value of a counter |
//! | `UserMarkerHist` | slices on a track of their command buffer, of which the file does not tell the times |
//!
//! Submissions that overlap on a queue come on further tracks below it; markers that do not nest end in the order of
//! their tracks. Markers without a beginning are instants.
//!
//! # Times
//! Nanoseconds on the CPU's clock, which is not absolute. What is in GPU ticks is converted with the `ClockCalibration` of
//! that GPU and its rate, which stands in `AsicInfo` or `SystemInfo`; where one of them is missing, or the rate of the
//! CPU's clock, the time is not known. Streams and drivers tell the rate of their clock themselves.
//!
//! # Order
//! By time. What has none comes first; a fault of a chunk, too. A stream of tokens ends where one of its pieces cannot be
//! read, as the next one may begin within a token.
//!
//! # Offsets
//! Of a chunk that is stored as it is, those of the record itself; of one that is compressed, or a piece of a stream, those
//! of the stored data of the chunk, or of the first one.

mod entries;
pub(super) mod fields;
mod happened;
mod lane;
mod open;
mod pieces;
mod reserved;
mod timeline;
mod tracks;

pub use lane::Lane;
pub use pieces::needed;
pub use timeline::Timeline;
pub use tracks::TrackSlot;
