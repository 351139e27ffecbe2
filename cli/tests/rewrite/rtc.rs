//! RTC: major units.

use crate::common::random::Random;
use crate::common::{Scratch, data, status, traceglass};
use crate::shared::{is_clean, lines, records, write};
use serde_json::Value;
use std::fs;

/// The units as `ls` lists them.
fn units(path: &str) -> Vec<Value> {
    lines(&["ls", "--json", path]).into_iter().filter(|line| line["kind"] == "unit").collect()
}

/// Records without the number of their session.
fn without_sessions(path: &str) -> Vec<String> {
    let strip = |text: String| {
        let mut record: Value = serde_json::from_str(&text).unwrap();
        record.as_object_mut().unwrap().remove("session");
        record.to_string()
    };
    let mut records: Vec<_> = records(path).into_iter().map(strip).collect();
    records.sort();
    records
}

/// True if a record is one of the input; its time may be lost with the clock that told it.
fn is_one_of(record: &str, all: &[String]) -> bool {
    let mut own: Value = serde_json::from_str(record).unwrap();
    if !own["time_ns"].is_null() {
        return all.iter().any(|known| known == record);
    }
    let strip = |record: &mut Value| {
        for time in ["time", "time_ns"] {
            record.as_object_mut().unwrap().remove(time);
        }
    };
    strip(&mut own);
    let mut all = all.iter().map(|known| serde_json::from_str(known).unwrap());
    all.any(|mut known: Value| {
        strip(&mut known);
        known == own
    })
}

fn sample() -> (String, Vec<u8>) {
    let path = data("sample.rtc").to_str().unwrap().to_owned();
    let bytes = fs::read(&path).unwrap();
    (path, bytes)
}

#[test]
fn all_of_a_file_is_that_file() {
    let scratch = Scratch::new("rewrite-rtc-all");
    let (input, bytes) = sample();
    let [recovered, cut, merged] = ["recovered", "cut", "merged"].map(|verb| scratch.path(verb));
    assert_eq!(write(&["recover", "-o", &recovered, &input]).0, 0);
    assert_eq!(write(&["cut", "--from", "+0ns", "-o", &cut, &input]).0, 0);
    assert_eq!(write(&["merge", "-o", &merged, &input]).0, 0);
    for written in [recovered, cut, merged] {
        assert_eq!(fs::read(written).unwrap(), bytes);
    }
}

#[test]
fn units_begin_a_session_of_their_own() {
    let scratch = Scratch::new("rewrite-rtc-window");
    let (input, bytes) = sample();
    let all = without_sessions(&input);
    let offsets: Vec<u64> = units(&input).iter().map(|unit| unit["offset"].as_u64().unwrap()).collect();
    let times: Vec<i64> =
        lines(&["cat", "--json", &input]).iter().filter_map(|record| record["time_ns"].as_i64()).collect();
    let (first, last) = (*times.iter().min().unwrap(), *times.iter().max().unwrap());
    let mut random = Random(19);
    let (mut shorter, mut moved) = (0, 0);
    for _ in 0..16 {
        let mut at = || (random.next() % (last - first + 2) as u64) as i64;
        let (a, b) = (at(), at());
        let (from, to) = (format!("+{}ns", a.min(b)), format!("+{}ns", a.max(b)));
        let wanted = lines(&["cat", "--json", "--from", &from, "--to", &to, &input]);
        let out = scratch.path("out.rtc");
        let _ = fs::remove_file(&out);
        let output = traceglass(&["cut", "--from", &from, "--to", &to, "-o", &out, &input]);
        if wanted.is_empty() {
            assert_eq!((status(&output), fs::exists(&out).unwrap()), (2, false));
            continue;
        }
        assert_eq!(status(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
        assert!(is_clean(&out));
        let kept = without_sessions(&out);
        assert!(kept.iter().all(|record| is_one_of(record, &all)), "nothing is invented");
        for mut record in wanted {
            let record = record.as_object_mut().unwrap();
            for place in ["offset", "session"] {
                record.remove(place);
            }
            let text = Value::from(record.clone()).to_string();
            assert!(kept.binary_search(&text).is_ok(), "{from} {to}: {text}");
        }
        let written = units(&out);
        assert!(written.iter().zip(0_u64..).all(|(unit, number)| unit["number"] == number));
        assert!(written.iter().all(|unit| unit["crc"] == "writer"));
        shorter += usize::from(kept.len() < all.len());
        moved +=
            usize::from(written.len() < offsets.len() && fs::read(&out).unwrap()[..2000] != bytes[..2000]);
        let again = scratch.path("again.rtc");
        let count = written.len();
        assert_eq!(write(&["recover", "--force", "-o", &again, &out]).0, 0);
        assert_eq!(fs::read(&again).unwrap(), fs::read(&out).unwrap(), "{count} units");
    }
    assert!(shorter > 3 && moved > 1, "{shorter} {moved}");
}

/// Whatever byte is wrong: what is written is clean, and has no record that the input has not.
#[test]
fn damaged_units_are_left_out() {
    let scratch = Scratch::new("rewrite-rtc-damaged");
    let (_, bytes) = sample();
    let mut random = Random(23);
    let mut kept = 0;
    for round in 0..30 {
        let mut data = bytes.clone();
        match round % 3 {
            0 => data.truncate(8192 + (random.next() % 12_000) as usize),
            1 => {
                let at = (random.next() % data.len() as u64) as usize;
                data[at] ^= 1 << (random.next() % 8);
            }
            _ => drop(data.drain(..(random.next() % 9000) as usize)),
        }
        let input = scratch.file("in.rtc", &data);
        let out = scratch.path("out.rtc");
        let _ = fs::remove_file(&out);
        let output = traceglass(&["recover", "-o", &out, &input]);
        match status(&output) {
            0 | 3 => {
                assert!(is_clean(&out), "{round}");
                let all = without_sessions(&input);
                let found = without_sessions(&out);
                assert!(found.iter().all(|record| is_one_of(record, &all)), "{round}");
                kept += usize::from(!found.is_empty());
                // A Marker that was lost may be there again.
                assert!(fs::metadata(&out).unwrap().len() <= data.len() as u64 + 1025);
            }
            other => assert_eq!((other, fs::exists(&out).unwrap()), (1, false), "{round}"),
        }
    }
    assert!(kept > 20, "{kept}");
}

#[test]
fn merged_files_are_sessions() {
    let scratch = Scratch::new("rewrite-rtc-merge");
    let (input, bytes) = sample();
    let out = scratch.path("out.rtc");
    let (code, report) = write(&["merge", "-o", &out, &input, &input]);
    assert_eq!((code, &report["units_kept"]), (0, &6.into()));
    assert_eq!(fs::read(&out).unwrap(), [&bytes[..], &bytes].concat());
    let damaged = scratch.file("damaged.rtc", &bytes[..9000]);
    let output = traceglass(&["merge", "--force", "-o", &out, &input, &damaged]);
    assert_eq!(status(&output), 2);
}
