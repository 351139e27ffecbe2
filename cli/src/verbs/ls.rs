//! `traceglass ls`

use crate::input::Input;
use crate::output::Out;
use crate::progress;
use crate::status::{Result, Status};
use crate::trace::{Listing, Open, Select};

/// List the parts of a file, one a line
///
/// The parts are chunks for RDF, units and streams for RTC, streams and packets for a CTF trace, packets and fragments
/// for CTF metadata, chunks and sequences for RFR. With --from and --to, only parts that reach into that range are
/// listed. Compressed data of RDF is read with --sha256 alone: without it, damage within is not seen. With --packets,
/// headers of CTF are read alone: damage within records is not seen.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    listing: Listing,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass ls a.rmv
  traceglass ls --from +1.5s --to +2s trace.rtc
  traceglass ls --packets trace/
  traceglass ls --sha256 --json a.rmv | jq -r '[.data_sha256, .id] | @tsv'";

#[cfg(target_family = "wasm")]
impl From<Listing> for Args {
    fn from(listing: Listing) -> Self {
        Self { listing }
    }
}

pub fn run(args: &Args, open: Open, out: &mut Out) -> Result<Status> {
    let args = &args.listing;
    args.privacy.hide(std::slice::from_ref(&args.path), args.reading, open)?;
    let input = match Input::open(&args.path) {
        Ok(input) => input,
        Err(unreadable) => return out.failed(&args.path, unreadable.into()),
    };
    match open(&input, args.reading) {
        Ok(trace) => {
            args.refuse_foreign(trace.format())?;
            progress::begin("reading", 0);
            let status = trace.ls(args, out)?;
            if out.is_empty()
                && let Some(message) = Select::default().found_nothing(&args.window)
            {
                out.warn(&args.path, message);
            }
            Ok(status)
        }
        Err(unreadable) => out.failed(&args.path, unreadable.into()),
    }
}
