//! The time that intervals cover together.

use std::collections::VecDeque;

/// The number of gaps between intervals that are remembered.
const GAPS: usize = 1 << 10;

/// Adds up intervals, in the order in which they end; where several overlap, the time counts once.
///
/// It takes memory that does not grow with their number: the last gaps are known, and of an interval that spans more
/// than these, only the part counts that begins with them.
#[derive(Debug, Default)]
pub struct Cover {
    /// The last stretches that are covered without a gap.
    last: VecDeque<(i128, i128)>,
    /// The end of those before.
    floor: Option<i128>,
    ns: u64,
}

impl Cover {
    /// Adds an interval, and returns how much time is covered that was not before.
    pub fn add(&mut self, begin: i128, end: i128) -> u64 {
        let mut start = self.floor.map_or(begin, |floor| floor.max(begin));
        let mut end = end.max(start);
        let mut known = 0_u64;
        while let Some(&(from, to)) = self.last.back().filter(|(_, to)| *to >= start) {
            self.last.pop_back();
            known = known.saturating_add(length(from, to));
            (start, end) = (start.min(from), end.max(to));
        }
        self.last.push_back((start, end));
        if self.last.len() > GAPS {
            self.floor = self.last.pop_front().map(|(_, to)| to);
        }
        let more = length(start, end).saturating_sub(known);
        self.ns = self.ns.saturating_add(more);
        more
    }

    /// The time that is covered.
    pub fn ns(&self) -> u64 {
        self.ns
    }
}

fn length(from: i128, to: i128) -> u64 {
    u64::try_from(to.saturating_sub(from)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Random intervals, in the order of their ends, against a line of points.
    #[test]
    fn what_overlaps_counts_once() {
        let mut random = Random(0x5eed_0007);
        let mut next = |most: u64| random.next() % most;
        for _ in 0..200 {
            let mut all: Vec<_> = (0..next(60)).map(|_| (next(1000), next(80))).collect();
            all.sort_by_key(|(begin, len)| begin + len);
            let (mut cover, mut points, mut told) = (Cover::default(), [false; 1100], 0);
            for (begin, len) in all {
                told += cover.add(begin.into(), (begin + len).into());
                points[begin as usize..(begin + len) as usize].fill(true);
            }
            let covered = points.iter().filter(|point| **point).count() as u64;
            assert_eq!((cover.ns(), told), (covered, covered));
        }
    }

    #[test]
    fn memory_is_bounded_and_no_time_counts_twice() {
        let mut cover = Cover::default();
        let count = 10 * GAPS as i128;
        for at in 0..count {
            cover.add(at * 10, at * 10 + 4);
        }
        assert_eq!((cover.last.len(), cover.ns()), (GAPS, 4 * count as u64));
        // All gaps that are known are filled, and the one before them.
        let filled = cover.add(0, count * 10);
        assert_eq!((cover.last.len(), filled), (1, 6 * (GAPS as u64 + 1)));
        // The others stay unknown.
        assert_eq!((cover.add(0, count * 10 + 1), cover.add(0, count * 10 + 1)), (1, 0));
    }
}
