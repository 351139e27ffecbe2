//! Layouts of the records of the classes that occurred last, where they are simple.

use super::bits::{bits_of, find_nul, load};
use super::extent::after_plain;
use super::packet::Packet;
use super::quick::KnownString;
use super::record::roots;
use crate::ctf::schema::node::{BIG, Kind, LAST, NO_SLOT, NONE, Node, Nodes, PLAIN, REVERSED, role};

/// The number of classes that are remembered: fewer on bare metal, where they lie on a small stack.
const LAYOUTS: usize = if cfg!(target_os = "none") { 2 } else { 8 };
/// The number of strings in each.
const STRINGS: usize = 4;

/// The class of a record, and the layout of its body: contexts of fixed size; members of fixed size, strings with more
/// such members after each, and a list after its length.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// The identifier in the header.
    id: u64,
    /// The node of the class; `NONE` if there is no layout yet.
    pub(super) class: u32,
    /// The root structure of the payload.
    pub(super) root: u32,
    /// There is nothing else in the body. Otherwise only the class is known.
    is_all: bool,
    /// The bytes of the contexts.
    pub(super) contexts: u32,
    /// The alignment of the payload in bytes, less one, and the bytes before the first string.
    mask: u32,
    size: u32,
    /// Something follows the first string and its members.
    has_more: bool,
    /// The number of strings, and the bytes after each.
    strings: u8,
    more: [u32; STRINGS],
    /// The bits of the list's length, the length's byte order, and the bytes of an element. 0 if there is no list.
    length: u32,
    big: bool,
    element: u32,
}

impl Layout {
    const EMPTY: Self = Self {
        id: 0,
        class: NONE,
        root: NONE,
        is_all: false,
        contexts: 0,
        mask: 0,
        size: 0,
        has_more: false,
        strings: 0,
        more: [0; STRINGS],
        length: 0,
        big: false,
        element: 0,
    };

    fn new(packet: &Packet<'_, '_>, id: u64, class: u32) -> Self {
        let mut layout = Self { id, class, ..Self::EMPTY };
        layout.is_all = layout.fill(packet).is_some();
        layout
    }

    /// `None` if there is more in the body.
    fn fill(&mut self, packet: &Packet<'_, '_>) -> Option<()> {
        let nodes = packet.schema.nodes;
        let (context, root) = roots(nodes, self.class);
        self.root = root;
        for root in [packet.common_context, context] {
            if root != NONE {
                self.contexts = self.contexts.checked_add(bytes_of(nodes.get(root))?)?;
            }
        }
        if root == NONE {
            return Some(());
        }
        let structure = nodes.get(root);
        let log2 = structure.align_log2().saturating_sub(3);
        self.mask = 1_u32.checked_shl(log2)?.wrapping_sub(1);
        self.size = structure.b / 8;
        let (mut next, end) = (root.saturating_add(structure.a), nodes.end(root));
        while next < end && nodes.get(next).roles == role::QUICK_STRING {
            let string = nodes.get(next);
            *self.more.get_mut(usize::from(self.strings))? = string.b / 8;
            self.strings = self.strings.saturating_add(1);
            next = next.saturating_add(1).saturating_add(string.a);
        }
        if next < end {
            next = self.list(nodes, next)?;
        }
        self.has_more = self.strings > 1 || self.length > 0;
        (next == end && structure.b.is_multiple_of(8)).then_some(())
    }

    /// Adds a list of which the length is at node `index`, and returns the node after it.
    fn list(&mut self, nodes: Nodes<'_>, index: u32) -> Option<u32> {
        let (length, list) = (nodes.get(index), nodes.get(nodes.end(index)));
        let is_length = length.kind == Kind::Unsigned && length.slot != NO_SLOT && !length.has(REVERSED);
        let is_usual = is_length && length.meaning() == 0 && matches!(length.a, 8 | 16 | 32 | 64);
        let is_list = list.kind.is_dependent() && list.slot == length.slot && list.meaning() == 0;
        let fits = is_usual && is_list && length.align_log2() <= 3 && list.align_log2() <= 3;
        fits.then_some(())?;
        (self.length, self.big) = (length.a, length.has(BIG));
        self.element = match list.kind {
            Kind::DynamicString | Kind::DynamicBlob => 1,
            Kind::DynamicArray => bytes_of(nodes.get(nodes.end(index).saturating_add(1)))?,
            _ => return None,
        };
        Some(nodes.end(nodes.end(index)))
    }

