//! 64 MiB of CTF 2 metadata in packets of 4 KiB: `cargo bench --bench ctf2`.
//!
//! Each line is the best of several rounds, so that other work on the machine shows as little as possible.

#[path = "../tests/common/ctf2.rs"]
#[allow(dead_code)] // The tests use more.
mod build;

use std::hint::black_box;
use std::time::{Duration, Instant};
use traceglass::ctf2::{Decoder, Leniency, MetadataStream, Step, compact};

const PACKETS: usize = 16 * 1024;

fn main() {
    let data = build::large(PACKETS);
    let stream = MetadataStream::parse(&data).expect("a stream");
    let text = stream.text().expect("a text");
    println!("{} MiB, {} packets, {} fragments", data.len() >> 20, PACKETS, stream.fragments().count());

    report("headers: all packets, no content read", data.len(), || {
        stream.packets().map(|packet| packet.expect("a packet").content().len()).sum()
    });
    report("borrowed pieces", data.len(), || {
        stream.pieces().map(|piece| piece.expect("a piece").len()).sum()
    });

    // Both move the same bytes; the compaction reads headers, too.
    let mut buffer = data.clone();
    let len = text.len() as usize;
    let within = rounds(|| {
        let start = Instant::now();
        buffer.copy_within(data.len() - len.., 0);
        let time = start.elapsed();
        black_box(&mut buffer);
        time
    });
    rate("copy_within over the same bytes", len, within);
    let mut buffer = data.clone();
    let compacted = rounds(|| {
        buffer.copy_from_slice(&data);
        let start = Instant::now();
        let found = compact(&mut buffer, Leniency::Strict).expect("a stream").text().len();
        let time = start.elapsed();
        assert_eq!(found, len);
        time
    });
    rate("compact in place", len, compacted);
    println!("{:42} {:>9.2} × copy_within", "", within.as_secs_f64() / compacted.as_secs_f64());

    let mut target = vec![0; len];
    report("copy into a lent buffer", len, || text.copy_to(&mut target).expect("room").len());
    report("split into fragments", len, || stream.fragments().count());
    report("fragments with their kinds", len, || {
        stream
            .fragments()
            .filter(|fragment| fragment.as_ref().is_ok_and(|fragment| fragment.kind().is_ok()))
            .count()
    });
    report("check", len, || {
        let mut findings = 0;
        stream.check(|_| findings += 1);
        findings
    });
    report("decoder, fed 1,500 bytes at a time", data.len(), || {
        let mut decoder = Decoder::new(Leniency::Strict);
        let mut read = 0;
        for mut part in data.chunks(1500) {
            loop {
                match decoder.step(&mut part).expect("a stream") {
                    Step::Content(content) => read += content.len(),
                    Step::Packet(_) => {}
                    Step::NeedMore(_) => break,
                }
            }
        }
        read
    });
}

fn report(what: &str, bytes: usize, mut work: impl FnMut() -> usize) {
    let best = rounds(|| {
        let start = Instant::now();
        black_box(work());
        start.elapsed()
    });
    rate(what, bytes, best);
}

fn rounds(mut round: impl FnMut() -> Duration) -> Duration {
    let start = Instant::now();
    let more = |n: &u32| *n < 5 || (*n < 100 && start.elapsed() < Duration::from_secs(1));
    (0..).take_while(more).map(|_| round()).min().unwrap_or_default()
}

fn rate(what: &str, bytes: usize, time: Duration) {
    let seconds = time.as_secs_f64();
    println!("{what:42} {:>9.3} ms {:>8.2} GB/s", seconds * 1e3, bytes as f64 / seconds / 1e9);
}
