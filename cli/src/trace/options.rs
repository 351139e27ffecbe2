//! What is asked of a trace: how it is read, and which part of it is printed.

use crate::status::{Failure, Result};
use std::path::PathBuf;
use traceglass::Format;
use traceglass::rfr::RecordKind;

/// How a trace is read.
#[derive(clap::Args, Clone, Copy, Default)]
pub struct Reading {
    /// Read two mistakes of CTF 2's producers: a header of 37 bytes for version 2, and a change of byte order
    #[arg(long)]
    pub lenient: bool,
}

/// Which parts `ls` lists, and how.
#[derive(clap::Args)]
pub struct Listing {
    /// One JSON object a part
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub reading: Reading,
    /// Read every part, decompressed, and print its SHA-256
    #[arg(long)]
    pub sha256: bool,
    /// A file or directory; - for stdin
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
}

/// What `cat` prints, and how.
#[derive(clap::Args)]
pub struct Selection {
    /// A file or directory; - for stdin
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// One JSON object a record
    #[arg(long)]
    pub json: bool,
    /// Write raw bytes even to a terminal
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub rdf: RdfSelect,
    #[command(flatten)]
    pub rtc: RtcSelect,
    #[command(flatten)]
    pub rfr: RfrSelect,
}

impl Selection {
    /// Refuses options that select parts of another format.
    pub fn refuse_foreign(&self, format: Format) -> Result<()> {
        let given = [
            (Format::Rdf, self.rdf != RdfSelect::default(), "--chunk, --entry, --header and --stored"),
            (Format::Rtc, self.rtc != RtcSelect::default(), "--stream and --raw"),
            (
                Format::Rfr,
                self.rfr != RfrSelect::default(),
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

/// Which part of an RDF file `cat` prints.
#[derive(clap::Args, Default, PartialEq)]
#[command(next_help_heading = "RDF")]
pub struct RdfSelect {
    /// The chunk with this identifier
    #[arg(long, value_name = "ID", conflicts_with = "entry")]
    pub chunk: Option<String>,
    /// The N-th chunk of that identifier, from 0
    #[arg(long, value_name = "N", requires = "chunk")]
    pub index: Option<usize>,
    /// The chunk of the N-th index entry, from 0
    #[arg(long, value_name = "N")]
    pub entry: Option<usize>,
    /// The chunk's header instead of its data
    #[arg(long, conflicts_with = "stored")]
    pub header: bool,
    /// The data as stored, not decompressed
    #[arg(long)]
    pub stored: bool,
}

/// Which part of an RTC file `cat` prints.
#[derive(clap::Args, Default, PartialEq)]
#[group(id = "rtc")]
#[command(next_help_heading = "RTC")]
pub struct RtcSelect {
    /// The stream of this name, or of this number
    #[arg(long, value_name = "NAME|ID")]
    pub stream: Option<String>,
    /// The payload bytes of the stream, one after the other
    #[arg(long, requires = "stream", conflicts_with = "json")]
    pub raw: bool,
}

/// Which records of a recording `cat` prints.
#[derive(clap::Args, Default, PartialEq)]
#[group(id = "rfr")]
#[command(next_help_heading = "RFR")]
pub struct RfrSelect {
    /// Tasks and spans as well
    #[arg(long)]
    pub objects: bool,
    /// The callsites, and nothing else
    #[arg(long, conflicts_with_all = ["objects", "merge", "from", "to", "task", "kind"])]
    pub callsites: bool,
    /// Ordered by time
    #[arg(long)]
    pub merge: bool,
    /// From this time on: microseconds since the Unix epoch, or seconds from the start as +1.5
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    pub from: Option<Time>,
    /// Up to this time, which is not included
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    pub to: Option<Time>,
    /// Of the task with this name or instrumentation id
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
    /// Of this kind, such as TaskPollStart; several with commas
    #[arg(long, value_name = "KIND", value_parser = kind, value_delimiter = ',')]
    pub kind: Vec<RecordKind>,
}

/// A time as given on the command line, in microseconds.
#[derive(Clone, Copy, PartialEq)]
pub enum Time {
    SinceEpoch(u64),
    SinceStart(u64),
}

fn time(text: &str) -> Result<Time, String> {
    let Some(seconds) = text.strip_prefix('+') else {
        let wrong =
            |_| "neither microseconds since the Unix epoch nor seconds from the start, as +1.5".to_owned();
        return text.parse().map(Time::SinceEpoch).map_err(wrong);
    };
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    if fraction.len() > 6 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("at most 6 digits may follow the point".into());
    }
    let whole: u64 = whole.parse().map_err(|_| "not a number of seconds".to_owned())?;
    let fraction: u64 = format!("{fraction:0<6}").parse().unwrap_or(0);
    let micros = whole.checked_mul(1_000_000).and_then(|micros| micros.checked_add(fraction));
    micros.map(Time::SinceStart).ok_or_else(|| "too large".to_owned())
}

fn kind(text: &str) -> Result<RecordKind, String> {
    // Writers name it so.
    if text.eq_ignore_ascii_case("TaskNew") {
        return Ok(RecordKind::NewTask);
    }
    let found = RecordKind::ALL.iter().copied().find(|kind| kind.name().eq_ignore_ascii_case(text));
    found.ok_or_else(|| {
        let names: Vec<_> = RecordKind::ALL.iter().map(|kind| kind.name()).collect();
        format!("one of {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        assert!(time("1795225315215309") == Ok(Time::SinceEpoch(1_795_225_315_215_309)));
        assert!(time("+1.5") == Ok(Time::SinceStart(1_500_000)));
        assert!(time("+0.000001") == Ok(Time::SinceStart(1)));
        assert!(time("+7") == Ok(Time::SinceStart(7_000_000)));
        for wrong in ["", "-1", "+", "+1.0000001", "+1.+5", "+x", "1.5", "+99999999999999999"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn kinds_are_known_by_both_names() {
        assert_eq!(kind("taskpollstart"), Ok(RecordKind::TaskPollStart));
        assert_eq!((kind("NewTask"), kind("TaskNew")), (Ok(RecordKind::NewTask), Ok(RecordKind::NewTask)));
        assert!(kind("Poll").is_err());
    }
}
