//! Going through fields.

use super::bits::{BitString, bits_of, find_nul, load, reverse, sign_extend};
use super::element;
use super::packet::Packet;
use super::value::{Float, Text, Value};
use crate::ctf::schema::Schema;
use crate::ctf::schema::builder::Scope;
use crate::ctf::schema::finish::SLOT_COUNT;
use crate::ctf::schema::node::{BIG, Kind, LAST, NO_SLOT, NONE, Node, PLAIN, REVERSED, SIGNED_KEY};
use crate::ctf::schema::resolve::DEPTH;
use crate::error::{Element, Error, ErrorKind, Result};

/// Values of lengths and selectors.
pub(super) type Slots = [u64; SLOT_COUNT];
pub(super) const NO_SLOTS: Slots = [0; SLOT_COUNT];

/// The bytes of a packet, and how far its fields go.
#[derive(Clone, Copy)]
pub(super) struct Window<'a> {
    /// From the packet's first byte to the end of the input.
    pub(super) data: &'a [u8],
    /// Offset of that byte.
    pub(super) offset: u64,
    /// In bits: fields end here at the latest. It lies in `data`.
    pub(super) limit: u64,
    /// The packet's content goes on where the input ends.
    pub(super) is_cut: bool,
}

impl Window<'_> {
    /// An error at a bit.
    #[cold]
    pub(super) fn error(&self, at: u64, element: Element, kind: ErrorKind) -> Error {
        Error::new(self.offset.saturating_add(at >> 3), element, kind)
    }

    /// The error that something of `bits` bits at bit `at` does not fit.
    #[cold]
    #[inline(never)]
    pub(super) fn beyond(&self, at: u64, bits: u64, scope: Scope) -> Error {
        let over = at.saturating_add(bits).saturating_sub(self.limit);
        if self.is_cut {
            let needed = over.div_ceil(8).max(1);
            self.error(at, element::of(scope), ErrorKind::UnexpectedEnd { needed })
        } else {
            let boundary = self.offset.saturating_add(self.limit.div_ceil(8));
            self.error(at, element::of(scope), ErrorKind::CrossesBoundary { boundary })
        }
    }
}

/// What is being gone through: members one after the other, or elements.
#[derive(Clone, Copy)]
struct Frame {
    /// The next node; of an array, the element.
    next: u32,
    /// The node after the last one; of an array, `ELEMENTS`.
    end: u32,
    /// How many elements are left.
    left: u64,
}

/// A frame of an array.
const ELEMENTS: u32 = NONE;
/// The most elements of a scope that take no bits.
const IDLE_MAX: u64 = 4096;
/// An element may be the first one of others: so many begin where one bit stands for them, at most.
const DEPTH_PER_BIT: u64 = 64;
/// How many levels are at hand; deeper ones are rare and take longer to begin.
const NEAR: usize = 4;

impl Frame {
    const EMPTY: Self = Self { next: 0, end: 0, left: 0 };
}

/// The frames around the present one.
#[derive(Clone)]
struct Stack {
    near: [Frame; NEAR],
    far: Option<[Frame; DEPTH - NEAR]>,
    depth: usize,
}

impl Stack {
    /// No constant: that would be copied, with all the room for frames far away.
    #[inline(always)]
    fn new() -> Self {
        Self { near: [Frame::EMPTY; NEAR], far: None, depth: 0 }
    }

    #[inline]
    fn push(&mut self, frame: Frame) {
        let depth = self.depth;
        self.depth = depth.saturating_add(1);
        match self.near.get_mut(depth) {
            Some(slot) => *slot = frame,
            None => self.push_far(depth.saturating_sub(NEAR), frame),
        }
    }

    #[cold]
    #[inline(never)]
    fn push_far(&mut self, at: usize, frame: Frame) {
        // A schema nests no deeper than there are frames.
        if let Some(slot) = self.far.get_or_insert([Frame::EMPTY; DEPTH - NEAR]).get_mut(at) {
            *slot = frame;
        }
    }

