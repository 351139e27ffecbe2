//! Figures of the work.

/// The work so far, and the oddities met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Events that were looked at.
    pub events: u64,
    /// Ends that have no begin though something is open on their track: nothing is shown of them.
    pub stray: u64,
    /// Ends before their begins.
    pub backwards: u64,
    /// The number of open slices that were looked at to find those that end.
    pub compared: u64,
    /// Rules that were followed.
    pub followed: u64,
}
