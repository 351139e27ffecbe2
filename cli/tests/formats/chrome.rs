//! `export --format chrome`: the slices and instants that other front ends have.

use crate::common::{Scratch, data, status, traceglass};
use serde_json::Value;
use std::collections::BTreeMap;

/// The events that `--format chrome` writes of a trace.
pub fn chrome(args: &[&str]) -> Value {
    let out = traceglass(&[&["export", "--format", "chrome"], args].concat());
    assert_eq!(status(&out), 0, "{out:?}");
    serde_json::from_slice(&out.stdout).unwrap()
}

/// A time in microseconds with three decimals, in nanoseconds.
fn chrome_ns(value: &Value) -> i64 {
    (value.as_f64().unwrap() * 1000.0).round() as i64
}

#[test]
fn chrome_has_the_slices_that_cat_prints() {
    for sample in ["sample.rfr", "stream.rfr", "sample.ctf", "sample.rgp", "trace.0.bin"] {
        let path = data(sample);
        let path = path.to_str().unwrap();
        let whole = chrome(&[path]);
        let origin: i64 = whole["otherData"]["origin_ns"].as_str().unwrap().parse().unwrap();
        let events = whole["traceEvents"].as_array().unwrap();
        let of = |phase: &str| events.iter().filter(|event| event["ph"] == *phase).collect::<Vec<_>>();
        let threads: BTreeMap<_, _> =
            of("M").iter().map(|event| (event["tid"].as_u64(), &event["args"]["name"])).collect();
        let found: Vec<String> = of("X")
            .iter()
            .map(|event| {
                let begin = chrome_ns(&event["ts"]) + origin;
                let end = begin + chrome_ns(&event["dur"]);
                let mut args = event["args"].clone();
                args.as_object_mut().unwrap().remove("flags");
                format!("{} {} {begin} {end} {args}", threads[&event["tid"].as_u64()], event["name"])
            })
            .collect();
        let out = traceglass(&["cat", "--slices", "--json", path]);
        let text = String::from_utf8(out.stdout).unwrap();
        let slices = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        // A track may have another name, which stands after its own.
        let aliases: BTreeMap<String, String> = slices
            .clone()
            .filter(|line| line["kind"] == "track")
            .map(|line| {
                (
                    line["track"].to_string(),
                    format!("\"{} ({})\"", line["track"].as_str().unwrap(), line["label"].as_str().unwrap()),
                )
            })
            .collect();
        let expected: Vec<String> = slices
            .filter(|line| {
                line["kind"] == "slice"
                    && !line["time_ns"].is_null()
                    && line["flags"].as_array().unwrap().iter().all(|flag| flag == "end_missing")
            })
            .map(|line| {
                let track = line["track"].to_string();
                let track = aliases.get(&track).unwrap_or(&track);
                format!(
                    "{track} {} {} {} {}",
                    line["name"], line["time_ns"], line["end_time_ns"], line["args"]
                )
            })
            .collect();
        let is_flagged =
            |event: &&Value| event["args"]["flags"].as_str().is_some_and(|flags| flags != "end_missing");
        let flagged: Vec<_> = of("X").into_iter().filter(is_flagged).collect();
        assert_eq!(found.len(), expected.len() + flagged.len(), "{sample}");
        expected.iter().for_each(|line| assert!(found.contains(line), "{line} is not in {found:#?}"));
        // Each arrow has both ends.
        let ids = |phase: &str| {
            of(phase).iter().map(|event| event["id"].to_string()).collect::<std::collections::BTreeSet<_>>()
        };
        assert!(ids("f").is_subset(&ids("s")), "{sample}");
        assert_eq!(ids("s").is_empty(), matches!(sample, "sample.ctf" | "sample.rgp"));
    }
}

