//! RTC as tracks and events: the records of all streams, with what they say.
//!
//! # Tracks
//! One of the file, below it one of each session, and below that one of each stream: ids mean something else in another
//! session. Numbers that are no clock make a [`Counter`](super::TrackKind::Counter), with the attribute `unit` if there
//! is one; all others a [`Stream`](super::TrackKind::Stream).
//!
//! # Events
//! | record | event |
//! |---|---|
//! | of a stream of numbers | the counter has its last sample from then on, with gain and offset |
//! | of a clock, of text, JSON, bytes, annotations | an instant |
//! | whose bytes are not what its format says | an instant |
//!
//! The fields of a record are told by [`NamedRecord`](crate::rtc::NamedRecord). An event is called as its stream is.
//!
//! # Times
//! Attoseconds, rounded down to nanoseconds. A clock is absolute if it is a `timespec` without gain and offset, or counts
//! from one that is absolute. An annotation is of the time that it tells, on the clock of what it is about; all else of the time
//! of its stream's clock.
//!
//! # Order
//! The order is that of the file, in which clocks ascend; a record in several pieces comes where it ends.
//! A window is sought by the indices, where [`Grid::seek_all`](crate::rtc::Grid::seek_all) can tell where it begins, and
//! reading ends with it, unless [all is to be read](Timeline::read_all).

pub(super) mod fields;
mod timeline;

pub use timeline::Timeline;
