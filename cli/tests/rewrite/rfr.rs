//! RFR: sequences of chunks, records of streams.

use crate::common::random::Random;
use crate::common::rfr::{Chunk, Parent, Sequence, Writer};
use crate::common::{Scratch, data, rfr, status, traceglass};
use crate::shared::{files, is_clean, lines, records, unplaced, write};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

const BASE: u64 = 1_700_000_000;
const POLL_START: u8 = 6;
const POLL_END: u8 = 7;

/// A sequence of a task that is polled once.
fn sequence(number: u64, start: u64, end: u64) -> Sequence {
    let sequence = Sequence::new(number).task(number, 1, "task", None);
    sequence.about(start, POLL_START, number).about(end, POLL_END, number)
}

fn time(second: u64, micros: u64) -> String {
    format!("@{}", (BASE + second) * 1_000_000 + micros)
}

/// A recording of two seconds.
fn recording(scratch: &Scratch, name: &str) -> String {
    let first = Chunk::new(BASE).sequence(sequence(1, 10, 20)).sequence(sequence(2, 500, 600));
    // A poll that lasts beyond its chunk.
    let open = Sequence::new(3).task(3, 1, "long", None).about(900_000, POLL_START, 3);
    let second = Chunk::new(BASE + 1)
        .sequence(sequence(4, 10, 20))
        .sequence(Sequence::new(3).task(3, 1, "long", None).about(700, POLL_END, 3));
    scratch.file(&format!("{name}/meta.rfr"), &rfr::meta(BASE, 0, &["rfr-c/0.0.2"]));
    scratch.file(&format!("{name}/2023/a/chunk-00.rfr"), &first.sequence(open).bytes());
    scratch.file(&format!("{name}/2023/a/chunk-01.rfr"), &second.bytes());
    scratch.path(name)
}

#[test]
fn all_of_a_recording_is_that_recording() {
    let scratch = Scratch::new("rewrite-rfr-all");
    let own = recording(&scratch, "own");
    let samples = ["sample.rfr", "stream.rfr"].map(|name| data(name).to_str().unwrap().to_owned());
    for (number, input) in samples.into_iter().chain([own]).enumerate() {
        let [recovered, cut, merged] =
            ["recovered", "cut", "merged"].map(|verb| scratch.path(&format!("{verb}-{number}")));
        assert_eq!(write(&["recover", "-o", &recovered, &input]).0, 0);
        assert_eq!(files(&recovered), files(&input));
        assert_eq!(write(&["cut", "--from", "@1", "-o", &cut, &input]).0, 0);
        assert_eq!(files(&cut), files(&input));
        if fs::metadata(&input).unwrap().is_dir() {
            assert_eq!(write(&["merge", "-o", &merged, &input, &cut]).0, 0);
            assert_eq!(files(&merged), files(&input));
        }
    }
}

