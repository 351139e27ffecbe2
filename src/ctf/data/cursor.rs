//! Going through fields.

use super::bits::sign_extend;
use super::element;
use super::extent::{after_elements, aligned};
use super::quick::{KnownString, take};
use super::value::{Text, Value};
use super::window::{Slots, Window};
use crate::bytes::to_u64;
use crate::ctf::schema::Schema;
use crate::ctf::schema::node::{DEPTH, Kind, LAST, NONE, Node, PLAIN, SIGNED_KEY};
use crate::ctf::schema::scope::Scope;
use crate::error::{Error, ErrorKind, Result};

/// The structure or list that is being read: members or elements, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    /// The next node; of an array, the element.
    next: u32,
    /// The node after the last one; of an array, `ELEMENTS`.
    end: u32,
    /// The number of elements that are left.
    left: u64,
}

/// A frame of an array.
const ELEMENTS: u32 = NONE;
/// The most fields of a packet that may begin at the same bit as the field before them, beyond those that its bits
/// allow.
const IDLE_MAX: u64 = 256;
/// The number of such fields that each bit allows: where all fields are read, and where they are skipped, which
/// decides whether a record is delivered. Fields that are skipped together are not counted there: each takes at least
/// one bit, but may be the first one in several structures.
const IDLE_PER_BIT: [u64; 2] = [8 + 64, 8];
const _: () = assert!(DEPTH == 64);
/// The number of levels that are at hand; deeper ones are rare and take longer to begin.
const NEAR: usize = 4;

impl Frame {
    const EMPTY: Self = Self { next: 0, end: 0, left: 0 };

    /// The class of the next field on this level.
    #[inline(always)]
    pub(super) fn peek(&self) -> Option<u32> {
        let is_more = if self.end == ELEMENTS { self.left > 0 } else { self.next < self.end };
        is_more.then_some(self.next)
    }

    /// Goes over a field without others in it.
    #[inline(always)]
    pub(super) fn take_leaf(&mut self) {
        if self.end == ELEMENTS {
            self.left = self.left.wrapping_sub(1);
        } else {
            self.next = self.next.wrapping_add(1);
        }
    }
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

/// A field without its schema.
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
    pub(super) schema: &'s Schema<'a, 's>,
    pub(super) scope: Scope,
    /// The next bit, from the start of the packet.
    pub(super) at: u64,
    /// The byte order of the last fixed-length field.
    pub(super) last_big: bool,
    pub(super) slots: Slots,
    pub(super) top: Frame,
    stack: Stack,
    /// A string that has been looked at already.
    pub(super) known: KnownString,
    /// The start of the last field of the scope, and how many have begun where the one before them did.
    mark: u64,
    pub(super) idle: u64,
}

impl<'a, 's> Cursor<'a, 's> {
    /// Nothing yet: at bit `at`.
    #[inline(always)]
    pub(super) fn new(window: Window<'a>, schema: &'s Schema<'a, 's>, at: u64, slots: &Slots) -> Self {
        Self {
            window,
            schema,
            scope: Scope::PacketHeader,
            at,
            last_big: false,
            slots: *slots,
            top: Frame::EMPTY,
            stack: Stack::new(),
            known: KnownString::NONE,
            mark: u64::MAX,
            idle: 0,
        }
    }

    /// As a [new](Self::new) one. Its room for levels, most of what it takes, is not written.
    pub(super) fn restart(&mut self, window: Window<'a>, schema: &'s Schema<'a, 's>, at: u64, slots: &Slots) {
        (self.window, self.schema, self.slots) = (window, schema, *slots);
        (self.scope, self.at, self.last_big) = (Scope::PacketHeader, at, false);
        self.known = KnownString::NONE;
        (self.mark, self.idle) = (u64::MAX, 0);
        self.stop();
    }

    /// Begins the payload whose root structure is at `root`, after bit `at`. Lengths and selectors stay.
    #[inline(always)]
    pub(super) fn begin_payload(&mut self, at: u64, last_big: bool, root: u32) {
        let node = self.node(root);
        self.scope = Scope::Payload;
        (self.at, self.last_big) = (aligned(at, node), last_big);
        self.top = Frame { next: root.wrapping_add(1), end: root.wrapping_add(node.size), left: 0 };
        self.stack.depth = 0;
        (self.mark, self.idle) = (u64::MAX, 0);
    }

    /// Ends everything: there is no field any more.
    #[inline]
    pub(super) fn stop(&mut self) {
        self.top = Frame::EMPTY;
        self.stack.depth = 0;
    }

    /// True if there is neither a field any more nor the end of one.
    #[inline(always)]
    pub(super) fn is_at_end(&self) -> bool {
        self.stack.depth == 0 && self.top.peek().is_none()
    }

