//! Chunks by identifier: a sorted order in memory that the caller lends.

use super::chunk::Chunk;
use super::element::CHUNK_INDEX;
use super::file::File;
use super::identifier::Identifier;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::sort::sort_by_key;
use core::fmt;

/// A file with its entries sorted by identifier, and in file order within one: a lookup is a binary search.
///
/// ```
/// # use traceglass::rdf::File;
/// # fn find(data: &[u8]) -> traceglass::Result<()> {
/// let file = File::parse(data)?;
/// let mut storage = [0; 1024];
/// let sorted = file.sort(&mut storage)?;
/// let third = sorted.chunk("AsicInfo", 2);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy)]
pub struct SortedIndex<'a, 's> {
    file: File<'a>,
    order: &'s [u32],
}

impl<'a> File<'a> {
    /// Sorts the entries by identifier in `storage`, which must have a place for each.
    ///
    /// # Errors
    /// [`CapacityExceeded`](ErrorKind::CapacityExceeded) with the number of places needed.
    pub fn sort<'s>(&self, storage: &'s mut [u32]) -> Result<SortedIndex<'a, 's>> {
        let index = self.index();
        let capacity = to_u64(storage.len().min(usize::try_from(u32::MAX).unwrap_or(usize::MAX)));
        let needed = to_u64(index.len());
        let kind = ErrorKind::CapacityExceeded { capacity, needed };
        let order = storage.get_mut(..index.len()).filter(|_| needed <= capacity);
        let order = order.ok_or(Error::new(index.offset(), CHUNK_INDEX, kind))?;
        order.iter_mut().zip(0..).for_each(|(place, number)| *place = number);
        sort_by_key(order, |number| (index.key(number), number));
        Ok(SortedIndex { file: *self, order })
    }
}

impl<'a, 's> SortedIndex<'a, 's> {
    /// The numbers of the entries, sorted by identifier and in file order within one.
    pub fn order(&self) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + Clone + use<'s> {
        self.order.iter().copied()
    }

    /// Number of chunks with that identifier.
    pub fn count(&self, identifier: impl TryInto<Identifier>) -> usize {
        self.group(identifier).len()
    }

    /// The chunk that is the `n`-th of its identifier in file order, from 0.
    pub fn chunk(&self, identifier: impl TryInto<Identifier>, n: usize) -> Option<Chunk<'a>> {
        let key = Some(identifier.try_into().ok()?.key());
        let number = *self.from(key).get(n)?;
        if self.file.index().key(number) == key { self.at(number) } else { None }
    }

    /// The chunks with that identifier, in file order.
    pub fn chunks<I: TryInto<Identifier>>(
        &self,
        identifier: I,
    ) -> impl DoubleEndedIterator<Item = Chunk<'a>> + use<'a, 's, I> {
        let this = *self;
        let group = self.group(identifier);
        group.iter().filter_map(move |&number| this.at(number))
    }

    fn at(&self, number: u32) -> Option<Chunk<'a>> {
        self.file.chunk_at(usize::try_from(number).ok()?)
    }

    /// The numbers of the entries with an identifier.
    fn group(&self, identifier: impl TryInto<Identifier>) -> &'s [u32] {
        let Ok(identifier) = identifier.try_into() else { return &[] };
        let (index, key) = (self.file.index(), Some(identifier.key()));
        let rest = self.from(key);
        let len = rest.partition_point(|&number| index.key(number) == key);
        rest.get(..len).unwrap_or_default()
    }

    /// The numbers of the entries from the first with this key on.
    fn from(&self, key: Option<u128>) -> &'s [u32] {
        let index = self.file.index();
        let start = self.order.partition_point(|&number| index.key(number) < key);
        self.order.get(start..).unwrap_or_default()
    }
}

impl fmt::Debug for SortedIndex<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SortedIndex").field("file", &self.file).finish_non_exhaustive()
    }
}
