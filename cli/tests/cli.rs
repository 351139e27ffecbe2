//! The contract of the `traceglass` command that is the same for every format.

mod common;
#[allow(dead_code)]
#[path = "../../examples/rtc_timeline.rs"]
mod rtc_timeline;

use common::{Scratch, data, rdf, root, rtc, status, traceglass};
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Compares a screen with the one that was recorded; with `TRACEGLASS_BLESS=1`, records it.
fn blessed(name: &str, screen: &str) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.txt"));
    if std::env::var_os("TRACEGLASS_BLESS").is_some() {
        fs::create_dir_all(golden.parent().unwrap()).unwrap();
        fs::write(&golden, screen).unwrap();
    }
    let expected =
        fs::read_to_string(&golden).unwrap_or_else(|error| panic!("{}: {error}", golden.display()));
    assert_eq!(screen, expected, "{name}");
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn json(bytes: &[u8]) -> Vec<Value> {
    text(bytes).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_worst_of_several_paths_is_the_status() {
    let scratch = Scratch::new("worst");
    let good = scratch.file("good.rdf", &common::rdf::sample());
    let sample = common::rdf::sample();
    let cut = scratch.file("cut.rdf", &sample[..sample.len() - 1]);
    let text_file = scratch.file("text", b"hello");
    for verb in ["info", "check"] {
        for (paths, expected) in [
            (vec![&good], 0),
            (vec![&good, &cut], 3),
            (vec![&cut, &good], 3),
            (vec![&cut, &text_file, &good], 1),
        ] {
            let mut args = vec![verb, "--json"];
            args.extend(paths.iter().map(|path| path.as_str()));
            let output = traceglass(&args);
            assert_eq!(status(&output), expected, "{args:?}");
            let objects = json(&output.stdout);
            assert_eq!(objects.len(), paths.len(), "{args:?}");
            for (object, path) in objects.iter().zip(&paths) {
                assert_eq!(object["path"], *path.as_str());
                assert_eq!(object["verdict"] == "unreadable", **path == text_file);
            }
        }
    }
    let refused = traceglass(&["check", "--json", &text_file]);
    let object = &json(&refused.stdout)[0];
    assert_eq!((&object["format"], &object["verdict"]), (&Value::Null, &"unreadable".into()));
}

#[test]
fn usage_is_status_2() {
    let scratch = Scratch::new("usage");
    let good = scratch.file("good.rdf", &common::rdf::sample());
    for args in [
        &["info"][..],
        &["frobnicate"],
        &["cat", "--raw", &good],
        &["cat", "--json", "--header", "--entry", "0", &good],
        &["cat", "--chunk", "AsicInfo", "--entry", "0", &good],
        &["cat", "--slices", "--cpu", "0", &good],
        &["hex", "--at", "x", &good],
    ] {
        let output = traceglass(args);
        assert_eq!((status(&output), output.stdout.len()), (2, 0), "{args:?}");
        assert!(!output.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn what_cannot_be_read_is_status_1_and_says_why() {
    let scratch = Scratch::new("cannot");
    let folder = scratch.0.to_str().unwrap().to_owned();
    let missing = format!("{folder}/missing");
    let rmv = scratch.file("old.rmv", b"MINI\x01\x02\x03\x04");
    let gzip = scratch.file("a.gz", b"\x1f\x8b\x08\0\0");
    let empty = scratch.file("empty", b"");
    let unknown = scratch.file("unknown", b"\x01\x02\x03");
    for (path, says) in [
        (&missing, "cannot read"),
        (&folder, "directory"),
        (&rmv, "RMV 1.9"),
        (&gzip, "gzip"),
        (&empty, "the file is empty"),
        (&scratch.file("text", b"hello\n"), "text, not a trace"),
        (&scratch.file("stream_0", b"\xc1\x1f\xfc\xc1\0\0"), "a CTF data stream"),
        (&scratch.file("zeros", &[0; 100]), "nothing but zeros"),
        (&unknown, "not a known format: begins with \"\\x01\\x02\\x03\""),
    ] {
        for verb in ["info", "ls", "cat", "hex"] {
            let output = traceglass(&[verb, path]);
            assert_eq!(status(&output), 1, "{verb} {path}");
            let message = text(&output.stderr);
            assert!(message.contains(says) && message.contains(path.as_str()), "{verb}: {message}");
        }
        let output = traceglass(&["check", path]);
        assert_eq!(status(&output), 1, "{path}");
        assert!(text(&output.stdout).contains(says), "{path}");
    }
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let scratch = Scratch::new("pipe");
    let chunks: Vec<_> = (0..20_000).map(|n| common::rdf::Chunk::raw(&format!("chunk{n}"), b"x")).collect();
    let path = scratch.file("many.rdf", &common::rdf::file(&chunks));
    for args in [&["ls", &path][..], &["ls", "--json", &path]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_traceglass"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0; 10]).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        assert_eq!((status(&output), text(&output.stderr)), (0, ""), "{args:?}");
    }
}

#[test]
fn colour_is_for_terminals_unless_asked_for() {
    let scratch = Scratch::new("colour");
    let path = scratch.file("good.rdf", &common::rdf::sample());
    let plain = traceglass(&["info", &path]);
    assert!(!plain.stdout.contains(&0x1b));
    let coloured = traceglass(&["--color", "always", "info", &path]);
    assert!(coloured.stdout.contains(&0x1b));
    assert_eq!(traceglass(&["info", "--color=never", &path]).stdout, plain.stdout);
    let json = traceglass(&["--color", "always", "info", "--json", &path]);
    assert!(!json.stdout.contains(&0x1b));
    // What is asked for counts for the command's own texts, too, whether or not the rest is understood.
    for (args, is_colored) in [
        (&["--color", "always", "nosuch"][..], true),
        (&["nosuch", "--color=always"], true),
        (&["nosuch", "--color=never"], false),
        (&["nosuch", "--", "--color=always"], false),
        (&["nosuch", "--color", "loud"], false),
        (&["--color", "always", "info", "--help"], true),
    ] {
        let output = traceglass(args);
        assert_eq!([output.stdout, output.stderr].concat().contains(&0x1b), is_colored, "{args:?}");
    }
}

#[test]
fn stdin_is_read_for_a_dash() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_traceglass"))
        .args(["info", "--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&common::rdf::sample()).unwrap();
    let output = child.wait_with_output().unwrap();
    let object = &json(&output.stdout)[0];
    assert_eq!((&object["path"], &object["entries"], status(&output)), (&"-".into(), &6.into(), 0));
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_utf8_is_given_in_hex() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let scratch = Scratch::new("utf8");
    let path = scratch.0.join(OsStr::from_bytes(b"\xff.rdf"));
    fs::write(&path, common::rdf::sample()).unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_traceglass")).args(["check", "--json"]).arg(&path).output().unwrap();
    let object = &json(&output.stdout)[0];
    assert_eq!((&object["path"], status(&output)), (&Value::Null, 0));
    assert!(object["path_hex"].as_str().unwrap().ends_with("ff2e726466"));
}

#[test]
fn completions_name_the_verbs() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = traceglass(&["completions", shell]);
        assert_eq!(status(&output), 0);
        assert!(text(&output.stdout).contains("check"), "{shell}");
    }
}

/// A chunk of a few bytes may hold a lot, and a claim that no block could fill costs nothing.
#[test]
fn what_a_chunk_claims_is_held_against_its_blocks() {
    let scratch = Scratch::new("claims");
    // A frame of one segment, with its size in 4 bytes, and repeated bytes as its only blocks.
    let (size, block) = (1_u32 << 20, 128_u32 << 10);
    let mut stored = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    stored.extend(size.to_le_bytes());
    for number in 1..=size / block {
        stored.extend(&(block << 3 | 1 << 1 | u32::from(number == size / block)).to_le_bytes()[..3]);
        stored.push(b'x');
    }
    for (claim, code, read) in [(size, 0, true), (size + 1, 1, false)] {
        let chunk = rdf::Chunk {
            stored: stored.clone(),
            uncompressed_size: claim.into(),
            ..rdf::Chunk::zstd("Data", b"")
        };
        let path = scratch.file("claims.rdf", &rdf::file(&[chunk]));
        let out = traceglass(&["cat", "--entry", "0", &path]);
        assert_eq!((status(&out), out.stdout == vec![b'x'; size as usize]), (code, read), "{claim}");
        assert!(read || String::from_utf8_lossy(&out.stderr).contains("1048577"), "{out:?}");
    }
}

/// The output when something is wrong: of damage, what it says on both streams.
/// Whichever verb reads a file, it says the same of it: scripts rely on the status of each.
#[test]
fn verbs_agree_on_what_is_damaged() {
    let scratch = Scratch::new("agree");
    let mut stored = rdf::Chunk::zstd("Data", &[7; 40]);
    stored.stored[9] ^= 4; // The type of the block is reserved now.
    let index = rdf::header(1000, 64);
    // A byte of a payload: all frames are where they were, and a checksum tells.
    let mut payload = fs::read(data("sample.rtc")).unwrap();
    payload[0x1400] ^= 1;
    // A declaration that cannot be read, of which no event tells.
    let mut declared = fs::read(data("sample.rtc")).unwrap();
    let name = declared.windows(7).position(|bytes| bytes == b"\"name\":").unwrap();
    declared[name + 1] = b'x';
    let fragments = b"\x1e{\"type\":\"preamble\",\"version\":2}\n\x1e{\"type\":\"clock-class\",]}\n\x1e{}\n";
    let files = [
        (scratch.file("stored.rdf", &rdf::file(&[rdf::Chunk::raw("Whole", b"a"), stored])), "entries", 2),
        (scratch.file("index.rdf", &index), "entries", 0),
        (scratch.file("payload.rtc", &payload), "gaps", 0),
        (scratch.file("declared.rtc", &declared), "gaps", 0),
        (scratch.file("metadata", fragments), "fragments", 2),
    ];
    for (file, count, expected) in &files {
        let info = traceglass(&["info", "--json", file]);
        let check = traceglass(&["check", "--json", file]);
        let digest = if file.ends_with("metadata") { None } else { Some("--sha256") };
        let ls: Vec<&str> = ["ls", "--json"].into_iter().chain(digest).chain([file.as_str()]).collect();
        let ls = traceglass(&ls);
        assert_eq!([&info, &check, &ls].map(status), [3; 3], "{file}");
        let [info, check]: [Value; 2] = [info, check].map(|all| serde_json::from_slice(&all.stdout).unwrap());
        assert_eq!((&info["verdict"], &check["verdict"]), (&"damaged".into(), &"damaged".into()), "{file}");
        assert_eq!(info[count], *expected, "{file}");
        let size = fs::metadata(file).unwrap().len();
        let findings = check["findings"].as_array().unwrap();
        assert!(findings.iter().all(|finding| finding["offset"].as_u64().unwrap() <= size), "{findings:?}");
        let cat = traceglass(&["cat", "--json", file]);
        assert_eq!(status(&cat), 3, "{file}");
        let told = text(&cat.stderr);
        let lines: Vec<_> = told.lines().collect();
        assert!(lines.iter().all(|line| lines.iter().filter(|one| one == &line).count() == 1), "{told}");
        // Without an index there is nothing to be read.
        assert!(!cat.stderr.is_empty() && cat.stdout.is_empty() == file.ends_with("index.rdf"), "{file}");
        if file.ends_with("rdf") {
            continue;
        }
        if *count == "fragments" {
            assert_eq!(text(&cat.stdout).lines().count(), *expected, "{file}");
            continue;
        }
        for verb in [&["stats"][..], &["cat", "--slices"]] {
            let said = traceglass(&[verb, &[file.as_str()]].concat());
            assert_eq!(status(&said), 3, "{file}: {verb:?}");
        }
    }
}

/// Metadata with bytes after its last packet: all of its classes are read, and each verb says what is wrong.
#[test]
fn bytes_after_the_last_metadata_packet_are_one_verdict() {
    let scratch = Scratch::new("trailing");
    let content = fs::read(data("sample.ctf1/metadata")).unwrap();
    let bits = u32::try_from((content.len() + 37) * 8).unwrap();
    let mut packet = 0x75d1_1d57_u32.to_le_bytes().to_vec();
    packet.extend([7; 16]); // UUID
    packet.extend(0_u32.to_le_bytes()); // checksum
    packet.extend([bits.to_le_bytes(), bits.to_le_bytes()].concat()); // content, packet
    packet.extend([0, 0, 0, 1, 8]); // compression, encryption, checksum, version
    packet.extend(content);
    let stream = fs::read(data("sample.ctf1/data")).unwrap();
    for (name, rest, expected) in [("sound", &b""[..], 0), ("trailing", b"x", 3)] {
        scratch.file(&format!("{name}/stream"), &stream);
        scratch.file(&format!("{name}/metadata"), &[&packet[..], rest].concat());
        let folder = scratch.path(name);
        for verb in ["check", "info", "ls", "cat", "cat --slices", "stats", "export --format perfetto"] {
            let args: Vec<&str> = verb.split(' ').chain([folder.as_str()]).collect();
            let said = traceglass(&args);
            assert_eq!(status(&said), expected, "{name}: {verb}: {}", text(&said.stderr));
        }
    }
}

/// Names of computers are shown, and hidden in the trace, its metadata alone, and one of its streams.
#[test]
fn what_is_private_is_hidden_in_each_part() {
    let scratch = Scratch::new("private");
    let metadata = text(&fs::read(data("sample.ctf/metadata")).unwrap()).replace("\"board\"", "\"hostname\"");
    assert!(metadata.contains("hostname"));
    scratch.file("trace/metadata", metadata.as_bytes());
    let alone = scratch.file("alone", metadata.as_bytes());
    scratch.file("trace/stream", &fs::read(data("sample.ctf/stream")).unwrap());
    let [folder, part, stream] = ["trace", "trace/metadata", "trace/stream"].map(|path| scratch.path(path));
    for path in [&folder, &part, &stream, &alone] {
        let host = |args: &[&str]| {
            let said = traceglass(&[&["info", "--json"], args, &[path.as_str()]].concat());
            let info = serde_json::from_slice::<Value>(&said.stdout).unwrap();
            info["environment"]["hostname"].as_str().unwrap().to_owned()
        };
        assert_eq!(host(&[]), "m4", "{path}");
        let hidden = host(&["--redact"]);
        assert!(hidden.len() == 2 && hidden != "m4", "{path}: {hidden}");
        let key = ["--redact", "--redact-key", "k"];
        assert_eq!(host(&key), host(&[&key[..], &["--redact-name", "none"]].concat()), "{path}");
    }
    // However a path is spelled, and of what comes in a pipe.
    let said = traceglass(&["hex", "--redact", "--len", "100000", &scratch.path("trace/../trace/metadata")]);
    assert!(status(&said) == 0 && !text(&said.stdout).contains("\"m4\""), "{}", text(&said.stdout));
    let mut piped = Command::new(env!("CARGO_BIN_EXE_traceglass"));
    piped.args(["info", "--json", "--redact", "-"]).stdin(fs::File::open(&alone).unwrap());
    let info = serde_json::from_slice::<Value>(&piped.output().unwrap().stdout).unwrap();
    assert!(info["environment"]["hostname"].as_str().is_some_and(|host| host != "m4"), "{info}");
}

/// Bytes that are missing within a unit, or were added, make no other one of it.
#[test]
fn a_unit_whose_bytes_were_shifted_is_listed_once() {
    let scratch = Scratch::new("shifted");
    let data = rtc::sample(rtc::Options::sizes(8192, 2048), 30_000);
    let missing = [&data[..8300], &data[8900..]].concat(); // within the Marker
    let fewer = [&data[..12_000], &data[12_600..]].concat();
    let more = [&data[..12_000], &[0xee; 600], &data[12_000..]].concat();
    for (name, data, second) in
        [("missing", missing, 8192..15_784), ("fewer", fewer, 8192..15_784), ("more", more, 8192..16_984)]
    {
        let file = scratch.file(name, &data);
        let lines = json(&traceglass(&["ls", "--json", &file]).stdout);
        let units: Vec<&Value> = lines.iter().filter(|line| line["kind"] == "unit").collect();
        let numbers: Vec<u64> = units.iter().map(|unit| unit["number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, [0, 1, 2, 3], "{name}");
        let range = |unit: &Value| unit["offset"].as_u64().unwrap()..unit["end"].as_u64().unwrap();
        assert_eq!((range(units[0]), range(units[1])), (0..8192, second), "{name}");
        assert_eq!(units[1]["crc"], if name == "missing" { "writer" } else { "mismatch" }, "{name}");
    }
}

#[test]
fn what_is_wrong_is_said_as_it_was_blessed() {
    let scratch = Scratch::new("wrong");
    let sample = |name: &str| fs::read(data(name)).unwrap();
    let cut = |name: &str, keep: usize| scratch.file(name, &sample(name)[..keep]);
    let flipped = |name: &str, at: usize| {
        let mut data = sample(name);
        data[at] ^= 0xff;
        scratch.file(&format!("flipped-{name}"), &data)
    };
    let files = [
        cut("sample.rdf", 600),
        cut("sample.rtc", 15_000),
        cut("sample.ctf2", 700),
        cut("stream.rfr", 150),
        flipped("sample.rdf", 0x40),
        flipped("sample.rtc", 0x1400),
        flipped("sample.ctf2", 0xc1),
    ];
    let mut screen = String::new();
    for file in &files {
        for verb in ["info", "ls", "cat", "check", "hex"] {
            let mut args = vec![verb, file];
            // In this order, the pieces that are asked for are short.
            match verb {
                "cat" if file.ends_with("rdf") => args.extend(["--entry", "1"]),
                "cat" if file.ends_with("rtc") => args.extend(["--stream", "clk"]),
                "hex" => args.extend(["--len", "16"]),
                _ => {}
            }
            let output = traceglass(&args);
            assert!([0, 1, 3].contains(&status(&output)), "{args:?}");
            // Damage is never silent: whoever gets a status other than 0 is told why.
            let said = !output.stderr.is_empty() || ["info", "ls", "check"].contains(&verb);
            assert!(status(&output) == 0 || said, "{args:?}");
            screen += &format!(
                "$ traceglass {}\n{}{}[{}]\n\n",
                args.join(" "),
                String::from_utf8_lossy(&output.stdout),
                text(&output.stderr),
                status(&output)
            );
        }
    }
    let screen = screen.replace(&format!("{}/", scratch.0.display()), "");
    blessed("damage", &screen);
}

/// The screen that the README shows is what is printed; `TRACEGLASS_BLESS=1` writes it there.
#[test]
fn the_readme_shows_what_is_printed() {
    let root = root();
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let (mut written, mut shown) = (String::new(), 0);
    let mut lines = readme.lines();
    while let Some(line) = lines.next() {
        written += &format!("{line}\n");
        let Some(command) = line.strip_prefix("$ traceglass ") else { continue };
        let args: Vec<&str> = command.split(' ').collect();
        let output =
            Command::new(env!("CARGO_BIN_EXE_traceglass")).args(&args).current_dir(root).output().unwrap();
        assert_eq!(status(&output), 0, "{command}");
        written += &format!("{}```\n", text(&output.stdout));
        shown += 1;
        assert!(lines.any(|line| line == "```"), "{command}: the block does not end");
    }
    assert_eq!(shown, 1);
    if std::env::var_os("TRACEGLASS_BLESS").is_some() {
        fs::write(root.join("README.md"), &written).unwrap();
    } else {
        assert_eq!(readme, written);
    }
}

/// The whole screen, for each verb and sample, is as it was when a person last looked at it.
///
/// `TRACEGLASS_BLESS=1` writes what is printed now.
#[test]
fn the_screen_is_as_it_was_blessed() {
    let root = root();
    let calls: &[&[&str]] = &[
        &["info", "examples/data/sample.ctf2"],
        &["info", "--json", "examples/data/sample.ctf2"],
        &["ls", "examples/data/sample.ctf2"],
        &["cat", "--json", "examples/data/sample.ctf2"],
        &["hex", "--len", "0x120", "examples/data/sample.ctf2"],
        &["info", "examples/data/sample.rdf"],
        &["ls", "examples/data/sample.rdf"],
        &["check", "examples/data/sample.rdf"],
        &["hex", "--len", "0x60", "examples/data/sample.rdf"],
        &["ls", "--json", "--sha256", "examples/data/sample.rdf"],
        &["info", "examples/data/sample.rtc"],
        &["ls", "examples/data/sample.rtc"],
        &["check", "examples/data/sample.rtc"],
        &["hex", "--at", "0x3f0", "--len", "0x40", "examples/data/sample.rtc"],
        &["check", "examples/data/sample.ctf2"],
        &["info", "examples/data/sample.rfr"],
        &["ls", "examples/data/sample.rfr"],
        &["check", "examples/data/sample.rfr"],
        &["hex", "--len", "0x60", "examples/data/sample.rfr/2026-11/21-01/chunk-41-54.rfr"],
        &["info", "--tasks", "examples/data/stream.rfr"],
        &["info", "examples/data/sample.ctf"],
        &["ls", "examples/data/sample.ctf"],
        &["ls", "--packets", "examples/data/sample.ctf"],
        &["ls", "--fragments", "examples/data/sample.ctf"],
        &["cat", "examples/data/sample.ctf"],
        &["cat", "--from", "+20ms", "examples/data/sample.rtc"],
        &["hex", "examples/data/sample.rtc"],
        &["ls", "examples/data/stream.rfr"],
        &["info", "examples/data/stream.rfr"],
        &["cat", "examples/data/stream.rfr"],
        &["cat", "--stream", "adc", "examples/data/sample.rtc"],
        &["hex", "--color", "always", "--len", "0x40", "examples/data/sample.rdf"],
        &["-h"],
        &["--help"],
        &["info", "--help"],
        &["ls", "--help"],
        &["cat", "--help"],
        &["check", "--help"],
        &["hex", "--help"],
        &["view", "--help"],
        &["completions", "--help"],
        &["man", "--help"],
        &["man"],
        &["man", "cat"],
    ];
    for args in calls {
        // Screens for people, which look different where there is less room, or more.
        let is_screen = ["info", "ls", "hex", "check"].contains(&args[0])
            && !args.iter().any(|arg| arg.contains("-h") || *arg == "--json");
        let widths: &[usize] = if is_screen { &[80, 40, 200] } else { &[80] };
        for &columns in widths {
            let output = Command::new(env!("CARGO_BIN_EXE_traceglass"))
                .args(*args)
                .env("COLUMNS", columns.to_string())
                .current_dir(root)
                .output()
                .unwrap();
            assert_eq!(status(&output), 0, "{args:?}: {}", text(&output.stderr));
            let screen = text(&output.stdout);
            if is_screen && !args.contains(&"--color") {
                let widest = screen.lines().map(unicode_width::UnicodeWidthStr::width).max().unwrap();
                assert!(widest <= columns, "{args:?} in {columns}: {widest}\n{screen}");
            }
            let name = args
                .join("_")
                .replace("examples/data/", "")
                .replace("--", "")
                .replace("-h", "usage")
                .replace('/', "_");
            let name = if columns == 80 { name } else { format!("{name}_{columns}") };
            blessed(&name, &[screen, text(&output.stderr)].concat());
        }
    }
}

/// A file that is read on several threads is told as by one: in the order in which it stands.
#[test]
fn threads_do_not_show() {
    let scratch = Scratch::new("threads");
    let data: Vec<u8> = (0..50_000_u32).map(|n| (n * 7) as u8).collect();
    let mut chunks: Vec<_> = (0..60).map(|n| rdf::Chunk::zstd(&format!("Part{n}"), &data)).collect();
    for n in [3, 17, 19, 59] {
        // A block of a type that is reserved, and a size that is not true.
        chunks[n].stored[9] |= 6;
        chunks[n - 1].uncompressed_size += 1;
    }
    let file = scratch.file("parts.rdf", &rdf::file(&chunks));
    let sample = root().join("examples/data/sample.rtc");
    let sample = sample.to_str().unwrap();
    // More findings than are kept until their turn comes.
    let no_chunk = rdf::Chunk { compression: 9, ..rdf::Chunk::raw("Odd", &[]) };
    chunks.extend(std::iter::repeat_n(no_chunk, 20_000));
    let many = scratch.file("many.rdf", &rdf::file(&chunks));
    let check = &["check", "--json", &file, sample, &many, &file][..];
    let list = &["ls", "--sha256", "--json", &file];
    for (arguments, mark, count) in [(check, "severity", 24 + 20_000), (list, "error", 8)] {
        let run = |threads: &str| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_traceglass"));
            command.args(arguments).env("TRACEGLASS_THREADS", threads).output().unwrap()
        };
        let one = run("1");
        assert_eq!(status(&one), 3);
        let found = text(&one.stdout).matches(&format!("\"{mark}\":")).count();
        assert_eq!(found, count);
        for threads in ["2", "5"] {
            let several = run(threads);
            assert_eq!(status(&several), 3);
            assert_eq!(text(&several.stdout), text(&one.stdout), "{arguments:?}");
        }
    }
}

/// The lines of the library's example are those of the command, which writes times as dates.
#[test]
fn the_example_of_rtc_prints_what_cat_prints() {
    let sample = root().join("examples/data/sample.rtc");
    let run = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_traceglass"))
            .arg("cat")
            .args(args)
            .arg(&sample)
            .output()
            .unwrap();
        text(&output.stdout).to_owned()
    };
    let mut shown = Vec::new();
    rtc_timeline::timeline(&fs::read(&sample).unwrap(), &mut shown).unwrap();
    let (shown, printed, records) = (text(&shown), run(&[]), run(&["--json"]));
    assert!(shown.lines().count() > 600);
    // The command prints as many digits as the gain has.
    let words = |line: &str| {
        let number =
            |word: &str| word.parse().map_or_else(|_| word.to_owned(), |value: f64| value.to_string());
        line.split_whitespace().skip(1).map(number).collect::<Vec<_>>()
    };
    assert!(shown.lines().map(words).eq(printed.lines().map(words)), "{shown}\n{printed}");
    let nanoseconds = |line: &str| {
        let (seconds, rest) = line.split_whitespace().next()?.split_once('.')?;
        format!("{seconds}{rest:0<9}").parse::<u64>().ok()
    };
    let (mut compared, mut records) = (0, records.lines());
    for line in shown.lines() {
        let record: serde_json::Value = serde_json::from_str(records.next().unwrap()).unwrap();
        if let Some(expected) = nanoseconds(line) {
            assert_eq!(record["time_ns"].as_u64(), Some(expected), "{line}: {record}");
            compared += 1;
        }
    }
    assert!(compared > 500 && records.next().is_none());
}
