//! The chunks that matter to a timeline.

use crate::error::{Error, ErrorKind, Result};
use crate::rdf::Entry;
use crate::rdf::contents::Content;
use crate::rdf::element::CHUNK_DATA;

/// Chunks that events refer to.
pub(super) const FIRST: [&[u8]; 6] =
    [b"SystemInfo", b"AsicInfo", b"ClockCalibration", b"QueueInfo", b"StringTable", b"SpmSession"];
/// Chunks with events.
pub(super) const SECOND: [&[u8]; 7] = [
    b"QueueEvent",
    b"RmvSnapshotData",
    b"RmtData",
    b"DDEvent",
    b"COLoadEvent",
    b"SpmCounterData",
    b"UserMarkerHist",
];

/// True if a chunk has one of these names.
pub(super) fn is_one_of(entry: &Entry<'_>, names: &[&[u8]]) -> bool {
    names.contains(&entry.identifier().name())
}

/// True if events refer to a chunk.
pub(super) fn is_fact(entry: &Entry<'_>) -> bool {
    is_one_of(entry, &FIRST)
}

/// True if a chunk has events.
pub(super) fn is_event(entry: &Entry<'_>) -> bool {
    is_one_of(entry, &SECOND)
}

/// The size of a chunk's data, if it is in proportion to what is stored of it.
pub(super) fn output_size(entry: &Entry<'_>) -> Result<u64> {
    let value = entry.output_size()?;
    let limit = Content::limit(u64::try_from(entry.stored_size()).unwrap_or(0));
    if value <= limit {
        return Ok(value);
    }
    Err(Error::new(entry.stored_range()?.start, CHUNK_DATA, ErrorKind::OverLimit { value, limit }))
}
