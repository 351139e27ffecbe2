//! Runs of events whose times do not go back, and the one of them that comes next.

use super::filled::Filled;
use crate::sort::sort_by_key;

/// A run of events of one batch, the times of which do not go back: where its next event stands.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub(super) time: u64,
    pub(super) at: usize,
    pub(super) batch: u32,
    /// The number of events that follow the next one.
    pub(super) left: u32,
}

impl Run {
    /// A slot that is not in use.
    pub const EMPTY: Self = Self { time: 0, at: 0, batch: 0, left: 0 };

    /// The order of events: that of time, and of the inputs where that is the same.
    #[inline(always)]
    pub(super) const fn key(self) -> Key {
        (self.time, self.batch, self.at)
    }
}

default_is_empty!(Run);

/// The time of an event, its batch, and where it stands: no two are the same.
pub(crate) type Key = (u64, u32, usize);

/// Runs, all in the order in which they begin; those that have begun are a heap in front of them.
pub(super) struct Runs<'t> {
    slots: Filled<'t, Run>,
    /// The number of runs in the heap, and of all that have begun.
    open: usize,
    begun: usize,
}

impl<'t> Runs<'t> {
    pub(super) const fn new(slots: Filled<'t, Run>) -> Self {
        Self { slots, open: 0, begun: 0 }
    }

    /// The runs while they are found.
    pub(super) const fn found(&mut self) -> &mut Filled<'t, Run> {
        &mut self.slots
    }

    /// Puts them in order, once all are found.
    pub(super) fn order(&mut self) {
        sort_by_key(self.slots.slots_mut(), Run::key);
    }

    /// The run whose event comes next.
    #[inline]
    pub(super) fn first(&mut self) -> Option<Run> {
        let slots = self.slots.slots_mut();
        while let Some(&next) = slots.get(self.begun) {
            match slots.first() {
                Some(first) if self.open > 0 && first.key() < next.key() => break,
                _ => {}
            }
            self.begun = self.begun.saturating_add(1);
            self.open = self.open.saturating_add(1);
            sift_up(slots.get_mut(..self.open).unwrap_or_default(), next);
        }
        if self.open > 0 { slots.first().copied() } else { None }
    }

    /// Goes on with the first run; `None` if it has no more events.
    #[inline]
    pub(super) fn replace_first(&mut self, next: Option<Run>) {
        let slots = self.slots.slots_mut();
        let run = match next {
            Some(run) => run,
            None => {
                self.open = self.open.saturating_sub(1);
                let Some(&last) = slots.get(self.open) else { return };
                last
            }
        };
        sift_down(slots.get_mut(..self.open).unwrap_or_default(), run);
    }
}

/// Puts a run into a heap, of which the last slot is free.
fn sift_up(heap: &mut [Run], run: Run) {
    let mut hole = heap.len().saturating_sub(1);
    while let Some(above) = hole.checked_sub(1).map(|below| below / 2)
        && let Some(&parent) = heap.get(above)
        && run.key() < parent.key()
    {
        if let Some(slot) = heap.get_mut(hole) {
            *slot = parent;
        }
        hole = above;
    }
    if let Some(slot) = heap.get_mut(hole) {
        *slot = run;
    }
}

/// Puts a run in place of the first one of a heap.
#[inline(always)]
fn sift_down(heap: &mut [Run], run: Run) {
    let mut hole = 0_usize;
    loop {
        let left = hole.wrapping_mul(2).wrapping_add(1);
        let Some(&first) = heap.get(left) else { break };
        let (below, least) = match heap.get(left.wrapping_add(1)) {
            Some(&second) if second.key() < first.key() => (left.wrapping_add(1), second),
            _ => (left, first),
        };
        if run.key() < least.key() {
            break;
        }
        if let Some(slot) = heap.get_mut(hole) {
            *slot = least;
        }
        hole = below;
    }
    if let Some(slot) = heap.get_mut(hole) {
        *slot = run;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Takes events off runs, each of which is its times.
    fn merged(runs: &[Vec<u64>]) -> Vec<(u64, u32)> {
        let mut room = std::vec![Run::EMPTY; runs.len()];
        let mut room = &mut room[..];
        let mut filled = Filled::new(&mut room);
        for (batch, times) in (0..).zip(runs) {
            if let Some(&time) = times.first() {
                let run = Run { time, at: 0, batch, left: times.len() as u32 - 1 };
                filled.push(run, 0, crate::dial9::element::EVENT).unwrap();
            }
        }
        let mut heap = Runs::new(filled);
        heap.order();
        let mut found = Vec::new();
        while let Some(run) = heap.first() {
            found.push((run.time, run.batch));
            heap.replace_first(run.left.checked_sub(1).map(|left| {
                let at = run.at + 1;
                Run { time: runs[run.batch as usize][at], at, left, ..run }
            }));
        }
        found
    }

    #[test]
    fn runs_are_merged_as_if_sorted() {
        let mut seed = 7_u64;
        let mut next = |most: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % most
        };
        for round in 0..400 {
            let runs: Vec<Vec<u64>> = (0..next(20))
                .map(|_| {
                    let mut times: Vec<u64> = (0..next(30)).map(|_| next(10 + round * 5)).collect();
                    times.sort_unstable();
                    times
                })
                .collect();
            let mut expected: Vec<(u64, u32)> = (0_u32..)
                .zip(&runs)
                .flat_map(|(batch, times)| times.iter().map(move |time| (*time, batch)))
                .collect();
            expected.sort_unstable();
            assert_eq!(merged(&runs), expected);
        }
    }
}
