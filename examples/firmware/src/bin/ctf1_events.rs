//! The same for CTF 1.8: compiles TSDL, and reads the events of a data stream that has neither packets nor a clock.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::Node;
use traceglass::ctf::schema::tsdl::{self, NameEntry, TypeNode, Workspace};
use traceglass_firmware::{finish_plainly, read_events};

static METADATA: &[u8] = include_bytes!("../../../data/sample.ctf1/metadata");
static STREAM: &[u8] = include_bytes!("../../../data/sample.ctf1/data");

/// The most nodes of the schema, and the room that its compiler needs while it is at work.
const NODES: usize = 32;
const TYPES: usize = 32;
const NAMES: usize = 32;

#[entry]
fn main() -> ! {
    finish_plainly(read().is_ok())
}

fn read() -> traceglass::Result<()> {
    let mut nodes = [Node::EMPTY; NODES];
    let mut types = [TypeNode::default(); TYPES];
    let mut names = [NameEntry::default(); NAMES];
    let workspace = Workspace { nodes: &mut types, names: &mut names };
    let schema = tsdl::compile(MetadataStream::parse(METADATA)?, &mut nodes, workspace)?;
    read_events(STREAM, &schema)
}
