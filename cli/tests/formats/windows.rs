//! Ranges of time, and traces that grow.

use crate::common::{Followed, Scratch, ctf, data, rdf, rdf_contents, rfr, rtc, status, traceglass};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

fn lines(args: &[&str]) -> Vec<Value> {
    let output = traceglass(args);
    assert_eq!(status(&output), 0, "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let lines = std::str::from_utf8(&output.stdout).unwrap().lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A range gives what the whole trace has in it, however the range is told.
fn ranges_are_parts(path: &str, own_clock: impl Fn(i64) -> i64) {
    let all = lines(&["cat", "--json", path]);
    let start = all.iter().filter_map(|line| line["time_ns"].as_i64()).min().unwrap();
    let mut times: Vec<i64> = all.iter().filter_map(|line| line["time_ns"].as_i64()).collect();
    times.sort_unstable();
    let (first, last) = (times[0], times[times.len() - 1]);
    let at = |part: i64| first + (last - first) / 10 * part;
    let mut found = 0;
    for (from, to) in
        [(at(0), at(3)), (at(4), at(5)), (at(7), last + 1), (last, last + 1), (last + 1, last + 2)]
    {
        let expected: Vec<&Value> = all
            .iter()
            .filter(|line| line["time_ns"].as_i64().is_some_and(|time| (from..to).contains(&time)))
            .collect();
        found += expected.len();
        let date = |ns: i64| jiff::Timestamp::from_nanosecond(ns.into()).unwrap().to_string();
        let forms = [
            (date(from), date(to)),
            (format!("+{}ns", from - start), format!("+{}ns", to - start)),
            (format!("@{}", own_clock(from)), format!("@{}", own_clock(to))),
        ];
        for (number, (from, to)) in forms.iter().enumerate() {
            if from.starts_with("+-") || number == 2 && own_clock(1) == 0 {
                continue;
            }
            let part = lines(&["cat", "--json", "--from", from, "--to", to, path]);
            assert_eq!(part.iter().collect::<Vec<_>>(), expected, "{path} {from} {to}");
        }
    }
    assert!(found > 0);
    // One end is enough.
    let from = format!("+{}ns", at(5) - start);
    let (before, after) =
        (lines(&["cat", "--json", "--to", &from, path]), lines(&["cat", "--json", "--from", &from, path]));
    assert_eq!(before.len() + after.len(), times.len(), "{path}");
}

#[test]
fn ranges_of_rtc_are_parts() {
    ranges_are_parts(data("sample.rtc").to_str().unwrap(), |ns| ns);
    let scratch = Scratch::new("rtc");
    let large = rtc::sample(rtc::Options::sizes(8192, 2048), 300_000);
    ranges_are_parts(&scratch.file("large.rtc", &large), |ns| ns);
    // Without its first unit, and with a hole: there it is read from the start.
    ranges_are_parts_of_damaged(&scratch.file("hole.rtc", &[&large[..50_000], &large[51_000..]].concat()));
}

fn ranges_are_parts_of_damaged(path: &str) {
    let run = |args: &[&str]| -> Vec<Value> {
        let output = traceglass(&[args, &[path]].concat());
        assert_eq!(status(&output), 3, "{args:?}");
        let lines = std::str::from_utf8(&output.stdout).unwrap().lines();
        lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let all = run(&["cat", "--json"]);
    let times: Vec<i64> = all.iter().filter_map(|line| line["time_ns"].as_i64()).collect();
    let from = times[times.len() / 2];
    let expected: Vec<&Value> = all.iter().filter(|line| line["time_ns"].as_i64() >= Some(from)).collect();
    let part = run(&["cat", "--json", "--from", &format!("@{from}")]);
    assert_eq!(part.iter().collect::<Vec<_>>(), expected);
}

#[test]
fn ranges_of_rfr_are_parts() {
    for name in ["sample.rfr", "stream.rfr"] {
        let path = data(name);
        ranges_are_parts(path.to_str().unwrap(), |ns| ns / 1000 + i64::from(ns % 1000 != 0));
    }
}

#[test]
fn ranges_of_ctf_are_parts() {
    // Its clock counts microseconds from some date on: a value of it is not tried.
    ranges_are_parts(data("sample.ctf").to_str().unwrap(), |_| 0);
    let path = data("sample.ctf");
    let path = path.to_str().unwrap();
    let (all, half) = (lines(&["cat", "--json", path]), lines(&["cat", "--json", "--from", "@8000", path]));
    assert!(half.len() < all.len() && !half.is_empty(), "{} of {}", half.len(), all.len());
    assert!(half.iter().all(|line| line["time_ns"].as_i64() >= Some(1_795_225_314_008_000_000)), "{half:?}");
}

/// Metadata of packets with lengths, a begin and an end, and of records with a time alone.
fn metadata_of_times() -> String {
    let integer = |name: &str, length: u8, role: &str| {
        format!(
            r#"{{"name": "{name}", "field-class": {{"type": "fixed-length-unsigned-integer", "length": {length},
                "byte-order": "little-endian", "roles": ["{role}"]}}}}"#
        )
    };
    let context = [
        integer("total", 64, "packet-total-length"),
        integer("begin", 64, "default-clock-timestamp"),
        integer("end", 64, "packet-end-default-clock-timestamp"),
    ];
    [
        r#"{"type": "preamble", "version": 2}"#.to_owned(),
        r#"{"type": "clock-class", "id": "c", "frequency": 1000000000, "origin": "unix-epoch"}"#.to_owned(),
        format!(
            r#"{{"type": "data-stream-class", "default-clock-class-id": "c",
                "packet-context-field-class": {{"type": "structure", "member-classes": [{}]}},
                "event-record-header-field-class": {{"type": "structure", "member-classes": [{}]}}}}"#,
            context.join(","),
            integer("time", 64, "default-clock-timestamp")
        ),
        r#"{"type": "event-record-class", "name": "tick"}"#.to_owned(),
    ]
    .map(|fragment| format!("\x1e{fragment}\n"))
    .concat()
}

