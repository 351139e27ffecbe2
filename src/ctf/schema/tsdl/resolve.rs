//! Paths of lengths and tags: CTF 1.8.3, section 7.3.2.

use super::compiler::Compiler;
use super::element;
use super::emit::shown;
use super::keyword::{Keyword, says};
use super::lexer::{Kind, Token};
use super::parser::{Parser, words};
use crate::ctf::metadata::Text;
use crate::ctf::schema::node::NONE;
use crate::ctf::schema::scope::Scope;
use crate::ctf::schema::spec::Step;
use crate::error::{Error, ErrorKind, Result};

impl<'a> Compiler<'a, '_, '_> {
    /// Emits the location that a path names: its scope, if it begins with one, and the names.
    pub(super) fn location(&mut self, text: Text<'a>) -> Result<u32> {
        let (mut origin, skip) = match scope_of(words(text)) {
            Some((scope, skip)) => (Some(scope), skip),
            None => (None, 0),
        };
        let (mut first, mut last) = (NONE, NONE);
        for word in words(text).skip(skip) {
            if word.kind != Kind::Name {
                first = NONE;
                break;
            }
            last = self.builder.step(origin.take(), Step::Name(shown(Parser::place(word.text())?, 0)?))?;
            first = if first == NONE { last } else { first };
        }
        if first == NONE {
            return Err(Error::new(text.offset(), element::PATH, ErrorKind::Undeclared));
        }
        self.builder.end_list(last);
        Ok(first)
    }
}

/// The scope that an absolute path begins with, and how many words name it.
fn scope_of<'a>(mut words: impl Iterator<Item = Token<'a>>) -> Option<(Scope, usize)> {
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
