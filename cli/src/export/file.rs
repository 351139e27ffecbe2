//! An output is no input, and is there when it is complete.

use crate::output::shown;
#[cfg(unix)]
use crate::signals;
use crate::status::{Failure, Result};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use traceglass::{Format, Lookalike};

/// The number of bytes of a file that are looked at to tell whether it is a trace.
const FRONT: u64 = 1 << 16;

pub fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::Write(format!("cannot write {}: {error}", shown(path)))
}

/// Refuses an output that is there: nothing is overwritten unless that is asked for. Devices and pipes are written to.
pub fn refuse_existing(output: &Path, force: bool) -> Result<()> {
    match output.metadata() {
        Ok(about) if !force && about.is_file() => {
            Err(Failure::usage(format!("{} exists: --force overwrites it", shown(output))))
        }
        _ => Ok(()),
    }
}

/// Refuses an output that is an input, lies in a folder that is read, or is a trace that would be lost.
pub fn refuse_loss(output: &Path, inputs: &[PathBuf]) -> Result<()> {
    let refuse = |why: String| Err(Failure::usage(format!("{} {why}: name a new one", shown(output))));
    for input in inputs {
        let input = if input == Path::new("-") { Path::new("/dev/stdin") } else { input };
        if is_same(output, input) {
            return refuse("is what is to be read".into());
        }
        if input.is_dir() && lies_in(output, input) {
            return refuse(format!("would lie in {}, all of which is read", shown(input)));
        }
    }
    // Other files belong to a trace as well, such as its metadata, and `-o *.rtc` names traces that are not read.
    if output.is_file() && is_trace(output) {
        return refuse("is a trace, and would be overwritten".into());
    }
    Ok(())
}

/// True if two paths lead to one file. What is not there is no other file.
#[cfg(unix)]
pub fn is_same(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| path.metadata().map(|about| (about.dev(), about.ino())).ok();
    identity(a).is_some_and(|found| identity(b) == Some(found))
}

#[cfg(not(unix))]
pub fn is_same(a: &Path, b: &Path) -> bool {
    let identity = |path: &Path| path.canonicalize().ok();
    identity(a).is_some_and(|found| identity(b) == Some(found))
}

/// True if a path is below a folder, or is going to be when it is made.
pub fn lies_in(path: &Path, folder: &Path) -> bool {
    let there = |path: &Path| {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        path.canonicalize().ok()
    };
    match (path.ancestors().find_map(there), there(folder)) {
        (Some(path), Some(folder)) => path.starts_with(folder),
        _ => false,
    }
}

fn is_trace(path: &Path) -> bool {
    let mut front = Vec::new();
    let read = File::open(path).and_then(|file| file.take(FRONT).read_to_end(&mut front));
    let is_data = || Lookalike::detect(&front) == Some(Lookalike::CtfDataStream);
    // One that cannot be read is told when it is written.
    read.is_ok() && (Format::detect(&front).is_some() || is_data())
}

/// A file that takes its place when it is complete: until then, or if it never is, what was there stays.
pub struct NewFile {
    /// The final path, as it was named and without links.
    path: PathBuf,
    place: PathBuf,
    /// The path until then; a device or a pipe is written to directly.
    temporary: Option<PathBuf>,
    file: BufWriter<File>,
}

impl NewFile {
    pub fn create(path: &Path) -> Result<Self> {
        let failed = |error| cannot_write(path, &error);
        // The target of a link is replaced, and not the link.
        let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let buffered = |file| BufWriter::with_capacity(1 << 16, file);
        let about = place.metadata().ok();
        if about.is_some() {
            // Fails now if it may not be written.
            let file = File::options().write(true).open(&place).map_err(failed)?;
            if about.as_ref().is_some_and(|about| !about.is_file()) {
                return Ok(Self { path: path.to_owned(), place, temporary: None, file: buffered(file) });
            }
        }
        let temporary = beside(&place);
        signals::unfinished(&temporary);
        let file = buffered(File::create_new(&temporary).map_err(failed)?);
        let new = Self { path: path.to_owned(), place, temporary: Some(temporary), file };
        if let Some(about) = about {
            new.file.get_ref().set_permissions(about.permissions()).map_err(failed)?;
        }
        Ok(new)
    }

    pub fn write(&mut self, data: &[u8]) -> Result<()> {
        self.file.write_all(data).map_err(|error| cannot_write(&self.path, &error))
    }

