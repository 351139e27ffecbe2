//! The consequences of the classes: alignments, sizes, and what can be skipped at once.

use super::builder::Builder;
use super::node::{BIG, Kind, LAST, NO_SIZE, NO_SLOT, Node, Nodes, PLAIN, REVERSED, role};

/// A field class seen from outside, for its parent.
#[derive(Clone, Copy)]
struct Outside {
    /// Size in bits from an aligned start; `None` if it varies.
    size: Option<u64>,
    /// The byte orders of its first and of its last fixed-length field.
    orders: Option<(bool, bool)>,
    plain: bool,
    may_be_empty: bool,
}

/// Computes the alignment of each class, which classes are plain, and how large these are.
///
/// Children follow their parents, so that going backwards meets them first.
pub(super) fn compute(builder: &mut Builder<'_>, end: u32) {
    for index in (0..end).rev() {
        let node = with_layout(builder.view(), index);
        builder.update(index, |slot| *slot = node);
        // A string tells what follows it in its structure.
        let (mut next, end) = (index.saturating_add(1), builder.view().end(index));
        while node.kind == Kind::Structure && next < end {
            let after = after_string(builder.view(), next, end);
            builder.update(next, |slot| (slot.a, slot.b) = after.unwrap_or((slot.a, slot.b)));
            next = builder.view().end(next).max(next.saturating_add(1));
        }
    }
}

/// The number of members of fixed size after the string at `index` that are skipped with it, and the bits they take
/// together; `None` if it is no string that is read at once. `end` is that of the structure.
pub(super) fn after_string(nodes: Nodes<'_>, index: u32, end: u32) -> Option<(u32, u32)> {
    if nodes.get(index).roles != role::QUICK_STRING {
        return None;
    }
    let first = index.saturating_add(1);
    let (mut next, mut after) = (first, (0, 0));
    let mut run = Run { size: Some(0), orders: None, in_bytes: true, may_be_empty: true };
    // A string ends with a byte, of which more is not known.
    while next < end && align_of(nodes.get(next)) <= 3 {
        run.add(align_of(nodes.get(next)).into(), outside(nodes, next));
        let Some(size) = run.size.and_then(|size| u32::try_from(size).ok()) else { break };
        next = nodes.end(next);
        if size.is_multiple_of(8) {
            after = (next.saturating_sub(first), size);
        }
    }
    Some(after)
}

/// The node at `index` with what follows from it and from its children, which have their layout. One that has its
/// layout stays as it is.
pub(super) fn with_layout(nodes: Nodes<'_>, index: u32) -> Node {
    let mut node = *nodes.get(index);
    if matches!(node.kind, Kind::NulString | Kind::Unsigned | Kind::Signed | Kind::Float) && node.is_quick() {
        node.roles = 0;
    }
    let is_needed = needs_walk(&node);
    match node.kind {
        Kind::Structure => structure(nodes, index, &mut node),
        Kind::StaticArray | Kind::DynamicArray => array(nodes, index, &mut node),
        Kind::Optional => {
            node.set_align_log2(0);
            node.set(LAST, true);
        }
        Kind::Variant => {
            let mut choices = nodes.children(index);
            let is_empty = choices.any(|choice| outside(nodes, choice.saturating_add(1)).may_be_empty);
            node.set_align_log2(0);
            node.set(LAST, is_empty);
        }
        Kind::VariableSigned
        | Kind::VariableUnsigned
        | Kind::NulString
        | Kind::StaticString
        | Kind::DynamicString
        | Kind::StaticBlob
        | Kind::DynamicBlob => {
            let is_empty = match node.kind {
                Kind::StaticString | Kind::StaticBlob => node.a == 0,
                kind => matches!(kind, Kind::DynamicString | Kind::DynamicBlob),
            };
            node.set_align_log2(3);
            node.set(LAST, is_empty);
        }
        _ => {}
    }
    if node.kind.is_fixed_length() || matches!(node.kind, Kind::StaticString | Kind::StaticBlob) {
        node.set(PLAIN, !is_needed);
    }
    if let Some(code) = quick(&node) {
        node.roles = code;
    }
    node
}

/// The code by which a class is read at once, if it can be.
fn quick(node: &Node) -> Option<u16> {
    let log2 = node.align_log2();
    let aligned = if log2 > 3 { role::QUICK_ALIGNED } else { 0 };
    let big = if node.has(BIG) { role::QUICK_BIG } else { 0 };
    let size = match node.a {
        8 => 0,
        16 => 1,
        32 => 2,
        _ => 3,
    };
    let code = match node.kind {
        // Neither roles nor another encoding.
        Kind::NulString if node.roles == 0 => return Some(role::QUICK_STRING),
        Kind::Unsigned => role::QUICK_UNSIGNED | size | big,
        Kind::Signed => role::QUICK_SIGNED | size | big,
        Kind::Float => role::QUICK_FLOAT,
        _ => return None,
    };
    let is_quick = node.has(PLAIN)
        && !node.has(REVERSED)
        && (3..=12).contains(&log2)
        && matches!(node.a, 8 | 16 | 32 | 64)
        && (node.kind != Kind::Float || node.a != 8);
    is_quick.then_some(code | aligned)
}

