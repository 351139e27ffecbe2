//! Going to a time.

use crate::ByteOrder;
use crate::bytes::Bytes;
use crate::error::{Error, ErrorKind, Result};
use crate::rtc::clock::Stamp;
use crate::rtc::element::{PAYLOAD, UNIT};
use crate::rtc::frame::{self, Length};
use crate::rtc::name::Name;
use crate::rtc::streams::LEVELS;
use crate::rtc::{ClockLink, Decimal, Format, Grid, Records, Sample, Samples, Source, Stream, Streams, Time};

impl<'a> Grid<'a> {
    /// Where to begin to read in order not to miss what happened on the clock `id` from `time` on: the start of a
    /// minor unit, or of the first unit, as [`frames`](Self::frames) takes it.
    ///
    /// By binary search over the minor units, through the indices, without reading what lies between. Where a clock
    /// counts from another, the indices do not tell what that said last: a minor unit or two are read at each step.
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
    /// use traceglass::rtc::{Grid, Records, Time};
    ///
    /// let grid = Grid::new(data)?;
    /// let at = grid.seek_time::<64>(9, Time::new(1_700_000_000, 0))?;
    /// let mut buffer = [0; 4096];
    /// let mut records = Records::new(grid.frames::<64>(at)?, &mut buffer);
    /// grid.prime(&mut records);
    /// while let Some(record) = records.next_record()? {
    ///     println!("{:?} {record:?}", record.time());
    /// }
    /// # Ok(())
    /// # }
    /// # read(b"").unwrap_err();
    /// ```
    pub fn seek_time<const N: usize>(&self, clock: u64, time: Time) -> Result<u64> {
        let missing = Error::new(self.first().offset(), UNIT, ErrorKind::Missing);
        let clocks = self.chain(&self.streams::<N>()?, clock).ok_or(missing)?;
        self.search::<N>(&clocks, time).ok_or(missing)?.place()
    }

    /// The number of clocks of a session that are followed through the indices: work must not grow with their number.
    pub const CLOCKS: usize = 16;

    /// By how much a clock may step back for [`seek_all`](Self::seek_all) to miss nothing, as it does where several
    /// processors write one.
    pub const SLACK: Time = Time::from_attoseconds(1_000_000_000_000_000);

    /// Where to begin to read in order not to miss what happened on any clock from `time` on, as
    /// [`seek_time`](Self::seek_time) gives it; `None` if only reading everything will do.
    ///
    /// That is so if a unit is missing, moved or damaged at its start, if the input does not begin with one, or if
    /// another session follows; if there are annotations, which tell a time of their own; and if there are more than
    /// [`CLOCKS`](Self::CLOCKS). All clocks must ascend, but for [`SLACK`](Self::SLACK).
    pub fn seek_all<const N: usize>(&self, time: Time) -> Option<u64> {
        let streams = self.streams::<N>().ok()?;
        let is_annotation = |stream: &Stream<'_>| matches!(stream.format(), Format::Annotate(_));
        if !self.is_whole() || has_many_clocks(&streams) || streams.iter().any(is_annotation) {
            return None;
        }
        let slack = Self::SLACK.attoseconds();
        let time = Time::from_attoseconds(time.attoseconds().saturating_sub(slack));
        let mut first = None;
        for clock in streams.iter().filter(|stream| stream.links().is_clock) {
            let clocks = self.chain(&streams, clock.id())?;
            let search = self.search::<N>(&clocks, time)?;
            let place = search.place().ok()?;
            first = Some(first.map_or(place, |first: u64| first.min(place)));
        }
        first
    }