    /// The result of `done` for the next field, if that is of a common kind, has no fields in it, and is valid.
    #[inline(always)]
    pub(super) fn quick<R>(&mut self, done: impl FnOnce(Step<'a>) -> R) -> Option<R> {
        let index = self.top.peek()?;
        let content = self.window.content();
        let field = self.rest_in_bytes(content)?;
        take(content, field, self.node(index), KnownString::NONE, |value, start, after| {
            self.top.take_leaf();
            self.at = to_u64(content.len().wrapping_sub(after.len())).wrapping_mul(8);
            done(Step { index, value, start })
        })
    }

    /// The bytes of the [content](Window::content) from the first whole one on.
    #[inline(always)]
    #[allow(clippy::as_conversions)] // Positions lie in memory.
    pub(super) fn rest_in_bytes(&self, content: &'a [u8]) -> Option<&'a [u8]> {
        content.get((self.at.wrapping_add(7) >> 3) as usize..)
    }

    /// In an array: the class of its elements, and how many are left.
    #[inline(always)]
    pub(super) fn elements(&self) -> Option<(u32, &'s Node, u64)> {
        (self.top.end == ELEMENTS).then(|| (self.top.next, self.node(self.top.next), self.top.left))
    }

    /// Records that `left` elements are left.
    #[inline(always)]
    pub(super) fn take_elements(&mut self, left: u64) {
        self.top.left = left;
    }

    /// The node of the next member.
    #[inline(always)]
    pub(super) fn first_member(&self) -> u32 {
        self.top.next
    }

    /// The nodes from the next member on, up to the end of this level.
    #[inline(always)]
    #[allow(clippy::as_conversions)]
    pub(super) fn members(&self) -> &'s [Node] {
        self.schema.nodes.0.get(self.top.next as usize..self.top.end as usize).unwrap_or_default()
    }

    /// Goes over `count` members that have no members of their own.
    #[inline(always)]
    pub(super) fn take_members(&mut self, count: u32) {
        self.top.next = self.top.next.wrapping_add(count);
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
        self.stack.depth = 0;
        self.mark = u64::MAX;
        if root == NONE {
            self.top = Frame::EMPTY;
            return Ok(());
        }
        let node = self.node(root);
        self.top = Frame { next: root.wrapping_add(1), end: root.wrapping_add(node.size), left: 0 };
        self.align(node)
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

    /// The next field that is worth a look.
    ///
    /// To skip, that is one that has a role. Otherwise it is every one, and the end of each that has others in it.
    // On bare metal there is one for both, which takes 5 KB less.
    #[cfg_attr(target_os = "none", inline(never))]
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(super) fn step(&mut self, skip: bool) -> Result<Option<Step<'a>>> {
        loop {
            let index = if self.top.end == ELEMENTS {
                match self.top.left.checked_sub(1) {
                    Some(left) => {
                        self.top.left = left;
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
                if skip {
                    continue;
                }
                return Ok(Some(Step { index: NONE, value: Value::End, start: self.at }));
            }
            let node = self.node(index);
            self.begin_field(skip)?;
            if skip && node.has(PLAIN) && self.skip_plain(node) {
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
                    if skip { Value::Blob(stored) } else { Value::Text(Text::new(stored, node.encoding())) }
                }
                Kind::DynamicString => {
                    let stored = self.bytes(self.key(node))?;
                    if skip { Value::Blob(stored) } else { Value::Text(Text::new(stored, node.encoding())) }
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
                Kind::StaticArray => self.array(index, node, node.a.into(), skip)?,
                Kind::DynamicArray => self.array(index, node, self.key(node), skip)?,
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
            if skip && (node.meaning() == 0 || matches!(value, Value::Text(_))) {
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

    #[inline]
    fn array(&mut self, index: u32, node: &Node, count: u64, skip: bool) -> Result<Value<'a>> {
        let child = index.wrapping_add(1);
        let element = self.node(child);
        let mut left = count;
        // Elements that may take no bits are counted.
        if skip && element.has(PLAIN) && !element.has(LAST) && node.meaning() == 0 {
            left = self.skip_elements(element, count);
        }
        self.enter(Frame { next: child, end: ELEMENTS, left });
        Ok(Value::Array(count))
    }

    /// Notices that a field begins. Members and elements that take no bits could be many for each byte: what precedes
    /// them bounds them.
    #[inline(always)]
    fn begin_field(&mut self, skip: bool) -> Result<()> {
        if self.at != self.mark {
            self.mark = self.at;
            return Ok(());
        }
        self.idle = self.idle.saturating_add(1);
        if self.idle <= self.idle_max(skip) { Ok(()) } else { Err(self.too_idle(skip)) }
    }

    /// The most fields so far that begin where the one before them does.
    #[inline]
    pub(super) fn idle_max(&self, skip: bool) -> u64 {
        let [all, skipped] = IDLE_PER_BIT;
        self.at.saturating_mul(if skip { skipped } else { all }).saturating_add(IDLE_MAX)
    }

    #[cold]
    fn too_idle(&self, skip: bool) -> Error {
        let kind = ErrorKind::OverLimit { value: self.idle, limit: self.idle_max(skip) };
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
        let found = match self.schema.nodes.option_of(index, node, key, signed) {
            Some(found) => found,
            None => {
                self.schema.nodes.children(index).find(|choice| self.is_in(self.node(*choice).b, key, signed))
            }
        };
        if let Some(choice) = found {
            let option = self.node(choice);
            let end = choice.wrapping_add(option.size.max(1));
            self.enter(Frame { next: choice.wrapping_add(1), end, left: 0 });
            return Ok(Value::Variant(option.a));
        }
        let kind = ErrorKind::NoSuchOption { value: key };
        Err(self.window.error(self.at, element::of(self.scope), kind))
    }
}
