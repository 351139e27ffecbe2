//! Paths of lengths and tags: CTF 1.8.3, section 7.3.2.
//!
//! An absolute path begins with a scope. Any other is looked for from where it stands outwards: first among the
//! members that precede it in the innermost structure, where it must lead to its end, then in the next one around.

use super::compiler::Compiler;
use super::element;
use super::emit::{Ancestors, Open, Origin, shown};
use super::keyword::Keyword;
use super::lexer::{Kind, Token};
use super::names::Key;
use super::parser::Path;
use super::tree::{Node, NodeKind};
use crate::ctf::metadata::Place;
use crate::ctf::schema::node::NONE;
use crate::ctf::schema::scope::Scope;
use crate::ctf::schema::spec::Step;
use crate::error::{Error, ErrorKind, Result};

/// The number of words a path may have.
const WORDS: usize = 32;

/// The target of a path.
struct Target {
    node: u32,
    /// The scope it lies in.
    scope: Scope,
    /// The number of structures and variants around the dependent field its path passes first.
    shared: usize,
}

impl<'a> Compiler<'a, '_, '_> {
    /// The location of a sequence's length.
    pub(super) fn locate(
        &mut self,
        _at: u32,
        node: &Node,
        scope: Scope,
        ancestors: &Ancestors,
        origin: &Origin,
    ) -> Result<u32> {
        let (target, path, skip) = self.target(node, scope, ancestors.all(), origin)?;
        if !self.is_length(target.node) {
            return Err(wrong(&path, "the path of an unsigned integer"));
        }
        self.location(&target, &path, skip, ancestors.all())
    }

    /// The location of a variant's tag; tells each option which values select it.
    pub(super) fn select(
        &mut self,
        at: u32,
        node: &Node,
        scope: Scope,
        ancestors: &Ancestors,
        origin: &Origin,
    ) -> Result<u32> {
        let (target, path, skip) = self.target(node, scope, ancestors.all(), origin)?;
        let tag = self.tree.get(target.node);
        if tag.kind != NodeKind::Enum {
            return Err(wrong(&path, "the path of an enumeration"));
        }
        self.select_options(at, node, &tag)?;
        self.location(&target, &path, skip, ancestors.all())
    }

    /// Gives each option the ranges of the label that is spelled as it is.
    fn select_options(&mut self, at: u32, variant: &Node, tag: &Node) -> Result<()> {
        let end = at.saturating_add(variant.span);
        let mut option = at.saturating_add(1);
        while option < end {
            let node = self.tree.get(option);
            let label = self.builder.find_label(&self.stream, tag.made, shown(node.name, 0)?);
            if let Some(node) = self.tree.get_mut(option) {
                // A label is followed by its ranges. They are taken before the option is emitted: see `Compiler::class`.
                node.selected = label.and_then(|label| label.checked_sub(1)).unwrap_or(NONE);
            }
            option = option.saturating_add(node.span.max(1));
        }
        Ok(())
    }

    /// The target of a field's path, the path, and how many of its words name the scope.
    fn target(
        &self,
        node: &Node,
        scope: Scope,
        ancestors: &[Open],
        origin: &Origin,
    ) -> Result<(Target, Path<'a>, usize)> {
        let path = Path::of(self.text(node.place));
        if usize::try_from(path.words).is_ok_and(|words| words > WORDS) {
            let kind = ErrorKind::TooDeep { limit: u32::try_from(WORDS).unwrap_or(0) };
            return Err(Error::new(node.place.offset(), element::PATH, kind));
        }
        let unknown = Error::new(node.place.offset(), element::PATH, ErrorKind::Undeclared);
        if let Some((to, skip)) = scope_of(&path) {
            let root = self.root_of(to, origin).ok_or(unknown)?;
            let found = self.walk(root, path.iter().skip(skip), ancestors).ok_or(unknown)?;
            return Ok((Target { node: found, scope: to, shared: 0 }, path, skip));
        }
        if path.iter().any(|word| word.kind != Kind::Name) {
            return Err(unknown);
        }
        let mut shared = ancestors.len();
        for open in ancestors.iter().rev() {
            if open.kind == NodeKind::Struct
                && let Some(found) = self.walk(open.node, path.iter(), ancestors)
            {
                return Ok((Target { node: found, scope, shared }, path, 0));
            }
            shared = shared.saturating_sub(1);
        }
        Err(unknown)
    }

    /// The node of the root structure of a scope.
    fn root_of(&self, scope: Scope, origin: &Origin) -> Option<u32> {
        let number = match scope {
            Scope::PacketHeader => return self.facts.packet_header.checked_sub(1),
            Scope::PacketContext => 0,
            Scope::EventHeader => 1,
            Scope::CommonContext => 2,
            Scope::SpecificContext => return origin.roots[0],
            Scope::Payload => return origin.roots[1],
        };
        let stream = origin.stream?;
        let end = stream.saturating_add(self.tree.get(stream).span);
        let mut root = stream.saturating_add(1);
        while root < end {
            let node = self.tree.get(root);
            if node.size == number {
                return Some(root);
            }
            root = root.saturating_add(node.span.max(1));
        }
        None
    }

