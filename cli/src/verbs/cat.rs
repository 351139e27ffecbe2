//! `traceglass cat`

use crate::input::Input;
use crate::output::Out;
use crate::status::{Failure, Result, Status};
use crate::trace::{Open, Selection};

/// The content of a file: records, or the raw bytes of the selected part
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    selection: Selection,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass cat --chunk AsicInfo a.rmv > asic   RDF: one chunk, decompressed
  traceglass cat --stream adc trace.rtc          RTC: what one stream said, and when
  traceglass cat trace/metadata                  CTF 2: the text, without packets
  traceglass cat --merge --task main recording/  RFR: one task's records, by time
  traceglass cat --json trace.rtc | head";

pub fn run(args: &Args, open: Open, out: &mut Out) -> Result<Status> {
    let args = &args.selection;
    if args.force {
        out.force();
    }
    let done = (|| {
        let input = Input::open(&args.path)?;
        let trace = open(&input, args.reading)?;
        args.refuse_foreign(trace.format())?;
        trace.cat(args, out)
    })();
    match done {
        Err(failure @ Failure::Unreadable(_)) => {
            out.complain_of(&args.path, &failure);
            Ok(Status::Failed)
        }
        other => other,
    }
}
