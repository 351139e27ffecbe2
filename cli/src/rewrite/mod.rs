//! Traces that go back into files: written aside, read back, and only then put in their place.
//!
//! Formats say what is kept, and know nothing of files; here nothing is known of formats.

mod append;
mod output;
mod proof;
mod redact;
mod report;

use crate::export::file::{is_same, lies_in};
use crate::input::Input;
use crate::output::{Out, shown};
use crate::status::{Failure, Result, Status};
use crate::trace::{NewTrace, Open, Privacy, Reading, Rewritten, Wanted};
pub use append::append;
use output::Output;
use std::path::{Path, PathBuf};

/// The destination of a new trace.
#[derive(clap::Args)]
pub struct Destination {
    /// Where to write it: a file, or a new directory where the format has one
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Replace existing files
    #[arg(long)]
    force: bool,
    /// Put the output in place without reading it back
    #[arg(long)]
    no_verify: bool,
    #[command(flatten)]
    privacy: Privacy,
    /// Report as one JSON object
    #[arg(long)]
    json: bool,
}

/// A verb and its paths.
pub struct Job<'j> {
    pub verb: &'static str,
    pub paths: &'j [PathBuf],
    /// True if the format has several files for its output.
    pub is_folder: bool,
    pub reading: Reading,
    pub to: &'j Destination,
}

impl Destination {
    /// A file that is there, and gets more.
    fn in_place(output: PathBuf, json: bool) -> Self {
        Self { output, force: true, no_verify: false, privacy: Privacy::default(), json }
    }

    /// True if what is private is hidden.
    pub fn redacts(&self) -> bool {
        self.privacy.redact
    }

    /// Refuses an output that is an input, lies in one, or is there and is not to be replaced.
    pub fn refuse(&self, inputs: &[PathBuf]) -> Result<()> {
        let output = self.output.as_path();
        let refuse = |why: String| Err(Failure::usage(format!("{} {why}", shown(output))));
        if output == Path::new("-") {
            return refuse("is no file: what is written is read back, so name a file with -o".into());
        }
        for input in inputs {
            let input = if input == Path::new("-") { Path::new("/dev/stdin") } else { input };
            if is_same(output, input) {
                return refuse("is what is to be read: name a new one".into());
            }
            if input.is_dir() && lies_in(output, input) {
                return refuse(format!("would lie in {}, all of which is read", shown(input)));
            }
            if output.is_dir() && lies_in(input, output) {
                return refuse(format!("is the folder in which {} lies: name a new one", shown(input)));
            }
            // The stream of a trace is read with the metadata beside it.
            let beside = input.parent().map(|folder| folder.join("metadata"));
            if beside.is_some_and(|metadata| is_same(output, &metadata)) {
                return refuse("is the metadata of what is to be read: name a new one".into());
            }
        }
        match output.metadata() {
            Ok(about) if !about.is_file() && !about.is_dir() => {
                refuse("is neither a file nor a folder: what is written is read back".into())
            }
            Ok(about) if !self.force => {
                let what = if about.is_dir() { " if it is a trace" } else { "" };
                refuse(format!("exists: --force replaces it{what}"))
            }
            _ => Ok(()),
        }
    }
}

/// As [`run`], of what is wanted of one path.
pub fn one(
    path: &PathBuf,
    to: &Destination,
    reading: Reading,
    wanted: &Wanted<'_>,
    open: Open,
    out: &mut Out,
) -> Result<Status> {
    let paths = std::slice::from_ref(path);
    to.refuse(paths)?;
    let input = Input::open(path).map_err(|error| error.of(&shown(path)))?;
    let trace = open(&input, reading).map_err(|error| error.of(&shown(path)))?;
    let is_folder = trace.is_written_as_folder();
    let job = Job { verb: wanted.verb, paths, is_folder, reading, to };
    run(&job, open, |to| trace.rewrite(wanted, to), out)
}

/// Writes a trace, reads it back, puts it in its place, and tells what was done.
pub fn run(
    job: &Job<'_>,
    open: Open,
    write: impl FnOnce(&mut dyn NewTrace) -> Result<Rewritten>,
    out: &mut Out,
) -> Result<Status> {
    let place = job.to.output.as_path();
    let bytes = crate::input::total(job.paths);
    crate::progress::begin("writing", bytes);
    let mut output = Output::create(place, job.is_folder, job.to.force, open, bytes)?;
    let written = write(&mut output).and_then(|done| {
        let items = done.proof.map_or(done.kept, |proof| proof.records);
        if let (0, Some(lost)) = (items, done.lost.first()) {
            return Err(Failure::unreadable(format!("nothing of it can be carried over: {}", lost.what)));
        }
        output.settle()?;
        Ok(done)
    });
    let mut done = written.map_err(|failure| output.rename(failure))?;
    if !job.to.no_verify {
        let reading = Reading { lenient: job.reading.lenient, ..Reading::default() };
        let proven = output.reread().and_then(|()| match done.is_copy {
            true => Ok(()),
            false => proof::prove(output.path(), reading, &mut done, open),
        });
        proven.map_err(|why| {
            Failure::Write(format!("{} is given up, as it does not read back: {why}", shown(place)))
        })?;
    }
    if let Some(redaction) = job.to.privacy.redaction() {
        let redacted = redact::redact(output.path(), Reading::default(), &redaction, open);
        done.redacted = redacted.map_err(|failure| output.rename(failure))?;
        proof::prove_redacted(output.path(), &mut done, open).map_err(|why| {
            Failure::Write(format!("{} is given up, as it does not read back redacted: {why}", shown(place)))
        })?;
    }
    if job.verb == "cut" && done.kept == 0 {
        done.notes.push("nothing of it lies in what was asked for".to_owned());
    }
    let size = output.size();
    output.finish()?;
    report::tell(job, &done, size, out)?;
    let is_partial = !done.lost.is_empty() || done.carried > 0;
    Ok(Status::damaged_if(is_partial))
}
