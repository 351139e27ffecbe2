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
        let seen = || start.as_slice().iter().take(MAGIC.len());
        if !seen().zip(MAGIC).all(|(seen, byte)| *seen == byte) {
            return Err(start.error(HEADER, ErrorKind::bad_magic(seen())));
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
