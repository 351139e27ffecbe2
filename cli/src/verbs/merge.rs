//! `traceglass merge`

use crate::input::Input;
use crate::output::{Out, shown};
use crate::record::Names;
use crate::rewrite::{self, Destination, Job};
use crate::status::{Failure, Result, Status};
use crate::trace::{Merge, Open, Reading, Wanted, Window};
use std::path::PathBuf;
use traceglass::Format;

/// Merge several traces of one format into one
///
/// Everything is kept as it is, in order of time; chunks of RDF, which have none, in the order of the paths. Traces that
/// contradict each other are refused.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    to: Destination,
    /// RDF: accept chunks with the same identifier in several files; their numbers continue
    #[arg(long)]
    allow_same_id: bool,
    #[command(flatten)]
    reading: Reading,
    /// Files or directories
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass merge -o all.rmv memory.rmv system.rmv
  traceglass merge -o all/ chunk-1/ chunk-2/ chunk-3/";

pub fn run(args: &Args, open: Open, merge: Merge, out: &mut Out) -> Result<Status> {
    args.to.refuse(&args.paths)?;
    let mut inputs = Vec::new();
    let mut first = None;
    let mut is_folder = false;
    for path in &args.paths {
        let input = Input::open(path).map_err(|error| error.of(&shown(path)))?;
        let trace = open(&input, args.reading).map_err(|error| error.of(&shown(path)))?;
        let format = trace.format();
        match first {
            Some(first) if first != format => {
                let path = shown(path);
                return Err(Failure::usage(format!(
                    "{path} is {format}, and the first one is {first}: one format is merged"
                )));
            }
            _ => first = Some(format),
        }
        is_folder = trace.is_merged_into_folder();
        drop(trace);
        inputs.push(input);
    }
    if let (true, Some(format)) = (args.allow_same_id, first.filter(|format| *format != Format::Rdf)) {
        return Err(Failure::usage(format!(
            "this is {format}, and --allow-same-id is of RDF, whose chunks have identifiers"
        )));
    }
    let (window, names) = (Window::default(), Names::default());
    let wanted = Wanted {
        allow_same_id: args.allow_same_id,
        redacts: args.to.redacts(),
        ..Wanted::all("merge", &window, &names)
    };
    let job = Job { verb: "merge", paths: &args.paths, is_folder, reading: args.reading, to: &args.to };
    rewrite::run(&job, open, |to| merge(&inputs, args.reading, &wanted, to), out)
}
