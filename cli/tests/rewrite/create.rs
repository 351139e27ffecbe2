//! RDF: files of chunks that lie in files of their own, and chunks that are added.

use crate::common::rdf::{Chunk, file};
use crate::common::{Scratch, data, status, traceglass};
use crate::shared::{is_clean, lines, write};
use serde_json::Value;
use std::fs;

/// The name and the content of each chunk, however it is stored.
fn contents(path: &str) -> Vec<Value> {
    let chunks = lines(&["ls", "--json", "--sha256", path]);
    let names = ["id", "version", "header_size", "data_size", "header_sha256", "data_sha256", "error"];
    let content = |chunk: &Value| names.iter().map(|name| chunk[*name].clone()).collect::<Vec<_>>().into();
    chunks.iter().map(content).collect()
}

const LIST: &str = r#"{"chunks": [
    {"id": "Notes", "version": 7, "header": "head", "data": "text", "compression": "zstd"},
    {"id": "Notes", "data": "text"},
    {"id": "Empty"}
]}"#;

fn list(scratch: &Scratch) -> String {
    scratch.file("list/head", b"a header");
    scratch.file("list/text", &b"what is said again and again ".repeat(500));
    scratch.file("list/chunks.json", LIST.as_bytes())
}

#[test]
fn a_list_becomes_a_file() {
    let scratch = Scratch::new("create-list");
    let (list, out) = (list(&scratch), scratch.path("out.rdf"));
    let (code, report) = write(&["create", "-o", &out, &list]);
    assert_eq!((code, &report["units_kept"]), (0, &3.into()), "{report}");
    assert!(is_clean(&out));
    let chunks = lines(&["ls", "--json", "--sha256", &out]);
    let all = |name: &str| chunks.iter().map(|chunk| chunk[name].clone()).collect::<Vec<_>>();
    assert_eq!(all("id"), ["Notes", "Notes", "Empty"]);
    assert_eq!(all("version"), [7, 1, 1]);
    assert_eq!(all("compression"), [1, 0, 0]);
    assert_eq!(all("data_size"), [14_500, 14_500, 0]);
    assert_eq!(all("header_size"), [8, 0, 0]);
    assert_eq!(chunks[0]["data_sha256"], chunks[1]["data_sha256"]);
    assert!(chunks[0]["stored_size"].as_u64() < Some(1000), "it is compressed");
    // The same input gives the same bytes.
    let again = scratch.path("again.rdf");
    assert_eq!(write(&["create", "-o", &again, &list]).0, 0);
    assert_eq!(fs::read(&again).unwrap(), fs::read(&out).unwrap());
    for (text, says) in [
        (r#"[{"id": "A", "datum": "text"}]"#, "`datum` is not understood"),
        (r#"[{"data": "text"}]"#, "`id` is missing"),
        (r#"[{"id": "a name that is too long"}]"#, "no identifier"),
        (r#"[{"id": "A", "compression": "lz4"}]"#, "`compression` is not understood"),
        (r#"[{"id": "A", "version": -1}]"#, "`version` is not understood"),
        (r#"[]"#, "no chunk"),
        (r#"{"id": "A"}"#, "neither an array"),
        (r#"[{"id": "A", "#, "no list"),
        (r#"[{"id": "A", "data": "text", "id": "B"}]"#, "occurs twice"),
    ] {
        let bad = scratch.file("list/bad.json", text.as_bytes());
        let output = traceglass(&["create", "-o", &scratch.path("bad.rdf"), &bad]);
        let told = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
        assert_eq!(status(&output), 2, "{text}: {told}");
        assert!(told.contains(says), "{text}: {told}");
    }
    // The output is none of the files that are read, however it is spelled.
    let (data, twice) = (scratch.path("list/text"), scratch.path("list/../list/head"));
    let was = [&data, &twice].map(|path| fs::read(path).unwrap());
    for out in [&data, &twice] {
        let output = traceglass(&["create", "--force", "-o", out, &list]);
        assert_eq!(status(&output), 2);
        assert!(String::from_utf8_lossy(&output.stderr).contains("is what is to be read"));
    }
    assert_eq!([&data, &twice].map(|path| fs::read(path).unwrap()), was);
    let missing = scratch.file("list/missing.json", br#"[{"id": "A", "data": "nothing"}]"#);
    let output = traceglass(&["create", "-o", &scratch.path("bad.rdf"), &missing]);
    assert_eq!(status(&output), 1);
    assert!(!fs::exists(scratch.path("bad.rdf")).unwrap());
}

/// However much comes from a pipe, and whatever it begins with.
#[cfg(target_os = "linux")]
#[test]
fn all_that_comes_from_a_pipe_is_written() {
    use std::process::{Command, Stdio};
    let scratch = Scratch::new("create-pipe");
    let list = scratch.file("list.json", br#"[{"id": "A", "data": "/dev/stdin"}]"#);
    let out = scratch.path("out.rdf");
    let mut child = Command::new(env!("CARGO_BIN_EXE_traceglass"))
        .args(["create", "-o", &out, &list])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let size = (64 << 20) + 5;
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &vec![0; size]).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(lines(&["ls", "--json", &out])[0]["data_size"], size);
}

/// A file that was taken apart is put together again.
#[test]
fn exported_files_become_the_file_again() {
    let scratch = Scratch::new("create-export");
    for (number, sample) in ["sample.rdf", "sample.rgp"].map(data).into_iter().enumerate() {
        let input = sample.to_str().unwrap();
        let [parts, raw, packed] =
            ["parts", "raw", "packed"].map(|name| scratch.path(&format!("{name}-{number}")));
        let exported = traceglass(&["export", "--format", "files", "-o", &parts, input]);
        assert_eq!(status(&exported), 0);
        for (out, more) in [(&raw, vec![]), (&packed, vec!["--zstd"])] {
            let args = [vec!["create", "-o", out, &parts], more].concat();
            assert_eq!(write(&args).0, 0);
            assert_eq!(contents(out), contents(input), "{input}");
        }
        assert!(fs::metadata(&packed).unwrap().len() < fs::metadata(&raw).unwrap().len());
    }
    // An identifier may have any characters.
    let input = scratch.file("odd.rdf", &file(&[Chunk::raw("\t\n", b"odd"), Chunk::raw("A", b"plain")]));
    let [parts, out] = ["odd", "odd.out"].map(|name| scratch.path(name));
    assert_eq!(status(&traceglass(&["export", "--format", "files", "-o", &parts, &input])), 0);
    assert_eq!(write(&["create", "-o", &out, &parts]).0, 0);
    assert_eq!(fs::read(&out).unwrap(), fs::read(&input).unwrap());
    // And any bytes: none of them is read as another one.
    let ids: [&[u8]; 6] = [b"\xff\xfe\x80", b"\xed\xa0\x80", b"\0lead", b"mid\0dle", b"", b"(empty)"];
    let chunks = ids.map(|id| Chunk { identifier: id.into(), ..Chunk::raw("", b"odd").header(b"head") });
    let input = scratch.file("bytes.rdf", &file(&chunks));
    let [parts, out] = ["bytes", "bytes.out"].map(|name| scratch.path(name));
    assert_eq!(status(&traceglass(&["export", "--format", "files", "-o", &parts, &input])), 0);
    let manifest = fs::read_to_string(scratch.path("bytes/manifest.json")).unwrap();
    let manifest: Vec<Value> = manifest.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(manifest[0]["name"], Value::Null);
    assert_eq!(manifest[0]["name_hex"], "fffe8000000000000000000000000000");
    assert_eq!((&manifest[6]["name"], &manifest[8]["name"]), (&"mid".into(), &"".into()));
    assert_eq!(manifest[10].get("name_hex"), None);
    assert_eq!(write(&["create", "-o", &out, &parts]).0, 0);
    assert_eq!(fs::read(&out).unwrap(), fs::read(&input).unwrap());
    // A file without chunks.
    let input = scratch.file("empty.rdf", &file(&[]));
    let [parts, out] = ["empty", "empty.out"].map(|name| scratch.path(name));
    assert_eq!(status(&traceglass(&["export", "--format", "files", "-o", &parts, &input])), 0);
    assert_eq!(write(&["create", "-o", &out, &parts]).0, 0);
    assert_eq!(fs::read(&out).unwrap(), fs::read(&input).unwrap());
    // Files that have the names of chunks.
    scratch.file("plain/AsicInfo.bin", b"one");
    scratch.file("plain/Zeta", b"two");
    let out = scratch.path("plain.rdf");
    assert_eq!(write(&["create", "-o", &out, &scratch.path("plain")]).1["units_kept"], 2);
    let ids: Vec<_> = lines(&["ls", "--json", &out]).iter().map(|chunk| chunk["id"].clone()).collect();
    assert_eq!(ids, ["AsicInfo", "Zeta"]);
    // A name that is none of a chunk.
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::ffi::OsStrExt as _;
        fs::write(scratch.0.join("plain").join(std::ffi::OsStr::from_bytes(b"E\xff.txt")), b"three").unwrap();
        let output = traceglass(&["create", "-o", &scratch.path("no.rdf"), &scratch.path("plain")]);
        assert_eq!(status(&output), 2);
        assert!(String::from_utf8_lossy(&output.stderr).contains("not UTF-8"));
    }
}

#[test]
fn chunks_are_added_in_place() {
    let scratch = Scratch::new("append");
    let list = list(&scratch);
    let old = file(&[Chunk::raw("A", b"first").header(b"h1"), Chunk::zstd("B", b"second, packed")]);
    let path = scratch.file("in.rdf", &old);
    let before = contents(&path);
    let (code, report) = write(&["append", &path, &list]);
    assert_eq!((code, &report["units_kept"]), (0, &5.into()), "{report}");
    assert!(is_clean(&path));
    let after = contents(&path);
    assert_eq!(after[..2], before);
    assert_eq!(after.len(), 5);
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes[32..old.len()], old[32..], "nothing that was there is written over");
    // Up to the header, it was what it had been.
    let unfinished = [&old[..32], &bytes[32..]].concat();
    let unfinished = scratch.file("unfinished.rdf", &unfinished);
    assert_eq!(contents(&unfinished), before);
    assert!(is_clean(&unfinished));
    // The chunk that is there already has a number.
    let output = traceglass(&["append", &path, &list]);
    assert_eq!(status(&output), 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("--allow-same-id"));
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_eq!(write(&["append", "--allow-same-id", &path, &list]).1["units_kept"], 8);
    assert_eq!(contents(&path)[5..], after[2..]);
    // A damaged file, and one of another format.
    let damaged = scratch.file("damaged.rdf", &old[..old.len() - 3]);
    let other = scratch.file("other.rtc", &fs::read(data("sample.rtc")).unwrap());
    let (empty, unknown) = (scratch.file("empty", b""), scratch.file("unknown", b"none"));
    for (path, code) in [(&damaged, 1), (&other, 2), (&empty, 1), (&unknown, 1)] {
        let was = fs::read(path).unwrap();
        let output = traceglass(&["append", path, &list]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(status(&output), code, "{told}");
        assert!(told.contains(path.as_str()) || code == 2 || path == &damaged, "{told}");
        assert_eq!(&fs::read(path).unwrap(), &was);
    }
    let missing = scratch.path("missing");
    let output = traceglass(&["append", &missing, &list]);
    assert_eq!(status(&output), 1);
    assert!(String::from_utf8_lossy(&output.stderr).contains(&missing));
}
