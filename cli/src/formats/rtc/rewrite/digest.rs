//! Hashes of records, wherever they lie.

use crate::trace::Digest;
use traceglass::rtc::Record;

/// Adds a record: its stream, and its length. Its bytes are copied, and compared as such.
#[inline]
pub fn hash(record: &Record<'_, '_>, digest: &mut Digest) {
    add(record.stream().id(), record.len(), digest);
}

/// Adds a record of a stream, with its length.
#[inline]
pub fn add(stream: u64, len: u64, digest: &mut Digest) {
    digest.add_pair(stream, len);
}
