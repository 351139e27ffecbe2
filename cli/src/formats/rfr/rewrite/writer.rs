//! The state of a rewrite.

use super::polls::Polls;
use crate::formats::rfr::select::Range;
use crate::trace::{NewTrace, Rewritten};

/// A rewrite in progress, and its outcome so far.
pub struct Writer<'w> {
    pub range: Range,
    /// True if sequences are taken apart: records outside of the range are left out of them.
    pub exact: bool,
    pub polls: Polls,
    pub to: &'w mut dyn NewTrace,
    pub done: Rewritten,
    /// The number of things that are written that `check` counts.
    pub items: u64,
}
