//! What records say, wherever they lie.

use super::super::session::Record;
use crate::trace::Digest;

/// Adds a record: its stream, and its bytes.
pub fn hash(record: &Record<'_, '_>, digest: &mut Digest) {
    // One that is too long to be joined is told by its length.
    digest.add(&[record.stream().id(), record.len()], record.bytes().unwrap_or_default());
}
