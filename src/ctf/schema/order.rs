//! Order in lent storage, of which only a comparison and a swap are known.

use super::builder::Builder;
use super::work;

/// True if the item at one place belongs before the one at another.
pub(crate) type IsLess<'f> = &'f dyn Fn(&Builder<'_>, u32, u32) -> bool;
/// Exchanges two items.
pub(crate) type Swap<'f> = &'f dyn Fn(&mut Builder<'_>, u32, u32);

/// A heap sort: in place, n log n steps whatever the input.
pub(crate) fn sort(builder: &mut Builder<'_>, len: u32, is_less: IsLess<'_>, swap: Swap<'_>) {
    let is_less = |builder: &Builder<'_>, a, b| {
        work::count(1);
        is_less(builder, a, b)
    };
    // Items without children are heaps already, which sifting finds at once.
    let (mut unheaped, mut len) = (len, len);
    while len > 0 {
        if unheaped > 0 {
            unheaped = unheaped.saturating_sub(1);
        } else {
            // The largest of the heap goes after it.
            len = len.saturating_sub(1);
            swap(builder, 0, len);
        }
        let mut root = unheaped;
        loop {
            let left = root.saturating_mul(2).saturating_add(1);
            let right = left.saturating_add(1);
            if left >= len {
                break;
            }
            let child = if right < len && is_less(builder, left, right) { right } else { left };
            if !is_less(builder, root, child) {
                break;
            }
            swap(builder, root, child);
            root = child;
        }
    }
}
