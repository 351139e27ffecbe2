//! The names that a builder knows: aliases, clock classes, the labels of an enumeration.

use super::Name;
use super::builder::Builder;
use super::node::{Kind, LAST, NONE, Node, Place};
use super::order::sort;
use super::trie::{self, Branch, Branches};
use crate::ctf::metadata::MetadataStream;
use crate::error::Result;

/// The distance from the node with a clock class's identifier to the one with its branch.
const CLOCK_ID: u32 = 2;

/// A branch lies in the fields of a node that neither its name nor its size takes.
impl Branches for Builder<'_> {
    fn branch(&self, at: u32) -> Branch {
        let node = self.node(at);
        let [low, high] = node.roles.to_le_bytes();
        Branch { bit: u32::from_le_bytes([low, high, node.slot, 0]), children: [node.a, node.b] }
    }

    #[allow(clippy::as_conversions)]
    fn set_branch(&mut self, at: u32, branch: Branch) {
        let Some(node) = self.nodes.get_mut(at as usize) else { return };
        // A name has at most 65,535 bytes: its bits have numbers of 20 bits.
        let [low, high, upper, _] = branch.bit.to_le_bytes();
        (node.roles, node.slot) = (u16::from_le_bytes([low, high]), upper);
        [node.a, node.b] = branch.children;
    }
}

