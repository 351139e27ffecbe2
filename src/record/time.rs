//! When something happened.

use core::fmt;

/// A moment on a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    ns: i128,
    absolute: bool,
}

impl Time {
    /// Nanoseconds since the Unix epoch.
    #[inline]
    pub const fn since_epoch(ns: i128) -> Self {
        Self { ns, absolute: true }
    }

    /// Nanoseconds since the origin of a clock that is not absolute.
    #[inline]
    pub const fn since_origin(ns: i128) -> Self {
        Self { ns, absolute: false }
    }

    /// Nanoseconds: since the Unix epoch if it is absolute, else since the origin of its clock.
    #[inline]
    pub const fn ns(self) -> i128 {
        self.ns
    }

    /// True if it counts from the Unix epoch.
    #[inline]
    pub const fn is_absolute(self) -> bool {
        self.absolute
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SECOND: u128 = 1_000_000_000;
        let sign = if self.ns < 0 { "-" } else { "" };
        let ns = self.ns.unsigned_abs();
        let (secs, rest) = (ns / SECOND, ns % SECOND);
        write!(f, "{sign}{secs}.{rest:09} s")
    }
}
