//! Memory that all threads share.

use std::sync::{Condvar, Mutex, PoisonError};

/// A limit of the memory in use, shared by any number of threads.
pub struct Budget {
    total: u64,
    used: Mutex<u64>,
    given_back: Condvar,
}

impl Budget {
    pub const fn new(total: u64) -> Self {
        Self { total, used: Mutex::new(0), given_back: Condvar::new() }
    }

    /// Waits until `size` bytes are free, and takes them. Who asks for more than there is gets all of it, alone. A thread
    /// has one share at a time, so that none waits for itself.
    pub fn take(&self, size: u64) -> Share<'_> {
        let size = size.min(self.total);
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |used: &mut u64| used.saturating_add(size) > self.total;
        let mut used = self.given_back.wait_while(used, is_full).unwrap_or_else(PoisonError::into_inner);
        *used = used.saturating_add(size);
        Share { budget: self, size }
    }
}

/// A part of a budget, which is given back when this is dropped.
pub struct Share<'b> {
    budget: &'b Budget,
    size: u64,
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        let mut used = self.budget.used.lock().unwrap_or_else(PoisonError::into_inner);
        *used = used.saturating_sub(self.size);
        self.budget.given_back.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn no_more_is_in_use_than_there_is() {
        let budget = Budget::new(100);
        let (now, most) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for size in [40, 50, 60, 70, 100, 1000, 1, 0] {
                let (budget, now, most) = (&budget, &now, &most);
                scope.spawn(move || {
                    for _ in 0..200 {
                        let share = budget.take(size);
                        let used = now.fetch_add(size.min(100), Ordering::SeqCst) + size.min(100);
                        most.fetch_max(used, Ordering::SeqCst);
                        std::thread::yield_now();
                        now.fetch_sub(size.min(100), Ordering::SeqCst);
                        drop(share);
                    }
                });
            }
        });
        assert_eq!((*budget.used.lock().unwrap(), most.load(Ordering::SeqCst)), (0, 100));
    }
}
