//! Seeking by time.

use crate::error::{Error, ErrorKind, Result};
use crate::room::Room;
use crate::rtc::clock::last_sample;
use crate::rtc::element::{PAYLOAD, UNIT};
use crate::rtc::slot::StreamSlot;
use crate::rtc::streams::LEVELS;
use crate::rtc::{ClockLink, Decimal, Format, Frames, Grid, Records, Stream, Streams, Time};
use core::ops::Range;

/// Room for the pieces of a stamp.
const BUFFER: usize = 128;

impl<'a> Grid<'a> {
    /// The place from which reading misses nothing that happened on the clock `id` from `time` on: the start of a
    /// minor unit, or of the first unit, as [`frames`](Self::frames) takes it.
    ///
    /// By binary search over the minor units: at each step, one or two are read to which the indices lead. The slots are
    /// used for that.
    ///
    /// The clock must ascend, and so must those that it counts from.
    ///
    /// # Errors
    ///
    /// As for [`before`](Self::before); a stamp on the way cannot be read; [`Missing`](ErrorKind::Missing) if there is no
    /// such clock, or no clock that it counts from, or if they count from each other in a circle or by more than seven
    /// steps.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn read(data: &[u8]) -> traceglass::Result<()> {
    /// use traceglass::rtc::{Grid, Records, StreamSlot, Time};
    ///
    /// let (mut slots, mut buffer) = ([StreamSlot::EMPTY; 64], [0; 4096]);
    /// let grid = Grid::new(data)?;
    /// let at = grid.seek_time(9, Time::new(1_700_000_000, 0), &mut slots)?;
    /// let clocks = grid.clocks_before(at, &mut slots);
    /// let mut records = Records::of(grid.frames(at, &mut slots)?, &mut buffer);
    /// records.prime(&clocks);
    /// while let Some(record) = records.next_record()? {
    ///     println!("{:?} {record:?}", record.time());
    /// }
    /// # Ok(())
    /// # }
    /// # read(b"").unwrap_err();
    /// ```
    pub fn seek_time<R: Room<StreamSlot<'a>>>(&self, clock: u64, time: Time, slots: &mut R) -> Result<u64> {
        let missing = Error::new(self.first().offset(), UNIT, ErrorKind::Missing);
        let clocks = Chain::of(self.streams(&mut *slots)?.streams(), clock).ok_or(missing)?;
        self.place(&clocks, time, slots)
    }

    /// The number of clocks of a session that are followed through the indices: work must not grow with their number.
    pub const CLOCKS: usize = 16;

    /// By how much a clock may step back for [`seek_all`](Self::seek_all) to miss nothing, as it does where several
    /// processors write one.
    pub const SLACK: Time = Time::from_attoseconds(1_000_000_000_000_000);

    /// The place from which reading misses nothing that happened on any clock from `time` on, as
    /// [`seek_time`](Self::seek_time) gives it; `None` if only reading everything will do.
    ///
    /// Everything must be read if a unit is missing, moved or damaged at its start, if the input does not begin with one, or if
    /// another session follows; if there are annotations, which tell a time of their own; and if there are more than
    /// [`CLOCKS`](Self::CLOCKS). All clocks must ascend, but for [`SLACK`](Self::SLACK).
    pub fn seek_all<R: Room<StreamSlot<'a>>>(&self, time: Time, slots: &mut R) -> Option<u64> {
        let streams = self.streams(&mut *slots).ok()?;
        let is_annotation = |stream: &Stream<'_>| matches!(stream.format(), Format::Annotate(_));
        if !self.is_whole() || streams.streams().iter().any(is_annotation) {
            return None;
        }
        let chains = Chain::all(streams.streams())?;
        if !self.ends_with_last_unit(slots) {
            return None;
        }
        let slack = Self::SLACK.attoseconds();
        let time = Time::from_attoseconds(time.attoseconds().saturating_sub(slack));
        let mut first = None;
        // By reference: heapless's iterator by value keeps a panic reachable, since it slices when it is dropped.
        for chain in &chains {
            let place = self.place(chain.as_ref()?, time, slots).ok()?;
            first = Some(first.map_or(place, |first: u64| first.min(place)));
        }
        first
    }

    /// True if no other session begins where the last unit might have gone on.
    fn ends_with_last_unit<R: Room<StreamSlot<'a>>>(&self, slots: &mut R) -> bool {
        let last = self.first().number().saturating_add(self.len().saturating_sub(1));
        let Ok(unit) = self.unit(last) else { return false };
        let mut frames = Frames::at_unit(self.data, unit.offset(), slots);
        loop {
            match frames.next_frame() {
                Ok(Some(_)) if frames.session() == 0 => {}
                Ok(next) => return next.is_none(),
                Err(error) => return error.is_truncation(),
            }
        }
    }

    /// The last times of clocks before `at`, as far as the indices lead to them: for [`Records::prime`] where reading begins
    /// there, as the times of the first records would not be known otherwise. With more than [`CLOCKS`](Self::CLOCKS), there
    /// is nothing. The slots are used for that.
    pub fn clocks_before<R: Room<StreamSlot<'a>>>(&self, at: u64, slots: &mut R) -> ClockTimes {
        let mut times = ClockTimes { times: [(0, Time::ZERO); Self::CLOCKS], len: 0 };
        let chains = self.streams(&mut *slots).ok().and_then(|table| Chain::all(table.streams()));
        for chain in chains.iter().flat_map(|chains| chains.iter()).flatten() {
            // One that cannot be read is not known.
            let Ok(Some(time)) = self.said_before(chain, at, false, slots) else { continue };
            let id = chain.clocks.first().map_or(0, |clock| clock.id);
            if let Some(to) = times.times.get_mut(times.len) {
                *to = (id, time);
                times.len = times.len.saturating_add(1);
            }
        }
        times
    }

    /// The place from which reading does not miss the time on a clock.
    fn place<R: Room<StreamSlot<'a>>>(&self, clocks: &Chain, time: Time, slots: &mut R) -> Result<u64> {
        // The first minor unit before which a stamp begins that is not earlier.
        let end = self.first_minor(0, self.last_minor().saturating_add(1), |minor| {
            let said = self.said_before(clocks, self.minor_start(minor), true, slots)?;
            Ok(said.is_none_or(|said| said < time))
        })?;
        self.start_of(self.minor_start(end.saturating_sub(1))).map(|(_, at)| at)
    }

    /// The time of a clock's last record that ends before `at`, or that `begins` before; `None` if there is none, or if what
    /// it counts from was not stamped before.
    fn said_before<R: Room<StreamSlot<'a>>>(
        &self,
        clocks: &Chain,
        at: u64,
        mut begins: bool,
        slots: &mut R,
    ) -> Result<Option<Time>> {
        let (mut until, mut sum) = (at, Time::ZERO);
        for clock in &clocks.clocks {
            let Some((begun, time)) = self.last_before(clock, until, begins, slots)? else { return Ok(None) };
            (until, sum, begins) = (begun, sum.plus(time), false);
        }
        Ok(Some(sum))
    }

    /// The offset and the own time of a clock's last record before `until`.
    fn last_before<R: Room<StreamSlot<'a>>>(
        &self,
        clock: &Stamps,
        until: u64,
        begins: bool,
        slots: &mut R,
    ) -> Result<Option<(u64, Time)>> {
        let here = self.minor_of(until);
        let found = self.last_stamp(clock, self.minor_start(here)..until, begins, slots)?;
        if found.is_some() {
            return Ok(found);
        }
        let target = self.before(clock.id, self.minor_start(here))?;
        let Some(target) = target.filter(|&target| target >= self.minor_start(0)) else { return Ok(None) };
        // A record that begins in that minor unit may end in the next one.
        let end = self.minor_start(self.minor_of(target).saturating_add(2)).min(until);
        self.last_stamp(clock, target..end, begins, slots)
    }

    /// The offset and the own time of a clock's last record that lies in a range, or `begins` in it.
    fn last_stamp<R: Room<StreamSlot<'a>>>(
        &self,
        clock: &Stamps,
        Range { start, end }: Range<u64>,
        begins: bool,
        slots: &mut R,
    ) -> Result<Option<(u64, Time)>> {
        let mut buffer = [0; BUFFER];
        if start >= end {
            return Ok(None);
        }
        let mut records = Records::of(self.frames(start, slots)?, &mut buffer);
        let (mut found, mut fault) = (None, None);
        // A stamp that begins in a minor unit ends in the next one at the latest.
        let latest = if begins { end.saturating_add(self.first().minor_size()) } else { end };
        loop {
            let at = records.frames().offset();
            let goes_on = at < end || at < latest && records.first_open().is_some_and(|open| open < end);
            let Some(record) = (if goes_on { records.next_record()? } else { None }) else { break };
            let is_in = if begins { record.offset() < end } else { record.frame().end() <= end };
            if record.stream().id() != clock.id || !is_in {
                continue;
            }
            let last = last_sample(record.stream().format(), record.bytes()?, record.order);
            match last.and_then(|last| last.as_time(Some(clock.gain), Some(clock.offset))) {
                Some(time) => found = Some((record.offset(), time)),
                None => fault = fault.or(Some(Error::new(record.offset(), PAYLOAD, ErrorKind::Missing))),
            }
        }
        match fault {
            Some(fault) if found.is_none() => Err(fault),
            _ => Ok(found),
        }
    }
}

