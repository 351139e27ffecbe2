//! RTC for each verb: all but `hex` hear what one pass over the file meets.

mod cat;
mod hex;
mod info;
mod ls;
mod scan;
mod value;

use super::Trace;
use crate::output::Out;
use crate::status::{Result, Status, Unreadable};
use crate::verbs::{self, check::Findings, hex::Fields, info::Info};
use scan::Event;
use traceglass::Format;
use traceglass::rtc;

/// How many streams a session may have.
const STREAMS: usize = 4096;

type Walk<'a> = rtc::Walk<'a, STREAMS>;

/// Which part of an RTC file `cat` prints.
#[derive(clap::Args, Default, PartialEq)]
#[group(id = "rtc")]
#[command(next_help_heading = "RTC")]
pub struct Select {
    /// The stream of this name, or of this number
    #[arg(long, value_name = "NAME|ID")]
    stream: Option<String>,
    /// The payload bytes of the stream, one after the other
    #[arg(long, requires = "stream", conflicts_with = "json")]
    raw: bool,
}

struct Rtc<'a> {
    data: &'a [u8],
}

pub fn open(data: &[u8]) -> Result<Box<dyn Trace + '_>, Unreadable> {
    match rtc::probe(data) {
        Ok(()) => Ok(Box::new(Rtc { data })),
        Err(error) => {
            Err(Unreadable { format: Some(Format::Rtc), error: Some(error), message: error.to_string() })
        }
    }
}

impl Trace for Rtc<'_> {
    fn format(&self) -> Format {
        Format::Rtc
    }

    fn info(&self) -> Result<Info> {
        self.summarise()
    }

    fn ls(&self, args: &verbs::ls::Args, out: &mut Out) -> Result<Status> {
        if args.json { self.list_json(args, out) } else { self.list(args, out) }
    }

    fn cat(&self, args: &verbs::cat::Args, out: &mut Out) -> Result<Status> {
        self.print(args, out)
    }

    fn check(&self, findings: &mut Findings<'_>) -> Result<Status> {
        self.scan(true, false, |event, _| {
            if let Event::Finding(finding) = event {
                findings.report(finding);
            }
            Ok(())
        })?;
        Ok(findings.status())
    }

    fn hex(&self, fields: &mut Fields<'_, '_>) -> Result<Status> {
        self.dump(fields)
    }
}
