//! The GPU, as the profiler and the ray tracing analyzer describe it.

use super::api::supported;
use super::hash::PciId;
use super::layout::{layout, values};
use super::{FixedText, element};
use crate::bytes::Bytes;
use crate::error::{ErrorKind, Finding, Result};

values! {
    /// The type of a GPU: part of a processor, a card of its own, or virtual.
    pub enum GpuType: u32 {
        Unknown = 0 "Unknown",
        Integrated = 1 "Integrated",
        Discrete = 2 "Discrete",
        Virtual = 3 "Virtual",
    }
}

values! {
    /// The kind of video memory, as `AsicInfo` numbers them.
    pub enum AsicMemory: u32 {
        Unknown = 0 "Unknown",
        Ddr = 1 "DDR",
        Ddr2 = 2 "DDR2",
        Ddr3 = 3 "DDR3",
        Ddr4 = 4 "DDR4",
        Ddr5 = 5 "DDR5",
        Gddr3 = 6 "GDDR3",
        Gddr4 = 7 "GDDR4",
        Gddr5 = 8 "GDDR5",
        Gddr6 = 9 "GDDR6",
        Hbm = 10 "HBM",
        Hbm2 = 11 "HBM2",
        Hbm3 = 12 "HBM3",
        Lpddr4 = 13 "LPDDR4",
        Lpddr5 = 14 "LPDDR5",
    }
}

layout! {
    /// The fields that all versions of `AsicInfo` have: in version 1 at 0, in later ones at 8.
    pub struct AsicFields, RawAsic: 564 {
        /// Shader clock when the trace was taken. In Hz.
        #[doc(alias = "shaderCoreClockFrequency")]
        shader_clock_hz: u64 [None "Hz"],
        /// Memory clock when the trace was taken. In Hz.
        memory_clock_hz: u64 [None "Hz"],
        /// Rate of GPU ticks. In Hz; 0 in files of Mesa's RADV that do not know it.
        #[doc(alias = "gpuTimestampFrequency")]
        gpu_timestamp_hz: u64 [None "Hz"],
        /// Highest shader clock. In Hz.
        max_shader_clock_hz: u64 [None "Hz"],
        /// Highest memory clock. In Hz.
        max_memory_clock_hz: u64 [None "Hz"],
        /// PCI device.
        device_id: i32,
        /// PCI revision.
        device_revision: i32,
        /// Vector registers of a SIMD.
        vgprs_per_simd: i32,
        /// Scalar registers of a SIMD.
        sgprs_per_simd: i32,
        /// Shader engines.
        shader_engines: i32,
        /// Compute units of a shader engine.
        cus_per_shader_engine: i32,
        /// SIMDs of a compute unit.
        simds_per_cu: i32,
        /// Waves of a SIMD.
        waves_per_simd: i32,
        /// Fewest vector registers that are allocated.
        min_vgpr_alloc: i32,
        /// Step in which vector registers are allocated.
        vgpr_alloc_granularity: i32,
        /// Fewest scalar registers that are allocated.
        min_sgpr_alloc: i32,
        /// Step in which scalar registers are allocated.
        sgpr_alloc_granularity: i32,
        /// Hardware contexts.
        hardware_contexts: i32,
        /// The type of the GPU.
        gpu_type: u32 = GpuType,
        /// Graphics IP, major.
        gfxip_major: u16,
        /// Graphics IP, minor.
        gfxip_minor: u16,
        /// Graphics IP, stepping.
        gfxip_stepping: u16,
        pad_gfxip: (pad 2),
        /// Number of the GPU.
        gpu_index: i32,
        /// Constant engine memory in bytes; 0 today.
        ce_ram: i32,
        /// Of that, for graphics.
        ce_ram_graphics: i32,
        /// Of that, for compute.
        ce_ram_compute: i32,
        /// Compute units that are kept for audio.
        dedicated_cus: i32,
        pad_cus: (pad 4),
        /// Video memory in bytes.
        vram_bytes: i64,
        /// Width of the memory bus in bits.
        vram_bus_bits: i32,
        /// Level 2 cache in bytes.
        l2_bytes: i32,
        /// Level 1 cache of a compute unit in bytes.
        l1_bytes: i32,
        /// Local data share of a compute unit in bytes.
        lds_bytes: i32,
        /// Name of the GPU.
        name: (text 256),
        /// Arithmetic operations per clock.
        alu_per_clock: f32,
        /// Texture fetches per clock.
        texture_per_clock: f32,
        /// Primitives per clock.
        prims_per_clock: f32,
        /// Pixels per clock.
        pixels_per_clock: f32,
        /// Memory operations per clock.
        memory_ops_per_clock: u32,
        /// Kind of video memory.
        memory_type: u32 = AsicMemory,
        /// Step in which local data share is allocated.
        lds_granularity: u32,
        /// Compute units in use: a mask for each of 2 arrays of 32 engines.
        cu_mask: (u16s 64),
    }
}

