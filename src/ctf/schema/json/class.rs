//! Field classes.

use super::super::class::Encoding;
use super::super::element::{FIELD_CLASS, RANGE};
use super::super::node::{BIG, Kind, NONE, Node, REVERSED, role};
use super::super::ranges::check_range;
use super::compiler::{Compiler, Json};
use super::stack::{Frame, Mode};
use super::value::place;
use crate::error::{Error, ErrorKind, Result};
use crate::json::Event;

// The properties that an object of a field class may have.
const TYPE: u32 = 1;
const LENGTH: u32 = 1 << 1;
const BYTE_ORDER: u32 = 1 << 2;
const BIT_ORDER: u32 = 1 << 3;
const ALIGNMENT: u32 = 1 << 4;
const BASE: u32 = 1 << 5;
const MAPPINGS: u32 = 1 << 6;
const FLAGS: u32 = 1 << 7;
const ROLES: u32 = 1 << 8;
const ENCODING: u32 = 1 << 9;
const MEDIA_TYPE: u32 = 1 << 10;
const MEMBERS: u32 = 1 << 11;
const ELEMENT: u32 = 1 << 12;
const CONTENT: u32 = 1 << 13;
const OPTIONS: u32 = 1 << 14;
const LENGTH_LOCATION: u32 = 1 << 15;
const SELECTOR_LOCATION: u32 = 1 << 16;
const RANGES: u32 = 1 << 17;
const MINIMUM: u32 = 1 << 18;
const NAME: u32 = 1 << 19;
/// The bits of the encoding among a node's roles: the type may come after either.
const ENCODINGS: u16 = u16::MAX << role::ENCODING_SHIFT;
/// Not a property: the bit order is last-to-first.
const LAST_TO_FIRST: u32 = 1 << 31;

/// The properties that share a place in a node, or have classes in them: they may stand only where they mean something.
const CRITICAL: u32 = LENGTH
    | MAPPINGS
    | FLAGS
    | MEDIA_TYPE
    | MEMBERS
    | ELEMENT
    | CONTENT
    | OPTIONS
    | LENGTH_LOCATION
    | SELECTOR_LOCATION
    | RANGES;

const PROPERTIES: [(&str, u32); 19] = [
    ("type", TYPE),
    ("length", LENGTH),
    ("byte-order", BYTE_ORDER),
    ("bit-order", BIT_ORDER),
    ("alignment", ALIGNMENT),
    ("preferred-display-base", BASE),
    ("mappings", MAPPINGS),
    ("flags", FLAGS),
    ("roles", ROLES),
    ("encoding", ENCODING),
    ("media-type", MEDIA_TYPE),
    ("member-classes", MEMBERS),
    ("element-field-class", ELEMENT),
    ("field-class", CONTENT),
    ("options", OPTIONS),
    ("length-field-location", LENGTH_LOCATION),
    ("selector-field-location", SELECTOR_LOCATION),
    ("selector-field-ranges", RANGES),
    ("minimum-alignment", MINIMUM),
];

/// Each type with what it must say and what critical it may say besides.
const TYPES: [(&str, Kind, u32, u32); 17] = [
    ("fixed-length-unsigned-integer", Kind::Unsigned, LENGTH | BYTE_ORDER, MAPPINGS),
    ("fixed-length-signed-integer", Kind::Signed, LENGTH | BYTE_ORDER, MAPPINGS),
    ("structure", Kind::Structure, 0, MEMBERS),
    ("null-terminated-string", Kind::NulString, 0, 0),
    ("fixed-length-floating-point-number", Kind::Float, LENGTH | BYTE_ORDER, 0),
    ("static-length-array", Kind::StaticArray, LENGTH | ELEMENT, 0),
    ("dynamic-length-array", Kind::DynamicArray, LENGTH_LOCATION | ELEMENT, 0),
    ("static-length-string", Kind::StaticString, LENGTH, 0),
    ("dynamic-length-string", Kind::DynamicString, LENGTH_LOCATION, 0),
    ("variant", Kind::Variant, SELECTOR_LOCATION | OPTIONS, 0),
    ("optional", Kind::Optional, SELECTOR_LOCATION | CONTENT, RANGES),
    ("fixed-length-boolean", Kind::Boolean, LENGTH | BYTE_ORDER, 0),
    ("fixed-length-bit-array", Kind::BitArray, LENGTH | BYTE_ORDER, 0),
    ("fixed-length-bit-map", Kind::BitMap, LENGTH | BYTE_ORDER | FLAGS, 0),
    ("static-length-blob", Kind::StaticBlob, LENGTH, MEDIA_TYPE),
    ("dynamic-length-blob", Kind::DynamicBlob, LENGTH_LOCATION, MEDIA_TYPE),
    ("variable-length-unsigned-integer", Kind::VariableUnsigned, 0, MAPPINGS),
];
const VARIABLE_SIGNED: &str = "variable-length-signed-integer";

