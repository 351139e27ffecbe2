//! RTC: a file with streams, splits, clocks and annotations.

#[path = "../../tests/common/rtc.rs"]
pub mod builder;

use std::hint::black_box;
use traceglass::rtc::{Clocks, Grid, Time, Walk};

pub const MAJOR: u64 = 1 << 20;
pub const MINOR: u64 = 128 << 10;

/// A file of five streams, 26 bytes a frame.
pub fn data(bytes: usize) -> Vec<u8> {
    builder::sample(builder::Options::sizes(MAJOR, MINOR), bytes)
}

/// The number of frames; looks at the payload's place and the stream of each.
pub fn walk(data: &[u8]) -> u64 {
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

/// The number of frames of which the time is known.
pub fn walk_with_times(data: &[u8]) -> u64 {
    let mut known = 0;
    times(data, |_, _| known += 1);
    known
}

fn times(data: &[u8], mut each: impl FnMut(u64, Time)) {
    let mut walk = Walk::<16>::new(data);
    let mut clocks = Clocks::<16>::new();
    while let Some(Ok(frame)) = walk.next_frame() {
        clocks.observe(walk.streams(), walk.byte_order(), &frame);
        if let Some(time) = clocks.time(&frame) {
            each(frame.offset(), time);
        }
    }
}

/// A clock, and a time in the middle of the file.
pub fn time_in_the_middle<'a>(data: &'a [u8]) -> (Walk<'a, 16>, u64, Time) {
    let mut all = Vec::new();
    times(data, |_, time| all.push(time));
    let mut walk = Walk::<16>::new(data);
    while walk.next_frame().is_some() && walk.streams().by_name("clk delta").is_none() {}
    let clock = walk.streams().by_name("clk delta").expect("it is in the file").id();
    let time = all[all.len() / 2];
    (walk, clock, time)
}

/// The first frame at a time, from nothing: grid, search, and the walk up to it.
pub fn seek(data: &[u8], (walk, clock, time): &(Walk<'_, 16>, u64, Time)) -> u64 {
    Grid::new(data).and_then(|grid| grid.seek(walk.streams(), *clock, *time)).expect("it is there")
}
