//! The files of a recording: one, or those in a directory, recognized by their content.

use crate::disk::{self, File};
use crate::formats::lookalike::advice;
use crate::input::Mapped;
use crate::status::{Failure, Unreadable};
use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use traceglass::rfr::{Callsites, Chunk, ChunkHeader, FormatIdentifier, Meta, Streaming, Variant};
use traceglass::{Error, Format, Lookalike};
use traceglass_open::packed::{self, Packing};

/// The kind of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Chunk(ChunkHeader),
    Stream,
    Callsites,
    Meta,
}

/// A file of a recording.
pub struct Part<'a> {
    pub kind: Kind,
    pub identifier: String,
    pub size: u64,
    /// The path in the recording's directory; `None` for a file that was named itself.
    pub path: Option<PathBuf>,
    source: Source<'a>,
}

enum Source<'a> {
    /// Bytes in memory.
    Open(&'a [u8]),
    /// A file to be mapped while it is needed.
    File(PathBuf),
}

/// The bytes of a part, as long as they are needed.
pub enum Data<'a> {
    Open(&'a [u8]),
    Mapped(Mapped),
}

impl Data<'_> {
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Open(data) => data,
            Self::Mapped(mapped) => mapped.data(),
        }
    }
}

impl<'a> Part<'a> {
    pub fn data(&self) -> Result<Data<'a>, Failure> {
        match &self.source {
            Source::Open(data) => Ok(Data::Open(data)),
            Source::File(path) => match Mapped::open(path) {
                Ok(mapped) => Ok(Data::Mapped(mapped)),
                Err(mut unreadable) => {
                    unreadable.message = format!("{}: {}", path.display(), unreadable.message);
                    Err(unreadable.into())
                }
            },
        }
    }

    pub fn header(&self) -> Option<ChunkHeader> {
        match self.kind {
            Kind::Chunk(header) => Some(header),
            _ => None,
        }
    }

    /// The order of chunks: the start of its period, wide enough for any header.
    fn order(&self) -> (u8, u128) {
        match self.kind {
            Kind::Meta => (0, 0),
            Kind::Callsites => (1, 0),
            Kind::Chunk(header) => {
                let base = u128::from(header.base_time()).saturating_mul(1_000_000);
                (2, base.saturating_add(u128::from(header.start())))
            }
            Kind::Stream => (3, 0),
        }
    }
}

/// Why a file or folder of a recording is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The content is wrong.
    Content(Error),
    /// The system does not let it be read.
    Unreadable(String),
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::Content(error)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Content(error) => error.fmt(f),
            Self::Unreadable(why) => f.write_str(why),
        }
    }
}

/// The files of a recording, those that could be opened, in the order of time.
#[derive(Default)]
pub struct Files<'a> {
    pub parts: Vec<Part<'a>>,
    /// Files that are of a recording, yet cannot be read.
    pub problems: Vec<(Option<PathBuf>, Problem)>,
    /// The size of all of them.
    pub bytes: u64,
    /// The number of files and folders that were found that belong to no recording.
    foreign: usize,
}

/// The levels of folders in a recording, for months and for hours; and one more, so that several recordings side by
/// side are noticed.
const DEEPEST: usize = 3;

/// More files and folders than these are of no recording: something else was meant.
const FOREIGN_MAX: usize = 2000;

/// So many bytes of a file tell its format.
const PREFIX: u64 = 64;

/// The first bytes of a file, at most so many.
fn prefix(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut start)?;
    Ok(start)
}

/// Why a file of a recording that begins so is not read: it is packed.
fn packed_advice(path: &Path, start: &[u8]) -> Option<&'static str> {
    Packing::detect(start)?;
    let start = prefix(path, packed::START).ok()?;
    let packing = packed::detect(&start, |unpacked| Format::detect(unpacked) == Some(Format::Rfr))?;
    Some(advice(match packing {
        Packing::Gzip => Lookalike::Gzip,
        Packing::Zstd => Lookalike::Zstd,
    }))
}

/// True if something is called as the files of chunks are.
fn is_chunk(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    name.starts_with(b"chunk-") && name.ends_with(b".rfr")
}

