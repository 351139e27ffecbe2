//! Independent parts on all cores, with the results in order.

use crate::status::Result;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Less than so many bytes are sooner done than threads are started.
const WORTH: u64 = 1 << 20;

/// How many parts a thread is given until results are taken: so many wait in memory.
const AT_ONCE: usize = 8;

/// Whether several threads are there, and are sooner done with so many bytes.
pub fn pays(bytes: u64) -> bool {
    bytes >= WORTH && rayon::current_num_threads() > 1
}

/// Does `work` on each part, on as many threads as there are cores, or as `RAYON_NUM_THREADS` says; `done` gets the
/// results in the order of the parts.
///
/// `state` makes what a thread works with, once a thread. `bytes` is how much there is to be read in all.
pub fn in_order<T: Sync, S: Send, R: Send>(
    bytes: u64,
    parts: impl IntoIterator<Item = T>,
    state: impl Fn() -> S,
    work: impl Fn(&mut S, &T) -> R + Sync,
    mut done: impl FnMut(&T, R) -> Result<()>,
) -> Result<()> {
    let mut parts = parts.into_iter();
    let threads = rayon::current_num_threads();
    if !pays(bytes) {
        let mut state = state();
        return parts.try_for_each(|part| {
            let result = work(&mut state, &part);
            done(&part, result)
        });
    }
    let states: Vec<Mutex<S>> = (0..threads).map(|_| Mutex::new(state())).collect();
    let with_state = |part: &T| {
        let state = &states[rayon::current_thread_index().unwrap_or(0) % threads];
        work(&mut state.lock().unwrap_or_else(PoisonError::into_inner), part)
    };
    loop {
        let batch: Vec<T> = parts.by_ref().take(threads * AT_ONCE).collect();
        if batch.is_empty() {
            return Ok(());
        }
        let results: Vec<R> = batch.par_iter().with_max_len(1).map(with_state).collect();
        batch.iter().zip(results).try_for_each(|(part, result)| done(part, result))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
