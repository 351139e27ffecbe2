//! Every event of a CTF 2 trace, ordered by time.
//!
//!     cargo run --example ctf_events -- TRACE
//!
//! `TRACE` is a folder with a file `metadata` and a file for each data stream.

use std::error::Error;
use std::path::Path;
use traceglass::ctf::data::{Merge, MergeSlot, Packets, Value};
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: ctf_events TRACE")?;
    let folder = Path::new(&folder);

    // The metadata is compiled once, into storage of ours: firmware would lend an array, and be told how many nodes are
    // missing if it is too small. Here we ask beforehand.
    let metadata = std::fs::read(folder.join("metadata"))?;
    let metadata = MetadataStream::parse(&metadata)?;
    let mut nodes = vec![Node::EMPTY; Schema::needed(&metadata)?.try_into()?];
    let schema = Schema::compile(&metadata, &mut nodes)?;

    // A large trace is better mapped than read; nothing below minds.
    let mut streams = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() && path.file_name() != Some("metadata".as_ref()) {
            streams.push((path.clone(), std::fs::read(path)?));
        }
    }
    streams.sort();

    // One slot a stream is all the memory that merging takes.
    let mut slots = vec![MergeSlot::EMPTY; streams.len()];
    let mut merge = Merge::new(&mut slots);
    for (_, data) in &streams {
        merge.add(Packets::new(data, &schema))?;
    }
    loop {
        let merged = match merge.next_record() {
            Ok(Some(merged)) => merged,
            Ok(None) => break,
            Err(error) => {
                // The rest of a packet is lost, the next one is not: say so, and go on.
                if let Some(stream) = merge.recover() {
                    eprintln!("{}: {error}", streams[stream].0.display());
                }
                continue;
            }
        };
        let record = merged.record();
        if let Some(lost) = merged.loss().records().filter(|lost| *lost > 0) {
            eprintln!("{lost} events were discarded about here");
        }
        match record.nanoseconds() {
            Some(time) => print!("{time} "),
            None => print!("- "),
        }
        match record.class().name() {
            Some(name) => print!("{name}:"),
            None => print!("#{}:", record.class().id()),
        }
        // Fields come one after the other. Text and bytes are borrowed from the stream, and nothing is decoded unless
        // it is looked at.
        for field in record.payload().into_iter().flatten() {
            let field = field?;
            if let Some(name) = field.name() {
                print!(" {name}=");
            }
            match field.value() {
                Value::Unsigned(value) => print!("{value}"),
                Value::Signed(value) => print!("{value}"),
                Value::Boolean(value) => print!("{value}"),
                Value::Text(text) => print!("{:?}", text.to_string()),
                Value::Float(float) => print!("{:?}", float.to_f64().unwrap_or(f64::NAN)),
                Value::Bits(bits) | Value::Wide(bits) => print!("{} bits", bits.len()),
                Value::Blob(bytes) => print!("{} bytes", bytes.len()),
                Value::Structure => print!("{{"),
                Value::Array(count) => print!("{count} of"),
                Value::Optional(is_present) => print!("{}", if is_present { "some" } else { "none" }),
                Value::Variant(option) => print!("option {option}"),
                Value::End => print!(" }}"),
                _ => print!("?"),
            }
        }
        println!();
    }
    Ok(())
}
