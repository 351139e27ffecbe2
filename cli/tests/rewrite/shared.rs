//! The properties that all formats have in common, and that the tests of each ask for.

use crate::common::{Scratch, status, traceglass};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// All files below a path by their names, or the file itself.
pub fn files(path: &str) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut todo = vec![Path::new(path).to_owned()];
    while let Some(next) = todo.pop() {
        if next.is_dir() {
            todo.extend(fs::read_dir(&next).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let name = next.strip_prefix(path).unwrap().to_str().unwrap().to_owned();
            found.insert(name, fs::read(&next).unwrap());
        }
    }
    found
}

/// The lines of JSON that a run printed.
pub fn lines(args: &[&str]) -> Vec<Value> {
    let output = traceglass(args);
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Runs a verb that writes, and gives its status and its report.
pub fn write(args: &[&str]) -> (i32, Value) {
    let mut all = args.to_vec();
    all.push("--json");
    let output = traceglass(&all);
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
        panic!(
            "{all:?} says {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    });
    (status(&output), report)
}

/// True if `check` finds a trace clean.
pub fn is_clean(path: &str) -> bool {
    status(&traceglass(&["check", path])) == 0
}

/// The records of a trace as `cat` gives them, without where they lie.
pub fn records(path: &str) -> Vec<String> {
    let mut records: Vec<_> = lines(&["cat", "--json", path]).into_iter().map(unplaced).collect();
    records.sort();
    records
}

/// A record without where it lies.
pub fn unplaced(mut record: Value) -> String {
    for place in ["offset", "bit", "path", "packet", "entry"] {
        record.as_object_mut().unwrap().remove(place);
    }
    record.to_string()
}

/// An output that is an input is refused before anything is read, and no residue stays.
#[test]
fn outputs_are_no_inputs() {
    let scratch = Scratch::new("rewrite-refused");
    let sample = crate::common::rdf::sample();
    let input = scratch.file("a.rdf", &sample);
    let other = scratch.file("b.rdf", b"something else");
    let out = scratch.path("out.rdf");
    std::os::unix::fs::symlink(&input, scratch.path("link.rdf")).unwrap();
    fs::hard_link(&input, scratch.path("hard.rdf")).unwrap();
    let (link, hard) = (scratch.path("link.rdf"), scratch.path("hard.rdf"));
    for (code, args) in [
        (2, vec!["recover", "-o", &input, &input]),
        (2, vec!["recover", "--force", "-o", &input, &input]),
        (2, vec!["recover", "--force", "-o", &link, &input]),
        (2, vec!["recover", "--force", "-o", &hard, &input]),
        (2, vec!["merge", "--force", "-o", &input, &hard]),
        (2, vec!["recover", "-o", &other, &input]),
        (2, vec!["recover", "-o", "/dev/null", &input]),
        (2, vec!["recover", "-o", "-", &input]),
        (2, vec!["recover", "--force", "-o", &scratch.0.to_str().unwrap(), &input]),
        (2, vec!["cut", "-o", &out, &input]),
        (1, vec!["recover", "-o", &out, &other]),
        (1, vec!["recover", "-o", &out, &scratch.path("missing")]),
        (1, vec!["recover", "-o", &scratch.path("missing/out.rdf"), &input]),
    ] {
        let output = traceglass(&args);
        assert_eq!(status(&output), code, "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!output.stderr.is_empty(), "{args:?}");
    }
    assert_eq!(fs::read(&input).unwrap(), sample);
    assert_eq!(fs::read(&other).unwrap(), b"something else");
    let mut left: Vec<_> =
        fs::read_dir(&scratch.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a.rdf", "b.rdf", "hard.rdf", "link.rdf"]);
    assert_eq!(write(&["recover", "--force", "-o", &other, &input]).0, 0);
    assert_eq!(fs::read(&other).unwrap(), sample);
}