/// True if something is called as the files of a recording are.
fn is_named_by_recorder(path: &Path) -> bool {
    is_chunk(path) || path.file_name().is_some_and(|name| name == "meta.rfr" || name == "callsites.rfr")
}

/// The kind of a file, by its first bytes.
fn identify(data: &[u8]) -> Result<(Kind, String), Error> {
    let identifier = FormatIdentifier::parse(data)?;
    let kind = match identifier.variant() {
        Variant::Meta => Meta::parse(data).map(|_| Kind::Meta),
        Variant::Callsites => Callsites::parse(data).map(|_| Kind::Callsites),
        Variant::Streaming => Streaming::parse(data).map(|_| Kind::Stream),
        // The reader of chunks refuses files that are not chunks.
        _ => Chunk::parse(data).map(|chunk| Kind::Chunk(chunk.header())),
    };
    Ok((kind?, identifier.as_str().to_owned()))
}

impl<'a> Files<'a> {
    /// One file.
    pub fn one(data: &'a [u8]) -> Result<Self, Unreadable> {
        let (kind, identifier) = identify(data).map_err(|error| Unreadable::content(Format::Rfr, error))?;
        let size = data.len() as u64;
        let part = Part { kind, identifier, size, path: None, source: Source::Open(data) };
        Ok(Self { parts: vec![part], bytes: size, ..Self::default() })
    }

