//! Files that are not RDF: their chunks.

use super::{noticed, text, tokens};
use serde_json::{Value, json};
use traceglass::rdf::contents::neighbors::ChunkFile;
use traceglass::{Finding, Severity};

/// Compares the chunks of a file.
pub fn compare(name: &str, data: &[u8], facts: &Value) {
    let file = ChunkFile::parse(data).expect("a file of chunks");
    let header = file.header();
    assert_eq!(facts["format"], file.kind().name(), "{name}");
    assert_eq!(facts["version"], json!([header.major(), header.minor()]), "{name}");
    assert_eq!(facts["flags"], header.flags(), "{name}");
    assert_eq!(facts["first_chunk"], header.first_chunk(), "{name}");
    let created = format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
        header.year() + 1900,
        header.month() + 1,
        header.day(),
        header.hour(),
        header.minute(),
        header.second()
    );
    assert_eq!(facts["created"], created, "{name}");
    let expected = facts["chunks"].as_array().expect("chunks");
    let mut chunks = file.chunks();
    let mut findings = Vec::new();
    for (number, chunk) in (&mut chunks).enumerate() {
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(error) => {
                findings.push(Finding::new(Severity::Error, error));
                continue;
            }
        };
        let facts = &expected[number];
        let header = chunk.header();
        let of_type = super::name_or(chunk.type_name(), header.chunk_type());
        let mut found = json!({
            "offset": chunk.offset(), "type": of_type, "index": header.index(),
            "version": [header.major(), header.minor()], "size": header.size(),
        });
        if let Some(adapter) = chunk.adapter() {
            found["name"] = text(adapter.name().bytes());
        }
        if let Some(stream) = chunk.rmt() {
            found["process"] = stream.process().into();
            found["stream_bytes"] = stream.data().len().into();
            found["kinds"] = tokens::summary(stream)["kinds"].clone();
        }
        for (field, found) in found.as_object().expect("an object") {
            assert_eq!(&facts[field], found, "{name}: {field} of chunk {number}");
        }
    }
    let whole = expected.len()
        - usize::from(!findings.is_empty() && expected.len() > file.chunks().flatten().count());
    assert_eq!(file.chunks().flatten().count(), whole, "{name}");
    for error in facts.get("errors").and_then(Value::as_array).into_iter().flatten() {
        noticed(name, error, &findings);
    }
    assert_eq!(facts.get("errors").is_some(), !findings.is_empty(), "{name}: {findings:?}");
}

/// A line for each token.
pub fn lines(data: &[u8]) -> Vec<String> {
    let file = ChunkFile::parse(data).expect("a file of chunks");
    let streams = file.chunks().flatten().filter_map(|chunk| chunk.rmt());
    streams.enumerate().flat_map(|(number, stream)| tokens::lines(number, stream)).collect()
}
