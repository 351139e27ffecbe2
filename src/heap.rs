//! A heap in lent slots: which of several sources comes next.
//!
//! The standard library's heap allocates. Here each slot of what is merged has a place of the heap beside it: the first
//! `open` slots hold the ranks of the sources that are open, whichever slots those are in.

use core::hint::select_unpredictable;

/// Slots in which there is a place of the heap.
pub(crate) trait Place {
    /// The turn of a source, and its number. No two that are open are equal.
    type Rank: Copy + Ord;

    /// Up to so many open sources are not a heap but a list, of which only the first is the least: which source is next
    /// cannot be foreseen, and looking at all of them takes no branch.
    const LISTED: usize = 0;

    fn rank(&self) -> Self::Rank;
    fn set_rank(&mut self, rank: Self::Rank);
}

/// The first rank of the heap in the first `open` slots.
pub(crate) fn first<T: Place>(slots: &[T], open: usize) -> Option<T::Rank> {
    slots.get(..open)?.first().map(T::rank)
}

/// Adds a rank to the heap in the first `open` slots; there is one slot more at least.
pub(crate) fn push<T: Place>(slots: &mut [T], open: usize, rank: T::Rank) {
    if open < T::LISTED {
        set(slots, open, rank);
        if let Some(first) = first(slots, open).filter(|first| *first > rank) {
            set(slots, open, first);
            set(slots, 0, rank);
        }
        return;
    }
    if open == T::LISTED {
        // From now on it is a heap.
        for place in 1..open {
            if let Some(rank) = slots.get(place).map(T::rank) {
                lift(slots, place, rank);
            }
        }
    }
    lift(slots, open, rank);
}

/// Moves a rank up from a place of a heap.
fn lift<T: Place>(slots: &mut [T], place: usize, rank: T::Rank) {
    let mut hole = place;
    while let Some(parent) = hole.checked_sub(1).map(|below| below / 2) {
        match slots.get(parent).map(T::rank) {
            Some(above) if above > rank => {
                set(slots, hole, above);
                hole = parent;
            }
            _ => break,
        }
    }
    set(slots, hole, rank);
}

/// Puts `rank` in the place of the first one of the heap in the first `open` slots.
#[inline]
pub(crate) fn replace_first<T: Place>(slots: &mut [T], open: usize, rank: T::Rank) {
    if open <= T::LISTED { list(slots, open, rank) } else { sink(slots, open, rank) }
}

/// Puts `rank` in the place of the first one of a list, and the least of all first.
#[inline]
fn list<T: Place>(slots: &mut [T], open: usize, rank: T::Rank) {
    let Some((first, others)) = slots.get_mut(..open).and_then(<[T]>::split_first_mut) else { return };
    let mut least = rank;
    for slot in others {
        let other = slot.rank();
        let is_less = other < least;
        slot.set_rank(select_unpredictable(is_less, least, other));
        least = select_unpredictable(is_less, other, least);
    }
    first.set_rank(least);
}

/// Puts `rank` in the place of the first one of a heap.
fn sink<T: Place>(slots: &mut [T], open: usize, rank: T::Rank) {
    let mut hole = 0_usize;
    loop {
        let left = hole.saturating_mul(2).saturating_add(1);
        let right = left.saturating_add(1);
        let rank_of = |place: usize| {
            let slot = if place < open { slots.get(place) } else { None };
            slot.map(|slot| (slot.rank(), place))
        };
        let least = match (rank_of(left), rank_of(right)) {
            (Some(left), Some(right)) => left.min(right),
            (Some(left), None) => left,
            _ => break,
        };
        if least.0 > rank {
            break;
        }
        set(slots, hole, least.0);
        hole = least.1;
    }
    set(slots, hole, rank);
}

/// Removes the first rank of the heap in the first `open` slots; there is one fewer then.
pub(crate) fn pop<T: Place>(slots: &mut [T], open: usize) {
    let left = open.saturating_sub(1);
    if let Some(moved) = slots.get(left).map(T::rank) {
        replace_first(slots, left, moved);
    }
}

fn set<T: Place>(slots: &mut [T], place: usize, rank: T::Rank) {
    if let Some(slot) = slots.get_mut(place) {
        slot.set_rank(rank);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    /// A time, and a source.
    type Rank = (u64, usize);

    impl Place for Rank {
        type Rank = Self;

        fn rank(&self) -> Rank {
            *self
        }

        fn set_rank(&mut self, rank: Rank) {
            *self = rank;
        }
    }

    /// The same, of which a few are a list.
    #[derive(Clone, Copy)]
    struct Listed(Rank);

    impl Place for Listed {
        type Rank = Rank;

        const LISTED: usize = 5;

        fn rank(&self) -> Rank {
            self.0
        }

        fn set_rank(&mut self, rank: Rank) {
            self.0 = rank;
        }
    }

    #[test]
    fn the_least_comes_first() {
        least_first((0, 0));
        least_first(Listed((0, 0)));
    }

    fn least_first<T: Place<Rank = Rank> + Clone>(empty: T) {
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            seed >> 59
        };
        for len in 0..100 {
            let mut slots = vec![empty.clone(); len];
            let mut ranks = Vec::new();
            for slot in 0..len {
                let rank = (random(), slot);
                push(&mut slots, slot, rank);
                ranks.push(rank);
            }
            // Some come again, later.
            for _ in 0..len / 2 {
                let least = first(&slots, len).unwrap();
                ranks.sort();
                assert_eq!(least, ranks[0]);
                let again = (least.0 + random(), least.1);
                ranks[0] = again;
                replace_first(&mut slots, len, again);
            }
            ranks.sort();
            for (at, &rank) in ranks.iter().enumerate() {
                assert_eq!(first(&slots, len - at), Some(rank));
                pop(&mut slots, len - at);
            }
            assert_eq!(first(&slots, 0), None);
        }
    }
}
