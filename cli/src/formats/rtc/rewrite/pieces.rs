//! Records in several frames, of which a part may be left out.

use super::range::Range;
use crate::output::add;
use crate::trace::Digest;
use std::collections::HashMap;
use traceglass::rtc::Frame;

/// A record whose frames do not all lie in one unit.
struct Apart {
    frames: Vec<Place>,
    /// The offset of the last frame, or the one at which it was known that it does not end.
    end: u64,
    /// The part that it has in the digest of its unit, if it ends.
    digest: Option<Digest>,
}

/// The start and end of a frame.
pub type Place = (u64, u64);

/// Frames that are records only together with others.
#[derive(Default)]
pub struct Pieces {
    /// The frames so far of records that are open, by the slot of their stream.
    open: HashMap<usize, Vec<Place>, foldhash::fast::RandomState>,
    apart: Vec<Apart>,
    /// Frames that are the rest of a record whose beginning is lost, or may be.
    rests: Vec<Place>,
    /// The frames of the record that ended last.
    ended: Vec<Place>,
}

impl Pieces {
    /// Looks at a frame of a user's stream, in the unit that begins at `unit`.
    #[inline]
    pub fn frame(&mut self, frame: &Frame<'_>, unit: u64) {
        let is_plain = !frame.more() && !frame.continues();
        if !is_plain || self.is_open() {
            self.piece(frame, unit);
        }
    }

    /// True if a record is open.
    #[inline]
    pub fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    fn piece(&mut self, frame: &Frame<'_>, unit: u64) {
        let (Some(slot), at) = (frame.slot(), frame.offset()) else { return };
        let place = (at, frame.end());
        if !frame.continues() {
            self.end(slot, at, unit);
            if frame.more() {
                self.open.insert(slot, vec![place]);
            }
        } else if let Some(frames) = self.open.get_mut(&slot) {
            frames.push(place);
            if !frame.more() {
                self.end(slot, at, unit);
            }
        } else {
            self.rests.push(place);
        }
    }

    /// The record of a stream is not open any more.
    fn end(&mut self, slot: usize, end: u64, unit: u64) {
        let Some(frames) = self.open.remove(&slot) else { return };
        if frames.first().is_some_and(|(first, _)| *first < unit) {
            self.apart.push(Apart { frames: frames.clone(), end, digest: None });
        }
        self.ended = frames;
    }

    /// The offset at which the first record begins that is open.
    pub fn first_open(&self) -> Option<u64> {
        self.open.values().filter_map(|frames| frames.first()).map(|(start, _)| *start).min()
    }

    /// The frames of the record that the last frame has completed, if there are several.
    pub fn ended(&mut self) -> Vec<Place> {
        std::mem::take(&mut self.ended)
    }

    /// Notes what the record adds to its unit's that ended with the last frame.
    pub fn note(&mut self, digest: Digest) {
        if let Some(apart) = self.apart.last_mut() {
            apart.digest = Some(digest);
        }
    }

    /// Ends the search for the rest of open records: they are not complete.
    pub fn interrupt(&mut self) {
        let open = self.open.drain().map(|(_, frames)| Apart { frames, end: u64::MAX, digest: None });
        self.apart.extend(open);
    }

    /// The changes to ranges, which are in order, if nothing else is kept. Each piece is looked at once.
    pub fn plans(&self, ranges: &[Range]) -> Vec<Plan> {
        let mut plans: Vec<Plan> = ranges.iter().map(|_| Plan::default()).collect();
        let place = |at: u64| {
            let place = ranges.partition_point(|range| range.end <= at);
            ranges.get(place).filter(|range| range.start <= at).map(|_| place)
        };
        let mut pad = |frame: &Place| {
            let plan = place(frame.0).and_then(|place| plans.get_mut(place));
            plan.into_iter().for_each(|plan| plan.padded.push(*frame));
        };
        for apart in &self.apart {
            let end = place(apart.end);
            if end.is_none() || apart.frames.iter().any(|(at, _)| place(*at) != end) {
                apart.frames.iter().for_each(&mut pad);
            }
        }
        self.rests.iter().for_each(&mut pad);
        for apart in &self.apart {
            let end = place(apart.end);
            let is_cut = apart.frames.iter().any(|(at, _)| place(*at) != end);
            let plan = end.filter(|_| is_cut).and_then(|end| plans.get_mut(end));
            if let (Some(plan), Some(digest)) = (plan, apart.digest) {
                add(&mut plan.records, 1);
                plan.digest.join(digest);
            }
        }
        plans
    }
}

/// The parts left out of a range.
#[derive(Default)]
pub struct Plan {
    /// The frames, in order, that become padding: parts of records of which others are left out, and records that are not
    /// wanted, as runs of frames.
    pub padded: Vec<Place>,
    /// The number of records left out that end in it, and their part of its digest.
    pub records: u64,
    pub digest: Digest,
}

impl Plan {
    /// Puts the frames in order, each once: some are parts of runs, too.
    pub fn sort(&mut self) {
        self.padded.sort_unstable_by_key(|(start, end)| (*start, std::cmp::Reverse(*end)));
        self.padded.dedup_by(|next, last| next.0 < last.1);
    }

    /// True if the frame at an offset becomes padding.
    pub fn leaves_out(&self, offset: u64) -> bool {
        let after = self.padded.partition_point(|(start, _)| *start <= offset);
        let before = after.checked_sub(1).and_then(|place| self.padded.get(place));
        before.is_some_and(|(_, end)| offset < *end)
    }
}
