//! The major units of a file, and which of them are kept.

use super::super::scan::{Event, Pass};
use super::super::session::Rtc;
use super::super::value::in_ns;
use crate::status::Result;
use crate::trace::{Bounds, Digest, Rewritten};
use std::collections::HashMap;
use traceglass::rtc::{Frame, Index, id};

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
    span: Option<(i128, i128)>,
}

/// Units that are written as a session.
pub struct Range {
    pub start: u64,
    pub end: u64,
    /// True if it has no Marker at its beginning.
    pub lacks_marker: bool,
    /// True if it begins as a session of the input does.
    pub is_as_it_was: bool,
}

impl Range {
    fn has(&self, unit: &Unit) -> bool {
        self.start <= unit.start && unit.end <= self.end
    }
}

/// All units of a file.
pub struct Units(Vec<Unit>);

impl Units {
    /// Reads a file; what cannot be kept of it is told.
    pub fn read(rtc: &Rtc<'_>, bounds: &Bounds, done: &mut Rewritten) -> Result<Self> {
        let mut units: Vec<Unit> = Vec::new();
        // The unit in which reading is; after a gap there is none up to the next Marker.
        let mut is_inside = false;
        // Where frames began that are of no unit.
        let mut stray: Option<(u64, u64)> = None;
        let mut run = 0_u64;
        let mut clocks = Clocks::new();
        rtc.scan(&Pass::default(), |event| {
            match event {
                Event::Frame(frame, _) if frame.id() == id::MARKER || (!is_inside && is_start(frame)) => {
                    tell(stray.take(), done);
                    let needs = clocks.values().map(|(unit, _)| *unit).min();
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
                        begin(&mut units, &mut run, &mut clocks);
                    }
                }
                Event::Frame(frame, _) if !is_inside && frame.is_user() => {
                    stray = Some((stray.map_or(frame.offset(), |(start, _)| start), frame.end()));
                }
                Event::Frame(frame, _) if is_inside => {
                    let Some(unit) = units.last_mut() else { return Ok(()) };
                    unit.end = frame.end();
                    unit.has_crc |= frame.id() == id::CRC;
                    unit.has_user_frames |= frame.is_user();
                    if is_zero(frame) {
                        begin(&mut units, &mut run, &mut clocks);
                    }
                }
                Event::Record(record) => {
                    let at = record.offset();
                    let begun = units.partition_point(|unit| unit.start <= at).saturating_sub(1);
                    let time = record.time().map(in_ns);
                    if record.is_stamp() && is_inside {
                        // Reading it from the object takes far longer than all else, and there are many stamps.
                        let known = clocks.get(&record.slot()).map(|(_, is_delta)| *is_delta);
                        let is_delta = known.unwrap_or_else(|| record.stream().delta().is_some());
                        let bases = clocks.values().filter(|(_, is_delta)| !is_delta).map(|(unit, _)| *unit);
                        let unit = if is_delta { bases.min().unwrap_or(begun).min(begun) } else { begun };
                        clocks.insert(record.slot(), (unit, is_delta));
                    }
                    if bounds.wants(time)
                        && let Some(unit) = units.get_mut(begun)
                    {
                        unit.is_wanted = true;
                    }
                    if let Some(unit) = units.last_mut() {
                        unit.is_wanted |= bounds.wants(time);
                        unit.records = unit.records.saturating_add(1);
                        super::digest::hash(record, &mut unit.digest);
                        if let Some(time) = time {
                            let (first, last) = unit.span.unwrap_or((time, time));
                            unit.span = Some((first.min(time), last.max(time)));
                        }
                    }
                }
                Event::Gap(gap, _) => {
                    if let Some(unit) = units.last_mut().filter(|unit| is_inside && !unit.has_crc) {
                        // What is cut at the end of the file has all that is before it.
                        let is_cut = gap.end() >= rtc.data.len() as u64 && gap.cause().is_truncation();
                        unit.is_damaged = !is_cut || !unit.has_user_frames;
                        unit.end = unit.end.min(gap.offset());
                    }
                    done.lose(None, gap.offset(), gap.len(), gap.cause());
                    (is_inside, run) = (false, run.saturating_add(1));
                    clocks.clear();
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
        Ok(Self(units))
    }

    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }

    pub fn records(&self) -> u64 {
        self.0.iter().map(|unit| unit.records).fold(0, u64::saturating_add)
    }

    pub fn digest(&self) -> Digest {
        let mut digest = Digest::default();
        self.0.iter().for_each(|unit| digest.join(unit.digest));
        digest
    }

    /// The number of errors in what is in ranges, and is kept as it is.
    pub fn errors(&self, ranges: &[Range]) -> u64 {
        let kept = self.0.iter().filter(|unit| ranges.iter().any(|range| range.has(unit)));
        kept.map(|unit| unit.errors).fold(0, u64::saturating_add)
    }

    /// Notes the times of what is in ranges.
    pub fn span(&self, ranges: &[Range], done: &mut Rewritten) {
        for unit in &self.0 {
            if let Some((first, last)) = unit.span.filter(|_| ranges.iter().any(|range| range.has(unit))) {
                done.meet(first, last);
            }
        }
    }

    /// The units that are kept, without gaps; of those before what is wanted, as many as clocks need.
    pub fn ranges(&self, bounds: &Bounds) -> Vec<Range> {
        let mut ranges = Vec::new();
        let mut start = 0;
        while start < self.0.len() {
            let rest = self.0.get(start..).unwrap_or_default();
            let run = rest.first().map(|unit| unit.run);
            // A damaged unit ends a run, too.
            let len =
                rest.iter().position(|unit| unit.is_damaged || Some(unit.run) != run).unwrap_or(rest.len());
            let units = rest.get(..len).unwrap_or_default();
            let wanted = |unit: &Unit| bounds.is_everything() || unit.is_wanted;
            let first = units.iter().position(wanted).map(|first| first.saturating_add(start));
            let last = units.iter().rposition(wanted).map(|last| last.saturating_add(start));
            if let (Some(first), Some(last)) = (first, last) {
                let kept = self.0.get(first..=last).unwrap_or_default();
                let needs = kept.iter().map(|unit| unit.needs).min().unwrap_or(first);
                let first = first.min(needs).max(start);
                if let (Some(from), Some(to)) = (self.0.get(first), self.0.get(last)) {
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

/// Of each clock, the first unit that is needed to tell the time by it, and whether it counts from another one.
type Clocks = HashMap<usize, (usize, bool)>;

/// Numbers begin anew, and with them a session.
fn begin(units: &mut [Unit], run: &mut u64, clocks: &mut Clocks) {
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
