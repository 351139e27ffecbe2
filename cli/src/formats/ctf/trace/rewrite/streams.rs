//! The files of a trace, of which streams are seen to be such.

use crate::folder::{FRONT, has_name_of_note, is_text};
use crate::status::Result;
use crate::trace::NewTrace;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Writes files. What is left of a stream may look like text: with the name of a note it would be taken for one.
pub struct Streams<'w> {
    to: &'w mut dyn NewTrace,
    /// A file that may need another name, and its first bytes.
    held: Option<(PathBuf, Vec<u8>)>,
}

impl<'w> Streams<'w> {
    pub const fn new(to: &'w mut dyn NewTrace) -> Self {
        Self { to, held: None }
    }

    /// Begins a file.
    pub fn file(&mut self, path: &Path) -> Result<()> {
        self.end()?;
        if has_name_of_note(path) {
            self.held = Some((path.to_owned(), Vec::new()));
            return Ok(());
        }
        self.to.file(path)
    }

    /// More of it.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let Some((_, held)) = &mut self.held else { return self.to.put(bytes) };
        held.extend_from_slice(bytes);
        if held.len() < FRONT { Ok(()) } else { self.end() }
    }

    /// Writes what was held back, so that nothing is.
    pub fn end(&mut self) -> Result<()> {
        let Some((path, held)) = self.held.take() else { return Ok(()) };
        let path = if is_text(held.get(..FRONT).unwrap_or(&held)) { plain(&path) } else { path };
        self.to.file(&path)?;
        self.to.put(&held)
    }
}

/// A name like it that is not that of a note.
fn plain(path: &Path) -> PathBuf {
    let mut name = OsString::from("stream-");
    name.push(path.file_name().unwrap_or_default());
    name.push("-0");
    path.with_file_name(name)
}
