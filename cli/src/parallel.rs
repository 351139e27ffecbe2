//! Independent parts on all cores, with the results in order.

use crate::status::Result;
pub use crate::threads::{STACK, threads};
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

/// The fewest bytes that are worth starting threads for.
const WORTH: u64 = 1 << 20;

/// The number of parts for each thread that are read ahead; their results wait in memory.
const AHEAD: usize = 2;

/// True if this many bytes are worth several threads, and there are several.
pub fn pays(bytes: u64) -> bool {
    bytes >= WORTH && threads() > 1
}

/// The threads that help those that take results, all over the process: parts may have parts.
static HELPERS: AtomicUsize = AtomicUsize::new(0);

/// The place of a thread that helps.
struct Seat;

impl Seat {
    fn take() -> Option<Self> {
        let free = |taken: usize| (taken < threads().saturating_sub(1)).then_some(taken.saturating_add(1));
        HELPERS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, free).ok().map(|_| Self)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        HELPERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A part on its way.
enum Slot<T, R> {
    Todo(T),
    /// A thread works on it.
    Taken,
    Done(T, R),
}

/// Parts whose results are taken one after the other.
struct Lane<I: Iterator, R> {
    parts: I,
    has_ended: bool,
    /// The pieces that were begun and whose results were not taken yet, and the number of the first of them.
    slots: VecDeque<Slot<I::Item, R>>,
    first: u64,
}

struct Plan<I: Iterator, R> {
    lanes: Vec<Lane<I, R>>,
    /// The number of parts that are on their way.
    ahead: usize,
    /// True if no more results are wanted.
    is_closed: bool,
}

/// A part to work on: its lane, its number in that, and the part.
type Picked<T> = (usize, u64, T);

impl<I: Iterator, R> Plan<I, R> {
    /// A part for a thread that has nothing to do; of this lane, if its results are waited for.
    fn pick(&mut self, wanted: Option<usize>, limit: usize) -> Option<Picked<I::Item>> {
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            if let Some(slot @ Slot::Todo(_)) = lane.slots.front_mut()
                && let Slot::Todo(part) = std::mem::replace(slot, Slot::Taken)
            {
                return Some((number, lane.first, part));
            }
        }
        loop {
            let open = self.lanes.iter().enumerate().filter(|(_, lane)| !lane.has_ended);
            let waits = wanted.filter(|&lane| self.lanes.get(lane).is_some_and(|lane| !lane.has_ended));
            // The one whose results are used up first.
            let next = waits.or(open.min_by_key(|(_, lane)| lane.slots.len()).map(|(number, _)| number))?;
            let lane = self.lanes.get_mut(next)?;
            if waits.is_none() && !lane.slots.is_empty() && self.ahead >= limit {
                return None;
            }
            let Some(part) = lane.parts.next() else {
                lane.has_ended = true;
                if waits.is_some() {
                    return None;
                }
                continue;
            };
            let number = lane.first.saturating_add(lane.slots.len() as u64);
            lane.slots.push_back(Slot::Taken);
            self.ahead = self.ahead.saturating_add(1);
            return Some((next, number, part));
        }
    }

    fn put(&mut self, (lane, number, part): Picked<I::Item>, result: R) {
        let Some(lane) = self.lanes.get_mut(lane) else { return };
        let at = usize::try_from(number.saturating_sub(lane.first)).unwrap_or(usize::MAX);
        if let Some(slot) = lane.slots.get_mut(at) {
            *slot = Slot::Done(part, result);
        }
    }

    fn has_ended(&self) -> bool {
        self.lanes.iter().all(|lane| lane.has_ended)
    }
}

struct Shared<I: Iterator, R> {
    plan: Mutex<Plan<I, R>>,
    changed: Condvar,
    /// The number of parts that are read ahead.
    limit: usize,
}