    #[inline]
    fn pop(&mut self) -> Option<Frame> {
        let depth = self.depth.checked_sub(1)?;
        self.depth = depth;
        match self.near.get(depth) {
            Some(frame) => Some(*frame),
            None => self.far.as_ref().and_then(|far| far.get(depth.saturating_sub(NEAR))).copied(),
        }
    }
}

/// A field without the schema, which is large.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    /// The node of its class; `NONE` at an end.
    pub(super) index: u32,
    pub(super) value: Value<'a>,
    pub(super) start: u64,
}

/// The fields of a scope, one after the other.
#[derive(Clone)]
pub(super) struct Cursor<'a, 's> {
    pub(super) window: Window<'a>,
    pub(super) schema: Schema<'a, 's>,
    pub(super) scope: Scope,
    /// The next bit, from the start of the packet.
    pub(super) at: u64,
    /// The byte order of the last fixed-length field.
    pub(super) last_big: bool,
    pub(super) slots: Slots,
    top: Frame,
    stack: Stack,
    /// Where the last element of an array began, and how many have begun that no bits stand for.
    mark: u64,
    idle: u64,
}

impl<'a, 's> Cursor<'a, 's> {
    /// Nothing yet: at bit `at`.
    #[inline(always)]
    pub(super) fn new(window: Window<'a>, schema: Schema<'a, 's>, at: u64, slots: &Slots) -> Self {
        Self {
            window,
            schema,
            scope: Scope::PacketHeader,
            at,
            last_big: false,
            slots: *slots,
            top: Frame::EMPTY,
            stack: Stack::new(),
            mark: 0,
            idle: 0,
        }
    }

    /// In the payload whose root structure is at `root`, and which begins after bit `at`.
    #[inline(always)]
    pub(super) fn in_scope(packet: &Packet<'a, 's>, at: u64, last_big: bool, root: u32) -> Self {
        let node = packet.schema.nodes.get(root);
        Self {
            window: packet.window,
            schema: packet.schema,
            scope: Scope::Payload,
            at: aligned(at, node),
            last_big,
            slots: packet.slots,
            top: Frame { next: root.wrapping_add(1), end: root.wrapping_add(node.size), left: 0 },
            stack: Stack::new(),
            mark: 0,
            idle: 0,
        }
    }

