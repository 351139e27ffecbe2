//! `traceglass cut`

use crate::output::Out;
use crate::record::Names;
use crate::rewrite::{self, Destination};
use crate::status::{Failure, Result, Status};
use crate::trace::{Open, Reading, Wanted, Window};
use std::path::PathBuf;

/// Cut out a part of a trace, in the same format
///
/// Units are kept whole, byte by byte: packets of CTF, chunks of RDF, major units of RTC, sequences of RFR, events of
/// dial9. So the output may begin before the range and end after it; its own range is reported.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    window: Window,
    /// RDF: keep the chunks with these identifiers, or the n-th of one as ID#n, and no others; --chunk is the same
    #[arg(long, visible_alias = "chunk", value_name = "ID", value_delimiter = ',')]
    keep: Vec<String>,
    /// RDF: leave out the chunks with these identifiers, or the n-th of one as ID#n
    #[arg(long, value_name = "ID", value_delimiter = ',', conflicts_with = "keep")]
    drop: Vec<String>,
    /// CTF: keep the packets of this stream: its file or its id
    #[arg(long, value_name = "NAME|ID")]
    stream: Option<String>,
    /// CTF: keep the packets of this processor; several with commas
    #[arg(long, value_name = "N", value_delimiter = ',')]
    cpu: Vec<u64>,
    /// dial9: keep the events with this name; * stands for any text. More than one may be given
    #[arg(long, value_name = "GLOB")]
    name: Vec<String>,
    /// CTF, RFR and RTC: keep only the records in the range, instead of whole packets, sequences or units; dial9 and
    /// streams of RFR always do so
    #[arg(long)]
    exact: bool,
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
  traceglass cut --drop SqttData#1 -o part.rgp scene.rgp
  traceglass cut --stream channel0_3 -o cpu3/ trace/";

pub fn run(args: &Args, open: Open, out: &mut Out) -> Result<Status> {
    args.window.refuse_reversed()?;
    let names = Names::new(args.name.iter().map(String::as_str));
    let wanted = Wanted {
        keep: &args.keep,
        drop: &args.drop,
        stream: args.stream.as_deref(),
        cpus: &args.cpu,
        exact: args.exact,
        redacts: args.to.redacts(),
        ..Wanted::all("cut", &args.window, &names)
    };
    if args.window.is_everything() && !wanted.is_named() && !args.to.redacts() {
        return Err(Failure::usage(
            "cut: say which part, with --from and --to, of RDF with --keep or --drop, of CTF with --stream or --cpu, of dial9 with --name",
        ));
    }
    rewrite::one(&args.path, &args.to, args.reading, &wanted, open, out)
}
