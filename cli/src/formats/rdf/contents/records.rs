//! The records of a chunk: as text, or as JSON.

use super::{Begin, Loaded};
use crate::json::{self, Line};
use crate::output::{Out, hex};
use crate::status::{Failure, Result};
use crate::trace::{Selection, Stamps, Time, Window, time_json};
use serde_json::{Map, Value, json};
use traceglass::rdf::Entry;
use traceglass::rdf::contents::rmt::{ResourceDetail, Stream, Token, TokenValue};
use traceglass::rdf::contents::{
    Content, Event, EventValue, FieldValue, MarkerStruct, Structure, ticks_to_ns,
};
use traceglass::{Element, Error, ErrorKind};

/// Writes the records of chunks.
pub struct Records<'o> {
    to: To<'o>,
    window: Window,
    /// The earliest time of all records of the file, from which `--from +1s` counts.
    start: Option<i128>,
    /// The chunk that is written: its identifier, entry, and which one of its identifier it is.
    chunk: Option<(String, u64, u64)>,
    stamps: Stamps,
}

/// Where records are written.
pub enum To<'o> {
    Text(&'o mut Out),
    Json(&'o mut Out),
    /// Nowhere: only the earliest time is found out.
    Earliest(Option<i128>),
    /// A list, and the most that it may hold.
    #[cfg(feature = "view")]
    List(&'o mut Vec<Said>, usize),
}

impl<'o> To<'o> {
    pub fn out(out: &'o mut Out, json: bool) -> Self {
        if json { Self::Json(out) } else { Self::Text(out) }
    }
}

/// A record, as it is shown.
#[cfg(feature = "view")]
pub struct Said {
    /// Where it is in the chunk's data, if that is known.
    pub offset: Option<u64>,
    pub kind: String,
    pub text: String,
}

/// The records of a chunk, up to a number of them.
#[cfg(feature = "view")]
pub fn say(chunk: &Loaded<'_>, most: usize, records: &mut Vec<Said>) {
    let to = To::List(records, most);
    let mut writer = Records::to(to, Window::default());
    let written = writer.write(chunk, (0, 0));
    // Only a list that is full fails.
    if let Ok(Some(error)) = written {
        records.push(Said { offset: None, kind: "(lost)".to_owned(), text: error.to_string() });
    }
}

type Fields = Vec<(&'static str, Value)>;

/// The rate of a clock, as far as it is known.
#[derive(Clone, Copy, Default)]
struct Clock {
    hz: Option<u64>,
}

impl Clock {
    fn ns(self, ticks: u64) -> Option<i128> {
        ticks_to_ns(ticks, self.hz.filter(|&hz| hz > 0)?)
    }
}

/// Names that lie in a chunk once, but may be named often, from any of their bytes on.
const OVERLAPPING: Element = Element::new(&"RDF names that overlap");

/// How many bytes the names of a chunk may still have, so that what is printed does not outgrow it.
struct Names {
    value: u64,
    limit: u64,
}

impl Names {
    fn of(chunk: &Loaded<'_>) -> Self {
        Self { value: 0, limit: (chunk.data.len() as u64).saturating_mul(2).saturating_add(1 << 16) }
    }

    /// Why the name of this number is not printed.
    fn take(&mut self, number: usize, len: usize) -> Option<Error> {
        let Self { value, limit } = *self;
        self.value = value.saturating_add(len as u64);
        let kind = ErrorKind::OverLimit { value: self.value, limit };
        (self.value > limit).then(|| Error::new(number as u64, OVERLAPPING, kind))
    }
}

impl<'o> Records<'o> {
    fn to(to: To<'o>, window: Window) -> Self {
        Self { to, window, start: None, chunk: None, stamps: Stamps::default() }
    }

    /// Records of which only the [`earliest`](Self::earliest) time is wanted.
    pub fn times() -> Self {
        Self::to(To::Earliest(None), Window::default())
    }

    /// The earliest time so far.
    pub fn earliest(&self) -> Option<i128> {
        if let To::Earliest(time) = self.to { time } else { None }
    }

    /// Writes the records in the range that is asked for; `start` is the earliest time of all records of the file.
    pub fn new(out: &'o mut Out, args: &Selection, start: Option<i128>) -> Result<Self> {
        let window = args.window;
        if [window.from, window.to].iter().any(|time| matches!(time, Some(Time::Absolute(_)))) {
            return Err(Failure::usage(
                "--from and --to: the clocks of an RDF file do not tell the date: count from the first record as +1.5s, or \
                 in ticks as @VALUE",
            ));
        }
        Ok(Self { start, ..Self::to(To::out(out, args.json), window) })
    }

    /// Whether a time is wanted; what has none is in no range.
    fn wants(&self, clock: Clock, ticks: Option<u64>) -> bool {
        if self.window.is_everything() {
            return true;
        }
        let Some(ticks) = ticks else { return false };
        // `None` if it cannot be told.
        let reached = |time: Time| match time {
            Time::Clock(value) => Some(i128::from(ticks) >= value),
            Time::SinceStart(since) => Some(clock.ns(ticks)? >= self.start?.saturating_add(since)),
            Time::Absolute(_) => None,
        };
        self.window.from.is_none_or(|from| reached(from) == Some(true))
            && self.window.to.is_none_or(|to| reached(to) == Some(false))
    }

    /// One of unknown content: only its size is shown.
    pub fn unknown(&mut self, entry: &Entry<'_>, place: (u64, u64)) -> Result<()> {
        let id = entry.identifier().to_string();
        self.chunk = Some((id.clone(), place.0, place.1));
        if !self.window.is_everything() {
            return Ok(());
        }
        self.record(&id, vec![("bytes", entry.data_size().into())])
    }

    /// The structures at the start of a chunk.
    pub fn structures(&mut self, chunk: &Loaded<'_>, place: (u64, u64)) -> Result<Option<traceglass::Error>> {
        let id = chunk.id.to_string();
        self.chunk = Some((id.clone(), place.0, place.1));
        if let Err(error) = chunk.content() {
            return Ok(Some(error));
        }
        if !self.window.is_everything() {
            return Ok(None);
        }
        for structure in Structure::of_chunk(chunk.id, chunk.version, chunk.header, &chunk.data) {
            let mut fields: Fields = vec![("offset", structure.offset().into())];
            fields.extend(of_structure(&structure));
            self.record(&id, fields)?;
        }
        Ok(None)
    }

    /// The tokens of a stream. Each is one of the chunk that it begins in, and its offset is that in the chunk's data.
    pub fn tokens(&mut self, stream: &Stream<'_>, mut chunks: &[Begin]) -> Result<Option<traceglass::Error>> {
        let mut clock = Clock::default();
        let mut base = 0;
        for token in stream.tokens() {
            let token = match token {
                Ok(token) => token,
                Err(error) => return Ok(Some(error)),
            };
            while let Some((next, rest)) =
                chunks.split_first().filter(|(next, _)| next.offset <= token.offset())
            {
                if let Some((_, entry, index)) = &mut self.chunk {
                    (*entry, *index) = next.place;
                }
                (base, chunks) = (next.offset, rest);
            }
            if let TokenValue::Timestamp { hz } = token.value() {
                clock.hz = Some(hz.into());
            }
            if self.wants(clock, token.ticks()) {
                let mut fields: Fields = vec![("stream", stream.number().into())];
                fields.extend(of_token(&token, base));
                self.timed(token.kind().name().unwrap_or("token"), token.ticks(), clock, fields)?;
            }
        }
        Ok(None)
    }

    /// Writes all of a chunk; the first error is handed back, and what precedes it was written.
    pub fn write(&mut self, chunk: &Loaded<'_>, place: (u64, u64)) -> Result<Option<traceglass::Error>> {
        if let Some(error) = self.structures(chunk, place)? {
            return Ok(Some(error));
        }
        let content = match chunk.content() {
            Ok(content) => content,
            Err(error) => return Ok(Some(error)),
        };
        let id = chunk.id.to_string();
        let has_times = matches!(content, Content::Rmt(_) | Content::DriverEvents(_));
        if !has_times && !self.window.is_everything() {
            return Ok(None);
        }
        if let Content::Unknown { header, data, .. } = content {
            let fields = vec![("header_hex", hex(header).into()), ("data_hex", hex(data).into())];
            self.record(&id, fields)?;
            return Ok(None);
        }
        match content {
            Content::Rmt(rmt) => {
                if let Some(error) = self.tokens(&rmt.stream(), &[])? {
                    return Ok(Some(error));
                }
            }
            Content::DriverEvents(events) => {
                let clock = Clock { hz: Some(events.fields().hz()) };
                for event in events.events() {
                    let event = match event {
                        Ok(event) => event,
                        Err(error) => return Ok(Some(error)),
                    };
                    let ticks = event.ticks();
                    if self.wants(clock, ticks) {
                        self.timed(event.kind_name().unwrap_or("event"), ticks, clock, of_event(&event))?;
                    }
                }
            }
            Content::System(system) => self.value(&id, system.json().raw())?,
            Content::DriverOverrides(overrides) => self.value(&id, overrides.json().raw())?,
            Content::TraceConfig(value) | Content::ExtendedInfo(value) => self.value(&id, value.raw())?,
            Content::Process(process) => {
                self.record("path", vec![("path", process.path().to_string().into())])?;
            }
            Content::TraceError(error) => {
                let text = error.text().map(|text| text.to_string());
                self.record("text", vec![("text", text.into())])?;
            }
            Content::StringTable(strings) => {
                let mut names = Names::of(chunk);
                for (number, string) in strings.strings().enumerate() {
                    let len = string.map_or(0, |string| string.bytes().len());
                    if let Some(error) = names.take(number, len) {
                        return Ok(Some(error));
                    }
                    let string = string.map(|string| string.to_string());
                    self.record("string", vec![("number", number.into()), ("text", string.into())])?;
                }
            }
            Content::MarkerHistory(history) => {
                for (op, string) in history.ops() {
                    self.record("marker", vec![("op", op.to_string().into()), ("string", string.into())])?;
                }
            }
            Content::SnapshotIndex(index) => {
                for place in index.places() {
                    self.record("place", vec![("snapshot", place.into())])?;
                }
            }
            Content::SpmSession(session) => {
                for time in session.times() {
                    self.record("time", vec![("gpu_ticks", time.into())])?;
                }
            }
            Content::SpmCounter(counter) => {
                for sample in counter.samples() {
                    self.record("sample", vec![("value", sample.into())])?;
                }
            }
            Content::CodeObject(code) => {
                let functions = code.elf().map(|elf| elf.functions().collect::<Vec<_>>()).unwrap_or_default();
                let mut names = Names::of(chunk);
                for (number, function) in functions.into_iter().enumerate() {
                    if let Some(error) = names.take(number, function.name().bytes().len()) {
                        return Ok(Some(error));
                    }
                    let name = function.name().to_string();
                    let (value, size) = (function.value(), function.size());
                    let fields = vec![("name", name.into()), ("value", value.into()), ("size", size.into())];
                    self.record("function", fields)?;
                }
                for stage in code.pipeline_note().into_iter().flat_map(|note| note.stages()) {
                    let fields = vec![
                        ("name", stage.name().into()),
                        ("entry_point", stage.entry_point().into()),
                        ("sgprs", stage.sgprs().into()),
                        ("vgprs", stage.vgprs().into()),
                        ("wave_size", stage.wave_size().into()),
                    ];
                    self.record("stage", fields)?;
                }
            }
            Content::HistoryMetadata(history) => {
                for record in history.records() {
                    match record {
                        Ok(record) => {
                            let kind = record.kind().to_string();
                            let fields = vec![
                                ("offset", record.offset().into()),
                                ("data_hex", hex(record.content()).into()),
                            ];
                            self.record(&kind, fields)?;
                        }
                        Err(error) => return Ok(Some(error)),
                    }
                }
            }
            _ => {}
        }
        let mut first = None;
        content.check(&mut |finding| {
            if finding.severity() == traceglass::Severity::Error {
                first.get_or_insert(finding.cause());
            }
        });
        Ok(first)
    }

    /// JSON of the chunk, as it stands there: numbers of any width, members in any number.
    fn value(&mut self, kind: &str, raw: &[u8]) -> Result<()> {
        let Ok(text) = std::str::from_utf8(raw) else { return Ok(()) };
        let out = match &mut self.to {
            To::Text(out) => return json::pretty(text).lines().try_for_each(|line| out.line(line)),
            To::Json(out) => out,
            To::Earliest(_) => return Ok(()),
            #[cfg(feature = "view")]
            To::List(list, most) => {
                let pretty = json::pretty(text);
                let lines = pretty.lines().take(most.saturating_sub(list.len()));
                let said = |line: &str| Said { offset: None, kind: kind.to_owned(), text: line.to_owned() };
                list.extend(lines.map(said));
                return Ok(());
            }
        };
        let mut line = Line::new();
        line.begin().text("kind", kind);
        if let Some((chunk, entry, index)) = &self.chunk {
            line.text("chunk", chunk).int("entry", *entry).int("index", *index);
        }
        json::minify(text.bytes(), &mut line.key("value").text);
        out.json_text(line.end())
    }

    /// A record with a time, on the CPU's clock.
    fn timed(&mut self, kind: &str, ticks: Option<u64>, clock: Clock, mut fields: Fields) -> Result<()> {
        let ns = ticks.and_then(|ticks| clock.ns(ticks));
        if let To::Earliest(earliest) = &mut self.to {
            *earliest = [*earliest, ns].into_iter().flatten().min();
        } else if let To::Json(_) = self.to {
            fields.splice(0..0, [("time_ns", time_json(ns)), ("time", Value::Null), ("clock", "cpu".into())]);
        } else if let Some(ns) = ns {
            let mut text = String::new();
            self.stamps.push(&mut text, ns, false);
            fields.insert(0, ("time", Value::String(text)));
        }
        self.record(kind, fields)
    }

    fn record(&mut self, kind: &str, fields: Fields) -> Result<()> {
        let shown = |fields: &Fields| {
            let each = fields.iter().map(|(name, value)| match (*name, value) {
                ("time", Value::String(time)) => format!("{time}s"),
                _ => format!("{name}={value}"),
            });
            each.collect::<Vec<_>>().join(" ")
        };
        match &mut self.to {
            To::Json(out) => {
                let mut object = Map::new();
                object.insert("kind".into(), kind.into());
                if let Some((chunk, entry, index)) = &self.chunk {
                    object.insert("chunk".into(), chunk.as_str().into());
                    object.insert("entry".into(), (*entry).into());
                    object.insert("index".into(), (*index).into());
                }
                // A field with the same name means something else.
                for (name, value) in fields {
                    let name = match name {
                        "kind" => "type",
                        "index" | "entry" | "chunk" if object.contains_key(name) => {
                            object.insert(format!("{name}_field"), value);
                            continue;
                        }
                        name => name,
                    };
                    object.insert(name.to_owned(), value);
                }
                out.json(&object.into())
            }
            To::Text(out) => out.line(format_args!("{kind} {}", shown(&fields))),
            To::Earliest(_) => Ok(()),
            #[cfg(feature = "view")]
            To::List(list, most) => {
                if list.len() >= *most {
                    return Err(Failure::usage("more records than are asked for"));
                }
                let offset = fields.iter().find(|(name, _)| *name == "offset");
                let offset = offset.and_then(|(_, value)| value.as_u64());
                let fields = fields.into_iter().filter(|(name, _)| *name != "offset").collect();
                list.push(Said { offset, kind: kind.to_owned(), text: shown(&fields) });
                Ok(())
            }
        }
    }
}

fn of_structure(structure: &Structure<'_>) -> Fields {
    let fields = structure.fields().iter().filter(|field| !field.is_padding());
    fields
        .map(|field| {
            let mut values: Vec<Value> = field.values(structure.bytes()).map(of_value).collect();
            let value = if field.is_array() { values.into() } else { values.pop().unwrap_or(Value::Null) };
            (field.name(), value)
        })
        .collect()
}

pub fn of_value(value: FieldValue<'_>) -> Value {
    match value {
        FieldValue::Unsigned { name: Some(name), .. } => name.into(),
        FieldValue::Unsigned { value, name: None } => value.into(),
        FieldValue::Signed(value) => value.into(),
        FieldValue::Float(value) => value.into(),
        FieldValue::Text(text) => text.to_str().ok().into(),
        other => other.to_string().into(),
    }
}

fn of_token(token: &Token<'_>, base: u64) -> Fields {
    let mut fields: Fields =
        vec![("offset", token.offset().saturating_sub(base).into()), ("ticks", token.ticks().into())];
    let more: Fields = match token.value() {
        TokenValue::Timestamp { hz } => vec![("hz", hz.into())],
        TokenValue::ResourceUpdate { resource, subresource, resource_type, before, after, .. } => vec![
            ("resource", resource.into()),
            ("subresource", subresource.into()),
            ("resource_type", resource_type.to_string().into()),
            ("before", before.into()),
            ("after", after.into()),
        ],
        TokenValue::PageTableUpdate {
            address,
            physical,
            pages,
            page_size,
            is_unmap,
            process,
            update,
            controller,
            ..
        } => vec![
            ("address", address.into()),
            ("physical", physical.into()),
            ("pages", pages.into()),
            ("page_size", page_size.to_string().into()),
            ("is_unmap", is_unmap.into()),
            ("process", process.into()),
            ("update", update.to_string().into()),
            ("controller", controller.into()),
        ],
        TokenValue::UserData(data) => {
            let mut fields: Fields = vec![("data", data.kind().to_string().into())];
            if let Some((name, id)) = data.name() {
                fields.extend([("name", name.to_string().into()), ("id", id.into())]);
            }
            if let Some(name) = data.snapshot() {
                fields.push(("name", name.to_string().into()));
            }
            if let Some((resource, id)) = data.correlation() {
                fields.extend([("resource", resource.into()), ("id", id.into())]);
            }
            if let Some(resource) = data.implicit() {
                fields.push(("resource", resource.into()));
            }
            if let Some(lag) = data.lag() {
                fields.push(("lag_ticks", lag.into()));
            }
            fields
        }
        TokenValue::Misc(event) => vec![("event", event.to_string().into())],
        TokenValue::ResourceReference { is_evict, address, queue, .. } => {
            vec![("is_evict", is_evict.into()), ("address", address.into()), ("queue", queue.into())]
        }
        TokenValue::ResourceBind { address, size, is_system_memory, resource, .. } => vec![
            ("address", address.into()),
            ("size", size.into()),
            ("is_system_memory", is_system_memory.into()),
            ("resource", resource.into()),
        ],
        TokenValue::ProcessEvent { process, change, .. } => {
            vec![("process", process.into()), ("change", change.to_string().into())]
        }
        TokenValue::PageReference { page_size, is_compressed, state, .. } => vec![
            ("page_size", page_size.to_string().into()),
            ("is_compressed", is_compressed.into()),
            ("state", state.into()),
        ],
        TokenValue::CpuMap { address, is_unmap, .. } => {
            vec![("address", address.into()), ("is_unmap", is_unmap.into())]
        }
        TokenValue::VirtualFree { address, .. } => vec![("address", address.into())],
        TokenValue::VirtualAllocate { size, owner, address, heaps, is_external, .. } => vec![
            ("address", address.into()),
            ("size", size.into()),
            ("owner", owner.to_string().into()),
            ("heaps", heaps.iter().map(|heap| heap.to_string()).collect::<Vec<_>>().into()),
            ("is_external", is_external.into()),
        ],
        TokenValue::ResourceCreate { resource, owner, category, commit, resource_type, detail, .. } => {
            let mut fields: Fields = vec![
                ("resource", resource.into()),
                ("type", resource_type.to_string().into()),
                ("owner", owner.to_string().into()),
                ("category", category.into()),
                ("commit", commit.to_string().into()),
            ];
            match detail {
                ResourceDetail::Image(image) => fields.extend([
                    ("dimensions", image.size.to_vec().into()),
                    ("format", image.format.into()),
                    ("mips", image.mips.into()),
                    ("slices", image.slices.into()),
                    ("size", image.bytes.into()),
                ]),
                ResourceDetail::Buffer { size, .. } | ResourceDetail::Heap { size, .. } => {
                    fields.push(("size", size.into()));
                }
                ResourceDetail::Pipeline { hash, .. } => fields.push(("hash", hash.to_string().into())),
                ResourceDetail::DescriptorHeap { descriptors, .. } => {
                    fields.push(("descriptors", descriptors.into()));
                }
                _ => {}
            }
            fields
        }
        TokenValue::TimeDelta { units, .. } => vec![("delta_ticks", units.saturating_mul(32).into())],
        TokenValue::ResourceDestroy { resource, .. } => vec![("resource", resource.into())],
        _ => Vec::new(),
    };
    fields.extend(more);
    fields
}

fn of_event(event: &Event<'_>) -> Fields {
    let mut fields: Fields = vec![("offset", event.offset().into()), ("ticks", event.ticks().into())];
    let words = |name: &[u8]| Value::from(String::from_utf8_lossy(name));
    let more: Fields = match event.value() {
        Ok(EventValue::LargeDelta(delta)) => vec![("delta", delta.into())],
        Ok(EventValue::BufferState(state)) => vec![
            ("cmd_buffer", state.cmd_buffer().into()),
            ("begin", state.begin().into()),
            ("end", state.end().into()),
            ("is_in_flight", state.is_in_flight().into()),
        ],
        Ok(EventValue::MarkerBegin { cmd_buffer, marker, name, .. }) => {
            vec![("cmd_buffer", cmd_buffer.into()), ("marker", marker.number().into()), ("name", words(name))]
        }
        Ok(EventValue::MarkerEnd { cmd_buffer, marker, .. }) => {
            vec![("cmd_buffer", cmd_buffer.into()), ("marker", marker.number().into())]
        }
        Ok(EventValue::MarkerInfo(info)) => {
            let mut fields: Fields = vec![
                ("cmd_buffer", info.cmd_buffer().into()),
                ("marker", info.marker().number().into()),
                ("info", info.kind_name().map_or_else(|| info.kind().to_string(), str::to_owned).into()),
            ];
            match info.content() {
                MarkerStruct::PipelineBind(bind) => {
                    fields.push(("api_hash", format!("{:016x}", bind.api_hash()).into()));
                }
                MarkerStruct::Draw(draw) => {
                    fields.extend([("count", draw.count().into()), ("instances", draw.instances().into())]);
                }
                MarkerStruct::Dispatch(dispatch) => fields.extend([
                    ("x", dispatch.x().into()),
                    ("y", dispatch.y().into()),
                    ("z", dispatch.z().into()),
                ]),
                _ => {}
            }
            fields
        }
        Ok(EventValue::PageFault(fault)) => vec![
            ("address", fault.address().into()),
            ("vm", fault.vm().into()),
            ("pid", fault.pid().into()),
            ("process", words(fault.process())),
        ],
        Ok(EventValue::ShaderWaves(waves)) => vec![
            ("hung", waves.fields().hung().into()),
            ("active", waves.fields().active().into()),
            ("waves", waves.waves().map(|wave| wave.number()).collect::<Vec<_>>().into()),
        ],
        Ok(EventValue::GpuRegisters(registers) | EventValue::WaveRegisters(registers)) => {
            vec![("registers", json!(registers.registers().collect::<Vec<_>>()))]
        }
        Ok(EventValue::Gprs(gprs)) => vec![
            ("is_vector", gprs.is_vector().into()),
            ("registers", gprs.registers().collect::<Vec<_>>().into()),
        ],
        Ok(_) => vec![("id", event.id().into()), ("data_hex", hex(event.payload()).into())],
        Err(error) => vec![("error", error.to_string().into()), ("data_hex", hex(event.payload()).into())],
    };
    fields.extend(more);
    fields
}
