//! The records of a chunk.

use super::events::EventRecord;
use super::rmt::Progress;
use super::tell::{Start, record};
use super::{
    CodeObject, Content, FixedText, HistoryKind, HistoryRecord, Json, MarkerOp, StructureRecord, element,
};
use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result, Severity};
use crate::rdf::Identifier;
use crate::record::{ClassId, Head, Listener, Record};

/// A chunk that was read: its records tell themselves one after the other.
///
/// A listener hears the structures of the chunk's header and data, each a record, and then what follows them: tokens,
/// events, strings, samples, functions, or a document. A chunk of which nothing is known is one record.
///
/// # Errors
/// What cannot be read is an error between records; offsets count from the start of the chunk's header or data, whichever
/// the element names.
///
/// ```
/// use traceglass::rdf::contents::ChunkRecords;
/// use traceglass::record::Nobody;
///
/// let data = [4, 0, 0, 0, 1, 0, 3, 0];
/// let chunk = ChunkRecords::new("ApiInfo".try_into().unwrap(), 2, &[], &data);
/// let mut count = 0;
/// chunk.tell(&mut Nobody, &mut |_, told| {
///     count += u32::from(told.is_ok());
///     true
/// });
/// assert_eq!(count, 1);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ChunkRecords<'a> {
    identifier: Identifier,
    version: u32,
    header: &'a [u8],
    data: &'a [u8],
    cpu_hz: Option<u64>,
}

/// Those who hear of each record: false ends it.
type Each<'e, L> = &'e mut dyn FnMut(&mut L, Result<()>) -> bool;

/// A record without a time.
const fn head(offset: u64) -> Head {
    Head { class: ClassId(0), time: None, offset, bit: 0, len: None }
}

