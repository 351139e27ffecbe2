//! Folders with files of a trace in them.

use std::fs;
use std::path::{Path, PathBuf};

/// What is in a folder, by name; nothing if it cannot be read.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = read.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The folders in a folder by name, up to so many; links are not followed.
pub fn folders(folder: &Path, most: usize) -> Vec<PathBuf> {
    let read = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = read.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut paths: Vec<PathBuf> = folders.map(|entry| entry.path()).take(most).collect();
    paths.sort();
    paths
}

/// Whether a file may be a data stream of CTF: hidden files and metadata are none.
pub fn is_stream(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    path.is_file() && name != b"metadata" && !name.starts_with(b".")
}

/// Whether a folder has CTF's metadata, and no data streams.
pub fn has_metadata_alone(folder: &Path) -> bool {
    folder.join("metadata").is_file() && !entries(folder).iter().any(|path| is_stream(path))
}
