//! The `traceglass` command: what a trace file is, what is in it, where it is damaged.
//!
//! A verb is one file in `verbs`, a format is one file in `formats`.

mod formats;
mod input;
mod json;
mod output;
mod parallel;
mod progress;
mod status;
mod table;
mod verbs;

use clap::{Parser, Subcommand};
use output::{Color, Out};
use status::Failure;
use std::process::ExitCode;

/// Look at a trace without moving it.
///
/// Reads RDF (.rmv .rra .rgd .rgp), RTC, CTF 2 metadata and RFR, told by their content, never by their name. Of what is
/// damaged everything is read that can be, and what was lost is said.
#[derive(Parser)]
#[command(name = "traceglass", version, max_term_width = 100, after_help = AFTER)]
struct Cli {
    /// Colour: always, never, or auto, which is on a terminal unless NO_COLOR is set
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_possible_values = true,
        hide_default_value = true
    )]
    color: Color,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Info(verbs::info::Args),
    Ls(verbs::ls::Args),
    Cat(Box<verbs::cat::Args>),
    Check(verbs::check::Args),
    Hex(verbs::hex::Args),
    Completions(verbs::completions::Args),
    Man(verbs::man::Args),
}

const AFTER: &str = "\
\x1b[1;4mExamples:\x1b[0m
  traceglass info trace.rtc                what it is, and whether it is whole
  traceglass ls --sha256 scene.rgp         its parts, with a hash of each
  traceglass cat --chunk AsicInfo a.rmv    one of them, decompressed
  traceglass check --json *.rmv | jq .     every finding, for a script
  traceglass hex --at 0x400 trace.rtc      which field is at that offset

\x1b[1;4mExit status:\x1b[0m
  0  done, and nothing is wrong
  1  could not: unreadable, or not a known format
  2  the command line is wrong
  3  done, but the input is damaged; what could be read was printed";

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = Out::new(cli.color);
    let done = match &cli.verb {
        Verb::Info(args) => verbs::info::run(args, &mut out),
        Verb::Ls(args) => verbs::ls::run(args, &mut out),
        Verb::Cat(args) => verbs::cat::run(args, &mut out),
        Verb::Check(args) => verbs::check::run(args, &mut out),
        Verb::Hex(args) => verbs::hex::run(args, &mut out),
        Verb::Completions(args) => verbs::completions::run::<Cli>(args, &mut out),
        Verb::Man(args) => verbs::man::run::<Cli>(args, &mut out),
    };
    match done.and_then(|status| out.finish().map(|()| status)) {
        Ok(status) => status.into(),
        // The reader has seen enough.
        Err(Failure::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            // What was found before the failure is still delivered.
            let _ = out.finish();
            out.complain(&failure);
            failure.status().into()
        }
    }
}
