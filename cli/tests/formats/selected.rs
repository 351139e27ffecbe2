//! Tracks that are asked for: what each verb tells of them is what it tells of them in the whole.

use super::common::{Scratch, data, status, traceglass};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};

fn text(args: &[&str]) -> String {
    let out = traceglass(args);
    assert_eq!(status(&out), 0, "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// The objects of a kind among the lines of `cat` and `stats`.
fn objects(args: &[&str], kind: &str) -> Vec<Value> {
    let text = text(args);
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["kind"] == kind).collect()
}

/// The rows of a table, by the names of its columns.
fn rows(path: &str, table: &str, args: &[&str]) -> Vec<HashMap<String, String>> {
    let all = ["export", "--format", "csv", "--table", table];
    let text = text(&[&all, args, &[path]].concat());
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let header = rows.headers().unwrap().clone();
    let row =
        |row: csv::StringRecord| header.iter().zip(&row).map(|(a, b)| (a.to_owned(), b.to_owned())).collect();
    rows.records().map(|found| row(found.unwrap())).collect()
}

fn counts<'n>(names: impl Iterator<Item = &'n str>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    names.for_each(|name| *counts.entry(name.to_owned()).or_insert(0) += 1);
    counts
}

#[test]
fn all_verbs_select_the_same_tracks() {
    let mut checked = 0;
    for sample in ["kernel", "ros2", "sample.ctf", "sample.rfr", "sample.rgp", "sample.rtc", "trace.0.bin"] {
        let path = data(sample);
        let path = path.to_str().unwrap();
        let whole = objects(&["cat", "--slices", "--json", path], "slice");
        let events = rows(path, "events", &[]);
        // A track's number, its label, and that of the one above it.
        let tracks: Vec<_> = rows(path, "tracks", &[])
            .into_iter()
            .map(|row| (row["track"].clone(), row["name"].clone(), row["parent"].clone()))
            .collect();
        let known: BTreeSet<_> = tracks.iter().map(|(id, ..)| id).collect();
        assert!(events.iter().all(|event| known.contains(&event["track"])), "{sample}");
        assert!(tracks.iter().all(|(.., parent)| parent.is_empty() || known.contains(parent)), "{sample}");
        let of_slices = whole.iter().map(|slice| slice["track"].as_str().unwrap().to_owned());
        let labels: BTreeSet<_> = of_slices.chain(tracks.iter().map(|(_, label, _)| label.clone())).collect();
        for label in &labels {
            // Whatever is below it has a number that is met after its own.
            let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::from([label.as_str()]));
            for (id, name, parent) in &tracks {
                if name == label || ids.contains(parent) {
                    ids.insert(id.clone());
                    names.insert(name);
                }
            }
            // A root has all tracks below it but those that states made, which have no number in the table.
            if tracks.iter().any(|(_, name, parent)| name == label && parent.is_empty()) {
                continue;
            }
            let expected: Vec<_> = whole
                .iter()
                .filter(|slice| names.contains(slice["track"].as_str().unwrap()))
                .cloned()
                .collect();
            let found = objects(&["cat", "--slices", "--json", "--track", label, path], "slice");
            assert_eq!(found, expected, "{sample} {label}");
            let has_time = |slice: &&Value| slice["time_ns"].is_number() || slice["end_time_ns"].is_number();
            let timed = expected.iter().filter(has_time).count();
            let expected = counts(expected.iter().map(|slice| slice["name"].as_str().unwrap()));
            let found = rows(path, "slices", &["--track", label]);
            assert_eq!(counts(found.iter().map(|row| row["name"].as_str())), expected, "{sample} {label}");
            let counted = objects(&["stats", "--json", "--track", label, path], "slice");
            let number = |stats: &Value, key: &str| stats[key].as_u64().unwrap();
            let counted = counted.iter().map(|stats| {
                let all = number(stats, "count") + number(stats, "open");
                (stats["name"].as_str().unwrap().to_owned(), all)
            });
            assert_eq!(counted.collect::<BTreeMap<_, _>>(), expected, "{sample} {label}");
            // The share of a track is that of the whole trace.
            let busy = |args: &[&str]| objects(&[&["stats", "--json"], args, &[path]].concat(), "track");
            let of_whole =
                busy(&[]).into_iter().filter(|track| names.contains(track["track"].as_str().unwrap()));
            assert_eq!(busy(&["--track", label]), of_whole.collect::<Vec<_>>(), "{sample} {label}");
            let chrome = text(&["export", "--format", "chrome", "--track", label, path]);
            let chrome: Value = serde_json::from_str(&chrome).unwrap();
            let drawn = chrome["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X");
            assert_eq!(drawn.count(), timed, "{sample} {label}");
            let expected: Vec<_> = events.iter().filter(|row| ids.contains(&row["track"])).cloned().collect();
            assert_eq!(rows(path, "events", &["--track", label]), expected, "{sample} {label}");
            checked += usize::from(!expected.is_empty());
        }
    }
    assert!(checked > 15, "{checked}");
}

