//! Proof that a written trace is what was meant to be written.

use crate::input::Input;
use crate::trace::{Digest, Findings, Open, Reading, Rewritten, Tally};
use std::path::Path;
use traceglass::Severity;

/// Reads a trace back: it is clean but for what was carried over, and has what it is to have, byte by byte.
pub fn prove(path: &Path, reading: Reading, done: &mut Rewritten, open: Open) -> Result<(), String> {
    if read(path, reading, done, open)? != done.digest {
        return Err("its records are other ones than those of the input".to_owned());
    }
    Ok(())
}

/// The same of a trace in which text was written over: its bytes are other ones.
pub fn prove_redacted(path: &Path, done: &mut Rewritten, open: Open) -> Result<(), String> {
    read(path, Reading::default(), done, open).map(drop)
}

fn read(path: &Path, reading: Reading, done: &mut Rewritten, open: Open) -> Result<Digest, String> {
    let input = Input::open(path).map_err(|error| error.message)?;
    let trace = open(&input, reading).map_err(|error| error.message)?;
    let (mut errors, mut first) = (0_u64, None);
    let mut listener = |file: Option<&Path>, severity: Severity, _: u64, message: &str| {
        if severity == Severity::Error {
            errors = errors.saturating_add(1);
            first.get_or_insert_with(|| {
                file.map_or(message.to_owned(), |file| format!("{}: {message}", crate::output::shown(file)))
            });
        }
    };
    let mut findings = Findings::told(&mut listener).only_errors().hashed(&done.anew);
    trace.check(&mut findings).map_err(|failure| failure.to_string())?;
    let found = findings.tally();
    let digest = findings.digest().copied().unwrap_or_default();
    if errors > done.carried && !done.takes_all {
        return Err(first.unwrap_or_default());
    }
    done.carried = errors;
    let expected = done.proof.unwrap_or(Tally { units: done.kept, records: done.records });
    if found != expected {
        return Err(format!("{found:?} where there should be {expected:?}"));
    }
    Ok(digest)
}
