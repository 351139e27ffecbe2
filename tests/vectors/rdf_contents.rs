//! The content of RDF chunks: every expected fact of real and synthetic files, and every line of the listings.

#[path = "rdf_contents/derived.rs"]
mod derived;
#[path = "rdf_contents/describe.rs"]
mod describe;
#[path = "rdf_contents/events.rs"]
mod events;
#[path = "rdf_contents/neighbors.rs"]
mod neighbors;
#[path = "rdf_contents/tokens.rs"]
mod tokens;

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use traceglass::rdf::File;
use traceglass::rdf::contents::Content;
use traceglass::rdf::contents::rmt::{Stream, join};
use traceglass::zstd::Workspace;
use traceglass::{Finding, Severity};

/// A chunk, read.
struct Read {
    id: String,
    index: usize,
    version: u32,
    header: Vec<u8>,
    data: Vec<u8>,
}

impl Read {
    fn content(&self) -> traceglass::Result<Content<'_>> {
        Content::parse(self.id.as_str().try_into()?, self.version, &self.header, &self.data)
    }
}

fn read(data: &[u8]) -> Vec<Read> {
    let file = File::parse(data).expect("an RDF file");
    let mut workspace = Workspace::new();
    let mut counts = BTreeMap::new();
    let chunks = file.entries().map(|entry| {
        let chunk = file.chunk_at(entry.number()).expect("a chunk");
        let mut buffer = vec![0; entry.output_size().expect("a size") as usize];
        let id = entry.identifier().text().expect("text").to_owned();
        let count = counts.entry(id.clone()).or_insert(0);
        *count += 1;
        let data = chunk.data(&mut buffer, &mut workspace).expect("data").to_vec();
        let header = chunk.header().expect("a header").to_vec();
        Read { id, index: *count - 1, version: entry.version(), header, data }
    });
    chunks.collect()
}

/// The files with expected facts in `folder`.
fn expected(folder: &Path) -> Vec<(String, Value)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        if let Some(file) = name.strip_suffix(".expected.json") {
            let text = std::fs::read_to_string(&path).expect("text");
            files.push((file.to_owned(), serde_json::from_str(&text).expect("JSON")));
        }
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    files
}

/// Folders with the expected facts, and with the files that they are of.
fn folders() -> Vec<(PathBuf, PathBuf)> {
    let Some(root) = crate::folder("rdf-contents") else { return Vec::new() };
    let of_real = root.parent().expect("a parent").join("rdf").join("real");
    let own = |name: &str| (root.join(name), root.join(name));
    vec![(root.join("real"), of_real), own("synthetic"), own("synthetic/bad")]
}

#[test]
fn facts() {
    let (mut files, mut chunks) = (0, 0);
    let folders = folders();
    for (facts, data) in &folders {
        for (name, expected) in expected(facts) {
            eprintln!("{name}");
            let data = std::fs::read(data.join(&name)).expect("the file");
            files += 1;
            if expected.get("format").is_some() {
                neighbors::compare(&name, &data, &expected);
                continue;
            }
            chunks += compare(&name, &data, &expected);
        }
    }
    println!("rdf-contents: {files} files, {chunks} chunks compared");
    assert!(folders.is_empty() || files > 0 && chunks > 0, "no file was read");
}

