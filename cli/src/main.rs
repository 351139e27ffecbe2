//! The `traceglass` command; all of it is in the library beside it, so that tests can run it in-process.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(traceglass_cli::run(std::env::args_os(), traceglass_cli::Console::standard()))
}
