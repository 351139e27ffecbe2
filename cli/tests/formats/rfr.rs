//! Recordings by the command: directories, selections, and files that are still being written.

use crate::common::rfr::{self as build, Sequence, Value, Writer};
use crate::common::{status, traceglass};
use serde_json::Value as Json;
use std::fs;
use std::path::PathBuf;

/// A recording's directory, removed at its end.
pub struct Recording(pub PathBuf);

impl Recording {
    pub fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("traceglass-rfr-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn file(&self, name: &str, data: &[u8]) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, data).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The exit status, and the lines of JSON.
pub fn run(args: &[&str]) -> (i32, Vec<Json>) {
    let output = traceglass(args);
    let text = std::str::from_utf8(&output.stdout).unwrap();
    (status(&output), text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn micros(lines: &[Json]) -> Vec<u64> {
    lines.iter().map(|line| line["micros"].as_u64().unwrap()).collect()
}

/// Three chunks, named against their order, with callsites and meta; nothing is where the document has it.
pub fn recording(test: &str) -> Recording {
    let recording = Recording::new(test);
    let place = [("name", Value::Str("spawn")), ("file", Value::Str("src/main.rs")), ("line", Value::U64(7))];
    recording.file("meta.rfr", &build::meta(1_000, 5, &["rfr-c/0.0.2"]));
    recording.file("sites", &build::callsites(&[build::callsite(70, 30, 2, &place, &["task.id"])]));
    recording.file("notes.txt", b"nothing of a recording");
    for (second, name) in [(1_000, "b/z"), (1_001, "a/y"), (1_002, "x")] {
        let first = Sequence::new(1).task(5, 70, "alpha", None).about(10, 6, 5).about(30, 7, 5);
        let second_sequence =
            Sequence::new(2).task(6, 70, "beta", Some(5)).about(20, 6, 6).waker(25, 9, 5, Some(6));
        let chunk = build::Chunk::new(second).sequence(first).sequence(second_sequence);
        recording.file(name, &chunk.bytes());
    }
    recording
}

const BASE: u64 = 1_000_000_000;

#[test]
fn chunks_are_ordered_by_their_headers() {
    let recording = recording("order");
    let (exit, lines) = run(&["ls", "--json", recording.path()]);
    assert_eq!(exit, 0);
    let paths: Vec<&str> = lines
        .iter()
        .filter(|line| line["kind"] == "chunk")
        .map(|line| line["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["b/z", "a/y", "x"]);
    assert_eq!(lines.len(), 9);

    let (exit, info) = run(&["info", "--json", recording.path()]);
    let info = &info[0];
    assert_eq!((exit, &info["verdict"]), (0, &"clean".into()));
    for (field, value) in [
        ("chunks", 3),
        ("sequences", 6),
        ("objects", 6),
        ("records", 12),
        ("callsites", 1),
        ("created_micros", BASE + 5),
    ] {
        assert_eq!(info[field], value, "{field}");
    }
    assert_eq!((&info["start_micros"], &info["end_micros"]), (&BASE.into(), &(BASE + 3_000_000).into()));
    assert_eq!(info["records_by_kind"]["TaskPollStart"], 6);

    let (exit, lines) = run(&["cat", "--json", recording.path()]);
    assert_eq!((exit, &micros(&lines)[..5]), (0, &[10, 20, 25, 30, 1_000_010].map(|at| BASE + at)[..]));
    let (_, merged) = run(&["cat", "--json", "--merge", recording.path()]);
    assert_eq!(merged, lines, "records are in the order of time in any case");
    assert_eq!(merged[2]["kind"], "WakerWake");
    assert_eq!(
        (&merged[2]["task_iid"], &merged[2]["context"], &merged[2]["seq_id"]),
        (&5.into(), &6.into(), &2.into())
    );
    assert_eq!((&merged[2]["path"], &merged[2]["iid"]), (&"b/z".into(), &Json::Null));
    assert_eq!(run(&["check", "--json", recording.path()]).1[0]["findings"], Json::Array(Vec::new()));
}

#[test]
fn selections_are_kept() {
    let recording = recording("select");
    let cat = |args: &[&str]| {
        let mut all = vec!["cat", "--json"];
        all.extend(args);
        all.push(recording.path());
        let (exit, lines) = run(&all);
        assert_eq!(exit, 0, "{args:?}");
        lines
    };
    assert_eq!(cat(&["--from", "+1s", "--to", "+2s"]).len(), 4);
    assert_eq!(cat(&["--from", "@1000000020", "--to", "@1000000030"]).len(), 2);
    assert_eq!(cat(&["--kind", "TaskPollStart,TaskPollEnd"]).len(), 9);
    assert_eq!(cat(&["--task", "beta"]).len(), 3);
    assert_eq!(cat(&["--task", "5", "--kind", "WakerWake"]).len(), 3);
    // Whoever mistypes a name is told so, as by each verb.
    assert_eq!(run(&["cat", "--json", "--task", "nobody", recording.path()]), (0, Vec::new()));
    let objects = cat(&["--objects", "--to", "+0.5s"]);
    let kinds: Vec<&str> = objects.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["Task", "Task", "TaskPollStart", "TaskPollStart", "WakerWake", "TaskPollEnd"]);
    assert_eq!((&objects[1]["task_name"], &objects[1]["context"]), (&"beta".into(), &5.into()));
    let callsites = cat(&["--callsites"]);
    assert_eq!(
        (callsites.len(), &callsites[0]["line"], &callsites[0]["file"]),
        (1, &7.into(), &"src/main.rs".into())
    );
    for wrong in [&["--from", "x"][..], &["--kind", "Poll"], &["--callsites", "--merge"]] {
        let args: Vec<&str> =
            ["cat"].into_iter().chain(wrong.iter().copied()).chain([recording.path()]).collect();
        assert_eq!(status(&traceglass(&args)), 2, "{wrong:?}");
    }
    // For people: names, and where they come from.
    let text =
        String::from_utf8(traceglass(&["cat", "--kind", "WakerWake", recording.path()]).stdout).unwrap();
    assert!(text.starts_with("1970-01-01T00:16:40.000025000Z  WakerWake  seq_id=2 task_iid=5 "), "{text}");
    let says = ["task=\"alpha\"", "context_task=\"beta\"", "location=\"src/main.rs:7\""];
    assert!(says.iter().all(|said| text.contains(said)), "{text}");
}

/// In a stream an id is a task's own up to its end: what comes after it is of another one.
#[test]
fn a_task_of_a_stream_is_selected_up_to_its_end() {
    let scratch = crate::common::Scratch::new("select-stream");
    let about = || build::Writer::new().ints([5]);
    let stream = build::stream(&[
        (1, 0, 4, build::task(5, 7, 1, "wanted", Ok(0), None)),
        (1, 1, 10, about()), // TaskPollStart
        (1, 2, 11, about()),
        (1, 3, 12, about()), // TaskDrop
        (1, 4, 10, about()),
        (1, 5, 4, build::task(5, 7, 2, "wanted", Ok(0), None)),
        (1, 6, 10, about()),
        (1, 7, 4, build::task(5, 7, 3, "other", Ok(0), None)),
        (1, 8, 10, about()),
    ]);
    let path = scratch.file("a.rfr", &stream);
    let (exit, lines) = run(&["cat", "--json", "--task", "wanted", &path]);
    let micros: Vec<_> = lines.iter().map(|line| line["micros"].as_u64().unwrap() - 1_000_000).collect();
    assert_eq!((exit, micros), (0, vec![0, 1, 2, 3, 5, 6]));
}

/// A recorder that is writing leaves its last chunk, and its callsites, cut.
#[test]
fn a_cut_tail_costs_the_tail_alone() {
    let recording = recording("cut");
    let whole = fs::read(recording.0.join("x")).unwrap();
    recording.file("x", &whole[..whole.len() - 1]);
    let sites = fs::read(recording.0.join("sites")).unwrap();
    for (name, data) in
        [("sites", &sites[..sites.len() - 1]), ("empty.rfr", &[][..]), ("cut.rfr", b"\x0brfr-c/")]
    {
        recording.file(name, data);
        for (verb, lines) in [("info", 1), ("ls", 9), ("cat", 11), ("check", 1)] {
            let (exit, found) = run(&[verb, "--json", recording.path()]);
            assert_eq!((exit, found.len()), (3, lines), "{verb}");
        }
    }
    let (_, merged) = run(&["cat", "--json", "--merge", recording.path()]);
    assert!(merged.len() == 11 && micros(&merged).is_sorted());
    let (_, check) = run(&["check", "--json", recording.path()]);
    assert_eq!(check[0]["verdict"], "damaged");
    let findings = check[0]["findings"].as_array().unwrap();
    let errors: Vec<(&str, &str)> = findings
        .iter()
        .filter(|finding| finding["severity"] == "error")
        .map(|finding| (finding["path"].as_str().unwrap(), finding["what"].as_str().unwrap()))
        .collect();
    let cut = "unexpected-end";
    assert_eq!(errors, [("cut.rfr", cut), ("empty.rfr", cut), ("sites", cut), ("x", cut)]);
}

/// Every prefix of a chunk: nothing, or what is whole of it.
#[test]
fn prefixes_of_a_chunk() {
    let recording = Recording::new("prefixes");
    let data = build::Chunk::new(1_000)
        .sequence(Sequence::new(1).task(5, 70, "alpha", None).about(10, 6, 5).about(30, 7, 5))
        .bytes();
    for len in 0..=data.len() {
        let path = recording.file("chunk", &data[..len]);
        let (exit, lines) = run(&["cat", "--json", &path]);
        // Without a whole header nothing can be delivered: identifier, base time, start, end, earliest, latest.
        let expected = match len {
            _ if len == data.len() => 0,
            0..20 => 1,
            _ => 3,
        };
        assert_eq!(exit, expected, "{len}");
        assert_eq!(lines.len(), usize::from(len + 3 >= data.len()) + usize::from(len >= data.len()), "{len}");
    }
}

/// Clocks are set back, chunks overlap: merged, everything is in order all the same.
#[test]
fn merging_puts_everything_in_order() {
    let recording = Recording::new("merge");
    let back = Sequence::new(1).about(50, 6, 1).about(10, 7, 1).about(60, 6, 1);
    let early = Sequence::new(2).about(2_000_000, 6, 2).about(5, 7, 2);
    recording.file("a", &build::Chunk::new(1_000).sequence(back).bytes());
    recording.file("b", &build::Chunk::new(1_001).sequence(early).bytes());
    recording.file("c", &build::Chunk::new(1_003).sequence(Sequence::new(3).about(7, 6, 3)).bytes());
    let (exit, lines) = run(&["cat", "--json", "--merge", recording.path()]);
    let expected = [10, 50, 60, 1_000_005, 3_000_000, 3_000_007].map(|at| BASE + at);
    assert_eq!((exit, micros(&lines)), (0, expected.to_vec()));
    let (exit, check) = run(&["check", "--json", recording.path()]);
    let warned =
        |what: &str| check[0]["findings"].as_array().unwrap().iter().any(|finding| finding["what"] == what);
    assert!(exit == 0 && warned("not-ascending") && warned("outside-range"));

    let stream = build::stream(&[(3, 0, 9, Writer::new().ints([1])), (1, 5, 10, Writer::new().ints([1]))]);
    let path = recording.file("stream", &stream);
    assert_eq!(micros(&run(&["cat", "--json", &path]).1), [1_000_005, 3_000_000]);
    let info = &run(&["info", "--json", &path]).1[0];
    let span = ["time_ns", "end_time_ns"].map(|key| info[key].as_i64());
    assert_eq!(span, [Some(1_000_005_000), Some(3_000_000_000)]);
}

#[test]
fn a_hostile_base_time_is_an_error_of_times_alone() {
    let recording = Recording::new("base");
    let chunk = build::Chunk::new(u64::MAX).sequence(Sequence::new(1).about(10, 6, 5)).bytes();
    let path = recording.file("chunk", &chunk);
    for args in [&["cat", "--json"][..], &["cat", "--json", "--merge"]] {
        let args: Vec<&str> = args.iter().copied().chain([&*path]).collect();
        let (exit, lines) = run(&args);
        assert_eq!(
            (exit, lines.len(), &lines[0]["micros"], &lines[0]["iid"]),
            (3, 1, &Json::Null, &5.into())
        );
    }
    let (exit, info) = run(&["info", "--json", &path]);
    assert_eq!((exit, &info[0]["start_micros"], &info[0]["records"]), (3, &Json::Null, &1.into()));
    assert_eq!(run(&["check", "--json", &path]).1[0]["findings"][0]["what"], "overflow");
}

#[test]
fn hex_names_every_byte() {
    let recording = Recording::new("hex");
    let chunk = build::all_variants().bytes();
    let meta = build::meta(1, 2, &["rfr-c/0.0.2"]);
    let sites = build::callsites(&[build::callsite(7, 30, 2, &[("line", Value::U64(7))], &["x"])]);
    let stream = build::stream(&[(3, 0, 9, Writer::new().ints([1])), (1, 5, 13, build::waker(1, Some(2)))]);
    for (name, data) in [("chunk", chunk), ("meta", meta), ("sites", sites), ("stream", stream)] {
        let path = recording.file(name, &data);
        let output = traceglass(&["hex", "--width", "120", "--len", "100000", &path]);
        assert_eq!(status(&output), 0, "{name}");
        let text = String::from_utf8(output.stdout).unwrap();
        let rows: Vec<&str> = text.lines().collect();
        // A row has up to 16 bytes; only the rows that continue a long text have no name of their own.
        let named = rows.iter().filter(|row| row.len() > 77).count();
        assert!(named * 10 >= rows.len() * 9, "{name}: {named} of {}", rows.len());
        let bytes: usize = rows.iter().map(|row| row[10..58].split_whitespace().count()).sum();
        assert_eq!(bytes, data.len(), "{name}");
        // A part of it says the same of the same bytes.
        let part = traceglass(&["hex", "--width", "120", "--at", "20", "--len", "6", &path]);
        let part = String::from_utf8(part.stdout).unwrap();
        let last = part.lines().last().unwrap();
        assert!(last.len() > 77, "{name}: {last}");
    }
}

/// Instrumentation ids recur: a task is one within its chunk, or from its object to its drop in a stream.
#[test]
fn a_task_is_more_than_its_id() {
    let recording = Recording::new("recur");
    for (second, task, name) in [(1_000, 1, "alpha"), (1_001, 2, "beta")] {
        let object = build::task(7, 70, task, name, Ok(0), None);
        let sequence = Sequence::new(1).object(1, &object).about(10, 6, 7).about(14, 7, 7);
        recording.file(name, &build::Chunk::new(second).sequence(sequence).bytes());
    }
    let path = recording.path();
    for merge in [&[][..], &["--merge"]] {
        let cat = |args: &[&str]| run(&[&["cat", "--json"], merge, args, &[path]].concat());
        let (exit, lines) = cat(&["--task", "alpha"]);
        assert_eq!((exit, micros(&lines)), (0, vec![BASE + 10, BASE + 14]));
        let tasks: Vec<Json> = cat(&[]).1.iter().map(|line| line["task"].clone()).collect();
        assert_eq!(tasks, ["alpha", "alpha", "beta", "beta"]);
        assert_eq!(cat(&["--task", "7"]).1.len(), 4);
    }
    let info = String::from_utf8(traceglass(&["info", path]).stdout).unwrap();
    assert!(info.contains("of 2 tasks") && info.contains("beta ") && info.contains("4.000 µs"), "{info}");

    let one = |at, kind, data| (at, 0, kind, data);
    let iid = || Writer::new().ints([7]);
    let task = |id, name| build::task(7, 70, id, name, Ok(0), None);
    let stream = build::stream(&[
        one(1, 4, task(1, "alpha")),
        one(2, 10, iid()),
        one(3, 12, iid()),
        one(4, 10, iid()),
        one(5, 4, task(2, "beta")),
        one(6, 10, iid()),
    ]);
    let path = recording.file("stream-alone/stream", &stream);
    let tasks = |args: &[&str]| {
        let lines = run(&[&["cat", "--json"], args, &[&path]].concat()).1;
        lines.iter().map(|line| line["task"].clone()).collect::<Vec<Json>>()
    };
    let null = Json::Null;
    assert_eq!(
        tasks(&[]),
        [&null, &"alpha".into(), &"alpha".into(), &null, &null, &"beta".into()].map(Json::clone)
    );
    assert_eq!(tasks(&["--task", "beta"]), [null.clone(), "beta".into()]);
    // The poll after the drop is of a task that nothing describes, not of the one that was dropped.
    assert_eq!(tasks(&["--task", "alpha"]), [null, "alpha".into(), "alpha".into()]);
    assert_eq!(tasks(&["--task", "7"]).len(), 6);
}

/// The name of a span, and its values: in text, in JSON and in Perfetto's trace alike.
#[test]
fn a_span_has_its_name_and_values_everywhere() {
    let recording = Recording::new("span");
    let span = build::span(40, 8, build::Parent::Root, &[Value::Str("GET")], &[]);
    let chunk = Sequence::new(1).object(0, &span).about(1, 0, 40).about(2, 1, 40).about(3, 2, 40);
    recording.file("2026/chunk", &build::Chunk::new(1_000).sequence(chunk).bytes());
    let place =
        [("name", Value::Str("request")), ("file", Value::Str("src/main.rs")), ("line", Value::U64(7))];
    recording.file("callsites.rfr", &build::callsites(&[build::callsite(8, 30, 2, &place, &["method"])]));
    let text = String::from_utf8(traceglass(&["cat", recording.path()]).stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() == 3 && lines.iter().all(|line| line.contains("span=\"request\"")), "{text}");
    assert!(lines[0].contains("method=\"GET\"") && lines[1].contains("location=\"src/main.rs:7\""), "{text}");
    let (exit, json) = run(&["cat", "--json", "--objects", recording.path()]);
    assert_eq!((exit, json.len()), (0, 4));
    for (line, has_values) in json.iter().zip([true, true, false, false]) {
        assert_eq!((&line["span"], &line["location"]), (&"request".into(), &"src/main.rs:7".into()));
        let method = if has_values { "GET".into() } else { Json::Null };
        assert_eq!(line["split_field_values"]["method"], method);
    }
    let elsewhere = Recording::new("span-out");
    let out = elsewhere.0.join("out.pftrace");
    let out = out.to_str().unwrap();
    let export = ["export", "--format", "perfetto", "-o", out, recording.path()];
    assert_eq!(status(&traceglass(&export)), 0);
    let trace = fs::read(out).unwrap();
    for said in ["request", "method", "GET", "src/main.rs:7"] {
        assert!(trace.windows(said.len()).any(|window| window == said.as_bytes()), "{said}");
    }
}

/// A poll that did not end counts up to the end of the recording, and such a task comes first.
#[test]
fn a_task_that_is_still_polled_is_busy() {
    let recording = Recording::new("stuck");
    let sequence = Sequence::new(1)
        .task(5, 70, "worker", None)
        .task(6, 70, "worker", None)
        .about(10, 5, 5)
        .about(10, 6, 6)
        .about(20, 6, 5)
        .about(50, 7, 5)
        .about(60, 6, 5)
        .about(90, 7, 5)
        .about(110, 6, 5)
        .about(190, 7, 5);
    let path = recording.file("chunk", &build::Chunk::new(1_000).sequence(sequence).bytes());
    let tasks = run(&["info", "--json", "--tasks", &path]).1[0]["tasks"].clone();
    let said =
        |at: usize| ["iid", "polls", "busy_ns", "longest_ns", "state"].map(|name| tasks[at][name].clone());
    assert_eq!(said(0), [Json::from(6), 1.into(), 180_000.into(), 180_000.into(), "polled".into()]);
    assert_eq!(said(1), [Json::from(5), 3.into(), 140_000.into(), 80_000.into(), "alive".into()]);
    // Two of one name are told apart.
    let text = String::from_utf8(traceglass(&["info", "--tasks", &path]).stdout).unwrap();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.contains("worker"))
        .map(|line| line.split_whitespace().skip_while(|word| *word != "worker").take(3).collect())
        .collect();
    assert_eq!(rows, [["worker", "6", "1"], ["worker", "5", "3"]], "{text}");
}

/// The files of one recording are never read with the callsites of another.
#[test]
fn two_recordings_are_two() {
    let recording = Recording::new("two");
    let chunk = build::Chunk::new(1_000).sequence(Sequence::new(1).about(10, 6, 5)).bytes();
    recording.file("a/callsites.rfr", &build::callsites(&[]));
    recording.file("a/2026/chunk", &chunk);
    let (exit, lines) = run(&["cat", "--json", recording.path()]);
    assert_eq!((exit, lines.len()), (0, 1));
    recording.file("b/2026/chunk", &chunk);
    let refused = |named: &[&str]| {
        for verb in ["info", "ls", "cat"] {
            let output = traceglass(&[verb, recording.path()]);
            let message = String::from_utf8(output.stderr.clone()).unwrap();
            assert_eq!((status(&output), output.stdout.len()), (1, 0), "{verb}");
            assert!(named.iter().all(|name| message.contains(name)), "{message}");
        }
    };
    refused(&["b/2026/chunk", "in a;"]);
    recording.file("b/meta.rfr", &build::meta(1, 2, &["rfr-c/0.0.2"]));
    refused(&["2 recordings: a, b;"]);
}

/// A file deeper than a recording lays files out is not looked for, and a folder of something else is no recording.
#[test]
fn a_search_has_bounds() {
    let recording = Recording::new("bounds");
    let chunk = build::Chunk::new(1_000).sequence(Sequence::new(1).about(10, 6, 5)).bytes();
    recording.file("1/2/3/chunk.rfr", &chunk);
    recording.file("1/2/3/4/chunk.rfr", &chunk);
    assert_eq!(run(&["info", "--json", recording.path()]).1[0]["chunks"], 1);
    for number in 0..2_100 {
        recording.file(&format!("x/{number}"), b"nothing");
    }
    let output = traceglass(&["info", recording.path()]);
    assert!(status(&output) == 1 && String::from_utf8_lossy(&output.stderr).contains("more than 2000 files"));
}

/// A name is told again with each record, and only so much of it.
#[test]
fn names_are_bounded() {
    let recording = Recording::new("names");
    let name = "n".repeat(100_000);
    let sequence = Sequence::new(1).task(5, 70, &name, None);
    let sequence = (0..500).fold(sequence, |sequence, at| sequence.about(at, 6, 5));
    let path = recording.file("chunk", &build::Chunk::new(1_000).sequence(sequence).bytes());
    for args in [&["cat"][..], &["cat", "--json"], &["info"], &["cat", "--merge"]] {
        let output = traceglass(&[args, &[&path]].concat());
        assert_eq!(status(&output), 0, "{args:?}");
        assert!(output.stdout.len() < 400_000, "{args:?}: {}", output.stdout.len());
    }
    let stream = build::stream(&[(1, 0, 1, build::callsite(7, 30, 2, &[("line", Value::U64(7))], &["x"]))]);
    let path = recording.file("stream/stream", &stream);
    assert_eq!(run(&["cat", "--json", &path]).1[0]["level"], "info");
    let (exit, lines) = run(&["ls", "--json", &path]);
    assert_eq!((exit, &lines[0]["kind"], &lines[0]["records"]), (0, &"stream".into(), &1.into()));
    assert_eq!(run(&["ls", "--sha256", "--json", &path]).0, 2);
    let cut = recording.file("stream/cut", &stream[..stream.len() - 1]);
    assert_eq!(status(&traceglass(&["hex", &cut])), 3);
}

/// The events of a stream, in microseconds of a second: the numbers of their kinds, for a task with the id 7.
fn stream(events: &[(u64, u32, u32)]) -> Vec<u8> {
    let task = (0, 0, 4, build::task(7, 1, 9, "worker", Ok(0), None));
    let about = |&(second, micros, kind): &(u64, u32, u32)| (second, micros, kind, Writer::new().ints([7]));
    build::stream(&[task].into_iter().chain(events.iter().map(about)).collect::<Vec<_>>())
}

const START: u32 = 10;
const END: u32 = 11;

/// Whatever reads a range counts from the same start, and a slice that spans the range is in it.
#[test]
fn a_range_is_the_same_for_all_verbs() {
    let recording = Recording::new("ranges");
    let path =
        recording.file("a.rfr", &stream(&[(2, 0, START), (2, 900_000, END), (4, 0, START), (4, 5, END)]));
    // The task was described two seconds before it was polled.
    let range = ["--from", "+100ms", "--to", "+200ms"];
    assert!(run(&[&["cat", "--json"], &range[..], &[&path]].concat()).1.is_empty());
    let (code, found) = run(&[&["cat", "--slices", "--json"], &range[..], &[&path]].concat());
    assert_eq!((code, found.len(), &found[0]["duration_ns"]), (0, 1, &900_000_000_u64.into()));
    let (code, found) = run(&[&["stats", "--json"], &range[..], &[&path]].concat());
    let slice = found.iter().find(|line| line["kind"] == "slice").unwrap();
    assert_eq!((code, &slice["count"], &slice["max_ns"]), (0, &1.into(), &900_000_000_u64.into()));
    for verb in [&["cat", "--json"][..], &["cat", "--slices", "--json"], &["stats", "--json"]] {
        let (code, found) =
            run(&[verb, &["--from", "+2s", "--to", "1970-01-01T00:00:04.000010Z", &path]].concat());
        assert!(code == 0 && !found.is_empty(), "{verb:?}");
        let (code, found) = run(&[verb, &["--from", "+5s", &path]].concat());
        assert!(code == 0 && found.is_empty(), "{verb:?} {found:?}");
        // The two ends may be said in different ways.
        for reversed in [["+1s", "+0.5s"], ["+1s", "1970-01-01T00:00:02Z"], ["1970-01-01T00:00:04Z", "+1s"]] {
            let args = [verb, &["--from", reversed[0], "--to", reversed[1], &path]].concat();
            assert_eq!(status(&traceglass(&args)), 2, "{args:?}");
        }
    }
}

/// Of two polls, one ends when the range begins, and the other one begins then.
#[test]
fn what_ends_when_a_range_begins_is_not_in_it() {
    let recording = Recording::new("touches");
    let events = [(1, 0, START), (2, 0, END), (2, 0, START), (2, 0, END), (2, 500_000, START), (3, 0, END)];
    let path = recording.file("a.rfr", &stream(&events));
    let range = ["--from", "1970-01-01T00:00:02Z", "--to", "1970-01-01T00:00:04Z", &path];
    let (_, found) = run(&[&["cat", "--slices", "--json"][..], &range].concat());
    assert_eq!(found.len(), 2);
    let chrome = traceglass(&[&["export", "--format", "chrome"][..], &range].concat());
    let chrome: Json = serde_json::from_slice(&chrome.stdout).unwrap();
    let drawn = chrome["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X");
    assert_eq!(drawn.count(), 2);
    let perfetto = traceglass(&[&["export", "--format", "perfetto"][..], &range].concat());
    // The type of an event that begins a slice.
    let begins = perfetto.stdout.windows(2).filter(|bytes| bytes == b"\x48\x01").count();
    assert_eq!(begins, 2);
}

/// A clock that is set back makes no negative durations.
#[test]
fn a_poll_that_ends_before_it_begins_lasts_no_time() {
    let recording = Recording::new("backwards");
    let path = recording.file("a.rfr", &stream(&[(2, 0, START), (1, 0, END), (3, 0, START), (3, 10, END)]));
    let (_, found) = run(&["cat", "--slices", "--json", &path]);
    let flags: Vec<_> = found.iter().map(|line| (&line["duration_ns"], line["flags"].to_string())).collect();
    assert_eq!(flags, [(&0.into(), "[\"backwards\"]".into()), (&10_000.into(), "[]".into())]);
    let (_, found) = run(&["stats", "--json", &path]);
    assert_eq!((&found[0]["total_ns"], &found[0]["min_ns"]), (&10_000.into(), &0.into()));
}

/// A stray end is what it is for all who read it.
#[test]
fn an_end_without_a_begin_is_an_instant_in_tables() {
    if cfg!(not(feature = "tables")) {
        return;
    }
    let recording = Recording::new("stray");
    let path = recording.file("a.rfr", &stream(&[(1, 0, END), (2, 0, START), (3, 0, END)]));
    let output = traceglass(&["export", "--format", "csv", &path]);
    let text = String::from_utf8(output.stdout).unwrap();
    let kinds: Vec<_> =
        text.lines().skip(1).map(|line| line.split(',').skip(6).take(2).collect::<Vec<_>>()).collect();
    assert_eq!(kinds, [["instant", "TaskPollEnd"], ["begin", "poll"], ["end", "poll"]]);
    // What begins before a range ends in it under the same name.
    let output = traceglass(&["export", "--format", "csv", "--from", "+1.5s", &path]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().count() == 2 && text.contains(",end,poll,"), "{text}");
}

/// Options that would change nothing are refused.
#[test]
fn what_has_no_effect_is_refused() {
    let recording = Recording::new("effect");
    let path = recording.file("a.rfr", &stream(&[(2, 0, START), (3, 0, END)]));
    for args in [
        &["cat", "--no-states"][..],
        &["cat", "--states", "/nowhere"],
        &["cat", "--lenient"],
        &["cat", "--wire"],
        &["ls", "--skip", "7"],
        &["cat", "--slices", "--no-wire"],
        &["cat", "--slices", "--objects"],
    ] {
        assert_eq!(status(&traceglass(&[args, &[&path]].concat())), 2, "{args:?}");
    }
    let to = recording.0.join("merged");
    let merge = ["merge", "--allow-same-id", "-o", to.to_str().unwrap(), recording.path(), recording.path()];
    assert_eq!(status(&traceglass(&merge)), 2);
    let rtc = crate::common::data("sample.rtc");
    assert_eq!(status(&traceglass(&["info", "--tasks", rtc.to_str().unwrap()])), 2);
}

/// What only the other trace has is told, as well as what only this one has.
#[test]
fn names_of_the_other_trace_are_in_json() {
    let recording = Recording::new("against");
    let poll = recording.file("a.rfr", &stream(&[(2, 0, START), (3, 0, END)]));
    let wake = recording.file("b.rfr", &build::stream(&[(2, 0, 13, build::waker(7, None))]));
    let names = |one: &str, other: &str| {
        let (code, found) = run(&["stats", "--json", "--against", other, one]);
        assert_eq!(code, 0);
        let named = found.into_iter().filter(|line| line["kind"] != "track");
        named
            .map(|line| {
                format!("{} {} {} {}", line["kind"], line["name"], line["count"], line["against"]["count"])
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(&wake, &poll),
        ["\"slice\" \"poll\" 0 1", "\"event\" \"WakerWake\" 1 null", "\"event\" \"poll\" 0 1"]
    );
    assert_eq!(
        names(&poll, &wake),
        ["\"slice\" \"poll\" 1 null", "\"event\" \"poll\" 1 null", "\"event\" \"WakerWake\" 0 1"]
    );
}
