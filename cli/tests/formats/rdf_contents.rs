//! The command on what is inside RDF chunks.

use crate::common::rdf::{Chunk, file};
use crate::common::rdf_contents as build;
use crate::common::{status, traceglass};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A file that is removed in the end.
struct Trace(PathBuf);

impl Trace {
    fn new(test: &str, chunks: &[Chunk]) -> Self {
        let name = format!("traceglass-rdf-contents-{test}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, file(chunks)).unwrap();
        Self(path)
    }

    /// Runs a verb on the file: status and stdout.
    fn run(&self, args: &[&str]) -> (i32, String) {
        let output = traceglass(&[args, &[self.0.to_str().unwrap()]].concat());
        (status(&output), String::from_utf8(output.stdout).unwrap())
    }

    /// The status of a verb whose output need not be text.
    fn status_of(&self, args: &[&str]) -> i32 {
        status(&traceglass(&[args, &[self.0.to_str().unwrap()]].concat()))
    }

    fn json(&self, args: &[&str]) -> Vec<Value> {
        let (_, stdout) = self.run(args);
        stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn crash() -> Vec<Chunk> {
    vec![
        Chunk::raw("SystemInfo", br#"{"version":{"major":2},"os":{"name":"OS","hostname":"secret-host"},"processes":[{"processId":1,"name":"secret-process"}]}"#),
        Chunk::raw("TraceProcessInfo", b"\x4d\0\0\0\x09\0\0\0/bin/app\0"),
        build::rmt(77, 1, &build::process_tokens()),
        build::rmt(0, 2, &build::name_tokens()),
        build::driver_events(build::UMD, 100, &build::markers()),
        build::driver_events(build::KMD, 110, &build::page_fault(0x10010)),
    ]
}

/// A range counts from the first record in each verb, be it an event or not.
#[test]
fn the_first_record_need_be_no_event() {
    let tokens = [
        build::token(12, 10 << 4 | 10_000_000 << 64),
        build::token(2, 14 | 1 << 4 | 90 << 8),
        build::token(7, 11 | 0x10000 << 8),
    ];
    let trace = Trace::new("first-record", &[build::rmt(1, 1, &tokens.concat())]);
    let times: Vec<_> =
        trace.json(&["cat", "--json"]).iter().filter_map(|line| line["time_ns"].as_i64()).collect();
    let (first, last) = (times.iter().min().unwrap(), times.iter().max().unwrap());
    assert!(first < last);
    let at = |since: i64| [format!("--from=+{since}ns"), format!("--to=+{}ns", since + 1)];
    for (since, count) in [(0, 0), (last - first, 1)] {
        let [from, to] = at(since);
        let rows = trace.run(&["export", "--format", "csv", &from, &to]).1;
        assert_eq!(rows.lines().count(), 1 + count, "{since}: {rows}");
        assert!(!trace.json(&["cat", "--json", &from, &to]).is_empty(), "{since}");
    }
}

/// As far as it is shown: of entries what they say, of data what it holds if all of it is there.
#[test]
fn hex_tells_damage_of_what_it_shows() {
    let sound = Chunk::zstd("sound", &b"said again ".repeat(9));
    let mut torn = Chunk { identifier: b"torn".into(), ..sound.clone() };
    torn.stored.pop();
    let unknown = Chunk { compression: 2, ..Chunk::raw("unknown", b"data") };
    let empty = Chunk { identifier: b"empty".into(), stored: Vec::new(), ..sound.clone() };
    let trace = Trace::new("hex-damage", &[sound.clone(), torn.clone(), unknown, empty]);
    let (size, torn_size) = (sound.stored.len(), torn.stored.len());
    let index = 32 + size + torn_size + 4;
    for (at, len, code) in [
        (0, 1 << 30, 3),
        (0, 32 + size, 0),
        // Whether a part of it can be decompressed is not known.
        (0, 32 + size + torn_size - 1, 0),
        (0, 32 + size + torn_size, 3),
        (32 + size, torn_size, 3),
        (index, 128, 0),
        (index, 129, 3),
        (index - 1, 1, 3),
        (index + 192, 63, 0),
        (index + 192, 64, 3),
    ] {
        let args = ["hex", "--at", &at.to_string(), "--len", &len.to_string()];
        assert_eq!(trace.status_of(&args), code, "{at} {len}");
    }
}

/// Bytes that nothing refers to do not look like those of the field above them.
#[test]
fn hex_tells_bytes_of_no_field() {
    let trace = Trace::new("hex-none", &[Chunk::raw("A", b"data"), Chunk::raw("B", b"more")]);
    let mut bytes = std::fs::read(&trace.0).unwrap();
    let index = 40;
    bytes.truncate(index + 64 + 20);
    std::fs::write(&trace.0, &bytes).unwrap();
    let text = trace.run(&["hex", "--width", "120", "--len", "1000"]).1;
    let at = |offset: usize| {
        let begins = format!("{offset:08x} ");
        text.lines().find(|line| line.starts_with(&begins)).unwrap_or_else(|| panic!("{begins} in {text}"))
    };
    assert!(at(36).contains("(no field)") && at(104).contains("(lost)"), "{text}");
    let (_, within) = trace.run(&["hex", "--at", "38", "--len", "1"]);
    assert!(within.contains("(no field)"), "{within}");
}

#[test]
fn info_explains_a_crash() {
    let trace = Trace::new("crash", &crash());
    let (status, text) = trace.run(&["info", "--width", "200"]);
    assert_eq!(status, 0, "{text}");
    for said in ["app (77)", "image \"shadow map\"", "freed 32.0 µs before", "last begun \"Draw\""] {
        assert!(text.contains(said), "{said} in {text}");
    }
    let info = trace.json(&["info", "--json"]).remove(0);
    let fault = &info["page_faults"][0];
    assert_eq!(fault["resource_name"], "shadow map");
    assert_eq!(fault["freed_before_ns"], 32_000);
    assert_eq!(info["in_flight"][0]["open_markers"], json!(["Frame", "Clear", "Draw"]));
    assert_eq!(info["process"], json!({"id": 77, "path": "/bin/app"}));
}

/// Memory reserved at most, in the end, and at once: an address that is reserved again counts once.
#[test]
fn info_adds_up_memory() {
    let allocate = |pages: u128, address: u128| build::token(12, 12 | (pages - 1) << 8 | address << 34);
    let free = |address: u128| build::token(7, 11 | address << 8);
    // A tenth of a millisecond later: 32 units of 32 ticks of 10 MHz.
    let later = || build::token(2, 14 | 1 << 4 | 32 << 8);
    let tokens = [
        build::token(12, 10 << 4 | 10_000_000 << 64),
        // Of what was before nothing is known.
        free(0x90000),
        allocate(4, 0x10000),
        later(),
        allocate(1, 0x20000),
        allocate(8, 0x30000),
        later(),
        allocate(2, 0x10000),
        free(0x20000),
        later(),
        allocate(1, 0x50000),
        allocate(1, 0x60000),
        free(0x30000),
        free(0x30000),
    ]
    .concat();
    let trace = Trace::new("memory", &[build::rmt(77, 1, &tokens), build::rmt(0, 2, &build::name_tokens())]);
    let info = trace.json(&["info", "--json"]).remove(0);
    let largest = |address: &str, pages: u64, since: u64, freed: Option<u64>| json!({"address": address, "bytes": pages * 4096, "since_ns": since, "freed_ns": freed});
    assert_eq!(
        info["memory"],
        json!([{
            "process": 77, "stream": 1, "allocations": 6, "most_bytes": 13 * 4096, "most_ns": 102_400,
            "end_bytes": 4 * 4096,
            "largest": [
                largest("0x30000", 8, 102_400, Some(307_200)),
                largest("0x10000", 4, 0, Some(204_800)),
                largest("0x10000", 2, 204_800, None),
                largest("0x20000", 1, 102_400, Some(204_800)),
            ],
        }])
    );
    let (_, text) = trace.run(&["info", "--width", "200"]);
    for said in ["process 77: at most 52.0 KiB", "0x30000 from +102.4 µs, freed at +307.2 µs", "not freed"]
    {
        assert!(text.contains(said), "{said} in {text}");
    }
    assert!(!text.contains("process 0"), "{text}");
}

/// Lists are cut, and say by how much.
#[test]
fn of_many_faults_and_holders_the_rest_is_counted() {
    let mut chunks = build::held(100, 10);
    let pending: Vec<u8> = (1..=11_u8)
        .flat_map(|buffer| build::event(18, 0, &[[buffer, 0, 0, 0], [4, 0, 0, 0], [3, 0, 0, 0]].concat()))
        .collect();
    chunks.push(build::driver_events(build::UMD, 100, &pending));
    let trace = Trace::new("held", &chunks);
    let info = trace.json(&["info", "--json"]).remove(0);
    let len = |list: &Value| list.as_array().map(Vec::len);
    assert_eq!((len(&info["page_faults"]), &info["more_page_faults"]), (Some(8), &json!(2)));
    let fault = &info["page_faults"][7];
    assert_eq!((len(&fault["resources"]), &fault["more_resources"]), (Some(64), &json!(36)));
    assert_eq!((len(&info["in_flight"]), &info["more_in_flight"]), (Some(8), &json!(3)));
    let (_, text) = trace.run(&["info", "--width", "200"]);
    assert!(text.contains("and 2 more") && text.contains("and 3 more"), "{text}");
}

/// More queues than are told apart are not passed over.
#[test]
fn too_many_queues_are_said() {
    let event = |queue: u64| {
        let mut data = vec![0; 80];
        data[8..16].copy_from_slice(&queue.to_le_bytes());
        Chunk::raw("QueueEvent", &data)
    };
    for (count, said) in [(4096, "and 4,084 more"), (4097, "more than 4,096")] {
        let trace = Trace::new("queues", &(0..count).map(event).collect::<Vec<_>>());
        let (_, text) = trace.run(&["info", "--width", "200"]);
        assert!(text.contains(said), "{text}");
        let info = trace.json(&["info", "--json"]).remove(0);
        assert_eq!(info["queues"].as_array().map(Vec::len), (count == 4096).then_some(4096));
    }
}

/// Names that lie in one another are printed up to about the size of the chunk.
#[test]
fn strings_that_overlap_are_too_much() {
    let count = 1_000_u32;
    let mut table: Vec<u8> = (0..count).flat_map(|at| (4 * count + at).to_le_bytes()).collect();
    table.extend([b's'; 5_000]);
    table.push(0);
    let header = [1, count].map(u32::to_le_bytes).concat();
    let trace = Trace::new("overlap", &[Chunk::raw("StringTable", &table).header(&header)]);
    let output = traceglass(&["cat", "--records", trace.0.to_str().unwrap()]);
    assert!(output.stdout.len() < 100_000, "{}", output.stdout.len());
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(said.contains("RDF names that overlap"), "{said}");
}

/// The computer's name and its processes are shown, unless they are to be hidden.
#[test]
fn what_is_private_is_shown_unless_it_is_hidden() {
    let trace = Trace::new("private", &crash());
    for args in [&["info"][..], &["info", "--json"]] {
        let shown = trace.run(args).1;
        assert!(shown.contains("secret-host"), "{shown}");
        assert_eq!(shown.contains("secret-process"), args.contains(&"--json"), "{shown}");
        let hidden = trace.run(&[args, &["--redact"]].concat()).1;
        assert!(!hidden.contains("secret") && hidden.len() == shown.len(), "{hidden}");
    }
}

#[test]
fn records_are_printed_and_bytes_stay_the_default() {
    let trace = Trace::new("records", &crash());
    let records = trace.json(&["cat", "--json", "--chunk", "RmtData"]);
    let kinds: Vec<&str> = records.iter().map(|record| record["kind"].as_str().unwrap()).collect();
    // A chunk of each of two streams.
    let expected = [
        "RmtData",
        "timestamp",
        "virtual_allocate",
        "resource_create",
        "resource_bind",
        "userdata",
        "time_delta",
        "resource_destroy",
        "virtual_free",
    ];
    assert_eq!(kinds[..expected.len()], expected);
    assert_eq!((&records[8]["address"], &records[8]["ticks"]), (&json!("0x10000"), &json!(3200)));
    let second = &records[expected.len()..];
    assert!(second[0]["kind"] == "RmtData" && second.iter().all(|token| token["stream"] == 2), "{records:?}");
    let first = trace.json(&["cat", "--json", "--chunk", "RmtData", "--index", "0"]);
    assert_eq!(first, records[..expected.len()]);
    let all = trace.json(&["cat", "--json"]);
    assert!(records.iter().all(|record| all.contains(record)), "{all:?}");
    let (status, text) = trace.run(&["cat", "--records", "--chunk", "DDEvent", "--index", "1"]);
    assert_eq!(status, 0);
    let last = "         0.000352000  DDEvent 1  page_fault  ticks=3520 address=0x10010 vm=12 pid=77 process=\"game.exe\"";
    assert_eq!(text.lines().last(), Some(last), "{text}");
    let output = traceglass(&["cat", "--chunk", "RmtData", trace.0.to_str().unwrap()]);
    assert_eq!(output.stdout, build::process_tokens());
}

/// Without a selection, `--json` and `--records` are of all chunks: of what is not known the size, and what several
/// entries name is told once.
#[test]
fn the_records_of_all_chunks_are_printed() {
    let mut chunks = crash();
    chunks.push(Chunk::zstd("Other", &[7; 3]).header(b"h"));
    chunks.push(Chunk::raw("AsicInfo", b"no GPU"));
    let trace = Trace::new("all-records", &chunks);
    let records = trace.json(&["cat", "--json"]);
    let entries: std::collections::BTreeSet<_> =
        records.iter().map(|one| one["entry"].as_u64().unwrap()).collect();
    assert_eq!(entries, (0..chunks.len() as u64).collect());
    let one = trace.json(&["cat", "--json", "--chunk", "RmtData"]);
    let of_tokens = records.iter().filter(|record| record["entry"] == 2 || record["entry"] == 3);
    assert!(of_tokens.eq(&one), "{one:?}");
    // A token is one of the chunk in which it begins, and its offset is that in the chunk.
    let second: Vec<_> =
        one.iter().filter(|record| record["stream"] == 2 && record["ticks"].is_u64()).collect();
    assert!(!second.is_empty() && second.iter().all(|token| token["entry"] == 3), "{one:?}");
    let system = json!({"kind": "SystemInfo", "entry": 0});
    assert_eq!((&records[0]["kind"], &records[0]["entry"]), (&system["kind"], &system["entry"]));
    let bytes = json!({
        "kind": "unknown", "chunk": "Other", "entry": 6, "index": 0, "offset": 0, "time_ns": null, "time": null,
        "clock": null, "size": 3, "header": "68", "data": null,
    });
    assert!(records.contains(&bytes), "{records:?}");
    let output = traceglass(&["cat", "--json", trace.0.to_str().unwrap()]);
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    // `check` warns of it, too: the container is whole.
    assert!(status(&output) == 0 && said.contains("RDF AsicInfo"), "{said}");
    let (status, text) = trace.run(&["cat"]);
    assert!(status == 0 && text.contains("  Other 0  unknown  size=3 header=68\n"), "{text}");

    // Two entries that name the same bytes.
    let whole = file(&chunks[2..3]);
    let name = std::env::temp_dir().join(format!("traceglass-rdf-same-{}", std::process::id()));
    let trace = Trace(name);
    let mut twice = whole.clone();
    let index = whole[whole.len() - 64..].to_vec();
    twice.extend(&index);
    twice[24..32].copy_from_slice(&128_i64.to_le_bytes());
    std::fs::write(&trace.0, &twice).unwrap();
    let records = trace.json(&["cat", "--json"]);
    assert_eq!(records.last(), Some(&json!({"kind": "same", "entry": 1, "id": "RmtData", "as": 0})));
    assert_eq!(records.iter().filter(|record| record["entry"] == 1).count(), 1);
}

#[test]
fn check_says_what_a_tool_would_miss() {
    let code =
        build::chunks().into_iter().filter(|chunk| chunk.identifier == b"CodeObject").collect::<Vec<_>>();
    let trace = Trace::new("advice", &code);
    let (status, text) = trace.run(&["check"]);
    assert_eq!(status, 0, "a warning: {text}");
    assert!(text.contains("SqttData, without which the profiler cannot use"), "{text}");
    let mut cut = crash();
    cut[3].stored.truncate(20);
    let trace = Trace::new("cut", &cut);
    let object = trace.json(&["check", "--json"]).remove(0);
    // A token is lost.
    assert_eq!(object["verdict"], "damaged");
    assert!(
        object["findings"].as_array().unwrap().iter().any(|one| one["what"] == "size-mismatch"),
        "{object}"
    );
}

/// The pipeline and the shader of the draw that did not end are named, and joined by the hash that records have, too.
#[test]
fn info_names_the_pipeline_in_flight() {
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut name = b"gbuffer".to_vec();
    name.resize(64, 0);
    let pipeline = [words(&[1, 0xabcd, 7, 9]), name].concat();
    let mut chunks = crash();
    chunks.push(Chunk::raw("PsoCorrelation", &pipeline).version(3).header(&[1, 0, 0, 0]));
    let trace = Trace::new("pipeline", &chunks);
    let info = trace.json(&["info", "--json"]).remove(0);
    let found = &info["in_flight"][0]["pipeline"];
    let hash = "0x90000000000000007";
    assert_eq!(found, &json!({"api_hash": "0xabcd", "name": "gbuffer", "hash": hash, "functions": []}));
    let (_, text) = trace.run(&["info", "--width", "200"]);
    assert!(text.contains("pipeline 0xabcd \"gbuffer\", code object 0x90000000000000007"), "{text}");
    let records = trace.json(&["cat", "--json"]);
    let of = |kind: &str| {
        let is_one = |record: &&Value| record["kind"] == kind && !record["api_hash"].is_null();
        records.iter().find(is_one).unwrap()["api_hash"].clone()
    };
    assert_eq!((of("marker_info"), of("PsoCorrelation")), (json!("0xabcd"), json!("0xabcd")));
}

/// An event that happened and cannot be read is damage in each verb; a clock that steps back is a warning in each.
#[test]
fn verbs_agree_on_events_that_cannot_be_read() {
    let export = |trace: &Trace| {
        let to = trace.0.with_extension("pftrace");
        let output = traceglass(&[
            "export",
            "--format",
            "perfetto",
            "-o",
            to.to_str().unwrap(),
            trace.0.to_str().unwrap(),
        ]);
        let _ = std::fs::remove_file(to);
        status(&output)
    };
    for (name, byte) in [("zeros", 0), ("ones", 0xff), ("noise", 0x5a)] {
        let mut chunks = crash();
        chunks[4].stored = vec![byte; 64];
        let trace = Trace::new(name, &chunks);
        let found = ["check", "info", "cat"].map(|verb| trace.run(&[verb]).0);
        assert_eq!((found, export(&trace)), ([3; 3], 3), "{name}");
    }
    // Tables that claim more than they have, content that is out of proportion, a chunk outside of the file.
    let claims = |id: &str, at: usize| {
        let found = build::chunks().into_iter().find(|chunk| chunk.identifier == id.as_bytes());
        let mut chunk = found.unwrap();
        chunk.header[at] = 99;
        chunk
    };
    let repeated = Chunk::zstd("DDEvent", &vec![0; 9 << 20]);
    let outside = Chunk { compression: 7, ..Chunk::raw("Unknown", b"?") };
    let odd = [claims("COLoadEvent", 0), claims("UserMarkerHist", 8), repeated, outside];
    for (number, chunk) in odd.into_iter().enumerate() {
        let trace = Trace::new(&format!("odd-{number}"), &[crash(), vec![chunk]].concat());
        let found = ["check", "info", "cat"].map(|verb| trace.run(&[verb]).0);
        assert_eq!(found, [3; 3], "{number}");
        // What is too much to be told is whole, and can be carried over.
        if number == 2 {
            let to = trace.0.with_extension("recovered");
            let recovered = traceglass(&["recover", "-o", to.to_str().unwrap(), trace.0.to_str().unwrap()]);
            assert!(to.exists(), "{recovered:?}");
            std::fs::remove_file(to).unwrap();
        }
        assert_eq!(export(&trace), 3, "{number}");
    }
    // Facts that are too much are not told, and nothing that happened is lost.
    let facts = Chunk::zstd("AsicInfo", &vec![0; 9 << 20]);
    let trace = Trace::new("facts", &[crash(), vec![facts]].concat());
    let found = ["check", "info", "cat"].map(|verb| trace.run(&[verb]).0);
    assert_eq!((found, export(&trace)), ([0; 3], 0));
    // Two timestamps, of which the second one is earlier.
    let back =
        [build::token(12, 9 << 4 | 10_000_000 << 64), build::process_tokens(), build::process_tokens()];
    let trace = Trace::new("back", &[build::rmt(77, 1, &back.concat())]);
    let found = ["check", "info", "cat"].map(|verb| trace.run(&[verb]).0);
    assert_eq!((found, export(&trace)), ([0; 3], 0));
    let object = trace.json(&["check", "--json"]).remove(0);
    let findings = object["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["what"] == "not-ascending"), "{object}");
}

/// A stream in several chunks is told as in one: the same tokens and times, each at its place.
#[test]
fn tokens_may_reach_over_chunks() {
    let tokens = [build::process_tokens(), build::process_tokens()].concat();
    let whole = Trace::new("whole", &[build::rmt(77, 1, &tokens)]);
    let strip = |records: Vec<Value>, starts: &[usize]| -> Vec<Value> {
        let others = ["RmtData", "unknown"];
        let is_token = |record: &Value| !others.contains(&record["kind"].as_str().unwrap());
        let tokens = records.into_iter().filter(is_token);
        let of = |mut record: Value| {
            let start = starts[record["index"].as_u64().unwrap() as usize] as u64;
            record["offset"] = json!(record["offset"].as_u64().unwrap() + start);
            for member in ["entry", "index"] {
                record[member] = Value::Null;
            }
            record
        };
        tokens.map(of).collect()
    };
    let expected = strip(whole.json(&["cat", "--json"]), &[0]);
    for cut in (1..tokens.len()).step_by(7) {
        let next = (cut + 3).min(tokens.len());
        let pieces = [&tokens[..cut], &tokens[cut..next], &tokens[next..]];
        let trace = Trace::new("pieces", &pieces.map(|piece| build::rmt(77, 1, piece)));
        assert_eq!(strip(trace.json(&["cat", "--json"]), &[0, cut, next]), expected, "cut at {cut}");
        assert_eq!(trace.run(&["check"]).0, 0, "cut at {cut}");
    }
    // Nothing is read after one that cannot be read: it may begin within a token.
    for cut in (1..tokens.len() - 8).step_by(7) {
        let whole = |tokens: &[u8]| build::rmt(77, 1, tokens);
        let mut lost = whole(&tokens[cut..cut + 5]);
        // Without its header, it does not even say of which stream it is.
        let is_nameless = cut % 2 == 0;
        match is_nameless {
            true => drop(lost.header.pop()),
            false => (lost.compression, lost.uncompressed_size) = (1, 5),
        }
        let first = Trace::new("first", &[whole(&tokens[..cut])]);
        let expected = strip(first.json(&["cat", "--json"]), &[0]);
        let pieces = [whole(&tokens[..cut]), lost, whole(&tokens[cut + 5..])];
        let trace = Trace::new("gap", &pieces);
        assert_eq!(strip(trace.json(&["cat", "--json"]), &[0, 0, 0]), expected, "cut at {cut}");
        let memory = |trace: &Trace| trace.json(&["info", "--json"]).remove(0)["memory"].clone();
        assert_eq!(memory(&trace), memory(&first), "cut at {cut}");
        let said = trace.run(&["check"]).1;
        assert!(!is_nameless || said.contains("RDF RmtData header"), "cut at {cut}: {said}");
        let rows = trace.run(&["export", "--format", "csv", "-o", "-"]).1;
        let rows = rows.lines().skip(1).filter(|row| row.contains(",instant,")).count();
        let told = |record: &&Value| !["timestamp", "time_delta"].contains(&record["kind"].as_str().unwrap());
        assert_eq!(rows, expected.iter().filter(told).count(), "cut at {cut}");
        let out = trace.0.with_extension("out");
        let out = out.to_str().unwrap();
        assert_eq!(trace.status_of(&["recover", "--force", "-o", out]), 3);
        // A range does not hide the damage.
        if rows > 0 {
            assert_eq!(trace.status_of(&["export", "--format", "csv", "-o", "-", "--from", "+0s"]), 3);
        }
        let kept = traceglass(&["ls", "--json", out]).stdout;
        // What can be read of the file itself is kept as it is.
        let kept = kept.iter().filter(|&&byte| byte == b'\n').count();
        assert_eq!(kept, if is_nameless { 3 } else { 1 });
        std::fs::remove_file(out).unwrap();
    }
    let trace = Trace::new("both", &[build::rmt(77, 1, &tokens[..9]), build::rmt(77, 1, &tokens[9..])]);
    assert_eq!(trace.status_of(&["cut", "--drop", "RmtData#1", "-o", "never"]), 2);
    // The last one is not there.
    let trace = Trace::new("lost", &[build::rmt(77, 1, &tokens[..20])]);
    assert_eq!(["check", "cat", "info"].map(|verb| trace.run(&[verb]).0), [3; 3]);
}

/// A fault of a chunk's header is found in it, one of its data in that, and if that is compressed,
/// where it begins.
#[test]
fn findings_inside_of_chunks_are_located() {
    let pipelines = [vec![0; 32], vec![b'x'; 64]].concat().repeat(2);
    let claims = |count: u32| count.to_le_bytes();
    let packed = Chunk {
        stored: crate::common::rdf::zstd_frame(&pipelines),
        compression: 1,
        uncompressed_size: 192,
        ..Chunk::default()
    };
    let chunks = [
        Chunk::raw("AsicInfo", b"short"),
        Chunk::raw("PsoCorrelation", &pipelines).version(3).header(&claims(3)),
        Chunk { identifier: b"PsoCorrelation".to_vec(), ..packed }.version(3).header(&claims(2)),
    ];
    let trace = Trace::new("located", &chunks);
    let parts = trace.json(&["ls", "--json"]);
    let at = |entry: usize, what: &str| parts[entry][what].as_u64().unwrap();
    let object = trace.json(&["check", "--json"]).remove(0);
    let found: Vec<_> = object["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["what"] == "count-too-large" || one["what"] == "missing")
        .map(|one| (one["what"].as_str().unwrap(), one["offset"].as_u64().unwrap()))
        .collect();
    let (data, packed) = (at(1, "data_offset"), at(2, "data_offset"));
    let expected = [
        ("count-too-large", at(1, "header_offset")),
        ("missing", data + 32),
        ("missing", data + 96 + 32),
        ("missing", packed),
        ("missing", packed),
    ];
    assert_eq!(found, expected, "{object}");
}

/// On queue 2, one submission begins during another one and ends before it.
#[test]
fn submissions_that_overlap_make_a_queue_busy_once() {
    let path = crate::common::data("sample.rgp");
    let run = |args: &[&str]| {
        let output = traceglass(&[args, &[path.to_str().unwrap()]].concat());
        assert_eq!(status(&output), 0);
        String::from_utf8(output.stdout).unwrap()
    };
    let lines = run(&["stats", "--json"]);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let find = |member: &str, name: &str| lines.iter().find(|line| line[member] == name).unwrap();
    let queue = find("track", "queue 2");
    assert_eq!((&queue["busy_ns"], &queue["names"][0]["ns"]), (&json!(26_000), &json!(26_000)));
    // All four, on both queues.
    assert_eq!(find("name", "CmdBufSubmit")["total_ns"], 56_000);
    assert!(run(&["info"]).contains("2 (Compute): 2 submissions, GPU busy for 26.0 µs"));
    // Masks and codes are those of `cat`; as JSON they are numbers.
    assert!(run(&["cat", "--slices"]).contains(" CmdBufSubmit pci=0xc0000 queue=2 "));
    assert!(run(&["cat", "--slices", "--json"]).contains("\"args\":{\"pci\":786432,\"queue\":2,"));
}

/// Damage of a chunk that has no events is told by what reads all events.
#[test]
fn damage_of_other_chunks_is_told_where_events_are_exported() {
    let mut chunks = crash();
    let mut other = Chunk::zstd("Unheard", b"some text, some text, some text");
    other.stored.truncate(other.stored.len() - 3);
    chunks.push(other);
    let trace = Trace::new("untold", &chunks);
    for args in [
        &["check"][..],
        &["stats"],
        &["cat", "--slices"],
        &["export", "--format", "perfetto"],
        &["export", "--format", "csv"],
    ] {
        assert_eq!(trace.status_of(args), 3, "{args:?}");
    }
    let sound = Trace::new("untold-sound", &crash());
    assert_eq!(sound.status_of(&["export", "--format", "csv"]), 0);
}

/// The kind of a row is that of the record, and not the name of the event that it is.
#[test]
fn memory_has_the_kinds_of_its_records() {
    // A token of the kind `misc`, which says that work was submitted.
    let tokens = [build::process_tokens(), build::token(2, 5)].concat();
    let trace = Trace::new("kinds", &[build::rmt(77, 1, &tokens)]);
    let rows = trace.run(&["export", "--format", "csv", "--table", "memory"]).1;
    let kinds: Vec<_> = rows.lines().skip(1).map(|row| row.split(',').nth(5).unwrap().to_owned()).collect();
    let records = trace.json(&["cat", "--json"]);
    let is_token = |record: &&Value| {
        record["chunk"] == "RmtData" && kinds.contains(&record["kind"].as_str().unwrap().to_owned())
    };
    let printed: Vec<_> =
        records.iter().filter(is_token).map(|record| record["kind"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kinds, printed, "{rows}");
    assert!(kinds.contains(&"misc".to_owned()), "{rows}");
}

/// Text that is no UTF-8 is null in a column of text; the row stays.
#[test]
fn names_that_are_no_text_are_null() {
    let changed = |tokens: Vec<u8>, name: &[u8]| {
        let at = tokens.windows(name.len()).position(|window| window == name).expect("it is named so");
        [&tokens[..at + 1], &[0xff], &tokens[at + 2..]].concat()
    };
    let column = |trace: &Trace, table: &str| {
        let rows = trace.run(&["export", "--format", "csv", "--table", table]).1;
        let mut rows = rows.lines().map(|row| row.split(',').map(str::to_owned).collect::<Vec<_>>());
        let at = rows.next().unwrap().iter().position(|name| name == "name").unwrap();
        rows.map(|row| row[at].clone()).collect::<Vec<_>>()
    };
    let trace = |test: &str, markers: Vec<u8>, names: Vec<u8>| {
        let driver = build::driver_events(build::UMD, 0, &markers);
        Trace::new(test, &[driver, build::rmt(77, 1, &build::process_tokens()), build::rmt(0, 2, &names)])
    };
    let sound = trace("text", build::markers(), build::name_tokens());
    let other =
        trace("no-text", changed(build::markers(), b"Clear"), changed(build::name_tokens(), b"shadow"));
    for (table, name) in [("markers", "Clear"), ("resources", "shadow map")] {
        let mut expected = column(&sound, table);
        assert!(expected.contains(&name.to_owned()), "{expected:?}");
        expected.iter_mut().filter(|found| *found == name).for_each(String::clear);
        assert_eq!(column(&other, table), expected);
    }
}
