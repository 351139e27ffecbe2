//! Events of the driver in the kernel: page faults, and the hardware's state.

use super::Payload;
use crate::error::Result;
use crate::rdf::contents::layout::layout;
use zerocopy::little_endian::{U32, U64};

/// A page fault.
#[derive(Clone, Copy)]
pub struct PageFault<'a> {
    vm: u32,
    pid: u32,
    address: u64,
    process: &'a [u8],
}

impl<'a> PageFault<'a> {
    pub(super) fn parse(bytes: &mut Payload<'a>) -> Result<Self> {
        let [vm, pid] = bytes.view::<[U32; 2]>()?;
        let address = bytes.view::<U64>()?.get();
        Ok(Self { vm: vm.get(), pid: pid.get(), address, process: bytes.text()? })
    }

    /// The address space.
    #[doc(alias = "vmId")]
    pub const fn vm(&self) -> u32 {
        self.vm
    }

    /// The process; 0 in real files, where [`ProcessInfo`](crate::rdf::contents::ProcessInfo) says it.
    pub const fn pid(&self) -> u32 {
        self.pid
    }

    /// The address that has no memory.
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// Name of the process; empty in real files.
    pub const fn process(&self) -> &'a [u8] {
        self.process
    }
}

impl core::fmt::Debug for PageFault<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PageFault")
            .field("vm", &self.vm)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// The place of a wave on the GPU.
///
/// # Layout
/// Bits 0 to 4 wave, 8 and 9 SIMD, 10 to 13 workgroup processor, 16 shader array, 18 to 21 shader engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShaderId(u32);

impl ShaderId {
    pub(super) const fn from_stored(number: u32) -> Self {
        Self(number)
    }

    const fn bits(self, low: u32, len: u32) -> u32 {
        self.0.wrapping_shr(low) & 1_u32.wrapping_shl(len).wrapping_sub(1)
    }

    /// The number as stored.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The wave.
    pub const fn wave(self) -> u32 {
        self.bits(0, 5)
    }

    /// The SIMD.
    pub const fn simd(self) -> u32 {
        self.bits(8, 2)
    }

    /// The workgroup processor.
    pub const fn wgp(self) -> u32 {
        self.bits(10, 4)
    }

    /// The shader array.
    pub const fn shader_array(self) -> u32 {
        self.bits(16, 1)
    }

    /// The shader engine.
    pub const fn shader_engine(self) -> u32 {
        self.bits(18, 4)
    }
}

layout! {
    /// The fields before the list of waves.
    pub struct ShaderWavesFields, RawShaderWaves: 48 {
        /// Version of the structure.
        version: u32,
        /// The GPU.
        gpu: u32,
        /// Why it hangs: 0 page fault, 1 another reason, 2 unknown.
        hang: u32,
        /// Status registers: their version, and that of up to six shader engines.
        grbm: (u32s 7),
        /// Waves that hang.
        hung: u32,
        /// Other waves.
        active: u32,
    }
}

/// The waves that were running: first those that hang.
#[derive(Clone, Copy, Debug)]
pub struct ShaderWaves<'a> {
    fields: ShaderWavesFields<'a>,
    waves: &'a [[U32; 2]],
}

impl<'a> ShaderWaves<'a> {
    pub(super) fn parse(bytes: &mut Payload<'a>) -> Result<Self> {
        let fields = ShaderWavesFields::new(bytes.view()?);
        let count = u64::from(fields.hung()).saturating_add(fields.active().into());
        Ok(Self { fields, waves: bytes.list(count)? })
    }

    /// The structure before the list.
    pub const fn fields(&self) -> ShaderWavesFields<'a> {
        self.fields
    }

    pub(super) const fn stored(&self) -> &'a [[U32; 2]] {
        self.waves
    }

    /// The waves.
    pub fn waves(&self) -> impl ExactSizeIterator<Item = ShaderId> + Clone + use<'a> {
        self.waves.iter().map(|[_, shader]| ShaderId(shader.get()))
    }
}

