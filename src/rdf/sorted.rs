//! Chunks by identifier, through an order, and a hash table, in memory that the caller lends.

use super::chunk::Chunk;
use super::file::File;
use super::identifier::Identifier;
use super::index::Index;
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::sort::sort_by_key;
use core::fmt;

/// A file with its entries sorted by identifier, and in file order within one.
///
/// A lookup is a binary search. Where more was lent than the order takes, the rest becomes a hash table, and a lookup
/// takes constant time: of a power of two that is twice the number of different identifiers, or more. Lend it where
/// many lookups follow: with 100,000 entries of 1,000 identifiers, 4,096 places make them several times as fast.
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
    /// Where in the order each identifier begins, by hash: 0 is a free slot, anything else the position plus one. Empty, or a
    /// power of two long.
    table: &'s [u32],
}

impl<'a> File<'a> {
    /// Sorts the entries by identifier in `storage`, of which as many places are used as there are entries.
    ///
    /// # Errors
    /// [`CapacityExceeded`](ErrorKind::CapacityExceeded) with the number of places needed.
    pub fn sort<'s>(&self, storage: &'s mut [u32]) -> Result<SortedIndex<'a, 's>> {
        SortedIndex::new(*self, storage)
    }
}

/// How far from its slot an identifier may stand: files cannot make a lookup slow by identifiers that collide. Of a
/// hundred thousand identifiers that do not, in a table that is half full, none stands farther.
const PROBES: u32 = 64;

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
        for (slot, number) in order.iter_mut().zip(0..) {
            *slot = number;
        }
        sort_by_key(order, |number| (index.key(number), number));
        let order: &[u32] = order;
        Ok(Self { file, order, table: build_table(index, order, rest).unwrap_or_default() })
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

    /// Where in the order an identifier begins; where it would, or nowhere, if there is none.
    #[inline]
    fn first(&self, key: Option<u128>) -> Option<usize> {
        if self.table.is_empty() {
            let index = self.file.index();
            return Some(self.order.partition_point(|&number| index.key(number) < key));
        }
        for slot in probes(key, self.table.len()) {
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

/// The slots of a table of `len`, a power of two, in which a key may stand.
#[inline]
fn probes(key: Option<u128>, len: usize) -> impl Iterator<Item = usize> {
    let key = key.unwrap_or(0).to_le_bytes();
    let [low, high] =
        [key.first_chunk::<8>(), key.last_chunk::<8>()].map(|half| half.copied().unwrap_or_default());
    let folded = u64::from_le_bytes(low) ^ u64::from_le_bytes(high).rotate_left(29);
    // The upper bits of a product depend on all bits of the factor: they become the lower ones of a second.
    let hash = folded.wrapping_mul(0x9e37_79b9_7f4a_7c15).swap_bytes();
    let hash = usize::try_from(hash.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33).unwrap_or(0);
    let mask = len.wrapping_sub(1);
    (0..PROBES).zip(hash..).map(move |(_, slot)| slot & mask)
}

/// Enters each identifier of `order` into a table in `storage`; `None` if there is no room for one that is good.
fn build_table<'s>(index: Index<'_>, order: &[u32], storage: &'s mut [u32]) -> Option<&'s [u32]> {
    let len = 1_usize.checked_shl(storage.len().checked_ilog2()?)?;
    let table = storage.get_mut(..len)?;
    table.fill(0);
    let mut previous = None;
    let mut free = len;
    for (&number, place) in order.iter().zip(1_u32..) {
        let key = index.key(number);
        if previous == Some(key) {
            continue;
        }
        previous = Some(key);
        // At least half of the slots stay free, so that an identifier that is not there is soon known not to be.
        free = free.checked_sub(1).filter(|&free| free >= len / 2)?;
        let slot = probes(key, len).find(|&slot| table.get(slot) == Some(&0))?;
        *table.get_mut(slot)? = place;
    }
    Some(table)
}

impl fmt::Debug for SortedIndex<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SortedIndex").field("file", &self.file).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;
    use std::{format, vec};

    /// A table is made where half of it stays free, and holds where each identifier begins in the order.
    #[test]
    fn a_table_holds_each_identifier_once() {
        let table = |identifiers: &[&str], room: usize| {
            let entry = |id: &&str| [&Identifier::from(*id).bytes()[..], &[0; 48]].concat();
            let data: Vec<u8> = identifiers.iter().flat_map(entry).collect();
            let index = Index::parse(&data, 0).unwrap();
            let order: Vec<u32> = (0..).take(identifiers.len()).collect();
            let mut storage = vec![u32::MAX; room];
            let table = build_table(index, &order, &mut storage)?;
            let mut places: Vec<u32> = table.iter().copied().filter(|&place| place != 0).collect();
            places.sort();
            Some((table.len(), places))
        };
        let three = ["a", "a", "b", "c", "c"];
        assert_eq!(table(&three, 7), None);
        assert_eq!(table(&three, 8), Some((8, vec![1, 3, 4])));
        assert_eq!(table(&three, 15), Some((8, vec![1, 3, 4])));
        assert_eq!(table(&["a", "a", "b"], 4), Some((4, vec![1, 3])));
        assert_eq!((table(&[], 0), table(&[], 1)), (None, Some((1, vec![]))));
    }

    /// Identifiers that differ where real ones do find a place in a table that is half full.
    #[test]
    fn identifiers_are_spread() {
        let families: [fn(u32) -> [u8; 16]; 6] = [
            |n| *format!("{n:016}").as_bytes().first_chunk().unwrap(),
            |n| *Identifier::from(&*format!("chunk{n}")).bytes(),
            |n| *Identifier::from(&*format!("{n:x}.data.section")).bytes(),
            |n| *Identifier::from(&*format!("Identifier{n:06}")).bytes(),
            |n| (u128::from(n) + 1).to_be_bytes(),
            |n| ((u128::from(n) + 1) << 64).to_be_bytes(),
        ];
        for (family, identifier) in families.into_iter().enumerate() {
            let mut table = vec![false; 1 << 18];
            for n in 0..1 << 17 {
                let key = Some(u128::from_be_bytes(identifier(n)));
                let slot = probes(key, table.len()).find(|&slot| !table[slot]);
                table[slot.unwrap_or_else(|| panic!("no place for {n} of family {family}"))] = true;
            }
        }
    }
}
