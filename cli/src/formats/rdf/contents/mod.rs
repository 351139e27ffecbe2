//! The contents of a file's chunks, for people.

mod advice;
mod crash;
mod memory;

use super::decoder::Decoder;
use super::loaded::{First, Loaded, Loader, is_known, is_too_much};
use super::plan::{Part as Stored, Plan, Turn};
use super::walk::{self, Step, places};
use crate::output::{bytes, counted, grouped};
use crate::trace::Field;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::ops::Range;
use traceglass::rdf::contents::joins::{QueueTime, queue_times};
use traceglass::rdf::contents::rmt::{PieceOf, RmtFields, Stream, TokenOrder};
use traceglass::rdf::contents::{Clocks, Content, Json, SystemInfo};
use traceglass::rdf::contents::{Part, Structure};
use traceglass::rdf::{Chunk, Compression, Entry, File, Identifier};
use traceglass::{Error, ErrorKind, Finding, Severity};

/// A summary of a file's contents.
#[derive(Default)]
pub struct Summary {
    /// Fields of the JSON object.
    pub fields: Map<String, Value>,
    /// Label and value, one a line.
    pub lines: Vec<(&'static str, String)>,
}

impl Summary {
    fn line(&mut self, label: &'static str, value: impl Into<String>) {
        // A label stands once.
        let known = self.lines.last().is_some_and(|(_, _)| self.lines.iter().any(|(one, _)| *one == label));
        self.lines.push((if known { "" } else { label }, value.into()));
    }

    /// Says how many others there are, of which there are no lines.
    fn more(&mut self, label: &'static str, all: usize, shown: usize) {
        if let Some(more) = all.checked_sub(shown).filter(|&more| more > 0) {
            self.line(label, format!("and {} more", grouped(more as u64)));
        }
    }

    fn field(&mut self, name: &str, value: Value) {
        self.fields.insert(name.into(), value);
    }
}

/// Says what a file is about: GPU, driver, API, computer, process, crash, snapshots, queues.
pub fn summarize(file: &File<'_>, complete: bool) -> Summary {
    let mut summary = Summary::default();
    let mut order = vec![0; file.index().len()];
    // It fails only if there are more entries than 32 bits can number.
    let Ok(sorted) = file.sort(&mut order) else { return summary };
    let mut loader = Loader::new(sorted, file.data().len() as u64, complete);
    let system = loader.load("SystemInfo");
    let system = system.iter().find_map(|chunk| match chunk.content() {
        Ok(Content::System(system)) => Some(system),
        _ => None,
    });
    gpus(&mut loader, system, &mut summary);
    if let Some(system) = system {
        computer(system, &mut summary);
    }
    for chunk in loader.load("ApiInfo").iter().take(1) {
        let Ok(Content::Api(api)) = chunk.content() else { continue };
        let name = api.api().to_string();
        let version = api.version().map(|(major, minor)| format!("{major}.{minor}"));
        summary.line("API", version.iter().fold(name.clone(), |text, version| format!("{text} {version}")));
        summary.field("api", json!({"name": name, "version": version}));
    }
    let streams = Streams::new(loader.read(walk::TOKENS));
    crash::summarize(&mut loader, system, &streams, &mut summary);
    memory::summarize(&streams, &mut summary);
    snapshots(&mut loader, &mut summary);
    queues(&mut loader, system, &mut summary);
    overrides(&mut loader, &mut summary);
    let errors = loader.load("TraceError");
    let mut all = Vec::new();
    for chunk in &errors {
        let Ok(Content::TraceError(error)) = chunk.content() else { continue };
        let text = error.text().map_or_else(String::new, |text| format!(": {text}"));
        let fields = error.fields();
        let (chunk, number, result) = (fields.missing().to_string(), fields.missing_index(), fields.result());
        if all.len() < 8 {
            summary.line("not traced", format!("{chunk} {number}, result {result}{text}"));
        }
        let text = error.text().map(|text| text.to_string());
        all.push(json!({"chunk": chunk, "index": number, "result": result, "text": text}));
    }
    summary.more("not traced", all.len(), 8);
    if !all.is_empty() {
        summary.field("trace_errors", all.into());
    }
    if let Some(most) = loader.exceeded {
        let most = bytes(most);
        summary.line("contents", format!("not all was read for this, they are more than {most}"));
    }
    summary.field("contents_complete", loader.exceeded.is_none().into());
    summary
}

/// The value at a path.
fn at<'a>(value: Json<'a>, path: &[&str]) -> Option<Json<'a>> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

