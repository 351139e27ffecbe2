//! Traces by their paths, to be read as tables: for the Python package, which opens them as the command does.

use crate::input::Input;
use crate::states::Pairs;
use crate::status::Failure;
use crate::trace::Reading;
use std::path::Path;
use traceglass_tables::Trace;

/// Why a path cannot be read as tables.
#[derive(Debug)]
pub struct Refused {
    /// For people.
    pub message: String,
    /// The located error, if it comes from the content.
    pub error: Option<traceglass::Error>,
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        let error = match &failure {
            Failure::Unreadable(unreadable) => unreadable.error,
            _ => None,
        };
        Self { message: failure.to_string(), error }
    }
}

/// Opens a path as the command does, and lends the trace out.
///
/// # Errors
/// [`Refused`], also if its format has no tables.
pub fn with<T>(path: &Path, read: impl FnOnce(&Trace<'_>) -> T) -> Result<T, Refused> {
    let input = Input::open(path).map_err(Failure::from)?;
    let trace = crate::formats::open(&input, Reading::default()).map_err(Failure::from)?;
    let (mut read, mut done) = (Some(read), None);
    trace.tables(&crate::export::tables::name_of(path), &Pairs::default(), &mut |trace| {
        done = read.take().map(|read| read(trace));
        Ok(())
    })?;
    done.ok_or_else(|| Refused { message: "nothing to be read".to_owned(), error: None })
}