    #[inline(always)]
    pub(super) fn node(&self, index: u32) -> &'s Node {
        self.schema.nodes.get(index)
    }

    /// Begins a scope, whose root structure is at `root`.
    ///
    /// # Errors
    /// Its alignment lies beyond the content.
    #[inline(always)]
    pub(super) fn begin(&mut self, scope: Scope, root: u32) -> Result<()> {
        self.scope = scope;
        self.idle = 0;
        if root == NONE {
            self.top = Frame::EMPTY;
            return Ok(());
        }
        let node = self.node(root);
        self.top = Frame { next: root.wrapping_add(1), end: root.wrapping_add(node.size), left: 0 };
        self.align(node)
    }

    /// Skips a scope whose root structure is at `root`; what is needed of it later is remembered.
    #[inline(always)]
    pub(super) fn skip(&mut self, scope: Scope, root: u32) -> Result<()> {
        let node = self.node(root);
        if node.has(PLAIN) {
            self.scope = scope;
            // An error is that of a field in it.
            if self.skip_plain(node) {
                return Ok(());
            }
        }
        if let Some((at, last_big)) = self.pass(root, self.at, self.last_big) {
            (self.at, self.last_big) = (at, last_big);
            return Ok(());
        }
        self.begin(scope, root)?;
        self.skip_rest()
    }

    /// Skips what is left of the present structure and of those around it.
    #[inline(never)]
    fn skip_rest(&mut self) -> Result<()> {
        while self.step::<true>()?.is_some() {}
        Ok(())
    }

    /// Where a root structure ends that begins at the first bit from `at` on at which it may, and the byte order of its
    /// last fixed-length field, if its members are of the usual kinds and nothing is wrong.
    ///
    /// Only lengths and selectors are remembered.
    #[inline(always)]
    #[allow(clippy::as_conversions)] // Positions lie in memory.
    pub(super) fn pass(&mut self, root: u32, at: u64, last_big: bool) -> Option<(u64, bool)> {
        let Window { data, limit, .. } = self.window;
        let structure = self.node(root);
        let end = root.wrapping_add(structure.size);
        let (mut at, mut last_big) = (aligned(at, structure), last_big);
        let mut next = root.wrapping_add(1);
        // Those of fixed size at its beginning.
        if structure.b > 0 {
            if at & 7 != 0 && structure.has(BIG) != last_big {
                return None;
            }
            at = at.wrapping_add(structure.b.into());
            last_big = structure.has(REVERSED);
            next = root.wrapping_add(structure.a);
        }
        while next < end {
            let node = self.node(next);
            if node.kind == Kind::NulString && node.roles == 0 {
                let start = aligned(at, node);
                let rest = data.get((start >> 3) as usize..(limit >> 3) as usize)?;
                at = start.wrapping_add(bits_of(find_nul(rest, 1)?.wrapping_add(1)));
                next = next.wrapping_add(1);
            } else {
                (at, last_big) = self.pass_other(next, node, at, last_big)?;
                next = next.wrapping_add(node.size.max(1));
            }
        }
        (at <= limit).then_some((at, last_big))
    }

    /// As [`Self::pass`], for several structures one after the other, each of which may be missing.
    #[inline(never)]
    pub(super) fn pass_all(&mut self, roots: [u32; 3], at: u64, last_big: bool) -> Option<(u64, bool)> {
        let mut end = (at, last_big);
        for root in roots {
            if root != NONE {
                end = self.pass(root, end.0, end.1)?;
            }
        }
        Some(end)
    }

    /// As [`Self::pass`], for a member.
    #[inline(never)]
    fn pass_other(&mut self, index: u32, node: &Node, at: u64, last_big: bool) -> Option<(u64, bool)> {
        let limit = self.window.limit;
        match node.kind {
            _ if node.has(PLAIN) => after_plain(node, at, last_big, limit),
            Kind::Unsigned if node.roles == 0 && node.a <= 64 && !node.has(REVERSED) => {
                let after = after_plain(node, at, last_big, limit)?;
                self.keep(node, load(self.window.data, aligned(at, node), node.a, node.has(BIG)));
                Some(after)
            }
            Kind::DynamicArray if node.roles == 0 => {
                let element = self.node(index.wrapping_add(1));
                let start = aligned(at, node);
                if !element.has(PLAIN) || element.has(LAST) || start > limit {
                    return None;
                }
                let (left, at, last_big) = after_elements(element, self.key(node), start, last_big, limit);
                (left == 0).then_some((at, last_big))
            }
            _ => None,
        }
    }

    #[inline(always)]
    fn align(&mut self, node: &Node) -> Result<()> {
        let aligned = aligned(self.at, node);
        if aligned > self.window.limit {
            return Err(self.window.beyond(self.at, aligned.saturating_sub(self.at), self.scope));
        }
        self.at = aligned;
        Ok(())
    }

    /// Skips a class of fixed size, if all of it is there and nothing is wrong with it.
    #[inline(always)]
    fn skip_plain(&mut self, node: &Node) -> bool {
        match after_plain(node, self.at, self.last_big, self.window.limit) {
            Some((at, last_big)) => {
                (self.at, self.last_big) = (at, last_big);
                true
            }
            None => false,
        }
    }

    /// The next field that is worth a look.
    ///
    /// To skip, that is one that has a role. Otherwise it is every one, and the end of each that has others in it.
    #[inline(always)]
    pub(super) fn step<const SKIP: bool>(&mut self) -> Result<Option<Step<'a>>> {
        loop {
            let index = if self.top.end == ELEMENTS {
                match self.top.left.checked_sub(1) {
                    Some(left) => {
                        self.top.left = left;
                        self.begin_element()?;
                        self.top.next
                    }
                    None => NONE,
                }
            } else if self.top.next < self.top.end {
                let index = self.top.next;
                self.top.next = index.wrapping_add(self.node(index).size.max(1));
                index
            } else {
                NONE
            };
            if index == NONE {
                let Some(frame) = self.stack.pop() else { return Ok(None) };
                self.top = frame;
                if SKIP {
                    continue;
                }
                return Ok(Some(Step { index: NONE, value: Value::End, start: self.at }));
            }
            let node = self.node(index);
            if SKIP && node.has(PLAIN) && self.skip_plain(node) {
                continue;
            }
            self.align(node)?;
            let start = self.at;
            let value = match node.kind {
                Kind::Unsigned if node.a <= 64 => {
                    let value = self.fixed(node)?;
                    self.keep(node, value);
                    Value::Unsigned(value)
                }
                Kind::Signed if node.a <= 64 => {
                    let value = sign_extend(self.fixed(node)?, node.a);
                    self.keep(node, value.cast_unsigned());
                    Value::Signed(value)
                }
                Kind::BitArray
                | Kind::BitMap
                | Kind::Boolean
                | Kind::Unsigned
                | Kind::Signed
                | Kind::Float => self.bits(node)?,
                Kind::VariableUnsigned | Kind::VariableSigned => self.variable(node)?,
                Kind::NulString => self.nul_string(node)?,
                Kind::StaticString => {
                    let stored = self.bytes(node.a.into())?;
                    if SKIP { Value::Blob(stored) } else { Value::Text(Text::new(stored, node.encoding())) }
                }
                Kind::DynamicString => {
                    let stored = self.bytes(self.key(node))?;
                    if SKIP { Value::Blob(stored) } else { Value::Text(Text::new(stored, node.encoding())) }
                }
                Kind::StaticBlob => Value::Blob(self.bytes(node.a.into())?),
                Kind::DynamicBlob => Value::Blob(self.bytes(self.key(node))?),
                Kind::Structure => {
                    self.enter(Frame {
                        next: index.wrapping_add(1),
                        end: index.wrapping_add(node.size),
                        left: 0,
                    });
                    Value::Structure
                }
                Kind::StaticArray => self.array::<SKIP>(index, node, node.a.into())?,
                Kind::DynamicArray => self.array::<SKIP>(index, node, self.key(node))?,
                Kind::Optional => {
                    let key = self.key(node);
                    let is_present =
                        if node.b == NONE { key != 0 } else { self.is_in(node.b, key, node.has(SIGNED_KEY)) };
                    if is_present {
                        let end = index.wrapping_add(node.size);
                        self.enter(Frame { next: index.wrapping_add(1), end, left: 0 });
                    }
                    Value::Optional(is_present)
                }
                Kind::Variant => self.variant(index, node)?,
                // Nothing else stands in a structure.
                _ => continue,
            };
            if SKIP && (node.roles == 0 || matches!(value, Value::Text(_))) {
                continue;
            }
            return Ok(Some(Step { index, value, start }));
        }
    }

    #[inline(always)]
    fn enter(&mut self, frame: Frame) {
        self.stack.push(self.top);
        self.top = frame;
    }

    /// Remembers the value of a length or a selector.
    #[inline(always)]
    fn keep(&mut self, node: &Node, value: u64) {
        if let Some(slot) = self.slots.get_mut(usize::from(node.slot)) {
            *slot = value;
        }
    }

    /// The length or selector of a class.
    #[inline(always)]
    fn key(&self, node: &Node) -> u64 {
        self.slots.get(usize::from(node.slot)).copied().unwrap_or(0)
    }

    /// Checks that a field of fixed length can be read here, and gives where it ends.
    #[inline(always)]
    fn check_fixed(&mut self, node: &Node) -> Result<u64> {
        let big = node.has(BIG);
        if self.at & 7 != 0 && big != self.last_big {
            return Err(self.window.error(self.at, element::of(self.scope), ErrorKind::ByteOrderChanged));
        }
        let end = self.at.wrapping_add(node.a.into());
        if end > self.window.limit {
            return Err(self.window.beyond(self.at, node.a.into(), self.scope));
        }
        self.last_big = big;
        Ok(end)
    }

    /// A field of at most 64 bits.
    #[inline(always)]
    fn fixed(&mut self, node: &Node) -> Result<u64> {
        let end = self.check_fixed(node)?;
        let value = load(self.window.data, self.at, node.a, node.has(BIG));
        self.at = end;
        Ok(if node.has(REVERSED) { reverse(value, node.a) } else { value })
    }

    /// A field of fixed length that is no integer of at most 64 bits.
    fn bits(&mut self, node: &Node) -> Result<Value<'a>> {
        let end = self.check_fixed(node)?;
        let bits = BitString::new(self.window.data, self.at, node.a, node.has(BIG), node.has(REVERSED));
        self.at = end;
        Ok(match node.kind {
            Kind::Boolean => {
                let value = bits.any();
                self.keep(node, value.into());
                Value::Boolean(value)
            }
            Kind::Float => Value::Float(Float(bits)),
            Kind::Unsigned | Kind::Signed => {
                if node.slot != NO_SLOT {
                    let value = self.narrow_key(node, bits)?;
                    self.keep(node, value);
                }
                Value::Wide(bits)
            }
            _ => Value::Bits(bits),
        })
    }

    /// A length or selector of more than 64 bits, if its value has no more.
    #[cold]
    fn narrow_key(&self, node: &Node, bits: BitString<'_>) -> Result<u64> {
        let mut words = bits.words();
        let low = words.next().unwrap_or(0);
        let is_negative = node.kind == Kind::Signed && low >> 63 == 1;
        let rest = bits.len().saturating_sub(64);
        let last = rest.checked_rem(64).filter(|bits| *bits > 0).unwrap_or(64);
        let count = rest.div_ceil(64);
        let fits = words.zip(1..).all(|(word, at)| {
            let len = if at == count { last } else { 64 };
            let ones = u64::MAX.checked_shr(64_u32.saturating_sub(len)).unwrap_or(0);
            word == if is_negative { ones } else { 0 }
        });
        let sign_is_kept = node.kind == Kind::Unsigned || is_negative || low >> 63 == 0;
        if fits && sign_is_kept {
            Ok(low)
        } else {
            let at = self.at.saturating_sub(node.a.into());
            Err(self.window.error(at, element::of(self.scope), ErrorKind::IntegerTooWide { bits: 64 }))
        }
    }

    /// What is left of the content in whole bytes, from the present one on.
    #[inline(always)]
    #[allow(clippy::as_conversions)] // Both lie in `data`.
    fn rest(&self) -> &'a [u8] {
        let (start, end) = ((self.at >> 3) as usize, (self.window.limit >> 3) as usize);
        self.window.data.get(start..end).unwrap_or_default()
    }

    /// LEB128. Redundant bytes are fine as long as no bit of the value is lost.
    #[inline]
    fn variable(&mut self, node: &Node) -> Result<Value<'a>> {
        let is_signed = node.kind == Kind::VariableSigned;
        let rest = self.rest();
        let mut value = 0_u64;
        let mut shift = 0_u32;
        let mut fits = true;
        let mut len = 0_usize;
        for &byte in rest {
            len = len.saturating_add(1);
            let group = u64::from(byte & 0x7f);
            match shift {
                0..=56 => value |= group.checked_shl(shift).unwrap_or(0),
                63 => {
                    value |= group << 63;
                    // The other bits repeat the last one of the value, which is the sign.
                    let rest = if is_signed && group & 1 == 1 { 0x3f } else { 0 };
                    fits = group >> 1 == rest;
                }
                _ => {
                    let filler = if is_signed && value >> 63 == 1 { 0x7f } else { 0 };
                    fits &= group == filler;
                }
            }
            shift = shift.saturating_add(7);
            if byte < 0x80 {
                if !fits {
                    let kind = ErrorKind::IntegerTooWide { bits: 64 };
                    return Err(self.window.error(self.at, element::of(self.scope), kind));
                }
                self.at = self.at.wrapping_add(bits_of(len));
                if !is_signed {
                    self.keep(node, value);
                    return Ok(Value::Unsigned(value));
                }
                let value = if shift < 64 { sign_extend(value, shift) } else { value.cast_signed() };
                self.keep(node, value.cast_unsigned());
                return Ok(Value::Signed(value));
            }
        }
        Err(self.window.beyond(self.at, bits_of(rest.len()).saturating_add(8), self.scope))
    }

    #[inline]
    fn nul_string(&mut self, node: &Node) -> Result<Value<'a>> {
        let encoding = node.encoding();
        let rest = self.rest();
        let unit = encoding.unit();
        let Some(len) = find_nul(rest, unit) else {
            return Err(self.window.beyond(
                self.at,
                bits_of(rest.len()).saturating_add(bits_of(unit)),
                self.scope,
            ));
        };
        self.at = self.at.wrapping_add(bits_of(len.saturating_add(unit)));
        Ok(Value::Text(Text::until(rest.get(..len).unwrap_or(rest), encoding)))
    }

    /// So many bytes.
    #[inline]
    fn bytes(&mut self, len: u64) -> Result<&'a [u8]> {
        let bytes = usize::try_from(len).ok().and_then(|len| self.rest().get(..len));
        match bytes {
            Some(bytes) => {
                self.at = self.at.wrapping_add(bits_of(bytes.len()));
                Ok(bytes)
            }
            None => Err(self.window.beyond(self.at, len.saturating_mul(8), self.scope)),
        }
    }

    #[inline]
    fn array<const SKIP: bool>(&mut self, index: u32, node: &Node, count: u64) -> Result<Value<'a>> {
        let child = index.wrapping_add(1);
        let element = self.node(child);
        let mut left = count;
        if element.has(LAST) {
            // Elements may take no bits: what is left does not bound them.
            let limit = self.window.limit.saturating_sub(self.at).saturating_add(IDLE_MAX);
            if count > limit {
                let kind = ErrorKind::OverLimit { value: count, limit };
                return Err(self.window.error(self.at, element::of(self.scope), kind));
            }
        }
        if SKIP && element.has(PLAIN) && node.roles == 0 {
            left = self.skip_elements(element, count);
        }
        self.enter(Frame { next: child, end: ELEMENTS, left });
        Ok(Value::Array(count))
    }

    /// Notices that an element begins. Arrays of arrays of nothing could go on without end: what bits stand for bounds
    /// them, and the elements that it is spread over.
    #[inline(always)]
    fn begin_element(&mut self) -> Result<()> {
        let bits = self.at.wrapping_sub(self.mark);
        self.mark = self.at;
        if bits > 0 {
            self.idle = self.idle.saturating_sub(bits.saturating_mul(DEPTH_PER_BIT));
            return Ok(());
        }
        self.idle = self.idle.saturating_add(1);
        if self.idle <= IDLE_MAX { Ok(()) } else { Err(self.too_idle()) }
    }

    #[cold]
    fn too_idle(&self) -> Error {
        let kind = ErrorKind::OverLimit { value: self.idle, limit: IDLE_MAX };
        self.window.error(self.at, element::of(self.scope), kind)
    }

    /// Skips as many elements of fixed size as there are, and gives how many are left.
    fn skip_elements(&mut self, element: &Node, count: u64) -> u64 {
        let (left, at, last_big) = after_elements(element, count, self.at, self.last_big, self.window.limit);
        (self.at, self.last_big) = (at, last_big);
        left
    }

    #[inline]
    fn variant(&mut self, index: u32, node: &Node) -> Result<Value<'a>> {
        let key = self.key(node);
        let signed = node.has(SIGNED_KEY);
        let mut choice = index.wrapping_add(1);
        let end = index.wrapping_add(node.size);
        let mut number = 0;
        while choice < end {
            let option = self.node(choice);
            let after = choice.wrapping_add(option.size.max(1));
            if self.is_in(option.b, key, signed) {
                self.enter(Frame { next: choice.wrapping_add(1), end: after, left: 0 });
                return Ok(Value::Variant(number));
            }
            choice = after;
            number = number.saturating_add(1);
        }
        let kind = ErrorKind::NoSuchOption { value: key };
        Err(self.window.error(self.at, element::of(self.scope), kind))
    }

    /// Whether a selector is in one of the ranges that begin at node `first`.
    #[inline]
    fn is_in(&self, first: u32, key: u64, signed: bool) -> bool {
        // With the sign bit inverted, signed numbers are in the order of unsigned ones.
        let flip = if signed { 1 << 63 } else { 0 };
        let key = key ^ flip;
        let mut at = first;
        while at != NONE {
            let range = self.node(at);
            if range.kind != Kind::Range {
                return false;
            }
            if (range.x() ^ flip) <= key && key <= (range.y() ^ flip) {
                return true;
            }
            if range.has(LAST) {
                return false;
            }
            at = at.wrapping_sub(1);
        }
        false
    }
}

