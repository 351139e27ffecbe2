//! The only thread that a page has.

pub const STACK: usize = 0;

/// The number of threads that work on parts at a time.
#[inline(always)]
pub const fn threads() -> usize {
    1
}