/// A packet that says that it lasts from `begin` to `end`.
fn packet_of_times(begin: u64, end: u64, times: &[u64]) -> Vec<u8> {
    let total = (24 + times.len() as u64 * 8) * 8;
    [&[total, begin, end], times].concat().iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[test]
fn ranges_of_ctf_do_not_rely_on_what_packets_say() {
    let scratch = Scratch::new("times");
    scratch.file("late/metadata", metadata_of_times().as_bytes());
    // Records after the end of their packet, and a stamp in the middle that is far from all others.
    let late = [packet_of_times(10, 12, &[10, 12, 40]), packet_of_times(41, 42, &[41, 77])].concat();
    let stray = [packet_of_times(11, 14, &[11, 9000, 13, 14]), packet_of_times(50, 51, &[50, 51])].concat();
    scratch.file("late/a", &late);
    scratch.file("late/b", &stray);
    let path = scratch.0.join("late");
    ranges_are_parts(path.to_str().unwrap(), |ns| ns);
    for (from, to) in [(13, 15), (40, 41), (45, 100), (77, 78), (9000, 9001)] {
        let part = |args: &[&str]| -> Vec<i64> {
            let times = lines(&[args, &[path.to_str().unwrap()]].concat()).into_iter();
            times.filter_map(|line| line["time_ns"].as_i64()).filter(|at| (from..to).contains(at)).collect()
        };
        let (from, to) = (format!("@{from}"), format!("@{to}"));
        let (all, range) = (part(&["cat", "--json"]), part(&["cat", "--json", "--from", &from, "--to", &to]));
        assert!(!all.is_empty());
        assert_eq!(all, range);
    }
    let output = traceglass(&["check", path.to_str().unwrap()]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("12 after 40") && said.contains("42 after 77"), "{said}");
}

#[test]
fn ranges_of_tokens_are_parts() {
    let scratch = Scratch::new("rdf");
    let path =
        scratch.file("a.rmv", &rdf::file(&[rdf_contents::rmt(77, 1, &rdf_contents::process_tokens())]));
    let all = lines(&["cat", "--json", "--chunk", "RmtData", &path]);
    let part = lines(&["cat", "--json", "--chunk", "RmtData", "--from", "@3200", &path]);
    let expected: Vec<&Value> = all.iter().filter(|line| line["ticks"].as_u64() >= Some(3200)).collect();
    assert!(!expected.is_empty() && expected.len() < all.len());
    assert_eq!(part.iter().collect::<Vec<_>>(), expected);
}

#[test]
fn parts_outside_of_a_range_are_not_listed() {
    let of = |name: &str, kind: &str, args: &[&str]| -> Vec<Value> {
        let path = data(name);
        let args = [&["ls", "--json"], args, &[path.to_str().unwrap()]].concat();
        lines(&args).into_iter().filter(|line| line["kind"] == kind).collect()
    };
    for (name, kind, option, from) in [
        ("sample.rtc", "unit", None, "+18ms"),
        ("sample.ctf", "data-packet", Some("--packets"), "+10ms"),
        ("sample.rfr", "chunk", None, "+1010ms"),
    ] {
        let option: Vec<&str> = option.into_iter().collect();
        let all = of(name, kind, &option);
        let last = of(name, kind, &[&option[..], &["--from", from]].concat());
        assert_eq!(last, all[all.len() - 1..], "{name}");
        assert!(
            of(name, kind, &[&option[..], &["--to", "2000-01-01T00:00:00Z"]].concat()).is_empty(),
            "{name}"
        );
    }
}

/// Headers of packets may say no times: their records do. Nothing reaches into a range that is empty.
#[test]
fn packets_without_times_are_in_the_range_of_their_records() {
    let listed = |name: &str, args: &[&str]| {
        let path = data(name);
        lines(&[&["ls", "--json"], args, &[path.to_str().unwrap()]].concat()).len()
    };
    let packets = |args: &[&str]| listed("sample.ctf1", &[&["--packets"], args].concat());
    assert_eq!(packets(&[]), 1);
    assert_eq!(packets(&["--from", "+9us", "--to", "+12us"]), 1);
    assert_eq!((packets(&["--from", "+1h"]), packets(&["--to", "@0"])), (0, 0));
    let empty = ["--from", "+9us", "--to", "+9us"];
    assert_eq!(packets(&empty), 0);
    for name in ["sample.ctf1", "sample.ctf", "sample.rfr", "sample.rtc", "trace.0.bin"] {
        assert!(listed(name, &["--from", "+9us"]) > 0, "{name}");
        assert_eq!(listed(name, &empty), 0, "{name}");
    }
}

/// A packet that ends after the end of its file is damage, though headers alone are read.
#[test]
fn a_list_of_packets_sees_where_the_file_ends() {
    let scratch = Scratch::new("windows-packets-cut");
    let sample = data("sample.ctf");
    let stream = std::fs::read(sample.join("stream")).unwrap();
    scratch.write("trace/metadata", &std::fs::read(sample.join("metadata")).unwrap());
    let path = scratch.path("trace");
    // In padding, and in a record.
    for (left, code) in [(0, 0), (5, 3), (140, 3), (200, 3)] {
        scratch.write("trace/stream", &stream[..stream.len() - left]);
        let (packets, streams) = (traceglass(&["ls", "--packets", &path]), traceglass(&["ls", &path]));
        assert_eq!((status(&packets), status(&streams)), (code, code), "{left}");
        assert_eq!(packets.stderr, streams.stderr, "{left}");
        assert!(String::from_utf8_lossy(&packets.stdout).contains("2 packets"), "{left}");
    }
}

#[test]
fn what_has_no_time_has_no_range() {
    for args in [
        &["ls", "--from", "+1s", "sample.rdf"][..],
        &["cat", "--from", "2026-11-21T01:41:54Z", "--chunk", "DDEvent", "--json", "sample.rdf"],
        &["cat", "--to", "+1s", "sample.ctf2"],
        &["ls", "--packets", "sample.rtc"],
        &["cat", "--follow", "--entry", "0", "sample.rdf"],
        &["cat", "--raw", "sample.rtc"],
    ] {
        let sample = data(args[args.len() - 1]);
        let output = traceglass(&[&args[..args.len() - 1], &[sample.to_str().unwrap()]].concat());
        assert_eq!((status(&output), output.stdout.len()), (2, 0), "{args:?}");
    }
}

/// Times as people type them, in the day of the trace; and what selects nothing says so.
#[test]
fn times_are_those_that_people_type() {
    let sample = data("stream.rfr");
    let cat = |args: &[&str]| traceglass(&[&["cat", "--json"], args, &[sample.to_str().unwrap()]].concat());
    let whole = cat(&["--from", "2026-11-21T01:41:54.5Z"]).stdout;
    assert!(!whole.is_empty() && whole != cat(&[]).stdout);
    for from in ["2026-11-21 01:41:54.5", "01:41:54.5", "1795225314.5", "2026-11-21T02:41:54.5+01:00"] {
        assert!(cat(&["--from", from]).stdout == whole, "{from}");
    }
    let day = cat(&["--from", "2026-11-21", "--to", "2026-11-22"]);
    assert!(day.stdout == cat(&[]).stdout && day.stderr.is_empty());
    let nothing = cat(&["--from", "2026-11-22"]);
    let says = String::from_utf8(nothing.stderr.clone()).unwrap();
    assert_eq!((status(&nothing), nothing.stdout.len()), (0, 0));
    assert!(says.contains("nothing of it is in this range"), "{says}");
    // A list without rows is empty.
    for (name, option) in [
        ("stream.rfr", &[][..]),
        ("sample.rfr", &[]),
        ("sample.rtc", &[]),
        ("kernel", &[]),
        ("kernel", &["--packets"]),
        ("trace.0.bin", &[]),
    ] {
        for form in [&[][..], &["--json"]] {
            let path = data(name);
            let range = ["--from", "+1h", path.to_str().unwrap()];
            let nothing = traceglass(&[&["ls"], form, option, &range].concat());
            let says = String::from_utf8(nothing.stderr.clone()).unwrap();
            assert_eq!((status(&nothing), nothing.stdout.len()), (0, 0), "{name} {option:?} {form:?}");
            assert!(says.contains("nothing of it is in this range"), "{name} {option:?} {form:?}: {says}");
        }
    }
    for verb in ["cat", "ls"] {
        let reversed = ["--from", "+2s", "--to", "+1s", sample.to_str().unwrap()];
        assert_eq!(status(&traceglass(&[&[verb][..], &reversed].concat())), 2, "{verb}");
    }
}

/// The clock of CTF counts in 64 bits, from 0 on: what it cannot say is refused by what is wrong with it.
#[test]
fn values_that_a_clock_cannot_have_are_refused() {
    let sample = data("kernel");
    for (from, code, expected) in [
        ("@-1", 2, "a clock's value is not negative"),
        ("@18446744073709551616", 2, "a clock's value has 64 bits at most"),
        ("@18446744073709551615", 0, "nothing of it is in this range"),
    ] {
        let output = traceglass(&["cat", "--json", "--from", from, sample.to_str().unwrap()]);
        let says = String::from_utf8_lossy(&output.stderr);
        assert_eq!((status(&output), output.stdout.len()), (code, 0), "{from}");
        assert!(says.contains(expected), "{from}: {says}");
    }
}

/// Follows a path; `grow` is called when what is there has been printed, and all lines are compared with what is printed
/// of the whole in the end.
fn follows(path: &str, at_first: usize, grow: impl FnOnce()) {
    let followed = Followed::new(path);
    let mut seen = followed.next(at_first);
    grow();
    let whole = traceglass(&["cat", "--json", path]);
    let whole: Vec<&str> = std::str::from_utf8(&whole.stdout).unwrap().lines().collect();
    seen.extend(followed.next(whole.len() - at_first));
    assert!(followed.rests(), "nothing is printed twice");
    // Of dial9, what was printed names the file as it was called then.
    assert!(seen.iter().map(|line| line.replace(".bin.active", ".bin")).eq(whole.iter().copied()));
}

fn append(path: &str, data: &[u8]) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(data).unwrap();
}

