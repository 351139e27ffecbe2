//! Any text as the metadata of a trace: it is compiled or refused, and what is needed is known beforehand.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceglass::ErrorKind;
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema};
use traceglass_fuzz::located_in;

fuzz_target!(|data: &[u8]| {
    // Random text seldom begins as it must.
    let mut text = b"\x1e{\"type\":\"preamble\",\"version\":2}\n".to_vec();
    text.extend(data);
    for text in [data, &text] {
        let Ok(stream) = MetadataStream::parse(text) else { continue };
        let needed = Schema::needed(&stream);
        let mut nodes = vec![Node::EMPTY; needed.unwrap_or(64).min(100_000) as usize];
        match Schema::compile(&stream, &mut nodes) {
            Ok(schema) => {
                for class in schema.stream_classes() {
                    assert!(schema.stream_class(class.id()).is_some());
                    for event in class.event_classes() {
                        assert!(class.event_class(event.id()).is_some_and(|found| found == event));
                    }
                }
            }
            Err(error) => {
                located_in(&error, text);
                if let (ErrorKind::CapacityExceeded { capacity, needed: more }, Ok(needed)) =
                    (error.kind(), needed)
                {
                    assert!(capacity != nodes.len() as u64 || more > capacity || needed > 100_000);
                }
            }
        }
    }
});
