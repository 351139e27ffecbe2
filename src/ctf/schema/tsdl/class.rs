//! Integers, floating-point numbers, strings and enumerations.

use super::attribute::{Seen, align_log2};
use super::compiler::{Compiler, Purpose};
use super::declaration::Spec;
use super::element;
use super::keyword::Keyword;
use super::lexer::{Kind, Token};
use super::names::{self, Key};
use super::parser::{Parser, Path, Value};
use super::tree::{Node, NodeKind};
use crate::ctf::metadata::{Place, Text};
use crate::error::{Error, ErrorKind, Result};

/// An attribute between the braces of a type: `name = value;`.
pub(super) struct Attribute<'a> {
    pub(super) name: Path<'a>,
    pub(super) value: Value<'a>,
    /// Where the name and the value stand.
    pub(super) at: u64,
    pub(super) offset: u64,
}

impl<'a> Parser<'a> {
    /// The next attribute; `None` after the `}` that ends them.
    pub(super) fn attribute(&mut self) -> Result<Option<Attribute<'a>>> {
        while self.accept(b';')? {}
        if self.accept(b'}')? {
            return Ok(None);
        }
        let at = self.ahead.offset;
        let name = self.path(element::ATTRIBUTE, "an attribute or '}'")?;
        self.expect(b'=', element::ATTRIBUTE, "'='")?;
        let (value, offset) = self.value()?;
        self.end(element::ATTRIBUTE)?;
        Ok(Some(Attribute { name, value, at, offset }))
    }
}

const BASES: [(&[u8], u8); 17] = [
    (b"decimal", 10),
    (b"dec", 10),
    (b"d", 10),
    (b"i", 10),
    (b"u", 10),
    (b"hexadecimal", 16),
    (b"hex", 16),
    (b"x", 16),
    (b"X", 16),
    (b"p", 16),
    (b"octal", 8),
    (b"oct", 8),
    (b"o", 8),
    (b"binary", 2),
    (b"bin", 2),
    (b"b", 2),
    (b"pointer", 16),
];

