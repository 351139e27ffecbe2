//! The contents of the chunks that AMD's tools write: GPU, driver, API, crash, queues, counters, memory.
//!
//! [`Content::parse`] knows a chunk by its identifier and version, and gives a view that borrows from the chunk's
//! header and data. [`Chunk::content`](crate::rdf::Chunk::content) does the same with a chunk of a file.
//!
//! | written by | chunks |
//! |---|---|
//! | all | [`ApiInfo`], [`SystemInfo`], [`DriverOverrides`] |
//! | Radeon GPU Profiler, `.rgp` | [`AsicInfo`], [`QueueInfo`], [`QueueEvent`], [`ClockCalibration`], [`SqttData`], [`SpmSession`], [`SpmCounter`], [`CodeObject`], [`LoadEvents`], [`PipelineHashes`], [`StringTable`], [`MarkerHistory`], [`TraceError`] |
//! | Radeon Memory Visualizer, `.rmv` | [`RmtData`], [`Snapshot`], [`SnapshotIndex`], [`MemorySegments`], [`AdapterInfo`] |
//! | Radeon GPU Detective, `.rgd` | [`DriverEvents`], [`ProcessInfo`], and those of memory and code objects |
//! | Radeon Raytracing Analyzer, `.rra` | [`AccelStruct`], [`HistoryMetadata`], [`AsicInfo`] |
//!
#![cfg_attr(feature = "zstd", doc = "```")]
#![cfg_attr(not(feature = "zstd"), doc = "```ignore")]
//! use traceglass::rdf::{File, contents::Content};
//! use traceglass::zstd::Workspace;
//!
//! fn page_faults(data: &[u8], buffer: &mut [u8]) -> traceglass::Result<()> {
//!     use traceglass::rdf::contents::EventValue;
//!     let mut workspace = Workspace::new();
//!     for chunk in File::parse(data)?.chunks("DDEvent") {
//!         let Content::DriverEvents(events) = chunk.content(buffer, &mut workspace)? else { continue };
//!         for event in events.events() {
//!             if let EventValue::PageFault(fault) = event?.value()? {
//!                 println!("page fault at {:#x}", fault.address());
//!             }
//!         }
//!     }
//!     Ok(())
//! }
//! # assert!(page_faults(b"AMD_RDF ", &mut []).is_err());
//! ```
//!
//! **Versions.** Each view says which it reads; a version that is not known is an error, not a guess. Data that is
//! longer than its structure is accepted. Chunks that are not known stay bytes, [`Content::Unknown`].
//!
//! **Errors** say where: an offset counts from the start of the chunk's header, or of its data after decompression,
//! whichever the [element](super::element) names. A count that the data cannot hold is a finding of [`Content::check`]; the
//! records before the fault are read.
//!
//! **Joins.** [`joins`] answers what takes several chunks: what held the address of a page fault, which command buffers
//! were in flight, how long each queue worked, and where which code object of which pipeline was loaded.
//!
//! **Limits.** JSON nests at most 128 levels.

mod adapter;
mod api;
mod asic;
mod clock;
mod code;
mod content;
mod correlation;
pub(super) mod element;
mod elf;
mod events;
mod hash;
pub mod joins;
mod json;
mod layout;
mod layouts;
pub mod neighbors;
mod pipeline_note;
mod queue;
mod ray;
mod records;
pub mod rmt;
mod snapshot;
mod spm;
mod sqtt;
mod strings;
mod structure;
mod system;
mod table;
mod tell;
mod text;
mod trace_error;

pub use adapter::{AdapterInfo, AdapterMemory, Heap, MemorySegment, MemorySegments};
pub use api::{Api, ApiFields, ApiInfo};
pub use asic::{AsicCaches, AsicFields, AsicInfo, AsicMemory, GpuType};
pub use clock::{ClockCalibration, Clocks, ticks_to_ns};
pub use code::CodeObject;
pub use content::Content;
pub use correlation::{
    CodeObjectHash, CodeObjectHashes, LoadEvent, LoadEvents, LoadFields, LoadKind, PipelineHash,
    PipelineHashes,
};
pub use elf::{Elf, Function, Note};
pub use events::{
    BarrierBegin, BarrierEnd, BufferState, CmdBufferStart, Dispatch, Draw, DrawUserData, DriverEvents,
    DriverEventsFields, Event, EventRecord, EventValue, Events, GprRegisters, Marker, MarkerInfo,
    MarkerSource, MarkerStruct, NestedCmdBuffer, PageFault, PipelineBind, Provider, Registers, ShaderEngines,
    ShaderId, ShaderWaves, ShaderWavesFields,
};
pub use hash::{Hash128, PciId};
pub use json::{DriverOverrides, Json, Override};
pub use layout::{Field, FieldValue};
pub use layouts::Part;
pub use pipeline_note::{PipelineNote, Stage};
pub use queue::{EngineType, QueueEvent, QueueEventKind, QueueInfo, QueueType};
pub use ray::{
    AccelStruct, AccelStructFields, CounterInfo, HistoryKind, HistoryMetadata, HistoryRecord, HistoryRecords,
};
pub use records::{ChunkRecord, ChunkRecords};
pub use rmt::RmtData;
pub use snapshot::{Snapshot, SnapshotIndex, SnapshotIndexFields};
pub use spm::{GpuBlock, SpmCounter, SpmCounterFields, SpmSession, SpmSessionFields};
pub use sqtt::{SqttBuffer, SqttData, SqttFields};
pub use strings::{MarkerHistory, MarkerHistoryFields, MarkerOp, StringTable, StringTableFields};
pub use structure::{Structure, StructureRecord};
pub use system::{Process, ProcessInfo, SystemInfo};
pub use text::FixedText;
pub use trace_error::{TraceError, TraceErrorFields, TraceErrorPayload};
