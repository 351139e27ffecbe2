//! Files and folders to be read: in memory, for a page.

use std::collections::BTreeMap;
use std::io::{self, Cursor, ErrorKind, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The files by their paths, which are relative. A folder is there if a file lies in it.
static FILES: Mutex<BTreeMap<PathBuf, Arc<Vec<u8>>>> = Mutex::new(BTreeMap::new());

fn files() -> MutexGuard<'static, BTreeMap<PathBuf, Arc<Vec<u8>>>> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts a file in its place.
pub fn put(path: &Path, data: Vec<u8>) {
    files().insert(path.to_owned(), Arc::new(data));
}

/// Lets go of all files.
pub fn clear() {
    files().clear();
}

/// True if there is a folder.
pub fn is_dir(path: &Path) -> bool {
    metadata(path).is_ok_and(|about| about.is_dir())
}

/// True if there is a file.
pub fn is_file(path: &Path) -> bool {
    metadata(path).is_ok_and(|about| about.is_file())
}

/// The metadata of a file or a folder.
#[derive(Clone, Copy)]
pub struct Metadata {
    /// The size of a file; of a folder none.
    size: Option<u64>,
}

impl Metadata {
    pub fn is_file(&self) -> bool {
        self.size.is_some()
    }

    pub fn is_dir(&self) -> bool {
        self.size.is_none()
    }

    #[allow(clippy::len_without_is_empty)] // As that of the standard library.
    pub fn len(&self) -> u64 {
        self.size.unwrap_or(0)
    }
}

pub fn metadata(path: &Path) -> io::Result<Metadata> {
    let files = files();
    if let Some(data) = files.get(path) {
        return Ok(Metadata { size: Some(data.len() as u64) });
    }
    // In the order of paths, what lies in a folder comes next.
    let is_folder = files.range(path.to_owned()..).next().is_some_and(|(file, _)| file.starts_with(path));
    if is_folder { Ok(Metadata { size: None }) } else { Err(ErrorKind::NotFound.into()) }
}

/// A file that is read.
pub struct File(Cursor<Map>);

/// The bytes of a file, shared.
#[derive(Clone)]
pub struct Map(Arc<Vec<u8>>);

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Map {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl File {
    pub fn open(path: &Path) -> io::Result<Self> {
        let data = files().get(path).cloned().ok_or(ErrorKind::NotFound)?;
        Ok(Self(Cursor::new(Map(data))))
    }
}

/// The bytes of a file, which are there already.
pub fn map(file: &File) -> io::Result<Map> {
    Ok(file.0.get_ref().clone())
}

pub fn map_changed(file: &File, _len: usize, change: impl FnOnce(&mut [u8])) -> io::Result<Map> {
    let mut data = file.0.get_ref().to_vec();
    change(&mut data);
    Ok(Map(Arc::new(data)))
}

impl Read for File {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.0.read(to)
    }
}

/// An entry of a folder.
pub struct DirEntry {
    path: PathBuf,
    about: Metadata,
}

impl DirEntry {
    pub fn path(&self) -> PathBuf {
        self.path.clone()
    }

    pub fn file_type(&self) -> io::Result<Metadata> {
        Ok(self.about)
    }
}

/// The entries of a folder, by name.
pub fn read_dir(folder: &Path) -> io::Result<impl Iterator<Item = io::Result<DirEntry>> + use<>> {
    if !is_dir(folder) {
        return Err(ErrorKind::NotFound.into());
    }
    let mut found = BTreeMap::new();
    for (path, data) in files().range(folder.to_owned()..) {
        let Ok(rest) = path.strip_prefix(folder) else { break };
        let mut names = rest.components();
        let Some(name) = names.next() else { continue };
        let size = if names.next().is_none() { Some(data.len() as u64) } else { None };
        found.insert(folder.join(name), Metadata { size });
    }
    Ok(found.into_iter().map(|(path, about)| Ok(DirEntry { path, about })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_where_files_are() {
        put(Path::new("t/a/b"), vec![1, 2]);
        put(Path::new("t/a/c/d"), vec![3]);
        put(Path::new("t/ab"), vec![]);
        let named = |folder: &str| -> Vec<_> {
            let entries = read_dir(Path::new(folder)).unwrap().map(|entry| entry.unwrap());
            entries.map(|entry| (entry.path(), entry.about.size)).collect()
        };
        assert_eq!(named("t"), [("t/a".into(), None), ("t/ab".into(), Some(0))]);
        assert_eq!(named("t/a"), [("t/a/b".into(), Some(2)), ("t/a/c".into(), None)]);
        assert!(is_dir(Path::new("t/a/c")) && is_file(Path::new("t/ab")) && !is_file(Path::new("t/a")));
        assert!(metadata(Path::new("t/x")).is_err() && read_dir(Path::new("t/ab")).is_err());
        let mut data = Vec::new();
        File::open(Path::new("t/a/b")).unwrap().read_to_end(&mut data).unwrap();
        assert_eq!(data, [1, 2]);
    }
}
