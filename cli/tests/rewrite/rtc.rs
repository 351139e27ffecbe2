//! RTC: major units.

use crate::common::random::Random;
use crate::common::rtc::{Crc, Options, Writer};
use crate::common::{Scratch, data, status, traceglass};
use crate::shared::{is_clean, lines, records, write};
use serde_json::Value;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use traceglass::rtc::{Step, recover};

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

/// The records of a file, in order: their stream, their bytes and their time.
fn all_records(path: &str) -> Vec<(u64, Vec<u8>, Option<i128>)> {
    let data = fs::read(path).unwrap();
    let mut buffer = vec![0; 2 * data.len()];
    let mut records = recover::Records::new(&data, Vec::new(), &mut buffer);
    let mut all = Vec::new();
    loop {
        match records.next_step() {
            Step::Record(record) => {
                let time = record.time().map(|time| time.attoseconds());
                all.push((record.stream().id(), record.bytes().unwrap().to_vec(), time));
            }
            Step::End => break,
            _ => {}
        }
    }
    all.sort();
    all
}

/// A file with damage at random places.
fn damaged(sound: &[u8], random: &mut Random) -> Vec<u8> {
    let mut data = sound.to_vec();
    for _ in 0..1 + random.next() % 2 {
        let at = (random.next() % data.len() as u64) as usize;
        let len = [1, 2, 5, 40, 777, 3000][(random.next() % 6) as usize];
        let end = data.len().min(at + len);
        match random.next() % 5 {
            0 => data[at] ^= 1 << (random.next() % 8),
            1 => data[at..end].fill(0),
            2 => drop(data.drain(at..end)),
            3 => drop(data.splice(at..at, (0..len).map(|i| (i * 37) as u8))),
            _ => drop(data.drain(..at / 4)),
        }
    }
    data
}

