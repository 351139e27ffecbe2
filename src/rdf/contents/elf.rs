//! AMD's GPU programs: as much of ELF as a code object takes.

use super::FixedText;
use super::element::{CODE_OBJECT, ELF_HEADER, ELF_NOTE, ELF_SECTION, ELF_SECTIONS};
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Finding, Result};
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

/// `Elf64_Ehdr`.
#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct RawHeader {
    ident: [u8; 16],
    kind: U16,
    machine: U16,
    version: U32,
    entry: U64,
    program_offset: U64,
    section_offset: U64,
    flags: U32,
    header_size: U16,
    program_size: U16,
    program_count: U16,
    section_size: U16,
    section_count: U16,
    names: U16,
}

/// `Elf64_Shdr`.
#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct RawSection {
    name: U32,
    kind: U32,
    flags: U64,
    address: U64,
    offset: U64,
    size: U64,
    link: U32,
    info: U32,
    align: U64,
    entry_size: U64,
}

/// `Elf64_Sym`.
#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct RawSymbol {
    name: U32,
    info: u8,
    other: u8,
    section: U16,
    value: U64,
    size: U64,
}

const SYMBOLS: u32 = 2;
const NOTES: u32 = 7;
const FUNCTION: u8 = 2;

/// A 64-bit little-endian ELF file.
#[derive(Clone, Copy)]
pub struct Elf<'a> {
    data: Bytes<'a>,
    header: &'a RawHeader,
    sections: &'a [RawSection],
}

impl<'a> Elf<'a> {
    /// Opens the code object in `data`. A section table that does not lie in it counts as empty; `check` says so.
    pub(super) fn parse(data: &'a [u8]) -> Result<Self> {
        let bytes = Bytes::new(data);
        match data.first_chunk::<8>() {
            // Magic, 64-bit, little-endian.
            Some([0x7f, b'E', b'L', b'F', 2, 1, ..]) => {}
            Some(found) => return Err(bytes.error(CODE_OBJECT, ErrorKind::BadMagic { found: *found })),
            None => return Err(bytes.truncated(ELF_HEADER, to_u64(size_of::<RawHeader>()))),
        }
        let mut rest = bytes;
        let header: &RawHeader = rest.view(ELF_HEADER)?;
        let sections = Self::table(bytes, header).map_or(&[][..], |table| table.slice_of().0);
        Ok(Self { data: bytes, header, sections })
    }

    fn table(data: Bytes<'a>, header: &RawHeader) -> Option<Bytes<'a>> {
        if usize::from(header.section_size.get()) != size_of::<RawSection>() {
            return None;
        }
        let size = u64::from(header.section_count.get()).checked_mul(64)?;
        data.range(header.section_offset.get(), size)
    }

    /// `e_machine`: 224 for AMD's GPUs.
    pub const fn machine(&self) -> u16 {
        self.header.machine.get()
    }

    /// `e_ident[EI_OSABI]`: 65 for AMD's graphics drivers, 64 for HSA.
    pub const fn os_abi(&self) -> u8 {
        self.header.ident[7]
    }

    /// `EF_AMDGPU_MACH`: which GPU it was compiled for, such as 0x41 for gfx1100.
    pub const fn mach(&self) -> u8 {
        self.header.flags.get().to_le_bytes()[0]
    }

    fn content(&self, section: &RawSection) -> Option<Bytes<'a>> {
        self.data.range(section.offset.get(), section.size.get())
    }

    /// The functions of its symbol table: entry points and kernels.
    pub fn functions(&self) -> impl Iterator<Item = Function<'a>> + Clone + use<'a> {
        let this = *self;
        let tables = this.sections.iter().filter(|section| section.kind.get() == SYMBOLS);
        tables.flat_map(move |table| {
            let symbols = this.content(table).map_or(&[][..], |bytes| bytes.slice_of::<RawSymbol>().0);
            let link = usize::try_from(table.link.get()).unwrap_or(usize::MAX);
            let names = this.sections.get(link).and_then(|section| this.content(section));
            symbols
                .iter()
                .filter(|symbol| symbol.info & 0xf == FUNCTION)
                .map(move |symbol| Function { symbol, names: names.map_or(&[][..], Bytes::as_slice) })
        })
    }

