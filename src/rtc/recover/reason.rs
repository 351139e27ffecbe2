//! Why a range was lost.

use crate::error::{Error, ErrorKind};
use crate::rtc::element::MARKER;

/// Why a range was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GapReason {
    /// The input does not begin with a unit: its start is missing.
    HeadCut,
    /// The input ends within a frame.
    Truncated,
    /// A Marker is damaged.
    Marker,
    /// Frames are damaged.
    Frames,
    /// The numbers of units do not follow each other, or bytes are missing between two units.
    Units,
    /// The table has no room for all streams.
    Capacity,
}

impl GapReason {
    /// `first`: no unit was met before; `found`: reading goes on.
    pub(super) fn new(cause: Error, first: bool, found: bool) -> Self {
        match cause.kind() {
            ErrorKind::CapacityExceeded { .. } => Self::Capacity,
            _ if first => Self::HeadCut,
            ErrorKind::OutOfSequence { .. } => Self::Units,
            _ if cause.is_truncation() && !found => Self::Truncated,
            _ if cause.element() == MARKER => Self::Marker,
            _ => Self::Frames,
        }
    }

    /// A stable name in kebab case, as the `traceglass` command prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HeadCut => "head-cut",
            Self::Truncated => "truncated",
            Self::Marker => "marker-damaged",
            Self::Frames => "frames-damaged",
            Self::Units => "units-missing",
            Self::Capacity => "capacity-exceeded",
        }
    }
}
