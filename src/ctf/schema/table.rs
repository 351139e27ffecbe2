//! Tables of node indices: four a node.

use super::builder::Builder;
use super::node::{Kind, LAST, Node, Nodes};
use super::order::sort;

/// A part of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    /// The first node.
    base: u32,
    pub(crate) len: u32,
}

impl Table {
    /// The table of `len` indices that begins at node `base`.
    pub(crate) const fn at(base: u32, len: u32) -> Self {
        Self { base, len }
    }

    pub(crate) const fn base(self) -> u32 {
        self.base
    }

    /// The table of the ranges of a variant with many of them: for each, how far its option follows the variant, and how far
    /// its node follows the table. They are in ascending order; there are none if they may overlap.
    pub(crate) fn of_ranges(nodes: Nodes<'_>, variant: &Node) -> Option<Self> {
        let index = nodes.get(variant.b);
        let base = variant.b.checked_add(index.count().div_ceil(4)).filter(|_| index.has(LAST))?;
        Some(Self { base, len: nodes.get(base).count().saturating_mul(2) })
    }

    /// A range of such a table.
    pub(crate) fn range<'s>(self, nodes: Nodes<'s>, at: u32) -> &'s Node {
        let distance = self.get(nodes, at.saturating_mul(2).saturating_add(1));
        nodes.get(self.base.saturating_add(distance))
    }

    pub(crate) fn swap(self, builder: &mut Builder<'_>, a: u32, b: u32) {
        let (first, second) = (self.read(builder, a), self.read(builder, b));
        self.set(builder, a, second);
        self.set(builder, b, first);
    }

    #[inline(always)]
    pub(crate) fn get(self, nodes: Nodes<'_>, at: u32) -> u32 {
        pick(nodes.get(self.base.wrapping_add(at >> 2)), at)
    }

    pub(crate) fn set(self, builder: &mut Builder<'_>, at: u32, value: u32) {
        builder.update(self.base.wrapping_add(at >> 2), |node| match at & 3 {
            0 => node.name = value,
            1 => node.size = value,
            2 => node.a = value,
            _ => node.b = value,
        });
    }

    fn read(self, builder: &Builder<'_>, at: u32) -> u32 {
        self.get(builder.view(), at)
    }

    /// A table of what has a kind, in ascending order of `key`.
    pub(crate) fn build(
        builder: &mut Builder<'_>,
        kind: Kind,
        len: u32,
        key: impl Fn(&Builder<'_>, u32) -> (u64, u64),
    ) -> crate::error::Result<Self> {
        let table = Self::at(builder.front, len);
        let end = builder.front;
        for _ in 0..len.div_ceil(4) {
            builder.open(Node::new(Kind::Table))?;
        }
        let (mut at, mut next) = (0_u32, 0_u32);
        let mut is_sorted = true;
        let mut previous = (0, 0);
        while next < end && at < len {
            let node = builder.node(next);
            if node.kind == kind {
                table.set(builder, at, next);
                at = at.saturating_add(1);
                let key = key(builder, next);
                is_sorted &= previous <= key;
                previous = key;
            }
            next = next.saturating_add(node.size.max(1));
        }
        if !is_sorted {
            let key = |builder: &Builder<'_>, at| key(builder, table.read(builder, at));
            let is_less = |builder: &Builder<'_>, a, b| key(builder, a) < key(builder, b);
            sort(builder, len, &is_less, &|builder, a, b| table.swap(builder, a, b));
        }
        Ok(table)
    }
}

impl Nodes<'_> {
    /// The option of the variant at `index` that a selector chooses, if its ranges are in order.
    ///
    /// `None` if they are not: then each option has to be looked at.
    pub(crate) fn option_of(self, index: u32, variant: &Node, key: u64, signed: bool) -> Option<Option<u32>> {
        let table = Table::of_ranges(self, variant).filter(|table| table.len > 0)?;
        let last = holding(table.len / 2, key, signed, |at| table.range(self, at));
        let option = last.map(|at| index.saturating_add(table.get(self, at.saturating_mul(2))));
        Some(option.filter(|option| self.get(*option).kind == Kind::Choice && *option < self.end(index)))
    }
}

/// The number of the range in which a key is, of ranges in ascending order that do not overlap.
#[inline]
pub(crate) fn holding<'s>(
    count: u32,
    key: u64,
    signed: bool,
    range: impl Fn(u32) -> &'s Node,
) -> Option<u32> {
    // With the sign bit inverted, signed numbers are in the order of unsigned ones.
    let flip = if signed { 1 << 63 } else { 0 };
    let key = key ^ flip;
    // Searches for those that begin at the key or before it.
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if range(middle).x() ^ flip <= key { low = middle.saturating_add(1) } else { high = middle }
    }
    low.checked_sub(1).filter(|at| key <= range(*at).y() ^ flip)
}

#[inline(always)]
fn pick(node: &Node, at: u32) -> u32 {
    match at & 3 {
        0 => node.name,
        1 => node.size,
        2 => node.a,
        _ => node.b,
    }
}
