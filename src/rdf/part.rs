//! The two parts of a chunk.

use super::element::{
    CHUNK_DATA, CHUNK_DATA_OFFSET, CHUNK_DATA_SIZE, CHUNK_HEADER, CHUNK_HEADER_OFFSET, CHUNK_HEADER_SIZE,
};
use super::raw::{RawEntry, at};
use crate::error::Element;

/// The two parts of a chunk that an index entry points to.
#[derive(Clone, Copy)]
pub(super) enum ChunkPart {
    Header,
    Data,
}

impl ChunkPart {
    pub(super) const fn element(self) -> Element {
        match self {
            Self::Header => CHUNK_HEADER,
            Self::Data => CHUNK_DATA,
        }
    }

    /// The position of the offset in the entry.
    pub(super) const fn offset_field(self) -> (u64, Element) {
        match self {
            Self::Header => (at!(RawEntry, header_offset), CHUNK_HEADER_OFFSET),
            Self::Data => (at!(RawEntry, data_offset), CHUNK_DATA_OFFSET),
        }
    }

    /// The position of the size in the entry.
    pub(super) const fn size_field(self) -> (u64, Element) {
        match self {
            Self::Header => (at!(RawEntry, header_size), CHUNK_HEADER_SIZE),
            Self::Data => (at!(RawEntry, data_size), CHUNK_DATA_SIZE),
        }
    }
}
