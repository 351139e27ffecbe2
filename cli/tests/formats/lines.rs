//! The lines of `cat`: which ones are selected, and what each of them tells.

use crate::common::{data, status, traceglass};
use serde_json::Value;
use std::process::Command;

#[test]
fn a_name_selects_what_has_it() {
    // By the member of JSON that people know a record by.
    for (sample, pattern, member, fits) in [
        ("sample.ctf", "thread_*", "name", (|name| name.starts_with("thread_")) as fn(&str) -> bool),
        ("sample.ctf", "battery", "name", |name| name == "battery"),
        ("sample.rfr", "TaskPoll????*", "kind", |name| name == "TaskPollStart"),
        ("sample.rtc", "ad?", "stream", |name| name == "adc"),
        ("sample.rgp", "Queue*", "kind", |name| name.starts_with("Queue")),
        ("trace.0.bin", "*WakeEvent", "kind", |name| name.ends_with("WakeEvent")),
        ("trace.0.bin", "Wake*", "kind", |name| name.starts_with("Wake")),
    ] {
        let path = data(sample);
        let path = path.to_str().unwrap();
        let lines = |args: &[&str]| {
            let out = traceglass(&[&["cat"], args, &[path]].concat());
            assert!(matches!(status(&out), 0 | 3), "{out:?}");
            String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let has = |line: &&String| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            line[member].as_str().is_some_and(fits)
        };
        let (all, some) = (lines(&["--json"]), lines(&["--json", "--name", pattern]));
        let expected: Vec<&String> = all.iter().filter(has).collect();
        assert_eq!(some.iter().collect::<Vec<_>>(), expected, "{sample} {pattern}");
        assert_eq!(some.is_empty(), pattern == "*WakeEvent", "{sample} {pattern}");
        // People read the same records, and several names are asked for together.
        let text = lines(&["--name", pattern]);
        assert_eq!(text.len(), some.len(), "{sample} {pattern}");
        assert!(lines(&[]).iter().filter(|line| text.contains(line)).count() >= text.len());
        assert_eq!(lines(&["--json", "--name", "no such", "--name", pattern]), some);
    }
    let path = data("trace.0.bin");
    let path = path.to_str().unwrap();
    let slices = traceglass(&["cat", "--slices", "--json", "--name", "park*", path]);
    let text = String::from_utf8(slices.stdout).unwrap();
    assert!(
        text.lines().count() > 5 && text.lines().all(|line| line.contains("\"name\":\"parked\"")),
        "{text}"
    );
    let none = traceglass(&["cat", "--name", "no such", path]);
    assert_eq!(status(&none), 0);
    assert!(String::from_utf8_lossy(&none.stderr).contains("nothing of it has this name"), "{none:?}");
    assert_eq!(status(&traceglass(&["cat", "--raw", "--name", "x", path])), 2);
    let none = traceglass(&["cat", "--slices", "--name", "no such", path]);
    assert!(String::from_utf8_lossy(&none.stderr).ends_with("nothing of it has this name\n"), "{none:?}");
    let path = data("sample.ctf");
    for args in [["--cpu", "99"], ["--stream", "no such"]] {
        let none = traceglass(&[&["cat"], &args[..], &[path.to_str().unwrap()]].concat());
        let says = String::from_utf8(none.stderr.clone()).unwrap();
        assert_eq!((status(&none), none.stdout.len()), (0, 0), "{args:?}");
        assert!(says.contains("nothing of it is of this"), "{says}");
    }
}

/// Times of a zone say how far it is from UTC, and are the same times.
#[test]
fn times_may_be_those_of_a_zone() {
    for (sample, dates) in [("sample.ctf", 2), ("stream.rfr", 5), ("sample.rgp", 0)] {
        let path = data(sample);
        let lines = |args: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_traceglass"));
            let out = command.arg("cat").args(args).arg(&path).env("TZ", "<+0530>-5:30").output().unwrap();
            String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let (utc, local) = (lines(&[]), lines(&["--local"]));
        assert_eq!((utc.len(), local == utc), (local.len(), dates == 0), "{sample}");
        let time =
            |line: &str| line.split_once("  ").and_then(|(time, _)| time.parse::<jiff::Timestamp>().ok());
        let told = local.iter().filter(|line| line.contains("+05:30  ")).count();
        assert!(told >= dates && (told > 0) == (dates > 0), "{sample}: {local:?}");
        for (utc, local) in utc.iter().zip(&local) {
            assert_eq!(time(utc), time(local));
            assert_eq!(
                utc.split_once("  ").map(|(_, rest)| rest),
                local.split_once("  ").map(|(_, rest)| rest)
            );
        }
    }
}

