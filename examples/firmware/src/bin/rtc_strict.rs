//! Reads the records of a sound RTC file with the strict reader alone: how many each stream has, their bytes, and the last
//! time. Nothing is formatted, so that the figures are those of reading alone.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use traceglass::rtc::{Records, StreamSlot};
use traceglass_firmware::{finish_plainly, say};

static TRACE: &[u8] = include_bytes!("../../../data/sample.rtc");

/// Room for the pieces of records that lie in several frames.
const BUFFER: usize = 512;
/// Room for the streams of a session.
const STREAMS: usize = 8;

#[entry]
fn main() -> ! {
    let is_sound = read(TRACE);
    finish_plainly(is_sound)
}

fn read(data: &[u8]) -> bool {
    let mut buffer = [0; BUFFER];
    let mut slots = [StreamSlot::EMPTY; STREAMS];
    let mut records = Records::new(data, &mut slots, &mut buffer);
    let mut count = [0_u64; STREAMS];
    let mut bytes = [0_u64; STREAMS];
    let mut seconds = 0;
    let is_sound = loop {
        match records.next_record() {
            Ok(Some(record)) => {
                let sums = count.get_mut(record.slot()).zip(bytes.get_mut(record.slot()));
                if let (Some((count, bytes)), Ok(data)) = (sums, record.bytes()) {
                    *count += 1;
                    *bytes += data.len() as u64;
                }
                if let Some(time) = record.time() {
                    seconds = time.seconds();
                }
            }
            Ok(None) => break true,
            Err(_) => break false,
        }
    };
    for (count, bytes) in count.iter().zip(bytes).filter(|(count, _)| **count > 0) {
        say("records: ", *count);
        say("  bytes: ", bytes);
    }
    say("last second: ", seconds.unsigned_abs());
    is_sound
}
