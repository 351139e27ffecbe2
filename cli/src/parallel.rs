//! Independent parts on all cores, with the results in order.

use crate::status::Result;
use crate::threads::each;
pub use crate::threads::{STACK, threads};
use std::sync::{Mutex, PoisonError};

/// The fewest bytes that are worth starting threads for.
const WORTH: u64 = 1 << 20;

/// The number of parts a thread is given before results are taken; their results wait in memory.
const AT_ONCE: usize = 8;

/// True if this many bytes are worth several threads, and there are several.
pub fn pays(bytes: u64) -> bool {
    bytes >= WORTH && threads() > 1
}

/// Does `work` on each part, on several [`threads`]; `done` gets the results in the order of the parts.
///
/// `state` makes what is worked with: once where there is one thread, else for each part, because a thread that waits
/// for parts of a part takes up another one meanwhile. `bytes` is how much there is to be read in all.
pub fn in_order<T: Sync, S, R: Send>(
    bytes: u64,
    parts: impl IntoIterator<Item = T>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
    mut done: impl FnMut(&T, R) -> Result<()>,
) -> Result<()> {
    // Both are called from two places, and large.
    let work: &(dyn Fn(&mut S, &T) -> R + Sync) = &work;
    let done: &mut dyn FnMut(&T, R) -> Result<()> = &mut done;
    let mut parts = parts.into_iter();
    if !pays(bytes) {
        let mut state = state();
        return parts.try_for_each(|part| {
            let result = work(&mut state, &part);
            done(&part, result)
        });
    }
    loop {
        let batch: Vec<(T, Mutex<Option<R>>)> = parts
            .by_ref()
            .take(threads().saturating_mul(AT_ONCE))
            .map(|part| (part, Mutex::new(None)))
            .collect();
        if batch.is_empty() {
            return Ok(());
        }
        each(batch.len(), &|number| {
            if let Some((part, result)) = batch.get(number) {
                let found = work(&mut state(), part);
                *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
            }
        });
        for (part, result) in batch {
            if let Some(result) = result.into_inner().unwrap_or_else(PoisonError::into_inner) {
                done(&part, result)?;
            }
        }
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
