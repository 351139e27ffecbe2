//! Where the structures of fixed layout lie in a chunk: what a hex dump or a listing needs.

use super::layout::Field;
use super::rmt::RmtFields;
use super::*;
use crate::bytes::to_u64;
use crate::rdf::Identifier;
use parts::*;

/// A part of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its header.
    Header,
    /// Its data.
    Data,
}

/// A structure in a chunk: where it lies, and the table of its fields.
#[derive(Clone, Copy)]
pub struct Structure<'a> {
    part: Part,
    offset: u64,
    bytes: &'a [u8],
    fields: &'static [Field],
}

impl<'a> Structure<'a> {
    /// The part of the chunk in which it lies.
    pub const fn part(&self) -> Part {
        self.part
    }

    /// Offset in that part.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Its bytes.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Its fields.
    pub const fn fields(&self) -> &'static [Field] {
        self.fields
    }

    /// The structures of fixed layout in a chunk: those of its header, then those of its data, in order. None of a
    /// chunk or a version that is not known; a structure that is cut is left out.
    pub fn of_chunk(
        identifier: Identifier,
        version: u32,
        header: &'a [u8],
        data: &'a [u8],
    ) -> impl Iterator<Item = Structure<'a>> + Clone + use<'a> {
        blocks(identifier.name(), version).iter().flat_map(move |block| {
            let bytes = match block.part {
                Part::Header => header,
                Part::Data => data,
            };
            let bytes = bytes.get(block.offset..).unwrap_or_default();
            let most = if block.stride > 0 { usize::MAX } else { 1 };
            // The last record may lack what follows this structure in it.
            bytes.chunks(block.stride.max(block.size).max(1)).take(most).enumerate().filter_map(
                move |(number, bytes)| {
                    let offset = block.offset.saturating_add(number.saturating_mul(block.stride));
                    let bytes = bytes.get(..block.size)?;
                    Some(Structure { part: block.part, offset: to_u64(offset), bytes, fields: block.fields })
                },
            )
        })
    }
}

