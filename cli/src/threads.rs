//! The threads that work on parts.

use std::num::NonZero;
use std::sync::OnceLock;

/// The stack of a thread: a session of an RTC file has thousands of streams, of which the table is moved as a whole.
pub const STACK: usize = 32 << 20;

/// The number of threads that work on parts at a time: as many as there are cores, or as `TRACEGLASS_THREADS` says.
pub fn threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| {
        let said = std::env::var("TRACEGLASS_THREADS").ok().and_then(|said| said.parse().ok());
        let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
        said.filter(|&said| said > 0).unwrap_or_else(cores)
    })
}
