//! Frames as the readers hand them to each other.

use crate::bytes::to_u64;
use crate::rtc::Frame;
use crate::rtc::frame::Parts;

/// What is to be read next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Due {
    /// A frame.
    Frame,
    /// The index of a minor unit.
    Minor,
    /// A Marker.
    Major,
    /// Nothing: the input has ended, or reading has stopped.
    Nothing,
}

/// A frame that was read.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub(super) start: usize,
    pub(super) id: u64,
    pub(super) len: u16,
    pub(super) slot: u16,
    pub(super) header: u8,
    pub(super) flags: u8,
}

impl Item {
    pub(super) const MORE: u8 = 1;
    pub(super) const CONTINUES: u8 = 2;
    /// Of a default stream: some of those have to be noted.
    pub(super) const DEFAULT: u8 = 4;

    pub(super) const NONE: Self = Self { start: 0, id: 0, len: 0, slot: 0, header: 0, flags: 0 };

    /// Where it ends.
    #[inline(always)]
    #[allow(clippy::arithmetic_side_effects)] // In the input.
    pub(super) fn end(&self) -> usize {
        self.start + usize::from(self.header) + usize::from(self.len)
    }

    /// The frame, which lies in `data`.
    #[inline(always)]
    #[allow(clippy::arithmetic_side_effects)]
    pub(super) fn frame<'a>(&self, data: &'a [u8]) -> Frame<'a> {
        let start = self.start + usize::from(self.header);
        let payload = data.get(start..start + usize::from(self.len)).unwrap_or_default();
        let more = self.flags & Self::MORE != 0;
        let parts = Parts { id: self.id, more, header: self.header, payload };
        let continues = self.flags & Self::CONTINUES != 0;
        Frame::new(to_u64(self.start), parts, self.slot, continues)
    }
}
