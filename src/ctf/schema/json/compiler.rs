//! The state of compiling JSON.

use super::super::builder::Builder;
use super::stack::Stack;
use crate::bytes::{Bytes, to_u64};
use crate::ctf::metadata::{MetadataStream, Text};
use crate::json::{Parser, Source};

/// A source of JSON that knows how much there is of it.
pub(super) trait Json<'a>: Source<'a> {
    fn size(&self) -> u64;
}

impl<'a> Json<'a> for Bytes<'a> {
    fn size(&self) -> u64 {
        to_u64(self.len())
    }
}

impl<'a> Json<'a> for Text<'a> {
    fn size(&self) -> u64 {
        self.len()
    }
}

/// Compiles the fragments of a stream.
pub(super) struct Compiler<'c, 's, 'a, S> {
    pub(super) builder: &'c mut Builder<'s>,
    pub(super) stream: MetadataStream<'a>,
    pub(super) parser: Parser<S>,
    pub(super) stack: Stack<'c>,
    /// The text has been found to be UTF-8.
    pub(super) is_utf8: bool,
}
