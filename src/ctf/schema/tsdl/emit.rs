//! Types become field classes.

use super::compiler::Compiler;
use super::element;
use super::keyword::says;
use super::tree::{Node, NodeKind};
use crate::ctf::metadata::{Place, Text};
use crate::ctf::schema::names::FEW;
use crate::ctf::schema::node::{self, BIG, Kind, NONE, SPLIT, UNDERSCORE, role};
use crate::ctf::schema::scope::Scope;
use crate::ctf::schema::spec::{ClockSpec, TextPlace};
use crate::error::{Error, ErrorKind, Result};
use crate::json::Source;
use heapless::Vec;

/// Whose types are emitted.
#[derive(Clone, Copy, Default)]
pub(super) struct Origin {
    /// The index of the clock that the stream has, plus one.
    pub(super) clock: u32,
    /// True if its event header says which event it is.
    pub(super) has_event_id: bool,
}

/// The most levels to which field classes may be nested.
pub(super) const OPEN: usize = 60;

/// A class whose members, options or element are being emitted.
#[derive(Clone, Copy)]
pub(super) struct Open {
    pub(super) node: u32,
    pub(super) kind: NodeKind,
    end: u32,
    class: u32,
    choice: u32,
    /// The number of members or options that have been emitted.
    children: u32,
}

/// A place as the schema keeps it.
pub(super) fn shown(place: Place, flags: u8) -> Result<node::Place> {
    text_place(place, flags)?.short(element::TOKEN)
}

/// The same of a text that is no name.
pub(super) fn text_place(place: Place, flags: u8) -> Result<TextPlace> {
    let split = if place.is_together() { 0 } else { SPLIT };
    TextPlace::new(place.offset(), place.len(), flags | split, element::TOKEN)
}