#[test]
fn windows_keep_whole_sequences() {
    let scratch = Scratch::new("rewrite-rfr-window");
    let input = recording(&scratch, "in");
    let all = files(&input);
    let chunk = |sequences: &[Sequence]| {
        let chunk = Chunk::new(BASE);
        sequences.iter().cloned().fold(chunk, Chunk::sequence).bytes()
    };
    let (one, two) = (sequence(1, 10, 20), sequence(2, 500, 600));
    let open = Sequence::new(3).task(3, 1, "long", None).about(900_000, POLL_START, 3);
    for (from, to, first, second) in [
        (time(0, 0), time(0, 10), None, false),
        (time(0, 0), time(0, 11), Some(chunk(std::slice::from_ref(&one))), false),
        (time(0, 20), time(0, 21), Some(chunk(std::slice::from_ref(&one))), false),
        (time(0, 21), time(0, 500), None, false),
        (time(0, 21), time(0, 501), Some(chunk(std::slice::from_ref(&two))), false),
        (time(0, 20), time(0, 501), Some(chunk(&[one, two])), false),
        // The start of the poll that is open stays.
        (time(1, 700), time(2, 0), Some(chunk(std::slice::from_ref(&open))), true),
        (time(1, 701), time(2, 0), None, false),
    ] {
        let out = scratch.path("out");
        let (code, report) = write(&["cut", "--force", "--from", &from, "--to", &to, "-o", &out, &input]);
        assert_eq!(code, 0, "{report}");
        let written = files(&out);
        assert_eq!(written["meta.rfr"], all["meta.rfr"]);
        assert_eq!(written.get("2023/a/chunk-00.rfr"), first.as_ref(), "{from} {to}");
        assert_eq!(written.contains_key("2023/a/chunk-01.rfr"), second, "{from} {to}");
        assert!(is_clean(&out));
        let again = scratch.path("again");
        assert_eq!(write(&["cut", "--force", "--from", &from, "--to", &to, "-o", &again, &out]).0, 0);
        assert_eq!(files(&again), written);
    }
    // A chunk that is a file of its own is one also when it is empty.
    let out = scratch.path("chunk.rfr");
    let chunk_file = format!("{input}/2023/a/chunk-00.rfr");
    assert_eq!(write(&["cut", "--to", &time(0, 5), "-o", &out, &chunk_file]).0, 0);
    assert_eq!(fs::read(&out).unwrap(), chunk(&[]));
}

#[test]
fn damaged_chunks_keep_their_whole_records() {
    let scratch = Scratch::new("rewrite-rfr-damaged");
    let input = recording(&scratch, "in");
    let whole = files(&input)["2023/a/chunk-00.rfr"].clone();
    let path = "in/2023/a/chunk-00.rfr";
    for cut in 30..whole.len() {
        scratch.write(path, &whole[..cut]);
        let out = scratch.path("out");
        let (code, report) = write(&["recover", "--force", "-o", &out, &input]);
        assert_eq!(code, 3, "{cut}: {report}");
        assert!(is_clean(&out), "{cut}");
        assert_eq!(records(&out), records(&input), "{cut}");
        let again = scratch.path("again");
        assert_eq!(write(&["recover", "--force", "-o", &again, &out]).0, 0);
        assert_eq!(files(&again), files(&out), "{cut}");
    }
}

/// Records of a stream: seconds and microseconds, kind, data.
fn stream(records: &[(u64, u64, u32, Writer)]) -> Vec<u8> {
    let front = Writer::new().string("rfr-s/0.0.2");
    let write = |writer: Writer, (micros, _, kind, data): &(u64, u64, u32, Writer)| {
        writer.ints([BASE, *micros]).int((*kind).into()).raw(&data.0)
    };
    records.iter().fold(front, write).0
}

#[test]
fn streams_keep_what_later_records_name() {
    let scratch = Scratch::new("rewrite-rfr-stream");
    let about = |iid: u64| Writer::new().ints([iid]);
    let records = [
        (1, 0, 1, rfr::callsite(11, 30, 1, &[], &[])),
        (2, 0, 1, rfr::callsite(12, 30, 1, &[], &[])),
        (3, 0, 4, rfr::task(1, 11, 1, "one", Ok(0), None)),
        (4, 0, 4, rfr::task(2, 12, 2, "two", Ok(0), Some(1))),
        (5, 0, 10, about(1)),
        (6, 0, 11, about(1)),
        (7, 0, 10, about(2)),
        (8, 0, 11, about(2)),
        (9, 0, 10, about(1)),
    ];
    let input = scratch.file("in.rfr", &stream(&records));
    let out = scratch.path("out.rfr");
    for (from, to, kept) in [
        // The task of the record, who spawned it, and both callsites; the start of the open poll.
        (8, 9, vec![0, 1, 2, 3, 6, 7]),
        (5, 6, vec![0, 2, 4]),
        (1, 10, vec![0, 1, 2, 3, 4, 5, 6, 7, 8]),
        (9, 20, vec![0, 2, 8]),
        (0, 1, vec![]),
    ] {
        let (from, to) = (time(0, from), time(0, to));
        let (code, report) = write(&["cut", "--force", "--from", &from, "--to", &to, "-o", &out, &input]);
        assert_eq!((code, &report["units_kept"]), (0, &kept.len().into()));
        let expected: Vec<_> = kept.iter().map(|number| records[*number].clone()).collect();
        assert_eq!(fs::read(&out).unwrap(), stream(&expected), "{from} {to}");
        assert!(is_clean(&out));
    }
    // A cut recording loses the record that is cut.
    let whole = stream(&records);
    let input = scratch.file("cut.rfr", &whole[..whole.len() - 1]);
    assert_eq!(write(&["recover", "--force", "-o", &out, &input]).0, 3);
    assert_eq!(fs::read(&out).unwrap(), stream(&records[..8]));
    let output = traceglass(&["merge", "--force", "-o", &out, &input, &input]);
    assert_eq!(status(&output), 2);
}

