//! The records that events and tracks are made of.

use super::states::{ArgSlot, Edges};
use super::time::Time;
use crate::record::AnyRecord;

/// The record of a format that an event or a track is made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Data<'a> {
    None,
    #[cfg(feature = "rfr")]
    Rfr(super::rfr::fields::RfrData<'a>),
    #[cfg(feature = "rdf-contents")]
    Rdf(super::rdf::fields::RdfData<'a>),
    #[cfg(feature = "rtc")]
    Rtc(super::rtc::fields::RtcData<'a>),
    #[cfg(feature = "dial9")]
    Dial9(crate::dial9::OrderedRecord<'a>),
    #[cfg(feature = "ctf")]
    Ctf(super::ctf::fields::CtfData<'a>),
    /// The record of a format that is not of this crate.
    Other(OtherData<'a>),
    /// A state or slice, found by a table.
    State(StateData<'a>),
    /// The name of a track besides its label.
    Named(&'a str),
    #[allow(dead_code)] // Keeps the lifetime where no format is built.
    Never(core::convert::Infallible, core::marker::PhantomData<&'a ()>),
}

/// A record of a format that is not of this crate.
#[derive(Clone, Copy)]
pub(super) struct OtherData<'a>(pub(super) &'a (dyn AnyRecord + Sync));

impl core::fmt::Debug for OtherData<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("OtherData").finish_non_exhaustive()
    }
}

/// One end of a state or slice that was found by a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct StateData<'a> {
    /// The record that the event is made of.
    pub(super) of: &'a Data<'a>,
    /// The fields that are its arguments.
    pub(super) args: &'a [ArgSlot],
    /// The processor, if it is one.
    pub(super) cpu: Option<u64>,
    pub(super) edges: Edges,
    /// The time of the event.
    pub(super) noticed: Time,
}

impl Data<'_> {
    /// The offset of the packet that a record lies in, if it lies in one.
    pub(super) fn packet_offset(&self) -> Option<u64> {
        match self {
            #[cfg(feature = "ctf")]
            Self::Ctf(data) => Some(data.record.packet().offset()),
            _ => None,
        }
    }

    /// The processor of that packet.
    pub(super) fn packet_cpu(&self) -> Option<u64> {
        match self {
            #[cfg(feature = "ctf")]
            Self::Ctf(data) => data.record.packet().cpu(),
            _ => None,
        }
    }

    /// True if events of the same stream were discarded before this one.
    pub(super) const fn follows_loss(&self) -> bool {
        match self {
            #[cfg(feature = "ctf")]
            Self::Ctf(data) => data.follows_loss,
            _ => false,
        }
    }
}