/// The text at a path, without blanks around it.
fn text(value: Json<'_>, path: &[&str]) -> Option<String> {
    Some(at(value, path)?.text()?.to_string().trim().to_owned())
}

fn gpus(loader: &mut Loader<'_, '_>, system: Option<SystemInfo<'_>>, summary: &mut Summary) {
    let mut all = Vec::new();
    for chunk in &loader.load("AsicInfo") {
        let Ok(Content::Asic(asic)) = chunk.content() else { continue };
        let fields = asic.fields();
        let name = asic.name().to_string();
        let gfx = format!("gfx{}{}{:x}", fields.gfxip_major(), fields.gfxip_minor(), fields.gfxip_stepping());
        let memory = u64::try_from(fields.vram_bytes()).unwrap_or(0);
        summary.line("GPU", format!("{name}, {gfx}, {} of {}", bytes(memory), fields.memory_type()));
        all.push(json!({
            "name": name, "gfx": gfx, "memory_bytes": memory, "memory_type": fields.memory_type().to_string(),
            "device_id": fields.device_id(), "pci": asic.pci().map(|pci| pci.to_string()),
            "gpu_hz": asic.gpu_hz(),
        }));
    }
    if all.is_empty() {
        for gpu in system.into_iter().flat_map(|system| system.gpus()) {
            let heap =
                |name: &str| at(gpu, &["memory", "heaps", name, "size"]).and_then(|size| size.as_u64());
            let memory = heap("local").unwrap_or(0).saturating_add(heap("invisible").unwrap_or(0));
            let name = text(gpu, &["name"]).unwrap_or_default();
            let kind = text(gpu, &["memory", "type"]);
            let of = kind.iter().fold(String::new(), |_, kind| format!(" of {}", kind.to_uppercase()));
            summary.line("GPU", format!("{name}, {}{of}", bytes(memory)));
            let hz = at(gpu, &["asic", "gpuCounterFreq"]).and_then(|hz| hz.as_u64());
            all.push(json!({"name": name, "memory_bytes": memory, "memory_type": kind, "gpu_hz": hz}));
        }
    }
    if all.is_empty() {
        for chunk in &loader.load("AdapterInfo") {
            let Ok(Content::Adapter(adapter)) = chunk.content() else { continue };
            summary.line("GPU", adapter.name().to_string());
            all.push(json!({"name": adapter.name().to_string(), "device_id": adapter.device()}));
        }
    }
    if !all.is_empty() {
        summary.field("gpus", all.into());
    }
}

fn computer(system: SystemInfo<'_>, summary: &mut Summary) {
    let words = |text: Option<traceglass::JsonString<traceglass::Text<'_>>>| {
        text.map(|text| text.to_string().trim().to_owned())
    };
    let (name, version) = (words(system.driver_name()), words(system.driver_version()));
    let package = words(system.driver_package());
    let parts: Vec<&str> = [&name, &version].into_iter().flatten().map(String::as_str).collect();
    if !parts.is_empty() {
        let package = package.iter().fold(String::new(), |_, package| format!(" ({package})"));
        summary.line("driver", format!("{}{package}", parts.join(" ")));
    }
    summary.field("driver", json!({"name": name, "version": version, "package": package}));
    let (name, description) = (words(system.os_name()), words(system.os_description()));
    if let Some(name) = &name {
        let more = description.iter().fold(String::new(), |_, more| format!(" ({more})"));
        summary.line("system", format!("{name}{more}"));
    }
    summary.field(
        "os",
        json!({"name": name, "description": description, "memory_bytes": system.memory_bytes()}),
    );
    let cpus: Vec<String> = system.cpus().filter_map(|cpu| text(cpu, &["name"])).collect();
    for cpu in &cpus {
        summary.line("CPU", cpu.clone());
    }
    summary.field("cpus", cpus.into());
    let host = words(system.hostname());
    if let Some(host) = &host {
        summary.line("host", host.clone());
    }
    summary.field("hostname", host.into());
    let processes: Vec<Value> = system
        .processes()
        .into_iter()
        .flatten()
        .map(|one| json!({"id": one.id(), "name": words(one.name()), "path": words(one.path())}))
        .collect();
    if !processes.is_empty() {
        summary.line("processes", format!("{}, which --json lists", grouped(processes.len() as u64)));
    }
    summary.field("processes", processes.into());
}