layout! {
    /// The fields that version 3 of `AsicInfo` has at the end, at 572.
    pub struct AsicCaches, RawCaches: 32 {
        /// Pixel packers in use, 4 bits an engine.
        pixel_packer_mask: (u32s 4),
        /// GL1 cache in bytes.
        gl1_bytes: u32,
        /// Instruction cache in bytes.
        instruction_cache_bytes: u32,
        /// Scalar cache in bytes.
        scalar_cache_bytes: u32,
        /// Memory-attached last-level cache in bytes.
        mall_bytes: u32,
    }
}

/// A GPU: chunk `AsicInfo`, versions 1 to 3, one a GPU.
///
/// # Layout
/// Version 1: [`AsicFields`] and 4 bytes of filling, 568 bytes. Versions 2 and 3 begin with [`PciId`] and 4 bytes of
/// filling: 576 bytes. Version 3 goes on with [`AsicCaches`] and 4 bytes of filling: 608 bytes.
#[derive(Clone, Copy, Debug)]
pub struct AsicInfo<'a> {
    pci: Option<PciId>,
    fields: AsicFields<'a>,
    caches: Option<AsicCaches<'a>>,
}

impl<'a> AsicInfo<'a> {
    pub(super) fn parse(version: u32, data: &'a [u8]) -> Result<Self> {
        supported(version, 1..=3)?;
        let size = match version {
            1 => 568,
            2 => 576,
            _ => 608,
        };
        let mut bytes = Bytes::new(data).take(size, element::ASIC_INFO)?;
        let mut pci = None;
        if version > 1 {
            let [number, _] = *bytes.view::<[zerocopy::little_endian::U32; 2]>(element::ASIC_INFO)?;
            pci = Some(PciId::from_stored(number.get()));
        }
        let fields = AsicFields::new(bytes.view(element::ASIC_INFO)?);
        let caches = match version {
            3 => Some(AsicCaches::new(bytes.view(element::ASIC_INFO)?)),
            _ => None,
        };
        Ok(Self { pci, fields, caches })
    }

    /// The place on the bus; version 1 does not say.
    pub const fn pci(&self) -> Option<PciId> {
        self.pci
    }

    /// The fields of all versions.
    pub const fn fields(&self) -> AsicFields<'a> {
        self.fields
    }

    /// The fields of version 3.
    pub const fn caches(&self) -> Option<AsicCaches<'a>> {
        self.caches
    }

    /// Name of the GPU.
    pub fn name(&self) -> FixedText<'a> {
        self.fields.name()
    }

    /// Rate of GPU ticks in Hz, if known.
    pub const fn gpu_hz(&self) -> Option<u64> {
        match self.fields.gpu_timestamp_hz() {
            0 => None,
            hz => Some(hz),
        }
    }

    /// The position of [`fields`](Self::fields) in the data.
    pub(super) const fn fields_at(&self) -> u64 {
        if self.pci.is_some() { 8 } else { 0 }
    }

    pub(super) fn check(&self, report: &mut dyn FnMut(Finding)) {
        if !self.name().is_terminated() {
            let at = self.fields_at().saturating_add(152);
            let kind = ErrorKind::Missing;
            report(Finding::warning(crate::error::Error::new(at, element::ASIC_NAME, kind)));
        }
    }
}
