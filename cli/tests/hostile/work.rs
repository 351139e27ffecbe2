//! Work and memory that grow with the input alone.

use super::common::{ctf, rdf, rdf_contents, rfr, rtc};
use super::escapes::assert_safe;
use super::{CALLS, Run, is_raw, run, turn};
use crate::common::Scratch;
use std::fs;
use std::path::{Path, PathBuf};

/// Families of hostile files: of size n, 2n and 4n.
fn families(scratch: &Scratch) -> Vec<(&'static str, [PathBuf; 3])> {
    let mut families = Vec::new();
    let mut family = |name: &'static str, make: &dyn Fn(usize) -> Vec<u8>| {
        families.push((name, [1, 2, 4].map(|n| scratch.write(&format!("{name}-{n}"), &make(n)))));
    };
    // Entries that all name the same bytes, and such that name more and more of them.
    let aliases = |count: usize, step: usize, zstd: bool| {
        let content = vec![b'x'; 100_000];
        let chunk = if zstd { rdf::Chunk::zstd("Same", &content) } else { rdf::Chunk::raw("Same", &content) };
        let mut file = rdf::header(32, count as i64 * 64).to_vec();
        let place = 32 + count as i64 * 64;
        for number in 0..count {
            let skip = number * step;
            let part = rdf::Chunk { stored: chunk.stored[skip..].to_vec(), ..chunk.clone_of() };
            let size = if zstd { part.uncompressed_size } else { 0 };
            let part = rdf::Chunk { uncompressed_size: size, ..part };
            file.extend(rdf::entry(&part, place, place + skip as i64));
        }
        file.extend(&chunk.stored);
        file
    };
    family("rdf-same", &|n| aliases(n * 200, 0, true));
    family("rdf-same-raw", &|n| aliases(n * 200, 0, false));
    family("rdf-overlapping", &|n| aliases(n * 200, 100, false));
    family("rdf-many", &|n| {
        rdf::file(&(0..n * 500).map(|n| rdf::Chunk::raw(&format!("c{n}"), b"data")).collect::<Vec<_>>())
    });
    // One long name, and many records that it belongs to.
    family("rfr-name", &|n| {
        let mut sequence = rfr::Sequence::new(1).task(5, 70, &"n".repeat(n * 5_000), None);
        (0..n as u64 * 2_000).for_each(|at| sequence.push(at, 6, 5));
        rfr::Chunk::new(1_000).sequence(sequence).bytes()
    });
    // Many tasks, many sequences.
    family("rfr-sequences", &|n| {
        let sequence =
            |at: u64| rfr::Sequence::new(at).task(at, 70, "t", None).about(at, 6, at).about(at, 7, at);
        (0..n as u64 * 500).fold(rfr::Chunk::new(1_000), |chunk, at| chunk.sequence(sequence(at))).bytes()
    });
    family("ctf-garbage", &|n| {
        let packet = ctf::Packet::v2(b"\x1e{\"type\":\"x\"}\n").write();
        (0..n * 300).flat_map(|_| [&packet[..], b"garbage"].concat()).collect()
    });
    family("ctf-split", &|n| {
        let text = format!("\x1e{{\"type\":\"x\",\"y\":\"{}\"}}", "z".repeat(n * 1_000));
        ctf::stream(text.as_bytes().chunks(1), ctf::Packet::v2)
    });
    family("ctf-fragments", &|n| {
        (0..n * 1_000).flat_map(|n| format!("\x1e{{\"type\":\"kind{n}\"}}").into_bytes()).collect()
    });
    family("ctf-open", &|n| (0..n * 3_000).flat_map(|_| *b"\x1e{\"a\":[[").collect());
    // Entries that name the same bytes, as what they hold is known.
    family("rdf-same-tokens", &|n| {
        let tokens = rdf_contents::process_tokens().repeat(4_000);
        same(&rdf_contents::rmt(77, 1, &tokens), n * 100)
    });
    family("rdf-same-json", &|n| {
        let text = format!("{{\"a\":[{}1]}}", "1,".repeat(100_000));
        same(&rdf::Chunk::raw("SystemInfo", text.as_bytes()), n * 100)
    });
    // Queues that belong to no clock, and clocks that belong to no queue.
    family("rdf-queues", &|n| {
        let event = |queue: u64| {
            let mut data = vec![0; 80];
            data[8..16].copy_from_slice(&queue.to_le_bytes());
            rdf::Chunk::raw("QueueEvent", &data)
        };
        let clock = |pci: u32| {
            let data = [&pci.to_le_bytes()[..], &[0; 20]].concat();
            rdf::Chunk::raw("ClockCalibration", &data).version(2)
        };
        let count = n as u64 * 250;
        let chunks = (0..count).map(event).chain((1..count as u32).map(clock));
        rdf::file(&chunks.collect::<Vec<_>>())
    });
    // A byte that is said to be repeated, again and again.
    family("rdf-repeated", &|n| {
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x50];
        let count = n * 40;
        for block in 0..count {
            let header = u32::from(block + 1 == count) | 1 << 1 | (128 << 10) << 3;
            frame.extend(&header.to_le_bytes()[..3]);
            frame.push(b'x');
        }
        let chunk = rdf::Chunk::raw("Repeated", &frame);
        rdf::file(&[rdf::Chunk { compression: 1, uncompressed_size: (count as i64) << 17, ..chunk }])
    });
    // Streams whose clock is nowhere, in a table that grows.
    let sizes = || rtc::Options::sizes(1 << 20, 1 << 18);
    family("rtc-clocks", &|n| {
        let mut writer = rtc::Writer::new(sizes());
        let ids: Vec<u64> = (0..n * 200)
            .map(|number| writer.stream(&format!("\"name\":\"s{number}\",\"clock\":\"nowhere\"")))
            .collect();
        for number in 0..n * 20 {
            writer.write(ids[number % ids.len()], b"x");
            writer.stream(&format!("\"name\":\"t{number}\",\"clock\":\"nowhere\""));
        }
        writer.stop()
    });
    family("rtc-names", &|n| {
        let mut writer = rtc::Writer::new(sizes());
        let id = writer.stream(&format!("\"name\":\"{}\",\"format\":\"utf-8\"", "n".repeat(n * 2_000)));
        (0..n * 1_000).for_each(|_| writer.write(id, b"x"));
        writer.stop()
    });
    family("rtc-waiting", &|n| {
        let mut writer = rtc::Writer::new(sizes());
        let [open, other] =
            ["open", "other"].map(|name| writer.stream(&format!("\"name\":\"{name}\",\"cont\":true")));
        writer.write_more(open, b"begin", true);
        (0..n * 3_000).for_each(|_| writer.write(other, b"x"));
        (0..n * 500).for_each(|_| writer.write_more(open, b"more", true));
        writer.write(open, b"end");
        writer.stop()
    });
    family("rtc-legend", &|n| {
        let mut writer = rtc::Writer::new(sizes());
        let ids: Vec<u64> =
            (0..n * 300).map(|number| writer.stream(&format!("\"name\":\"{number:x}y\""))).collect();
        (0..n * 1_000).for_each(|number| writer.write(ids[number % ids.len()], b"x"));
        writer.stop()
    });
    family("rfr-stream-name", &|n| {
        let mut records = vec![(1, 0, 4, rfr::task(5, 70, 9, &"n".repeat(n * 5_000), Ok(0), None))];
        records.extend((0..n as u32 * 2_000).map(|at| (1, at, 10, rfr::Writer::new().ints([5]))));
        rfr::stream(&records)
    });
    family("rfr-event-name", &|n| {
        let fields = [("file", rfr::Value::Str("f")), ("line", rfr::Value::U64(7))];
        let long = "n".repeat(n * 2_000);
        let mut records = vec![(1, 0, 1, rfr::callsite(70, 30, 1, &fields, &[&long, &long]))];
        let event = rfr::event(70, rfr::Parent::Root, &[rfr::Value::Bool(true); 2], &[]);
        records.extend((0..n as u32 * 1_000).map(|at| (1, at, 3, event.clone())));
        rfr::stream(&records)
    });
    // Constant fields of a callsite: long ones, and many.
    family("rfr-location", &|n| {
        let long = "f".repeat(n * 1_000);
        let fields = [("name", rfr::Value::Str(&long)), ("file", rfr::Value::Str(&long))];
        let mut records = vec![(1, 0, 1, rfr::callsite(70, 30, 1, &fields, &[]))];
        let event = rfr::event(70, rfr::Parent::Root, &[], &[]);
        records.extend((0..n as u32 * 1_000).map(|at| (1, at, 3, event.clone())));
        rfr::stream(&records)
    });
    family("rfr-const-fields", &|n| {
        let names: Vec<String> = (0..n * 1_000).map(|number| format!("c{number}")).collect();
        let fields: Vec<_> = names.iter().map(|name| (name.as_str(), rfr::Value::Str("x"))).collect();
        let mut records = vec![(1, 0, 1, rfr::callsite(70, 30, 1, &fields, &[]))];
        let event = rfr::event(70, rfr::Parent::Root, &[], &[]);
        records.extend((0..n as u32 * 1_000).map(|at| (1, at, 3, event.clone())));
        rfr::stream(&records)
    });
    // Strings, and names of functions, that lie in one another.
    family("rdf-strings", &|n| {
        let count = n * 500;
        let mut table: Vec<u8> =
            (0..count).flat_map(|at| (4 * count as u32 + at as u32).to_le_bytes()).collect();
        table.extend(vec![b's'; n * 2_000]);
        table.push(0);
        let header = [1, count as u32].map(u32::to_le_bytes).concat();
        rdf::file(&[rdf::Chunk::raw("StringTable", &table).header(&header)])
    });
    // One long string, the name of many markers.
    family("rdf-marker-name", &|n| {
        let table = [&8_u32.to_le_bytes()[..], &[0; 4], &vec![b's'; n * 5_000], &[0]].concat();
        let header = [1_u32, 2].map(u32::to_le_bytes).concat();
        let strings = rdf::Chunk::raw("StringTable", &table).header(&header);
        let ops = (1_u32 | 1 << 2).to_le_bytes().repeat(n * 2_000);
        let header = [1_u32, 1, n as u32 * 2_000].map(u32::to_le_bytes).concat();
        rdf::file(&[strings, rdf::Chunk::raw("UserMarkerHist", &ops).header(&header)])
    });
    // Page faults at an address that many resources held.
    family("rdf-holders", &|n| rdf::file(&rdf_contents::held(n * 300, n * 300)));
    // Chunks that begin in another one, which becomes large.
    family("rdf-shifted", &|n| shifted(n * 10, n * 20));
    let mut folder = |name: &'static str, make: &dyn Fn(usize) -> (String, Vec<u8>)| {
        let paths = [1, 2, 4].map(|n| {
            let (metadata, stream) = make(n);
            scratch.write(&format!("{name}-{n}/metadata"), metadata.as_bytes());
            scratch.write(&format!("{name}-{n}/stream"), &stream).parent().unwrap().to_owned()
        });
        families.push((name, paths));
    };
    const BYTE: &str = r#"{"type":"fixed-length-unsigned-integer","length":8,"byte-order":"little-endian"}"#;
    // Long names of events, fields and values.
    folder("ctf-names", &|n| {
        let long = "n".repeat(n * 2_000);
        let mapped =
            BYTE.replace("\"length\"", &format!("\"mappings\":{{\"v{long}\":[[0,255]]}},\"length\""));
        (trace(&long, &member(&long, &mapped)), vec![0; n * 1_000])
    });
    // Arrays of arrays of what has no bits.
    folder("ctf-nothing", &|n| {
        let empty = r#"{"type":"structure"}"#.to_owned();
        let array = |of: String| {
            format!("{{\"type\":\"static-length-array\",\"length\":4000,\"element-field-class\":{of}}}")
        };
        (
            trace("e", &[member("a", BYTE), member("b", &array(array(array(array(empty)))))].join(",")),
            vec![0; n * 10],
        )
    });
    folder("ctf-fields-of-nothing", &|n| {
        let nothing =
            r#"{"type":"static-length-array","length":4000,"element-field-class":{"type":"structure"}}"#;
        let members: Vec<String> = (0..n * 20).map(|number| member(&format!("m{number}"), nothing)).collect();
        (trace("e", &[member("a", BYTE), members.join(",")].join(",")), vec![0; n * 20])
    });
    // Names of structures, each of which has the one before twice.
    folder("ctf-aliases", &|n| {
        let mut aliases =
            format!("\x1e{{\"type\":\"field-class-alias\",\"name\":\"a0\",\"field-class\":{BYTE}}}\n");
        for number in 1..n * 12 {
            let last = format!("\"a{}\"", number - 1);
            let class = format!(
                "{{\"type\":\"structure\",\"member-classes\":[{},{}]}}",
                member("x", &last),
                member("y", &last)
            );
            aliases += &format!(
                "\x1e{{\"type\":\"field-class-alias\",\"name\":\"a{number}\",\"field-class\":{class}}}\n"
            );
        }
        let whole = trace("e", &member("m", &format!("\"a{}\"", n * 12 - 1)));
        let (preamble, rest) = whole.split_at(whole.find('\n').unwrap() + 1);
        ([preamble, &aliases, rest].concat(), vec![0; n * 100])
    });
    folder("tsdl-aliases", &|n| {
        let mut text = String::from("/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\n");
        text += "typealias integer { size = 8; align = 8; signed = false; } := b;\nstruct s0 { b x; };\n";
        for number in 1..n * 12 {
            text += &format!("struct s{number} {{ struct s{0} x; struct s{0} y; }};\n", number - 1);
        }
        text += &format!("event {{ name = \"e\"; fields := struct {{ struct s{} m; }}; }};\n", n * 12 - 1);
        (text, vec![0; n * 100])
    });
    folder("tsdl-garbage", &|n| {
        (
            format!(
                "/* CTF 1.8 */\ntrace {{ major = 1; minor = 8; byte_order = le; }};\nstruct {{ {}",
                "struct { ".repeat(n * 3_000)
            ),
            vec![0; 100],
        )
    });
    families
}