/// Shader engines: four numbers each, of which the first is a version.
#[derive(Clone, Copy, Debug)]
pub struct ShaderEngines<'a> {
    version: u32,
    gpu: u32,
    engines: &'a [[U32; 4]],
}

impl<'a> ShaderEngines<'a> {
    pub(super) fn parse(bytes: &mut Payload<'a>) -> Result<Self> {
        let [version, gpu, count] = bytes.view::<[U32; 3]>()?;
        Ok(Self { version: version.get(), gpu: gpu.get(), engines: bytes.list(count.get().into())? })
    }

    /// Version of the structure.
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// The GPU.
    pub const fn gpu(&self) -> u32 {
        self.gpu
    }

    pub(super) const fn stored(&self) -> &'a [[U32; 4]] {
        self.engines
    }

    /// The engines.
    pub fn engines(&self) -> impl ExactSizeIterator<Item = [u32; 4]> + Clone + use<'a> {
        self.engines.iter().map(|engine| engine.map(U32::get))
    }
}

/// Registers: of the GPU, or of a wave.
#[derive(Clone, Copy, Debug)]
pub struct Registers<'a> {
    version: u32,
    owner: u32,
    registers: &'a [[U32; 2]],
}

impl<'a> Registers<'a> {
    pub(super) fn parse(bytes: &mut Payload<'a>) -> Result<Self> {
        let [version, owner, count] = bytes.view::<[U32; 3]>()?;
        let registers = bytes.list(count.get().into())?;
        Ok(Self { version: version.get(), owner: owner.get(), registers })
    }

    /// Version of the structure.
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// Number of the GPU, where they are of a GPU.
    pub const fn gpu(&self) -> u32 {
        self.owner
    }

    /// The wave, where they are of a wave.
    pub const fn shader(&self) -> ShaderId {
        ShaderId(self.owner)
    }

    pub(super) const fn stored(&self) -> &'a [[U32; 2]] {
        self.registers
    }

    /// Offset and value of each.
    pub fn registers(&self) -> impl ExactSizeIterator<Item = (u32, u32)> + Clone + use<'a> {
        self.registers.iter().map(|[offset, value]| (offset.get(), value.get()))
    }
}

/// General purpose registers of a wave.
#[derive(Clone, Copy, Debug)]
pub struct GprRegisters<'a> {
    version: u32,
    shader: ShaderId,
    work_item: u32,
    is_vector: bool,
    count: u32,
    registers: &'a [U32; 256],
}

impl<'a> GprRegisters<'a> {
    pub(super) fn parse(bytes: &mut Payload<'a>) -> Result<Self> {
        let [version, shader, work_item] = bytes.view::<[U32; 3]>()?;
        let is_vector = *bytes.view::<u8>()? != 0;
        let count = bytes.view::<U32>()?.get();
        let registers = bytes.view()?;
        let shader = ShaderId(shader.get());
        Ok(Self { version: version.get(), shader, work_item: work_item.get(), is_vector, count, registers })
    }

    /// Version of the structure.
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// The wave.
    pub const fn shader(&self) -> ShaderId {
        self.shader
    }

    /// The thread of the wave.
    pub const fn work_item(&self) -> u32 {
        self.work_item
    }

    /// True if they are vector registers, not scalar ones.
    pub const fn is_vector(&self) -> bool {
        self.is_vector
    }

    /// The number of valid registers, as stored; there is room for 256.
    pub const fn count(&self) -> u32 {
        self.count
    }

    pub(super) fn stored(&self) -> &'a [U32] {
        let count = usize::try_from(self.count).unwrap_or(usize::MAX);
        self.registers.get(..count.min(self.registers.len())).unwrap_or_default()
    }

    /// The valid registers.
    pub fn registers(&self) -> impl Iterator<Item = u32> + Clone + use<'a> {
        self.stored().iter().map(|register| register.get())
    }
}