#[test]
fn files_that_grow_are_followed() {
    let scratch = Scratch::new("follow");
    for name in ["sample.rtc", "stream.rfr"] {
        let sample = fs::read(data(name)).unwrap();
        let (cut, again) = (sample.len() / 2, sample.len() * 3 / 4);
        let path = scratch.file(name, &sample[..cut]);
        let at_first = traceglass(&["cat", "--json", &path]);
        // A record that the cut is in may be followed by others that are whole.
        let at_first = std::str::from_utf8(&at_first.stdout).unwrap().lines().count() / 2;
        follows(&path, at_first, || {
            append(&path, &sample[cut..again]);
            std::thread::sleep(Duration::from_millis(700));
            append(&path, &sample[again..]);
        });
    }
}

/// Nothing is in the file when it is followed first.
#[test]
fn a_file_that_is_empty_is_followed() {
    let scratch = Scratch::new("follow-empty");
    for name in ["sample.rtc", "stream.rfr", "trace.0.bin"] {
        let sample = fs::read(data(name)).unwrap();
        let path = scratch.file(name, b"");
        follows(&path, 0, || {
            std::thread::sleep(Duration::from_millis(700));
            append(&path, &sample);
        });
    }
}

/// A task is dropped before its last waker is, which still names it.
#[test]
fn a_waker_that_outlives_its_task_is_followed() {
    let scratch = Scratch::new("follow-waker");
    let path = scratch.file("stream.rfr", &rfr::sample_stream());
    let at_first = traceglass(&["cat", "--json", &path]).stdout.iter().filter(|&&byte| byte == b'\n').count();
    let waker_drop = rfr::Writer::new().ints([1_795_225_315, 500, 16]).raw(&rfr::waker(4, None).0);
    follows(&path, at_first, || append(&path, &waker_drop.0));
    let last = traceglass(&["cat", "--json", &path]).stdout;
    assert!(std::str::from_utf8(&last).unwrap().lines().last().unwrap().contains("\"ping\""));
}

