//! Ranges of time, and what they stand for in a file.
//!
//! Each record is asked for its time. All of the file is read unless it is large and its indices lead to the range: a clock
//! may step back, sessions follow each other, and damage anywhere before a record decides whether its time is known.

use super::scan::{Event, Pass};
use super::session::{Record, Rtc, STREAMS, Streams};
use super::value::in_ns;
use crate::status::{Failure, Result};
use crate::trace::{Bounds, READ_WHOLE, Reference, Window};
use std::ops::Range;
use traceglass::rtc::{ClockLink, Decimal, Format, Grid, Stream, Time};

/// How many bytes more are read before and after a range that is sought: there, clocks may step back.
pub(super) const AROUND: u64 = 1 << 20;

/// When a record was written; or, if it is an annotation, the time that it tells.
pub(super) fn time_of(record: &Record<'_, '_>) -> Option<Time> {
    match record.annotation() {
        Some(Ok(annotation)) => Some(annotation.time),
        _ => record.time(),
    }
}

impl<'a> Rtc<'a> {
    /// Whether the file is one session of which no unit is missing or moved, as far as its grid tells.
    pub(super) fn grid(&self) -> Option<Grid<'a>> {
        let grid = Grid::new(self.data).ok()?;
        let last = grid.first().number().checked_add(grid.len().checked_sub(1)?)?;
        grid.unit(last).ok().map(|_| grid)
    }

    /// Whether reading may go on within the file as if all before had been read.
    pub(super) fn can_go_on(&self) -> bool {
        let Some(grid) = self.grid().filter(|grid| grid.first().offset() == 0) else { return false };
        let streams = grid.streams::<STREAMS>().map(Box::new);
        streams.is_ok_and(|streams| streams.iter().filter(|stream| is_clock(stream)).count() <= Grid::CLOCKS)
    }

    /// The range that is asked for.
    pub(super) fn range(&self, window: &Window) -> Result<Bounds> {
        window.resolve(&Reference {
            is_absolute: &|| {
                let found = self.find_stream(|stream, streams| tells_date(stream, streams).then_some(()))?;
                Ok(found.is_some())
            },
            start: &|| self.first_time(),
            of_clock: &|value| {
                let time = self.of_clock(value)?;
                time.ok_or_else(|| Failure::usage("--from and --to: it has no clock"))
            },
        })
    }

    /// Whether reading begins and ends where the indices lead to.
    pub(super) fn is_sought(&self, bounds: &Bounds) -> bool {
        !bounds.is_everything() && self.data.len() as u64 > READ_WHOLE && self.can_go_on()
    }

    /// Where to begin to read for a range in attoseconds, if not at the start.
    pub(super) fn start(&self, bounds: &Bounds) -> Option<u64> {
        let from = Time::from_attoseconds(bounds.from?);
        let place = self.grid()?.seek_all::<STREAMS>(from)?;
        Some(place.saturating_sub(AROUND)).filter(|&place| place > 0)
    }

    /// The time of the first record that has one, in the order in which they begin.
    pub(super) fn first_time(&self) -> Result<Option<i128>> {
        let pass = Pass::default();
        let (mut first, mut open) = (None, None);
        self.scan(&pass, |event| {
            match event {
                Event::Record(record) => {
                    let (at, time) = (record.offset(), time_of(record));
                    if let Some(time) = time.filter(|_| first.is_none_or(|(first, _)| at < first)) {
                        first = Some((at, in_ns(time)));
                    }
                }
                Event::Open(offset) => open = offset,
                Event::Session(_) => open = None,
                _ => return Ok(()),
            }
            // One that began earlier may still end.
            pass.stop.set(first.is_some_and(|(first, _)| open.is_none_or(|open| open > first)));
            Ok(())
        })?;
        Ok(first.map(|(_, time)| time))
    }

    /// The time that a value of the file's own clock stands for: the first one that counts from no other, if there is one.
    pub(super) fn of_clock(&self, value: i128) -> Result<Option<i128>> {
        let of = |stream: &Stream<'_>| is_clock(stream).then(|| of_clock(stream, value));
        match self.find_stream(|stream, _| of(stream).filter(|_| stream.delta().is_none()))? {
            Some(time) => Ok(Some(time)),
            None => self.find_stream(|stream, _| of(stream)),
        }
    }

    /// The first answer that a stream gives, of all sessions.
    fn find_stream<T>(
        &self,
        mut find: impl FnMut(&Stream<'_>, &Streams<'_>) -> Option<T>,
    ) -> Result<Option<T>> {
        let mut find = |slots: Range<usize>, streams: &Streams<'_>| {
            slots.filter_map(|slot| streams.at(slot)).find_map(|stream| find(stream, streams))
        };
        // Mostly, all are declared in the first unit.
        if let Ok(streams) = Grid::new(self.data).and_then(|grid| grid.streams::<STREAMS>()).map(Box::new)
            && let Some(found) = find(0..streams.len(), &streams)
        {
            return Ok(Some(found));
        }
        let pass = Pass::default();
        let (mut found, mut asked) = (None, 0);
        self.scan(&pass, |event| {
            match event {
                Event::Frame(_, streams) if found.is_none() => {
                    found = find(asked..streams.len(), streams);
                    asked = streams.len();
                    pass.stop.set(found.is_some());
                }
                Event::Session(_) => asked = 0,
                _ => {}
            }
            Ok(())
        })?;
        Ok(found)
    }
}

fn is_clock(stream: &Stream<'_>) -> bool {
    stream.clock() == Some(ClockLink::IsClock)
}

/// Whether a stream has times that count from the Unix epoch by themselves: a clock, or annotations on no clock.
fn tells_date(stream: &Stream<'_>, streams: &Streams<'_>) -> bool {
    let is_absolute = |slot| streams.is_absolute(slot);
    if !matches!(stream.format(), Format::Annotate(_)) {
        return is_clock(stream) && streams.slot(stream.id()).is_some_and(is_absolute);
    }
    let about = stream.stream().and_then(|name| streams.slot_of_name(name));
    about.or(streams.slot(stream.id())).is_none_or(|slot| streams.clock_of(slot).is_none())
}

/// The time that a value of a clock stands for: of a `timespec` nanoseconds, of any other what is written.
fn of_clock(clock: &Stream<'_>, value: i128) -> i128 {
    if clock.format() == Format::Timespec {
        return value;
    }
    // One that cannot be read is reported by `check`.
    let gain = clock.gain().ok().flatten().unwrap_or(Decimal::ONE);
    let offset = clock.offset().ok().flatten().unwrap_or(Decimal::ZERO);
    in_ns(Time::from_raw(value, gain, offset))
}
