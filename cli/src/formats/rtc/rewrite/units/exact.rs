//! Records that are kept one by one: for their time, or because they tell that of others.

use super::super::front::LARGEST;
use super::super::pieces::{Place, Plan};
use super::super::range::Range;
use super::Units;
use crate::output::add;
use crate::trace::{Bounds, Digest};
use traceglass::rtc::{NameSlot, Names, Record};

/// The records of a file that are left out of units that may be kept.
pub struct Exact<'a> {
    bounds: Bounds,
    names: Names<'a, Vec<NameSlot<'a>>>,
    left: Left,
}

/// The frames of records that are left out, as runs.
#[derive(Default)]
pub struct Left(Vec<Place>);

/// The stamps in a unit after the last record in it that is wanted: in the last unit that is kept, they tell no time.
#[derive(Default)]
pub struct Tail {
    frames: Vec<Place>,
    records: u64,
    digest: Digest,
}

impl<'a> Exact<'a> {
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, names: Names::new(Vec::new()), left: Left::default() }
    }

    /// True if a record is wanted for its own time.
    pub fn wants(&mut self, record: &Record<'_, 'a>) -> bool {
        // The room for names grows.
        let time = self.names.record(record).ok().and_then(|named| named.time());
        self.bounds.wants(time.map(|time| time.ns()))
    }

    /// Leaves out a record.
    pub fn leave(&mut self, frames: &[Place]) {
        frames.iter().for_each(|frame| self.left.push(*frame));
    }

    /// Forgets what was left out between two offsets, where no unit is kept.
    pub fn forget(&mut self, start: u64, end: u64) {
        let place = |at: u64| self.left.0.partition_point(|(start, _)| *start < at);
        let (start, end) = (place(start), place(end));
        if start < end {
            self.left.0.drain(start..end);
        }
    }

    pub fn into_left(self) -> Left {
        self.left
    }
}

impl Left {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a frame to the last run if it follows it, and both are not longer than a frame can be.
    fn push(&mut self, (start, end): Place) {
        match self.0.last_mut() {
            Some(last) if last.1 == start && end.saturating_sub(last.0) <= LARGEST => last.1 = end,
            _ => self.0.push((start, end)),
        }
    }
}

impl Tail {
    /// Adds a stamp.
    pub fn push(&mut self, frames: &[Place], digest: Digest) {
        self.frames.extend(frames);
        self.records = self.records.saturating_add(1);
        self.digest.join(digest);
    }

    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }
}

impl Units<'_> {
    /// True if a record is left out of a unit that is kept.
    pub fn is_less(&self, ranges: &[Range]) -> bool {
        !self.left.is_empty() || self.tails(ranges).any(|(_, tail)| !tail.is_empty())
    }

    /// Adds what is left out of ranges to their plans.
    pub fn leave_out(&self, ranges: &[Range], plans: &mut [Plan]) {
        for frame in &self.left.0 {
            let place = ranges.partition_point(|range| range.end <= frame.0);
            let range = ranges.get(place).filter(|range| range.start <= frame.0);
            let plan = range.and_then(|_| plans.get_mut(place));
            plan.into_iter().for_each(|plan| plan.padded.push(*frame));
        }
        for (place, tail) in self.tails(ranges) {
            let Some(plan) = plans.get_mut(place) else { continue };
            plan.padded.extend(&tail.frames);
            add(&mut plan.records, tail.records);
            plan.digest.join(tail.digest);
        }
        plans.iter_mut().for_each(Plan::sort);
    }

    /// The tail of the last unit in each range.
    fn tails<'u>(&'u self, ranges: &'u [Range]) -> impl Iterator<Item = (usize, &'u Tail)> {
        ranges.iter().enumerate().filter_map(|(place, range)| {
            let last = self.all.partition_point(|unit| unit.end <= range.end).checked_sub(1)?;
            self.all.get(last).map(|unit| (place, &unit.tail))
        })
    }
}
