//! The memory that events of RDF files are read in.

use traceglass::event::rdf::needed;
use traceglass::rdf::File;

/// Decompressed chunks may take this many bytes in any case.
const BUFFER: u64 = 256 << 20;
/// The decompressed chunks of a large file may take this many times its size.
const TIMES: u64 = 32;

/// The buffer for the chunks of a file with events; the number of bytes that are needed and the limit, if that is too
/// much.
pub fn buffer(file: &File<'_>) -> Result<Vec<u8>, (u64, u64)> {
    let limit = (file.data().len() as u64).saturating_mul(TIMES).max(BUFFER);
    let needed = needed(file);
    match usize::try_from(needed) {
        // Zeros that are never written to take no memory.
        Ok(size) if needed <= limit => Ok(vec![0; size]),
        _ => Err((needed, limit)),
    }
}
