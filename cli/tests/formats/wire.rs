//! Captures off a wire: several streams in one file, with what lies between their packets.

use crate::common::packets::{METADATA, packet};
use crate::common::{Followed, Scratch, status, traceglass};
use serde_json::{Value, json};

/// A trace with this file as its only one.
fn trace(test: &str, data: &[u8]) -> (Scratch, String) {
    let scratch = Scratch::new(test);
    scratch.file("trace/metadata", METADATA.as_bytes());
    scratch.file("trace/uart.bin", data);
    let path = scratch.path("trace");
    (scratch, path)
}

fn lines(output: &std::process::Output) -> Vec<Value> {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Two processors, a banner, a packet that lost three bytes, a restart, and fill at the end.
fn sample() -> Vec<u8> {
    let mut data = b"U-Boot 2026.10 \x1b[1mready\x1b[0m\n".to_vec();
    data.extend(packet(1, 0, 2000));
    data.extend(packet(0, 0, 1000));
    let mut damaged = packet(0, 1, 3000);
    damaged.drain(50..53);
    data.extend(damaged);
    data.extend(packet(1, 1, 4000));
    data.extend(packet(0, 0, 500));
    data.extend([0xff; 50]);
    data
}

#[test]
fn a_capture_is_split_and_its_gaps_are_told() {
    let (_scratch, path) = trace("wire-sample", &sample());
    let output = traceglass(&["cat", "--json", "--gaps", &path]);
    assert_eq!(status(&output), 3);
    let found: Vec<_> = lines(&output)
        .iter()
        .map(|line| match line["kind"].as_str() {
            Some("gap") => json!([line["what"], line["offset"], line["text"]]),
            _ => json!([line["session"], line["cpu"], line["payload"]["serial"], line["doubtful"]]),
        })
        .collect();
    let expected = json!([
        ["text", 0, "U-Boot 2026.10 \u{1b}[1mready\u{1b}[0m\n"],
        [0, 0, 1000, false],
        [0, 0, 1001, false],
        [0, 0, 1002, false],
        [0, 1, 2000, false],
        [0, 1, 2001, false],
        [0, 1, 2002, false],
        [0, 0, 3000, true],
        ["damaged", 267, null],
        [0, 1, 4000, false],
        [0, 1, 4001, false],
        [0, 1, 4002, false],
        [1, 0, 500, false],
        [1, 0, 501, false],
        [1, 0, 502, false],
    ]);
    assert_eq!(Value::from(found), expected);
    // The same for people: nothing reaches the terminal that is not escaped.
    let output = traceglass(&["check", &path]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains(r#""U-Boot 2026.10"#) && !said.contains('\u{1b}'), "{said}");
    assert!(said.contains("session 1") && said.contains("fill at 0x1fa to the end"), "{said}");
    let output = traceglass(&["info", "--json", &path]);
    let about = &lines(&output)[0]["captures"][0];
    let counts = ["streams", "processors", "sessions", "gaps", "fill_bytes"].map(|key| about[key].as_u64());
    assert_eq!(counts, [Some(2), Some(2), Some(2), Some(2), Some(50)]);
    let output = traceglass(&["info", &path]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("of 2 streams on 2 processors, 1 restart, 2 gaps"), "{said}");
}

#[test]
fn one_stream_is_read_as_before_unless_asked() {
    let data = [packet(0, 0, 1000), packet(0, 1, 2000)].concat();
    let (_scratch, path) = trace("wire-plain", &data);
    let plain = lines(&traceglass(&["cat", "--json", &path]));
    assert!(plain.len() == 6 && plain.iter().all(|line| line.get("session").is_none()));
    let asked = lines(&traceglass(&["cat", "--json", "--wire", &path]));
    assert!(asked.len() == 6 && asked.iter().all(|line| line["session"] == 0));
    // The end of a packet that was never closed is 0, and no time of the trace.
    let mut open = data.clone();
    open[96 + 12..96 + 20].fill(0);
    let (_scratch, path) = trace("wire-open", &open);
    let info = &lines(&traceglass(&["info", "--json", &path]))[0];
    assert_eq!((&info["time_ns"], &info["end_time_ns"]), (&json!(1000), &json!(2020)));
    // With damage it is a capture, unless that is not wanted.
    let (_scratch, path) = trace("wire-no-wire", &[b"boot\n".to_vec(), data].concat());
    assert_eq!(lines(&traceglass(&["cat", "--json", &path])).len(), 6);
    assert_eq!(lines(&traceglass(&["cat", "--json", "--no-wire", &path])).len(), 0);
    let output = traceglass(&["cat", "--json", "--skip", "5", &path]);
    assert_eq!((lines(&output).len(), status(&output)), (6, 3));
    assert_eq!(status(&traceglass(&["cat", "--wire", "--no-wire", &path])), 2);
}

/// The lines of what comes through a pipe in these pieces, each of which is looked at alone.
#[cfg(unix)]
fn piped(metadata: &[u8], pieces: &[&[u8]], options: &[&str]) -> (i32, Vec<Value>) {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let scratch = Scratch::new("wire-pipe");
    scratch.file("trace/metadata", metadata);
    let path = scratch.path("trace/uart");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let child = Command::new(env!("CARGO_BIN_EXE_traceglass"))
        .args([&["cat", "--json", "--gaps", "--follow"], options, &[&path]].concat())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    for piece in pieces {
        pipe.write_all(piece).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(60));
    }
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    (status(&output), lines(&output))
}

/// The facts about a record that last whenever it is read: its number among the packets is known in the end.
fn lasting(mut lines: Vec<Value>) -> Vec<String> {
    for line in &mut lines {
        line.as_object_mut().unwrap().remove("packet");
    }
    let mut lines: Vec<_> = lines.iter().map(Value::to_string).collect();
    lines.sort();
    lines
}

#[cfg(unix)]
#[test]
fn what_comes_through_a_pipe_is_followed() {
    let data = sample();
    let (_scratch, path) = trace("wire-piped", &data);
    let whole = traceglass(&["cat", "--json", "--gaps", &format!("{path}/uart.bin")]);
    let whole = lasting(
        lines(&whole)
            .into_iter()
            .map(|mut line| {
                line["path"] = "uart".into();
                line
            })
            .collect(),
    );
    for cuts in [vec![], vec![5], vec![31, 127, 223], vec![200, 400, 405], vec![316, 412, 508]] {
        let mut pieces = Vec::new();
        let mut rest = &data[..];
        for (at, cut) in cuts.iter().enumerate() {
            let (piece, after) = rest.split_at(cut - at.checked_sub(1).map_or(0, |at| cuts[at]));
            pieces.push(piece);
            rest = after;
        }
        pieces.push(rest);
        let (status, found) = piped(METADATA.as_bytes(), &pieces, &["--wire"]);
        assert_eq!((status, lasting(found)), (3, whole.clone()), "{cuts:?}");
    }
    // A file that looks like one stream at first is a capture as soon as another processor comes.
    let data = [packet(0, 0, 1000), packet(0, 1, 2000), packet(1, 0, 2500), packet(0, 2, 3000)].concat();
    let (status, found) = piped(METADATA.as_bytes(), &[&data[..192], &data[192..]], &[]);
    let sessions: Vec<_> = found.iter().map(|line| line.get("session").is_some()).collect();
    assert_eq!((status, sessions), (0, [[false; 6], [true; 6]].concat()));
}

/// Follows a trace: once the bytes of a step were added to a file, records with these serial numbers are printed.
fn grows(path: &str, file: &str, steps: &[(&[u8], Vec<u32>)]) {
    use std::io::Write;
    let followed = Followed::new(path);
    for (more, expected) in steps {
        std::fs::OpenOptions::new().append(true).open(file).unwrap().write_all(more).unwrap();
        let lines = followed.next(expected.len());
        let serials = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
        assert!(
            serials.map(|line| line["payload"]["serial"].clone()).eq(expected.iter().copied()),
            "{lines:?}"
        );
    }
}

/// Records without packets are printed as they come, as a device sends them.
#[test]
fn records_without_packets_are_followed() {
    const BARE: &str = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
        typealias integer { size = 8; align = 8; } := u8; typealias integer { size = 32; align = 8; } := u32;
        clock { name = clk; freq = 1000000000; };
        stream { event.header := struct { integer { size = 32; align = 8; map = clock.clk.value; } timestamp; u8 id; }; };
        event { name = tick; id = 1; fields := struct { u32 serial; }; };";
    let record = |serial: u32| [(serial * 10).to_le_bytes().as_slice(), &[1], &serial.to_le_bytes()].concat();
    let data: Vec<u8> = (0..30).flat_map(record).collect();
    let scratch = Scratch::new("wire-bare-grows");
    scratch.file("trace/metadata", BARE.as_bytes());
    let file = scratch.file("trace/uart", &data[..95]);
    let steps = [(0..0, 0..10), (95..200, 10..22), (200..270, 22..30)];
    let steps = steps.map(|(bytes, serials)| (&data[bytes], serials.collect()));
    grows(&scratch.path("trace"), &file, &steps);
}

/// Each packet is printed once it is whole, though the file may go on with anything.
#[test]
fn a_file_that_grows_is_followed() {
    let data = [packet(0, 0, 1000), packet(1, 0, 1500), packet(0, 1, 2000), packet(0, 2, 3000)].concat();
    let (_scratch, path) = trace("wire-grows", &data[..250]);
    let steps = [
        (&[][..], vec![1000, 1001, 1002, 1500, 1501, 1502]),
        (&data[250..300], vec![2000, 2001, 2002]),
        (&data[300..], vec![3000, 3001, 3002]),
    ];
    grows(&path, &format!("{path}/uart.bin"), &steps);
}

/// The field of each byte: fields of packets, wherever those were found, and gaps.
#[test]
fn bytes_of_a_capture_have_fields() {
    let (_scratch, path) = trace("wire-hex", &sample());
    let output = traceglass(&["hex", "--len", "4096", &format!("{path}/uart.bin")]);
    assert_eq!(status(&output), 3);
    let said = String::from_utf8(output.stdout).unwrap();
    for (offset, expected) in [
        ("0000000", "text between CTF packets"),
        ("0000021", "packet 0 context timestamp_begin"),
        ("000010b", "packet 1 lost"),
        ("000017e", "record 2 tick serial  4002"),
        ("000019e", "packet 0 context timestamp_begin"),
        ("00001fa", "fill between CTF packets"),
    ] {
        let is_there = |line: &str| line.contains(offset) && line.contains(expected);
        assert!(said.lines().any(is_there), "{expected}: {said}");
    }
}

#[test]
fn sessions_are_folders_of_their_own() {
    let (scratch, path) = trace("wire-files", &sample());
    let out = scratch.path("out");
    assert_eq!(status(&traceglass(&["export", "--format", "files", "-o", &out, &path])), 3);
    for (folder, records) in [("000-uart.bin-session-0", 9), ("000-uart.bin-session-1", 3)] {
        let folder = format!("{out}/{folder}");
        let output = traceglass(&["cat", "--json", "--no-wire", &folder]);
        assert_eq!((status(&output), lines(&output).len()), (0, records), "{folder}");
    }
}

#[test]
fn sessions_and_processors_are_tracks() {
    let (_scratch, path) = trace("wire-perfetto", &sample());
    let output = traceglass(&["export", "--format", "perfetto", &path]);
    assert_eq!(status(&output), 3);
    let has = |text: &str| output.stdout.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(has("session 0") && has("session 1") && has("CPU 0") && has("CPU 1"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("text between CTF packets"), "{said}");
}

#[test]
fn a_processor_and_a_stream_are_selected() {
    let scratch = Scratch::new("wire-select");
    scratch.file("trace/metadata", METADATA.as_bytes());
    scratch.file("trace/channel0_0", &[packet(0, 0, 1000), packet(0, 1, 3000)].concat());
    scratch.file("trace/channel0_1", &[packet(1, 0, 1005), packet(1, 1, 3005)].concat());
    let folder = scratch.path("trace");
    let (_one, capture) = trace("wire-select-capture", &sample());
    for path in [&folder, &capture] {
        let all = lines(&traceglass(&["cat", "--json", path]));
        for (args, cpus) in [
            (&["--cpu", "1"][..], &[1][..]),
            (&["--cpu", "0,1"], &[0, 1]),
            (&["--cpu", "0", "--cpu", "1"], &[0, 1]),
            (&["--cpu", "7"], &[]),
        ] {
            let some = lines(&traceglass(&[&["cat", "--json"], args, &[path]].concat()));
            let expected: Vec<&Value> =
                all.iter().filter(|line| cpus.iter().any(|cpu| line["cpu"] == *cpu)).collect();
            assert_eq!(some.iter().collect::<Vec<_>>(), expected, "{path} {args:?}");
            assert_eq!(some.is_empty(), cpus.is_empty());
        }
    }
    let whole = lines(&traceglass(&["cat", "--json", &folder]));
    let some = lines(&traceglass(&["cat", "--json", "--stream", "channel0_1", &folder]));
    let expected: Vec<&Value> = whole.iter().filter(|line| line["path"] == "channel0_1").collect();
    assert_eq!(some.iter().collect::<Vec<_>>(), expected);
    assert_eq!(some.len(), 6);
    let none = traceglass(&["cat", "--stream", "nowhere", &folder]);
    assert!(none.stdout.is_empty() && status(&none) == 0);
    // A format without processors says so.
    let recording = crate::common::data("stream.rfr");
    for option in [["--cpu", "1"], ["--stream", "x"]] {
        let refused = traceglass(&[&["cat"], &option[..], &[recording.to_str().unwrap()]].concat());
        assert_eq!(status(&refused), 2, "{refused:?}");
    }
}