    /// Sees that all of it is on the disk.
    pub fn settle(&mut self) -> Result<()> {
        let done = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        done.map_err(|error| cannot_write(&self.path, &error))
    }

    /// The path until it is in its place.
    pub fn written(&self) -> &Path {
        self.temporary.as_deref().unwrap_or(&self.place)
    }

    /// Puts it in its place.
    pub fn finish(mut self) -> Result<()> {
        let done = self.file.flush().and_then(|()| match self.temporary.take() {
            Some(temporary) => match fs::rename(&temporary, &self.place) {
                Ok(()) => {
                    signals::finished(&temporary);
                    settle_folder(&self.place)
                }
                Err(error) => {
                    self.temporary = Some(temporary);
                    Err(error)
                }
            },
            None => Ok(()),
        });
        done.map_err(|error| cannot_write(&self.path, &error))
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Why it is given up has been said, and nothing else is lost.
            let _ = fs::remove_file(temporary);
            signals::finished(temporary);
        }
    }
}

/// A folder that takes its place when it is complete, and until then is beside it.
pub struct NewFolder {
    place: PathBuf,
    /// The path while it is written; `None` once it is in its place.
    temporary: Option<PathBuf>,
    /// True if what is in its place goes.
    replaces: bool,
}

impl NewFolder {
    /// Refuses a place that is not empty, unless it is to be replaced.
    pub fn create(path: &Path, replaces: bool) -> Result<Self> {
        let mut entries = match fs::read_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            entries => Some(entries.map_err(|error| cannot_write(path, &error))?),
        };
        if !replaces && entries.as_mut().is_some_and(|entries| entries.next().is_some()) {
            return Err(Failure::usage(format!("{} is not empty: name a new directory", shown(path))));
        }
        let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let temporary = beside(&place);
        signals::unfinished(&temporary);
        let new = Self { place, temporary: Some(temporary), replaces };
        fs::create_dir(new.path()).map_err(|error| cannot_write(path, &error))?;
        Ok(new)
    }

    /// The path of its files while they are written.
    pub fn path(&self) -> &Path {
        self.temporary.as_deref().unwrap_or(&self.place)
    }

    /// The failure with the name that the folder was asked to have.
    pub fn rename(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Write(message) => {
                Failure::Write(message.replace(&shown(self.path()), &shown(&self.place)))
            }
            other => other,
        }
    }

    /// Puts it in its place.
    pub fn finish(mut self) -> Result<()> {
        let Some(temporary) = self.temporary.take() else { return Ok(()) };
        // An old folder goes aside first: at no time there is a mixture of both.
        let old = self.replaces.then(|| beside(&self.place));
        let aside = match &old {
            Some(old) => fs::rename(&self.place, old),
            // An empty one may be there.
            None => {
                let _ = fs::remove_dir(&self.place);
                Ok(())
            }
        };
        if let Err(error) = aside.and_then(|()| fs::rename(&temporary, &self.place)) {
            if let Some(old) = &old {
                // If it did not go aside, it is there.
                let _ = fs::rename(old, &self.place);
            }
            self.temporary = Some(temporary);
            return Err(cannot_write(&self.place, &error));
        }
        signals::finished(&temporary);
        settle_folder(&self.place).map_err(|error| cannot_write(&self.place, &error))?;
        if let Some(old) = old {
            // The new one is there; of the old one something may be left, under a name that says so.
            let _ = fs::remove_dir_all(old);
        }
        Ok(())
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Why it is given up has been said, and nothing else is lost.
            let _ = fs::remove_dir_all(temporary);
            signals::finished(temporary);
        }
    }
}

/// Sees that the folder in which something was put is on the disk with its name. Some file systems have no such thing.
fn settle_folder(place: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(folder) = place.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        return match File::open(folder).and_then(|folder| folder.sync_all()) {
            Err(error)
                if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
            {
                Ok(())
            }
            // It may be written to and not be read.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            done => done,
        };
    }
    let _ = place;
    Ok(())
}

/// A name beside an output that no other run has.
fn beside(place: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    place.with_file_name(format!(".traceglass-{}-{count}.part", std::process::id()))
}

/// Nothing can be put in order where signals are none.
#[cfg(not(unix))]
mod signals {
    pub fn unfinished(_path: &std::path::Path) {}
    pub fn finished(_path: &std::path::Path) {}
}