#[test]
fn merged_cuts_are_the_whole() {
    let scratch = Scratch::new("rewrite-rfr-merge");
    let input = recording(&scratch, "in");
    let [a, b, out] = ["a", "b", "out"].map(|name| scratch.path(name));
    assert_eq!(write(&["cut", "--to", &time(0, 501), "-o", &a, &input]).0, 0);
    assert_eq!(write(&["cut", "--from", &time(0, 501), "-o", &b, &input]).0, 0);
    assert_eq!(write(&["merge", "-o", &out, &a, &b]).0, 0);
    assert_eq!(files(&out), files(&input));
    // Another recording.
    let other = data("sample.rfr");
    assert_eq!(status(&traceglass(&["merge", "--force", "-o", &out, &a, other.to_str().unwrap()])), 2);
    assert_eq!(files(&out), files(&input));
}

/// The start of a poll that lies on both sides of the time is in both parts, and so twice in what they merge into.
#[test]
fn merged_exact_cuts_have_the_records_of_the_whole() {
    let scratch = Scratch::new("rewrite-rfr-merge-exact");
    let input = data("sample.rfr").to_str().unwrap().to_owned();
    let all = records_of(&in_order_of_files(&input));
    let [a, b, out] = ["a", "b", "out"].map(|name| scratch.path(name));
    for (number, after, starts) in [(123, 0, 0), (123, 1, 1), (2, 1, 2), (200, 1, 0)] {
        let middle = micros(&all[number]) + after;
        let at = format!("@{middle}");
        assert_eq!(write(&["cut", "--exact", "--force", "--to", &at, "-o", &a, &input]).0, 0);
        assert_eq!(write(&["cut", "--exact", "--force", "--from", &at, "-o", &b, &input]).0, 0);
        assert_eq!(write(&["merge", "--force", "-o", &out, &a, &b]).0, 0);
        let twice = within(&all, middle, middle);
        assert_eq!(twice.len(), starts, "{number}");
        assert_eq!(records(&out), said(&[all.clone(), twice].concat()), "{number}");
        assert!(is_clean(&out));
    }
}

