//! Prints what each stream of an RTC file said, and when; and goes on while the file grows.
//!
//!     cargo run --example rtc_timeline -- examples/data/sample.rtc
//!     cargo run --example rtc_timeline -- trace.rtc --follow
//!
//! A real viewer would map the file. A file that has grown is mapped anew, and reading goes on at the minor unit in
//! which it stopped: the grid leads there without reading what lies before.

use std::error::Error;
use std::time::Duration;
use traceglass::rtc::{Clocks, Grid, Sample, Walk};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: rtc_timeline FILE [--follow]")?;
    let follow = args.next().is_some_and(|arg| arg == "--follow");

    let mut shown = 0;
    let mut clocks = Clocks::<64>::new();
    loop {
        let data = std::fs::read(&path)?;
        shown = show(&data, shown, &mut clocks);
        if !follow {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// Prints the frames from `from` on; returns where to go on.
fn show(data: &[u8], from: u64, clocks: &mut Clocks<64>) -> u64 {
    // Without a unit to be found, or before the first one, everything is walked.
    let walk = Grid::new(data).and_then(|grid| grid.walk::<64>(from));
    let mut walk = walk.unwrap_or_else(|_| Walk::new(data));
    let mut end = from;
    loop {
        while let Some(Ok(frame)) = walk.next_frame() {
            if frame.offset() < from {
                continue;
            }
            end = frame.end();
            clocks.observe(walk.streams(), walk.byte_order(), &frame);
            let Some(stream) = frame.place().and_then(|place| walk.streams().at(place)) else { continue };
            let time = clocks.time(&frame).map_or("-".to_owned(), |time| time.to_string());
            let name: String = stream.name().map(|name| name.chars().collect()).unwrap_or_default();
            let samples = stream.samples(frame.payload(), frame.payload_offset(), walk.byte_order());
            for sample in samples.map_while(Result::ok) {
                match (sample, sample.scaled(stream.gain(), stream.offset())) {
                    (Sample::Text(text), _) => println!("{time:>20}  {name:<12} {text}"),
                    (_, Some(value)) => println!("{time:>20}  {name:<12} {value}"),
                    (other, None) => println!("{time:>20}  {name:<12} {other:?}"),
                }
            }
        }
        match walk.resync() {
            // A frame that the file ends in is no loss while the file grows.
            Some(gap) if gap.end() < data.len() as u64 => {
                println!("{} bytes lost at {:#x}: {}", gap.len(), gap.offset(), gap.cause());
                clocks.interrupt();
            }
            _ => return end,
        }
    }
}
