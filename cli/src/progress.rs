//! A progress bar for long work, on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// How much of some bytes is done. Nothing shows in the first second, nor where stderr is no terminal.
pub struct Progress {
    bar: ProgressBar,
    started: Instant,
}

impl Progress {
    pub fn new(bytes: u64) -> Self {
        let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {eta}");
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::hidden())
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, started: Instant::now() }
    }

    /// That many more bytes are done.
    pub fn advance(&self, bytes: u64) {
        // Where several files are read at once, none of them is what is shown.
        let alone = rayon::current_thread_index().is_none();
        if alone && self.bar.is_hidden() && self.started.elapsed() > Duration::from_secs(1) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(bytes);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