/// A range that counts from the start is the same by the clock, whatever the first header says of its records, and if the
/// second chunk has the first one.
#[test]
fn a_range_from_the_start_is_one_by_the_clock() {
    let scratch = Scratch::new("rewrite-rfr-start");
    let open = Sequence::new(3).task(3, 1, "long", None).about(900_000, POLL_START, 3);
    for (times, base) in [(None, 1), (Some((5, 900_000)), 1), (Some((300, 900_000)), 1), (None, 0)] {
        let first = Chunk { times, ..Chunk::new(BASE + 1) };
        let first =
            first.sequence(sequence(1, 10, 20)).sequence(sequence(2, 500, 600)).sequence(open.clone());
        let second = Chunk::new(BASE + 2 * base);
        let second = second.sequence(sequence(4, 10, 20)).sequence(sequence(5, 30, 40));
        scratch.file("in/meta.rfr", &rfr::meta(BASE, 0, &["rfr-c/0.0.2"]));
        scratch.file("in/2023/a/chunk-00.rfr", &first.bytes());
        scratch.file("in/2023/a/chunk-01.rfr", &second.bytes());
        let [input, since, clock] = ["in", "since", "clock"].map(|name| scratch.path(name));
        for after in [0, 1, 20, 490, 491, 899_990, 1_000_000, 1_000_021] {
            let cut = |from: &str, out: &str| write(&["cut", "--force", "--from", from, "-o", out, &input]);
            let (code, report) = cut(&format!("+{after}us"), &since);
            let (_, expected) = cut(&time(base, 10 + after), &clock);
            assert_eq!(code, 0, "{report}");
            assert_eq!(files(&since), files(&clock), "{times:?} {base} {after}");
            assert_eq!(report["units_kept"], expected["units_kept"]);
        }
    }
}

/// The microseconds of a record since the Unix epoch.
fn micros(record: &Value) -> u64 {
    record["micros"].as_u64().unwrap()
}

/// All objects and records of a recording in the order of its files, which is also that of each sequence.
fn in_order_of_files(path: &str) -> Vec<Value> {
    let mut all = lines(&["cat", "--json", "--objects", path]);
    let place = |record: &Value| (record["path"].to_string(), record["offset"].as_u64());
    all.sort_by_key(place);
    all
}

/// The records among them.
fn records_of(all: &[Value]) -> Vec<Value> {
    all.iter().filter(|record| record["micros"].is_u64()).cloned().collect()
}

/// The content of records, in any order, without where they lie.
fn said(records: &[Value]) -> Vec<String> {
    let mut said: Vec<_> = records.iter().cloned().map(unplaced).collect();
    said.sort();
    said
}

/// Of all records, those in a range, and the starts of polls that are open when it begins.
fn within(all: &[Value], from: u64, to: u64) -> Vec<Value> {
    let mut open = BTreeMap::new();
    for record in all.iter().filter(|record| record["kind"] == "TaskPollStart" && micros(record) < from) {
        let latest = open.entry(record["iid"].as_u64()).or_insert(record);
        if micros(record) >= micros(latest) {
            *latest = record;
        }
    }
    open.retain(|iid, start| {
        !all.iter().any(|record| {
            record["kind"] == "TaskPollEnd"
                && record["iid"].as_u64() == *iid
                && (micros(start)..from).contains(&micros(record))
        })
    });
    let is_in = |record: &&Value| (from..to).contains(&micros(record));
    all.iter().filter(is_in).chain(open.into_values()).cloned().collect()
}

/// The objects of sequences with records that are kept: all of them if all of these are, and else what is named.
fn named(all: &[Value], kept: &[Value]) -> Vec<Value> {
    let sequence = |of: &Value| (of["path"].to_string(), of["seq_id"].as_u64());
    let count = |of: &[Value], object: &Value| {
        of.iter().filter(|record| record["micros"].is_u64() && sequence(record) == sequence(object)).count()
    };
    let mut objects: Vec<_> = all.iter().filter(|object| object["micros"].is_null()).collect();
    objects.retain(|object| count(kept, object) > 0);
    let is_whole = |object: &Value| count(kept, object) == count(all, object);
    let wholes = objects.iter().filter(|object| is_whole(object)).copied();
    let ids = |of: &Value| ["iid", "task_iid", "context", "parent"].map(|name| of[name].as_u64());
    let mut named: BTreeSet<_> = kept.iter().chain(wholes).flat_map(ids).flatten().collect();
    loop {
        let all = objects.iter().filter(|object| named.contains(&object["iid"].as_u64().unwrap()));
        let next: BTreeSet<_> = all.copied().flat_map(ids).flatten().chain(named.iter().copied()).collect();
        if next == named {
            break;
        }
        named = next;
    }
    objects.retain(|object| is_whole(object) || named.contains(&object["iid"].as_u64().unwrap()));
    objects.into_iter().cloned().collect()
}

