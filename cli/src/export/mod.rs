//! The same content for other tools: a writer of each target, fed with what the formats say of themselves.

pub mod chrome;
pub mod file;
pub mod files;
#[cfg(feature = "view")]
pub mod page;
pub mod perfetto;
#[cfg(feature = "tables")]
pub mod tables;

/// The outcome of an export. Some events cannot be written: the format has no place for them.
#[derive(Default, Debug, PartialEq, Eq)]
pub struct Summary {
    /// True if an event or a slice was written.
    pub has_events: bool,
    /// Events without a time.
    pub untimed: u64,
    /// Events whose time is not within 64 bits, or is that of another kind of clock than the first one's.
    pub misfits: u64,
}
