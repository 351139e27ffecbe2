//! The same content for other tools: a writer of each target, fed with what the formats say of themselves.

pub mod file;
pub mod files;
pub mod perfetto;
#[cfg(feature = "tables")]
pub mod tables;
