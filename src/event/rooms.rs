//! The memory of a trace of any format.

use crate::room::Room;

/// The state of a trace, in rooms that the caller lends.
///
/// Each format has its own; one that is not lent is empty, and a trace that needs it is refused.
#[derive(Default)]
pub struct Rooms<'a, 's, 't> {
    #[cfg(feature = "rfr")]
    pub(super) rfr: Option<RfrRooms<'a, 't>>,
    #[cfg(feature = "ctf")]
    pub(super) ctf: Option<CtfRooms<'a, 's, 't>>,
    #[cfg(feature = "rtc")]
    pub(super) rtc: Option<RtcRooms<'a, 't>>,
    #[cfg(feature = "dial9")]
    pub(super) dial9: Option<super::dial9::Rooms<'a, 't>>,
    #[cfg(feature = "rdf-contents")]
    pub(super) rdf: Option<RdfRooms<'s, 't>>,
    // Keeps the lifetimes where no format is built.
    lifetimes: core::marker::PhantomData<(&'a (), &'s (), &'t ())>,
}

/// A reference to a room, so that it may be an array, a slice, or one that grows.
pub(super) type Lent<'t, T> = &'t mut (dyn Room<T> + 't);

#[cfg(feature = "rfr")]
pub(super) struct RfrRooms<'a, 't> {
    pub(super) registry: Lent<'t, super::rfr::RegistrySlot>,
    pub(super) names: Lent<'t, super::rfr::NameSlot<'a>>,
    pub(super) lanes: Lent<'t, super::rfr::Lane<'a>>,
    pub(super) callsites: &'t mut [crate::rfr::Site<'a>],
}

#[cfg(feature = "ctf")]
pub(super) struct CtfRooms<'a, 's, 't> {
    pub(super) schema: &'s mut Option<crate::ctf::schema::Schema<'a, 's>>,
    pub(super) nodes: &'s mut [crate::ctf::schema::Node],
    pub(super) merge: &'t mut [crate::ctf::data::MergeSlot<'a, 's>],
    pub(super) streams: Lent<'t, super::ctf::StreamSlot<'a, 's>>,
}

#[cfg(feature = "rtc")]
pub(super) struct RtcRooms<'a, 't> {
    pub(super) slots: Lent<'t, crate::rtc::StreamSlot<'a>>,
    pub(super) names: Lent<'t, crate::rtc::NameSlot<'a>>,
    pub(super) buffer: &'t mut [u8],
}

#[cfg(feature = "rdf-contents")]
pub(super) struct RdfRooms<'s, 't> {
    pub(super) buffer: &'s mut [u8],
    pub(super) decoder: &'s mut dyn crate::rdf::Decompress,
    pub(super) tracks: Lent<'t, super::rdf::TrackSlot<'s>>,
    pub(super) lanes: Lent<'t, super::rdf::Lane<'s>>,
}

impl<'a, 's, 't> Rooms<'a, 's, 't> {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lends what RFR takes: a slot for each task, span and sequence, one for the name of each task and span, a lane for
    /// each chunk and each sequence that is open, and a place for each callsite.
    #[cfg(feature = "rfr")]
    #[must_use]
    pub fn rfr(
        mut self,
        registry: Lent<'t, super::rfr::RegistrySlot>,
        names: Lent<'t, super::rfr::NameSlot<'a>>,
        lanes: Lent<'t, super::rfr::Lane<'a>>,
        callsites: &'t mut [crate::rfr::Site<'a>],
    ) -> Self {
        self.rfr = Some(RfrRooms { registry, names, lanes, callsites });
        self
    }

    /// Lends what CTF takes: a place for the schema and nodes to compile it in, and a slot of each kind for each stream.
    #[cfg(feature = "ctf")]
    #[must_use]
    pub fn ctf(
        mut self,
        schema: &'s mut Option<crate::ctf::schema::Schema<'a, 's>>,
        nodes: &'s mut [crate::ctf::schema::Node],
        merge: &'t mut [crate::ctf::data::MergeSlot<'a, 's>],
        streams: Lent<'t, super::ctf::StreamSlot<'a, 's>>,
    ) -> Self {
        self.ctf = Some(CtfRooms { schema, nodes, merge, streams });
        self
    }

    /// Lends what RTC takes: a slot of each kind for each stream of a session, and a buffer for records that lie in several
    /// frames.
    #[cfg(feature = "rtc")]
    #[must_use]
    pub fn rtc(
        mut self,
        slots: Lent<'t, crate::rtc::StreamSlot<'a>>,
        names: Lent<'t, crate::rtc::NameSlot<'a>>,
        buffer: &'t mut [u8],
    ) -> Self {
        self.rtc = Some(RtcRooms { slots, names, buffer });
        self
    }

    /// Lends what dial9 takes.
    #[cfg(feature = "dial9")]
    #[must_use]
    pub fn dial9(mut self, rooms: super::dial9::Rooms<'a, 't>) -> Self {
        self.dial9 = Some(rooms);
        self
    }

    /// Lends what RDF takes: a buffer for what is decompressed and a decoder, a slot for each track, and a lane for each
    /// chunk with events.
    #[cfg(feature = "rdf-contents")]
    #[must_use]
    pub fn rdf(
        mut self,
        buffer: &'s mut [u8],
        decoder: &'s mut dyn crate::rdf::Decompress,
        tracks: Lent<'t, super::rdf::TrackSlot<'s>>,
        lanes: Lent<'t, super::rdf::Lane<'s>>,
    ) -> Self {
        self.rdf = Some(RdfRooms { buffer, decoder, tracks, lanes });
        self
    }
}

impl core::fmt::Debug for Rooms<'_, '_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Rooms").finish_non_exhaustive()
    }
}
