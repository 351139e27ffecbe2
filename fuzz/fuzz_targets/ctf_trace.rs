//! Any metadata with any data: the input is both, up to and from its first 0xff.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema};
use traceglass_fuzz::ctf_data::read_stream;

fuzz_target!(|data: &[u8]| {
    // No byte of UTF-8 is 0xff.
    let at = data.iter().position(|byte| *byte == 0xff).unwrap_or(data.len());
    let (metadata, data) = data.split_at(at);
    let Ok(stream) = MetadataStream::parse(metadata) else { return };
    let mut nodes = [Node::EMPTY; 512];
    let Ok(schema) = Schema::compile(&stream, &mut nodes) else { return };
    read_stream(data, &schema);
});
