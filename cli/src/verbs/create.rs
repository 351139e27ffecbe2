//! `traceglass create`

use crate::output::Out;
use crate::rewrite::{self, Destination, Job};
use crate::status::{Result, Status};
use crate::trace::{Create, NewParts, Open, Reading};
use std::path::{Path, PathBuf};

/// Create an RDF file from chunks in separate files
///
/// The chunks are given as a list or a folder. A list is JSON: an array, or an object with the array as `chunks`. Each
/// element has an `id`, and may have a `version` (default 1), `header` and `data` (files beside the list), and a
/// `compression` (none or zstd). A folder is one that `export --format files` wrote, or one whose files are named by
/// their chunks' identifiers, up to the first dot.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    to: Destination,
    /// Compress chunks whose compression the list does not set
    #[arg(long)]
    zstd: bool,
    /// A folder, or a list
    #[arg(value_name = "FOLDER|LIST")]
    list: PathBuf,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass create -o new.rdf chunks.json
  traceglass export --format files -o parts/ scene.rmv
  traceglass create --zstd -o again.rmv parts/";

pub fn run(args: &Args, open: Open, create: Create, out: &mut Out) -> Result<Status> {
    let paths = std::slice::from_ref(&args.list);
    args.to.refuse(paths)?;
    let refuse = |file: &Path| args.to.refuse(&[file.to_owned()]);
    let parts = NewParts { list: &args.list, packs: args.zstd, allow_same_id: true, refuse: &refuse };
    let job = Job { verb: "create", paths, is_folder: false, reading: Reading::default(), to: &args.to };
    rewrite::run(&job, open, |to| create(&parts, to), out)
}
