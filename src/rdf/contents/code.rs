//! Code objects.

use super::api::supported;
use super::element;
use super::elf::Elf;
use super::hash::{Hash128, PciId};
use super::pipeline_note::PipelineNote;
use crate::bytes::Bytes;
use crate::error::{Finding, Result, Severity};
use zerocopy::little_endian::U32;

/// A program for the GPU: chunk `CodeObject`, versions 1 and 2.
///
/// # Layout
/// Header: [`PciId`], 4 bytes of filling, hash, 24 bytes; version 1 the hash alone, 16 bytes. Data: ELF, filled to a
/// multiple of 4 bytes.
#[derive(Clone, Copy, Debug)]
pub struct CodeObject<'a> {
    pci: Option<PciId>,
    hash: Hash128,
    data: &'a [u8],
}

impl<'a> CodeObject<'a> {
    pub(super) fn parse(version: u32, header: &[u8], data: &'a [u8]) -> Result<Self> {
        supported(version, 1..=2)?;
        let size = if version == 1 { 16 } else { 24 };
        let mut bytes = Bytes::new(header).take(size, element::CODE_OBJECT_HEADER)?;
        let mut pci = None;
        if version > 1 {
            let [number, _] = bytes.view::<[U32; 2]>(element::CODE_OBJECT_HEADER)?;
            pci = Some(PciId::from_stored(number.get()));
        }
        let hash = Hash128::from_stored(*bytes.array(element::CODE_OBJECT_HEADER)?);
        Ok(Self { pci, hash, data })
    }

    /// The GPU; version 1 does not say.
    pub const fn pci(&self) -> Option<PciId> {
        self.pci
    }

    /// The hash, by which load events and pipelines refer to it.
    pub const fn hash(&self) -> Hash128 {
        self.hash
    }

    /// The ELF file's bytes.
    pub const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The ELF file.
    ///
    /// # Errors
    /// It is [none](crate::ErrorKind::BadMagic), or its header is cut.
    pub fn elf(&self) -> Result<Elf<'a>> {
        Elf::parse(self.data)
    }

    /// The note of the compiler about the pipeline.
    pub fn pipeline_note(&self) -> Option<PipelineNote<'a>> {
        let notes = self.elf().ok()?.notes();
        let mut notes = notes.filter(|note| note.kind() == 32 && note.name().bytes() == b"AMDGPU");
        notes.next().map(|note| PipelineNote::new(note.content()))
    }

    pub(super) fn check(&self, report: &mut dyn FnMut(Finding)) {
        match self.elf() {
            Ok(elf) => elf.check(report),
            Err(error) => report(Finding::new(Severity::Error, error)),
        }
    }
}