/// A name without the underscore that is not shown.
fn displayed(mut text: Text<'_>) -> Text<'_> {
    if text.front().first() == Some(&b'_') {
        text.advance(1);
    }
    text
}

/// True if a type ends here as a whole: text, a number, a string.
fn is_leaf(node: &Node, element: &Node) -> bool {
    match node.kind {
        NodeKind::Struct | NodeKind::Variant => false,
        NodeKind::Array | NodeKind::Sequence => element.is_character(),
        _ => true,
    }
}

impl<'a> Compiler<'a, '_, '_> {
    /// Emits the structure at `root`.
    pub(super) fn emit_root(&mut self, root: u32, scope: Scope, origin: &mut Origin) -> Result<()> {
        let end = root.saturating_add(self.tree.get(root).span);
        // The classes that are open, the outermost first.
        let mut ancestors = Vec::<Open, OPEN>::new();
        let mut first = NONE;
        let mut at = root;
        loop {
            while let Some(&open) = ancestors.last().filter(|open| at >= open.end) {
                self.builder.close(open.class);
                // The names are known to differ.
                if open.children > FEW {
                    let stream = self.stream;
                    // Most options have one range; with more of them, or if some overlap, no table of them is made.
                    let ranges = if open.kind == NodeKind::Variant { open.children } else { 0 };
                    self.builder.index_names(&stream, open.class, open.children, ranges)?;
                }
                if open.choice != NONE {
                    self.builder.close(open.choice);
                }
                ancestors.pop();
            }
            if at >= end {
                break;
            }
            let node = self.tree.get(at);
            let element = self.tree.get(at.saturating_add(1));
            let parent = ancestors.last().copied();
            if let Some(open) = ancestors.last_mut() {
                open.children = open.children.saturating_add(1);
            }
            let mut class = self.class(at, &node, &element, scope, &ancestors, origin)?;
            let mut choice = NONE;
            match parent.map(|parent| parent.kind) {
                Some(NodeKind::Variant) => {
                    // The ranges that select it are those of a label, when the tag is known.
                    let number = parent.map_or(0, |parent| parent.children);
                    let mut option = node::Node { a: number, b: NONE, ..node::Node::new(Kind::Choice) };
                    option.set_name(shown(node.name, UNDERSCORE)?);
                    choice = self.builder.open(option)?;
                }
                Some(NodeKind::Struct) => class.set_name(shown(node.name, UNDERSCORE)?),
                _ => {}
            }
            let class = self.builder.open(class)?;
            if first == NONE {
                first = class;
            }
            if is_leaf(&node, &element) {
                self.builder.close(class);
                if choice != NONE {
                    self.builder.close(choice);
                }
                at = at.saturating_add(node.span);
            } else {
                let open = Open {
                    node: at,
                    kind: node.kind,
                    end: at.saturating_add(node.span),
                    class,
                    choice,
                    children: 0,
                };
                let limit = u32::try_from(OPEN).unwrap_or(u32::MAX);
                let too_deep = Error::new(node.name.offset(), element::TYPE, ErrorKind::TooDeep { limit });
                ancestors.push(open).map_err(|_| too_deep)?;
                at = at.saturating_add(1);
            }
        }
        self.builder.root(first, scope);
        Ok(())
    }

    /// The class that a type is, without its name.
    fn class(
        &mut self,
        at: u32,
        node: &Node,
        element: &Node,
        scope: Scope,
        ancestors: &[Open],
        origin: &mut Origin,
    ) -> Result<node::Node> {
        let text = matches!(node.kind, NodeKind::Array | NodeKind::Sequence) && element.is_character();
        let kind = match node.kind {
            NodeKind::Integer | NodeKind::Enum if node.signed => Kind::Signed,
            NodeKind::Integer | NodeKind::Enum => Kind::Unsigned,
            NodeKind::Float => Kind::Float,
            NodeKind::String => Kind::NulString,
            NodeKind::Struct => Kind::Structure,
            NodeKind::Variant => Kind::Variant,
            NodeKind::Array if text => Kind::StaticString,
            NodeKind::Array => Kind::StaticArray,
            NodeKind::Sequence if text => Kind::DynamicString,
            NodeKind::Sequence => Kind::DynamicArray,
        };
        let mut class = node::Node::new(kind);
        class.b = NONE;
        class.set_align_log2(node.align);
        match node.kind {
            NodeKind::Integer | NodeKind::Enum | NodeKind::Float => {
                class.a = node.size.into();
                class.set(BIG, node.big_endian);
                if node.kind == NodeKind::Enum {
                    class.b = node.made;
                }
                if node.kind != NodeKind::Float {
                    class.set_base(node.base);
                }
            }
            NodeKind::Array => {
                class.a = u32::try_from(node.len).ok().filter(|len| *len < NONE).ok_or_else(|| {
                    let kind = ErrorKind::OverLimit { value: node.len, limit: NONE.saturating_sub(1).into() };
                    Error::new(node.name.offset(), element::LENGTH, kind)
                })?;
            }
            NodeKind::Sequence | NodeKind::Variant => class.a = self.location(self.text(node.place))?,
            NodeKind::String | NodeKind::Struct => {}
        }
        if scope <= Scope::CommonContext || node.clock != 0 {
            class.roles = self.roles(at, node, element, scope, ancestors, origin)?;
        }
        Ok(class)
    }

    /// The meaning of a field by its name and its clock.
    fn roles(
        &mut self,
        at: u32,
        node: &Node,
        element: &Node,
        scope: Scope,
        ancestors: &[Open],
        origin: &mut Origin,
    ) -> Result<u16> {
        let is_member = ancestors.last().is_some_and(|open| open.kind == NodeKind::Struct);
        let is_direct = ancestors.len() == 1;
        let offset = node.name.offset();
        let wrong = || Err(Error::new(offset, element::ROLE, ErrorKind::Misplaced));
        let name = displayed(self.text(node.name));
        let mut implied = false;
        let mut roles = 0;
        match scope {
            Scope::PacketHeader if node.clock != 0 => return wrong(),
            Scope::PacketHeader if is_direct => {
                let first = ancestors.first().map_or(0, |root| root.node).saturating_add(1);
                if says(name, b"magic") {
                    if at != first || node.kind != NodeKind::Integer || node.signed || node.size != 32 {
                        return wrong();
                    }
                    roles = role::MAGIC;
                } else if says(name, b"uuid") {
                    let bytes = element.kind == NodeKind::Integer && !element.signed && element.size == 8;
                    if node.kind != NodeKind::Array || node.len != 16 || !bytes || element.align != 3 {
                        return wrong();
                    }
                    if self.builder.uuid.is_some() {
                        roles = role::UUID;
                    }
                } else if says(name, b"stream_id") {
                    roles = role::STREAM_CLASS_ID;
                    self.facts.has_stream_id = true;
                } else if says(name, b"stream_instance_id") {
                    roles = role::STREAM_ID;
                }
            }
            Scope::PacketContext if is_direct => {
                let words: [(&[u8], u16); 6] = [
                    (b"timestamp_begin", role::TIMESTAMP),
                    (b"timestamp_end", role::END_TIMESTAMP),
                    (b"content_size", role::CONTENT_LENGTH),
                    (b"packet_size", role::TOTAL_LENGTH),
                    (b"events_discarded", role::DISCARDED),
                    (b"packet_seq_num", role::SEQUENCE),
                ];
                roles = words.iter().find(|(word, _)| says(name, word)).map_or(0, |(_, role)| *role);
                implied = roles & (role::TIMESTAMP | role::END_TIMESTAMP) != 0;
            }
            Scope::EventHeader if is_member && node.is_integer() && says(name, b"id") => {
                roles = role::EVENT_CLASS_ID;
                origin.has_event_id = true;
            }
            Scope::EventHeader if is_member && node.is_unsigned() && says(name, b"timestamp") => {
                roles = role::TIMESTAMP;
                implied = true;
            }
            _ => {}
        }
        if roles & !role::UUID != 0 && !node.is_unsigned() {
            return wrong();
        }
        if node.clock == 0 && !implied {
            return Ok(roles);
        }
        let clock = if node.clock != 0 { node.clock } else { self.only_clock(offset)? };
        if origin.clock != 0 && origin.clock != clock {
            return Err(Error::new(offset, element::CLOCK, ErrorKind::Repeated));
        }
        if scope <= Scope::CommonContext {
            origin.clock = clock;
        }
        if matches!(scope, Scope::PacketContext | Scope::EventHeader)
            && node.is_unsigned()
            && roles & role::END_TIMESTAMP == 0
        {
            roles |= role::TIMESTAMP;
        }
        Ok(roles)
    }

    /// The index, plus one, of the clock that a timestamp has which names none.
    fn only_clock(&self, offset: u64) -> Result<u32> {
        match (self.facts.clocks, self.facts.default_clock) {
            (0 | 1, Some(clock)) => Ok(clock.saturating_add(1)),
            _ => Err(Error::new(offset, element::CLOCK, ErrorKind::Missing)),
        }
    }

    /// Makes the clock that timestamps without one have if no clock is declared: it counts nanoseconds.
    pub(super) fn imply_clock(&mut self, roots: &[Option<u32>; 3], offset: u64) -> Result<()> {
        if self.facts.clocks > 0 || self.facts.default_clock.is_some() {
            return Ok(());
        }
        let [context, header, _] = *roots;
        let mut needed = false;
        for (root, names) in
            [(context, [&b"timestamp_begin"[..], b"timestamp_end"]), (header, [b"timestamp", b"timestamp"])]
        {
            let Some(root) = root else { continue };
            for at in root..root.saturating_add(self.tree.get(root).span) {
                let name = displayed(self.text(self.tree.get(at).name));
                needed |= names.iter().any(|word| says(name, word));
            }
        }
        if needed {
            let clock = self.builder.begin()?;
            let spec = ClockSpec {
                name: None,
                id: None,
                frequency: 1_000_000_000,
                seconds: 0,
                cycles: 0,
                is_unix: false,
                offset,
            };
            self.facts.default_clock = Some(self.builder.end_clock(clock, &spec)?);
        }
        Ok(())
    }
}
