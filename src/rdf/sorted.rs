//! Chunks by identifier: an order, and perhaps a hash table, in memory that the caller lends.

use super::chunk::Chunk;
use super::file::File;
use super::identifier::Identifier;
use super::table;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use core::fmt;

/// A file with its entries sorted by identifier, and in file order within one.
///
/// The order takes one place of the storage for each entry, and a lookup is a binary search. Further places become a
/// hash table, and a lookup then takes constant time: it needs a power of two of them, at least twice the number of
/// different identifiers. With half as many again, sorting takes time in proportion to the number of entries, too. With
/// 100,000 entries of 1,000 identifiers, 4,096 further places make both several times as fast.
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
    order: &'s [u32],
    /// Where in the order each identifier begins, by hash: 0 is a free slot, anything else the position plus one.
    /// Empty, or a power of two long.
    table: &'s [u32],
}

impl<'a> File<'a> {
    /// Sorts the entries by identifier in `storage`, which must have a place for each; further ones make lookups
    /// faster, see [`SortedIndex`].
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
        let (order, rest) = match storage.split_at_mut_checked(index.len()) {
            Some(parts) if needed <= capacity => parts,
            _ => return Err(too_small),
        };
        let len = match table::sort(index, order, rest) {
            Some(len) => len,
            None => {
                for (slot, number) in order.iter_mut().zip(0..) {
                    *slot = number;
                }
                table::sort_numbers(index, order);
                table::fill(index, order, rest).unwrap_or(0)
            }
        };
        Ok(Self { file, order, table: rest.get(..len).unwrap_or_default() })
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
        let number = *self.order.get(self.first(key)?.checked_add(n)?)?;
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

    /// Where in the order an identifier begins. If there is none, where it would begin, or `None`.
    #[inline]
    fn first(&self, key: Option<u128>) -> Option<usize> {
        if self.table.is_empty() {
            let index = self.file.index();
            return Some(self.order.partition_point(|&number| index.key(number) < key));
        }
        for slot in table::probes(key, self.table.len()) {
            let first = usize::try_from(self.table.get(slot)?.checked_sub(1)?).ok()?;
            if self.file.index().key(*self.order.get(first)?) == key {
                return Some(first);
            }
        }
        None
    }

    fn numbers(&self, identifier: Identifier) -> &'s [u32] {
        let key = Some(identifier.key());
        let rest = self.first(key).and_then(|first| self.order.get(first..)).unwrap_or_default();
        let len = rest.partition_point(|&number| self.file.index().key(number) == key);
        rest.get(..len).unwrap_or_default()
    }
}

impl fmt::Debug for SortedIndex<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SortedIndex").field("file", &self.file).finish_non_exhaustive()
    }
}
