//! Files to read: mapped, never copied.

use crate::disk::{self, File, Metadata};
use crate::folder::has_metadata_alone;
use crate::status::Unreadable;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;
use traceglass::Format;

/// The file or directory of a path.
pub enum Input {
    /// A file, and its path.
    File(Mapped, #[cfg_attr(not(feature = "view"), allow(dead_code))] PathBuf),
    /// A file that is a data stream of a CTF trace, and its path: the trace's metadata lies beside it.
    Stream(Mapped, PathBuf),
    /// A directory with more in it than CTF metadata.
    Directory(PathBuf),
}

impl Input {
    /// Opens a path: a file, a directory, or `-` for stdin.
    pub fn open(path: &Path) -> Result<Self, Unreadable> {
        if disk::is_dir(path) {
            if has_metadata_alone(path) {
                // CTF metadata without its trace is named by its directory as well.
                let metadata = path.join("metadata");
                return Mapped::open(&metadata).map(|mapped| Self::File(mapped, metadata));
            }
            return Ok(Self::Directory(path.to_owned()));
        }
        let mapped = Mapped::open_as(path, has_metadata(path))?;
        Ok(Self::of(mapped, path))
    }

    /// The place of the file, or of the folder.
    #[cfg(feature = "view")]
    pub fn path(&self) -> &Path {
        match self {
            Self::File(_, path) | Self::Stream(_, path) | Self::Directory(path) => path,
        }
    }

    /// A file that was opened.
    pub fn of(mapped: Mapped, path: &Path) -> Self {
        if has_metadata(path) && Format::detect(mapped.data()).is_none() {
            return Self::Stream(mapped, path.to_owned());
        }
        Self::File(mapped, path.to_owned())
    }
}

/// The bytes from `start` to `end`, as far as all of them are there.
pub fn slice(data: &[u8], start: u64, end: u64) -> &[u8] {
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    range.and_then(|(start, end)| data.get(start..end)).unwrap_or_default()
}

/// True if the metadata of a CTF trace lies beside a file.
fn has_metadata(path: &Path) -> bool {
    path != Path::new("-") && path.parent().is_some_and(|parent| disk::is_file(&parent.join("metadata")))
}

/// The size of all files of some paths, as far as it can be told without opening them.
pub fn total(paths: &[PathBuf]) -> u64 {
    let sizes = paths.iter().filter_map(|path| disk::metadata(path).ok()).filter(Metadata::is_file);
    sizes.map(|about| about.len()).fold(0, u64::saturating_add)
}

/// True if all files are read, and none is mapped. A global, since `--no-map` would otherwise have to reach each reader
/// of each format.
static UNMAPPED: AtomicBool = AtomicBool::new(false);

/// Makes all files that are opened from now on be read.
#[cfg(feature = "view")]
pub fn map_nothing() {
    UNMAPPED.store(true, Ordering::Relaxed);
}

/// Bytes that are read in the place of files.
struct StandIns {
    files: BTreeMap<PathBuf, Mapped>,
    /// Those that have come since they were settled last.
    recent: Vec<PathBuf>,
    /// True if no other file is read.
    are_all: bool,
}

/// A global, for the same reason.
static STAND_INS: RwLock<Option<StandIns>> = RwLock::new(None);

fn stand_ins() -> RwLockReadGuard<'static, Option<StandIns>> {
    STAND_INS.read().unwrap_or_else(PoisonError::into_inner)
}

fn change_stand_ins(change: impl FnOnce(&mut Option<StandIns>)) {
    change(&mut STAND_INS.write().unwrap_or_else(PoisonError::into_inner));
}

/// Keeps each file that is opened from now on as it is, so that it is read so again.
pub fn keep_all() {
    let none = StandIns { files: BTreeMap::new(), recent: Vec::new(), are_all: false };
    change_stand_ins(|stand_ins| *stand_ins = Some(none));
}

/// Ends the look at a trace. Unless its files stay, they are forgotten: another trace reads them only if it opens them
/// itself.
pub fn settle(stay: bool) {
    change_stand_ins(|stand_ins| {
        let Some(StandIns { files, recent, .. }) = stand_ins else { return };
        for path in recent.drain(..).filter(|_| !stay) {
            files.remove(&path);
        }
    });
}

/// Has no file be read but those that are kept.
pub fn keep_no_more() {
    change_stand_ins(|stand_ins| stand_ins.iter_mut().for_each(|stand_ins| stand_ins.are_all = true));
}

/// Reads files themselves again: for the next run in this process. Runs beside each other are not kept apart.
pub fn keep_none() {
    change_stand_ins(|stand_ins| *stand_ins = None);
}

