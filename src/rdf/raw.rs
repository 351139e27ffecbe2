//! The two structures as they lie in the file: packed, little-endian, at any alignment.

use zerocopy::little_endian::{I64, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// `Header` of the document.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(super) struct RawHeader {
    pub identifier: [u8; 8],
    pub version: U32,
    pub reserved: U32,
    pub index_offset: I64,
    pub index_size: I64,
}

/// `IndexEntry` of the document.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
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

/// A field of `$raw`: what lies where comes from the structure alone.
macro_rules! field {
    ($raw:ty, $base:expr, $field:ident, $name:literal, $document_name:literal, $value:expr) => {
        crate::layout::LayoutField {
            name: $name,
            document_name: $document_name,
            offset: u64::saturating_add($base, crate::rdf::raw::at!($raw, $field)),
            size: crate::rdf::raw::size!($raw, $field),
            value: $value,
        }
    };
}
/// The offset of a field in its structure.
macro_rules! at {
    ($raw:ty, $field:ident) => {
        crate::bytes::to_u64(core::mem::offset_of!($raw, $field))
    };
}
/// The size of a field.
macro_rules! size {
    ($raw:ty, $field:ident) => {{
        const fn size_of_field<T>(_: fn(&$raw) -> &T) -> usize {
            size_of::<T>()
        }
        crate::bytes::to_u64(const { size_of_field(|raw: &$raw| &raw.$field) })
    }};
}
pub(super) use {at, field, size};

const _: () = assert!(size_of::<RawHeader>() == 32 && align_of::<RawHeader>() == 1);
const _: () = assert!(size_of::<RawEntry>() == 64 && align_of::<RawEntry>() == 1);
