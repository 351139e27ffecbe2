//! A range of time gives what the whole trace has in it, whatever its clocks do and whatever is damaged.

use crate::common::packets::{METADATA, packet};
use crate::common::rfr::{Chunk, Sequence};
use crate::common::rtc::{self, Options, Writer};
use crate::common::{Scratch, data, status, traceglass};
use serde_json::Value;
use std::fs;

/// The output of a run.
struct Run {
    lines: Vec<Value>,
    status: i32,
    warnings: String,
}

fn cat(args: &[&str], path: &str) -> Run {
    let output = traceglass(&[&["cat", "--json"], args, &[path]].concat());
    let text = std::str::from_utf8(&output.stdout).unwrap();
    Run {
        lines: text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        status: status(&output),
        warnings: String::from_utf8(output.stderr.clone()).unwrap(),
    }
}

fn time(line: &Value) -> Option<i128> {
    line["time_ns"].as_i64().map(i128::from)
}

/// The time from which `+1s` counts, of all lines.
type Start = fn(&[Value]) -> Option<i128>;

/// The time of the first record that has one.
fn first(lines: &[Value]) -> Option<i128> {
    lines.iter().find_map(time)
}

/// The earliest one.
fn earliest(lines: &[Value]) -> Option<i128> {
    lines.iter().filter_map(time).min()
}

/// Compares ranges with what the lines of the whole say, told as dates, if it has some, and from the start on. Gives how
/// many lines there were in them.
fn ranges_are_parts(args: &[&str], path: &str, start: Start) -> usize {
    let whole = cat(args, path);
    let mut times: Vec<i128> = whole.lines.iter().filter_map(time).collect();
    let start = start(&whole.lines).unwrap_or_else(|| panic!("{path} has no times"));
    times.sort_unstable();
    times.dedup();
    let at = |part: usize| times[(times.len() - 1) * part / 12];
    let after = at(12) + 1;
    let mut count = 0;
    for (from, to) in [
        (at(0), at(1)),
        (at(1), at(4)),
        (at(3), at(11)),
        (at(5), at(6)),
        (at(6), at(6) + 1),
        (at(9), after),
        (at(12), after),
    ] {
        let expected: Vec<&Value> = whole
            .lines
            .iter()
            .filter(|line| time(line).is_some_and(|time| (from..to).contains(&time)))
            .collect();
        count += expected.len();
        let date = |ns: i128| jiff::Timestamp::from_nanosecond(ns).unwrap().to_string();
        let since = |ns: i128| format!("+{}ns", ns - start);
        let has_dates = whole.lines.iter().any(|line| line["time"].is_string());
        let forms =
            [has_dates.then(|| (date(from), date(to))), (from >= start).then(|| (since(from), since(to)))];
        for (from, to) in forms.into_iter().flatten() {
            let part = cat(&[args, &["--from", &from, "--to", &to]].concat(), path);
            let found = part.lines.len();
            assert!(part.lines.iter().eq(expected.iter().copied()), "{path} {from} {to}: {found} lines");
            assert_eq!(part.status, whole.status, "{path} {from} {to}");
            // Parts outside of the range may have been skipped.
            let is_empty = |line: &str| found == 0 && line.ends_with("nothing of it is in this range");
            let mut warnings = part.warnings.lines().filter(|line| !line.is_empty());
            let is_known = |line: &str| whole.warnings.contains(line) || is_empty(line);
            assert!(warnings.all(is_known), "{path}: {}", part.warnings);
            // The events of RTC are its records.
            if path.ends_with(".rtc") && args.is_empty() {
                let range = ["export", "--format", "csv", "-o", "-", "--from", &from, "--to", &to, path];
                let rows = String::from_utf8(traceglass(&range).stdout).unwrap();
                let rows = rows.lines().skip(1).filter(|row| !row.contains(",gap,")).count();
                assert_eq!(rows, found, "{path} {from} {to}");
            }
        }
    }
    count
}

/// A stamp of a clock of format `timespec`, 1,000 s after the epoch and later.
fn timespec(micros: u64) -> Vec<u8> {
    let micros = micros + 1_000_000_000;
    let mut stamp = (micros / 1_000_000).to_le_bytes().to_vec();
    stamp.extend((micros % 1_000_000 * 1_000).to_le_bytes().get(..4).unwrap());
    stamp
}