/// Tells a record in full.
macro_rules! tell {
    ($to:expr, $offset:expr, $id:literal $name:literal { $($rows:tt)* }) => {
        record!($to, head($offset), Start::default(), $id, $name, false, { $($rows)* })
    };
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

    /// Tells all records. `each` is called with the listener after each of them, and with the error of what cannot be
    /// read; it returns false to stop.
    pub fn tell<L: Listener>(&self, to: &mut L, each: &mut dyn FnMut(&mut L, Result<()>) -> bool) {
        let content = match Content::parse(self.identifier, self.version, self.header, self.data) {
            Ok(content) => content,
            Err(error) => {
                // The content is not what the identifier says.
                self.unknown(to);
                let _ = each(to, Ok(())) && each(to, Err(error));
                return;
            }
        };
        let mut going = true;
        if self.structures(to, &mut |to, told| {
            going = each(to, told);
            going
        }) && going
            && self.body(&content, to, &mut |to, told| {
                going = each(to, told);
                going
            })
            && going
        {
            content.check(&mut |finding| {
                if going && finding.severity() == Severity::Error && !is_told(&content) {
                    going = each(to, Err(finding.cause()));
                }
            });
        }
    }

    /// Tells the structures of fixed layout; false if `each` did not want to go on.
    pub fn structures<L: Listener>(
        &self,
        to: &mut L,
        each: &mut dyn FnMut(&mut L, Result<()>) -> bool,
    ) -> bool {
        let (identifier, version) = (self.identifier, self.version);
        let mut all = StructureRecord::of_chunk(identifier, version, self.header, self.data, self.cpu_hz);
        all.all(|structure| {
            let told = structure.tell(to);
            each(to, told)
        })
    }

    /// Tells the size and the header of a chunk of which nothing else is known.
    fn unknown<L: Listener>(&self, to: &mut L) {
        tell!(to, 0, 49 "unknown" {
            size: u64 [None "B"] = to_u64(self.data.len());
            header: &[u8] = self.header;
        });
    }

    /// Tells what follows the structures; false if `each` did not want to go on.
    fn body<L: Listener>(&self, content: &Content<'a>, to: &mut L, each: Each<'_, L>) -> bool {
        match content {
            Content::Unknown { .. } => {
                self.unknown(to);
                each(to, Ok(()))
            }
            Content::Rmt(rmt) => {
                let mut going = true;
                Progress::of(rmt.fields()).tell(rmt.data(), 0, usize::MAX, to, &mut |to, told| {
                    going = each(to, told);
                    going
                });
                going
            }
            Content::DriverEvents(events) => {
                let hz = events.fields().hz();
                events.events().all(|event| {
                    let told = event.and_then(|event| EventRecord::new(event, hz).tell(to));
                    each(to, told)
                })
            }
            Content::System(system) => {
                tell!(to, 0, 50 "SystemInfo" { value: Json<'_> = system.json(); });
                each(to, Ok(()))
            }
            Content::DriverOverrides(overrides) => {
                tell!(to, 0, 51 "DriverOverrides" { value: Json<'_> = overrides.json(); });
                each(to, Ok(()))
            }
            Content::TraceConfig(json) => {
                tell!(to, 0, 52 "TraceConfig" { value: Json<'_> = *json; });
                each(to, Ok(()))
            }
            Content::ExtendedInfo(json) => {
                tell!(to, 0, 53 "RgdExtendedInfo" { value: Json<'_> = *json; });
                each(to, Ok(()))
            }
            Content::StringTable(strings) => {
                let mut names = Names::of(self.data);
                (0_u64..).zip(strings.strings()).all(|(number, string)| {
                    let at = number.saturating_mul(4);
                    if let Some(error) = names.take(at, string.map_or(0, |text| text.bytes().len())) {
                        let _ = each(to, Err(error));
                        return false;
                    }
                    tell!(to, at, 54 "string" {
                        number: u64 = number;
                        text: Option<FixedText<'_>> = string;
                    });
                    each(to, Ok(()))
                })
            }
            Content::MarkerHistory(history) => {
                (0_u64..).step_by(4).zip(history.ops()).all(|(at, (op, string))| {
                    tell!(to, at, 55 "marker" { op: MarkerOp = op; string: u32 = string; });
                    each(to, Ok(()))
                })
            }
            Content::SnapshotIndex(index) => (0_u64..).step_by(2).zip(index.places()).all(|(at, place)| {
                tell!(to, at, 56 "place" { snapshot: Option<u16> = place; });
                each(to, Ok(()))
            }),
            Content::SpmSession(session) => (0_u64..).step_by(8).zip(session.times()).all(|(at, time)| {
                tell!(to, at, 57 "time" { gpu_ticks: u64 [Ticks] = time; });
                each(to, Ok(()))
            }),
            Content::SpmCounter(counter) => {
                let width = usize::try_from(counter.fields().item_size()).unwrap_or(usize::MAX).max(1);
                (0_u64..).step_by(width).zip(counter.samples()).all(|(at, sample)| {
                    tell!(to, at, 58 "sample" { value: u32 = sample; });
                    each(to, Ok(()))
                })
            }
            Content::CodeObject(code) => self.code(code, to, each),
            Content::HistoryMetadata(history) => history.records().all(|record| {
                let told = record.map(|record| of_history(&record, to));
                each(to, told)
            }),
            _ => true,
        }
    }

    fn code<L: Listener>(&self, code: &CodeObject<'a>, to: &mut L, each: Each<'_, L>) -> bool {
        let mut names = Names::of(self.data);
        let mut functions = code.elf().ok().into_iter().flat_map(|elf| elf.functions());
        let going = functions.all(|function| {
            if let Some(error) = names.take(0, function.name().bytes().len()) {
                let _ = each(to, Err(error));
                return false;
            }
            tell!(to, 0, 59 "function" {
                name: FixedText<'_> = function.name();
                address: u64 [Address] = function.value();
                size: u64 [None "B"] = function.size();
            });
            each(to, Ok(()))
        });
        going
            && code.pipeline_note().into_iter().flat_map(|note| note.stages()).all(|stage| {
                tell!(to, 0, 60 "stage" {
                    name: &str = stage.name();
                    entry_point: Option<&str> = stage.entry_point();
                    sgprs: Option<u64> = stage.sgprs();
                    vgprs: Option<u64> = stage.vgprs();
                    wave_size: Option<u64> = stage.wave_size();
                });
                each(to, Ok(()))
            })
    }
}

/// True if what is wrong with the content was told between the records.
const fn is_told(content: &Content<'_>) -> bool {
    matches!(content, Content::DriverEvents(_) | Content::Rmt(_) | Content::HistoryMetadata(_))
}

fn of_history<L: Listener>(record: &HistoryRecord<'_>, to: &mut L) {
    match (record.counter_info(), record.user_marker()) {
        (Some(info), _) => tell!(to, record.offset(), 61 "counter_info" {
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
        (_, Some((cmd_buffer, index))) => tell!(to, record.offset(), 62 "user_marker" {
            cmd_buffer: u32 = cmd_buffer;
            number: u32 = index;
        }),
        _ => tell!(to, record.offset(), 63 "history" {
            history: HistoryKind = record.kind();
            bytes: &[u8] = record.content();
        }),
    }
}

/// How many bytes the names of a chunk may still have: each stands in the chunk once, but may be named often, from any of
/// its bytes on, and what is told must not outgrow the chunk.
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