#[test]
fn tracks_are_asked_for_together_and_with_names() {
    let path = data("kernel");
    let path = path.to_str().unwrap();
    let lines = |args: &[&str]| text(&[&["cat", "--slices", "--json"], args, &[path]].concat());
    let control = lines(&["--track", "thread 301"]);
    assert!(control.lines().count() > 10);
    assert_eq!(lines(&["--track", "thread 30?", "--track", "no such"]), control);
    // What the others are called is not asked for.
    assert_eq!(control.lines().filter(|line| line.contains("\"kind\":\"track\"")).count(), 1, "{control}");
    let running = lines(&["--track", "thread 301", "--name", "Run*"]);
    let is_running = |line: &&str| line.contains("\"name\":\"Run") || line.contains("\"kind\":\"track\"");
    assert_eq!(running.lines().collect::<Vec<_>>(), control.lines().filter(is_running).collect::<Vec<_>>());
    let stats = objects(&["stats", "--json", "--track", "thread 301", "--name", "Running", path], "slice");
    assert_eq!(stats.len(), 1);
    assert_eq!(stats[0]["count"].as_u64().unwrap(), running.matches("\"Running\"").count() as u64);
}

/// What is asked for is there in no trace, and where a verb has nothing that is on a track, it says so.
#[test]
fn nothing_on_a_track_is_said() {
    let path = data("sample.rfr");
    let path = path.to_str().unwrap();
    let run = |args: &[&str]| {
        let out = traceglass(&[args, &[path]].concat());
        (status(&out), String::from_utf8(out.stderr).unwrap())
    };
    for verb in [
        &["stats"][..],
        &["export", "--format", "perfetto"],
        &["export", "--format", "chrome"],
        &["export", "--format", "csv"],
        &["export", "--format", "csv", "--table", "slices"],
        &["cat", "--slices"],
        &["cat", "--slices", "--json"],
    ] {
        let (status, says) = run(&[verb, &["--track", "no such"]].concat());
        assert_eq!(
            (status, says.contains("nothing of it is on this track\n")),
            (0, true),
            "{verb:?}: {says}"
        );
        let (status, says) = run(&[verb, &["--from", "+100s", "--track", "ping"]].concat());
        assert_eq!(
            (status, says.contains("is on this track and is in this range\n")),
            (0, true),
            "{verb:?}: {says}"
        );
        let (status, says) = run(&[verb, &["--from", "+100s"]].concat());
        assert_eq!(
            (status, says.contains("nothing of it is in this range\n")),
            (0, true),
            "{verb:?}: {says}"
        );
        assert_eq!(run(&[verb, &["--track", "ping"]].concat()), (0, String::new()), "{verb:?}");
    }
    // A slice that is open all the time is something.
    let kernel = data("kernel");
    let range = ["--from", "01:41:54.023", "--to", "01:41:54.0231"];
    for format in ["perfetto", "chrome"] {
        let export = ["export", "--format", format];
        let out = traceglass(&[&export, &range[..], &[kernel.to_str().unwrap()]].concat());
        assert_eq!((status(&out), String::from_utf8(out.stderr).unwrap()), (0, String::new()), "{format}");
    }
    // Callsites and tasks are there whatever happens, and where there are no gaps, nothing is missing.
    let scratch = Scratch::new("selected");
    let (status, says) =
        run(&["export", "--format", "parquet", "-o", &scratch.path("out"), "--from", "+100s"]);
    assert_eq!((status, says.contains("nothing of it is in this range\n")), (0, true), "{says}");
    assert_eq!(run(&["export", "--format", "csv", "--table", "gaps", "--from", "+0s"]), (0, String::new()));
    for verb in [&["stats"][..], &["cat"], &["export", "--format", "csv"]] {
        let (status, says) = run(&[verb, &["--name", "no such"]].concat());
        assert_eq!((status, says.contains("nothing of it has this name\n")), (0, true), "{verb:?}: {says}");
    }
    for refused in [
        &["cat", "--track", "ping"][..],
        &["export", "--format", "csv", "--table", "tracks", "--track", "ping"],
        &["export", "--format", "parquet", "-o", "no-such", "--track", "ping"],
    ] {
        assert_eq!(run(refused).0, 2, "{refused:?}");
    }
}

