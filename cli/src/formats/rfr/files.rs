//! The files of a recording: one, or those in a directory, told by their content.

use crate::input::Mapped;
use crate::status::{Failure, Unreadable};
use std::fs;
use std::path::{Path, PathBuf};
use traceglass::rfr::{Callsites, Chunk, ChunkHeader, FormatIdentifier, Meta, Streaming, Variant};
use traceglass::{Error, Format};

/// What a file is.
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
    /// The path in the recording's directory; none of a file that was named itself.
    pub path: Option<PathBuf>,
    source: Source<'a>,
}

enum Source<'a> {
    /// Bytes that are there.
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
            Source::File(path) => Ok(Data::Mapped(Mapped::open(path)?)),
        }
    }

    pub fn header(&self) -> Option<ChunkHeader> {
        match self.kind {
            Kind::Chunk(header) => Some(header),
            _ => None,
        }
    }

    /// Where its period begins, wide enough for any header: what chunks are ordered by.
    fn order(&self) -> (u8, u128) {
        match self.kind {
            Kind::Meta => (0, 0),
            Kind::Callsites => (1, 0),
            Kind::Chunk(header) => {
                (2, u128::from(header.base_time()) * 1_000_000 + u128::from(header.start()))
            }
            Kind::Stream => (3, 0),
        }
    }
}

/// The files of a recording, those that could be opened, in the order of time.
#[derive(Default)]
pub struct Files<'a> {
    pub parts: Vec<Part<'a>>,
    /// Files that are of a recording, yet cannot be read.
    pub problems: Vec<(Option<PathBuf>, Error)>,
    /// The size of all of them.
    pub bytes: u64,
}

/// What a file is, by its first bytes.
fn identify(data: &[u8]) -> Result<(Kind, String), Error> {
    let identifier = FormatIdentifier::parse(data)?;
    let kind = match identifier.variant() {
        Variant::Meta => Meta::parse(data).map(|_| Kind::Meta),
        Variant::Callsites => Callsites::parse(data).map(|_| Kind::Callsites),
        Variant::Streaming => Streaming::parse(data).map(|_| Kind::Stream),
        // The reader of chunks refuses what is none.
        _ => Chunk::parse(data).map(|chunk| Kind::Chunk(chunk.header())),
    };
    Ok((kind?, identifier.as_str().to_owned()))
}

impl<'a> Files<'a> {
    /// One file.
    pub fn one(data: &'a [u8]) -> Result<Self, Unreadable> {
        let (kind, identifier) = identify(data).map_err(|error| Unreadable {
            format: Some(Format::Rfr),
            error: Some(error),
            message: error.to_string(),
        })?;
        let size = data.len() as u64;
        let part = Part { kind, identifier, size, path: None, source: Source::Open(data) };
        Ok(Self { parts: vec![part], bytes: size, ..Self::default() })
    }

    /// All files below a directory that are of a recording; `None` if there are none.
    ///
    /// Links to directories are not followed.
    pub fn directory(root: &Path) -> Result<Option<Self>, Unreadable> {
        let mut files = Self::default();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            let unreadable = |error| Unreadable::new(format!("cannot read {}: {error}", folder.display()));
            for entry in fs::read_dir(&folder).map_err(unreadable)? {
                let entry = entry.map_err(unreadable)?;
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(path);
                } else if path.is_file() {
                    files.add(root, path)?;
                }
            }
        }
        files.parts.sort_by(|a, b| a.order().cmp(&b.order()).then_with(|| a.path.cmp(&b.path)));
        files.problems.sort_by(|a, b| a.0.cmp(&b.0));
        if let (true, Some((path, error))) = (files.parts.is_empty(), files.problems.first()) {
            let path = path.as_deref().unwrap_or(root).display();
            let message = format!("{path}: {error}");
            return Err(Unreadable { format: Some(Format::Rfr), error: Some(*error), message });
        }
        Ok((!files.parts.is_empty()).then_some(files))
    }

    fn add(&mut self, root: &Path, path: PathBuf) -> Result<(), Unreadable> {
        let mapped = Mapped::open(&path)?;
        let (data, size) = (mapped.data(), mapped.data().len() as u64);
        let shown = path.strip_prefix(root).unwrap_or(&path).to_owned();
        match identify(data) {
            Ok((kind, identifier)) => {
                let source = Source::File(path);
                self.parts.push(Part { kind, identifier, size, path: Some(shown), source });
            }
            Err(error) => {
                // A file may be cut in front of what tells it from any other; then its name counts.
                let named = path.extension().is_some_and(|extension| extension == "rfr");
                if Format::detect(data) != Some(Format::Rfr) && !(named && error.is_truncation()) {
                    return Ok(());
                }
                self.problems.push((Some(shown), error));
            }
        }
        self.bytes += size;
        Ok(())
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