impl Builder<'_> {
    /// The name of the entry at `at`, whose own node or one before it has it.
    fn entry_name<'a>(&self, stream: &MetadataStream<'a>, at: u32, back: u32) -> Option<Name<'a>> {
        let place = self.node(at.saturating_sub(back)).place();
        place.map(|place| Name::at(stream, place))
    }

    /// The entry of this name in the tree that begins at `first`; or else the bit in which it differs from the nearest.
    fn seek(&self, first: u32, back: u32, stream: &MetadataStream<'_>, name: &Name<'_>) -> Result<u32, u32> {
        let at = trie::nearest(self, first, &mut name.spelled());
        let other = self.entry_name(stream, at, back).map(|name| name.spelled());
        match other.and_then(|mut other| trie::difference(&mut name.spelled(), &mut other)) {
            None => Ok(at),
            Some(bit) => Err(bit),
        }
    }

    /// Adds the entry at `at`, whose name this is, to the tree that begins at `first`. The entry that has the name already,
    /// if any.
    fn grow(
        &mut self,
        first: &mut u32,
        at: u32,
        back: u32,
        stream: &MetadataStream<'_>,
        name: &Name<'_>,
    ) -> Option<u32> {
        if *first == NONE {
            *first = at;
            self.set_branch(at, Branch::first(at));
            return None;
        }
        match self.seek(*first, back, stream, name) {
            Ok(found) => Some(found),
            Err(bit) => {
                trie::add(self, *first, at, &mut name.spelled(), bit);
                None
            }
        }
    }

    fn find(&self, first: u32, back: u32, stream: &MetadataStream<'_>, name: Place) -> Option<u32> {
        if first == NONE {
            return None;
        }
        self.seek(first, back, stream, &Name::at(stream, name)).ok()
    }

    /// Names the class at `template`, which has `size` nodes. `false` if the name is taken.
    pub(crate) fn add_alias(
        &mut self,
        stream: &MetadataStream<'_>,
        name: Place,
        template: u32,
        size: u32,
    ) -> Result<bool> {
        if self.find(self.aliases, 0, stream, name).is_some() {
            return Ok(false);
        }
        let mut entry = Node::new(Kind::Alias);
        entry.set_name(name);
        entry.size = if self.counting { size } else { template };
        let index = self.side(entry)?;
        if self.counting && self.kept > u32::try_from(self.nodes.len()).unwrap_or(NONE) {
            // More aliases than can be remembered in counting.
            return Ok(true);
        }
        let mut aliases = self.aliases;
        self.grow(&mut aliases, index, 0, stream, &Name::at(stream, name));
        self.aliases = aliases;
        Ok(true)
    }

    /// Appends a copy of the class of this name; `None` if there is none.
    pub(crate) fn use_alias(&mut self, stream: &MetadataStream<'_>, name: Place) -> Result<Option<u32>> {
        let Some(found) = self.find(self.aliases, 0, stream, name) else {
            // A builder that counts may not remember it: the class has one node at least.
            return if self.counting { self.count(1).map(Some) } else { Ok(None) };
        };
        let what = self.node(found).size;
        if self.counting { self.count(what) } else { self.copy(what) }.map(Some)
    }

    /// Lets a clock class be found by its identifier. `false` if that is taken.
    pub(crate) fn add_clock(&mut self, stream: &MetadataStream<'_>, id: Place, index: u32) -> bool {
        if self.counting {
            return true;
        }
        let mut clocks = self.clock_tree;
        let entry = index.saturating_add(1).saturating_add(CLOCK_ID);
        let taken = self.grow(&mut clocks, entry, CLOCK_ID, stream, &Name::at(stream, id)).is_some();
        self.clock_tree = clocks;
        !taken
    }

    /// The clock class whose identifier is this.
    pub(crate) fn find_clock(&self, stream: &MetadataStream<'_>, id: Place) -> Option<u32> {
        let entry = self.find(self.clock_tree, CLOCK_ID, stream, id)?;
        entry.checked_sub(CLOCK_ID.saturating_add(1))
    }

    /// Lets the label at `at` be found among those from `first` on. `true` if one before it is spelled the same.
    pub(crate) fn add_label(&mut self, stream: &MetadataStream<'_>, first: u32, at: u32) -> bool {
        let Some(name) = self.entry_name(stream, at, 0).filter(|_| !self.counting) else { return false };
        let mut root = if at == first { NONE } else { first };
        let same = self.grow(&mut root, at, 0, stream, &name);
        if let Some(same) = same {
            // The label that its range belongs to: for `join_labels`.
            self.update(at.saturating_sub(1), |range| range.set_count(same));
        }
        same.is_some()
    }

    /// Gives each option of the variant at `index` the ranges of the label that is spelled as it is, among those from
    /// `first` on.
    pub(crate) fn select_options(&mut self, stream: &MetadataStream<'_>, index: u32, first: u32) {
        let (mut choice, end) = (index.saturating_add(1), self.view().end(index));
        while choice < end {
            let name = self.node(choice).place();
            let label = name.and_then(|name| self.find(first, 0, stream, name));
            let ranges = label.and_then(|label| label.checked_sub(1)).unwrap_or(NONE);
            self.update(choice, |choice| choice.b = ranges);
            choice = self.view().end(choice).max(choice.saturating_add(1));
        }
    }

    /// Makes one label with several ranges of those that are spelled the same. All have one range so far.
    ///
    /// Nodes that are not needed any more are empty.
    pub(crate) fn join_labels(&mut self, stream: &MetadataStream<'_>, first: u32, last: u32) {
        let count = (first.saturating_sub(last) / 2).saturating_add(1);
        let label = |at: u32| first.saturating_sub(at.saturating_mul(2));
        let range = |at: u32| label(at).saturating_sub(1);
        for at in 0..count {
            let owner = label(at);
            self.update(range(at), |range| {
                range.set_count(if range.count() == 0 { owner } else { range.count() })
            });
        }
        // In the order in which the names are listed first: that goes downwards.
        let key = |builder: &Builder<'_>, at| {
            let range = builder.node(range(at));
            (core::cmp::Reverse(range.count()), range.ends())
        };
        let swap = |builder: &mut Builder<'_>, a: u32, b: u32| {
            builder.swap(label(a), label(b));
            builder.swap(range(a), range(b));
        };
        sort(self, count, &|builder, a, b| key(builder, a) < key(builder, b), &swap);
        // One label of each name stays. What is written stands before what is still to be read.
        let (mut next, mut owner, mut written) = (first, NONE, NONE);
        for at in 0..count {
            let (name, found) = (self.node(label(at)), self.node(range(at)));
            let is_new = found.count() != owner;
            owner = found.count();
            if is_new {
                written = next;
                self.update(written, |node| *node = Node { size: 0, ..name });
                next = next.saturating_sub(1);
            }
            let last = next.saturating_add(1);
            if !is_new && found.ends().0 <= self.node(last).ends().1 {
                self.extend_range(last, &found);
                continue;
            }
            self.update(next, |node| *node = found);
            self.update(written, |node| node.size = node.size.saturating_add(1));
            next = next.saturating_sub(1);
        }
        let end = next;
        // A builder that counts does not see that some are the same: they stay, and say nothing.
        for at in last.saturating_sub(1)..=end {
            self.update(at, |node| *node = Node::EMPTY);
        }
        let mut at = first;
        while at > end {
            let len = self.node(at).size;
            let after = at.saturating_sub(len).saturating_sub(1);
            for range in after.saturating_add(1)..at {
                self.update(range, |node| {
                    node.set_count(0);
                    node.set(LAST, range == after.saturating_add(1));
                });
            }
            self.update(at, |node| node.set(LAST, after == end));
            self.add_label(stream, first, at);
            at = after;
        }
    }
}
