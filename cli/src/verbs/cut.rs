//! `traceglass cut`

use crate::output::Out;
use crate::rewrite::{self, Destination};
use crate::status::{Failure, Result, Status};
use crate::trace::{Open, Reading, Wanted, Window};
use std::path::PathBuf;

/// A part of a trace, in the same format
///
/// Units are kept as a whole, byte by byte: packets of CTF, chunks of RDF, major units of RTC, sequences of RFR, events of
/// dial9. So what is written may begin before the range and end after it; what it has is told.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    window: Window,
    /// RDF: keep the chunks with these identifiers, or the n-th of one as ID#n, and no others
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    keep: Vec<String>,
    /// RDF: leave out the chunks with these identifiers, or the n-th of one as ID#n
    #[arg(long, value_name = "ID", value_delimiter = ',', conflicts_with = "keep")]
    drop: Vec<String>,
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
  traceglass cut --from +1s --to +2s -o part/ trace/
  traceglass cut --keep AsicInfo,SystemInfo -o part.rmv scene.rmv
  traceglass cut --drop SqttData#1 -o part.rgp scene.rgp";

pub fn run(args: &Args, open: Open, out: &mut Out) -> Result<Status> {
    args.window.refuse_reversed()?;
    if args.window.is_everything() && args.keep.is_empty() && args.drop.is_empty() {
        return Err(Failure::usage(
            "cut: say which part, with --from and --to, or of RDF with --keep or --drop",
        ));
    }
    let wanted = Wanted {
        verb: "cut",
        window: &args.window,
        keep: &args.keep,
        drop: &args.drop,
        allow_same_id: false,
    };
    rewrite::one(&args.path, &args.to, args.reading, &wanted, open, out)
}
