//! Reading on after damage: what follows it is found again, and what was lost is a [`Gap`](crate::Gap).
//!
//! This layer reads with the strict [`Frames`](crate::rtc::Frames), one minor unit at a time, and delivers what is
//! proven. A wrong length makes bytes look like frames that never were: so frames are held back until some more of them
//! were read where each ends, or a boundary was met.
//!
//! - Up to 8 frames are held back where there are at most 24 streams, up to 16 with 64 streams, else up to 48. Nothing
//!   is held back where the input merely ends, at a boundary, or up to the last Marker, Index, Meta, platform or Crc.
//! - After damage, reading goes on at the next Marker, at the next index that leads back to its unit, or at the first
//!   frame before either to which it leads, with the streams that the unit's own Meta declares.
//! - A unit of other sizes begins another session, as does one whose number is 0, and one off the grid whose Meta declares
//!   most streams in other words, or whose number is lower than before: even if the session's first unit is lost.
//! - The next index tells how much is left of a record whose beginning was lost. Where none follows, all lengths are
//!   tried, and the one counts that leads to the end.
//!
//! A frame that may continue a record, as far as is known, [does](crate::rtc::Frame::continues): no rest of a record is taken
//! for one.

mod anchor;
mod frames;
mod queue;
mod reason;
mod records;
pub(crate) mod search;
mod units;

pub use frames::Frames;
pub use reason::GapReason;
pub use records::{Found, Records};
pub use search::{detect, probe};
pub use units::{UnitSpan, Units};
