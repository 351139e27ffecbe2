//! Integers, floating-point numbers, strings and enumerations.

use super::attribute::{Seen, align_log2};
use super::compiler::{Compiler, Purpose};
use super::element;
use super::emit::shown;
use super::keyword::Keyword;
use super::lexer::{Kind, Punctuator, Token};
use super::names::{self, Key};
use super::parser::{Parser, Path, Value};
use super::spec::Spec;
use super::tree::{Node, NodeKind};
use crate::bytes::Bytes;
use crate::ctf::metadata::{Place, Text};
use crate::ctf::schema::node::ESCAPED;
use crate::error::{Error, ErrorKind, Result};

/// An attribute between the braces of a type: `name = value;`.
pub(super) struct Attribute<'a> {
    pub(super) name: Path<'a>,
    pub(super) value: Value<'a>,
    /// The place of the name and the value.
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

impl<'a> Compiler<'a, '_, '_> {
    /// `integer { … }`
    pub(super) fn integer(&mut self) -> Result<Node> {
        let keyword = self.parser.bump()?;
        self.parser.expect(b'{', element::TYPE, "'{'")?;
        let mut node = Node { big_endian: self.big_endian, ..Node::of(NodeKind::Integer) };
        let mut seen = Seen::default();
        let mut align = None;
        while let Some(Attribute { name, value, at, offset }) = self.parser.attribute()? {
            let known = ["size", "align", "signed", "byte_order", "base", "encoding", "map"];
            match seen.once(&name, at, &known)? {
                "size" => {
                    let value = value.unsigned(offset)?;
                    let size = u8::try_from(value).ok().filter(|size| (1..=64).contains(size));
                    let invalid = Error::new(offset, element::ATTRIBUTE, ErrorKind::Invalid { value });
                    node.size = size.ok_or(invalid)?;
                }
                "align" => align = Some(align_log2(value.unsigned(offset)?, offset)?),
                "signed" => node.signed = value.boolean(offset)?,
                "byte_order" => node.big_endian = self.byte_order(&value, offset)?,
                "base" => node.base = base(&value, offset)?,
                "encoding" => node.character = is_encoded(&value, offset)?,
                "map" => node.clock = self.clock_of(&value, offset)?,
                _ => {}
            }
        }
        if !seen.has_first(1) {
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
            match seen.once(&name, at, &["exp_dig", "mant_dig", "byte_order", "align"])? {
                "exp_dig" => exponent = value.unsigned(offset)?,
                "mant_dig" => mantissa = value.unsigned(offset)?,
                "byte_order" => node.big_endian = self.byte_order(&value, offset)?,
                "align" => node.align = align_log2(value.unsigned(offset)?, offset)?,
                _ => {}
            }
        }
        if !seen.has_first(2) {
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
        self.parser.advance()?;
        if self.parser.accept(b'{')? {
            let mut seen = Seen::default();
            while let Some(Attribute { name, value, at, offset }) = self.parser.attribute()? {
                if seen.once(&name, at, &["encoding"])? == "encoding" {
                    is_encoded(&value, offset)?;
                }
            }
        }
        Ok(Node { align: 3, ..Node::of(NodeKind::String) })
    }

    /// True if a byte order is big-endian.
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
        let (Some(first), Some(name), Some(last), 3) = (words.next(), words.next(), words.next(), path.words)
        else {
            return Err(expected());
        };
        if first.kind != Kind::Keyword(Keyword::Clock) || !super::keyword::says(last.text(), b"value") {
            return Err(expected());
        }
        let found = self.find(&Key::new(names::CLOCK, name.text()), u64::MAX);
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
        self.parser.advance()?;
        let mut node = Node { name: Place::nowhere(), ..container };
        self.enumerators(&mut node)?;
        let start = self.tree.push(node, first.offset)?;
        if let Some(name) = name {
            self.declare(&Key::new(names::ENUM, name.text()), start)?;
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

    /// The container of an enumeration that names none: the type that is called `int`.
    fn default_container(&self, first: Token<'a>) -> Result<Node> {
        self.integer_named(&Key::alias(Text::from_piece(Bytes::new(b"int")), 0), first)
    }

    fn integer_named(&self, key: &Key<'a>, first: Token<'a>) -> Result<Node> {
        let node = self.tree.get(self.find_type(key, first.offset)?);
        if node.kind != NodeKind::Integer {
            return Err(first.unexpected(element::TYPE, "an integer type"));
        }
        Ok(node)
    }

    /// The list of an enumeration, whose `{` has been read: makes its labels, and keeps where it stands.
    fn enumerators(&mut self, node: &mut Node) -> Result<()> {
        let first = self.parser.ahead;
        let (min, max) = limits(node);
        let (mut next, mut labels, mut is_repeated) = (0, None, false);
        while let Some(entry) = self.enumerator(next)? {
            next = entry.hi.saturating_add(1);
            if entry.lo > entry.hi || entry.lo < min || entry.hi > max {
                return Err(entry.label.error(element::ENUMERATOR, outside(&entry, min, max)));
            }
            let escaped = entry.label.kind == Kind::String { escaped: true };
            let place = Parser::place(entry.label.text())?;
            let label = self.builder.label(shown(place, if escaped { ESCAPED } else { 0 })?)?;
            let first = labels.map_or(label, |(first, _)| first);
            if let Some(range) = self.builder.range(entry.lo, entry.hi)? {
                self.builder.end_list(range);
            }
            self.builder.update(label, |label| label.size = 1);
            is_repeated |= self.builder.add_label(&self.stream, first, label);
            labels = Some((first, label));
        }
        let Some((first_label, last_label)) = labels else {
            return Err(first.error(element::ENUMERATOR, ErrorKind::Missing));
        };
        self.builder.end_list(last_label);
        if is_repeated {
            self.builder.join_labels(&self.stream, first_label, last_label);
        }
        self.parser.expect(b'}', element::ENUMERATOR, "',' or '}'")?;
        node.kind = NodeKind::Enum;
        node.made = first_label;
        Ok(())
    }
}

/// The values that an enumeration may list. Those that its container cannot hold are never met, and do no harm.
fn limits(node: &Node) -> (i128, i128) {
    if node.signed { (i64::MIN.into(), i64::MAX.into()) } else { (0, u64::MAX.into()) }
}

/// Why the values of an enumerator cannot be.
fn outside(entry: &Enumerator<'_>, min: i128, max: i128) -> ErrorKind {
    let bits = |value: i128| match u64::try_from(value) {
        Ok(value) => value,
        Err(_) => i64::try_from(value).unwrap_or(i64::MIN).cast_unsigned(),
    };
    if entry.lo > entry.hi {
        return ErrorKind::NotAscending { previous: bits(entry.lo), value: bits(entry.hi) };
    }
    match i64::try_from(entry.lo) {
        Ok(value) if entry.lo < min && value < 0 => ErrorKind::Negative { value },
        _ => ErrorKind::OverLimit { value: bits(entry.hi), limit: bits(max) },
    }
}

/// An entry of an enumeration's list.
#[derive(Clone, Copy)]
struct Enumerator<'a> {
    label: Token<'a>,
    lo: i128,
    hi: i128,
}

impl<'a> Compiler<'a, '_, '_> {
    /// The next entry of an enumeration's list; one that states no value has `next`.
    fn enumerator(&mut self, next: i128) -> Result<Option<Enumerator<'a>>> {
        let parser = &mut self.parser;
        let label = parser.ahead;
        if label.is(b'}') {
            return Ok(None);
        }
        if !matches!(label.kind, Kind::Name | Kind::String { .. }) {
            return Err(label.unexpected(element::ENUMERATOR, "a label or '}'"));
        }
        parser.advance()?;
        let (mut lo, mut hi) = (next, next);
        if parser.accept(b'=')? {
            let value = |parser: &mut Parser<'a>| {
                let token = parser.ahead;
                let value = parser.signed_integer()?;
                value.ok_or_else(|| token.unexpected(element::ENUMERATOR, "an integer"))
            };
            lo = value(parser)?;
            hi = lo;
            if parser.ahead.kind == Kind::Punctuator(Punctuator::Ellipsis) {
                parser.advance()?;
                hi = value(parser)?;
            }
        }
        if !parser.ahead.is(b'}') {
            parser.expect(b',', element::ENUMERATOR, "',' or '}'")?;
        }
        Ok(Some(Enumerator { label, lo, hi }))
    }
}

fn base(value: &Value<'_>, offset: u64) -> Result<u8> {
    match value {
        Value::Integer(base @ (2 | 8 | 10 | 16)) => u8::try_from(*base).ok(),
        Value::Path(_) => value.one_of(&[
            (b"decimal dec d i u", 10),
            (b"hexadecimal hex x X p pointer", 16),
            (b"octal oct o", 8),
            (b"binary bin b", 2),
        ]),
        _ => None,
    }
    .ok_or_else(|| value.unexpected(offset, "a base"))
}

/// True if an encoding makes characters.
fn is_encoded(value: &Value<'_>, offset: u64) -> Result<bool> {
    let words: [(&[u8], bool); 2] = [(b"none NONE", false), (b"UTF8 utf8 UTF-8 utf-8 ASCII ascii", true)];
    value.one_of(&words).ok_or_else(|| value.unexpected(offset, "an encoding"))
}

/// True if a byte order other than the native one is big-endian.
pub(super) fn byte_order(value: &Value<'_>, offset: u64) -> Result<bool> {
    value
        .one_of(&[(b"le", false), (b"be network", true)])
        .ok_or_else(|| value.unexpected(offset, "a byte order"))
}
