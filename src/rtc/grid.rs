//! The grid of units: seeking without reading what lies before.

use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Result};
use crate::room::Room;
use crate::rtc::begin::Rest;
use crate::rtc::element::UNIT;
use crate::rtc::reader::Reader;
use crate::rtc::recover::search;
use crate::rtc::slot::StreamSlot;
use crate::rtc::unit::signed;
use crate::rtc::{Frames, Index, StreamTable, Unit};

/// The grid of the units of a session: places that are known without reading.
///
/// Places are computed as if nothing between them was lost; each one is verified when it is asked for, so that damage
/// gives an error and never a wrong place.
#[derive(Clone, Copy, Debug)]
pub struct Grid<'a> {
    pub(super) data: &'a [u8],
    first: Unit<'a>,
}

impl<'a> Grid<'a> {
    /// The grid that begins with the first unit of the input.
    ///
    /// # Errors
    ///
    /// No unit is in the input.
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

    /// The number of units from the first one on, if nothing is missing and no other session follows.
    pub fn len(&self) -> u64 {
        self.after_first(to_u64(self.data.len())).div_ceil(self.first.major_size().max(1))
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The unit of that number; in constant time.
    ///
    /// # Errors
    ///
    /// No Marker, or its Index says that it is another unit.
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

    /// True if the input begins with a unit, and each one up to its end is where it is due.
    pub(super) fn is_whole(&self) -> bool {
        let is_there = |ahead: u64| self.unit(self.first.number().saturating_add(ahead)).is_ok();
        self.first.position() == 0 && self.first.offset() == 0 && (0..self.len()).all(is_there)
    }

    /// The unit in which `offset` lies.
    ///
    /// # Errors
    ///
    /// As for [`unit`](Self::unit).
    pub fn unit_at(&self, offset: u64) -> Result<Unit<'a>> {
        let by = self.after_first(offset).checked_div(self.first.major_size()).unwrap_or(0);
        self.unit(self.first.number().saturating_add(by))
    }

    /// The distance of `offset` from the start of the first unit, which may lie before the input.
    fn after_first(&self, offset: u64) -> u64 {
        u64::try_from(signed(offset).saturating_sub(self.first.position())).unwrap_or(0)
    }

    /// The last index, of a major or minor unit, whose frame begins at or before `offset`.
    fn index_before(&self, offset: u64) -> Result<(Unit<'a>, Index<'a>)> {
        let mut unit = self.unit_at(offset)?;
        if signed(offset) < unit.origin() && unit.number() > self.first.number() {
            // In the Marker: what is known of the unit before.
            unit = self.unit(unit.number().saturating_sub(1))?;
        }
        // Before the first unit there is none.
        let own = || unit.index().filter(|index| index.offset() <= offset);
        let index = self.minor_index_in(&unit, offset)?.or_else(own);
        index.map(|index| (unit, index)).ok_or(Error::new(offset, UNIT, ErrorKind::Missing))
    }

    /// The number of the minor unit in which `offset` lies, counted from the first one over all units.
    pub(super) fn minor_of(&self, offset: u64) -> u64 {
        let distance = u64::try_from(signed(offset).saturating_sub(self.first.origin())).unwrap_or(0);
        let units = distance.checked_div(self.first.major_size()).unwrap_or(0);
        let rest = distance.saturating_sub(units.saturating_mul(self.first.major_size()));
        let minor = rest.checked_div(self.first.minor_size()).unwrap_or(0);
        let count = self.first.minor_count();
        units.saturating_mul(count).saturating_add(minor.min(count.saturating_sub(1)))
    }

    /// Offset of a minor unit's index, or of the first index that can be read.
    pub(super) fn minor_start(&self, minor: u64) -> u64 {
        let count = self.first.minor_count();
        let units = minor.checked_div(count).unwrap_or(0);
        let rest = minor.saturating_sub(units.saturating_mul(count));
        let ahead = units
            .saturating_mul(self.first.major_size())
            .saturating_add(rest.saturating_mul(self.first.minor_size()));
        u64::try_from(self.first.origin().saturating_add(signed(ahead))).unwrap_or(0).max(self.start())
    }

    /// The last minor unit of which the index can be read; where the input ends in an index, it is the one before.
    pub(super) fn last_minor(&self) -> u64 {
        let last = self.minor_of(to_u64(self.data.len()).saturating_sub(1));
        let is_cut = self.index_before(self.minor_start(last)).is_err_and(|error| error.is_truncation());
        last.saturating_sub(u64::from(is_cut))
    }

    /// The first minor unit of those from `low` to `high` that is not earlier than what is looked for; `high` if there
    /// is none.
    pub(super) fn first_minor(
        &self,
        mut low: u64,
        mut high: u64,
        mut is_earlier: impl FnMut(u64) -> Result<bool>,
    ) -> Result<u64> {
        while low < high {
            let middle = low.midpoint(high);
            if is_earlier(middle)? { low = middle.saturating_add(1) } else { high = middle }
        }
        Ok(low)
    }

    /// Offset of the first index.
    fn start(&self) -> u64 {
        self.first.index().map_or(self.first.offset(), |index| index.offset())
    }

