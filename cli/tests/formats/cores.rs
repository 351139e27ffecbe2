//! What is printed does not depend on the number of cores.

use crate::common::rfr::{Chunk, Sequence};
use crate::common::{Scratch, rdf};
use crate::ranges::ctf_trace;
use std::fs;
use std::process::{Command, Output, Stdio};

/// A run with so many threads.
fn run(threads: &str, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_traceglass"));
    command.args(args).env("TRACEGLASS_THREADS", threads).output().expect("the command runs")
}

/// Runs of one thread and of several do the same; gives the number of lines and messages.
fn same(args: &[&str]) -> (usize, usize) {
    let [alone, several, many] = ["1", "3", "16"].map(|threads| run(threads, args));
    for other in [several, many] {
        assert_eq!(other.status, alone.status, "{args:?}");
        assert_eq!(
            String::from_utf8_lossy(&other.stderr),
            String::from_utf8_lossy(&alone.stderr),
            "{args:?}"
        );
        // Not shown: it is long.
        assert!(other.stdout == alone.stdout, "{args:?}: stdout differs");
    }
    let lines = |text: &[u8]| text.iter().filter(|&&byte| byte == b'\n').count();
    (lines(&alone.stdout), lines(&alone.stderr))
}

/// Two streams with damage, losses and times that step back.
#[test]
fn streams_are_merged_alike() {
    const PACKET: usize = 128 << 10;
    let scratch = Scratch::new("cores");
    fs::create_dir_all(scratch.0.join("ctf")).unwrap();
    scratch.file("ctf/metadata", ctf_trace::metadata(0).as_bytes());
    let mut first = ctf_trace::stream(20 * PACKET);
    // A record of no class that there is, at the start of a packet and within one, and a count of discarded records.
    first[4 * PACKET + 84] = 99;
    first[7 * PACKET + 84 + 33 * 5] = 99;
    for packet in 9..20 {
        first[packet * PACKET + 72] = 12;
    }
    let mut second = ctf_trace::stream(24 * PACKET);
    // Packets are missing, at one place before packets without records, of which the last one ends a part.
    second.drain(10 * PACKET..12 * PACKET);
    for packet in [14, 15, 16] {
        let empty: u64 = 84 * 8;
        second[packet * PACKET + 48..packet * PACKET + 56].copy_from_slice(&empty.to_le_bytes());
    }
    second.drain(13 * PACKET..14 * PACKET);
    // The time of a record steps back, and the next one far ahead.
    let at = 6 * PACKET + 84 + 33 * 40;
    second[at + 2..at + 6].copy_from_slice(&5_u32.to_le_bytes());
    let at = 6 * PACKET + 84 + 33 * 41;
    second[at + 2..at + 6].copy_from_slice(&20_000_000_u32.to_le_bytes());
    // It ends within a packet.
    second.truncate(second.len() - PACKET / 2);
    scratch.file("ctf/first", &first);
    scratch.file("ctf/second", &second);
    scratch.file("ctf/empty", &[]);
    let path = scratch.path("ctf");
    let (lines, messages) = same(&["cat", &path]);
    assert!(lines > 100_000 && messages >= 6, "{lines} lines, {messages} messages");
    assert_eq!(same(&["cat", "--json", &path]), (lines, messages));
    assert_eq!(same(&["cat", "--color", "always", &path]), (lines, messages));
    assert_eq!(same(&["cat", "--delta", &path]).0, lines);
    for args in [
        &["--name", "my:ev"][..],
        &["--stream", "second"],
        &["--from", "+1ms", "--to", "+3ms"],
        &["--cpu", "1"],
        &["--context", "--json"],
    ] {
        same(&[&["cat"], args, &[path.as_str()]].concat());
    }
    let (found, _) = same(&["check", &path]);
    assert!(found > 6, "{found}");
    // All of one stream.
    same(&["cat", &scratch.path("ctf/second")]);

    // Who reads it wants no more.
    let mut command = Command::new(env!("CARGO_BIN_EXE_traceglass"));
    command.args(["cat", &path]).env("TRACEGLASS_THREADS", "4").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let out = child.wait_with_output().unwrap();
    assert_eq!((out.status.code(), String::from_utf8_lossy(&out.stderr).as_ref()), (Some(0), ""));
}

/// A packet whose lines are more than a part may have.
#[test]
fn a_large_packet_is_printed_in_parts() {
    let scratch = Scratch::new("packet");
    fs::create_dir_all(scratch.0.join("ctf")).unwrap();
    let metadata = "/* CTF 1.8 */
        typealias integer { size = 32; align = 8; signed = false; } := u32;
        trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
        clock { name = c; freq = 1000000000; };
        typealias integer { size = 32; align = 8; signed = false; map = clock.c.value; } := stamp;
        stream { id = 0; event.header := struct { u32 id; stamp time; }; };
        event { name = \"a\"; id = 7; stream_id = 0; fields := struct { u32 value; }; };\n";
    scratch.file("ctf/metadata", metadata.as_bytes());
    let head = [0xc1fc_1fc1_u32, 0].map(u32::to_le_bytes).concat();
    let records = |step: u32| (0..150_000).flat_map(move |n| [7, n * step, n]).flat_map(u32::to_le_bytes);
    for (name, step) in [("one", 3), ("two", 2)] {
        let mut data = head.clone();
        data.extend(records(step));
        // A record of no class ends it.
        data.extend([1, 0, 0, 0]);
        scratch.file(&format!("ctf/{name}"), &data);
    }
    let path = scratch.path("ctf");
    assert_eq!(same(&["cat", &path]), (300_000, 2));
    assert_eq!(same(&["cat", "--json", &path]), (300_000, 2));
}

#[test]
fn recordings_are_printed_alike() {
    let scratch = Scratch::new("cores-rfr");
    fs::create_dir_all(scratch.0.join("rfr/2023-11/14-22")).unwrap();
    for number in 0..40_u64 {
        // Some overlap, and one is too large to be printed apart.
        let count = if number == 20 { 200_000 } else { 8_000 };
        let sequence = Sequence::new(1).task(1, 1, &format!("task {number}"), None).times(0, count);
        let sequence = (0..count).fold(sequence, |sequence, at| sequence.about(at, 8, 1));
        let mut chunk = Chunk::new(1_700_000_000 + 60 * (number / 2)).sequence(sequence).bytes();
        chunk.truncate(chunk.len() - if number % 7 == 3 { 3 } else { 0 });
        scratch.file(&format!("rfr/2023-11/14-22/chunk-{number:02}-00.rfr"), &chunk);
    }
    let path = scratch.path("rfr");
    let (lines, messages) = same(&["cat", &path]);
    assert!(lines > 500_000 && messages > 3, "{lines} lines, {messages} messages");
    for args in [&["--json"][..], &["--delta"], &["--objects"], &["--task", "task 7"], &["--task", "none"]] {
        same(&[&["cat"], args, &[path.as_str()]].concat());
    }
    same(&["check", &path]);
}

#[test]
fn chunks_are_checked_alike() {
    let scratch = Scratch::new("cores-rdf");
    let mut chunks: Vec<_> =
        (0..60).map(|number| rdf::Chunk { ..rdf::Chunk::zstd("Odd", &vec![number; 40_000]) }).collect();
    for number in [3, 30, 59] {
        chunks[number].uncompressed_size += 1;
    }
    let path = scratch.file("a.rdf", &rdf::file(&chunks));
    let (found, _) = same(&["check", &path]);
    assert!(found > 3, "{found}");
    same(&["ls", "--sha256", &path]);
}
