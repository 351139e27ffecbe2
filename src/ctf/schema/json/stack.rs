//! The objects of field classes that have begun.

use super::super::element::FIELD_CLASS;
use super::super::node::{DEPTH, Kind, NONE, Place};
use crate::error::{Error, ErrorKind, Result};

/// The kind of the object that the text is in.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mode {
    /// The object of a class.
    Class,
    /// The same, within its array of members or options.
    Members,
    Options,
    /// An entry of that.
    Member,
    Choice,
}

/// An object that has begun.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) mode: Mode,
    pub(super) kind: Kind,
    pub(super) seen: u32,
    /// The class; of a member, the member's.
    pub(super) node: u32,
    pub(super) name: Option<Place>,
    /// The number of members or options it has.
    pub(super) entries: u32,
    /// The number of ranges that select it, or its options.
    pub(super) ranges: u32,
    /// The offset of its start.
    pub(super) offset: u64,
}

impl Frame {
    pub(super) const EMPTY: Self = Self {
        mode: Mode::Class,
        kind: Kind::Empty,
        seen: 0,
        node: NONE,
        name: None,
        entries: 0,
        ranges: 0,
        offset: 0,
    };
}

/// Frames for each level: the class, and the entry of its list that the next level is in.
pub(super) const FRAMES: usize = 2 * DEPTH + 1;

/// The objects that have begun, in frames that are lent: a copy of all of them would take room.
pub(super) struct Stack<'f> {
    frames: &'f mut [Frame; FRAMES],
    pub(super) depth: usize,
}

impl<'f> Stack<'f> {
    pub(super) const fn new(frames: &'f mut [Frame; FRAMES]) -> Self {
        Self { frames, depth: 0 }
    }

    pub(super) fn top(&mut self) -> Option<&mut Frame> {
        self.frames.get_mut(self.depth.checked_sub(1)?)
    }

    pub(super) fn push(&mut self, mode: Mode, node: u32, offset: u64) -> Result<()> {
        let limit = u32::try_from(DEPTH).unwrap_or(u32::MAX);
        let too_deep = Error::new(offset, FIELD_CLASS, ErrorKind::TooDeep { limit });
        *self.frames.get_mut(self.depth).ok_or(too_deep)? = Frame { mode, node, offset, ..Frame::EMPTY };
        self.depth = self.depth.saturating_add(1);
        Ok(())
    }
}
