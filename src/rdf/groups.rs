//! Sorting entries by identifier, as groups of entries with the same one.

use super::index::Index;
use super::slots::Slots;
use super::table::probes;
use crate::sort::sort_by_key;

/// Sorts all entries by comparing them.
pub(super) fn compare(index: Index<'_>, order: &mut [u32]) {
    for (place, number) in order.iter_mut().zip(0..) {
        *place = number;
    }
    sort_numbers(index, order);
}

/// Sorts numbers of entries by identifier, and in file order within one.
#[inline(never)]
fn sort_numbers(index: Index<'_>, numbers: &mut [u32]) {
    sort_by_key(numbers, |number| (index.key(number), number));
}

/// Sorts all entries with a table in some of the slots, which it returns; `None` if the table would be more than half
/// full, or if too many identifiers collide: the storage has no meaning then.
///
/// It takes time in proportion to the number of entries, and looks at each one once, in file order: a table gives the
/// group of each, the groups are sorted, and the sizes of the groups say where their entries go.
pub(super) fn sort(index: Index<'_>, storage: &mut [u32], slots: Slots) -> Option<Slots> {
    let slots = slots.leave_a_third();
    // Beside the table half as many slots for the groups, since half of its own are used.
    let room = slots.len() / 3;
    let table = slots.part(0, room.saturating_mul(2));
    let groups = slots.part(table.len(), room);
    // A place has room for a mark, and for the number of a slot.
    slots
        .mask()
        .checked_add(1)
        .filter(|_| u32::try_from(table.len()).is_ok_and(|len| len <= slots.mask()))?;
    let count = find_groups(index, storage, table, groups)?;
    Sorting { slots, table, groups, count }.sort(index, storage)?;
    Some(table)
}

/// Gives each entry the slot of its group in the table, which holds the number of the group's first entry, and 1.
/// These numbers become the `groups`, whose number it returns.
fn find_groups(index: Index<'_>, storage: &mut [u32], table: Slots, groups: Slots) -> Option<usize> {
    storage.get_mut(..index.len())?.fill(0);
    table.places(storage)?.fill(0);
    let mut count = 0_usize;
    for (entry, this) in (0..index.len()).zip(0_u32..) {
        let identifier = index.identifier(this)?;
        let mut held = 0;
        let is_its = |&slot: &usize| {
            held = table.get_fast(storage, slot).unwrap_or(0);
            held.checked_sub(1).is_none_or(|first| index.has(first, identifier))
        };
        let slot = probes(identifier, table.len()).find(is_its)?;
        if held == 0 {
            (count < groups.len()).then_some(())?;
            table.set(storage, slot, this.saturating_add(1))?;
            groups.set(storage, count, this)?;
            count = count.saturating_add(1);
        }
        *storage.get_mut(entry)? |= u32::try_from(slot).ok()?;
    }
    Some(count)
}

/// Sorting whose groups are found.
struct Sorting {
    slots: Slots,
    table: Slots,
    groups: Slots,
    count: usize,
}

impl Sorting {
    fn sort(&self, index: Index<'_>, storage: &mut [u32]) -> Option<()> {
        // The groups change places with the first entries: sorting and counting are faster where no slots are.
        for group in 0..self.count {
            let first = self.groups.get(storage, group)?;
            let slot = core::mem::replace(storage.get_mut(group)?, first);
            self.groups.set(storage, group, slot)?;
        }
        self.rank(index, storage)?;
        self.measure(index.len(), storage)?;
        self.place(index.len(), storage)?;
        for entry in 0..self.count {
            *storage.get_mut(entry)? = self.groups.get(storage, entry)?;
        }
        invert(storage.get_mut(..index.len())?, self.slots.mask())
    }

    /// What is kept for an entry: its slot at first, its group then, and where it goes at last.
    fn kept(&self, storage: &[u32], entry: usize) -> Option<u32> {
        match storage.get(entry) {
            Some(place) if entry >= self.count => Some(place & self.slots.mask()),
            _ => self.groups.get(storage, entry),
        }
    }

    /// Sorts the groups: a slot of the table holds the group's place among them, from 1.
    fn rank(&self, index: Index<'_>, storage: &mut [u32]) -> Option<()> {
        sort_numbers(index, storage.get_mut(..self.count)?);
        for (group, rank) in (0..self.count).zip(1_u32..) {
            let slot = self.kept(storage, to_usize(*storage.get(group)?)?)?;
            self.table.set(storage, to_usize(slot)?, rank)?;
        }
        Some(())
    }

