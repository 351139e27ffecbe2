//! Reads an RTC file that lost its beginning: frames by stream, and what was lost. Nothing is formatted, so that the figures
//! are those of reading alone.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use traceglass::rtc::StreamSlot;
use traceglass::rtc::recover::Frames;
use traceglass_firmware::{finish_plainly, say};

static TRACE: &[u8] = include_bytes!("../../../data/sample.rtc");

/// The number of bytes that are missing from the file: its first Marker, Meta, and some frames.
const LOST: usize = 3000;

#[entry]
fn main() -> ! {
    let (_, cut) = TRACE.split_at(LOST);
    read(cut);
    finish_plainly(true)
}

fn read(data: &[u8]) {
    let mut slots = [StreamSlot::EMPTY; 16];
    let mut frames = Frames::new(data, &mut slots);
    let mut bytes = [0_usize; 16];
    loop {
        while let Ok(Some(frame)) = frames.next_frame() {
            if let Some(sum) = usize::try_from(frame.id()).ok().and_then(|id| bytes.get_mut(id)) {
                *sum += frame.payload().len();
            }
        }
        let Some(gap) = frames.recover() else { break };
        say("lost from: ", gap.offset());
        say("    bytes: ", gap.len());
    }
    for (id, bytes) in bytes.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
        say("stream: ", id as u64);
        say(" bytes: ", *bytes as u64);
    }
}
