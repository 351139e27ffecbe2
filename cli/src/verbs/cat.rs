//! `traceglass cat`

use crate::formats;
use crate::input::Input;
use crate::output::Out;
use crate::status::{Failure, Result, Status};
use std::path::PathBuf;
use traceglass::Format;

/// The content of a file: records, or the raw bytes of the selected part
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A file or directory; - for stdin
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// One JSON object a record
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    reading: formats::Reading,
    #[command(flatten)]
    pub rdf: formats::rdf::Select,
    #[command(flatten)]
    pub rtc: formats::rtc::Select,
    #[command(flatten)]
    pub rfr: formats::rfr::Select,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass cat --chunk AsicInfo a.rmv > asic   RDF: one chunk, decompressed
  traceglass cat --stream adc trace.rtc          RTC: what one stream said, and when
  traceglass cat trace/metadata                  CTF 2: the text, without packets
  traceglass cat --merge --task main recording/  RFR: one task's records, by time
  traceglass cat --json trace.rtc | head";

impl Args {
    /// Refuses options that select parts of another format.
    fn refuse_foreign(&self, format: Format) -> Result<()> {
        let given = [
            (
                Format::Rdf,
                self.rdf != formats::rdf::Select::default(),
                "--chunk, --entry, --header and --stored",
            ),
            (Format::Rtc, self.rtc != formats::rtc::Select::default(), "--stream and --raw"),
            (
                Format::Rfr,
                self.rfr != formats::rfr::Select::default(),
                "--objects, --callsites, --merge, --from, --to, --task and --kind",
            ),
        ];
        match given.iter().find(|&&(of, given, _)| given && of != format) {
            Some((of, _, options)) => {
                Err(Failure::usage(format!("this is {format}, and {options} select from {of}")))
            }
            None => Ok(()),
        }
    }
}

pub fn run(args: &Args, out: &mut Out) -> Result<Status> {
    let done = (|| {
        let input = Input::open(&args.path)?;
        let trace = formats::open(&input, args.reading)?;
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
