//! The CTF 2 vectors.

use crate::common::{status, traceglass};
use crate::{Folder, assert_fields, check, json_lines};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::Path;

const FIELDS: [&str; 4] = ["form", "major", "minor", "byte_order"];

#[test]
fn ctf2_vectors_are_as_their_manifest_says() {
    let Some(folder) = Folder::open("ctf2") else { return };
    folder.each(|path, facts| {
        let verdict = check(path, facts);
        let info = traceglass(&["info", "--json", path]);
        let ls = traceglass(&["ls", "--json", path]);
        let cat = traceglass(&["cat", path]);
        let fragments = traceglass(&["cat", "--json", path]);
        let hex = traceglass(&["hex", "--len", "0x100000", path]);
        let people = [traceglass(&["info", path]), traceglass(&["ls", path])];
        let expected = match verdict.as_str() {
            "clean" => 0,
            "damaged" => 3,
            _ => 1,
        };
        for output in [&info, &ls, &cat, &fragments, &hex, &people[0], &people[1]] {
            assert_eq!(status(output), expected, "{path}");
        }
        if verdict == "unreadable" {
            assert!(ls.stdout.is_empty() && cat.stdout.is_empty(), "{path}");
            return;
        }
        let info = &json_lines(&info)[0];
        let format = if info["language"] == "tsdl" { "ctf1" } else { "ctf2" };
        assert_eq!((&info["format"], &info["bytes"]), (&format.into(), &facts["size"]), "{path}");
        assert_eq!(info["content_bytes"], cat.stdout.len() as u64, "{path}");
        let lines = json_lines(&fragments);
        if facts["form"].is_string() {
            assert_fields(path, info, facts, &FIELDS);
            let uuid = info["uuid"].as_str().map(|uuid| uuid.replace('-', ""));
            assert_eq!(uuid.as_deref(), facts["uuid"].as_str(), "{path}");
        }
        if let Some(packets) = facts["packets"].as_array() {
            assert_eq!(info["packets"], packets.len() as u64, "{path}");
            let found = json_lines(&ls);
            assert_eq!(found.len(), packets.len(), "{path}");
            for (found, packet) in found.iter().zip(packets) {
                let mut found = found.clone();
                // The manifest has it without hyphens.
                found["uuid"] = found["uuid"].as_str().map(|uuid| uuid.replace('-', "")).into();
                let names: Vec<&str> = packet.as_object().unwrap().keys().map(String::as_str).collect();
                assert_fields(path, &found, packet, &names);
            }
        }
        if facts["fragments"].is_u64() {
            assert_eq!(
                (&info["fragments"], lines.len() as u64),
                (&facts["fragments"], facts["fragments"].as_u64().unwrap())
            );
        }
        if let Some(hash) = facts["text_sha256"].as_str() {
            assert_eq!(facts["text_size"], cat.stdout.len() as u64, "{path}");
            assert_eq!(sha256(&cat.stdout), hash, "{path}");
        }
        // The rest of a cut packet, and of a stream after damage, comes after it.
        if let Some(hash) = facts["text_prefix_sha256"].as_str() {
            let size = facts["text_prefix_size"].as_u64().unwrap() as usize;
            assert_eq!(cat.stdout.get(..size).map(sha256).as_deref(), Some(hash), "{path}");
        }
        if let Some(text) = facts["text"].as_str() {
            // It is named from the folder of the manifest, which is above that of the file.
            let texts = Path::new(path).ancestors().map(|folder| folder.join(text));
            let expected =
                texts.filter_map(|text| std::fs::read(text).ok()).next().expect("the expected text");
            assert!(cat.stdout == expected, "{path}: the text");
            assert_eq!(lines, parsed(&expected), "{path}");
        }
    });
}

#[test]
fn trace_directory_is_its_metadata() {
    let Some(folder) = Folder::open("ctf2") else { return };
    let mut read = 0;
    folder.each(|path, _| {
        if let Some(directory) = path.strip_suffix("/metadata") {
            let (file, trace) = (traceglass(&["cat", path]), traceglass(&["cat", directory]));
            assert!(file.stdout == trace.stdout && status(&file) == status(&trace), "{path}");
            read += 1;
        }
    });
    assert!(read > 0);
}

/// The fragments of a text sequence.
fn parsed(text: &[u8]) -> Vec<Value> {
    let fragments = text.split(|byte| *byte == 0x1e).filter(|part| !part.is_empty());
    fragments.filter_map(|fragment| serde_json::from_slice(fragment).ok()).collect()
}

fn sha256(data: &[u8]) -> String {
    Sha256::digest(data).iter().map(|byte| format!("{byte:02x}")).collect()
}
