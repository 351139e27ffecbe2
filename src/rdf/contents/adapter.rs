//! The GPU and its memory, as the memory visualizer describes them.

use super::api::supported;
use super::element;
use super::layout::{layout, values};
use super::table::Table;
use crate::bytes::Bytes;
use crate::error::{Error, ErrorKind, Finding, Result};

values! {
    /// The kind of video memory, as `AdapterInfo` numbers them.
    pub enum AdapterMemory: u32 {
        Unknown = 0 "Unknown",
        Ddr2 = 1 "DDR2",
        Ddr3 = 2 "DDR3",
        Ddr4 = 3 "DDR4",
        Gddr5 = 4 "GDDR5",
        Gddr6 = 5 "GDDR6",
        Hbm = 6 "HBM",
        Hbm2 = 7 "HBM2",
        Hbm3 = 8 "HBM3",
        Lpddr4 = 9 "LPDDR4",
        Lpddr5 = 10 "LPDDR5",
        Ddr5 = 11 "DDR5",
    }
}

layout! {
    /// A GPU: chunk `AdapterInfo`, version 1.
    pub struct AdapterInfo, RawAdapter: 172 {
        /// Name of the GPU.
        name: (text 128),
        /// Family of GPUs.
        family: u32 [Hexadecimal],
        /// PCI revision.
        revision: u32 [Hexadecimal],
        /// PCI device.
        device: u32 [Hexadecimal],
        /// Lowest engine clock in MHz.
        min_engine_mhz: u32 [None "MHz"],
        /// Highest engine clock in MHz.
        max_engine_mhz: u32 [None "MHz"],
        /// Kind of video memory.
        memory_type: u32 = AdapterMemory,
        /// Memory operations per clock.
        memory_ops_per_clock: u32,
        /// Width of the memory bus in bits.
        memory_bus_bits: u32 [None "bit"],
        /// Memory bandwidth in MiB/s.
        memory_bandwidth_mib_s: u32 [None "MiB/s"],
        /// Lowest memory clock in MHz.
        min_memory_mhz: u32 [None "MHz"],
        /// Highest memory clock in MHz.
        max_memory_mhz: u32 [None "MHz"],
    }
}

impl<'a> AdapterInfo<'a> {
    pub(super) fn parse(version: u32, data: &'a [u8]) -> Result<Self> {
        supported(version, 1..=1)?;
        Ok(Self::new(Bytes::new(data).view(element::ADAPTER_INFO)?))
    }

    pub(super) fn check(&self, report: &mut dyn FnMut(Finding)) {
        if !self.name().is_terminated() {
            report(Finding::warning(Error::new(0, element::ADAPTER_NAME, ErrorKind::Missing)));
        }
    }
}

values! {
    /// A heap of GPU memory.
    pub enum Heap: u32 {
        /// Video memory that the CPU can reach.
        Local = 0 "local",
        /// Video memory that the CPU cannot reach.
        Invisible = 1 "invisible",
        System = 2 "system",
    }
}

layout! {
    /// A range of physical memory.
    pub struct MemorySegment, RawSegment: 24 {
        /// The heap it belongs to.
        heap: u32 = Heap,
        pad_heap: (pad 4),
        /// Physical address of its first byte.
        base: u64 [Address],
        /// Size in bytes.
        size: u64 [None "B"],
    }
}

/// The heaps of a GPU: chunk `GpuMemSegment`, version 1.
///
/// # Layout
/// Records of 24 bytes, [`MemorySegment`], to the end of the data.
#[doc(alias = "GpuMemSegment")]
#[derive(Clone, Copy)]
pub struct MemorySegments<'a> {
    pub(super) table: Table<'a, RawSegment>,
}

impl<'a> MemorySegments<'a> {
    pub(super) fn parse(version: u32, data: &'a [u8]) -> Result<Self> {
        supported(version, 1..=1)?;
        Ok(Self { table: Table::parse(None, data) })
    }

    /// The segments.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = MemorySegment<'a>> + Clone + use<'a> {
        self.table.records.iter().map(MemorySegment::new)
    }
}

impl core::fmt::Debug for MemorySegments<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("MemorySegments").field("len", &self.table.records.len()).finish()
    }
}