    /// All files below a directory that are of a recording; `None` if there are none.
    ///
    /// Links to directories are not followed. What cannot be read is a problem of the recording; it is an error if
    /// there is nothing else, if there are several recordings, or if there is a great deal of something else.
    pub fn directory(root: &Path) -> Result<Option<Self>, Unreadable> {
        let mut files = Self::default();
        let mut folders = vec![(root.to_owned(), 0_usize)];
        while let Some((folder, depth)) = folders.pop() {
            let before = files.parts.len();
            let entries = match disk::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    files.unreadable(root, &folder, &error);
                    continue;
                }
            };
            for entry in entries {
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(error) => {
                        files.unreadable(root, &folder, &error);
                        break;
                    }
                };
                let path = entry.path();
                if !entry.file_type().is_ok_and(|kind| kind.is_dir()) || is_chunk(&path) {
                    files.add(root, path);
                } else if depth < DEEPEST {
                    folders.push((path, depth.saturating_add(1)));
                } else {
                    files.foreign = files.foreign.saturating_add(1);
                }
                files.refuse_foreign()?;
            }
            if files.parts.len() == before {
                files.foreign = files.foreign.saturating_add(1);
                files.refuse_foreign()?;
            }
        }
        files.parts.sort_by(|a, b| a.order().cmp(&b.order()).then_with(|| a.path.cmp(&b.path)));
        files.problems.sort_by(|a, b| a.0.cmp(&b.0));
        if let (true, Some((path, problem))) = (files.parts.is_empty(), files.problems.first()) {
            let path = path.as_deref().unwrap_or(root).display();
            let (format, error) = match problem {
                Problem::Content(error) => (Some(Format::Rfr), Some(*error)),
                Problem::Unreadable(_) => (None, None),
            };
            return Err(Unreadable { format, error, message: format!("{path}: {problem}") });
        }
        files.alone()?;
        Ok((!files.parts.is_empty()).then_some(files))
    }

    /// Refuses a folder with a great deal of something else in it.
    fn refuse_foreign(&self) -> Result<(), Unreadable> {
        if self.foreign <= FOREIGN_MAX {
            return Ok(());
        }
        Err(Unreadable::new(format!(
            "more than {FOREIGN_MAX} files and folders in it are of no recording: name the folder of a recording itself"
        )))
    }

    /// Refuses files of several recordings: what belongs to one must not be read with the callsites of another.
    fn alone(&self) -> Result<(), Unreadable> {
        let mut homes = BTreeSet::new();
        for part in &self.parts {
            let Some(path) = part.path.as_deref() else { continue };
            match part.kind {
                Kind::Meta | Kind::Callsites => homes.insert(path.parent().unwrap_or(path)),
                Kind::Stream => homes.insert(path),
                Kind::Chunk(_) => false,
            };
        }
        let is_home = |path: &Path| homes.iter().any(|home| path.starts_with(home) && path != *home);
        let stray = self.chunks().filter_map(|part| part.path.as_deref()).find(|path| !is_home(path));
        let shown =
            |path: &Path| if path == Path::new("") { ".".to_owned() } else { path.display().to_string() };
        let named: Vec<String> = homes.iter().take(5).map(|home| shown(home)).collect();
        match (homes.len(), stray) {
            (0, _) | (1, None) => Ok(()),
            (1, Some(stray)) => Err(Unreadable::new(format!(
                "files of several recordings: {} is not of the one in {}; name one of them",
                stray.display(),
                named.concat()
            ))),
            (count, _) => {
                let more = if count > named.len() { " and others" } else { "" };
                Err(Unreadable::new(format!(
                    "{count} recordings: {}{more}; name one of them",
                    named.join(", ")
                )))
            }
        }
    }

    fn unreadable(&mut self, root: &Path, path: &Path, error: &io::Error) {
        let shown = path.strip_prefix(root).unwrap_or(path).to_owned();
        let shown = if shown == Path::new("") { None } else { Some(shown) };
        self.problems.push((shown, Problem::Unreadable(format!("cannot read: {error}"))));
    }

    fn add(&mut self, root: &Path, path: PathBuf) {
        // A file may be cut before its identifier is complete; then its name counts.
        let named = path.extension().is_some_and(|extension| extension == "rfr");
        let about = match disk::metadata(&path) {
            Ok(about) => about,
            // A link that leads nowhere.
            Err(_) if !named => {
                self.foreign = self.foreign.saturating_add(1);
                return;
            }
            Err(error) => return self.unreadable(root, &path, &error),
        };
        if !about.is_file() && (is_chunk(&path) || named && !about.is_dir()) {
            return self.unreadable(root, &path, &io::Error::other("not a regular file"));
        }
        if !about.is_file() || about.len() == 0 && !named {
            self.foreign = self.foreign.saturating_add(1);
            return;
        }
        let start = match prefix(&path, PREFIX) {
            Ok(start) => start,
            Err(error) => return self.unreadable(root, &path, &error),
        };
        let is_rfr = Format::detect(&start) == Some(Format::Rfr);
        let shown = path.strip_prefix(root).unwrap_or(&path).to_owned();
        if !is_rfr && !named {
            // Of one that is there as it was, too, nothing is missed.
            let unpacked = path.with_extension("");
            let is_there = disk::metadata(&unpacked).is_ok();
            match packed_advice(&path, &start).filter(|_| !is_there) {
                Some(why) => self.problems.push((Some(shown), Problem::Unreadable(why.to_owned()))),
                None => self.foreign = self.foreign.saturating_add(1),
            }
            return;
        }
        let mapped = match Mapped::open(&path) {
            Ok(mapped) => mapped,
            Err(unreadable) => {
                return self.problems.push((Some(shown), Problem::Unreadable(unreadable.message)));
            }
        };
        let (data, size) = (mapped.data(), mapped.data().len() as u64);
        match identify(data) {
            Ok((kind, identifier)) => {
                let source = Source::File(path);
                self.parts.push(Part { kind, identifier, size, path: Some(shown), source });
            }
            // A recorder gives its files these names: another identifier is damage.
            Err(error) if is_rfr || is_named_by_recorder(&path) || error.is_truncation() => {
                self.problems.push((Some(shown), error.into()));
            }
            Err(_) => {
                self.foreign = self.foreign.saturating_add(1);
                return;
            }
        }
        self.bytes = self.bytes.saturating_add(size);
    }

    pub fn chunks(&self) -> impl Iterator<Item = &Part<'a>> {
        self.parts.iter().filter(|part| matches!(part.kind, Kind::Chunk(_)))
    }

    /// The files of one of the kinds without data.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &Part<'a>> {
        self.parts.iter().filter(move |part| part.kind == kind)
    }

    /// Start of the first chunk's period and end of the last one's, in microseconds since the Unix epoch.
    pub fn period(&self) -> (Option<u64>, Option<u64>) {
        let first = self.chunks().find_map(Part::header);
        let last = self.chunks().filter_map(Part::header).last();
        let start = first.and_then(|header| header.unix_micros(header.start()).ok());
        let end = last.and_then(|header| header.unix_micros(header.end()).ok());
        (start, end)
    }
}
