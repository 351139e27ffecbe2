//! Types where they stand, and the names that they are given there.

use super::compiler::{Compiler, Purpose};
use super::element;
use super::keyword::Keyword;
use super::lexer::{Kind, Token};
use super::names::{self, Key};
use super::parser::{Parser, Path};
use super::spec::Spec;
use super::tree::{Node, NodeKind};
use crate::ctf::metadata::Place;
use crate::error::{Error, ErrorKind, Result};

/// The number of pointers a type may have.
const POINTERS: u32 = 14;

impl<'a> Compiler<'a, '_, '_> {
    /// Reads a type, and goes on as [`Self::finish`] does unless it has a body, which is only opened.
    pub(super) fn begin(&mut self, purpose: Purpose) -> Result<()> {
        let first = self.parser.ahead;
        let spec = match first.kind {
            Kind::Keyword(Keyword::Integer) => self.leaf(Self::integer)?,
            Kind::Keyword(Keyword::FloatingPoint) => self.leaf(Self::floating_point)?,
            Kind::Keyword(Keyword::String) => self.leaf(Self::string)?,
            Kind::Keyword(Keyword::Enum) => self.enumeration()?,
            Kind::Keyword(Keyword::Struct) => {
                self.parser.advance()?;
                let name = self.optional_name()?;
                if self.parser.ahead.is(b'{') {
                    return self.open(Node::of(NodeKind::Struct), name, purpose);
                }
                self.named(names::STRUCT, first, name, Place::nowhere())?
            }
            Kind::Keyword(Keyword::Variant) => {
                self.parser.advance()?;
                let name = self.optional_name()?;
                let tag = self.tag()?;
                if self.parser.ahead.is(b'{') {
                    let node = Node { place: tag, ..Node::of(NodeKind::Variant) };
                    return self.open(node, name, purpose);
                }
                self.named(names::VARIANT, first, name, tag)?
            }
            Kind::Name => self.words(purpose)?,
            Kind::Keyword(keyword) if keyword.is_type_word() => self.words(purpose)?,
            _ => return Err(first.unexpected(element::TYPE, "a type")),
        };
        self.finish(purpose, spec)
    }