/// True if what it holds is needed to go on.
fn needs_walk(node: &Node) -> bool {
    node.slot != NO_SLOT || node.roles & role::ALL != 0
}

fn outside(nodes: Nodes<'_>, index: u32) -> Outside {
    let node = nodes.get(index);
    let orders = node.has(BIG);
    let may_be_empty = node.has(LAST);
    let plain = node.has(PLAIN);
    match node.kind {
        kind if kind.is_fixed_length() => {
            Outside { size: Some(node.a.into()), orders: Some((orders, orders)), plain, may_be_empty: false }
        }
        Kind::StaticString | Kind::StaticBlob => {
            let size = u64::from(node.a).saturating_mul(8);
            Outside { size: Some(size), orders: None, plain, may_be_empty }
        }
        Kind::Structure | Kind::StaticArray if plain => {
            let orders = (node.b != 0).then_some((node.has(BIG), node.has(REVERSED)));
            Outside { size: Some(node.b.into()), orders, plain, may_be_empty }
        }
        _ => Outside { size: None, orders: None, plain: false, may_be_empty },
    }
}

/// A sum of fields that stand one after the other.
struct Run {
    /// In bits, from the aligned start; `None` if not fixed, or something in it has to be looked at.
    size: Option<u64>,
    orders: Option<(bool, bool)>,
    /// The start is a whole number of bytes.
    in_bytes: bool,
    may_be_empty: bool,
}

impl Run {
    fn add(&mut self, align: u32, field: Outside) {
        self.may_be_empty &= field.may_be_empty;
        // A field that may take no bits is counted when it is read.
        let (Some(at), Some(size), true) = (self.size, field.size, field.plain && !field.may_be_empty) else {
            self.size = None;
            return;
        };
        let mask = 1_u64.checked_shl(align).unwrap_or(0).wrapping_sub(1);
        let start = at.saturating_add(mask) & !mask;
        if let Some((first, last)) = field.orders {
            if let Some((_, before)) = self.orders
                && before != first
                && !(self.in_bytes && start.is_multiple_of(8))
            {
                self.size = None;
                return;
            }
            self.orders = Some((self.orders.map_or(first, |orders| orders.0), last));
        }
        self.size = Some(start.saturating_add(size)).filter(|size| *size < NO_SIZE.into());
    }

    /// Lets a structure or an array have this content.
    fn finish(self, node: &mut Node, align: u8, is_needed: bool) {
        node.set_align_log2(align);
        node.set(LAST, self.may_be_empty);
        let size = self.size.filter(|_| !is_needed).and_then(|size| u32::try_from(size).ok());
        node.set(PLAIN, size.is_some());
        let (first, last) = self.orders.unwrap_or_default();
        node.set(BIG, first);
        node.set(REVERSED, last);
        node.b = size.unwrap_or(NO_SIZE);
    }
}

fn align_of(node: &Node) -> u8 {
    node.align & 0x3f
}

fn structure(nodes: Nodes<'_>, index: u32, node: &mut Node) {
    let mut align = align_of(node);
    for child in nodes.children(index) {
        align = align.max(align_of(nodes.get(child)));
    }
    let mut run = Run { size: Some(0), orders: None, in_bytes: align >= 3, may_be_empty: true };
    let mut prefix = (0, index.saturating_add(1));
    for child in nodes.children(index) {
        run.add(align_of(nodes.get(child)).into(), outside(nodes, child));
        if let Some(size) = run.size.and_then(|size| u32::try_from(size).ok()) {
            prefix = (size, nodes.end(child));
        }
    }
    let is_fixed = run.size.is_some();
    run.finish(node, align, false);
    // The index of the first member that is not of fixed size, and the size of those before it together; the byte
    // orders are theirs.
    node.a = prefix.1.saturating_sub(index);
    if !is_fixed {
        node.b = prefix.0;
    }
}

fn array(nodes: Nodes<'_>, index: u32, node: &mut Node) {
    let child = index.saturating_add(1);
    let own = align_of(nodes.get(child));
    let align = own.max(align_of(node));
    if node.kind == Kind::DynamicArray {
        node.set_align_log2(align);
        node.set(LAST, true);
        return;
    }
    let element = outside(nodes, child);
    let mut run = Run { size: Some(0), orders: None, in_bytes: align >= 3, may_be_empty: true };
    if node.a > 0 {
        run.add(own.into(), element);
    }
    if let Some(one) = run.size.filter(|_| node.a > 1) {
        // The second one tells whether byte orders may follow each other: it then begins at a byte, as all others do.
        run.add(own.into(), element);
        run.size = run.size.and_then(|two| {
            let stride = two.checked_sub(one)?;
            let more = u64::from(node.a).checked_sub(1)?;
            stride.checked_mul(more)?.checked_add(one).filter(|size| *size < NO_SIZE.into())
        });
    }
    // An array with a role (a UUID) has to be looked at.
    let is_needed = needs_walk(node);
    run.finish(node, align, is_needed);
}
