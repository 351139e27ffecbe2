//! Slices and statistics, of the shipped samples and of tables of one's own.

use crate::common::{Scratch, covered, data, status, traceglass};
use crate::look_back::KERNEL;
use serde_json::Value;

pub fn lines(args: &[&str]) -> Vec<Value> {
    let output = traceglass(args);
    assert_eq!(status(&output), 0, "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Each record of a thread that runs ends the state before it. Between the packets a record was discarded: there the state
/// ends with the last record before.
#[test]
fn slices_are_what_lies_between_records() {
    let sample = data("sample.ctf");
    let sample = sample.to_str().unwrap();
    let records = lines(&["cat", "--json", sample]);
    let switched: Vec<_> = records.iter().filter(|record| record["name"] == "thread_switched_in").collect();
    let slices = lines(&["cat", "--slices", "--json", sample]);
    assert_eq!((slices.len(), switched.len()), (12, 12));
    let mut next = switched.iter().skip(1);
    let last_of_packet = records.iter().rfind(|record| record["packet"] == 0).unwrap();
    for (slice, begin) in slices.iter().zip(&switched) {
        let end = next.next().map_or(&Value::Null, |record| &record["time_ns"]);
        assert_eq!(slice["track"], "CPU 0");
        assert_eq!((&slice["name"], &slice["time_ns"]), (&begin["payload"]["name"], &begin["time_ns"]));
        let is_lost = slice["flags"] == Value::from(vec!["end_lost"]);
        assert_eq!(is_lost, begin["time_ns"] == 1_795_225_314_006_000_000_i64);
        let end = if is_lost { &last_of_packet["time_ns"] } else { end };
        assert_eq!((&slice["end_time_ns"], &slice["offset"]), (end, &begin["offset"]));
        let flags = match end {
            Value::Null => vec!["open_end"],
            _ if is_lost => vec!["end_lost"],
            _ => vec![],
        };
        assert_eq!(slice["flags"], Value::from(flags));
    }
    // A range of time has those that touch it, with their true ends.
    let range = ["cat", "--slices", "--json", "--from", "+2500us", "--to", "+3500us", sample];
    let found = lines(&range);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0], slices[2]);
    assert!(lines(&["cat", "--slices", "--no-states", "--json", sample]).is_empty());
}

/// What people read is what JSON says: when it began, how long it took, on which track, what, with which values.
#[test]
fn lines_say_what_json_says() {
    let mut seen = std::collections::BTreeSet::new();
    for sample in ["kernel", "ros2", "sample.rfr", "sample.rgp", "trace.0.bin"] {
        let path = data(sample);
        let path = path.to_str().unwrap();
        let output = traceglass(&["cat", "--slices", path]);
        let text = String::from_utf8(output.stdout).unwrap();
        let json = lines(&["cat", "--slices", "--json", path]);
        let labels: std::collections::BTreeMap<_, _> = json
            .iter()
            .filter(|line| line["kind"] == "track")
            .map(|line| (line["track"].as_str().unwrap(), line["label"].as_str().unwrap()))
            .collect();
        let slices: Vec<_> = json.iter().filter(|line| line["kind"] == "slice").collect();
        assert_eq!(text.lines().count(), slices.len(), "{sample}");
        for (line, slice) in text.lines().zip(slices) {
            let begin = match (slice["time"].as_str(), slice["time_ns"].as_i64()) {
                (Some(date), _) => date.to_owned(),
                (None, Some(ns)) => format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000),
                (None, None) => "before".to_owned(),
            };
            let span = match slice["duration_ns"].as_f64() {
                None => "?   ".to_owned(),
                Some(ns) if ns < 1e3 => format!("{ns} ns"),
                Some(ns) if ns < 1e6 => format!("{:.3} µs", ns / 1e3),
                Some(ns) if ns < 1e9 => format!("{:.3} ms", ns / 1e6),
                Some(ns) => format!("{:.3} s ", ns / 1e9),
            };
            let (track, name) = (slice["track"].as_str().unwrap(), slice["name"].as_str().unwrap());
            // A track is told its other name by an event, not before.
            let named = labels.get(track).map(|label| format!("{track} ({label})"));
            let tracks = [Some(track.to_owned()), named];
            let depth = 2 * usize::try_from(slice["depth"].as_u64().unwrap()).unwrap();
            let mut rest = String::new();
            for (key, value) in slice["args"].as_object().unwrap() {
                let value = match (value.as_str(), value.as_u64()) {
                    (Some(text), _) => text.to_owned(),
                    (None, Some(number)) if matches!(key.as_str(), "pci" | "marker") => {
                        format!("{number:#x}")
                    }
                    (None, _) => value.to_string(),
                };
                rest += &format!(" {key}={value}");
            }
            let flags: Vec<_> =
                slice["flags"].as_array().unwrap().iter().map(|flag| flag.as_str().unwrap()).collect();
            if !flags.is_empty() {
                rest += &format!(" [{}]", flags.join(" "));
            }
            let at = tracks.iter().flatten().position(|track| {
                line == format!("{begin:>20}{span:>16}  {track}  {:depth$}{name}{rest}", "")
            });
            let at = at.unwrap_or_else(|| panic!("{sample}: {line}\n{slice}"));
            seen.extend([
                ("label", at == 1),
                ("date", slice["time"].is_string()),
                ("begin", slice["time_ns"].is_i64()),
                ("span", slice["duration_ns"].is_i64()),
                ("values", rest.contains('=')),
                ("flags", !flags.is_empty()),
                ("depth", depth > 0),
            ]);
        }
    }
    // Each of them was there, and was not.
    assert_eq!(seen.len(), 14, "{seen:?}");
}

