//! Captures off a wire and out of memory, with what was written there.

use crate::random::Random;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use traceglass::ctf::data::wire::{Capture, Scan, ScanMark, WireSlot};
use traceglass::ctf::data::{self, Fields, Merge, MergeSlot, Packets};
use traceglass::ctf::metadata::{Language, MetadataStream};
use traceglass::ctf::schema::tsdl::{NameEntry, TypeNode, Workspace, compile};
use traceglass::ctf::schema::{Node, Schema};

/// A record: its offset and its end, and what is known of it.
type Found = (u64, u64, bool, Value);

fn with_schema<T>(metadata: &[u8], read: impl FnOnce(&Schema<'_, '_>) -> T) -> T {
    let stream = MetadataStream::parse_text(metadata).expect("metadata");
    let mut nodes = vec![Node::EMPTY; 4096];
    if stream.language() != Language::Tsdl {
        return read(&Schema::compile(&stream, &mut nodes).expect("a schema"));
    }
    let (mut types, mut names) = (vec![TypeNode::default(); 4096], vec![NameEntry::default(); 4096]);
    let workspace = Workspace { nodes: &mut types, names: &mut names };
    read(&compile(stream, &mut nodes, workspace).expect("a schema"))
}

fn members(fields: Option<Fields<'_, '_>>) -> Value {
    let mut members = Map::new();
    for field in fields.into_iter().flatten() {
        let field = field.expect("a field of a record that was delivered");
        let value = match field.value() {
            data::Value::Unsigned(value) => value.into(),
            data::Value::Signed(value) => value.into(),
            data::Value::Text(text) => Value::String(String::from_utf8_lossy(text.bytes()).into_owned()),
            _ => continue,
        };
        let name = field.name().expect("a name").to_string();
        // CTF 1.8 has names of its own for those that are keywords.
        members.insert(name.trim_start_matches('_').to_owned(), value);
    }
    Value::Object(members)
}

/// The findings in a capture.
struct Read {
    records: Vec<Found>,
    slots: Vec<WireSlot>,
    work: u64,
}

fn read(file: &Path, schema: &Schema<'_, '_>, skipped: u64) -> Read {
    let data = fs::read(file).expect("a capture");
    let mut room = vec![WireSlot::EMPTY; data.len()];
    let capture = Capture::read(Scan::new(&data, schema).skip_bytes(skipped), &mut room[..])
        .expect("room for each byte");
    let mut records = Vec::new();
    for session in 0..capture.sessions() {
        let of_session = |track: &&[WireSlot]| track[0].session() == session;
        let tracks: Vec<_> = capture.tracks().filter(of_session).collect();
        let mut slots = vec![MergeSlot::EMPTY; tracks.len()];
        let mut merge = Merge::new(&mut slots);
        for track in tracks {
            merge.add(Packets::of_track(&data, schema, track)).expect("a place in the merge");
        }
        while let Some(merged) = merge.next_record().expect("records that were read before") {
            let record = merged.record();
            let packet = record.packet();
            let facts = json!({
                "session": session, "dsc": packet.stream_class().id(), "cpu": packet.cpu(), "seq": packet.sequence(),
                "ts": record.cycles(), "name": record.class().name().expect("a name").to_string(),
                "p": members(record.payload()),
            });
            records.push((record.offset(), record.end_offset(), packet.is_doubtful(), facts));
        }
    }
    Read { records, slots: capture.slots().to_vec(), work: capture.work() }
}

/// The file of a capture, how many bytes of it are to be skipped, and how it is laid out.
fn parts(folder: &Path) -> (PathBuf, u64, String) {
    let text = fs::read_to_string(folder.join("expected.ndjson")).expect("what is expected");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line"));
    let what = lines.into_iter().find(|line| line["k"] == "what").expect("what it is");
    let skipped = what["options"][0].as_str().and_then(|option| option.strip_prefix("--skip "));
    let skipped = skipped.map_or(0, |count| count.parse().expect("a number"));
    let mut files: Vec<_> = fs::read_dir(folder.join("trace"))
        .expect("a trace")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.retain(|path| path.file_name().is_some_and(|name| name != "metadata"));
    let [file] = &files[..] else { panic!("one file in {}", folder.display()) };
    (file.clone(), skipped, what["layout"].as_str().expect("a layout").to_owned())
}

