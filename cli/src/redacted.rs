//! Traces that are read as if letters stood in the place of private text.

use crate::input::{Input, Mapped, stand_in};
use crate::output::shown;
use crate::status::{Failure, Result, Status};
use crate::trace::{Findings, Open, Privacy, Private, Reading, Redaction};
use std::path::{Path, PathBuf};

/// A page has no such option.
const IS_COMMAND: bool = !cfg!(target_family = "wasm");

impl Privacy {
    /// Sees that nothing private is read of the traces from now on, if that is asked for.
    ///
    /// # Errors
    /// A trace is damaged, or has private text that has no place of its own: nothing is shown of any then.
    pub fn hide(&self, paths: &[PathBuf], reading: Reading, open: Open) -> Result<()> {
        let Some(redaction) = self.redaction().filter(|_| IS_COMMAND) else { return Ok(()) };
        paths.iter().try_for_each(|path| {
            hide(path, reading, &redaction, open).map_err(|failure| match failure {
                Failure::Unreadable(unreadable) => {
                    Failure::unreadable(format!("{}: {}", shown(path), unreadable.message))
                }
                other => other,
            })
        })
    }
}

fn hide(path: &Path, reading: Reading, redaction: &Redaction, open: Open) -> Result<()> {
    let input = Input::open(path)?;
    if let Input::File(mapped, path) | Input::Stream(mapped, path) = &input {
        // A pipe cannot be read a second time.
        stand_in(path, mapped.clone());
    }
    let trace = open(&input, reading)?;
    let status = trace.check(&mut Findings::told(&mut |_, _, _, _| ()).only_errors())?;
    if status != Status::Clean {
        return Err(Failure::unreadable(
            "damaged, and what cannot be read may be private: `recover --redact -o OUT` writes what can be read",
        ));
    }
    let mut private = Private::new(redaction);
    trace.private(&mut private)?;
    if let Some(why) = &private.refused {
        return Err(Failure::unreadable(format!(
            "{why}, and cannot be redacted as it lies: `recover --redact -o OUT` writes a trace in which it is"
        )));
    }
    for (file, places) in private.into_places() {
        let (place, mapped) = match (&input, file) {
            (Input::File(mapped, path), _) => (path.clone(), mapped.clone()),
            (Input::Stream(mapped, path), Some(file)) if path.ends_with(&file) => {
                (path.clone(), mapped.clone())
            }
            (Input::Stream(_, path), file) => {
                let place = path.with_file_name(file.unwrap_or_default());
                (place.clone(), Mapped::open(&place)?)
            }
            (Input::Directory(path), file) => {
                let place = path.join(file.unwrap_or_default());
                (place.clone(), Mapped::open(&place)?)
            }
        };
        let changed = mapped.changed(&place, |data| redaction.write_over(data, 0, &places));
        let changed = changed.map_err(|error| Failure::unreadable(format!("cannot read: {error}")))?;
        stand_in(&place, changed);
    }
    Ok(())
}
