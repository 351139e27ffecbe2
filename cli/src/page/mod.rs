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
use crate::states::Pairs;
use crate::status::{Failure, Result};
use crate::trace::Reading;
use std::convert::Infallible;
use std::path::Path;
use traceglass_open::selected::Selected;

impl From<Infallible> for Failure {
    fn from(never: Infallible) -> Self {
        match never {}
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
        // `check` tells the damage.
        let (to, _) = crate::slices::read(&*trace, &Pairs::default(), Selected::default(), to)?;
        Ok(to)
    };
    read().map_err(|failure: Failure| failure.to_string())
}
