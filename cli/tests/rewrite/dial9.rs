//! dial9: batches, and events in them.

use crate::common::dial9::Writer;
use crate::common::{Scratch, data, status, traceglass};
use crate::shared::{files, is_clean, lines, records, write};
use std::fs;

const VARINT: u8 = 9;

/// A batch of events at these times, with their number in the batch; a reset wherever the time does not fit.
fn batch(name: &str, times: &[u64]) -> Writer {
    let mut writer = Writer::new().header().schema(7, name, &[("n", VARINT)]).strings(&[(0, "text")]);
    let mut base = 0;
    for (number, &time) in times.iter().enumerate() {
        let delta = time.checked_sub(base).filter(|delta| *delta < 1 << 24);
        if delta.is_none() {
            writer = writer.reset(time);
        }
        writer = writer.event(7, delta.unwrap_or(0) as u32).varint(number as u64);
        base = time;
    }
    writer
}

/// Two batches, whose times overlap and go back.
fn sample() -> Vec<u8> {
    let second = batch("PollEndEvent", &[150_000_000, 50, 400_000_000]);
    [batch("PollStartEvent", &[100, 200, 300_000_000, 300_000_005]).0, second.0].concat()
}

#[test]
fn all_of_a_recording_is_that_recording() {
    let scratch = Scratch::new("rewrite-dial9-all");
    let own = scratch.file("own.bin", &sample());
    for (number, input) in [data("trace.0.bin").to_str().unwrap(), &own].into_iter().enumerate() {
        let [recovered, cut, merged] =
            ["recovered", "cut", "merged"].map(|verb| scratch.path(&format!("{verb}-{number}")));
        let (code, report) = write(&["recover", "-o", &recovered, input]);
        assert_eq!((code, &report["records"]), (0, &report["units_kept"]), "{report}");
        assert_eq!(report["records"], records(input).len() as u64, "{report}");
        assert_eq!(write(&["cut", "--from", "@0", "-o", &cut, input]).0, 0);
        assert_eq!(write(&["merge", "-o", &merged, input]).0, 0);
        for written in [recovered, cut, merged] {
            assert_eq!(fs::read(&written).unwrap(), fs::read(input).unwrap());
        }
    }
}

#[test]
fn times_are_counted_anew() {
    let scratch = Scratch::new("rewrite-dial9-window");
    let input = scratch.file("in.bin", &sample());
    let out = scratch.path("out.bin");
    for (from, to, first, second) in [
        // All of a batch stays as it is, with a reset that need not be there.
        ("@0", "@400000001", vec![100, 200, 300_000_000, 300_000_005], vec![150_000_000, 50, 400_000_000]),
        ("@100", "@201", vec![100, 200], vec![]),
        ("@101", "@201", vec![200], vec![]),
        ("@200", "@300000001", vec![200, 300_000_000], vec![150_000_000]),
        ("@50", "@51", vec![], vec![50]),
        ("@300000005", "@300000006", vec![300_000_005], vec![]),
        ("@1", "@50", vec![], vec![]),
        // From the first time on, which is not that of the first event.
        ("+50ns", "+151ns", vec![100, 200], vec![]),
    ] {
        assert_eq!(write(&["cut", "--force", "--from", from, "--to", to, "-o", &out, &input]).0, 0);
        // Numbers are those of the input.
        let renumbered = |name: &str, all: &[u64], kept: &[u64]| {
            let mut writer = Writer::new().header().schema(7, name, &[("n", VARINT)]).strings(&[(0, "text")]);
            let mut base = 0;
            for (number, &time) in all.iter().enumerate().filter(|(_, time)| kept.contains(time)) {
                let delta = time.checked_sub(base).filter(|delta| *delta < 1 << 24);
                writer = if delta.is_none() { writer.reset(time) } else { writer };
                writer = writer.event(7, delta.unwrap_or(0) as u32).varint(number as u64);
                base = time;
            }
            if kept.is_empty() { Vec::new() } else { writer.0 }
        };
        let mut expected = [
            renumbered("PollStartEvent", &[100, 200, 300_000_000, 300_000_005], &first),
            renumbered("PollEndEvent", &[150_000_000, 50, 400_000_000], &second),
        ]
        .concat();
        if expected.is_empty() {
            expected = b"TRC\0\x01".to_vec();
        }
        assert_eq!(fs::read(&out).unwrap(), expected, "{from} {to}");
        assert!(is_clean(&out));
        if from.starts_with('+') {
            continue;
        }
        let again = scratch.path("again.bin");
        assert_eq!(write(&["cut", "--force", "--from", from, "--to", to, "-o", &again, &out]).0, 0);
        assert_eq!(fs::read(&again).unwrap(), expected);
    }
}

/// What a recorder says of itself is selected as all else is: what `cat` prints is in the file.
#[test]
fn a_range_of_what_a_recorder_says_is_kept() {
    let scratch = Scratch::new("rewrite-dial9-about");
    let sample = data("trace.0.bin");
    let sample = sample.to_str().unwrap();
    let without_places = |args: &[&str]| -> Vec<String> {
        let strip = |mut line: serde_json::Value| {
            let of = line.as_object_mut().unwrap();
            of.remove("offset");
            of.remove("batch");
            line.to_string()
        };
        lines(&[&["cat", "--json"], args].concat()).into_iter().map(strip).collect()
    };
    let selects: [&[&str]; 5] = [
        &["--to=+2us"],
        &["--to=+1ns"],
        // Of its batch the second of two, and nothing of the others.
        &["--from=+1us", "--to=+2us"],
        &["--name=ClockSyncEvent"],
        &["--name=Clock*", "--to=+1ns"],
    ];
    for (number, select) in selects.iter().enumerate() {
        let out = scratch.path(&format!("{number}.bin"));
        let wanted = without_places(&[select, &[sample][..]].concat());
        let (code, report) = write(&[&["cut"], *select, &["-o", &out, sample]].concat());
        assert_eq!(code, 0, "{report}");
        assert!(!wanted.is_empty() && is_clean(&out), "{select:?}");
        assert_eq!(without_places(&[select, &[&out[..]][..]].concat()), wanted, "{select:?}");
    }
}