impl<I: Iterator, R> Shared<I, R> {
    fn lock(&self) -> MutexGuard<'_, Plan<I, R>> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'p>(&self, plan: MutexGuard<'p, Plan<I, R>>) -> MutexGuard<'p, Plan<I, R>> {
        self.changed.wait(plan).unwrap_or_else(PoisonError::into_inner)
    }

    /// Works on parts until there is none.
    fn help<S>(&self, mut state: S, work: &(impl Fn(&mut S, &I::Item) -> R + ?Sized)) {
        let panics = Close(self, true);
        let mut plan = self.lock();
        while !plan.is_closed {
            if let Some(picked) = plan.pick(None, self.limit) {
                drop(plan);
                let result = work(&mut state, &picked.2);
                plan = self.lock();
                plan.put(picked, result);
                self.changed.notify_all();
            } else if plan.has_ended() {
                break;
            } else {
                plan = self.wait(plan);
            }
        }
        drop(plan);
        drop(panics);
    }
}

/// Sees that no thread waits for one that has ended; where that is `true`, only if it ended with a panic.
struct Close<'c, I: Iterator, R>(&'c Shared<I, R>, bool);

impl<I: Iterator, R> Drop for Close<'_, I, R> {
    fn drop(&mut self) {
        if !self.1 || std::thread::panicking() {
            self.0.lock().is_closed = true;
            self.0.changed.notify_all();
        }
    }
}

/// The results of parts in several lanes, each of them in order.
pub struct Feed<'f, I: Iterator, S, R> {
    shared: &'f Shared<I, R>,
    state: S,
    work: &'f dyn Fn(&mut S, &I::Item) -> R,
    /// Starts a thread, if one more can help.
    call: &'f dyn Fn(),
}

impl<I: Iterator, S, R> Feed<'_, I, S, R> {
    /// The next part of a lane and its result, worked on here if no other thread has begun to; `None` at the end.
    pub fn next(&mut self, lane: usize) -> Option<(I::Item, R)> {
        let shared = self.shared;
        let mut plan = shared.lock();
        if !plan.has_ended() {
            (self.call)();
        }
        loop {
            let is_closed = plan.is_closed;
            let of = plan.lanes.get_mut(lane)?;
            let is_taken = match of.slots.front() {
                Some(Slot::Done(..)) => {
                    let Some(Slot::Done(part, result)) = of.slots.pop_front() else { return None };
                    of.first = of.first.saturating_add(1);
                    plan.ahead = plan.ahead.saturating_sub(1);
                    shared.changed.notify_all();
                    return Some((part, result));
                }
                Some(Slot::Taken) if is_closed => return None,
                Some(Slot::Taken) => true,
                None if of.has_ended => return None,
                Some(Slot::Todo(_)) | None => false,
            };
            match plan.pick(Some(lane).filter(|_| !is_taken), shared.limit) {
                Some(picked) => {
                    drop(plan);
                    let result = (self.work)(&mut self.state, &picked.2);
                    plan = shared.lock();
                    plan.put(picked, result);
                }
                None if is_taken => plan = shared.wait(plan),
                // It has ended.
                None => return None,
            }
        }
    }

    /// Has another part come next in a lane: the rest of one.
    pub fn put_back(&mut self, lane: usize, part: I::Item) {
        let mut plan = self.shared.lock();
        plan.ahead = plan.ahead.saturating_add(1);
        if let Some(lane) = plan.lanes.get_mut(lane) {
            lane.first = lane.first.wrapping_sub(1);
            lane.slots.push_front(Slot::Todo(part));
        }
    }
}

/// Does `work` on the parts of several lanes, on several [`threads`], and hands out the results.
///
/// `state` makes what is worked with, once for each thread. `bytes` is how much there is to be read in all: little is
/// read on this thread alone, and so is all if no other one can be started.
pub fn ahead<I, S, R, O>(
    bytes: u64,
    lanes: impl IntoIterator<Item = I>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &I::Item) -> R + Sync,
    take: impl FnOnce(&mut Feed<'_, I, S, R>) -> O,
) -> O
where
    I: Iterator<Item: Send> + Send,
    R: Send,
{
    let lane = |parts| Lane { parts, has_ended: false, slots: VecDeque::new(), first: 1 << 32 };
    let plan = Plan { lanes: lanes.into_iter().map(lane).collect(), ahead: 0, is_closed: false };
    let limit = threads().saturating_mul(AHEAD);
    let shared = &Shared { plan: Mutex::new(plan), changed: Condvar::new(), limit };
    let (state, work) = (&state, &work);
    std::thread::scope(|scope| {
        let is_alone = Cell::new(!pays(bytes));
        let call = || {
            let Some(seat) = Some(()).filter(|()| !is_alone.get()).and_then(|()| Seat::take()) else {
                return;
            };
            let help = move || {
                let _seat = seat;
                shared.help(state(), work);
            };
            let started = Builder::new().stack_size(STACK).spawn_scoped(scope, help);
            is_alone.set(started.is_err());
        };
        let _close = Close(shared, false);
        take(&mut Feed { shared, state: state(), work, call: &call })
    })
}

