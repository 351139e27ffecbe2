//! Captures off a wire: several streams in one file, with what lies between their packets.

use crate::common::{Scratch, status, traceglass};
use serde_json::{Value, json};

const METADATA: &str = "/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le;
    packet.header := struct { integer { size = 32; align = 8; signed = false; } magic; }; };
clock { name = clk; freq = 1000000000; };
stream {
    packet.context := struct {
        integer { size = 64; align = 8; signed = false; map = clock.clk.value; } timestamp_begin;
        integer { size = 64; align = 8; signed = false; map = clock.clk.value; } timestamp_end;
        integer { size = 32; align = 8; signed = false; } content_size;
        integer { size = 32; align = 8; signed = false; } packet_size;
        integer { size = 8; align = 8; signed = false; } cpu_id;
        integer { size = 32; align = 8; signed = false; } packet_seq_num; };
    event.header := struct {
        integer { size = 64; align = 8; signed = false; map = clock.clk.value; } timestamp;
        integer { size = 8; align = 8; signed = false; } id; }; };
event { name = tick; id = 1; fields := struct { integer { size = 32; align = 8; signed = false; } serial; }; };
";

/// A packet of three records, 96 bytes long.
fn packet(cpu: u8, number: u32, begin: u64) -> Vec<u8> {
    let mut bytes = 0xc1fc_1fc1_u32.to_le_bytes().to_vec();
    bytes.extend(begin.to_le_bytes());
    bytes.extend((begin + 20).to_le_bytes());
    bytes.extend((72_u32 * 8).to_le_bytes());
    bytes.extend((96_u32 * 8).to_le_bytes());
    bytes.push(cpu);
    bytes.extend(number.to_le_bytes());
    for record in 0..3_u64 {
        bytes.extend((begin + 10 * record).to_le_bytes());
        bytes.push(1);
        bytes.extend((begin as u32 + record as u32).to_le_bytes());
    }
    assert_eq!(bytes.len(), 72);
    bytes.resize(96, 0);
    bytes
}

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
    // With damage it is a capture, unless that is not wanted.
    let (_scratch, path) = trace("wire-no-wire", &[b"boot\n".to_vec(), data].concat());
    assert_eq!(lines(&traceglass(&["cat", "--json", &path])).len(), 6);
    assert_eq!(lines(&traceglass(&["cat", "--json", "--no-wire", &path])).len(), 0);
    let output = traceglass(&["cat", "--json", "--skip", "5", &path]);
    assert_eq!((lines(&output).len(), status(&output)), (6, 3));
    assert_eq!(status(&traceglass(&["cat", "--wire", "--no-wire", &path])), 2);
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
