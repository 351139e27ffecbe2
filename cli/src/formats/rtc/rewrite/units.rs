//! The major units of a file, and which of them are kept.

use super::super::session::{Rtc, Slots};
use super::super::value::in_ns;
use super::pieces::{Pieces, Plan};
use super::range::Range;
use crate::output::add;
use crate::progress::Progress;
use crate::trace::{Bounds, Digest, Rewritten};
use std::collections::HashMap;
use traceglass::rtc::recover::{Found, Records};
use traceglass::rtc::{Checker, Frame, Index, Time, id};
use traceglass::{Finding, Gap, Severity};

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
pub struct Units<'a> {
    all: Vec<Unit>,
    pieces: Pieces,
    /// The frames in units that may have to be written anew.
    marks: Vec<Frame<'a>>,
    is_clean: bool,
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

/// A look at the records of a slot since the last frame of a default stream.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// The number of that frame, from 1 on.
    at: u64,
    is_stamp: bool,
}

/// A walk over a file, and what was met.
struct Walk<'d, 'a> {
    done: &'d mut Rewritten,
    /// The size of the file.
    size: u64,
    units: Vec<Unit>,
    /// True if reading is in the last of them; after a gap it is in none up to the next Marker.
    is_inside: bool,
    /// The offsets of frames that are of no unit.
    stray: Option<(u64, u64)>,
    run: u64,
    clocks: Clocks,
    pieces: Pieces,
    times: Times,
    last: LastTime,
    /// By their slots, the streams. Only what begins a time, or is the first one after a frame of a default stream, can
    /// have a time that is not known of its unit.
    seen: Vec<Seen>,
    /// Frames of default streams and gaps so far.
    others: u64,
    marks: Vec<Frame<'a>>,
    is_clean: bool,
}

impl Units<'_> {
    /// Reads a file; what cannot be kept of it is told.
    pub fn read<'a>(rtc: &Rtc<'a>, bounds: &Bounds, done: &mut Rewritten) -> Units<'a> {
        let mut buffer = rtc.buffer();
        let mut records = Records::new(rtc.data, Slots::new(), &mut buffer);
        let mut checker = Checker::by(crc32fast::hash);
        let times = Times::of(bounds);
        let size = rtc.data.len() as u64;
        let mut walk = Walk {
            done,
            size,
            units: Vec::new(),
            is_inside: false,
            stray: None,
            run: 0,
            clocks: Clocks::default(),
            pieces: Pieces::default(),
            last: LastTime { time: None, is_wanted: times.wants(None) },
            times,
            seen: Vec::new(),
            others: 1,
            marks: Vec::new(),
            is_clean: true,
        };
        let mut found = Vec::new();
        let progress = Progress::new(size);
        let mut told = 0;
        loop {
            while let Some((frame, is_complete)) = records.take_user() {
                walk.user(&records, &frame, is_complete);
            }
            match records.advance() {
                Found::Record(frame) => walk.user(&records, &frame, true),
                Found::Frame(frame) if frame.is_user() => walk.user(&records, &frame, false),
                Found::Frame(frame) => {
                    progress.advance(frame.offset().saturating_sub(told));
                    told = told.max(frame.offset());
                    checker.frame(records.frames(), &frame, |finding| found.push(finding));
                    found.drain(..).for_each(|finding| walk.finding(&finding));
                    walk.other(frame);
                }
                Found::Gap(gap) => {
                    checker.gap(&gap, |finding| found.push(finding));
                    walk.gap(&gap);
                    found.drain(..).for_each(|finding| walk.finding(&finding));
                }
                _ => break,
            }
        }
        checker.end(records.frames().session(), |finding| walk.finding(&finding));
        walk.finish()
    }
}

impl<'a> Units<'a> {
    /// True if there is no error in it.
    pub fn is_clean(&self) -> bool {
        self.is_clean
    }

