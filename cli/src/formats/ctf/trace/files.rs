//! The files of traces: metadata and data streams.

use crate::input::Mapped;
use crate::status::Unreadable;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use traceglass::ctf::metadata::{Language, MetadataStream, ParseOptions};
use traceglass::ctf::schema::tsdl::{self, NameEntry, TypeNode, Workspace};
use traceglass::ctf::schema::{Node, Schema};
use traceglass::{Error, ErrorKind};

/// How deep LTTng lays out a session: session/domain/uid/1000/64-bit.
const DEPTH: usize = 6;

/// A data stream.
pub struct Stream {
    /// From the folder that was named.
    pub path: PathBuf,
    pub data: Mapped,
}

/// A trace: a folder with metadata.
pub struct Files {
    pub metadata: Mapped,
    pub metadata_path: PathBuf,
    pub streams: Vec<Stream>,
}

/// What could be opened, and what could not.
pub struct Found {
    pub traces: Vec<Files>,
    pub problems: Vec<(PathBuf, String)>,
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = read.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// A file that may be a data stream: hidden ones and metadata are none, nor is what is text by its name and its content,
/// or an index.
fn is_stream(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    path.is_file() && name != b"metadata" && !name.starts_with(b".") && !is_note(path) && !is_index(path)
}

/// The first bytes of a file; of one that cannot be read none.
fn front(path: &Path) -> Vec<u8> {
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(256).read_to_end(&mut start));
    if read.is_err() {
        start.clear();
    }
    start
}

/// Text that people or tools laid beside a trace.
fn is_note(path: &Path) -> bool {
    const NAMES: [&str; 14] = [
        "csv", "html", "idx", "json", "log", "md", "ndjson", "py", "rst", "sh", "toml", "txt", "xml", "yaml",
    ];
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let is_readme = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"README"));
    if !is_readme && !NAMES.contains(&extension.to_ascii_lowercase().as_str()) {
        return false;
    }
    let start = front(path);
    // Cut within a character, the last one may be no UTF-8.
    let valid = start.utf8_chunks().next().map_or(0, |chunk| chunk.valid().len());
    let is_text = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7e | 0x80..);
    !start.is_empty() && valid.saturating_add(4) > start.len() && start.iter().all(is_text)
}

/// An index as LTTng writes it: by its magic number.
fn is_index(path: &Path) -> bool {
    const MAGIC: [u8; 4] = 0xc1f1_dcc1_u32.to_be_bytes();
    path.extension().is_some_and(|extension| extension == "idx") && front(path).starts_with(&MAGIC)
}

/// Whether a folder has metadata, and no data streams.
pub fn is_alone(folder: &Path) -> bool {
    folder.join("metadata").is_file() && !entries(folder).iter().any(|path| is_stream(path))
}

impl Files {
    fn open(
        folder: &Path,
        root: &Path,
        only: Option<&Path>,
        problems: &mut Vec<(PathBuf, String)>,
    ) -> Result<Self, Unreadable> {
        let relative = |path: &Path| path.strip_prefix(root).unwrap_or(path).to_owned();
        let metadata_path = folder.join("metadata");
        let metadata = Mapped::open(&metadata_path)?;
        let mut streams = Vec::new();
        for path in entries(folder) {
            let wanted = match only {
                Some(only) => only.file_name() == path.file_name(),
                None => is_stream(&path),
            };
            if !wanted {
                continue;
            }
            match Mapped::open(&path) {
                Ok(data) => streams.push(Stream { path: relative(&path), data }),
                Err(unreadable) => problems.push((relative(&path), unreadable.message)),
            }
        }
        Ok(Self { metadata, metadata_path: relative(&metadata_path), streams })
    }
}

impl Files {
    /// The metadata: a file of this name may be TSDL without the signature.
    pub fn parse(&self, options: ParseOptions) -> Result<MetadataStream<'_>, Error> {
        MetadataStream::parse_text_with(self.metadata.data(), options)
    }
}

