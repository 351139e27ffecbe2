//! A timeline of any format, in the order of time: tracks as they are met, and events on them.
//!
//!     cargo run --example event_timeline -- FILE...
//!
//! A file of RTC or RDF; the files of an RFR recording; the metadata of a CTF trace, and then its streams. The model
//! borrows from the inputs and keeps its state in rooms that are lent: here they grow, firmware lends arrays.

use memmap2::Mmap;
use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use traceglass::ctf::data::MergeSlot;
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema};
use traceglass::event::{EventKind, Item, Number, Rooms, Source, Trace, rdf};
use traceglass::rfr::{Callsites, Site};
use traceglass::zstd::Workspace;

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = Vec::new();
    for path in std::env::args_os().skip(1) {
        // SAFETY: the map is read only, and what is in it is not trusted.
        files.push(unsafe { Mmap::map(&File::open(path)?)? });
    }
    let inputs: Vec<&[u8]> = files.iter().map(|file| &file[..]).collect();
    let first = inputs.first().copied().ok_or("usage: event_timeline FILE...")?;

    // Sizes that depend on the inputs are asked for; the rest grows.
    let nodes = MetadataStream::parse(first).and_then(|metadata| Schema::needed(&metadata)).unwrap_or(0);
    let decoded = traceglass::rdf::File::parse(first).map_or(0, |file| rdf::needed(&file));
    let callsites = inputs.iter().filter_map(|input| Callsites::parse(input).ok());
    let callsites = callsites.map(Iterator::count).max().unwrap_or(0);
    let mut registry = Vec::new();
    let mut names = Vec::new();
    let mut lanes = Vec::new();
    let mut callsites = vec![Site::EMPTY; callsites];
    let mut schema = None;
    let mut nodes = vec![Node::EMPTY; usize::try_from(nodes)?];
    let mut merge = vec![MergeSlot::EMPTY; inputs.len()];
    let mut streams = Vec::new();
    let (mut slots, mut stream_names) = (Vec::new(), Vec::new());
    let mut buffer = vec![0; 1 << 20];
    let mut decoded = vec![0; usize::try_from(decoded)?];
    let mut workspace = Workspace::new();
    let mut tracks = Vec::new();
    let mut chunks = Vec::new();
    let rooms = Rooms::new()
        .rfr(&mut registry, &mut names, &mut lanes, &mut callsites)
        .ctf(&mut schema, &mut nodes, &mut merge, &mut streams)
        .rtc(&mut slots, &mut stream_names, &mut buffer)
        .rdf(&mut decoded, &mut workspace, &mut tracks, &mut chunks);
    let mut trace = Trace::open(&inputs, rooms)?;

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
