//! Files of recordings: those that cannot be read, and those that say what nothing is known of.

use crate::common::rfr::{self as build, Sequence};
use crate::common::{data, status, traceglass};
use crate::rfr::{Recording, recording, run};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value as Json;
use std::fs;
use std::io::Write as _;

/// A file that cannot be read is damage of its recording: it is named, and the rest is read.
#[cfg(unix)]
#[test]
fn an_unreadable_file_is_damage() {
    let recording = recording("unreadable");
    // A link that leads nowhere cannot be read, whoever runs the test.
    std::os::unix::fs::symlink("nowhere", recording.0.join("lost.rfr")).unwrap();
    for (verb, lines) in [("info", 1), ("ls", 9), ("cat", 12), ("check", 1)] {
        let output = traceglass(&[verb, "--json", recording.path()]);
        assert_eq!(
            (status(&output), output.stdout.iter().filter(|byte| **byte == b'\n').count()),
            (3, lines),
            "{verb}"
        );
        let said = if verb == "check" { &output.stdout } else { &output.stderr };
        assert!(verb == "info" || String::from_utf8_lossy(said).contains("lost.rfr"), "{verb}");
    }
    let finding = &run(&["check", "--json", recording.path()]).1[0]["findings"][0];
    assert_eq!((&finding["path"], &finding["what"]), (&"lost.rfr".into(), &"unreadable".into()));
}

/// A chunk that somebody has packed is no part that can be read: it is named, unless it is there as it was, too.
#[test]
fn a_packed_chunk_is_damage() {
    let recording = recording("packed");
    let chunk = build::Chunk::new(1_002).sequence(Sequence::new(1).about(10, 6, 5)).bytes();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&chunk).unwrap();
    let gzip = gzip.finish().unwrap();
    // One raw block of a frame.
    let block = ((chunk.len() as u32) << 3 | 1).to_le_bytes();
    let zstd = [&b"\x28\xb5\x2f\xfd\0\x58"[..], &block[..3], &chunk].concat();
    let whole = run(&["cat", "--json", recording.path()]).1;
    for (name, packed) in [("a/chunk-07-08.rfr.gz", gzip), ("a/chunk-07-08.rfr.zst", zstd)] {
        recording.file(name, &packed);
        for verb in ["info", "ls", "cat", "check"] {
            let output = traceglass(&[verb, recording.path()]);
            let said = [output.stdout.clone(), output.stderr.clone()].concat();
            let said = String::from_utf8_lossy(&said).split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(status(&output), 3, "{verb} {name}: {said}");
            assert!(said.contains(name) && said.contains("decompress it first"), "{verb} {name}: {said}");
        }
        assert_eq!(run(&["cat", "--json", recording.path()]), (3, whole.clone()), "{name}");
        let finding = &run(&["check", "--json", recording.path()]).1[0]["findings"][0];
        assert_eq!((&finding["path"], &finding["what"]), (&name.into(), &"unreadable".into()));
        // Beside what it was made of, and of something else.
        recording.file("a/chunk-07-08.rfr", &chunk);
        assert_eq!(run(&["check", "--json", recording.path()]).0, 0, "{name}");
        fs::remove_file(recording.0.join("a/chunk-07-08.rfr")).unwrap();
        let mut other = GzEncoder::new(Vec::new(), Compression::fast());
        other.write_all(b"notes").unwrap();
        recording.file(name, &other.finish().unwrap());
        assert_eq!(run(&["check", "--json", recording.path()]).0, 0, "{name}");
        fs::remove_file(recording.0.join(name)).unwrap();
    }
}

/// A file that is called as a chunk and is none is damage: nothing of it would be missed otherwise.
#[cfg(unix)]
#[test]
fn a_chunk_that_is_no_file_is_damage() {
    for what in ["pipe", "folder", "device"] {
        let recording = recording(&format!("special-{what}"));
        let path = recording.0.join("a").join("chunk-07-08.rfr");
        match what {
            "pipe" => assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success()),
            "folder" => fs::create_dir(&path).unwrap(),
            _ => std::os::unix::fs::symlink("/dev/zero", &path).unwrap(),
        }
        for verb in ["info", "ls", "cat", "check"] {
            let output = traceglass(&[verb, recording.path()]);
            let said = [output.stderr.as_slice(), output.stdout.as_slice()].concat();
            let said = String::from_utf8_lossy(&said);
            assert_eq!(status(&output), 3, "{what} {verb}");
            assert!(said.contains("chunk-07-08.rfr") && said.contains("not a regular file"), "{said}");
        }
    }
}

/// A file of which the first bytes are damaged has its name still.
#[test]
fn a_file_with_another_identifier_is_damage() {
    let recording = recording("identifier");
    let site = build::callsites(&[build::callsite(70, 30, 2, &[], &["task.id"])]);
    for name in ["chunk-00.rfr", "callsites.rfr"] {
        let path = recording.file(name, b"no recording");
        let (code, found) = run(&["check", "--json", recording.path()]);
        assert_eq!((code, &found[0]["verdict"]), (3, &Json::from("damaged")), "{name}");
        assert!(found[0]["findings"].to_string().contains(name), "{name}: {found:?}");
        fs::remove_file(path).unwrap();
    }
    // Of any other name, it may be anything.
    recording.file("notes.rfr", b"no recording");
    recording.file("callsites.rfr", &site);
    fs::remove_file(recording.0.join("sites")).unwrap();
    assert_eq!(run(&["check", "--json", recording.path()]).0, 0);
}

/// Damage of a file that has no events is told where events are exported.
#[test]
fn a_damaged_meta_is_a_gap() {
    let recording = recording("meta");
    let meta = fs::read(data("sample.rfr/meta.rfr")).unwrap();
    recording.file("meta.rfr", &meta[..meta.len() - 2]);
    let output = traceglass(&["export", "--format", "csv", "--table", "gaps", recording.path()]);
    assert_eq!(status(&output), 3);
    let rows = String::from_utf8(output.stdout).unwrap();
    assert!(rows.lines().any(|line| line.contains("meta.rfr")), "{rows}");
}

/// A level that has no name is told by its number, and a list of no names is none.
#[test]
fn a_level_without_a_name_is_a_number_in_tables() {
    let recording = Recording::new("levels");
    let site = |id: u64, level: u8, names: &[&str]| (id, 0, 1, build::callsite(id, level, 2, &[], names));
    let path = recording.file("a.rfr", &build::stream(&[site(1, 30, &["x"]), site(2, 129, &[])]));
    let csv = traceglass(&["export", "--format", "csv", "--table", "callsites", &path]);
    let text = String::from_utf8(csv.stdout).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|column| *column == name).unwrap();
    let [level, names] = ["level", "split_field_names"].map(column);
    assert_eq!((rows[1][level], rows[1][names]), ("info", "\"[\"\"x\"\"]\""));
    assert_eq!((rows[2][level], rows[2][names]), ("129", ""));
}