    /// Tells records that begin in the middle what their clocks said last, as far as the indices lead to it; the times of
    /// the first ones would not be known otherwise. With more than [`CLOCKS`](Self::CLOCKS), it tells nothing.
    pub fn prime<F: Source<'a, N>, const N: usize>(&self, records: &mut Records<'_, F, N>) {
        let at = records.frames().offset();
        if has_many_clocks(records.streams()) {
            return;
        }
        for slot in 0..records.streams().len() {
            let Some(stream) = records.streams().at(slot).filter(|stream| stream.links().is_clock) else {
                continue;
            };
            let Some(clocks) = self.chain(records.streams(), stream.id()) else { continue };
            let Some(search) = self.search::<N>(&clocks, Time::ZERO) else { continue };
            // One that cannot be read is not known.
            if let Ok(Some(time)) = search.said_before(at) {
                records.set_clock(slot, time);
            }
        }
    }

    /// A search for a time on the first of these clocks, which counts from the others.
    fn search<'g, const N: usize>(&'g self, clocks: &'g Chain, time: Time) -> Option<Search<'g, 'a, N>> {
        let (own, bases) = clocks.split_first()?;
        Some(Search { grid: self, own, bases, order: self.byte_order(), time, last: self.last_minor() })
    }

    /// The clock, and those that it counts from.
    fn chain<const N: usize>(&self, streams: &Streams<'_, N>, clock: u64) -> Option<Chain> {
        let own = |stream: &&Stream<'_>| stream.clock() == Some(ClockLink::IsClock);
        let named = |name: Name<'_>| streams.at(streams.slot_of_clock(name)?);
        let mut chain = Chain::new();
        let mut next = Some(streams.get(clock).filter(own)?);
        while let Some(stream) = next {
            chain.push(Stamps::of(stream)).ok()?;
            next = match stream.delta() {
                Some(name) => Some(named(name)?),
                None => None,
            };
        }
        Some(chain)
    }
}

/// True if there are more clocks than are followed.
fn has_many_clocks<const N: usize>(streams: &Streams<'_, N>) -> bool {
    streams.iter().filter(|stream| stream.links().is_clock).count() > Grid::CLOCKS
}

/// A search for a time.
struct Search<'g, 'a, const N: usize> {
    grid: &'g Grid<'a>,
    own: &'g Stamps,
    bases: &'g [Stamps],
    order: ByteOrder,
    time: Time,
    /// The last minor unit.
    last: u64,
}

impl<const N: usize> Search<'_, '_, N> {
    /// Where to begin to read in order not to miss the time.
    fn place(&self) -> Result<u64> {
        let grid = self.grid;
        // The first minor unit whose index leads to a time that is not earlier.
        let end = grid.first_minor(0, self.last.saturating_add(1), |minor| self.is_earlier(minor))?;
        let start = end.saturating_sub(1);
        // The stamps after the one that it leads to are what was not seen.
        let target = self.target(self.own, start)?;
        let (_, at) = grid.start_of(target.unwrap_or(grid.minor_start(start)))?;
        Ok(at)
    }

    /// Where the index of a minor unit leads for a clock, if that was stamped before; nowhere before the grid.
    fn target(&self, clock: &Stamps, minor: u64) -> Result<Option<u64>> {
        let target = self.grid.before(clock.id, self.grid.minor_start(minor))?;
        Ok(target.filter(|&target| target >= self.grid.minor_start(0)))
    }

    /// True if the stamp that the index of a minor unit leads to is earlier than the time; also if there is none, or
    /// none that is known.
    fn is_earlier(&self, minor: u64) -> Result<bool> {
        let Some(target) = self.target(self.own, minor)? else { return Ok(true) };
        Ok(self.exact(target)?.is_none_or(|stamp| stamp < self.time))
    }

    /// What the clock's record says first to which an index leads, without regard to what it counts from.
    fn first_stamp(&self, clock: &Stamps, at: u64) -> Result<Time> {
        let whole = Bytes::new(self.grid.data);
        let input = whole.range(at, whole.end_offset().saturating_sub(at)).unwrap_or(Bytes::at(&[], at));
        let (header, after) = frame::read_header(input)?;
        let more = header.1;
        let read = |data: &[u8], at| clock.read(Samples::new(data, at, clock.format, self.order).next(), at);
        if !more {
            let (parts, _) = frame::read_body(input, header, after, clock.length)?;
            if let Ok(time) = read(parts.payload, at) {
                return Ok(time);
            }
        }
        // In pieces, between which other frames may lie. What the index leads to may be the end of one, if that was
        // written by itself.
        let end = self.grid.minor_start(self.grid.minor_of(at).saturating_add(1));
        let (mut stamp, mut begins, mut fault) = (Stamp::new(), at, None);
        let mut frames = self.grid.frames::<N>(at)?;
        while frames.offset() < end || stamp.has_begun() {
            let Some(frame) = frames.next_frame()? else { break };
            if frame.id() != clock.id || frame.offset() < at {
                continue;
            }
            if !frame.continues() {
                begins = frame.offset();
            }
            match stamp.take(&frame).map(|data| read(data, begins)) {
                Some(Err(error)) => fault = fault.or(Some(error)),
                Some(time) => return time,
                None => {}
            }
        }
        Err(fault.unwrap_or(Error::new(frames.offset(), PAYLOAD, ErrorKind::UnexpectedEnd { needed: 1 })))
    }