    /// The Markers, indices and checksums of a range.
    pub fn marks(&self, range: &Range) -> &[Frame<'a>] {
        let place = |at: u64| self.marks.partition_point(|mark| mark.offset() < at);
        self.marks.get(place(range.start)..place(range.end)).unwrap_or_default()
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

impl<'a> Walk<'_, 'a> {
    /// A frame of a default stream.
    fn other(&mut self, frame: Frame<'a>) {
        self.others = self.others.saturating_add(1);
        let is_marker = frame.id() == id::MARKER;
        if is_marker || (!self.is_inside && is_start(&frame)) {
            tell(self.stray.take(), self.done);
            let needs = self.clocks.first();
            self.units.push(Unit {
                start: frame.offset(),
                run: self.run,
                needs: needs.unwrap_or(self.units.len()),
                lacks_marker: !is_marker,
                ..Unit::default()
            });
            self.is_inside = true;
        }
        let Some(unit) = self.units.last_mut().filter(|_| self.is_inside) else { return };
        unit.end = frame.end();
        unit.has_crc |= frame.id() == id::CRC;
        if is_zero(&frame) {
            begin(&mut self.units, &mut self.run, &mut self.clocks, &mut self.pieces);
        }
        if matches!(frame.id(), id::MARKER | id::INDEX | id::MINOR_INDEX | id::CRC) && !frame.continues() {
            self.marks.push(frame);
        }
    }

    /// A frame of a user's stream.
    #[inline(always)]
    fn user(&mut self, records: &Records<'_, '_, Slots<'_>>, frame: &Frame<'_>, is_complete: bool) {
        let Some(unit) = self.units.last_mut().filter(|_| self.is_inside) else {
            let start = self.stray.map_or(frame.offset(), |(start, _)| start);
            self.stray = Some((start, frame.end()));
            // It may begin a record that ends in a unit.
            self.pieces.frame(frame, 0);
            return;
        };
        unit.end = frame.end();
        unit.has_user_frames = true;
        self.pieces.frame(frame, unit.start);
        if !is_complete {
            return;
        }
        if frame.continues() {
            return self.joined(records, frame);
        }
        let Some(slot) = frame.slot() else { return };
        unit.records = unit.records.saturating_add(1);
        super::digest::add(frame.id(), frame.payload().len() as u64, &mut unit.digest);
        match self.seen.get(slot) {
            Some(seen) if seen.at == self.others && !seen.is_stamp => {}
            Some(seen) if seen.at == self.others => self.stamp(records, slot),
            _ => self.first(records, slot),
        }
    }

    /// The first record of a stream since a frame of a default stream.
    #[cold]
    fn first(&mut self, records: &Records<'_, '_, Slots<'_>>, slot: usize) {
        let is_stamp = records.streams().is_clock(slot);
        if self.seen.len() <= slot {
            self.seen.resize(slot.saturating_add(1), Seen::default());
        }
        self.seen.get_mut(slot).into_iter().for_each(|seen| *seen = Seen { at: self.others, is_stamp });
        if is_stamp {
            return self.stamp(records, slot);
        }
        let begun = self.units.len().saturating_sub(1);
        self.meet(records.time_at(slot), begun);
    }

    /// A time that a clock says, in the last unit.
    fn stamp(&mut self, records: &Records<'_, '_, Slots<'_>>, slot: usize) {
        let begun = self.units.len().saturating_sub(1);
        self.clocks.stamp(slot, begun, || is_delta(records, slot));
        self.meet(records.time_at(slot), begun);
    }

    /// A record in several frames.
    #[cold]
    fn joined(&mut self, records: &Records<'_, '_, Slots<'_>>, frame: &Frame<'_>) {
        let Some(record) = records.record(*frame) else { return };
        let at = record.offset();
        let is_apart = self.units.last().is_none_or(|unit| at < unit.start);
        let begun = match is_apart {
            true => self.units.partition_point(|unit| unit.start <= at),
            false => self.units.len(),
        };
        let begun = begun.saturating_sub(1);
        if record.is_stamp() {
            self.clocks.stamp(record.slot(), begun, || is_delta(records, record.slot()));
        }
        let mut own = Digest::default();
        super::digest::add(record.stream().id(), record.len(), &mut own);
        if is_apart {
            self.pieces.note(own);
        }
        if let Some(unit) = self.units.last_mut() {
            unit.records = unit.records.saturating_add(1);
            unit.digest.join(own);
        }
        self.meet(record.time(), begun);
    }

    /// The time of a record that begins in a unit, and ends in the last one.
    fn meet(&mut self, time: Option<Time>, begun: usize) {
        if time != self.last.time {
            self.last = LastTime { time, is_wanted: self.times.wants(time) };
        }
        if self.last.is_wanted
            && let Some(unit) = self.units.get_mut(begun)
        {
            unit.is_wanted = true;
        }
        let Some(unit) = self.units.last_mut() else { return };
        unit.is_wanted |= self.last.is_wanted;
        if let Some(time) = time {
            let (first, last) = unit.span.unwrap_or((time, time));
            unit.span = Some((first.min(time), last.max(time)));
        }
    }

    fn gap(&mut self, gap: &Gap) {
        self.is_clean = false;
        self.others = self.others.saturating_add(1);
        if let Some(unit) = self.units.last_mut().filter(|unit| self.is_inside && !unit.has_crc) {
            // A unit that is cut at the end of the file has all that is before the cut.
            let is_cut = gap.end() >= self.size && gap.cause().is_truncation();
            unit.is_damaged = !is_cut || !unit.has_user_frames;
            unit.end = unit.end.min(gap.offset());
        }
        self.done.lose(None, gap.offset(), gap.len(), gap.cause());
        (self.is_inside, self.run) = (false, self.run.saturating_add(1));
        self.clocks.clear();
        self.pieces.interrupt();
    }

    fn finding(&mut self, finding: &Finding) {
        if finding.severity() != Severity::Error {
            return;
        }
        self.is_clean = false;
        let (at, element) = (finding.cause().offset(), finding.cause().element());
        let place = self.units.partition_point(|unit| unit.start <= at).saturating_sub(1);
        let Some(unit) = self.units.get_mut(place) else { return };
        if element == traceglass::rtc::element::CRC {
            unit.is_damaged = true;
            self.done.lose(None, unit.start, unit.end.saturating_sub(unit.start), finding.cause());
        } else if element == traceglass::rtc::element::META {
            unit.errors = unit.errors.saturating_add(1);
        }
    }

    fn finish(mut self) -> Units<'a> {
        tell(self.stray, self.done);
        self.pieces.interrupt();
        Units { all: self.units, pieces: self.pieces, marks: self.marks, is_clean: self.is_clean }
    }
}

/// True if a clock counts from another one.
fn is_delta(records: &Records<'_, '_, Slots<'_>>, slot: usize) -> bool {
    records.streams().at(slot).is_some_and(|stream| stream.delta().is_some())
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
