//! The major units of a file, and which of them are kept.

use super::super::scan::{Event, Pass};
use super::super::session::Rtc;
use super::super::value::in_ns;
use super::pieces::{Pieces, Plan};
use super::range::Range;
use crate::output::add;
use crate::status::Result;
use crate::trace::{Bounds, Digest, Rewritten};
use std::collections::HashMap;
use traceglass::rtc::{Frame, Index, Time, id};

/// A major unit.
#[derive(Default)]
struct Unit {
    start: u64,
    end: u64,
    records: u64,
    digest: Digest,
    /// Errors in what a Meta says: it is kept as it is.
    errors: u64,
    /// Units that follow each other without a gap have the same number.
    run: u64,
    /// True if it begins its session.
    is_first: bool,
    has_crc: bool,
    has_user_frames: bool,
    is_damaged: bool,
    /// True if its Marker is lost: all Markers are alike.
    lacks_marker: bool,
    /// True if a record in it is wanted.
    is_wanted: bool,
    /// The first unit without which clocks would not tell the time at its start.
    needs: usize,
    span: Option<(Time, Time)>,
}

/// All units of a file.
pub struct Units {
    all: Vec<Unit>,
    pieces: Pieces,
}

/// The time of the record that was seen last: those between two stamps have the same.
struct LastTime {
    time: Option<Time>,
    is_wanted: bool,
}

/// A range of time: there are far more records to compare with it than times to convert.
struct Times {
    from: Option<Time>,
    to: Option<Time>,
}

impl Times {
    fn of(bounds: &Bounds) -> Self {
        let exact = |ns: i128| Time::from_attoseconds(ns.saturating_mul(ATTOSECONDS));
        Self { from: bounds.from.map(exact), to: bounds.to.map(exact) }
    }

    /// True if a record of this time is wanted. One without a time is in no range.
    fn wants(&self, time: Option<Time>) -> bool {
        match time {
            Some(time) => self.from.is_none_or(|from| time >= from) && self.to.is_none_or(|to| time < to),
            None => self.from.is_none() && self.to.is_none(),
        }
    }
}

/// So many are a nanosecond.
const ATTOSECONDS: i128 = 1_000_000_000;