/// The first bit from `at` on at which a class may begin.
#[inline(always)]
fn aligned(at: u64, node: &Node) -> u64 {
    // `at` is below 2⁶³: it lies in memory. An alignment has at most 63 bits.
    let mask = 1_u64.wrapping_shl(node.align_log2()).wrapping_sub(1);
    at.wrapping_add(mask) & !mask
}

/// Where a class of fixed size ends that begins at the first bit from `at` on at which it may, and the byte order of its
/// last fixed-length field; `None` if not all of it is there, or byte orders meet within a byte.
#[inline(always)]
fn after_plain(node: &Node, at: u64, last_big: bool, limit: u64) -> Option<(u64, bool)> {
    let start = aligned(at, node);
    let (size, first, last) = match node.kind {
        Kind::Structure | Kind::StaticArray => (u64::from(node.b), node.has(BIG), node.has(REVERSED)),
        Kind::StaticString | Kind::StaticBlob => (u64::from(node.a).wrapping_mul(8), last_big, last_big),
        _ => (node.a.into(), node.has(BIG), node.has(BIG)),
    };
    let end = start.wrapping_add(size);
    if end > limit || (start & 7 != 0 && first != last_big && size > 0) {
        return None;
    }
    Some((end, if size > 0 { last } else { last_big }))
}

