//! Hashes: from pipelines to code objects, and the places at which those were loaded.

use super::api::supported;
use super::element;
use super::hash::PciId;
use super::layout::{layout, values};
use super::table::Table;
use crate::bytes::{Bytes, to_u64};
use crate::error::{Element, Error, ErrorKind, Finding, Result};
use zerocopy::little_endian::U32;

values! {
    /// The kind of a load event: a code object was loaded, or unloaded.
    pub enum LoadKind: u32 {
        Load = 0 "load",
        Unload = 1 "unload",
    }
}

layout! {
    /// The structure of a load event; version 1 has no GPU and begins with the kind.
    pub struct LoadFields, RawLoad: 40 {
        /// From version 2 on the GPU, in version 1 what happened.
        pci: u32,
        /// From version 2 on what happened, in version 1 padding.
        event: u32,
        /// GPU address of the code object's first byte.
        base: u64 [Address],
        /// Hash of the code object.
        #[doc(alias = "codeObjectHash")]
        hash: hash,
        /// CPU ticks.
        ticks: u64 [Ticks],
    }
}

/// One loading of a code object to GPU memory, or its unloading.
#[derive(Clone, Copy, Debug)]
pub struct LoadEvent<'a> {
    fields: LoadFields<'a>,
    has_pci: bool,
}

impl<'a> LoadEvent<'a> {
    /// The structure as stored.
    pub const fn fields(&self) -> LoadFields<'a> {
        self.fields
    }

    /// The GPU; version 1 does not say.
    pub const fn pci(&self) -> Option<PciId> {
        if self.has_pci { Some(PciId::from_stored(self.fields.pci())) } else { None }
    }

    /// The kind of the event.
    pub const fn kind(&self) -> LoadKind {
        LoadKind::from_stored(if self.has_pci { self.fields.event() } else { self.fields.pci() })
    }
}

/// The count in the header of a table.
fn count(version: u32, header: &[u8], element: Element) -> Result<Option<u32>> {
    if version == 1 {
        return Ok(None);
    }
    Bytes::new(header).view::<U32>(element).map(|count| Some(count.get()))
}

/// The loads of code objects, each with its time and place: chunk `COLoadEvent`, versions 1 to 3.
///
/// # Layout
/// Header: `u32` count; none in version 1. Data: records of 40 bytes, [`LoadFields`].
#[doc(alias = "COLoadEvent")]
#[derive(Clone, Copy)]
pub struct LoadEvents<'a> {
    pub(super) table: Table<'a, RawLoad>,
    has_pci: bool,
}

impl<'a> LoadEvents<'a> {
    pub(crate) fn parse(version: u32, header: &[u8], data: &'a [u8]) -> Result<Self> {
        supported(version, 1..=3)?;
        let count = count(version, header, element::LOAD_EVENTS_HEADER)?;
        Ok(Self { table: Table::parse(count, data), has_pci: version > 1 })
    }

    /// The count that the header claims; version 1 has none.
    pub const fn claimed(&self) -> Option<u32> {
        self.table.claimed()
    }

    /// The events that are counted and whole, in the order of the file.
    pub fn events(
        &self,
    ) -> impl DoubleEndedIterator<Item = LoadEvent<'a>> + ExactSizeIterator + Clone + use<'a> {
        let has_pci = self.has_pci;
        self.table.records.iter().map(move |raw| LoadEvent { fields: LoadFields::new(raw), has_pci })
    }
}

layout! {
    /// The pipeline of the driver that a pipeline of the API became.
    pub struct PipelineHash, RawPipeline: 88 {
        /// Hash of the pipeline, as the API's layer made it.
        #[doc(alias = "apiPsoHash")]
        api_hash: u64 [Address],
        /// Hash of the driver's pipeline: that of the code object and of the load events.
        #[doc(alias = "internalPipelineHash")]
        hash: hash,
        /// Name of the pipeline; often empty.
        #[doc(alias = "apiLevelObjectName")]
        name: (text 64),
    }
}

#[derive(zerocopy::FromBytes, zerocopy::KnownLayout, zerocopy::Immutable, zerocopy::Unaligned)]
#[repr(C)]
pub(super) struct RawPipelineOfGpu {
    pub(super) pci: U32,
    pad: [u8; 4],
    pub(super) pipeline: RawPipeline,
}

