//! A trace that is being written: one file, or a folder of them.

use crate::export::file::{NewFile, NewFolder, cannot_write};
use crate::input::{Input, Mapped};
use crate::output::{add, shown};
use crate::progress::Progress;
use crate::status::{Failure, Result};
use crate::trace::{NewTrace, Open, Reading};
use flate2::Crc;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Component, Path, PathBuf};

/// After how many bytes progress is shown: pieces may be a few bytes, and there may be many millions.
const STEP: u64 = 1 << 18;

/// Files that are not in their place yet.
pub struct Output {
    kind: Kind,
    size: u64,
    /// The files that are complete, and the sums of their bytes.
    written: Vec<(PathBuf, u32)>,
    /// The sum of the one that is being written, and its size.
    sum: Crc,
    position: u64,
    progress: Progress,
    /// The number of bytes that the progress does not show yet.
    untold: u64,
    /// After how many bytes the disk is full.
    #[cfg(test)]
    full: Option<u64>,
}

enum Kind {
    File(NewFile),
    Folder {
        folder: NewFolder,
        /// The file that is written, and its name.
        file: Option<(BufWriter<File>, PathBuf)>,
    },
}

impl Output {
    /// Begins what is going to be at `place`. A folder that is replaced must be a trace itself.
    pub fn create(place: &Path, is_folder: bool, force: bool, open: Open, bytes: u64) -> Result<Self> {
        let is_there = place.is_dir();
        if is_there != is_folder && place.exists() {
            let kinds = if is_folder {
                "a file, and this is written as a folder"
            } else {
                "a folder, and this is written as a file"
            };
            return Err(Failure::usage(format!("{} is {kinds}", shown(place))));
        }
        let kind = if is_folder {
            let is_trace = || Input::open(place).is_ok_and(|input| open(&input, Reading::default()).is_ok());
            let replaces = force && is_there && is_trace();
            Kind::Folder { folder: NewFolder::create(place, replaces)?, file: None }
        } else {
            Kind::File(NewFile::create(place)?)
        };
        Ok(Self {
            kind,
            size: 0,
            written: Vec::new(),
            sum: Crc::new(),
            position: 0,
            progress: Progress::new(bytes),
            untold: 0,
            #[cfg(test)]
            full: None,
        })
    }

    /// The number of bytes that were written.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The path while it is not in its place.
    pub fn path(&self) -> &Path {
        match &self.kind {
            Kind::File(file) => file.written(),
            Kind::Folder { folder, .. } => folder.path(),
        }
    }

    /// Sees that all that was written is on the disk.
    pub fn settle(&mut self) -> Result<()> {
        self.end_file();
        match &mut self.kind {
            Kind::File(file) => file.settle(),
            Kind::Folder { folder, file } => close(folder, file),
        }
    }

    /// Notes the sum of the file that is complete.
    fn end_file(&mut self) {
        let path = match &self.kind {
            Kind::File(file) => Some(file.written()),
            Kind::Folder { file, .. } => file.as_ref().map(|(_, path)| path.as_path()),
        };
        let sum = std::mem::take(&mut self.sum).sum();
        self.position = 0;
        self.written.extend(path.map(|path| (path.to_owned(), sum)));
    }

    /// Reads all files again: they have the bytes that were written. Says what differs.
    pub fn reread(&self) -> Result<(), String> {
        for (path, sum) in &self.written {
            let file = Mapped::open(path).map_err(|error| error.message)?;
            let mut found = Crc::new();
            found.update(file.data());
            if found.sum() != *sum {
                return Err(format!("{} has other bytes than were written", shown(path)));
            }
        }
        Ok(())
    }

    /// Puts it in its place.
    pub fn finish(self) -> Result<()> {
        match self.kind {
            Kind::File(file) => file.finish(),
            Kind::Folder { folder, .. } => folder.finish(),
        }
    }

    /// The failure with the name that it is going to have.
    pub fn rename(&self, failure: Failure) -> Failure {
        match &self.kind {
            Kind::File(_) => failure,
            Kind::Folder { folder, .. } => folder.rename(failure),
        }
    }

    fn failed(&self, error: &std::io::Error) -> Failure {
        match &self.kind {
            Kind::Folder { file: Some((_, path)), .. } => cannot_write(path, error),
            _ => cannot_write(self.path(), error),
        }
    }
}

fn close(folder: &NewFolder, file: &mut Option<(BufWriter<File>, PathBuf)>) -> Result<()> {
    let Some((mut file, path)) = file.take() else { return Ok(()) };
    let done = file.flush().and_then(|()| file.get_ref().sync_all());
    done.map_err(|error| folder.rename(cannot_write(&path, &error)))
}