fn snapshots(loader: &mut Loader<'_, '_>, summary: &mut Summary) {
    let indices = loader.load("RmvSnapshotIndex");
    let index = indices.last().and_then(|chunk| match chunk.content() {
        Ok(Content::SnapshotIndex(index)) => Some(index),
        _ => None,
    });
    let mut all = Vec::new();
    for (number, chunk) in loader.load("RmvSnapshotData").iter().enumerate() {
        let Ok(Content::Snapshot(snapshot)) = chunk.content() else { continue };
        if index.is_none_or(|index| index.has(number)) {
            all.push((snapshot.ticks(), snapshot.name().to_string()));
        }
    }
    all.sort();
    const SHOWN: usize = 12;
    for (ticks, name) in all.iter().take(SHOWN) {
        summary.line("snapshots", format!("{name}, at {} ticks", grouped(*ticks)));
    }
    summary.more("snapshots", all.len(), SHOWN);
    if !all.is_empty() {
        let all: Vec<Value> = all.iter().map(|(ticks, name)| json!({"name": name, "ticks": ticks})).collect();
        summary.field("snapshots", all.into());
    }
}

fn queues(loader: &mut Loader<'_, '_>, system: Option<SystemInfo<'_>>, summary: &mut Summary) {
    let chunks = loader.load("QueueEvent");
    let mut events: Vec<_> = chunks
        .iter()
        .filter_map(|chunk| match chunk.content() {
            Ok(Content::QueueEvent(event)) => Some(event),
            _ => None,
        })
        .collect();
    if events.is_empty() {
        return;
    }
    events.sort_by_key(|event| event.gpu_begin());
    const MOST: usize = 4096;
    let mut storage = vec![QueueTime::EMPTY; events.len().min(MOST)];
    // It fails only if there are more queues than that.
    let Ok(times) = queue_times(events, &mut storage) else {
        summary.line("queues", format!("more than {}, which are not told apart", grouped(MOST as u64)));
        return summary.field("queues", Value::Null);
    };
    let calibrations = loader.load("ClockCalibration");
    let asics = loader.load("AsicInfo");
    let infos = loader.load("QueueInfo");
    let clocks = First::of(&calibrations, |content| match content {
        Content::ClockCalibration(clock) => Some((clock.pci(), clock)),
        _ => None,
    });
    let gpus = First::of(&asics, |content| match content {
        Content::Asic(asic) => Some((asic.pci(), asic.gpu_hz())),
        _ => None,
    });
    let engines = First::of(&infos, |content| match content {
        Content::QueueInfo(info) => Some((Some((info.pci(), info.queue())), info.queue_type().to_string())),
        _ => None,
    });
    let mut all = Vec::new();
    for time in times {
        let calibration = clocks.get(&time.pci()).copied();
        let gpu_hz = gpus.get(&time.pci()).copied().flatten();
        let engine = engines.get(&(time.pci(), time.queue()));
        let gpu_hz = gpu_hz.or(system.and_then(|system| system.gpu_hz()));
        let busy = gpu_hz.and_then(|hz| traceglass::rdf::contents::ticks_to_ns(time.gpu_ticks(), hz));
        let clocks = calibration.zip(gpu_hz).zip(system.and_then(|system| system.cpu_hz()));
        let clocks = clocks.and_then(|((calibration, gpu), cpu)| Clocks::new(calibration, gpu, cpu));
        let span =
            time.span().map(|(first, last)| (first, last, clocks.map(|clocks| clocks.gpu_to_ns(first))));
        let submits = counted(time.submits(), "submission", "submissions");
        let busy_text = busy.map_or_else(String::new, |ns| format!(", GPU busy for {}", duration(ns)));
        let of = engine.iter().fold(String::new(), |_, engine| format!(" ({engine})"));
        if all.len() < 12 {
            summary.line("queues", format!("{}{of}: {submits}{busy_text}", time.queue()));
        }
        all.push(json!({
            "pci": time.pci().to_string(), "queue": time.queue(), "type": engine, "events": time.events(),
            "submissions": time.submits(), "gpu_ticks": time.gpu_ticks(), "busy_ns": busy.map(number),
            "first_gpu_ticks": span.map(|span| span.0), "last_gpu_ticks": span.map(|span| span.1),
            "first_ns": span.and_then(|span| span.2).map(number),
        }));
    }
    summary.more("queues", all.len(), 12);
    summary.field("queues", all.into());
}

