//! CTF: packets.

use crate::common::packets::{METADATA, packet};
use crate::common::random::Random;
use crate::common::{Scratch, data, status, traceglass, unplaced};
use crate::shared::{files, is_clean, lines, records, write};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A trace of two streams, of four and of two packets.
pub fn trace(scratch: &Scratch, name: &str) -> String {
    scratch.file(&format!("{name}/metadata"), METADATA.as_bytes());
    let packets = [1000, 2000, 3000, 4000].map(|begin| packet(0, begin / 1000, begin.into()));
    scratch.file(&format!("{name}/cpu0"), &packets.concat());
    scratch.file(&format!("{name}/cpu1"), &[packet(1, 1, 1500), packet(1, 2, 2500)].concat());
    scratch.path(name)
}

/// The lines that babeltrace2 prints of a trace, if it is installed.
pub fn babeltrace(path: &str) -> Option<Vec<String>> {
    let output = Command::new("babeltrace2").arg(path).output().ok()?;
    assert!(output.status.success(), "{path}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect())
}

#[test]
fn all_of_a_trace_is_that_trace() {
    let scratch = Scratch::new("rewrite-ctf-all");
    let own = trace(&scratch, "own");
    let samples = ["sample.ctf", "sample.ctf1"].map(|name| data(name).to_str().unwrap().to_owned());
    for (number, input) in samples.into_iter().chain([own]).enumerate() {
        let [recovered, cut, merged] =
            ["recovered", "cut", "merged"].map(|verb| scratch.path(&format!("{verb}-{number}")));
        assert_eq!(write(&["recover", "-o", &recovered, &input]).0, 0);
        assert_eq!(files(&recovered), files(&input));
        assert_eq!(write(&["cut", "--from", "@0", "-o", &cut, &input]).0, 0);
        assert_eq!(files(&cut), files(&input));
        assert_eq!(write(&["merge", "-o", &merged, &input]).0, 0);
        assert_eq!(files(&merged), files(&input));
    }
}

#[test]
fn windows_keep_whole_packets() {
    let scratch = Scratch::new("rewrite-ctf-window");
    let input = trace(&scratch, "in");
    let all = files(&input);
    for (from, to, cpu0, cpu1, window) in [
        ("@0", "@1000", 0..0, 0..0, None),
        ("@0", "@1001", 0..1, 0..0, Some([1000, 1020])),
        ("@1020", "@1500", 0..1, 0..0, Some([1000, 1020])),
        ("@1021", "@1500", 0..0, 0..0, None),
        ("@1021", "@1501", 0..0, 0..1, Some([1500, 1520])),
        ("@1019", "@3001", 0..3, 0..2, Some([1000, 3020])),
        ("@4020", "@9000", 3..4, 0..0, Some([4000, 4020])),
        ("@4021", "@9000", 0..0, 0..0, None),
        ("+1us", "+2us", 1..2, 1..2, Some([2000, 2520])),
        // Nothing lies in an empty range, not even where a packet spans it.
        ("@1010", "@1010", 0..0, 0..0, None),
    ] {
        let out = scratch.path("out");
        let (code, report) = write(&["cut", "--force", "--from", from, "--to", to, "-o", &out, &input]);
        assert_eq!(code, 0, "{from} {to}: {report}");
        let mut expected = BTreeMap::from([("metadata".to_owned(), METADATA.as_bytes().to_vec())]);
        for (name, kept) in [("cpu0", &cpu0), ("cpu1", &cpu1)] {
            // With a stream, if an empty one, it stays a trace.
            if !kept.is_empty() || name == "cpu0" && cpu1.is_empty() {
                expected.insert(name.to_owned(), all[name][kept.start * 96..kept.end * 96].to_vec());
            }
        }
        assert_eq!(files(&out), expected, "{from} {to}");
        let count = cpu0.len() + cpu1.len();
        assert_eq!((&report["units_kept"], &report["units_dropped"]), (&count.into(), &(6 - count).into()));
        assert_eq!(report["records"], 3 * count);
        assert_eq!(
            report["window_ns"],
            window.map_or(serde_json::Value::Null, |window| window.to_vec().into())
        );
        assert!(is_clean(&out));
        // Cutting twice is cutting once.
        let again = scratch.path("again");
        if !from.starts_with('+') {
            let args = ["cut", "--force", "--from", from, "--to", to, "-o", &again, &out];
            assert_eq!(write(&args).0, 0);
            assert_eq!(files(&again), files(&out));
        }
    }
    let output = traceglass(&["cut", "--keep", "cpu0", "-o", &scratch.path("x"), &input]);
    assert_eq!(status(&output), 2);
    // A stream that is named itself is written with its metadata.
    let out = scratch.path("stream");
    let stream = format!("{input}/cpu1");
    assert_eq!(write(&["cut", "--to", "@2000", "-o", &out, &stream]).0, 0);
    assert_eq!(files(&out).into_keys().collect::<Vec<_>>(), ["cpu1", "metadata"]);
    assert_eq!(files(&out)["cpu1"], packet(1, 1, 1500));
}

/// Random windows on the samples: every record in the window is there, and nothing that the input has not.
#[test]
fn random_windows_lose_nothing() {
    let scratch = Scratch::new("rewrite-ctf-random");
    let mut random = Random(3);
    let own = trace(&scratch, "own");
    for input in [data("sample.ctf").to_str().unwrap(), data("sample.ctf1").to_str().unwrap(), &own] {
        let times: Vec<i64> =
            lines(&["cat", "--json", input]).iter().filter_map(|record| record["time_ns"].as_i64()).collect();
        let (first, last) = (*times.iter().min().unwrap(), *times.iter().max().unwrap());
        let all = records(input);
        for _ in 0..12 {
            let mut at = || random.next() as i64 % (last - first + 100) + 1;
            let (a, b) = (at().abs(), at().abs());
            let (from, to) = (format!("+{}ns", a.min(b)), format!("+{}ns", a.max(b)));
            let out = scratch.path("out");
            assert_eq!(write(&["cut", "--force", "--from", &from, "--to", &to, "-o", &out, input]).0, 0);
            let kept = records(&out);
            assert!(kept.iter().all(|record| all.binary_search(record).is_ok()), "nothing is invented");
            let wanted = lines(&["cat", "--json", "--from", &from, "--to", &to, input]);
            for mut record in wanted {
                let record = record.as_object_mut().unwrap();
                for place in ["offset", "bit", "path", "packet", "entry"] {
                    record.remove(place);
                }
                let text = serde_json::Value::from(record.clone()).to_string();
                assert!(kept.binary_search(&text).is_ok(), "{from} {to}: {text}");
            }
        }
    }
}

/// All CTF samples, and the vectors where they are given.
fn traces() -> Vec<String> {
    let mut found: Vec<_> = ["sample.ctf", "sample.ctf1", "kernel"].map(data).into();
    let mut todo: Vec<PathBuf> = std::env::var_os("TRACEGLASS_VECTORS")
        .map(|root| {
            ["ctf1-streams", "ctf2-streams", "ctf-wire"].map(|name| Path::new(&root).join(name)).into()
        })
        .unwrap_or_default();
    while let Some(next) = todo.pop() {
        if next.join("metadata").is_file() {
            found.push(next);
        } else if next.is_dir() {
            todo.extend(fs::read_dir(&next).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found.sort();
    found.into_iter().map(|path| path.to_str().unwrap().to_owned()).collect()
}

/// What a trace has in a range.
#[derive(Default)]
struct Found {
    /// The records as `cat` gives them, without where they lie, in any order.
    records: Vec<String>,
    /// The time of the first one, and all times.
    start: i64,
    times: Vec<i64>,
}

/// The records of a trace in a range. Those of a capture that may be wrong are not carried over.
fn found(range: &[&str], path: &str) -> Found {
    let mut found = Found::default();
    for mut record in lines(&[&["cat", "--json"], range, &[path]].concat()) {
        if record["kind"] != "event" || record["doubtful"] == true {
            continue;
        }
        let time = &record["time_ns"];
        let time = time.as_i64().or_else(|| time.as_str().and_then(|time| time.parse().ok()));
        if let Some(time) = time {
            if found.times.is_empty() {
                found.start = time;
            }
            found.times.push(time);
        }
        let places = ["offset", "bit", "path", "packet", "entry", "session", "doubtful"];
        record.as_object_mut().unwrap().retain(|key, _| !places.contains(&key.as_str()));
        found.records.push(record.to_string());
    }
    found.records.sort();
    found
}

/// Thirds of the samples and vectors: with `--exact` they have the records of the range alone, and cutting twice is
/// cutting once. What babeltrace2 reads as a whole it reads of the parts.
#[test]
fn exact_windows_have_the_records_of_the_window_alone() {
    let scratch = Scratch::new("rewrite-ctf-exact");
    let own = trace(&scratch, "own");
    let (mut cut, mut apart, mut refused, mut printed) = (0, 0, 0, 0);
    for input in traces().into_iter().chain([own]) {
        // A list of what is expected lies in some traces, and is none of their streams.
        let list = Path::new(&input).join("expected.ndjson").is_file();
        let input = if list { without_list(&scratch, &input) } else { input };
        let all = found(&[], &input);
        let mut times = all.times;
        times.sort();
        let (Some(_), Some(last)) = (times.first(), times.last()) else { continue };
        let ends = [times[0], times[times.len() / 3], times[2 * times.len() / 3], last.saturating_add(1)];
        let is_read = babeltrace_if_read(&input) == Some(all.records.len());
        for pair in ends.windows(2) {
            // Times count from the first record, before which there may be others.
            let [from, to] = [pair[0], pair[1]].map(|time| i128::from(time) - i128::from(all.start));
            let [from, to] = [from, to].map(|time| format!("+{}ns", time.max(0)));
            let range = ["--from", &from, "--to", &to];
            let expected = found(&range, &input);
            let (out, again) = (scratch.path("out"), scratch.path("again"));
            let exact = |range: &[&str], out: &str, input: &str| {
                traceglass(&[&["cut", "--exact", "--force", "-o", out], range, &[input]].concat())
            };
            let output = exact(&range, &out, &input);
            let told = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
            if !matches!(status(&output), 0 | 3) {
                let why =
                    ["cannot be taken apart", "nothing of it can be carried over", "too large", "upper bits"];
                assert!(why.iter().any(|why| told.contains(why)), "{input} {range:?}: {told}");
                refused += 1;
                continue;
            }
            let kept = found(&[], &out);
            let lost = told.contains("records before it may be wrong");
            let odd = kept.records.iter().find(|record| expected.records.binary_search(record).is_err());
            let (count, of) = (kept.records.len(), expected.records.len());
            assert!(
                kept.records == expected.records || (lost && odd.is_none()),
                "{input} {range:?}: {count} of {of} records, {odd:?} is none of them: {told}"
            );
            cut += 1;
            let whole = scratch.path("whole");
            traceglass(&[&["cut", "--force", "-o", &whole], &range[..], &[&input]].concat());
            apart += u32::from(files(&whole) != files(&out));
            if status(&output) == 0 {
                assert!(is_clean(&out), "{input} {range:?}");
            }
            let (first, last) = (kept.times.iter().min(), kept.times.iter().max());
            let (Some(first), Some(last)) = (first.filter(|first| **first == kept.start), last) else {
                continue;
            };
            let end = format!("+{}ns", i128::from(*last) - i128::from(*first) + 1);
            let output = exact(&["--from", "+0ns", "--to", &end], &again, &out);
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(status(&output), 0 | 3), "{input} {range:?}: {told}");
            assert_eq!(files(&again), files(&out), "{input} {range:?}");
            if is_read {
                assert_eq!(babeltrace_if_read(&out), Some(expected.records.len()), "{input} {range:?}");
                printed += 1;
            }
        }
    }
    println!(
        "{cut} windows, {apart} with packets taken apart, {refused} refused, {printed} printed by babeltrace2"
    );
    assert!(apart > 3, "no packet was taken apart");
}

/// A copy of a trace without the list of what is expected of it.
fn without_list(scratch: &Scratch, path: &str) -> String {
    let own = scratch.path("without-list");
    let _ = fs::remove_dir_all(&own);
    for (name, bytes) in files(path).into_iter().filter(|(name, _)| name != "expected.ndjson") {
        scratch.file(&format!("without-list/{name}"), &bytes);
    }
    own
}

/// The number of records that babeltrace2 prints of a trace, if it is installed and reads all of it.
fn babeltrace_if_read(path: &str) -> Option<usize> {
    let output = Command::new("babeltrace2").arg(path).output().ok()?;
    let lines = output.stdout.iter().filter(|byte| **byte == b'\n').count();
    output.status.success().then_some(lines)
}

#[test]
fn what_is_damaged_is_left_out() {
    let scratch = Scratch::new("rewrite-ctf-damaged");
    let input = trace(&scratch, "in");
    // The third packet has an event that is not described, the last one is cut within its second record.
    let mut damaged = files(&input)["cpu0"].clone();
    damaged[2 * 96 + 33 + 13 + 8] = 9;
    damaged.truncate(3 * 96 + 33 + 13 + 5);
    scratch.file("in/cpu0", &damaged);
    // The padding of the last packet is missing.
    let short = files(&input)["cpu1"][..96 + 80].to_vec();
    scratch.file("in/cpu1", &short);
    let out = scratch.path("out");
    let (code, report) = write(&["recover", "-o", &out, &input]);
    assert_eq!((code, &report["units_kept"], &report["records"]), (3, &6.into(), &14.into()), "{report}");
    let lost = report["lost"].as_array().unwrap();
    assert_eq!(lost.len(), 3, "{report}");
    assert_eq!(
        (&lost[0]["path"], &lost[0]["offset"], &lost[0]["len"]),
        (&"cpu0".into(), &238.into(), &50.into())
    );
    assert_eq!((&lost[1]["offset"], &lost[1]["len"]), (&334.into(), &5.into()));
    assert_eq!((&lost[2]["path"], &lost[2]["len"]), (&"cpu1".into(), &0.into()));
    assert!(is_clean(&out));
    // Records and sequence numbers are as they were.
    assert_eq!(records(&out), records(&input));
    let sequence = |path: &str| -> Vec<_> {
        let packets = lines(&["ls", "--json", "--packets", path]);
        packets.iter().map(|packet| (packet["path"].clone(), packet["sequence"].clone())).collect()
    };
    assert_eq!(sequence(&out), sequence(&input));
    let again = scratch.path("again");
    assert_eq!(write(&["recover", "-o", &again, &out]).0, 0);
    assert_eq!(files(&again), files(&out));
    if let Some(events) = babeltrace(&out) {
        assert_eq!(events.len(), 14);
    }
    // Nothing of it.
    scratch.file("none/metadata", METADATA.as_bytes());
    scratch.file("none/cpu0", &[7; 200]);
    let output = traceglass(&["recover", "-o", &scratch.path("nothing"), &scratch.path("none")]);
    assert_eq!(status(&output), 1);
    assert!(!fs::exists(scratch.path("nothing")).unwrap());
}

#[test]
fn captures_are_written_as_streams() {
    let scratch = Scratch::new("rewrite-ctf-capture");
    scratch.file("in/metadata", METADATA.as_bytes());
    let mut bytes = b"U-Boot 2026.10 ready\n".to_vec();
    for (cpu, number, begin) in [(1, 0, 2000), (0, 0, 1000), (0, 1, 3000), (1, 1, 4000)] {
        bytes.extend(packet(cpu, number, begin));
    }
    scratch.file("in/uart.bin", &bytes);
    let (input, out) = (scratch.path("in"), scratch.path("out"));
    let (code, report) = write(&["recover", "-o", &out, &input]);
    assert_eq!((code, &report["units_kept"]), (3, &4.into()), "{report}");
    assert_eq!(report["lost"][0]["len"], 21);
    let written = files(&out);
    assert_eq!(written.keys().collect::<Vec<_>>(), ["metadata", "stream-0", "stream-1"]);
    let mut streams = [written["stream-0"].clone(), written["stream-1"].clone()];
    streams.sort_by_key(|stream| stream[32 - 4]);
    let expected = [[packet(0, 0, 1000), packet(0, 1, 3000)], [packet(1, 0, 2000), packet(1, 1, 4000)]];
    assert_eq!(streams, expected.map(|packets| packets.concat()));
    if let Some(events) = babeltrace(&out) {
        assert_eq!(events.len(), 12);
    }
    // Two sessions are two traces.
    bytes.extend(packet(0, 0, 500));
    bytes.extend(packet(0, 1, 700));
    scratch.file("in/uart.bin", &bytes);
    assert_eq!(write(&["recover", "--force", "-o", &out, &input]).0, 3);
    let names = files(&out).into_keys().collect::<Vec<_>>();
    assert_eq!(
        names,
        [
            "uart.bin-session-0/metadata",
            "uart.bin-session-0/stream-0",
            "uart.bin-session-0/stream-1",
            "uart.bin-session-1/metadata",
            "uart.bin-session-1/stream-0"
        ]
    );
    assert!(is_clean(&out));
}

/// The index that LTTng writes beside a stream of the packets of `trace`.
fn index(cpu0: &[(u64, u64)]) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        [0xc1f1_dcc1_u32, 1, 1, 72].iter().flat_map(|number| number.to_be_bytes()).collect();
    for (place, (begin, sequence)) in cpu0.iter().enumerate() {
        let entry = [place as u64 * 96, 96 * 8, 72 * 8, *begin, begin + 20, 0, 0, 0, *sequence];
        bytes.extend(entry.iter().flat_map(|number| number.to_be_bytes()));
    }
    bytes
}

#[test]
fn an_index_is_that_of_the_packets_that_are_there() {
    let scratch = Scratch::new("rewrite-ctf-index");
    let input = trace(&scratch, "in");
    let all = [(1000, 1), (2000, 2), (3000, 3), (4000, 4)];
    scratch.file("in/index/cpu0.idx", &index(&all));
    let [out, rest, merged] = ["out", "rest", "merged"].map(|name| scratch.path(name));
    assert_eq!(write(&["recover", "-o", &out, &input]).0, 0);
    assert_eq!(files(&out), files(&input));
    assert_eq!(write(&["cut", "--force", "--to", "@2500", "-o", &out, &input]).0, 0);
    assert_eq!(files(&out)["index/cpu0.idx"], index(&all[..2]));
    assert!(!files(&out).contains_key("index/cpu1.idx"), "there was none");
    assert_eq!(write(&["cut", "--from", "@2500", "-o", &rest, &input]).0, 0);
    assert_eq!(files(&rest)["index/cpu0.idx"], index(&all[2..]));
    assert_eq!(write(&["merge", "-o", &merged, &out, &rest]).0, 0);
    assert_eq!(files(&merged)["index/cpu0.idx"], index(&all[..2]));
    assert_eq!(files(&merged)["index/rest-cpu0.idx"], index(&all[2..]));
    // No stream, no index.
    assert_eq!(write(&["cut", "--force", "--from", "@1500", "--to", "@1600", "-o", &out, &input]).0, 0);
    assert_eq!(files(&out).into_keys().collect::<Vec<_>>(), ["cpu1", "metadata"]);
}

/// The rest of a stream may be text, and its name may be that of a note: it stays a stream.
#[test]
fn a_stream_does_not_become_a_note() {
    let scratch = Scratch::new("rewrite-ctf-note");
    let metadata = "/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le; };
stream { event.header := struct { integer { size = 8; align = 8; signed = false; } id; }; };
event { name = text; id = 65; fields := struct { integer { size = 32; align = 8; signed = false; } n; }; };
";
    scratch.file("in/metadata", metadata.as_bytes());
    let records_of_text = b"Aabcd".repeat(9);
    scratch.file("in/x.ndjson", &[&records_of_text[..], &[1, 2]].concat());
    let (input, out) = (scratch.path("in"), scratch.path("out"));
    let (code, report) = write(&["recover", "-o", &out, &input]);
    assert_eq!((code, &report["records"]), (3, &9.into()), "{report}");
    let written = files(&out);
    assert_eq!(written.keys().collect::<Vec<_>>(), ["metadata", "stream-x.ndjson-0"]);
    assert_eq!(written["stream-x.ndjson-0"], records_of_text);
    assert_eq!(records(&out), records(&input));
    let again = scratch.path("again");
    assert_eq!(write(&["recover", "-o", &again, &out]).0, 0);
    assert_eq!(files(&again), written);
}

/// The records of a trace as `cat` gives them, in any order, without where they lie and how they are marked.
fn all_records(path: &str) -> Vec<String> {
    let mut records: Vec<_> = lines(&["cat", "--json", path])
        .into_iter()
        .filter(|record| record["kind"] == "event")
        .map(unplaced)
        .collect();
    records.sort();
    records
}

/// The number of records in both of two sorted lists, each as often as it is in both.
fn common(some: &[String], others: &[String]) -> usize {
    let (mut count, mut others) = (0, others.iter().peekable());
    for record in some {
        while others.next_if(|other| *other < record).is_some() {}
        count += usize::from(others.next_if(|other| *other == record).is_some());
    }
    count
}

/// Streams with damage at random places: what is recovered was there, is clean, and is recovered as it is.
#[test]
fn what_is_recovered_of_random_damage_was_there() {
    let scratch = Scratch::new("rewrite-ctf-hit");
    let mut random = Random(11);
    let own = trace(&scratch, "own");
    scratch.file("capture/metadata", METADATA.as_bytes());
    let packets = [(1, 0, 2000), (0, 0, 1000), (0, 1, 3000), (1, 1, 4000), (0, 2, 5000)];
    let packets = packets.map(|(cpu, number, begin)| packet(cpu, number, begin));
    scratch.file("capture/uart.bin", &[&packets.concat()[..], &[0; 64]].concat());
    let samples = ["sample.ctf", "sample.ctf1", "kernel"].map(|name| data(name).to_str().unwrap().to_owned());
    let inputs: Vec<_> = samples.into_iter().chain([own, scratch.path("capture")]).collect();
    let (mut readable, mut kept, mut given_up) = (0, 0, 0);
    for case in 0..320 {
        let mut all = files(&inputs[case % inputs.len()]);
        let streams: Vec<_> = all.keys().filter(|name| *name != "metadata").cloned().collect();
        let stream = &streams[random.next() as usize % streams.len()];
        let bytes = all.get_mut(stream).unwrap();
        let at = random.next() as usize % bytes.len();
        let len = (1 + random.next() as usize % 40).min(bytes.len() - at);
        match random.next() % 4 {
            0 => bytes[at] ^= 1 << (random.next() % 8),
            1 => bytes[at..at + len].fill(0),
            2 => bytes[at..].fill(0),
            _ => bytes.truncate(at),
        }
        let names = ["in", "out", "again"].map(|name| format!("{name}-{case}"));
        for (name, bytes) in &all {
            scratch.file(&format!("{}/{name}", names[0]), bytes);
        }
        let [input, out, again] = names.map(|name| scratch.path(&name));
        let records = all_records(&input);
        let output = traceglass(&["recover", "-o", &out, &input]);
        let told = String::from_utf8_lossy(&output.stderr);
        readable += records.len();
        if status(&output) == 1 {
            assert!(told.contains("nothing of it can be carried over"), "{input}: {told}");
            given_up += records.len();
            continue;
        }
        let recovered = all_records(&out);
        assert_eq!(common(&recovered, &records), recovered.len(), "{input}: {told}");
        assert!(is_clean(&out), "{input}");
        assert_eq!(status(&traceglass(&["recover", "-o", &again, &out])), 0, "{input}");
        assert_eq!(files(&again), files(&out), "{input}");
        kept += recovered.len();
    }
    println!("{kept} of {readable} records, {given_up} of traces of which nothing is left");
    assert!(kept * 100 >= readable * 97, "{kept} of {readable}");
}

/// Packets of a capture whose own bytes are right, or are so up to a fault, get new lengths.
#[test]
fn damaged_packets_of_a_capture_keep_what_is_certain() {
    let scratch = Scratch::new("rewrite-ctf-certain");
    scratch.file("in/metadata", METADATA.as_bytes());
    let packets = [packet(0, 0, 1000), packet(1, 0, 1500), packet(0, 1, 2000), packet(1, 1, 2500)];
    let (input, out) = (scratch.path("in"), scratch.path("out"));
    let sized = |bytes: &[u8], size: usize, content: usize| {
        let mut bytes = bytes[..size].to_vec();
        bytes[20..24].copy_from_slice(&(content as u32 * 8).to_le_bytes());
        bytes[24..28].copy_from_slice(&(size as u32 * 8).to_le_bytes());
        bytes
    };
    // The total length alone is wrong; a record ends as the padding does; the second record is of no class.
    for (at, value, padding, size, records, lost) in
        [(26, 0x40, 0x55, 72, 12, 24), (26, 0x40, 0, 59, 11, 24), (54, 9, 0, 46, 10, 50)]
    {
        let mut damaged = packets.clone();
        damaged[1][at] = value;
        damaged[1][72..].fill(padding);
        scratch.file("in/uart.bin", &damaged.concat());
        let (code, report) = write(&["recover", "--force", "-o", &out, &input]);
        assert_eq!(
            (code, &report["records"], &report["units_kept"]),
            (3, &records.into(), &4.into()),
            "{report}"
        );
        let told = &report["lost"][0];
        assert_eq!((&told["offset"], &told["len"]), (&(96 + 96 - lost).into(), &lost.into()), "{report}");
        assert_eq!(told["what"].as_str().unwrap().contains("1 record before it may be wrong"), size == 59);
        let streams = [
            [&packets[0][..], &packets[2]].concat(),
            [&sized(&damaged[1], size, size)[..], &packets[3]].concat(),
        ];
        let written = files(&out);
        assert_eq!([&written["stream-0"], &written["stream-1"]], [&streams[0], &streams[1]]);
        assert!(is_clean(&out));
        if let Some(events) = babeltrace(&out) {
            assert_eq!(events.len(), records);
        }
        // What is cut is whole.
        let (code, report) = write(&["cut", "--force", "--from", "@1", "-o", &out, &input]);
        assert_eq!((code, &report["records"]), (3, &9.into()), "{report}");
        assert!(report["lost"][0]["what"].as_str().unwrap().contains("may be wrong"), "{report}");
    }
}
