//! The ends of fields whose size is known.

use crate::ctf::schema::node::{BIG, Kind, Node, REVERSED};

/// The first bit from `at` on at which a class may begin.
#[inline(always)]
pub(super) fn aligned(at: u64, node: &Node) -> u64 {
    // `at` is below 2⁶³: it lies in memory. An alignment has at most 63 bits.
    let mask = 1_u64.wrapping_shl(node.align_log2()).wrapping_sub(1);
    at.wrapping_add(mask) & !mask
}

/// The end of a class of fixed size that begins at the first bit from `at` on at which it may, and the byte order of
/// its last fixed-length field; `None` if not all of it is there, or byte orders meet within a byte.
#[inline(always)]
pub(super) fn after_plain(node: &Node, at: u64, last_big: bool, limit: u64) -> Option<(u64, bool)> {
    let start = aligned(at, node);
    let (size, first, last) = match node.kind {
        Kind::Structure | Kind::StaticArray => (u64::from(node.b), node.has(BIG), node.has(REVERSED)),
        Kind::StaticString | Kind::StaticBlob => (u64::from(node.a).wrapping_mul(8), last_big, last_big),
        _ => (node.a.into(), node.has(BIG), node.has(BIG)),
    };
    let end = start.wrapping_add(size);
    if end > limit || (start & 7 != 0 && first != last_big && size > 0) {
        return None;
    }
    Some((end, if size > 0 { last } else { last_big }))
}

/// The same for as many elements of fixed size as there are; the first number is how many are left.
#[inline]
pub(super) fn after_elements(
    element: &Node,
    count: u64,
    at: u64,
    last_big: bool,
    limit: u64,
) -> (u64, u64, bool) {
    let Some((after, last)) = (if count == 0 { None } else { after_plain(element, at, last_big, limit) })
    else {
        return (count, at, last_big);
    };
    // Where byte orders differ within an element, each begins with a byte: its class is of fixed size.
    let one = after.wrapping_sub(aligned(at, element));
    let start = aligned(after, element);
    let stride = start.wrapping_sub(aligned(at, element));
    let more = count.saturating_sub(1);
    if stride == 0 {
        // Either no other one fits, or none takes any bits.
        return (if one == 0 { 0 } else { more }, after, last);
    }
    let room = limit.saturating_sub(start);
    // `stride` is no less than `one`.
    let fit = if one > room || start > limit {
        0
    } else if u128::from(more.saturating_sub(1)).saturating_mul(stride.into())
        <= u128::from(room.saturating_sub(one))
    {
        more
    } else {
        room.saturating_sub(one).checked_div(stride).map_or(0, |further| further.saturating_add(1)).min(more)
    };
    // The last of them ends within the limit.
    (more.saturating_sub(fit), after.wrapping_add(stride.wrapping_mul(fit)), last)
}
