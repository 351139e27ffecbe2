//! Units that follow each other.

use super::front::Front;
use std::rc::Rc;

/// Units that are written as a session.
pub struct Range {
    pub start: u64,
    pub end: u64,
    /// The bytes that its beginning lacks.
    pub front: Option<Rc<Front>>,
    /// True if it begins as a session of the input does.
    pub is_as_it_was: bool,
}

impl Range {
    /// True if all that lies between two places is in it.
    pub fn has(&self, start: u64, end: u64) -> bool {
        self.start <= start && end <= self.end
    }
}