/// Cuts a range out of a recording, and asserts what holds of each: gives how many objects were left out.
fn cut_exactly(scratch: &Scratch, input: &str, all: &[Value], (from, to): (u64, u64)) -> usize {
    let [out, again] = ["out", "again"].map(|name| scratch.path(name));
    let exact = |out: &str, input: &str| {
        let (from, to) = (format!("@{from}"), format!("@{to}"));
        write(&["cut", "--exact", "--force", "--from", &from, "--to", &to, "-o", out, input])
    };
    let expected = within(&records_of(all), from, to);
    let (code, report) = exact(&out, input);
    assert_eq!(code, 0, "{report}");
    assert_eq!(report["records"], expected.len(), "{from} {to}");
    let found = in_order_of_files(&out);
    assert_eq!(said(&records_of(&found)), said(&expected), "{from} {to}");
    let iids = |objects: &[Value]| {
        let place =
            |object: &Value| (object["path"].to_string(), object["seq_id"].as_u64(), object["iid"].as_u64());
        objects.iter().filter(|object| object["micros"].is_null()).map(place).collect::<Vec<_>>()
    };
    let objects = iids(&named(all, &expected));
    assert_eq!(iids(&found), objects, "{from} {to}");
    assert!(is_clean(&out), "{from} {to}");
    assert_eq!(exact(&again, &out).0, 0);
    assert_eq!(files(&again), files(&out), "{from} {to}");
    assert_eq!(write(&["recover", "--force", "-o", &again, &out]).0, 0);
    assert_eq!(files(&again), files(&out), "{from} {to}");
    iids(all).len() - objects.len()
}

