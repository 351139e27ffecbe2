//! The class of a stream: what is constant about its records.

use crate::record::{Class, ClassId, Fact, FieldInfo, FixedClass, Kind, Scope, Slot, Step};
use crate::rtc::name::Name;
use crate::rtc::{ClockLink, Decimal, Format, Sample, Stream, Streams};
use core::fmt::{self, Display};

/// The numbers that are set aside for the fields of one stream.
const SLOTS: u32 = 8;

/// A place in the table of a stream's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A record of one value.
    Value,
    /// Several values, and each of them.
    List,
    Element,
    /// An object of JSON, and each of its members.
    Map,
    Member,
    /// Bytes that are not what the format says.
    Bytes,
}

/// The gain and the offset of numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scale {
    pub(crate) gain: Option<Decimal>,
    pub(crate) offset: Option<Decimal>,
    /// Gain, offset and places: the first two are in units of 10^-places, if they are short.
    exact: Option<(i64, i64, u32)>,
}

impl Scale {
    /// The gain and the offset of a stream; one that cannot be read counts as absent.
    pub(super) fn of(stream: &Stream<'_>) -> Self {
        let (gain, offset) = (stream.gain().ok().flatten(), stream.offset().ok().flatten());
        Self { gain, offset, exact: exact(gain, offset) }
    }

    /// True if numbers are as they were written.
    #[inline(always)]
    pub(crate) const fn is_none(&self) -> bool {
        self.gain.is_none() && self.offset.is_none()
    }

    /// An integer times gain plus offset, if that is exact.
    #[inline(always)]
    pub(crate) fn exact(&self, sample: Sample<'_>) -> Option<crate::record::Decimal> {
        let value = match sample {
            Sample::Unsigned(value) => i128::from(value),
            Sample::Signed(value) => i128::from(value),
            _ => return None,
        };
        let (gain, offset, places) = self.exact?;
        // Integers of 64 bits have a product of 128, and room for a sum.
        let digits = value.wrapping_mul(gain.into()).wrapping_add(offset.into());
        Some(crate::record::Decimal { digits, places })
    }
}

/// Gain and offset as integers, and how many digits of them stand after the point.
fn exact(gain: Option<Decimal>, offset: Option<Decimal>) -> Option<(i64, i64, u32)> {
    let (gain, offset) = (gain.unwrap_or(Decimal::ONE), offset.unwrap_or(Decimal::ZERO));
    let places = gain.exponent().min(offset.exponent()).min(0).unsigned_abs();
    let at = |decimal: Decimal| {
        let up = u32::try_from(decimal.exponent().checked_add_unsigned(places)?).ok()?;
        i64::try_from(decimal.digits()).ok()?.checked_mul(10_i64.checked_pow(up)?)
    };
    Some((at(gain)?, at(offset)?, places)).filter(|_| places <= crate::record::Decimal::PLACES)
}

/// The class of all records of a stream, with what was looked up of it once.
///
/// # Layout
/// A record has one field, `value`: what it says, by the format of its stream, in order if it is several values, and
/// with gain and offset. A time is seconds. JSON is told as what it is. Where the bytes are not what the format says,
/// `value` is absent, and `value_hex` has them.
///
/// Constant about them are `stream` (the name, if it has one), `id`, `session`, and of annotations `about`: the stream that
/// they are about. Of a name that is not UTF-8, there is `stream_hex`, `clock_hex` or `about_hex`.
#[derive(Clone, Copy, Debug)]
pub struct StreamClass<'a> {
    pub(super) number: u32,
    pub(super) session: u64,
    /// The state of the table that this was taken from.
    pub(super) revision: u32,
    stream: Stream<'a>,
    name: Option<Name<'a>>,
    /// The name of the clock of the records' times.
    clock: Option<Name<'a>>,
    /// The name of the stream that annotations are about.
    about: Option<Name<'a>>,
    /// The fingerprints of the objects of these two; 0 of one that is not there.
    refers_to: [u64; 2],
    is_annotation: bool,
    scale: Scale,
    is_absolute: bool,
    is_clock: bool,
}

impl<'a> StreamClass<'a> {
    /// The class of a stream of which the others are not known: it belongs to no clock.
    pub fn alone(stream: &Stream<'a>) -> Self {
        Self {
            number: 1,
            session: 0,
            revision: 0,
            stream: *stream,
            // An empty one is none.
            name: stream.name().filter(|name| name.chars().next().is_some()),
            clock: None,
            about: None,
            refers_to: [0; 2],
            is_annotation: matches!(stream.format(), Format::Annotate(_)),
            scale: Scale::of(stream),
            is_absolute: false,
            is_clock: stream.clock() == Some(ClockLink::IsClock),
        }
    }

    /// The class of the stream in a slot, which has no number yet.
    pub(super) fn of(slot: usize, session: u64, streams: Streams<'_, 'a>) -> Option<Self> {
        let others = [streams.told_clock(slot), streams.annotated(slot)];
        let [clock, about] = others.map(|other| streams.at(other?));
        Some(Self {
            session,
            revision: streams.revision(),
            clock: clock.and_then(Stream::name),
            about: about.and_then(Stream::name),
            refers_to: [clock, about].map(|other| other.map_or(0, Stream::fingerprint)),
            is_absolute: streams.is_absolute(slot),
            ..Self::alone(streams.at(slot)?)
        })
    }