#[test]
fn a_table_of_ones_own_comes_first() {
    let scratch = Scratch::new("states");
    let sample = data("sample.ctf");
    let sample = sample.to_str().unwrap();
    let table = "# Mine.\nstate = [ { on = \"battery\", track = \"battery\", value = \"{millivolts}\" } ]\n";
    let table = scratch.file("mine.toml", table.as_bytes());
    let found = lines(&["cat", "--slices", "--json", "--states", &table, sample]);
    let batteries: Vec<_> = found.iter().filter(|slice| slice["track"] == "battery").collect();
    let records = lines(&["cat", "--json", sample]);
    let records = records.iter().filter(|record| record["name"] == "battery");
    assert!(
        records
            .map(|record| record["payload"]["millivolts"].to_string())
            .eq(batteries.iter().map(|slice| slice["name"].as_str().unwrap().to_owned()))
    );
    assert_eq!((batteries.len(), found.len()), (4, 16));

    let wrong = scratch.file("wrong.toml", b"# Mine.\n\nstate = [ { when = \"x\" } ]\n");
    for args in [
        &["cat", "--slices", "--states", &wrong, sample][..],
        &["stats", "--states", &wrong, sample],
        &["export", "--format", "perfetto", "--states", &wrong, sample],
    ] {
        let output = traceglass(args);
        assert_eq!(status(&output), 2, "{args:?}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains("wrong.toml: line 3: "), "{message}");
        assert!(output.stdout.is_empty());
    }
    let absent = scratch.path("absent.toml");
    assert_eq!(status(&traceglass(&["stats", "--states", &absent, sample])), 2);
}

/// The numbers that are counted are those of what `cat` prints.
#[test]
fn statistics_add_up() {
    for sample in ["sample.ctf", "sample.rfr", "stream.rfr", "trace.0.bin", "sample.rtc"] {
        let path = data(sample);
        let path = path.to_str().unwrap();
        let stats = lines(&["stats", "--json", path]);
        let slices = lines(&["cat", "--slices", "--json", path]);
        let slices: Vec<_> = slices.iter().filter(|line| line["kind"] == "slice").collect();
        let mut count = 0;
        for line in stats.iter().filter(|line| line["kind"] == "slice") {
            let of: Vec<_> = slices.iter().filter(|slice| slice["name"] == line["name"]).collect();
            let mut spans: Vec<i64> = of.iter().filter_map(|slice| slice["duration_ns"].as_i64()).collect();
            spans.sort_unstable();
            count += of.len();
            assert_eq!(line["count"], spans.len(), "{sample} {line}");
            assert_eq!(line["open"], of.len() - spans.len(), "{sample} {line}");
            assert_eq!(line["total_ns"], spans.iter().sum::<i64>(), "{sample} {line}");
            let Some((least, greatest)) = spans.first().zip(spans.last()) else { continue };
            assert_eq!((&line["min_ns"], &line["max_ns"]), (&(*least).into(), &(*greatest).into()));
            let median = spans[(spans.len() - 1) / 2];
            assert!((line["p50_ns"].as_i64().unwrap() - median).abs() * 64 <= median, "{sample} {line}");
            let longest = of.iter().find(|slice| slice["duration_ns"] == *greatest).unwrap();
            assert_eq!(line["max_offset"], longest["offset"], "{sample} {line}");
        }
        assert_eq!(count, slices.len(), "{sample}");
        for line in stats.iter().filter(|line| line["kind"] == "track") {
            let of = slices.iter().filter(|slice| slice["track"] == line["track"]);
            let ends = |slice: &&Value| Some((slice["time_ns"].as_i64()?, slice["end_time_ns"].as_i64()?));
            assert_eq!(line["busy_ns"], covered(of.filter_map(ends).collect()), "{sample} {line}");
        }
        let events: u64 = stats
            .iter()
            .filter(|line| line["kind"] == "event")
            .map(|line| line["count"].as_u64().unwrap())
            .sum();
        assert!(events > 0, "{sample}");
        if sample == "sample.ctf" {
            assert_eq!(events, lines(&["cat", "--json", path]).len() as u64);
        }
        // Against itself, nothing has changed.
        for line in lines(&["stats", "--json", "--against", path, path]) {
            for (name, value) in line["against"].as_object().unwrap() {
                assert_eq!(&line[name], value, "{sample} {name}");
            }
        }
        let people = traceglass(&["stats", path]);
        assert_eq!(status(&people), 0);
        assert!(String::from_utf8_lossy(&people.stdout).contains("events"), "{people:?}");
    }
}

/// Against another trace, all that it has is there, too.
#[test]
fn nothing_of_the_other_trace_is_missing() {
    for other in ["sample.ctf", "kernel"] {
        let [path, other] = ["sample.rfr", other].map(|sample| data(sample).to_str().unwrap().to_owned());
        let both = lines(&["stats", "--json", "--against", &other, &path]);
        for (line, is_own) in lines(&["stats", "--json", &other])
            .iter()
            .map(|line| (line, false))
            .chain(lines(&["stats", "--json", &path]).iter().map(|line| (line, true)))
        {
            let is_it = |found: &&Value| ["kind", "name", "track"].iter().all(|key| found[key] == line[key]);
            let found = both.iter().find(is_it).unwrap();
            let key = if line["kind"] == "track" { "busy_ns" } else { "count" };
            assert_eq!(if is_own { &found[key] } else { &found["against"][key] }, &line[key], "{line}");
            // No track of one is called as one of the other.
            assert_eq!(found["label"], line["label"], "{line}");
        }
    }
}

/// A histogram has a line for each power of two from the shortest duration to the longest, with as many as JSON says.
#[test]
fn histograms_count_what_json_counts() {
    for sample in ["sample.rfr", "trace.0.bin", "kernel"] {
        let path = data(sample);
        let path = path.to_str().unwrap();
        let stats = lines(&["stats", "--json", path]);
        for line in stats.iter().filter(|line| line["kind"] == "slice" && line["count"] != 0) {
            let name = line["name"].as_str().unwrap();
            let output = traceglass(&["stats", "--histogram", "--name", name, path]);
            assert_eq!(status(&output), 0, "{output:?}");
            let text = String::from_utf8(output.stdout).unwrap();
            let mut rows = text.lines();
            assert_eq!(rows.next(), Some(name));
            let rows = rows.skip(1);
            // Each begins where the one before ends; the first with a power of two, of which three digits are shown.
            let ends = rows.clone().map(|row| {
                let words: Vec<_> = row.split_whitespace().take(4).collect();
                (words[..2].join(" "), words[2..].join(" "))
            });
            assert!(
                ends.clone().zip(ends.clone().skip(1)).all(|((_, end), (begin, _))| end == begin),
                "{text}"
            );
            let (begin, _) = ends.clone().next().unwrap();
            let (number, unit) = begin.split_once(' ').unwrap();
            let unit = ["ns", "µs", "ms", "s"].iter().position(|other| *other == unit).unwrap();
            let begin = number.parse::<f64>().unwrap() * 1000_f64.powi(i32::try_from(unit).unwrap());
            let expected = line["histogram"][0]["from_ns"].as_f64().unwrap();
            assert!((begin..=begin * 1.001 + 0.1).contains(&expected), "{begin} {expected}: {text}");
            let counts = rows.map(|row| {
                // Two durations with their units come before it.
                let count = row.split_whitespace().nth(4).unwrap().parse::<u64>().unwrap();
                (count, row.matches('█').count())
            });
            let counts: Vec<_> = counts.collect();
            let of = |key: &'static str| {
                let buckets = line["histogram"].as_array().unwrap().iter();
                buckets.map(move |bucket| bucket[key].as_u64().unwrap())
            };
            assert!(counts.iter().map(|(count, _)| *count).filter(|count| *count > 0).eq(of("count")));
            let powers = of("from_ns").next_back().unwrap().ilog2() - of("from_ns").next().unwrap().ilog2();
            assert_eq!(counts.len(), powers as usize + 1, "{text}");
            let most = counts.iter().map(|(count, _)| *count).max().unwrap();
            for (count, bar) in counts {
                assert_eq!(bar as u64, (count * 40).div_ceil(most), "{text}");
            }
        }
        assert_eq!(status(&traceglass(&["stats", "--json", "--histogram", path])), 2);
        // Names that are asked for, and no others; tracks are those of all slices.
        let asked = lines(&["stats", "--json", "--name", "*a*", path]);
        let has = |line: &&serde_json::Value| {
            line["kind"] != "track" && line["name"].as_str().unwrap().contains('a')
        };
        assert_eq!(asked, stats.iter().filter(has).cloned().collect::<Vec<_>>(), "{sample}");
        let output = traceglass(&["stats", "--name", "*a*", path]);
        let text = String::from_utf8(output.stdout).unwrap();
        let names =
            text.lines().filter(|row| !row.starts_with("name ") && *row != "slices" && *row != "events");
        assert!(names.clone().all(|row| row.contains('a')), "{text}");
        assert_eq!(names.count(), asked.len(), "{text}");
        assert_eq!(status(&traceglass(&["stats", "--name", "nothing", path])), 0);
    }
}

