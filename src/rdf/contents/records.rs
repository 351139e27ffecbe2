//! The records of a chunk.

use super::events::EventRecord;
use super::rmt::{Progress, TokenRecord};
use super::tell::{Classes, record};
use super::{
    CodeObject, Content, FixedText, Function, HistoryKind, HistoryRecord, Json, MarkerOp, Stage,
    StructureRecord, element,
};
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result, Severity};
use crate::rdf::Identifier;
use crate::record::{Any, Class, ClassId, Head, Listener, Record};

/// A chunk that was read, of which all records are wanted.
///
/// The structures of its header and of its data come first, each a record, then what follows them: tokens, events,
/// strings, samples, functions, or a document. A chunk of which nothing is known is one record.
///
/// # Errors
/// Anything that cannot be read is an error between records; offsets count from the start of the chunk's header or
/// data, whichever the element names.
///
/// ```
/// use traceglass::rdf::contents::ChunkRecords;
///
/// let identifier = "ApiInfo".try_into()?;
/// let data = [4, 0, 0, 0, 1, 0, 3, 0];
/// let mut count = 0;
/// ChunkRecords::new(identifier, 2, &[], &data).each(|record| {
///     count += u32::from(record.is_ok());
///     true
/// });
/// assert_eq!(count, 1);
/// # Ok::<(), traceglass::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ChunkRecords<'a> {
    identifier: Identifier,
    version: u32,
    header: &'a [u8],
    data: &'a [u8],
    cpu_hz: Option<u64>,
}

/// A record in a chunk.
#[derive(Clone, Copy, Debug)]
pub struct ChunkRecord<'a>(Kind<'a>);

