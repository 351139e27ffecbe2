//! Units that follow each other.

/// Units that are written as a session.
pub struct Range {
    pub start: u64,
    pub end: u64,
    /// True if it has no Marker at its beginning.
    pub lacks_marker: bool,
    /// True if it begins as a session of the input does.
    pub is_as_it_was: bool,
}

impl Range {
    /// True if all that lies between two places is in it.
    pub fn has(&self, start: u64, end: u64) -> bool {
        self.start <= start && end <= self.end
    }
}
