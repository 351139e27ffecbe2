//! `traceglass view`

use crate::export::page::{self, Page};
use crate::output::Out;
use crate::status::{Failure, Result, Status};
use crate::trace::{Open, OpenBrowse, Reading};
use crate::view::{self, View};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Look around in a trace of any size, on a terminal
///
/// A timeline, and the records below it; all of one record, its bytes and the parts of the file open beside them. All follow
/// one cursor, which is a byte. Nothing is read before the first screen is there. `?` shows the keys.
///
/// A file is mapped. One that others shorten meanwhile is opened again; where that is noticed too late, the viewer ends
/// with a message. What others write over is better read with --no-map.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Read the files instead of mapping them: they may change, and need as much memory as they are long
    #[arg(long)]
    no_map: bool,
    /// Write a page with the trace inside instead: one file, up to 64 MiB of trace, that a browser opens without a network
    #[arg(long, value_name = "OUT")]
    web: Option<PathBuf>,
    /// The page that the trace is put into, as bindings/web builds it; else the one that this command was built with
    #[arg(long, value_name = "FILE", requires = "web")]
    page: Option<PathBuf>,
    /// Overwrite a page that exists
    #[arg(long, requires = "web")]
    force: bool,
    #[command(flatten)]
    reading: Reading,
    /// A file or directory
    #[arg(value_name = "PATH")]
    path: PathBuf,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass view trace.rtc
  traceglass view recording/                 then :+1.5s, or /main, or !
  ssh target traceglass view /var/log/trace.rtc
  traceglass view --web crash.html a.rgd     a page to send";

pub fn run(args: &Args, open: Open, browse: OpenBrowse, out: &mut Out) -> Result<Status> {
    if let Some(output) = &args.web {
        let Args { path, page, force, reading, .. } = args;
        return page::write(
            &Page { path, output, page: page.as_deref(), force: *force, reading: *reading },
            open,
        );
    }
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return Err(Failure::usage(
            "view needs a terminal; `traceglass info` and `traceglass cat` do without",
        ));
    }
    if args.path == Path::new("-") {
        return Err(Failure::usage("view reads its keys from stdin: save what comes there in a file"));
    }
    if args.no_map {
        crate::input::map_nothing();
    }
    #[cfg(unix)]
    crate::signals::keep_terminal();
    let color = out.is_colored();
    match view::run(&View { path: &args.path, reading: args.reading, color, open, browse }) {
        Err(failure @ Failure::Unreadable(_)) => {
            out.complain_of(&args.path, &failure);
            Ok(Status::Failed)
        }
        Err(failure) => Err(failure),
        Ok(never) => match never {},
    }
}
