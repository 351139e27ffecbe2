//! A trace of whatever format.

use super::element::{INPUT, INPUTS};
use super::time::Window;
use super::{Item, Source};
use crate::bytes::to_u64;
use crate::detect::Format;
use crate::error::{Error, ErrorKind, Result};
use crate::room::Room;

/// The state of a trace, in rooms that the caller lends.
///
/// Each format has its own; one that is not lent is empty, and a trace that needs it is refused.
#[derive(Default)]
pub struct Rooms<'a, 's, 't> {
    #[cfg(feature = "rfr")]
    rfr: Option<RfrRooms<'a, 't>>,
    #[cfg(feature = "ctf")]
    ctf: Option<CtfRooms<'a, 's, 't>>,
    #[cfg(feature = "rtc")]
    rtc: Option<RtcRooms<'a, 't>>,
    #[cfg(feature = "dial9")]
    dial9: Option<super::dial9::Rooms<'a, 't>>,
    #[cfg(feature = "rdf-contents")]
    rdf: Option<RdfRooms<'s, 't>>,
    // Keeps the lifetimes where no format is built.
    lifetimes: core::marker::PhantomData<(&'a (), &'s (), &'t ())>,
}

/// A reference to a room, so that it may be an array, a slice, or one that grows.
type Lent<'t, T> = &'t mut (dyn Room<T> + 't);

#[cfg(feature = "rfr")]
struct RfrRooms<'a, 't> {
    registry: Lent<'t, super::rfr::RegistrySlot>,
    names: Lent<'t, super::rfr::NameSlot<'a>>,
    lanes: Lent<'t, super::rfr::Lane<'a>>,
    callsites: &'t mut [crate::rfr::Site<'a>],
}

#[cfg(feature = "ctf")]
struct CtfRooms<'a, 's, 't> {
    schema: &'s mut Option<crate::ctf::schema::Schema<'a, 's>>,
    nodes: &'s mut [crate::ctf::schema::Node],
    merge: &'t mut [crate::ctf::data::MergeSlot<'a, 's>],
    streams: Lent<'t, super::ctf::StreamSlot<'a, 's>>,
}

#[cfg(feature = "rtc")]
struct RtcRooms<'a, 't> {
    slots: Lent<'t, crate::rtc::StreamSlot<'a>>,
    names: Lent<'t, crate::rtc::NameSlot<'a>>,
    buffer: &'t mut [u8],
}

