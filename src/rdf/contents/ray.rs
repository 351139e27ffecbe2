//! Ray tracing: headers of acceleration structures and of what rays did.

use super::element;
use super::layout::{layout, values};
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Finding, Result, Severity};
use zerocopy::little_endian::{U32, U64};

layout! {
    /// The header of a `RawAccelStruct`.
    pub struct AccelStructFields, RawAccelStruct: 28 {
        /// Lower half of the GPU address.
        base_low: u32,
        /// Upper half of the GPU address.
        base_high: u32,
        /// The offset of the metadata in the data.
        metadata_offset: u32,
        /// Size of the metadata in bytes.
        metadata_size: u32 [None "B"],
        /// The offset of the header in the data.
        header_offset: u32,
        /// Size of the header in bytes.
        header_size: u32 [None "B"],
        /// Bit 0: a bottom-level structure.
        flags: u32 [Hexadecimal],
    }
}

/// An acceleration structure: chunk `RawAccelStruct`, in older files `RawAccelStruc`.
///
/// # Layout
/// Header: [`AccelStructFields`]. Data: metadata, header, tree. The chunk's version is that of GPURT: major number in
/// the upper half, minor in the lower one.
#[doc(alias = "RawAccelStruct")]
#[derive(Clone, Copy, Debug)]
pub struct AccelStruct<'a> {
    fields: AccelStructFields<'a>,
    version: u32,
    data: &'a [u8],
}

impl<'a> AccelStruct<'a> {
    pub(super) fn parse(version: u32, header: &'a [u8], data: &'a [u8]) -> Result<Self> {
        let fields = AccelStructFields::new(Bytes::new(header).view(element::ACCEL_STRUCT_HEADER)?);
        Ok(Self { fields, version, data })
    }

    /// The header.
    pub const fn fields(&self) -> AccelStructFields<'a> {
        self.fields
    }

    /// Version of GPURT, major and minor.
    pub const fn version(&self) -> (u16, u16) {
        halves(self.version)
    }

    /// GPU address of the structure.
    pub const fn base(&self) -> u64 {
        let [a, b, c, d] = self.fields.base_low().to_le_bytes();
        let [e, f, g, h] = self.fields.base_high().to_le_bytes();
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    /// True if it is a bottom-level structure: of triangles, not of instances.
    pub const fn is_bottom_level(&self) -> bool {
        self.fields.flags() & 1 != 0
    }

    /// Metadata, header and tree.
    pub const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The metadata, if it lies in the data.
    pub fn metadata(&self) -> Option<&'a [u8]> {
        self.part(self.fields.metadata_offset(), self.fields.metadata_size())
    }

    /// The structure's own header, if it lies in the data.
    pub fn header(&self) -> Option<&'a [u8]> {
        self.part(self.fields.header_offset(), self.fields.header_size())
    }

    fn part(&self, start: u32, size: u32) -> Option<&'a [u8]> {
        Bytes::new(self.data).range(start.into(), size.into()).map(Bytes::as_slice)
    }

    pub(super) fn check(&self, report: &mut dyn FnMut(Finding)) {
        let fields = self.fields;
        let parts = [
            (8, self.metadata(), fields.metadata_offset(), fields.metadata_size()),
            (16, self.header(), fields.header_offset(), fields.header_size()),
        ];
        for (at, part, start, size) in parts {
            if part.is_none() {
                let kind = ErrorKind::OutOfBounds { start: start.into(), size: size.into() };
                report(Finding::new(Severity::Error, Error::new(at, element::ACCEL_STRUCT_HEADER, kind)));
            }
        }
    }
}

/// The two numbers of a version.
const fn halves(version: u32) -> (u16, u16) {
    let [a, b, c, d] = version.to_le_bytes();
    (u16::from_le_bytes([c, d]), u16::from_le_bytes([a, b]))
}

values! {
    /// The kind of a record of `HistoryMetadata`.
    pub enum HistoryKind: u32 {
        CounterInfo = 1 "counter_info",
        DispatchSize = 2 "dispatch_size",
        TraversalFlags = 3 "traversal_flags",
        UserMarker = 4 "user_marker",
    }
}

