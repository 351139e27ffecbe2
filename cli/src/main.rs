//! The `traceglass` command; all of it is in the library beside it, so that tests can run it in-process.

use std::process::ExitCode;

fn main() -> ExitCode {
    traceglass_cli::watch_signals();
    let run = || traceglass_cli::run(std::env::args_os(), traceglass_cli::Console::standard());
    match traceglass_cli::on_large_stack(run) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("traceglass: no thread can be started: {error}");
            ExitCode::FAILURE
        }
    }
}
