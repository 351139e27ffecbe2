//! Independent parts on all cores, with the results in order.

use crate::status::Result;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZero;
use std::sync::OnceLock;

/// The fewest bytes that are worth starting threads for.
const WORTH: u64 = 1 << 20;

/// The number of parts a thread is given before results are taken; their results wait in memory.
const AT_ONCE: usize = 8;

/// The stack of a thread: a session of an RTC file has thousands of streams, of which the table is moved as a whole.
pub const STACK: usize = 32 << 20;

/// The threads, which are started when they are of use for the first time: as many as there are cores, or as
/// `RAYON_NUM_THREADS` says, or else fewer; `None` if the system gives none.
fn pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let start = || {
        let said = std::env::var("RAYON_NUM_THREADS").ok().and_then(|said| said.parse().ok());
        let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
        fewer(said.filter(|&said| said > 0).unwrap_or_else(cores), |count| {
            ThreadPoolBuilder::new().num_threads(count).stack_size(STACK).build().ok()
        })
    };
    POOL.get_or_init(start).as_ref()
}

/// The result of `start` for a number of threads, or for half of it, and so on.
fn fewer<P>(wanted: usize, start: impl FnMut(usize) -> Option<P>) -> Option<P> {
    std::iter::successors(Some(wanted), |&count| (count > 1).then_some(count / 2)).find_map(start)
}

/// The number of threads that work on parts at a time.
pub fn threads() -> usize {
    match rayon::current_thread_index() {
        Some(_) => rayon::current_num_threads(),
        None => pool().map_or(1, ThreadPool::current_num_threads),
    }
}

/// True if this many bytes are worth several threads, and there are several.
pub fn pays(bytes: u64) -> bool {
    bytes >= WORTH && threads() > 1
}

/// Does `work` on each part, on several [`threads`]; `done` gets the results in the order of the parts.
///
/// `state` makes what is worked with: once where there is one thread, else for each part, because a thread that waits
/// for parts of a part takes up another one meanwhile. `bytes` is how much there is to be read in all.
pub fn in_order<T: Sync, S: Send, R: Send>(
    bytes: u64,
    parts: impl IntoIterator<Item = T>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
    mut done: impl FnMut(&T, R) -> Result<()>,
) -> Result<()> {
    let mut parts = parts.into_iter();
    if !pays(bytes) {
        let mut state = state();
        return parts.try_for_each(|part| {
            let result = work(&mut state, &part);
            done(&part, result)
        });
    }
    loop {
        let batch: Vec<T> = parts.by_ref().take(threads().saturating_mul(AT_ONCE)).collect();
        if batch.is_empty() {
            return Ok(());
        }
        let all = || batch.par_iter().with_max_len(1).map_init(&state, &work).collect();
        let results: Vec<R> = match (rayon::current_thread_index(), pool()) {
            (None, Some(pool)) => pool.install(all),
            _ => all(),
        };
        batch.iter().zip(results).try_for_each(|(part, result)| done(part, result))?;
    }
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
        // More threads than this machine may have: then they take each other's parts while they wait.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
        pool.install(|| {
            let work = |(): &mut (), &part: &u64| sum_of(part);
            let done = |_: &u64, _| {
                count += 1;
                Ok(())
            };
            in_order(WORTH, 0..200_u64, || (), work, done).unwrap();
        });
        assert_eq!(count, 200);
    }

    #[test]
    fn as_many_threads_as_there_can_be() {
        for (limit, tried) in [(16, vec![16]), (5, vec![16, 8, 4]), (0, vec![16, 8, 4, 2, 1])] {
            let mut counts = Vec::new();
            let found = fewer(16, |count| {
                counts.push(count);
                (count <= limit).then_some(count)
            });
            assert_eq!((found, &counts), (tried.last().copied().filter(|&last| last <= limit), &tried));
        }
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
