//! A counter of work, for the tests and fuzz targets that hold it to a constant times the input.
//!
//! It counts where it is compiled for tests or with `--cfg fuzzing`, as `cargo fuzz` does; elsewhere it is nothing.

#[cfg(any(test, fuzzing))]
extern crate std;

#[cfg(any(test, fuzzing))]
std::thread_local! {
    static DONE: core::cell::Cell<u64> = const { core::cell::Cell::new(0) };
}

/// Counts `steps`, each of which looks at a bounded number of bytes.
#[inline(always)]
pub(crate) fn count(steps: usize) {
    #[cfg(any(test, fuzzing))]
    DONE.set(DONE.get().saturating_add(crate::bytes::to_u64(steps)));
    #[cfg(not(any(test, fuzzing)))]
    let _ = steps;
}

/// A value that takes a step.
#[cfg_attr(not(feature = "rdf-contents"), allow(dead_code))]
#[inline(always)]
pub(crate) fn counted<T>(value: T) -> T {
    count(1);
    value
}

/// The number of steps this thread took while it did `work`.
#[cfg(any(test, fuzzing))]
pub fn of(work: impl FnOnce()) -> u64 {
    let before = DONE.get();
    work();
    DONE.get().saturating_sub(before)
}
