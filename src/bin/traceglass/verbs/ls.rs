//! `traceglass ls`

use crate::formats;
use crate::input::Input;
use crate::output::Out;
use crate::status::{Failure, Result, Status};
use std::path::PathBuf;

/// The parts of a file, one a line
#[derive(clap::Args)]
pub struct Args {
    /// One JSON object a part
    #[arg(long)]
    pub json: bool,
    /// Read every part, decompressed, and print its SHA-256
    #[arg(long)]
    pub sha256: bool,
    /// A file or directory; - for stdin
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
}

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
    match formats::open(&input) {
        Ok(trace) => trace.ls(args, out),
        Err(unreadable) => failed(unreadable.into()),
    }
}
