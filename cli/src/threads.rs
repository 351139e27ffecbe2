//! The threads that work on parts: one pool, which nothing else of the command calls by a generic function.

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZero;
use std::sync::OnceLock;

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

/// Does `work` on each number below `count`, on several [`threads`].
pub fn each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    let all = || (0..count).into_par_iter().with_max_len(1).for_each(work);
    match (rayon::current_thread_index(), pool()) {
        (None, Some(pool)) => pool.install(all),
        _ => all(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
