//! The vectors of states: every slice, label and window as expected.

use crate::common::{covered, status, traceglass};
use crate::json_lines;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The part of a slice that is compared.
fn slice(of: &Value, names: [&str; 2]) -> String {
    let or = |name: &str, other: Value| if of[name].is_null() { other } else { of[name].clone() };
    let times = names.map(|name| of[name].clone());
    json!([
        of["track"],
        of["name"],
        times,
        or("depth", 0.into()),
        or("flags", json!([])),
        or("args", json!({}))
    ])
    .to_string()
}

fn counted(lines: impl Iterator<Item = String>) -> BTreeMap<String, i64> {
    lines.fold(BTreeMap::new(), |mut counts, line| {
        *counts.entry(line).or_default() += 1;
        counts
    })
}

/// The lines of one that the other has not.
fn without(one: &BTreeMap<String, i64>, other: &BTreeMap<String, i64>) -> Vec<String> {
    let has_more = |(line, count): &(&String, &i64)| **count > other.get(*line).copied().unwrap_or(0);
    one.iter().filter(has_more).map(|(line, _)| line.clone()).collect()
}

/// The members of an object in the order of the alphabet: those of arguments come in any order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let sorted: BTreeMap<_, _> =
                members.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            Value::Object(sorted.into_iter().collect())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        _ => value.clone(),
    }
}

fn read(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| sorted(&serde_json::from_str(line).unwrap())).collect()
}

fn printed(args: &[&str]) -> Vec<Value> {
    let output = traceglass(args);
    assert!(matches!(status(&output), 0 | 3), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    json_lines(&output).iter().map(sorted).collect()
}

fn compare(folder: &Path, found: &[Value], expected: &[Value]) {
    let found = found.iter().filter(|line| line["kind"] == "slice");
    let found = counted(found.map(|line| slice(line, ["time_ns", "end_time_ns"])));
    let expected = expected.iter().filter(|line| line["k"] == "slice");
    let expected = counted(expected.map(|line| slice(line, ["begin", "end"])));
    let (missing, extra) = (without(&expected, &found), without(&found, &expected));
    assert!(missing.is_empty() && extra.is_empty(), "{}\n- {missing:#?}\n+ {extra:#?}", folder.display());
}

#[test]
fn slices_are_as_expected() {
    let Some(root) = std::env::var_os("TRACEGLASS_VECTORS") else {
        eprintln!("TRACEGLASS_VECTORS is not set: the states vectors are not read");
        return;
    };
    let (mut traces, mut slices) = (0, 0);
    for entry in std::fs::read_dir(Path::new(&root).join("states")).unwrap() {
        let folder = entry.unwrap().path();
        let expected = folder.join("expected-slices.ndjson");
        if !expected.exists() {
            continue;
        }
        let (trace, expected) = (folder.join("trace"), read(&expected));
        let trace = trace.to_str().unwrap();
        let found = printed(&["cat", "--slices", "--json", trace]);
        compare(&folder, &found, &expected);
        let labels = |lines: &[Value], kind: &str| {
            let lines = lines.iter().filter(|line| line[kind] == "track");
            counted(lines.map(|line| format!("{} {}", line["track"], line["label"])))
        };
        assert_eq!(labels(&found, "kind"), labels(&expected, "k"), "{}", folder.display());
        let end = expected.iter().find(|line| line["k"] == "end").unwrap();
        let count = found.iter().filter(|line| line["kind"] == "slice").count();
        assert_eq!(end["slices"], count, "{}", folder.display());

        // A track is busy while a slice was on it that ended.
        for line in printed(&["stats", "--json", trace]).iter().filter(|line| line["kind"] == "track") {
            let of = found.iter().filter(|slice| slice["track"] == line["track"]);
            let ends = |slice: &Value| Some((slice["time_ns"].as_i64()?, slice["end_time_ns"].as_i64()?));
            assert_eq!(
                line["busy_ns"],
                covered(of.filter_map(ends).collect()),
                "{} {line}",
                folder.display()
            );
        }

        let expected = read(&folder.join("expected-window.ndjson"));
        let window = expected.iter().find(|line| line["k"] == "window").unwrap();
        let all: Vec<i64> = found.iter().filter_map(|line| line["time_ns"].as_i64()).collect();
        assert!(all.len() > 10, "{}", folder.display());
        // Times of the clock are as good as dates, and every clock has them.
        let at = |name: &str| {
            let time: i64 = window[name].as_i64().unwrap();
            let first =
                printed(&["cat", "--json", trace]).iter().find_map(|line| line["time_ns"].as_i64()).unwrap();
            format!("+{}ns", time - first)
        };
        let found = printed(&["cat", "--slices", "--json", "--from", &at("from"), "--to", &at("to"), trace]);
        compare(&folder, &found, &expected);
        traces += 1;
        slices += count;
    }
    println!("{traces} traces read, with {slices} slices");
    assert!(traces > 0, "no trace was read");
}
