//! The output of the command for dial9.

use crate::common::dial9::{POOLED_STRING, VARINT, Writer};
use crate::common::random::Random;
use crate::common::{Scratch, data, status, traceglass};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::io::Write as _;
use std::path::Path;
use traceglass::dial9::{Frames, PoolSlot, SchemaSlot, Storage};

fn said(args: &[&str]) -> String {
    String::from_utf8(traceglass(args).stdout).expect("text")
}

fn json(args: &[&str]) -> Vec<Value> {
    said(args).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn sample() -> String {
    data("trace.0.bin").to_str().expect("a path of UTF-8").to_owned()
}

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::new(), Compression::fast());
    writer.write_all(data).expect("a vector takes all");
    writer.finish().expect("a vector takes all")
}

/// A frame of Zstandard with raw blocks, without its size.
fn zstd(data: &[u8]) -> Vec<u8> {
    let mut frame = b"\x28\xb5\x2f\xfd\0\x58".to_vec();
    let mut chunks = data.chunks(700).peekable();
    while let Some(chunk) = chunks.next() {
        let header = (chunk.len() as u32) << 3 | u32::from(chunks.peek().is_none());
        frame.extend(&header.to_le_bytes()[..3]);
        frame.extend(chunk);
    }
    frame
}

#[test]
fn info_says_what_held_up_a_service() {
    let info = json(&["info", "--json", &sample()]).remove(0);
    assert_eq!(
        (&info["format"], &info["events"], &info["batches"]),
        (&"dial9".into(), &97.into(), &4.into())
    );
    assert_eq!(info["polls"]["count"], 20);
    let longest = &info["polls"]["longest"][0];
    assert_eq!((&longest["ns"], &longest["task"]), (&30_000_000.into(), &20.into()));
    assert_eq!(longest["spawn_loc"], "src/main.rs:10:5");
    assert_eq!(info["tasks"]["never_polled_again"], 1);
    assert_eq!(info["empty_segments"], Value::Array(vec![]));
    let text = said(&["info", &sample()]);
    for expected in ["1 longer than 1 ms", "30.000 ms", "0.5.7"] {
        assert!(text.contains(expected), "{expected} is not in {text}");
    }
}

#[test]
fn cat_prints_events_with_what_they_refer_to() {
    let lines = json(&["cat", "--json", &sample()]);
    assert_eq!(lines.len(), 97);
    let sampled = lines.iter().find(|line| line["kind"] == "CpuSampleEvent").expect("a sample");
    assert_eq!(sampled["callchain"], serde_json::json!(["0x555500001000", "0x555500002000"]));
    assert_eq!((&sampled["source"], &sampled["thread_name"]), (&"on-cpu".into(), &"worker-1".into()));
    let text = said(&["cat", &sample()]);
    assert!(
        text.contains("PollStartEvent  worker_id=1 local_queue=1 task_id=21 spawn_loc=\"src/db.rs:33:9\""),
        "{text}"
    );
    // A range of time.
    let some = json(&["cat", "--json", "--from", "+1ms", "--to", "+2ms", &sample()]);
    assert!(!some.is_empty() && some.len() < 30);
    for line in some {
        let time = line["time_ns"].as_u64().unwrap() - 4_182_000_000_000;
        assert!((1_000_000..=2_000_000).contains(&time), "{time}");
    }
}

#[test]
fn hex_names_each_byte() {
    let text = said(&["hex", "--len", "4000", &sample()]);
    for expected in
        ["header magic", "schema tag", "PollStartEvent tag", "spawn_loc", "string pool tag", "time reset tag"]
    {
        assert!(text.contains(expected), "{expected}");
    }
}

