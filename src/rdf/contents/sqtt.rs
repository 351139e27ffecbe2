//! Thread traces.

use super::api::supported;
use super::element;
use super::hash::PciId;
use super::layout::layout;
use crate::bytes::Bytes;
use crate::error::Result;
use zerocopy::little_endian::U32;

layout! {
    /// The fields of a thread trace in all versions of `SqttData`.
    pub struct SqttFields, RawSqtt: 20 {
        /// The shader engine.
        shader_engine: u32,
        /// Version of the hardware's tokens: 7 gfx10, 11 gfx11, 12 gfx12.
        sqtt_version: u32,
        /// Version of the specification.
        spec_version: u32,
        /// Version of the interface.
        api_version: u32,
        /// The workgroup processor that was traced in detail.
        wgp: u32,
    }
}

layout! {
    /// The fields that versions 3 to 5 add.
    pub struct SqttBuffer, RawSqttBuffer: 8 {
        /// Size of the buffer that the trace was written to.
        bytes: u64 [None "B"],
    }
}

/// A thread trace of one shader engine: chunk `SqttData`, versions 1 to 5.
///
/// # Layout
/// Versions 3 to 5 have a header: [`PciId`], [`SqttFields`], `u64` size of the trace buffer; from version 4 `u32`
/// flags and 4 bytes of filling. Versions 1 and 2 have none: the data begins with [`SqttFields`], in version 2 with
/// [`PciId`] before them. The rest of the data are the hardware's tokens, which are not read here.
#[derive(Clone, Copy, Debug)]
pub struct SqttData<'a> {
    pci: Option<PciId>,
    fields: SqttFields<'a>,
    buffer: Option<SqttBuffer<'a>>,
    flags: Option<u32>,
    version: u32,
    tokens: &'a [u8],
}

impl<'a> SqttData<'a> {
    pub(super) fn parse(version: u32, header: &'a [u8], data: &'a [u8]) -> Result<Self> {
        supported(version, 1..=5)?;
        let mut tokens = Bytes::new(data);
        let (source, size, element) = match version {
            1 => (&mut tokens, 20, element::SQTT_DATA),
            2 => (&mut tokens, 24, element::SQTT_DATA),
            3 => (&mut Bytes::new(header), 32, element::SQTT_HEADER),
            _ => (&mut Bytes::new(header), 40, element::SQTT_HEADER),
        };
        let mut bytes = source.take(size, element)?;
        let pci = match version {
            1 => None,
            _ => Some(PciId::from_stored(bytes.view::<U32>(element)?.get())),
        };
        let fields = SqttFields::new(bytes.view(element)?);
        let buffer = match version {
            1 | 2 => None,
            _ => Some(SqttBuffer::new(bytes.view(element)?)),
        };
        let flags = match version {
            1..=3 => None,
            _ => Some(bytes.view::<U32>(element)?.get()),
        };
        Ok(Self { pci, fields, buffer, flags, version, tokens: tokens.as_slice() })
    }

    /// The GPU; version 1 does not say.
    pub const fn pci(&self) -> Option<PciId> {
        self.pci
    }

    /// The fields of all versions.
    pub const fn fields(&self) -> SqttFields<'a> {
        self.fields
    }

    /// Size of the buffer that the trace was written to; not in versions 1 and 2.
    pub fn buffer_bytes(&self) -> Option<u64> {
        self.buffer.map(|buffer| buffer.bytes())
    }

    /// True if instructions were timed; versions 1 to 3 do not say.
    pub fn has_instruction_timing(&self) -> Option<bool> {
        self.flags.map(|flags| flags & 1 != 0)
    }

    /// True if there are tokens for restored execution masks; only version 5 says.
    pub fn has_exec_pop(&self) -> Option<bool> {
        self.flags.filter(|_| self.version > 4).map(|flags| flags & 2 != 0)
    }

    /// The hardware's tokens.
    pub const fn tokens(&self) -> &'a [u8] {
        self.tokens
    }
}
