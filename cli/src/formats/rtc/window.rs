//! Ranges of time: what they stand for in a file, and where to begin to read for one.

use super::scan::{Event, Pass};
use super::session::{Record, Rtc, STREAMS, Streams};
use super::value::{in_ns, is_absolute};
use crate::status::{Failure, Result};
use crate::trace::{Bounds, Reference, Window};
use std::cell::Cell;
use traceglass::rtc::{ClockLink, Decimal, Format, Grid, Stream, Time};

/// How many clocks are followed to tell when a range has passed.
const CLOCKS: usize = 64;

/// A range, and how much of the file has something of it.
#[derive(Default)]
pub(super) struct Range {
    pub(super) bounds: Bounds,
    /// Where to begin to read, if not at the start.
    pub(super) start: Option<u64>,
    /// The clocks that others tell their time by, and what they said last: when all of them are past the range, so is
    /// what follows. Empty if that cannot be known.
    clocks: Vec<(usize, Option<i128>)>,
    /// Clocks that are there for others to count from: their stamps are in no range, for they say an earlier time over and
    /// over.
    bases: Vec<u64>,
}

impl Range {
    /// Whether a record is in the range.
    pub(super) fn wants(&self, record: &Record<'_, '_>, time: Option<Time>) -> bool {
        if self.bounds.is_everything() {
            return true;
        }
        self.bounds.wants(time.map(in_ns)) && !self.bases.contains(&record.stream().id())
    }

    /// Follows the clocks; gives whether nothing in the range is left to come.
    pub(super) fn has_passed(&mut self, record: &Record<'_, '_>) -> bool {
        if self.clocks.is_empty() || !record.is_stamp() {
            return false;
        }
        let slot = record.slot();
        let Some(clock) = self.clocks.iter_mut().find(|(one, _)| *one == slot) else { return false };
        clock.1 = record.time().map(in_ns);
        self.clocks.iter().all(|(_, said)| said.is_some_and(|said| self.bounds.is_past(said)))
    }
}

impl<'a> Rtc<'a> {
    /// Whether the file is one session of which no unit is missing or moved, as far as its grid tells.
    pub(super) fn grid(&self) -> Option<Grid<'a>> {
        let grid = Grid::new(self.data).ok()?;
        let last = grid.first().number().checked_add(grid.len().checked_sub(1)?)?;
        grid.unit(last).ok().map(|_| grid)
    }

    /// The range that is asked for.
    pub(super) fn range(&self, window: &Window) -> Result<Range> {
        if window.is_everything() {
            return Ok(Range::default());
        }
        let streams = Grid::new(self.data).and_then(|grid| grid.streams::<STREAMS>());
        let Ok(streams) = streams.map(Box::new) else {
            return Err(Failure::unreadable("--from and --to: the streams of its first unit cannot be read"));
        };
        let bounds = window.resolve(&Reference {
            is_absolute: clocks(&streams).any(|clock| is_absolute(clock, &streams)),
            start: &|| self.first_time(),
            of_clock: &|value| {
                let own = clocks(&streams).find(|clock| clock.delta().is_none()).or(clocks(&streams).next());
                let clock = own.ok_or_else(|| Failure::usage("--from and --to: it has no clock"))?;
                Ok(of_clock(clock, value))
            },
        })?;
        let told = |clock: &&Stream<'_>| {
            let id = clock.id();
            (0..streams.len()).any(|slot| {
                streams.at(slot).is_some_and(|stream| stream.id() != id)
                    && streams.clock_of(slot).is_some_and(|clock| clock.id() == id)
            })
        };
        let counted: Vec<_> = clocks(&streams).filter_map(|clock| clock.delta()).collect();
        let is_base =
            |clock: &&Stream<'_>| clock.name().is_some_and(|name| counted.contains(&name)) && !told(clock);
        let (bases, used): (Vec<&Stream<'_>>, Vec<&Stream<'_>>) =
            clocks(&streams).partition(|clock| is_base(clock));
        let bases = bases.iter().map(|clock| clock.id()).collect();
        let mut range = Range { bounds, bases, ..Range::default() };
        // An annotation says itself when it belongs, wherever it stands; and after damage no place is certain.
        let annotates = streams.iter().any(|stream| matches!(stream.format(), Format::Annotate(_)));
        let Some(grid) = self.grid().filter(|_| !annotates) else { return Ok(range) };
        if let Some(from) = range.bounds.from {
            let time = Time::from_attoseconds(from.saturating_mul(1_000_000_000));
            let places = used.iter().map(|clock| grid.seek_time::<STREAMS>(clock.id(), time).ok());
            range.start = places.min().flatten().filter(|&place| place > 0);
        }
        // With very many clocks, it would take longer to look at them than to read on.
        if range.bounds.to.is_some() && used.len() <= CLOCKS {
            range.clocks = used.iter().filter_map(|clock| Some((streams.slot(clock.id())?, None))).collect();
        }
        Ok(range)
    }

    /// The time of the first record that has one.
    pub(super) fn first_time(&self) -> Result<Option<i128>> {
        let pass = Pass::default();
        let first = Cell::new(None);
        self.scan(&pass, |event| {
            if let (Event::Record(record), false) = (&event, pass.stop.get()) {
                first.set(record.time().map(in_ns));
                pass.stop.set(first.get().is_some());
            }
            Ok(())
        })?;
        Ok(first.get())
    }
}

/// The streams that are clocks.
fn clocks<'s, 'a>(streams: &'s Streams<'a>) -> impl Iterator<Item = &'s Stream<'a>> {
    streams.iter().filter(|stream| stream.clock() == Some(ClockLink::IsClock))
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
