//! Hashes of records, wherever they lie.

use crate::trace::Digest;

/// Adds a record of a stream, with its length. Its bytes are copied, and compared as such.
#[inline]
pub fn add(stream: u64, len: u64, digest: &mut Digest) {
    digest.add_pair(stream, len);
}
