//! Any bytes as data streams of traces whose metadata is right.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema};
use traceglass_fuzz::ctf_data::read_stream;

#[path = "../../tests/ctf/samples.rs"]
mod samples;

fuzz_target!(|data: &[u8]| {
    let text = samples::sample();
    let stream = MetadataStream::parse(text.as_bytes()).expect("metadata");
    let mut nodes = [Node::EMPTY; 256];
    let schema = Schema::compile(&stream, &mut nodes).expect("a schema");
    read_stream(data, &schema);
});
