//! Captures off a wire and out of memory: what the command says of them.

use crate::common::{Scratch, status, traceglass, unplaced};
use crate::json_lines;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Each capture: its name, its folder, and the lines of what is expected.
fn captures(mut each: impl FnMut(&str, &str, &[Value])) {
    let Some(root) = std::env::var_os("TRACEGLASS_VECTORS") else {
        eprintln!("TRACEGLASS_VECTORS is not set: the captures are not read");
        return;
    };
    let folder = Path::new(&root).join("ctf-wire");
    let index = std::fs::read_to_string(folder.join("index.ndjson")).expect("an index");
    let mut count = 0;
    for line in index.lines() {
        let entry: Value = serde_json::from_str(line).expect("a line of the index");
        let name = entry["name"].as_str().expect("a name");
        let expected = std::fs::read_to_string(folder.join(name).join("expected.ndjson")).expect("lines");
        let lines: Vec<Value> =
            expected.lines().map(|line| serde_json::from_str(line).expect("a line")).collect();
        let trace = folder.join(name).join("trace");
        each(name, trace.to_str().expect("a path of UTF-8"), &lines);
        count += 1;
    }
    assert!(count > 0, "no captures");
}

fn of_kind<'l>(lines: &'l [Value], kind: &'l str) -> impl Iterator<Item = &'l Value> {
    lines.iter().filter(move |line| line["k"] == kind)
}

fn of_kind_in<'l>(lines: &'l [Value], kind: &'l str) -> impl Iterator<Item = &'l Value> {
    lines.iter().filter(move |line| line["kind"] == kind)
}

/// The options so that a capture without packets is read.
fn options(lines: &[Value]) -> Vec<String> {
    let options =
        of_kind(lines, "what").flat_map(|what| what["options"].as_array().cloned().unwrap_or_default());
    let options: Vec<_> = options.filter_map(|option| option.as_str().map(str::to_owned)).collect();
    let options = options.iter().flat_map(|option| match option.strip_prefix("--skip ") {
        Some(count) => vec!["--skip", count],
        None if option == "wire" => vec!["--wire"],
        None => Vec::new(),
    });
    options.map(str::to_owned).collect()
}

#[test]
fn captures_are_split_by_themselves() {
    captures(|name, trace, lines| {
        let options = options(lines);
        let run = |args: &[&str]| {
            let options: Vec<_> = options.iter().map(String::as_str).collect();
            traceglass(&[args, &options[..], &[trace]].concat())
        };
        let verdict = &of_kind(lines, "end").next().expect("an end")["verdict"];
        let expected = i32::from(verdict == "damaged") * 3;
        let (cat, check, info) =
            (run(&["cat", "--json"]), run(&["check", "--json"]), run(&["info", "--json"]));
        for output in [&cat, &check, &info] {
            assert_eq!(status(output), expected, "{name}");
        }
        assert_eq!(json_lines(&check)[0]["verdict"], *verdict, "{name}");
        // All records in their order; what else there is was written, or is marked.
        let must: Vec<u64> = of_kind(lines, "record")
            .filter(|line| line["must"] == true)
            .map(|line| line["at"].as_u64().expect("an offset"))
            .collect();
        let found = json_lines(&cat);
        let offset = |record: &Value| record["offset"].as_u64().expect("an offset");
        let is_must = |at: &u64| must.contains(at);
        let certain: Vec<u64> = found.iter().map(offset).filter(is_must).collect();
        assert_eq!(certain, must, "{name}");
        let info = &json_lines(&info)[0];
        let restarts: Vec<_> = of_kind(lines, "restart").map(|line| line["at"].clone()).collect();
        match info["captures"].as_array().map(Vec::as_slice) {
            Some([capture]) => assert_eq!(capture["restarts"], Value::from(restarts), "{name}"),
            _ => assert!(restarts.is_empty(), "{name}: {info}"),
        }
    });
}

/// All verbs ask one place whether a file is a capture: they tell the same records.
#[test]
fn front_ends_tell_the_same_records() {
    let mut records = 0;
    captures(|name, trace, lines| {
        let options = options(lines);
        let run = |args: &[&str]| {
            let options: Vec<_> = options.iter().map(String::as_str).collect();
            let output = traceglass(&[args, &options[..], &[trace]].concat());
            assert!([0, 3].contains(&status(&output)), "{name}: {args:?}");
            json_lines(&output)
        };
        let sum = |lines: &[Value], kind: &str, member: &str| {
            of_kind_in(lines, kind).map(|line| line[member].as_u64().expect("a number")).sum::<u64>()
        };
        let cat = of_kind_in(&run(&["cat", "--json"]), "event").count() as u64;
        let info = run(&["info", "--json"])[0]["records"].as_u64();
        let ls = sum(&run(&["ls", "--json"]), "stream", "records");
        let stats = run(&["stats", "--json", "--no-states"]);
        let stats = stats.iter().filter(|line| line["kind"] == "event" && line["name"] != "discarded");
        let stats = stats.map(|line| line["count"].as_u64().expect("a number")).sum::<u64>();
        assert_eq!((info, ls, stats), (Some(cat), cat, cat), "{name}");
        #[cfg(feature = "tables")]
        if options.is_empty() {
            assert_eq!(in_tables(trace), cat, "{name}");
        }
        records += cat;
    });
    println!("{records} records");
}

