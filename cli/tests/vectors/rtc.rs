//! The RTC vectors.

use crate::common::{status, traceglass};
use crate::{Folder, check, json_lines};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;

#[test]
fn rtc_vectors_are_as_their_manifest_says() {
    let Some(folder) = Folder::open("rtc") else { return };
    folder.each(|path, facts| {
        let verdict = check(path, facts);
        let info = traceglass(&["info", "--json", path]);
        let ls = traceglass(&["ls", "--json", "--sha256", path]);
        for verb in ["info", "ls", "cat", "hex"] {
            assert!(matches!(status(&traceglass(&[verb, path])), 0 | 1 | 3), "{verb} {path}");
        }
        if verdict == "unreadable" {
            assert_eq!((status(&info), status(&ls)), (1, 1), "{path}");
            assert!(ls.stdout.is_empty(), "{path}");
            return;
        }
        let of_verdict = if verdict == "clean" { 0 } else { 3 };
        assert_eq!((status(&info), status(&ls)), (of_verdict, of_verdict), "{path}");
        let (info, ls) = (&json_lines(&info)[0], json_lines(&ls));
        assert_eq!((&info["format"], &info["bytes"]), (&"rtc".into(), &facts["size"]), "{path}");
        assert_eq!(info["verdict"], verdict.as_str(), "{path}");
        let (units, streams, gaps) = (of_kind(&ls, "unit"), of_kind(&ls, "stream"), of_kind(&ls, "gap"));
        assert_eq!(info["units"], units.len(), "{path}");
        assert_eq!(info["streams"], streams.len(), "{path}");
        assert_eq!(info["gaps"], gaps.len(), "{path}");
        assert_eq!(info["frames"], sum(&streams, "frames"), "{path}");
        for fact in ["sessions", "frames"] {
            assert!(facts[fact].is_null() || info[fact] == facts[fact], "{path}: {fact} of {info}");
        }
        if let Some(expected) = facts["units"].as_array() {
            units_are(path, &units, expected);
        }
        if let Some(expected) = facts["streams"].as_array() {
            streams_are(path, &streams, expected);
        }
        if let Some(least) = facts["min_streams"].as_u64() {
            let known = streams.iter().filter(|stream| stream["name"].is_string()).count();
            assert!(known as u64 >= least, "{path}: {known} streams, {least} expected");
        }
        records_are(path, facts, &streams);
        contents_are(path, &streams, of_verdict);
    });
}

fn of_kind<'v>(lines: &'v [Value], kind: &str) -> Vec<&'v Value> {
    lines.iter().filter(|line| line["kind"] == kind).collect()
}

fn sum(lines: &[&Value], field: &str) -> u64 {
    lines.iter().filter_map(|line| line[field].as_u64()).sum()
}

fn units_are(path: &str, actual: &[&Value], expected: &[Value]) {
    assert_eq!(actual.len(), expected.len(), "{path}");
    for (actual, expected) in actual.iter().zip(expected) {
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(actual[field], *value, "{path}: {field} of {actual}");
        }
    }
}

fn streams_are(path: &str, actual: &[&Value], expected: &[Value]) {
    assert_eq!(actual.len(), expected.len(), "{path}");
    for (actual, expected) in actual.iter().zip(expected) {
        for (field, value) in expected.as_object().unwrap() {
            let open = field == "open_record" || field == "records" && expected["open_record"] == true;
            assert!(open || actual[field] == *value, "{path}: {field} of {actual}, expected {value}");
        }
    }
}

/// At least the records that are beyond doubt, and none that were never written.
fn records_are(path: &str, facts: &Value, streams: &[&Value]) {
    let mut records: BTreeMap<String, u64> = BTreeMap::new();
    for stream in streams {
        *records.entry(stream["id"].to_string()).or_default() += stream["records"].as_u64().unwrap();
    }
    let of = |fact: &str| facts[fact].as_object().cloned().unwrap_or_default();
    let least = of("at_least");
    for (id, least) in &least {
        let actual = records.get(id).copied().unwrap_or(0);
        assert!(
            actual >= least.as_u64().unwrap(),
            "{path}: {actual} records of {id}, at least {least} expected"
        );
    }
    for (id, written) in of("original_records") {
        let actual = records.get(&id).copied().unwrap_or(0);
        // A unit that is there twice is read twice.
        let most = written.as_u64().max(least.get(&id).map(|least| least.as_u64().unwrap() + 1));
        assert!(Some(actual) <= most, "{path}: {actual} records of {id}, {written} were written");
    }
    for (id, written) in of("records_expected") {
        assert_eq!(records.get(&id).copied(), written.as_u64(), "{path}: records of {id}");
    }
}

/// The content that `cat` gives is what `ls` counted.
fn contents_are(path: &str, streams: &[&Value], of_verdict: i32) {
    let cat = traceglass(&["cat", "--json", path]);
    assert_eq!(status(&cat), of_verdict, "{path}");
    let records = json_lines(&cat);
    let mut counts: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    let mut last = None;
    for record in &records {
        let place = (record["session"].as_u64().unwrap(), record["id"].as_u64().unwrap());
        *counts.entry(place).or_default() += 1;
        assert!(last < record["offset"].as_u64(), "{path}: not in file order: {record}");
        last = record["offset"].as_u64();
    }
    let mut joined: BTreeMap<u64, u64> = BTreeMap::new();
    for stream in streams {
        let place = (stream["session"].as_u64().unwrap(), stream["id"].as_u64().unwrap());
        assert_eq!(stream["records"], counts.get(&place).copied().unwrap_or(0), "{path}: {stream}");
        *joined.entry(place.1).or_default() += stream["bytes"].as_u64().unwrap();
    }
    let one_session = streams.iter().all(|stream| stream["session"] == 0);
    for stream in streams.iter().filter(|_| one_session).take(12) {
        let id = stream["id"].to_string();
        let name = stream["name"].as_str().filter(|name| !name.starts_with('-'));
        let is_alone = |name: &&str| streams.iter().filter(|other| other["name"] == *name).count() == 1;
        for selected in [Some(id.as_str()), name.filter(is_alone)].into_iter().flatten() {
            let raw = traceglass(&["cat", "--raw", "--stream", selected, path]);
            assert_eq!(status(&raw), of_verdict, "{path}");
            let digest = Sha256::digest(&raw.stdout).iter().fold(String::new(), |mut text, byte| {
                write!(text, "{byte:02x}").unwrap();
                text
            });
            assert_eq!(stream["sha256"], digest, "{path}: {selected}");
        }
    }
}
