//! CTF 1.8 traces with what each of their fields holds.

use super::table::also_by_table;
use super::{canonical, compare_traces};
use serde_json::Value;
use std::fs;
use std::path::Path;
use traceglass::Error;
use traceglass::ctf::metadata::MetadataStream;
use traceglass::ctf::schema::tsdl::{NameEntry, TypeNode, Workspace, compile, needed};
use traceglass::ctf::schema::{Node, Schema};

/// Compiles with exactly as much storage as is said to be needed.
fn with_schema(metadata: &[u8], read: impl Fn(&Schema<'_, '_>) -> Vec<String>) -> Result<Vec<String>, Error> {
    let stream = MetadataStream::parse_text(metadata)?;
    let (mut types, mut names) = (vec![TypeNode::default(); 4096], vec![NameEntry::default(); 4096]);
    let needed = needed(stream, Workspace { nodes: &mut types, names: &mut names })?;
    types.truncate(needed.workspace_nodes as usize);
    names.truncate(needed.workspace_names as usize);
    let mut nodes = vec![Node::EMPTY; usize::try_from(needed.nodes).unwrap()];
    let workspace = Workspace { nodes: &mut types, names: &mut names };
    let schema = match compile(stream, &mut nodes, workspace) {
        Ok(schema) => schema,
        Err(error) => {
            assert_ne!(error.kind().code(), "capacity-exceeded", "{error}");
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
        .filter(|name| !matches!(name.as_str(), "metadata" | "expected.ndjson" | "model.ndjson"))
        .collect();
    names.sort();
    with_schema(&metadata, |schema| {
        let stream = |name: &String| {
            let data = fs::read(trace.join(name)).expect("a data stream");
            canonical::lines(name, &data, schema)
        };
        names.iter().flat_map(stream).collect()
    })
    .unwrap_or_else(|error| vec![format!("meta {error}")])
}

/// True if a line is the expected one. A fault may lie within its tolerance, and its code may differ.
fn agrees(found: &str, expected: &str) -> bool {
    if found == expected {
        return true;
    }
    let Ok(wanted) = serde_json::from_str::<Value>(expected) else { return false };
    if wanted["z"] == "meta" {
        return found.starts_with("meta ");
    }
    let Ok(found) = serde_json::from_str::<Value>(found) else { return false };
    let same = ["z", "packet", "events"].into_iter().all(|key| found[key] == wanted[key]);
    let at = found["at"].as_u64();
    let lies_in = || at >= wanted["lo"].as_u64() && at <= wanted["hi"].as_u64();
    wanted["z"] == "err" && same && at.is_some() && lies_in()
}

#[test]
fn ctf1_streams() {
    // True if readers do not agree about it.
    let is_debatable = |entry: &Value| entry["either"] == true || entry["disputed"] == true;
    compare_traces("ctf1-streams", read, agrees, is_debatable);
}
