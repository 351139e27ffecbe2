//! Prints what each stream of an RTC file said, and when. (How to go on while the file grows: see `follow`.)
//!
//!     cargo run --example rtc_timeline -- examples/data/sample.rtc

use std::error::Error;
use traceglass::rtc::{Records, Sample, recover};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: rtc_timeline FILE")?;
    let data = std::fs::read(&path)?;

    let mut buffer = vec![0; 1 << 20]; // for records that lie in several frames
    let mut records = Records::new(recover::Frames::<64>::new(&data), &mut buffer); // up to 64 streams
    loop {
        while let Ok(Some(record)) = records.next_record() {
            let stream = record.stream();
            let name: String = stream.name().map(|name| name.chars().collect()).unwrap_or_default();
            let (gain, offset) = (stream.gain()?, stream.offset()?);
            let mut time = record.time();
            let mut samples = record.samples()?;
            // An annotation says itself when it belongs.
            if let Some(annotation) = record.annotation().transpose()? {
                (time, samples) = (Some(annotation.time), annotation.samples);
            }
            let time = time.map_or("-".to_owned(), |time| time.to_string());
            let values: Vec<String> = samples
                .map_while(Result::ok)
                .map(|sample| match (sample, sample.scaled(gain, offset)) {
                    (Sample::Text(text), _) => text.to_owned(),
                    (Sample::Timespec(..), _) if gain.is_none() && offset.is_none() => time.clone(),
                    (_, Some(value)) => value.to_string(),
                    (other, None) => format!("{other:?}"),
                })
                .collect();
            println!("{time:>20}  {name:<16}  {}", values.join(" "));
        }
        // Damage is not the end: what follows it is found again, and how much was lost is said.
        let Some(gap) = records.recover() else { return Ok(()) };
        println!("{} bytes lost at {:#x}: {}", gap.len(), gap.offset(), gap.cause());
    }
}