/// The records of the versions.
#[derive(Clone, Copy)]
pub(super) enum Pipelines<'a> {
    V1(Table<'a, RawPipeline>),
    V3(Table<'a, RawPipelineOfGpu>),
}

/// The pipelines of a workload: chunk `PsoCorrelation`, versions 1 to 3.
///
/// # Layout
/// Header: `u32` count; none in version 1. Data: records: [`PciId`], 4 bytes of padding, [`PipelineHash`], 96 bytes.
/// Version 1 has [`PipelineHash`] alone, 88 bytes.
#[doc(alias = "PsoCorrelation")]
#[derive(Clone, Copy)]
pub struct PipelineHashes<'a> {
    pub(super) records: Pipelines<'a>,
}

impl<'a> PipelineHashes<'a> {
    pub(super) fn parse(version: u32, header: &[u8], data: &'a [u8]) -> Result<Self> {
        supported(version, 1..=3)?;
        let records = match count(version, header, element::PIPELINE_HASHES_HEADER)? {
            None => Pipelines::V1(Table::parse(None, data)),
            count => Pipelines::V3(Table::parse(count, data)),
        };
        Ok(Self { records })
    }

    /// The count that the header claims; version 1 has none.
    pub const fn claimed(&self) -> Option<u32> {
        match &self.records {
            Pipelines::V1(_) => None,
            Pipelines::V3(table) => table.claimed(),
        }
    }

    /// The pipelines that are counted and whole, each with its GPU, which version 1 does not state.
    pub fn pipelines(
        &self,
    ) -> impl DoubleEndedIterator<Item = (Option<PciId>, PipelineHash<'a>)> + Clone + use<'a> {
        let (old, new): (&'a [RawPipeline], &'a [RawPipelineOfGpu]) = match self.records {
            Pipelines::V1(table) => (table.records, &[]),
            Pipelines::V3(table) => (&[], table.records),
        };
        let old = old.iter().map(|raw| (None, PipelineHash::new(raw)));
        let new =
            new.iter().map(|raw| (Some(PciId::from_stored(raw.pci.get())), PipelineHash::new(&raw.pipeline)));
        old.chain(new)
    }

    pub(super) fn check(&self, report: &mut dyn FnMut(Finding)) {
        let (header, data) = (element::PIPELINE_HASHES_HEADER, element::PIPELINE_HASHES);
        let record = match self.records {
            Pipelines::V1(table) => {
                table.check(0, header, data, report);
                88
            }
            Pipelines::V3(table) => {
                table.check(0, header, data, report);
                96
            }
        };
        for (number, (_, pipeline)) in self.pipelines().enumerate() {
            if !pipeline.name().is_terminated() {
                let at = to_u64(number).saturating_add(1).saturating_mul(record).saturating_sub(64);
                report(Finding::warning(Error::new(at, element::PIPELINE_NAME, ErrorKind::Missing)));
            }
        }
    }
}

layout! {
    /// The code object that a pipeline became.
    pub struct CodeObjectHash, RawCodeObjectHash: 40 {
        /// Hash of the pipeline.
        pipeline: hash,
        /// Hash of the code object.
        code_object: hash,
        /// Bit 0: it has metadata.
        flags: u32 [Hexadecimal],
        pad_flags: (pad 4),
    }
}

impl CodeObjectHash<'_> {
    /// True if the code object has metadata.
    pub const fn has_metadata(&self) -> bool {
        self.flags() & 1 != 0
    }
}

/// The code objects of pipelines: chunk `COCorrelation`, version 4. AMD's drivers define it and never write it.
///
/// # Layout
/// Header: `u32` count. Data: records of 40 bytes, [`CodeObjectHash`].
#[doc(alias = "COCorrelation")]
#[derive(Clone, Copy)]
pub struct CodeObjectHashes<'a> {
    pub(super) table: Table<'a, RawCodeObjectHash>,
}

impl<'a> CodeObjectHashes<'a> {
    pub(super) fn parse(version: u32, header: &[u8], data: &'a [u8]) -> Result<Self> {
        supported(version, 4..=4)?;
        let count = count(version, header, element::CODE_OBJECT_HASHES_HEADER)?;
        Ok(Self { table: Table::parse(count, data) })
    }

    /// The count that the header claims.
    pub const fn claimed(&self) -> Option<u32> {
        self.table.claimed()
    }

    /// The records that are counted and whole.
    pub fn records(&self) -> impl ExactSizeIterator<Item = CodeObjectHash<'a>> + Clone + use<'a> {
        self.table.records.iter().map(CodeObjectHash::new)
    }
}

macro_rules! debug_count {
    ($($name:ident($this:ident) $claimed:expr;)*) => {$(
        impl core::fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let $this = self;
                f.debug_struct(stringify!($name)).field("claimed", &$claimed).finish_non_exhaustive()
            }
        }
    )*};
}

debug_count! {
    LoadEvents(this) this.claimed();
    PipelineHashes(this) this.claimed();
    CodeObjectHashes(this) this.claimed();
}
