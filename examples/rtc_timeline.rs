//! Prints what each stream of an RTC file said, and when, as `traceglass cat` does, but with times in seconds. (How to go on while the file grows: see
//! `follow`.)
//!
//!     cargo run --example rtc_timeline -- examples/data/sample.rtc

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use traceglass::rtc::{Record, Records, Sample, Time, recover};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: rtc_timeline FILE")?;
    Ok(timeline(&std::fs::read(&path)?, &mut std::io::stdout().lock())?)
}

pub fn timeline(data: &[u8], out: &mut dyn Write) -> std::io::Result<()> {
    let mut buffer = vec![0; 1 << 20]; // for records that lie in several frames
    let mut records = Records::new(recover::Frames::<64>::new(data), &mut buffer); // up to 64 streams
    // Records come as they end. They are printed as they begin: those that began after one that is still open wait.
    let mut waiting = BTreeMap::new();
    loop {
        while let Ok(Some(record)) = records.next_record() {
            waiting.insert(record.offset(), line(&record));
            let open = records.first_open().unwrap_or(u64::MAX);
            while let Some(entry) = waiting.first_entry().filter(|entry| *entry.key() < open) {
                writeln!(out, "{}", entry.remove())?;
            }
        }
        for line in std::mem::take(&mut waiting).into_values() {
            writeln!(out, "{line}")?;
        }
        // Damage is not the end: what follows it is found again, and how much was lost is said.
        let Some(gap) = records.recover() else { return Ok(()) };
        eprintln!("{} bytes lost at {:#x}: {}", gap.len(), gap.offset(), gap.cause());
    }
}

/// When, what stream, and its values; or that they are not what its format says.
fn line(record: &Record<'_, '_, 64>) -> String {
    let (mut time, mut samples) = (record.time(), record.samples());
    // An annotation says itself when it belongs.
    match record.annotation() {
        Some(Ok(annotation)) => (time, samples) = (Some(annotation.time), Ok(annotation.samples)),
        Some(Err(error)) => samples = Err(error),
        None => {}
    }
    let stream = record.stream();
    let (gain, offset) = (stream.gain().ok().flatten(), stream.offset().ok().flatten());
    let shown = |sample: Sample<'_>| match (sample, gain.is_none() && offset.is_none()) {
        (Sample::Unsigned(value), true) => value.to_string(),
        (Sample::Signed(value), true) => value.to_string(),
        (Sample::Timespec(seconds, nanoseconds), true) => Time::new(seconds, nanoseconds).to_string(),
        // What a file says may move the cursor of a terminal.
        (Sample::Text(text), _) => text.trim_end().escape_debug().to_string(),
        (Sample::Bytes(bytes), _) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        (number, _) => match number.scaled(gain, offset) {
            // 15 digits of a float are certain, so that 0.1 + 0.2 is 0.3.
            Some(value) => {
                let value: f64 = format!("{value:.14e}").parse().unwrap_or(value);
                let point = if value.fract() == 0.0 { ".0" } else { "" };
                format!("{value}{point}")
            }
            None => format!("{number:?}"),
        },
    };
    let values: Result<Vec<String>, _> =
        samples.and_then(|samples| samples.map(|sample| sample.map(shown)).collect());
    let values = values.map_or("(not what its format says)".to_owned(), |values| values.join(" "));
    let values = match values.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", &values[..end]),
        None => values,
    };
    let time = time.map_or("-".to_owned(), |time| time.to_string());
    let name: String = stream.name().map(|name| name.chars().collect()).unwrap_or_default();
    format!("{time:>20}  {:<16}  {values}", name.escape_debug().to_string())
}
