//! Traces that are read as if letters stood in the place of private text.

use crate::IS_COMMAND;
use crate::input::{Input, Mapped, full, keep_all, keep_no_more, settle, stand_in};
use crate::output::shown;
use crate::status::{Failure, Result, Status, Unreadable};
use crate::trace::{Findings, Open, Privacy, Private, Reading, Redaction, put_in_order};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The paths of which nothing is shown, and why.
pub type Refused = BTreeMap<PathBuf, Unreadable>;

/// Places of texts, by the full paths of files; each with a path that leads to it.
type Places = BTreeMap<PathBuf, (PathBuf, Vec<Range<u64>>)>;

impl Privacy {
    /// Sees that nothing private is read of the traces from now on, if that is asked for, and no file but those that were
    /// looked at for that.
    ///
    /// # Errors
    /// A path is no trace, or of one that is damaged or has private text without a place of its own: nothing is shown of any.
    pub fn hide(&self, paths: &[PathBuf], reading: Reading, open: Open) -> Result<()> {
        self.look(paths, reading, open, |path, unreadable| Err(unreadable.of(&shown(path)).into()))
    }

    /// The same; what must not be shown of several paths is returned, and the others may be read.
    ///
    /// # Errors
    /// A path is of a format that does not say what is private.
    pub fn hide_each(&self, paths: &[PathBuf], reading: Reading, open: Open) -> Result<Refused> {
        let mut refused = Refused::new();
        self.look(paths, reading, open, |path, unreadable| {
            refused.insert(path.to_owned(), unreadable);
            Ok(())
        })?;
        Ok(refused)
    }

    fn look(
        &self,
        paths: &[PathBuf],
        reading: Reading,
        open: Open,
        mut refuse: impl FnMut(&Path, Unreadable) -> Result<()>,
    ) -> Result<()> {
        let Some(redaction) = self.redaction().filter(|_| IS_COMMAND) else { return Ok(()) };
        keep_all();
        // One file may belong to several traces: it is written over once.
        let mut all = Places::new();
        // Of a pipe there is one look.
        let mut seen = BTreeSet::new();
        for path in paths.iter().filter(|path| seen.insert(*path)) {
            let looked = places(path, reading, &redaction, open, &mut all);
            settle(looked.is_ok());
            match looked {
                Err(Failure::Unreadable(unreadable)) => {
                    refuse(path, Unreadable::new(unreadable.parts().0))?;
                }
                Err(Failure::Usage(message)) => {
                    return Err(Failure::usage(format!("{}: {message}", shown(path))));
                }
                done => done?,
            }
        }
        for (path, mut places) in all.into_values() {
            put_in_order(&mut places);
            let changed = Mapped::open(&path)?.changed(&path, |data| redaction.write_over(data, 0, &places));
            let failed = |error| Failure::unreadable(format!("{}: cannot read: {error}", shown(&path)));
            stand_in(&path, changed.map_err(failed)?);
        }
        keep_no_more();
        Ok(())
    }
}

/// Looks for the private text of a trace. A path that cannot be opened has nothing to be hidden: the verb says why.
fn places(path: &Path, reading: Reading, redaction: &Redaction, open: Open, all: &mut Places) -> Result<()> {
    let Ok(input) = Input::open(path) else { return Ok(()) };
    // What follows the message may be an excerpt of what is private.
    let trace = open(&input, reading).map_err(|error| Failure::unreadable(error.parts().0))?;
    let status = trace.check(&mut Findings::told(&mut |_, _, _, _| ()).only_errors())?;
    if status != Status::Clean {
        return Err(Failure::unreadable(
            "damaged, and what cannot be read may be private: `recover --redact -o OUT` writes what can be read",
        ));
    }
    let mut private = Private::new(redaction);
    trace.private(&mut private)?;
    if let Some(why) = &private.refused {
        let is_compressed = why.ends_with("compressed");
        let how =
            if is_compressed { ": `recover --redact -o OUT` writes a trace in which it is" } else { "" };
        return Err(Failure::unreadable(format!("{why}, and cannot be redacted as it lies{how}")));
    }
    for (file, places) in private.into_places() {
        let place = match (&input, file) {
            (Input::File(_, path), _) => path.clone(),
            (Input::Stream(_, path), Some(file)) if path.ends_with(&file) => path.clone(),
            (Input::Stream(_, path), file) => path.with_file_name(file.unwrap_or_default()),
            (Input::Directory(path), file) => path.join(file.unwrap_or_default()),
        };
        all.entry(full(&place)).or_insert_with(|| (place, Vec::new())).1.extend(places);
    }
    Ok(())
}