    /// From the slots of entries to their groups; from those to where each begins, in the first places and, from 1, in
    /// the table.
    fn measure(&self, entries: usize, storage: &mut [u32]) -> Option<()> {
        storage.get_mut(..self.count)?.fill(0);
        let add = |storage: &mut [u32], group: u32| {
            let size = storage.get_mut(to_usize(group)?)?;
            *size = size.saturating_add(1);
            Some(())
        };
        for entry in 0..self.count {
            let slot = self.groups.get(storage, entry)?;
            let group = self.table.get(storage, to_usize(slot)?)?.checked_sub(1)?;
            self.groups.set(storage, entry, group)?;
            add(storage, group)?;
        }
        let mask = self.slots.mask();
        for entry in self.count..entries {
            let place = *storage.get(entry)?;
            let group = self.table.get_fast(storage, to_usize(place & mask)?)?.checked_sub(1)?;
            *storage.get_mut(entry)? = place & !mask | group;
            add(storage, group)?;
        }
        let mut start = 0_u32;
        for size in storage.get_mut(..self.count)? {
            let next = start.saturating_add(*size);
            *size = start;
            start = next;
        }
        for slot in 0..self.table.len() {
            if let Some(group) = self.table.get(storage, slot)?.checked_sub(1) {
                let start = *storage.get(to_usize(group)?)?;
                self.table.set(storage, slot, start.saturating_add(1))?;
            }
        }
        Some(())
    }

    /// From the groups of entries to where each goes.
    fn place(&self, entries: usize, storage: &mut [u32]) -> Option<()> {
        let next = |nexts: &mut [u32], group: u32| {
            let next = nexts.get_mut(to_usize(group)?)?;
            let place = *next;
            *next = next.saturating_add(1);
            Some(place)
        };
        for entry in 0..self.count {
            let group = self.groups.get(storage, entry)?;
            let place = next(storage, group)?;
            self.groups.set(storage, entry, place)?;
        }
        let (nexts, others) = storage.get_mut(..entries)?.split_at_mut_checked(self.count)?;
        let mask = self.slots.mask();
        for place in others {
            *place = *place & !mask | next(nexts, *place & mask)?;
        }
        Some(())
    }
}

/// From where each entry goes to which entry stands in each place, cycle by cycle. Leaves a mark in each place.
///
/// A walker takes an entry from its place, which is a hole then, and puts it where it goes; the entry that stood there
/// is the next that it takes along, until it comes to a hole. Each place is one step from the one before, a cache miss
/// in a large order: several walkers, which end in each other's holes, wait for them at the same time.
fn invert(order: &mut [u32], mask: u32) -> Option<()> {
    let mark = mask.checked_add(1)?;
    let mut starts = 0..order.len();
    let mut walkers = [None; 8];
    loop {
        let mut walking = false;
        for walker in &mut walkers {
            if walker.is_none() {
                for start in starts.by_ref() {
                    let place = order.get_mut(start)?;
                    if *place & mark == 0 {
                        *walker = Some((u32::try_from(start).ok()?, *place & mask));
                        *place |= mark;
                        break;
                    }
                }
            }
            let Some((number, place)) = *walker else { continue };
            walking = true;
            let to = order.get_mut(to_usize(place)?)?;
            let next = *to;
            *to = next & !mask | mark | number;
            *walker = (next & mark == 0).then_some((place, next & mask));
        }
        if !walking {
            return Some(());
        }
    }
}

fn to_usize(n: u32) -> Option<usize> {
    usize::try_from(n).ok()
}

#[cfg(test)]
mod tests {
    use super::super::identifier::Identifier;
    use super::super::slots::tests::of_all_widths;
    use super::super::table::fill;
    use super::super::table::tests::{colliding, index_of};
    use super::*;
    use std::vec::Vec;
    use std::{format, vec};

    fn random(state: &mut u32, below: usize) -> usize {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (*state >> 8) as usize % below
    }

    /// Sorts into slots, or not, and compares with what the standard library and `fill` make of it.
    fn sorts(index: Index<'_>, slots: Slots, room: usize) -> bool {
        let mut expected: Vec<u32> = (0..).take(index.len()).collect();
        expected.sort_by_key(|&number| (index.key(number), number));
        let mut storage = vec![0xdead_beef; index.len() + room];
        let Some(table) = sort(index, &mut storage, slots) else { return false };
        let order: Vec<u32> = storage.iter().take(index.len()).map(|place| place & table.mask()).collect();
        assert_eq!(order, expected);
        let entered = |storage: &[u32], table: Slots| {
            let mut all: Vec<_> = (0..table.len()).map(|slot| table.get(storage, slot).unwrap()).collect();
            all.retain(|&place| place != 0);
            all.sort();
            all
        };
        let found = entered(&storage, table);
        assert_eq!(found, entered(&storage, fill(index, &mut storage.clone(), table).unwrap()));
        for &place in &found {
            let number = order[place as usize - 1];
            let first = probes(index.identifier(number).unwrap(), table.len())
                .map_while(|slot| table.get(&storage, slot)?.checked_sub(1))
                .find(|&first| index.key(order[first as usize]) == index.key(number));
            assert_eq!(first, Some(place - 1));
        }
        true
    }