/// Makes these bytes be read from now on where a path is opened, however it is spelled, if files are kept.
pub fn stand_in(path: &Path, mapped: Mapped) {
    change_stand_ins(|stand_ins| {
        let Some(StandIns { files, recent, .. }) = stand_ins else { return };
        let path = full(path);
        if files.insert(path.clone(), mapped).is_none() {
            recent.push(path);
        }
    });
}

/// True if files are kept, and this is none of them.
#[cfg(feature = "view")]
pub fn is_left_out(path: &Path) -> bool {
    stand_ins().as_ref().is_some_and(|stand_ins| !stand_ins.files.contains_key(&full(path)))
}

/// What is read in the place of a file; `None` if that is the file itself.
fn stand_in_of(path: &Path) -> Option<Result<Mapped, Unreadable>> {
    let stand_ins = stand_ins();
    let stand_ins = stand_ins.as_ref()?;
    match stand_ins.files.get(&full(path)) {
        Some(mapped) => Some(Ok(mapped.clone())),
        // Opening what is not there says so.
        None if stand_ins.are_all && disk::metadata(path).is_ok() => {
            Some(Err(Unreadable::new("it was not looked at when private text was looked for")))
        }
        None => None,
    }
}

/// A path without links; that of stdin and of what is gone as it is.
pub fn full(path: &Path) -> PathBuf {
    let full = (path != Path::new("-")).then(|| path.canonicalize().ok()).flatten();
    full.unwrap_or_else(|| path.to_owned())
}

/// Files up to this size are read: a process may have only some ten thousand maps.
const SMALL: u64 = 32 << 10;

/// The number of maps at a time, after which files are read. Linux allows 65,530, of which memory that is allocated needs
/// some.
const MAPS: usize = 1 << 15;

/// The number of files that are mapped.
static MAPPED: AtomicUsize = AtomicUsize::new(0);

/// A file that is mapped, and counted.
struct Map(disk::Map);

impl Map {
    fn open(file: &File) -> Option<Self> {
        disk::map(file).ok().map(Self::of)
    }

    fn of(map: disk::Map) -> Self {
        MAPPED.fetch_add(1, Ordering::Relaxed);
        Self(map)
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        MAPPED.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The number of bytes that are read of something that is not a file, such as a device, before it must be a known
/// trace.
pub const PROBE: u64 = 64 << 20;

/// Says that nothing comes from a pipe, unless something came within a second.
pub struct Patience(Option<Sender<()>>);

impl Patience {
    pub fn new(path: &Path, about: &Metadata) -> Self {
        #[cfg(unix)]
        use std::io::Write as _;
        #[cfg(unix)]
        if std::os::unix::fs::FileTypeExt::is_fifo(&about.file_type()) {
            let (came, waits) = std::sync::mpsc::channel();
            let name = crate::output::shown(path);
            std::thread::spawn(move || {
                if waits.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                    // Nothing can be said if stderr is gone.
                    let _ = writeln!(io::stderr(), "{name}: waiting for who writes to this pipe");
                }
            });
            return Self(Some(came));
        }
        let _ = (path, about);
        Self(None)
    }

    /// Something came.
    pub fn end(&mut self) {
        self.0 = None;
    }
}

/// The bytes of a file.
#[derive(Clone)]
pub struct Mapped(Arc<Storage>);

enum Storage {
    Map(Map),
    /// The bytes of something that cannot be mapped, such as a pipe.
    Read(Vec<u8>),
}

impl Mapped {
    /// The bytes of a file, or of something else, such as a pipe, if it ends or begins like a trace.
    pub fn open(path: &Path) -> Result<Self, Unreadable> {
        Self::open_as(path, false)
    }

    /// All bytes of a file, or of something else, whatever they are.
    pub fn open_whole(path: &Path) -> Result<Self, Unreadable> {
        Self::open_as(path, true)
    }

    /// The same; `known` says that all of it is read, whatever it begins with.
    fn open_as(path: &Path, known: bool) -> Result<Self, Unreadable> {
        if let Some(found) = stand_in_of(path) {
            return found;
        }
        let opened = Self::open_itself(path, known)?;
        stand_in(path, opened.clone());
        Ok(opened)
    }

    fn open_itself(path: &Path, known: bool) -> Result<Self, Unreadable> {
        let fail = |error| Unreadable::new(format!("cannot read: {error}"));
        let probe = if known { u64::MAX } else { PROBE };
        if path == Path::new("-") {
            return read(io::stdin().lock(), probe, &mut Patience(None)).map_err(fail);
        }
        let about = disk::metadata(path).map_err(fail)?;
        let mut patience = Patience::new(path, &about);
        let file = File::open(path).map_err(fail)?;
        if !about.is_file() {
            return read(file, probe, &mut patience).map_err(fail);
        }
        if about.len() > SMALL
            && !UNMAPPED.load(Ordering::Relaxed)
            && MAPPED.load(Ordering::Relaxed) < MAPS
            && let Some(map) = Map::open(&file)
        {
            return Ok(Self(Arc::new(Storage::Map(map))));
        }
        // Some file systems, such as sysfs, map none of their files.
        read(file, u64::MAX, &mut patience).map_err(fail)
    }

