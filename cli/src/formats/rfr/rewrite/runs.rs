//! Parts of a file that are copied.

use crate::status::Result;
use crate::trace::NewTrace;
use std::ops::Range;

/// Bytes that are copied up to where something is left out.
pub struct Runs<'d> {
    pub data: &'d [u8],
    pub start: u64,
}

impl Runs<'_> {
    /// Copies up to `end`; the next run begins there.
    pub fn end(&mut self, end: u64, to: &mut dyn NewTrace) -> Result<()> {
        let bytes = crate::input::slice(self.data, self.start, end);
        self.start = end;
        if bytes.is_empty() { Ok(()) } else { to.put(bytes) }
    }
}

/// Parts of a file, in the order in which they were found. Those that follow one another without a gap are one.
#[derive(Default)]
pub struct Parts {
    before: Vec<Range<u64>>,
    last: Range<u64>,
}

impl Parts {
    /// Adds one.
    #[inline]
    pub fn add(&mut self, part: Range<u64>) {
        if self.last.end == part.start {
            self.last.end = part.end;
        } else if !part.is_empty() {
            let last = std::mem::replace(&mut self.last, part);
            self.before.extend((!last.is_empty()).then_some(last));
        }
    }

    /// Adds some that lie anywhere, and puts all in the order of the file.
    pub fn insert(&mut self, parts: impl IntoIterator<Item = Range<u64>>) {
        let mut all: Vec<_> = self.iter().cloned().chain(parts).collect();
        all.sort_unstable_by_key(|part| part.start);
        *self = Self::default();
        all.into_iter().for_each(|part| self.add(part));
    }

    pub fn iter(&self) -> impl Iterator<Item = &Range<u64>> {
        self.before.iter().chain([&self.last]).filter(|part| !part.is_empty())
    }
}
