//! Names of streams and clocks.

use crate::json::JsonString;
use crate::text::Text;

/// A string of a [`Meta`](crate::rtc::Meta).
pub(crate) type Name<'a> = JsonString<Text<'a>>;

/// FNV-1a of 64 bits: the same for texts that are equal, and not 0.
pub(crate) fn hash(chars: impl Iterator<Item = char>) -> u64 {
    let step = |hash: u64, c: char| (hash ^ u64::from(c)).wrapping_mul(0x0100_0000_01b3);
    let hash = chars.fold(0xcbf2_9ce4_8422_2325, step);
    // Its low bits alone are poor.
    (hash ^ hash >> 32).max(1)
}

/// The hash of a name.
pub(crate) fn name_hash(name: Name<'_>) -> u64 {
    hash(name.chars())
}