/// Of many tasks that are gone, the last 2,048 are known, as they are to who reads all at once.
#[test]
fn wakers_of_many_tasks_that_are_gone_are_followed() {
    const AT: u64 = 1_795_225_314;
    let scratch = Scratch::new("follow-wakers");
    for gone in [2_048, 3_000, 4_100, 8_191, 8_192_u64] {
        let records: Vec<_> = (0..gone)
            .flat_map(|iid| {
                let about = || rfr::Writer::new().ints([iid]);
                let object = rfr::task(iid, 1, iid, &format!("task {iid}"), Ok(0), None);
                let micros = u32::try_from(iid).unwrap();
                [(AT, micros, 4, object), (AT, micros, 9, about()), (AT, micros, 12, about())]
            })
            .collect();
        let path = scratch.file(&format!("{gone}.rfr"), &rfr::stream(&records));
        let wakers = (gone - 2_048..gone).step_by(31);
        let wakers = wakers.fold(rfr::Writer::new(), |writer, iid| {
            writer.ints([AT + 1, iid, 16]).raw(&rfr::waker(iid, None).0)
        });
        follows(&path, 2 * usize::try_from(gone).unwrap(), || append(&path, &wakers.0));
        let last = String::from_utf8(traceglass(&["cat", "--json", &path]).stdout).unwrap();
        let wakers = last.lines().filter(|line| line.contains("WakerDrop"));
        assert!(
            wakers.clone().count() == 67 && wakers.clone().all(|line| line.contains("\"task ")),
            "{gone}"
        );
    }
}