/// A file whose entries all name one chunk.
fn same(chunk: &rdf::Chunk, count: usize) -> Vec<u8> {
    let mut file = rdf::header(32, count as i64 * 64).to_vec();
    let place = 32 + count as i64 * 64;
    let data = place + chunk.header.len() as i64;
    (0..count).for_each(|_| file.extend(rdf::entry(chunk, place, data)));
    file.extend(&chunk.header);
    file.extend(&chunk.stored);
    file
}

/// A frame of so many blocks of 128 KiB after empty frames, at each of which a chunk begins.
fn shifted(count: usize, blocks: usize) -> Vec<u8> {
    let mut stored = [0x184d_2a50_u32, 0].map(u32::to_le_bytes).concat().repeat(count);
    stored.extend([0x28, 0xb5, 0x2f, 0xfd, 0, 0x50]);
    for block in 1..=blocks {
        let header = u32::from(block == blocks) | 1 << 1 | (128 << 10) << 3;
        stored.extend(&header.to_le_bytes()[..3]);
        stored.push(b'x');
    }
    let mut file = rdf::header(32, count as i64 * 64).to_vec();
    let place = 32 + count * 64;
    for skip in (0..count).map(|number| number * 8) {
        let chunk = rdf::Chunk::raw("Shifted", &stored[skip..]);
        let chunk = rdf::Chunk { compression: 1, uncompressed_size: (blocks as i64) << 17, ..chunk };
        file.extend(rdf::entry(&chunk, place as i64, (place + skip) as i64));
    }
    file.extend(stored);
    file
}