    /// The notes; nothing follows a malformed one.
    pub fn notes(&self) -> impl Iterator<Item = Note<'a>> + Clone + use<'a> {
        let this = *self;
        let sections = this.sections.iter().filter(|section| section.kind.get() == NOTES);
        sections.filter_map(move |section| this.content(section)).flat_map(|bytes| {
            let mut rest = bytes;
            core::iter::from_fn(move || {
                if rest.is_empty() {
                    return None;
                }
                let note = Note::take(&mut rest).ok();
                if note.is_none() {
                    rest = Bytes::new(&[]);
                }
                note
            })
        })
    }

    pub(super) fn check(&self, report: &mut dyn FnMut(Finding)) {
        let header = self.header;
        let start = header.section_offset.get();
        if header.section_count.get() > 0 && self.sections.is_empty() {
            let size = u64::from(header.section_count.get()).saturating_mul(64);
            let kind = ErrorKind::OutOfBounds { start, size };
            report(Finding::warning(Error::new(40, ELF_SECTIONS, kind)));
        }
        for (section, number) in self.sections.iter().zip(0_u64..) {
            let (start_of, size) = (section.offset.get(), section.size.get());
            if matches!(section.kind.get(), SYMBOLS | NOTES) && self.content(section).is_none() {
                let at = start.saturating_add(number.saturating_mul(64)).saturating_add(24);
                let kind = ErrorKind::OutOfBounds { start: start_of, size };
                report(Finding::warning(Error::new(at, ELF_SECTION, kind)));
            }
            if section.kind.get() == NOTES {
                let mut rest = self.content(section).unwrap_or(Bytes::new(&[]));
                while !rest.is_empty() {
                    if let Err(error) = Note::take(&mut rest) {
                        report(Finding::warning(error));
                        break;
                    }
                }
            }
        }
    }
}

impl core::fmt::Debug for Elf<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Elf")
            .field("machine", &self.machine())
            .field("mach", &self.mach())
            .finish_non_exhaustive()
    }
}

/// A function of a code object.
#[derive(Clone, Copy)]
pub struct Function<'a> {
    symbol: &'a RawSymbol,
    names: &'a [u8],
}

impl<'a> Function<'a> {
    /// The name, such as `_amdgpu_ps_main` or that of a kernel.
    pub fn name(&self) -> FixedText<'a> {
        let at = usize::try_from(self.symbol.name.get()).unwrap_or(usize::MAX);
        FixedText::new(self.names.get(at..).unwrap_or_default())
    }

    /// The offset in its section.
    pub const fn value(&self) -> u64 {
        self.symbol.value.get()
    }

    /// Size in bytes.
    pub const fn size(&self) -> u64 {
        self.symbol.size.get()
    }
}

impl core::fmt::Debug for Function<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Function").field("value", &self.value()).field("size", &self.size()).finish()
    }
}

/// A note of a code object.
#[derive(Clone, Copy, Debug)]
pub struct Note<'a> {
    kind: u32,
    name: FixedText<'a>,
    content: &'a [u8],
}

impl<'a> Note<'a> {
    fn take(rest: &mut Bytes<'a>) -> Result<Self> {
        let [name, size, kind] = rest.view::<[U32; 3]>(ELF_NOTE)?;
        let name = padded(rest, name.get())?;
        let content = padded(rest, size.get())?;
        Ok(Self { kind: kind.get(), name: FixedText::new(name), content })
    }

    /// Type of the note: 32 for AMD's metadata.
    pub const fn kind(&self) -> u32 {
        self.kind
    }

    /// The owner of the type: "AMDGPU".
    pub const fn name(&self) -> FixedText<'a> {
        self.name
    }

    /// The content: MessagePack for AMD's metadata.
    pub const fn content(&self) -> &'a [u8] {
        self.content
    }
}

/// Takes `len` bytes and what fills them up to a multiple of four; the filling of the last note may be missing.
fn padded<'a>(rest: &mut Bytes<'a>, len: u32) -> Result<&'a [u8]> {
    let bytes = rest.take(len.into(), ELF_NOTE)?;
    rest.advance(bytes.len().wrapping_neg() & 3);
    Ok(bytes.as_slice())
}
