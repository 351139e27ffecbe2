//! `traceglass cat`

use crate::formats;
use crate::input::Input;
use crate::output::Out;
use crate::status::{Failure, Result, Status};
use std::path::PathBuf;
use traceglass::Format;

/// The content of a file: records, or the raw bytes of the selected part
#[derive(clap::Args)]
pub struct Args {
    /// One JSON object a record
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub rdf: formats::rdf::Select,
    #[command(flatten)]
    pub rtc: formats::rtc::Select,
    #[command(flatten)]
    pub rfr: formats::rfr::Select,
    /// A file or directory; - for stdin
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
}

impl Args {
    /// Refuses options that select parts of another format.
    fn refuse_foreign(&self, format: Format) -> Result<()> {
        let given = [
            (Format::Rdf, self.rdf != formats::rdf::Select::default()),
            (Format::Rtc, self.rtc != formats::rtc::Select::default()),
            (Format::Rfr, self.rfr != formats::rfr::Select::default()),
        ];
        match given.iter().find(|&&(of, given)| given && of != format) {
            Some((of, _)) => {
                Err(Failure::usage(format!("this is {format}, and an option is for {of} alone")))
            }
            None => Ok(()),
        }
    }
}

pub fn run(args: &Args, out: &mut Out) -> Result<Status> {
    let done = (|| {
        let input = Input::open(&args.path)?;
        let trace = formats::open(&input)?;
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
