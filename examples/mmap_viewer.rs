//! A small viewer over a memory map: lists the parts of a trace, jumps to one, shows its bytes.
//!
//!     cargo run --example mmap_viewer -- examples/data/sample.rdf
//!
//! A file of many gigabytes opens as fast as a small one: what is not looked at is never read from disk, and nothing is
//! gathered in advance. A view borrows from the map and costs nothing to make, so that each answer makes its own.

use memmap2::Mmap;
use std::error::Error;
use std::io::{BufRead, Write};
use traceglass::{Format, HexDump, ctf::metadata, rdf, rfr, rtc};

/// The number of bytes shown at a time.
const PAGE: u64 = 8 * HexDump::WIDTH as u64;

/// A part of a trace, and where its bytes are.
struct Part {
    name: String,
    offset: u64,
    size: u64,
}

/// The part with that number, if there is one.
fn part(format: Format, data: &[u8], number: usize) -> traceglass::Result<Option<Part>> {
    let found = match format {
        // The index is an array: any entry is there at once.
        Format::Rdf => {
            let Some(entry) = rdf::File::parse(data)?.index().get(number) else { return Ok(None) };
            let range = entry.stored_range()?;
            let name = format!("{} {}", entry.compression(), entry.identifier());
            Some(Part { name, offset: range.start, size: range.end - range.start })
        }
        // Units have one size: their places are computed, not searched for.
        Format::Rtc => {
            let grid = rtc::Grid::new(data)?;
            if number as u64 >= grid.len() {
                return Ok(None);
            }
            let unit = grid.unit(grid.first().number() + number as u64)?;
            let name = format!("unit {}", unit.number());
            Some(Part {
                name,
                offset: unit.offset(),
                size: unit.end().min(data.len() as u64) - unit.offset(),
            })
        }
        // A packet says where the next one begins: its header is all that is read of it.
        Format::Ctf1 | Format::Ctf2 => {
            metadata::MetadataStream::parse(data)?.packets().nth(number).transpose()?.map(|packet| {
                let size = packet.header().total_bytes().into();
                Part { name: format!("packet {number}"), offset: packet.offset(), size }
            })
        }
        // Nothing in RFR has a length: what lies in front must be read. A viewer would keep a `rfr::Directory`.
        Format::Rfr => {
            let mut sequences = rfr::Chunk::parse(data)?.sequences();
            let Some(sequence) = sequences.nth(number).transpose()? else { return Ok(None) };
            let next = sequences.next().transpose()?.map_or(data.len() as u64, |next| next.offset());
            let name = format!("sequence {}", sequence.seq_id());
            Some(Part { name, offset: sequence.offset(), size: next - sequence.offset() })
        }
        _ => None,
    };
    Ok(found)
}

fn list(format: Format, data: &[u8]) {
    for number in 0.. {
        match part(format, data, number) {
            Ok(Some(part)) => {
                println!(
                    "{number:>4}  {:>10}  {:>12} bytes  {}",
                    format!("{:#x}", part.offset),
                    part.size,
                    part.name
                )
            }
            Ok(None) => break,
            // One bad part of an RDF file says nothing about the next one; of the others it was the way there.
            Err(error) => {
                println!("{number:>4}  {error}");
                if format != Format::Rdf || rdf::File::parse(data).is_err() {
                    break;
                }
            }
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: mmap_viewer FILE")?;
    let file = std::fs::File::open(path)?;
    // SAFETY: the bytes are never trusted. Who shortens the file meanwhile ends this program with a signal.
    let data = unsafe { Mmap::map(&file)? };
    let format = Format::detect(&data).ok_or("not a trace that is known here")?;
    println!(
        "{format}, {} bytes. l: list, N: go to part N, 0x…: to an offset, Enter: a page on, q: quit",
        data.len()
    );

    let mut at = 0;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        match line.trim() {
            "q" => break,
            "l" => {
                list(format, &data);
                continue;
            }
            "" => {}
            place => match place.strip_prefix("0x") {
                Some(digits) => at = u64::from_str_radix(digits, 16)?,
                None => match part(format, &data, place.parse()?) {
                    Ok(Some(part)) => at = part.offset,
                    Ok(None) => println!("no such part"),
                    // The error says where it is: that is the place to look at.
                    Err(error) => {
                        println!("{error}");
                        at = error.offset();
                    }
                },
            },
        }
        at = at.min(data.len() as u64);
        let page = &data[at as usize..(at + PAGE).min(data.len() as u64) as usize];
        print!("{}", HexDump::new(page, at));
        std::io::stdout().flush()?;
        at += page.len() as u64;
    }
    Ok(())
}