impl core::fmt::Debug for Structure<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Structure")
            .field("part", &self.part)
            .field("offset", &self.offset)
            .field("len", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

/// Structures that have no view of their own.
#[allow(dead_code)] // Their fields are read through the tables only.
mod parts {
    use super::super::layout::layout;
    use super::PciId;

    layout! {
        /// The GPU that a structure begins with.
        pub struct Gpu, RawGpu: 4 {
            /// Its place on the bus.
            pci: u32 = PciId,
        }
    }

    layout! {
        /// The hash of a code object.
        pub struct CodeHash, RawCodeHash: 16 {
            /// The hash.
            hash: hash,
        }
    }

    layout! {
        /// The count of a table.
        pub struct Count, RawCount: 4 {
            /// Number of records.
            count: u32,
        }
    }

    layout! {
        /// A moment on two clocks.
        pub struct Moment, RawMoment: 16 {
            /// CPU ticks.
            cpu_ticks: u64,
            /// GPU ticks.
            gpu_ticks: u64,
        }
    }

    layout! {
        /// A process, and the length of its path.
        pub struct ProcessHead, RawProcessHead: 8 {
            /// The process.
            pid: u32,
            /// Length of the path with its NUL.
            path_length: u32,
        }
    }

    layout! {
        /// The flags of a thread trace.
        pub struct SqttFlags, RawSqttFlags: 4 {
            /// Bit 0 instruction timing, bit 1 exec pop.
            flags: u32,
        }
    }

    layout! {
        /// A load event of version 1.
        pub struct OldLoad, RawOldLoad: 40 {
            /// What happened.
            event: u32,
            pad_event: (pad 4),
            /// GPU address.
            base: u64,
            /// Hash of the code object.
            hash: hash,
            /// CPU ticks.
            ticks: u64,
        }
    }
}

/// A structure at a fixed place.
struct Block {
    part: Part,
    offset: usize,
    size: usize,
    /// Distance to the next one; 0 if there is none.
    stride: usize,
    fields: &'static [Field],
}

macro_rules! blocks {
    ($($part:ident $offset:literal $ty:ident $(each $stride:literal)?),* $(,)?) => {
        &[$(Block {
            part: Part::$part,
            offset: $offset,
            size: $ty::SIZE,
            stride: blocks!(@ $($stride)?),
            fields: $ty::FIELDS,
        }),*]
    };
    (@) => { 0 };
    (@ $stride:literal) => { $stride };
}

fn blocks(identifier: &[u8], version: u32) -> &'static [Block] {
    match (identifier, version) {
        (b"ApiInfo", 1 | 2) => blocks![Data 0 ApiFields],
        (b"AsicInfo", 1) => blocks![Data 0 AsicFields],
        (b"AsicInfo", 2) => blocks![Data 0 Gpu, Data 8 AsicFields],
        (b"AsicInfo", 3) => blocks![Data 0 Gpu, Data 8 AsicFields, Data 572 AsicCaches],
        (b"AdapterInfo", 1) => blocks![Data 0 AdapterInfo],
        (b"TraceProcessInfo", 1) => blocks![Data 0 ProcessHead],
        (b"GpuMemSegment", 1) => blocks![Data 0 MemorySegment each 24],
        (b"TraceError", 1) => blocks![Header 0 TraceErrorFields],
        (b"CodeObject", 1) => blocks![Header 0 CodeHash],
        (b"CodeObject", 2) => blocks![Header 0 Gpu, Header 8 CodeHash],
        (b"COLoadEvent", 1) => blocks![Data 0 OldLoad each 40],
        (b"COLoadEvent", 2 | 3) => blocks![Header 0 Count, Data 0 LoadFields each 40],
        (b"PsoCorrelation", 1) => blocks![Data 0 PipelineHash each 88],
        (b"PsoCorrelation", 2 | 3) => {
            blocks![Header 0 Count, Data 0 Gpu each 96, Data 8 PipelineHash each 96]
        }
        (b"COCorrelation", 4) => blocks![Header 0 Count, Data 0 CodeObjectHash each 40],
        (b"QueueInfo", 1) => blocks![Data 0 QueueInfo],
        (b"QueueEvent", 1) => blocks![Data 0 QueueEvent],
        (b"ClockCalibration", 1) => blocks![Data 0 Moment],
        (b"ClockCalibration", 2) => blocks![Data 0 Gpu, Data 8 Moment],
        (b"SqttData", 1) => blocks![Data 0 SqttFields],
        (b"SqttData", 2) => blocks![Data 0 Gpu, Data 4 SqttFields],
        (b"SqttData", 3) => blocks![Header 0 Gpu, Header 4 SqttFields, Header 24 SqttBuffer],
        (b"SqttData", 4 | 5) => {
            blocks![Header 0 Gpu, Header 4 SqttFields, Header 24 SqttBuffer, Header 32 SqttFlags]
        }
        (b"SpmSession", 1) => blocks![Header 0 SpmSessionFields],
        (b"SpmSession", 2) => blocks![Header 0 Gpu, Header 4 SpmSessionFields],
        (b"SpmCounterData", 1) => blocks![Header 0 SpmCounterFields],
        (b"SpmCounterData", 2) => blocks![Header 0 Gpu, Header 4 SpmCounterFields],
        (b"StringTable", 1) => blocks![Header 0 StringTableFields],
        (b"UserMarkerHist", 1) => blocks![Header 0 MarkerHistoryFields],
        (b"RmvSnapshotData", 1) => blocks![Data 0 Snapshot],
        (b"RmvSnapshotIndex", 1) => blocks![Header 0 SnapshotIndexFields],
        (b"RmtData", 1) => blocks![Header 0 RmtFields],
        (b"DDEvent", 1) => blocks![Header 0 DriverEventsFields, Data 4 DriverEventsFields],
        (b"RawAccelStruct" | b"RawAccelStruc", _) => blocks![Header 0 AccelStructFields],
        _ => &[],
    }
}