/// A trace of events alone has no durations.
#[test]
fn without_slices_there_is_no_histogram() {
    let path = data("sample.rtc");
    let output = traceglass(&["stats", "--histogram", path.to_str().unwrap()]);
    assert_eq!((status(&output), output.stdout.len()), (1, 0), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("sample.rtc: no slice") && !told.contains("name"), "{told}");
    // That nothing has a name is said and no failure, as without the histogram.
    for path in ["sample.rfr", "kernel"].map(data) {
        let output = traceglass(&["stats", "--histogram", "--name", "nothing", path.to_str().unwrap()]);
        assert_eq!((status(&output), output.stdout.len()), (0, 0), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("nothing of it has this name"));
    }
}

/// The path is named of which there are no events.
#[test]
fn what_has_no_events_is_named() {
    let path = data("sample.rdf");
    for args in [&["stats"][..], &["cat", "--slices"]] {
        let output = traceglass(&[args, &[path.to_str().unwrap()]].concat());
        assert_eq!(status(&output), 1, "{args:?}");
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("sample.rdf: rdf has no events"),
            "{output:?}"
        );
    }
}

/// Of a trace without events there are none, which is said and no failure.
#[test]
fn statistics_of_nothing_are_empty() {
    let scratch = Scratch::new("stats-nothing");
    scratch.write("trace/metadata", KERNEL.as_bytes());
    scratch.write("trace/stream", &[]);
    for more in ["--json", "--all", "--histogram"] {
        let output = traceglass(&["stats", more, &scratch.path("trace")]);
        assert_eq!(status(&output), 0, "{more}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("there is no event"), "{more}: {output:?}");
    }
}

/// Of many names and tracks people see the first hundred, and how many more there are; JSON and `--all` have all.
#[test]
fn of_many_names_the_first_are_shown() {
    let scratch = Scratch::new("names");
    scratch.write("trace/metadata", KERNEL.as_bytes());
    let mut records = Vec::new();
    for thread in 1..=130_u32 {
        let tids = [thread - 1, 1, thread].map(u32::to_le_bytes);
        let time = u64::from(thread) * 1_000 + u64::from(thread * thread);
        records.extend(
            [&[0; 4][..], &time.to_le_bytes(), b"a\0", &tids[0], &tids[1], b"b\0", &tids[2]].concat(),
        );
    }
    let bits = (40 + records.len() as u64) * 8;
    let numbers = [1_000, 200_000, bits, bits].map(u64::to_le_bytes);
    scratch.write(
        "trace/stream",
        &[&0xc1fc_1fc1_u32.to_le_bytes()[..], &numbers.concat(), &[0; 4], &records].concat(),
    );
    let path = scratch.path("trace");
    let text = |args: &[&str]| {
        let output = traceglass(&[&["stats"][..], args, &[&path]].concat());
        assert_eq!(status(&output), 0);
        String::from_utf8(output.stdout).unwrap()
    };
    let count = |text: &str, with: &str| text.lines().filter(|line| line.starts_with(with)).count();
    let (some, all) = (text(&[]), text(&["--all"]));
    // The states of the processor but for what all threads do, and the tracks of threads but for the processor's.
    assert_eq!((count(&some, "b ("), count(&all, "b (")), (99, 130));
    assert_eq!((count(&some, "thread "), count(&all, "thread ")), (99, 129));
    assert!(some.contains("and 32 more: --all") && some.contains("and 30 more: --all"), "{some}");
    assert!(!all.contains("more: --all"));
    let json = lines(&["stats", "--json", &path]);
    assert_eq!(json.iter().filter(|line| line["kind"] == "track").count(), 130);
}
