//! Text that may lie in two pieces of the input.

use crate::bytes::to_u64;
use crate::json::Source;
use core::fmt;

/// Text as it stands in the input: in one piece, or in two where the format puts something else between them.
///
/// Nothing promises that it is UTF-8.
#[derive(Clone, Copy, Default)]
pub struct Text<'a> {
    head: &'a [u8],
    tail: &'a [u8],
    head_offset: u64,
    tail_offset: u64,
}

impl<'a> Text<'a> {
    pub(crate) const fn new(head: &'a [u8], head_offset: u64) -> Self {
        Self { head, head_offset, tail: &[], tail_offset: head_offset.saturating_add(to_u64(head.len())) }
    }

    /// The same with `tail` after it.
    pub(crate) const fn with_tail(self, tail: &'a [u8], tail_offset: u64) -> Self {
        Self { tail, tail_offset, ..self }
    }

    /// True if it lies in two pieces.
    pub(crate) const fn is_split(self) -> bool {
        !self.head.is_empty() && !self.tail.is_empty()
    }

    pub(crate) const fn pieces(self) -> (&'a [u8], &'a [u8]) {
        (self.head, self.tail)
    }

    pub(crate) const fn tail_offset(self) -> u64 {
        self.tail_offset
    }

    /// Offset of the first byte in the input.
    pub fn offset(&self) -> u64 {
        Source::offset(self)
    }

    /// The number of bytes it has.
    pub const fn len(&self) -> usize {
        self.head.len().saturating_add(self.tail.len())
    }

    /// True if it has none.
    pub const fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }

    /// The bytes.
    pub fn bytes(&self) -> impl Iterator<Item = u8> + 'a {
        self.head.iter().chain(self.tail).copied()
    }

    /// The bytes, if they lie together.
    pub fn as_slice(&self) -> Option<&'a [u8]> {
        self.together()
    }
}

impl<'a> Source<'a> for Text<'a> {
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))] // There are many calls: it is smaller.
    fn front(&self) -> &'a [u8] {
        if self.head.is_empty() { self.tail } else { self.head }
    }

    fn offset(&self) -> u64 {
        if self.head.is_empty() { self.tail_offset } else { self.head_offset }
    }

    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    fn advance(&mut self, n: usize) {
        let (piece, offset) = if self.head.is_empty() {
            (&mut self.tail, &mut self.tail_offset)
        } else {
            (&mut self.head, &mut self.head_offset)
        };
        let n = n.min(piece.len());
        *piece = piece.get(n..).unwrap_or_default();
        *offset = offset.saturating_add(to_u64(n));
    }

    fn limited(self, len: u64) -> Self {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let head = self.head.get(..len).unwrap_or(self.head);
        let left = len.saturating_sub(head.len());
        Self { head, tail: self.tail.get(..left).unwrap_or(self.tail), ..self }
    }

    fn together(self) -> Option<&'a [u8]> {
        (!self.is_split()).then(|| self.front())
    }
}

impl fmt::Debug for Text<'_> {
    /// The range; never the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at {:#x}", self.len(), self.offset())
    }
}
