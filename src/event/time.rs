//! Ranges of time.

use super::EventKind;
pub use crate::record::Time;

/// A range of time, its end not included.
///
/// ```
/// use traceglass::event::{Time, Window};
///
/// let window = Window::new(Some(1_000), Some(2_000));
/// assert!(window.contains(Some(Time::since_epoch(1_000))));
/// assert!(!window.contains(Some(Time::since_epoch(2_000))));
/// assert!(!window.contains(None) && Window::ALL.contains(None));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Window {
    from: Option<i128>,
    to: Option<i128>,
}

impl Window {
    /// All of time.
    pub const ALL: Self = Self { from: None, to: None };

    /// From a time on, and up to another, in nanoseconds of the clock of what is read.
    pub const fn new(from: Option<i128>, to: Option<i128>) -> Self {
        Self { from, to }
    }

    /// The first time in it.
    pub const fn from(self) -> Option<i128> {
        self.from
    }

    /// The end: the first time that is not in it.
    pub const fn to(self) -> Option<i128> {
        self.to
    }

    /// True if this time is in it. A time that is not known is in all of time alone.
    pub fn contains(self, time: Option<Time>) -> bool {
        time.map_or(self == Self::ALL, |time| self.contains_ns(time.ns()))
    }

    /// True if an event of this kind and time is told: one in it, and a loss of which it is not known when it was.
    pub fn tells(self, kind: EventKind, time: Option<Time>) -> bool {
        time.is_none() && kind.is_loss() || self.contains(time)
    }

    pub(super) fn contains_ns(self, ns: i128) -> bool {
        self.from.is_none_or(|from| from <= ns) && !self.ends_before(ns)
    }

    /// True if it ends at `ns` or before.
    pub(super) fn ends_before(self, ns: i128) -> bool {
        self.to.is_some_and(|to| to <= ns)
    }

    /// True if it begins after `ns`.
    pub(super) fn begins_after(self, ns: i128) -> bool {
        self.from.is_some_and(|from| from > ns)
    }
}
