//! A timeline of any format, in the order of time: tracks as they are met, and events on them.
//!
//!     cargo run --example event_timeline -- FILE...
//!
//! A file of RTC or RDF; the files of an RFR recording; segments of dial9; the metadata of a CTF trace, and then its
//! streams. The model borrows from the inputs. Its state is allocated here; firmware lends arrays (`event::Rooms`).

use memmap2::Mmap;
use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use traceglass::event::{EventKind, Item, Number, Source, Trace};

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = Vec::new();
    for path in std::env::args_os().skip(1) {
        // SAFETY: the map is read only, and what is in it is not trusted.
        files.push(unsafe { Mmap::map(&File::open(path)?)? });
    }
    let inputs: Vec<&[u8]> = files.iter().map(|file| &file[..]).collect();
    if inputs.is_empty() {
        return Err("usage: event_timeline FILE...".into());
    }

    Trace::read(&inputs, print)
}

fn print(trace: &mut Trace<'_, '_, '_>) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let (mut labels, mut begun) = (HashMap::new(), HashMap::<_, Vec<i128>>::new());
    while let Some(item) = trace.next_item()? {
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
            (EventKind::Begin, Some(time)) => begun.entry(event.track()).or_default().push(time.ns()),
            (EventKind::End, Some(end)) => {
                write!(out, "{time}  {label:<16} {}", event.name())?;
                match begun.get_mut(&event.track()).and_then(Vec::pop) {
                    Some(begin) => writeln!(out, " of {} ns", end.ns() - begin)?,
                    None => writeln!(out, ", whose begin is not in the trace")?,
                }
            }
            (EventKind::Counter(Number::Integer(value)), _) => {
                writeln!(out, "{time}  {label:<16} = {value}")?
            }
            (EventKind::Counter(Number::Float(value)), _) => {
                writeln!(out, "{time}  {label:<16} = {value:.3}")?
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
