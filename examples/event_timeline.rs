//! What happened, in the order of time, whatever the format: tracks as they are met, and events on them.
//!
//!     cargo run --example event_timeline -- examples/data/sample.rfr/*/*/*.rfr
//!
//! The model borrows from the input and keeps its state in arrays: the same runs without an allocator.

use memmap2::Mmap;
use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use traceglass::event::rfr::{Lane, Registry, RegistrySlot, Timeline};
use traceglass::event::{EventKind, Item, Source};

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = Vec::new();
    for path in std::env::args_os().skip(1) {
        // SAFETY: the map is read only, and what is in it is not trusted.
        files.push(unsafe { Mmap::map(&File::open(path)?)? });
    }
    let mut registry = Registry::new([RegistrySlot::EMPTY; 1024]);
    let mut timeline = Timeline::new(&mut registry, [const { Lane::EMPTY }; 256]);
    for (input, file) in files.iter().enumerate() {
        timeline.add(input, file)?;
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    let (mut labels, mut begun) = (HashMap::new(), HashMap::new());
    while let Some(item) = timeline.next_item()? {
        let event = match item {
            Item::Track(track) => {
                labels.insert(track.id(), track.label().to_string());
                continue;
            }
            Item::Event(event) => event,
            _ => continue,
        };
        let label = labels.get(&event.track()).map_or("?", String::as_str);
        let time = event.time().map_or_else(|| "?".to_owned(), |time| time.to_string());
        match (event.kind(), event.time()) {
            (EventKind::Begin, Some(time)) => drop(begun.insert(event.track(), time.ns())),
            (EventKind::End, Some(end)) => {
                let took = begun.remove(&event.track()).map_or(0, |begin| end.ns() - begin);
                writeln!(out, "{time}  {label:<16} {} of {took} ns", event.name())?;
            }
            (EventKind::Gap(gap), _) => writeln!(out, "{time}  {label:<16} {gap}")?,
            _ => {
                write!(out, "{time}  {label:<16} {}", event.name())?;
                if let Some(flow) = event.starts() {
                    let to = labels.get(&flow.track()).map_or("?", String::as_str);
                    write!(out, " of {to}")?;
                }
                writeln!(out)?;
            }
        }
    }
    Ok(out.flush()?)
}