/// Compares what is read of a capture with what is expected; an error says how they differ.
fn compare(folder: &Path) -> Result<usize, String> {
    let text = fs::read_to_string(folder.join("expected.ndjson")).expect("what is expected");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a line")).collect();
    let of_kind = |kind: &'static str| lines.iter().filter(move |line| line["k"] == kind);
    let (file, skipped, layout) = parts(folder);
    let file = file.as_path();
    let metadata = fs::read(folder.join("trace/metadata")).expect("metadata");
    let Read { records, slots, work } = with_schema(&metadata, |schema| read(file, schema, skipped));
    let size = fs::metadata(file).expect("a file").len();

    let is_at = |line: &Value, found: &Found| line["at"] == found.0 && line["end"] == found.1;
    let must: Vec<_> = of_kind("record").filter(|line| line["must"] == true).collect();
    let agrees = |line: &Value, found: &Found| {
        ["session", "dsc", "cpu", "seq", "ts", "name", "p"].into_iter().all(|key| line[key] == found.3[key])
    };
    // All that must be there, in order.
    let mut left = must.iter();
    let mut free = 0;
    let mut next = left.next();
    for found in &records {
        if let Some(line) = next.filter(|line| is_at(line, found)) {
            if !agrees(line, found) {
                return Err(format!("expected {line}\n     found {}", found.3));
            }
            next = left.next();
            continue;
        }
        if must.iter().any(|line| is_at(line, found)) {
            return Err(format!("out of order: {found:?}, where {next:?} is expected"));
        }
        // Nothing else that may not be, unless it is marked.
        let is_free = found.3["p"].to_string().contains('\u{fffd}');
        if !found.2 && !is_free && !of_kind("record").any(|line| is_at(line, found) && agrees(line, found)) {
            free += 1;
            let has_magic = !layout.contains("bare");
            if has_magic || free > 3 {
                return Err(format!("was never written: {found:?}"));
            }
        }
    }
    if let Some(line) = next {
        return Err(format!("missing: {line}"));
    }
    for lost in of_kind("lost") {
        let (from, to) = (lost["from"].as_u64().unwrap(), lost["to"].as_u64().unwrap());
        let is_told = slots.iter().filter(|slot| slot.is_damage()).filter_map(|slot| slot.lost());
        let is_told = is_told.into_iter().any(|(start, end)| start < to && end > from);
        if !is_told && lost["holds"] != json!(["fill"]) && to > skipped {
            return Err(format!("not told: {lost}"));
        }
    }
    let mut restarts: Vec<_> = slots.iter().filter(|slot| slot.is_restart()).map(WireSlot::offset).collect();
    restarts.sort();
    let expected: Vec<_> = of_kind("restart").map(|line| line["at"].as_u64().unwrap()).collect();
    if restarts != expected {
        return Err(format!("restarts at {restarts:?}, expected {expected:?}"));
    }
    let is_damaged = skipped > 0 || slots.iter().any(WireSlot::is_damage);
    let verdict = &of_kind("end").next().expect("the end")["verdict"];
    if *verdict != if is_damaged { "damaged" } else { "clean" } {
        return Err(format!("expected to be {verdict}"));
    }
    // Each byte is in one slot.
    let mut slots = slots;
    slots.sort_by_key(WireSlot::offset);
    let mut at = skipped;
    for slot in &slots {
        if slot.offset() != at {
            return Err(format!("a slot at {} after {at}", slot.offset()));
        }
        at = slot.end();
    }
    if at != size {
        return Err(format!("ends at {at} of {size}"));
    }
    if work > 16 * size + 4096 {
        return Err(format!("{work} bytes looked at, of {size}"));
    }
    Ok(must.len())
}

/// Reads a capture in pieces that end at random places. What is found of them one by one is what is found in the whole;
/// where nothing tells where a packet ends, records are found as they come.
fn grows(folder: &Path, seed: u64) -> Result<(), String> {
    let (file, skipped, layout) = parts(folder);
    let data = fs::read(file).expect("a capture");
    let metadata = fs::read(folder.join("trace/metadata")).expect("metadata");
    let mut random = Random(seed);
    with_schema(&metadata, |schema| {
        let (mut mark, mut end, mut found) = (ScanMark::after(skipped), 0, Vec::new());
        while end < data.len() {
            end = (end + 1 + random.next() as usize % 400).min(data.len());
            let mut scan = Scan::from_mark(&data[..end], schema, mark).growing();
            found.extend(scan.by_ref());
            mark = scan.mark();
        }
        let early = found.iter().map(WireSlot::records).sum::<u64>();
        found.extend(Scan::from_mark(&data, schema, mark));
        let whole: Vec<_> = Scan::new(&data, schema).skip_bytes(skipped).collect();
        let [count, all] = [&found, &whole].map(|slots| slots.iter().map(WireSlot::records).sum::<u64>());
        if early * 5 < all * 3 {
            return Err(format!("{early} of {all} records before the end"));
        }
        if layout.contains("bare") {
            return if count == all { Ok(()) } else { Err(format!("{count} records, not {all}")) };
        }
        let differs =
            found.iter().zip(&whole).find(|(one, other)| format!("{one:?}") != format!("{other:?}"));
        match differs {
            None if found.len() == whole.len() => Ok(()),
            other => Err(format!("{} slots of {}: {other:?}", found.len(), whole.len())),
        }
    })
}

#[test]
fn captures_that_grow_are_those_of_the_whole() {
    let Some(folder) = super::folder("ctf-wire") else { return };
    let index = fs::read_to_string(folder.join("index.ndjson")).expect("an index");
    let (mut captures, mut wrong) = (0, Vec::new());
    for (number, line) in (1..).zip(index.lines()) {
        let entry: Value = serde_json::from_str(line).expect("a line of the index");
        let name = entry["name"].as_str().expect("a name");
        captures += 1;
        for seed in 0..4 {
            if let Err(message) = grows(&folder.join(name), (number * 4 + seed + 1) * 0x9e37_79b9) {
                wrong.push(format!("{name}, seed {seed}: {message}"));
            }
        }
    }
    println!("{captures} captures read in pieces");
    assert!(captures > 0, "no captures in {}", folder.display());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn captures_agree_with_what_was_written() {
    let Some(folder) = super::folder("ctf-wire") else { return };
    let index = fs::read_to_string(folder.join("index.ndjson")).expect("an index");
    let (mut captures, mut records, mut wrong) = (0, 0, Vec::new());
    for line in index.lines() {
        let entry: Value = serde_json::from_str(line).expect("a line of the index");
        let name = entry["name"].as_str().expect("a name");
        captures += 1;
        match compare(&folder.join(name)) {
            Ok(count) => records += count,
            Err(message) => wrong.push(format!("{name}: {message}")),
        }
    }
    println!("{captures} captures read, {records} records in them");
    assert!(captures > 0, "no captures in {}", folder.display());
    assert!(wrong.is_empty(), "{} of {captures} captures are wrong\n{}", wrong.len(), wrong.join("\n"));
}
