//! Writes a valid file of any size, part by part, to show that the memory a reader needs does not grow with it.
//!
//!     cargo run --release --example write_large -- rdf 2147483648 large.rdf
//!     cargo run --release --example write_large -- rtc 2147483648 large.rtc
//!     cargo run --release --example write_large -- ctf 2147483648 large.ctf # a directory
//!     cargo run --release --example write_large -- ctf-metadata 2147483648 large.ctf2
//!     cargo run --release --example write_large -- rfr 2147483648 large.rfr # a directory
//!     cargo run --release --example write_large -- dial9 104857600 trace.0.bin

#[path = "../benches/common/mod.rs"]
#[allow(dead_code)] // The benchmarks use more.
mod common;
#[path = "../tests/common/dial9.rs"]
#[allow(dead_code)] // The tests use more.
mod dial9;

use common::{ctf, ctf_trace, rdf, rdf_contents, rfr, rtc, zstd};
use std::fs::{File, create_dir_all, write};
use std::io::{self, BufWriter, ErrorKind, Seek, Write};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [format, bytes, path] = arguments.as_slice() else {
        eprintln!("write_large rdf|rtc|ctf|ctf-metadata|rfr|dial9 BYTES PATH");
        return ExitCode::from(2);
    };
    let (Ok(bytes), path) = (bytes.parse(), Path::new(path)) else {
        eprintln!("{bytes} is not a number of bytes");
        return ExitCode::from(2);
    };
    let done = match format.as_str() {
        "rdf" => write_rdf(bytes, path),
        "rtc" => write_rtc(bytes, path),
        "ctf" => write_ctf(bytes, path),
        "ctf-metadata" => write_ctf_metadata(bytes, path),
        "rfr" => write_rfr(bytes, path),
        "dial9" => write_dial9(bytes, path),
        _ => Err(io::Error::new(ErrorKind::InvalidInput, format!("{format} is not a format"))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}

/// Chunks of 1 MiB, every other one compressed, and after each eight of them one of a memory trace.
fn write_rdf(bytes: u64, path: &Path) -> io::Result<()> {
    use rdf::builder::{Chunk, entry, header};
    let packed = |chunk: Chunk, data: &[u8]| Chunk {
        stored: zstd::compress(data, data.len(), 3).remove(0),
        compression: 1,
        uncompressed_size: data.len() as i64,
        ..chunk
    };
    let mut chunks: Vec<Chunk> = (zstd::mix(16 * zstd::MIB).chunks(zstd::MIB).enumerate())
        .map(|(number, data)| match number % 2 {
            0 => Chunk::raw("Data", data),
            _ => packed(Chunk::raw("Data", data), data),
        })
        .collect();
    // The time that a piece begins with is that of the one before it.
    let tokens = rdf_contents::tokens(zstd::MIB).0.split_off(12);
    let fields =
        [77_u64 | 88 << 32, tokens.len() as u64, 1 | 1 << 32 | 9 << 48].map(u64::to_le_bytes).concat();
    let piece = || packed(Chunk::raw("RmtData", &[]).header(&fields), &tokens);
    for at in [16, 8] {
        chunks.insert(at, piece());
    }
    let start = [112_u64, 10_000_000].map(u64::to_le_bytes).concat();
    chunks.insert(0, Chunk::raw("RmtData", &start[..12]).header(&fields));
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(&[0; 32])?;
    let (mut at, mut index) = (32, Vec::new());
    let (first, others) = chunks.split_at(1);
    for chunk in first.iter().chain(others.iter().cycle()) {
        if at + index.len() as u64 >= bytes {
            break;
        }
        file.write_all(&chunk.header)?;
        file.write_all(&chunk.stored)?;
        let data = at + chunk.header.len() as u64;
        index.extend(entry(chunk, at as i64, data as i64));
        at = data + chunk.stored.len() as u64;
    }
    file.write_all(&index)?;
    file.rewind()?;
    file.write_all(&header(at as i64, index.len() as i64))?;
    file.flush()
}

fn write_rtc(bytes: u64, path: &Path) -> io::Result<()> {
    let mut file = File::create(path)?;
    let mut done = Ok(());
    let options = rtc::builder::Options::sizes(rtc::MAJOR, rtc::MINOR);
    rtc::builder::write_sample(options, bytes, |part| {
        if done.is_ok() {
            done = file.write_all(part);
        }
    });
    done
}

/// A trace of one stream.
fn write_ctf(bytes: u64, path: &Path) -> io::Result<()> {
    create_dir_all(path)?;
    write(path.join("metadata"), ctf_trace::metadata(0))?;
    let mut file = BufWriter::new(File::create(path.join("stream"))?);
    let mut written = 0;
    for packet in ctf_trace::packets() {
        if written >= bytes {
            break;
        }
        file.write_all(&packet)?;
        written += packet.len() as u64;
    }
    file.flush()
}

fn write_ctf_metadata(bytes: u64, path: &Path) -> io::Result<()> {
    use ctf::builder::{Packet, full_packets, text};
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(&Packet::v2(text().as_bytes()).write())?;
    let mut packets = full_packets();
    for packet in packets.by_ref().take((bytes >> 12).saturating_sub(1) as usize) {
        file.write_all(&packet)?;
    }
    // The last one ends where a fragment does; a fragment of this size begins in each packet.
    let last = packets.next().unwrap_or_default();
    let content = &last[44..];
    let len = content.iter().rposition(|&byte| byte == 0x1e).unwrap_or(0);
    file.write_all(&Packet::v2(&content[..len]).write())?;
    file.flush()
}

/// A recording: a file for each second.
fn write_rfr(bytes: u64, path: &Path) -> io::Result<()> {
    use rfr::builder::{callsite, callsites, meta};
    let start = 1_700_000_000; // 2023-11-14 22:13:20 UTC
    let hour = path.join("2023-11/14-22");
    create_dir_all(&hour)?;
    write(path.join("meta.rfr"), meta(start, 0, &["rfr-c/0.0.2"]))?;
    let names = ["op", "ready", "iid"];
    let sites = [callsite(0x5555_5555_5555, 10, 2, &[], &[]), callsite(0x5555_5555_5678, 10, 1, &[], &names)];
    write(path.join("callsites.rfr"), callsites(&sites))?;
    let records = 1_000_000.min(bytes / 7);
    let mut written = 0;
    for second in 0.. {
        if written >= bytes {
            break;
        }
        let chunk = rfr::chunk(second, records);
        let in_hour = 13 * 60 + 20 + second;
        write(hour.join(format!("chunk-{:02}-{:02}.rfr", in_hour / 60, in_hour % 60)), &chunk)?;
        written += chunk.len() as u64;
    }
    Ok(())
}

/// A segment of batches of four workers in turn, which overlap in time: polls, wakes, parks, tasks that come and go.
fn write_dial9(bytes: u64, path: &Path) -> io::Result<()> {
    use dial9::{BOOL, POLL_START, POOLED_STRING, U8, U32, VARINT, Writer};
    let worker = ("worker_id", VARINT);
    let park = [worker, ("local_queue", U8), ("cpu_time_ns", VARINT), ("tid", U32)];
    let places = ["src/main.rs:10:5", "src/db.rs:33:9", "src/http/server.rs:210:17", "src/cache.rs:7:1"];
    let strings: Vec<(u32, &str)> = (0..).zip(places).collect();
    let mut file = BufWriter::new(File::create_new(path)?);
    let (mut written, mut start, mut task) = (0, 4_000_000_000_000_u64, 100_u64);
    while written < bytes {
        for id in 0..4_u64 {
            let mut batch = Writer::new()
                .header()
                .schema(1, "PollStartEvent", &POLL_START)
                .schema(2, "PollEndEvent", &[worker])
                .schema(3, "WorkerParkEvent", &park)
                .schema(4, "WorkerUnparkEvent", &park)
                .schema(
                    5,
                    "TaskSpawnEvent",
                    &[("task_id", VARINT), ("spawn_loc", POOLED_STRING), ("instrumented", BOOL)],
                )
                .schema(6, "TaskTerminateEvent", &[("task_id", VARINT)])
                .schema(
                    7,
                    "WakeEventEvent",
                    &[("waker_task_id", VARINT), ("woken_task_id", VARINT), ("target_worker", U8)],
                )
                .strings(&strings)
                .reset(start + id * 100);
            for round in 0..8_000_u64 {
                // Four tasks of the worker, one of which ends and is replaced now and then.
                let (one, next) = (task + id * 4 + round % 4, task + id * 4 + (round + 1) % 4);
                let place = (one % 4) as u32;
                if round % 512 < 4 {
                    batch = batch.event(5, 300).varint(one).u32(place).raw(&[1]);
                }
                batch = batch.event(1, 700).varint(id).raw(&[(round % 7) as u8]).varint(one).u32(place);
                batch = batch.event(7, 900).varint(one).varint(next).raw(&[id as u8]);
                if round % 512 >= 508 {
                    batch = batch.event(6, 100).varint(one);
                }
                batch = batch.event(2, 5_000 + (round * 37 % 1_000) as u32).varint(id);
                if round % 16 == 15 {
                    let cpu = round * 4_000;
                    batch = batch.event(3, 200).varint(id).raw(&[0]).varint(cpu).u32(40 + id as u32);
                    batch = batch.event(4, 90_000).varint(id).raw(&[0]).varint(cpu + 50).u32(40 + id as u32);
                }
            }
            file.write_all(&batch.0)?;
            written += batch.0.len() as u64;
        }
        start += 200_000_000;
        task += 16;
    }
    file.flush()
}
