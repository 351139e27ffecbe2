//! The command on CTF 2 metadata.

use crate::common::ctf::{Packet, fragment, sample, stream, text};
use crate::common::{Scratch, data, status, traceglass};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A trace directory with its `metadata`, removed in the end.
struct Trace(PathBuf);

impl Trace {
    fn new(test: &str, metadata: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("traceglass-ctf2-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("metadata"), metadata).unwrap();
        Self(path)
    }

    /// Runs a verb on the directory: status, stdout, stderr.
    fn run(&self, args: &[&str]) -> (i32, Vec<u8>, String) {
        let output = traceglass(&[args, &[self.0.to_str().unwrap()]].concat());
        (status(&output), output.stdout, String::from_utf8(output.stderr).unwrap())
    }

    fn json(&self, args: &[&str]) -> (i32, Vec<Value>) {
        let (status, stdout, _) = self.run(args);
        let lines = std::str::from_utf8(&stdout).unwrap().lines();
        (status, lines.map(|line| serde_json::from_str(line).unwrap()).collect())
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_short_header_of_version_2_is_read_if_asked_for() {
    let text = fragment(r#"{"type": "preamble", "version": 2}"#);
    let packet = Packet { header_len: 37, ..Packet::v2(text.as_bytes()) }.write();
    let trace = Trace::new("short", &packet);
    let (status, stdout, stderr) = trace.run(&["cat"]);
    assert_eq!((status, &stdout[..]), (1, &b""[..]));
    assert!(stderr.contains("--lenient reads it"), "{stderr}");
    let (status, stdout, _) = trace.run(&["cat", "--lenient"]);
    assert_eq!((status, &stdout[..]), (0, text.as_bytes()));
    let (status, info) = trace.json(&["info", "--json", "--lenient"]);
    assert_eq!((status, &info[0]["major"], &info[0]["fragments"]), (0, &json!(2), &json!(1)));
}

#[test]
fn a_trace_directory_is_told_in_full() {
    let trace = Trace::new("full", &sample());
    let (status, info) = trace.json(&["info", "--json"]);
    let info = &info[0];
    assert_eq!((status, &info["verdict"]), (0, &json!("clean")));
    assert_eq!(
        [&info["form"], &info["byte_order"], &info["major"], &info["minor"]],
        [&json!("packetized"), &json!("le"), &json!(2), &json!(0)]
    );
    assert_eq!(info["uuid"], "10111213-1415-1617-1819-1a1b1c1d1e1f");
    assert_eq!((&info["packets"], &info["fragments"]), (&json!(3), &json!(6)));
    assert_eq!(info["content_bytes"], text().len());
    assert_eq!(info["environment"]["hostname"], "höst 😀");
    assert_eq!(info["environment"]["odd"], json!([1, {"a": null}]));
    assert_eq!(info["clocks"][0]["offset_seconds"], -1_795_224_663_i64);
    assert_eq!(info["fragments_by_kind"]["user-defined"], 1);

    let (_, packets) = trace.json(&["ls", "--json"]);
    assert_eq!(packets.len(), 3);
    let first = &packets[0];
    assert_eq!(
        (&first["packet"], &first["offset"], &first["header_bytes"]),
        (&json!(0), &json!(0), &json!(44))
    );
    assert_eq!(
        (&first["padding_bytes"], &first["uuid"]),
        (&json!(20), &json!("10111213-1415-1617-1819-1a1b1c1d1e1f"))
    );
    assert_eq!(packets[1]["offset"], first["total_bytes"]);

    assert_eq!(trace.run(&["cat"]), (0, text().into_bytes(), String::new()));
    let (_, fragments) = trace.json(&["cat", "--json"]);
    assert_eq!(fragments.len(), 6);
    // Numbers are written as they stand, whatever they round to.
    assert_eq!(fragments[3]["x"].to_string(), r#"[true,false,1.5e-3,"😀\\"]"#);
}

#[test]
fn damage_is_status_3_and_what_precedes_it_is_printed() {
    let preamble = fragment(r#"{"type": "preamble", "version": 2}"#);
    let good = stream([preamble.as_bytes(), b"\x1e{\"type\""], Packet::v2);
    let broken = Packet { schemes: [1, 0, 0], ..Packet::v2(b": \"lost\"}") }.write();
    let after = Packet::v2(b"\x1e{}").write();
    let at = good.len();
    let trace = Trace::new("damage", &[good, broken, after].concat());
    let expected = [preamble.as_bytes(), b"\x1e{\"type\""].concat();
    let (status, stdout, stderr) = trace.run(&["cat"]);
    // Text after the damage is there again, though not the text that it goes on from.
    assert_eq!((status, stdout), (3, [&expected[..], b"\x1e{}"].concat()));
    // Whoever gets a part is told that it is one.
    assert!(stderr.contains("compression scheme") && stderr.contains("are lost"), "{stderr}");
    let (status, fragments) = trace.json(&["cat", "--json"]);
    assert_eq!((status, fragments), (3, vec![json!({"type": "preamble", "version": 2}), json!({})]));
    let (status, packets) = trace.json(&["ls", "--json"]);
    assert_eq!((status, packets.len()), (3, 3));
    let (status, check) = trace.json(&["check", "--json"]);
    assert_eq!((status, &check[0]["verdict"]), (3, &json!("damaged")));
    let finding = &check[0]["findings"][0];
    assert_eq!((&finding["offset"], &finding["what"]), (&json!(at + 32), &json!("unsupported")));
    let (status, stdout, _) = trace.run(&["info"]);
    let screen = String::from_utf8(stdout).unwrap();
    let expected = format!("53 bytes from {at:#x} are lost");
    assert!(status == 3 && screen.contains(&expected), "{screen}");
    let (status, _, stderr) = trace.run(&["ls"]);
    assert!(status == 3 && stderr.contains("1 is not supported"), "{stderr}");
}

/// The part of a packet that a recorder has written is there, and so is what follows garbage; it is checked, too.
#[test]
fn what_is_there_of_a_packet_is_delivered() {
    let parts =
        ["{\"type\":\"preamble\",\"version\":2}", "{\"type\":\"a\"}", "{\"type\":\"b\"}"].map(fragment);
    let whole = stream([parts.concat().as_bytes()], Packet::v2);
    let trace = Trace::new("cut-content", &whole[..whole.len() - 3]);
    let text = parts.concat().into_bytes();
    let (status, stdout, stderr) = trace.run(&["cat"]);
    assert_eq!((status, &stdout[..]), (3, &text[..text.len() - 3]));
    assert!(stderr.contains("3 more bytes needed"), "{stderr}");
    let (status, info) = trace.json(&["info", "--json"]);
    assert_eq!(
        (status, &info[0]["content_bytes"], &info[0]["fragments"]),
        (3, &json!(text.len() - 3), &json!(2))
    );
    assert_eq!(trace.json(&["cat", "--json"]).1.len(), 2);

    // A fragment that begins before the garbage, one that ends after it, a whole one, and one that is none.
    let before = stream([&b"\x1e{\"type\":\"preamble\",\"version\":2}\n\x1e{\"lost\":"[..]], Packet::v2);
    let after = stream([&b"1}\n\x1e{\"type\":\"x\"}\n\x1e{,}"[..]], Packet::v2);
    let trace = Trace::new("garbage", &[&before[..], b"garbage", &after].concat());
    let (status, fragments) = trace.json(&["cat", "--json"]);
    assert_eq!((status, &fragments[1..]), (3, &[json!({"type": "x"})][..]));
    let (_, check) = trace.json(&["check", "--json"]);
    let errors = check[0]["findings"].as_array().unwrap().iter();
    let errors: Vec<_> = errors.map(|found| found["offset"].as_u64().unwrap()).collect();
    let comma = before.len() + 7 + after.iter().rposition(|&byte| byte == b',').unwrap();
    assert_eq!(errors, [before.len() as u64, comma as u64]);
    let (_, info) = trace.json(&["info", "--json"]);
    assert_eq!((&info[0]["packets"], &info[0]["fragments"]), (&json!(2), &json!(2)));
}

/// Text without packets is listed by its fragments.
#[test]
fn plain_text_is_listed() {
    let text = [
        "{\"type\": \"preamble\", \"version\": 2}",
        "{\"type\": \"event-record-class\", \"id\": 7, \"name\": \"open\"}",
        "{\"type\": \"clock-class\", \"id\": \"c\", }",
    ];
    let text = text.map(fragment);
    let trace = Trace::new("plain", text.concat().as_bytes());
    let (status, lines) = trace.json(&["ls", "--json"]);
    assert_eq!((status, lines.len()), (3, 3));
    assert_eq!(
        lines[1],
        json!({"kind": "fragment", "fragment": 1, "offset": text[0].len() + 1, "type": "event-record-class",
            "name": "open", "id": 7, "bytes": text[1].len() - 1})
    );
    assert_eq!((&lines[2]["type"], &lines[0]["name"]), (&Value::Null, &Value::Null));
    let (_, stdout, _) = trace.run(&["ls"]);
    assert!(String::from_utf8(stdout).unwrap().contains("event-record-class  open (7)"));
    assert_eq!(trace.run(&["ls", "--sha256"]).0, 2);
}

#[test]
fn a_fragment_that_is_no_json_is_left_out_and_named() {
    let parts = [r#"{"type": "preamble", "version": 2}"#, r#"{"type": }"#, r#"{"type": "x", "a b": " "}"#];
    let trace = Trace::new("json", parts.map(fragment).concat().as_bytes());
    let (status, stdout, stderr) = trace.run(&["cat", "--json"]);
    let expected = "{\"type\":\"preamble\",\"version\":2}\n{\"type\":\"x\",\"a b\":\" \"}\n";
    assert_eq!((status, String::from_utf8(stdout).unwrap().as_str()), (3, expected));
    assert!(stderr.contains("fragment 1 is left out") && stderr.contains("at 0x2e"), "{stderr}");
    assert_eq!(trace.run(&["cat"]).1, parts.map(fragment).concat().into_bytes());
}

#[test]
fn what_has_no_first_packet_is_unreadable() {
    let mut broken = Packet::v2(b"\x1e{}").write();
    broken[35] = 3;
    let cut = Packet::v1(b"\x1e{}").write();
    let short = Packet { version: [2, 0], ..Packet::v1(b"\x1e{\"a\":1}") }.write();
    for (name, data, says) in [
        ("version", &broken[..], "version 3.0"),
        ("cut", &cut[..37], "3 more bytes needed"),
        ("short", &short, "header of 37 bytes"),
    ] {
        let trace = Trace::new(name, data);
        for verb in ["info", "ls", "cat", "hex"] {
            let path = trace.0.join("metadata");
            let output = traceglass(&[verb, path.to_str().unwrap()]);
            assert_eq!(status(&output), 1, "{verb} {name}");
            assert!(String::from_utf8(output.stderr).unwrap().contains(says), "{verb} {name}");
        }
        let (status, check) = trace.json(&["check", "--json"]);
        assert_eq!(
            (status, &check[0]["verdict"], &check[0]["format"]),
            (1, &json!("unreadable"), &json!("ctf2"))
        );
    }
}

#[test]
fn tsdl_is_printed_as_it_is() {
    let tsdl = b"/* CTF 1.8 */ trace { major = 1; };";
    let trace = Trace::new("tsdl", &stream(tsdl.chunks(9), |part| Packet::v1(part).big(true)));
    assert_eq!(trace.run(&["cat"]), (0, tsdl.to_vec(), String::new()));
    let (status, stdout, stderr) = trace.run(&["cat", "--json"]);
    assert!(status == 0 && stdout.is_empty() && stderr.contains("TSDL"));
    let (_, info) = trace.json(&["info", "--json"]);
    assert_eq!(
        (&info[0]["byte_order"], &info[0]["language"], &info[0]["fragments"]),
        (&json!("be"), &json!("tsdl"), &json!(0))
    );
}

#[test]
fn hex_names_every_byte_of_a_packet() {
    let data = stream([&b"\x1e{\"ty"[..], b"pe\":\"x\"}\n\x1e"], |part| Packet::v2(part).padding(b"pad"));
    let trace = Trace::new("hex", &data);
    let path = trace.0.join("metadata");
    let output = traceglass(&["hex", "--width", "120", path.to_str().unwrap()]);
    let screen = String::from_utf8(output.stdout).unwrap();
    // A field's name is after the dump; a row without one continues the field above it.
    let names: Vec<&str> = screen.lines().filter_map(|line| line.get(78..)).map(str::trim).collect();
    let has = |name: &str| names.iter().any(|line| line.starts_with(name));
    for name in
        ["packet 0 magic", "packet 0 header size", "packet 0 padding", "packet 1 UUID", "packet 1 padding"]
    {
        assert!(has(name), "{name} in {screen}");
    }
    assert!(names.contains(&"fragment 0               x") && has("separator"), "{screen}");
    assert!(names.contains(&"fragment 0               continues"), "{screen}");
}

/// A trace of CTF 1.8: two events without fields, one byte each.
const TSDL: &str = "/* CTF 1.8 */
typealias integer { size = 8; } := u8;
trace { major = 1; minor = 8; byte_order = le; };
stream { event.header := struct { u8 timestamp; u8 id; }; };
event { name = begin; id = 1; fields := struct { u8 _level; }; };
event { name = end; id = 2; };
";

#[test]
fn a_trace_of_ctf_1_8_is_read_by_each_verb() {
    let trace = Trace::new("tsdl-trace", TSDL.as_bytes());
    std::fs::write(trace.0.join("channel0"), [10, 1, 7, 30, 2]).unwrap();
    let (status, info) = trace.json(&["info", "--json"]);
    assert_eq!((status, &info[0]["format"], &info[0]["verdict"]), (0, &json!("ctf1"), &json!("clean")));
    let (status, streams) = trace.json(&["ls", "--json"]);
    assert_eq!((status, &streams[0]["packets"], &streams[0]["records"]), (0, &json!(1), &json!(2)));
    let (status, records) = trace.json(&["cat", "--json"]);
    assert_eq!((status, records.len()), (0, 2));
    assert!(records[0].to_string().contains(r#""level":7"#), "{}", records[0]);
    let (status, ..) = trace.run(&["check"]);
    assert_eq!(status, 0);
    // A data file that is named itself is read with the metadata beside it.
    std::fs::write(trace.0.join("channel0"), [10, 1, 7, 30, 9]).unwrap();
    let (status, _, stderr) = trace.run(&["cat"]);
    assert_eq!(status, 3, "{stderr}");
}

#[cfg(unix)]
#[test]
fn a_stream_that_cannot_be_opened_is_damage_in_each_verb() {
    let trace = Trace::new("links", TSDL.as_bytes());
    std::fs::write(trace.0.join("channel0"), [10, 1, 7]).unwrap();
    let verbs: [&[&str]; 5] = [&["info"], &["ls"], &["cat"], &["check"], &["export", "--format", "perfetto"]];
    let each = |name: &str, why: &str| {
        for verb in verbs {
            let output = traceglass(&[verb, &[trace.0.to_str().unwrap()]].concat());
            let said = [output.stderr.as_slice(), output.stdout.as_slice()].concat();
            let said = String::from_utf8_lossy(&said);
            assert_eq!(status(&output), 3, "{verb:?}");
            assert!(said.contains(name) && said.contains(why), "{verb:?}: {said}");
        }
    };
    let link = trace.0.join("channel1");
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    each("channel1", "cannot read");
    std::fs::remove_file(&link).unwrap();
    let pipe = trace.0.join("channel2");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    each("channel2", "not a regular file");
    // Alone, it is damage of the trace all the same.
    std::fs::remove_file(trace.0.join("channel0")).unwrap();
    each("channel2", "not a regular file");
}

#[test]
fn a_value_with_many_names_is_told_by_the_first_ones() {
    let labels: Vec<String> = (0..250).map(|at| format!("name{at} = {at} ... 255")).collect();
    let fields = format!("struct {{ enum : u8 {{ {} }} level; }}", labels.join(", "));
    let trace = Trace::new("labels", TSDL.replace("struct { u8 _level; }", &fields).as_bytes());
    let records: Vec<u8> = (0..2000).flat_map(|at: u32| [10, 1, at as u8]).collect();
    std::fs::write(trace.0.join("channel0"), records).unwrap();
    let (status, lines) = trace.json(&["cat", "--json"]);
    assert_eq!((status, lines.len()), (0, 2000));
    assert_eq!(lines[1]["payload"]["level_labels"], json!(["name0", "name1"]));
    let many = lines[200]["payload"]["level_labels"].as_array().unwrap();
    assert_eq!((many.len(), &many[7], &many[8]), (9, &json!("name7"), &json!("…")));
    let (_, text, _) = trace.run(&["cat"]);
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.lines().nth(7).unwrap().ends_with("level=7(name0|name1|name2|name3|name4|name5|name6|name7)")
    );
    assert!(text.lines().nth(8).unwrap().ends_with("|name7|…)"));
}

#[test]
fn a_folder_says_of_its_metadata_what_the_file_says() {
    let metadata = [
        r#"{"type": "preamble", "version": 2}"#,
        r#"{"type": "trace-class", "environment": {"a": "x", "b": 7, "c": 18446744073709551615}}"#,
        r#"{"type": "data-stream-class"}"#,
    ]
    .map(fragment)
    .concat();
    for metadata in [metadata.as_bytes().to_vec(), Packet::v2(metadata.as_bytes()).write()] {
        let trace = Trace::new("says", &metadata);
        let (_, file) = trace.json(&["info", "--json"]);
        std::fs::write(trace.0.join("stream"), []).unwrap();
        let (status, folder) = trace.json(&["info", "--json"]);
        assert_eq!((status, &folder[0]["streams"]), (0, &json!(1)));
        for field in ["form", "major", "minor", "byte_order", "content_bytes", "fragments", "environment"] {
            assert_eq!(folder[0][field], file[0][field], "{field}");
            assert!(folder[0].as_object().unwrap().contains_key(field), "{field}");
        }
        assert_eq!(folder[0]["environment"]["c"], json!(u64::MAX));
    }
}

/// The environment of a trace in TSDL is shown as that of one in JSON, of the file and of the folder.
#[test]
fn the_environment_of_ctf_1_8_is_shown() {
    let environment = r#"env { hostname = "board\x37"; tracer_name = "barectf"; tracer_major = 3; low = -5;
        most = 18446744073709551615; domain = "x"; domain = "bare"; };"#;
    let trace = Trace::new("tsdl-environment", format!("{TSDL}{environment}").as_bytes());
    let (_, file) = trace.json(&["info", "--json"]);
    std::fs::write(trace.0.join("channel0"), [10, 1, 7, 30, 2]).unwrap();
    let (status, folder) = trace.json(&["info", "--json"]);
    let expected = json!({
        "hostname": "board7", "tracer_name": "barectf", "tracer_major": 3, "low": -5, "most": u64::MAX,
        "domain": "bare",
    });
    assert_eq!((status, &folder[0]["environment"]), (0, &expected));
    assert_eq!(file[0]["environment"], expected);
    let (status, text, _) = trace.run(&["info"]);
    let text = String::from_utf8(text).unwrap();
    assert_eq!(status, 0);
    for line in ["barectf 3", "board7", "domain = bare", "low = -5"] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

#[test]
fn long_names_are_exported_by_their_beginnings() {
    let name = "n".repeat(40_000);
    let metadata = TSDL.replace("begin", &name).replace("_level", &name);
    let trace = Trace::new("long", metadata.as_bytes());
    std::fs::write(trace.0.join("channel0"), [10, 1, 7].repeat(50)).unwrap();
    let (status, exported, _) = trace.run(&["export", "--format", "perfetto"]);
    let text = String::from_utf8_lossy(&exported);
    let told = format!("{}…", "n".repeat(256));
    assert_eq!((status, text.matches(&told).count(), text.contains(&"n".repeat(257))), (0, 2, false));
}

#[test]
fn tsdl_that_is_wrong_is_shown_with_its_line() {
    let trace = Trace::new("tsdl-wrong", TSDL.replace("u8 _level", "u16 _level").as_bytes());
    std::fs::write(trace.0.join("channel0"), [10, 1, 7]).unwrap();
    let (status, _, stderr) = trace.run(&["cat"]);
    assert_eq!(status, 1);
    let shown = "TSDL type name at 0xd5: not declared before it is used
  --> line 5, column 50
 5 | event { name = begin; id = 1; fields := struct { u16 _level; }; };
   |                                                  ^";
    assert!(stderr.contains(shown), "{stderr}");
}

/// stdin lies in no folder: a file `metadata` in the current one says nothing of it.
#[test]
fn stdin_is_no_data_stream_of_the_current_folder() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(env!("CARGO_BIN_EXE_traceglass"))
        .args(["info", "-"])
        .current_dir(crate::common::data("sample.ctf"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"\x01\x02\x03").unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(status(&output) == 1 && said.contains("not a known format"), "{said}");
}

#[test]
fn each_record_has_the_context_of_its_own_packet() {
    let path = data("sample.ctf");
    let events = |args: &[&str]| -> Vec<Value> {
        let output = traceglass(&[args, &[path.to_str().unwrap()]].concat());
        let lines = std::str::from_utf8(&output.stdout).unwrap().lines();
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let short = events(&["cat", "--json"]);
    assert!(short.iter().all(|event| event.get("packet_context").is_none()));
    let events = events(&["cat", "--json", "--context"]);
    let packets: Vec<_> = events.iter().map(|event| event["packet"].as_u64()).collect();
    assert_eq!(packets, [[Some(0); 8], [Some(1); 8]].concat());
    let numbers: Vec<_> = events.iter().map(|event| event["packet_context"]["number"].as_u64()).collect();
    assert_eq!(numbers, [[Some(0); 8], [Some(1); 8]].concat());
    // A packet has 256 bytes.
    assert!(
        events
            .iter()
            .zip(numbers)
            .all(|(event, number)| event["offset"].as_u64().map(|at| at / 256) == number)
    );
}

/// A column holds what `cat --json` says, or null where there is nothing.
#[test]
fn columns_hold_wide_floats_and_nothing_for_what_is_absent() {
    let scratch = Scratch::new("columns");
    let byte = r#"{"type":"fixed-length-boolean","length":8,"byte-order":"little-endian"}"#;
    let float = r#"{"type":"fixed-length-floating-point-number","length":128,"byte-order":"little-endian"}"#;
    let place = r#"{"origin":"event-record-payload","path":["b"]}"#;
    let optional =
        format!(r#"{{"type":"optional","selector-field-location":{place},"field-class":{float}}}"#);
    let members = [("q", float), ("b", byte), ("o", &optional)]
        .map(|(name, class)| format!(r#"{{"name":"{name}","field-class":{class}}}"#))
        .join(",");
    let payload = format!(r#"{{"type":"structure","member-classes":[{members}]}}"#);
    let fragments = [
        r#"{"type":"preamble","version":2}"#.to_owned(),
        r#"{"type":"data-stream-class"}"#.to_owned(),
        format!(r#"{{"type":"event-record-class","name":"e","payload-field-class":{payload}}}"#),
    ];
    scratch.file("metadata", fragments.map(|text| format!("\x1e{text}\n")).concat().as_bytes());
    // 1.5, in 112 bits after the exponent.
    let wide = (0x3fff_u128 << 112 | 1 << 111).to_le_bytes();
    scratch.file("stream", &[&wide[..], &[0], &wide, &[1], &wide].concat());
    let trace = scratch.path("");
    let output = traceglass(&["export", "--format", "csv", "--table", "e", &trace]);
    let rows = String::from_utf8(output.stdout).unwrap();
    let values: Vec<_> =
        rows.lines().skip(1).map(|row| row.rsplitn(4, ',').take(3).collect::<Vec<_>>()).collect();
    assert_eq!(values.len(), 2, "{rows}");
    assert_eq!((values[0][0], values[0][1]), ("", "false"), "{rows}");
    assert_eq!((values[1][0], values[1][1]), (values[0][2], "true"), "{rows}");
    // As JSON: a column of text holds what is no number of 64 bits.
    let printed = String::from_utf8(traceglass(&["cat", "--json", &trace]).stdout).unwrap();
    let first: Value = serde_json::from_str(printed.lines().next().unwrap()).unwrap();
    let told = &first["payload"]["q"];
    let told = told.as_str().map_or_else(|| told.to_string(), str::to_owned);
    assert_eq!((values[0][2].trim_matches('"'), told.is_empty()), (told.as_str(), false), "{rows} {first}");
}
