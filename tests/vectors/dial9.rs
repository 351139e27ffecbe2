//! Files of dial9's own writers with every value, and damaged ones with the right answer for each.

use crate::folder;
use flate2::read::MultiGzDecoder;
use serde_json::{Value as Json, json};
use std::fs;
use std::io::Read as _;
use std::path::Path;
use traceglass::dial9::{
    AnnotationSlot, ClassSlot, Event, Frames, PoolSlot, SchemaSlot, Storage, Trace, Value, Values,
};
use traceglass::{Gap, Room};

/// A room that grows.
struct Growing<T>(Vec<T>, T);

impl<T: Clone> Room<T> for Growing<T> {
    fn slots(&self) -> &[T] {
        &self.0
    }
    fn slots_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
    fn grow(&mut self, needed: usize) -> bool {
        self.0.resize(needed, self.1.clone());
        true
    }
}

/// An event: where it stands, and its line.
type Line = (u64, Json);

/// All events, and what was lost.
fn read(data: &[u8]) -> (Vec<Line>, Vec<Gap>) {
    let mut schemas = Growing(Vec::new(), SchemaSlot::EMPTY);
    let mut strings = Growing(Vec::new(), PoolSlot::EMPTY);
    let mut stacks = Growing(Vec::new(), PoolSlot::EMPTY);
    let mut annotations = Growing(Vec::new(), AnnotationSlot::EMPTY);
    let mut classes = Growing(Vec::new(), ClassSlot::EMPTY);
    let storage = Storage::new(&mut schemas)
        .strings(&mut strings)
        .stacks(&mut stacks)
        .annotations(&mut annotations)
        .classes(&mut classes);
    let mut frames = Frames::new(data, storage);
    let (mut lines, mut gaps) = (Vec::new(), Vec::new());
    loop {
        match frames.next_event() {
            Ok(Some(event)) => lines.push((event.offset(), line(&event, &frames))),
            Ok(None) => return (lines, gaps),
            Err(_) => gaps.push(frames.recover().expect("what was lost")),
        }
    }
}

fn line(event: &Event<'_>, frames: &Frames<'_, '_>) -> Json {
    let fields: Vec<Json> = event
        .fields()
        .map(|field| {
            let optional = if field.def().is_optional() { "opt_" } else { "" };
            let name = kind_name(field.def().field_type().name());
            json!([
                field.name(),
                format!("{optional}{name}"),
                field.value().map(|value| plain(&value, frames))
            ])
        })
        .collect();
    json!({"seg": frames.batch() - 1, "name": event.name(), "ts": event.nanoseconds(), "fields": fields})
}

fn kind_name(name: &str) -> &'static str {
    let names = [
        ("I64", "i64"),
        ("F64", "f64"),
        ("Bool", "bool"),
        ("String", "string"),
        ("Bytes", "bytes"),
        ("PooledStackFrames", "pooled_stack"),
        ("PooledString", "pooled_string"),
        ("StackFrames", "stack"),
        ("Varint", "varint"),
        ("StringMap", "string_map"),
        ("U8", "u8"),
        ("U16", "u16"),
        ("U32", "u32"),
        ("DynamicList", "list"),
        ("DynamicMap", "map"),
    ];
    names.iter().find(|(own, _)| *own == name).expect("a type").1
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn text(bytes: &[u8]) -> Json {
    std::str::from_utf8(bytes).map_or_else(|_| json!({"hex": hex(bytes)}), |text| json!(text))
}

fn plain(value: &Value<'_>, frames: &Frames<'_, '_>) -> Json {
    let stack = |addresses: Vec<u64>| json!(addresses.iter().map(|a| format!("{a:#x}")).collect::<Vec<_>>());
    let pooled = |id: u32| frames.string(id).map_or_else(|| json!({"pool": id}), text);
    match *value {
        Value::I64(value) => json!(value),
        Value::F64(value) => json!(format!("{:016x}", value.to_bits())),
        Value::Bool(value) => json!(value),
        Value::String(bytes) => text(bytes),
        Value::Bytes(bytes) => json!(hex(bytes)),
        Value::PooledStack(id) => frames
            .stack(id)
            .map_or_else(|| json!({"stack": id}), |pooled| stack(pooled.addresses().collect())),
        // The format's own reader drops text that is not UTF-8 from a pool.
        Value::PooledString(id) => {
            pooled(id).as_str().map_or_else(|| json!({"pool": id}), |text| json!(text))
        }
        Value::Stack(inline) => stack(inline.addresses().collect()),
        Value::StringMap(map) => map.pairs().map(|(key, value)| json!([text(key), text(value)])).collect(),
        Value::List(list) => json!(typed(list.values(), frames)),
        Value::Map(map) => {
            json!(typed(map.values(), frames).chunks(2).map(|pair| json!(pair)).collect::<Vec<_>>())
        }
        ref other => json!(other.unsigned().expect("an integer")),
    }
}

