//! Performance counters, sampled while the GPU works.

use super::api::supported;
use super::element;
use super::hash::PciId;
use super::layout::{layout, values};
use super::table::Table;
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Finding, Result, Severity};
use zerocopy::little_endian::{U16, U32, U64};

values! {
    /// A block of the GPU that has counters.
    pub enum GpuBlock: u32 {
        Cpf = 0x00 "CPF",
        Ia = 0x01 "IA",
        Vgt = 0x02 "VGT",
        Pa = 0x03 "PA",
        Sc = 0x04 "SC",
        Spi = 0x05 "SPI",
        Sq = 0x06 "SQ",
        Sx = 0x07 "SX",
        Ta = 0x08 "TA",
        Td = 0x09 "TD",
        Tcp = 0x0a "TCP",
        Tcc = 0x0b "TCC",
        Tca = 0x0c "TCA",
        Db = 0x0d "DB",
        Cb = 0x0e "CB",
        Gds = 0x0f "GDS",
        Srbm = 0x10 "SRBM",
        Grbm = 0x11 "GRBM",
        GrbmSe = 0x12 "GRBMSE",
        Rlc = 0x13 "RLC",
        Dma = 0x14 "DMA",
        Mc = 0x15 "MC",
        Cpg = 0x16 "CPG",
        Cpc = 0x17 "CPC",
        Wd = 0x18 "WD",
        Tcs = 0x19 "TCS",
        Atc = 0x1a "ATC",
        AtcL2 = 0x1b "ATCL2",
        McVmL2 = 0x1c "MCVML2",
        Ea = 0x1d "EA",
        Rpb = 0x1e "RPB",
        Rmi = 0x1f "RMI",
        Umcch = 0x20 "UMCCH",
        Ge = 0x21 "GE",
        Gl1a = 0x22 "GL1A",
        Gl1c = 0x23 "GL1C",
        Gl1cg = 0x24 "GL1CG",
        Gl2a = 0x25 "GL2A",
        Gl2c = 0x26 "GL2C",
        Cha = 0x27 "CHA",
        Chc = 0x28 "CHC",
        Chcg = 0x29 "CHCG",
        Gus = 0x2a "GUS",
        Gcr = 0x2b "GCR",
        Ph = 0x2c "PH",
        UtcL1 = 0x2d "UTCL1",
        GeDist = 0x2e "GEDIST",
        GeSe = 0x2f "GESE",
        DfMall = 0x30 "DFMALL",
        SqWgp = 0x31 "SQWGP",
        Pc = 0x32 "PC",
        Gl1xa = 0x33 "GL1XA",
        Gl1xc = 0x34 "GL1XC",
        Wgs = 0x35 "WGS",
        EaCpwd = 0x36 "EACPWD",
        EaSe = 0x37 "EASE",
        RlcUser = 0x38 "RLCUSER",
    }
}

layout! {
    /// The fields of both versions of `SpmSession`.
    pub struct SpmSessionFields, RawSession: 16 {
        /// Flags; 0 today.
        flags: u32 [Hexadecimal],
        /// Shader clocks between two samples.
        interval: u32,
        /// Number of samples.
        #[doc(alias = "numTimestamps")]
        timestamps: u32,
        /// Number of counters.
        #[doc(alias = "numCounters")]
        counters: u32,
    }
}

/// The [`PciId`] that version 2 begins with, and the rest of the header.
fn header<'a>(
    version: u32,
    header: &'a [u8],
    size: u64,
    element: crate::Element,
) -> Result<(Option<PciId>, Bytes<'a>)> {
    supported(version, 1..=2)?;
    if version == 1 {
        return Ok((None, Bytes::new(header).take(size, element)?));
    }
    let mut bytes = Bytes::new(header).take(size.saturating_add(4), element)?;
    let pci = PciId::from_stored(bytes.view::<U32>(element)?.get());
    Ok((Some(pci), bytes))
}

/// The times at which counters were sampled: chunk `SpmSession`, versions 1 and 2.
///
/// # Layout
/// Header: [`PciId`], which version 1 lacks; [`SpmSessionFields`]. Data: `u64` GPU ticks of each sample.
#[derive(Clone, Copy, Debug)]
pub struct SpmSession<'a> {
    pci: Option<PciId>,
    fields: SpmSessionFields<'a>,
    pub(super) times: Table<'a, U64>,
}

