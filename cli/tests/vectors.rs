//! The `traceglass` command against the vectors that `TRACEGLASS_VECTORS` names: folders with a `manifest.json`.
//!
//! Without the variable nothing is compared, and the tests say so; with it, a folder of which no file was read is a
//! failure.

mod common;
#[path = "vectors/ctf.rs"]
mod ctf;
#[path = "vectors/ctf_wire.rs"]
mod ctf_wire;
#[path = "vectors/dial9.rs"]
mod dial9;
#[path = "vectors/rdf.rs"]
mod rdf;
#[path = "vectors/rewrite.rs"]
mod rewrite;
#[path = "vectors/rfr.rs"]
mod rfr;
#[path = "vectors/rtc.rs"]
mod rtc;
#[path = "vectors/states.rs"]
mod states;

use serde_json::{Map, Value};
use std::path::PathBuf;
use std::process::Output;

/// A folder of vectors with its manifest.
pub struct Folder {
    path: PathBuf,
    files: Map<String, Value>,
}

impl Folder {
    /// The folder `name`, or `None` where no vectors are given.
    pub fn open(name: &str) -> Option<Self> {
        let Some(root) = std::env::var_os("TRACEGLASS_VECTORS") else {
            eprintln!("TRACEGLASS_VECTORS is not set: the {name} vectors are not read");
            return None;
        };
        let path = PathBuf::from(root).join(name);
        let text = std::fs::read_to_string(path.join("manifest.json")).expect("a manifest");
        let manifest: Value = serde_json::from_str(&text).expect("a manifest of JSON");
        let files = manifest["files"].as_object().expect("files").clone();
        Some(Self { path, files })
    }

    /// Calls `test` with the path and the facts of every file; says how many there were.
    pub fn each(&self, mut test: impl FnMut(&str, &Value)) {
        let mut read = 0;
        for (name, facts) in &self.files {
            let path = self.path.join(name);
            assert!(path.exists(), "{name} is in the manifest, yet not there");
            eprintln!("{name}");
            test(path.to_str().expect("a path of UTF-8"), facts);
            read += 1;
        }
        println!("{}: {read} files read", self.path.display());
        assert!(read > 0, "no file was read");
    }
}

/// The lines of JSON on stdout.
pub fn json_lines(output: &Output) -> Vec<Value> {
    let text = std::str::from_utf8(&output.stdout).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// Runs `check --json`, compares verdict, exit status and findings with the facts, and returns the verdict.
pub fn check(path: &str, facts: &Value) -> String {
    let output = common::traceglass(&["check", "--json", path]);
    let lines = json_lines(&output);
    assert_eq!(lines.len(), 1, "{path}");
    let (object, status) = (&lines[0], common::status(&output));
    let verdict = object["verdict"].as_str().expect("a verdict");
    let expected_status = match verdict {
        "clean" => 0,
        "damaged" => 3,
        "unreadable" => 1,
        other => panic!("{path}: verdict {other}"),
    };
    assert_eq!(status, expected_status, "{path}: {object}");
    let of_manifest = if verdict == "unreadable" { "error" } else { verdict };
    match facts["verdict"].as_str().expect("a verdict in the manifest") {
        "either" => {
            let allowed = facts["allowed"].as_array().expect("what is allowed");
            assert!(allowed.iter().any(|one| one == of_manifest), "{path}: {object}");
        }
        // A file that is no RDF may be of a format beside it, which is told.
        "error" if ["rmt", "sqtt"].contains(&object["format"].as_str().unwrap_or_default()) => {}
        expected => assert_eq!(of_manifest, expected, "{path}: {object}"),
    }
    let findings = object["findings"].as_array().expect("findings");
    if facts["finding"] == true || verdict != "clean" {
        assert!(!findings.is_empty(), "{path}: no finding");
    }
    let size = facts["size"].as_u64();
    for finding in findings {
        for (field, is) in [("offset", Value::is_u64 as fn(&Value) -> bool), ("what", Value::is_string)] {
            assert!(is(&finding[field]), "{path}: {field} of {finding}");
        }
        assert!(finding["message"].as_str().is_some_and(|message| !message.is_empty()), "{path}");
        if let (Some(size), Some(offset)) = (size, finding["offset"].as_u64()) {
            // An index that is cut off is located where the header says it is.
            let lost = finding["what"] == "unexpected-end" || finding["what"] == "out-of-bounds";
            assert!(offset <= size || lost, "{path}: {finding}");
        }
        assert!(verdict != "clean" || finding["severity"] == "warning", "{path}: {finding}");
    }
    verdict.to_owned()
}

/// Asserts that each field named in `fields` is in `actual` as it is in `expected`.
pub fn assert_fields(path: &str, actual: &Value, expected: &Value, fields: &[&str]) {
    for field in fields {
        assert_eq!(actual[field], expected[field], "{path}: {field} of {actual}");
    }
}
