//! Files and folders to be read: those of the system.
//!
//! In a page, where there is no system, [`page`](crate::page) has files in memory under the same names.

pub use std::fs::{DirEntry, File, Metadata, metadata, read_dir};

pub use memmap2::Mmap as Map;
use std::path::Path;

/// The bytes of a file, mapped.
pub fn map(file: &File) -> std::io::Result<Map> {
    // SAFETY: the map is read only, and its bytes are treated as untrusted at every use. A file that another process shortens
    // meanwhile ends this one with a signal; recorders only ever append.
    unsafe { Map::map(file) }
}

/// So many bytes of it, changed: only in this process, not in the file.
pub fn map_changed(file: &File, len: usize, change: impl FnOnce(&mut [u8])) -> std::io::Result<Map> {
    // SAFETY: as above; what is written stays in this process.
    let mut map = unsafe { memmap2::MmapOptions::new().len(len).map_copy(file)? };
    change(&mut map);
    map.make_read_only()
}

/// True if there is a folder.
pub fn is_dir(path: &Path) -> bool {
    path.is_dir()
}

/// True if there is a file.
pub fn is_file(path: &Path) -> bool {
    path.is_file()
}
