//! What is asked of a trace: how it is read, and which part of it is printed.

use super::time::Window;
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
    /// Whether the name of the computer and the list of its processes are shown.
    #[arg(skip)]
    pub private: bool,
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
    pub window: Window,
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
            (
                Format::Rdf,
                self.rdf != RdfSelect::default(),
                "--chunk, --entry, --header, --stored and --records",
            ),
            (Format::Rtc, self.rtc != RtcSelect::default(), "--stream and --raw"),
            (
                Format::Rfr,
                self.rfr != RfrSelect::default(),
                "--objects, --callsites, --merge, --task and --kind",
            ),
        ];
        match given.iter().find(|&&(of, given, _)| given && of != format) {
            Some((of, _, options)) => {
                Err(Failure::usage(format!("this is {format}, and {options} select from {of}")))
            }
            None => Ok(()),
        }
    }

    /// Refuses a range of time, for what has none.
    pub fn refuse_window(&self, why: &str) -> Result<()> {
        if self.window.is_everything() {
            Ok(())
        } else {
            Err(Failure::usage(format!("--from and --to: {why}")))
        }
    }
}

impl Listing {
    /// Refuses `--sha256`, for what has no parts with bytes of their own.
    pub fn refuse_sha256(&self, why: &str) -> Result<()> {
        if self.sha256 { Err(Failure::usage(format!("--sha256: {why}"))) } else { Ok(()) }
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
    /// What is in the chunk, one record a line; --json gives the same as JSON
    #[arg(long)]
    pub records: bool,
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
    #[arg(long, conflicts_with_all = ["objects", "merge", "window", "task", "kind"])]
    pub callsites: bool,
    /// Ordered by time
    #[arg(long)]
    pub merge: bool,
    /// Of the task with this name or instrumentation id
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
    /// Of this kind, such as TaskPollStart; several with commas
    #[arg(long, value_name = "KIND", value_parser = kind, value_delimiter = ',')]
    pub kind: Vec<RecordKind>,
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
    fn kinds_are_known_by_both_names() {
        assert_eq!(kind("taskpollstart"), Ok(RecordKind::TaskPollStart));
        assert_eq!((kind("NewTask"), kind("TaskNew")), (Ok(RecordKind::NewTask), Ok(RecordKind::NewTask)));
        assert!(kind("Poll").is_err());
    }
}