fn overrides(loader: &mut Loader<'_, '_>, summary: &mut Summary) {
    let mut all = Vec::new();
    for chunk in &loader.load("DriverOverrides") {
        let Ok(Content::DriverOverrides(overrides)) = chunk.content() else { continue };
        for setting in overrides.overridden() {
            let name = setting.name().map(|name| name.to_string()).unwrap_or_default();
            let value = String::from_utf8_lossy(setting.value().raw()).into_owned();
            if all.len() < 12 {
                summary.line("overridden", format!("{name}: {value}"));
            }
            all.push(json!({"name": name, "value": crate::json::value(&value).unwrap_or(Value::Null)}));
        }
    }
    summary.more("overridden", all.len(), 12);
    if !all.is_empty() {
        summary.field("overridden", all.into());
    }
}

/// A number that may have 128 bits.
fn number(value: i128) -> Value {
    i64::try_from(value).map_or_else(|_| value.to_string().into(), Value::from)
}

/// Nanoseconds for people.
fn duration(ns: i128) -> String {
    #[allow(clippy::cast_precision_loss)]
    let value = ns as f64;
    match ns.unsigned_abs() {
        0..=9_999 => format!("{ns} ns"),
        10_000..=999_999 => format!("{:.1} µs", value / 1e3),
        1_000_000..=9_999_999_999 => format!("{:.1} ms", value / 1e6),
        _ => format!("{:.1} s", value / 1e9),
    }
}

/// The streams of tokens in chunks, each joined from its pieces.
#[derive(Default)]
struct Streams {
    pieces: Vec<Pieces>,
    /// The places of the streams, by number.
    places: HashMap<u32, usize>,
    /// The number of those, the first ones, of which a piece may be missing from here on: one came that may be of any.
    over: usize,
}

/// A stream of tokens.
struct Pieces {
    process: u32,
    number: u32,
    version: (u16, u16),
    data: Vec<u8>,
    /// True if a piece is missing here.
    is_over: bool,
}

impl Streams {
    fn new(chunks: Vec<(Chunk<'_>, Option<Loaded<'_>>)>) -> Self {
        let mut streams = Self::default();
        for (chunk, loaded) in chunks {
            match PieceOf::of(&chunk) {
                PieceOf::Stream(piece) => streams.add(piece, loaded.as_ref().map(|loaded| &*loaded.data)),
                PieceOf::Any => streams.over = streams.pieces.len(),
                PieceOf::None => {}
            }
        }
        streams
    }

    /// Adds the data of a piece, or that it is missing: the next piece may begin within a token.
    fn add(&mut self, fields: RmtFields<'_>, data: Option<&[u8]>) {
        let next = self.pieces.len();
        let (number, version) = (fields.stream(), (fields.major(), fields.minor()));
        let at = *self.places.entry(number).or_insert(next);
        if at == next {
            let (process, data) = (fields.process(), Vec::new());
            self.pieces.push(Pieces { process, number, version, data, is_over: false });
        }
        let is_over = at < self.over;
        if let Some(stream) = self.pieces.get_mut(at) {
            stream.is_over |= is_over || data.is_none();
            stream.data.extend(data.filter(|_| !stream.is_over).unwrap_or_default());
        }
    }

    fn iter(&self) -> impl Iterator<Item = Stream<'_>> + Clone {
        // Of one whose first piece is missing nothing is known.
        let known = self.pieces.iter().filter(|one| !(one.is_over && one.data.is_empty()));
        known.map(|one| Stream::from_parts(one.process, one.number, one.version, &one.data))
    }
}

/// Chunks of what happened.
pub const HAPPENED: [&str; 7] = [
    "DDEvent",
    "RmtData",
    "QueueEvent",
    "COLoadEvent",
    "RmvSnapshotData",
    "SpmCounterData",
    "UserMarkerHist",
];

/// True if content that cannot be read of chunks with an identifier is damage of the file: what happened is lost. Other
/// chunks hold facts, which may not be what their identifiers say: the container is whole, and gives their bytes. So it
/// does of versions that are not known.
pub fn is_damage(id: Identifier, error: &Error) -> bool {
    let is_known = !matches!(error.kind(), ErrorKind::UnsupportedVersion { .. });
    is_known && HAPPENED.iter().any(|known| known.as_bytes() == id.name())
}