impl Found {
    /// The traces in a folder; `None` if there is none.
    pub fn below(root: &Path) -> Result<Option<Self>, Unreadable> {
        let mut problems = Vec::new();
        let mut traces = Vec::new();
        let mut folders = vec![(root.to_owned(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            if folder.join("metadata").is_file() {
                match Files::open(&folder, root, None, &mut problems) {
                    Ok(files) => traces.push(files),
                    Err(unreadable) if depth == 0 => return Err(unreadable),
                    Err(unreadable) => {
                        problems.push((
                            folder.strip_prefix(root).unwrap_or(&folder).to_owned(),
                            unreadable.message,
                        ));
                    }
                }
            } else if depth < DEPTH {
                let below = entries(&folder).into_iter().filter(|path| path.is_dir() && !path.is_symlink());
                folders.extend(below.rev().map(|path| (path, depth + 1)));
            }
        }
        Ok((!traces.is_empty()).then_some(Self { traces, problems }))
    }

    /// One data stream, with the metadata beside it.
    pub fn stream(path: &Path) -> Result<Self, Unreadable> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut problems = Vec::new();
        let files = Files::open(folder, folder, Some(path), &mut problems)?;
        Ok(Self { traces: vec![files], problems })
    }

    pub fn bytes(&self) -> u64 {
        let of = |files: &Files| {
            let streams: usize = files.streams.iter().map(|stream| stream.data.data().len()).sum();
            (files.metadata.data().len() + streams) as u64
        };
        self.traces.iter().map(of).sum()
    }
}

/// Compiles a trace's metadata into as many nodes as it takes.
pub fn compile<'a, 's>(
    metadata: &MetadataStream<'a>,
    nodes: &'s mut Vec<Node>,
) -> Result<Schema<'a, 's>, Error> {
    if metadata.language() == Language::Tsdl {
        return compile_tsdl(*metadata, nodes);
    }
    let mut size = Schema::needed(metadata)?;
    loop {
        nodes.resize(usize::try_from(size).unwrap_or(usize::MAX), Node::EMPTY);
        // With many aliases, what is needed turns out step by step; more than memory holds is refused.
        match Schema::compile(metadata, nodes).map_err(|error| error.kind()) {
            Err(ErrorKind::CapacityExceeded { capacity, needed })
                if capacity == size && needed > size && needed < 1 << 28 =>
            {
                size = needed.max(size * 2);
            }
            _ => return Schema::compile(metadata, nodes),
        }
    }
}

/// Compiles TSDL, in a workspace that grows until it suffices.
fn compile_tsdl<'a, 's>(
    metadata: MetadataStream<'a>,
    nodes: &'s mut Vec<Node>,
) -> Result<Schema<'a, 's>, Error> {
    // What is larger describes no trace: names whose types double again and again.
    const MOST: usize = 1 << 22;
    let (mut types, mut names) = (vec![TypeNode::default(); 1024], vec![NameEntry::default(); 1024]);
    loop {
        match tsdl::needed(metadata, Workspace { nodes: &mut types, names: &mut names }) {
            Ok(needed) => {
                nodes.resize(usize::try_from(needed.nodes).unwrap_or(usize::MAX), Node::EMPTY);
                return tsdl::compile(metadata, nodes, Workspace { nodes: &mut types, names: &mut names });
            }
            Err(error) => match error.kind() {
                ErrorKind::CapacityExceeded { .. } if types.len() < MOST => {}
                _ => return Err(error),
            },
        }
        types.resize(types.len() * 2, TypeNode::default());
        names.resize(names.len() * 2, NameEntry::default());
    }
}

/// The line of TSDL that an error is about, and a caret below the place.
pub fn marked_line(metadata: &MetadataStream<'_>, error: &Error) -> Option<String> {
    const WIDTH: usize = 100;
    if metadata.language() != Language::Tsdl || !error.element().name().starts_with("TSDL") {
        return None;
    }
    let at = tsdl::position(*metadata, error.offset());
    let line: Vec<u8> = at.text.pieces().flatten().copied().collect();
    let column = usize::try_from(at.column - 1).ok()?.min(line.len());
    // Of a long line only what is near the place.
    let start = if line.len() > WIDTH { column.saturating_sub(WIDTH / 2) } else { 0 };
    let visible = |part: &[u8]| -> String {
        let text = String::from_utf8_lossy(part);
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
    };
    let front = visible(&line[start..column]);
    let back = visible(&line[column..line.len().min(start + WIDTH).max(column)]);
    let number = at.line.to_string();
    let margin = " ".repeat(number.len());
    let indent = " ".repeat(front.chars().count());
    Some(format!(
        "\n {margin}--> line {number}, column {}\n {number} | {front}{back}\n {margin} | {indent}^",
        at.column
    ))
}
