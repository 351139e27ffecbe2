//! The RFR vectors.

use crate::common::{status, traceglass};
use crate::{Folder, assert_fields, check, json_lines};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const CHUNK_FIELDS: [&str; 6] =
    ["identifier", "base_time_secs", "start_micros", "end_micros", "earliest_micros", "latest_micros"];
const SEQUENCE_FIELDS: [&str; 6] =
    ["offset", "seq_id", "earliest_micros", "latest_micros", "objects", "records"];

#[test]
fn rfr_vectors_are_as_their_manifest_says() {
    let Some(folder) = Folder::open("rfr") else { return };
    folder.each(|path, facts| {
        let verdict = check(path, facts);
        let info = traceglass(&["info", "--json", path]);
        let ls = traceglass(&["ls", "--json", path]);
        let cat = traceglass(&["cat", "--json", path]);
        let expected = match verdict.as_str() {
            "unreadable" => 1,
            "damaged" => 3,
            _ => 0,
        };
        assert_eq!((status(&info), status(&ls), status(&cat)), (expected, expected, expected), "{path}");
        for verb in ["info", "ls", "cat", "hex"] {
            // A directory has no bytes to be shown.
            let output = traceglass(&[verb, path]);
            assert!([0, 1, 3].contains(&status(&output)), "{verb} {path}");
        }
        if verdict == "unreadable" {
            assert!(ls.stdout.is_empty() && cat.stdout.is_empty(), "{path}");
            return;
        }
        let info = &json_lines(&info)[0];
        let records = json_lines(&cat);
        // A file of callsites has nothing else to print.
        if facts["kind"] != "callsites" {
            assert_eq!(info["records"], records.len(), "{path}");
            records_are(path, facts, info, &records);
        }
        let chunks = facts["chunks"].as_array().cloned().unwrap_or_default();
        let chunks = if facts["chunk"].is_null() { chunks } else { vec![facts["chunk"].clone()] };
        if !chunks.is_empty() {
            listing_is(path, &json_lines(&ls), &chunks, facts["kind"] == "recording");
            assert_eq!(
                (&info["chunks"], &info["identifier"]),
                (&json!(chunks.len()), &chunks[0]["identifier"])
            );
            let micros = |chunk: &Value, field| {
                chunk["base_time_secs"].as_u64().unwrap() * 1_000_000 + chunk[field].as_u64().unwrap()
            };
            assert_eq!(info["start_micros"], micros(&chunks[0], "start_micros"), "{path}");
            assert_eq!(info["end_micros"], micros(&chunks[chunks.len() - 1], "end_micros"), "{path}");
        }
        objects_are(path, facts, info);
        callsites_are(path, facts);
        polls_are_named_alike(path, &records);
    });
}

/// Slices say of which task they are as records do, though names are found another way.
fn polls_are_named_alike(path: &str, records: &[Value]) {
    let named = |what: &Value, time: &Value| format!("{time} {} {}", what["task"], what["task_id"]);
    let begun = records.iter().filter(|record| record["kind"] == "TaskPollStart");
    let mut begun: Vec<String> = begun.map(|record| named(record, &record["time_ns"])).collect();
    let slices = json_lines(&traceglass(&["cat", "--slices", "--json", path]));
    let polls = slices.iter().filter(|line| line["kind"] == "slice" && line["name"] == "poll");
    let mut polls: Vec<String> = polls.map(|line| named(&line["args"], &line["time_ns"])).collect();
    begun.sort();
    polls.sort();
    assert_eq!(polls, begun, "{path}");
}

/// A number, of which an address is written in hexadecimal.
fn number(value: &Value) -> Value {
    let hex = value.as_str().and_then(|text| text.strip_prefix("0x"));
    hex.map_or_else(|| value.clone(), |hex| u64::from_str_radix(hex, 16).unwrap().into())
}

/// A record as the manifest's digest has it. Kinds are named as writers do.
fn line(record: &Value) -> Value {
    let kind = match record["kind"].as_str().unwrap() {
        "NewTask" => "TaskNew",
        kind => kind,
    };
    let of = |field: &str, has: bool| if has { number(&record[field]) } else { Value::Null };
    let waker = kind.starts_with("Waker");
    let called = kind == "Event" || kind == "Callsite";
    json!([
        record["seq_id"],
        record["micros"],
        kind,
        of("iid", !waker),
        of("task_iid", waker),
        of("context", waker),
        of("callsite_id", called),
    ])
}

fn digest(records: &[Value]) -> String {
    let mut lines: Vec<String> = records.iter().map(|record| line(record).to_string()).collect();
    lines.sort();
    sha256(&lines.join("\n"))
}