#[test]
fn chrome_cuts_slices_at_the_window_and_keeps_inputs_apart() {
    let path = data("sample.rfr");
    let path = path.to_str().unwrap();
    let cut = chrome(&["--from", "+0.2s", "--to", "+0.3s", path]);
    let slices: Vec<_> =
        cut["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X").collect();
    let (from, to) = (200_000_000, 300_000_000);
    for slice in &slices {
        let begin = chrome_ns(&slice["ts"]);
        assert!(begin >= from && begin + chrome_ns(&slice["dur"]) <= to, "{slice}");
    }
    // The poll of 450 ms spans it: it is as long as the window, and says when it began.
    let spans: Vec<_> = slices.iter().filter(|slice| slice["args"]["began_ns"].is_string()).collect();
    assert_eq!(spans.len(), 1, "{slices:#?}");
    assert_eq!((chrome_ns(&spans[0]["ts"]), chrome_ns(&spans[0]["dur"])), (from, to - from));
    assert_eq!(spans[0]["args"]["task"], "read config");

    let two = chrome(&[path, path]);
    let events = two["traceEvents"].as_array().unwrap();
    let of = |pid: u64| {
        events
            .iter()
            .filter(|event| event["pid"] == pid)
            .map(|event| {
                let mut event = event.clone();
                let members = event.as_object_mut().unwrap();
                members.remove("pid");
                members.remove("id");
                event
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(of(1), of(2));
    assert_eq!(of(1).len() + of(2).len(), events.len());
}

/// A slice has a field that is called as what is said of its ends: both are there.
#[test]
fn chrome_says_of_ends_by_names_that_no_field_has() {
    let scratch = Scratch::new("chrome-fields");
    let folder = scratch.path("trace");
    std::fs::create_dir(&folder).unwrap();
    let metadata = "/* CTF 1.8 */
        typealias integer { size = 32; align = 8; } := uint32_t;
        trace { major = 1; minor = 8; byte_order = le; };
        clock { name = mono; freq = 1000000000; };
        typealias integer { size = 64; align = 8; map = clock.mono.value; } := stamp_t;
        stream { event.header := struct { uint32_t id; stamp_t timestamp; }; };
        event { name = \"work_begin\"; id = 0; fields := struct { uint32_t flags; uint32_t began_ns; }; };
        event { name = \"work_end\"; id = 1; fields := struct { uint32_t flags; }; };
        event { name = \"other\"; id = 2; };";
    std::fs::write(format!("{folder}/metadata"), metadata).unwrap();
    let numbers = [0_u32, 50, 0, 5, 5, 1, 60, 0, 3, 0, 100, 0, 7, 8, 2, 200, 0];
    let stream: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    std::fs::write(format!("{folder}/stream"), stream).unwrap();
    let out = traceglass(&["export", "--format", "chrome", "--from", "+80ns", &folder]);
    let text = String::from_utf8(out.stdout).unwrap();
    let args =
        text.lines().find_map(|line| Some(line.split_once("\"X\"")?.1.split_once("\"args\":")?.1)).unwrap();
    assert_eq!(args, r#"{"flags":7,"began_ns":8,"began_ns_":"100","flags_":"open_end"}}"#);
}

/// The fields of an input's events have their own names, whatever an input before it has.
#[test]
fn chrome_names_the_fields_of_each_input() {
    let samples = ["sample.ctf", "kernel", "sample.rfr", "trace.0.bin"];
    let paths = samples.map(|sample| data(sample).to_str().unwrap().to_owned());
    let events = |all: &Value, input: u64| -> Vec<(Value, Value)> {
        let events = all["traceEvents"].as_array().unwrap().iter();
        let of_input = events.filter(|event| event["pid"] == input && event["ph"] == "i");
        of_input.map(|event| (event["name"].clone(), event["args"].clone())).collect()
    };
    let mut compared = 0;
    for first in &paths {
        for second in paths.iter().filter(|second| *second != first) {
            let both = events(&chrome(&[first, second]), 2);
            // One whose clock is of another kind than that of the first is left out.
            if !both.is_empty() {
                assert_eq!(both, events(&chrome(&[second]), 1), "{first} {second}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 2, "{compared}");
}
