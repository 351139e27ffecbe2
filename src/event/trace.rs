//! A trace of any format.

use super::element::{INPUT, INPUTS};
use super::rooms::*;
use super::time::Window;
use super::{Item, Source};
use crate::bytes::to_u64;
use crate::detect::Format;
use crate::error::{Error, ErrorKind, Result};

/// A trace of any format that this build reads.
pub struct Trace<'a, 's, 't>(Timeline<'a, 's, 't>);

/// The adaptor of the format.
#[allow(clippy::large_enum_variant)] // There is nowhere to box them.
enum Timeline<'a, 's, 't> {
    #[cfg(feature = "rfr")]
    Rfr(RfrTimeline<'a, 't>),
    #[cfg(feature = "ctf")]
    Ctf(super::ctf::Timeline<'a, 's, 't, Lent<'t, super::ctf::StreamSlot<'a, 's>>>),
    #[cfg(feature = "rtc")]
    Rtc(
        super::rtc::Timeline<
            'a,
            't,
            Lent<'t, crate::rtc::StreamSlot<'a>>,
            Lent<'t, crate::rtc::NameSlot<'a>>,
        >,
    ),
    #[cfg(feature = "dial9")]
    Dial9(super::dial9::Timeline<'a, 't>),
    #[cfg(feature = "rdf-contents")]
    Rdf(super::rdf::Timeline<'s, Lent<'t, super::rdf::TrackSlot<'s>>, Lent<'t, super::rdf::Lane<'s>>>),
    // Keeps the lifetimes where no format is built.
    #[allow(dead_code)]
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
        let timeline = match Format::detect(first) {
            #[cfg(feature = "rfr")]
            Some(Format::Rfr) => open_recording(inputs, rooms.rfr.ok_or(NOTHING_LENT)?).map(Timeline::Rfr),
            #[cfg(feature = "ctf")]
            Some(Format::Ctf1 | Format::Ctf2) => {
                open_streams(inputs, rooms.ctf.ok_or(NOTHING_LENT)?).map(Timeline::Ctf)
            }
            #[cfg(feature = "rtc")]
            Some(Format::Rtc) => {
                alone()?;
                let RtcRooms { slots, names, buffer } = rooms.rtc.ok_or(NOTHING_LENT)?;
                Ok(Timeline::Rtc(super::rtc::Timeline::new(0, first, slots, names, buffer)))
            }
            #[cfg(feature = "dial9")]
            Some(Format::Dial9) => {
                let mut timeline = super::dial9::Timeline::new(rooms.dial9.ok_or(NOTHING_LENT)?);
                for (number, input) in inputs.iter().enumerate() {
                    timeline.add(number, input)?;
                }
                Ok(Timeline::Dial9(timeline))
            }
            #[cfg(feature = "rdf-contents")]
            Some(Format::Rdf) => {
                alone()?;
                let RdfRooms { buffer, decoder, tracks, lanes } = rooms.rdf.ok_or(NOTHING_LENT)?;
                super::rdf::Timeline::new(0, first, buffer, decoder, tracks, lanes).map(Timeline::Rdf)
            }
            _ => Err(Error::new(0, INPUT, ErrorKind::bad_magic(first))),
        };
        timeline.map(Self)
    }

    /// The short name of the format.
    pub const fn format_name(&self) -> &'static str {
        match &self.0 {
            #[cfg(feature = "rfr")]
            Timeline::Rfr(_) => "rfr",
            #[cfg(feature = "ctf")]
            Timeline::Ctf(_) => "ctf",
            #[cfg(feature = "rtc")]
            Timeline::Rtc(_) => "rtc",
            #[cfg(feature = "rdf-contents")]
            Timeline::Rdf(_) => "rdf",
            #[cfg(feature = "dial9")]
            Timeline::Dial9(_) => "dial9",
            Timeline::Never(..) => "",
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
        match &mut self.0 {
            #[cfg(feature = "rfr")]
            Timeline::Rfr(timeline) => timeline.next_item(),
            #[cfg(feature = "ctf")]
            Timeline::Ctf(timeline) => timeline.next_item(),
            #[cfg(feature = "rtc")]
            Timeline::Rtc(timeline) => timeline.next_item(),
            #[cfg(feature = "rdf-contents")]
            Timeline::Rdf(timeline) => timeline.next_item(),
            #[cfg(feature = "dial9")]
            Timeline::Dial9(timeline) => timeline.next_item(),
            Timeline::Never(..) => Ok(None),
        }
    }

    fn set_window(&mut self, window: Window) {
        match &mut self.0 {
            #[cfg(feature = "rfr")]
            Timeline::Rfr(timeline) => timeline.set_window(window),
            #[cfg(feature = "ctf")]
            Timeline::Ctf(timeline) => timeline.set_window(window),
            #[cfg(feature = "rtc")]
            Timeline::Rtc(timeline) => timeline.set_window(window),
            #[cfg(feature = "rdf-contents")]
            Timeline::Rdf(timeline) => timeline.set_window(window),
            #[cfg(feature = "dial9")]
            Timeline::Dial9(timeline) => timeline.set_window(window),
            Timeline::Never(..) => {
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
