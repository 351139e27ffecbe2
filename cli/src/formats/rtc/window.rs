//! Ranges of time, and what they stand for in a file.
//!
//! Each record is asked for its time. All of the file is read unless it is large and its indices lead to the range: a
//! clock may step back, sessions follow each other, and damage anywhere before a record decides whether its time is
//! known.

use super::scan::{Event, Pass};
use super::session::{Rtc, Slots};
use super::value::{in_ns, of_ns};
use crate::status::{Failure, Result};
use crate::trace::{Bounds, READ_WHOLE, Reference, Window};
use std::ops::Range;
use traceglass::rtc::{ClockLink, Decimal, Format, Grid, Names, Stream, Streams, Time};

/// The number of bytes more that are read before and after a range that is sought: there, clocks may step back.
pub(super) const AROUND: u64 = 1 << 20;

impl<'a> Rtc<'a> {
    /// The grid of the file, if it is one session of which no unit is missing or moved, as far as that tells.
    pub(super) fn grid(&self) -> Option<Grid<'a>> {
        let grid = Grid::new(self.data).ok()?;
        let last = grid.first().number().checked_add(grid.len().checked_sub(1)?)?;
        grid.unit(last).ok().map(|_| grid)
    }

    /// True if reading may go on within the file as if all before had been read.
    pub(super) fn can_go_on(&self) -> bool {
        let Some(grid) = self.grid().filter(|grid| grid.first().offset() == 0) else { return false };
        let table = grid.streams(Slots::new());
        table.is_ok_and(|table| {
            table.streams().iter().filter(|stream| is_clock(stream)).count() <= Grid::CLOCKS
        })
    }

    /// The range that is asked for.
    pub(super) fn range(&self, window: &Window) -> Result<Bounds> {
        window.resolve(&Reference {
            is_absolute: &|| self.is_absolute(),
            start: &|| Ok(self.first_time()?.map(|time| time.ns())),
            of_clock: &|value| {
                let time = self.of_clock(value)?;
                time.ok_or_else(|| Failure::usage("--from and --to: it has no clock"))
            },
        })
    }

    /// True if a clock counts from the Unix epoch.
    pub(super) fn is_absolute(&self) -> Result<bool> {
        let is_absolute = |slot, streams: Streams<'_, '_>| streams.is_absolute(slot).then_some(());
        Ok(self.find_stream(is_absolute)?.is_some())
    }

    /// The place where the indices lead to for what happened from a time on, if reading begins and ends by them: `None` if
    /// all is read, as it is of a file that is not large.
    pub(super) fn sought(&self, bounds: &Bounds) -> Option<u64> {
        if bounds.is_everything() || self.data.len() as u64 <= READ_WHOLE || !self.can_go_on() {
            return None;
        }
        self.seek(bounds.from.unwrap_or(i128::MIN))
    }

    /// The place where the indices lead to for what happened from a time on; `None` if only reading everything will do.
    pub(super) fn seek(&self, from: i128) -> Option<u64> {
        self.grid()?.seek_all(of_ns(from), &mut Slots::new())
    }

    /// The time of the first record that has one, in the order in which they begin.
    pub(super) fn first_time(&self) -> Result<Option<traceglass::event::Time>> {
        let pass = Pass::default();
        let mut names = Names::new(Vec::new());
        let (mut first, mut open) = (None, None);
        self.scan(&pass, |event| {
            match event {
                Event::Record(record) => {
                    let at = record.offset();
                    // Its vector grows.
                    let time = names.record(record).ok().and_then(|record| record.time());
                    if let Some(time) = time.filter(|_| first.is_none_or(|(first, _)| at < first)) {
                        first = Some((at, time));
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

    /// The time that a value of the file's own clock stands for: the first one that counts from no other, if there is
    /// one.
    pub(super) fn of_clock(&self, value: i128) -> Result<Option<i128>> {
        let clock = |slot, streams: Streams<'_, '_>, is_wanted: fn(&Stream<'_>) -> bool| {
            let clock = streams.at(slot).filter(|stream| is_clock(stream) && is_wanted(stream))?;
            Some(of_clock(clock, value))
        };
        match self.find_stream(|slot, streams| clock(slot, streams, |clock| clock.delta().is_none()))? {
            Some(time) => Ok(Some(time)),
            None => self.find_stream(|slot, streams| clock(slot, streams, |_| true)),
        }
    }

    /// The first answer that a stream gives, of all sessions.
    fn find_stream<T>(&self, mut find: impl FnMut(usize, Streams<'_, '_>) -> Option<T>) -> Result<Option<T>> {
        let mut find =
            |mut slots: Range<usize>, streams: Streams<'_, '_>| slots.find_map(|slot| find(slot, streams));
        // Mostly, all are declared in the first unit.
        if let Ok(table) = Grid::new(self.data).and_then(|grid| grid.streams(Slots::new()))
            && let Some(found) = find(0..table.streams().len(), table.streams())
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