    /// True if records of both tell the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let says =
            |class: &Self| (class.session, class.stream.fingerprint(), class.refers_to, class.is_absolute);
        says(self) == says(other)
    }

    /// The stream.
    pub const fn stream(&self) -> &Stream<'a> {
        &self.stream
    }

    /// The name of the stream; none if it is empty.
    pub const fn stream_name(&self) -> Option<Name<'a>> {
        self.name
    }

    /// The name of the clock of the records' times: that of the stream, or of the one that it annotates.
    pub const fn clock_name(&self) -> Option<Name<'a>> {
        self.clock
    }

    /// True if the records' times count from the Unix epoch.
    pub const fn is_absolute(&self) -> bool {
        self.is_absolute
    }

    /// True if the stream is a clock.
    pub const fn is_clock(&self) -> bool {
        self.is_clock
    }

    /// True if the records are annotations.
    #[inline(always)]
    pub(super) const fn is_annotation(&self) -> bool {
        self.is_annotation
    }

    /// True if they are annotations of another stream.
    pub(super) const fn has_subject(&self) -> bool {
        let [_, about] = self.refers_to;
        about != 0
    }

    #[inline(always)]
    pub(crate) const fn scale(&self) -> &Scale {
        &self.scale
    }

    #[allow(clippy::as_conversions)] // Of an enum with six values.
    #[inline(always)]
    pub(super) const fn slot(&self, place: Place) -> Slot {
        // The first numbers are those of streams' own fields.
        let first = self.number.wrapping_sub(1).wrapping_mul(SLOTS).wrapping_add(FixedClass::SLOTS);
        Slot(first.wrapping_add(place as u32))
    }

    /// The type of a single value.
    fn kind(&self) -> Kind {
        let format = match self.stream.format() {
            Format::Annotate(inner) => inner.format(),
            format => format,
        };
        match format {
            Format::Utf8 => Kind::Text,
            Format::Json => Kind::Any,
            Format::Raw | Format::Index | Format::Other => Kind::Bytes,
            Format::Float32(_) | Format::Float64(_) | Format::Timespec => Kind::Float { bits: 64 },
            _ if !self.scale.is_none() => Kind::Float { bits: 64 },
            Format::Signed(width, _) => Kind::Signed { bits: bits(width.bytes()) },
            Format::Unsigned(width, _) => Kind::Unsigned { bits: bits(width.bytes()) },
            Format::Platform => Kind::Unsigned { bits: 32 },
            Format::Leb128 => Kind::Signed { bits: 64 },
            Format::Uleb128 => Kind::Unsigned { bits: 64 },
            Format::Annotate(_) => Kind::Any,
        }
    }
}

fn bits(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(8).wrapping_mul(8)
}

/// The name of the stream, or its number; escaped if it is not UTF-8.
impl Display for StreamClass<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            None => write!(f, "stream {}", self.stream.id()),
            Some(name) if name.is_utf8() => name.fmt(f),
            Some(name) => name.raw().bytes().try_for_each(|byte| byte.escape_ascii().fmt(f)),
        }
    }
}

/// The bytes of a name as hex.
struct Hex<'a>(Name<'a>);

impl Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.raw().bytes().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Tells a name as a fact, and its bytes if it is not UTF-8.
fn tell_name(
    name: Option<Name<'_>>,
    [key, hex]: [&'static str; 2],
    each: &mut dyn FnMut(&'static str, Fact<'_>),
) {
    match name {
        Some(name) if name.is_utf8() => each(key, Fact::Text(&name)),
        Some(name) => {
            each(key, Fact::Absent);
            each(hex, Fact::Text(&Hex(name)));
        }
        None => each(key, Fact::Absent),
    }
}

impl Class for StreamClass<'_> {
    fn id(&self) -> ClassId {
        ClassId(self.number)
    }

    fn name(&self) -> &dyn Display {
        self
    }

    fn clock(&self) -> Option<&dyn Display> {
        match &self.clock {
            Some(name) if name.is_utf8() => Some(name),
            _ => None,
        }
    }

    fn facts(&self, each: &mut dyn FnMut(&'static str, Fact<'_>)) {
        each("kind", Fact::Text(&"record"));
        if let Some(name) = self.clock.filter(|name| !name.is_utf8()) {
            each("clock_hex", Fact::Text(&Hex(name)));
        }
        tell_name(self.name, ["stream", "stream_hex"], each);
        each("id", Fact::Number(self.stream.id()));
        each("session", Fact::Number(self.session));
        if self.has_subject() {
            tell_name(self.about, ["about", "about_hex"], each);
        }
    }

    fn fields(&self, each: &mut dyn FnMut(Step<'_>)) {
        let unit = self.stream.attribute("unit").and_then(|unit| unit.as_name()?.borrowed());
        let is_number =
            matches!(self.kind(), Kind::Unsigned { .. } | Kind::Signed { .. } | Kind::Float { .. });
        let unit = unit.filter(|_| is_number);
        each(Step::Scope(Scope::Fields));
        let mut tell = |place, kind: Kind, unit| {
            let slot = self.slot(place);
            each(Step::Field(FieldInfo { slot, unit, ..FieldInfo::unnamed(kind) }));
            if matches!(place, Place::Element | Place::Member) {
                each(Step::End);
            }
        };
        tell(Place::Value, self.kind(), unit);
        tell(Place::List, Kind::List, None);
        tell(Place::Element, Kind::Any, unit);
        tell(Place::Map, Kind::Map, None);
        tell(Place::Member, Kind::Any, None);
        let slot = self.slot(Place::Bytes);
        each(Step::Field(FieldInfo { slot, ..FieldInfo::new(&"value_hex", Kind::Bytes) }));
        each(Step::End);
    }
}
