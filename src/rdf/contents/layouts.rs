//! The structures of fixed layout of each chunk, and their places in it.

use super::layout::Field;
use super::rmt::RmtFields;
use super::*;
use crate::rdf::Identifier;
use core::ops::RangeInclusive;
use parts::*;

/// A part of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The header.
    Header,
    /// The data.
    Data,
}

/// Structures that have no view of their own.
#[allow(dead_code)] // Their fields are read through the tables only.
mod parts {
    use super::super::layout::layout;
    use super::{Api, LoadKind, PciId};

    layout! {
        /// The GPU that a structure begins with.
        pub struct Gpu, RawGpu: 4 {
            /// The place on the bus.
            pci: u32 = PciId [Hexadecimal],
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
            cpu_ticks: u64 [Ticks],
            /// GPU ticks.
            gpu_ticks: u64 [Ticks],
        }
    }

    layout! {
        /// A process, and the length of its path.
        pub struct ProcessHead, RawProcessHead: 8 {
            /// The process.
            pid: u32,
            /// Length of the path with its NUL.
            path_length: u32 [None "B"],
        }
    }

    layout! {
        /// The flags of a thread trace.
        pub struct SqttFlags, RawSqttFlags: 4 {
            /// Bit 0 instruction timing, bit 1 exec pop.
            flags: u32 [Hexadecimal],
        }
    }

    layout! {
        /// A load event of version 1.
        pub struct OldLoad, RawOldLoad: 40 {
            /// The kind of the event.
            event: u32 = LoadKind,
            pad_event: (pad 4),
            /// GPU address.
            base: u64 [Address],
            /// Hash of the code object.
            hash: hash,
            /// CPU ticks.
            ticks: u64 [Ticks],
        }
    }

    layout! {
        /// A load event from version 2 on.
        pub struct Load, RawNewLoad: 40 {
            /// The GPU.
            pci: u32 = PciId [Hexadecimal],
            /// The kind of the event.
            event: u32 = LoadKind,
            /// GPU address.
            base: u64 [Address],
            /// Hash of the code object.
            hash: hash,
            /// CPU ticks.
            ticks: u64 [Ticks],
        }
    }

    layout! {
        /// The structure of an `ApiInfo` since version 2, which numbers the APIs as [`Api`](super::Api) does.
        pub struct NewApi, RawNewApi: 8 {
            /// The API.
            api: u32 = Api,
            /// Major version.
            major: u16,
            /// Minor version.
            minor: u16,
        }
    }
}

/// A structure at a fixed place.
pub(super) struct Block {
    pub part: Part,
    pub offset: usize,
    pub size: usize,
    /// Distance to the next one; 0 if there is none.
    pub stride: usize,
    pub fields: &'static [Field],
    /// True if it repeats what another one says.
    pub is_copy: bool,
}

/// The structures of chunks with one of these identifiers and versions.
pub(super) struct Layout {
    pub identifiers: &'static [&'static str],
    versions: RangeInclusive<u32>,
    pub blocks: &'static [Block],
}

impl Layout {
    /// The structures that lie together: those of the header, those of the data.
    pub fn places(&self) -> impl Iterator<Item = &'static [Block]> + Clone + use<> {
        let first = self.blocks.first().map(|block| block.part);
        let len = self.blocks.iter().take_while(|block| Some(block.part) == first).count();
        let (one, other) = self.blocks.split_at_checked(len).unwrap_or((self.blocks, &[]));
        [one, other].into_iter().filter(|blocks| !blocks.is_empty())
    }

    /// The number of the layout of a chunk.
    pub fn number(identifier: Identifier, version: u32) -> Option<usize> {
        let is_one = |name: &&str| name.as_bytes() == identifier.name();
        LAYOUTS.iter().position(|one| one.versions.contains(&version) && one.identifiers.iter().any(is_one))
    }
}

