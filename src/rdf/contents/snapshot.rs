//! Moments that a person marked in a memory trace.

use super::api::supported;
use super::element;
use super::layout::layout;
use super::table::Table;
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Finding, Result};
use zerocopy::little_endian::U16;

layout! {
    /// A moment with a name: chunk `RmvSnapshotData`, version 1.
    #[doc(alias = "RmvSnapshotData")]
    pub struct Snapshot, RawSnapshot: 144 {
        /// The name.
        name: (text 128),
        /// The time at which it was taken, in CPU ticks.
        ticks: u64 [Ticks],
        /// Length of the name in bytes, as stored.
        name_length: u32 [None "B"],
        /// Version of the structure: 1.
        inner_version: u32,
    }
}

impl<'a> Snapshot<'a> {
    pub(super) fn parse(version: u32, data: &'a [u8]) -> Result<Self> {
        supported(version, 1..=1)?;
        Ok(Self::new(Bytes::new(data).view(element::SNAPSHOT)?))
    }

    pub(super) fn check(&self, report: &mut dyn FnMut(Finding)) {
        let (stated, found) = (u64::from(self.name_length()), to_u64(self.name().bytes().len()));
        if !self.name().is_terminated() {
            report(Finding::warning(Error::new(0, element::SNAPSHOT_NAME, ErrorKind::Missing)));
        }
        if stated != found {
            let kind = ErrorKind::Mismatch { stated, found };
            report(Finding::warning(Error::new(136, element::SNAPSHOT_NAME_LENGTH, kind)));
        }
    }
}

layout! {
    /// The header of an `RmvSnapshotIndex`.
    pub struct SnapshotIndexFields, RawSnapshotIndex: 8 {
        /// Number of places.
        count: u16,
        pad_count: (pad 2),
        /// Version of the structure: 1.
        inner_version: u32,
    }
}

/// The snapshots that are live: chunk `RmvSnapshotIndex`, version 1. Only the last one in a file counts.
///
/// # Layout
/// Header: [`SnapshotIndexFields`], of which the filling was never initialised. Data: `u16` number of the
/// `RmvSnapshotData` chunk each, 0xFFFF for none.
#[doc(alias = "RmvSnapshotIndex")]
#[derive(Clone, Copy, Debug)]
pub struct SnapshotIndex<'a> {
    fields: SnapshotIndexFields<'a>,
    pub(super) places: Table<'a, U16>,
}

impl<'a> SnapshotIndex<'a> {
    pub(super) fn parse(version: u32, header: &'a [u8], data: &'a [u8]) -> Result<Self> {
        supported(version, 1..=1)?;
        let fields = SnapshotIndexFields::new(Bytes::new(header).view(element::SNAPSHOT_INDEX_HEADER)?);
        Ok(Self { fields, places: Table::parse(Some(fields.count().into()), data) })
    }

    /// The header.
    pub const fn fields(&self) -> SnapshotIndexFields<'a> {
        self.fields
    }

    /// The places: which snapshot chunk of the file each is, or none.
    pub fn places(&self) -> impl ExactSizeIterator<Item = Option<u16>> + Clone + use<'a> {
        self.places.records.iter().map(|place| Some(place.get()).filter(|&place| place != u16::MAX))
    }

    /// True if the `number`-th snapshot chunk of the file is live.
    pub fn has(&self, number: usize) -> bool {
        self.places().flatten().any(|place| usize::from(place) == number)
    }
}
