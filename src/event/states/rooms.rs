//! The memory that the matcher is lent.

use super::classes::{ArgSlot, ClassSlot, FieldSlot, MatchSlot, NameSlot};
use super::context::KeptSlot;
use super::hashed::{Hashed, HeadSlot};
use super::open::{OpenSlot, StreamSlot, TrackSlot};
use super::value::ValueSlot;
use crate::room::Room;
use core::fmt;

/// Room for [`States`](super::States).
pub struct StateRooms<'r> {
    /// A slot for each class of events.
    pub classes: &'r mut (dyn Room<ClassSlot> + 'r),
    /// A slot for each class of events.
    pub names: &'r mut (dyn Room<Hashed<NameSlot>> + 'r),
    /// Two slots for each of these.
    pub names_heads: &'r mut (dyn Room<HeadSlot> + 'r),
    /// A slot for each rule that a class of events follows.
    pub matches: &'r mut (dyn Room<MatchSlot> + 'r),
    /// A slot for each argument of those rules.
    pub args: &'r mut (dyn Room<ArgSlot> + 'r),
    /// A slot for each number of a field.
    pub fields: &'r mut (dyn Room<FieldSlot> + 'r),
    /// A slot for each name of a field in the table.
    pub values: &'r mut (dyn Room<ValueSlot> + 'r),
    /// A slot for each track that has states or slices.
    pub tracks: &'r mut (dyn Room<Hashed<TrackSlot>> + 'r),
    /// Two slots for each of these.
    pub tracks_heads: &'r mut (dyn Room<HeadSlot> + 'r),
    /// A slot for each slice that is open at the same time.
    pub open: &'r mut (dyn Room<OpenSlot> + 'r),
    /// A slot for each key of a map, and for each track with a label.
    pub kept: &'r mut (dyn Room<Hashed<KeptSlot>> + 'r),
    /// Two slots for each of these.
    pub kept_heads: &'r mut (dyn Room<HeadSlot> + 'r),
    /// A slot for each track of the source.
    pub streams: &'r mut (dyn Room<StreamSlot> + 'r),
}

impl fmt::Debug for StateRooms<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateRooms").finish_non_exhaustive()
    }
}

/// Room that grows.
#[cfg(feature = "alloc")]
#[derive(Debug, Default)]
pub struct Storage {
    classes: alloc::vec::Vec<ClassSlot>,
    names: alloc::vec::Vec<Hashed<NameSlot>>,
    names_heads: alloc::vec::Vec<HeadSlot>,
    matches: alloc::vec::Vec<MatchSlot>,
    args: alloc::vec::Vec<ArgSlot>,
    fields: alloc::vec::Vec<FieldSlot>,
    values: alloc::vec::Vec<ValueSlot>,
    tracks: alloc::vec::Vec<Hashed<TrackSlot>>,
    tracks_heads: alloc::vec::Vec<HeadSlot>,
    open: alloc::vec::Vec<OpenSlot>,
    kept: alloc::vec::Vec<Hashed<KeptSlot>>,
    kept_heads: alloc::vec::Vec<HeadSlot>,
    streams: alloc::vec::Vec<StreamSlot>,
}

#[cfg(feature = "alloc")]
impl Storage {
    /// All of it, to be lent.
    pub fn rooms(&mut self) -> StateRooms<'_> {
        let Self { classes, names, names_heads, matches, args, fields, values, .. } = self;
        let Self { tracks, tracks_heads, open, kept, kept_heads, streams, .. } = self;
        StateRooms {
            classes,
            names,
            names_heads,
            matches,
            args,
            fields,
            values,
            tracks,
            tracks_heads,
            open,
            kept,
            kept_heads,
            streams,
        }
    }
}
