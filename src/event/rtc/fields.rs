//! The records that tracks and events are made of.

use crate::error::Result;
use crate::record::{Listener, Record, event_listener};
use crate::rtc::{NamedRecord, Stream};

/// A stream, or one of its records.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant)] // There is nowhere to box it.
pub(in crate::event) enum RtcData<'a> {
    /// The origin of a track.
    Stream(Stream<'a>),
    /// The origin of an event.
    Record(NamedRecord<'a, 'a>),
}

impl RtcData<'_> {
    #[inline]
    pub(in crate::event) fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        match self {
            Self::Stream(stream) => stream.tell(event_listener!(to)),
            Self::Record(record) => record.tell(event_listener!(to)),
        }
    }
}