#[test]
fn exact_windows_of_samples_have_the_records_of_the_window() {
    let sample = data("sample.rfr").to_str().unwrap().to_owned();
    let chunk = format!("{sample}/2026-11/21-01/chunk-41-54.rfr");
    for (number, input) in [sample, chunk].into_iter().enumerate() {
        let scratch = Scratch::new(&format!("rewrite-rfr-exact-sample-{number}"));
        let all = in_order_of_files(&input);
        let mut times: Vec<_> = records_of(&all).iter().map(micros).collect();
        times.sort();
        let (first, last) = (times[0], times[times.len() - 1]);
        // At a record's time, and right after it.
        let (a, b) = (times[times.len() / 3], times[2 * times.len() / 3]);
        for window in [(a, b), (a + 1, b + 1), (first, last), (first + 1, last + 1), (last + 1, last + 9)] {
            cut_exactly(&scratch, &input, &all, window);
        }
        // What other verbs read, too.
        let (out, export) = (scratch.path("out"), scratch.path("out.pftrace"));
        cut_exactly(&scratch, &input, &all, (a, b));
        assert!(files(&out) != files(&input));
        for args in [
            &["info"][..],
            &["ls"],
            &["stats"],
            &["export", "--format", "perfetto", "--force", "-o", &export],
        ] {
            let output = traceglass(&[args, &[&out]].concat());
            assert_eq!(status(&output), 0, "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        // All of it is that recording.
        cut_exactly(&scratch, &input, &all, (first, last + 1));
        assert_eq!(files(&out), files(&input));
    }
}

/// Records are left out from both ends of a sequence; its header and counts are made new, and nothing else.
#[test]
fn exact_windows_take_sequences_apart() {
    let scratch = Scratch::new("rewrite-rfr-exact");
    let input = recording(&scratch, "in");
    let all = files(&input);
    let part = |number: u64| Sequence::new(number).task(number, 1, "task", None);
    let open = || Sequence::new(3).task(3, 1, "long", None).about(900_000, POLL_START, 3);
    let chunk = |sequences: &[Sequence]| {
        let bytes = sequences.iter().cloned().fold(Chunk::new(BASE), Chunk::sequence).bytes();
        (!sequences.is_empty()).then_some(bytes)
    };
    let (one, two) = (sequence(1, 10, 20), sequence(2, 500, 600));
    for (from, to, first) in [
        (9, 10, vec![]),
        (10, 11, vec![part(1).about(10, POLL_START, 1)]),
        (10, 20, vec![part(1).about(10, POLL_START, 1)]),
        (10, 21, vec![one.clone()]),
        // The start of the poll that is open stays.
        (11, 20, vec![part(1).about(10, POLL_START, 1)]),
        (11, 21, vec![one.clone()]),
        (20, 21, vec![one.clone()]),
        (21, 500, vec![]),
        (20, 501, vec![one, part(2).about(500, POLL_START, 2)]),
        (501, 900_001, vec![two, open()]),
        (601, 900_000, vec![]),
        (601, 900_001, vec![open()]),
        (1_000_000, 1_000_010, vec![open()]),
    ] {
        let (out, again) = (scratch.path("out"), scratch.path("again"));
        let (from, to) = (time(0, from), time(0, to));
        let cut = |out: &str, input: &str| {
            write(&["cut", "--exact", "--force", "--from", &from, "--to", &to, "-o", out, input])
        };
        let (code, report) = cut(&out, &input);
        assert_eq!((code, &report["units_kept"]), (0, &first.len().into()), "{from} {to}: {report}");
        let written = files(&out);
        assert_eq!(written["meta.rfr"], all["meta.rfr"]);
        assert_eq!(written.get("2023/a/chunk-00.rfr"), chunk(&first).as_ref(), "{from} {to}");
        assert!(!written.contains_key("2023/a/chunk-01.rfr"), "{from} {to}");
        assert!(is_clean(&out));
        assert_eq!(cut(&again, &out).0, 0);
        assert_eq!(files(&again), written);
    }
    // A chunk that is a file of its own is one also when it is empty.
    let out = scratch.path("chunk.rfr");
    let alone = format!("{input}/2023/a/chunk-00.rfr");
    assert_eq!(write(&["cut", "--exact", "--to", &time(0, 10), "-o", &out, &alone]).0, 0);
    assert_eq!(fs::read(&out).unwrap(), Chunk::new(BASE).bytes());
}

/// A recording of a few chunks with all kinds of records and objects, whose clock steps back now and then.
fn random_recording(scratch: &Scratch, name: &str, random: &mut Random) -> String {
    let mut below = |limit: u64| random.next() % limit;
    scratch.file(&format!("{name}/meta.rfr"), &rfr::meta(BASE, 0, &["rfr-c/0.0.2"]));
    for number in 0..2 + below(2) {
        let mut chunk = Chunk { end: 1000, ..Chunk::new(BASE + number) };
        for id in 0..below(5) {
            let mut sequence = Sequence::new(id);
            // Few ids, so that tasks are polled from several sequences.
            for iid in 1..=5 {
                let context = (below(2) == 0).then(|| 1 + below(6));
                sequence = sequence.task(iid, 1, &format!("task {iid}"), context);
            }
            sequence = sequence.object(0, &rfr::span(6, 1, Parent::Explicit(1 + below(6)), &[], &[]));
            let (mut now, mut times) = (below(400), Vec::new());
            for _ in 0..below(12) {
                now = if below(8) == 0 { now.saturating_sub(below(100)) } else { (now + below(60)).min(999) };
                times.push(now);
                let iid = 1 + below(5);
                sequence = match below(10) {
                    0 => sequence.waker(now, 9 + below(4) as u32, iid, (below(2) == 0).then(|| 1 + below(7))),
                    1 => sequence.record(now, 4, &rfr::event(1, Parent::Explicit(6), &[], &[])),
                    2 | 3 => sequence.about(now, below(3) as u8, 6),
                    number if number < 7 => sequence.about(now, POLL_START, iid),
                    _ => sequence.about(now, POLL_END, iid),
                };
            }
            if let Some((first, last)) = times.iter().min().zip(times.iter().max()) {
                sequence = sequence.times(*first, *last);
            }
            chunk = chunk.sequence(sequence);
        }
        scratch.file(&format!("{name}/2023/a/chunk-{number:02}.rfr"), &chunk.bytes());
    }
    scratch.path(name)
}

#[test]
fn exact_windows_of_random_recordings_have_the_records_of_the_window() {
    let scratch = Scratch::new("rewrite-rfr-exact-random");
    let mut random = Random(0x5eed);
    let (mut halves, mut starts, mut objects) = (0, 0, 0);
    for number in 0..12 {
        let input = random_recording(&scratch, &format!("in-{number}"), &mut random);
        let all = in_order_of_files(&input);
        let own = records_of(&all);
        let Some(last) = own.iter().map(micros).max() else { continue };
        let mut time = || match random.next() % 4 {
            // At a record's time, and beside it.
            0..3 => micros(&own[random.next() as usize % own.len()]) + random.next() % 2,
            _ => (BASE + random.next() % 4) * 1_000_000 + random.next() % 1000,
        };
        for _ in 0..3 {
            let (a, b) = (time(), time());
            objects += cut_exactly(&scratch, &input, &all, (a.min(b), a.max(b)));
        }
        // Both sides of a time have the records of the whole, and the starts of polls that are open twice.
        let middle = time().clamp(2, last);
        let mut both = Vec::new();
        for window in [(1, middle), (middle, last + 1)] {
            cut_exactly(&scratch, &input, &all, window);
            both.extend(records(&scratch.path("out")));
        }
        let twice = within(&own, middle, middle);
        starts += twice.len();
        halves += usize::from(both.len() > twice.len());
        both.sort();
        assert_eq!(both, said(&[own, twice].concat()));
    }
    assert!(halves > 6 && starts > 6 && objects > 100, "{halves} {starts} {objects}");
}

#[test]
fn exact_windows_of_damaged_chunks_have_whole_records() {
    let scratch = Scratch::new("rewrite-rfr-exact-damaged");
    let input = recording(&scratch, "in");
    let whole = files(&input)["2023/a/chunk-00.rfr"].clone();
    // Right after a record's time, and up to one.
    let windows = [11, 21].map(|from| (BASE * 1_000_000 + from, BASE * 1_000_000 + 600));
    let mut found = BTreeSet::new();
    let mut cut = |damaged: &[u8], least: i32| {
        scratch.write("in/2023/a/chunk-00.rfr", damaged);
        let (out, again) = (scratch.path("out"), scratch.path("again"));
        for (from, to) in windows {
            let exact = |out: &str, input: &str| {
                let (from, to) = (format!("@{from}"), format!("@{to}"));
                write(&["cut", "--exact", "--force", "--from", &from, "--to", &to, "-o", out, input])
            };
            let (code, report) = exact(&out, &input);
            assert!((least..=3).contains(&code), "{damaged:x?}: {report}");
            assert!(is_clean(&out), "{damaged:x?}");
            let expected = within(&records_of(&in_order_of_files(&input)), from, to);
            assert_eq!(records(&out), said(&expected), "{damaged:x?}");
            assert_eq!(exact(&again, &out).0, 0);
            assert_eq!(files(&again), files(&out), "{damaged:x?}");
            found.insert(expected.len());
        }
    };
    for len in 30..whole.len() {
        cut(&whole[..len], 3);
    }
    // Of the second sequence, the first record has an unknown kind.
    let place = whole.windows(3).position(|bytes| bytes == [0xf4, 0x03, POLL_START]).unwrap();
    for kind in [4, 13, 0x7f] {
        let mut damaged = whole.clone();
        damaged[place + 2] = kind;
        cut(&damaged, 0);
    }
    assert_eq!(found, BTreeSet::from([0, 1, 2, 3]));
}
