//! Records that are kept one by one: for their time, or because they tell that of others.

use super::super::front::LARGEST;
use super::super::pieces::{Place, Plan};
use crate::output::add;
use crate::trace::Digest;
use foldhash::fast::RandomState;
use std::collections::HashSet;
use traceglass::rtc::{Stream, Streams};

/// The records of a file that are left out of units that may be kept.
#[derive(Default)]
pub struct Exact {
    left: Left,
    /// By their slots, the last stamps of clocks: left out unless a record that is wanted follows.
    waiting: Vec<Option<Waiting>>,
    /// The slots of those that are there.
    slots: Vec<usize>,
    /// The names of clocks from which others count, for this revision of the streams; and by its slot, if it was asked,
    /// whether a clock is one.
    bases: HashSet<String, RandomState>,
    is_base: Vec<Option<bool>>,
    revision: Option<u32>,
}

/// A stamp in a unit.
pub struct Waiting {
    pub frame: Place,
    pub unit: usize,
    pub digest: Digest,
}

/// The frames of records that are left out, as runs, but for some of them.
#[derive(Default)]
pub struct Left {
    runs: Vec<Place>,
    /// The frames of records that have several: such a record ends after others that begin later.
    pieces: Vec<Place>,
    but: Vec<Place>,
}

/// The stamps in a unit after the last record in it that is wanted: in the last unit that is kept, they tell no time.
#[derive(Default)]
pub struct Tail {
    frames: Vec<Place>,
    records: u64,
    digest: Digest,
}

impl Exact {
    /// True if another clock counts from the one in a slot: then all its stamps may be needed.
    pub fn is_base(&mut self, streams: Streams<'_, '_>, slot: usize) -> bool {
        if self.revision != Some(streams.revision()) {
            self.revision = Some(streams.revision());
            self.bases = streams.iter().filter_map(Stream::delta).map(|base| base.to_string()).collect();
            self.is_base.clear();
        }
        if self.is_base.len() <= slot {
            self.is_base.resize(slot.saturating_add(1), None);
        }
        let bases = &self.bases;
        let find = || {
            let name = streams.at(slot).and_then(Stream::name);
            name.is_some_and(|name| bases.contains(&name.to_string()))
        };
        self.is_base.get_mut(slot).is_some_and(|known| *known.get_or_insert_with(find))
    }

    /// Leaves out a stamp, unless a record that is wanted follows before the next one.
    pub fn wait(&mut self, slot: usize, stamp: Waiting) {
        self.left.push(stamp.frame);
        if self.waiting.len() <= slot {
            self.waiting.resize_with(slot.saturating_add(1), || None);
        }
        if let Some(waiting) = self.waiting.get_mut(slot)
            && waiting.replace(stamp).is_none()
        {
            self.slots.push(slot);
        }
    }

    /// Keeps the last stamps for a record that is wanted: unless it is one itself, that of its own clock.
    pub fn keep(&mut self, own: Option<usize>, mut each: impl FnMut(&Waiting)) {
        for slot in self.slots.drain(..) {
            let stamp = self.waiting.get_mut(slot).and_then(Option::take);
            if let Some(stamp) = stamp.filter(|_| own != Some(slot)) {
                self.left.but.push(stamp.frame);
                each(&stamp);
            }
        }
    }

    /// Forgets all stamps: no clock goes on.
    pub fn interrupt(&mut self) {
        self.waiting.clear();
        self.slots.clear();
    }

    /// Leaves out a record.
    pub fn leave(&mut self, frames: &[Place]) {
        match frames {
            [frame] => self.left.push(*frame),
            pieces => self.left.pieces.extend(pieces),
        }
    }

    /// Forgets what was left out between two offsets, where no unit is kept.
    pub fn forget(&mut self, start: u64, end: u64) {
        let place = |at: u64| self.left.runs.partition_point(|(start, _)| *start < at);
        let (start, end) = (place(start), place(end));
        if start < end {
            self.left.runs.drain(start..end);
        }
    }

    /// All that is left out, in order.
    pub fn into_left(self) -> Left {
        let Left { mut runs, pieces, mut but } = self.left;
        runs.extend(pieces);
        runs.sort_unstable();
        but.sort_unstable();
        Left { runs, pieces: Vec::new(), but }
    }
}

impl Left {
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// All that is left out, in order.
    pub fn each(&self, mut each: impl FnMut(Place)) {
        let mut but = self.but.iter().copied().peekable();
        for &(mut start, end) in &self.runs {
            while let Some((kept, after)) = but.next_if(|(kept, _)| *kept < end) {
                if kept >= start {
                    each((start, kept));
                    start = after;
                }
            }
            each((start, end));
        }
    }

    /// Adds a frame to the last run if it follows it, and both are not longer than a frame can be.
    fn push(&mut self, (start, end): Place) {
        match self.runs.last_mut() {
            Some(last) if last.1 == start && end.saturating_sub(last.0) <= LARGEST => last.1 = end,
            _ => self.runs.push((start, end)),
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

    /// Leaves it out.
    pub fn leave_out(&self, plan: &mut Plan) {
        plan.padded.extend(&self.frames);
        add(&mut plan.records, self.records);
        plan.digest.join(self.digest);
    }
}
