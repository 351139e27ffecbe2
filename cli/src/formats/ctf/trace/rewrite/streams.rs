//! The files of a trace, of which streams are seen to be such.

use crate::folder::{FRONT, has_name_of_note, is_text};
use crate::status::Result;
use crate::trace::NewTrace;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Writes files. What is left of a stream may look like text: with the name of a note it would be taken for one.
pub struct Streams<'w> {
    to: &'w mut dyn NewTrace,
    /// A file that may need another name, and its first bytes.
    held: Option<(PathBuf, Vec<u8>)>,
    /// The parts of the present file whose records are not copied as they are, and of those before it.
    parts: Vec<Range<u64>>,
    anew: Vec<(PathBuf, Range<u64>)>,
    path: PathBuf,
}

impl<'w> Streams<'w> {
    pub fn new(to: &'w mut dyn NewTrace) -> Self {
        Self { to, held: None, parts: Vec::new(), anew: Vec::new(), path: PathBuf::new() }
    }

    /// Begins a file.
    pub fn file(&mut self, path: &Path) -> Result<()> {
        self.close()?;
        if has_name_of_note(path) {
            self.held = Some((path.to_owned(), Vec::new()));
            return Ok(());
        }
        self.open(path)
    }

    fn open(&mut self, path: &Path) -> Result<()> {
        self.path = path.to_owned();
        self.to.file(path)
    }

    /// More of it.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let Some((_, held)) = &mut self.held else { return self.to.put(bytes) };
        held.extend_from_slice(bytes);
        if held.len() < FRONT { Ok(()) } else { self.release() }
    }

    /// Says that the next bytes have records that are not copied as they are.
    pub fn anew(&mut self, len: u64) {
        let start = match &self.held {
            Some((_, held)) => held.len() as u64,
            None => self.to.position(),
        };
        self.parts.push(start..start.saturating_add(len));
    }

    /// Ends the last file. The parts of files whose records are not copied as they are.
    pub fn end(mut self) -> Result<Vec<(PathBuf, Range<u64>)>> {
        self.close()?;
        Ok(self.anew)
    }

    /// Ends the present file.
    fn close(&mut self) -> Result<()> {
        self.release()?;
        self.anew.extend(self.parts.drain(..).map(|part| (self.path.clone(), part)));
        Ok(())
    }

    /// Writes what was held back, so that nothing is.
    fn release(&mut self) -> Result<()> {
        let Some((path, held)) = self.held.take() else { return Ok(()) };
        let path = if is_text(held.get(..FRONT).unwrap_or(&held)) { plain(&path) } else { path };
        self.open(&path)?;
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
