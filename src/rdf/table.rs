//! A hash table of identifiers in lent memory, and sorting with one.

use super::index::Index;
use crate::sort::sort_by_key;

/// How far from its slot an identifier may stand, so that files cannot make lookups slow by identifiers that collide.
/// In a table that is half full, of a hundred thousand that were not made to collide none stands farther away.
const PROBES: u32 = 64;

/// The slots of a table of `len`, a power of two, in which a key may stand.
#[inline]
pub(super) fn probes(key: Option<u128>, len: usize) -> impl Iterator<Item = usize> {
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

/// Enters each identifier of `order` into a table in `storage`, and returns its length; `None` if it would be more than
/// half full, or if too many identifiers collide.
pub(super) fn fill(index: Index<'_>, order: &[u32], storage: &mut [u32]) -> Option<usize> {
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
    Some(len)
}

/// Sorts numbers of entries by identifier, and in file order within one.
#[inline(never)]
pub(super) fn sort_numbers(index: Index<'_>, numbers: &mut [u32]) {
    sort_by_key(numbers, |number| (index.key(number), number));
}

/// Sorts by identifier, and in file order within one, with a table in `storage`, whose length it returns; `None` if
/// the table would be more than half full, or if too many identifiers collide: the `order` has no meaning then.
///
/// It takes time in proportion to the number of entries, and looks at each one once, in file order: a table gives the
/// group of each, the groups are sorted, and the sizes of the groups say where their entries go.
pub(super) fn sort(index: Index<'_>, order: &mut [u32], storage: &mut [u32]) -> Option<usize> {
    // The highest bit says which places are done.
    const DONE: u32 = 1 << 31;
    if u32::try_from(order.len()).ok()? >= DONE {
        return None;
    }
    // Beside the table half as much for the groups, since half of its slots are used.
    let len = 1_usize.checked_shl((storage.len() / 3).checked_mul(2)?.checked_ilog2()?)?;
    let (table, rest) = storage.split_at_mut_checked(len)?;
    let groups = rest.get_mut(..len / 2)?;
    table.fill(0);

    // The slot of each entry; a slot holds the number of a group's first entry, and 1.
    let mut count = 0_usize;
    for (place, number) in order.iter_mut().zip(0_u32..) {
        let key = index.key(number);
        let is_its = |&slot: &usize| match table.get(slot).map(|first| first.checked_sub(1)) {
            Some(Some(first)) => index.key(first) == key,
            _ => true,
        };
        let slot = probes(key, len).find(is_its)?;
        let first = table.get_mut(slot)?;
        *place = u32::try_from(slot).ok()?;
        if *first == 0 {
            *first = number.saturating_add(1);
            *groups.get_mut(count)? = number;
            count = count.saturating_add(1);
        }
    }

    // From slots to places among the groups in order, and from those to where each group begins.
    let groups = groups.get_mut(..count)?;
    let slot_at = |table: &[u32], slot: u32| table.get(usize::try_from(slot).ok()?).copied();
    sort_numbers(index, groups);
    for (&mut first, group) in groups.iter_mut().zip(1_u32..) {
        let slot = *order.get(usize::try_from(first).ok()?)?;
        *table.get_mut(usize::try_from(slot).ok()?)? = group;
    }
    groups.fill(0);
    let group_at = |table: &[u32], slot: u32| usize::try_from(slot_at(table, slot)?.checked_sub(1)?).ok();
    for &slot in order.iter() {
        let size = groups.get_mut(group_at(table, slot)?)?;
        *size = size.saturating_add(1);
    }
    let mut start = 0_u32;
    for size in groups.iter_mut() {
        let next = start.saturating_add(*size);
        *size = start;
        start = next;
    }
    // Where each entry goes.
    for place in order.iter_mut() {
        let next = groups.get_mut(group_at(table, *place)?)?;
        *place = *next;
        *next = next.saturating_add(1);
    }
    // The next group begins where one ends.
    for slot in table.iter_mut() {
        *slot = match slot.checked_sub(2) {
            Some(before) => groups.get(usize::try_from(before).ok()?)?.saturating_add(1),
            None => *slot,
        };
    }

    // From where each entry goes to which entry stands in each place, cycle by cycle.
    for first in 0..order.len() {
        let (mut number, mut place) = (u32::try_from(first).ok()?, *order.get(first)?);
        if place & DONE != 0 {
            continue;
        }
        loop {
            let next = order.get_mut(usize::try_from(place).ok()?)?;
            let following = *next;
            *next = number | DONE;
            if usize::try_from(place).ok()? == first {
                break;
            }
            (number, place) = (place, following);
        }
    }
    for place in order {
        *place &= !DONE;
    }
    Some(len)
}

#[cfg(test)]
mod tests {
    use super::super::identifier::Identifier;
    use super::*;
    use std::string::String;
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
            let len = fill(index, &order, &mut storage)?;
            let table = &storage[..len];
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

    /// It sorts the same with a table as without, and the table has what `fill` would enter, in other slots perhaps.
    #[test]
    fn sorts_into_a_table() {
        let mut random = 1_u32;
        for (entries, identifiers) in [(0, 1), (1, 1), (5, 3), (300, 1), (1000, 7), (1000, 64), (500, 500)] {
            let mut next = || {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (random >> 8) % identifiers
            };
            let entry = |id: String| [&Identifier::from(&*id).bytes()[..], &[0; 48]].concat();
            let data: Vec<u8> = (0..entries).flat_map(|_| entry(format!("Chunk{}", next()))).collect();
            let index = Index::parse(&data, 0).unwrap();
            let mut expected: Vec<u32> = (0..entries).collect();
            expected.sort_by_key(|&number| (index.key(number), number));
            let mut order = vec![u32::MAX; entries as usize];
            let mut storage = vec![u32::MAX; 3 * identifiers.next_power_of_two() as usize];
            let len = sort(index, &mut order, &mut storage).unwrap();
            assert_eq!(order, expected, "{entries} entries of {identifiers} identifiers");
            let mut places: Vec<u32> = storage[..len].iter().copied().filter(|&place| place != 0).collect();
            places.sort();
            let mut other = vec![0; len];
            fill(index, &order, &mut other).unwrap();
            other.retain(|&place| place != 0);
            other.sort();
            assert_eq!(places, other);
            // A table that would be more than half full is not made.
            let mut small = vec![0; 3 * (identifiers.next_power_of_two() / 4) as usize];
            assert_eq!(sort(index, &mut order, &mut small), None, "{entries} of {identifiers}");
        }
    }

    /// Identifiers that differ where real ones differ find their places in a table that is half full.
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