#[derive(Clone, Copy, Debug)]
enum Kind<'a> {
    Structure(StructureRecord<'a>),
    Token(TokenRecord<'a>),
    Event(EventRecord<'a>),
    /// Of the chunk with this identifier.
    Document(Identifier, Json<'a>),
    String(u64, Option<FixedText<'a>>),
    Marker(u64, MarkerOp, u32),
    Place(u64, Option<u16>),
    Time(u64, u64),
    Sample(u64, u32),
    Function(Function<'a>),
    Stage(Stage<'a>),
    History(HistoryRecord<'a>),
    /// A chunk of which nothing is known: its size, its header, and its data, if that was read.
    Unknown(u64, &'a [u8], Option<&'a [u8]>),
}

impl<'a> From<TokenRecord<'a>> for ChunkRecord<'a> {
    fn from(record: TokenRecord<'a>) -> Self {
        Self(Kind::Token(record))
    }
}

impl<'a> ChunkRecord<'a> {
    /// A chunk that is not read: its size and its header.
    pub const fn unknown(size: u64, header: &'a [u8]) -> Self {
        Self(Kind::Unknown(size, header, None))
    }

    /// A marker of a command buffer, at an offset in the data.
    pub(crate) const fn marker(at: u64, op: MarkerOp, string: u32) -> Self {
        Self(Kind::Marker(at, op, string))
    }

    /// Calls `each` with the classes of markers, those that a driver noted and those of histories: the columns of a table
    /// before its first row.
    pub fn each_marker_class(each: &mut dyn FnMut(&dyn Class)) {
        EventRecord::each_marker_class(each);
        // A marker tells no error.
        let _ = Self::marker(0, MarkerOp::Push, 0).tell(&mut Classes(each));
    }

    /// Nanoseconds on the CPU's clock, if it has a time and the rate of the clock is known.
    pub fn ns(&self) -> Option<i128> {
        match &self.0 {
            Kind::Structure(structure) => structure.ns(),
            Kind::Token(token) => token.ns(),
            Kind::Event(event) => event.ns(),
            _ => None,
        }
    }

    /// CPU ticks, if it has a time.
    pub fn ticks(&self) -> Option<u64> {
        match &self.0 {
            Kind::Structure(structure) => structure.ticks(),
            Kind::Token(token) => token.token().ticks(),
            Kind::Event(event) => event.event().ticks(),
            _ => None,
        }
    }

    /// Offset in the chunk's header or data.
    pub fn offset(&self) -> u64 {
        match &self.0 {
            Kind::Structure(structure) => structure.offset(),
            Kind::Token(token) => token.offset(),
            Kind::Event(event) => event.event().offset(),
            Kind::History(record) => record.offset(),
            Kind::String(at, _)
            | Kind::Marker(at, ..)
            | Kind::Place(at, _)
            | Kind::Time(at, _)
            | Kind::Sample(at, _) => *at,
            Kind::Document(..) | Kind::Function(_) | Kind::Stage(_) | Kind::Unknown(..) => 0,
        }
    }

    /// The token, if it is one.
    pub const fn token(&self) -> Option<&TokenRecord<'a>> {
        match &self.0 {
            Kind::Token(token) => Some(token),
            _ => None,
        }
    }

    /// True if it lies in the chunk's header.
    pub fn is_in_header(&self) -> bool {
        matches!(&self.0, Kind::Structure(structure) if structure.is_in_header())
    }
}

impl Record for ChunkRecord<'_> {
    #[inline]
    fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        match &self.0 {
            Kind::Token(token) => token.tell(to),
            Kind::Event(event) => event.tell(to),
            Kind::Structure(structure) => structure.tell(to),
            _ => {
                self.tell_other(&mut Any(to));
                Ok(())
            }
        }
    }
}

impl ChunkRecord<'_> {
    fn tell_other(&self, to: &mut Any<'_>) {
        let head = Head { class: ClassId(0), time: None, offset: self.offset(), bit: 0, len: None };
        macro_rules! tell {
            ($id:literal $name:literal { $($rows:tt)* }) => {
                record!(to, head, $id, $name, false, { $($rows)* })
            };
        }
        match self.0 {
            Kind::Structure(_) | Kind::Token(_) | Kind::Event(_) => {}
            Kind::Unknown(size, header, data) => tell!(49 "unknown" {
                size: u64 [None "B"] = size;
                header: &[u8] = header;
                data: Option<&[u8]> = data;
            }),
            Kind::Document(identifier, json) => match identifier.name() {
                b"SystemInfo" => tell!(50 "SystemInfo" { value: Json<'_> = json; }),
                b"DriverOverrides" => tell!(51 "DriverOverrides" { value: Json<'_> = json; }),
                b"TraceConfig" => tell!(52 "TraceConfig" { value: Json<'_> = json; }),
                _ => tell!(53 "RgdExtendedInfo" { value: Json<'_> = json; }),
            },
            Kind::String(at, text) => tell!(54 "string" {
                number: u64 = at >> 2;
                text: Option<FixedText<'_>> = text;
            }),
            Kind::Marker(_, op, string) => tell!(55 "marker" { op: MarkerOp = op; string: u32 = string; }),
            Kind::Place(_, snapshot) => tell!(56 "place" { snapshot: Option<u16> = snapshot; }),
            Kind::Time(_, ticks) => tell!(57 "time" { gpu_ticks: u64 [Ticks] = ticks; }),
            Kind::Sample(_, value) => tell!(58 "sample" { value: u32 = value; }),
            Kind::Function(function) => tell!(59 "function" {
                name: FixedText<'_> = function.name();
                address: u64 [Address] = function.value();
                size: u64 [None "B"] = function.size();
            }),
            Kind::Stage(stage) => tell!(60 "stage" {
                name: &str = stage.name();
                entry_point: Option<&str> = stage.entry_point();
                sgprs: Option<u64> = stage.sgprs();
                vgprs: Option<u64> = stage.vgprs();
                wave_size: Option<u64> = stage.wave_size();
            }),
            Kind::History(record) => match (record.counter_info(), record.user_marker()) {
                (Some(info), _) => tell!(61 "counter_info" {
                    dispatch_x: u32 = info.dispatch_x();
                    dispatch_y: u32 = info.dispatch_y();
                    dispatch_z: u32 = info.dispatch_z();
                    hit_groups: u32 = info.hit_groups();
                    miss_shaders: u32 = info.miss_shaders();
                    pipeline_shaders: u32 = info.pipeline_shaders();
                    state_object_hash: u64 [Address] = info.state_object_hash();
                    counter_mode: u32 = info.counter_mode();
                    counter_mask: u32 [Hexadecimal] = info.counter_mask();
                    counter_stride: u32 [None "B"] = info.counter_stride();
                    ray_counter_size: u32 [None "B"] = info.ray_counter_size();
                    lost_token_bytes: u32 [None "B"] = info.lost_token_bytes();
                    range_begin: u32 = info.range_begin();
                    range_end: u32 = info.range_end();
                    pipeline_type: u32 = info.pipeline_type();
                }),
                (_, Some((cmd_buffer, number))) => tell!(62 "user_marker" {
                    cmd_buffer: u32 = cmd_buffer;
                    number: u32 = number;
                }),
                _ => tell!(63 "history" {
                    history: HistoryKind = record.kind();
                    bytes: &[u8] = record.content();
                }),
            },
        }
    }
}

impl<'a> ChunkRecords<'a> {
    /// The records of a chunk with this identifier and version; `data` is decompressed.
    pub const fn new(identifier: Identifier, version: u32, header: &'a [u8], data: &'a [u8]) -> Self {
        Self { identifier, version, header, data, cpu_hz: None }
    }

    /// The same, with the rate of the CPU's clock: `SystemInfo` has it.
    #[must_use]
    pub const fn cpu_hz(self, cpu_hz: Option<u64>) -> Self {
        Self { cpu_hz, ..self }
    }

    /// Calls `each` with every record, and with the error of what cannot be read, until it returns false.
    pub fn each(&self, mut each: impl FnMut(Result<ChunkRecord<'a>>) -> bool) {
        let content = match Content::parse(self.identifier, self.version, self.header, self.data) {
            Ok(content) => content,
            Err(error) => {
                // The content is not what the identifier says.
                let _ = each(Ok(self.unknown())) && each(Err(error));
                return;
            }
        };
        let mut going = self.structures(&mut each) && self.body(&content, &mut each);
        // Faults of tokens and events were told between them.
        if matches!(content, Content::DriverEvents(_) | Content::Rmt(_) | Content::HistoryMetadata(_)) {
            return;
        }
        content.check(&mut |finding| {
            if going && finding.severity() == Severity::Error {
                going = each(Err(finding.cause()));
            }
        });
    }

    /// Calls `each` with the records of the structures of fixed layout; false if it did not want to go on.
    pub fn structures(&self, each: &mut dyn FnMut(Result<ChunkRecord<'a>>) -> bool) -> bool {
        let (identifier, version) = (self.identifier, self.version);
        let mut all = StructureRecord::of_chunk(identifier, version, self.header, self.data, self.cpu_hz);
        all.all(|structure| each(Ok(ChunkRecord(Kind::Structure(structure)))))
    }

    const fn unknown(&self) -> ChunkRecord<'a> {
        ChunkRecord(Kind::Unknown(to_u64(self.data.len()), self.header, Some(self.data)))
    }

    /// Calls `each` with what follows the structures; false if it did not want to go on.
    fn body(&self, content: &Content<'a>, each: &mut impl FnMut(Result<ChunkRecord<'a>>) -> bool) -> bool {
        let mut give = |kind: Kind<'a>| each(Ok(ChunkRecord(kind)));
        match content {
            Content::Unknown { .. } => each(Ok(self.unknown())),
            Content::Rmt(rmt) => {
                let mut going = true;
                Progress::of(rmt.fields()).each(rmt.data(), 0, usize::MAX, |token| {
                    going = each(token.map(ChunkRecord::from));
                    going
                });
                going
            }
            Content::DriverEvents(events) => {
                let hz = events.fields().hz();
                events.events().all(|event| {
                    let event = event.and_then(|event| EventRecord::new(event, hz));
                    each(event.map(|event| ChunkRecord(Kind::Event(event))))
                })
            }
            Content::System(system) => give(Kind::Document(self.identifier, system.json())),
            Content::DriverOverrides(overrides) => give(Kind::Document(self.identifier, overrides.json())),
            Content::TraceConfig(json) | Content::ExtendedInfo(json) => {
                give(Kind::Document(self.identifier, *json))
            }
            Content::StringTable(strings) => {
                let mut names = Names::of(self.data);
                (0_u64..).step_by(4).zip(strings.strings()).all(|(at, string)| {
                    match names.take(at, string.map_or(0, |text| text.bytes().len())) {
                        Some(error) => {
                            each(Err(error));
                            false
                        }
                        None => each(Ok(ChunkRecord(Kind::String(at, string)))),
                    }
                })
            }
            Content::MarkerHistory(history) => {
                let mut all = (0_u64..).step_by(4).zip(history.ops());
                all.all(|(at, (op, string))| give(Kind::Marker(at, op, string)))
            }
            Content::SnapshotIndex(index) => {
                (0_u64..).step_by(2).zip(index.places()).all(|(at, place)| give(Kind::Place(at, place)))
            }
            Content::SpmSession(session) => {
                (0_u64..).step_by(8).zip(session.times()).all(|(at, time)| give(Kind::Time(at, time)))
            }
            Content::SpmCounter(counter) => {
                let width = usize::try_from(counter.fields().item_size()).unwrap_or(usize::MAX).max(1);
                let mut all = (0_u64..).step_by(width).zip(counter.samples());
                all.all(|(at, sample)| give(Kind::Sample(at, sample)))
            }
            Content::CodeObject(code) => self.code(code, each),
            Content::HistoryMetadata(history) => {
                history.records().all(|record| each(record.map(|record| ChunkRecord(Kind::History(record)))))
            }
            _ => true,
        }
    }

    fn code(&self, code: &CodeObject<'a>, each: &mut impl FnMut(Result<ChunkRecord<'a>>) -> bool) -> bool {
        let mut names = Names::of(self.data);
        let mut functions = code.elf().into_iter().flat_map(|elf| elf.functions());
        let going = functions.all(|function| match names.take(0, function.name().bytes().len()) {
            Some(error) => {
                each(Err(error));
                false
            }
            None => each(Ok(ChunkRecord(Kind::Function(function)))),
        });
        let mut stages = code.pipeline_note().into_iter().flat_map(|note| note.stages());
        going && stages.all(|stage| each(Ok(ChunkRecord(Kind::Stage(stage)))))
    }
}

/// The number of bytes the names of a chunk may still have: each stands in the chunk once, but may be named often, from
/// any of its bytes on, and what is told must not outgrow the chunk.
struct Names {
    value: u64,
    limit: u64,
}

impl Names {
    fn of(data: &[u8]) -> Self {
        Self { value: 0, limit: to_u64(data.len()).saturating_mul(2).saturating_add(1 << 16) }
    }

    /// The reason why a name is not told to which the bytes at `at` lead.
    fn take(&mut self, at: u64, len: usize) -> Option<Error> {
        self.value = self.value.saturating_add(to_u64(len));
        let kind = ErrorKind::OverLimit { value: self.value, limit: self.limit };
        (self.value > self.limit).then(|| Error::new(at, element::NAMES, kind))
    }
}
