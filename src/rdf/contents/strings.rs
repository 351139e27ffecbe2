//! Texts that other chunks refer to, and the markers that do.

use super::api::supported;
use super::layout::{layout, values};
use super::table::Table;
use super::{FixedText, element};
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Finding, Result, Severity};
use zerocopy::little_endian::U32;

layout! {
    /// The header of a `StringTable`.
    pub struct StringTableFields, RawStringTable: 8 {
        /// Number of the table, from 1.
        #[doc(alias = "tableId")]
        table: u32,
        /// Number of strings.
        count: u32,
    }
}

/// Texts: chunk `StringTable`, version 1.
///
/// # Layout
/// Header: [`StringTableFields`]. Data: `u32` offset of each string from the start of the data; strings, each ended by
/// a NUL.
#[derive(Clone, Copy, Debug)]
pub struct StringTable<'a> {
    fields: StringTableFields<'a>,
    pub(super) offsets: Table<'a, U32>,
    data: &'a [u8],
}

impl<'a> StringTable<'a> {
    pub(super) fn parse(version: u32, header: &'a [u8], data: &'a [u8]) -> Result<Self> {
        supported(version, 1..=1)?;
        let fields = StringTableFields::new(Bytes::new(header).view(element::STRING_TABLE_HEADER)?);
        Ok(Self { fields, offsets: Table::parse(Some(fields.count()), data), data })
    }

    /// The header.
    pub const fn fields(&self) -> StringTableFields<'a> {
        self.fields
    }

    /// String `number`, from 0; `None` if there is none, or its offset lies among the offsets or outside the data.
    pub fn get(&self, number: usize) -> Option<FixedText<'a>> {
        self.text(number).map(FixedText::new)
    }

    /// The same, of which no more than `most` bytes are read: many may name one long string.
    #[cfg(feature = "event")]
    pub(crate) fn beginning(&self, number: usize, most: usize) -> Option<FixedText<'a>> {
        self.text(number).map(|text| FixedText::new(text.get(..most).unwrap_or(text)))
    }

    /// The data from where a string begins on.
    fn text(&self, number: usize) -> Option<&'a [u8]> {
        let at = usize::try_from(self.offsets.records.get(number)?.get()).ok()?;
        let first = self.offsets.records.len().saturating_mul(4);
        self.data.get(at..).filter(|text| at >= first && !text.is_empty())
    }

    /// The strings; `None` where an offset is wrong.
    pub fn strings(&self) -> impl ExactSizeIterator<Item = Option<FixedText<'a>>> + Clone + use<'a> {
        let this = *self;
        (0..self.offsets.records.len()).map(move |number| this.get(number))
    }

    pub(super) fn check(&self, report: &mut dyn FnMut(Finding)) {
        let claimed = u64::from(self.fields.count());
        let max = to_u64(self.data.len() >> 2);
        if claimed > max {
            let kind = ErrorKind::CountTooLarge { claimed, max };
            report(Finding::new(Severity::Error, Error::new(4, element::STRING_TABLE_HEADER, kind)));
        }
        let last_nul = self.data.iter().rposition(|&byte| byte == 0);
        for (offset, number) in self.offsets.records.iter().zip(0_usize..) {
            let at = to_u64(number).saturating_mul(4);
            if self.text(number).is_none() {
                let kind = ErrorKind::OutOfBounds { start: offset.get().into(), size: 1 };
                report(Finding::new(Severity::Error, Error::new(at, element::STRING_TABLE, kind)));
            } else if last_nul.is_none_or(|nul| to_u64(nul) < u64::from(offset.get())) {
                report(Finding::warning(Error::new(
                    offset.get().into(),
                    element::STRING,
                    ErrorKind::Missing,
                )));
            }
        }
    }
}

values! {
    /// The action of a marker.
    pub enum MarkerOp: u8 {
        Invalid = 0 "invalid",
        Push = 1 "push",
        Pop = 2 "pop",
        Set = 3 "set",
    }
}

layout! {
    /// The header of a `UserMarkerHist`.
    pub struct MarkerHistoryFields, RawMarkerHistory: 12 {
        /// The command buffer's number in the thread trace.
        #[doc(alias = "sqttCbId")]
        sqtt_cmd_buffer: u32,
        /// The string table that names the markers.
        #[doc(alias = "tableId")]
        table: u32,
        /// Number of markers.
        count: u32,
    }
}

/// The markers of a command buffer: chunk `UserMarkerHist`, version 1.
///
/// # Layout
/// Header: [`MarkerHistoryFields`]. Data: `u32` each: bits 0 and 1 are the [`MarkerOp`], the others the string, from 1.
#[doc(alias = "UserMarkerHist")]
#[derive(Clone, Copy, Debug)]
pub struct MarkerHistory<'a> {
    fields: MarkerHistoryFields<'a>,
    pub(super) ops: Table<'a, U32>,
}

impl<'a> MarkerHistory<'a> {
    pub(crate) fn parse(version: u32, header: &'a [u8], data: &'a [u8]) -> Result<Self> {
        supported(version, 1..=1)?;
        let fields = MarkerHistoryFields::new(Bytes::new(header).view(element::MARKER_HISTORY_HEADER)?);
        Ok(Self { fields, ops: Table::parse(Some(fields.count()), data) })
    }

    /// The header.
    pub const fn fields(&self) -> MarkerHistoryFields<'a> {
        self.fields
    }

    /// The markers: what each does, and the number of its string, from 1; 0 where it has none.
    pub fn ops(&self) -> impl ExactSizeIterator<Item = (MarkerOp, u32)> + Clone + use<'a> {
        self.ops.records.iter().map(|op| {
            let [low, ..] = op.get().to_le_bytes();
            (MarkerOp::from_stored(low & 3), op.get() >> 2)
        })
    }
}
