//! The sizes of files, which tell that they have changed.

use crate::trace::FileEntry;
use std::cmp::Ordering;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// The number of files up to which all are looked at: that is done four times a second.
const ALL: usize = 1000;

/// The files of a trace, with their sizes.
pub struct Stamp(Vec<(PathBuf, Option<u64>)>);

impl Stamp {
    /// The file at a path; a folder has no size.
    pub fn of(path: &Path) -> Self {
        Self(vec![(path.to_owned(), len_of(path))])
    }

    /// The files of a folder, if it is one.
    pub fn of_folder(folder: &Path, files: &[FileEntry]) -> Option<Self> {
        let with_size = |file: &FileEntry| {
            // Some are named from the folder on.
            let inside = folder.join(&file.path);
            let path = if inside.is_file() { inside } else { file.path.clone() };
            let size = len_of(&path);
            (path, size)
        };
        folder.is_dir().then(|| Self(files.iter().map(with_size).collect()))
    }

    /// The change of the files: one is shorter than it was; or else, one is longer. Of many, the one at the cursor, which
    /// is number `file`, and the last one are looked at.
    pub fn change(&self, file: usize) -> Option<Ordering> {
        let last = self.0.len().saturating_sub(1);
        let is_wanted = |number: usize| self.0.len() <= ALL || number == file || number == last;
        let mut found = None;
        for (_, (path, size)) in self.0.iter().enumerate().filter(|(number, _)| is_wanted(*number)) {
            match len_of(path).zip(*size).map(|(now, before)| now.cmp(&before)) {
                Some(Ordering::Less) => return Some(Ordering::Less),
                Some(Ordering::Greater) => found = Some(Ordering::Greater),
                _ => {}
            }
        }
        found
    }
}

fn len_of(path: &Path) -> Option<u64> {
    path.metadata().ok().filter(Metadata::is_file).map(|about| about.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn entry(path: PathBuf) -> FileEntry {
        FileEntry { path, size: 0, times: None }
    }

    #[test]
    fn a_file_of_a_folder_changes() {
        let folder = std::env::temp_dir().join(format!("traceglass-view-stamp-{}", std::process::id()));
        fs::create_dir_all(folder.join("sub")).unwrap();
        let names = ["first", "sub/second", "third"];
        names.iter().for_each(|name| fs::write(folder.join(name), "0123456789").unwrap());
        // A path from the folder on, or in full, as formats have them.
        let files: Vec<_> = names.iter().map(|name| entry(PathBuf::from(name))).collect();
        let full: Vec<_> = names.iter().map(|name| entry(folder.join(name))).collect();
        let stamp = || Stamp::of_folder(&folder, &files).unwrap();
        for (number, name) in names.iter().enumerate() {
            let (before, before_full) = (stamp(), Stamp::of_folder(&folder, &full).unwrap());
            assert_eq!(before.change(0), None);
            fs::write(folder.join(name), "0123456789ab").unwrap();
            assert_eq!([before.change(0), before_full.change(0)], [Some(Ordering::Greater); 2]);
            // Which is shorter counts, wherever it is.
            let next = names[(number + 1) % names.len()];
            fs::write(folder.join(next), "01234").unwrap();
            assert_eq!([before.change(0), before_full.change(0)], [Some(Ordering::Less); 2]);
            names.iter().for_each(|name| fs::write(folder.join(name), "0123456789").unwrap());
        }
        // One that is gone is still mapped.
        let before = stamp();
        fs::remove_file(folder.join("third")).unwrap();
        assert_eq!(before.change(2), None);
        assert!(Stamp::of_folder(&folder.join("first"), &files).is_none());
        let before = Stamp::of(&folder.join("first"));
        fs::write(folder.join("first"), "").unwrap();
        assert_eq!(before.change(0), Some(Ordering::Less));
        assert_eq!(Stamp::of(&folder).change(0), None);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn of_many_files_two_are_looked_at() {
        let folder = std::env::temp_dir().join(format!("traceglass-view-stamps-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let names: Vec<_> = (0..=ALL).map(|number| PathBuf::from(number.to_string())).collect();
        names.iter().for_each(|name| fs::write(folder.join(name), "0").unwrap());
        let files: Vec<_> = names.into_iter().map(entry).collect();
        let stamp = Stamp::of_folder(&folder, &files).unwrap();
        fs::write(folder.join("5"), "01").unwrap();
        assert_eq!((stamp.change(4), stamp.change(5)), (None, Some(Ordering::Greater)));
        fs::write(folder.join(ALL.to_string()), "").unwrap();
        assert_eq!((stamp.change(4), stamp.change(5)), (Some(Ordering::Less), Some(Ordering::Less)));
        fs::remove_dir_all(folder).unwrap();
    }
}
