//! `traceglass view`

use crate::export::page::{self, Page};
use crate::output::Out;
use crate::status::{Failure, Result, Status};
use crate::trace::{Open, Privacy, Reading};
use crate::view::{self, View};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Browse a trace of any size on a terminal
///
/// The screen shows a timeline and the records below it; beside them all of one record, its bytes and the parts of the
/// file. All follow one cursor, which is a byte. Nothing is read before the first screen is there. `?` shows the keys.
///
/// Files are mapped. A file that becomes shorter meanwhile is opened again; if that is noticed too late, the viewer
/// ends with a message. Use --no-map for files that others overwrite.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Read the files instead of mapping them: they may then be changed, but take as much memory as they are long
    #[arg(long)]
    no_map: bool,
    /// Instead, write a page with the trace inside: one file, for up to 64 MiB of trace, that a browser opens without a
    /// network
    #[arg(long, value_name = "OUT")]
    web: Option<PathBuf>,
    /// The page that the trace is put into, as bindings/web builds it; by default the built-in one
    #[arg(long, value_name = "FILE", requires = "web")]
    page: Option<PathBuf>,
    /// Overwrite a page that exists
    #[arg(long, requires = "web")]
    force: bool,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    privacy: Privacy,
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

pub fn run(args: &Args, width: Option<u16>, open: Open, out: &mut Out) -> Result<Status> {
    if let Some(output) = &args.web {
        let Args { path, page, force, reading, .. } = args;
        args.privacy.hide(std::slice::from_ref(path), *reading, open)?;
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
    args.privacy.hide(std::slice::from_ref(&args.path), args.reading, open)?;
    #[cfg(unix)]
    crate::signals::keep_terminal();
    let color = out.is_colored();
    match view::run(&View { path: &args.path, reading: args.reading, color, width, open }) {
        Err(failure) => out.failed(&args.path, failure),
        Ok(never) => match never {},
    }
}