impl NewTrace for Output {
    fn file(&mut self, path: &Path) -> Result<()> {
        if matches!(self.kind, Kind::File(_)) {
            return Ok(());
        }
        self.end_file();
        let Kind::Folder { folder, file } = &mut self.kind else { return Ok(()) };
        close(folder, file)?;
        // Names come from the input's folder: none leads out of this one.
        let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_inside {
            return Err(Failure::Write(format!("{} is no name in a folder", shown(path))));
        }
        let path = folder.path().join(path);
        let created = match path.parent() {
            Some(parent) => std::fs::create_dir_all(parent).and_then(|()| File::create_new(&path)),
            None => File::create_new(&path),
        };
        let created = created.map_err(|error| folder.rename(cannot_write(&path, &error)))?;
        *file = Some((BufWriter::with_capacity(1 << 16, created), path));
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        #[cfg(test)]
        if let Some(full) = self.full {
            let left = full.saturating_sub(self.size);
            if (bytes.len() as u64) > left {
                return Err(self.failed(&std::io::ErrorKind::StorageFull.into()));
            }
        }
        self.sum.update(bytes);
        add(&mut self.position, bytes.len() as u64);
        add(&mut self.size, bytes.len() as u64);
        add(&mut self.untold, bytes.len() as u64);
        if self.untold >= STEP {
            self.progress.advance(std::mem::take(&mut self.untold));
        }
        match &mut self.kind {
            Kind::File(file) => file.write(bytes),
            Kind::Folder { file: Some((file, _)), .. } => {
                let done = file.write_all(bytes);
                done.map_err(|error| self.failed(&error))
            }
            Kind::Folder { file: None, .. } => Err(Failure::Write("bytes of no file".into())),
        }
    }

    fn position(&self) -> u64 {
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_trace(
        _: &Input,
        _: Reading,
    ) -> Result<Box<dyn crate::trace::Trace + '_>, crate::status::Unreadable> {
        Err(crate::status::Unreadable::new("none"))
    }

    /// Whichever write fails, nothing is left, and what was there stays.
    #[test]
    fn a_writer_that_fails_leaves_nothing() {
        let folder = std::env::temp_dir().join(format!("traceglass-output-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        for is_folder in [false, true] {
            for full in 0..12 {
                let place = folder.join(format!("out-{is_folder}"));
                if !is_folder {
                    std::fs::write(&place, b"before").unwrap();
                }
                let mut output = Output::create(&place, is_folder, true, no_trace, 0).unwrap();
                output.full = Some(full);
                let mut write = || {
                    for name in ["metadata", "below/stream"] {
                        output.file(Path::new(name))?;
                        output.put(b"abc")?;
                        output.put(b"def")?;
                    }
                    Ok::<_, Failure>(())
                };
                assert_eq!(write().unwrap_err().code(), 1);
                drop(output);
                let left: Vec<_> =
                    std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
                assert_eq!(left, if is_folder { vec![] } else { vec![place.clone()] }, "{full}");
                if !is_folder {
                    assert_eq!(std::fs::read(&place).unwrap(), b"before");
                    std::fs::remove_file(&place).unwrap();
                }
            }
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// A byte that is not what was written is found, in whichever file it is.
    #[test]
    fn other_bytes_are_found() {
        let folder = std::env::temp_dir().join(format!("traceglass-reread-{}", std::process::id()));
        for (is_folder, changed) in [(false, ""), (true, "metadata"), (true, "below/stream")] {
            let mut output = Output::create(&folder, is_folder, false, no_trace, 0).unwrap();
            for name in ["metadata", "below/stream"] {
                output.file(Path::new(name)).unwrap();
                assert_eq!(output.position(), if is_folder || name == "metadata" { 0 } else { 6 });
                output.put(b"abc").unwrap();
                output.put(b"def").unwrap();
            }
            output.settle().unwrap();
            assert_eq!(output.reread(), Ok(()));
            let path = if is_folder { output.path().join(changed) } else { output.path().to_owned() };
            let mut bytes = std::fs::read(&path).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            std::fs::write(&path, bytes).unwrap();
            let why = output.reread().unwrap_err();
            assert!(why.contains("other bytes") && why.contains(changed), "{why}");
        }
    }

    #[test]
    fn no_file_lies_outside_of_the_folder() {
        let folder = std::env::temp_dir().join(format!("traceglass-outside-{}", std::process::id()));
        let mut output = Output::create(&folder, true, false, no_trace, 0).unwrap();
        for name in ["../stream", "/stream", "a/../../stream", "."] {
            assert!(output.file(Path::new(name)).is_err(), "{name}");
        }
        drop(output);
        assert!(!folder.exists());
    }
}
