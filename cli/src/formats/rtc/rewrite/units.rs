//! The major units of a file, and which of them are kept.

mod exact;
mod walk;

use super::super::value::in_ns;
use super::front::Front;
use super::pieces::{Pieces, Plan};
use super::range::Range;
use crate::output::add;
use crate::trace::{Bounds, Digest, Rewritten};
use exact::{Left, Tail};
use std::rc::Rc;
use traceglass::ByteOrder;
use traceglass::rtc::{CrcStatus, Frame, Time};

/// A major unit.
#[derive(Default)]
struct Unit {
    start: u64,
    end: u64,
    records: u64,
    digest: Digest,
    /// Units that follow each other without a gap have the same number.
    run: u64,
    /// True if it begins its session.
    is_first: bool,
    has_crc: bool,
    has_user_frames: bool,
    /// True if it cannot be kept.
    is_damaged: bool,
    /// The bytes that its beginning lacks.
    front: Option<Rc<Front>>,
    /// True if a record in it is wanted.
    is_wanted: bool,
    /// The first unit without which clocks would not tell the time at its start.
    needs: usize,
    span: Option<(Time, Time)>,
    tail: Tail,
}

impl Unit {
    /// Counts a record that ends in it.
    fn count(&mut self, digest: Digest) {
        self.records = self.records.saturating_add(1);
        self.digest.join(digest);
    }
}

/// True if a checksum is wrong, though all that it covers could be read: so it stays.
pub fn is_wrong(status: CrcStatus) -> bool {
    matches!(status, CrcStatus::Mismatch { .. })
}

/// All units of a file.
pub struct Units<'a> {
    all: Vec<Unit>,
    pieces: Pieces,
    /// The frames in units that may have to be written anew.
    marks: Vec<Frame<'a>>,
    /// Errors in what Metas and indices say: they are kept as they are.
    errors: u64,
    /// The offset of each checksum, and its status: but for those of rests, which covered more.
    sums: Vec<(u64, CrcStatus)>,
    /// True if the first checksum that is right is the document's.
    pub is_ieee: bool,
    /// The writer's byte order.
    pub order: ByteOrder,
    is_clean: bool,
    left: Left,
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
        let mut plans = self.pieces.plans(ranges);
        self.left.each(|(start, end)| {
            let place = ranges.partition_point(|range| range.end <= start);
            let range = ranges.get(place).filter(|range| range.start <= start && start < end);
            let plan = range.and_then(|_| plans.get_mut(place));
            plan.into_iter().for_each(|plan| plan.padded.push((start, end)));
        });
        for (place, tail) in self.tails(ranges) {
            plans.get_mut(place).into_iter().for_each(|plan| tail.leave_out(plan));
        }
        plans.iter_mut().for_each(Plan::sort);
        plans
    }

    /// True if a record is left out of a unit that is kept.
    pub fn is_less(&self, ranges: &[Range]) -> bool {
        !self.left.is_empty() || self.tails(ranges).any(|(_, tail)| !tail.is_empty())
    }

    /// The tail of the last unit in each range.
    fn tails<'u>(&'u self, ranges: &'u [Range]) -> impl Iterator<Item = (usize, &'u Tail)> {
        ranges.iter().enumerate().filter_map(|(place, range)| {
            let last = self.all.partition_point(|unit| unit.end <= range.end).checked_sub(1)?;
            self.all.get(last).map(|unit| (place, &unit.tail))
        })
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

    /// The status of a checksum; none of one of a rest.
    pub fn sum(&self, crc: &Frame<'_>) -> Option<CrcStatus> {
        let place = self.sums.binary_search_by_key(&crc.offset(), |(at, _)| *at).ok()?;
        self.sums.get(place).map(|(_, status)| *status)
    }

    /// The number of errors in what is in ranges, and is kept as it is, if Metas and indices are judged so often.
    pub fn errors(&self, ranges: &[Range], times: u64) -> u64 {
        let place = |at: u64| ranges.partition_point(|range| range.end <= at);
        let is_kept = |at: u64| ranges.get(place(at)).is_some_and(|range| range.has(at, at));
        let wrong = self.sums.iter().filter(|(at, status)| is_wrong(*status) && is_kept(*at));
        let wrong = wrong.count() as u64;
        wrong.saturating_add(self.errors.saturating_mul(times))
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
                    ranges.push(Range {
                        start: from.start,
                        end: to.end,
                        front: from.front.clone(),
                        is_as_it_was: from.is_first && from.front.is_none(),
                    });
                }
            }
            start = start.saturating_add(len.max(1));
        }
        ranges
    }
}