#[test]
fn a_folder_of_rotated_segments_is_one_recording() {
    let scratch = Scratch::new("dial9-folder");
    let first = std::fs::read(sample()).unwrap();
    let nothing = &first[..first.windows(5).skip(1).position(|window| window == b"TRC\0\x01").unwrap() + 1];
    // Ten comes after nine, which is being packed; the last one is being written.
    scratch.write("trace.9.bin", &first);
    scratch.write("trace.9.bin.gz", &gzip(&first));
    scratch.write("trace.10.bin", nothing);
    scratch.write("trace.11.bin.active", &first[..first.len() - 3]);
    scratch.write("notes.txt", b"not a segment");
    let folder = scratch.path("");
    let info = json(&["info", "--json", &folder]).remove(0);
    assert_eq!(info["segments"], 3);
    assert_eq!(info["empty_segments"], serde_json::json!(["trace.10.bin"]));
    assert!(said(&["info", &folder]).contains("EMPTY"));
    let lines = json(&["cat", "--json", &folder]);
    assert_eq!(lines.len(), 97 + 1 + 96);
    let paths: Vec<_> = lines.iter().map(|line| line["path"].as_str().unwrap()).collect();
    assert_eq!((paths[0], paths[97], paths[98]), ("trace.9.bin", "trace.10.bin", "trace.11.bin.active"));
    assert_eq!(status(&traceglass(&["check", &folder])), 3);
    let batches = json(&["ls", "--json", &folder]);
    assert_eq!(batches.iter().filter(|row| row["kind"] == "batch").count(), 4 + 1 + 4);
    assert_eq!(batches.iter().filter(|row| row["kind"] == "gap").count(), 1);
    // The segment is a column where there are several.
    let head = |path: &str| {
        said(&["ls", path]).lines().next().map(|line| line.split_whitespace().next() == Some("segment"))
    };
    assert_eq!((head(&folder), head(&sample())), (Some(true), Some(false)));
}

/// A file that is called as the segments beside it are belongs to the recording, whatever is in it: each verb names it, and
/// reads the others. What is called otherwise is something else.
#[test]
fn a_segment_that_is_none_is_damage_that_each_verb_names() {
    let first = std::fs::read(sample()).unwrap();
    let mut no_header = first.clone();
    no_header[1] ^= 1;
    let no_gzip = &gzip(&first)[1..];
    // Two batches of the sample are left after the damage of the first one.
    let cases: [(&str, Option<&[u8]>); 4] = [
        ("trace.1.bin", Some(&no_header)),
        ("trace.1.bin.gz", Some(no_gzip)),
        ("trace.1.bin", Some(b"")),
        // A folder.
        ("trace.1.bin", None),
    ];
    for (number, (name, content)) in cases.into_iter().enumerate() {
        let scratch = Scratch::new(&format!("dial9-no-segment-{number}"));
        let outs = Scratch::new(&format!("dial9-no-segment-{number}-out"));
        scratch.write("trace.0.bin", &first);
        match content {
            Some(content) => drop(scratch.write(name, content)),
            None => std::fs::create_dir(scratch.path(name)).unwrap(),
        }
        scratch.write("trace.2.bin", &first);
        let folder = scratch.path("");
        let (out, exported) = (outs.path("recovered"), outs.path("exported.json"));
        let verbs: [&[&str]; 7] = [
            &["check", &folder],
            &["info", &folder],
            &["ls", &folder],
            &["cat", &folder],
            &["stats", &folder],
            &["export", "--format", "chrome", "-o", &exported, &folder],
            &["recover", "-o", &out, &folder],
        ];
        for verb in verbs {
            let done = traceglass(verb);
            let text = [&done.stdout[..], &done.stderr].concat();
            let text = String::from_utf8_lossy(&text).into_owned();
            assert_eq!(status(&done), 3, "{number} {verb:?} {text}");
            assert!(text.contains(name), "{number} {verb:?} {text}");
        }
        let count = |path: &str| json(&["cat", "--json", path]).len();
        let left = if number == 0 { 96 } else { 0 };
        assert_eq!((count(&folder), count(&out)), (2 * 97 + left, 2 * 97 + left), "{number}");
        assert_eq!(status(&traceglass(&["check", &out])), 0, "{number}");
        let merged = traceglass(&["merge", "-o", &outs.path("merged"), &folder, &sample()]);
        let text = String::from_utf8_lossy(&merged.stderr).into_owned();
        assert!(status(&merged) == 2 && text.contains(name), "{number} {text}");
    }
    let scratch = Scratch::new("dial9-not-of-the-series");
    for name in ["trace.0.bin", "trace.2.bin", "1763900000-4.bin", "1763900060-5.bin"] {
        scratch.write(name, &first);
    }
    // Of another series; without a number; just begun by a recorder.
    scratch.write("firmware.1.bin", b"something else");
    scratch.write("trace.bin", b"something else");
    scratch.write("trace.3.bin.active", b"");
    let folder = scratch.path("");
    assert_eq!(status(&traceglass(&["check", &folder])), 0);
    assert_eq!(json(&["cat", "--json", &folder]).len(), 4 * 97);
    // Segments are told by what is in them, whatever they are called; those without a number come last.
    for name in ["backup", "trace.one.bin"] {
        scratch.write(name, &first);
    }
    let lines = json(&["cat", "--json", &folder]);
    let paths: Vec<_> = lines.iter().step_by(97).map(|line| line["path"].as_str().unwrap()).collect();
    let named = ["trace.0.bin", "trace.2.bin", "1763900000-4.bin", "1763900060-5.bin"];
    assert_eq!(paths, [&named[..], &["backup", "trace.one.bin"]].concat());
    // In a folder with very many files, only what is called so is looked at.
    for number in 0..2000 {
        scratch.write(&format!("note-{number}"), b"");
    }
    assert_eq!(json(&["cat", "--json", &folder]).len(), 4 * 97);
    scratch.write("1763900099-6.bin", b"not of a segment");
    let check = traceglass(&["check", &folder]);
    assert!(status(&check) == 3 && String::from_utf8_lossy(&check.stdout).contains("1763900099-6.bin"));
}

