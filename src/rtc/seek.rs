//! Going somewhere without reading what lies before.

use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Result};
use crate::rtc::frame::{self, id};
use crate::rtc::unit::signed;
use crate::rtc::{
    ByteOrder, ClockOf, Decimal, Format, Index, Samples, Stream, Streams, Time, UNIT, Unit, Walk, search,
};

/// The grid of the units of a session: places that are known without reading.
///
/// It relies on what lies between being undisturbed; each place is verified when it is asked for, so that damage
/// gives an error and never a wrong place.
#[derive(Clone, Copy, Debug)]
pub struct Grid<'a> {
    data: &'a [u8],
    first: Unit<'a>,
}

impl<'a> Grid<'a> {
    /// The grid that begins with the first unit of the input.
    ///
    /// **Errors**: no unit is in the input.
    pub fn new(data: &'a [u8]) -> Result<Self> {
        let first =
            Unit::parse(data, 0).ok().or_else(|| search::find(Bytes::new(data), 0, to_u64(data.len())));
        match first {
            Some(first) => Ok(Self { data, first }),
            None => Err(Error::new(0, UNIT, ErrorKind::Missing)),
        }
    }

    /// The grid that begins with a unit, such as the first one of another session.
    pub const fn from_unit(data: &'a [u8], first: Unit<'a>) -> Self {
        Self { data, first }
    }