impl<'a, S: Json<'a>> Compiler<'_, '_, 'a, S> {
    /// A field class, or the name of an alias: its node, and its kind if that is known.
    pub(super) fn class(&mut self) -> Result<u32> {
        self.stack.depth = 0;
        let mut done = self.begin_class()?;
        loop {
            if let Some(node) = done.take() {
                match self.stack.top() {
                    None => return Ok(node),
                    Some(frame) if frame.mode == Mode::Member => frame.node = node,
                    Some(_) => {}
                }
            }
            let Some(&mut frame) = self.stack.top() else {
                return Err(self.wrong(FIELD_CLASS, "a field class"));
            };
            done = match frame.mode {
                Mode::Class => self.property()?,
                Mode::Members | Mode::Options => self.entry(frame)?,
                Mode::Member | Mode::Choice => self.entry_property(frame)?,
            };
        }
    }

    /// The beginning of a class; its node if that is all.
    fn begin_class(&mut self) -> Result<Option<u32>> {
        match self.event()? {
            Event::ObjectStart => {
                let offset = self.parser.event_offset();
                let node = self.builder.open(Node { a: 0, b: NONE, ..Node::EMPTY })?;
                self.stack.push(Mode::Class, node, offset)?;
                Ok(None)
            }
            Event::String(name) => {
                let place = place(name, FIELD_CLASS)?;
                let stream = self.stream;
                match self.builder.use_alias(&stream, place)? {
                    Some(node) => Ok(Some(node)),
                    None => Err(self.wrong(FIELD_CLASS, "an alias that was defined before")),
                }
            }
            _ => Err(self.wrong(FIELD_CLASS, "a field class or the name of one")),
        }
    }

    /// An entry of a list of members or options, or the list's end.
    fn entry(&mut self, frame: Frame) -> Result<Option<u32>> {
        match self.event()? {
            Event::ObjectStart if frame.mode == Mode::Members => {
                self.stack.push(Mode::Member, NONE, self.parser.event_offset())?;
            }
            Event::ObjectStart => {
                let offset = self.parser.event_offset();
                let choice = Node { a: frame.entries, b: NONE, ..Node::new(Kind::Choice) };
                let node = self.builder.open(choice)?;
                self.stack.push(Mode::Choice, node, offset)?;
            }
            Event::ArrayEnd => self.update(|class| class.mode = Mode::Class),
            _ => return Err(self.wrong(FIELD_CLASS, "an object")),
        }
        Ok(None)
    }

    /// A property of a member or an option.
    fn entry_property(&mut self, frame: Frame) -> Result<Option<u32>> {
        let Some(key) = self.key()? else {
            let needed = if frame.mode == Mode::Member { NAME | CONTENT } else { CONTENT | RANGES };
            if frame.seen & needed != needed {
                return Err(Error::new(frame.offset, FIELD_CLASS, ErrorKind::Missing));
            }
            if let Some(place) = frame.name {
                self.builder.update(frame.node, |node| node.set_name(place));
            }
            if frame.mode == Mode::Choice {
                self.builder.close(frame.node);
            }
            self.stack.depth = self.stack.depth.saturating_sub(1);
            self.update(|class| {
                class.entries = class.entries.saturating_add(1);
                class.ranges = class.ranges.saturating_add(frame.ranges);
            });
            return Ok(None);
        };
        let property = if key.is("name") {
            NAME
        } else if key.is("field-class") {
            CONTENT
        } else if key.is("selector-field-ranges") && frame.mode == Mode::Choice {
            RANGES
        } else {
            self.skip()?;
            return Ok(None);
        };
        self.note(property)?;
        match property {
            NAME => {
                let place = self.name(FIELD_CLASS)?;
                self.update(|entry| entry.name = Some(place));
            }
            CONTENT => return self.begin_class(),
            _ => {
                let first = self.closed_ranges()?;
                self.builder.update(frame.node, |node| node.b = first);
            }
        }
        Ok(None)
    }

    /// Changes what is known of the present object.
    fn update(&mut self, change: impl FnOnce(&mut Frame)) {
        if let Some(top) = self.stack.top() {
            change(top);
        }
    }

    fn closed_ranges(&mut self) -> Result<u32> {
        let (first, last, count) = self.ranges()?;
        self.update(|object| object.ranges = count);
        self.builder.end_list(last);
        Ok(first)
    }

    /// Remembers that a property occurred. It may do so once.
    fn note(&mut self, property: u32) -> Result<()> {
        let offset = self.parser.event_offset();
        match self.stack.top() {
            Some(frame) if frame.seen & property == 0 => frame.seen |= property,
            _ => return Err(Error::new(offset, FIELD_CLASS, ErrorKind::Repeated)),
        }
        Ok(())
    }

    /// A property of a class, or its end.
    fn property(&mut self) -> Result<Option<u32>> {
        let Some(key) = self.key()? else {
            let Some(&mut frame) = self.stack.top() else { return Ok(None) };
            self.end_class(&frame)?;
            self.stack.depth = self.stack.depth.saturating_sub(1);
            return Ok(Some(frame.node));
        };
        let Some(&(_, property)) = PROPERTIES.iter().find(|(name, _)| key.is(name)) else {
            self.skip()?;
            return Ok(None);
        };
        self.note(property)?;
        let Some(&mut Frame { node, .. }) = self.stack.top() else { return Ok(None) };
        match property {
            TYPE => {
                let name = self.text(FIELD_CLASS)?;
                let known = TYPES.iter().find(|(known, ..)| name.is(known)).map(|(_, kind, ..)| *kind);
                let known = known.or_else(|| name.is(VARIABLE_SIGNED).then_some(Kind::VariableSigned));
                let kind = known.ok_or_else(|| self.wrong(FIELD_CLASS, "a type that CTF 2 defines"))?;
                self.update(|class| class.kind = kind);
            }
            LENGTH => {
                let value = self.unsigned(FIELD_CLASS)?;
                let limit = u64::from(NONE.saturating_sub(1));
                let too_large = Error::new(
                    self.parser.event_offset(),
                    FIELD_CLASS,
                    ErrorKind::OverLimit { value, limit },
                );
                let value = u32::try_from(value).ok().filter(|value| *value < NONE).ok_or(too_large)?;
                self.builder.update(node, |node| node.a = value);
            }
            BYTE_ORDER => {
                let name = self.text(FIELD_CLASS)?;
                let big = name.is("big-endian");
                if !big && !name.is("little-endian") {
                    return Err(self.wrong(FIELD_CLASS, "little-endian or big-endian"));
                }
                self.builder.update(node, |node| node.set(BIG, big));
            }
            BIT_ORDER => {
                let name = self.text(FIELD_CLASS)?;
                let last_to_first = name.is("last-to-first");
                if !last_to_first && !name.is("first-to-last") {
                    return Err(self.wrong(FIELD_CLASS, "first-to-last or last-to-first"));
                }
                if last_to_first {
                    self.update(|class| class.seen |= LAST_TO_FIRST);
                }
            }
            ALIGNMENT | MINIMUM => {
                let log2 = self.alignment()?;
                self.builder.update(node, |node| node.set_align_log2(log2));
            }
            BASE => {
                let value = self.unsigned(FIELD_CLASS)?;
                let base = u8::try_from(value).ok().filter(|base| [2, 8, 10, 16].contains(base));
                let invalid =
                    Error::new(self.parser.event_offset(), FIELD_CLASS, ErrorKind::Invalid { value });
                let base = base.ok_or(invalid)?;
                self.builder.update(node, |node| node.set_base(base));
            }
            MAPPINGS | FLAGS => {
                let first = self.labels()?;
                self.builder.update(node, |node| node.b = first);
            }
            ROLES => {
                let roles = self.roles()?;
                self.builder.update(node, |node| node.roles = node.roles & ENCODINGS | roles);
            }
            ENCODING => {
                let name = self.text(FIELD_CLASS)?;
                let known = Encoding::ALL.iter().find(|(_, known)| name.is(known));
                let Some((encoding, _)) = known else { return Err(self.wrong(FIELD_CLASS, "an encoding")) };
                let encoding = encoding.number() << role::ENCODING_SHIFT;
                self.builder.update(node, |node| node.roles = node.roles & !ENCODINGS | encoding);
            }
            MEDIA_TYPE => {
                let place = self.name(FIELD_CLASS)?;
                let mut media = Node::new(Kind::Media);
                media.set_name(place);
                let media = self.builder.side(media)?;
                self.builder.update(node, |node| node.b = media);
            }
            MEMBERS | OPTIONS => {
                self.array(FIELD_CLASS)?;
                let mode = if property == MEMBERS { Mode::Members } else { Mode::Options };
                self.update(|class| class.mode = mode);
            }
            ELEMENT | CONTENT => return self.begin_class(),
            LENGTH_LOCATION | SELECTOR_LOCATION => {
                let first = self.location()?;
                self.builder.update(node, |node| node.a = first);
            }
            _ => {
                let first = self.closed_ranges()?;
                self.builder.update(node, |node| node.b = first);
            }
        }
        Ok(None)
    }

    /// The end of a class's object: all that it is is known.
    fn end_class(&mut self, frame: &Frame) -> Result<()> {
        let fail = |kind| Err(Error::new(frame.offset, FIELD_CLASS, kind));
        let (needed, allowed) = match TYPES.iter().find(|(_, kind, ..)| *kind == frame.kind) {
            Some(&(_, _, needed, allowed)) => (needed, allowed),
            None if frame.kind == Kind::VariableSigned => (0, MAPPINGS),
            None => return fail(ErrorKind::Missing),
        };
        if frame.seen & needed != needed {
            return fail(ErrorKind::Missing);
        }
        if frame.seen & CRITICAL & !(needed | allowed) != 0 {
            return fail(ErrorKind::Misplaced);
        }
        let kind = frame.kind;
        self.builder.close(frame.node);
        self.builder.update(frame.node, |node| {
            node.kind = kind;
            if kind.is_fixed_length() {
                let natural = node.has(BIG);
                let last_to_first = frame.seen & LAST_TO_FIRST != 0;
                node.set(REVERSED, frame.seen & BIT_ORDER != 0 && natural != last_to_first);
            } else {
                node.set(BIG, false);
            }
            let is_string = matches!(kind, Kind::NulString | Kind::StaticString | Kind::DynamicString);
            node.roles &= if is_string { ENCODINGS } else { !ENCODINGS };
        });
        if matches!(kind, Kind::Structure | Kind::Variant) {
            if kind == Kind::Variant && frame.entries == 0 {
                return fail(ErrorKind::Missing);
            }
            let stream = self.stream;
            return self.builder.index_names(&stream, frame.node, frame.entries, frame.ranges);
        }
        if self.builder.counting {
            return Ok(());
        }
        let node = self.builder.node(frame.node);
        match kind {
            Kind::Float if !is_float(node.a) => fail(ErrorKind::Unsupported { value: node.a.into() }),
            _ if kind.is_fixed_length() && node.a == 0 => fail(ErrorKind::Invalid { value: 0 }),
            _ if kind.is_integer() || kind == Kind::BitMap => self.check_labels(&node, frame.offset),
            _ => Ok(()),
        }
    }

    /// The ranges of mappings are of the type of the integer, those of flags within the bit map.
    fn check_labels(&self, node: &Node, offset: u64) -> Result<()> {
        let signed = matches!(node.kind, Kind::Signed | Kind::VariableSigned);
        let mut next = Some(node.b).filter(|first| *first != NONE);
        while let Some(index) = next {
            let label = self.builder.node(index);
            for at in 1..=label.size {
                let range = self.builder.node(index.saturating_sub(at));
                check_range(&range, signed).map_err(|kind| Error::new(offset, RANGE, kind))?;
                if node.kind == Kind::BitMap && range.y() >= node.a.into() {
                    let limit = u64::from(node.a).saturating_sub(1);
                    let kind = ErrorKind::OverLimit { value: range.y(), limit };
                    return Err(Error::new(label.name.into(), RANGE, kind));
                }
            }
            let is_last = label.has(super::super::node::LAST);
            next = if is_last { None } else { index.checked_sub(label.size.saturating_add(1)) };
        }
        Ok(())
    }
}

/// True if IEEE 754 has a binary format of this many bits.
const fn is_float(bits: u32) -> bool {
    matches!(bits, 16 | 32 | 64) || (bits >= 128 && bits.is_multiple_of(32))
}
