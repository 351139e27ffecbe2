//! Parts of a file that are copied.

use crate::status::Result;
use crate::trace::NewTrace;

/// Bytes that are copied up to where something is left out.
pub struct Runs<'d> {
    pub data: &'d [u8],
    pub start: u64,
}

impl Runs<'_> {
    /// Copies up to `end`; the next run begins there.
    pub fn end(&mut self, end: u64, to: &mut dyn NewTrace) -> Result<()> {
        let bytes = range(self.data, self.start, end);
        self.start = end;
        if bytes.is_empty() { Ok(()) } else { to.put(bytes) }
    }
}

/// The bytes from `start` to `end`, as far as they are there.
pub fn range(data: &[u8], start: u64, end: u64) -> &[u8] {
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    range.and_then(|(start, end)| data.get(start..end)).unwrap_or_default()
}
