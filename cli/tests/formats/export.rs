//! `export`: what is written is decoded again, field by field.

use crate::chrome::chrome;
use crate::common::{Scratch, data, rdf, rfr, rtc, status, traceglass};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// A field's value, as Protocol Buffers store it.
#[derive(Clone, Debug, PartialEq)]
enum Stored {
    Int(u64),
    Bytes(Vec<u8>),
}

/// The fields of a message, in the order in which they stand.
fn message(mut data: &[u8]) -> Vec<(u64, Stored)> {
    fn varint(data: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = data.split_first().expect("a varint that is cut");
            *data = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
        }
        panic!("a varint of more than ten bytes");
    }
    let mut fields = Vec::new();
    while !data.is_empty() {
        let tag = varint(&mut data);
        let value = match tag & 7 {
            0 => Stored::Int(varint(&mut data)),
            1 => {
                let (bytes, rest) = data.split_at(8);
                data = rest;
                Stored::Int(u64::from_le_bytes(bytes.try_into().unwrap()))
            }
            2 => {
                let len = varint(&mut data) as usize;
                let (bytes, rest) = data.split_at(len);
                data = rest;
                Stored::Bytes(bytes.to_vec())
            }
            other => panic!("wire type {other}"),
        };
        fields.push((tag >> 3, value));
    }
    fields
}

fn int(fields: &[(u64, Stored)], number: u64) -> Option<u64> {
    fields.iter().find_map(|(field, value)| match value {
        Stored::Int(value) if *field == number => Some(*value),
        _ => None,
    })
}

fn bytes(fields: &[(u64, Stored)], number: u64) -> Option<&[u8]> {
    fields.iter().find_map(|(field, value)| match value {
        Stored::Bytes(value) if *field == number => Some(&value[..]),
        _ => None,
    })
}

fn text(fields: &[(u64, Stored)], number: u64) -> Option<String> {
    bytes(fields, number).map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
}

/// A line for each packet, with names instead of numbers.
fn decode(trace: &[u8]) -> Vec<String> {
    let mut tracks: BTreeMap<u64, String> = BTreeMap::new();
    let (mut names, mut keys) = (BTreeMap::new(), BTreeMap::new());
    let mut lines = Vec::new();
    for (field, packet) in message(trace) {
        let Stored::Bytes(packet) = packet else { panic!("field {field}") };
        assert_eq!(field, 1);
        let packet = message(&packet);
        assert_eq!(int(&packet, 10), Some(1), "the sequence");
        if let Some(snapshot) = bytes(&packet, 6) {
            let snapshot = message(snapshot);
            let clock = message(bytes(&snapshot, 1).unwrap());
            let primary = int(&snapshot, 2).unwrap();
            lines.push(format!("clock {:?} at {:?}, primary {primary}", int(&clock, 1), int(&clock, 2)));
        } else if let Some(defaults) = bytes(&packet, 59) {
            lines.push(format!("times of clock {:?}", int(&message(defaults), 58).unwrap()));
            assert_eq!(int(&packet, 13), Some(1));
        } else if let Some(track) = bytes(&packet, 60) {
            let track = message(track);
            assert_eq!(int(&track, 15), Some(2), "tracks of the same name are not merged");
            let parent = int(&track, 5).map_or("-", |parent| tracks[&parent].as_str());
            let name = text(&track, 2).unwrap();
            lines.push(format!("{name} < {parent}: {}", text(&track, 14).unwrap_or_default()));
            tracks.insert(int(&track, 1).unwrap(), name.clone());
        } else {
            assert_eq!(int(&packet, 13), Some(2));
            if let Some(interned) = bytes(&packet, 12) {
                for (field, entry) in message(interned) {
                    let Stored::Bytes(entry) = entry else { panic!("{entry:?}") };
                    let entry = message(&entry);
                    let table = if field == 2 { &mut names } else { &mut keys };
                    assert!(matches!(field, 2 | 3));
                    assert_eq!(table.insert(int(&entry, 1).unwrap(), text(&entry, 2).unwrap()), None);
                }
            }
            let Some(event) = bytes(&packet, 11).map(message) else { continue };
            let kind = ["", "begin", "end", "instant", "counter"][int(&event, 9).unwrap() as usize];
            let mut line =
                format!("{} {} {kind}", int(&packet, 8).unwrap(), tracks[&int(&event, 11).unwrap()]);
            if let Some(name) = int(&event, 10) {
                line.push_str(&format!(" {}", names[&name]));
            }
            if let Some(name) = text(&event, 23) {
                line.push_str(&format!(" {name}"));
            }
            for (field, value) in &event {
                match (field, value) {
                    (47, Stored::Int(flow)) => line.push_str(&format!(" +{:x}", flow & 0xff_ffff_ffff)),
                    (48, Stored::Int(flow)) => line.push_str(&format!(" -{:x}", flow & 0xff_ffff_ffff)),
                    (4, Stored::Bytes(annotation)) => {
                        let annotation = message(annotation);
                        let key = match int(&annotation, 1) {
                            Some(number) => keys[&number].clone(),
                            None => text(&annotation, 10).unwrap(),
                        };
                        let value = annotation.iter().filter(|(field, _)| !matches!(field, 1 | 10));
                        line.push_str(&format!(" {key}={:?}", value.collect::<Vec<_>>()));
                    }
                    _ => {}
                }
            }
            lines.push(line);
        }
    }
    lines
}

