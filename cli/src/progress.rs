//! One line of progress for all that a run reads, on a terminal, with the time that is left.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Nothing shows before: most is done sooner.
const PATIENCE: Duration = Duration::from_secs(1);

/// The number of bytes to read, and of those that have been read, by all threads.
static TOTAL: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicU64 = AtomicU64::new(0);
/// The bytes that were counted in advance, of which no part has begun to be read.
static EXPECTED: AtomicU64 = AtomicU64::new(0);
/// The work in progress, in a word.
static WORK: Mutex<&str> = Mutex::new("reading");
static STARTED: OnceLock<Instant> = OnceLock::new();
static BAR: OnceLock<ProgressBar> = OnceLock::new();
/// True if the line can be on the screen.
static SHOWS: AtomicBool = AtomicBool::new(false);

/// Says what the run does, and how much it will read if that is known of all paths.
pub fn begin(work: &'static str, bytes: u64) {
    STARTED.get_or_init(Instant::now);
    *WORK.lock().unwrap_or_else(PoisonError::into_inner) = work;
    EXPECTED.fetch_add(bytes, Relaxed);
    TOTAL.fetch_add(bytes, Relaxed);
}

/// Progress over some bytes. Nothing shows in the first second, nor where stderr is no terminal.
pub struct Progress {
    bytes: u64,
    done: AtomicU64,
}

impl Progress {
    pub fn new(bytes: u64) -> Self {
        STARTED.get_or_init(Instant::now);
        let mut counted = 0;
        let _ = EXPECTED.fetch_update(Relaxed, Relaxed, |expected| {
            counted = expected.min(bytes);
            expected.checked_sub(counted)
        });
        TOTAL.fetch_add(bytes.saturating_sub(counted), Relaxed);
        Self { bytes, done: AtomicU64::new(0) }
    }

    /// Counts bytes that are done.
    pub fn advance(&self, bytes: u64) {
        let before = self.done.fetch_add(bytes, Relaxed);
        let bytes = bytes.min(self.bytes.saturating_sub(before));
        let done = DONE.fetch_add(bytes, Relaxed).saturating_add(bytes);
        if STARTED.get().is_some_and(|started| started.elapsed() > PATIENCE) {
            show(done);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        // The rest will not be read.
        let left = self.bytes.saturating_sub(self.done.load(Relaxed));
        DONE.fetch_add(left, Relaxed);
    }
}

fn show(done: u64) {
    let bar = BAR.get_or_init(|| {
        let style = ProgressStyle::with_template(
            "{msg} [{wide_bar}] {binary_bytes} of {binary_total_bytes}, ETA {eta}",
        );
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr())
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
        bar.set_message(*WORK.lock().unwrap_or_else(PoisonError::into_inner));
        bar.set_elapsed(PATIENCE);
        SHOWS.store(true, Relaxed);
        bar
    });
    bar.set_length(TOTAL.load(Relaxed));
    bar.set_position(done);
}

/// Takes the line off the screen.
pub fn finish() {
    if let Some(bar) = BAR.get() {
        bar.finish_and_clear();
    }
}

/// Writes to a terminal without running into the line.
struct Shy(Box<dyn Write + Send>);

/// A stream in front of which the line steps aside.
pub fn shy(stream: Box<dyn Write + Send>) -> Box<dyn Write + Send> {
    Box::new(Shy(stream))
}

impl Write for Shy {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match BAR.get().filter(|_| SHOWS.load(Relaxed)) {
            Some(bar) => bar.suspend(|| {
                let written = self.0.write(data)?;
                self.0.flush()?;
                Ok(written)
            }),
            None => self.0.write(data),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_expected_is_not_counted_twice() {
        begin("testing", 100);
        let total = TOTAL.load(Relaxed);
        let (one, more) = (Progress::new(60), Progress::new(60));
        assert_eq!(TOTAL.load(Relaxed), total + 20);
        one.advance(50);
        one.advance(50);
        drop((one, more));
        assert_eq!(DONE.load(Relaxed), 120);
    }
}