/// Does `work` on each part, on several [`threads`]; `done` gets the results in the order of the parts.
///
/// For `bytes` and `state` see [`ahead`].
pub fn in_order<I, S, R>(
    bytes: u64,
    parts: I,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &I::Item) -> R + Sync,
    mut done: impl FnMut(&I::Item, R) -> Result<()>,
) -> Result<()>
where
    I: IntoIterator<Item: Send, IntoIter: Send>,
    R: Send,
{
    ahead(bytes, [parts.into_iter()], state, work, |feed| {
        while let Some((part, result)) = feed.next(0) {
            done(&part, result)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_parts() {
        let sum_of = |part: u64| {
            let mut sum = 0;
            let done = |_: &u64, found: u64| {
                sum += found;
                Ok(())
            };
            let work = |(): &mut (), n: &u64| (0..20_000).fold(*n, |a: u64, b| a.rotate_left(1) ^ b);
            in_order(WORTH, part..part + 40, || (), work, done).unwrap();
            sum
        };
        let mut count = 0;
        let work = |(): &mut (), &part: &u64| sum_of(part);
        let done = |_: &u64, _| {
            count += 1;
            Ok(())
        };
        in_order(WORTH, 0..200_u64, || (), work, done).unwrap();
        assert_eq!(count, 200);
    }

    /// Of several lanes, however they are taken, and with parts that come in between.
    #[test]
    fn lanes_are_taken_as_wanted() {
        for bytes in [0, WORTH] {
            let lanes = [0..300_u64, 1000..1000, 2000..2900];
            let work = |(): &mut (), part: &u64| part * 2;
            ahead(
                bytes,
                lanes,
                || (),
                work,
                |feed| {
                    for part in 0..100 {
                        assert_eq!(feed.next(0), Some((part, part * 2)));
                    }
                    assert_eq!(feed.next(1), None);
                    feed.put_back(1, 7);
                    assert_eq!((feed.next(1), feed.next(1)), (Some((7, 14)), None));
                    for part in 2000..2900 {
                        feed.put_back(2, 5);
                        assert_eq!((feed.next(2), feed.next(2)), (Some((5, 10)), Some((part, part * 2))));
                    }
                    assert_eq!(feed.next(2), None);
                    // The rest of the first lane is not taken.
                },
            );
        }
    }

    #[test]
    fn a_failure_ends_all() {
        let done = |&part: &u64, _| if part == 70 { Err(crate::status::Failure::Stopped) } else { Ok(()) };
        assert!(in_order(WORTH, 0.., || (), |(), &part: &u64| part, done).is_err());
    }

    #[test]
    #[should_panic(expected = "panicked")]
    fn a_panic_is_passed_on() {
        let main = std::thread::current().id();
        let work = |(): &mut (), _: &u64| {
            assert_eq!(std::thread::current().id(), main, "panicked");
            // Other tests may have all threads yet.
            std::thread::sleep(std::time::Duration::from_millis(1));
        };
        // On one core, no other thread takes part.
        assert!(threads() > 1, "panicked");
        let _ = in_order(WORTH, 0..1_000_000_u64, || (), work, |_, ()| Ok(()));
    }

    #[test]
    fn results_come_in_order() {
        for bytes in [0, WORTH] {
            let mut found = Vec::new();
            let done = |&part: &u64, square: u64| {
                found.push((part, square));
                Ok(())
            };
            in_order(bytes, 0..1000_u64, || (), |(), &part| part * part, done).unwrap();
            assert_eq!(found, (0..1000).map(|part| (part, part * part)).collect::<Vec<_>>());
        }
    }
}