macro_rules! layouts {
    ($(($($id:literal)+) $versions:expr => $($part:ident $offset:literal $ty:ident $($how:ident $($stride:literal)?)?),*;)*) => {
        &[$(Layout {
            identifiers: &[$($id),+],
            versions: $versions,
            blocks: &[$(Block {
                part: Part::$part,
                offset: $offset,
                size: $ty::SIZE,
                stride: layouts!(@stride $($how $($stride)?)?),
                fields: $ty::FIELDS,
                is_copy: layouts!(@copy $($how)?),
            }),*],
        }),*]
    };
    (@stride each $stride:literal) => { $stride };
    (@stride $($how:ident)?) => { 0 };
    (@copy copy) => { true };
    (@copy $($how:ident)?) => { false };
}

/// All of them.
pub(super) static LAYOUTS: &[Layout] = layouts! {
    ("ApiInfo") 1..=1 => Data 0 ApiFields;
    ("ApiInfo") 2..=2 => Data 0 NewApi;
    ("AsicInfo") 1..=1 => Data 0 AsicFields;
    ("AsicInfo") 2..=2 => Data 0 Gpu, Data 8 AsicFields;
    ("AsicInfo") 3..=3 => Data 0 Gpu, Data 8 AsicFields, Data 572 AsicCaches;
    ("AdapterInfo") 1..=1 => Data 0 AdapterInfo;
    ("TraceProcessInfo") 1..=1 => Data 0 ProcessHead;
    ("GpuMemSegment") 1..=1 => Data 0 MemorySegment each 24;
    ("TraceError") 1..=1 => Header 0 TraceErrorFields;
    ("CodeObject") 1..=1 => Header 0 CodeHash;
    ("CodeObject") 2..=2 => Header 0 Gpu, Header 8 CodeHash;
    ("COLoadEvent") 1..=1 => Data 0 OldLoad each 40;
    ("COLoadEvent") 2..=3 => Header 0 Count, Data 0 Load each 40;
    ("PsoCorrelation") 1..=1 => Data 0 PipelineHash each 88;
    ("PsoCorrelation") 2..=3 => Header 0 Count, Data 0 Gpu each 96, Data 8 PipelineHash each 96;
    ("COCorrelation") 4..=4 => Header 0 Count, Data 0 CodeObjectHash each 40;
    ("QueueInfo") 1..=1 => Data 0 QueueInfo;
    ("QueueEvent") 1..=1 => Data 0 QueueEvent;
    ("ClockCalibration") 1..=1 => Data 0 Moment;
    ("ClockCalibration") 2..=2 => Data 0 Gpu, Data 8 Moment;
    ("SqttData") 1..=1 => Data 0 SqttFields;
    ("SqttData") 2..=2 => Data 0 Gpu, Data 4 SqttFields;
    ("SqttData") 3..=3 => Header 0 Gpu, Header 4 SqttFields, Header 24 SqttBuffer;
    ("SqttData") 4..=5 => Header 0 Gpu, Header 4 SqttFields, Header 24 SqttBuffer, Header 32 SqttFlags;
    ("SpmSession") 1..=1 => Header 0 SpmSessionFields;
    ("SpmSession") 2..=2 => Header 0 Gpu, Header 4 SpmSessionFields;
    ("SpmCounterData") 1..=1 => Header 0 SpmCounterFields;
    ("SpmCounterData") 2..=2 => Header 0 Gpu, Header 4 SpmCounterFields;
    ("StringTable") 1..=1 => Header 0 StringTableFields;
    ("UserMarkerHist") 1..=1 => Header 0 MarkerHistoryFields;
    ("RmvSnapshotData") 1..=1 => Data 0 Snapshot;
    ("RmvSnapshotIndex") 1..=1 => Header 0 SnapshotIndexFields;
    ("RmtData") 1..=1 => Header 0 RmtFields;
    ("DDEvent") 1..=1 => Header 0 DriverEventsFields, Data 4 DriverEventsFields copy;
    ("RawAccelStruct" "RawAccelStruc") 0..=u32::MAX => Header 0 AccelStructFields;
};