/// The same for as many elements of fixed size as there are; the first number is how many are left.
#[inline]
fn after_elements(element: &Node, count: u64, at: u64, last_big: bool, limit: u64) -> (u64, u64, bool) {
    let Some((after, last)) = (if count == 0 { None } else { after_plain(element, at, last_big, limit) })
    else {
        return (count, at, last_big);
    };
    let one = after.wrapping_sub(aligned(at, element));
    let start = aligned(after, element);
    let stride = start.wrapping_sub(aligned(at, element));
    let more = count.saturating_sub(1);
    if matches!(element.kind, Kind::Structure | Kind::StaticArray)
        && element.has(BIG) != element.has(REVERSED)
        && !(stride.is_multiple_of(8) && at.is_multiple_of(8))
    {
        // Byte orders may meet within a byte: one element at a time.
        return (more, after, last);
    }
    if stride == 0 {
        // Either no other one fits, or none takes any bits.
        return (if one == 0 { 0 } else { more }, after, last);
    }
    let room = limit.saturating_sub(start);
    // `stride` is no less than `one`.
    let fit = if one > room || start > limit {
        0
    } else if u128::from(more.saturating_sub(1)).saturating_mul(stride.into())
        <= u128::from(room.saturating_sub(one))
    {
        more
    } else {
        room.saturating_sub(one).checked_div(stride).map_or(0, |further| further.saturating_add(1)).min(more)
    };
    // The last of them ends within the limit.
    (more.saturating_sub(fit), after.wrapping_add(stride.wrapping_mul(fit)), last)
}
