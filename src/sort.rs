//! Sorting in place.
//!
//! The standard library's sorts may panic, for orders that contradict themselves, so that firmware that links without
//! a panic handler cannot use them.

use core::cell::Cell;

/// Ranges up to this length are sorted by insertion.
const SHORT: usize = 16;

/// Sorts by keys, which must all differ, in O(n log n) whatever the input.
///
/// Quicksort, which reads the keys of items that still ascend in the order in which they lie in memory; a range whose
/// pivots turn out bad is left to heapsort.
pub(crate) fn sort_by_key<T: Copy, K: Ord + Copy>(items: &mut [T], key: impl Fn(T) -> K) {
    let items = Cell::from_mut(items).as_slice_of_cells();
    // Twice as many levels as halving takes: 62 for as many items as 32 bits can number. One range waits on each
    // level, so that all have a place.
    let mut levels = items.len().checked_ilog2().unwrap_or(0).saturating_mul(2);
    let mut waiting = [(0_usize, 0_usize, 0_u32); 64];
    let mut depth = 0_usize;
    let (mut start, mut end) = (0, items.len());
    loop {
        let range = items.get(start..end).unwrap_or_default();
        if range.len() <= SHORT {
            insertion_sort(range, &key);
        } else if levels == 0 {
            heapsort(range, &key);
        } else {
            let middle = start.saturating_add(partition(range, &key));
            levels = levels.saturating_sub(1);
            if let Some(place) = waiting.get_mut(depth) {
                *place = (middle.saturating_add(1), end, levels);
                depth = depth.saturating_add(1);
                end = middle;
                continue;
            }
            heapsort(range, &key);
        }
        let Some(&next) = depth.checked_sub(1).and_then(|top| waiting.get(top)) else { return };
        depth = depth.saturating_sub(1);
        (start, end, levels) = next;
    }
}

/// Moves what is less than a pivot before it and the rest after it; returns the position of the pivot.
fn partition<T: Copy, K: Ord + Copy>(items: &[Cell<T>], key: &impl Fn(T) -> K) -> usize {
    let last = items.len().saturating_sub(1);
    let key_at = |place: usize| items.get(place).map(|item| key(item.get()));
    // The median of three becomes the pivot, and stands last while the others are compared with it.
    let (low, middle, high) = (0, items.len() / 2, last);
    let pivot = {
        let (a, b, c) = (key_at(low), key_at(middle), key_at(high));
        if (a < b) != (a < c) {
            low
        } else if (b < a) != (b < c) {
            middle
        } else {
            high
        }
    };
    exchange(items, pivot, last);
    let Some((pivot, others)) = items.split_last() else { return 0 };
    let pivot_key = key(pivot.get());
    let mut less = 0_usize;
    for item in others {
        if key(item.get()) < pivot_key {
            if let Some(boundary) = others.get(less) {
                let value = boundary.get();
                boundary.set(item.get());
                item.set(value);
            }
            less = less.saturating_add(1);
        }
    }
    exchange(items, less, last);
    less
}

fn insertion_sort<T: Copy, K: Ord + Copy>(items: &[Cell<T>], key: &impl Fn(T) -> K) {
    for place in 1..items.len() {
        let Some(value) = items.get(place).map(Cell::get) else { return };
        let value_key = key(value);
        let mut hole = place;
        while let Some(before) = hole.checked_sub(1).and_then(|before| items.get(before)) {
            if key(before.get()) <= value_key {
                break;
            }
            if let Some(item) = items.get(hole) {
                item.set(before.get());
            }
            hole = hole.saturating_sub(1);
        }
        if let Some(item) = items.get(hole) {
            item.set(value);
        }
    }
}

fn heapsort<T: Copy, K: Ord + Copy>(items: &[Cell<T>], key: &impl Fn(T) -> K) {
    // Items without children are heaps already, which sifting finds at once.
    let (mut unheaped, mut len) = (items.len(), items.len());
    while len > 0 {
        if unheaped > 0 {
            unheaped = unheaped.saturating_sub(1);
        } else {
            // The largest of the heap goes after it.
            len = len.saturating_sub(1);
            exchange(items, 0, len);
        }
        sift_down(items.get(..len).unwrap_or_default(), unheaped, key);
    }
}

fn sift_down<T: Copy, K: Ord + Copy>(heap: &[Cell<T>], mut parent: usize, key: &impl Fn(T) -> K) {
    let key_at = |place: usize| heap.get(place).map(|item| key(item.get()));
    loop {
        let left = parent.saturating_mul(2).saturating_add(1);
        let right = left.saturating_add(1);
        // A place after the end has no key, and no key is less than any.
        let child = if key_at(right) > key_at(left) { right } else { left };
        if key_at(child) <= key_at(parent) {
            return;
        }
        exchange(heap, parent, child);
        parent = child;
    }
}

/// `slice::swap` without its panic.
fn exchange<T: Copy>(items: &[Cell<T>], a: usize, b: usize) {
    if let (Some(a), Some(b)) = (items.get(a), items.get(b)) {
        let value = a.get();
        a.set(b.get());
        b.set(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn inputs() -> Vec<Vec<u32>> {
        let mut random = 1_u32;
        let mut next = move || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            random >> 8
        };
        let mut inputs: Vec<Vec<u32>> = (0..100).map(|len| (0..len).map(|_| next()).collect()).collect();
        inputs.push((0..5_000).map(|_| next()).collect());
        inputs.push((0..5_000).collect());
        inputs.push((0..5_000).rev().collect());
        // Up, then down: bad for a median of three.
        inputs.push((0..2_500).map(|n| 2 * n).chain((0..2_500).rev().map(|n| 2 * n + 1)).collect());
        inputs
    }

    #[test]
    fn both_sorts_sort() {
        for input in inputs() {
            let mut expected = input.clone();
            expected.sort_unstable_by_key(|&item| std::cmp::Reverse(item));
            let mut sorted = input.clone();
            sort_by_key(&mut sorted, std::cmp::Reverse);
            assert_eq!(sorted, expected);
            let mut sorted = input;
            heapsort(Cell::from_mut(&mut sorted[..]).as_slice_of_cells(), &std::cmp::Reverse);
            assert_eq!(sorted, expected);
        }
    }

    /// The number of keys looked at stays near n log n for every shape: 60,000 for 5,000.
    #[test]
    fn no_input_is_slow() {
        let looked_at = |mut items: Vec<u32>| {
            let looked_at = Cell::new(0_usize);
            sort_by_key(&mut items, |item| {
                looked_at.set(looked_at.get() + 1);
                item
            });
            looked_at.get()
        };
        let mut inputs = inputs();
        let large = inputs.split_off(100);
        for input in inputs {
            let n = input.len();
            let found = looked_at(input);
            assert!(found <= 2 * n * n.max(2).ilog2() as usize, "{found} for {n}");
        }
        // Random, up, down, up and down. With more, the pivots would not be medians.
        let most = [75_000, 55_000, 115_000, 260_000];
        let found: Vec<usize> = large.into_iter().map(looked_at).collect();
        assert!(found.iter().zip(most).all(|(&found, most)| found <= most), "{found:?}");
    }
}
