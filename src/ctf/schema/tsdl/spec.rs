//! Types that have been read.

use super::lexer::Token;
use crate::ctf::metadata::{Place, Text};

/// A type before its declarators, whose pointers may belong to its name.
#[derive(Clone, Copy)]
pub(super) enum Spec<'a> {
    /// It stands here: at the end of the tree. It may have a name.
    Tree { start: u32, named: bool },
    /// The name of an alias, and what follows it.
    Alias { words: Text<'a>, declarator: Option<Token<'a>> },
    /// The name of a structure, an enumeration or a variant, with its keyword; the path of a variant.
    Named { owner: u32, name: Token<'a>, words: Text<'a>, tag: Place },
}

impl Spec<'_> {
    /// True if a type stands here that was given a name.
    pub(super) fn is_named(&self) -> bool {
        matches!(self, Self::Tree { named: true, .. })
    }
}
