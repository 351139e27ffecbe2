//! The header that begins a batch.

use super::element::HEADER;
use crate::bytes::Bytes;
use crate::error::{ErrorKind, Result};

/// The first bytes of a header.
pub const MAGIC: [u8; 4] = *b"TRC\0";

/// The version that is read.
pub const VERSION: u8 = 1;

/// True if `data` begins as a dial9 trace does, of whatever version.
///
/// Four bytes are enough: none of them is text's, and no other format here begins so.
pub fn detect(data: &[u8]) -> bool {
    data.starts_with(&MAGIC)
}

/// The header of a batch. It empties the schemas and pools, and sets the time base to 0.
///
/// # Layout
/// | offset | field | in the document | type |
/// |---|---|---|---|
/// | 0 | magic | `magic` | `"TRC\0"` |
/// | 4 | version | `version` | `u8` |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    offset: u64,
}

impl Header {
    /// The size in bytes.
    pub const SIZE: usize = 5;

    /// Reads a header off the front.
    pub(super) fn read(input: &mut Bytes<'_>) -> Result<Self> {
        let start = *input;
        let mut found = [0; 8];
        found.iter_mut().zip(start.as_slice()).take(MAGIC.len()).for_each(|(to, from)| *to = *from);
        let seen = start.len().min(MAGIC.len());
        if found.get(..seen) != MAGIC.get(..seen) {
            return Err(start.error(HEADER, ErrorKind::BadMagic { found }));
        }
        let [.., version] = *input.array::<{ Self::SIZE }>(HEADER)?;
        if version != VERSION {
            let kind = ErrorKind::UnsupportedVersion { found: version.into(), supported: VERSION.into() };
            return Err(start.error(HEADER, kind));
        }
        Ok(Self { offset: start.offset() })
    }

    /// Offset in the input of its first byte.
    pub const fn offset(&self) -> u64 {
        self.offset
    }
}
