//! RTC: a file with streams, splits, clocks and annotations.

#[path = "../../tests/common/rtc.rs"]
pub mod builder;

use std::hint::black_box;
use traceglass::rtc::{Frames, Grid, Records, StreamSlot, Time, recover};

pub const MAJOR: u64 = 1 << 20;
pub const MINOR: u64 = 128 << 10;

/// A file of five streams, 26 bytes a frame.
pub fn data(bytes: usize) -> Vec<u8> {
    builder::sample(builder::Options::sizes(MAJOR, MINOR), bytes)
}

/// The number of frames; looks at the payload's place and the stream of each.
pub fn walk(data: &[u8]) -> u64 {
    let mut frames = recover::Frames::new(data, [StreamSlot::EMPTY; 16]);
    let (mut count, mut bytes) = (0, 0_usize);
    while let Some(frame) = frames.next_frame().expect("no damage") {
        count += 1;
        bytes = bytes.wrapping_add(frame.payload().len()).wrapping_add(frame.slot().unwrap_or(0));
    }
    black_box(bytes);
    count
}

/// The same by the strict reader.
pub fn walk_strictly(data: &[u8]) -> u64 {
    let mut frames = Frames::new(data, [StreamSlot::EMPTY; 16]);
    let (mut count, mut bytes) = (0, 0_usize);
    while let Some(frame) = frames.next_frame().expect("no damage") {
        count += 1;
        bytes = bytes.wrapping_add(frame.payload().len()).wrapping_add(frame.slot().unwrap_or(0));
    }
    black_box(bytes);
    count
}

/// The number of records whose time is known; looks at the first sample of each.
pub fn walk_with_times(data: &[u8]) -> u64 {
    let mut known = 0;
    let mut sum = 0_usize;
    times(data, |_, _, samples| {
        known += 1;
        sum = sum.wrapping_add(samples.next().map_or(0, |sample| usize::from(sample.is_ok())));
    });
    black_box(sum);
    known
}

fn times(data: &[u8], mut each: impl FnMut(u64, Time, &mut traceglass::rtc::Samples<'_>)) {
    let mut buffer = vec![0; 1 << 16];
    let mut records = Records::new(data, [StreamSlot::EMPTY; 16], &mut buffer);
    while let Ok(Some(record)) = records.next_record() {
        if let (Some(time), Ok(mut samples)) = (record.time(), record.samples()) {
            each(record.offset(), time, &mut samples);
        }
    }
}

/// A clock, and a time in the middle of the file.
pub fn time_in_the_middle(data: &[u8]) -> (u64, Time) {
    let mut all = Vec::new();
    times(data, |_, time, _| all.push(time));
    let table = Grid::new(data).and_then(|grid| grid.streams([StreamSlot::EMPTY; 16])).expect("streams");
    let clock = table.streams().by_name("clk delta").expect("it is in the file").id();
    let time = all[all.len() / 2];
    (clock, time)
}

/// The offset to begin reading at for a time, starting from the bare data: grid and search.
pub fn seek(data: &[u8], &(clock, time): &(u64, Time)) -> u64 {
    Grid::new(data)
        .and_then(|grid| grid.seek_time(clock, time, &mut [StreamSlot::EMPTY; 16]))
        .expect("it is there")
}
