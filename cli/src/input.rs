//! Files to read: mapped, never copied.

use crate::status::Unreadable;
use memmap2::Mmap;
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use traceglass::Format;

/// What a path leads to.
pub enum Input {
    File(Mapped),
    /// A file that is a data stream of a CTF trace, and its path: the trace's metadata lies beside it.
    Stream(Mapped, PathBuf),
    /// A directory with more in it than CTF metadata.
    Directory(PathBuf),
}

impl Input {
    /// Opens a path: a file, a directory, or `-` for stdin.
    pub fn open(path: &Path) -> Result<Self, Unreadable> {
        if path.is_dir() {
            let metadata = path.join("metadata");
            if metadata.is_file() && crate::formats::ctf::is_alone(path) {
                // CTF metadata without its trace is named by its directory as well.
                return Mapped::open(&metadata).map(Self::File);
            }
            return Ok(Self::Directory(path.to_owned()));
        }
        let mapped = Mapped::open(path)?;
        let has_metadata = path.parent().is_some_and(|parent| parent.join("metadata").is_file());
        if has_metadata && Format::detect(mapped.data()).is_none() {
            return Ok(Self::Stream(mapped, path.to_owned()));
        }
        Ok(Self::File(mapped))
    }
}

/// The size of all files of some paths, as far as it can be told without opening them.
pub fn total(paths: &[PathBuf]) -> u64 {
    let sizes = paths.iter().filter_map(|path| path.metadata().ok()).filter(Metadata::is_file);
    sizes.map(|about| about.len()).fold(0, u64::saturating_add)
}

/// Files up to this size are read: of maps a process may have some ten thousand only.
const SMALL: u64 = 32 << 10;

/// Opens a file; says so if that takes a while, as with a pipe that nobody writes to.
fn patiently(path: &Path, about: &Metadata) -> io::Result<File> {
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_fifo(&about.file_type()) {
        let (opened, waits) = std::sync::mpsc::channel::<()>();
        let name = crate::output::shown(path);
        std::thread::spawn(move || {
            let late = waits.recv_timeout(Duration::from_secs(1));
            if late == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                // Nothing can be said if stderr is gone.
                let _ = writeln!(io::stderr(), "{name}: waiting for who writes to this pipe");
            }
        });
        let file = File::open(path);
        drop(opened);
        return file;
    }
    let _ = about;
    File::open(path)
}

/// The bytes of a file.
pub struct Mapped(Storage);

enum Storage {
    Map(Mmap),
    /// What cannot be mapped, such as a pipe.
    Read(Vec<u8>),
}

impl Mapped {
    pub fn open(path: &Path) -> Result<Self, Unreadable> {
        let fail = |error| Unreadable::new(format!("cannot read: {error}"));
        if path == Path::new("-") {
            let mut data = Vec::new();
            io::stdin().lock().read_to_end(&mut data).map_err(fail)?;
            return Ok(Self(Storage::Read(data)));
        }
        let about = path.metadata().map_err(fail)?;
        let mut file = patiently(path, &about).map_err(fail)?;
        if !about.is_file() || about.len() <= SMALL {
            let mut data = Vec::new();
            file.read_to_end(&mut data).map_err(fail)?;
            return Ok(Self(Storage::Read(data)));
        }
        // SAFETY: the map is read only, and its bytes are treated as untrusted at every use. A file that another
        // process shortens meanwhile ends this one with a signal; recorders only ever append.
        if let Ok(map) = unsafe { Mmap::map(&file) } {
            return Ok(Self(Storage::Map(map)));
        }
        // Some file systems, such as sysfs, map none of their files.
        let mut data = Vec::new();
        file.read_to_end(&mut data).map_err(fail)?;
        Ok(Self(Storage::Read(data)))
    }

    pub fn data(&self) -> &[u8] {
        match &self.0 {
            Storage::Map(map) => map,
            Storage::Read(data) => data,
        }
    }
}
