//! The RDF vectors.

use crate::common::{status, traceglass};
use crate::{Folder, assert_fields, check, json_lines};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write;

const HEADER_FIELDS: [&str; 4] = ["magic", "version", "index_offset", "index_size"];

#[test]
fn rdf_vectors_are_as_their_manifest_says() {
    let Some(folder) = Folder::open("rdf") else { return };
    folder.each(|path, facts| {
        let verdict = check(path, facts);
        let info = traceglass(&["info", "--json", path]);
        let ls = traceglass(&["ls", "--json", "--sha256", path]);
        traceglass(&["info", path]);
        if verdict == "unreadable" {
            assert_eq!((status(&info), status(&ls)), (1, 1), "{path}");
            assert!(ls.stdout.is_empty(), "{path}");
            return;
        }
        assert_eq!(status(&info), if verdict == "clean" { 0 } else { 3 }, "{path}");
        let info = &json_lines(&info)[0];
        assert_eq!(info["verdict"], verdict.as_str(), "{path}");
        if facts["verdict"] == "error" && ["rmt", "sqtt"].contains(&info["format"].as_str().unwrap()) {
            // It has no entries: its chunks lie one after the other.
            assert!(!json_lines(&ls).is_empty(), "{path}");
            return;
        }
        assert_fields(path, info, facts, &HEADER_FIELDS);
        assert_eq!((&info["format"], &info["bytes"]), (&"rdf".into(), &facts["size"]), "{path}");
        let cat = traceglass(&["cat", "--json", path]);
        assert_eq!(status(&cat), if verdict == "clean" { 0 } else { 3 }, "{path}");
        if let Some(entries) = facts["entries"].as_array() {
            entries_are(path, &json_lines(&ls), entries);
            contents_are(path, entries);
            let unread = |entry: &&Value| entry["data_sha256"].is_null() || entry["header_sha256"].is_null();
            let unread: Vec<&Value> = entries.iter().filter(unread).collect();
            if unread.iter().all(|entry| entry["data_open"] != true) {
                assert_eq!(status(&ls), if unread.is_empty() { 0 } else { 3 }, "{path}");
            }
        }
        if let Some(digest) = facts["entries_digest"].as_object() {
            let lines = json_lines(&ls);
            assert_eq!(Some(lines.len() as u64), digest["count"].as_u64(), "{path}");
            assert_eq!(digest_of(&lines, &digest["line"]), digest["sha256"], "{path}");
        }
    });
}

fn entries_are(path: &str, actual: &[Value], expected: &[Value]) {
    assert_eq!(actual.len(), expected.len(), "{path}");
    for (actual, expected) in actual.iter().zip(expected) {
        let expected = expected.as_object().unwrap();
        for (field, value) in expected.iter().filter(|(field, _)| *field != "data_open") {
            let open = field == "data_sha256" && expected.contains_key("data_open");
            assert!(open || actual[field] == *value, "{path}: {field} of {actual}, expected {value}");
        }
        let unread = actual["data_sha256"].is_null() || actual["header_sha256"].is_null();
        assert_eq!(actual["error"].is_string(), unread, "{path}: {actual}");
    }
}

/// The bytes that `cat` extracts, by entry and by identifier, have the hashes of the manifest.
fn contents_are(path: &str, entries: &[Value]) {
    for entry in entries.iter().take(70) {
        let number = entry["entry"].to_string();
        let mut calls = vec![vec!["cat", "--entry", &number]];
        let index = entry["index"].to_string();
        match entry["id"].as_str() {
            Some(id) if !id.starts_with('-') => calls.push(vec!["cat", "--chunk", id, "--index", &index]),
            _ => {}
        }
        for call in calls {
            for (part, hash) in [(None, "data_sha256"), (Some("--header"), "header_sha256")] {
                let args: Vec<&str> = call.iter().copied().chain(part).chain([path]).collect();
                let output = traceglass(&args);
                match entry[hash].as_str() {
                    Some(hash) => {
                        assert_eq!((status(&output), sha256(&output.stdout).as_str()), (0, hash), "{args:?}");
                    }
                    None if entry["data_open"] == true => {}
                    None => assert_eq!((status(&output), output.stdout.len()), (1, 0), "{args:?}"),
                }
            }
        }
    }
}

/// The hash of one line an entry, its fields as the manifest's `line` says.
fn digest_of(lines: &[Value], line: &Value) -> String {
    let fields = line.as_str().unwrap().split(',').next().unwrap();
    let lines: Vec<String> = lines
        .iter()
        .map(|entry| {
            let field = |name| entry[name].as_str().map_or_else(|| entry[name].to_string(), str::to_owned);
            fields.split(' ').map(field).collect::<Vec<_>>().join(" ")
        })
        .collect();
    sha256(lines.join("\n").as_bytes())
}

fn sha256(data: &[u8]) -> String {
    Sha256::digest(data).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}