    /// Offset of the stream's first frame in the last minor unit before the index at or before `offset` in which it began
    /// to be written in it: through the indices, without reading what lies between. `None` if there is none.
    ///
    /// Asked again with the offset that it gave, it goes back minor unit by minor unit.
    ///
    /// # Errors
    ///
    /// As for [`unit`](Self::unit); or an index on the way cannot be read.
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

    /// Offset of the stream's first frame in the next minor unit after that of `offset` in which it began
    /// to be written: by binary search over the units, and over the minor units of one of them.
    ///
    /// The last minor unit of the input, which no index follows yet, is not seen.
    ///
    /// # Errors
    ///
    /// As for [`before`](Self::before).
    pub fn after(&self, id: u64, offset: u64) -> Result<Option<u64>> {
        // Of all indices, the first one that leads past `offset`: what it leads to is the next minor unit's.
        let last = self.last_minor();
        let from = self.minor_of(offset).min(last);
        let found =
            |minor: u64| Ok(self.before(id, self.minor_start(minor))?.filter(|&found| found > offset));
        let minor = self.first_minor(from, last, |minor| found(minor).map(|found| found.is_none()))?;
        found(minor)
    }

    /// The frames from the minor unit on in which `offset` lies: from its index, or from the Marker of a major unit.
    ///
    /// Any offset will do: what lies before the first unit counts as its beginning. For records with their times, see
    /// [`clocks_before`](Self::clocks_before).
    ///
    /// # Errors
    ///
    /// As for [`unit`](Self::unit).
    ///
    /// # Examples
    ///
    /// ```
    /// # fn read(data: &[u8]) -> traceglass::Result<()> {
    /// use traceglass::rtc::{Grid, StreamSlot};
    ///
    /// let grid = Grid::new(data)?;
    /// let unit = grid.unit_at(data.len() as u64 / 2)?;
    /// let mut frames = grid.frames(unit.offset(), [StreamSlot::EMPTY; 64])?;
    /// while let Some(frame) = frames.next_frame()? {
    ///     println!("{frame:?}");
    /// }
    /// # Ok(())
    /// # }
    /// # read(b"").unwrap_err();
    /// ```
    pub fn frames<R: Room<StreamSlot<'a>>>(&self, offset: u64, slots: R) -> Result<Frames<'a, R>> {
        let mut reader = Reader::new(self.data, 0, slots);
        self.begin(&mut reader, offset)?;
        Ok(Frames(reader))
    }

    /// Moves a reader to `offset`, in the slots that it has.
    pub(super) fn begin<R: Room<StreamSlot<'a>>>(
        &self,
        reader: &mut Reader<'a, R>,
        offset: u64,
    ) -> Result<()> {
        let (mut unit, at) = self.start_of(offset)?;
        let mut from = at;
        loop {
            let pos = usize::try_from(from).unwrap_or(self.data.len());
            reader.restart(pos);
            // Where no index follows that would tell how much is left of the record that goes on here, it is read from an
            // earlier one.
            if reader.begin_in(unit, pos) == Rest::Known || from <= self.start() {
                break;
            }
            (unit, from) = self.start_of(from.saturating_sub(1))?;
        }
        while to_u64(reader.pos) < at && reader.next()?.is_some() {}
        Ok(())
    }

    /// The streams of the session, as its first unit and its last one declare them.
    ///
    /// # Errors
    ///
    /// [`CapacityExceeded`](ErrorKind::CapacityExceeded) if there are more than slots.
    pub fn streams<R: Room<StreamSlot<'a>>>(&self, slots: R) -> Result<StreamTable<'a, R>> {
        let mut reader = Reader::new(self.data, 0, slots);
        let last = self.first.number().saturating_add(self.len().saturating_sub(1));
        for unit in [Ok(self.first), self.unit(last)].into_iter().flatten() {
            reader.learn_at(unit.index().map_or(unit.offset(), |index| index.offset()), false)?;
        }
        Ok(reader.known)
    }

    /// The unit and the place where reading begins for `offset`: its Marker, where that is in the input, or an index.
    pub(super) fn start_of(&self, offset: u64) -> Result<(Unit<'a>, u64)> {
        let unit = self.unit_at(offset)?;
        if let Some(index) = self.minor_index_in(&unit, offset)? {
            return Ok((unit, index.offset()));
        }
        let index = unit.index().map_or(unit.offset(), |index| index.offset());
        Ok((unit, u64::try_from(unit.position()).unwrap_or(index)))
    }

    /// The index of the minor unit of `unit` in which `offset` lies; `None` in the first one, to which the Marker belongs.
    fn minor_index_in(&self, unit: &Unit<'a>, offset: u64) -> Result<Option<Index<'a>>> {
        let inside = u64::try_from(signed(offset).saturating_sub(unit.origin())).unwrap_or(0);
        let minors = inside.checked_div(unit.minor_size()).unwrap_or(0);
        let minor = minors.min(unit.minor_count().saturating_sub(1));
        let at = unit.origin().saturating_add(signed(minor.saturating_mul(unit.minor_size())));
        let index = || unit.minor_index(Bytes::new(self.data), u64::try_from(at).unwrap_or(0));
        (minor > 0).then(index).transpose()
    }
}