/// The number of records in the tables that Parquet, Arrow and Python are made from.
#[cfg(feature = "tables")]
fn in_tables(trace: &str) -> u64 {
    use traceglass_tables::{Query, Seen};
    let read = traceglass_cli::tables::with(Path::new(trace), |trace| {
        let (query, seen) =
            (Query { kinds: Some(["instant".to_owned()].into()), ..Query::default() }, Seen::default());
        let events = trace.table("events").expect("events");
        let mut rows = 0;
        let mut count = |_: usize, batch: traceglass_tables::RecordBatch| {
            rows += batch.num_rows() as u64;
            Ok(())
        };
        trace.stream(0..trace.pieces(), &[events], &query, &seen, 1, &|_| (), &mut count).expect("rows");
        rows
    });
    read.unwrap_or_else(|refused| panic!("{trace}: {}", refused.message))
}

/// The folders that are written are plain CTF: clean, with all records in them. babeltrace2 reads them, too, if it is
/// installed: nothing is missing, and nothing complained of.
#[test]
fn split_captures_are_clean() {
    let has_babeltrace = Command::new("babeltrace2").arg("--version").output().is_ok();
    if !has_babeltrace {
        eprintln!("babeltrace2 is not installed: nothing else reads what is written");
    }
    let scratch = Scratch::new("wire-split");
    let (mut read, mut compared, mut records) = (0, 0, 0);
    captures(|name, trace, lines| {
        let what = of_kind(lines, "what").next().expect("what it is");
        let layout = what["layout"].as_str().expect("a layout");
        // Without sizes nothing tells a plain reader where packets end.
        if ["no-size", "zephyr-bare"].iter().any(|prefix| layout.starts_with(prefix)) {
            return;
        }
        let out = scratch.path(name);
        let made = traceglass(&["export", "--format", "files", "--wire", "-o", &out, trace]);
        assert!([0, 3].contains(&status(&made)), "{name}");
        // It stops where a short begin falls; version 2.0 does not read CTF 2.
        let is_read = has_babeltrace && what["ctf"] == 1 && !layout.starts_with("freertos");
        let (mut own, mut printed) = (0, 0);
        for entry in std::fs::read_dir(&out).expect("a folder") {
            let folder = entry.expect("an entry").path();
            if !folder.join("metadata").exists() {
                continue;
            }
            let path = folder.to_str().expect("a path of UTF-8");
            let output = traceglass(&["cat", "--json", "--no-wire", path]);
            assert_eq!(status(&output), 0, "{name}: {}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(status(&traceglass(&["check", "--no-wire", path])), 0, "{name}");
            own += json_lines(&output).len();
            if !is_read {
                continue;
            }
            let output = Command::new("babeltrace2").arg(&folder).output().expect("babeltrace2 runs");
            // It tells of losses, too: on the way, and in the device itself.
            let is_word = |line: &&str| !line.starts_with("WARNING: Tracer discarded ");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let said: Vec<_> = said.lines().filter(is_word).collect();
            assert!(output.status.success() && said.is_empty(), "{name}: {said:?}");
            printed += output.stdout.iter().filter(|byte| **byte == b'\n').count();
        }
        // The record with the magic number in its text is not among them.
        let unlisted = usize::from(name.starts_with("lookalike"));
        let must = of_kind(lines, "record").filter(|line| line["must"] == true).count() + unlisted;
        assert_eq!(own, must, "{name}");
        read += 1;
        if is_read {
            assert_eq!(printed, must, "{name}");
            (compared, records) = (compared + 1, records + printed);
        }
    });
    println!("{read} captures split; babeltrace2 reads {compared}, {records} records");
}

/// Sessions are traces of their own: they are merged with those of the same name, and not with each other.
#[test]
fn sessions_are_merged_by_their_names() {
    let scratch = Scratch::new("wire-sessions-merged");
    let records = |path: &str| -> Vec<String> {
        let lines = json_lines(&traceglass(&["cat", "--json", path]));
        let mut records: Vec<_> = lines.into_iter().map(unplaced).collect();
        records.sort();
        records
    };
    captures(|name, trace, _| {
        if !name.starts_with("restart") {
            return;
        }
        let [all, a, b, out] = ["all", "a", "b", "out"].map(|part| scratch.path(&format!("{name}-{part}")));
        traceglass(&["recover", "-o", &all, trace]);
        for (half, range) in [(&a, "--to=+50us"), (&b, "--from=+50us")] {
            assert_eq!(status(&traceglass(&["cut", range, "-o", half, &all])), 0, "{name}");
        }
        let expected = records(&all);
        assert!(!expected.is_empty(), "{name}");
        for inputs in [&[&all[..]][..], &[&all[..], &all[..]], &[&a[..], &b[..]]] {
            let merged = traceglass(&[&["merge", "--force", "-o", &out], inputs].concat());
            assert_eq!(status(&merged), 0, "{name}: {}", String::from_utf8_lossy(&merged.stderr));
            assert!(records(&out) == expected, "{name}: {inputs:?}");
        }
    });
}