/// A recording of two clocks, of which one counts from the other and both may step back, and of records of all lengths.
fn recorded(random: &mut Random) -> Vec<u8> {
    let mut writer = Writer::new(Options::sizes(8192, 2048));
    let clock = writer.stream(r#""name":"clk","clock":true,"format":"uint64","length":8,"gain":1e-6"#);
    let delta = writer.stream(r#""name":"delta","clock":true,"format":"leb128","gain":1e-6,"delta":"clk""#);
    let fixed = writer.stream(r#""name":"fixed","clock":"delta","length":3"#);
    let any = writer.stream(r#""name":"any","clock":"clk""#);
    let mut now = 1000_u64;
    writer.write(clock, &now.to_le_bytes());
    for _ in 0..400 {
        let len = [1, 7, 30, 300, 3000][(random.next() % 5) as usize];
        let bytes: Vec<u8> = (0..len).map(|_| random.next() as u8).collect();
        match random.next() % 40 {
            0 => {
                now = (now + random.next() % 90).saturating_sub(20);
                writer.write(clock, &now.to_le_bytes());
            }
            // From -64 to 63 on the last one.
            1..=8 => writer.write(delta, &[(random.next() % 128) as u8]),
            9..=30 => writer.write(fixed, &bytes.repeat(3)[..3]),
            _ => writer.write(any, &bytes),
        }
    }
    writer.stop()
}

/// `cut --exact`, of sound files and of damaged ones: the records of the range, and stamps by which their times are known.
#[test]
fn exactly_the_records_of_a_range_are_kept() {
    let scratch = Scratch::new("rewrite-rtc-exact");
    let (mut kept, mut stamps, mut readable) = (0, 0, 0);
    for round in 0..120 {
        let mut random = Random(77 + round);
        let sound = recorded(&mut random);
        let data = if round % 3 == 2 { damaged(&sound, &mut random) } else { sound };
        let input = scratch.file("in.rtc", &data);
        let out = scratch.path("out.rtc");
        let _ = fs::remove_file(&out);
        let all = all_records(&input);
        // Up to a record's own time, or from it on.
        let times: Vec<_> = all.iter().filter_map(|(.., time)| *time).collect();
        let Some(mut ends) = (!times.is_empty())
            .then(|| [(); 2].map(|()| times[(random.next() % times.len() as u64) as usize]))
        else {
            continue;
        };
        ends.sort();
        let [from, to] = ends.map(|end| end / 1_000_000_000_000);
        let wants = |time: &Option<i128>| {
            time.is_some_and(|time| (from..to).contains(&time.div_euclid(1_000_000_000_000)))
        };
        let wanted: Vec<_> = all.iter().filter(|(.., time)| wants(time)).collect();
        let cut = |out: &str, path: &str| {
            let [from, to] = [from, to].map(|end| format!("@{end}"));
            traceglass(&["cut", "--exact", "--force", "--from", &from, "--to", &to, "-o", out, path])
        };
        let output = cut(&out, &input);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!told.contains("does not read back"), "{round}: {told}");
        if !matches!(status(&output), 0 | 3) {
            assert!(wanted.is_empty() || round % 3 == 2, "{round}: {told}");
            continue;
        }
        let found = all_records(&out);
        let (inside, outside): (Vec<_>, Vec<_>) = found.iter().partition(|(.., time)| wants(time));
        assert!(outside.iter().all(|record| record.0 <= 10), "{round}: a record that is not wanted");
        // The time of a stamp may be unknown that no record needs.
        for (id, bytes, time) in &found {
            let is = |known: &(u64, Vec<u8>, Option<i128>)| {
                known.0 == *id && known.1 == *bytes && (known.2 == *time || time.is_none())
            };
            assert!(all.iter().any(is), "{round}: {from} {to} {id} {time:?}");
        }
        if round % 3 < 2 {
            assert_eq!(inside, wanted, "{round}");
            // No stamp of a clock from which none counts stays, unless something wanted follows it.
            let mut lines = lines(&["cat", "--json", &out]);
            lines.sort_by_key(|record| record["offset"].as_u64());
            let wants =
                |line: &Value| wants(&line["time_ns"].as_i64().map(|time| i128::from(time) * 1_000_000_000));
            let is_needed = |of: &[Value]| of.iter().any(wants);
            assert!(is_needed(&lines[lines.len().saturating_sub(1)..]), "{round}");
            let stamps: Vec<usize> = (0..lines.len()).filter(|at| lines[*at]["stream"] == "delta").collect();
            for (number, at) in stamps.iter().enumerate() {
                let next = stamps.get(number + 1).copied().unwrap_or(lines.len());
                assert!(is_needed(&lines[*at..next]), "{round}: {}", lines[*at]);
            }
        }
        kept += inside.len();
        readable += wanted.len();
        stamps += outside.len();
        if status(&output) == 0 {
            assert!(is_clean(&out), "{round}");
            let again = scratch.path("again.rtc");
            assert_eq!(status(&cut(&again, &out)), 0);
            assert_eq!(fs::read(&again).unwrap(), fs::read(&out).unwrap(), "{round}");
        }
    }
    assert!(kept * 100 >= readable * 98 && kept > 3000, "{kept} of {readable}");
    assert!(stamps > 100, "{stamps}");
}

/// Wherever a file is damaged: what is written is clean but for what it says that it carries, and is written again as it
/// is. It has no record, and no time, that the input has not, and nearly all of those that it has.
#[test]
fn what_can_be_read_of_damage_is_kept() {
    const ROUNDS: u64 = 520;
    let scratch = Scratch::new("rewrite-rtc-damaged");
    let (_, sound) = sample();
    let next = AtomicU64::new(0);
    let (readable, kept) = (AtomicU64::new(0), AtomicU64::new(0));
    let work = || {
        loop {
            let round = next.fetch_add(1, Ordering::Relaxed);
            if round >= ROUNDS {
                return;
            }
            let data = damaged(&sound, &mut Random(23 + round));
            let input = scratch.file(&format!("in-{round}.rtc"), &data);
            let out = scratch.path(&format!("out-{round}.rtc"));
            let all = all_records(&input);
            readable.fetch_add(all.len() as u64, Ordering::Relaxed);
            let output = traceglass(&["recover", "--json", "-o", &out, &input]);
            let found = match status(&output) {
                0 | 3 => all_records(&out),
                other => {
                    assert_eq!((other, fs::exists(&out).unwrap()), (1, false), "{round}");
                    let told = String::from_utf8_lossy(&output.stderr).into_owned();
                    assert!(!told.contains("does not read back"), "{round}: {told}");
                    continue;
                }
            };
            kept.fetch_add(found.len() as u64, Ordering::Relaxed);
            let mut rest = all.iter();
            for record in &found {
                assert!(rest.any(|known| known == record), "{round}: {record:?}");
            }
            assert!(fs::metadata(&out).unwrap().len() <= 3 * sound.len() as u64, "{round}");
            if round.is_multiple_of(8) {
                let report: Value = serde_json::from_slice(&output.stdout).unwrap();
                let carried = report["errors_carried"].as_u64().unwrap();
                assert_eq!(is_clean(&out), carried == 0, "{round}");
                let again = scratch.path(&format!("again-{round}.rtc"));
                assert_eq!(write(&["recover", "-o", &again, &out]).0, if carried == 0 { 0 } else { 3 });
                assert_eq!(fs::read(&again).unwrap(), fs::read(&out).unwrap(), "{round}");
                fs::remove_file(again).unwrap();
            }
            [input, out].into_iter().for_each(|path| fs::remove_file(path).unwrap());
        }
    };
    std::thread::scope(|scope| {
        (0..2).map(|_| scope.spawn(work)).for_each(drop);
    });
    let (readable, kept) = (readable.into_inner(), kept.into_inner());
    assert!(kept * 1000 >= readable * 998, "{kept} of {readable}");
}

/// A unit with a gap: what is before it is the end of a session, what is after it the beginning of one.
#[test]
fn both_parts_of_a_damaged_unit_are_kept() {
    let scratch = Scratch::new("rewrite-rtc-parts");
    let (_, mut data) = sample();
    data[8192 + 3000..8192 + 3100].fill(0);
    let input = scratch.file("in.rtc", &data);
    let out = scratch.path("out.rtc");
    let (code, report) = write(&["recover", "-o", &out, &input]);
    assert_eq!((code, &report["units_kept"], &report["errors_carried"]), (3, &4.into(), &0.into()));
    let gap = report["lost"].as_array().unwrap();
    let (at, len) = (gap[0]["offset"].as_u64().unwrap(), gap[0]["len"].as_u64().unwrap());
    assert_eq!(gap.len(), 1);
    // The rest stays where it was in its unit.
    let written = fs::read(&out).unwrap();
    assert_eq!(written[..at as usize], data[..at as usize]);
    assert_eq!(written.len() as u64, at + data.len() as u64 - 8192);
    let rest = at + (at + len - 8192);
    // Its first frame, of four bytes, may have been the rest of a record.
    let same = |data: &[u8], at: u64| data[at as usize + 4..][..200].to_vec();
    assert_eq!(same(&written, rest), same(&data, at + len));
    let seen = |unit: &Value| {
        (unit["session"].as_u64().unwrap(), unit["number"].as_u64().unwrap(), unit["crc"].to_string())
    };
    let expected = [(0, 0, "writer"), (0, 1, "missing"), (1, 0, "writer"), (1, 1, "writer")];
    let expected = expected.map(|(session, number, crc)| (session, number, format!("\"{crc}\"")));
    assert_eq!(units(&out).iter().map(seen).collect::<Vec<_>>(), expected);
    assert_eq!(all_records(&out), all_records(&input));
}

/// What is left of a unit has no part of its own if that has no record.
#[test]
fn a_rest_without_records_is_none() {
    let scratch = Scratch::new("rewrite-rtc-empty");
    let (_, mut data) = sample();
    // The last minor unit has nothing but padding, up to the checksum; what is before it is lost.
    let index = 8192 + 1025 + 3 * 2048;
    let start = index + 2 + data[index + 1] as usize;
    let payload = 16384 - 5 - start - 3;
    data[start..start + 3].copy_from_slice(&[2, payload as u8 | 0x80, (payload >> 7) as u8]);
    data[start + 3..16384 - 5].fill(0);
    data[index - 300..index].fill(0);
    let input = scratch.file("in.rtc", &data);
    let out = scratch.path("out.rtc");
    assert_eq!(write(&["recover", "-o", &out, &input]).0, 3);
    assert_eq!(units(&out).len(), 3);
    assert!(fs::metadata(&out).unwrap().len() < data.len() as u64);
    assert_eq!(all_records(&out), all_records(&input));
}

/// A unit that says by its checksum that something in it is wrong goes on saying so.
#[test]
fn a_wrong_value_stays_visible() {
    let scratch = Scratch::new("rewrite-rtc-wrong");
    let (_, mut data) = sample();
    // In the first record of `adc`.
    data[1419] ^= 1;
    let input = scratch.file("in.rtc", &data);
    let out = scratch.path("out.rtc");
    let (code, report) = write(&["recover", "-o", &out, &input]);
    assert_eq!(
        (code, &report["errors_carried"], &report["lost"]),
        (3, &1.into(), &Value::from(Vec::<u8>::new()))
    );
    assert_eq!(fs::read(&out).unwrap(), data);
    // Also if the unit is written anew.
    data[7] = 0;
    let input = scratch.file("in.rtc", &data);
    let (code, report) = write(&["recover", "--force", "-o", &out, &input]);
    assert_eq!((code, &report["errors_carried"]), (3, &1.into()));
    assert_eq!(units(&out)[0]["crc"], "mismatch");
    assert_eq!(units(&out)[1]["crc"], "writer");
    assert_eq!(all_records(&out), all_records(&input));
}

/// A checksum that is wrong stays wrong where its unit gets another number.
#[test]
fn a_wrong_checksum_stays_wrong() {
    let scratch = Scratch::new("rewrite-rtc-wrong-sum");
    let (path, mut bytes) = sample();
    let all = units(&path);
    let last = all.iter().rposition(|unit| unit["crc"] == "writer").unwrap();
    let of = |number: usize, key: &str| all[number][key].as_u64().unwrap();
    let end = of(last, "end");
    bytes[end as usize - 1] ^= 1;
    let input = scratch.file("in.rtc", &bytes);
    let in_it = |record: &&Value| (of(last, "offset")..end).contains(&record["offset"].as_u64().unwrap());
    let records = lines(&["cat", "--json", &input]);
    let time = records.iter().filter(in_it).filter_map(|record| record["time"].as_str()).next_back().unwrap();
    let out = scratch.path("out.rtc");
    let (code, report) = write(&["cut", "--from", time, "-o", &out, &input]);
    assert_eq!((code, &report["errors_carried"]), (3, &1.into()));
    let written = lines(&["ls", "--json", &out]);
    let written: Vec<_> = written.iter().filter(|line| line["kind"] == "unit").collect();
    assert!(written.len() < all.len() && written[0]["number"] == 0, "it has another number");
    let wrong = written.len() - (all.len() - last);
    for (number, unit) in written.iter().enumerate() {
        assert_eq!(unit["crc"] == "mismatch", number == wrong, "{unit}");
    }
}

/// The rest of a unit has the checksum that its session has.
#[test]
fn a_rest_has_the_checksum_of_its_session() {
    let scratch = Scratch::new("rewrite-rtc-ieee");
    let (path, mut data) = sample();
    for unit in units(&path) {
        let [start, end] = ["offset", "end"].map(|key| unit[key].as_u64().unwrap() as usize);
        let mut crc = flate2::Crc::new();
        crc.update(&data[start + 1025..end - 5]);
        data[end - 4..end].copy_from_slice(&crc.sum().to_le_bytes());
    }
    data[8192 + 3000..8192 + 3100].fill(0);
    let input = scratch.file("in.rtc", &data);
    let out = scratch.path("out.rtc");
    assert_eq!(write(&["recover", "-o", &out, &input]).0, 3);
    let kinds: Vec<_> = units(&out).iter().map(|unit| unit["crc"].to_string()).collect();
    assert_eq!(kinds, ["\"ieee\"", "\"missing\"", "\"ieee\"", "\"ieee\""]);
}

/// A Meta that is lost is written again, word by word as the other units have it.
#[test]
fn a_lost_meta_is_written_again() {
    let scratch = Scratch::new("rewrite-rtc-meta");
    let (_, sound) = sample();
    let start = sound.windows(4).position(|four| four == b"[{\"i").unwrap();
    let len = sound[start..].iter().position(|byte| *byte == b']').unwrap() + 1;
    let meta = &sound[start..start + len];
    for unit in [0, 8192, 16384] {
        let mut data = sound.clone();
        // From within the Marker on.
        data[unit + 500..unit + start + len].fill(0);
        let input = scratch.file("in.rtc", &data);
        let out = scratch.path("out.rtc");
        assert_eq!(write(&["recover", "--force", "-o", &out, &input]).0, 3);
        assert!(is_clean(&out));
        let written = fs::read(&out).unwrap();
        assert_eq!(written.windows(len).filter(|bytes| *bytes == meta).count(), 3, "{unit}");
        let all = all_records(&input);
        assert!(all.len() > 400, "{}", all.len());
        assert_eq!(all_records(&out), all);
    }
}

/// A Meta that is damaged, in a unit after a gap: the reader knows its streams from the next one, and the output says so.
#[test]
fn a_damaged_meta_is_written_again() {
    let scratch = Scratch::new("rewrite-rtc-objects");
    let (_, mut data) = sample();
    let object = data.windows(8).position(|bytes| bytes == b"{\"id\":11").unwrap();
    data[object + 2] = b'x';
    data[7] = 0;
    let input = scratch.file("in.rtc", &data);
    let out = scratch.path("out.rtc");
    assert_eq!(write(&["recover", "-o", &out, &input]).0, 3);
    assert!(is_clean(&out));
    assert_eq!(all_records(&out), all_records(&input));
}

/// Bytes are in the order of the writer's processor.
#[test]
fn a_rest_has_the_byte_order_of_its_session() {
    let scratch = Scratch::new("rewrite-rtc-order");
    for crc in [Crc::Writer, Crc::Ieee] {
        let options = Options { crc, big_endian: true, ..Options::sizes(8192, 2048) };
        let mut writer = Writer::new(options);
        let clock = writer.stream(r#""name":"clk","clock":true,"format":"uint32","length":4"#);
        let text = writer.stream(r#""name":"text","clock":"clk""#);
        for n in 0..800_u32 {
            writer.write(clock, &n.to_be_bytes());
            writer.write(text, b"twelve bytes");
        }
        let sound = writer.stop();
        let mut data = sound.clone();
        data[8192 + 3000..8192 + 3040].fill(0);
        let input = scratch.file("in.rtc", &data);
        let out = scratch.path("out.rtc");
        assert_eq!(write(&["recover", "--force", "-o", &out, &input]).0, 3);
        assert!(is_clean(&out));
        assert_eq!(all_records(&out), all_records(&input));
        // The checksum of the rest, at the end of its unit.
        let written = fs::read(&out).unwrap();
        let markers = written.windows(2).enumerate().filter(|(_, two)| *two == [4, 0xb9]).map(|(at, _)| at);
        let markers: Vec<_> = markers.collect();
        let (start, end) = (markers[2], markers[3]);
        let covered = &written[start + 1025..end - 5];
        let mut ieee = flate2::Crc::new();
        ieee.update(covered);
        let expected = match crc {
            Crc::Ieee => ieee.sum(),
            _ => traceglass::rtc::WriterCrc::<1>::of(covered),
        };
        assert_eq!(written[end - 4..end], expected.to_be_bytes());
        // The checksums of units that have other numbers.
        let name = if matches!(crc, Crc::Ieee) { "ieee" } else { "writer" };
        let path = scratch.file("sound.rtc", &sound);
        assert_eq!(write(&["cut", "--force", "--from", "@750", "-o", &out, &path]).0, 0);
        let cut = units(&out);
        assert!(cut.len() > 1 && cut.len() < units(&path).len(), "{cut:?}");
        assert!(cut.iter().all(|unit| unit["crc"] == name), "{cut:?}");
        // Also if a session of the other order follows: readers accept either order, so the bytes must tell.
        let written = fs::read(&out).unwrap();
        let mut writer = Writer::new(Options { crc, ..Options::sizes(8192, 2048) });
        let clock = writer.stream(r#""name":"clk","clock":true,"format":"uint32","length":4"#);
        writer.write(clock, &5_u32.to_le_bytes());
        let path = scratch.file("mixed.rtc", &[sound, writer.stop()].concat());
        assert_eq!(write(&["cut", "--force", "--from", "@750", "-o", &out, &path]).0, 0);
        assert!(fs::read(&out).unwrap() == written, "{name}");
    }
}

/// Many places that are damaged in one large unit do not make a file of any size.
#[test]
fn the_output_does_not_grow_without_bound() {
    let scratch = Scratch::new("rewrite-rtc-growth");
    let mut writer = Writer::new(Options::sizes(1 << 20, 2048));
    let text = writer.stream(r#""name":"text""#);
    (0..45_000).for_each(|_| writer.write(text, b"twenty bytes of text"));
    let mut data = writer.stop();
    for at in (3000..data.len()).step_by(2048) {
        data[at..at + 40].fill(0);
    }
    let input = scratch.file("in.rtc", &data);
    let out = scratch.path("out.rtc");
    let (code, report) = write(&["recover", "-o", &out, &input]);
    let told = report["lost"].as_array().unwrap();
    let is_rest = |lost: &&Value| lost["what"] == "frames of a unit of which the beginning is lost";
    assert_eq!((code, told.iter().filter(is_rest).count() > 100), (3, true));
    let (size, written) = (data.len() as u64, fs::metadata(&out).unwrap().len());
    assert!(written > 4 * size && written < 6 * size + (1 << 20), "{written} of {size}");
}

#[test]
fn merged_files_are_sessions() {
    let scratch = Scratch::new("rewrite-rtc-merge");
    let (input, bytes) = sample();
    let out = scratch.path("out.rtc");
    let (code, report) = write(&["merge", "-o", &out, &input, &input]);
    assert_eq!((code, &report["units_kept"]), (0, &6.into()));
    assert_eq!(fs::read(&out).unwrap(), [&bytes[..], &bytes].concat());
    // In order of time, if clocks count from the same.
    let recording = |time: u64, is_absolute: bool| {
        let mut writer = Writer::new(Options::sizes(8192, 2048));
        let offset = if is_absolute { "" } else { r#","offset":7"# };
        let clock = format!(r#""name":"clk","clock":true,"format":"timespec","length":12{offset}"#);
        let clock = writer.stream(&clock);
        writer.write(clock, &[&time.to_le_bytes()[..], &[0; 4]].concat());
        writer.stop()
    };
    for (is_absolute, is_moved) in [(true, true), (false, false)] {
        let (later, earlier) = (recording(900, true), recording(400, is_absolute));
        let paths =
            [("later.rtc", &later), ("earlier.rtc", &earlier)].map(|(name, bytes)| scratch.file(name, bytes));
        assert_eq!(write(&["merge", "--force", "-o", &out, &paths[0], &paths[1]]).0, 0);
        let expected = if is_moved { [earlier, later] } else { [later, earlier] };
        assert_eq!(fs::read(&out).unwrap(), expected.concat());
    }
    let damaged = scratch.file("damaged.rtc", &bytes[..9000]);
    let output = traceglass(&["merge", "--force", "-o", &out, &input, &damaged]);
    assert_eq!(status(&output), 2);
}

/// What was kept is told as dates, if all clocks count from 1970; of clocks that count from different times, no range.
#[test]
fn kept_times_are_told_as_dates() {
    let scratch = Scratch::new("rewrite-rtc-dates");
    let (input, _) = sample();
    let mut writer = Writer::new(Options::sizes(8192, 2048));
    let clock = writer.stream(r#""name":"clk","clock":true,"format":"uint32le","length":4"#);
    (4..7_u32).for_each(|second| writer.write(clock, &second.to_le_bytes()));
    let other = scratch.file("other.rtc", &writer.stop());
    let out = scratch.path("out.rtc");
    let told = |args: &[&str]| {
        let output = traceglass(&[args, &["--force", "-o", &out]].concat());
        assert_eq!(status(&output), 0, "{args:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().nth(1).unwrap_or_default().trim().to_owned()
    };
    let dates = "from 2023-11-14T22:13:20.000000000Z to 2023-11-14T22:13:20.021999000Z";
    for args in [&["recover", &input][..], &["cut", "--from", "+0s", &input], &["merge", &input, &input]] {
        assert_eq!(told(args), dates, "{args:?}");
    }
    let exact = told(&["cut", "--exact", "--from", "+10ms", &input]);
    assert!(exact.starts_with("from 2023-11-14T22:13:20.010"), "{exact}");
    assert_eq!(told(&["recover", &other]), "from 4.000000000 s to 6.000000000 s");
    for paths in [[&input, &other], [&other, &input]] {
        assert_eq!(told(&["merge", paths[0], paths[1]]), "");
    }
    let merged = scratch.file("merged.rtc", &fs::read(&out).unwrap());
    assert_eq!(told(&["recover", &merged]), "");
}

/// An annotation is in the range of the date that it tells, whatever its unit's clock says.
#[test]
fn annotations_are_cut_by_the_time_that_they_tell() {
    let scratch = Scratch::new("rewrite-rtc-notes");
    let timespec = |second: u64| [&second.to_le_bytes()[..], &0_u32.to_le_bytes()].concat();
    let mut writer = Writer::new(Options::sizes(8192, 2048));
    let clock = writer.stream(r#""name":"clk","clock":true,"format":"timespec","length":12"#);
    let value = writer.stream(r#""name":"value","clock":"clk","format":"uint16le","length":2"#);
    let note = writer.stream(r#""name":"note","format":"annotate/utf-8","stream":"value""#);
    for number in 0..3000_u16 {
        writer.write(clock, &timespec(1000 + u64::from(number)));
        writer.write(value, &number.to_le_bytes());
        if number == 2000 {
            writer.write(note, &[timespec(2_700_000_000), b"then".to_vec()].concat());
        }
    }
    let path = scratch.file("notes.rtc", &writer.stop());
    let range = ["--from", "2055-01-01", "--to", "2056-01-01"];
    let printed = lines(&[&["cat", "--json"], &range[..], &[&path]].concat());
    assert_eq!(printed.len(), 1, "{printed:?}");
    for exact in [&[][..], &["--exact"]] {
        let out = scratch.path("out.rtc");
        let (code, _) = write(&[&["cut", "--force", "-o", &out], exact, &range, &[&path]].concat());
        assert_eq!(code, 0, "{exact:?}");
        assert_eq!(lines(&[&["cat", "--json"], &range[..], &[&out]].concat()).len(), 1, "{exact:?}");
    }
    let info = lines(&["info", "--json", &path]);
    assert_eq!(info[0]["end_time_ns"], 2_700_000_000_000_000_000_i64, "{info:?}");
}

/// A loss may leave a Meta with one error more than the input has: after it, declarations are read anew. The rest is written
/// all the same.
#[test]
fn a_loss_may_leave_an_error_more() {
    let scratch = Scratch::new("rewrite-rtc-error-more");
    let mut writer = Writer::new(Options::sizes(16384, 4096));
    let streams: Vec<u64> = (0..150)
        .map(|number| writer.stream(&format!(r#""name":"stream {number}","format":"uint16le","length":2"#)))
        .collect();
    for number in 0..6_000_u16 {
        writer.write(streams[usize::from(number) % streams.len()], &number.to_le_bytes());
    }
    let sound = writer.stop();
    let out = scratch.path("out.rtc");
    for (at, len) in [(42_843, 2), (59_367, 1), (43_474, 1)] {
        let mut data = sound.clone();
        data.drain(at..at + len);
        let path = scratch.file("in.rtc", &data);
        let read = lines(&["cat", "--json", &path]).len();
        assert_eq!(write(&["recover", "--force", "-o", &out, &path]).0, 3, "{at} {len}");
        let written = lines(&["cat", "--json", &out]).len();
        assert!((4_000..=read).contains(&written), "{at} {len}: {written} of {read}");
    }
}