/// A recorder of dial9 renames a segment when it is full, and packs it later.
#[test]
fn segments_that_are_renamed_are_followed() {
    let scratch = Scratch::new("follow-renamed");
    let sample = fs::read(data("trace.0.bin")).unwrap();
    scratch.write("trace.0.bin.active", &sample);
    follows(&scratch.path(""), 97, || {
        fs::rename(scratch.path("trace.0.bin.active"), scratch.path("trace.0.bin")).unwrap();
        std::thread::sleep(Duration::from_millis(700));
        scratch.write("trace.1.bin", &sample);
    });
}

/// Damage is told once, however often a folder is looked at again.
#[test]
fn damage_of_what_is_followed_is_told_once() {
    let scratch = Scratch::new("follow-damage");
    let sample = fs::read(data("trace.0.bin")).unwrap();
    let mut no_header = sample.clone();
    no_header[1] ^= 1;
    scratch.write("trace.0.bin", &sample);
    // It has damage after its last event, too.
    scratch.write("trace.1.bin", &[&no_header[..], &[0x77; 9]].concat());
    scratch.write("trace.2.bin", b"");
    // A packed one of which nothing can be unpacked but that it is one.
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&sample[..5]).unwrap();
    let mut packed = packed.finish().unwrap();
    let end = packed.len() - 8;
    packed[end] ^= 1;
    scratch.write("trace.3.bin.gz", &packed);
    let mut followed = Followed::new(&scratch.path(""));
    followed.next(97 + 96);
    std::thread::sleep(Duration::from_millis(1500));
    scratch.write("trace.4.bin", &sample);
    followed.next(97);
    let told = followed.told();
    let counts = ["trace.1.bin", "trace.2.bin", "trace.3.bin.gz"].map(|name| told.matches(name).count());
    assert_eq!(counts, [2, 1, 1], "{told}");
}