/// Of many damages, the first twelve are listed, and the others are counted.
#[test]
fn info_counts_the_damage_that_it_does_not_list() {
    let first = std::fs::read(sample()).unwrap();
    for (segments, more) in [(12, None), (13, Some("1 more")), (15, Some("3 more"))] {
        let scratch = Scratch::new(&format!("dial9-damages-{segments}"));
        for number in 0..segments {
            scratch.write(&format!("trace.{number}.bin"), &first[..first.len() - 3]);
        }
        let info = traceglass(&["info", &scratch.path("")]);
        let text = String::from_utf8_lossy(&info.stdout);
        let counted =
            text.lines().find_map(|line| line.trim().strip_prefix("damage")?.trim().strip_prefix("and "));
        assert_eq!((status(&info), counted), (3, more));
    }
}

#[test]
fn gzip_is_told_by_its_bytes_and_its_damage_is_told() {
    let scratch = Scratch::new("dial9-gzip");
    let first = std::fs::read(sample()).unwrap();
    let packed = gzip(&first);
    let count = |name: &str, data: &[u8]| {
        let file = scratch.file(name, data);
        (json(&["cat", "--json", &file]).len(), status(&traceglass(&["check", &file])))
    };
    assert_eq!(count("no-suffix", &packed), (97, 0));
    assert_eq!(count("twice", &[&packed[..], &packed].concat()), (194, 0));
    assert_eq!(count("then-raw", &[&packed[..], &first].concat()), (194, 0));
    assert_eq!(count("then-zeros", &[&packed[..], &[0; 512]].concat()), (97, 0));
    assert_eq!(count("then-junk", &[&packed[..], b"junk"].concat()), (97, 3));
    let mut wrong = packed.clone();
    let place = wrong.len() - 8;
    wrong[place] ^= 1;
    assert_eq!(count("wrong-sum", &wrong), (97, 3));
    let (some, code) = count("cut", &packed[..packed.len() / 2]);
    assert!(some > 0 && some < 97 && code == 3, "{some}");
    // What inflates to far more than a trace does is not inflated to the end.
    if cfg!(feature = "tables") {
        // It is no file of a folder, and is named as it likes: its damage is a row all the same.
        let cut = scratch.file("segment", &packed[..packed.len() - 9]);
        let gaps = traceglass(&["export", "--format", "arrow", "--table", "gaps", "-o", "-", &cut]);
        let says = String::from_utf8_lossy(&gaps.stdout).into_owned();
        assert!(status(&gaps) == 3 && says.contains("gzip member"), "{}", status(&gaps));
    }
    let bomb = gzip(&[b"TRC\0\x01".to_vec(), vec![5; 64 << 20]].concat());
    assert_eq!(count("bomb", &bomb).1, 3);
}

