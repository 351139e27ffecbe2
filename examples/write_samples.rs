//! Writes the sample files of `examples/data`, with the builders that the tests use.
//!
//!     cargo run --example write_samples            # writes them
//!     cargo run --example write_samples -- --check # fails if one is not as it would be written

#![allow(dead_code)] // The tests use more of the builders.

#[path = "../tests/common/ctf2.rs"]
mod ctf2;
#[path = "../tests/common/rdf.rs"]
mod rdf;
#[path = "../tests/common/rfr.rs"]
mod rfr;
#[path = "../tests/common/rtc.rs"]
mod rtc;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data");
    let mut samples = vec![
        ("sample.ctf2", ctf2::sample()),
        ("sample.rdf", rdf::sample()),
        ("sample.rtc", rtc::sample(rtc::Options::default(), 20_000)),
        ("stream.rfr", rfr::sample_stream()),
    ];
    samples.extend(rfr::sample());
    let check = std::env::args().any(|arg| arg == "--check");
    let mut status = ExitCode::SUCCESS;
    for (name, data) in samples {
        let path = folder.join(name);
        let done = if check {
            std::fs::read(&path).map(|found| found == data)
        } else {
            let folder = path.parent().unwrap_or(&folder);
            std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, &data)).map(|()| true)
        };
        match done {
            Ok(true) => println!("{name}: {} bytes", data.len()),
            Ok(false) => {
                eprintln!("{name}: not as it would be written");
                status = ExitCode::FAILURE;
            }
            Err(error) => {
                eprintln!("{}: {error}", path.display());
                status = ExitCode::FAILURE;
            }
        }
    }
    status
}
