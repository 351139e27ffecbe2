//! `traceglass append`

use crate::output::Out;
use crate::rewrite;
use crate::status::{Result, Status};
use crate::trace::{Append, NewParts, Open};
use std::path::PathBuf;

/// Append chunks to an RDF file in place
///
/// Chunks are given as for `create`. They are written after the end of the file; then the header is replaced in one
/// write. Until that has happened, the file is what it was. The old index stays, as bytes that nothing refers to.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Accept chunks whose identifier is there already; their numbers continue
    #[arg(long)]
    allow_same_id: bool,
    /// Compress chunks whose compression the list does not set
    #[arg(long)]
    zstd: bool,
    /// Report as one JSON object
    #[arg(long)]
    json: bool,
    /// The RDF file
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
    let parts = NewParts {
        list: &args.list,
        packs: args.zstd,
        allow_same_id: args.allow_same_id,
        // What the file was is read before it changes.
        refuse: &|_| Ok(()),
    };
    rewrite::append(&args.path, &parts, args.json, open, append, out)
}
