//! CTF 2 traces with what each of their fields holds.

use super::table::also_by_table;
use super::{canonical, compare_traces};
use serde_json::Value;
use std::fs;
use std::path::Path;
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::{Node, Schema};
use traceglass::{Error, ErrorKind};

/// Compiles with exactly as much storage as is said to be needed.
fn with_schema(metadata: &[u8], read: impl Fn(&Schema<'_, '_>) -> Vec<String>) -> Result<Vec<String>, Error> {
    let stream = MetadataStream::parse(metadata)?;
    let needed = Schema::needed(&stream)?;
    let mut nodes = vec![Node::EMPTY; usize::try_from(needed).unwrap()];
    let schema = match Schema::compile(&stream, &mut nodes) {
        Ok(schema) => schema,
        Err(error) => {
            assert!(!matches!(error.kind(), ErrorKind::CapacityExceeded { .. }), "{error}");
            return Err(error);
        }
    };
    Ok(also_by_table(&schema, read))
}

/// A trace in canonical form.
fn read(trace: &Path) -> Vec<String> {
    let metadata = fs::read(trace.join("metadata")).expect("metadata");
    let mut names: Vec<String> = fs::read_dir(trace)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name in UTF-8"))
        .filter(|name| name != "metadata" && name != "expected.ndjson")
        .collect();
    names.sort();
    with_schema(&metadata, |schema| {
        let stream = |name: &String| {
            let data = fs::read(trace.join(name)).expect("a data stream");
            canonical::lines(name, &data, schema)
        };
        names.iter().flat_map(stream).collect()
    })
    .unwrap_or_else(|_| vec!["meta".into()])
}

/// True if a line is the expected one; faults may lie within their tolerance.
fn agrees(found: &str, expected: &str) -> bool {
    if found == expected {
        return true;
    }
    let Ok(wanted) = serde_json::from_str::<Value>(expected) else { return false };
    if wanted["z"] == "meta" {
        return found == "meta";
    }
    let Ok(found) = serde_json::from_str::<Value>(found) else { return false };
    let same = ["code", "scope", "packet", "events"].into_iter().all(|key| found[key] == wanted[key]);
    let at = found["at"].as_u64();
    let lies_in = || at >= wanted["lo"].as_u64() && at <= wanted["hi"].as_u64();
    wanted["z"] == "err" && found["z"] == "err" && same && at.is_some() && lies_in()
}

#[test]
fn ctf2_streams() {
    // Readers may disagree about entries with `either`.
    compare_traces("ctf2-streams", read, agrees, |entry| entry["either"].is_string());
}
