//! `traceglass append`

use crate::output::Out;
use crate::rewrite;
use crate::status::{Result, Status};
use crate::trace::{Append, NewParts, Open};
use std::path::PathBuf;

/// More chunks in an RDF file, which is written to in its place
///
/// They are named as for `create`. What is new is written after the end of the file, and then the header, in one write: if
/// that does not happen, the file is what it was. The old index stays, as bytes that nothing names.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Chunks with identifiers that are there already are numbered on
    #[arg(long)]
    allow_same_id: bool,
    /// Compress the data of chunks of which the list does not say
    #[arg(long)]
    zstd: bool,
    /// What was done, as one JSON object
    #[arg(long)]
    json: bool,
    /// The file that gets more
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// A folder, or a list
    #[arg(value_name = "FOLDER|LIST")]
    list: PathBuf,
}

const EXAMPLES: &str = "\
\x1b[1;4mExample:\x1b[0m
  traceglass append scene.rmv notes.json";

pub fn run(args: &Args, open: Open, append: Append, out: &mut Out) -> Result<Status> {
    let parts = NewParts { list: &args.list, packs: args.zstd, allow_same_id: args.allow_same_id };
    rewrite::append(&args.path, &parts, args.json, open, append, out)
}
