//! Writes the sample files of `examples/data`, with the builders that the tests use.
//!
//!     cargo run --example write_samples            # writes them
//!     cargo run --example write_samples -- --check # fails if one is not as it would be written
//!     cargo run --example write_samples -- --seeds # writes what the fuzz targets begin with

#![allow(dead_code)] // The tests use more of the builders.

#[path = "../tests/common/ctf.rs"]
mod ctf;
#[path = "../tests/common/dial9.rs"]
mod dial9;
#[path = "../tests/common/lttng.rs"]
mod lttng;
#[path = "../tests/common/rdf.rs"]
mod rdf;
#[path = "../tests/common/rdf_contents.rs"]
mod rdf_contents;
#[path = "../tests/common/rfr.rs"]
mod rfr;
#[path = "../tests/common/rtc.rs"]
mod rtc;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let has = |option| std::env::args().any(|arg| arg == option);
    let check = has("--check");
    let (folder, samples) = if has("--seeds") {
        (root.join("fuzz/corpus"), seeds())
    } else {
        (root.join("examples/data"), samples())
    };
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

fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let mut samples = vec![
        ("sample.ctf2", ctf::sample()),
        ("sample.rdf", rdf::sample()),
        ("sample.rgp", rdf::file(&rdf_contents::sample())),
        ("sample.rtc", rtc::sample(rtc::Options::default(), 20_000)),
        ("stream.rfr", rfr::sample_stream()),
        ("trace.0.bin", dial9::recording()),
    ];
    samples.extend(rfr::sample());
    samples.extend(ctf::sample_trace());
    samples.extend(ctf::sample_ctf1());
    samples.extend(lttng::kernel());
    samples.extend(lttng::ros2());
    samples
}

/// The inputs that fuzz targets begin with, small so that they are fast; some have a byte in front that controls them.
fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let controlled = |control, data: &[u8]| [&[control], data].concat();
    let old = ctf::stream(ctf::text().as_bytes().chunks(100), |content| ctf::Packet::v1(content).big(true));
    let text = b"the quick brown fox jumps over the lazy dog ".repeat(40);
    let compressed = |level| {
        let mut frame = Vec::with_capacity(zstd_safe::compress_bound(text.len()));
        zstd_safe::compress(&mut frame, &text, level).expect("there is room");
        frame
    };
    let [(_, meta), (_, callsites), (_, first), (_, second)] =
        <[_; 4]>::try_from(rfr::sample()).expect("four files");
    let called = |call, about, data: &[u8]| [&[call, about], data].concat();
    let trace = ctf::sample_trace().into_iter().map(|(_, file)| file).collect::<Vec<_>>().join(&0xff);
    vec![
        ("command/info-rdf", called(0, 0, &rdf::sample())),
        ("command/records-rdf", called(6, 0, &rdf::sample())),
        ("command/export-rdf", called(22, 0, &rdf::sample())),
        ("command/cat-rtc", called(6, 0, &rtc::sample(rtc::Options::sizes(4096, 2048), 6_000))),
        ("command/ls-rtc", called(3, 128, &rtc::sample(rtc::Options::sizes(4096, 2048), 6_000))),
        ("command/cat-ctf2", called(5, 131, &ctf::sample())),
        ("command/trace", called(6, 64, &trace)),
        ("command/export-trace", called(21, 64, &trace)),
        ("command/merge-rfr", called(8, 2, &first)),
        ("command/info-stream", called(1, 0, &rfr::sample_stream())),
        ("rdf/sample", rdf::sample()),
        ("rdf/no-chunks", rdf::file(&[])),
        ("rtc/sample", rtc::sample(rtc::Options::default(), 20_000)),
        ("rtc/small", rtc::sample(rtc::Options::sizes(4096, 2048), 6_000)),
        (
            "rtc/no-crc",
            rtc::sample(rtc::Options { crc: rtc::Crc::None, ..rtc::Options::sizes(4096, 4096) }, 9_000),
        ),
        ("ctf_metadata/sample", controlled(0x20, &ctf::sample())),
        ("ctf_metadata/old", controlled(0x11, &old)),
        ("ctf_metadata/plain", controlled(0, ctf::text().as_bytes())),
        ("ctf_fragments/text", controlled(50, ctf::text().as_bytes())),
        ("rfr_chunk/first", first.clone()),
        ("rfr_chunk/second", second),
        ("rfr_chunk/all", rfr::all_variants().bytes()),
        ("rfr_callsites/sample", callsites.clone()),
        ("rfr_meta/sample", meta.clone()),
        ("rfr_streaming/sample", rfr::sample_stream()),
        ("zstd/stored", rdf::zstd_frame(&text)),
        ("zstd/fast", compressed(1)),
        ("zstd/best", compressed(19)),
        ("event/rdf", rdf::file(&rdf_contents::sample())),
        ("event/contents", rdf::file(&rdf_contents::chunks())),
        ("event/rtc", rtc::sample(rtc::Options::sizes(4096, 2048), 6_000)),
        ("event/chunk", rfr::all_variants().bytes()),
        ("event/streaming", rfr::sample_stream()),
        ("event/ctf", ctf::sample_trace().into_iter().map(|(_, data)| data).collect::<Vec<_>>().join(&0xff)),
        ("detect/rdf", rdf::sample()),
        ("detect/rtc", rtc::sample(rtc::Options::sizes(4096, 2048), 5_000)),
        ("detect/ctf2", ctf::sample()),
        ("detect/plain", ctf::text().into_bytes()),
        ("detect/chunk", first),
        ("detect/meta", meta),
        ("detect/callsites", callsites),
        ("detect/streaming", rfr::sample_stream()),
        ("detect/dial9", dial9::sample()),
        ("dial9/sample", dial9::sample()),
        ("dial9/recording", dial9::recording()),
        ("dial9_differential/sample", dial9::sample()),
        ("dial9_differential/recording", dial9::recording()),
        ("detect/zstd", compressed(3)),
    ]
}