const CLOCK: &str = r#""name":"clk","clock":true,"format":"timespec","length":12"#;

/// Several units of a clock that steps back, by little and by much.
fn steps_back() -> Vec<u8> {
    let mut writer = Writer::new(Options::sizes(8192, 2048));
    let clock = writer.stream(CLOCK);
    let value = writer.stream(r#""name":"value","clock":"clk","format":"uint16le","length":2"#);
    let mut micros = 5_000_000;
    for number in 0..3_000_u16 {
        micros += 100;
        micros -= match number {
            1_500 => 140_000,
            number if number % 97 == 0 => 102,
            _ => 0,
        };
        writer.write(clock, &timespec(micros));
        writer.write(value, &number.to_le_bytes());
    }
    writer.stop()
}

/// Two sessions in which the same ids are other streams: in the first one, 9 is a clock from which another one counts.
fn sessions(first_clock: &str, second_clock: &str) -> Vec<u8> {
    let mut writer = Writer::new(Options::sizes(8192, 2048));
    let clock = writer.stream(first_clock);
    let delta = writer
        .stream(r#""name":"delta","clock":true,"format":"uint32le","length":4,"gain":1e-6,"delta":"clk""#);
    let value = writer.stream(r#""name":"value","clock":"delta","format":"uint16le","length":2"#);
    writer.write(clock, &timespec(7_000_000)[..if first_clock.contains("uint32") { 4 } else { 12 }]);
    for number in 0..1_000_u16 {
        writer.write(delta, &(u32::from(number) * 10).to_le_bytes());
        writer.write(value, &number.to_le_bytes());
    }
    let mut writer = Writer::append_to(writer.stop(), Options::sizes(8192, 2048));
    let other = writer.stream(r#""name":"other","clock":"clock","format":"uint16le","length":2"#);
    let clock = writer.stream(second_clock);
    for number in 0..1_000_u16 {
        writer.write(clock, &timespec(7_005_000 + u64::from(number) * 10));
        writer.write(other, &number.to_le_bytes());
    }
    writer.stop()
}

#[test]
fn a_clock_that_steps_back_loses_nothing() {
    let scratch = Scratch::new("back");
    assert!(ranges_are_parts(&[], &scratch.file("back.rtc", &steps_back()), first) > 4_000);
}

#[test]
fn each_session_has_its_own_streams() {
    let scratch = Scratch::new("sessions");
    let absolute = r#""name":"clock","clock":true,"format":"timespec","length":12"#;
    let both = scratch.file("both.rtc", &sessions(CLOCK, absolute));
    assert!(ranges_are_parts(&[], &both, first) > 3_000);
    // The clock of the first session tells no date, that of the second one does.
    let relative = r#""name":"clk","clock":true,"format":"uint32le","length":4"#;
    let second = scratch.file("second.rtc", &sessions(relative, absolute));
    assert!(ranges_are_parts(&[], &second, first) > 3_000);
    let dated = cat(&["--from", "1970-01-01T00:00:00Z"], &second);
    let records: Vec<&Value> = dated.lines.iter().filter(|line| line["stream"] == "other").collect();
    assert_eq!((dated.status, records.len()), (0, 1_000));
    // The same dates, and the same start, in verbs that read events.
    let counted = |args: &[&str]| {
        let out = traceglass(&[&["stats", "--json", "--name", "other"], args, &[&second]].concat());
        let text = std::str::from_utf8(&out.stdout).unwrap();
        let line: Option<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).next();
        (status(&out), line.map_or(0, |line| line["count"].as_u64().unwrap()))
    };
    assert_eq!(counted(&["--from", "1970-01-01T00:00:00Z"]), (0, 1_000));
    let since = ["--from", "+1s"];
    let printed = cat(&since, &second).lines.iter().filter(|line| line["stream"] == "other").count();
    assert_eq!(counted(&since), (0, printed as u64));
    // Its own clock is the first one that counts from no other.
    let all = cat(&[], &both);
    let from = cat(&["--from", "@0"], &both);
    let timed = all.lines.iter().filter(|line| time(line).is_some());
    assert!(from.lines.iter().eq(timed), "{} of {}", from.lines.len(), all.lines.len());
}

/// Times of a clock that counts from elsewhere are none of those that are dates: not in what is said of a unit, and not in
/// the time over which events are counted.
#[test]
fn dates_are_not_mixed_with_other_times() {
    let scratch = Scratch::new("mixed");
    let mut writer = Writer::new(Options::sizes(8192, 2048));
    let cycles = writer.stream(r#""name":"cycles","clock":true,"format":"uint32le","length":4,"offset":7"#);
    let ticks = writer.stream(r#""name":"ticks","format":"uint8","length":1,"clock":"cycles""#);
    let clock = writer.stream(CLOCK);
    let value = writer.stream(r#""name":"value","format":"uint8","length":1,"clock":"clk""#);
    for number in 0..2_000_u32 {
        writer.write(cycles, &number.to_le_bytes());
        writer.write(ticks, &[0]);
        writer.write(clock, &timespec(u64::from(number) * 1_000));
        writer.write(value, &[0]);
    }
    let path = scratch.file("mixed.rtc", &writer.stop());
    let lines = |args: &[&str]| -> Vec<Value> {
        let output = traceglass(&[args, &[&path]].concat());
        let text = std::str::from_utf8(&output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let all = cat(&[], &path).lines;
    let dated: Vec<_> = all.iter().filter(|line| line["time"].is_string()).collect();
    let undated = all.iter().filter(|line| line["time"].is_null() && line["time_ns"].is_i64()).count();
    assert_eq!((dated.len(), undated), (4_000, 4_000));
    let units =
        lines(&["ls", "--json"]).into_iter().filter(|line| line["kind"] == "unit").collect::<Vec<_>>();
    assert!(units.len() > 3);
    let times = || dated.iter().filter_map(|line| line["time_ns"].as_i64());
    let of_units = |key: &str| units.iter().map(|unit| unit[key].as_i64().unwrap()).collect::<Vec<_>>();
    let (begins, ends) = (of_units("time_ns"), of_units("end_time_ns"));
    assert_eq!((begins.first().copied(), ends.last().copied()), (times().min(), times().max()));
    // Each goes on where the one before has ended, but for a record that lies in both.
    assert!(begins.iter().skip(1).zip(&ends).all(|(begin, end)| (end - begin).abs() < 2_000_000));
    assert!(units.iter().all(|unit| unit["time"].is_string()));
    let stats = lines(&["stats", "--json", "--name", "value"]);
    let span = (2_000_f64 - 1.0) * 1e-3;
    let rate = stats[0]["rate"].as_f64().unwrap();
    assert!((rate * span / 2_000.0 - 1.0).abs() < 1e-3, "{rate}");
}

/// Fields of damage are shown with status 3, also where it is told by a checksum.
#[test]
fn hex_tells_a_wrong_checksum() {
    let scratch = Scratch::new("hex-crc");
    let mut bytes = fs::read(data("sample.rtc")).unwrap();
    let sound = scratch.file("sound.rtc", &bytes);
    let record = cat(&["--stream", "adc"], &sound).lines[9]["offset"].as_u64().unwrap();
    bytes[record as usize + 2] ^= 1;
    let wrong = scratch.file("wrong.rtc", &bytes);
    let hex = |path: &str, at: u64, len: u64| {
        status(&traceglass(&["hex", "--at", &at.to_string(), "--len", &len.to_string(), path]))
    };
    assert_eq!(hex(&wrong, 0, 30_000), 3);
    // The checksum of the next unit is right.
    assert_eq!((hex(&wrong, 8192, 8192), hex(&wrong, record, 8)), (0, 0));
    for at in (0..bytes.len() as u64).step_by(500) {
        assert_eq!(hex(&sound, at, 4_000), 0, "{at}");
    }
    // What is wrong before the range is not told of it.
    let mut bytes = fs::read(data("sample.rtc")).unwrap();
    let meta = bytes.windows(6).position(|bytes| bytes == b"\"name\"").unwrap();
    bytes[meta] = 0;
    let wrong = scratch.file("meta.rtc", &bytes);
    assert_eq!((hex(&wrong, 0, meta as u64 + 10), hex(&wrong, record, 1_000)), (3, 0));
}

#[test]
fn damage_before_a_range_loses_nothing_of_it() {
    let scratch = Scratch::new("damage-before");
    let sound = rtc::sample(Options::sizes(8192, 2048), 60_000);
    let mut marker = sound.clone();
    marker[100..200].fill(0);
    let mut meta = sound.clone();
    meta[1025..1400].fill(0xff);
    let mut alone = sound[..7_000].to_vec();
    alone[100..130].fill(0);
    let mut later = sound.clone();
    later[20_000..20_100].fill(0xff);
    for (name, data) in [
        ("marker.rtc", &marker[..]),
        ("meta.rtc", &meta),
        ("alone.rtc", &alone),
        ("later.rtc", &later),
        ("cut.rtc", &sound[1_704..]),
        ("hole.rtc", &[&sound[..17_000], &sound[17_500..]].concat()),
        ("end.rtc", &sound[..sound.len() - 3_001]),
    ] {
        let path = scratch.file(name, data);
        let (whole, later) = (cat(&[], &path), cat(&["--from", "+1ms"], &path));
        assert_eq!((whole.status, later.status), (3, 3), "{name}");
        assert_eq!(whole.warnings, later.warnings, "{name}");
        assert!(ranges_are_parts(&[], &path, first) > 200, "{name}");
    }
}

#[test]
fn what_clocks_count_from_is_in_a_range_as_well() {
    let sample = data("sample.rtc");
    let sample = sample.to_str().unwrap();
    assert!(ranges_are_parts(&[], sample, first) > 100);
    let whole = cat(&[], sample);
    let from = cat(&["--from", "+0ns"], sample);
    let stamps = |run: &Run| run.lines.iter().filter(|line| line["stream"] == "clk").count();
    assert!(stamps(&whole) > 0);
    assert_eq!(stamps(&from), stamps(&whole));
}

/// An annotation is of the time that it tells, and on no clock it tells the date.
#[test]
fn annotations_are_in_the_range_that_they_tell() {
    let scratch = Scratch::new("notes");
    let mut writer = Writer::new(Options::sizes(8192, 2048));
    let clock = writer.stream(CLOCK);
    let value = writer.stream(r#""name":"value","clock":"clk","format":"uint16le","length":2"#);
    let note = writer.stream(r#""name":"note","format":"annotate/utf-8","stream":"value""#);
    for number in 0..600_u16 {
        writer.write(clock, &timespec(u64::from(number) * 1000));
        writer.write(value, &number.to_le_bytes());
        if number > 2 && number % 7 == 0 {
            writer.write(note, &[timespec(u64::from(number) * 500), b"then".to_vec()].concat());
        }
    }
    assert!(ranges_are_parts(&[], &scratch.file("notes.rtc", &writer.stop()), first) > 500);
}

#[test]
fn parts_in_a_range_are_listed_with_the_records_in_them() {
    let path = data("sample.rtc");
    let path = path.to_str().unwrap();
    let ls = |args: &[&str]| {
        let output = traceglass(&[&["ls"], args, &[path]].concat());
        assert_eq!(status(&output), 0, "{args:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let all = ls(&[]);
    // Nothing happened then.
    assert_eq!(ls(&["--from", "+1h"]), "");
    let some = ls(&["--from", "+18ms"]);
    let records = |text: &str| {
        let before = text.rsplit_once(" records").unwrap().0;
        before.rsplit(' ').next().unwrap().replace(',', "").parse::<u64>().unwrap()
    };
    assert!((1..records(&all)).contains(&records(&some)), "{some}");
}

#[test]
fn ranges_of_samples_are_parts() {
    for (name, start) in [("sample.rfr", earliest as Start), ("stream.rfr", first), ("sample.ctf", earliest)]
    {
        assert!(ranges_are_parts(&[], data(name).to_str().unwrap(), start) > 5, "{name}");
    }
}

/// Packets of which the end was never written, or the begin: each record is asked in all verbs.
#[test]
fn records_of_packets_that_state_wrong_times_are_in_a_range() {
    let scratch = Scratch::new("wrong-times");
    scratch.file("trace/metadata", METADATA.as_bytes());
    let good: Vec<u8> = (0..20).flat_map(|number| packet(0, number, u64::from(number) * 1000)).collect();
    for (places, value) in [(vec![12], 0_u64), (vec![4, 12], 0), (vec![12], 1), (vec![4], 0)] {
        let mut data = good.clone();
        for (packet, place) in (0..20).flat_map(|packet| places.iter().map(move |place| (packet, place))) {
            data[packet * 96 + place..][..8].copy_from_slice(&value.to_le_bytes());
        }
        scratch.file("trace/stream", &data);
        let path = scratch.path("trace");
        for range in [["--from", "@19010"], ["--to", "@9001"], ["--from", "@10000"], ["--to", "@1"]] {
            let count = cat(&range, &path).lines.len();
            assert!(count > 0, "{places:?} {range:?}");
            let csv = traceglass(&[&["export", "--format", "csv", "-o", "-"], &range[..], &[&path]].concat());
            let rows = String::from_utf8(csv.stdout).unwrap().lines().skip(1).count();
            let out = scratch.path("out");
            let cut =
                traceglass(&[&["cut", "--exact", "--force", "-o", &out], &range[..], &[&path]].concat());
            assert_eq!(status(&cut), 0, "{places:?} {range:?}");
            assert_eq!([rows, cat(&[], &out).lines.len()], [count; 2], "{places:?} {range:?}");
        }
    }
    // What a cut without records leaves is still a trace.
    let (path, out) = (scratch.path("trace"), scratch.path("none"));
    assert_eq!(status(&traceglass(&["cut", "--from", "@90000", "-o", &out, &path])), 0);
    let none = cat(&[], &out);
    assert_eq!((none.lines.len(), none.status), (0, 0));
}

/// Records without a time are in no range, whatever shows it: here all events are records.
#[test]
fn each_verb_has_the_same_records_in_a_range() {
    for name in ["sample.rtc", "sample.ctf", "sample.ctf1"] {
        let path = data(name);
        let path = path.to_str().unwrap();
        let mut counts = Vec::new();
        for range in [&[][..], &["--from", "+0s"], &["--from", "+2us", "--to", "+9ms"], &["--to", "+4ms"]] {
            let count = cat(range, path).lines.len();
            let rows =
                traceglass(&[&["export", "--format", "csv", "-o", "-"], range, &[path]].concat()).stdout;
            let rows = String::from_utf8(rows).unwrap();
            let rows = rows.lines().skip(1).filter(|row| !row.contains(",discarded,")).count();
            let stats = traceglass(&[&["stats", "--json", "--no-states"], range, &[path]].concat()).stdout;
            let stats = String::from_utf8(stats).unwrap();
            let events = stats.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let events = events.filter(|line| line["kind"] == "event");
            let sum: u64 = events.map(|event| event["count"].as_u64().unwrap()).sum();
            assert_eq!((count, count as u64), (rows, sum), "{name} {range:?}");
            counts.push(count);
        }
        assert!(counts[1] <= counts[0] && counts[2] > 0, "{name}: {counts:?}");
    }
}

/// `+1ns` counts from the first record of the file, in whatever chunk and stream that is.
#[test]
fn ranges_of_chunks_count_from_one_start() {
    let path = data("sample.rgp");
    let path = path.to_str().unwrap();
    assert!(ranges_are_parts(&["--records"], path, earliest) > 20);
    let whole = cat(&[], path);
    let timed = whole.lines.iter().filter_map(time).count();
    let later = cat(&["--from", "+1ns"], path).lines.len();
    let start = earliest(&whole.lines);
    let at_start = whole.lines.iter().filter(|line| time(line) == start).count();
    assert_eq!((later, at_start > 0), (timed - at_start, true));
    // One chunk alone counts from there as well.
    let since = format!("+{}ns", 200_000 - start.unwrap());
    let events = cat(&["--chunk", "DDEvent", "--from", &since], path);
    let all = cat(&["--chunk", "DDEvent"], path);
    assert!(events.lines.iter().eq(all.lines.iter().filter(|line| time(line) >= Some(200_000))));
}

#[test]
fn sequences_outside_of_a_range_are_not_counted() {
    let path = data("sample.rfr");
    let path = path.to_str().unwrap();
    let total = |args: &[&str]| {
        let output = traceglass(&[&["ls"], args, &[path]].concat());
        String::from_utf8(output.stdout).unwrap().lines().next_back().unwrap().to_owned()
    };
    let range = ["--from", "+0ns", "--to", "+1us"];
    let output = traceglass(&[&["ls", "--json"], &range[..], &[path]].concat());
    let listed: Vec<Value> = std::str::from_utf8(&output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let sequences: Vec<&Value> = listed.iter().filter(|line| line["kind"] == "sequence").collect();
    let records: u64 = sequences.iter().map(|line| line["records"].as_u64().unwrap()).sum();
    let some = total(&range);
    assert_ne!(some, total(&[]));
    assert!(some.contains(&format!("{} sequence", sequences.len())), "{some}");
    assert!(some.contains(&format!(" {records} record")), "{some}");
}

/// A writer's clock may step back, and what headers state of times is not what the records say.
#[test]
fn records_outside_of_what_their_chunk_states_are_in_a_range() {
    let scratch = Scratch::new("rfr");
    let chunk = |base, late: u64| {
        let sequence = Sequence::new(1).task(1, 1, "a", None).times(0, 20);
        let sequence = (0..20).fold(sequence, |sequence, at| sequence.about(at, 8, 1));
        let other = Sequence::new(2).about(late, 8, 1).about(7, 8, 1).times(7, 7);
        Chunk::new(base).sequence(sequence).sequence(other).bytes()
    };
    let alone = scratch.file("alone.rfr", &chunk(1_000, 5_000_000));
    assert!(ranges_are_parts(&[], &alone, earliest) > 20);
    fs::create_dir_all(scratch.0.join("all/2026-11/21-01")).unwrap();
    for (name, base, late) in [("54", 1_000, 2_500_000), ("55", 1_001, 3), ("56", 1_002, 9_000_000)] {
        scratch.file(&format!("all/2026-11/21-01/chunk-41-{name}.rfr"), &chunk(base, late));
    }
    let all = scratch.0.join("all");
    let all = all.to_str().unwrap();
    assert!(ranges_are_parts(&[], all, earliest) > 60);
    assert!(ranges_are_parts(&["--merge"], all, earliest) > 60);
    // Tables have the same: each record, and each event.
    for range in [["--from", "+2500ms"], ["--from", "+4s"], ["--to", "+1500ms"], ["--from", "+10s"]] {
        let expected = cat(&range, all).lines.iter().filter(|line| line["kind"] == "TaskDrop").count();
        let rows = |table: &str| {
            let args = ["export", "--format", "csv", "--table", table, "-o", "-"];
            let output = traceglass(&[&args[..], &range, &[all]].concat());
            String::from_utf8(output.stdout).unwrap().lines().filter(|row| row.contains(".rfr")).count()
        };
        assert_eq!(rows("task_drop"), expected, "{range:?}");
        assert!(expected > 0 && rows("events") >= expected, "{range:?}");
    }
    // The last record alone is later than that.
    let output = traceglass(&["ls", "--json", "--from", "+10s", all]);
    let listed = std::str::from_utf8(&output.stdout).unwrap();
    assert_eq!(listed.lines().count(), 2, "a chunk and a sequence: {listed}");
}

/// The layout of LTTng, as large as wanted.
#[path = "../../../benches/common/ctf_trace.rs"]
#[allow(dead_code)]
pub mod ctf_trace;

/// The number of lines of a range, and whether the damage was met that is far before it. Times are in nanoseconds.
fn range_of(path: &str, from: i128, to: i128) -> (usize, bool) {
    let date = |ns: i128| jiff::Timestamp::from_nanosecond(ns).unwrap().to_string();
    let part = cat(&["--from", &date(from), "--to", &date(to)], path);
    for line in &part.lines {
        assert!(time(line).is_some_and(|time| (from..to).contains(&time)), "{line}");
    }
    (part.lines.len(), part.status == 3)
}

/// A trace is read as a whole, or, if it is larger than 16 MiB, where its indices and headers lead. The larger ones begin
/// as the smaller ones do.
#[test]
fn ranges_of_large_traces_are_sought() {
    const MIB: usize = 1 << 20;
    let scratch = Scratch::new("large");
    let rtc = |mib: usize| {
        // Bytes that no frame is of.
        let mut data = rtc::sample(Options::sizes(1 << 18, 1 << 14), mib * MIB);
        data[300_000..300_100].fill(0xee);
        scratch.file("large.rtc", &data)
    };
    let ctf = |mib: usize| {
        fs::create_dir_all(scratch.0.join("ctf")).unwrap();
        scratch.file("ctf/metadata", ctf_trace::metadata(0).as_bytes());
        let mut data = ctf_trace::stream(mib * MIB);
        // The first record of the second packet is of no class that there is.
        data[(128 << 10) + 84] = 99;
        scratch.file("ctf/stream", &data);
        scratch.0.join("ctf").to_str().unwrap().to_owned()
    };
    let rfr = |mib: usize| {
        fs::create_dir_all(scratch.0.join("rfr/2023-11/14-22")).unwrap();
        for number in 0..mib as u64 {
            let sequence = Sequence::new(1).task(1, 1, &"a".repeat(MIB), None).times(0, 30);
            let sequence = (0..30).fold(sequence, |sequence, at| sequence.about(at, 8, 1));
            let mut chunk = Chunk::new(1_700_000_000 + 60 * number).sequence(sequence).bytes();
            // The first chunk lacks its end.
            chunk.truncate(chunk.len() - if number == 0 { 3 } else { 0 });
            scratch.file(&format!("rfr/2023-11/14-22/chunk-{number:02}-00.rfr"), &chunk);
        }
        scratch.0.join("rfr").to_str().unwrap().to_owned()
    };
    let start = 1_700_000_000_000_000_000;
    type Write<'w> = &'w dyn Fn(usize) -> String;
    let formats: [(Write<'_>, i128, i128); 3] = [
        (&rtc, start + 5_000_000_000, start + 5_010_000_000),
        (&ctf, start + 30_000_000, start + 30_010_000),
        (&rfr, start + 600_000_000_000, start + 600_000_020_000),
    ];
    for (write, from, to) in formats {
        let (all, is_met) = range_of(&write(15), from, to);
        assert!(all >= 20 && is_met, "{all} lines");
        let path = write(17);
        assert_eq!(range_of(&path, from, to), (all, false), "{path}");
    }
}

/// Packets of a large trace that state no begin, or were never closed, are read and cut as others are.
#[test]
fn packets_of_a_large_trace_may_state_no_begin_or_end() {
    let scratch = Scratch::new("large-unstated");
    scratch.file("ctf/metadata", ctf_trace::metadata(0).as_bytes());
    let good = ctf_trace::stream(17 << 20);
    let start = 1_700_000_000_000_000_000;
    let (path, out) = (scratch.path("ctf"), scratch.path("out"));
    let counts = [None, Some(32), Some(40)].map(|stamp| {
        let mut data = good.clone();
        for place in stamp.into_iter().flat_map(|stamp| (stamp..good.len()).step_by(128 << 10)) {
            data[place..place + 8].fill(0);
        }
        scratch.file("ctf/stream", &data);
        let cut = traceglass(&[
            "cut",
            "--force",
            "--from",
            "2023-11-14T22:13:20.030Z",
            "--to",
            "2023-11-14T22:13:20.0301Z",
            "-o",
            &out,
            &path,
        ]);
        assert_eq!(status(&cut), 0, "{stamp:?}");
        [&path, &out].map(|path| range_of(path, start + 30_000_000, start + 30_100_000))
    });
    assert!(counts[0][0].0 > 20, "{counts:?}");
    assert!(counts.iter().flatten().all(|count| *count == counts[0][0]), "{counts:?}");
}

/// The bytes that `--raw` prints of a range are those of the records in it.
#[test]
fn raw_bytes_of_a_range_are_those_of_its_records() {
    let path = data("sample.rtc");
    let path = path.to_str().unwrap();
    let whole = cat(&["--stream", "stdout"], path);
    let times: Vec<i128> = whole.lines.iter().filter_map(time).collect();
    let (from, to) = (times[times.len() / 4], times[times.len() / 2]);
    let texts = whole.lines.iter().filter(|line| time(line).is_some_and(|time| (from..to).contains(&time)));
    let expected: String = texts.map(|line| line["value"].as_str().unwrap()).collect();
    let date = |ns: i128| jiff::Timestamp::from_nanosecond(ns).unwrap().to_string();
    let output =
        traceglass(&["cat", "--raw", "--stream", "stdout", "--from", &date(from), "--to", &date(to), path]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    assert!(!expected.is_empty());
}

/// In a large trace, what happened in a range is found although a clock was wrong for a moment: shortly before the place
/// to which the indices lead, and shortly after the first record that is later than the range.
#[test]
fn around_a_range_of_a_large_trace_clocks_may_be_wrong() {
    let scratch = Scratch::new("around");
    let start = 1_700_000_000_000_000_000;
    let second = 1_000_000_000;
    // RTC: a record each second, and each 40 KiB; two records are in a range of one second without having their turn.
    let mut writer = Writer::new(Options::sizes(1 << 18, 1 << 14));
    let clock = writer.stream(CLOCK);
    let filler = writer.stream(r#""name":"filler""#);
    for number in 0..450_u64 {
        let seconds = if [195, 205].contains(&number) { 200 } else { number };
        writer.write(clock, &timespec((1_700_000_000 - 1_000 + seconds) * 1_000_000));
        writer.write(filler, &[0x5a; 40 << 10]);
    }
    let path = scratch.file("large.rtc", &writer.stop());
    let stamps = |from, to| {
        let date = |ns: i128| jiff::Timestamp::from_nanosecond(ns).unwrap().to_string();
        let part = cat(&["--from", &date(from), "--to", &date(to)], &path);
        part.lines.iter().filter(|line| line["stream"] == "clk").count()
    };
    assert_eq!(stamps(start + 200 * second, start + 201 * second), 3, "RTC");

    // CTF: the last record of a packet is as late as the second packet after it.
    fs::create_dir_all(scratch.0.join("ctf")).unwrap();
    scratch.file("ctf/metadata", ctf_trace::metadata(0).as_bytes());
    let mut data = ctf_trace::stream(17 << 20);
    let begin = |number: usize| (number << 17) + 32;
    let time = |data: &[u8], at: usize| u64::from_le_bytes(data[at..at + 8].try_into().unwrap());
    let middle = time(&data, begin(62)) + 1_000;
    let end = begin(60) - 32 + usize::try_from(time(&data, begin(60) + 16) / 8).unwrap();
    // The last record has 58 bytes, the first ones of which are class and time.
    assert_eq!((data[end - 58..][..2] == [0, 0], &data[end - 12..end - 8]), (true, &[1, 0, 0, 0][..]));
    data[end - 56..end - 52].copy_from_slice(&u32::try_from(middle).unwrap().to_le_bytes());
    scratch.file("ctf/stream", &data);
    let from = start + i128::from(middle);
    let found = |from| range_of(&scratch.path("ctf"), from, from + 1).0;
    assert_eq!((found(from), found(from + 100)), (2, 1), "CTF");
    // A packet before it says that it begins late.
    let late = time(&data, begin(50)) + 1_000_000_000;
    data[begin(50)..begin(50) + 8].copy_from_slice(&late.to_le_bytes());
    scratch.file("ctf/stream", &data);
    assert_eq!((found(from), found(from + 100)), (2, 1), "CTF");

    // RFR: records five seconds after what the headers of their chunks state.
    fs::create_dir_all(scratch.0.join("rfr/2023-11/14-22")).unwrap();
    for number in 0..17_u64 {
        let sequence = Sequence::new(1).task(1, 1, &"a".repeat(1 << 20), None);
        let sequence = sequence.about(0, 8, 1).about(6_000_000, 8, 1);
        let mut chunk = Chunk::new(1_700_000_000 + 60 * number).sequence(sequence);
        chunk.times = Some((0, 1_000_000));
        scratch.file(&format!("rfr/2023-11/14-22/chunk-{number:02}-00.rfr"), &chunk.bytes());
    }
    let found = |at: i128| range_of(&scratch.path("rfr"), start + at * second, start + at * second + 1).0;
    assert_eq!((found(600), found(603), found(606)), (1, 0, 1), "RFR");
}
