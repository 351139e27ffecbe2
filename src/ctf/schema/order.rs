//! Order in lent storage, of which only a key and a swap are known.

/// A heap sort: in place, n log n steps whatever the input.
pub(crate) fn sort<B, K: Ord>(
    storage: &mut B,
    len: u32,
    key: impl Fn(&B, u32) -> K,
    swap: impl Fn(&mut B, u32, u32),
) {
    let sift = |storage: &mut B, mut root: u32, len: u32| {
        loop {
            let left = root.saturating_mul(2).saturating_add(1);
            let right = left.saturating_add(1);
            if left >= len {
                return;
            }
            let is_right = right < len && key(storage, right) > key(storage, left);
            let child = if is_right { right } else { left };
            if key(storage, child) <= key(storage, root) {
                return;
            }
            swap(storage, root, child);
            root = child;
        }
    };
    for root in (0..len / 2).rev() {
        sift(storage, root, len);
    }
    for last in (1..len).rev() {
        swap(storage, 0, last);
        sift(storage, 0, last);
    }
}