impl Units {
    /// Reads a file; what cannot be kept of it is told.
    pub fn read(rtc: &Rtc<'_>, bounds: &Bounds, done: &mut Rewritten) -> Result<Self> {
        let mut units: Vec<Unit> = Vec::new();
        // The unit in which reading is; after a gap there is none up to the next Marker.
        let mut is_inside = false;
        // The offsets of frames that are of no unit.
        let mut stray: Option<(u64, u64)> = None;
        let mut run = 0_u64;
        let mut clocks = Clocks::default();
        let mut pieces = Pieces::default();
        let times = Times::of(bounds);
        let mut last = LastTime { time: None, is_wanted: times.wants(None) };
        rtc.scan(&Pass::default(), |event| {
            match event {
                Event::Frame(frame, _) if frame.id() == id::MARKER || (!is_inside && is_start(frame)) => {
                    tell(stray.take(), done);
                    let needs = clocks.first();
                    units.push(Unit {
                        start: frame.offset(),
                        end: frame.end(),
                        run,
                        needs: needs.unwrap_or(units.len()),
                        lacks_marker: frame.id() != id::MARKER,
                        ..Unit::default()
                    });
                    is_inside = true;
                    if frame.id() != id::MARKER && is_zero(frame) {
                        begin(&mut units, &mut run, &mut clocks, &mut pieces);
                    }
                }
                Event::Frame(frame, _) if !is_inside && frame.is_user() => {
                    stray = Some((stray.map_or(frame.offset(), |(start, _)| start), frame.end()));
                    // It may begin a record that ends in a unit.
                    pieces.frame(frame, 0);
                }
                Event::Frame(frame, _) if is_inside => {
                    let Some(unit) = units.last_mut() else { return Ok(()) };
                    unit.end = frame.end();
                    if frame.is_user() {
                        unit.has_user_frames = true;
                        pieces.frame(frame, unit.start);
                        return Ok(());
                    }
                    unit.has_crc |= frame.id() == id::CRC;
                    if is_zero(frame) {
                        begin(&mut units, &mut run, &mut clocks, &mut pieces);
                    }
                }
                Event::Record(record) if is_inside => {
                    let at = record.offset();
                    let is_apart = units.last().is_none_or(|unit| at < unit.start);
                    let begun = match is_apart {
                        true => units.partition_point(|unit| unit.start <= at),
                        false => units.len(),
                    };
                    let begun = begun.saturating_sub(1);
                    if record.is_stamp() {
                        clocks.stamp(record.slot(), begun, || record.stream().delta().is_some());
                    }
                    let time = record.time();
                    if time != last.time {
                        last = LastTime { time, is_wanted: times.wants(time) };
                    }
                    if last.is_wanted
                        && let Some(unit) = units.get_mut(begun)
                    {
                        unit.is_wanted = true;
                    }
                    if let Some(unit) = units.last_mut() {
                        unit.is_wanted |= last.is_wanted;
                        unit.records = unit.records.saturating_add(1);
                        let mut own = Digest::default();
                        super::digest::hash(record, &mut own);
                        unit.digest.join(own);
                        if is_apart {
                            pieces.note(own);
                        }
                        if let Some(time) = time {
                            let (first, last) = unit.span.unwrap_or((time, time));
                            unit.span = Some((first.min(time), last.max(time)));
                        }
                    }
                }
                Event::Gap(gap, _) => {
                    if let Some(unit) = units.last_mut().filter(|unit| is_inside && !unit.has_crc) {
                        // A unit that is cut at the end of the file has all that is before the cut.
                        let is_cut = gap.end() >= rtc.data.len() as u64 && gap.cause().is_truncation();
                        unit.is_damaged = !is_cut || !unit.has_user_frames;
                        unit.end = unit.end.min(gap.offset());
                    }
                    done.lose(None, gap.offset(), gap.len(), gap.cause());
                    (is_inside, run) = (false, run.saturating_add(1));
                    clocks.clear();
                    pieces.interrupt();
                }
                Event::Finding(finding) => {
                    let (at, element) = (finding.cause().offset(), finding.cause().element());
                    let place = units.partition_point(|unit| unit.start <= at).saturating_sub(1);
                    let is_error = finding.severity() == traceglass::Severity::Error;
                    let Some(unit) = units.get_mut(place).filter(|_| is_error) else { return Ok(()) };
                    if element == traceglass::rtc::element::CRC {
                        unit.is_damaged = true;
                        done.lose(None, unit.start, unit.end.saturating_sub(unit.start), finding.cause());
                    } else if element == traceglass::rtc::element::META {
                        unit.errors = unit.errors.saturating_add(1);
                    }
                }
                _ => {}
            }
            Ok(())
        })?;
        tell(stray, done);
        pieces.interrupt();
        Ok(Self { all: units, pieces })
    }

    /// The parts left out of each range.
    pub fn plans(&self, ranges: &[Range]) -> Vec<Plan> {
        self.pieces.plans(ranges)
    }

    /// Counts the units of a range, and the records that end in it, but for what a plan leaves out.
    pub fn count_in(&self, range: &Range, plan: &Plan, done: &mut Rewritten) {
        let (mut records, mut digest) = (0_u64, Digest::default());
        let first = self.all.partition_point(|unit| unit.start < range.start);
        let units = self.all.iter().skip(first).take_while(|unit| unit.end <= range.end);
        for unit in units {
            add(&mut done.kept, 1);
            add(&mut records, unit.records);
            digest.join(unit.digest);
        }
        digest.leave(plan.digest);
        add(&mut done.records, records.saturating_sub(plan.records));
        done.digest.join(digest);
    }

    pub fn count(&self) -> u64 {
        self.all.len() as u64
    }

    pub fn records(&self) -> u64 {
        self.all.iter().map(|unit| unit.records).fold(0, u64::saturating_add)
    }

    pub fn digest(&self) -> Digest {
        let mut digest = Digest::default();
        self.all.iter().for_each(|unit| digest.join(unit.digest));
        digest
    }

    /// The number of errors in what is in ranges, and is kept as it is.
    pub fn errors(&self, ranges: &[Range]) -> u64 {
        self.in_ranges(ranges).map(|unit| unit.errors).fold(0, u64::saturating_add)
    }

    /// Notes the times of what is in ranges.
    pub fn span(&self, ranges: &[Range], done: &mut Rewritten) {
        let spans = self.in_ranges(ranges).filter_map(|unit| unit.span);
        spans.for_each(|(first, last)| done.meet(in_ns(first), in_ns(last)));
    }

    /// The units in ranges, which are in order.
    fn in_ranges<'u>(&'u self, ranges: &'u [Range]) -> impl Iterator<Item = &'u Unit> {
        self.all.iter().filter(|unit| {
            let place = ranges.partition_point(|range| range.end <= unit.start);
            ranges.get(place).is_some_and(|range| range.has(unit.start, unit.end))
        })
    }

