//! Paths of lengths and tags: CTF 1.8.3, section 7.3.2.
//!
//! An absolute path begins with a scope. Any other is looked for from where it stands outwards: first among the
//! members that precede it in the innermost structure, where it must lead to its end, then in the next one around.

use super::class::Enumerators;
use super::compiler::Compiler;
use super::element;
use super::emit::{Ancestors, Open, Origin, shown};
use super::keyword::Keyword;
use super::lexer::{Kind, Token};
use super::names::Key;
use super::parser::Path;
use super::tree::{Node, NodeKind};
use crate::ctf::schema::node::NONE;
use crate::ctf::schema::scope::Scope;
use crate::ctf::schema::spec::Step;
use crate::error::{Error, ErrorKind, Result};

/// How many words a path may have.
const WORDS: usize = 32;

/// The owner of the labels of a variant's tag, apart from that of its options.
const LABELS: u32 = 1 << 31;

/// Where a path leads.
struct Target {
    node: u32,
    /// The scope it lies in.
    scope: Scope,
    /// How many structures and variants around the dependent field its path passes first.
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

    /// Gives each option the ranges of the labels that are spelled as it is.
    fn select_options(&mut self, at: u32, variant: &Node, tag: &Node) -> Result<()> {
        let before = self.names.len();
        let mut labels = Enumerators::again(self.text(tag.place))?;
        let mut label = tag.made;
        while let Some(entry) = labels.read()? {
            let place = super::parser::Parser::place(entry.label.text())?;
            self.names.insert(&Key::new(at | LABELS, entry.label.text()), place, label.into())?;
            // A label is followed by its only range.
            label = label.saturating_sub(2);
        }
        let end = at.saturating_add(variant.span);
        let mut option = at.saturating_add(1);
        while option < end {
            let node = self.tree.get(option);
            let key = Key::new(at | LABELS, self.text(node.name));
            let mut first = NONE;
            let mut last = NONE;
            let stream = self.stream;
            let builder = &mut self.builder;
            let mut result = Ok(());
            self.names.find_all(
                &key,
                |place| stream.text_of(place),
                |label| {
                    let range = u32::try_from(label).unwrap_or(0).saturating_sub(1);
                    match builder.copy_range(range) {
                        Ok(index) => {
                            if first == NONE {
                                first = index;
                            }
                            last = index;
                        }
                        Err(error) => result = Err(error),
                    }
                },
            );
            result?;
            if last != NONE {
                self.builder.end_list(last);
            }
            if let Some(node) = self.tree.get_mut(option) {
                // An enumeration's labels are taken before its option is emitted: see `Compiler::class`.
                node.selected = first;
            }
            option = option.saturating_add(node.span.max(1));
        }
        self.names.truncate(before);
        Ok(())
    }

    /// Where the path of a field leads, and how many of its words name the scope.
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
            let member = |owner: u32| {
                let found = self.find(&Key::new(owner, word.text()), u64::MAX);
                found.and_then(|(_, node)| u32::try_from(node).ok())
            };
            at = match self.tree.get(at).kind {
                NodeKind::Struct => member(at)?,
                NodeKind::Variant => match member(at) {
                    Some(option) => option,
                    None => self.through_options(at, member)?,
                },
                _ => return None,
            };
        }
        Some(at)
    }

    /// Whether it is an unsigned integer, or a variant of nothing else.
    fn is_length(&self, at: u32) -> bool {
        let end = at.saturating_add(self.tree.get(at).span);
        (at..end).all(|at| {
            let node = self.tree.get(at);
            node.is_unsigned() || node.kind == NodeKind::Variant
        })
    }

    /// The member of the first option of a variant that has it, or of one where it is no length.
    fn through_options(&self, variant: u32, member: impl Fn(u32) -> Option<u32>) -> Option<u32> {
        let end = variant.saturating_add(self.tree.get(variant).span);
        let mut option = variant.saturating_add(1);
        let mut found: Option<u32> = None;
        while option < end {
            if let Some(at) = member(option) {
                // One that cannot be a length tells more than one that can.
                found = Some(found.filter(|_| self.is_length(at)).unwrap_or(at));
            }
            option = option.saturating_add(self.tree.get(option).span.max(1));
        }
        found
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