/// The times of clocks, by their ids.
#[derive(Clone, Copy, Debug)]
pub struct ClockTimes {
    times: [(u64, Time); Grid::CLOCKS],
    len: usize,
}

impl core::ops::Deref for ClockTimes {
    type Target = [(u64, Time)];

    fn deref(&self) -> &[(u64, Time)] {
        self.times.get(..self.len).unwrap_or_default()
    }
}

/// A clock, and those that it counts from.
struct Chain {
    clocks: heapless::Vec<Stamps, LEVELS>,
}

impl Chain {
    /// `None` if there is no such clock, or none that it counts from, or if there are too many.
    fn of(streams: Streams<'_, '_>, clock: u64) -> Option<Self> {
        let own = |stream: &&Stream<'_>| stream.clock() == Some(ClockLink::IsClock);
        let mut clocks = heapless::Vec::new();
        let mut next = Some(streams.get(clock).filter(own)?);
        while let Some(stream) = next {
            let number = |number: Result<Option<Decimal>>| number.ok().flatten();
            let (gain, offset) = (number(stream.gain()), number(stream.offset()));
            let stamps = Stamps {
                id: stream.id(),
                gain: gain.unwrap_or(Decimal::ONE),
                offset: offset.unwrap_or(Decimal::ZERO),
            };
            clocks.push(stamps).ok()?;
            next = match stream.delta() {
                Some(name) => Some(streams.at(streams.slot_of_clock(name)?)?),
                None => None,
            };
        }
        Some(Self { clocks })
    }

    /// The chains of all clocks; `None` if there are more than are followed.
    fn all(streams: Streams<'_, '_>) -> Option<heapless::Vec<Option<Self>, { Grid::CLOCKS }>> {
        let mut all = heapless::Vec::new();
        for stream in streams.iter().filter(|stream| stream.links().is_clock) {
            all.push(Self::of(streams, stream.id())).ok()?;
        }
        Some(all)
    }
}

/// A clock, and what is needed to read its records.
struct Stamps {
    id: u64,
    gain: Decimal,
    offset: Decimal,
}