fn records_are(path: &str, facts: &Value, info: &Value, records: &[Value]) {
    if let Some(least) = facts["records_at_least"].as_u64() {
        assert!(records.len() as u64 >= least, "{path}: {} records", records.len());
    }
    if facts["records_digest"].is_null() {
        return;
    }
    assert_fields(path, info, facts, &["records"]);
    let mut kinds = info["records_by_kind"].as_object().unwrap().clone();
    if let Some(count) = kinds.remove("NewTask") {
        kinds.insert("TaskNew".to_owned(), count);
    }
    assert_eq!(Some(kinds.len()), facts["records_by_kind"].as_object().map(|kinds| kinds.len()), "{path}");
    for (kind, count) in &kinds {
        assert_eq!(facts["records_by_kind"][kind], *count, "{path}: {kind}");
    }
    assert_eq!(digest(records), facts["records_digest"], "{path}");
    // In the order of the file, that is; it is one of time here.
    for known in
        ["first_record", "last_record"].map(|name| &facts[name]).into_iter().filter(|known| known.is_array())
    {
        assert!(records.iter().any(|record| line(record) == *known), "{path}: {known}");
    }
    assert!(records.is_sorted_by_key(|record| record["micros"].as_u64()), "{path}");
}

fn listing_is(path: &str, actual: &[Value], chunks: &[Value], is_recording: bool) {
    let mut actual = actual.iter();
    for chunk in chunks {
        let listed = actual.next().expect("a chunk");
        assert_eq!(listed["kind"], "chunk", "{path}");
        assert_fields(path, listed, chunk, &CHUNK_FIELDS);
        let sequences = chunk["sequences"].as_array().unwrap();
        assert_eq!(listed["sequences"], sequences.len(), "{path}");
        let shown = if is_recording { chunk["path"].clone() } else { path.into() };
        assert_eq!(listed["path"], shown);
        for sequence in sequences {
            let listed = actual.next().expect("a sequence");
            assert_eq!((&listed["kind"], &listed["path"]), (&"sequence".into(), &shown), "{path}");
            assert_fields(path, listed, sequence, &SEQUENCE_FIELDS);
        }
    }
    assert_eq!(actual.next(), None, "{path}");
}

fn objects_are(path: &str, facts: &Value, info: &Value) {
    if facts["objects"].is_null() {
        return;
    }
    assert_fields(path, info, facts, &["objects"]);
    let all = json_lines(&traceglass(&["cat", "--json", "--objects", path]));
    let is_object = |line: &&Value| line["kind"] == "Task" || line["kind"] == "Span";
    let objects: Vec<&Value> = all.iter().filter(is_object).collect();
    assert_eq!(facts["objects"], objects.len(), "{path}");
    for (kind, count) in facts["object_kinds"].as_object().unwrap() {
        assert_eq!(*count, objects.iter().filter(|object| object["kind"] == kind.as_str()).count(), "{path}");
    }
    // SortedIndex as text.
    let mut iids: Vec<String> = objects.iter().map(|object| object["iid"].to_string()).collect();
    iids.sort_unstable();
    assert_eq!(sha256(&iids.join("\n")), facts["object_iids_sha256"], "{path}");
}

fn callsites_are(path: &str, facts: &Value) {
    let Some(expected) = facts["callsites"].as_array() else { return };
    let actual = json_lines(&traceglass(&["cat", "--json", "--callsites", path]));
    assert_eq!(actual.len(), expected.len(), "{path}");
    for (actual, expected) in actual.iter().zip(expected) {
        for (field, value) in expected.as_object().unwrap() {
            let mut found = match field.as_str() {
                "kind" => actual["callsite_kind"].clone(),
                "level" => level(&actual["level"]),
                field => number(&actual[field]),
            };
            if let Some(text) = found.as_str() {
                // As the manifest has it: the path after the registry's index.
                found = match text.split_once("/registry/src/") {
                    Some((before, after)) => {
                        let event = if before.starts_with("event ") { "event " } else { "" };
                        format!("{event}{}", after.split_once('/').unwrap().1).into()
                    }
                    None => found,
                };
            }
            assert_eq!(found, *value, "{path}: {field}");
        }
    }
}

/// The number of a level, which has a name if it is one of those that are defined.
fn level(told: &Value) -> Value {
    let names = ["trace", "debug", "info", "warn", "error"];
    let place = told.as_str().and_then(|name| names.iter().position(|known| *known == name));
    place.map_or_else(|| told.clone(), |place| (10 * (place + 1)).into())
}

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