/// With more clocks than are followed through the indices, all is read again: times stay known.
#[test]
fn a_file_of_many_clocks_is_followed() {
    let scratch = Scratch::new("clocks");
    let mut writer = rtc::Writer::new(rtc::Options::sizes(8192, 2048));
    let clocks: Vec<u64> = (0..20)
        .map(|at| writer.stream(&format!(r#""name":"c{at}","clock":true,"format":"uint16le","length":2"#)))
        .collect();
    let values: Vec<u64> = (0..20)
        .map(|at| writer.stream(&format!(r#""name":"v{at}","clock":"c{at}","format":"uint16le","length":2"#)))
        .collect();
    clocks.iter().zip(7_u16..).for_each(|(&clock, time)| writer.write(clock, &time.to_le_bytes()));
    for number in 0..6_000_u16 {
        writer.write(values[usize::from(number) % 20], &number.to_le_bytes());
    }
    let data = writer.stop();
    let cut = data.len() / 2;
    let path = scratch.file("clocks.rtc", &data[..cut]);
    follows(&path, 2_000, || append(&path, &data[cut..]));
}

#[test]
fn folders_that_grow_are_followed() {
    let scratch = Scratch::new("folders");
    let (trace, recording) = (scratch.0.join("trace"), scratch.0.join("recording"));
    let sample = data("sample.ctf");
    let stream = fs::read(sample.join("stream")).unwrap();
    scratch.file("trace/metadata", &fs::read(sample.join("metadata")).unwrap());
    let path = scratch.file("trace/stream", &stream[..300]);
    follows(trace.to_str().unwrap(), 8, || append(&path, &stream[300..]));

    let sample = data("sample.rfr");
    let chunks = ["2026-11/21-01/chunk-41-54.rfr", "2026-11/21-01/chunk-41-55.rfr"];
    let copy =
        |name: &str| drop(scratch.file(&format!("recording/{name}"), &fs::read(sample.join(name)).unwrap()));
    let others = walk(&sample).into_iter().filter(|name| !chunks.contains(&name.as_str()));
    others.for_each(|name| copy(&name));
    copy(chunks[0]);
    follows(recording.to_str().unwrap(), 126, || copy(chunks[1]));
}

/// The files below a folder, from there.
fn walk(root: &Path) -> Vec<String> {
    let (mut files, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => files.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned()),
            }
        }
    }
    files
}

/// One trace that cannot be read leaves the others, and what is no data stream is none.
#[test]
fn a_folder_is_read_as_far_as_it_can_be() {
    let scratch = Scratch::new("several");
    for (name, content) in ctf::sample_trace() {
        let name = name.strip_prefix("sample.ctf/").unwrap();
        scratch.file(&format!("good/{name}"), &content);
        scratch.file(&format!("bad/{name}"), &content);
    }
    scratch.file("good/expected.ndjson", b"{\"time\": 1}\n");
    scratch.file("good/README.md", b"# What this is\n");
    scratch.file("good/index/stream.idx", &[0xc1, 0xf1, 0xdc, 0xc1]);
    scratch.file(
        "bad/metadata",
        b"\x1e{\"type\":\"preamble\",\"version\":2}\n\x1e{\"type\":\"event-record-class\"}\n",
    );
    let good = scratch.0.join("good");
    assert_eq!(lines(&["ls", "--json", good.to_str().unwrap()]).len(), 1);
    let all = traceglass(&["cat", "--json", scratch.0.to_str().unwrap()]);
    assert_eq!(status(&all), 3);
    assert_eq!(std::str::from_utf8(&all.stdout).unwrap().lines().count(), 16);
    assert!(String::from_utf8_lossy(&all.stderr).contains("bad/metadata"), "{all:?}");
    let check = traceglass(&["check", scratch.0.to_str().unwrap()]);
    assert_eq!(status(&check), 3, "{check:?}");
    let text = traceglass(&["cat", "--metadata", good.to_str().unwrap()]);
    assert_eq!(text.stdout, fs::read(good.join("metadata")).unwrap());
}

/// Tables of a range have the rows of the whole trace whose times lie in it.
#[test]
#[cfg(feature = "tables")]
fn tables_of_a_range_are_parts_of_the_whole() {
    /// The times and offsets of the rows that have a time, and whether they are of a gap.
    fn rows(args: &[&str]) -> Vec<(i64, u64, bool)> {
        let output = traceglass(&[&["export", "--format", "csv"][..], args].concat());
        assert_eq!(status(&output), 0, "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let mut lines = text.lines();
        let names: Vec<_> = lines.next().unwrap().split(',').collect();
        let place = |name| names.iter().position(|other| *other == name).unwrap();
        let [time, offset, kind] = ["time_ns", "offset", "kind"].map(place);
        assert!(time.max(offset).max(kind) < place("name"), "what may be quoted comes later");
        let cells = lines.map(|line| line.split(',').collect::<Vec<_>>());
        let known = cells.filter(|cells| !cells[time].is_empty());
        let row = |cells: Vec<&str>| {
            (cells[time].parse().unwrap(), cells[offset].parse().unwrap(), cells[kind] == "discarded")
        };
        known.map(row).collect()
    }
    let scratch = Scratch::new("tables-of-a-range");
    for sample in ["sample.ctf", "sample.rfr", "stream.rfr", "sample.rtc", "kernel", "sample.rgp"] {
        let path = data(sample);
        let path = path.to_str().unwrap();
        let all = rows(&[path]);
        let first = all.first().unwrap().0;
        let (mut inside, mut outside) = (0, 0);
        for (from, to) in [(1_000_000, 20_000_000), (10_000_000, i64::MAX), (0, 300_000_000)] {
            let (begin, end) = (format!("+{from}ns"), format!("+{to}ns"));
            let range = match to {
                i64::MAX => vec!["--from", &begin],
                _ => vec!["--from", &begin, "--to", &end],
            };
            let is_in = |&(time, ..): &(i64, u64, bool)| (from..to).contains(&(time - first));
            let (expected, others): (Vec<_>, Vec<_>) = all.iter().copied().partition(is_in);
            (inside, outside) = (inside + expected.len(), outside + others.len());
            let rows = rows(&[&range[..], &[path]].concat());
            let (found, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(is_in);
            assert_eq!(found, expected, "{sample} {range:?}");
            // What was discarded up to the next packet may reach into the range.
            assert!(others.iter().all(|(.., is_gap)| *is_gap), "{sample} {range:?}: {others:?}");
            let slices = lines(&[&["cat", "--slices", "--json"][..], &range, &[path]].concat());
            let slices = slices.iter().filter(|line| line["kind"] == "slice").count();
            let table = [&["export", "--format", "csv", "--table", "slices"][..], &range, &[path]].concat();
            let table = String::from_utf8(traceglass(&table).stdout).unwrap();
            assert_eq!(table.lines().count() - 1, slices, "{sample} {range:?}");
        }
        assert!(inside > 0 && outside > 0, "{sample}");
    }
    let path = data("sample.rfr");
    let (whole, part) = (scratch.path("whole"), scratch.path("part"));
    let size = |folder: &str, range: &[&str]| {
        let args = [&["export", "--format", "parquet", "-o", folder][..], range, &[path.to_str().unwrap()]];
        assert_eq!(status(&traceglass(&args.concat())), 0);
        let file = Path::new(folder).join("events/trace=sample.rfr/part-0000.parquet");
        fs::metadata(file).unwrap().len()
    };
    assert!(size(&part, &["--to", "+10ms"]) < size(&whole, &[]));
    let files = ["export", "--format", "files", "--from", "+1s", "-o", &part, path.to_str().unwrap()];
    assert_eq!(status(&traceglass(&files)), 2);
}
