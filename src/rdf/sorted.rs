//! Chunks by identifier: an order, and a hash table, in memory that the caller lends.

use super::chunk::Chunk;
use super::file::File;
use super::groups;
use super::identifier::Identifier;
use super::slots::Slots;
use super::table;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use core::fmt;

/// A file with its entries sorted by identifier, and in file order within one.
///
/// The order takes one place of the storage for each entry. The bits that its numbers leave free hold a hash table, where
/// it fits: then a lookup takes constant time.
///
/// | entries | how many for each identifier, on average, so that it fits |
/// |---|---|
/// | up to 1,023 | any |
/// | up to 32,767 | two |
/// | up to a million | four |
/// | up to eight million | six |
///
/// With about twice as many for each, sorting takes time in proportion to the number of entries; otherwise entries are
/// compared. Without a table, a lookup is a binary search. Storage with three further places for each identifier has room
/// for a table in any case. Identifiers that were made to collide have none.
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
pub struct SortedIndex<'a, 's> {
    file: File<'a>,
    /// The order, and slots.
    storage: &'s [u32],
    /// Where in the order each identifier begins, by hash: 0 is a free slot, anything else the position plus one.
    table: Slots,
}

impl<'a> File<'a> {
    /// Sorts the entries by identifier in `storage`, which must have a place for each; with further ones, more of
    /// the identifiers may differ before lookups take longer, see [`SortedIndex`].
    ///
    /// # Errors
    /// [`CapacityExceeded`](ErrorKind::CapacityExceeded) with the number of places needed.
    pub fn sort<'s>(&self, storage: &'s mut [u32]) -> Result<SortedIndex<'a, 's>> {
        SortedIndex::new(*self, storage)
    }
}

impl<'a, 's> SortedIndex<'a, 's> {
    pub(super) fn new(file: File<'a>, storage: &'s mut [u32]) -> Result<Self> {
        let index = file.index();
        let capacity = to_u64(storage.len().min(usize::try_from(u32::MAX).unwrap_or(usize::MAX)));
        let needed = to_u64(index.len());
        let too_small = Error::new(
            index.offset(),
            super::element::CHUNK_INDEX,
            ErrorKind::CapacityExceeded { capacity, needed },
        );
        let len = index.len();
        if needed > capacity {
            return Err(too_small);
        }
        // More than four slots for an entry are of no use.
        let further = storage.len().saturating_sub(len).min(len.saturating_mul(4));
        let (further, above) = (Slots::after(len, further), Slots::above(len));
        let sorted = groups::sort(index, storage, further).or_else(|| groups::sort(index, storage, above));
        let table = match sorted {
            Some(table) => table,
            None => {
                groups::compare(index, storage.get_mut(..len).unwrap_or_default());
                table::fill(index, storage, further)
                    .or_else(|| table::fill(index, storage, Slots::most_above(len)))
                    .unwrap_or(above.part(0, 0))
            }
        };
        Ok(Self { file, storage, table })
    }

    /// The numbers of the entries, sorted by identifier and in file order within one.
    pub fn order(&self) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + Clone + use<'s> {
        let mask = self.table.mask();
        self.places().iter().map(move |place| place & mask)
    }

    /// Number of chunks with that identifier.
    pub fn count(&self, identifier: Identifier) -> usize {
        self.group(identifier).len()
    }

    /// The chunk that is the `n`-th of its identifier in file order, from 0.
    #[inline]
    pub fn chunk(&self, identifier: Identifier, n: usize) -> Option<Chunk<'a>> {
        let place = *self.places().get(self.first(identifier)?.checked_add(n)?)?;
        if n == 0 || self.has(place, identifier) { self.at(place) } else { None }
    }

    /// The chunks with that identifier, in file order.
    pub fn chunks(&self, identifier: Identifier) -> impl DoubleEndedIterator<Item = Chunk<'a>> + use<'a, 's> {
        let this = *self;
        self.group(identifier).iter().filter_map(move |&place| this.at(place))
    }

    /// The order, below what else is in its places.
    #[inline]
    fn places(&self) -> &'s [u32] {
        self.storage.get(..self.file.index().len()).unwrap_or_default()
    }

    #[inline]
    fn at(&self, place: u32) -> Option<Chunk<'a>> {
        self.file.chunk_at(usize::try_from(place & self.table.mask()).ok()?)
    }

    #[inline]
    fn has(&self, place: u32, identifier: Identifier) -> bool {
        self.file.index().has(place & self.table.mask(), identifier)
    }

    /// Where in the order an identifier begins, if it is there.
    #[inline]
    fn first(&self, identifier: Identifier) -> Option<usize> {
        if self.table.len() == 0 {
            let (index, mask, key) = (self.file.index(), self.table.mask(), Some(identifier.key()));
            let first = self.places().partition_point(|place| index.key(place & mask) < key);
            return self.places().get(first).filter(|&&place| self.has(place, identifier)).map(|_| first);
        }
        for slot in table::probes(identifier, self.table.len()) {
            let first = usize::try_from(self.table.get_fast(self.storage, slot)?.checked_sub(1)?).ok()?;
            if self.has(*self.places().get(first)?, identifier) {
                return Some(first);
            }
        }
        None
    }

    fn group(&self, identifier: Identifier) -> &'s [u32] {
        let rest = self.first(identifier).and_then(|first| self.places().get(first..)).unwrap_or_default();
        let len = rest.partition_point(|&place| self.has(place, identifier));
        rest.get(..len).unwrap_or_default()
    }
}

impl fmt::Debug for SortedIndex<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SortedIndex").field("file", &self.file).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::{colliding, index_of};
    use super::*;
    use std::vec;
    use std::vec::Vec;

    /// Identifiers that were made to collide are found all the same, by a search if they are too many for a table.
    #[test]
    fn identifiers_that_collide_are_found() {
        for count in [64, 65, 200] {
            let mut all = colliding(count + 1);
            let missing = all.pop().unwrap();
            let index = index_of((0..8).flat_map(|_| all.iter().copied()));
            let header = [&b"AMD_RDF "[..], &3_u64.to_le_bytes(), &32_u64.to_le_bytes()].concat();
            let data: Vec<u8> = [&header[..], &index.len().to_le_bytes(), &index].concat();
            let file = File::parse(&data).unwrap();
            for further in [0, 4096] {
                let mut storage = vec![0; count * 8 + further];
                let sorted = file.sort(&mut storage).unwrap();
                assert_eq!(sorted.table.len() == 0, count > 64);
                for (number, &identifier) in all.iter().enumerate() {
                    for n in 0..8 {
                        let chunk = sorted.chunk(identifier, n).unwrap();
                        assert_eq!(chunk.entry().number(), number + n * count);
                    }
                    assert!(sorted.chunk(identifier, 8).is_none());
                }
                assert!(sorted.chunk(missing, 0).is_none() && sorted.count(missing) == 0);
            }
        }
    }
}