    pub fn data(&self) -> &[u8] {
        match &*self.0 {
            Storage::Map(map) => &map.0,
            Storage::Read(data) => data,
        }
    }

    /// The same bytes after `change`. Of a file that is mapped, what does not change stays on the disk.
    pub fn changed(&self, path: &Path, change: impl FnOnce(&mut [u8])) -> io::Result<Self> {
        let storage = match &*self.0 {
            Storage::Map(map) => {
                // The file may have grown since, or be another one.
                let mut is_same = false;
                let changed = disk::map_changed(&File::open(path)?, map.0.len(), |data| {
                    is_same = *data == *map.0;
                    if is_same {
                        change(data);
                    }
                })?;
                if !is_same {
                    return Err(io::Error::other("it has changed meanwhile"));
                }
                Storage::Map(Map::of(changed))
            }
            Storage::Read(data) => {
                let mut data = data.clone();
                change(&mut data);
                Storage::Read(data)
            }
        };
        Ok(Self(Arc::new(storage)))
    }

    /// Bytes that were read.
    pub fn read(data: Vec<u8>) -> Self {
        Self(Arc::new(Storage::Read(data)))
    }

    /// The bytes; a copy if they are mapped, or somebody else has them.
    pub fn into_bytes(self) -> Vec<u8> {
        match Arc::try_unwrap(self.0) {
            Ok(Storage::Read(data)) => data,
            Ok(Storage::Map(map)) => map.0.to_vec(),
            Err(shared) => Self(shared).data().to_vec(),
        }
    }
}

/// Reads everything, but no more than `probe` bytes if they do not begin like a trace: the input may never end.
fn read(mut from: impl Read, probe: u64, patience: &mut Patience) -> io::Result<Mapped> {
    let mut data = Vec::new();
    from.by_ref().take(1).read_to_end(&mut data)?;
    patience.end();
    from.by_ref().take(probe.saturating_sub(1)).read_to_end(&mut data)?;
    if (data.len() as u64) < probe || Format::detect(&data).is_some() {
        from.read_to_end(&mut data)?;
    }
    Ok(Mapped::read(data))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read in the place of a file is what was kept of it, or nothing.
    #[test]
    fn a_file_that_changes_meanwhile_is_not_changed_as_it_was() {
        let path = std::env::temp_dir().join(format!("traceglass-changed-{}", std::process::id()));
        let data = vec![7; 40_000];
        for write in [&[][..], &[8], &data] {
            std::fs::write(&path, &data).unwrap();
            let mapped = Mapped::open(&path).unwrap();
            let mut file = std::fs::File::options().append(true).open(&path).unwrap();
            std::io::Write::write_all(&mut file, write).unwrap();
            let changed = mapped.changed(&path, |data| data[3] = 9).unwrap();
            assert!(changed.data().len() == data.len() && changed.data()[3] == 9 && mapped.data()[3] == 7);
            assert_eq!(std::fs::read(&path).unwrap()[3], 7);
            // Another file in its place.
            let other = path.with_extension("other");
            std::fs::write(&other, [8; 50_000]).unwrap();
            std::fs::rename(&other, &path).unwrap();
            assert!(mapped.changed(&path, |data| data[3] = 9).is_err());
        }
        std::fs::remove_file(&path).unwrap();
    }

    /// A process that has as many maps as it may have gets no memory any more.
    #[test]
    fn files_are_read_where_too_many_are_mapped() {
        let path = std::env::temp_dir().join(format!("traceglass-maps-{}", std::process::id()));
        let data = vec![7; 40_000];
        std::fs::write(&path, &data).unwrap();
        let all: Vec<Mapped> = (0..MAPS + 10).map(|_| Mapped::open(&path).unwrap()).collect();
        let is_map = |mapped: &&Mapped| matches!(&*mapped.0, Storage::Map(_));
        // Other tests may have mapped some meanwhile.
        let maps = all.iter().filter(is_map).count();
        assert!((MAPS - 100..=MAPS).contains(&maps), "{maps}");
        assert_eq!(all.last().unwrap().data(), data);
        drop(all);
        assert!(is_map(&&Mapped::open(&path).unwrap()));
        std::fs::remove_file(&path).unwrap();
    }
}
