//! Names in a tree that no choice of names makes deep.
//!
//! The tree is a PATRICIA trie: an entry holds the number of the bit that it tests, and numbers ascend from the first
//! entry on. So a search reads each bit of a name once at most, and compares the name with one other. A hash would be
//! shorter, but without a secret key there are names that all have the same one.

use super::work;
use core::cmp::Ordering;

/// A name, as the bytes of it that are read in ascending order.
pub(crate) trait Spelling {
    /// The byte at `position`, which is never less than before; `None` from the end on.
    fn byte(&mut self, position: u32) -> Option<u8>;
}

/// A part of an entry: the bit that it tests, plus one, and the entries for a bit that is clear and one that is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    pub(crate) bit: u32,
    pub(crate) children: [u32; 2],
}

impl Branch {
    /// The branch of the first entry of a tree, which stands at `at`. It tests no bit.
    pub(crate) const fn first(at: u32) -> Self {
        Self { bit: 0, children: [at; 2] }
    }

    /// The entry that a name leads to.
    fn child(&self, name: &mut impl Spelling) -> u32 {
        let [clear, set] = self.children;
        if self.bit > 0 && is_set(name, self.bit.saturating_sub(1)) { set } else { clear }
    }
}

/// Storage of the entries of a tree.
pub(crate) trait Branches {
    fn branch(&self, at: u32) -> Branch;
    fn set_branch(&mut self, at: u32, branch: Branch);
}

/// Bits of a byte, and one that says whether there is a byte.
const BITS: u32 = 9;

/// The longest name in bytes, so that all of its bits can be numbered.
pub(crate) const LONGEST: u64 = 1 << 28;

/// True if a bit of a name is set. Absent bytes have none.
fn is_set(name: &mut impl Spelling, bit: u32) -> bool {
    work::count(1);
    match (name.byte(bit / BITS), bit % BITS) {
        (None, _) => false,
        (Some(_), 0) => true,
        (Some(byte), within) => byte.wrapping_shl(within.saturating_sub(1)) & 0x80 != 0,
    }
}

/// The first bit in which two names differ; `None` if they are the same.
pub(crate) fn difference(a: &mut impl Spelling, b: &mut impl Spelling) -> Option<u32> {
    for position in 0..=u32::MAX / BITS {
        work::count(1);
        let within = match (a.byte(position), b.byte(position)) {
            (None, None) => return None,
            (Some(a), Some(b)) if a == b => continue,
            (Some(a), Some(b)) => (a ^ b).leading_zeros().saturating_add(1),
            _ => 0,
        };
        return Some(position.saturating_mul(BITS).saturating_add(within));
    }
    None
}

/// The order of two names, byte by byte.
pub(crate) fn compare(a: &mut impl Spelling, b: &mut impl Spelling) -> Ordering {
    match difference(a, b) {
        None => Ordering::Equal,
        Some(bit) if is_set(a, bit) => Ordering::Greater,
        Some(_) => Ordering::Less,
    }
}

/// The entry whose name equals `name`, if any does.
pub(crate) fn nearest(entries: &impl Branches, first: u32, name: &mut impl Spelling) -> u32 {
    let mut branch = entries.branch(first);
    loop {
        let at = branch.child(name);
        let next = entries.branch(at);
        if next.bit <= branch.bit {
            return at;
        }
        branch = next;
    }
}

/// Adds the entry at `at`, whose name first differs from the [`nearest`] one in `bit`. Returns the entry above it.
pub(crate) fn add(
    entries: &mut impl Branches,
    first: u32,
    at: u32,
    name: &mut impl Spelling,
    bit: u32,
) -> u32 {
    let mut above = first;
    let mut branch = entries.branch(first);
    let (below, side) = loop {
        let [clear, set] = branch.children;
        let is_right = branch.bit > 0 && is_set(name, branch.bit.saturating_sub(1));
        let next = if is_right { set } else { clear };
        let child = entries.branch(next);
        if child.bit <= branch.bit || child.bit > bit {
            break (next, usize::from(is_right));
        }
        (above, branch) = (next, child);
    };
    let children = if is_set(name, bit) { [below, at] } else { [at, below] };
    entries.set_branch(at, Branch { bit: bit.saturating_add(1), children });
    // Read again: the new entry may be stored beside it.
    let mut branch = entries.branch(above);
    if let Some(child) = branch.children.get_mut(side) {
        *child = at;
    }
    entries.set_branch(above, branch);
    above
}

/// Takes away the entry that was added last, at `at` below `above`.
pub(crate) fn remove_last(entries: &mut impl Branches, above: u32, at: u32) {
    let [clear, set] = entries.branch(at).children;
    let below = if clear == at { set } else { clear };
    let mut branch = entries.branch(above);
    for child in &mut branch.children {
        if *child == at {
            *child = below;
        }
    }
    entries.set_branch(above, branch);
}

impl Spelling for &[u8] {
    fn byte(&mut self, position: u32) -> Option<u8> {
        self.get(crate::bytes::to_usize(position)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::vec::Vec;

    impl Branches for Vec<Branch> {
        fn branch(&self, at: u32) -> Branch {
            self[at as usize]
        }

        fn set_branch(&mut self, at: u32, branch: Branch) {
            self[at as usize] = branch;
        }
    }

    /// Adds names and takes the last ones away again, and compares what is found with an ordered map.
    #[test]
    fn finds_what_a_map_finds() {
        let mut state = 1_u32;
        let mut random = move |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        for _ in 0..200 {
            let (mut tree, mut names, mut above) = (Vec::new(), Vec::<Vec<u8>>::new(), Vec::new());
            let mut map = BTreeMap::new();
            for _ in 0..100 {
                if random(4) == 0 && tree.len() > 1 {
                    let at = tree.len() as u32 - 1;
                    remove_last(&mut tree, above.pop().unwrap(), at);
                    tree.pop();
                    map.remove(&names.pop().unwrap());
                }
                let name: Vec<u8> = (0..random(6)).map(|_| [0, 1, 0x80, 0xff][random(4) as usize]).collect();
                if tree.is_empty() {
                    tree.push(Branch::first(0));
                    map.insert(name.clone(), 0);
                    names.push(name);
                    continue;
                }
                let at = nearest(&tree, 0, &mut &name[..]);
                let bit = difference(&mut &name[..], &mut &names[at as usize][..]);
                assert_eq!(bit.is_none().then_some(at), map.get(&name).copied(), "{name:?}");
                if let Some(bit) = bit {
                    let new = tree.len() as u32;
                    tree.push(Branch::first(new));
                    above.push(add(&mut tree, 0, new, &mut &name[..], bit));
                    map.insert(name.clone(), new);
                    names.push(name);
                }
            }
        }
    }
}