#[cfg(feature = "rdf-contents")]
struct RdfRooms<'s, 't> {
    buffer: &'s mut [u8],
    decoder: &'t mut dyn crate::rdf::Decompress,
    tracks: Lent<'t, super::rdf::TrackSlot<'s>>,
    lanes: Lent<'t, super::rdf::Lane<'s>>,
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
        decoder: &'t mut dyn crate::rdf::Decompress,
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

/// A trace of any format that this build reads.
#[non_exhaustive]
#[allow(clippy::large_enum_variant)] // There is nowhere to box them.
pub enum Trace<'a, 's, 't> {
    /// An RFR recording.
    #[cfg(feature = "rfr")]
    Rfr(RfrTimeline<'a, 't>),
    /// A CTF trace.
    #[cfg(feature = "ctf")]
    Ctf(super::ctf::Timeline<'a, 's, 't, Lent<'t, super::ctf::StreamSlot<'a, 's>>>),
    /// An RTC file.
    #[cfg(feature = "rtc")]
    Rtc(
        super::rtc::Timeline<
            'a,
            't,
            Lent<'t, crate::rtc::StreamSlot<'a>>,
            Lent<'t, crate::rtc::NameSlot<'a>>,
        >,
    ),
    /// A dial9 recording.
    #[cfg(feature = "dial9")]
    Dial9(super::dial9::Timeline<'a, 't>),
    /// An RDF file.
    #[cfg(feature = "rdf-contents")]
    Rdf(super::rdf::Timeline<'s, Lent<'t, super::rdf::TrackSlot<'s>>, Lent<'t, super::rdf::Lane<'s>>>),
    /// Keeps the lifetimes where no format is built.
    #[doc(hidden)]
    Never(core::convert::Infallible, core::marker::PhantomData<(&'a (), &'s (), &'t ())>),
}

impl<'a: 's, 's, 't> Trace<'a, 's, 't> {
    /// Opens a trace: one file of RTC or RDF; any files of an RFR recording; any segments of a dial9 one; the metadata of a CTF trace, and then its
    /// data streams. The first input tells the format, and events refer to inputs by their place.
    ///
    /// # Errors
    /// [`BadMagic`](ErrorKind::BadMagic) if it is of no format that is read here; [`OverLimit`](ErrorKind::OverLimit) if
    /// there are several inputs of a format whose traces are one file; `CapacityExceeded` of rooms; those of the metadata
    /// of CTF and of the header of RDF.
    #[allow(clippy::needless_pass_by_value)] // They are lent to the trace.
    pub fn open(inputs: &[&'a [u8]], rooms: Rooms<'a, 's, 't>) -> Result<Self> {
        let first = inputs.first().copied().unwrap_or_default();
        let alone = || match inputs {
            [_] => Ok(()),
            _ => {
                let kind = ErrorKind::OverLimit { value: to_u64(inputs.len()), limit: 1 };
                Err(Error::new(0, INPUTS, kind))
            }
        };
        let _ = (&alone, &rooms);
        match Format::detect(first) {
            #[cfg(feature = "rfr")]
            Some(Format::Rfr) => open_recording(inputs, rooms.rfr.ok_or(NOTHING_LENT)?).map(Self::Rfr),
            #[cfg(feature = "ctf")]
            Some(Format::Ctf1 | Format::Ctf2) => {
                open_streams(inputs, rooms.ctf.ok_or(NOTHING_LENT)?).map(Self::Ctf)
            }
            #[cfg(feature = "rtc")]
            Some(Format::Rtc) => {
                alone()?;
                let RtcRooms { slots, names, buffer } = rooms.rtc.ok_or(NOTHING_LENT)?;
                Ok(Self::Rtc(super::rtc::Timeline::new(0, first, slots, names, buffer)))
            }
            #[cfg(feature = "dial9")]
            Some(Format::Dial9) => {
                let mut timeline = super::dial9::Timeline::new(rooms.dial9.ok_or(NOTHING_LENT)?);
                for (number, input) in inputs.iter().enumerate() {
                    timeline.add(number, input)?;
                }
                Ok(Self::Dial9(timeline))
            }
            #[cfg(feature = "rdf-contents")]
            Some(Format::Rdf) => {
                alone()?;
                let RdfRooms { buffer, decoder, tracks, lanes } = rooms.rdf.ok_or(NOTHING_LENT)?;
                super::rdf::Timeline::new(0, first, buffer, decoder, tracks, lanes).map(Self::Rdf)
            }
            _ => {
                let mut found = [0; 8];
                found.iter_mut().zip(first).for_each(|(to, from)| *to = *from);
                Err(Error::new(0, INPUT, ErrorKind::BadMagic { found }))
            }
        }
    }

    /// The short name of the format.
    pub const fn format_name(&self) -> &'static str {
        match self {
            #[cfg(feature = "rfr")]
            Self::Rfr(_) => "rfr",
            #[cfg(feature = "ctf")]
            Self::Ctf(_) => "ctf",
            #[cfg(feature = "rtc")]
            Self::Rtc(_) => "rtc",
            #[cfg(feature = "rdf-contents")]
            Self::Rdf(_) => "rdf",
            #[cfg(feature = "dial9")]
            Self::Dial9(_) => "dial9",
            Self::Never(..) => "",
        }
    }
}

/// A timeline of RFR whose rooms are lent.
#[cfg(feature = "rfr")]
type RfrTimeline<'a, 't> = super::rfr::Timeline<
    'a,
    't,
    Lent<'t, super::rfr::RegistrySlot>,
    Lent<'t, super::rfr::NameSlot<'a>>,
    Lent<'t, super::rfr::Lane<'a>>,
>;

/// No room of that format was lent.
#[allow(dead_code)] // Where no format is built.
const NOTHING_LENT: Error = Error::new(0, INPUTS, ErrorKind::CapacityExceeded { capacity: 0, needed: 1 });

#[cfg(feature = "rfr")]
fn open_recording<'a, 't>(inputs: &[&'a [u8]], rooms: RfrRooms<'a, 't>) -> Result<RfrTimeline<'a, 't>> {
    use crate::gap::Gap;
    use crate::rfr::{CallsiteTable, Callsites, FormatIdentifier, Variant};
    let RfrRooms { registry, names, lanes, callsites: mut entries } = rooms;
    let registry = super::rfr::Registry::new(registry);
    let mut timeline = super::rfr::Timeline::with_registry(registry, names, lanes);
    for (number, &input) in inputs.iter().enumerate() {
        let variant = FormatIdentifier::parse(input).map(|identifier| identifier.variant());
        let added = match variant {
            Ok(Variant::Meta) => Ok(()),
            Ok(Variant::Callsites) => Callsites::parse(input).and_then(|callsites| {
                let table = CallsiteTable::build(&callsites, core::mem::take(&mut entries))?;
                timeline.set_callsites(table);
                Ok(())
            }),
            _ => timeline.add(number, input),
        };
        match added {
            Err(error) if !matches!(error.kind(), ErrorKind::CapacityExceeded { .. }) => {
                let gap = Gap::new(error.offset(), to_u64(input.len()).saturating_sub(error.offset()), error);
                timeline.add_gap(number, gap)?;
            }
            other => other?,
        }
    }
    Ok(timeline)
}

#[cfg(feature = "ctf")]
fn open_streams<'a, 's, 't>(
    inputs: &[&'a [u8]],
    rooms: CtfRooms<'a, 's, 't>,
) -> Result<super::ctf::Timeline<'a, 's, 't, Lent<'t, super::ctf::StreamSlot<'a, 's>>>> {
    use crate::ctf::metadata::MetadataStream;
    use crate::ctf::schema::Schema;
    let CtfRooms { schema, nodes, merge, streams } = rooms;
    let metadata = MetadataStream::parse(inputs.first().copied().unwrap_or_default())?;
    let schema: &_ = schema.insert(Schema::compile(&metadata, nodes)?);
    let mut timeline = super::ctf::Timeline::new(merge, streams);
    for (number, input) in inputs.iter().enumerate().skip(1) {
        timeline.add(number, input, schema)?;
    }
    Ok(timeline)
}

impl Source for Trace<'_, '_, '_> {
    fn next_item(&mut self) -> Result<Option<Item<'_>>> {
        match self {
            #[cfg(feature = "rfr")]
            Self::Rfr(timeline) => timeline.next_item(),
            #[cfg(feature = "ctf")]
            Self::Ctf(timeline) => timeline.next_item(),
            #[cfg(feature = "rtc")]
            Self::Rtc(timeline) => timeline.next_item(),
            #[cfg(feature = "rdf-contents")]
            Self::Rdf(timeline) => timeline.next_item(),
            #[cfg(feature = "dial9")]
            Self::Dial9(timeline) => timeline.next_item(),
            Self::Never(..) => Ok(None),
        }
    }

    fn set_window(&mut self, window: Window) {
        match self {
            #[cfg(feature = "rfr")]
            Self::Rfr(timeline) => timeline.set_window(window),
            #[cfg(feature = "ctf")]
            Self::Ctf(timeline) => timeline.set_window(window),
            #[cfg(feature = "rtc")]
            Self::Rtc(timeline) => timeline.set_window(window),
            #[cfg(feature = "rdf-contents")]
            Self::Rdf(timeline) => timeline.set_window(window),
            #[cfg(feature = "dial9")]
            Self::Dial9(timeline) => timeline.set_window(window),
            Self::Never(..) => {
                let _ = window;
            }
        }
    }
}

impl core::fmt::Debug for Trace<'_, '_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Trace").finish_non_exhaustive()
    }
}
