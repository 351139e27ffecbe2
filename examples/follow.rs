//! Prints what is in a trace, and goes on while it grows: a file, or a pipe.
//!
//!     cargo run --example follow -- trace.rtc                 # also RFR streams and CTF 2 metadata
//!     cargo run --example follow -- trace.rtc 2               # until nothing came for 2 seconds
//!     cat metadata | cargo run --example follow -- -
//!
//! A recorder that is still writing leaves half a frame at the end. That is no damage:
//! `Error::is_truncation` tells the one from the other.

use std::error::Error;
use std::fs::File;
use std::io::{Read, Write};
use std::time::{Duration, Instant};
use traceglass::Format;
use traceglass::ctf::metadata::{Decoder, ParseOptions, Step};
use traceglass::rfr::Streaming;
use traceglass::rtc::{self, Grid, StreamSlot, recover};

const TICK: Duration = Duration::from_millis(100);

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: follow FILE|- [SECONDS]")?;
    let patience = args.next().map_or(Ok(u64::MAX), |seconds| seconds.parse())?;
    if path == "-" {
        return text(std::io::stdin().lock(), || false);
    }
    // A viewer would map the file, and map it anew when it has grown.
    match Format::detect(&std::fs::read(&path)?) {
        Some(Format::Ctf1 | Format::Ctf2) => {
            let mut silent = 0;
            text(File::open(&path)?, || {
                std::thread::sleep(TICK);
                silent += TICK.as_millis();
                silent < u128::from(patience) * 1000
            })
        }
        Some(Format::Rtc) => growing(&path, patience, steps),
        Some(Format::Rfr) => growing(&path, patience, records),
        _ => Err("neither RTC nor an RFR stream nor CTF 2 metadata".into()),
    }
}

/// Shows a file from `0` on whenever it has grown; what shows it says from where on it wants to go on.
fn growing(
    path: &str,
    patience: u64,
    mut show: impl FnMut(&[u8], u64, &mut dyn Write) -> Result<u64, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let (mut shown, mut size, mut grown) = (0, 0, Instant::now());
    while grown.elapsed().as_secs() < patience {
        if std::fs::metadata(path)?.len() > size {
            let data = std::fs::read(path)?;
            (size, grown) = (data.len() as u64, Instant::now());
            shown = show(&data, shown, &mut out)?;
            out.flush()?;
        } else {
            std::thread::sleep(TICK);
        }
    }
    Ok(())
}

/// RTC: reading goes on in the minor unit in which it stopped. The grid leads there without reading what lies before, and to
/// what clocks said last.
fn steps(data: &[u8], from: u64, out: &mut dyn Write) -> Result<u64, Box<dyn Error>> {
    let (mut slots, mut buffer) = ([StreamSlot::EMPTY; 64], vec![0; 1 << 16]);
    let grid = Grid::new(data)?;
    let clocks = grid.clocks_before(from, &mut slots);
    let frames = recover::Frames::from_strict(grid.frames(from, &mut slots)?);
    let mut records = recover::Records::of(frames, &mut buffer);
    records.prime(&clocks);
    let mut end = from;
    loop {
        match records.next_step() {
            rtc::Step::Record(record) if record.offset() >= from => {
                end = record.frame().end();
                let time = record.time().map_or("-".to_owned(), |time| time.to_string());
                let name: String =
                    record.stream().name().map(|name| name.chars().collect()).unwrap_or_default();
                writeln!(out, "{time:>20}  {name:<12} {:>6} bytes at {:#x}", record.len(), record.offset())?;
            }
            rtc::Step::Record(_) => {}
            // A frame that the file ends in is no loss: the rest of it is to come.
            rtc::Step::Gap(gap) if gap.end() < data.len() as u64 => {
                writeln!(out, "{} bytes lost at {:#x}: {}", gap.len(), gap.offset(), gap.cause())?;
            }
            // Nor is a record that has not ended.
            _ => return Ok(records.first_open().unwrap_or(end).min(end)),
        }
    }
}

/// An RFR stream: the records that are whole.
fn records(data: &[u8], from: u64, out: &mut dyn Write) -> Result<u64, Box<dyn Error>> {
    let stream = Streaming::parse(data)?;
    let mut records = stream.records_from(from);
    loop {
        match records.next_record() {
            Ok(Some(record)) => writeln!(out, "{:>20}  {}", record.unix_micros()?, record.kind().name())?,
            Err(error) if !error.is_truncation() => return Err(error.into()),
            // Nothing more yet, or half a record.
            _ => return Ok(records.offset()),
        }
    }
}

/// CTF 2 metadata, however few bytes come at a time. At the end of what is there, `more` says whether to try again.
fn text(mut source: impl Read, mut more: impl FnMut() -> bool) -> Result<(), Box<dyn Error>> {
    let mut decoder = Decoder::new(ParseOptions::STRICT);
    let (mut buffer, mut out) = ([0; 4096], std::io::stdout().lock());
    loop {
        let count = source.read(&mut buffer)?;
        if count == 0 && !more() {
            decoder.finish()?;
            return Ok(());
        }
        let mut fed = &buffer[..count];
        loop {
            match decoder.step(&mut fed)? {
                Step::Content(text) => out.write_all(text)?,
                Step::NeedMore(_) => break,
                _ => {}
            }
        }
        out.flush()?;
    }
}
