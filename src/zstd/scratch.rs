//! Memory for building tables.

use super::fse::{Distribution, Entry, Ordered};

/// Memory for the time in which a table is built.
pub(super) struct Scratch {
    pub(super) counts: Distribution,
    /// The symbols of a distribution in order, or the weights of a tree.
    pub(super) symbols: Ordered,
    pub(super) weight_table: [Entry; 64],
}

impl Scratch {
    pub(super) const fn new() -> Self {
        Self { counts: [0; 256], symbols: [0; 512 + 8], weight_table: [0; 64] }
    }
}