/// Compares one file and returns how many chunks it has.
fn compare(name: &str, data: &[u8], expected: &Value) -> usize {
    let read = read(data);
    let facts = expected["chunks"].as_array().expect("chunks");
    assert_eq!(read.len(), facts.len(), "{name}");
    for (chunk, facts) in read.iter().zip(facts) {
        let what = format!("{name}: {} {}", chunk.id, chunk.index);
        assert_eq!(facts["id"], chunk.id, "{what}");
        assert_eq!(facts["index"], chunk.index, "{what}");
        assert_eq!(facts["version"], chunk.version, "{what}");
        assert_eq!(facts["header_bytes"], chunk.header.len(), "{what}");
        assert_eq!(facts["data_bytes"], chunk.data.len(), "{what}");
        let mut findings = Vec::new();
        match chunk.content() {
            Ok(content) => {
                let mut value = describe::content(&content);
                if let Some(Value::Object(more)) = describe::of_json(&content, chunk.data.len()) {
                    value.as_object_mut().expect("an object").extend(more);
                }
                if let Some(expected) = facts.get("value") {
                    for (field, expected) in expected.as_object().expect("an object") {
                        let found = value.get(field).unwrap_or(&Value::Null);
                        assert_eq!(found, expected, "{what}: {field} of {value}");
                    }
                } else {
                    assert!(facts.get("errors").is_some(), "{what}: neither a value nor an error");
                }
                content.check(&mut |finding| findings.push(finding));
                let single = facts["value"].get("tokens").is_some();
                if let (Content::Rmt(rmt), true) = (&content, single) {
                    rmt.stream().check(&mut |finding| findings.push(finding));
                    lines(&what, tokens::lines(chunk.index, rmt.stream()), facts);
                }
                if let Content::DriverEvents(events) = &content {
                    lines(&what, events::lines(chunk.index, *events), facts);
                }
            }
            Err(error) => {
                assert!(facts.get("value").is_none(), "{what}: {error}, yet a value is expected");
                findings.push(Finding::new(Severity::Error, error));
            }
        }
        for error in facts.get("errors").and_then(Value::as_array).into_iter().flatten() {
            noticed(&what, error, &findings);
        }
        if facts.get("errors").is_none() && !name.starts_with("codeobject_sections") {
            assert!(findings.is_empty(), "{what}: {findings:?}");
        }
        for finding in &findings {
            let most = chunk.header.len().max(chunk.data.len()) as u64;
            assert!(finding.cause().offset() <= most, "{what}: {finding}");
        }
    }
    streams(name, &read, expected);
    if let Some(facts) = expected.get("derived") {
        derived::compare(name, &read, facts);
    }
    read.len()
}

/// Compares lines of a listing that stand in the facts.
fn lines(what: &str, found: Vec<String>, facts: &Value) {
    let Some(expected) = facts.get("lines").and_then(Value::as_array) else { return };
    for (number, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(expected.as_str(), Some(found.as_str()), "{what}: line {number}");
    }
    assert_eq!(found.len(), expected.len(), "{what}");
}

/// One of the findings is what is expected.
fn noticed(what: &str, expected: &Value, findings: &[Finding]) {
    let word = expected["error"].as_str().expect("a word");
    let codes: &[&str] = match word {
        "unknown_version" => &["unsupported-version"],
        "count_exceeds_data" | "count_exceeds_event" => &["count-too-large"],
        "data_exceeds_count" => &["trailing-bytes"],
        "no_terminator" => &["missing"],
        "bad_offset" => &["out-of-bounds"],
        "bad_item_size" | "reserved_token_2" => &["invalid"],
        "length_disagrees" => &["mismatch", "size-mismatch"],
        "time_goes_back" => &["not-ascending"],
        "header_copy_differs" => &["mismatch"],
        "no_leading_timestamp" => &["missing"],
        "not_elf64_le" => &["bad-magic", "unexpected-end"],
        "bad_json" => &["unexpected", "unexpected-end", "not-utf8", "too-deep"],
        "too_short" | "partial_record" | "event_too_short" | "info_exceeds_event" | "name_exceeds_event" => {
            &["unexpected-end"]
        }
        _ if word.starts_with("truncated_") => &["unexpected-end"],
        _ => &[],
    };
    let of_string = word == "bad_offset";
    let offset = expected.get("offset").filter(|_| !of_string).and_then(Value::as_u64);
    let fits = |finding: &&Finding| {
        let cause = finding.cause();
        (codes.is_empty() || codes.contains(&cause.kind().code()))
            && offset.is_none_or(|offset| cause.offset() == offset)
    };
    let count = findings.iter().filter(fits).count();
    let times = expected.get("times").and_then(Value::as_u64).unwrap_or(1);
    assert!(count as u64 >= times, "{what}: {expected} not among {findings:?}");
}