/// A chunk that lies in other data is decompressed once, and told to be too much from then on.
#[test]
fn a_chunk_within_another_is_not_decompressed_again() {
    let _turn = turn();
    let scratch = Scratch::new("shifted");
    let path = scratch.write("a.rdf", &shifted(20, 20));
    let done = run(&["ls", "--sha256", "--json"], &path, false);
    let text = String::from_utf8(done.stdout).unwrap();
    let hashed = text.lines().filter(|line| !line.contains("\"data_sha256\":null")).count();
    assert_eq!((done.status, text.lines().count(), hashed), (3, 20, 1), "{text}");
}

/// A member of a structure of CTF 2.
fn member(name: &str, class: &str) -> String {
    format!("{{\"name\":\"{name}\",\"field-class\":{class}}}")
}

/// A trace of CTF 2 with one event.
fn trace(event: &str, members: &str) -> String {
    [
        "{\"type\":\"preamble\",\"version\":2}".to_owned(),
        "{\"type\":\"data-stream-class\"}".to_owned(),
        format!("{{\"type\":\"event-record-class\",\"name\":\"{event}\",\"payload-field-class\":{{\"type\":\"structure\",\"member-classes\":[{members}]}}}}"),
    ]
    .map(|text| ctf::fragment(&text))
    .concat()
}

