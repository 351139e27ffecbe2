//! A search tree in lent slots, one for each key: a radix tree that keeps only the bits in which keys differ.
//!
//! Finding a key looks at no bit of it twice, however keys were chosen: the work is linear in the input, which a hash
//! table is not if the input chooses the keys.

use crate::bytes::to_u64;

/// The place of a slot in the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    /// The bit in which the keys below differ, from 1; those of an upper slot are smaller.
    bit: u64,
    next: [u32; 2],
}

impl Links {
    pub(crate) const EMPTY: Self = Self { bit: 0, next: [0; 2] };
}

/// A slot of a tree.
pub(crate) trait Node {
    fn links(&self) -> &Links;
    fn links_mut(&mut self) -> &mut Links;
}

/// The key by which a tree is searched.
pub(crate) trait Key: Copy {
    /// The bit at this place, from 1; 0 after the end.
    fn bit(self, place: u64) -> bool;

    /// The first place at which they differ.
    fn difference(self, other: Self) -> Option<u64>;
}

impl Key for u32 {
    #[inline(always)]
    fn bit(self, place: u64) -> bool {
        let shift = u32::try_from(place.wrapping_sub(1)).unwrap_or(u32::MAX);
        self.checked_shr(shift).unwrap_or(0) & 1 != 0
    }

    fn difference(self, other: Self) -> Option<u64> {
        let bits = self ^ other;
        (bits != 0).then(|| u64::from(bits.trailing_zeros()).wrapping_add(1))
    }
}

impl Key for u128 {
    fn bit(self, place: u64) -> bool {
        let shift = u32::try_from(place.wrapping_sub(1)).unwrap_or(u32::MAX);
        self.checked_shr(shift).unwrap_or(0) & 1 != 0
    }

    fn difference(self, other: Self) -> Option<u64> {
        let bits = self ^ other;
        (bits != 0).then(|| u64::from(bits.trailing_zeros()).wrapping_add(1))
    }
}

/// Bytes of which none are the beginning of others.
impl Key for &[u8] {
    fn bit(self, place: u64) -> bool {
        let place = place.wrapping_sub(1);
        let byte = usize::try_from(place / 8).ok().and_then(|at| self.get(at)).copied().unwrap_or(0);
        u32::from(byte).wrapping_shr(u32::try_from(place % 8).unwrap_or(0)) & 1 != 0
    }

    fn difference(self, other: Self) -> Option<u64> {
        if self == other {
            return None;
        }
        let at = self.iter().zip(other).position(|(a, b)| a != b)?;
        let bits = self.get(at)? ^ other.get(at)?;
        let before = to_u64(at).saturating_mul(8);
        Some(before.saturating_add(bits.trailing_zeros().into()).saturating_add(1))
    }
}

/// The root of a tree.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Root(u32);

impl Root {
    /// The slot among `nodes` where `key` is, if it is anywhere; `None` if there are none.
    #[inline]
    pub(crate) fn nearest<N: Node>(self, nodes: &[N], key: impl Key) -> Option<usize> {
        self.descend(nodes, key, u64::MAX).map(|(_, at)| index(at))
    }

    /// Puts in the last of `nodes`, whose `key` first differs from the [nearest](Self::nearest) one at `difference`.
    pub(crate) fn insert<N: Node>(&mut self, nodes: &mut [N], key: impl Key, difference: Option<u64>) {
        let Some((new, rest)) = nodes.split_last_mut() else { return };
        let number = u32::try_from(rest.len()).unwrap_or(u32::MAX);
        let (Some(bit), Some((above, below))) =
            (difference, self.descend(rest, key, difference.unwrap_or(0)))
        else {
            *self = Self(number);
            *new.links_mut() = Links { bit: 0, next: [number; 2] };
            return;
        };
        let next = if key.bit(bit) { [below, number] } else { [number, below] };
        *new.links_mut() = Links { bit, next };
        match above.and_then(|at| rest.get_mut(index(at))) {
            None => self.0 = number,
            Some(above) => {
                let links = above.links_mut();
                let [low, high] = &mut links.next;
                *if key.bit(links.bit) { high } else { low } = number;
            }
        }
    }

    /// Goes down as long as slots are about bits before `end`: the last such slot, and the one that follows it.
    #[inline]
    fn descend<N: Node>(self, nodes: &[N], key: impl Key, end: u64) -> Option<(Option<u32>, u32)> {
        let (mut above, mut bit, mut at) = (None, 0, self.0);
        loop {
            let links = nodes.get(index(at))?.links();
            // A slot that is about no later bit is not below: it is where the search ends.
            if links.bit <= bit || links.bit >= end {
                return Some((above, at));
            }
            bit = links.bit;
            above = Some(at);
            let [low, high] = links.next;
            at = if key.bit(bit) { high } else { low };
        }
    }
}

#[allow(clippy::as_conversions)] // Slots are numbered with 32 bits, and there is no target with less.
const fn index(number: u32) -> usize {
    number as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::vec::Vec;

    struct Slot<K>(K, Links);

    impl<K> Node for Slot<K> {
        fn links(&self) -> &Links {
            &self.1
        }
        fn links_mut(&mut self) -> &mut Links {
            &mut self.1
        }
    }

    /// Puts in all keys, some of them again, and looks for all others, too.
    fn as_a_map<K: Key + Ord>(keys: impl Iterator<Item = K> + Clone, others: impl Iterator<Item = K>) {
        let (mut root, mut nodes, mut map) = (Root::default(), Vec::new(), BTreeMap::new());
        for key in keys.clone() {
            let nearest = root.nearest(&nodes, key);
            let found = nearest.filter(|&at: &usize| {
                let slot: &Slot<K> = &nodes[at];
                slot.0 == key
            });
            assert_eq!(found, map.get(&key).copied());
            if found.is_none() {
                let difference = nearest.and_then(|at| nodes[at].0.difference(key));
                map.insert(key, nodes.len());
                nodes.push(Slot(key, Links::EMPTY));
                root.insert(&mut nodes, key, difference);
            }
        }
        for key in keys.chain(others) {
            let found = root.nearest(&nodes, key).filter(|&at| nodes[at].0 == key);
            assert_eq!(found, map.get(&key).copied());
        }
    }

    fn random() -> impl Iterator<Item = u64> + Clone {
        (0..3000_u64).scan(1_u64, |seed, _| {
            *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            Some(*seed >> 29)
        })
    }

    #[test]
    fn numbers_are_found_as_in_a_map() {
        as_a_map(random().map(|n| u128::from(n % 300) << 60), random().map(u128::from));
        as_a_map(random().map(|n| n as u32), random().map(|n| (n >> 3) as u32));
        as_a_map(random().map(|n| n as u32 % 97), 0..200);
        as_a_map(0..500_u32, 400..600);
        as_a_map((0..32).map(|bit| 1_u32 << bit), 0..40);
        as_a_map([u32::MAX, 0, 1 << 31, u32::MAX].into_iter(), 0..4);
    }

    #[test]
    fn bytes_are_found_as_in_a_map() {
        let texts: Vec<[u8; 3]> =
            random().map(|n| [n as u8 & 3, (n >> 8) as u8 & 7, (n >> 16) as u8]).collect();
        let others: Vec<[u8; 3]> = random().map(|n| [n as u8, 0, 9]).collect();
        as_a_map(texts.iter().map(|text| &text[..]), others.iter().map(|text| &text[..]));
    }
}