    /// As many entries of as many identifiers are sorted in slots of each width, as long as there is room for the groups.
    #[test]
    fn sorts_what_there_is_room_for() {
        let mut state = 1;
        let (mut sorted, mut others) = (0, 0);
        for entries in (0..100).chain([500, 1000]) {
            for identifiers in
                (1..=entries).filter(|n| entries < 40 || n % 7 == 1 || n * 3 > entries && n % 5 == 0)
            {
                // Each at least once, so that it is known how many there are.
                let own =
                    (0..identifiers).chain((identifiers..entries).map(|_| random(&mut state, identifiers)));
                let mut own: Vec<_> = own.map(|n| Identifier::from(&*format!("Chunk{n}"))).collect();
                for place in 1..own.len() {
                    own.swap(place, random(&mut state, place + 1));
                }
                let data = index_of(own);
                let index = Index::parse(&data, 0).unwrap();
                for (slots, room) in of_all_widths(entries)
                    .into_iter()
                    .chain([Slots::above(entries)])
                    .map(|slots| (slots, 0))
                    .chain(
                        [3 * identifiers - 1, 3 * identifiers, 3 * identifiers + 2, 4 * entries]
                            .map(|room| (Slots::after(entries, room), room)),
                    )
                {
                    let fits = slots.leave_a_third().len() / 3 >= identifiers;
                    assert_eq!(
                        sorts(index, slots, room),
                        fits,
                        "{entries} entries of {identifiers} identifiers"
                    );
                    *(if fits { &mut sorted } else { &mut others }) += 1;
                }
            }
        }
        assert!(sorted > 1000 && others > 1000, "{sorted} and {others}");
    }

    /// Identifiers that collide are sorted until too many do.
    #[test]
    fn collisions_are_few() {
        for (count, fits) in [(64, true), (65, false)] {
            let identifiers = colliding(count);
            let mut state = 1;
            let own = (0..count).chain((0..1000).map(|_| random(&mut state, count)));
            let data = index_of(own.map(|n| identifiers[n]));
            let index = Index::parse(&data, 0).unwrap();
            assert_eq!(sorts(index, Slots::above(index.len()), 0), fits);
            assert_eq!(sorts(index, Slots::after(index.len(), 1000), 1000), fits);
        }
    }

    /// Numbers without room for a mark, and slots whose numbers have none in a place.
    #[test]
    fn what_does_not_fit_is_not_sorted() {
        let data = index_of(["a"; 8].map(Identifier::from));
        let index = Index::parse(&data, 0).unwrap();
        assert!(sort(index, &mut [0; 40], Slots::after(8, 32)).is_some());
        assert!(sort(index, &mut [0; 40], Slots::after(1 << 31, 32)).is_none());
        assert!(sort(index, &mut [0; 7], Slots::above(8)).is_none());
        let many = Slots::after(8, usize::MAX);
        assert!(sort(index, &mut [0; 40], many).is_none());
    }

    /// Each cycle is followed by one walker or by several: fixed points, one long cycle, pairs, random ones.
    #[test]
    fn inverts_permutations() {
        let mut state = 1;
        for len in (0..40).chain([1000]) {
            let mut random_one: Vec<usize> = (0..len).collect();
            for place in 1..len {
                random_one.swap(place, random(&mut state, place + 1));
            }
            let others = [
                (0..len).collect::<Vec<_>>(),
                (0..len).rev().collect(),
                (0..len).map(|n| (n + 1) % len).collect(),
                random_one,
            ];
            for to in others {
                // The bits above the mark stay.
                let mut order: Vec<u32> = to.iter().zip(0..).map(|(&to, n)| to as u32 | n << 12).collect();
                invert(&mut order, 0x3ff).unwrap();
                for (from, &to) in to.iter().enumerate() {
                    assert_eq!(order[to], from as u32 | 0x400 | (to as u32) << 12);
                }
            }
        }
    }
}
