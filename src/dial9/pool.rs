//! Pools: text and stacks that events refer to by a number.

use super::element::{STACK_POOL, STRING_POOL};
use super::value::{Stack, stack_at, text_at};
use crate::bytes::{Bytes, to_u64};
use crate::error::{Element, Result};
use core::fmt;
use core::iter::FusedIterator;

/// The tag of a frame of text.
pub(super) const STRING_TAG: u8 = 3;

/// The tag of a frame of stacks.
pub(super) const STACK_TAG: u8 = 4;

/// Text for the string pool. Text with a number that has one already replaces that from here on.
///
/// # Layout
/// | offset | field | in the document | type |
/// |---|---|---|---|
/// | 0 | tag | `tag` | `0x03` |
/// | 1 | count | `count` | `u32` |
/// | 5 | entries | `pool_id`, `len`, `bytes` | `u32` id, `u32` length and text |
#[derive(Clone, Copy)]
pub struct StringPool<'a> {
    frame: PoolFrame<'a>,
}

/// Stacks for the stack pool; else as [`StringPool`].
///
/// # Layout
/// | offset | field | in the document | type |
/// |---|---|---|---|
/// | 0 | tag | `tag` | `0x04` |
/// | 1 | count | `count` | `u32` |
/// | 5 | entries | `pool_id`, `frame_count`, `frames` | `u32` id, `u32` count and as many `u64`, the innermost frame first |
#[derive(Clone, Copy)]
pub struct StackPool<'a> {
    frame: PoolFrame<'a>,
}

/// A frame of either kind.
#[derive(Clone, Copy)]
struct PoolFrame<'a> {
    at: usize,
    count: u32,
    /// The input up to the end of the frame.
    input: &'a [u8],
}

/// The size of the tag and the count.
const START: usize = 5;

impl<'a> PoolFrame<'a> {
    /// Reads what follows the tag. `size` is that of an entry's elements.
    fn read(input: &mut Bytes<'a>, data: &'a [u8], element: Element, size: u64) -> Result<Self> {
        let start = *input;
        let count = u32::from_le_bytes(*input.array(element)?);
        // An id and a count for each.
        let least = u64::from(count).saturating_mul(8);
        if least > to_u64(input.len()) {
            return Err(start.truncated(element, least.saturating_add(4)));
        }
        for _ in 0..count {
            let entry = *input;
            let [_, _, _, _, a, b, c, d] = *input.array(element)?;
            let bytes = u64::from(u32::from_le_bytes([a, b, c, d])).saturating_mul(size);
            if bytes > to_u64(input.len()) {
                return Err(entry.truncated(element, bytes.saturating_add(8)));
            }
            input.take(bytes, element)?;
        }
        let end = data.len().saturating_sub(input.len());
        let at = usize::try_from(start.offset()).unwrap_or(usize::MAX).saturating_sub(1);
        Ok(Self { at, count, input: data.get(..end).unwrap_or_default() })
    }

    const fn entries(self) -> Entries<'a> {
        Entries { input: self.input, at: self.at.saturating_add(START) }
    }
}

/// The ids of a frame's entries, and where their counts stand.
#[derive(Clone)]
pub(super) struct Entries<'a> {
    input: &'a [u8],
    at: usize,
}

impl<'a> Entries<'a> {
    /// The next id, and where its count stands; `end` finds the end of an entry from there.
    #[inline]
    fn next_entry<T>(
        &mut self,
        read: impl Fn(&'a [u8], usize) -> Option<(T, usize)>,
    ) -> Option<(u32, usize, T)> {
        let id = super::size::number(self.input, self.at)?;
        let at = self.at.checked_add(4)?;
        let (value, end) = read(self.input, at)?;
        self.at = end;
        Some((id, at, value))
    }
}

impl<'a> StringPool<'a> {
    pub(super) fn read(input: &mut Bytes<'a>, data: &'a [u8]) -> Result<Self> {
        PoolFrame::read(input, data, STRING_POOL, 1).map(|frame| Self { frame })
    }

    /// Offset in the input of its first byte.
    pub const fn offset(&self) -> u64 {
        to_u64(self.frame.at)
    }

    /// The number of entries.
    pub const fn count(&self) -> u32 {
        self.frame.count
    }

    /// The entries: ids and text, which should be UTF-8.
    pub const fn entries(&self) -> Strings<'a> {
        Strings(self.frame.entries())
    }

    /// The input up to its end.
    pub(super) const fn data(&self) -> &'a [u8] {
        self.frame.input
    }
}

impl<'a> StackPool<'a> {
    pub(super) fn read(input: &mut Bytes<'a>, data: &'a [u8]) -> Result<Self> {
        PoolFrame::read(input, data, STACK_POOL, 8).map(|frame| Self { frame })
    }

    /// Offset in the input of its first byte.
    pub const fn offset(&self) -> u64 {
        to_u64(self.frame.at)
    }

    /// The number of entries.
    pub const fn count(&self) -> u32 {
        self.frame.count
    }

    /// The entries: ids and stacks.
    pub const fn entries(&self) -> Stacks<'a> {
        Stacks(self.frame.entries())
    }

    /// The input up to its end.
    pub(super) const fn data(&self) -> &'a [u8] {
        self.frame.input
    }
}

impl fmt::Debug for StringPool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StringPool({} at {:#x})", self.count(), self.offset())
    }
}

impl fmt::Debug for StackPool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StackPool({} at {:#x})", self.count(), self.offset())
    }
}

/// The entries of a [`StringPool`].
#[derive(Clone)]
pub struct Strings<'a>(Entries<'a>);

impl<'a> Strings<'a> {
    /// The next id, and where its length stands.
    pub(crate) fn next_place(&mut self) -> Option<(u32, usize)> {
        self.0.next_entry(text_at).map(|(id, at, _)| (id, at))
    }
}

impl<'a> Iterator for Strings<'a> {
    type Item = (u32, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next_entry(text_at).map(|(id, _, text)| (id, text))
    }
}

impl FusedIterator for Strings<'_> {}

/// The entries of a [`StackPool`].
#[derive(Clone)]
pub struct Stacks<'a>(Entries<'a>);

impl<'a> Stacks<'a> {
    /// The next id, and where its count stands.
    pub(crate) fn next_place(&mut self) -> Option<(u32, usize)> {
        self.0.next_entry(stack_at).map(|(id, at, _)| (id, at))
    }
}

impl<'a> Iterator for Stacks<'a> {
    type Item = (u32, Stack<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next_entry(stack_at).map(|(id, _, stack)| (id, stack))
    }
}

impl FusedIterator for Stacks<'_> {}

impl fmt::Debug for Strings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Strings at {:#x}", self.0.at)
    }
}

impl fmt::Debug for Stacks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stacks at {:#x}", self.0.at)
    }
}
