//! Going over fields that nobody wants to see.

use super::bits::{bits_of, find_nul, load};
use super::cursor::{Cursor, Step};
use super::extent::{after_elements, after_plain, aligned};
use super::quick::KnownString;
use crate::ctf::schema::node::{BIG, Kind, LAST, Node, PLAIN, REVERSED, role};
use crate::ctf::schema::scope::Scope;
use crate::error::Result;

impl<'a> Cursor<'a, '_> {
    /// Skips a scope whose root structure is at `root`; what is needed of it later is remembered.
    pub(super) fn skip(&mut self, scope: Scope, root: u32) -> Result<()> {
        let node = self.node(root);
        if node.has(PLAIN) {
            self.scope = scope;
            // An error is that of a field in it.
            if self.skip_plain(node) {
                return Ok(());
            }
        }
        let idle = self.idle;
        if let Some((at, last_big)) = self.pass(root, self.at, self.last_big) {
            (self.at, self.last_big) = (at, last_big);
            return Ok(());
        }
        self.idle = idle;
        self.begin(scope, root)?;
        self.skip_rest()
    }

    /// Skips what is left of the present structure and of those around it.
    fn skip_rest(&mut self) -> Result<()> {
        while self.next_role()?.is_some() {}
        Ok(())
    }

    /// The next field that has a role; those before it are skipped.
    #[inline(never)]
    pub(super) fn next_role(&mut self) -> Result<Option<Step<'a>>> {
        self.step(true)
    }

    /// The end of a root structure that begins at the first bit from `at` on at which it may, and the byte order of its
    /// last fixed-length field, if its members are of the usual kinds and nothing is wrong.
    ///
    /// Only lengths and selectors are remembered.
    #[inline(never)]
    #[allow(clippy::as_conversions)] // Positions lie in memory.
    pub(super) fn pass(&mut self, root: u32, at: u64, last_big: bool) -> Option<(u64, bool)> {
        let structure = self.node(root);
        let end = root.wrapping_add(structure.size);
        let (mut at, mut last_big) = (aligned(at, structure), last_big);
        let mut next = root.wrapping_add(1);
        // The members of fixed size at its beginning.
        if structure.b > 0 {
            if at & 7 != 0 && structure.has(BIG) != last_big {
                return None;
            }
            at = at.wrapping_add(structure.b.into());
            last_big = structure.has(REVERSED);
            next = root.wrapping_add(structure.a);
        }
        let (content, limit) = (self.window.content(), self.window.limit);
        while next < end {
            let node = self.node(next);
            if node.roles == role::QUICK_STRING {
                let start = (at.wrapping_add(7) >> 3) as usize;
                let len = find_nul(content.get(start..)?, 1)?;
                self.known = KnownString { start, len };
                // Members of fixed size follow, up to the next one that is none.
                at = bits_of(start.wrapping_add(len).wrapping_add(1)).wrapping_add(node.b.into());
                next = next.wrapping_add(1).wrapping_add(node.a);
            } else {
                (at, last_big) = self.pass_other(next, node, at, last_big)?;
                next = next.wrapping_add(node.size.max(1));
            }
        }
        (at <= limit).then_some((at, last_big))
    }

    /// As [`Self::pass`], for a member.
    #[inline(never)]
    fn pass_other(&mut self, index: u32, node: &Node, at: u64, last_big: bool) -> Option<(u64, bool)> {
        let limit = self.window.limit;
        match node.kind {
            // A field that may take no bits is counted.
            _ if node.has(PLAIN) => {
                if node.has(LAST) {
                    None
                } else {
                    after_plain(node, at, last_big, limit)
                }
            }
            Kind::Unsigned if node.meaning() == 0 && node.a <= 64 && !node.has(REVERSED) => {
                let after = after_plain(node, at, last_big, limit)?;
                self.keep(node, load(self.window.data, aligned(at, node), node.a, node.has(BIG)));
                Some(after)
            }
            Kind::DynamicArray | Kind::DynamicString | Kind::DynamicBlob if node.meaning() == 0 => {
                let start = aligned(at, node);
                let count = self.key(node);
                if count == 0 {
                    self.idle = self.idle.saturating_add(1);
                    if self.idle > self.idle_max(true) {
                        return None;
                    }
                }
                if node.kind != Kind::DynamicArray {
                    let end = start.checked_add(count.checked_mul(8)?)?;
                    return (end <= limit).then_some((end, last_big));
                }
                let element = self.node(index.wrapping_add(1));
                if !element.has(PLAIN) || element.has(LAST) || start > limit {
                    return None;
                }
                // Without gaps between them, and each of whole bytes: so are nearly all.
                let align = element.align_log2();
                if start & 7 == 0
                    && element.kind.is_fixed_length()
                    && align <= 3
                    && element.a.is_multiple_of(8)
                {
                    let end = start.checked_add(count.checked_mul(element.a.into())?)?;
                    return (end <= limit).then_some((end, element.has(BIG)));
                }
                let (left, at, last_big) = after_elements(element, count, start, last_big, limit);
                (left == 0).then_some((at, last_big))
            }
            _ => None,
        }
    }

    /// Skips a class of fixed size, if all of it is there and nothing is wrong with it.
    #[inline(always)]
    pub(super) fn skip_plain(&mut self, node: &Node) -> bool {
        match after_plain(node, self.at, self.last_big, self.window.limit) {
            Some((at, last_big)) => {
                (self.at, self.last_big) = (at, last_big);
                true
            }
            None => false,
        }
    }
}
