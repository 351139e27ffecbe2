//! Names of streams and clocks.

use crate::json::JsonString;
use crate::text::Text;

/// A string of a [`Meta`](crate::rtc::Meta).
pub(crate) type Name<'a> = JsonString<Text<'a>>;

/// A number that is the same for texts that are equal, and not 0.
pub(crate) fn hash(chars: impl Iterator<Item = char>) -> u32 {
    let hash = chars.fold(0x811c_9dc5_u32, |hash, c| (hash ^ u32::from(c)).wrapping_mul(0x0100_0193));
    let hash = (hash ^ hash >> 15).wrapping_mul(0x2c1b_3c6d);
    (hash ^ hash >> 13).max(1)
}

/// The number of a name.
pub(crate) fn name_hash(name: Name<'_>) -> u32 {
    hash(name.chars())
}