#[test]
fn segments_of_a_folder_may_be_packed_in_any_way() {
    let (scratch, outs) = (Scratch::new("dial9-zstd"), Scratch::new("dial9-zstd-out"));
    let first = std::fs::read(sample()).unwrap();
    scratch.write("trace.1.bin.zst", &zstd(&first));
    scratch.write("trace.2.bin.gz", &gzip(&first));
    scratch.write("trace.3.bin", &first);
    let folder = scratch.path("");
    let info = json(&["info", "--json", &folder]).remove(0);
    assert_eq!((&info["segments"], &info["events"]), (&3.into(), &(3 * 97).into()));
    assert_eq!(info["inflated_bytes"].as_u64(), Some(3 * first.len() as u64));
    let paths: Vec<Value> =
        json(&["cat", "--json", &folder]).iter().step_by(97).map(|line| line["path"].clone()).collect();
    assert_eq!(paths, ["trace.1.bin.zst", "trace.2.bin.gz", "trace.3.bin"]);
    // By its bytes, whatever it is called; with what was put after it.
    let count = |name: &str, data: &[u8]| {
        let file = outs.file(name, data);
        (json(&["cat", "--json", &file]).len(), status(&traceglass(&["check", &file])))
    };
    let packed = zstd(&first);
    assert_eq!(count("no-suffix", &packed), (97, 0));
    assert_eq!(count("twice", &[&packed[..], &gzip(&first), &packed, &first].concat()), (4 * 97, 0));
    let (some, code) = count("cut", &packed[..packed.len() - 300]);
    assert!(some > 0 && some < 97 && code == 3, "{some}");
    // What is cut out is not packed any more; what stays whole is as it was.
    let out = outs.path("part");
    let done = traceglass(&["cut", "--to", "+1ms", "-o", &out, &folder]);
    assert_eq!(status(&done), 0, "{}", String::from_utf8_lossy(&done.stderr));
    assert!(Path::new(&out).join("trace.1.bin").is_file());
    let out = outs.path("whole");
    assert_eq!(status(&traceglass(&["cut", "--from", "+0s", "-o", &out, &folder])), 0);
    assert_eq!(std::fs::read(Path::new(&out).join("trace.1.bin.zst")).unwrap(), packed);
    // Several become one file, which is packed if all of them are alike.
    let (one, two) = (outs.file("one.bin.zst", &packed), outs.file("two.bin.gz", &gzip(&first)));
    for (other, expected) in [(&one, [&packed[..], &packed].concat()), (&two, [&first[..], &first].concat())]
    {
        let out = outs.path(&format!("merged-{}", expected.len()));
        assert_eq!(status(&traceglass(&["merge", "-o", &out, &one, other])), 0);
        assert_eq!(std::fs::read(&out).unwrap(), expected);
    }
}

