//! RTC: scanning, checksums, and searching in a file of 64 MiB (RTC_BENCH_MIB for another size).
//!
//!     cargo bench --bench rtc

#[path = "../tests/common/rtc.rs"]
#[allow(dead_code)]
mod builder;

use divan::{Bencher, black_box, counter::BytesCount, counter::ItemsCount};
use std::sync::LazyLock;
use traceglass::rtc::{Clocks, Grid, Walk, WriterCrc, crc_ieee};

const MAJOR: u64 = 1 << 20;

static DATA: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mib = std::env::var("RTC_BENCH_MIB").ok().and_then(|mib| mib.parse().ok()).unwrap_or(64_usize);
    builder::sample(builder::Options::sizes(MAJOR, 128 << 10), mib << 20)
});

fn main() {
    let (frames, bytes) = (scan(&DATA), DATA.len());
    println!("{bytes} bytes, {frames} frames, {:.1} bytes a frame", bytes as f64 / frames as f64);
    assert_eq!(naive(&DATA), frames);
    divan::main();
}

fn scan(data: &[u8]) -> u64 {
    let mut walk = Walk::<16>::new(data);
    let (mut frames, mut bytes) = (0, 0_usize);
    while let Some(frame) = walk.next_frame() {
        let frame = frame.expect("no damage");
        frames += 1;
        bytes = bytes.wrapping_add(frame.payload().len()).wrapping_add(frame.place().unwrap_or(0));
    }
    black_box(bytes);
    frames
}

/// Reads id and length of each frame and skips its payload: no streams, no splits, no proof. The lengths of the
/// streams of fixed length are given, and what is cut is found by its `more`.
fn naive(data: &[u8]) -> u64 {
    let mut at = 0;
    let mut frames = 0;
    let int = |at: &mut usize| {
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let byte = data[*at];
            *at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    };
    let mut got = [0; 32];
    while at < data.len() {
        let header = int(&mut at);
        let length = match header >> 1 {
            0 => 0,
            2 => 1024,
            7 | 8 => 4,
            id @ (9 | 11) => {
                let whole = if id == 9 { 12 } else { 2 } - got[id as usize];
                let unit = at as u64 / MAJOR * MAJOR;
                let minor = 128 << 10;
                let next = unit + 1025 + ((at as u64 - unit).saturating_sub(1025) / minor + 1) * minor;
                let next = next.min(unit + MAJOR - 5);
                let length = if header & 1 == 1 { next - at as u64 } else { whole };
                got[id as usize] = if header & 1 == 1 { length } else { 0 };
                length
            }
            _ => int(&mut at),
        };
        at += length as usize;
        frames += 1;
    }
    frames
}

#[divan::bench]
fn frames(bencher: Bencher) {
    let frames = scan(&DATA);
    bencher.counter(ItemsCount::new(frames)).bench_local(|| scan(black_box(&DATA)));
}

#[divan::bench]
fn naive_walk(bencher: Bencher) {
    let frames = scan(&DATA);
    bencher.counter(ItemsCount::new(frames)).bench_local(|| naive(black_box(&DATA)));
}

#[divan::bench]
fn frames_with_times(bencher: Bencher) {
    let frames = scan(&DATA);
    bencher.counter(ItemsCount::new(frames)).bench_local(|| {
        let mut walk = Walk::<16>::new(black_box(&DATA));
        let mut clocks = Clocks::<16>::new();
        let mut known = 0_u64;
        while let Some(Ok(frame)) = walk.next_frame() {
            clocks.observe(walk.streams(), walk.byte_order(), &frame);
            known += u64::from(clocks.time(&frame).is_some());
        }
        known
    });
}

/// The first frame at a time in the middle of the file, from nothing: grid, search, and the walk up to it.
#[divan::bench]
fn seek_time(bencher: Bencher) {
    let mut walk = Walk::<16>::new(&DATA);
    let mut clocks = Clocks::<16>::new();
    let mut times = Vec::new();
    while let Some(Ok(frame)) = walk.next_frame() {
        clocks.observe(walk.streams(), walk.byte_order(), &frame);
        times.extend(clocks.time(&frame));
    }
    let clock = walk.streams().by_name("clk delta").expect("it is in the file").id();
    let time = times[times.len() / 2];
    bencher
        .bench_local(|| Grid::new(black_box(&DATA)).and_then(|grid| grid.seek(walk.streams(), clock, time)));
}

#[divan::bench]
fn crc_writer_16(bencher: Bencher) {
    let part = &DATA[..1 << 20];
    bencher.counter(BytesCount::of_slice(part)).bench_local(|| WriterCrc::<16>::of(black_box(part)));
}

#[divan::bench]
fn crc_writer_1(bencher: Bencher) {
    let part = &DATA[..1 << 20];
    bencher.counter(BytesCount::of_slice(part)).bench_local(|| WriterCrc::<1>::of(black_box(part)));
}

#[divan::bench]
fn crc_ieee_1(bencher: Bencher) {
    let part = &DATA[..1 << 20];
    bencher.counter(BytesCount::of_slice(part)).bench_local(|| crc_ieee(black_box(part)));
}
