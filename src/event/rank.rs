//! The order in which sources of a timeline come.

/// When it is the turn of a source, and which one it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    /// The time of what it has next.
    pub ns: i128,
    /// What comes first at the same time.
    pub class: u8,
    /// The order of sources at the same time.
    pub order: u64,
    /// The slot of the source.
    pub slot: usize,
}

impl Rank {
    pub const EMPTY: Self = Self { ns: 0, class: 0, order: 0, slot: 0 };
}