    /// The first unit.
    pub const fn first(&self) -> Unit<'a> {
        self.first
    }

    /// How many units there are from the first one on, if nothing is missing and no other session follows.
    pub fn len(&self) -> u64 {
        self.behind_first(to_u64(self.data.len())).div_ceil(self.first.major_size().max(1))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The unit of that number; in constant time.
    ///
    /// **Errors**: there is no Marker, or its Index says that it is another unit.
    pub fn unit(&self, number: u64) -> Result<Unit<'a>> {
        let missing = Error::new(self.first.offset(), UNIT, ErrorKind::Missing);
        let ahead = number.checked_sub(self.first.number()).ok_or(missing)?;
        let by = ahead.checked_mul(self.first.major_size()).and_then(|by| i64::try_from(by).ok());
        let at = by.and_then(|by| self.first.position().checked_add(by)).ok_or(missing)?;
        // Without its Marker, what is known of it must do.
        let Ok(at) = u64::try_from(at) else { return if ahead == 0 { Ok(self.first) } else { Err(missing) } };
        let unit = Unit::parse(self.data, at)?;
        if unit.number() != number {
            let kind = ErrorKind::OutOfSequence { found: unit.number(), expected: number };
            return Err(Error::new(unit.offset(), UNIT, kind));
        }
        Ok(unit)
    }

    /// The unit in which `offset` lies.
    ///
    /// **Errors**: as for [`unit`](Self::unit).
    pub fn unit_at(&self, offset: u64) -> Result<Unit<'a>> {
        let by = self.behind_first(offset).checked_div(self.first.major_size()).unwrap_or(0);
        self.unit(self.first.number().saturating_add(by))
    }

    /// How far `offset` lies behind the start of the first unit, which may lie before the input.
    fn behind_first(&self, offset: u64) -> u64 {
        u64::try_from(signed(offset).saturating_sub(self.first.position())).unwrap_or(0)
    }

    /// The last index, of a major or minor unit, whose frame begins at or before `offset`.
    fn index_before(&self, offset: u64) -> Result<(Unit<'a>, Index<'a>)> {
        let mut unit = self.unit_at(offset)?;
        if signed(offset) < unit.origin() && unit.number() > self.first.number() {
            // In the Marker: what is known of the unit before.
            unit = self.unit(unit.number().saturating_sub(1))?;
        }
        let inside = u64::try_from(signed(offset).saturating_sub(unit.origin())).unwrap_or(0);
        let minors = inside.checked_div(unit.minor_size()).unwrap_or(0);
        let minor = minors.min(unit.minor_count().saturating_sub(1));
        if minor > 0 {
            let at = unit.origin().saturating_add(signed(minor.saturating_mul(unit.minor_size())));
            return Ok((unit, unit.minor_index(Bytes::new(self.data), u64::try_from(at).unwrap_or(0))?));
        }
        // Before the first unit there is none.
        let index = unit.index().filter(|index| index.offset() <= offset);
        index.map(|index| (unit, index)).ok_or(Error::new(offset, UNIT, ErrorKind::Missing))
    }

    /// Where the first index is.
    fn start(&self) -> u64 {
        self.first.index().map_or(self.first.offset(), |index| index.offset())
    }

    /// Where the last minor unit before the index at or before `offset` has its first frame of the stream that began
    /// to be written in it: through the indices, without reading what lies between. `None` if there is none.
    ///
    /// Asked again with the offset that it gave, it goes back minor unit by minor unit.
    ///
    /// **Errors**: as for [`unit`](Self::unit); or an index on the way cannot be read.
    pub fn before(&self, id: u64, offset: u64) -> Result<Option<u64>> {
        let (unit, index) = self.index_before(offset)?;
        let found = match index.find(id) {
            Ok(entry) => Some(entry),
            // The index of a minor unit names only streams that were written in its major unit.
            Err(error) if error.kind() == ErrorKind::Missing => {
                match unit.index().map(|index| index.find(id)) {
                    Some(Err(error)) if error.kind() != ErrorKind::Missing => return Err(error),
                    other => other.and_then(Result::ok),
                }
            }
            Err(error) => return Err(error),
        };
        Ok(found.and_then(|entry| entry.target()))
    }

    /// Where the first frame of the stream begins in the next minor unit behind that of `offset` in which it began
    /// to be written: by binary search over the units, and over the minor units of one of them.
    ///
    /// The last minor unit of the input, which no index follows yet, is not seen.
    ///
    /// **Errors**: as for [`before`](Self::before).
    pub fn after(&self, id: u64, offset: u64) -> Result<Option<u64>> {
        let behind = |at: u64| self.before(id, at).map(|found| found.filter(|&found| found > offset));
        // The last place at which an index may begin.
        let last = to_u64(self.data.len()).saturating_sub(1);
        let (mut low, mut high) = (offset.max(self.start()), last);
        let Some(mut found) = behind(high)? else { return Ok(None) };
        // Of all indices, the first one that leads behind `offset`: what it leads to is the next minor unit's.
        while low < high {
            let middle = low.midpoint(high);
            match behind(middle)? {
                Some(next) => {
                    found = next;
                    high = middle;
                }
                None => low = middle.saturating_add(1),
            }
        }
        Ok(Some(found))
    }

    /// A walk that begins with the minor unit in which `offset` lies.
    ///
    /// **Errors**: as for [`unit`](Self::unit).
    pub fn walk<const N: usize>(&self, offset: u64) -> Result<Walk<'a, N>> {
        let (unit, index) = self.index_before(offset)?;
        Ok(Walk::in_unit(self.data, unit, place_of(&unit, &index)))
    }

    /// Where to begin to read in order not to miss what happened on the clock `id` from `time` on: the start of a
    /// minor unit, or of the first unit. By binary search over the units.
    ///
    /// A delta clock is searched by its own stamps; what its base said is taken from the indices as well. If the base
    /// was stamped more than once in a minor unit, that place is a lower bound which is then corrected by going back.
    ///
    /// **Errors**: as for [`before`](Self::before); there is no such clock.
    pub fn seek<const N: usize>(&self, streams: &Streams<'_, N>, clock: u64, time: Time) -> Result<u64> {
        let missing = Error::new(self.first.offset(), UNIT, ErrorKind::Missing);
        let clock =
            streams.get(clock).filter(|stream| stream.clock() == Some(ClockOf::Own)).ok_or(missing)?;
        let base = match clock.delta() {
            Some(name) => {
                let base = streams.iter().find(|stream| stream.name() == Some(name)).ok_or(missing)?;
                Some(Stamps::of(base))
            }
            None => None,
        };
        let clock = Stamps::of(clock);
        let order = self.byte_order();
        // Whether all that the index at or before `at` leads to was before `time`.
        let is_earlier = |at: u64| -> Result<bool> {
            let Some(target) = self.before(clock.id, at)? else { return Ok(true) };
            let Some(stamp) = self.stamp(&clock, target, order) else { return Ok(true) };
            let Some(base) = &base else { return Ok(stamp < time) };
            let Some(from) = self.before(base.id, at)? else { return Ok(true) };
            // Several stamps of the base may be between this one and the delta: the next unit's index knows no more.
            let since = self.stamp(base, from, order).unwrap_or(Time::ZERO);
            Ok(since.plus(stamp) < time)
        };
        let (mut low, mut high) = (self.start(), to_u64(self.data.len()).saturating_sub(1));
        while low < high {
            let middle = low.midpoint(high);
            if is_earlier(middle)? { low = middle.saturating_add(1) } else { high = middle }
        }
        // The index at `low` leads to the minor unit that is the first not to begin earlier: the time is in the one
        // before that, or in it.
        let target = self.before(clock.id, low)?.unwrap_or(self.start());
        let earlier = self.before(clock.id, target)?.unwrap_or(self.start());
        let (unit, index) = self.index_before(earlier)?;
        Ok(place_of(&unit, &index))
    }

    /// The byte order that the first unit's platform frame tells.
    fn byte_order(&self) -> ByteOrder {
        let whole = Bytes::new(self.data);
        let from = self.start();
        let mut input = whole.range(from, whole.end_offset().saturating_sub(from)).unwrap_or(whole);
        while let Ok((parts, rest)) = frame::read_default(input) {
            if parts.id == id::PLATFORM {
                return ByteOrder::of_platform(parts.payload).unwrap_or(ByteOrder::Little);
            }
            input = rest;
        }
        ByteOrder::Little
    }

    /// What the frame at `at` says on a clock, if it is in one piece.
    fn stamp(&self, clock: &Stamps, at: u64, order: ByteOrder) -> Option<Time> {
        let whole = Bytes::new(self.data);
        let input = whole.range(at, whole.end_offset().saturating_sub(at))?;
        let (parts, _) = frame::read(input, |_, _, _| Ok(clock.length)).ok()?;
        let sample = Samples::new(parts.payload, at, clock.format, order).next()?.ok()?;
        sample.as_time(clock.gain, clock.offset)
    }
}

/// Where the minor unit of an index begins: at the unit's Marker, where that is in the input, or at the index.
fn place_of(unit: &Unit<'_>, index: &Index<'_>) -> u64 {
    match u64::try_from(unit.position()) {
        Ok(marker) if index.number().is_some() => marker,
        _ => index.offset(),
    }
}

/// What is needed to read a clock's frames; taken out of its Meta object once.
struct Stamps {
    id: u64,
    length: frame::Length,
    format: Format,
    gain: Option<Decimal>,
    offset: Option<Decimal>,
}

impl Stamps {
    fn of(clock: &Stream<'_>) -> Self {
        Self {
            id: clock.id(),
            length: clock.length().map_or(frame::Length::Stated, frame::Length::Fixed),
            format: clock.format(),
            gain: clock.gain(),
            offset: clock.offset(),
        }
    }
}