impl<'a> Compiler<'a, '_> {
    /// `integer { … }`
    pub(super) fn integer(&mut self) -> Result<Node> {
        let keyword = self.parser.bump()?;
        self.parser.expect(b'{', element::TYPE, "'{'")?;
        let mut node = Node { big_endian: self.big_endian, ..Node::of(NodeKind::Integer) };
        let mut seen = Seen::default();
        let mut align = None;
        while let Some(Attribute { name, value, at, offset }) = self.parser.attribute()? {
            if name.is(&[b"size"]) {
                seen.once(0, at)?;
                let size = value.unsigned(offset)?;
                node.size = match u8::try_from(size) {
                    Ok(size @ 1..=64) => size,
                    _ => return Err(Error::new(offset, element::ATTRIBUTE, ErrorKind::Invalid { value: size })),
                };
            } else if name.is(&[b"align"]) {
                seen.once(1, at)?;
                align = Some(align_log2(value.unsigned(offset)?, offset)?);
            } else if name.is(&[b"signed"]) {
                seen.once(2, at)?;
                node.signed = value.boolean(offset)?;
            } else if name.is(&[b"byte_order"]) {
                seen.once(3, at)?;
                node.big_endian = self.byte_order(&value, offset)?;
            } else if name.is(&[b"base"]) {
                seen.once(4, at)?;
                node.base = base(&value, offset)?;
            } else if name.is(&[b"encoding"]) {
                seen.once(5, at)?;
                node.character = is_encoded(&value, offset)?;
            } else if name.is(&[b"map"]) {
                seen.once(6, at)?;
                node.clock = self.clock_of(&value, offset)?;
            }
        }
        if !seen.has(0) {
            return Err(keyword.error(element::TYPE, ErrorKind::Missing));
        }
        node.align = align.unwrap_or(if node.size.is_multiple_of(8) { 3 } else { 0 });
        Ok(node)
    }

    /// `floating_point { … }`
    pub(super) fn floating_point(&mut self) -> Result<Node> {
        let keyword = self.parser.bump()?;
        self.parser.expect(b'{', element::TYPE, "'{'")?;
        let mut node = Node { big_endian: self.big_endian, align: 3, ..Node::of(NodeKind::Float) };
        let mut seen = Seen::default();
        let (mut exponent, mut mantissa) = (0, 0);
        while let Some(Attribute { name, value, at, offset }) = self.parser.attribute()? {
            if name.is(&[b"exp_dig"]) {
                seen.once(0, at)?;
                exponent = value.unsigned(offset)?;
            } else if name.is(&[b"mant_dig"]) {
                seen.once(1, at)?;
                mantissa = value.unsigned(offset)?;
            } else if name.is(&[b"byte_order"]) {
                seen.once(2, at)?;
                node.big_endian = self.byte_order(&value, offset)?;
            } else if name.is(&[b"align"]) {
                seen.once(3, at)?;
                node.align = align_log2(value.unsigned(offset)?, offset)?;
            }
        }
        if !seen.has(0) || !seen.has(1) {
            return Err(keyword.error(element::TYPE, ErrorKind::Missing));
        }
        node.size = match (exponent, mantissa) {
            (8, 24) => 32,
            (11, 53) => 64,
            _ => {
                let value = exponent.saturating_add(mantissa);
                return Err(keyword.error(element::TYPE, ErrorKind::Unsupported { value }));
            }
        };
        Ok(node)
    }

    /// `string`, with attributes or without.
    pub(super) fn string(&mut self) -> Result<Node> {
        self.parser.bump()?;
        if self.parser.accept(b'{')? {
            let mut seen = Seen::default();
            while let Some(Attribute { name, value, at, offset }) = self.parser.attribute()? {
                if name.is(&[b"encoding"]) {
                    seen.once(0, at)?;
                    is_encoded(&value, offset)?;
                }
            }
        }
        Ok(Node { align: 3, ..Node::of(NodeKind::String) })
    }

    /// Whether a byte order is big-endian.
    fn byte_order(&self, value: &Value<'a>, offset: u64) -> Result<bool> {
        if value.says(b"native") {
            return Ok(self.big_endian);
        }
        byte_order(value, offset)
    }

    /// The number, plus one, of the clock that `clock.NAME.value` names.
    fn clock_of(&self, value: &Value<'a>, offset: u64) -> Result<u32> {
        let expected = || value.unexpected(offset, "clock.NAME.value");
        let Value::Path(path) = value else { return Err(expected()) };
        let mut words = path.iter();
        let (Some(first), Some(name), Some(last), 3) = (words.next(), words.next(), words.next(), path.words) else {
            return Err(expected());
        };
        if first.kind != Kind::Keyword(Keyword::Clock) || !super::keyword::says(last.text, b"value") {
            return Err(expected());
        }
        let found = self.find(&Key::new(names::CLOCK, name.text), u64::MAX);
        let number = found.and_then(|(_, number)| u32::try_from(number).ok());
        number
            .map(|number| number.saturating_add(1))
            .ok_or_else(|| Error::new(name.offset, element::ATTRIBUTE, ErrorKind::Undeclared))
    }

    /// `enum`, with a list or by its name.
    pub(super) fn enumeration(&mut self) -> Result<Spec<'a>> {
        let first = self.parser.bump()?;
        let name = self.optional_name()?;
        let mut container = None;
        if self.parser.accept(b':')? {
            container = Some(self.container()?);
        } else if !self.parser.ahead.is(b'{') {
            return self.named(names::ENUM, first, name, Place::nowhere());
        }
        if !self.parser.ahead.is(b'{') {
            return Err(self.parser.ahead.unexpected(element::TYPE, "'{'"));
        }
        let container = match container {
            Some(container) => container,
            None => self.default_container(first)?,
        };
        self.parser.bump()?;
        let place = self.enumerators(&container)?;
        let node = Node { kind: NodeKind::Enum, place, name: Place::nowhere(), ..container };
        let start = self.tree.push(node, first.offset)?;
        if let Some(name) = name {
            self.declare(&Key::new(names::ENUM, name.text), start)?;
        }
        Ok(Spec::Tree { start, named: name.is_some() })
    }

    /// The integer that an enumeration is stored as.
    fn container(&mut self) -> Result<Node> {
        let first = self.parser.ahead;
        match first.kind {
            Kind::Keyword(Keyword::Integer) => return self.integer(),
            Kind::Name => {}
            Kind::Keyword(keyword) if keyword.is_type_word() => {}
            _ => return Err(first.unexpected(element::TYPE, "an integer type")),
        }
        let Spec::Alias { words, .. } = self.words(Purpose::Attribute)? else {
            return Err(first.unexpected(element::TYPE, "an integer type"));
        };
        self.integer_named(&Key::alias(words, 0), first)
    }

    /// What an enumeration without a container is stored as: the type that is called `int`.
    fn default_container(&mut self, first: Token<'a>) -> Result<Node> {
        let mut key = Key::alias(first.text, 0);
        for (at, value) in self.int_names(first.offset) {
            let _ = at;
            key.owner = value;
        }
        Err(first.error(element::TYPE_NAME, ErrorKind::Undeclared))
    }

    fn integer_named(&self, key: &Key<'a>, first: Token<'a>) -> Result<Node> {
        let node = self.tree.get(self.find_type(key, first.offset)?);
        if node.kind != NodeKind::Integer {
            return Err(first.unexpected(element::TYPE, "an integer type"));
        }
        Ok(node)
    }
}
