//! Tables of node indices: four a node.

use super::builder::Builder;
use super::node::{Kind, Node, Nodes};
use super::order::sort;

/// A part of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    /// Its first node.
    base: u32,
    pub(crate) len: u32,
}

impl Table {
    #[inline(always)]
    pub(crate) fn get(self, nodes: Nodes<'_>, at: u32) -> u32 {
        pick(nodes.get(self.base.wrapping_add(at >> 2)), at)
    }

    fn set(self, builder: &mut Builder<'_>, at: u32, value: u32) {
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
        let table = Self { base: builder.front, len };
        let end = builder.front;
        for _ in 0..len.div_ceil(4) {
            builder.leaf(Node::new(Kind::Table))?;
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
            let swap = |builder: &mut Builder<'_>, a: u32, b: u32| {
                let (first, second) = (table.read(builder, a), table.read(builder, b));
                table.set(builder, a, second);
                table.set(builder, b, first);
            };
            sort(builder, len, |builder, at| key(builder, table.read(builder, at)), swap);
        }
        Ok(table)
    }
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
