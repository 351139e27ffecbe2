//! Text that tells of a person or a computer is nowhere in what is written.

use crate::common::rdf::{Chunk, file};
use crate::common::rfr::{self, Parent, Value as Text};
use crate::common::{Scratch, data, dial9, packets, status, traceglass};
use crate::shared::{files, is_clean, lines, write};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;

/// True if a text is somewhere in the files at a path.
fn has(path: &str, text: &str) -> bool {
    files(path).values().any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
}

/// Asserts that the files have the same bytes, but for letters where texts were.
fn differs_by_letters(path: &str, from: &str, texts: &[&str]) {
    let (new, old) = (files(path), files(from));
    let mut unlike = BTreeMap::new();
    for (name, old) in &old {
        let new = &new[name];
        assert_eq!(new.len(), old.len(), "{name}");
        for (at, (new, old)) in new.iter().zip(old).enumerate().filter(|(_, (new, old))| new != old) {
            assert!(new.is_ascii_alphanumeric(), "{name} {at}");
            unlike.entry(name.clone()).or_insert_with(Vec::new).push((at, *old));
        }
    }
    // Every byte that differs was one of the texts.
    for (name, places) in unlike {
        let old = &old[&name];
        let is_text = |at: usize| {
            texts.iter().any(|text| {
                let first = at.saturating_sub(text.len() - 1);
                (first..=at).any(|start| old.get(start..start + text.len()) == Some(text.as_bytes()))
            })
        };
        assert!(places.iter().all(|(at, _)| is_text(*at)), "{name}: {places:?}");
    }
}

/// Verbs that read print with `--redact` and the key "k" what they print of the file that was written so.
fn reads_like(written: &str, input: &str) {
    let verbs: [&[&str]; 9] = [
        &["info"],
        &["info", "--json"],
        &["ls", "--json"],
        &["cat", "--json"],
        &["cat", "--slices", "--json"],
        &["stats", "--json"],
        &["check", "--json"],
        &["export", "--format", "chrome"],
        &["export", "--format", "csv"],
    ];
    for verb in verbs {
        let [new, old] =
            [&[written][..], &["--redact", "--redact-key", "k", "--redact-name", "token", input]].map(
                |args| {
                    let output = traceglass(&[verb, args].concat());
                    let text = |bytes: &[u8]| {
                        let text =
                            String::from_utf8_lossy(bytes).replace(written, "PATH").replace(input, "PATH");
                        let name = |path: &str| std::path::Path::new(path).file_name().unwrap().to_owned();
                        // Tables and titles have the name alone.
                        let names = [name(written), name(input)].map(|name| name.into_string().unwrap());
                        names.iter().fold(text, |text, name| text.replace(name, "NAME"))
                    };
                    (status(&output), text(&output.stdout), text(&output.stderr))
                },
            );
        assert_eq!(new, old, "{verb:?}");
        assert!(old.0 == 0 || verb.contains(&"--slices") || matches!(verb[0], "stats" | "export"), "{old:?}");
    }
}

/// The bytes of a trace of one file that lies in a page.
fn in_page(page: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (_, rest) = page.split_once("\">").unwrap();
    let (text, _) = rest.split_once("</script>").unwrap();
    let mut packed = Vec::new();
    for four in text.as_bytes().chunks(4) {
        let digit = |byte: &u8| DIGITS.iter().position(|digit| digit == byte).unwrap_or(0);
        let bits = four.iter().fold(0, |bits, byte| bits << 6 | digit(byte));
        packed.extend_from_slice(&(bits as u32).to_be_bytes()[1..]);
    }
    let mut data = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut data).unwrap();
    data
}