#[test]
fn a_recording_becomes_tracks_slices_and_flows() {
    let scratch = Scratch::new("perfetto");
    let chunk = rfr::Chunk::new(1).sequence(
        rfr::Sequence::new(5)
            .task(10, 7, "same", None)
            .task(11, 7, "same", Some(10))
            .about(1, 6, 10)
            .about(2, 5, 11)
            .waker(3, 9, 11, Some(10))
            .about(4, 7, 10)
            .about(5, 6, 11),
    );
    let (file, target) = (scratch.path("chunk.rfr"), scratch.path("out.pftrace"));
    fs::write(&file, chunk.bytes()).unwrap();
    let out = traceglass(&["export", "--format", "perfetto", "-o", &target, &file]);
    assert_eq!((status(&out), out.stdout.len(), out.stderr.len()), (0, 0, 0), "{out:?}");
    let trace = fs::read(&target).unwrap();
    // The line of `cat` for the record.
    let said = |id, iid, context: Option<u64>, at| {
        let same = format!("{:?}", b"same".to_vec());
        let context = context.map_or(String::new(), |context| {
            format!("context=[(3, Int({context}))] context_task=[(6, Bytes({same}))] ")
        });
        format!(
            "seq_id=[(3, Int(5))] {id}=[(3, Int({iid}))] task=[(6, Bytes({same}))] task_id=[(3, Int({iid}))] {context}\
             location=[] micros=[(3, Int({}))]",
            1_000_000 + at
        )
    };
    assert_eq!(
        decode(&trace),
        [
            "chunk.rfr < -: ",
            "sequence 5 < chunk.rfr: sequence  seq_id=5",
            "same < chunk.rfr: Task  iid=10 task_name=\"same\" callsite_id=0x7 task_id=10 task_kind=\"Task\"",
            "same < chunk.rfr: Task  iid=11 task_name=\"same\" callsite_id=0x7 task_id=11 task_kind=\"Task\" context=10 \
             context_task=\"same\"",
            "clock Some(1) at Some(1000001000), primary 1",
            "times of clock 1",
            &format!("1000001000 same begin poll {}", said("iid", 10, None, 1)),
            &format!("1000002000 same instant NewTask +c000000 {}", said("iid", 11, None, 2)),
            &format!("1000003000 same instant WakerWake +c000001 {}", said("task_iid", 11, Some(10), 3)),
            "1000004000 same end",
            &format!("1000005000 same begin poll -c000000 -c000001 {}", said("iid", 11, None, 5)),
        ]
    );
    // The same on stdout, and a second time.
    let out = traceglass(&["export", "--format", "perfetto", &file]);
    assert_eq!((status(&out), out.stdout), (0, trace));
}

