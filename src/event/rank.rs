//! The order in which sources of a timeline come.

/// The place of a source in the order of all, and which one it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    /// The time of what it has next.
    pub ns: i128,
    /// The order at the same time: the lowest comes first.
    pub class: u8,
    /// The order of sources at the same time.
    pub order: u64,
    /// The slot of the source.
    pub slot: usize,
}

impl Rank {
    pub const EMPTY: Self = Self { ns: 0, class: 0, order: 0, slot: 0 };
}
