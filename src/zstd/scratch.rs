//! Memory for building tables.

use super::fse::{Distribution, Entry};

/// Memory for the time in which a table is built.
pub(super) struct Scratch {
    pub(super) counts: Distribution,
    pub(super) weights: [u8; 255],
    pub(super) weight_table: [Entry; 64],
}

impl Scratch {
    pub(super) const fn new() -> Self {
        Self { counts: [0; 256], weights: [0; 255], weight_table: [0; 64] }
    }
}
