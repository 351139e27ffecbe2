//! The state of compiling a text: its tokens, types and names.

use super::element;
use super::facts::Facts;
use super::keyword::Keyword;
use super::lexer::{Kind, Token};
use super::names::{self, Key, Names};
use super::parser::Parser;
use super::spec::Spec;
use super::tree::{Node, NodeKind, Tree};
use crate::ctf::metadata::{MetadataStream, Place, Text};
use crate::ctf::schema::builder::Builder;
use crate::error::{Error, ErrorKind, Result};
use heapless::Vec;

/// The most levels to which structures and variants may be nested.
pub(super) const DEPTH: usize = 32;

/// The state of the compilation of a text.
pub(super) struct Compiler<'a, 'w, 's> {
    pub(super) stream: MetadataStream<'a>,
    pub(super) parser: Parser<'a>,
    pub(super) tree: Tree<'w>,
    pub(super) names: Names<'w>,
    pub(super) builder: Builder<'s>,
    pub(super) facts: Facts,
    /// Bodies that are open.
    pub(super) frames: Vec<Frame, DEPTH>,
    /// The number of the first name of the innermost scope.
    pub(super) scope: u32,
    /// The byte order of the trace.
    pub(super) big_endian: bool,
}

/// A structure or variant whose body is being read.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    /// The node.
    pub(super) start: u32,
    /// The start of the scope that contains it.
    pub(super) scope: u32,
    /// The number of names and nodes at the back before its body.
    pub(super) names: u32,
    pub(super) top: u32,
    /// A name of its own, if it has one.
    pub(super) name: Place,
    pub(super) purpose: Purpose,
}

/// The purpose of a type that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A member or an option, or nothing but the declaration of a name.
    Member,
    Typealias,
    Typedef,
    /// The declaration of a name, directly in a block.
    Declaration,
    /// The value of an attribute of a block.
    Attribute,
}

impl<'a> Compiler<'a, '_, '_> {
    /// The number and the value of a name, if it is known at `before`.
    pub(super) fn find(&self, key: &Key<'a>, before: u64) -> Option<(u32, u64)> {
        self.names.find(key, before, &self.stream)
    }

    /// The type that a name stands for at `offset`.
    pub(super) fn find_type(&self, key: &Key<'a>, offset: u64) -> Result<u32> {
        let found = self.find(key, offset).and_then(|(_, value)| u32::try_from(value).ok());
        found.ok_or_else(|| Error::new(offset, element::TYPE_NAME, ErrorKind::Undeclared))
    }

    /// Gives the type at `start` a name in the scope at hand.
    pub(super) fn declare(&mut self, key: &Key<'a>, start: u32) -> Result<()> {
        let offset = key.text.offset();
        let place = Parser::place(key.text)?;
        if self.find(key, u64::MAX).is_some_and(|(at, _)| at >= self.scope) {
            return Err(Error::new(offset, element::TYPE_NAME, ErrorKind::Repeated));
        }
        let template = self.tree.copy_to_back(start, offset)?;
        self.add_name(key, place, template.into())
    }

    /// Enters a name that must be new to its owner.
    pub(super) fn enter(&mut self, key: &Key<'a>, value: u64, element: crate::error::Element) -> Result<()> {
        let place = Parser::place(key.text)?;
        if self.find(key, u64::MAX).is_some() {
            return Err(Error::new(key.text.offset(), element, ErrorKind::Repeated));
        }
        self.add_name(key, place, value)
    }

    /// Adds a name, which may be known.
    pub(super) fn add_name(&mut self, key: &Key<'a>, place: Place, value: u64) -> Result<()> {
        self.names.insert(key, place, value, &self.stream)
    }

    /// Reads on until all bodies that are open have been closed.
    pub(super) fn bodies(&mut self) -> Result<()> {
        while let Some(&frame) = self.frames.last() {
            let ahead = self.parser.ahead;
            if ahead.is(b'}') {
                self.close(frame)?;
            } else if !self.parser.accept(b';')? {
                self.statement(Purpose::Member)?;
            }
        }
        Ok(())
    }

    /// A statement of a body, or of a block where `other` is what it is if it gives no name.
    pub(super) fn statement(&mut self, other: Purpose) -> Result<()> {
        match self.parser.ahead.kind {
            Kind::Keyword(Keyword::Typealias) => {
                self.parser.advance()?;
                self.begin(Purpose::Typealias)
            }
            Kind::Keyword(Keyword::Typedef) => {
                self.parser.advance()?;
                self.begin(Purpose::Typedef)
            }
            _ => self.begin(other),
        }
    }

    /// Ends the innermost body: its `}` is ahead.
    fn close(&mut self, frame: Frame) -> Result<()> {
        let brace = self.parser.bump()?;
        self.frames.pop();
        self.tree.close(frame.start);
        let node = self.tree.get(frame.start);
        let mut owner = names::VARIANT;
        if node.kind == NodeKind::Struct {
            owner = names::STRUCT;
            if self.parser.accept_keyword(Keyword::Align)? {
                let align = self.struct_alignment()?;
                self.tree.update(frame.start, |node| node.align = align);
            }
        } else if node.span == 1 {
            return Err(brace.error(element::TYPE, ErrorKind::Missing));
        }
        self.names.truncate(frame.names);
        self.tree.raise(frame.top);
        self.scope = frame.scope;
        let named = !frame.name.is_empty();
        if named {
            let key = Key::new(owner, self.stream.text_of(frame.name));
            self.declare(&key, frame.start)?;
        }
        self.finish(frame.purpose, Spec::Tree { start: frame.start, named })
    }

    /// `(n)` after `align`.
    fn struct_alignment(&mut self) -> Result<u8> {
        self.parser.expect(b'(', element::ALIGNMENT, "'('")?;
        let token = self.parser.ahead;
        let value = self.parser.signed_integer()?;
        let value = value.ok_or_else(|| token.unexpected(element::ALIGNMENT, "an alignment"))?;
        let value = super::parser::Value::Integer(value).unsigned(token.offset)?;
        let align = super::attribute::align_log2(value, token.offset)?;
        self.parser.expect(b')', element::ALIGNMENT, "')'")?;
        Ok(align)
    }

    /// Opens the body of a structure or a variant: its `{` is ahead.
    pub(super) fn open(&mut self, node: Node, name: Option<Token<'a>>, purpose: Purpose) -> Result<()> {
        let brace = self.parser.bump()?;
        let name = match name {
            Some(name) => Parser::place(name.text())?,
            None => Place::nowhere(),
        };
        let start = self.tree.push(node, brace.offset)?;
        let names = self.names.len();
        let frame = Frame { start, scope: self.scope, names, top: self.tree.top(), name, purpose };
        let limit = u32::try_from(DEPTH).unwrap_or(u32::MAX);
        let too_deep = Error::new(brace.offset, element::TYPE, ErrorKind::TooDeep { limit });
        self.frames.push(frame).map_err(|_| too_deep)?;
        self.scope = names;
        Ok(())
    }

    /// The text of a name.
    pub(super) fn text(&self, place: Place) -> Text<'a> {
        self.stream.text_of(place)
    }
}
