//! The dial9 vectors.

use crate::common::{status, traceglass};
use crate::json_lines;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

fn folder() -> Option<PathBuf> {
    let Some(root) = std::env::var_os("TRACEGLASS_VECTORS") else {
        eprintln!("TRACEGLASS_VECTORS is not set: the dial9 vectors are not read");
        return None;
    };
    Some(PathBuf::from(root).join("dial9"))
}

fn lines_of(path: &std::path::Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).expect("a line")).collect()
}

#[test]
fn dial9_vectors_are_as_their_index_says() {
    let Some(folder) = folder() else { return };
    let mut read = 0;
    for entry in lines_of(&folder.join("index.ndjson")) {
        let name = entry["file"].as_str().expect("a file");
        let path = folder.join(name);
        let path = path.to_str().expect("a path of UTF-8");
        // An empty file has no format.
        let is_headless = name.contains("cut-header-") && entry["verdict"] == "damaged";
        let expected: &[i32] = match entry["verdict"].as_str().expect("a verdict") {
            _ if is_headless => &[1],
            "ok" => &[0],
            "damaged" => &[3],
            "unsupported" => &[1],
            "either" => &[0, 3],
            "unseen" => &[0, 3],
            other => panic!("{other}"),
        };
        let check = status(&traceglass(&["check", path]));
        assert!(expected.contains(&check), "{name}: check ends with {check}");
        let cat = traceglass(&["cat", "--json", path]);
        assert_eq!((status(&cat), status(&traceglass(&["info", path]))), (check, check), "{name}");
        if entry["verdict"] == "ok" {
            let count = entry["events"].as_u64().or(entry["before"].as_u64()).expect("a count");
            assert_eq!(json_lines(&cat).len() as u64, count, "{name}");
        }
        read += 1;
    }
    println!("dial9: {read} files read");
    assert!(read > 0);
}

/// The facts that an export or report should find, by another program.
#[test]
fn dial9_recordings_add_up_to_their_facts() {
    let Some(folder) = folder() else { return };
    let real = folder.join("real");
    let mut read = 0;
    for facts in lines_of(&real.join("facts.ndjson")) {
        let name = facts["file"].as_str().expect("a file");
        let file = fs::read_dir(&real)
            .expect("the recordings")
            .map(|entry| entry.expect("a file").path())
            .find(|path| {
                path.file_name()
                    .and_then(|file| file.to_str())
                    .is_some_and(|file| file.starts_with(&format!("{name}.bin")))
            });
        let file = file.expect("the recording");
        let info = json_lines(&traceglass(&["info", "--json", file.to_str().expect("a path of UTF-8")]));
        let info = &info[0];
        assert_eq!((&info["events"], &info["batches"]), (&facts["events"], &facts["batches"]), "{name}");
        if facts["polls_paired"] == 0 {
            assert_eq!(info["empty_segments"].as_array().expect("a list").len(), 1, "{name}");
            continue;
        }
        let polls = &info["polls"];
        let unpaired =
            ["poll_start_while_open", "poll_end_without_start"].map(|key| facts[key].as_u64().unwrap());
        assert_eq!(polls["count"], facts["polls_paired"], "{name}");
        assert_eq!(polls["ns"], facts["poll_ns_total"], "{name}");
        assert_eq!(polls["over_1ms"], facts["polls_over_1ms"], "{name}");
        assert_eq!(polls["unpaired"], unpaired.iter().sum::<u64>(), "{name}");
        for (found, expected) in
            polls["longest"].as_array().unwrap().iter().zip(facts["longest_polls"].as_array().unwrap())
        {
            for (key, of) in [
                ("ns", "ns"),
                ("task", "task"),
                ("worker", "worker"),
                ("spawn_loc", "spawn_loc"),
                ("start_ns", "start"),
            ] {
                assert_eq!(found[key], expected[of], "{name}: {key}");
            }
        }
        read += 1;
    }
    println!("dial9: facts of {read} recordings");
    assert!(read > 0);
}
