//! A range that was lost, and the reason.

use crate::error::Error;
use core::fmt;

/// A range of the input that could not be read.
///
/// Reading goes on at [`end`](Self::end).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Gap {
    offset: u64,
    len: u64,
    cause: Error,
}

impl Gap {
    /// Makes a gap of `len` bytes at `offset`.
    pub const fn new(offset: u64, len: u64, cause: Error) -> Self {
        Self { offset, len, cause }
    }

    /// Offset of the first lost byte.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Number of lost bytes.
    #[allow(clippy::len_without_is_empty)] // A gap may be empty: an error that costs no byte.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Offset at which reading goes on.
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }

    /// The error at which reading stopped.
    pub const fn cause(&self) -> Error {
        self.cause
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes lost at {:#x}: {}", self.len, self.offset, self.cause)
    }
}