    /// The units that are kept, without gaps; of those before what is wanted, as many as clocks need.
    pub fn ranges(&self, bounds: &Bounds) -> Vec<Range> {
        let mut ranges = Vec::new();
        let mut start = 0;
        while start < self.all.len() {
            let rest = self.all.get(start..).unwrap_or_default();
            let run = rest.first().map(|unit| unit.run);
            // A damaged unit ends a run, too.
            let len =
                rest.iter().position(|unit| unit.is_damaged || Some(unit.run) != run).unwrap_or(rest.len());
            let units = rest.get(..len).unwrap_or_default();
            let wanted = |unit: &Unit| bounds.is_everything() || unit.is_wanted;
            let first = units.iter().position(wanted).map(|first| first.saturating_add(start));
            let last = units.iter().rposition(wanted).map(|last| last.saturating_add(start));
            if let (Some(first), Some(last)) = (first, last) {
                let kept = self.all.get(first..=last).unwrap_or_default();
                let needs = kept.iter().map(|unit| unit.needs).min().unwrap_or(first);
                let first = first.min(needs).max(start);
                if let (Some(from), Some(to)) = (self.all.get(first), self.all.get(last)) {
                    let is_as_it_was = from.is_first && !from.lacks_marker;
                    ranges.push(Range {
                        start: from.start,
                        end: to.end,
                        lacks_marker: from.lacks_marker,
                        is_as_it_was,
                    });
                }
            }
            start = start.saturating_add(len.max(1));
        }
        ranges
    }
}

/// The clocks of a session.
#[derive(Default)]
struct Clocks {
    /// By their slots, the first unit that is needed to tell the time, and whether it is counted from another clock.
    known: HashMap<usize, (usize, bool)>,
    /// By their slots, when a stamp was looked at last: in which unit, and in which state of the clocks. Another one
    /// changes nothing.
    seen: Vec<Option<(usize, u64)>>,
    state: u64,
}

impl Clocks {
    /// A stamp in a unit.
    #[inline]
    fn stamp(&mut self, slot: usize, unit: usize, is_delta: impl FnOnce() -> bool) {
        if self.seen.get(slot) != Some(&Some((unit, self.state))) {
            self.note(slot, unit, is_delta);
        }
    }

    fn note(&mut self, slot: usize, unit: usize, is_delta: impl FnOnce() -> bool) {
        let known = self.known.get(&slot).copied();
        // Reading it from the object takes far longer than all else.
        let is_delta = known.map_or_else(is_delta, |(_, is_delta)| is_delta);
        let bases = self.known.values().filter(|(_, is_delta)| !is_delta).map(|(unit, _)| *unit);
        let first = if is_delta { bases.min().unwrap_or(unit).min(unit) } else { unit };
        self.known.insert(slot, (first, is_delta));
        if !is_delta && known != Some((first, is_delta)) {
            self.state = self.state.saturating_add(1);
        }
        if self.seen.len() <= slot {
            self.seen.resize(slot.saturating_add(1), None);
        }
        let state = self.state;
        self.seen.get_mut(slot).into_iter().for_each(|seen| *seen = Some((unit, state)));
    }

    /// The first unit that is needed to tell the time by all of them.
    fn first(&self) -> Option<usize> {
        self.known.values().map(|(unit, _)| *unit).min()
    }

    fn clear(&mut self) {
        self.known.clear();
        self.state = self.state.saturating_add(1);
    }
}

/// Numbers begin anew, and with them a session.
fn begin(units: &mut [Unit], run: &mut u64, clocks: &mut Clocks, pieces: &mut Pieces) {
    pieces.interrupt();
    let number = units.len().saturating_sub(1);
    if let Some(unit) = units.last_mut() {
        *run = run.saturating_add(1);
        (unit.is_first, unit.run, unit.needs) = (true, *run, number);
        clocks.clear();
    }
}

/// Tells of frames that are of no unit that could be kept.
fn tell(stray: Option<(u64, u64)>, done: &mut Rewritten) {
    if let Some((start, end)) = stray {
        done.lose(None, start, end.saturating_sub(start), "frames of a unit of which the beginning is lost");
    }
}

/// True if it is the Index of a unit, at its beginning.
fn is_start(frame: &Frame<'_>) -> bool {
    frame.id() == id::INDEX && !frame.continues()
}

/// True if it is the Index of the first unit of a session.
fn is_zero(frame: &Frame<'_>) -> bool {
    let index = Index::from_frame(frame).filter(|_| frame.id() == id::INDEX);
    index.is_some_and(|index| index.is_ok_and(|index| index.number() == Some(0)))
}