    fn leaf(&mut self, read: impl Fn(&mut Self) -> Result<Node>) -> Result<Spec<'a>> {
        let offset = self.parser.ahead.offset;
        let node = read(self)?;
        Ok(Spec::Tree { start: self.tree.push(node, offset)?, named: false })
    }

    pub(super) fn optional_name(&mut self) -> Result<Option<Token<'a>>> {
        match self.parser.ahead.kind {
            Kind::Name => self.parser.bump().map(Some),
            _ => Ok(None),
        }
    }

    pub(super) fn named(
        &self,
        owner: u32,
        first: Token<'a>,
        name: Option<Token<'a>>,
        tag: Place,
    ) -> Result<Spec<'a>> {
        let ahead = self.parser.ahead;
        let name = name.ok_or_else(|| ahead.unexpected(element::TYPE, "a name or '{'"))?;
        Ok(Spec::Named { owner, name, words: first.until(&name), tag })
    }

    /// The path of a variant's tag, if one stands here.
    fn tag(&mut self) -> Result<Place> {
        if !self.parser.accept(b'<')? {
            return Ok(Place::nowhere());
        }
        let path = self.parser.path(element::PATH, "the path of an enumeration")?;
        self.check_path(&path)?;
        self.parser.expect(b'>', element::PATH, "'>'")?;
        Parser::place(path.text)
    }

    /// Checks that a path begins with a name, or with a keyword that names a scope.
    fn check_path(&self, path: &Path<'a>) -> Result<()> {
        for (n, word) in path.iter().enumerate() {
            match word.kind {
                Kind::Keyword(Keyword::Trace | Keyword::Stream | Keyword::Event)
                    if n == 0 && path.words > 1 => {}
                Kind::Keyword(Keyword::Event) if n == 1 => {}
                Kind::Keyword(_) => return Err(word.unexpected(element::PATH, "the name of a member")),
                _ => {}
            }
        }
        Ok(())
    }

    /// The words of an alias's name. Where a declarator follows, the last word is part of it.
    pub(super) fn words(&mut self, purpose: Purpose) -> Result<Spec<'a>> {
        let first = self.parser.bump()?;
        let mut last = first;
        let mut before_last = None;
        loop {
            match self.parser.ahead.kind {
                Kind::Name => {}
                Kind::Keyword(keyword) if keyword.is_type_word() => {}
                _ => break,
            }
            before_last = Some(last);
            last = self.parser.bump()?;
        }
        let declares = matches!(purpose, Purpose::Member | Purpose::Typedef | Purpose::Declaration)
            && !self.parser.ahead.is(b'*')
            && !self.parser.ahead.is(b'(');
        let mut declarator = None;
        if declares {
            match before_last {
                Some(before_last) if last.kind == Kind::Name => {
                    declarator = Some(last);
                    last = before_last;
                }
                _ => return Err(self.parser.ahead.unexpected(element::MEMBER, "a name")),
            }
        }
        Ok(Spec::Alias { words: first.until(&last), declarator })
    }

    /// Puts a copy of what a name stands for at the end of the tree.
    pub(super) fn instance(&mut self, spec: &Spec<'a>, pointers: u16) -> Result<u32> {
        match *spec {
            Spec::Tree { start, .. } if pointers == 0 => Ok(start),
            Spec::Tree { .. } => {
                let ahead = self.parser.ahead;
                Err(ahead.error(element::MEMBER, ErrorKind::Misplaced))
            }
            Spec::Named { words, .. } if pointers != 0 => self.copy(&Key::alias(words, pointers), pointers),
            Spec::Alias { words, .. } => self.copy(&Key::alias(words, pointers), pointers),
            Spec::Named { owner, name, tag, .. } => {
                let start = self.copy(&Key::new(owner, name.text()), 0)?;
                if !tag.is_empty() {
                    self.tree.update(start, |node| node.place = tag);
                }
                Ok(start)
            }
        }
    }

    fn copy(&mut self, key: &Key<'a>, pointers: u16) -> Result<u32> {
        let offset = key.text.offset();
        let template = self.find_type(key, offset)?;
        let start = self.tree.copy_to_front(template, offset)?;
        if pointers != 0 {
            self.tree.update(start, |node| node.base = 16);
        }
        Ok(start)
    }

    /// Goes on with what a type is for, up to the semicolon.
    pub(super) fn finish(&mut self, purpose: Purpose, spec: Spec<'a>) -> Result<()> {
        match purpose {
            Purpose::Attribute => {
                let start = self.instance(&spec, 0)?;
                if self.tree.get(start).kind != NodeKind::Struct {
                    return Err(self.parser.ahead.unexpected(element::TYPE, "a structure before this"));
                }
                self.parser.end(element::ATTRIBUTE)
            }
            Purpose::Typealias => self.typealias(&spec),
            Purpose::Declaration | Purpose::Member if self.parser.ahead.is(b';') && spec.is_named() => {
                // Its name is known by now; the type is not used here.
                if let Spec::Tree { start, .. } = spec {
                    self.tree.truncate(start);
                }
                self.parser.end(element::TYPE)
            }
            Purpose::Declaration => Err(self.parser.ahead.unexpected(element::TYPE, "';'")),
            Purpose::Member | Purpose::Typedef => self.declarators(purpose, spec),
        }
    }

    /// `[abstract declarator] := name;`
    fn typealias(&mut self, spec: &Spec<'a>) -> Result<()> {
        let pointers = self.pointers()?;
        let start = self.instance(spec, pointers)?;
        self.lengths(start)?;
        self.check_tagged(start)?;
        if !self.parser.accept_assign()? {
            return Err(self.parser.ahead.unexpected(element::TYPE, "':='"));
        }
        let first = self.parser.ahead;
        let mut last = first;
        let mut compound = false;
        loop {
            let token = self.parser.ahead;
            match token.kind {
                Kind::Name => {}
                Kind::Keyword(keyword) if keyword.is_type_word() => {}
                Kind::Keyword(Keyword::Struct | Keyword::Enum | Keyword::Variant) => {
                    compound = true;
                    self.parser.advance()?;
                    if self.parser.ahead.kind != Kind::Name {
                        return Err(self.parser.ahead.unexpected(element::TYPE_NAME, "a name"));
                    }
                }
                _ if token.offset == first.offset => {
                    return Err(token.unexpected(element::TYPE_NAME, "the name of a type"));
                }
                _ => break,
            }
            last = self.parser.bump()?;
        }
        let pointers = self.pointers()?;
        if compound && pointers == 0 {
            return Err(self.parser.ahead.unexpected(element::TYPE_NAME, "'*'"));
        }
        let key = Key::alias(first.until(&last), pointers);
        self.declare(&key, start)?;
        self.tree.truncate(start);
        self.parser.end(element::TYPE)
    }

    /// Pointers as [`Key`] has them.
    fn pointers(&mut self) -> Result<u16> {
        let mut pointers = 0_u16;
        let mut count = 0_u32;
        while self.parser.ahead.is(b'*') {
            let star = self.parser.bump()?;
            count = count.saturating_add(1);
            if count > POINTERS {
                return Err(star.error(element::MEMBER, ErrorKind::TooDeep { limit: POINTERS }));
            }
            let constant = self.parser.accept_keyword(Keyword::Const)?;
            pointers = pointers.max(1).wrapping_shl(1) | u16::from(constant);
        }
        Ok(pointers)
    }

    /// One declarator or more, and the semicolon.
    fn declarators(&mut self, purpose: Purpose, spec: Spec<'a>) -> Result<()> {
        let first = match spec {
            Spec::Tree { start, .. } => start,
            _ => self.tree.len(),
        };
        let mut spec = spec;
        let mut given = match spec {
            Spec::Alias { declarator, .. } => declarator,
            _ => None,
        };
        loop {
            let mut pointers = 0;
            let name = match given.take() {
                Some(name) => name,
                None => {
                    pointers = self.pointers()?;
                    let round = self.parser.accept(b'(')?;
                    let name = self.parser.name(element::MEMBER, "a name")?;
                    if round {
                        self.parser.expect(b')', element::MEMBER, "')'")?;
                    }
                    name
                }
            };
            let start = self.instance(&spec, pointers)?;
            let arrays = self.lengths(start)?;
            self.check_tagged(start.saturating_add(arrays))?;
            let more = self.parser.ahead.is(b',');
            if purpose == Purpose::Typedef {
                self.declare(&Key::alias(name.text(), 0), start)?;
            } else {
                self.member(start, name)?;
            }
            if !more {
                break;
            }
            self.parser.advance()?;
            if let Spec::Tree { start: next, .. } = &mut spec {
                *next = self.tree.copy_to_front(start.saturating_add(arrays), name.offset)?;
            }
        }
        if purpose == Purpose::Typedef {
            self.tree.truncate(first);
        }
        self.parser.end(element::MEMBER)
    }

    /// Gives the type at `start` its name in the body at hand.
    fn member(&mut self, start: u32, name: Token<'a>) -> Result<()> {
        let Some(&frame) = self.frames.last() else {
            return Err(name.error(element::MEMBER, ErrorKind::Misplaced));
        };
        let key = Key::new(frame.start, name.text());
        self.enter(&key, start.into(), element::MEMBER)?;
        let place = Parser::place(name.text())?;
        self.tree.update(start, |node| node.name = place);
        Ok(())
    }

    /// A variant where it is used must say what selects its option.
    fn check_tagged(&self, start: u32) -> Result<()> {
        let node = self.tree.get(start);
        if node.kind == NodeKind::Variant && node.place.is_empty() {
            return Err(self.parser.ahead.error(element::PATH, ErrorKind::Missing));
        }
        Ok(())
    }

    /// The lengths of arrays, if any follow: puts them around the type at `start`, and gives their number.
    fn lengths(&mut self, start: u32) -> Result<u32> {
        let before = self.tree.len();
        while self.parser.ahead.is(b'[') {
            let bracket = self.parser.bump()?;
            let node = self.length()?;
            self.parser.expect(b']', element::LENGTH, "']'")?;
            self.tree.push(node, bracket.offset)?;
        }
        let arrays = self.tree.len().saturating_sub(before);
        if arrays > 0 {
            self.tree.wrap(start);
        }
        Ok(arrays)
    }

    fn length(&mut self) -> Result<Node> {
        let token = self.parser.ahead;
        if let Some(value) = self.parser.signed_integer()? {
            let len = super::parser::Value::Integer(value).unsigned(token.offset)?;
            return Ok(Node { len, ..Node::of(NodeKind::Array) });
        }
        let path = self.parser.path(element::LENGTH, "a length")?;
        if token.kind == Kind::Keyword(Keyword::Env) && path.words == 2 {
            let key = path.iter().nth(1).map(|word| Key::new(names::ENV, word.text()));
            let found = key.and_then(|key| self.find(&key, u64::MAX));
            let Some((_, len)) = found else {
                return Err(Error::new(token.offset, element::LENGTH, ErrorKind::Undeclared));
            };
            return Ok(Node { len, ..Node::of(NodeKind::Array) });
        }
        self.check_path(&path)?;
        Ok(Node { place: Parser::place(path.text)?, ..Node::of(NodeKind::Sequence) })
    }
}
