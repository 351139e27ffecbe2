//! Real and generated files, where they can be had: the variable `TRACEGLASS_VECTORS` names the folder.
//!
//! Without it each test says so and passes. With it, a test that finds no file fails.

#[path = "vectors/canonical.rs"]
mod canonical;
#[path = "vectors/ctf1_streams.rs"]
mod ctf1_streams;
#[path = "vectors/ctf2_streams.rs"]
mod ctf2_streams;
#[path = "vectors/ctf_wire.rs"]
mod ctf_wire;
#[path = "vectors/dial9.rs"]
mod dial9;
#[path = "common/random.rs"]
mod random;
#[path = "vectors/rdf_contents.rs"]
mod rdf_contents;
#[path = "vectors/rfr_more.rs"]
mod rfr_more;
#[path = "vectors/rtc_more.rs"]
mod rtc_more;
#[path = "common/ctf_table.rs"]
mod table;

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder of vectors; `None` if there are none at all.
fn folder(name: &str) -> Option<PathBuf> {
    let Some(root) = std::env::var_os("TRACEGLASS_VECTORS") else {
        println!("{name}: TRACEGLASS_VECTORS is not set, nothing is read");
        return None;
    };
    Some(PathBuf::from(root).join(name))
}

/// The first line that differs.
fn difference(found: &[String], expected: &str, agrees: fn(&str, &str) -> bool) -> Option<String> {
    let expected: Vec<&str> = expected.lines().collect();
    let different = found.iter().zip(&expected).position(|(found, expected)| !agrees(found, expected));
    let at = different.or((found.len() != expected.len()).then_some(found.len().min(expected.len())))?;
    let line = |text: Option<&str>| text.unwrap_or("(none)").chars().take(1500).collect::<String>();
    Some(format!(
        "line {at}\n  found    {}\n  expected {}",
        line(found.get(at).map(String::as_str)),
        line(expected.get(at).copied())
    ))
}

/// Reads each trace that the index of a folder names, and compares each line with what is expected.
fn compare_traces(
    name: &str,
    read: fn(&Path) -> Vec<String>,
    agrees: fn(&str, &str) -> bool,
    is_debatable: impl Fn(&Value) -> bool,
) {
    let Some(folder) = folder(name) else { return };
    let index = fs::read_to_string(folder.join("index.ndjson")).expect("an index");
    let (mut traces, mut debatable, mut wrong) = (0, 0, Vec::new());
    for line in index.lines() {
        let entry: Value = serde_json::from_str(line).expect("a line of the index");
        let (set, name) = (entry["set"].as_str().expect("a set"), entry["name"].as_str().expect("a name"));
        let trace = folder.join(set).join(name);
        let expected = fs::read_to_string(trace.join("expected.ndjson")).expect("what is expected");
        traces += 1;
        if let Some(difference) = difference(&read(&trace), &expected, agrees) {
            if is_debatable(&entry) {
                debatable += 1;
                println!("{set}/{name}, where readers differ: {difference}");
            } else {
                wrong.push(format!("{set}/{name}: {difference}"));
            }
        }
    }
    println!("{traces} traces read, {debatable} differ where readers may");
    assert!(traces > 0, "no traces in {}", folder.display());
    assert!(wrong.is_empty(), "{} of {traces} traces are wrong\n{}", wrong.len(), wrong.join("\n"));
}