/// Nothing is printed of what cannot be redacted as it lies.
fn is_refused(input: &str, why: &str) {
    for verb in [&["info"][..], &["cat"], &["stats"], &["check"], &["hex"], &["export", "--format", "csv"]] {
        let output = traceglass(&[verb, &["--redact", input]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((status(&output), output.stdout.len()), (1, 0), "{verb:?}: {said}");
        assert!(said.contains(why), "{verb:?}: {said}");
    }
}

const SYSTEM: &str = r#"{"version":{"major":2},"os":{"name":"OS","hostname":"secret-host"},"processes":[{"processId":1,"name":"secret-process","path":"/home/secret-user/p"},{"processId":2,"name":"secret-process","path":""}]}"#;

#[test]
fn computers_and_processes_of_rdf() {
    let scratch = Scratch::new("redact-rdf");
    let path = b"/home/secret-user/p\0";
    let process = [&7_u32.to_le_bytes()[..], &(path.len() as u32).to_le_bytes(), path].concat();
    let raw = [
        Chunk::raw("TraceProcessInfo", &process),
        Chunk::raw("TraceProcessInfo", b"\x07\0\0\0\x02\0\0\0secret-process\0"),
        Chunk::raw("SystemInfo", SYSTEM.as_bytes()),
        Chunk::raw("Other", b"stays"),
    ];
    let input = scratch.file("raw.rdf", &file(&raw));
    let out = scratch.path("out.rdf");
    let args = ["--redact", "--redact-key", "k", "-o", &out, &input];
    let (code, report) = write(&[&["recover"], &args[..]].concat());
    assert_eq!(code, 0, "{report}");
    let names: Vec<_> =
        report["redacted"].as_array().unwrap().iter().map(|one| (&one["name"], &one["count"])).collect();
    let expected = [("hostname", 1), ("name", 2), ("path", 3)]
        .map(|(name, count)| (Value::from(name), Value::from(count)));
    assert_eq!(names, expected.iter().map(|(name, count)| (name, count)).collect::<Vec<_>>());
    assert!(!has(&out, "secret") && is_clean(&out));
    differs_by_letters(&out, &input, &["secret-host", "secret-process", "/home/secret-user/p"]);
    reads_like(&out, &input);
    // A page takes the same bytes.
    let empty = scratch.file("empty.html", b"<!-- traces -->");
    let html = scratch.path("page.html");
    let page = ["view", "--redact", "--redact-key", "k", "--page", &empty, "--web", &html, &input];
    assert_eq!(status(&traceglass(&page)), 0);
    assert_eq!(in_page(&std::fs::read_to_string(&html).unwrap()), std::fs::read(&out).unwrap());
    // The same text is the same letters.
    let bytes = std::fs::read(&out).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let values: Vec<_> =
        text.split("\"name\":\"").skip(2).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(values[0], values[1]);
    // One key gives one result, no key another one each time.
    let cut = |more: &[&str], name: &str| {
        let out = scratch.path(name);
        assert_eq!(write(&[&["cut", "--redact", "-o", &out, &input], more].concat()).0, 0);
        std::fs::read(out).unwrap()
    };
    assert_eq!(cut(&["--redact-key", "k"], "b"), bytes);
    assert_ne!(cut(&[], "c"), cut(&[], "d"));
    // Compressed chunks are stored as they are.
    let packed = [Chunk::zstd("SystemInfo", SYSTEM.as_bytes()).version(1), Chunk::zstd("Other", b"stays")];
    let input = scratch.file("packed.rdf", &file(&packed));
    assert_eq!(write(&["recover", "--force", "--redact", "-o", &out, &input]).0, 0);
    assert!(!has(&out, "secret") && is_clean(&out));
    let chunks = |path: &str| {
        let mut chunks = lines(&["ls", "--json", "--sha256", path]);
        chunks.sort_by_key(|chunk| chunk["id"].to_string());
        chunks
    };
    let (old, new) = (chunks(&input), chunks(&out));
    assert_eq!(old[0]["data_sha256"], new[0]["data_sha256"]);
    assert_eq!((&new[1]["compression"], &new[1]["data_size"]), (&0.into(), &old[1]["data_size"]));
    assert_ne!(old[1]["data_sha256"], new[1]["data_sha256"]);
    is_refused(&input, "chunk SystemInfo is compressed");
    is_refused(&scratch.file("cut.rdf", &file(&raw)[..200]), "damaged");
    // A page fault may name its process.
    let fault = data("sample.rgp");
    let (code, report) = write(&["recover", "--force", "--redact", "-o", &out, fault.to_str().unwrap()]);
    assert_eq!((code, &report["redacted"]), (0, &serde_json::json!([{"name": "process", "count": 1}])));
    assert!(!has(&out, "game.exe") && is_clean(&out));
    // Chunks that are merged stay compressed: nothing is written rather than something private.
    let output = traceglass(&["merge", "--redact", "-o", &scratch.path("merged"), &input]);
    assert_eq!((status(&output), std::fs::exists(scratch.path("merged")).unwrap()), (1, false));
}

#[test]
fn environment_and_contexts_of_ctf() {
    let scratch = Scratch::new("redact-ctf");
    let metadata = packets::METADATA
        .replace("clock {", "env { hostname = \"secret-host\"; kernel = \"stays\"; };\nclock {")
        .replace(
            "integer { size = 32; align = 8; signed = false; } serial;",
            "integer { size = 8; align = 8; encoding = UTF8; } _procname[4];",
        );
    assert!(metadata.contains("_procname"));
    let mut packet = packets::packet(0, 0, 1000);
    for record in 0..3 {
        let at = 33 + 13 * record + 9;
        packet[at..at + 4].copy_from_slice([b"anna", b"bob\0", b"anna"][record]);
    }
    scratch.file("in/metadata", metadata.as_bytes());
    scratch.file("in/cpu0", &packet);
    let (input, out) = (scratch.path("in"), scratch.path("out"));
    // Packets without such fields stay as they are.
    let plain = packets::METADATA.replace("clock {", "env { hostname = \"secret-host\"; };\nclock {");
    scratch.file("plain/metadata", plain.as_bytes());
    scratch.file("plain/cpu0", &packets::packet(0, 0, 1000));
    let written = scratch.path("plain-out");
    assert_eq!(write(&["recover", "--redact", "-o", &written, &scratch.path("plain")]).0, 0);
    assert!(!has(&written, "secret-host") && is_clean(&written));
    assert_eq!(files(&written)["cpu0"], packets::packet(0, 0, 1000));
    // A trace without packets has a stream, once.
    scratch.file("plain/cpu0", &[]);
    assert_eq!(write(&["cut", "--redact", "--force", "-o", &written, &scratch.path("plain")]).0, 0);
    assert_eq!(files(&written)["cpu0"], b"");
    // So are names in dumps of the state, and no others.
    for (event, is_hidden) in
        [("lttng_statedump_process_state", true), ("lttng_ust_statedump:x", true), ("thread_create", false)]
    {
        let named = metadata
            .replace("_procname[4]", "_name[4]")
            .replace("name = tick", &format!("name = \"{event}\""));
        scratch.file("in/metadata", named.as_bytes());
        assert_eq!(write(&["recover", "--force", "--redact", "-o", &out, &input]).0, 0);
        assert_eq!(has(&out, "anna"), !is_hidden, "{event}");
    }
    scratch.file("in/metadata", metadata.as_bytes());
    // A table has the environment, too.
    for (hiding, is_shown) in [(&[][..], true), (&["--redact"], false)] {
        let table = scratch.path("table");
        assert_eq!(status(&traceglass(&[&["compile", "--force", "-o", &table, &input], hiding].concat())), 0);
        assert_eq!(has(&table, "secret-host"), is_shown);
    }
    for verb in [vec!["recover"], vec!["cut", "--from", "@0"], vec!["merge"]] {
        let args = [verb, vec!["--force", "--redact", "-o", &out, &input]].concat();
        let (code, report) = write(&args);
        assert_eq!(code, 0, "{report}");
        assert!(!has(&out, "secret-host") && !has(&out, "anna") && !has(&out, "bob"));
        assert!(is_clean(&out));
        differs_by_letters(&out, &input, &["secret-host", "anna", "bob"]);
        let names = lines(&["cat", "--json", &out]);
        let names: Vec<_> =
            names.iter().map(|record| record["payload"]["procname"].as_str().unwrap()).collect();
        assert_eq!((names[0], names[0].len(), names[1].len()), (names[2], 4, 3));
        let env = report["redacted"].as_array().unwrap();
        let keyed = scratch.path("keyed");
        assert_eq!(
            write(&["recover", "--force", "--redact", "--redact-key", "k", "-o", &keyed, &input]).0,
            0
        );
        reads_like(&keyed, &input);
        assert_eq!((env.len(), &env[0]["count"], &env[1]["count"]), (2, &1.into(), &3.into()), "{report}");
    }
}

#[test]
fn names_of_rfr_and_dial9() {
    let scratch = Scratch::new("redact-rfr");
    let span = rfr::span(
        5,
        11,
        Parent::Current,
        &[Text::Str("secret-user")],
        &[("note", Text::Str("stays")), ("token", Text::Str("secret-token"))],
    );
    let callsite = rfr::callsite(11, 30, 1, &[("file", Text::Str("/home/secret/a.rs"))], &["user"]);
    let records = [
        (1_700_000_000, 1, 1, callsite),
        (1_700_000_000, 2, 2, span),
        (1_700_000_000, 3, 4, rfr::task(1, 11, 1, "secret-task", Ok(0), None)),
    ];
    let input = scratch.file("in.rfr", &rfr::stream(&records));
    assert!(is_clean(&input));
    let out = scratch.path("out.rfr");
    let (code, report) = write(&["recover", "--redact", "--redact-name", "token", "-o", &out, &input]);
    assert_eq!(code, 0, "{report}");
    assert!(!has(&out, "secret") && has(&out, "stays") && is_clean(&out));
    differs_by_letters(&out, &input, &["secret-user", "secret-token", "/home/secret/a.rs", "secret-task"]);
    // Text of its own, and of the pool.
    let fields = [("user", 4), ("note", 4), ("path", 7)];
    let writer =
        dial9::Writer::new().header().schema(7, "E", &fields).strings(&[(4, "/home/secret"), (5, "stays")]);
    let writer = writer.event(7, 5).text("secret-user").text("note").u32(4);
    let input = scratch.file("in.bin", &writer.0);
    let out = scratch.path("out.bin");
    let (code, report) = write(&["recover", "--redact", "-o", &out, &input]);
    assert_eq!(code, 0, "{report}");
    assert!(!has(&out, "secret") && has(&out, "stays") && has(&out, "note") && is_clean(&out));
    differs_by_letters(&out, &input, &["secret-user", "/home/secret"]);
    // A format that does not say what is private is not written as if it were safe.
    let rtc = data("sample.rtc");
    let output = traceglass(&["recover", "--redact", "-o", &scratch.path("x"), rtc.to_str().unwrap()]);
    assert_eq!((status(&output), std::fs::exists(scratch.path("x")).unwrap()), (2, false));
}

/// Text within what has a private name, and what is left of a text after another one.
#[test]
fn nested_and_stale_text() {
    let scratch = Scratch::new("redact-nested");
    let fields = "string _cmdline[2]; struct { string dir; } path; integer { size = 8; align = 8; encoding = UTF8; } comm[9]; \
                  string plain;";
    let metadata =
        packets::METADATA.replace("integer { size = 32; align = 8; signed = false; } serial;", fields);
    let mut packet = packets::packet(0, 0, 1000)[..33].to_vec();
    packet.extend(1000_u64.to_le_bytes());
    packet.extend(b"\x01secret-a\0secret-b\0secret-dir\0me\0secretstays\0");
    let bits = packet.len() as u32 * 8;
    packet[20..24].copy_from_slice(&bits.to_le_bytes());
    packet[24..28].copy_from_slice(&bits.to_le_bytes());
    scratch.file("in/metadata", metadata.as_bytes());
    scratch.file("in/notes.txt", b"secret note\n");
    let stream = scratch.file("in/cpu0", &packet);
    let (input, out) = (scratch.path("in"), scratch.path("out"));
    assert!(
        is_clean(&input)
            && String::from_utf8_lossy(&traceglass(&["cat", &input]).stdout).contains("secret-dir")
    );
    assert_eq!(write(&["recover", "--redact", "--redact-key", "k", "-o", &out, &input]).0, 0);
    assert!(!has(&out, "secret") && has(&out, "stays") && is_clean(&out));
    reads_like(&out, &input);
    let hex = traceglass(&["hex", "--redact", "--len", "1000", &stream]);
    let shown = String::from_utf8_lossy(&hex.stdout).replace('\n', "");
    assert!(status(&hex) == 0 && shown.contains("stays") && !shown.contains("secre"), "{shown}");
    // A page has only what was looked at.
    let (empty, html) = (scratch.file("empty.html", b"<!-- traces -->"), scratch.path("page.html"));
    let page = |more: &[&str]| {
        let args = ["view", "--force", "--page", &empty, "--web", &html, &input];
        assert_eq!(status(&traceglass(&[&args, more].concat())), 0);
        std::fs::read_to_string(&html).unwrap()
    };
    assert!(page(&[]).contains("notes.txt") && !page(&["--redact"]).contains("notes.txt"));
    // The same file by several ways is written over once; a path that is none is told beside it.
    let key = ["info", "--json", "--redact", "--redact-key", "k"];
    let kernel = data("kernel").to_str().unwrap().to_owned();
    let hosts = |paths: &[&str]| {
        let output = traceglass(&[&key, paths].concat());
        let lines = String::from_utf8(output.stdout).unwrap();
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|info| info["environment"]["hostname"].clone()).collect::<Vec<_>>()
    };
    let host = hosts(&[&kernel]).remove(0);
    assert!(host.is_string());
    let around = format!("{kernel}/../kernel");
    assert_eq!(hosts(&[&kernel, &scratch.path("none"), &around]), [host.clone(), Value::Null, host]);
}

/// Lists and maps of dial9, and the first of two callsites of RFR, as `cat` names values.
#[test]
fn values_are_named_as_they_are_shown() {
    let scratch = Scratch::new("redact-named");
    let text = |text: &str| dial9::Writer(vec![4]).text(text).0;
    let [host, name, one, two] = ["hostname", "secret-a", "secret-b", "stays"].map(text);
    let writer =
        dial9::Writer::new().header().schema(7, "E", &[("attrs", 15), ("cmdline", 14), ("others", 14)]);
    let writer = writer.event(7, 5).u32(1).raw(&host).raw(&name).u32(1).raw(&one).u32(1).raw(&two);
    let input = scratch.file("in.bin", &writer.0);
    let out = scratch.path("out.bin");
    assert!(is_clean(&input) && has(&input, "secret-b"));
    assert_eq!(write(&["recover", "--redact", "--redact-key", "k", "-o", &out, &input]).0, 0);
    assert!(!has(&out, "secret") && has(&out, "stays"));
    reads_like(&out, &input);
    let event = |value: &str| rfr::event(1, Parent::Root, &[Text::Str(value)], &[]);
    let records = [
        (1_700_000_000, 1, 3, event("secret-early")),
        (1_700_000_000, 2, 1, rfr::callsite(1, 30, 1, &[], &["hostname"])),
        (1_700_000_000, 3, 3, event("secret-late")),
        (1_700_000_000, 4, 1, rfr::callsite(1, 30, 1, &[], &["public"])),
        (1_700_000_000, 5, 3, event("secret-last")),
    ];
    // Whichever of two callsites counts, as the order is that of time.
    for (name, order) in [("in.rfr", [0, 1, 2, 3, 4]), ("turned.rfr", [3, 1, 0, 2, 4])] {
        let records = order.map(|at: usize| records[at].clone());
        let (input, out) = (scratch.file(name, &rfr::stream(&records)), scratch.path("out.rfr"));
        assert!(is_clean(&input), "{name}");
        assert_eq!(write(&["recover", "--force", "--redact", "--redact-key", "k", "-o", &out, &input]).0, 0);
        assert!(!has(&out, "secret"), "{name}");
        reads_like(&out, &input);
    }
    // An error tells no line of metadata.
    let metadata =
        packets::METADATA.replace("clock {", "env { hostname = \"secret-host\"; bad = 1.5; };\nclock {");
    scratch.file("bad/metadata", metadata.as_bytes());
    scratch.file("bad/cpu0", &packets::packet(0, 0, 1000));
    let bad = scratch.path("bad");
    let says = |args: &[&str]| {
        let output = traceglass(&[args, &[&bad]].concat());
        (status(&output), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    assert!(says(&["cat"]).1.contains("secret-host"));
    for verb in [&["cat"][..], &["info", "--json"], &["check"], &["stats"], &["ls"]] {
        let (status, said) = says(&[verb, &["--redact"]].concat());
        assert!(status == 1 && !said.contains("secret") && said.contains("found '.'"), "{verb:?}: {said}");
    }
}

/// What CTF 2 has besides: optionals, blobs, the name of the trace, and text that letters cannot stand for.
#[test]
fn fields_of_ctf_2() {
    let scratch = Scratch::new("redact-ctf2");
    let flag = r#"{"type":"fixed-length-boolean","length":8,"byte-order":"little-endian","alignment":8}"#;
    let text = r#"{"type":"null-terminated-string"}"#;
    let wide = r#"{"type":"static-length-string","length":16,"encoding":"utf-16le"}"#;
    let optional = |of: &str| {
        format!(r#"{{"type":"optional","selector-field-location":{{"path":["{of}"]}},"field-class":{text}}}"#)
    };
    let (there, absent) = (optional("has"), optional("lacks"));
    let trace = |members: &[(&str, &str)]| {
        let member = |(name, class): &(&str, &str)| format!(r#"{{"name":"{name}","field-class":{class}}}"#);
        let members = members.iter().map(member).collect::<Vec<_>>().join(",");
        let fragments = [
            r#"{"type":"preamble","version":2}"#.to_owned(),
            r#"{"type":"trace-class","name":"secret-trace"}"#.to_owned(),
            r#"{"type":"data-stream-class"}"#.to_owned(),
            format!(
                r#"{{"type":"event-record-class","name":"ev","payload-field-class":{{"type":"structure","member-classes":[{members}]}}}}"#
            ),
        ];
        fragments.map(|fragment| format!("\u{1e}{fragment}\n")).concat()
    };
    let blob = r#"{"type":"static-length-blob","length":8}"#;
    let members = [
        ("has", flag),
        ("filename", &there),
        ("product_uuid", blob),
        ("lacks", flag),
        ("path", &absent),
        ("plain", text),
    ];
    let (input, out) = (scratch.path("in"), scratch.path("out"));
    scratch.file("in/metadata", trace(&members).as_bytes());
    // The second optional is absent: what follows it is not within it.
    scratch.file("in/s", b"\x01secret-file\0secret-8\0stays\0");
    assert!(is_clean(&input), "{:?}", traceglass(&["check", &input]));
    assert_eq!(write(&["recover", "--redact", "--redact-key", "k", "-o", &out, &input]).0, 0);
    assert!(!has(&out, "secret") && has(&out, "stays") && is_clean(&out));
    reads_like(&out, &input);
    let alone = scratch.file("alone", trace(&members).as_bytes());
    assert!(
        !String::from_utf8_lossy(&traceglass(&["info", "--json", "--redact", &alone]).stdout)
            .contains("secret")
    );
    scratch.file("in/metadata", trace(&[("comm", wide)]).as_bytes());
    scratch.file("in/s", b"s\0e\0c\0r\0e\0t\0\0\0\0\0");
    assert!(is_clean(&input));
    is_refused(&input, "comm in s is not UTF-8");
}

/// Of several paths, each one is refused for what is wrong with itself, and the others are shown.
#[test]
fn one_that_is_refused_stands_for_itself() {
    let scratch = Scratch::new("redact-several");
    let mut stream = std::fs::read(data("stream.rfr")).unwrap();
    stream.pop();
    let damaged = scratch.file("damaged.rfr", &stream);
    let kernel = data("kernel").to_str().unwrap().to_owned();
    for verb in ["info", "check"] {
        let args = [verb, "--redact", &kernel, &damaged, &kernel, &damaged];
        let output = traceglass(&[&args[..], &["--json"]].concat());
        let lines = String::from_utf8(output.stdout).unwrap();
        let said = String::from_utf8(output.stderr.clone()).unwrap();
        assert_eq!(
            (output.status.code(), said.matches("may be private").count()),
            (Some(1), 2),
            "{verb}: {said}"
        );
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let verdicts: Vec<_> = lines.iter().map(|line| line["verdict"].as_str().unwrap()).collect();
        assert_eq!(verdicts, ["clean", "unreadable", "clean", "unreadable"], "{verb}");
        for (line, path) in lines.iter().zip(&args[2..]) {
            assert_eq!(line["path"], *path, "{verb}");
            assert_eq!(line.to_string().contains("may be private"), *path == damaged, "{verb}: {line}");
        }
        let output = traceglass(&args);
        let (shown, said) =
            (String::from_utf8(output.stdout.clone()).unwrap(), String::from_utf8_lossy(&output.stderr));
        assert!(
            status(&output) == 1 && shown.contains("kernel") && !shown.contains("damaged.rfr"),
            "{shown}"
        );
        assert!(said.contains("damaged.rfr: damaged, and") && !said.contains("kernel"), "{said}");
    }
}

/// A file that comes after private text was looked for is not read.
#[test]
#[cfg(unix)]
fn what_comes_later_is_not_read() {
    let scratch = Scratch::new("redact-later");
    scratch.file("in/metadata", packets::METADATA.as_bytes());
    scratch.file("in/cpu0", &packets::packet(0, 0, 1000));
    let pipe = scratch.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let args = ["info", "--json", "--redact", &scratch.path("in"), &pipe].map(str::to_owned);
    let run = std::thread::spawn(move || traceglass(&args.each_ref().map(String::as_str)));
    // It is opened for writing when the command reads it, after the folder was looked at.
    let mut writer = std::fs::File::options().write(true).open(&pipe).unwrap();
    scratch.file("in/cpu1", &packets::packet(1, 0, 1000));
    std::io::Write::write_all(&mut writer, &std::fs::read(data("stream.rfr")).unwrap()).unwrap();
    drop(writer);
    let output = run.join().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        status(&output) == 3 && said.contains("\"streams\":1,") && said.contains("\"records\":3,"),
        "{said}"
    );
}
