//! Options about a trace: how it is read, and which part of it is printed.

use super::redact::Privacy;
use super::select::Select;
use super::time::{LookBack, Window};
use crate::record::Shape;
use crate::status::{Failure, Result};
use std::path::PathBuf;
use traceglass::Format;
use traceglass::rfr::RecordKind;

/// Options about how a trace is read.
#[derive(clap::Args, Clone, Copy, Default)]
pub struct Reading {
    /// Accept two mistakes of CTF 2 producers: a header of 37 bytes for version 2, and a change of byte order
    #[arg(long)]
    pub lenient: bool,
    /// CTF: read data files as captures, in which streams are mixed and bytes may be missing; the default for files
    /// that look like captures
    #[arg(long, conflicts_with = "no_wire")]
    pub wire: bool,
    /// CTF: read each file as one stream, whatever it looks like
    #[arg(long)]
    pub no_wire: bool,
    /// CTF: read data files as captures from byte N on, for example after a banner
    #[arg(long, value_name = "N", conflicts_with = "no_wire")]
    pub skip: Option<u64>,
}

impl Reading {
    /// Refuses options of CTF for a trace of another format.
    pub fn refuse_foreign(self, format: Format) -> Result<()> {
        let is_given = self.lenient || self.wire || self.no_wire || self.skip.is_some();
        if is_given && !matches!(format, Format::Ctf1 | Format::Ctf2) {
            return Err(Failure::usage(format!(
                "this is {format}, and --lenient, --wire, --no-wire and --skip are of CTF"
            )));
        }
        Ok(())
    }
}

/// The events that make slices.
#[derive(clap::Args, Clone, Default)]
pub struct Pairing {
    /// A table of pairs of events that make slices; its rules come before the built-in ones
    #[arg(long, value_name = "FILE")]
    pub states: Option<PathBuf>,
    /// Pair no CTF events: they stay instants
    #[arg(long, conflicts_with = "states")]
    pub no_states: bool,
    /// How much to read before --from for slices that are open then: 5s, 16MiB or all
    #[arg(long, value_name = "EXTENT", default_value = "64MiB", value_parser = LookBack::parse, requires = "from")]
    pub look_back: LookBack,
}

/// The parts that `ls` lists, and their form.
#[derive(clap::Args, Default)]
pub struct Listing {
    /// A file or directory; - for stdin
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// One JSON object a part
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub reading: Reading,
    /// Read every part, decompressed, and print its SHA-256
    #[arg(long)]
    pub sha256: bool,
    #[command(flatten)]
    pub window: Window,
    #[command(flatten)]
    pub privacy: Privacy,
    #[command(flatten)]
    pub ctf: CtfListing,
}

/// The parts of a CTF trace that `ls` lists.
#[derive(clap::Args, Clone, Copy, Default, PartialEq)]
#[group(id = "ctf-listing")]
#[command(next_help_heading = "CTF")]
pub struct CtfListing {
    /// The packets of each stream
    #[arg(long, conflicts_with = "fragments")]
    pub packets: bool,
    /// The fragments of the metadata
    #[arg(long)]
    pub fragments: bool,
}

/// The content that `cat` prints, and its form.
#[derive(clap::Args, Default)]
pub struct Selection {
    /// A file or directory; - for stdin
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// One JSON object a record
    #[arg(long)]
    pub json: bool,
    /// Print slices instead of records: what lasted, on which track, from when to when
    #[arg(long, conflicts_with_all = OF_RECORDS)]
    pub slices: bool,
    /// With --slices: a tree for each track, in which a slice stands below the one that it lies in. It is printed when
    /// the outermost slice ends
    #[arg(long, requires = "slices")]
    pub tree: bool,
    #[command(flatten)]
    pub pairing: Pairing,
    /// Print bytes as they are: those of a chunk of RDF, which is the default there, or of a stream of RTC
    #[arg(long, conflicts_with_all = ["json", "name", "track", "cpu", "thread", "task"])]
    pub raw: bool,
    /// Write raw bytes even to a terminal
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub reading: Reading,
    /// After the last record, wait for more, as `tail -f`
    #[arg(short, long, conflicts_with = "redact")]
    pub follow: bool,
    #[command(flatten)]
    pub window: Window,
    #[command(flatten)]
    pub select: Select,
    /// A column with the time since the line before, in seconds
    #[arg(long, conflicts_with_all = ["json", "raw", "slices"])]
    pub delta: bool,
    /// Times of the zone of this computer, or of the one that TZ names, with their offset, instead of UTC
    #[arg(long, conflicts_with_all = ["json", "raw", "slices"])]
    pub local: bool,
    #[command(flatten)]
    pub privacy: Privacy,
    #[command(flatten)]
    pub rdf: RdfSelect,
    #[command(flatten)]
    pub ctf: CtfSelect,
    #[command(flatten)]
    pub rfr: RfrSelect,
}

