//! `traceglass man`

use crate::output::Out;
use crate::reference;
use crate::status::{Failure, Result, Status};
use clap::CommandFactory;
use clap_mangen::Man;

/// Print the manual page, for `man -l -` or to be installed
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Print the page of this verb; or with json, that of the JSON output
    #[arg(value_name = "VERB")]
    verb: Option<String>,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass man | man -l -
  traceglass man json | man -l -
  traceglass man hex > ~/.local/share/man/man1/traceglass-hex.1";

pub fn run<C: CommandFactory>(args: &Args, out: &mut Out) -> Result<Status> {
    let mut command = C::command();
    // Verbs get their whole name, and what is global to all, only then.
    command.build();
    if args.verb.as_deref() == Some("json") {
        out.own(reference::manual().as_bytes())?;
        return Ok(Status::Clean);
    }
    if let Some(verb) = &args.verb {
        let unknown = || Failure::usage(format!("there is no verb {verb}; `traceglass help` lists them"));
        command = command.find_subcommand(verb).cloned().ok_or_else(unknown)?;
    }
    let mut page = Vec::new();
    let version = concat!("traceglass ", env!("CARGO_PKG_VERSION"));
    Man::new(command).source(version).manual("traceglass").render(&mut page)?;
    // The text after the options has headings of its own, and keeps its lines.
    let page = String::from_utf8_lossy(&page).replace(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n.nf\n");
    out.own(page.replace("\nExit status:\n", "\n.SH \"EXIT STATUS\"\n.nf\n").as_bytes())?;
    Ok(Status::Clean)
}
