//! The things that `export` is given: events, or parts with their content.

use super::damage::{Damage, DamageExt as _};
use super::select::Select;
use super::time::Window;
use crate::status::{Failure, Result, Status};
use std::path::{Path, PathBuf};
use traceglass::Format;
use traceglass::event::{Event, Item};

/// The damage of a trace, while the rest was exported.
pub struct Outcome {
    pub status: Status,
    pub damage: Damage,
}

impl From<Damage> for Outcome {
    fn from(damage: Damage) -> Self {
        Self { status: damage.status(), damage }
    }
}

/// Takes tracks and events, in the order of time.
pub trait Events {
    fn item(&mut self, item: &Item<'_>) -> Result<()>;

    /// An event that came to begin or end states and slices, which are items of their own.
    fn taken(&mut self, _event: &Event<'_>) -> Result<()> {
        Ok(())
    }

    /// Counts bytes that have been read.
    fn advance(&mut self, bytes: u64);
}

/// A part of a trace, such as a chunk or a stream.
#[derive(Clone, Copy, Default)]
pub struct Part<'p> {
    /// The kind of part: `chunk`, `stream`, `metadata` …
    pub kind: &'static str,
    /// The name that the trace gives it, if it has one.
    pub name: Option<&'p str>,
    /// The bytes of the name, where text does not say all of them.
    pub name_bytes: Option<&'p [u8]>,
    /// The number that tells it from others of the same kind.
    pub number: u64,
    /// The version that the trace gives it, if it does.
    pub version: Option<u32>,
    /// The file of the trace in which it is, if that has several.
    pub path: Option<&'p Path>,
    /// The offset in that file, if it lies in one place.
    pub offset: Option<u64>,
    /// The folder and the name of its file, for parts that are read by other tools as they lie.
    pub place: Option<(&'p str, &'p str)>,
}

/// The number that a part was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartId(pub usize);

/// Takes parts with their content. Several can be open at a time.
pub trait Parts {
    /// Begins a part.
    fn part(&mut self, part: &Part<'_>) -> Result<PartId>;

    /// A part whose content is that of an earlier one of the same kind, with this number.
    fn same(&mut self, part: &Part<'_>, of: u64) -> Result<()>;

    /// More of its content.
    fn write(&mut self, part: PartId, data: &[u8]) -> Result<()>;

    /// Says that what is missing of the part could not be read.
    fn cut(&mut self, part: PartId, why: &str);

    /// Ends a part. Parts that are still open end with the trace.
    fn end(&mut self, part: PartId) -> Result<()>;

    /// Counts bytes that have been read.
    fn advance(&mut self, bytes: u64);

    /// A part whose content is at hand, and was read for it.
    fn whole(&mut self, part: &Part<'_>, content: &[u8]) -> Result<()> {
        let id = self.part(part)?;
        self.write(id, content)?;
        self.end(id)?;
        self.advance(content.len() as u64);
        Ok(())
    }
}

/// The error that a format has no events to be exported.
pub fn no_events(format: Format) -> Failure {
    Failure::unreadable(format!(
        "{format} has no events to be exported; `--format files` extracts what is in it"
    ))
}

/// The traces that `export` converts, and the target.
#[derive(clap::Args, Default)]
pub struct Export {
    /// The format to write
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Target,
    #[command(flatten)]
    pub window: Window,
    /// Where to write: a file for perfetto, chrome, arrow and csv, a new directory for files and parquet; - is stdout
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// The table to write for arrow and csv; events by default
    #[arg(long, value_name = "TABLE")]
    pub table: Option<String>,
    #[command(flatten)]
    pub select: Select,
    /// Overwrite a file that exists; write raw bytes even to a terminal
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub pairing: super::Pairing,
    #[command(flatten)]
    pub reading: super::Reading,
    #[command(flatten)]
    pub privacy: super::Privacy,
    /// Files or directories; - for stdin
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
}

/// The formats that `export` writes.
#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Target {
    /// A trace for ui.perfetto.dev and Perfetto's trace processor
    #[default]
    Perfetto,
    /// Chrome's trace events (JSON), for speedscope, chrome://tracing and others
    Chrome,
    /// Every part of a trace as a file, and a manifest of them
    Files,
    /// A table as an Arrow IPC stream
    Arrow,
    /// A table as comma-separated values (RFC 4180)
    Csv,
    /// All tables as Parquet files, a directory each
    Parquet,
}