/// The finding that content is too much to be told.
fn untold(id: Identifier, error: Error) -> Finding {
    let severity = if is_damage(id, &error) { Severity::Error } else { Severity::Warning };
    Finding::new(severity, error)
}

/// Reads what is inside the chunks that are known, and reports what is odd.
pub fn check(file: &File<'_>, report: &mut dyn FnMut(Finding)) {
    let plan = Plan::of(file, Stored::Contents);
    let mut decoder = Decoder::new();
    let mut streams = walk::Streams::default();
    let mut orders: HashMap<u32, TokenOrder> = HashMap::new();
    for (entry, place) in places(file) {
        let Some(chunk) = file.chunk_at(entry.number()) else { continue };
        if !is_known(entry.identifier()) {
            continue;
        }
        let loaded = match plan.turn(entry.number()) {
            Turn::Read => Loaded::read(chunk, &mut decoder),
            // The same bytes, of which the same would be said.
            Turn::As(_) => continue,
            Turn::Beyond(error) => Err(error),
        };
        let loaded = match loaded {
            Ok(loaded) => loaded,
            Err(error) => {
                streams.lose(PieceOf::of(&chunk), place);
                // Other errors were reported.
                if is_too_much(&error) {
                    report(untold(place.id, error));
                }
                continue;
            }
        };
        let found = |finding: Finding| {
            let is_damage = is_damage(place.id, &finding.cause());
            let severity = if is_damage { finding.severity() } else { Severity::Warning };
            Finding::new(severity, Content::located(&chunk, finding.cause()))
        };
        match loaded.content() {
            Ok(content) => {
                content.check(&mut |finding| report(found(finding)));
                if let Content::Rmt(rmt) = content {
                    let order = orders.entry(rmt.fields().stream()).or_default();
                    // Nothing in here ends it.
                    let _: Result<bool, _> =
                        streams.of(rmt.fields(), place).chunk(file, &loaded, place, &mut |step| {
                            match step {
                                Step::Record(place, record) => {
                                    let odd = record.token().and_then(|token| order.check(token));
                                    let of =
                                        usize::try_from(place.entry).ok().and_then(|at| file.chunk_at(at));
                                    if let Some((finding, of)) = odd.zip(of) {
                                        report(Finding::warning(Content::located(&of, finding.cause())));
                                    }
                                }
                                Step::Lost(_, error) => report(Finding::new(Severity::Error, error)),
                                _ => {}
                            }
                            Ok(true)
                        });
                }
            }
            Err(error) => {
                streams.lose(PieceOf::of(&chunk), place);
                report(found(Finding::new(Severity::Error, error)));
            }
        }
    }
    let mut cut = streams.cut(file);
    cut.sort_by_key(|(_, error)| error.offset());
    cut.into_iter().for_each(|(_, error)| report(Finding::new(Severity::Error, error)));
    advice::advise(file, report);
}

/// The fields of the structures of a chunk that is stored as it is, in the range to be shown.
pub fn hex_fields(file: &File<'_>, entry: Entry<'_>, shown: &Range<u64>) -> Vec<Field> {
    let mut fields = Vec::new();
    let (Ok(header_at), Ok(data_at)) = (entry.header_range(), entry.stored_range()) else { return fields };
    let touches = |range: &Range<u64>| range.start < shown.end && range.end > shown.start;
    let Some(chunk) = file.chunk_at(entry.number()) else { return fields };
    if !touches(&header_at) && !touches(&data_at) {
        return fields;
    }
    let data = match entry.compression() {
        Compression::None => chunk.stored().unwrap_or_default(),
        _ => &[],
    };
    let header = chunk.header().unwrap_or_default();
    for structure in Structure::of_chunk(entry.identifier(), entry.version(), header, data) {
        let start = match structure.part() {
            Part::Header => header_at.start,
            Part::Data => data_at.start,
        };
        let start = start.saturating_add(structure.offset());
        for field in structure.fields() {
            let offset = start.saturating_add(field.offset() as u64);
            let end = offset.saturating_add(field.size() as u64);
            if offset >= shown.end || end <= shown.start {
                continue;
            }
            let values: Vec<String> =
                field.values(structure.bytes()).take(8).map(|value| value.to_string()).collect();
            fields.push(Field::new(
                offset,
                field.size() as u64,
                field.name().replace('_', " "),
                values.join(" "),
            ));
        }
    }
    fields
}
