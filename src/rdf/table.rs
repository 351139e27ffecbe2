//! A hash table of identifiers in lent memory.

use super::identifier::Identifier;
use super::index::Index;
use super::slots::Slots;
use crate::bytes::to_u64;

/// How far from its slot an identifier may stand, so that files cannot make lookups slow by identifiers that collide.
/// In a table that is half full, of a hundred thousand that were not made to collide none stands farther away.
const PROBES: usize = 64;

/// The slots of a table of `len` in which an identifier may stand.
#[inline]
pub(super) fn probes(identifier: Identifier, len: usize) -> impl Iterator<Item = usize> {
    let key = identifier.key().to_le_bytes();
    let [low, high] =
        [key.first_chunk::<8>(), key.last_chunk::<8>()].map(|half| half.copied().unwrap_or_default());
    let folded = u64::from_le_bytes(low) ^ u64::from_le_bytes(high).rotate_left(29);
    // The upper bits of a product depend on all bits of the factor: they become the lower ones of a second.
    let hash = folded.wrapping_mul(0x9e37_79b9_7f4a_7c15).swap_bytes();
    let hash = hash.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33;
    // From 31 bits to the length, which has no more than 32.
    let first = usize::try_from(hash.wrapping_mul(to_u64(len)) >> 31).unwrap_or(0);
    (0..PROBES.min(len)).map(move |distance| {
        let slot = first.wrapping_add(distance);
        if slot < len { slot } else { slot.wrapping_sub(len) }
    })
}

/// Enters each identifier of the order in a storage into a table; `None` if it would be more than half full, or if too
/// many identifiers collide.
pub(super) fn fill(index: Index<'_>, storage: &mut [u32], table: Slots) -> Option<Slots> {
    for slot in 0..table.len() {
        table.set(storage, slot, 0)?;
    }
    let mut previous = None;
    let mut free = table.len();
    for place in 0..index.len() {
        let number = storage.get(place)? & table.mask();
        if previous.is_some_and(|previous| index.has(number, previous)) {
            continue;
        }
        let identifier = index.identifier(number)?;
        previous = Some(identifier);
        // At least half of the slots stay free, so that an identifier that is not there is soon known not to be.
        free = free.checked_sub(1).filter(|&free| free >= table.len() / 2)?;
        let slot = probes(identifier, table.len()).find(|&slot| table.get(storage, slot) == Some(0))?;
        table.set(storage, slot, u32::try_from(place).ok()?.checked_add(1)?)?;
    }
    Some(table)
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::slots::tests::of_all_widths;
    use super::*;
    use std::string::String;
    use std::vec::Vec;
    use std::{format, vec};

    /// The bytes of an index with these identifiers.
    pub(in super::super) fn index_of(identifiers: impl IntoIterator<Item = Identifier>) -> Vec<u8> {
        identifiers.into_iter().flat_map(|identifier| [&identifier.bytes()[..], &[0; 48]].concat()).collect()
    }

    /// As many identifiers that all begin at the first slot of a table, if it has no more than 4,096.
    pub(in super::super) fn colliding(count: usize) -> Vec<Identifier> {
        let all = (0..).map(|n: u32| Identifier::from(&*format!("{n}")));
        all.filter(|&identifier| probes(identifier, 4096).next() == Some(0)).take(count).collect()
    }

    /// A table is made where half of it stays free, and holds where each identifier begins in the order.
    #[test]
    fn a_table_holds_each_identifier_once() {
        let table = |identifiers: &[&str], room: usize| {
            let data = index_of(identifiers.iter().map(|&identifier| Identifier::from(identifier)));
            let index = Index::parse(&data, 0).unwrap();
            let len = identifiers.len();
            let mut storage: Vec<u32> = (0..).take(len).chain(vec![u32::MAX; room]).collect();
            let table = fill(index, &mut storage, Slots::after(len, room))?;
            assert_eq!(table.len(), room);
            let mut places: Vec<u32> = storage[len..].iter().copied().filter(|&place| place != 0).collect();
            places.sort();
            Some(places)
        };
        let three = ["a", "a", "b", "c", "c"];
        assert_eq!(table(&three, 4), None);
        assert_eq!(table(&three, 5), Some(vec![1, 3, 4]));
        assert_eq!(table(&three, 15), Some(vec![1, 3, 4]));
        assert_eq!(table(&["a", "a", "b"], 4), Some(vec![1, 3]));
        assert_eq!((table(&[], 0), table(&["a"], 0), table(&[], 1)), (Some(vec![]), None, Some(vec![])));
    }

    /// In the bits above an order of any width, too; the order stays as it is.
    #[test]
    fn a_table_fits_above_the_order() {
        let data = index_of(["a", "b", "c"].into_iter().flat_map(|text| vec![Identifier::from(text); 14]));
        let index = Index::parse(&data, 0).unwrap();
        for slots in of_all_widths(42).into_iter().chain([Slots::most_above(42)]) {
            let mut storage: Vec<u32> = (0..42).collect();
            let table = fill(index, &mut storage, slots).unwrap();
            for (identifier, first) in [("a", 1), ("b", 15), ("c", 29)] {
                let found =
                    probes(identifier.into(), table.len()).map(|slot| table.get(&storage, slot).unwrap());
                assert_eq!(found.take_while(|&place| place != 0).filter(|&place| place == first).count(), 1);
            }
            assert!(storage.iter().map(|place| place & table.mask()).eq(0..42));
        }
    }

    /// However many collide, so many slots are looked at, each once.
    #[test]
    fn probes_are_few() {
        for len in [0, 1, 2, 63, 64, 65, 1000] {
            for identifier in
                ["", "a", "0123456789abcdef"].map(Identifier::from).into_iter().chain(colliding(1))
            {
                let mut slots: Vec<usize> = probes(identifier, len).collect();
                slots.sort();
                slots.dedup();
                assert_eq!(slots.len(), len.min(PROBES));
                assert!(slots.iter().all(|&slot| slot < len));
            }
        }
        for (count, fits) in [(PROBES, true), (PROBES + 1, false)] {
            let identifiers = colliding(count);
            let data = index_of(identifiers.iter().copied());
            let mut storage: Vec<u32> = (0..).take(count).chain(vec![0; 4096]).collect();
            let made = fill(Index::parse(&data, 0).unwrap(), &mut storage, Slots::after(count, 4096));
            assert_eq!(made.is_some(), fits);
        }
    }

    /// Identifiers that differ where real ones differ find their places in a table that is half full.
    #[test]
    fn identifiers_are_spread() {
        let id = |text: String| Identifier::from(&*text);
        // Bits of a number, and none that is a NUL.
        let high = |n: u32| n as u8 | 0x80;
        let families: [&dyn Fn(u32) -> Identifier; 6] = [
            &|n| id(format!("{n:016}")),
            &|n| id(format!("chunk{n}")),
            &|n| id(format!("{n:x}.data.section")),
            &|n| id(format!("Identifier{n:06}")),
            &|n| Identifier::new(core::array::from_fn(|at| high(n >> (7 * (15 - at).min(4))))),
            &|n| Identifier::new(core::array::from_fn(|at| high(n >> (7 * at.min(4))))),
        ];
        for (family, identifier) in families.into_iter().enumerate() {
            let mut table = vec![false; 1 << 18];
            for n in 0..1 << 17 {
                let slot = probes(identifier(n), table.len()).find(|&slot| !table[slot]);
                table[slot.unwrap_or_else(|| panic!("no place for {n} of family {family}"))] = true;
            }
        }
    }
}
