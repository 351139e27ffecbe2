//! The events of a dial9 file, a line each, as dial9's own crate reads them.

use dial9_trace_format::decoder::Decoder;
use std::io::{BufWriter, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("readers FILE");
        return ExitCode::from(2);
    };
    let data = match std::fs::read(&path) {
        Ok(data) => data,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    };
    let Some(mut decoder) = Decoder::new(&data) else {
        eprintln!("{}: no header", path.display());
        return ExitCode::FAILURE;
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut written = Ok(());
    let read = decoder.for_each_event(|event| {
        if written.is_ok() {
            written = writeln!(out, "{} {} {:?}", event.timestamp_ns, event.name, event.fields);
        }
    });
    match (read.map_err(|error| error.to_string()), written.and_then(|()| out.flush())) {
        (Ok(()), Ok(())) => ExitCode::SUCCESS,
        (Err(error), _) => {
            eprintln!("{}: {error}", path.display());
            ExitCode::FAILURE
        }
        (_, Err(error)) => {
            eprintln!("stdout: {error}");
            ExitCode::FAILURE
        }
    }
}
