//! Every part of a trace as a file, and `manifest.json` with a line for each.

use super::file::{NewFolder, cannot_write};
use crate::escape;
use crate::json::Line;
use crate::progress::Progress;
use crate::status::{Failure, Result};
use crate::trace::{Part, PartId, Parts};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The number of files that are open at a time.
const OPEN: usize = 64;

/// Writes files into a directory of its own.
pub struct Files {
    folder: NewFolder,
    manifest: BufWriter<File>,
    /// The trace that is being extracted.
    trace: PathBuf,
    progress: Option<Progress>,
    /// The parts that have not ended, by their numbers.
    parts: BTreeMap<usize, Unfinished>,
    /// The numbers of traces before this one, and of parts.
    traces: usize,
    count: usize,
    open: usize,
}

/// A part that may go on.
struct Unfinished {
    /// `None` while too many others are open.
    file: Option<BufWriter<File>>,
    name: String,
    /// The line of the manifest, but for what is known at its end.
    line: Line,
    bytes: u64,
    digest: Sha256,
    cut: Option<String>,
}

impl Files {
    /// Makes the directory.
    pub fn create(folder: &Path) -> Result<Self> {
        let folder = NewFolder::create(folder, false)?;
        let path = folder.path().join("manifest.json");
        let manifest = File::create_new(&path).map_err(|error| cannot_write(&path, &error))?;
        Ok(Self {
            manifest: BufWriter::new(manifest),
            folder,
            trace: PathBuf::new(),
            progress: None,
            parts: BTreeMap::new(),
            traces: 0,
            count: 0,
            open: 0,
        })
    }

    /// Begins another trace, of which this many bytes are to be read.
    pub fn begin(&mut self, path: &Path, bytes: u64) -> Result<()> {
        self.close_all()?;
        if self.progress.is_some() {
            self.traces = self.traces.saturating_add(1);
        }
        path.clone_into(&mut self.trace);
        self.progress = Some(Progress::new(bytes));
        Ok(())
    }

    pub fn finish(mut self) -> Result<()> {
        let closed = self.close_all();
        let done = closed.and_then(|()| self.manifest.flush().map_err(|error| self.no_manifest(&error)));
        done.map_err(|failure| self.rename(failure))?;
        self.folder.finish()
    }

    /// The failure with the name that the directory is going to have.
    pub fn rename(&self, failure: Failure) -> Failure {
        self.folder.rename(failure)
    }

    fn no_manifest(&self, error: &io::Error) -> Failure {
        cannot_write(&self.folder.path().join("manifest.json"), error)
    }

    fn close_all(&mut self) -> Result<()> {
        while let Some((_, part)) = self.parts.pop_first() {
            self.close(part)?;
        }
        self.open = 0;
        Ok(())
    }

    /// Writes the line of a part that has ended.
    fn close(&mut self, mut part: Unfinished) -> Result<()> {
        if let Some(mut file) = part.file {
            file.flush().map_err(|error| cannot_write(&self.folder.path().join(&part.name), &error))?;
            self.open = self.open.saturating_sub(1);
        }
        let sha256 = crate::output::hex(&part.digest.finalize());
        part.line.int("bytes", part.bytes).text("sha256", &sha256);
        self.note(part.line.text_or_null("error", part.cut.as_deref()))
    }

    /// Writes a line of the manifest, which is read on terminals, as all JSON is.
    fn note(&mut self, line: &mut Line) -> Result<()> {
        let mut escaped = Vec::new();
        escape::json(&mut escaped, line.end());
        self.manifest.write_all(&escaped).map_err(|error| self.no_manifest(&error))
    }
}

/// A file name that is valid on every system: a trace may give its parts any name.
fn safe(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    name.chars().take(64).map(safe).collect::<String>().trim_start_matches('.').to_owned()
}

/// The line of a part when it begins; no `file` for one whose content is in the file of another.
fn line(part: &Part<'_>, trace: &Path, file: Option<&str>) -> Line {
    let mut line = Line::new();
    line.begin().text("kind", part.kind).text_or_null("file", file).path(Some(trace));
    line.int("number", part.number).text_or_null("name", part.name);
    if let Some(bytes) = part.name_bytes {
        line.hex("name_hex", bytes);
    }
    if let Some(path) = part.path {
        line.text("part", &path.to_string_lossy());
    }
    line.int_or_null("offset", part.offset);
    if let Some(version) = part.version {
        line.int("version", version.into());
    }
    line
}

impl Parts for Files {
    fn same(&mut self, part: &Part<'_>, of: u64) -> Result<()> {
        let mut line = line(part, &self.trace, None);
        self.note(line.int("same_as", of))
    }

    fn part(&mut self, part: &Part<'_>) -> Result<PartId> {
        // The number comes first: names can be alike.
        let mut name = format!("{:06}-{}", self.count, part.kind);
        if let Some(given) = part.name.filter(|name| !name.is_empty()) {
            name.push('-');
            name.push_str(&safe(given));
        }
        if let Some((folder, file)) = part.place {
            let folder = format!("{:03}-{}", self.traces, safe(folder));
            let path = self.folder.path().join(&folder);
            std::fs::create_dir_all(&path).map_err(|error| cannot_write(&path, &error))?;
            name = format!("{folder}/{}", safe(file));
        }
        let path = self.folder.path().join(&name);
        File::create_new(&path).map_err(|error| cannot_write(&path, &error))?;
        let line = line(part, &self.trace, Some(&name));
        let id = self.count;
        self.count = id.saturating_add(1);
        let part = Unfinished { file: None, name, line, bytes: 0, digest: Sha256::new(), cut: None };
        self.parts.insert(id, part);
        Ok(PartId(id))
    }

    fn write(&mut self, part: PartId, data: &[u8]) -> Result<()> {
        let is_closed = self.parts.get(&part.0).is_some_and(|part| part.file.is_none());
        if is_closed && self.open >= OPEN {
            for part in self.parts.values_mut() {
                if let Some(mut file) = part.file.take() {
                    file.flush()
                        .map_err(|error| cannot_write(&self.folder.path().join(&part.name), &error))?;
                }
            }
            self.open = 0;
        }
        let Some(part) = self.parts.get_mut(&part.0) else { return Ok(()) };
        let path = self.folder.path().join(&part.name);
        let failed = |error| cannot_write(&path, &error);
        let file = match &mut part.file {
            Some(file) => file,
            None => {
                self.open = self.open.saturating_add(1);
                let file = File::options().append(true).open(&path).map_err(failed)?;
                part.file.insert(BufWriter::new(file))
            }
        };
        file.write_all(data).map_err(failed)?;
        part.bytes = part.bytes.saturating_add(data.len() as u64);
        part.digest.update(data);
        Ok(())
    }

    fn cut(&mut self, part: PartId, why: &str) {
        if let Some(part) = self.parts.get_mut(&part.0) {
            part.cut = Some(why.to_owned());
        }
    }

    fn end(&mut self, part: PartId) -> Result<()> {
        match self.parts.remove(&part.0) {
            Some(part) => self.close(part),
            None => Ok(()),
        }
    }

    fn advance(&mut self, bytes: u64) {
        if let Some(progress) = &self.progress {
            progress.advance(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_the_directory() {
        assert_eq!(safe("../../etc/passwd"), "_.._etc_passwd");
        assert_eq!(safe("AsicInfo"), "AsicInfo");
        assert_eq!(safe("a\0b\\c:d\u{202e}ä"), "a_b_c_d__");
        assert_eq!(safe(".."), "");
        assert_eq!(safe(&"x".repeat(1000)).len(), 64);
    }
}