/// What has no time is in no range. If none is asked for, its name says that it is wanted.
#[test]
fn what_has_no_time_is_kept_by_its_name() {
    let scratch = Scratch::new("rewrite-dial9-timeless");
    let schemas = batch("PollStartEvent", &[100]).schema_timed(8, "Untimed", 0, &[]);
    let symbol = schemas.untimed(8).schema(9, "SymbolTableEntry", &[("addr", VARINT)]);
    let first = symbol.reset(0).event(9, 0).varint(1).event(9, 0).varint(2).0;
    let input = scratch.file("in.bin", &[first, batch("PollEndEvent", &[300]).0].concat());
    let names = |args: &[&str], path: &str| -> Vec<String> {
        let kind = |line: serde_json::Value| line["kind"].as_str().unwrap().to_owned();
        lines(&[&["cat", "--json"], args, &[path]].concat()).into_iter().map(kind).collect()
    };
    for (number, (name, count)) in [("SymbolTableEntry", 2), ("Untimed", 1)].into_iter().enumerate() {
        let select = format!("--name={name}");
        let out = scratch.path(&format!("{number}.bin"));
        let (code, report) = write(&["cut", &select, "-o", &out, &input]);
        assert_eq!(code, 0, "{report}");
        let kept = names(&[&select], &out);
        assert!(kept.len() == count && kept.iter().all(|kind| kind == name), "{kept:?}");
        assert!(is_clean(&out) && names(&[], &out).iter().all(|kind| !kind.starts_with("Poll")));
        let ranged = scratch.path(&format!("ranged-{number}.bin"));
        assert_eq!(write(&["cut", &select, "--from=@0", "-o", &ranged, &input]).0, 0);
        assert_eq!(fs::read(&ranged).unwrap(), b"TRC\0\x01");
    }
}

#[test]
fn damage_costs_the_rest_of_its_batch() {
    let scratch = Scratch::new("rewrite-dial9-damaged");
    let first = batch("PollStartEvent", &[100, 200]).0;
    let second = batch("PollEndEvent", &[300, 400]).0;
    let damaged = [&first[..], &[0x77; 9], &second, &second[..second.len() - 1]].concat();
    let input = scratch.file("in.bin", &damaged);
    let out = scratch.path("out.bin");
    let (code, report) = write(&["recover", "-o", &out, &input]);
    assert_eq!((code, &report["units_kept"], report["lost"].as_array().unwrap().len()), (3, &5.into(), 2));
    assert_eq!((&report["lost"][0]["offset"], &report["lost"][0]["len"]), (&first.len().into(), &9.into()));
    let last = &second[..second.len() - 7];
    assert_eq!(fs::read(&out).unwrap(), [&first[..], &second, last].concat());
    assert!(is_clean(&out));
    assert_eq!(records(&out), records(&input));
    let nothing = scratch.file("nothing.bin", b"TRC\0\x01\x77\x77");
    let output = traceglass(&["recover", "-o", &scratch.path("none"), &nothing]);
    assert_eq!((status(&output), fs::exists(scratch.path("none")).unwrap()), (1, false));
}

#[test]
fn folders_keep_their_segments() {
    let scratch = Scratch::new("rewrite-dial9-folder");
    let (one, two) = (batch("PollStartEvent", &[100, 200]).0, batch("PollEndEvent", &[300, 400]).0);
    scratch.file("in/trace.0.bin", &one);
    scratch.file("in/trace.1.bin", &two);
    let (input, out) = (scratch.path("in"), scratch.path("out"));
    assert_eq!(write(&["recover", "-o", &out, &input]).0, 0);
    assert_eq!(files(&out), files(&input));
    assert_eq!(write(&["cut", "--force", "--from", "@300", "-o", &out, &input]).0, 0);
    assert_eq!(files(&out).into_iter().collect::<Vec<_>>(), [("trace.1.bin".to_owned(), two.clone())]);
    assert_eq!(write(&["cut", "--force", "--from", "@500", "-o", &out, &input]).0, 0);
    assert_eq!(
        files(&out).into_iter().collect::<Vec<_>>(),
        [("trace.0.bin".to_owned(), b"TRC\0\x01".to_vec())]
    );
    // One file has all segments.
    let merged = scratch.path("merged.bin");
    assert_eq!(write(&["merge", "-o", &merged, &input]).0, 0);
    assert_eq!(fs::read(&merged).unwrap(), [one, two].concat());
    assert_eq!(records(&merged).len(), 4);
}

#[test]
fn recordings_are_merged_in_order_of_time() {
    let scratch = Scratch::new("rewrite-dial9-order");
    let later = batch("PollEndEvent", &[300, 400]).0;
    let earlier = batch("PollStartEvent", &[200, 100]).0;
    // Without a time it stays after the one before it.
    let timeless = Writer::new().header().schema(7, "PollEndEvent", &[("n", VARINT)]).0;
    let paths = [("a.bin", &later), ("b.bin", &timeless), ("c.bin", &earlier)]
        .map(|(name, bytes)| scratch.file(name, bytes));
    let out = scratch.path("out.bin");
    assert_eq!(write(&["merge", "-o", &out, &paths[0], &paths[1], &paths[2]]).0, 0);
    assert_eq!(fs::read(&out).unwrap(), [earlier, later, timeless].concat());
}
