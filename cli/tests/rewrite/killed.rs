//! Whenever the command is killed, or the disk is full: what is there is whole.

use crate::common::packets::{METADATA, packet};
use crate::common::random::Random;
use crate::common::rdf::{Chunk, file};
use crate::common::{Scratch, data, status, traceglass};
use crate::shared::{files, is_clean, write};
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs a command and kills it after a while, unless it has ended.
fn killed(args: &[&str], after: Duration) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_traceglass"));
    let mut child = child.args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A trace that takes a while.
fn trace(scratch: &Scratch) -> String {
    scratch.file("in/metadata", METADATA.as_bytes());
    for cpu in 0..4 {
        let packets = (0..8000).flat_map(|number| packet(cpu, number, u64::from(number) * 1000));
        scratch.file(&format!("in/cpu{cpu}"), &packets.collect::<Vec<_>>());
    }
    scratch.path("in")
}

#[test]
fn what_is_killed_leaves_all_or_nothing() {
    let scratch = Scratch::new("killed");
    let chunk = Chunk::raw("A", &[7; 4 << 20]);
    let rdf = scratch.file("in.rdf", &file(&[chunk.clone(), Chunk::raw("B", b"b"), chunk]));
    let mut random = Random(29);
    for (input, args) in [(trace(&scratch), vec!["recover"]), (rdf, vec!["cut", "--drop", "B"])] {
        let whole = scratch.path("whole");
        let before = Instant::now();
        assert_eq!(write(&[&args[..], &["-o", &whole, &input]].concat()).0, 0);
        let lasts = before.elapsed();
        let out = scratch.path("out");
        for round in 0..16 {
            let share = random.next() as u32 % 1100;
            killed(&[&args[..], &["-o", &out, &input]].concat(), lasts * share / 1000);
            if fs::exists(&out).unwrap() {
                assert_eq!(files(&out), files(&whole), "{round}");
                assert!(is_clean(&out));
            }
            let _ = fs::remove_file(&out).or_else(|_| fs::remove_dir_all(&out));
        }
        let _ = fs::remove_file(&whole).or_else(|_| fs::remove_dir_all(&whole));
    }
}

#[test]
fn an_append_that_is_killed_loses_nothing() {
    let scratch = Scratch::new("killed-append");
    let old = file(&[Chunk::raw("A", &[7; 1 << 20]), Chunk::zstd("B", b"second")]);
    scratch.file("list/text", &[9; 8 << 20]);
    let list = scratch.file("list/chunks.json", br#"[{"id": "C", "data": "text"}]"#);
    let path = scratch.file("in.rdf", &old);
    let before = Instant::now();
    assert_eq!(write(&["append", &path, &list]).0, 0);
    let lasts = before.elapsed();
    let whole = fs::read(&path).unwrap();
    let mut random = Random(31);
    for round in 0..16 {
        fs::write(&path, &old).unwrap();
        killed(&["append", &path, &list], lasts * (random.next() as u32 % 1100) / 1000);
        let bytes = fs::read(&path).unwrap();
        let is_old = bytes[..old.len()] == old;
        assert!(is_old || bytes == whole, "{round}");
        assert!(is_clean(&path), "{round}");
    }
}

/// The shell's limit on the size of files stands for a disk that is full.
#[test]
fn a_full_disk_leaves_nothing() {
    let scratch = Scratch::new("full-disk");
    let rdf = scratch.file("in.rdf", &file(&[Chunk::raw("A", &[7; 1 << 20]), Chunk::raw("B", b"b")]));
    let list = scratch.file("list/chunks.json", br#"[{"id": "C", "data": "chunks"}]"#);
    scratch.file("list/chunks", &[9; 1 << 20]);
    let (trace, rtc) = (trace(&scratch), data("sample.rtc"));
    let names = || {
        let mut names: Vec<_> =
            fs::read_dir(&scratch.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let (before, out) = (names(), scratch.path("out"));
    for args in [
        ["cut", "--drop=B", "-o", &out, &rdf],
        ["recover", "--no-verify", "-o", &out, &trace],
        ["create", "--json", "-o", &out, &list],
        ["append", "--json", "--allow-same-id", &rdf, &list],
        // All of them are in buffers up to the end.
        ["export", "--format=files", "-o", &out, rtc.to_str().unwrap()],
    ] {
        let limit = match args[0] {
            "append" => fs::metadata(&rdf).unwrap().len() / 512,
            "export" => 2,
            _ => 64,
        };
        let mut shell = Command::new("sh");
        let command = format!("ulimit -f {limit}; exec \"$0\" \"$@\"");
        shell.args(["-c", &command, env!("CARGO_BIN_EXE_traceglass")]);
        let was = fs::read(&rdf).unwrap();
        let output = shell.args(args).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
        assert_eq!(status(&output), 1, "{args:?}: {told}");
        let place = if args[0] == "append" { &rdf } else { &out };
        assert!(told.contains("cannot write") && told.contains(place.as_str()), "{args:?}: {told}");
        assert_eq!(names(), before, "{args:?}");
        assert_eq!(fs::read(&rdf).unwrap(), was);
    }
    assert_eq!(status(&traceglass(&["check", &rdf])), 0);
}
