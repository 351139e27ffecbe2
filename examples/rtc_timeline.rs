//! Prints what each stream of an RTC file said, and when. (How to go on while the file grows: see `follow`.)
//!
//!     cargo run --example rtc_timeline -- examples/data/sample.rtc

use std::error::Error;
use traceglass::rtc::{Clocks, Sample, Walk};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: rtc_timeline FILE")?;
    let data = std::fs::read(&path)?;

    let mut walk = Walk::<64>::new(&data); // up to 64 streams
    let mut clocks = Clocks::<64>::new();
    loop {
        while let Some(Ok(frame)) = walk.next_frame() {
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
        // Damage is not the end: what follows it is found again, and how much was lost is said.
        let Some(gap) = walk.resync() else { return Ok(()) };
        println!("{} bytes lost at {:#x}: {}", gap.len(), gap.offset(), gap.cause());
        clocks.interrupt();
    }
}
