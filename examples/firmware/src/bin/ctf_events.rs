//! Compiles the metadata of a CTF 2 trace into memory of its own, and reads the events of a data stream. Nothing is formatted,
//! so that the figures are those of reading alone.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, json};
use traceglass_firmware::{finish_plainly, read_events};

static METADATA: &[u8] = include_bytes!("../../../data/sample.ctf/metadata");
static STREAM: &[u8] = include_bytes!("../../../data/sample.ctf/stream");

/// The most nodes of the schema.
const NODES: usize = 48;

#[entry]
fn main() -> ! {
    finish_plainly(read().is_ok())
}

fn read() -> traceglass::Result<()> {
    let mut nodes = [Node::EMPTY; NODES];
    let schema = json::compile(MetadataStream::parse(METADATA)?, &mut nodes)?;
    read_events(STREAM, &schema)
}