#[test]
fn damage_is_told_and_the_rest_is_exported() {
    let scratch = Scratch::new("damage");
    let chunk = rfr::Chunk::new(1).sequence(rfr::Sequence::new(5).about(1, 8, 1).about(2, 8, 1)).bytes();
    let file = scratch.path("cut.rfr");
    fs::write(&file, &chunk[..chunk.len() - 1]).unwrap();
    let out = traceglass(&["export", "--format", "perfetto", &file, "/nowhere"]);
    // One path cannot be read at all.
    assert_eq!(status(&out), 1);
    let messages = String::from_utf8(out.stderr).unwrap();
    assert!(messages.contains("input ends, 1 more byte needed"), "{messages}");
    assert!(messages.contains("/nowhere"), "{messages}");
    let lines = decode(&out.stdout);
    assert_eq!(lines.iter().filter(|line| line.contains("TaskDrop")).count(), 1);
    assert_eq!(lines.iter().filter(|line| line.contains("instant gap: ")).count(), 1, "{lines:?}");
    assert_eq!(status(&traceglass(&["export", "--format", "perfetto", &file])), 3);
}

/// What no event tells of is a gap all the same: a checksum of RTC, and a chunk of RDF that is not known.
#[cfg(feature = "tables")]
#[test]
fn damage_without_an_event_is_a_gap() {
    let scratch = Scratch::new("untold");
    let sound = fs::read(data("sample.rtc")).unwrap();
    let rows = |file: &str, range: &[&str]| {
        let out = traceglass(&[&["export", "--format", "csv", "--table", "gaps"], range, &[file]].concat());
        let code = status(&out);
        let rows = String::from_utf8(out.stdout).unwrap();
        (code, rows.lines().skip(1).map(str::to_owned).collect::<Vec<_>>())
    };
    let file = scratch.file("a.rtc", &sound);
    assert_eq!(rows(&file, &[]), (0, vec![]));
    // The last bytes of the file are its checksum.
    let mut wrong = sound.clone();
    *wrong.last_mut().unwrap() ^= 1;
    let file = scratch.file("b.rtc", &wrong);
    let (code, found) = rows(&file, &[]);
    assert!(
        code == 3 && found.len() == 1 && found[0].starts_with("b.rtc,") && found[0].contains("Crc"),
        "{found:?}"
    );
    // Damage outside of a range is not looked for.
    assert_eq!(rows(&file, &["--from", "+0s"]), (0, vec![]));
    // The last chunk that is packed is a snapshot, which is not known.
    let mut chunks = fs::read(data("sample.rdf")).unwrap();
    let packed =
        chunks.windows(4).rposition(|window| window == b"\x28\xb5\x2f\xfd").expect("a chunk is packed");
    chunks[packed..packed + 4].fill(0);
    let file = scratch.file("c.rdf", &chunks);
    let check = traceglass(&["check", "--json", &file]);
    let check: Value = serde_json::from_slice(&check.stdout).unwrap();
    let errors: Vec<u64> = check["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["severity"] == "error")
        .map(|finding| finding["offset"].as_u64().unwrap())
        .collect();
    let (code, found) = rows(&file, &[]);
    let offsets: Vec<u64> = found.iter().map(|row| row.split(',').nth(1).unwrap().parse().unwrap()).collect();
    // A chunk whose version is not known is a gap, too, but no error.
    let are_there = errors.iter().all(|error| offsets.contains(error));
    assert!(code == 3 && errors.len() == 1 && are_there, "{found:?} {check}");
}

/// The manifest: a line for each file, with what is in it.
fn manifest(folder: &str) -> Vec<Value> {
    let text = fs::read_to_string(format!("{folder}/manifest.json")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &lines {
        let content = fs::read(format!("{folder}/{}", line["file"].as_str().unwrap())).unwrap();
        assert_eq!(line["bytes"], content.len());
        let digest: String = Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(line["sha256"], digest);
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), lines.len() + 1);
    lines
}

#[test]
fn every_part_becomes_a_file() {
    let scratch = Scratch::new("files");
    for (sample, kinds) in [
        ("sample.rdf", &["chunk", "header"][..]),
        ("sample.rtc", &["stream"]),
        ("sample.ctf2", &["metadata", "packet"]),
        ("sample.rfr", &["callsites", "chunk", "meta"]),
    ] {
        let (folder, path) = (scratch.path(sample), data(sample));
        let out = traceglass(&["export", "--format", "files", "-o", &folder, path.to_str().unwrap()]);
        assert_eq!((status(&out), &out.stderr[..]), (0, &b""[..]), "{sample}");
        let lines = manifest(&folder);
        let found: std::collections::BTreeSet<_> =
            lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
        assert_eq!(found, kinds.iter().copied().collect(), "{sample}");
        // Nothing is overwritten.
        let out = traceglass(&["export", "--format", "files", "-o", &folder, path.to_str().unwrap()]);
        assert_eq!(status(&out), 2);
    }
    // `cat` prints what the file has.
    let path = data("sample.rtc");
    for line in manifest(&scratch.path("sample.rtc")) {
        let (name, file) = (line["name"].as_str().unwrap(), line["file"].as_str().unwrap());
        let out = traceglass(&["cat", "--raw", "--stream", name, path.to_str().unwrap()]);
        assert_eq!(out.stdout, fs::read(scratch.path(&format!("sample.rtc/{file}"))).unwrap(), "{name}");
    }
}

#[test]
fn a_chunk_that_cannot_be_read_is_named_in_the_manifest() {
    let scratch = Scratch::new("chunks");
    let mut bad = rdf::Chunk::zstd("../bad", b"content");
    bad.stored.truncate(8);
    let file = scratch.path("a.rdf");
    fs::write(&file, rdf::file(&[rdf::Chunk::zstd("good", b"content"), bad])).unwrap();
    let folder = scratch.path("out");
    let out = traceglass(&["export", "--format", "files", "-o", &folder, &file]);
    assert_eq!(status(&out), 3, "{out:?}");
    let lines = manifest(&folder);
    let chunks: Vec<_> = lines.iter().filter(|line| line["kind"] == "chunk").collect();
    assert_eq!(
        (&chunks[0]["name"], &chunks[0]["bytes"], &chunks[0]["error"]),
        (&"good".into(), &7.into(), &Value::Null)
    );
    assert_eq!(chunks[1]["name"], "../bad");
    assert!(chunks[1]["file"].as_str().unwrap().ends_with("-chunk-_bad"), "{}", chunks[1]["file"]);
    assert!(chunks[1]["error"].is_string());
}

#[test]
fn what_cannot_be_exported_is_said() {
    let (path, scratch) = (data("sample.rdf"), Scratch::new("no-events"));
    let output = scratch.path("out");
    let to_file = ["-o", &output];
    for format in ["perfetto", "chrome"] {
        for to in [&[][..], &to_file] {
            let out = traceglass(&[&["export", "--format", format, path.to_str().unwrap()], to].concat());
            assert_eq!((status(&out), out.stdout.len()), (1, 0), "{out:?}");
            assert!(String::from_utf8_lossy(&out.stderr).contains("--format files"), "{out:?}");
            assert!(!std::path::Path::new(&output).exists(), "{format}");
        }
    }
    // The trace beside it is exported.
    let sample = data("sample.rtc");
    let out = traceglass(&["export", "--format", "chrome", path.to_str().unwrap(), sample.to_str().unwrap()]);
    let events: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((status(&out), &events["traceEvents"][0]["args"]["name"]), (1, &"sample.rtc".into()));
    let out = traceglass(&["export", "--format", "files", path.to_str().unwrap()]);
    assert_eq!(status(&out), 2);
}

/// The times with which the lines of events begin.
fn times(lines: &[String]) -> Vec<u64> {
    // A loss is told in any range: nobody knows when it was.
    let told = lines.iter().filter(|line| !line.contains(" discarded") && !line.contains(" began_ns="));
    told.filter_map(|line| line.split(' ').next()?.parse().ok()).collect()
}

#[test]
fn streams_become_counters_and_instants() {
    let path = data("sample.rtc");
    let out = traceglass(&["export", "--format", "perfetto", path.to_str().unwrap()]);
    assert_eq!(status(&out), 0);
    assert!(String::from_utf8_lossy(&out.stderr).contains("their time is not known"));
    let lines = decode(&out.stdout);
    let has = |text: &str| lines.iter().any(|line| line.contains(text));
    assert!(
        has("session 0 < sample.rtc: ") && has("adc < session 0: stream  id=11 format=\"int16le\""),
        "{lines:#?}"
    );
    assert!(has(" adc counter") && has(" stdout instant stdout value="));
}

/// Nothing is lost of a record whose bytes are not what its format says, and all verbs agree that nothing is.
#[test]
fn a_value_that_its_format_cannot_hold_is_exported_as_bytes() {
    let scratch = Scratch::new("misfit");
    let mut writer = rtc::Writer::new(rtc::Options::sizes(4096, 2048));
    let clock = writer.stream(r#""name":"clk","clock":true,"format":"timespec","length":12"#);
    let id = writer.stream(r#""name":"adc","clock":"clk","format":"int32le""#);
    let stamp: [u8; 12] = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    writer.write(clock, &stamp);
    writer.write(id, &[0xab, 0xcd]);
    let file = scratch.path("a.rtc");
    fs::write(&file, writer.stop()).unwrap();
    let out = traceglass(&["export", "--format", "perfetto", &file]);
    assert_eq!((status(&out), out.stderr.len()), (0, 0), "{out:?}");
    let lines = decode(&out.stdout);
    let bytes = format!("instant adc value=[] value_hex={:?}", [(6, Stored::Bytes(b"abcd".to_vec()))]);
    assert!(lines.iter().any(|line| line.contains(&bytes)), "{bytes} in {lines:#?}");
    for verb in [&["cat"][..], &["cat", "--json"], &["check"], &["info"]] {
        assert_eq!(status(&traceglass(&[verb, &[&file]].concat())), 0, "{verb:?}");
    }
}

#[test]
fn queues_of_a_gpu_become_slices() {
    let path = data("sample.rgp");
    let out = traceglass(&["export", "--format", "perfetto", path.to_str().unwrap()]);
    assert_eq!(status(&out), 0, "{out:?}");
    // The markers that the program set.
    assert!(String::from_utf8_lossy(&out.stderr).contains("4 events were left out"), "{out:?}");
    let lines = decode(&out.stdout);
    let of = |text: &str| lines.iter().filter(|line| line.contains(text)).count();
    assert_eq!(
        (of("queue 1 begin"), of("queue 1 end"), of("queue 2 begin"), of("queue 2 end")),
        (2, 2, 2, 2)
    );
    assert!(lines.iter().any(|line| line.starts_with("101000 queue 1 begin CmdBufSubmit")), "{lines:#?}");
}

/// Threads that run are slices; one that runs when a range of time begins is drawn from there.
#[test]
fn pairs_of_events_are_slices() {
    let sample = data("sample.ctf");
    let export = |args: &[&str]| {
        let args = [&["export", "--format", "perfetto"], args, &[sample.to_str().unwrap()]].concat();
        let out = traceglass(&args);
        assert_eq!(status(&out), 0, "{out:?}");
        decode(&out.stdout)
    };
    let of = |lines: &[String], text: &str| lines.iter().filter(|line| line.contains(text)).count();
    let lines = export(&[]);
    let batteries = of(&lines, " instant battery");
    assert_eq!((of(&lines, " CPU 0 begin "), of(&lines, " CPU 0 end")), (12, 11), "{lines:#?}");
    assert!(batteries > 0 && of(&lines, "thread_switched_in") == 0, "{lines:#?}");
    let lines = export(&["--no-states"]);
    assert_eq!((of(&lines, " begin "), of(&lines, " instant thread_switched_in")), (0, 12));
    let lines = export(&["--from", "+2500us", "--to", "+3500us"]);
    let begun: Vec<_> = lines.iter().filter(|line| line.contains(" CPU 0 begin ")).collect();
    assert_eq!((begun.len(), of(&lines, " CPU 0 end")), (1, 0), "{lines:#?}");
    assert!(begun[0].starts_with("1795225314002500000 CPU 0 begin sensor"), "{begun:?}");
    assert!(begun[0].contains(" began_ns=[(3, Int(1795225314002000000))]"), "{begun:?}");
}

/// A poll that lasts through a range of time is in it.
#[test]
fn a_poll_that_spans_a_range_is_drawn() {
    let path = data("sample.rfr");
    let path = path.to_str().unwrap();
    let range = ["export", "--format", "perfetto", "--from", "+200ms", "--to", "+300ms"];
    let poll = |args: &[&str]| {
        let out = traceglass(&[args, &[path]].concat());
        assert_eq!(status(&out), 0, "{out:?}");
        let lines = decode(&out.stdout);
        // It is open when the range ends.
        assert!(!lines.iter().any(|line| line.contains(" read config end")), "{lines:#?}");
        let from = lines.iter().find(|line| line.contains(" began_ns=")).cloned();
        from.filter(|line| line.starts_with("1795225314200900000 read config begin poll "))
    };
    assert!(poll(&range).unwrap().contains(" began_ns=[(3, Int(1795225314000950000))]"));
    // With less before it, its begin is not known.
    assert_eq!(poll(&[&range[..], &["--look-back", "100ms"]].concat()), None);
}

#[test]
fn a_range_of_time_is_cut_out() {
    for sample in ["sample.rtc", "sample.rgp", "sample.ctf", "stream.rfr"] {
        let path = data(sample);
        let path = path.to_str().unwrap();
        // A slice over the begin of the range is drawn from there.
        let whole = ["export", "--format", "perfetto", "--no-states", path];
        let whole = times(&decode(&traceglass(&whole).stdout));
        let (first, last) = (*whole.iter().min().unwrap(), *whole.iter().max().unwrap());
        assert!(last > first, "{sample}");
        let middle = (last - first) / 2 + 1;
        let (from, to) = (format!("+{}ns", middle / 2), format!("+{middle}ns"));
        let args = ["export", "--format", "perfetto", "--no-states", "--from", &from, "--to", &to, path];
        let out = traceglass(&args);
        assert_eq!(status(&out), 0, "{sample}: {out:?}");
        let cut = times(&decode(&out.stdout));
        // The order of a file is not always that of time: its first record tells where time begins.
        let start = whole[0];
        let range = start + middle / 2..start + middle;
        let expected: Vec<_> = whole.iter().filter(|time| range.contains(time)).collect();
        assert_eq!(cut.iter().collect::<Vec<_>>(), expected, "{sample} {from} {to}");
    }
    let path = data("sample.rtc");
    for wrong in [
        &["export", "--format", "files", "--to", "+1s", "-o", "/nowhere/at/all"][..],
        &["export", "--format", "perfetto", "--format", "arrow"],
        &["export", "--to", "+1s"],
        &["export", "--format", "perfetto", "--to", "+1s", "--to", "+2s"],
        &["export", "--format", "paper"],
    ] {
        let args = [wrong, &[path.to_str().unwrap()]].concat();
        assert_eq!(status(&traceglass(&args)), 2, "{wrong:?}");
    }
}

/// Of some names there is what there is of all, and has one of them.
#[test]
fn names_select_events_and_slices() {
    // What was lost is shown, whatever is asked for.
    let is_wanted = |found: &str, name: &str| found.starts_with(name) || found.starts_with("discarded");
    // What a viewer is shown: the phase, the name, how long it took.
    let shown = |args: &[&str], name: Option<&str>| {
        let whole = chrome(args);
        let events = whole["traceEvents"].as_array().unwrap();
        let drawn =
            events.iter().filter(|event| matches!(event["ph"].as_str().unwrap(), "X" | "B" | "i" | "C"));
        drawn
            .filter(|event| name.is_none_or(|name| is_wanted(event["name"].as_str().unwrap(), name)))
            .map(|event| format!("{} {} {} {}", event["ph"], event["name"], event["dur"], event["args"]))
            .collect::<Vec<_>>()
    };
    let mut drawn = 0;
    for (sample, name) in [
        ("sample.rfr", "poll"),
        ("sample.rfr", "Waker"),
        ("kernel", "irq"),
        ("kernel", "sched"),
        ("sample.ctf", "sensor"),
        ("sample.rgp", ""),
        ("sample.rtc", "stdout"),
        ("trace.0.bin", "p"),
    ] {
        let path = data(sample);
        let path = path.to_str().unwrap();
        let glob = format!("{name}*");
        let found = shown(&["--name", &glob, path], None);
        assert_eq!(found, shown(&[path], Some(name)), "{sample} {name}");
        let perfetto = |names: &[&str]| {
            let out = traceglass(&[&["export", "--format", "perfetto", path], names].concat());
            assert_eq!(status(&out), 0, "{out:?}");
            decode(&out.stdout)
        };
        // Lines of events: the time, the track, the kind, the name; an end is that of the begin before it.
        let (mut expected, mut open) = (Vec::new(), BTreeMap::<String, Vec<bool>>::new());
        for line in perfetto(&[]) {
            let kind = [" begin", " end", " instant", " counter"].into_iter().find_map(|kind| {
                let (track, rest) = line.split_once(kind)?;
                let is_event = track.split(' ').next()?.parse::<i64>().is_ok();
                is_event.then(|| {
                    (track.split_once(' ').unwrap().1.to_owned(), kind, rest.trim_start().to_owned())
                })
            });
            let Some((track, kind, rest)) = kind else { continue };
            let is_wanted = match kind {
                " end" => open.get_mut(&track).and_then(Vec::pop).unwrap_or(false),
                _ => is_wanted(&rest, name),
            };
            if kind == " begin" {
                open.entry(track).or_default().push(is_wanted);
            }
            if is_wanted {
                expected.push(line);
            }
        }
        let is_event = |line: &String| line.split(' ').next().unwrap().parse::<i64>().is_ok();
        let found: Vec<_> = perfetto(&["--name", &glob]).into_iter().filter(is_event).collect();
        assert_eq!(found.len(), expected.len(), "{sample} {name}");
        drawn += found.len();
        if cfg!(feature = "tables") {
            for table in ["events", "slices"] {
                let csv = |names: &[&str]| {
                    let args = ["export", "--format", "csv", "--table", table, path];
                    let text = String::from_utf8(traceglass(&[&args, names].concat()).stdout).unwrap();
                    text.lines().map(str::to_owned).collect::<Vec<_>>()
                };
                let (all, some) = (csv(&[]), csv(&["--name", &glob]));
                let column = all[0].split(',').position(|column| column == "name").unwrap();
                let is_named =
                    |line: &&String| line.split(',').nth(column).is_some_and(|found| found.starts_with(name));
                assert_eq!(
                    some[1..].iter().collect::<Vec<_>>(),
                    all[1..].iter().filter(is_named).collect::<Vec<_>>()
                );
            }
        }
    }
    assert!(drawn > 200, "{drawn}");
    let path = data("sample.rtc");
    for wrong in
        [&["--format", "parquet", "-o", "/nowhere/at/all"][..], &["--format", "csv", "--table", "tracks"]]
    {
        let args = [&["export", "--name", "a"], wrong, &[path.to_str().unwrap()]].concat();
        assert_eq!(status(&traceglass(&args)), 2, "{wrong:?}");
    }
}

/// A file or a folder, by its names and contents.
fn content(path: &std::path::Path) -> BTreeMap<PathBuf, Vec<u8>> {
    if path.is_file() {
        return BTreeMap::from([(path.to_owned(), fs::read(path).unwrap())]);
    }
    fs::read_dir(path).unwrap().flat_map(|entry| content(&entry.unwrap().path())).collect()
}

#[test]
fn what_is_read_is_never_written() {
    let scratch = Scratch::new("inputs");
    let recording = scratch.path("recording");
    fs::create_dir_all(format!("{recording}/2026")).unwrap();
    let chunk = rfr::Chunk::new(1).sequence(rfr::Sequence::new(5).about(1, 8, 1)).bytes();
    for name in ["recording/2026/a.rfr", "a.rfr", "b.rfr"] {
        fs::write(scratch.path(name), &chunk).unwrap();
    }
    let (a, b, inside) = (scratch.path("a.rfr"), scratch.path("b.rfr"), format!("{recording}/2026/a.rfr"));
    let data_stream = scratch.path("channel0");
    fs::write(&data_stream, b"\xc1\x1f\xfc\xc1 and the rest of a packet").unwrap();
    let (link, hard) = (scratch.path("link"), scratch.path("hard"));
    #[cfg(unix)]
    std::os::unix::fs::symlink(&a, &link).unwrap();
    fs::hard_link(&a, &hard).unwrap();
    let round = format!("{recording}/../a.rfr");
    let before = content(&scratch.0);
    for (output, input) in [
        (&a, &a),
        (&round, &a),
        (&hard, &a),
        #[cfg(unix)]
        (&link, &a),
        (&a, &link),
        // As `-o *.rfr` would have it.
        (&b, &a),
        (&data_stream, &a),
        (&inside, &recording),
        (&format!("{recording}/new"), &recording),
        (&recording, &recording),
    ] {
        for target in ["perfetto", "files"] {
            let out = traceglass(&["export", "--format", target, "-o", output, input]);
            // Nor is it a folder.
            let expected = if target == "files" && output != &recording { &[1, 2][..] } else { &[2] };
            assert!(expected.contains(&status(&out)), "{target} {output} {input}: {out:?}");
            assert_eq!(content(&scratch.0), before, "{target} {output} {input}");
        }
    }
    let folder = format!("{recording}/2026/parts");
    for verb in [&["export", "--format", "files"][..], &["cat", "--all"]] {
        let out = traceglass(&[verb, &["-o", &folder, &recording]].concat());
        assert_ne!(status(&out), 0, "{verb:?}");
        assert!(!std::path::Path::new(&folder).exists(), "{verb:?}");
    }
}

#[test]
fn an_output_is_complete_or_not_there() {
    let scratch = Scratch::new("complete");
    let (file, target, folder) = (scratch.path("a.rfr"), scratch.path("out.pftrace"), scratch.path("out"));
    let chunk = rfr::Chunk::new(1).sequence(rfr::Sequence::new(5).about(1, 8, 1)).bytes();
    fs::write(&file, chunk).unwrap();
    let export = |input: &str| {
        status(&traceglass(&["export", "--format", "perfetto", "--force", "-o", &target, input]))
    };
    let names = || content(&scratch.0).into_keys().collect::<Vec<_>>();
    assert_eq!((export("/nowhere"), names()), (1, vec![PathBuf::from(&file)]));
    let out = traceglass(&["export", "--format", "files", "-o", &folder, "/nowhere"]);
    assert_eq!((status(&out), std::path::Path::new(&folder).exists()), (1, false));
    // A folder is made for it, but none for that.
    let below = scratch.path("none/out");
    let out =
        traceglass(&["export", "--format", "files", "-o", &below, data("sample.rtc").to_str().unwrap()]);
    assert_eq!((status(&out), std::path::Path::new(&scratch.path("none")).exists()), (1, false));
    // An earlier output stays until another is complete.
    fs::write(&target, "before").unwrap();
    assert_eq!((export("/nowhere"), fs::read(&target).unwrap()), (1, b"before".to_vec()));
    // Nor is it overwritten unasked.
    let out = traceglass(&["export", "--format", "perfetto", "-o", &target, &file]);
    let says = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!((status(&out), fs::read(&target).unwrap()), (2, b"before".to_vec()), "{says}");
    assert!(says.contains("out.pftrace exists: --force overwrites it"), "{says}");
    assert_eq!(export(&file), 0);
    assert!(!decode(&fs::read(&target).unwrap()).is_empty());
    assert_eq!(names(), [&file, &target].map(PathBuf::from));
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_that_cannot_be_written_is_named() {
    let scratch = Scratch::new("full");
    let file = scratch.path("a.rfr");
    let chunk = rfr::Chunk::new(1).sequence(rfr::Sequence::new(5).about(1, 8, 1)).bytes();
    fs::write(&file, chunk).unwrap();
    for (output, why) in [("/dev/full", "No space"), ("/nowhere/out", "No such file")] {
        let out = traceglass(&["export", "--format", "perfetto", "-o", output, &file]);
        let message = String::from_utf8(out.stderr.clone()).unwrap();
        assert_eq!(status(&out), 1, "{message}");
        assert!(message.contains(&format!("cannot write {output}: {why}")), "{message}");
    }
    // A pipe that nobody reads any more is no stdout that is closed.
    let pipe = scratch.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let many = rfr::Sequence::new(5);
    let many = (1..100_000).fold(many, |sequence, at| sequence.about(at, 8, 1));
    fs::write(&file, rfr::Chunk::new(1).sequence(many).bytes()).unwrap();
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || drop(fs::File::open(pipe).unwrap())
    });
    let out = traceglass(&["export", "--format", "perfetto", "-o", &pipe, &file]);
    reader.join().unwrap();
    let message = String::from_utf8(out.stderr.clone()).unwrap();
    assert_eq!(status(&out), 1, "{message}");
    assert!(message.contains(&format!("cannot write {pipe}: Broken pipe")), "{message}");
}
