//! The entries of `traceglass::rdf`.

use crate::slice_mut;
use traceglass::rdf::{File, Header, Identifier, Index, NoDecoder};
use traceglass::zstd::Workspace;

entries! {
    rdf_header(data) {
        let Ok(header) = Header::parse(data) else { return 1 };
        let range = header.index_range().unwrap_or(0..0);
        range.start ^ range.end ^ u64::from(header.version()) ^ u64::from(header.reserved())
    }
    rdf_index(data) {
        let Ok(index) = Index::parse(data, 7) else { return 1 };
        let mut sum = index.count(Identifier::from("AsicInfo")) as u64;
        for entry in index.entries().rev() {
            let header = entry.header_range().unwrap_or(0..0);
            let stored = entry.stored_range().unwrap_or(0..0);
            sum ^= header.start ^ header.end ^ stored.start ^ stored.end ^ entry.output_size().unwrap_or(0);
            sum ^= entry.offset() ^ u64::from(entry.version()) ^ u64::from(entry.compression().number());
            sum ^= entry.identifier().text().map_or(0, str::len) as u64;
        }
        sum
    }
    rdf_file(data) {
        let Ok(file) = File::parse(data) else { return 1 };
        let mut sum = 0;
        for entry in file.entries() {
            let Some(chunk) = file.chunk_at(entry.number()) else { continue };
            for part in [chunk.header(), chunk.stored(), chunk.data(&mut [], &mut NoDecoder)] {
                sum += part.map_or(0, <[u8]>::len);
            }
        }
        sum as u64
    }
    rdf_recover(data) { File::recover(data).map_or(1, |(file, _)| file.index().len() as u64) }
    rdf_find(data) {
        let Ok(file) = File::parse(data) else { return 1 };
        file.chunk("AsicInfo".into(), 3).map_or(0, |chunk| chunk.entry().offset())
            ^ file.chunks("DDEvent".into()).rev().count() as u64
    }
    rdf_check(data) {
        let Ok(file) = File::parse(data) else { return 1 };
        let mut found = 0;
        let checked = file.check(&mut [0; 64], &mut NoDecoder, &mut |finding| found ^= finding.cause().offset());
        found ^= checked.map_or(1, |summary| summary.errors());
        found
    }
}

/// # Safety
///
/// As `slice` and `slice_mut`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdf_sort(data: *const u8, len: usize, room: *mut u32, places: usize) -> u64 {
    let (data, room) = unsafe { (crate::slice(data, len), core::slice::from_raw_parts_mut(room, places)) };
    let Ok(file) = File::parse(data) else { return 1 };
    let Ok(sorted) = file.sort(room) else { return 2 };
    sorted.chunk("AsicInfo".into(), 3).map_or(0, |chunk| chunk.entry().offset())
        ^ sorted.chunks("DDEvent".into()).rev().count() as u64
        ^ sorted.count("Snapshot".into()) as u64
}

/// # Safety
///
/// As `slice` and `slice_mut`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdf_overlaps(data: *const u8, len: usize, room: *mut u32, places: usize) -> u64 {
    let (data, room) = unsafe { (crate::slice(data, len), core::slice::from_raw_parts_mut(room, places)) };
    let Ok(file) = File::parse(data) else { return 1 };
    let mut found = 0;
    let _ = file.overlaps(room, &mut |finding| found ^= finding.cause().offset());
    found
}

/// # Safety
///
/// As `slice` and `slice_mut`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rdf_decompress(
    data: *const u8,
    len: usize,
    buffer: *mut u8,
    room: usize,
    workspace: &mut Workspace,
) -> u64 {
    let (data, buffer) = unsafe { (crate::slice(data, len), slice_mut(buffer, room)) };
    let Ok(file) = File::parse(data) else { return 1 };
    let Some(chunk) = file.chunk("Snapshot".into(), 0) else { return 2 };
    chunk.data(buffer, workspace).map_or(3, |data| data.len() as u64)
}
