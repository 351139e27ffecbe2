//! The part of a packet that fields are read from.

use super::element;
use crate::ctf::schema::node::SLOT_COUNT;
use crate::ctf::schema::scope::Scope;
use crate::error::{Element, Error, ErrorKind};

/// Values of lengths and selectors.
pub(super) type Slots = [u64; SLOT_COUNT];
pub(super) const NO_SLOTS: Slots = [0; SLOT_COUNT];

/// The bytes of a packet, and how far its fields go.
#[derive(Clone, Copy)]
pub(super) struct Window<'a> {
    /// From the packet's first byte to the end of the input.
    pub(super) data: &'a [u8],
    /// Offset of that byte.
    pub(super) offset: u64,
    /// In bits: fields end here at the latest. It lies in `data`.
    pub(super) limit: u64,
    /// The packet's content goes on where the input ends.
    pub(super) is_cut: bool,
}

impl<'a> Window<'a> {
    /// The whole bytes before the limit.
    #[inline(always)]
    #[allow(clippy::as_conversions)] // It lies in `data`.
    pub(super) fn content(&self) -> &'a [u8] {
        self.data.get(..(self.limit >> 3) as usize).unwrap_or_default()
    }

    /// An error at a bit.
    #[cold]
    pub(super) fn error(&self, at: u64, element: Element, kind: ErrorKind) -> Error {
        Error::new(self.offset.saturating_add(at >> 3), element, kind)
    }

    /// The error that something of `bits` bits at bit `at` does not fit.
    #[cold]
    #[inline(never)]
    pub(super) fn beyond(&self, at: u64, bits: u64, scope: Scope) -> Error {
        let over = at.saturating_add(bits).saturating_sub(self.limit);
        if self.is_cut {
            let needed = over.div_ceil(8).max(1);
            self.error(at, element::of(scope), ErrorKind::UnexpectedEnd { needed })
        } else {
            let boundary = self.offset.saturating_add(self.limit.div_ceil(8));
            self.error(at, element::of(scope), ErrorKind::CrossesBoundary { boundary })
        }
    }
}