/// The options that select records, or bytes: a slice may be of records of several streams and processors.
const OF_RECORDS: [&str; 16] = [
    "raw",
    "follow",
    "chunk",
    "index",
    "entry",
    "header",
    "stored",
    "records",
    "all",
    "metadata",
    "context",
    "gaps",
    "objects",
    "callsites",
    "merge",
    "kind",
];

impl Selection {
    /// The lines that are printed, and their form.
    pub fn shape(&self) -> Shape {
        Shape { json: self.json, names: self.select.names(), delta: self.delta, local: self.local }
    }

    /// Refuses options that select parts of another format, and a range that ends before it begins.
    pub fn refuse_foreign(&self, format: Format) -> Result<()> {
        self.window.refuse_reversed()?;
        self.reading.refuse_foreign(format)?;
        if !self.slices && (self.pairing.states.is_some() || self.pairing.no_states) {
            return Err(Failure::usage("--states and --no-states are about slices: say --slices"));
        }
        self.select.refuse_foreign(format, !self.slices)?;
        let is_of_slices = !self.select.track.is_empty() || !self.select.thread.is_empty();
        if is_of_slices && !self.slices {
            return Err(Failure::usage(
                "--track and --thread are about slices: say --slices. Records are selected by --stream, --cpu and --task",
            ));
        }
        let ctf = self.ctf != CtfSelect::default();
        if ctf && !matches!(format, Format::Ctf1 | Format::Ctf2) {
            return Err(Failure::usage(format!(
                "this is {format}, and --metadata, --context, --gaps and --show-cpu are of CTF"
            )));
        }
        let given = [
            (
                Format::Rdf,
                self.rdf != RdfSelect::default(),
                "--chunk, --entry, --header, --stored, --records and --all",
            ),
            (Format::Rfr, self.rfr != RfrSelect::default(), "--objects, --callsites, --merge and --kind"),
        ];
        if self.raw {
            let says = match format {
                Format::Rtc if self.select.stream.is_none() => "--raw: select the stream with --stream",
                Format::Rtc | Format::Rdf => "",
                _ => "--raw: only chunks of RDF and streams of RTC have bytes of their own",
            };
            if !says.is_empty() {
                return Err(Failure::usage(says));
            }
        }
        match given.iter().find(|&&(of, given, _)| given && of != format) {
            Some((of, _, options)) => {
                Err(Failure::usage(format!("this is {format}, and {options} select from {of}")))
            }
            None => Ok(()),
        }
    }

    /// Refuses `--follow`, for what does not grow at its end.
    pub fn refuse_follow(&self, why: &str) -> Result<()> {
        if self.follow { Err(Failure::usage(format!("--follow: {why}"))) } else { Ok(()) }
    }
}

impl Listing {
    /// Refuses options of another format, and a range that ends before it begins.
    pub fn refuse_foreign(&self, format: Format) -> Result<()> {
        self.window.refuse_reversed()?;
        self.reading.refuse_foreign(format)?;
        if self.ctf != CtfListing::default() && !matches!(format, Format::Ctf1 | Format::Ctf2) {
            return Err(Failure::usage(format!(
                "this is {format}, and --packets and --fragments are of CTF"
            )));
        }
        Ok(())
    }

    /// Refuses `--sha256`, for what has no parts with bytes of their own.
    pub fn refuse_sha256(&self, why: &str) -> Result<()> {
        if self.sha256 { Err(Failure::usage(format!("--sha256: {why}"))) } else { Ok(()) }
    }
}

/// The part of an RDF file that `cat` prints.
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
    /// The records in the chunk, one a line; --json gives the same as JSON
    #[arg(long)]
    pub records: bool,
    /// Every chunk as a file in a new directory, as `export --format files`
    #[arg(long, requires = "output", conflicts_with_all = ["chunk", "entry", "header", "stored", "records", "json", "name", "from", "to", "cpu", "task", "stream"])]
    pub all: bool,
    /// The directory for --all
    #[arg(short, long, value_name = "DIR", requires = "all")]
    pub output: Option<PathBuf>,
}

/// The content of a CTF trace that `cat` prints.
#[derive(clap::Args, Default, PartialEq)]
#[group(id = "ctf")]
#[command(next_help_heading = "CTF")]
pub struct CtfSelect {
    /// The text of the metadata instead of the events; with --json its fragments
    #[arg(long, conflicts_with_all = ["name", "cpu", "stream"])]
    pub metadata: bool,
    /// With --json: each event with the context of its packet
    #[arg(long, requires = "json", conflicts_with = "metadata")]
    pub context: bool,
    /// The bytes between the packets of a capture, and the text in them
    #[arg(long, conflicts_with = "metadata")]
    pub gaps: bool,
    /// A column with the processor, if the trace says which one
    #[arg(long, conflicts_with_all = ["json", "slices", "metadata"])]
    pub show_cpu: bool,
}

/// The records of a recording that `cat` prints.
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
    /// Ordered by time, which is the default
    #[arg(long)]
    pub merge: bool,
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