/// Options for one kind of track select what its name does, in each verb; of another format they are refused.
#[test]
fn kinds_of_tracks_have_options_of_their_own() {
    for (sample, option, value, tracks) in [
        ("kernel", "--cpu", "1", &["CPU 1", "CPU 1 interrupts"][..]),
        ("kernel", "--thread", "412", &["thread 412", "thread 412 syscalls"]),
        ("trace.0.bin", "--thread", "101", &["thread 101"]),
        ("stream.rfr", "--task", "ping", &["ping"]),
        ("stream.rfr", "--task", "4", &["ping"]),
        ("sample.rtc", "--stream", "adc", &["adc"]),
        ("sample.rtc", "--stream", "11", &["adc"]),
    ] {
        let path = data(sample);
        let path = path.to_str().unwrap();
        for verb in [
            &["stats", "--json"][..],
            &["cat", "--slices", "--json"],
            &["export", "--format", "perfetto"],
            &["export", "--format", "chrome"],
            &["export", "--format", "csv"],
            &["export", "--format", "csv", "--table", "slices"],
        ] {
            let run = |args: &[&str]| traceglass(&[verb, args, &[path]].concat());
            let named: Vec<_> = tracks.iter().flat_map(|track| ["--track", track]).collect();
            let (short, long) = (run(&[option, value]), run(&named));
            assert!(short.stdout == long.stdout && status(&short) == 0, "{sample} {option}: {verb:?}");
            // The others are small, and have all that a verb prints on one track.
            let is_part = ["kernel", "trace.0.bin"].contains(&sample);
            assert!(!is_part || short.stdout != run(&[]).stdout, "{sample} {option}: {verb:?}");
            // It is a name, and no pattern.
            let none = run(&[option, if option == "--task" { "p*" } else { "99" }]);
            let says = String::from_utf8_lossy(&none.stderr);
            assert!(status(&none) == 0 && says.contains("nothing of it is of this"), "{verb:?}: {says}");
        }
        let other = if matches!(option, "--cpu" | "--thread") { "sample.rtc" } else { "sample.rgp" };
        let other = data(other);
        for verb in [&["stats"][..], &["cat", "--slices"], &["export", "--format", "chrome"]] {
            let refused = traceglass(&[verb, &[option, value, other.to_str().unwrap()]].concat());
            let says = String::from_utf8_lossy(&refused.stderr);
            assert!(status(&refused) == 2 && says.contains(option), "{verb:?}: {says}");
        }
    }
}

/// As many records as events are of a processor, a stream, a task; what is not there is said, and is no failure.
#[test]
fn records_and_events_are_selected_alike() {
    for (sample, args) in [
        ("kernel", ["--cpu", "0"]),
        ("sample.rtc", ["--stream", "adc"]),
        ("sample.rtc", ["--stream", "12"]),
        ("kernel", ["--cpu", "0,1"]),
    ] {
        let path = data(sample);
        let path = path.to_str().unwrap();
        let records = text(&[&["cat", "--json"], &args[..], &[path]].concat()).lines().count();
        assert!(records > 0 && rows(path, "events", &args).len() == records, "{sample} {args:?}: {records}");
    }
    for (sample, args) in [
        ("kernel", ["--cpu", "9"]),
        ("kernel", ["--stream", "no such"]),
        ("sample.rtc", ["--stream", "no such"]),
        ("sample.rfr", ["--task", "no such"]),
        ("sample.rfr", ["--task", "99"]),
    ] {
        let none = traceglass(&[&["cat"], &args[..], &[data(sample).to_str().unwrap()]].concat());
        let says = String::from_utf8_lossy(&none.stderr);
        assert_eq!((status(&none), none.stdout.len()), (0, 0), "{args:?}: {says}");
        assert!(says.contains("nothing of it is of this"), "{args:?}: {says}");
    }
    // Options that would select nothing of what is printed.
    for (sample, args, says) in [
        ("kernel", &["stats", "--stream", "channel0_0"][..], "--stream selects records"),
        ("trace.0.bin", &["stats", "--task", "20"], "--task is of RFR"),
        ("sample.ctf2", &["cat", "--cpu", "0"], "metadata without its trace"),
        ("sample.ctf2", &["cat", "--name", "a"], "metadata without its trace"),
        ("sample.rdf", &["cat", "--chunk", "AsicInfo", "--name", "a"], "only records have names"),
        ("kernel", &["cat", "--metadata", "--name", "a"], "cannot be used with"),
    ] {
        let refused = traceglass(&[args, &[data(sample).to_str().unwrap()]].concat());
        let told = String::from_utf8_lossy(&refused.stderr).replace('\n', " ");
        assert!(status(&refused) == 2 && told.contains(says), "{args:?}: {told}");
    }
}
