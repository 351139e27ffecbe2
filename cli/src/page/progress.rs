//! The progress of a run, told to the page.

use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static TOTAL: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicU64 = AtomicU64::new(0);
static HOOK: OnceLock<fn(u64, u64)> = OnceLock::new();

/// Has a function called with the bytes that were read, and those that will be.
pub fn on_progress(hook: fn(u64, u64)) {
    // It is the same one each time.
    let _ = HOOK.set(hook);
}

/// Begins to count anew.
pub fn begin(_work: &'static str, _bytes: u64) {
    finish();
}

/// The progress over some bytes.
pub struct Progress(());

impl Progress {
    pub fn new(bytes: u64) -> Self {
        TOTAL.fetch_add(bytes, Relaxed);
        Self(())
    }

    /// Adds bytes that are done.
    pub fn advance(&self, bytes: u64) {
        let done = DONE.fetch_add(bytes, Relaxed).saturating_add(bytes);
        if let Some(hook) = HOOK.get() {
            hook(done, TOTAL.load(Relaxed));
        }
    }
}

/// Forgets what was counted.
pub fn finish() {
    TOTAL.store(0, Relaxed);
    DONE.store(0, Relaxed);
}

/// A stream, as it is: there is no line that steps aside.
pub fn shy(stream: Box<dyn Write + Send>) -> Box<dyn Write + Send> {
    stream
}