    /// The end of a body at byte `at`, if this is [all](Self::is_all) of it, and its first string; `None` if that does
    /// not end.
    #[inline(always)]
    #[allow(clippy::as_conversions)] // Sizes are below 2²⁹.
    pub(super) fn after(&self, content: &[u8], at: usize) -> Option<(usize, KnownString)> {
        let mask = self.mask as usize;
        let mut at = (at.wrapping_add(mask) & !mask).wrapping_add(self.size as usize);
        let mut known = KnownString::NONE;
        if self.strings > 0 {
            let len = find_nul(content.get(at..)?, 1)?;
            known = KnownString { start: at, len };
            at = at.wrapping_add(len).wrapping_add(1).wrapping_add(self.more[0] as usize);
        }
        if self.has_more {
            at = self.after_more(content, at)?;
        }
        Some((at, known))
    }

    /// The end of what follows the first string and its members.
    #[inline(never)]
    #[allow(clippy::as_conversions)] // As above.
    fn after_more(&self, content: &[u8], mut at: usize) -> Option<usize> {
        for more in self.more.get(1..usize::from(self.strings)).unwrap_or_default() {
            let len = find_nul(content.get(at..)?, 1)?;
            at = at.wrapping_add(len).wrapping_add(1).wrapping_add(*more as usize);
        }
        if self.length > 0 {
            let start = at.checked_add(self.length as usize / 8).filter(|start| *start <= content.len())?;
            let count = usize::try_from(load(content, bits_of(at), self.length, self.big)).ok()?;
            let end = start.checked_add(count.checked_mul(self.element as usize)?)?;
            at = Some(end).filter(|end| *end <= content.len())?;
        }
        Some(at)
    }
}

/// The size of a class in bytes, if it is fixed and whole bytes, wherever a byte begins.
fn bytes_of(node: &Node) -> Option<u32> {
    let is_fixed = node.has(PLAIN) && !node.has(LAST) && node.align_log2() <= 3;
    let (size, _) = after_plain(node, 0, false, u64::MAX).filter(|_| is_fixed)?;
    u32::try_from(size / 8).ok().filter(|_| size.is_multiple_of(8))
}

/// The layouts of the classes that occurred last.
#[derive(Clone)]
pub(super) struct Layouts {
    layouts: [Layout; LAYOUTS],
    last: usize,
}

impl Layouts {
    pub(super) const EMPTY: Self = Self { layouts: [Layout::EMPTY; LAYOUTS], last: 0 };

    /// The layout of the class with this identifier, if it is known, and is all.
    #[inline(always)]
    pub(super) fn known(&mut self, id: u64) -> Option<&Layout> {
        // The class that was asked for last often comes again: no load waits for its identifier.
        let is_last = self.last().is_some_and(|layout| layout.id == id && layout.is_all);
        if !is_last {
            let at = place(id);
            self.layouts.get(at).filter(|layout| layout.id == id && layout.is_all)?;
            self.last = at;
        }
        self.last()
    }

    #[inline(always)]
    fn last(&self) -> Option<&Layout> {
        self.layouts.get(self.last % LAYOUTS)
    }

    /// The class with this identifier, of which the layout is then known; `None` if there is none.
    pub(super) fn class(&mut self, packet: &Packet<'_, '_>, id: u64) -> Option<u32> {
        let layout = self.layouts.get_mut(place(id))?;
        if layout.id != id || layout.class == NONE {
            let class = packet.schema.event_class(packet.info(), Some(id))?;
            *layout = Layout::new(packet, id, class);
        }
        Some(layout.class)
    }
}

/// The place of the layout of a class.
#[inline(always)]
#[allow(clippy::as_conversions)] // There are few.
const fn place(id: u64) -> usize {
    id as usize % LAYOUTS
}
