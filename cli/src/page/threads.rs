//! The only thread that a page has.

pub const STACK: usize = 0;

/// The number of threads that work on parts at a time.
#[inline(always)]
pub const fn threads() -> usize {
    1
}

/// Does `work` on each number below `count`.
pub fn each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).for_each(work);
}