    /// Goes from a structure along the words of a path, over what has been emitted.
    fn walk(&self, from: u32, words: impl Iterator<Item = Token<'a>>, ancestors: &[Open]) -> Option<u32> {
        let mut at = from;
        for word in words {
            // The element at hand of an array is the one that the dependent field lies in as well.
            while matches!(self.tree.get(at).kind, NodeKind::Array | NodeKind::Sequence) {
                if !ancestors.iter().any(|open| open.node == at) {
                    return None;
                }
                at = at.saturating_add(1);
            }
            let member = |key: &Key<'a>| {
                let found = self.find(key, u64::MAX);
                found.and_then(|(_, node)| u32::try_from(node).ok())
            };
            at = match self.tree.get(at).kind {
                NodeKind::Struct => member(&Key::new(at, word.text()))?,
                NodeKind::Variant => {
                    member(&Key::new(at, word.text())).or_else(|| member(&Key::through(at, word.text())))?
                }
                _ => return None,
            };
        }
        Some(at)
    }

    /// True for an unsigned integer, or a variant of nothing else.
    fn is_length(&mut self, at: u32) -> bool {
        let whole = self.tree.get(at);
        if let Some(is_length) = whole.is_length {
            return is_length;
        }
        let is_length = (at..at.saturating_add(whole.span)).all(|at| {
            crate::ctf::schema::work::count();
            let node = self.tree.get(at);
            node.is_unsigned() || node.kind == NodeKind::Variant
        });
        if let Some(node) = self.tree.get_mut(at) {
            node.is_length = Some(is_length);
        }
        is_length
    }

    /// Lets the member at `at` of an option be found without the option's name: the first of its name, or one that is
    /// no length.
    pub(super) fn add_through(&mut self, variant: u32, at: u32, name: Place) -> Result<()> {
        let key = Key::through(variant, self.text(name));
        let known = self.find(&key, u64::MAX).and_then(|(_, known)| u32::try_from(known).ok());
        // One that cannot be a length tells more than one that can.
        match known {
            Some(known) if !self.is_length(known) => Ok(()),
            _ => self.add_name(&key, name, at.into()),
        }
    }

    /// Emits where a target lies, from the root of its scope.
    fn location(&mut self, target: &Target, path: &Path<'a>, skip: usize, ancestors: &[Open]) -> Result<u32> {
        let mut origin = Some(target.scope);
        let mut first = NONE;
        let mut last = NONE;
        let mut add = |compiler: &mut Self, place| -> Result<()> {
            last = compiler.builder.step(origin.take(), Step::Name(shown(place, 0)?))?;
            if first == NONE {
                first = last;
            }
            Ok(())
        };
        for open in ancestors.get(..target.shared).unwrap_or_default() {
            let name = self.tree.get(open.node).name;
            if !name.is_empty() {
                add(self, name)?;
            }
        }
        for word in path.iter().skip(skip) {
            add(self, super::parser::Parser::place(word.text())?)?;
        }
        self.builder.end_list(last);
        Ok(first)
    }
}

/// The scope that an absolute path begins with, and how many words name it.
fn scope_of(path: &Path<'_>) -> Option<(Scope, usize)> {
    let says = super::keyword::says;
    let mut words = path.iter();
    let first = words.next()?;
    match first.kind {
        Kind::Keyword(Keyword::Trace) => {
            let (second, third) = (words.next()?, words.next()?);
            let is = says(second.text(), b"packet") && says(third.text(), b"header");
            is.then_some((Scope::PacketHeader, 3))
        }
        Kind::Keyword(Keyword::Event) => {
            let second = words.next()?;
            if says(second.text(), b"context") {
                Some((Scope::SpecificContext, 2))
            } else {
                says(second.text(), b"fields").then_some((Scope::Payload, 2))
            }
        }
        Kind::Keyword(Keyword::Stream) => {
            let (second, third) = (words.next()?, words.next()?);
            match (
                says(second.text(), b"packet"),
                says(third.text(), b"context"),
                says(third.text(), b"header"),
            ) {
                (true, true, _) => Some((Scope::PacketContext, 3)),
                (false, _, true) if says(second.text(), b"event") => Some((Scope::EventHeader, 3)),
                (false, true, _) if says(second.text(), b"event") => Some((Scope::CommonContext, 3)),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cold]
fn wrong(path: &Path<'_>, expected: &'static str) -> Error {
    match path.iter().next() {
        Some(word) => word.unexpected(element::PATH, expected),
        None => Error::new(0, element::PATH, ErrorKind::Missing),
    }
}
