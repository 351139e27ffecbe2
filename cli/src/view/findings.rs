//! The findings of `check`, while it is still looking.

use std::path::PathBuf;

/// The number of findings that are kept; the others are counted.
pub const KEPT: usize = 10_000;

/// Something that `check` found.
#[derive(Clone, Debug)]
pub struct Found {
    pub path: Option<PathBuf>,
    pub offset: u64,
    pub is_error: bool,
    pub message: String,
}

#[derive(Clone, Default)]
pub struct List {
    pub shown: bool,
    pub started: bool,
    pub done: bool,
    pub found: Vec<Found>,
    pub errors: u64,
    pub warnings: u64,
    /// Why `check` could not read on.
    pub failed: Option<String>,
    pub selected: usize,
}

impl List {
    pub fn add(&mut self, found: Found) {
        let count = if found.is_error { &mut self.errors } else { &mut self.warnings };
        *count = count.saturating_add(1);
        if self.found.len() < KEPT {
            self.found.push(found);
        }
    }
}