trait CloneOf {
    fn clone_of(&self) -> Self;
}

impl CloneOf for rdf::Chunk {
    fn clone_of(&self) -> Self {
        Self {
            identifier: self.identifier.clone(),
            header: self.header.clone(),
            stored: self.stored.clone(),
            compression: self.compression,
            uncompressed_size: self.uncompressed_size,
            version: self.version,
        }
    }
}

/// Runs a verb on a file, and again if that took long: others use the processors, too.
fn fastest(call: &[&str], path: &Path, enough: u64) -> Run {
    let mut best = run(call, path, false);
    for _ in 0..3 {
        if best.cpu <= enough {
            break;
        }
        let again = run(call, path, false);
        best.cpu = best.cpu.min(again.cpu);
    }
    best
}

/// Four times as large is at most some more than four times the work: what is allocated, printed, and computed.
fn compare(name: &str, call: &[&str], paths: &[PathBuf; 3]) -> Vec<String> {
    let mut failures = Vec::new();
    let size = size(&paths[2]);
    let (once, twice) = (run(call, &paths[0], false), run(call, &paths[1], false));
    // A clock that others share: twice as much is allowed, and a tenth of a second.
    let limit = |run: &Run, times: u64| run.cpu * times * 2 + 100_000_000;
    let four = fastest(call, &paths[2], limit(&once, 5).min(limit(&twice, 3)));
    let mut fail = |what: String| failures.push(format!("{name}: {call:?}: {what}"));
    if ![0, 1, 2, 3].contains(&four.status) {
        fail(format!("status {}", four.status));
    }
    for (less, times) in [(&once, 5), (&twice, 3)] {
        let most = less.allocated * times + (1 << 20);
        if four.allocated > most {
            fail(format!("allocates {}, not {most}", four.allocated));
        }
        let most = less.stdout.len() as u64 * times + (1 << 10);
        if four.stdout.len() as u64 > most {
            fail(format!("prints {}, not {most}", four.stdout.len()));
        }
        let most = limit(less, times);
        if four.cpu > most {
            fail(format!("takes {} ns, not {most}", four.cpu));
        }
    }
    if four.peak > size * 40 + (56 << 20) {
        fail(format!("holds {} bytes for {size}", four.peak));
    }
    // Small files take no long time, however that grows; an unoptimised build does.
    if four.cpu > 10_000_000_000 {
        fail(format!("takes {} ns", four.cpu));
    }
    failures
}