#[test]
fn processors_may_be_shown() {
    let path = data("kernel");
    let lines = |args: &[&str]| {
        let out = traceglass(&[&["cat"], args, &[path.to_str().unwrap()]].concat());
        String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let cpus: Vec<Value> = lines(&["--json"])
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["cpu"].clone())
        .collect();
    let (plain, shown) = (lines(&[]), lines(&["--show-cpu"]));
    assert_eq!((plain.len(), shown.len()), (cpus.len(), cpus.len()));
    for ((plain, shown), cpu) in plain.iter().zip(&shown).zip(&cpus) {
        assert_eq!(*plain, shown.replacen(&format!("  CPU {cpu}  "), "  ", 1));
        assert_ne!(plain, shown);
    }
}

#[test]
fn lines_tell_how_long_after_the_one_before_they_are() {
    for sample in ["sample.ctf", "sample.rfr", "sample.rtc", "trace.0.bin"] {
        let path = data(sample);
        let path = path.to_str().unwrap();
        let lines = |args: &[&str]| {
            let out = traceglass(&[&["cat"], args, &[path]].concat());
            String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let times: Vec<Option<i128>> = lines(&["--json"])
            .iter()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["time_ns"].as_i64().map(i128::from))
            .collect();
        let (plain, told) = (lines(&[]), lines(&["--delta"]));
        assert_eq!(plain.len(), told.len());
        let mut last = None;
        let mut place = 0;
        for (plain, told) in plain.iter().zip(&told) {
            // Lines that are no records have no such column.
            if plain == told {
                continue;
            }
            let expected = match (last, times[place]) {
                (Some(last), Some(time)) => {
                    let ns: i128 = time - last;
                    let (sign, ns) = (if ns < 0 { "-" } else { "+" }, ns.abs());
                    format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
                }
                _ => "-".to_owned(),
            };
            last = times[place].or(last);
            place += 1;
            assert!(told.contains(&format!(" {expected}  ")), "{sample} {told} {expected}");
            assert_eq!(told.len(), plain.len() + 16, "{sample}: {told}");
        }
        assert_eq!(place, times.len(), "{sample}");
    }
}

#[test]
fn lines_that_are_left_out_are_none_to_count_from() {
    let path = data("sample.ctf");
    let path = path.to_str().unwrap();
    let out = traceglass(&["cat", "--json", "--name", "battery", path]);
    let times: Vec<i64> = String::from_utf8(out.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["time_ns"].as_i64().unwrap())
        .collect();
    let out = traceglass(&["cat", "--delta", "--name", "battery", path]);
    let text = String::from_utf8(out.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(times.len() > 2 && lines.len() == times.len());
    for (line, pair) in lines[1..].iter().zip(times.windows(2)) {
        let ns = pair[1] - pair[0];
        assert!(line.contains(&format!(" +{}.{:09} ", ns / 1_000_000_000, ns % 1_000_000_000)), "{line}");
    }
}

/// The value of a counter is that of its record, which is exact.
#[test]
fn a_counter_has_the_value_of_its_record() {
    let out = traceglass(&["export", "--format", "csv", data("sample.rtc").to_str().unwrap()]);
    let text = String::from_utf8(out.stdout).unwrap();
    let counters = text.lines().filter_map(|line| line.split_once(",counter,"));
    let mut count = 0;
    for (_, rest) in counters {
        let (_, rest) = rest.split_once(',').unwrap();
        let (value, fields) = rest.split_once(',').unwrap();
        let own = fields.trim_start_matches("\"{\"\"value\"\":").trim_end_matches("}\"");
        assert_eq!(value.parse::<f64>().unwrap(), own.parse::<f64>().unwrap());
        count += 1;
    }
    assert!(count > 100);
}