layout! {
    /// A dispatch of rays, and how it was counted.
    pub struct CounterInfo, RawCounterInfo: 64 {
        /// Rays in x.
        dispatch_x: u32,
        /// Rays in y.
        dispatch_y: u32,
        /// Rays in z.
        dispatch_z: u32,
        /// Hit groups.
        hit_groups: u32,
        /// Miss shaders.
        miss_shaders: u32,
        /// Shaders of the pipeline.
        pipeline_shaders: u32,
        /// Hash of the state object.
        state_object_hash: u64 [Address],
        /// The mode of the counters.
        counter_mode: u32,
        /// The mask of the counters.
        counter_mask: u32 [Hexadecimal],
        /// Bytes between two counters.
        counter_stride: u32 [None "B"],
        /// Bytes of a ray.
        ray_counter_size: u32 [None "B"],
        /// Bytes of tokens that were lost.
        lost_token_bytes: u32 [None "B"],
        /// First counter.
        range_begin: u32,
        /// Counter after the last one.
        range_end: u32,
        /// 0 ray tracing, 1 compute, 2 graphics.
        pipeline_type: u32,
    }
}

/// The dispatches while rays were recorded: chunk `HistoryMetadata`. The n-th belongs to the n-th
/// `HistoryTokensRaw`.
///
/// # Layout
/// Records to the end of the data: `u32` kind, 4 bytes of filling, `u64` size, content.
#[derive(Clone, Copy, Debug)]
pub struct HistoryMetadata<'a> {
    version: u32,
    data: &'a [u8],
}

impl<'a> HistoryMetadata<'a> {
    pub(super) const fn parse(version: u32, data: &'a [u8]) -> Self {
        Self { version, data }
    }

    /// Version of the chunk, major and minor.
    pub const fn version(&self) -> (u16, u16) {
        halves(self.version)
    }

    /// The records.
    pub const fn records(&self) -> HistoryRecords<'a> {
        HistoryRecords { rest: Bytes::new(self.data) }
    }

    pub(super) fn check(&self, report: &mut dyn FnMut(Finding)) {
        if let Some(Err(error)) = self.records().find(|record| record.is_err()) {
            report(Finding::new(Severity::Error, error));
        }
    }
}

/// The records of [`HistoryMetadata`].
#[derive(Clone, Debug)]
pub struct HistoryRecords<'a> {
    rest: Bytes<'a>,
}

impl<'a> HistoryRecords<'a> {
    fn take(&mut self) -> Result<HistoryRecord<'a>> {
        let start = self.rest;
        let mut rest = start;
        let [kind, _] = rest.view::<[U32; 2]>(element::HISTORY_METADATA)?;
        let size = rest.view::<U64>(element::HISTORY_METADATA)?.get();
        let Ok(content) = rest.take(size, element::HISTORY_METADATA) else {
            let needed = size.saturating_sub(to_u64(rest.len()));
            return Err(start.error(element::HISTORY_METADATA, ErrorKind::UnexpectedEnd { needed }));
        };
        self.rest = rest;
        Ok(HistoryRecord {
            offset: start.offset(),
            kind: HistoryKind::from_stored(kind.get()),
            content: content.as_slice(),
        })
    }
}

impl<'a> Iterator for HistoryRecords<'a> {
    type Item = Result<HistoryRecord<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let record = self.take();
        if record.is_err() {
            self.rest = Bytes::new(&[]);
        }
        Some(record)
    }
}

impl core::iter::FusedIterator for HistoryRecords<'_> {}

/// A record of [`HistoryMetadata`].
#[derive(Clone, Copy, Debug)]
pub struct HistoryRecord<'a> {
    offset: u64,
    kind: HistoryKind,
    content: &'a [u8],
}

impl<'a> HistoryRecord<'a> {
    /// Offset of the record in the chunk's data.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The kind of the record.
    pub const fn kind(&self) -> HistoryKind {
        self.kind
    }

    /// The content.
    pub const fn content(&self) -> &'a [u8] {
        self.content
    }

    /// The dispatch, if it is one.
    pub fn counter_info(&self) -> Option<CounterInfo<'a>> {
        if self.kind != HistoryKind::CounterInfo {
            return None;
        }
        Bytes::new(self.content).view(element::HISTORY_METADATA).ok().map(CounterInfo::new)
    }

    /// The command buffer and the number in its `UserMarkerHist`, if it is a marker.
    pub fn user_marker(&self) -> Option<(u32, u32)> {
        if self.kind != HistoryKind::UserMarker {
            return None;
        }
        let [buffer, index] = Bytes::new(self.content).view::<[U32; 2]>(element::HISTORY_METADATA).ok()?;
        Some((buffer.get(), index.get()))
    }
}