#[test]
fn a_recording_is_exported_as_a_time_line() {
    let scratch = Scratch::new("dial9-export");
    let target = scratch.path("out.pftrace");
    let output = traceglass(&["export", "--format", "perfetto", "--output", &target, &sample()]);
    assert_eq!(status(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&std::fs::read(&target).unwrap()).into_owned();
    for expected in ["worker 0", "task 20", "src/db.rs:33:9", "parked", "alive_tasks"] {
        assert!(text.contains(expected), "{expected}");
    }
}

/// Segments are read one at a time, but paired as if they were one: batches of a later one may have begun before.
#[test]
fn what_overlaps_in_several_segments_is_paired_as_in_one() {
    let whole = std::fs::read(sample()).expect("the sample");
    let header = b"TRC\0\x01";
    let starts: Vec<usize> =
        (0..whole.len()).filter(|&at| whole[at..].starts_with(header)).chain([whole.len()]).collect();
    let batches: Vec<&[u8]> = starts.windows(2).map(|ends| &whole[ends[0]..ends[1]]).collect();
    assert_eq!(batches.len(), 4);
    let scratch = Scratch::new("dial9-overlap");
    for (number, order) in [[0, 1, 2, 3], [3, 2, 1, 0], [0, 3, 2, 1], [2, 0, 3, 1]].iter().enumerate() {
        let folder = scratch.path(&format!("{number}"));
        std::fs::create_dir(&folder).expect("a folder");
        let mut one = Vec::new();
        for (place, &batch) in order.iter().enumerate() {
            one.extend(batches[batch]);
            let (name, packed) = if place % 2 == 0 {
                (format!("trace.{place}.bin"), batches[batch].to_vec())
            } else {
                (format!("trace.{place}.bin.gz"), gzip(batches[batch]))
            };
            scratch.write(&format!("{number}/{name}"), &packed);
        }
        let one = scratch.file(&format!("{number}.bin"), &one);
        let (of_one, of_all) = (json(&["info", "--json", &one]), json(&["info", "--json", &folder]));
        for member in
            ["polls", "wake_to_poll", "tasks", "workers", "kinds", "events", "time_ns", "end_time_ns"]
        {
            assert_eq!(of_one[0][member], of_all[0][member], "{member} of {order:?}");
        }
        assert_eq!((&of_all[0]["segments"], &of_all[0]["polls"]["count"]), (&4.into(), &20.into()));
        // Rows of tables are paired likewise: what begins in one segment may end in another.
        let rows = |path: &str| {
            let text = said(&["export", "--format", "csv", path]);
            let row = |line: &str| line.split(',').skip(4).take(4).map(str::to_owned).collect::<Vec<_>>();
            let mut rows: Vec<_> = text.lines().map(row).collect();
            rows.sort();
            rows
        };
        assert_eq!(rows(&one), rows(&folder), "{order:?}");
    }
}

/// A batch has its number in a range, too.
#[test]
fn batches_are_numbered_as_in_the_whole() {
    let all = json(&["ls", "--json", &sample()]);
    let from = format!("@{}", all[2]["time_ns"]);
    let later = json(&["ls", "--json", "--from", &from, &sample()]);
    let expected: Vec<&Value> =
        all.iter().filter(|batch| batch["end_time_ns"].as_i64() >= all[2]["time_ns"].as_i64()).collect();
    assert!(expected.len() < all.len() && later.iter().eq(expected), "{later:?}");
}

/// Ranges count from the first event with a time, in each verb.
#[test]
fn a_range_counts_from_the_same_event_in_all_verbs() {
    let scratch = Scratch::new("dial9-range");
    let mut data = Writer::new()
        .header()
        .schema_timed(1, "Untimed", 0, &[])
        .schema(2, "Timed", &[])
        .untimed(1)
        .reset(5_000);
    for _ in 0..20 {
        data = data.event(2, 10);
    }
    let path = scratch.file("range.bin", &data.0);
    for (range, count) in [(["+0ns", "+50ns"], 5), (["+100ns", "+1s"], 10), (["+30ns", "+30ns"], 0)] {
        let range = ["--from", range[0], "--to", range[1]];
        let of = |args: &[&str]| said(&[args, &range[..], &[&path]].concat());
        assert_eq!(of(&["cat", "--json"]).lines().count(), count, "{range:?}");
        // What has no time is in none.
        let rows = of(&["export", "--format", "csv"]);
        assert!(!rows.contains(",Untimed,"), "{range:?}: {rows}");
        assert_eq!(rows.lines().filter(|row| row.contains(",Timed,")).count(), count, "{range:?}: {rows}");
        let counted = of(&["stats", "--json"]);
        let timed = counted.lines().find(|line| line.contains("\"name\":\"Timed\""));
        let counted =
            timed.map_or(0, |line| serde_json::from_str::<Value>(line).unwrap()["count"].as_u64().unwrap());
        assert_eq!(counted, count as u64, "{range:?}");
    }
}

/// The time 0 of a symbol says nothing: it has none, and is in no range.
#[test]
fn symbols_have_no_time() {
    let scratch = Scratch::new("dial9-symbols");
    let schemas =
        Writer::new().header().schema(1, "Timed", &[]).schema(2, "SymbolTableEntry", &[("addr", VARINT)]);
    let timed = schemas.reset(5_000).event(1, 5).event(1, 5);
    let data = timed.reset(0).event(2, 0).varint(1).event(2, 0).varint(2);
    let path = scratch.file("symbols.bin", &data.0);
    let lines = json(&["cat", "--json", &path]);
    let times: Vec<_> = lines.iter().map(|line| (line["kind"].as_str(), line["time_ns"].as_u64())).collect();
    let symbol = (Some("SymbolTableEntry"), None);
    assert_eq!(times, [(Some("Timed"), Some(5_005)), (Some("Timed"), Some(5_010)), symbol, symbol]);
    let text = said(&["cat", &path]);
    assert!(text.contains("-  SymbolTableEntry") && !text.contains("0.000000000"), "{text}");
    for range in ["--from=@0", "--to=@6000", "--to=+1s"] {
        let lines = json(&["cat", "--json", range, &path]);
        assert!(lines.len() == 2 && lines.iter().all(|line| line["kind"] == "Timed"), "{range}: {lines:?}");
    }
}

/// A segment of batches that overlap, in which times go back; some events have no time, and some the time 0.
fn overlapping(random: &mut Random) -> Vec<u8> {
    let mut writer = Writer::new();
    for _ in 0..1 + random.next() % 4 {
        writer = writer.header().schema_timed(0, "Untimed", 0, &[]).schema(
            1,
            "Timed",
            &[("place", POOLED_STRING)],
        );
        writer = writer.schema(2, "SymbolTableEntry", &[("addr", VARINT)]).strings(&[(0, "first")]);
        writer = writer.reset(1_000 + random.next() % 100);
        for number in 0..random.next() % 20 {
            writer = match random.next() % 8 {
                0 => writer.untimed(0),
                1 => writer.reset(1_000 + random.next() % 100),
                2 => writer.strings(&[(0, &format!("text {number}"))]),
                _ => writer.event(1, (random.next() % 9) as u32).u32(0),
            };
        }
    }
    let symbols = writer.reset(0);
    (0..random.next() % 3).fold(symbols, |writer, number| writer.event(2, 0).varint(number)).0
}

/// The events of each segment come in the order of time, whatever lies before what; symbols, which have none, come last.
#[test]
fn cat_is_in_the_order_of_time() {
    let mut random = Random(0x6361_745f_6f72_6465);
    let scratch = Scratch::new("dial9-order");
    let mut moved = 0;
    for round in 0..40 {
        let data = overlapping(&mut random);
        let (mut schemas, mut strings) = ([SchemaSlot::EMPTY; 8], [PoolSlot::EMPTY; 8]);
        let mut frames = Frames::new(&data, Storage::new(&mut schemas).strings(&mut strings));
        let (mut expected, mut last) = (Vec::new(), 0);
        while let Some(event) = frames.next_event().expect("an event") {
            last = event.nanoseconds().unwrap_or(last);
            let text =
                event.get("place").map(|_| String::from_utf8(frames.string(0).unwrap().to_vec()).unwrap());
            expected.push((last, event.offset(), event.name().to_owned(), text));
        }
        let as_stored = expected.clone();
        expected.sort_by_key(|&(time, offset, ..)| (time == 0, time, offset));
        moved += usize::from(as_stored != expected);
        let path = scratch.file(&format!("{round}.bin"), &data);
        let of_line = |line: &Value| {
            let text = line["place"].as_str().map(str::to_owned);
            (line["offset"].as_u64().unwrap(), line["kind"].as_str().unwrap().to_owned(), text)
        };
        let printed: Vec<_> = json(&["cat", "--json", &path]).iter().map(of_line).collect();
        let expected: Vec<_> =
            expected.into_iter().map(|(_, offset, name, text)| (offset, name, text)).collect();
        assert_eq!(printed, expected, "round {round}");
    }
    assert!(moved > 30, "{moved} of 40 are in another order than they are stored");
}

/// Fields have the units of their annotations, in all that is told of them.
#[test]
fn units_are_those_of_annotations() {
    let scratch = Scratch::new("dial9-units");
    let batch = |writer: Writer, time: u64| {
        let schema = writer.header().schema(1, "Waited", &[("long", VARINT), ("size", VARINT)]);
        let said = schema.annotations(1, &[(0, "unit", "ns"), (1, "unit", "bytes"), (9, "unit", "s")]);
        said.reset(time).event(1, 0).varint(1_500_000).varint(7)
    };
    let path = scratch.file("units.bin", &batch(batch(Writer::new(), 2_000), 1_000).0);
    let text = said(&["cat", &path]);
    assert_eq!(text.matches("long=1.500 ms").count(), 2, "{text}");
}

/// Of a large recording, its start and its end are read: it is not said that nothing is damaged.
#[test]
fn info_of_a_large_recording_reads_its_ends() {
    let sample = std::fs::read(sample()).unwrap();
    let scratch = Scratch::new("dial9-large");
    let path = scratch.path("large.bin");
    let many = sample.repeat((5 << 20) / sample.len());
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all(&many).unwrap();
    // What lies between is damage, which only `--full` sees.
    file.set_len((256 << 20) - many.len() as u64 + 1).unwrap();
    let mut file = std::fs::File::options().append(true).open(&path).unwrap();
    file.write_all(&many).unwrap();
    let (all, large) =
        (json(&["info", "--json", &scratch.file("one.bin", &sample)]), json(&["info", "--json", &path]));
    let (all, large) = (&all[0], &large[0]);
    for field in ["segments", "time_ns", "end_time_ns", "start_unix_ns", "writer_version"] {
        assert_eq!(large[field], all[field], "{field}");
    }
    for field in ["batches", "events", "inflated_bytes", "empty_segments", "lost_bytes", "kinds", "verdict"] {
        assert_eq!(large[field], Value::Null, "{field}");
    }
    assert_eq!(large["complete"], false);
    let text = said(&["info", &path]);
    assert!(text.contains("--full"), "{text}");
    let full = traceglass(&["info", "--json", "--full", &path]);
    let whole: Value = serde_json::from_slice(&full.stdout).unwrap();
    assert_eq!((status(&full), &whole["verdict"]), (3, &"damaged".into()));
    let events = 97 * 2 * ((5_u64 << 20) / sample.len() as u64);
    assert_eq!(whole["events"], events);
    // The end of a packed one is known if it can be unpacked soon. Zeros after it are no damage.
    for (packed_bytes, end) in [(64_u64 << 20, &all["end_time_ns"]), ((64 << 20) + 1, &Value::Null)] {
        scratch.write("folder/trace.0.bin", &many);
        std::fs::File::options()
            .append(true)
            .open(scratch.path("folder/trace.0.bin"))
            .unwrap()
            .set_len(256 << 20)
            .unwrap();
        scratch.write("folder/trace.1.bin.gz", &gzip(&sample));
        let last = std::fs::File::options().append(true).open(scratch.path("folder/trace.1.bin.gz")).unwrap();
        last.set_len(packed_bytes).unwrap();
        let info = json(&["info", "--json", &scratch.path("folder")]).remove(0);
        assert_eq!((&info["time_ns"], &info["end_time_ns"]), (&all["time_ns"], end), "{packed_bytes}");
    }
}
