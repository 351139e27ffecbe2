//! The `traceglass` command: what a trace file is, what is in it, where it is damaged.
//!
//! A verb is one file in `verbs`, a format is one folder in `formats`. Both know `trace`, which says what a format must
//! answer; neither knows the other, and this file joins them.
//!
//! This is no library for others: it is the command, apart from its `main`, for its own tests and for the page in
//! `bindings/web`. Use the crate `traceglass`.

#![deny(clippy::undocumented_unsafe_blocks)]
// A page has some of the verbs, and writes no files.
#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports))]
// A trace that makes the command panic is a vulnerability, as it is in the library.
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::string_slice,
        clippy::unreachable,
        clippy::unwrap_used,
    )
)]

mod budget;
mod console;
#[cfg_attr(target_family = "wasm", path = "page/disk.rs")]
mod disk;
mod escape;
mod export;
mod folder;
mod formats;
mod input;
mod json;
mod look_back;
mod measure;
mod output;
#[cfg(any(target_family = "wasm", test))]
pub mod page;
mod parallel;
mod pipe;
#[cfg_attr(target_family = "wasm", path = "page/progress.rs")]
mod progress;
#[cfg(test)]
#[path = "../../tests/common/random.rs"]
mod random;
mod record;
mod redacted;
pub mod reference;
mod rewrite;
#[cfg(unix)]
mod signals;
mod slices;
mod states;
mod stats;
mod status;
mod style;
mod table;
#[cfg(feature = "tables")]
pub mod tables;
#[cfg_attr(target_family = "wasm", path = "page/threads.rs")]
mod threads;
mod trace;
mod verbs;
#[cfg(feature = "view")]
mod view;

pub use console::Console;

use clap::{Parser, Subcommand};
use output::{Color, Out};
use std::ffi::OsString;

/// False in a page, which asks for records alone, has nothing to follow or to hide, and nowhere to write to.
const IS_COMMAND: bool = !cfg!(target_family = "wasm");

