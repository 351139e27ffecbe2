//! The facts that a compiler tells a builder.

use super::node::{NONE, Place, narrow};
use crate::error::{Element, Error, ErrorKind, Result};

/// A part of a field location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// To the structure around.
    Up,
    /// To the member, or the option of a variant, of this name as written.
    Name(Place),
}

/// The members of a clock class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockSpec {
    pub(crate) name: Option<Place>,
    pub(crate) id: Option<Place>,
    pub(crate) frequency: u64,
    pub(crate) seconds: i64,
    pub(crate) cycles: u64,
    /// True if its origin is the Unix epoch.
    pub(crate) is_unix: bool,
    /// The offset of its description.
    pub(crate) offset: u64,
}

/// The members of a data stream class or an event record class.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClassSpec {
    pub(crate) id: u64,
    pub(crate) name: Option<Place>,
    pub(crate) namespace: Option<Place>,
    /// The offset of its description.
    pub(crate) offset: u64,
}

/// The variables of an environment: nodes one after the other, downwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variables {
    /// The first one's node, or `NONE`.
    pub(crate) first: u32,
    pub(crate) len: u32,
}

impl Variables {
    pub(crate) const NONE: Self = Self { first: NONE, len: 0 };
}

/// The value of a variable, as a builder is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VariableSpec {
    Integer(i128),
    /// The digits of an integer of more than 64 bits.
    Number(TextPlace),
    Text(TextPlace),
}

/// A place in the metadata file, of a text of any length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextPlace {
    pub(crate) offset: u32,
    pub(crate) len: u32,
    /// The flags of a [`Place`].
    pub(crate) flags: u8,
}

impl TextPlace {
    pub(crate) fn new(offset: u64, len: u64, flags: u8, element: Element) -> Result<Self> {
        let too_large = |value| {
            let kind = ErrorKind::OverLimit { value, limit: u32::MAX.into() };
            Error::new(offset, element, kind)
        };
        let at = narrow(offset, || too_large(offset))?;
        Ok(Self { offset: at, len: narrow(len, || too_large(len))?, flags })
    }

    /// The place of a name, which is not as long as other text may be.
    pub(crate) fn short(self, element: Element) -> Result<Place> {
        let len = u16::try_from(self.len).map_err(|_| {
            let kind = ErrorKind::OverLimit { value: self.len.into(), limit: u16::MAX.into() };
            Error::new(self.offset.into(), element, kind)
        })?;
        Ok(Place { offset: self.offset, len, flags: self.flags })
    }
}
