//! Folders with files of a trace in them.

use crate::disk::{self, DirEntry, File};
use std::io::{Read, Result};
use std::path::{Path, PathBuf};

/// The paths in a folder, sorted by name.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = disk::read_dir(folder)?;
    let mut paths = read.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// The folders in a folder by name, at most `most` of them; links are not followed.
pub fn folders(folder: &Path, most: usize) -> Result<Vec<PathBuf>> {
    let read = disk::read_dir(folder)?;
    let is_folder = |entry: &Result<DirEntry>| {
        entry.as_ref().is_ok_and(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
    };
    let folders = read.filter(|entry| entry.is_err() || is_folder(entry));
    let mut paths = folders.map(|entry| Ok(entry?.path())).take(most).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// True if a file may be a data stream of CTF: hidden files and metadata are none, nor is what is text by its name and
/// its content, or an index. What cannot be opened, such as a link that leads nowhere, may be one.
pub fn is_stream(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    !disk::is_dir(path) && name != b"metadata" && !name.starts_with(b".") && !is_note(path) && !is_index(path)
}

/// True if a folder has CTF's metadata, and no data streams.
pub fn has_metadata_alone(folder: &Path) -> bool {
    disk::is_file(&folder.join("metadata"))
        && entries(folder).is_ok_and(|paths| !paths.iter().any(|path| is_stream(path)))
}

/// The number of bytes of a file that are looked at to recognize text.
pub const FRONT: usize = 256;

/// The first bytes of a file; of one that cannot be read none, nor of what is no file: nothing might come from it.
fn front(path: &Path) -> Vec<u8> {
    let mut start = Vec::new();
    if !disk::is_file(path) {
        return start;
    }
    let read = File::open(path).and_then(|file| file.take(FRONT as u64).read_to_end(&mut start));
    if read.is_err() {
        start.clear();
    }
    start
}

/// Text that people or tools laid beside a trace.
fn is_note(path: &Path) -> bool {
    has_name_of_note(path) && is_text(&front(path))
}

/// True if what has such a name is a note if it is text.
pub fn has_name_of_note(path: &Path) -> bool {
    const NAMES: [&str; 14] = [
        "csv", "html", "idx", "json", "log", "md", "ndjson", "py", "rst", "sh", "toml", "txt", "xml", "yaml",
    ];
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let is_readme = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"README"));
    is_readme || NAMES.contains(&extension.to_ascii_lowercase().as_str())
}

/// True if a file that begins so is text.
pub fn is_text(start: &[u8]) -> bool {
    // Cut within a character, the last one may be no UTF-8.
    let valid = start.utf8_chunks().next().map_or(0, |chunk| chunk.valid().len());
    let is_text = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7e | 0x80..);
    !start.is_empty() && valid.saturating_add(4) > start.len() && start.iter().all(is_text)
}

/// An index as LTTng writes it: by its magic number.
fn is_index(path: &Path) -> bool {
    const MAGIC: [u8; 4] = 0xc1f1_dcc1_u32.to_be_bytes();
    path.extension().is_some_and(|extension| extension == "idx") && front(path).starts_with(&MAGIC)
}