impl<'a> SpmSession<'a> {
    pub(super) fn parse(version: u32, chunk_header: &'a [u8], data: &'a [u8]) -> Result<Self> {
        let (pci, mut bytes) = header(version, chunk_header, 16, element::SPM_SESSION_HEADER)?;
        let fields = SpmSessionFields::new(bytes.view(element::SPM_SESSION_HEADER)?);
        Ok(Self { pci, fields, times: Table::parse(Some(fields.timestamps()), data) })
    }

    /// The GPU; version 1 does not say.
    pub const fn pci(&self) -> Option<PciId> {
        self.pci
    }

    /// The fields of both versions.
    pub const fn fields(&self) -> SpmSessionFields<'a> {
        self.fields
    }

    /// GPU ticks of the samples.
    pub fn times(&self) -> impl ExactSizeIterator<Item = u64> + Clone + use<'a> {
        self.times.records.iter().map(|time| time.get())
    }

    pub(super) fn check(&self, report: &mut dyn FnMut(Finding)) {
        let at = if self.pci.is_some() { 12 } else { 8 };
        self.times.check(at, element::SPM_SESSION_HEADER, element::SPM_SESSION, report);
        for ((previous, value), number) in self.times().zip(self.times().skip(1)).zip(1_u64..) {
            if value < previous {
                let kind = ErrorKind::NotAscending { previous, value };
                let at = number.saturating_mul(8);
                report(Finding::warning(Error::new(at, element::SPM_SESSION, kind)));
            }
        }
    }
}

layout! {
    /// The fields of both versions of `SpmCounterData`.
    pub struct SpmCounterFields, RawCounter: 16 {
        /// The block of the GPU.
        block: u32 = GpuBlock,
        /// The number of the block among those of its kind.
        instance: u32,
        /// The event that was counted, numbered by the block.
        event: u32,
        /// Bytes of a sample: 2 or 4.
        item_size: u32 [None "B"],
    }
}

/// Samples of one counter: chunk `SpmCounterData`, versions 1 and 2.
///
/// # Layout
/// Header: [`PciId`], which version 1 lacks; [`SpmCounterFields`]. Data: samples, as many as the [`SpmSession`] of that
/// GPU has times.
#[doc(alias = "SpmCounterData")]
#[derive(Clone, Copy, Debug)]
pub struct SpmCounter<'a> {
    pci: Option<PciId>,
    fields: SpmCounterFields<'a>,
    data: &'a [u8],
}

impl<'a> SpmCounter<'a> {
    pub(super) fn parse(version: u32, chunk_header: &'a [u8], data: &'a [u8]) -> Result<Self> {
        let (pci, mut bytes) = header(version, chunk_header, 16, element::SPM_COUNTER_HEADER)?;
        let fields = SpmCounterFields::new(bytes.view(element::SPM_COUNTER_HEADER)?);
        Ok(Self { pci, fields, data })
    }

    /// The GPU; version 1 does not say.
    pub const fn pci(&self) -> Option<PciId> {
        self.pci
    }

    /// The fields of both versions.
    pub const fn fields(&self) -> SpmCounterFields<'a> {
        self.fields
    }

    /// The samples; none if their size is neither 2 nor 4.
    pub fn samples(&self) -> impl Iterator<Item = u32> + Clone + use<'a> {
        let data = Bytes::new(self.data);
        let (narrow, wide): (&'a [U16], &'a [U32]) = match self.fields.item_size() {
            2 => (data.slice_of().0, &[]),
            4 => (&[], data.slice_of().0),
            _ => (&[], &[]),
        };
        narrow.iter().map(|sample| sample.get().into()).chain(wide.iter().map(|sample| sample.get()))
    }

    pub(super) fn check(&self, report: &mut dyn FnMut(Finding)) {
        let (header, data) = (element::SPM_COUNTER_HEADER, element::SPM_COUNTER);
        match self.fields.item_size() {
            2 => Table::<U16>::parse(None, self.data).check(0, header, data, report),
            4 => Table::<U32>::parse(None, self.data).check(0, header, data, report),
            other => {
                let at = if self.pci.is_some() { 16 } else { 12 };
                let kind = ErrorKind::Invalid { value: other.into() };
                report(Finding::new(Severity::Error, Error::new(at, header, kind)));
            }
        }
    }

    /// Number of samples, where their size is right.
    pub fn len(&self) -> u64 {
        match self.fields.item_size() {
            2 => to_u64(self.data.len() >> 1),
            4 => to_u64(self.data.len() >> 2),
            _ => 0,
        }
    }

    /// True if there is no sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
