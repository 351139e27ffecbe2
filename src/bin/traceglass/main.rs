//! The `traceglass` command: what a trace file is, what is in it, where it is damaged.
//!
//! A verb is one file in `verbs`, a format is one file in `formats`.

mod formats;
mod input;
mod output;
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
/// Reads RDF (.rmv .rra .rgd .rgp), RTC, CTF 2 metadata and RFR, told by their content. Exit status: 0 done, 1 could
/// not, 2 usage, 3 done but the input is damaged.
#[derive(Parser)]
#[command(version, max_term_width = 100)]
struct Cli {
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
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
}

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
