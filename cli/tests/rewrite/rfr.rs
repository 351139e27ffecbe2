//! RFR: sequences of chunks, records of streams.

use crate::common::rfr::{Chunk, Sequence, Writer};
use crate::common::{Scratch, data, rfr, status, traceglass};
use crate::shared::{files, is_clean, records, write};
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