#[test]
fn work_grows_with_the_input_alone() {
    let _turn = turn();
    let scratch = Scratch::new("work");
    let only = std::env::var("TRACEGLASS_FAMILY").unwrap_or_default();
    let families = families(&scratch).into_iter().filter(|(name, _)| name.contains(&only));
    let failures: Vec<_> = families
        .flat_map(|(name, paths)| CALLS.iter().flat_map(move |call| compare(name, call, &paths)))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A piece of tokens that names no stream may be one of any: all that have begun are ended at once, however many there are.
#[test]
fn pieces_of_any_stream_do_not_go_through_all_streams() {
    let _turn = turn();
    let scratch = Scratch::new("nameless");
    let paths = [1, 2, 4].map(|n| {
        let chunk = |number: u32| {
            let mut chunk = rdf_contents::rmt(77, number, b"\0");
            if number % 2 == 1 {
                // It is no frame of zstd, either.
                chunk.header.pop();
                (chunk.compression, chunk.uncompressed_size) = (1, 1);
            }
            chunk
        };
        scratch.write(&format!("{n}.rmv"), &rdf::file(&(0..n * 16_000).map(chunk).collect::<Vec<_>>()))
    });
    // What writes a file for each chunk takes the time of that.
    let calls: [&[&str]; 4] = [&["check"], &["info"], &["cat"], &["recover", "-o", "OUT"]];
    let failures: Vec<_> = calls.iter().flat_map(|call| compare("nameless", call, &paths)).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Tracers make a file for each processor, also where nothing happened there: it takes no room of a stream.
#[test]
fn files_without_events_take_hardly_any_memory() {
    let _turn = turn();
    let scratch = Scratch::new("empty-streams");
    let text = trace(
        "e",
        &member("a", r#"{"type":"fixed-length-unsigned-integer","length":8,"byte-order":"little-endian"}"#),
    );
    let folder = |name: &str, count: usize| {
        scratch.write(&format!("{name}/metadata"), text.as_bytes());
        scratch.write(&format!("{name}/s"), &[7; 100]);
        (0..count).for_each(|n| drop(scratch.write(&format!("{name}/empty{n}"), b"")));
        scratch.path(name)
    };
    let (few, many) = (folder("few", 1), folder("many", 2_000));
    for (call, says) in [(&["cat"][..], true), (&["cat", "--json"], true), (&["cat", "--slices"], false)] {
        let (one, all) = (run(call, Path::new(&few), false), run(call, Path::new(&many), false));
        assert_eq!((all.status, all.stdout.is_empty()), (0, !says), "{call:?}");
        assert_eq!(one.stdout, all.stdout, "{call:?}");
        // A path, and what is known of the file.
        let each = all.peak.saturating_sub(one.peak) / 2_000;
        assert!(each < 2_000, "{call:?}: {each} bytes for each empty file");
    }
}

/// The size of a file, or of all in a folder.
fn size(path: &Path) -> u64 {
    if path.is_dir() {
        return fs::read_dir(path).unwrap().map(|entry| size(&entry.unwrap().path())).sum();
    }
    fs::metadata(path).unwrap().len()
}

/// The files that attackers made: each verb ends soon, with little memory, and says nothing that a terminal obeys.
#[test]
fn hostile_vectors_are_harmless() {
    let Some(root) = std::env::var_os("TRACEGLASS_VECTORS") else {
        eprintln!("TRACEGLASS_VECTORS is not set: the hostile vectors are not read");
        return;
    };
    let _turn = turn();
    let mut read = 0;
    for entry in fs::read_dir(PathBuf::from(root).join("hostile")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name == "README.md" {
            continue;
        }
        for call in CALLS {
            for is_terminal in [false, true] {
                let done = run(call, &path, is_terminal);
                let what = format!("{call:?} {name}");
                assert!([0, 1, 2, 3].contains(&done.status), "{what}: {}", done.status);
                assert!(done.peak < 64 << 20, "{what} holds {} bytes", done.peak);
                // Of an unoptimised build.
                assert!(done.cpu < 10_000_000_000, "{what} takes {} ns", done.cpu);
                if is_terminal || !is_raw(call, &path) {
                    assert_safe(&done, &what);
                } else {
                    assert_safe(&Run { stdout: Vec::new(), ..done }, &what);
                }
            }
        }
        read += 1;
    }
    println!("hostile: {read} files read");
    assert!(read > 0, "no file was read");
}
