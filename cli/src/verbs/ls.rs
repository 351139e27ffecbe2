//! `traceglass ls`

use crate::formats;
use crate::input::Input;
use crate::output::Out;
use crate::status::{Failure, Result, Status};
use std::path::PathBuf;

/// The parts of a file, one a line
///
/// Of RDF these are chunks, of RTC units and streams, of CTF 2 metadata packets, of RFR chunks and sequences.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// One JSON object a part
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    reading: formats::Reading,
    /// Read every part, decompressed, and print its SHA-256
    #[arg(long)]
    pub sha256: bool,
    /// A file or directory; - for stdin
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass ls a.rmv
  traceglass ls --sha256 --json a.rmv | jq -r '[.data_sha256, .id] | @tsv'";

pub fn run(args: &Args, out: &mut Out) -> Result<Status> {
    let failed = |failure| match failure {
        Failure::Unreadable(_) => {
            out.complain_of(&args.path, &failure);
            Ok(Status::Failed)
        }
        other => Err(other),
    };
    let input = match Input::open(&args.path) {
        Ok(input) => input,
        Err(unreadable) => return failed(unreadable.into()),
    };
    match formats::open(&input, args.reading) {
        Ok(trace) => trace.ls(args, out),
        Err(unreadable) => failed(unreadable.into()),
    }
}
