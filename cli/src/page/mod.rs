//! Functions of the command that only a page in a browser needs.
//!
//! A page has no file system, no threads and no clock: files lie in memory, and progress is told to a function.

#[cfg(target_family = "wasm")]
mod command;
#[cfg(not(target_family = "wasm"))]
pub mod disk;

#[cfg(target_family = "wasm")]
pub use crate::disk::{clear, put};
#[cfg(target_family = "wasm")]
pub use crate::progress::on_progress;
#[cfg(target_family = "wasm")]
pub use command::run;
pub use traceglass_open::slices::{Slice, TakeSlices, push_args};

use crate::input::Input;
use crate::progress::Progress;
use crate::slices::Lasting;
use crate::states::Pairs;
use crate::status::{Failure, Result};
use crate::trace::Reading;
use std::convert::Infallible;
use std::path::Path;
use traceglass::event::{Event, Track, TrackId, Window};
use traceglass_open::selected::Selected;

/// Passes on what never fails.
struct Passing<T>(T);

impl<T: TakeSlices<Error = Infallible>> TakeSlices for Passing<T> {
    type Error = Failure;

    fn wants_args(&self) -> bool {
        self.0.wants_args()
    }

    fn slice(&mut self, slice: &Slice<'_>) -> Result<()> {
        let Ok(()) = self.0.slice(slice);
        Ok(())
    }

    fn event(&mut self, event: &Event<'_>) -> Result<()> {
        let Ok(()) = self.0.event(event);
        Ok(())
    }

    fn track(&mut self, track: &Track<'_>) -> Result<()> {
        let Ok(()) = self.0.track(track);
        Ok(())
    }

    fn renamed(&mut self, number: u32) {
        self.0.renamed(number);
    }

    fn ended(&mut self, track: TrackId, label: &str) {
        self.0.ended(track, label);
    }

    fn alias(&mut self, track: &str, alias: &str) {
        self.0.alias(track, alias);
    }
}

/// Gives out all tracks, slices and events of a trace.
///
/// # Errors
/// The message why there are none.
pub fn slices<T: TakeSlices<Error = Infallible>>(path: &Path, to: T) -> Result<T, String> {
    let read = || {
        let input = Input::open(path)?;
        let trace = crate::formats::open(&input, Reading::default())?;
        let progress = Progress::new(trace.bytes());
        let mut advance = |bytes| progress.advance(bytes);
        let mut slices = Lasting::new(Selected::default(), Passing(to), &mut advance);
        // `check` tells the damage.
        trace.states_in(Window::ALL, &Pairs::default(), &mut slices)?;
        Ok::<_, Failure>(slices.finish()?.0)
    };
    read().map_err(|failure| failure.to_string())
}
