//! RDF: AMD's Radeon Data File.

use crate::storage::Storage;
use crate::tg_status::{TG_END, TG_MISUSE, TG_OK};
use crate::{fail, give, lent, lent_mut, tg_bytes, tg_error, tg_status};
use traceglass::rdf::{Chunk, File, Identifier};
use traceglass::zstd::Workspace;

/// The size of a tg_rdf in bytes.
#[cfg(target_pointer_width = "32")]
pub const TG_RDF_SIZE: usize = 40;
/// The size of a tg_rdf in bytes.
#[cfg(not(target_pointer_width = "32"))]
pub const TG_RDF_SIZE: usize = 64;

/// A file that is open.
#[repr(C, align(8))]
pub struct tg_rdf {
    pub bytes: [u8; TG_RDF_SIZE],
}

// SAFETY: bytes of any value.
unsafe impl Storage for tg_rdf {
    type Value = File<'static>;
}

/// The size of a tg_zstd in bytes.
pub const TG_ZSTD_SIZE: usize = 16_000;

/// The memory of the Zstandard decoder; all 0 before its first use.
#[repr(C, align(8))]
pub struct tg_zstd {
    pub bytes: [u8; TG_ZSTD_SIZE],
}

// SAFETY: bytes of any value.
unsafe impl Storage for tg_zstd {
    type Value = Workspace;
}

/// A chunk of a file.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tg_rdf_entry {
    /// The identifier: as many bytes as there are before the first NUL.
    pub name: [u8; 16],
    /// The number of the entry.
    pub number: usize,
    pub version: u32,
    /// The encoding of the data: 0 as it is, 1 as Zstandard.
    pub compression: u32,
    /// The size of the data in bytes, decompressed.
    pub size: u64,
    /// The size of the data in bytes, as stored.
    pub stored_size: u64,
}

/// Opens a file that lies in memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_rdf_open(
    rdf: *mut tg_rdf,
    data: *const u8,
    len: usize,
    error: *mut tg_error,
) -> tg_status {
    // SAFETY: the data is readable, and stays.
    match File::parse(unsafe { lent(data, len) }) {
        // SAFETY: the storage is NULL or writable.
        Ok(file) if unsafe { tg_rdf::open(rdf, file) } => TG_OK,
        Ok(_) => TG_MISUSE,
        // SAFETY: it is NULL or writable.
        Err(found) => unsafe { fail(found, error) },
    }
}

/// The entry of that number, which count from 0; TG_END after the last one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_rdf_entry_at(
    rdf: *mut tg_rdf,
    number: usize,
    entry: *mut tg_rdf_entry,
    error: *mut tg_error,
) -> tg_status {
    // SAFETY: the storage is NULL or open.
    let Some(file) = (unsafe { tg_rdf::get(rdf) }) else { return TG_MISUSE };
    let Some(found) = file.index().get(number) else { return TG_END };
    let said = found.output_size().and_then(|size| {
        let stored = found.stored_range()?;
        Ok(Some(tg_rdf_entry {
            name: *found.identifier_bytes(),
            number,
            version: found.version(),
            compression: u32::from(found.compression().number()),
            size,
            stored_size: stored.end.saturating_sub(stored.start),
        }))
    });
    // SAFETY: both are NULL or writable.
    unsafe { give(said, entry, error) }
}

/// The number of the n-th chunk of a name, both counted from 0; TG_END if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_rdf_find(
    rdf: *mut tg_rdf,
    name: *const u8,
    name_len: usize,
    n: usize,
    number: *mut usize,
) -> tg_status {
    // SAFETY: the storage is NULL or open; the name is readable.
    let (file, name) = unsafe { (tg_rdf::get(rdf), lent(name, name_len)) };
    let Some(file) = file else { return TG_MISUSE };
    let mut bytes = [0; 16];
    let Some(to) = bytes.get_mut(..name.len()) else { return TG_END };
    for (to, from) in to.iter_mut().zip(name) {
        *to = *from;
    }
    let found = file.chunk(Identifier::from_bytes(bytes), n).map(|chunk| chunk.entry().number());
    // SAFETY: it is NULL or writable.
    unsafe { give(Ok(found), number, core::ptr::null_mut()) }
}

/// Does something with the chunk of a number.
///
/// # Safety
/// The storage is NULL or open; the results are NULL or writable.
unsafe fn with_chunk(
    rdf: *mut tg_rdf,
    number: usize,
    bytes: *mut tg_bytes,
    error: *mut tg_error,
    act: impl FnOnce(Chunk<'static>) -> traceglass::Result<tg_bytes>,
) -> tg_status {
    // SAFETY: the storage is NULL or open.
    let Some(file) = (unsafe { tg_rdf::get(rdf) }) else { return TG_MISUSE };
    let Some(chunk) = file.chunk_at(number) else { return TG_END };
    // SAFETY: both are NULL or writable.
    unsafe { give(act(chunk).map(Some), bytes, error) }
}

/// The header of a chunk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_rdf_header(
    rdf: *mut tg_rdf,
    number: usize,
    header: *mut tg_bytes,
    error: *mut tg_error,
) -> tg_status {
    // SAFETY: as the caller promises.
    unsafe { with_chunk(rdf, number, header, error, |chunk| chunk.header().map(tg_bytes::new)) }
}

/// The data of a chunk as it is stored: compressed, if it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_rdf_stored(
    rdf: *mut tg_rdf,
    number: usize,
    stored: *mut tg_bytes,
    error: *mut tg_error,
) -> tg_status {
    // SAFETY: as the caller promises.
    unsafe { with_chunk(rdf, number, stored, error, |chunk| chunk.stored().map(tg_bytes::new)) }
}

/// The data of a chunk: borrowed from the file if it is stored as it is, else decompressed into the buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tg_rdf_data(
    rdf: *mut tg_rdf,
    number: usize,
    zstd: *mut tg_zstd,
    buffer: *mut u8,
    buffer_len: usize,
    data: *mut tg_bytes,
    error: *mut tg_error,
) -> tg_status {
    // SAFETY: the storage is NULL or all 0, which is a workspace (see below), or was used before.
    let Some(workspace) = (unsafe { tg_zstd::get(zstd) }) else { return TG_MISUSE };
    // SAFETY: the buffer is initialised and writable.
    let buffer = unsafe { lent_mut(buffer, buffer_len) };
    let read = |chunk: Chunk<'static>| chunk.data(buffer, workspace).map(tg_bytes::new);
    // SAFETY: as the caller promises.
    unsafe { with_chunk(rdf, number, data, error, read) }
}