    /// What the clock said last before `at`.
    fn said_before(&self, at: u64) -> Result<Option<Time>> {
        let Some((begins, time)) = self.last_before(self.own, at)? else { return Ok(None) };
        if self.bases.is_empty() { Ok(Some(time)) } else { self.exact(begins) }
    }

    /// The time at `at`, where a record of the clock begins; `None` if what it counts from was not stamped before.
    fn exact(&self, at: u64) -> Result<Option<Time>> {
        let (mut until, mut sum) = (at, self.first_stamp(self.own, at)?);
        for base in self.bases {
            let Some((begins, time)) = self.last_before(base, until)? else { return Ok(None) };
            (until, sum) = (begins, sum.plus(time));
        }
        Ok(Some(sum))
    }

    /// Where the last record of the clock before `until` begins, and what it says last.
    fn last_before(&self, clock: &Stamps, until: u64) -> Result<Option<(u64, Time)>> {
        let here = self.grid.minor_of(until);
        let found = self.last_stamp(clock, self.grid.minor_start(here), until)?;
        if found.is_some() {
            return Ok(found);
        }
        let Some(target) = self.target(clock, here)? else { return Ok(None) };
        // A record that begins in that minor unit may end in the next one.
        let end = self.grid.minor_start(self.grid.minor_of(target).saturating_add(2)).min(until);
        self.last_stamp(clock, target, end)
    }

    /// Where the last record of the clock begins that lies between two places, and what it says last.
    fn last_stamp(&self, clock: &Stamps, from: u64, until: u64) -> Result<Option<(u64, Time)>> {
        let mut frames = self.grid.frames::<N>(from)?;
        let mut stamp = Stamp::new();
        let mut begins = None;
        let mut found = None;
        while frames.offset() < until {
            let Some(frame) = frames.next_frame()? else { break };
            if frame.id() != clock.id || frame.end() > until {
                continue;
            }
            if !frame.continues() {
                begins = Some(frame.offset());
            }
            if let (Some(data), Some(at)) = (stamp.take(&frame), begins) {
                let last = Samples::new(data, at, clock.format, self.order).map_while(Result::ok).last();
                // One that began before has been seen by its end alone, and is no number.
                found = clock.read(last.map(Ok), at).ok().map(|time| (at, time)).or(found);
            }
        }
        Ok(found)
    }
}

type Chain = heapless::Vec<Stamps, LEVELS>;

/// What is needed to read a clock's frames; taken out of its Meta object once.
struct Stamps {
    id: u64,
    length: Length,
    format: Format,
    gain: Option<Decimal>,
    offset: Option<Decimal>,
}

impl Stamps {
    fn of(clock: &Stream<'_>) -> Self {
        Self {
            id: clock.id(),
            length: clock.length().map_or(Length::Stated, Length::Fixed),
            format: clock.format(),
            gain: clock.gain().ok().flatten(),
            offset: clock.offset().ok().flatten(),
        }
    }

    /// The time that a sample of the record at `at` tells.
    fn read(&self, sample: Option<Result<Sample<'_>>>, at: u64) -> Result<Time> {
        let time = match sample {
            Some(sample) => sample?.as_time(self.gain, self.offset),
            None => None,
        };
        time.ok_or(Error::new(at, PAYLOAD, ErrorKind::Missing))
    }
}