/// The streams of tokens, joined over all chunks.
fn streams(name: &str, read: &[Read], expected: &Value) {
    let Some(facts) = expected.get("rmt_streams").and_then(Value::as_array) else { return };
    for facts in facts {
        let number = facts["stream"].as_u64().expect("a number");
        let chunks = read.iter().filter_map(|chunk| match chunk.content() {
            Ok(Content::Rmt(rmt)) if u64::from(rmt.fields().stream()) == number => Some((chunk.index, rmt)),
            _ => None,
        });
        let chunks: Vec<_> = chunks.collect();
        let indices: Vec<usize> = chunks.iter().map(|(index, _)| *index).collect();
        assert_eq!(facts["chunks"], serde_json::json!(indices), "{name}: stream {number}");
        let mut storage = vec![0; facts["bytes"].as_u64().expect("a size") as usize];
        let rmt = chunks.iter().map(|(_, rmt)| *rmt);
        let stream = join(rmt, &mut storage).expect("enough room").expect("a chunk");
        for (field, found) in tokens::summary(stream).as_object().expect("an object") {
            if let Some(expected) = facts.get(field) {
                assert_eq!(found, expected, "{name}: {field} of stream {number}");
            }
        }
        assert_eq!(facts["process"], stream.process());
        if let Some(error) = facts.get("error") {
            let mut findings = Vec::new();
            stream.check(&mut |finding| findings.push(finding));
            noticed(name, error, &findings);
        }
    }
}

fn listing(path: &Path) -> Option<Vec<String>> {
    let compressed = std::fs::read(path).ok()?;
    let mut text = Vec::new();
    lzma_rs::xz_decompress(&mut &compressed[..], &mut text).expect("xz");
    Some(String::from_utf8(text).expect("UTF-8").lines().map(str::to_owned).collect())
}

/// Every token and event of the real files.
#[test]
fn listings() {
    let (mut files, mut compared) = (0, 0);
    let folders = folders();
    for (facts, data) in folders.iter().filter(|(facts, data)| facts != data) {
        for (name, _) in expected(facts) {
            let data = std::fs::read(data.join(&name)).expect("the file");
            let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
            if data.starts_with(b"MINI") {
                found.insert("RmtData", neighbors::lines(&data));
            } else {
                for chunk in read(&data) {
                    match chunk.content() {
                        Ok(Content::Rmt(rmt)) => {
                            found
                                .entry("RmtData")
                                .or_default()
                                .extend(tokens::lines(chunk.index, rmt.stream()));
                        }
                        Ok(Content::DriverEvents(events)) => {
                            found.entry("DDEvent").or_default().extend(events::lines(chunk.index, events));
                        }
                        _ => {}
                    }
                }
            }
            for (kind, found) in found {
                let path = facts.join(format!("{name}.{kind}.tsv.xz"));
                let Some(mut expected) = listing(&path) else { continue };
                if expected.first().is_some_and(|line| line.starts_with("chunk\t")) {
                    expected.remove(0);
                }
                for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    assert_eq!(found, expected, "{name}: line {number} of {kind}");
                }
                assert_eq!(found.len(), expected.len(), "{name}: {kind}");
                files += 1;
                compared += found.len();
            }
        }
    }
    println!("rdf-contents: {files} listings, {compared} lines compared");
    assert!(folders.is_empty() || files > 0 && compared > 0, "no listing was read");
}

/// Text as the facts have it.
fn text(bytes: &[u8]) -> Value {
    String::from_utf8_lossy(bytes).into()
}

/// JSON of ASCII alone, as the listings have it.
fn ascii(value: &Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out += &format!("\\u{unit:04x}");
            }
        }
    }
    out
}

/// Fields as the listings have them.
fn join_fields(fields: &[(&str, Value)]) -> String {
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", ascii(value))).collect();
    fields.join(" ")
}

/// A name, or the number that has none.
fn name_or<N: Into<u64>>(name: Option<&'static str>, number: N) -> Value {
    match name {
        Some(name) => name.into(),
        None => number.into().into(),
    }
}

fn count(map: &mut BTreeMap<String, u64>, key: &Value) {
    let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
    *map.entry(key).or_default() += 1;
}

/// The stream of a chunk's tokens.
type AnyStream<'a> = Stream<'a>;