fn typed(values: Values<'_>, frames: &Frames<'_, '_>) -> Vec<Json> {
    values.map(|value| json!([kind_name(value.field_type().name()), plain(&value, frames)])).collect()
}

/// The bytes of a file, inflated if they are gzip.
fn open(path: &Path) -> Vec<u8> {
    let data = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if !data.starts_with(&[0x1f, 0x8b]) {
        return data;
    }
    let mut inflated = Vec::new();
    // What a damaged member has before the damage is inflated; zeros may follow the last one.
    let _ = MultiGzDecoder::new(&data[..]).read_to_end(&mut inflated);
    inflated
}

fn expected(path: &Path) -> Vec<Json> {
    let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
    let end = name.find(".bin").expect("a name of a segment");
    let stem = format!("{}.expected.ndjson", &name[..end]);
    let plain = path.with_file_name(&stem);
    let found = if plain.exists() { plain } else { path.with_file_name(stem + ".gz") };
    String::from_utf8(open(&found))
        .expect("text")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The first difference; `seg` is not compared where damage has hidden headers.
fn difference(found: &[Json], expected: &[Json], whole: bool) -> Option<String> {
    let keys: &[&str] = if whole { &["seg", "name", "ts", "fields"] } else { &["name", "ts", "fields"] };
    let differs = |(found, expected): (&Json, &Json)| keys.iter().any(|key| found[key] != expected[key]);
    let at = found.iter().zip(expected).position(differs);
    let at = at.or((found.len() != expected.len()).then(|| found.len().min(expected.len())))?;
    Some(format!(
        "line {at} of {} and {}:\n  found    {:?}\n  expected {:?}",
        found.len(),
        expected.len(),
        found.get(at),
        expected.get(at)
    ))
}

/// What is wrong with one file.
fn compare(path: &Path, entry: &Json) -> Option<String> {
    let data = open(path);
    let (lines, gaps) = read(&data);
    let lines_of = |part: &dyn Fn(u64) -> bool| -> Vec<Json> {
        lines.iter().filter(|(at, _)| part(*at)).map(|(_, line)| line.clone()).collect()
    };
    let all = lines_of(&|_| true);
    let verdict = entry["verdict"].as_str().expect("a verdict");
    if verdict == "unsupported" {
        let refused = Trace::parse(&data).is_err() && all.is_empty();
        return (!refused).then(|| "it is read".to_owned());
    }
    let expected = expected(path);
    let before = entry["before"].as_u64().unwrap_or(expected.len() as u64) as usize;
    let start = &expected[..before.min(expected.len())];
    match verdict {
        "ok" if !gaps.is_empty() => Some(format!("{}", gaps[0])),
        "ok" => difference(&all, &expected, true),
        "unseen" => difference(&all[..before.min(all.len())], start, true),
        "either" if gaps.is_empty() => difference(&all[..before.min(all.len())], start, true),
        _ => {
            let Some(damage) = entry["damage"][0].as_object() else {
                // gzip: that is the business of who inflates it.
                let count = all.len().min(expected.len());
                return difference(&all[..count], &expected[..count], false);
            };
            let (at, off) =
                (entry["at"].as_u64().expect("a place"), damage["off"].as_u64().expect("a place"));
            let gap = gaps.first()?;
            let resync = damage["resync"].as_u64().unwrap_or(data.len() as u64);
            if (gap.offset(), gap.end()) != (off, resync) {
                return Some(format!("{gap}, and reading goes on at {}: expected {damage:?}", gap.end()));
            }
            let junk = lines_of(&|offset| (at..off).contains(&offset)).len() as u64;
            if Some(junk) != entry["junk"].as_u64() {
                return Some(format!("{junk} events between the damage and where it shows"));
            }
            difference(&lines_of(&|offset| !(at..off).contains(&offset)), &expected, false)
        }
    }
}

#[test]
fn each_file_gives_its_events_and_its_damage() {
    let Some(folder) = folder("dial9") else { return };
    let index = fs::read_to_string(folder.join("index.ndjson")).expect("an index");
    let (mut files, mut wrong) = (0, Vec::new());
    for line in index.lines() {
        let entry: Json = serde_json::from_str(line).expect("a line of the index");
        let name = entry["file"].as_str().expect("a file");
        files += 1;
        if let Some(difference) = compare(&folder.join(name), &entry) {
            wrong.push(format!("{name}: {difference}"));
        }
    }
    println!("dial9: {files} files read");
    assert!(files > 0, "no files in {}", folder.display());
    assert!(wrong.is_empty(), "{} of {files} files are wrong\n{}", wrong.len(), wrong.join("\n"));
}
