//! The two ends of slices.

use core::fmt;

/// The facts about a slice that are unknown or out of the ordinary.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Edges(u8);

impl Edges {
    /// Begins and ends with events of its own.
    pub const NONE: Self = Self(0);
    /// Begun before the trace: its begin is not known.
    pub const OPEN_START: Self = Self(1);
    /// Ends with what it lies in: an end of its own was not recorded.
    pub const END_MISSING: Self = Self(2);
    /// The end lies among discarded events, or after them: the slice ends with the last event before.
    pub const END_LOST: Self = Self(4);
    /// The begin may lie among discarded events.
    pub const BEGIN_LOST: Self = Self(8);
    /// Events were discarded while it was open.
    pub const ACROSS_LOSS: Self = Self(16);
    /// The end lies before the begin, on another clock: the slice is given no length.
    pub const BACKWARDS: Self = Self(32);
    /// Not ended when the trace does.
    pub const OPEN_END: Self = Self(64);

    /// The names, in the order of the alphabet.
    const NAMES: [(Self, &'static str); 7] = [
        (Self::ACROSS_LOSS, "across_loss"),
        (Self::BACKWARDS, "backwards"),
        (Self::BEGIN_LOST, "begin_lost"),
        (Self::END_LOST, "end_lost"),
        (Self::END_MISSING, "end_missing"),
        (Self::OPEN_END, "open_end"),
        (Self::OPEN_START, "open_start"),
    ];

    /// The edges of both.
    #[must_use]
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// True if there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// True if all of these are among them.
    pub const fn has(self, these: Self) -> bool {
        self.0 & these.0 == these.0
    }

    /// The names, in the order of the alphabet.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().filter(move |(one, _)| self.has(*one)).map(|(_, name)| name)
    }
}

impl fmt::Debug for Edges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
