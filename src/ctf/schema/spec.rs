//! What a compiler tells a builder.

use super::node::{Place, narrow};
use crate::error::{Element, Error, ErrorKind, Result};

/// A part of a field location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// To the structure around.
    Up,
    /// To the member, or the option of a variant, of this name as written.
    Name(Place),
}

/// What a clock class says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockSpec {
    pub(crate) name: Option<Place>,
    pub(crate) id: Option<Place>,
    pub(crate) frequency: u64,
    pub(crate) seconds: i64,
    pub(crate) cycles: u64,
    /// Whether its origin is the Unix epoch.
    pub(crate) is_unix: bool,
    /// Where it is described.
    pub(crate) offset: u64,
}

/// What a data stream class or an event record class says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClassSpec {
    pub(crate) id: u64,
    pub(crate) name: Option<Place>,
    pub(crate) namespace: Option<Place>,
    /// Where it is described.
    pub(crate) offset: u64,
}

/// A place in the metadata file, for a name of `len` bytes of text at `offset`.
pub(crate) fn place(offset: u64, len: u64, flags: u8, element: Element) -> Result<Place> {
    let too_large = |value, limit| Error::new(offset, element, ErrorKind::OverLimit { value, limit });
    let at = narrow(offset, || too_large(offset, u32::MAX.into()))?;
    let len = u16::try_from(len).map_err(|_| too_large(len, u16::MAX.into()))?;
    Ok(Place { offset: at, len, flags })
}
