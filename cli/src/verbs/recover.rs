//! `traceglass recover`

use crate::output::Out;
use crate::record::Names;
use crate::rewrite::{self, Destination};
use crate::status::{Result, Status};
use crate::trace::{Open, Reading, Wanted, Window};
use std::path::PathBuf;

/// Write the readable part of a damaged trace as a sound trace
///
/// The input stays as it is. Nothing is invented: the output has units of the input only, and every loss is reported. A
/// sound trace is copied.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    to: Destination,
    #[command(flatten)]
    reading: Reading,
    /// A file or a directory
    #[arg(value_name = "PATH")]
    path: PathBuf,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass recover -o whole.rmv crashed.rmv
  traceglass recover -o trace/ capture/
  traceglass recover --json -o whole/ crashed/ | jq .lost";

pub fn run(args: &Args, open: Open, out: &mut Out) -> Result<Status> {
    let (window, names) = (Window::default(), Names::default());
    let wanted = Wanted { redacts: args.to.redacts(), ..Wanted::all("recover", &window, &names) };
    rewrite::one(&args.path, &args.to, args.reading, &wanted, open, out)
}