/// Look at a trace without moving it.
///
/// Reads RDF (.rmv .rra .rgd .rgp), RTC, CTF 1.8 and 2, RFR and dial9. The format is recognized by content, never by
/// name. From a damaged file everything readable is read, and every loss is reported.
#[derive(Parser)]
#[command(name = "traceglass", version, max_term_width = 100, after_help = AFTER)]
struct Cli {
    /// Colour: always, never, or auto: on a terminal unless NO_COLOR is set
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
    /// Width of the screen in columns, instead of that of the terminal
    #[arg(long, global = true, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(1..))]
    width: Option<u16>,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Info(verbs::info::Args),
    Ls(verbs::ls::Args),
    Cat(Box<verbs::cat::Args>),
    Stats(Box<verbs::stats::Args>),
    Check(verbs::check::Args),
    Hex(verbs::hex::Args),
    Export(verbs::export::Args),
    Cut(verbs::cut::Args),
    Recover(verbs::recover::Args),
    Merge(verbs::merge::Args),
    Create(verbs::create::Args),
    Append(verbs::append::Args),
    Compile(verbs::compile::Args),
    #[cfg(feature = "view")]
    View(verbs::view::Args),
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
  traceglass export --format perfetto -o a.pftrace recording/

\x1b[1;4mExit status:\x1b[0m
  0  done, and nothing is wrong
  1  could not: unreadable, or not a known format
  2  the command line is wrong
  3  done, but the input is damaged; what could be read was printed";

/// The reference of the command, as Markdown.
pub fn reference_page() -> String {
    let mut command = <Cli as clap::CommandFactory>::command();
    // Verbs get their whole name, and what is global to all, only then.
    command.build();
    reference::markdown(&command)
}

/// Does `work` on a thread whose stack is large enough for [`run`], whatever the system gives to others.
pub fn on_large_stack<R: Send>(work: impl FnOnce() -> R + Send) -> std::io::Result<R> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(parallel::STACK).spawn_scoped(scope, work)?;
        thread.join().or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Has unfinished files removed and the terminal given back when a signal ends the process: for the command's own one,
/// once, before [`run`].
pub fn watch_signals() {
    #[cfg(unix)]
    signals::watch();
}

/// Runs the command with its arguments, the first of which is its own name; gives the exit status.
pub fn run(args: impl IntoIterator<Item = OsString>, console: Console) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return refuse(&args, &error, console),
    };
    let mut out =
        Out::new(cli.color, Console { width: cli.width.map_or(console.width, usize::from), ..console });
    let open = formats::open;
    input::keep_none();
    let done = match &cli.verb {
        Verb::Info(args) => verbs::info::run(args, open, &mut out),
        Verb::Ls(args) => verbs::ls::run(args, open, &mut out),
        Verb::Cat(args) => verbs::cat::run(args, open, &mut out),
        Verb::Stats(args) => verbs::stats::run(args, open, &mut out),
        Verb::Check(args) => verbs::check::run(args, open, &mut out),
        Verb::Hex(args) => verbs::hex::run(args, open, &mut out),
        Verb::Export(args) => verbs::export::run(args, open, &mut out),
        Verb::Cut(args) => verbs::cut::run(args, open, &mut out),
        Verb::Recover(args) => verbs::recover::run(args, open, &mut out),
        Verb::Merge(args) => verbs::merge::run(args, open, formats::merge, &mut out),
        Verb::Create(args) => verbs::create::run(args, open, formats::create, &mut out),
        Verb::Append(args) => verbs::append::run(args, open, formats::append, &mut out),
        Verb::Compile(args) => verbs::compile::run(args, open, &mut out),
        #[cfg(feature = "view")]
        Verb::View(args) => verbs::view::run(args, cli.width, open, &mut out),
        Verb::Completions(args) => verbs::completions::run::<Cli>(args, &mut out),
        Verb::Man(args) => verbs::man::run::<Cli>(args, &mut out),
    };
    conclude(done, &mut out)
}

/// Says how a run ended. Gives the exit status.
fn conclude(done: status::Result<status::Status>, out: &mut Out) -> u8 {
    progress::finish();
    match done.and_then(|status| out.finish().map(|()| status)) {
        Ok(status) => {
            out.tell_hidden();
            status.code()
        }
        // The reader has seen enough.
        Err(failure) if failure.is_closed_pipe() => 0,
        Err(failure) => {
            // Output from before the failure is still delivered.
            let _ = out.finish();
            out.complain(&failure);
            failure.code()
        }
    }
}

/// The colour that arguments ask for which are not understood.
fn color_of(args: &[OsString]) -> Color {
    let words: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).take_while(|arg| arg != "--").collect();
    let apart = words.windows(2).filter_map(|pair| match pair {
        [option, value] if option == "--color" => Some(value.as_ref()),
        _ => None,
    });
    let mut values = words.iter().filter_map(|word| word.strip_prefix("--color=")).chain(apart);
    let value = values.find_map(|value| <Color as clap::ValueEnum>::from_str(value, false).ok());
    value.unwrap_or_default()
}

/// Prints why the arguments are not understood, or the help that they ask for.
fn refuse(args: &[OsString], error: &clap::Error, console: Console) -> u8 {
    let color = color_of(args);
    if !error.use_stderr() {
        let mut out = Out::new(color, console);
        let text = error.render();
        let text = if out.is_colored() { text.ansi().to_string() } else { text.to_string() };
        return conclude(out.own(text.as_bytes()).map(|()| status::Status::Clean), &mut out);
    }
    // clap repeats what it was given: it is given what may be repeated.
    let safe = args.iter().map(|arg| OsString::from(escape::printable(&arg.to_string_lossy())));
    let mut out = Out::new(color, console);
    match Cli::try_parse_from(safe) {
        Err(error) if error.use_stderr() => out.message(&error.render().to_string()),
        _ => out.message("error: the arguments are not understood"),
    }
    2
}
