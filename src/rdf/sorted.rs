//! Chunks by identifier in logarithmic time, through a permutation that the caller lends.

use super::File;
use super::chunk::Chunk;
use super::identifier::Identifier;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use core::fmt;

/// A file with its entries sorted by identifier, and in file order within one.
///
/// ```
/// # use traceglass::rdf::File;
/// # fn find(data: &[u8]) -> traceglass::Result<()> {
/// let file = File::parse(data)?;
/// let mut storage = [0; 1024];
/// let sorted = file.sort(&mut storage)?;
/// let third = sorted.chunk("AsicInfo".into(), 2);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy)]
pub struct Sorted<'a, 's> {
    file: File<'a>,
    order: &'s [u32],
}

impl<'a, 's> Sorted<'a, 's> {
    pub(super) fn new(file: File<'a>, storage: &'s mut [u32]) -> Result<Self> {
        let index = file.index();
        let capacity = to_u64(storage.len().min(usize::try_from(u32::MAX).unwrap_or(usize::MAX)));
        let needed = to_u64(index.len());
        let too_small =
            Error::new(index.offset(), super::CHUNK_INDEX, ErrorKind::CapacityExceeded { capacity, needed });
        let order = match storage.get_mut(..index.len()) {
            Some(order) if needed <= capacity => order,
            _ => return Err(too_small),
        };
        for (slot, number) in order.iter_mut().zip(0..) {
            *slot = number;
        }
        heapsort(order, |number| (index.key(number), number));
        Ok(Self { file, order })
    }

    /// The numbers of the entries, sorted by identifier and in file order within one.
    pub const fn order(&self) -> &'s [u32] {
        self.order
    }

    /// Number of chunks with that identifier.
    pub fn count(&self, identifier: Identifier) -> usize {
        self.numbers(identifier).len()
    }

    /// The chunk that is the `n`-th of its identifier in file order, from 0.
    #[inline]
    pub fn chunk(&self, identifier: Identifier, n: usize) -> Option<Chunk<'a>> {
        let key = Some(identifier.key());
        let number = *self.order.get(self.lower_bound(key).checked_add(n)?)?;
        if self.file.index().key(number) == key { self.at(number) } else { None }
    }

    /// The chunks with that identifier, in file order.
    pub fn chunks(&self, identifier: Identifier) -> impl DoubleEndedIterator<Item = Chunk<'a>> + use<'a, 's> {
        let this = *self;
        self.numbers(identifier).iter().filter_map(move |&number| this.at(number))
    }

    fn at(&self, number: u32) -> Option<Chunk<'a>> {
        self.file.chunk_at(usize::try_from(number).ok()?)
    }

    fn lower_bound(&self, key: Option<u128>) -> usize {
        self.order.partition_point(|&number| self.file.index().key(number) < key)
    }

    fn numbers(&self, identifier: Identifier) -> &'s [u32] {
        let key = Some(identifier.key());
        let rest = self.order.get(self.lower_bound(key)..).unwrap_or_default();
        let len = rest.partition_point(|&number| self.file.index().key(number) == key);
        rest.get(..len).unwrap_or_default()
    }
}

impl fmt::Debug for Sorted<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sorted").field("file", &self.file).finish_non_exhaustive()
    }
}

/// Sorts in place, in O(n log n) whatever the input.
///
/// The standard library's sorts keep a panic alive for orders that contradict themselves, which the firmware build
/// would not link.
pub(super) fn heapsort<K: Ord>(items: &mut [u32], key: impl Fn(u32) -> K) {
    let mut unheaped = items.len() / 2;
    let mut len = items.len();
    while len > 1 {
        if unheaped > 0 {
            unheaped = unheaped.saturating_sub(1);
        } else {
            // The largest of the heap goes behind it.
            len = len.saturating_sub(1);
            exchange(items, 0, len);
        }
        sift_down(items.get_mut(..len).unwrap_or_default(), unheaped, &key);
    }
}

fn sift_down<K: Ord>(heap: &mut [u32], mut parent: usize, key: &impl Fn(u32) -> K) {
    loop {
        let left = parent.saturating_mul(2).saturating_add(1);
        let right = left.saturating_add(1);
        let Some(&left_item) = heap.get(left) else { return };
        let (child, item) = match heap.get(right) {
            Some(&right_item) if key(right_item) > key(left_item) => (right, right_item),
            _ => (left, left_item),
        };
        match heap.get(parent) {
            Some(&parent_item) if key(parent_item) < key(item) => exchange(heap, parent, child),
            _ => return,
        }
        parent = child;
    }
}

/// `swap` without its panic.
fn exchange(items: &mut [u32], a: usize, b: usize) {
    let (Some(&x), Some(&y)) = (items.get(a), items.get(b)) else { return };
    for (place, value) in [(a, y), (b, x)] {
        if let Some(slot) = items.get_mut(place) {
            *slot = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn heapsort_sorts() {
        let mut random = 1_u32;
        for len in 0..200 {
            let mut items: Vec<u32> = (0..len)
                .map(|_| {
                    random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    random >> 24
                })
                .collect();
            let mut expected = items.clone();
            expected.sort_unstable_by_key(|&item| std::cmp::Reverse(item));
            heapsort(&mut items, std::cmp::Reverse);
            assert_eq!(items, expected);
        }
    }
}
