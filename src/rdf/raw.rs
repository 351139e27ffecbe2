//! The two structures as they lie in the file: packed, little-endian, at any alignment.

use zerocopy::little_endian::{I64, U32};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

/// `Header` of the document.
#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(super) struct RawHeader {
    pub identifier: [u8; 8],
    pub version: U32,
    pub reserved: U32,
    pub index_offset: I64,
    pub index_size: I64,
}

/// `IndexEntry` of the document.
#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(super) struct RawEntry {
    pub identifier: [u8; 16],
    pub compression: u8,
    pub reserved: [u8; 3],
    pub version: U32,
    pub header_offset: I64,
    pub header_size: I64,
    pub data_offset: I64,
    pub data_size: I64,
    pub uncompressed_size: I64,
}

const _: () = assert!(size_of::<RawHeader>() == 32 && align_of::<RawHeader>() == 1);
const _: () = assert!(size_of::<RawEntry>() == 64 && align_of::<RawEntry>() == 1);
